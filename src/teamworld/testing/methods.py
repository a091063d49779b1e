"""The conformance suite of methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from teamworld import plugins
from teamworld.episode.compatibility import applies
from teamworld.episode.message_delivery import MessageRule
from teamworld.errors import UserError
from teamworld.methods import registry as methods
from teamworld.methods.contract import Method
from teamworld.metrics.all_metrics import measure
from teamworld.metrics.log_reader import tabulate
from teamworld.metrics.outcome import completion
from teamworld.record import ActionStep, AgentLeft, EpisodeEnd, EpisodeStart, Event, MessageSent, PlanStart
from teamworld.testing.episodes import PlayedEpisode, ReorderedRules, Scenario, SilentReasoner, play
from teamworld.testing.report import CheckReport, checks_by_name, summarise
from teamworld.worlds import registry as worlds

#: The method whose agents do nothing.
IDLE = "do_nothing"
#: Steps of the episodes.
HORIZON = 40
#: Messages that cost, get lost, come late and do not carry far.
COSTLY_MESSAGES = MessageRule(ticks=1, paid_by="speaker", loss=0.5, seen="next", reach=6)
#: Where agents die: a fire that spreads fast.
FIRES: Final = tuple(Scenario("rooms", "two-hazard", seed, HORIZON, {"spread": 0.4}) for seed in range(3))


@dataclass(frozen=True)
class MethodCase:
    """A method with its options, and the scenarios that it plays in."""

    label: str
    options: Mapping[str, Mapping[str, Any]]
    scenarios: Sequence[Scenario]
    _episodes: dict[str, PlayedEpisode] = field(default_factory=dict)

    def play(self, scenario: Scenario, **how: Any) -> PlayedEpisode:
        """Play an episode."""
        return play(self.label, scenario, self.options, **how)

    def plain_episode(self, scenario: Scenario) -> PlayedEpisode:
        """Return an episode on rules with nothing special about it; each is played once for all checks."""
        key = repr(scenario)
        if key not in self._episodes:
            self._episodes[key] = self.play(scenario)
        return self._episodes[key]

    @property
    def fires(self) -> tuple[Scenario, ...]:
        """Where agents die; none if the method does not apply there."""
        return FIRES if _applies(self.label, FIRES[0]) else ()

    @property
    def with_costly_messages(self) -> tuple[Scenario, ...]:
        """The scenarios, and the last one with messages that cost and get lost."""
        return (*self.scenarios, self.scenarios[-1]._replace(rule=COSTLY_MESSAGES))


def plays(case: MethodCase) -> Iterator[str]:
    """On rules its episodes end in every world, and metrics can be computed from their logs."""
    for scenario in case.scenarios:
        yield from episode_problems(case.plain_episode(scenario), scenario)


def questions(case: MethodCase) -> Iterator[str]:
    """Each question has a prompt, a rule whose answer passes the check, and a fallback of the answer's type."""
    for scenario in case.scenarios:
        for complaint in case.play(scenario, check_questions=True).complaints:
            yield f"{scenario}: {complaint}"


def given_agents(case: MethodCase) -> Iterator[str]:
    """It decides only for agents that are free or busy and able, with plans that are not empty."""
    for scenario in (*case.scenarios, *case.fires):
        for complaint in case.plain_episode(scenario).complaints:
            yield f"{scenario}: {complaint}"


def same_seed(case: MethodCase) -> Iterator[str]:
    """The same seeds write the same bytes."""
    yield from _differences(case, "two runs with the same seeds differ")


def any_order(case: MethodCase) -> Iterator[str]:
    """Answers that arrive in another order give the same log."""
    yield from _differences(case, "the log depends on which answer comes first", make_reasoner=ReorderedRules)


def _differences(case: MethodCase, problem: str, **how: Any) -> Iterator[str]:
    for scenario in case.with_costly_messages:
        if case.plain_episode(scenario).digest != case.play(scenario, **how).digest:
            yield f"{scenario}: {problem}"


def silence(case: MethodCase) -> Iterator[str]:
    """If the reasoner never answers, the fallbacks hold and the episode ends."""
    for scenario in case.scenarios:
        yield from episode_problems(case.play(scenario, make_reasoner=lambda streams: SilentReasoner()), scenario)


def lost_words(case: MethodCase) -> Iterator[str]:
    """Messages that cost, come late or never come stop nothing."""
    for scenario in case.scenarios:
        yield from episode_problems(case.plain_episode(scenario._replace(rule=COSTLY_MESSAGES)), scenario)


