"""What an agent puts on record of its beliefs, for the log level ``beliefs``: changes alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from teamworld.language import AgentId, Entity, Fact
from teamworld.methods.cobel import exact, telling
from teamworld.methods.cobel.engine import Assessment, Intent, Situation
from teamworld.methods.cobel.mind import Mind
from teamworld.record import Believe, HeldBelief, Predict

#: Probability with which a team-mate is taken to hold what it neither saw nor was told, as far as is known.
LACKS: Final = 0.05

#: Of a fact: its probability and where it comes from.
Tenets = Mapping[Fact, tuple[float, str]]


class Declared:
    """What an agent has declared so far."""

    def __init__(self) -> None:
        self._last: dict[AgentId | None, dict[Fact, tuple[float, str]]] = {}

    def changes(self, now: Situation, mind: Mind) -> Iterator[Believe]:
        """Yield what has changed of its beliefs about the world and about team-mates' beliefs."""
        if (found := self._change(now, None, _world(now, mind))) is not None:
            yield found
        if not now.options.first_order or now.options.store == "text":
            return
        for mate in now.mates:
            if (found := self._change(now, mate, _ascribed(now, mind, mate))) is not None:
                yield found

    def _change(self, now: Situation, about: AgentId | None, tenets: Tenets) -> Believe | None:
        last = self._last.setdefault(about, {})
        new = [(fact, tenet) for fact, tenet in tenets.items() if last.get(fact) != tenet]
        gone = [fact for fact in last if fact not in tenets]
        if not new and not gone:
            return None
        self._last[about] = dict(tenets)
        held = tuple(
            HeldBelief(fact=str(fact), probability=chance, since=now.view.t, source=source)
            for fact, (chance, source) in new
        )
        return Believe(agent=now.me, about=about, held=held, dropped=tuple(map(str, gone)))


def _world(now: Situation, mind: Mind) -> Tenets:
    """Return what it holds of the world; of what is not known only facts about things that all know by name."""
    told = {one.fact: one for one in mind.store.told.entries}
    found: dict[Fact, tuple[float, str]] = {}
    for fact in now.given:
        one = told.get(fact)
        if one is None or fact in now.view.known:
            found[fact] = 1.0, "own"
        else:
            found[fact] = one.weight, one.evidence[0] if one.origin == "told" else "inferred"
    named = {goal.thing for goal in now.goals.values()}
    for unknown in now.unknowns:
        for fact, chance in exact.distribution(unknown):
            if isinstance(fact.subject, Entity) and fact.subject in named and fact not in found:
                found[fact] = round(chance, 6), "inferred"
    return found


def _ascribed(now: Situation, mind: Mind, mate: AgentId) -> Tenets:
    """Return what it believes that a team-mate holds, and what that one lacks of what matters."""
    found: dict[Fact, tuple[float, str]] = {}
    if mind.store.shared:
        return found
    for one in mind.store.of[mate].entries:
        if one.fact in now.minds[mate]:
            source = one.evidence[0] if one.origin == "told" and one.evidence[0].startswith("message") else "inferred"
            found[one.fact] = one.weight, source
    for item in telling.items(now):
        found |= {fact: (LACKS, "inferred") for fact in item.facts if fact not in now.minds[mate]}
    return found


def predictions(now: Situation, intents: Mapping[AgentId, Sequence[Intent]], found: Assessment) -> Iterator[Predict]:
    """Yield what the agent expects of team-mates: their goals, the likeliest first, and conflicts."""
    for mate, some in intents.items():
        weights: dict[str, float] = {}
        for one in some:
            if one.subplan.goal is not None:
                weights[one.subplan.goal] = weights.get(one.subplan.goal, 0.0) + one.weight
        if weights:
            goals = tuple(sorted(weights, key=lambda goal: -weights[goal]))
            confidence = min(1.0, weights[goals[0]])
            yield Predict(agent=now.me, subject="partner_goal", about=mate, value=goals, confidence=confidence)
    if found.clash and now.subplan is not None:
        for mate in found.against:
            yield Predict(agent=now.me, subject="conflict", about=mate, value=now.subplan.goal)
