"""Does a method keep its contract?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from teamworld.episode.compatibility import applies
from teamworld.episode.messages import MessageRule
from teamworld.errors import UserError
from teamworld.methods import registry as methods
from teamworld.metrics.event_tables import gather
from teamworld.metrics.measure import measure
from teamworld.record import ActionStep, EpisodeEnd, EpisodeStart, Event, Gone, MessageSent, PlanStart
from teamworld.testing.findings import Findings
from teamworld.testing.plays import Late, Mute, Played, Stage, play
from teamworld.worlds import registry as worlds

#: Ticks of the episodes.
HORIZON = 40
#: Messages that cost, get lost, come late and do not carry far.
HARD = MessageRule(ticks=1, paid_by="speaker", loss=0.5, seen="next", reach=6)
#: Where agents die: the fire of the tutorial's world, which spreads fast here.
FIRE = {"spread": 0.4}


@dataclass(frozen=True)
class Case:
    """A method with its options, and the worlds that it is made to play in."""

    label: str
    options: Mapping[str, Mapping[str, Any]]
    stages: Sequence[Stage]
    kept: dict[str, Played] = field(default_factory=dict)
    """Plain episodes by their stage, for the checks that look at the same one."""

    def play(self, stage: Stage, **how: Any) -> Played:
        """Play an episode."""
        return play(self.label, stage, self.options, **how)

    def played(self, stage: Stage) -> Played:
        """Return an episode on rules with nothing special about it; each is played once."""
        key = repr(stage)
        if key not in self.kept:
            self.kept[key] = self.play(stage)
        return self.kept[key]

    @property
    def fires(self) -> tuple[Stage, ...]:
        """Where agents die; none if the method does not apply there."""
        return _fires() if _applies(self.label, _fires()[0]) else ()


def plays(case: Case) -> Iterator[str]:
    """On rules its episodes end in every world, and their logs are ones from which metrics can be made."""
    for stage in case.stages:
        yield from valid(case.played(stage), stage)


def questions(case: Case) -> Iterator[str]:
    """Each question has a prompt, a rule whose answer passes the check, and a fallback of the answer's type."""
    for stage in case.stages:
        for complaint in case.play(stage, listen=True).complaints:
            yield f"{_where(stage)}: {complaint}"


def given_agents(case: Case) -> Iterator[str]:
    """It decides only for agents that are free or busy and able, with plans that are not empty."""
    for stage in (*case.stages, *case.fires):
        for complaint in case.played(stage).complaints:
            yield f"{_where(stage)}: {complaint}"


def same_seed(case: Case) -> Iterator[str]:
    """The same seeds write the same bytes."""
    for stage in (*case.stages, case.stages[-1]._replace(rule=HARD)):
        if case.played(stage).digest != case.play(stage).digest:
            yield f"{_where(stage)}: two runs with the same seeds differ"


def any_order(case: Case) -> Iterator[str]:
    """Answers that arrive in another order give the same log."""
    for stage in (*case.stages, case.stages[-1]._replace(rule=HARD)):
        if case.played(stage).digest != case.play(stage, make_reasoner=Late).digest:
            yield f"{_where(stage)}: the log depends on which answer comes first"


def silence(case: Case) -> Iterator[str]:
    """If no mind ever answers, fallbacks stand and the episode ends."""
    for stage in case.stages:
        yield from valid(case.play(stage, make_reasoner=lambda streams: Mute()), stage)


def lost_words(case: Case) -> Iterator[str]:
    """Messages that cost, come late or never come stop nothing."""
    for stage in case.stages:
        yield from valid(case.played(stage._replace(rule=HARD)), stage)