def deaths(case: MethodCase) -> Iterator[str]:
    """When agents die the others go on: they act, and nobody speaks to the dead."""
    deaths_seen = 0
    for scenario in case.fires:
        episode = case.plain_episode(scenario)
        yield from episode_problems(episode, scenario)
        gone: dict[str, int] = {}
        for event in episode.events:
            if isinstance(event, AgentLeft):
                gone[event.agent] = event.step
                deaths_seen += 1
            recipients = event.recipients if isinstance(event, MessageSent) else ()
            if any(agent in gone for agent in recipients):
                yield f"{scenario}: a message is for {', '.join(recipients)} after {', '.join(gone)} died"
        team = next(event.team for event in episode.events if isinstance(event, EpisodeStart))
        last_steps = {event.agent: event.step for event in episode.events if isinstance(event, ActionStep)}
        end = max(last_steps.values(), default=0)
        for agent in team:
            if agent not in gone and last_steps.get(agent, -1) < end - 1:
                yield f"{scenario}: {agent} is alive and does nothing from step {last_steps.get(agent, -1)} on"
    if case.fires and not deaths_seen:
        yield "nobody died where somebody should have: the suite needs a faster fire"


def learning(case: MethodCase) -> Iterator[str]:
    """What is learned from a log is the same each time, and plain data."""
    for scenario in case.scenarios:
        events = case.plain_episode(scenario).events
        resolved = methods.resolve(case.label, case.options).model_dump()
        learners = [methods.make(case.label, resolved) for _ in range(2)]
        deltas = [learner.learn(events) for learner in learners]
        if msgspec.json.encode(deltas[0]) != msgspec.json.encode(deltas[1]):
            yield f"{scenario}: learn gives two answers for one log"
        if (deltas[0] is not None) and not learners[0].learns_in(1):
            yield f"{scenario}: learns_in(1) is False, and something is learned"


def episode_problems(episode: PlayedEpisode, scenario: Scenario) -> Iterator[str]:
    """Yield what is wrong with an episode that was played."""
    events: Sequence[Event] = episode.events
    if not isinstance(events[-1], EpisodeEnd):
        yield f"{scenario}: the episode has no end"
        return
    measure(tabulate(events))
    if not any(isinstance(event, (ActionStep, PlanStart)) for event in events):
        yield f"{scenario}: nobody did anything"


def _completion(case: MethodCase, scenario: Scenario) -> float:
    return completion(tabulate(case.plain_episode(scenario).events)).value or 0.0


def _idle_completion(scenario: Scenario) -> float:
    return completion(tabulate(play(IDLE, scenario, {}).events)).value or 0.0


def _is_installed(scenario: Scenario) -> bool:
    """Return whether a world can be made: the packages of some are extras."""
    try:
        scenario.make()
    except UserError as error:
        warnings.warn(f"{scenario.world} is left out: {error}", stacklevel=3)
        return False
    return True


def _applies(label: str, scenario: Scenario) -> bool:
    method = methods.method_class(label)
    return not method.requires or applies(method, scenario.make())


_CHECKS: Final[Mapping[str, Callable[[MethodCase], Iterator[str]]]] = checks_by_name(
    plays, questions, given_agents, same_seed, any_order, silence, lost_words, deaths, learning
)
#: The checks by name, each with what it demands in one line.
METHOD_CHECKS: Final[Mapping[str, str]] = summarise(_CHECKS)


def check_method(
    label: str | type[Method],
    options: Mapping[str, Any] | None = None,
    *,
    levels: Iterable[tuple[str, str]] | None = None,
    seed: int = 0,
    skip: Collection[str] = (),
) -> None:
    """Check that a method keeps the contract of methods.

    Args:
        label: ``METHOD`` or ``METHOD:VARIANT``, or the class itself.
        options: Options of the label.
        levels: Worlds and levels to play in; the default level of each registered world that it applies to if None.
        seed: Of the episodes.
        skip: Names of checks to leave out, see ``METHOD_CHECKS``.

    Raises:
        Nonconformance: It does not; one line for each check that fails.
        UserError: There is no such method, option, world, level or check, or it applies to no world.
    """
    label = plugins.name_of(label)
    report = CheckReport(f"method {label}", METHOD_CHECKS, skip)
    methods.load(label)
    options_by_label = {label: dict(options or {})} if options else {}
    methods.resolve(label, options_by_label)
    chosen = [(world, worlds.module(world).DEFAULT_LEVEL) for world in worlds.names()] if levels is None else [*levels]
    for world, _ in chosen:
        worlds.load(world)
    scenarios = [Scenario(world, level, seed, HORIZON) for world, level in chosen]
    if levels is None:
        scenarios = [scenario for scenario in scenarios if _is_installed(scenario) and _applies(label, scenario)]
    if not scenarios:
        raise UserError(f"method {label} applies to none of {', '.join(worlds.names())}: name a level for it")
    case = MethodCase(label, options_by_label, scenarios)
    for name, check in _CHECKS.items():
        report.run(name, check, case)
    report.raise_failures()
    if label.partition(":")[0] != IDLE and all(_completion(case, at) <= _idle_completion(at) for at in scenarios):
        warnings.warn(
            f"method {label} completes no more than agents that do nothing, in {', '.join(map(str, scenarios))}: is "
            "that what it is to do? What earns most is best_plan(workable_goals(view), view, domain), of "
            "teamworld.planning.candidates and .goals",
            stacklevel=2,
        )
