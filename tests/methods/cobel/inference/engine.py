"""Cases of the reference, played through the engine."""

from __future__ import annotations

from collections.abc import Iterable

from teamworld.methods.cobel.inference import Beliefs, Claim, Evidence, Limit, Minds, Sight
from tests.methods.cobel.inference.reference import MATES, ME, Case, Event, Tables


def name(variable: int) -> str:
    return f"x{variable}"


def evidence(event: Event) -> Evidence[str]:
    """The same event in the engine's words."""
    variable = name(event.variable)
    if event.kind == "claim":
        return Claim(variable, event.ids, event.at, (event.value,), event.reliability)
    if event.kind == "seen":
        return Sight(variable, event.ids, event.at, event.value)
    return Sight(variable, event.ids, event.at, visible=event.chances)


def start(case: Case) -> Beliefs[str]:
    """The common prior of a case."""
    beliefs = Beliefs[str]()
    for variable, prior in enumerate(case.priors):
        beliefs.add(name(variable), prior)
    if case.bounds:
        limits = [Limit(bound.values, bound.most, bound.least) for bound in case.bounds]
        beliefs.couple(beliefs.names, limits)
    return beliefs


def play(case: Case) -> tuple[Beliefs[str], Minds[str]]:
    """What I believe in the end, and what I think my mates believe."""
    mine = start(case)
    minds = Minds(MATES, mine)
    for one in case.script:
        if isinstance(one, Event):
            if one.weights[ME]:
                mine.apply(evidence(one))
            minds.witnessed(evidence(one), {mate: one.weights[mate] for mate in MATES})
            continue
        time, moves = case.changes[one]
        moved = {name(variable): move for variable, move in enumerate(moves)}
        for beliefs in (mine, *(minds[mate] for mate in MATES)):
            beliefs.predict(time, moved)
    return mine, minds


def tables(beliefs: Beliefs[str], names: Iterable[str] | None = None) -> Tables:
    return [beliefs.table(one) for one in names or beliefs.names]