def deaths(case: Case) -> Iterator[str]:
    """When agents die the others go on: they act, and nobody speaks to the dead."""
    died = 0
    for stage in case.fires:
        played = case.played(stage)
        yield from valid(played, stage)
        gone: dict[str, int] = {}
        for event in played.events:
            if isinstance(event, Gone):
                gone[event.agent] = event.step
                died += 1
            said_to = event.recipients if isinstance(event, MessageSent) else ()
            if any(agent in gone for agent in said_to):
                yield f"{_where(stage)}: a message is for {', '.join(said_to)} after {', '.join(gone)} died"
        team = next(event.team for event in played.events if isinstance(event, EpisodeStart))
        steps = {event.agent: event.step for event in played.events if isinstance(event, ActionStep)}
        last = max(steps.values(), default=0)
        for agent in team:
            if agent not in gone and steps.get(agent, -1) < last - 1:
                yield f"{_where(stage)}: {agent} is alive and does nothing from step {steps.get(agent, -1)} on"
    if case.fires and not died:
        yield "nobody died where somebody should have: the suite needs a faster fire"


def learning(case: Case) -> Iterator[str]:
    """What is learned from a log is the same each time, and plain data."""
    for stage in case.stages:
        events = case.played(stage).events
        made = [methods.make(case.label, methods.resolve(case.label, case.options).model_dump()) for _ in range(2)]
        learned = [one.learn(events) for one in made]
        if msgspec.json.encode(learned[0]) != msgspec.json.encode(learned[1]):
            yield f"{_where(stage)}: learn gives two answers for one log"
        if (learned[0] is not None) and not made[0].learns_in(1):
            yield f"{_where(stage)}: learns_in(1) is False, and something is learned"


def valid(played: Played, stage: Stage) -> Iterator[str]:
    """Yield what is wrong with an episode that was played."""
    events: Sequence[Event] = played.events
    if not isinstance(events[-1], EpisodeEnd):
        yield f"{_where(stage)}: the episode has no end"
        return
    measure(gather(events))
    if not any(isinstance(event, (ActionStep, PlanStart)) for event in events):
        yield f"{_where(stage)}: nobody did anything"


def _where(stage: Stage) -> str:
    return f"{stage.world} {stage.level} seed {stage.seed}"


def _applies(label: str, stage: Stage) -> bool:
    found = methods.method_class(label)
    return not found.roster or applies(found, stage.make())


def _fires() -> tuple[Stage, ...]:
    return tuple(Stage("rooms", "two-hazard", seed, HORIZON, FIRE) for seed in range(3))


CHECKS: Final[Mapping[str, Callable[[Case], Iterator[str]]]] = {
    "plays": plays,
    "questions": questions,
    "given-agents": given_agents,
    "same-seed": same_seed,
    "any-order": any_order,
    "silence": silence,
    "lost-words": lost_words,
    "deaths": deaths,
    "learning": learning,
}
#: The checks by name, each with what it wants in one line.
METHOD_CHECKS: Final[Mapping[str, str]] = {
    name: " ".join((check.__doc__ or "").split()) for name, check in CHECKS.items()
}


def check_method(
    label: str,
    options: Mapping[str, Any] | None = None,
    *,
    stages: Iterable[tuple[str, str]] | None = None,
    seed: int = 0,
    skip: Collection[str] = (),
) -> None:
    """See that a method keeps the contract of methods.

    Args:
        label: ``METHOD`` or ``METHOD:VARIANT``, built in or registered by an entry point.
        options: Options of the label.
        stages: Worlds and levels to play in; the default level of each registered world that it applies to if None.
        seed: Of the episodes.
        skip: Names of checks to leave out, see ``METHOD_CHECKS``.

    Raises:
        Nonconformance: It does not; one line for each check that fails.
        UserError: There is no such method, option, world, level or check, or it applies to no world.
    """
    findings = Findings(f"method {label}", METHOD_CHECKS, skip)
    given = {label: dict(options or {})} if options else {}
    methods.resolve(label, given)
    chosen = [(world, worlds.module(world).DEFAULT_LEVEL) for world in worlds.names()] if stages is None else stages
    places = [Stage(world, level, seed, HORIZON) for world, level in chosen]
    if stages is None:
        places = [stage for stage in places if _applies(label, stage)]
    if not places:
        raise UserError(f"method {label} applies to none of {', '.join(worlds.names())}: name a stage for it")
    case = Case(label, given, places)
    for name, check in CHECKS.items():
        findings.ask(name, check, case)
    findings.told()
