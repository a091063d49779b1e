"""The conformance suite of worlds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from teamworld.language import Action, AgentId
from teamworld.metrics.all_metrics import check_headline
from teamworld.testing.random_walk import (
    AfterStep,
    BeforeStep,
    describe_result,
    describe_view,
    differing_part,
    is_plain_json,
    walk_randomly,
)
from teamworld.testing.report import CheckReport, checks_by_name, is_refused, summarise
from teamworld.testing.world_steps import AFTER_STEP_CHECKS, BEFORE_STEP_CHECKS, ILLEGAL_ACTIONS
from teamworld.worlds import registry
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.known_picture import DrawKnown
from teamworld.worlds.base.views import StaleView
from teamworld.worlds.contract import WAIT, World

_PARTS = ("t", "steps_left", "is_able", "facts", "recall", "known", "goals", "abilities", "options", "history")
#: The horizon of the checks that play an episode to its end.
SHORT_HORIZON = 9


@dataclass(frozen=True)
class WorldCase:
    """One level of a world."""

    module: Any
    level: str
    seed: int
    steps: int

    def make(self, horizon: int | None = None) -> World:
        """Return the instance, from its start."""
        world: World = self.module.make(self.level, self.seed, horizon or self.module.step_limit(self.level, {}), {})
        world.reset(self.seed)
        return world


def spec(case: WorldCase) -> Iterator[str]:
    """The specification is complete, and what goes into the log is plain data."""
    actual = case.make(SHORT_HORIZON).spec
    if not actual.agents or len(set(actual.agents)) < len(actual.agents) or set(actual.kinds) != set(actual.agents):
        yield f"agents {actual.agents} with kinds of {tuple(actual.kinds)}: none, repeated, or not the same"
    if actual.horizon != SHORT_HORIZON:
        yield f"made with a horizon of {SHORT_HORIZON}, its horizon is {actual.horizon}"
    if not actual.task:
        yield "the task is empty: nobody is told what to do"
    if not (is_plain_json(dict(actual.options)) and is_plain_json(dict(actual.static))):
        yield "options or static are not plain JSON data"
    if is_refused(lambda: check_headline(actual)):
        yield f"its headline names what is no metric: {', '.join(part.metric for part in actual.headline)}"


def module(case: WorldCase) -> Iterator[str]:
    """The module offers what the registry reads; bad input gets a UserError."""
    levels = dict(case.module.LEVELS)
    if case.module.DEFAULT_LEVEL not in levels or not all(levels.values()) or not case.module.SUMMARY:
        yield "DEFAULT_LEVEL is not among LEVELS, or a level or SUMMARY says nothing"
    if (limit := case.module.step_limit(case.level, {})) < 1:
        yield f"step_limit must be at least 1, got {limit}"
    attempts: dict[str, Callable[[], object]] = {
        "an unknown level": lambda: case.module.make("no such level", 0, SHORT_HORIZON, {}),
        "a horizon of 0": lambda: case.module.make(case.level, 0, 0, {}),
        "an unknown option": lambda: case.module.make(case.level, 0, SHORT_HORIZON, {"no_such_option": 1}),
    }
    for what, attempt in attempts.items():
        if not is_refused(attempt):
            yield f"{what} is not refused with a UserError"


def same_seed(case: WorldCase) -> Iterator[str]:
    """The same seeds give the same episode, from a new world and from one that is reset."""
    used = case.make()
    first = _record(used, case)
    for how, world in (("a new world", case.make()), ("the same world after reset", used)):
        world.reset(case.seed)
        for number, (before, after) in enumerate(zip(first, _record(world, case), strict=False)):
            if before != after:
                yield f"{how} with the same seed differs after {number} steps"
                return


def _record(world: World, case: WorldCase) -> list[str]:
    lines = []
    for part in walk_randomly(world, case.seed, min(case.steps, 15)):
        if isinstance(part, AfterStep):
            lines.append(describe_result(part.result) + repr(dict(world.snapshot())))
        else:
            lines.append(repr([describe_view(view) for view in part.views.values()]))
    return lines


def horizon(case: WorldCase) -> Iterator[str]:
    """The episode is over by its horizon, and then takes no more steps."""
    world, t, end_reason = case.make(SHORT_HORIZON), 0, None
    while end_reason is None and t < 3 * SHORT_HORIZON:
        result = world.step({})
        t, end_reason = t + result.ticks, result.end_reason
    if end_reason is None or (end_reason == "horizon" and t < SHORT_HORIZON):
        yield f"with a horizon of {SHORT_HORIZON} it is over ({end_reason}) at tick {t}"
    if not is_refused(lambda: world.step({})):
        yield "a step after the end is not refused with a UserError"


def stale_view(case: WorldCase) -> Iterator[str]:
    """A view cannot be read after the world's next step."""
    world = case.make()
    view = world.view(world.spec.agents[0])
    world.step({})
    reads: dict[str, Callable[[], object]] = {part: partial(getattr, view, part) for part in _PARTS}
    reads |= {"check": lambda: view.check(WAIT), "text": lambda: view.text()}
    for part, read in reads.items():
        if not is_refused(read, StaleView):
            yield f"{part} of a view can be read after the next step"


def same_order(case: WorldCase) -> Iterator[str]:
    """An action equal to the running one lets it run on, as no action does."""
    world = case.make()
    for agent in world.spec.agents:
        long_actions = [option.action for option in world.view(agent).options if option.steps > 2]
        for action in long_actions[:3]:
            if _run(case, agent, action, repeat=False) != _run(case, agent, action, repeat=True):
                yield f"{action} of {agent} goes otherwise when it is ordered again while it runs"


def _run(case: WorldCase, agent: AgentId, action: Action, *, repeat: bool) -> list[str]:
    world = case.make()
    lines: list[str] = []
    result = world.step({agent: action})
    while len(lines) < 12:
        lines.append(describe_result(result) + repr(dict(world.snapshot())))
        outcome = result.outcomes.get(agent)
        if result.end_reason is not None or outcome is None or outcome.status != "running" or agent in result.gone:
            break
        result = world.step({agent: action} if repeat else {})
    return lines


def refused(case: WorldCase) -> Iterator[str]:
    """An action that cannot start is refused with a reason, and the step is spent."""
    for action in ILLEGAL_ACTIONS:
        world = case.make()
        agent = world.spec.agents[0]
        result = world.step({agent: action})
        outcome = result.outcomes[agent]
        if outcome.status != "failed" or outcome.legal or not outcome.reason:
            yield f"{action} gives {outcome.status}, legal {outcome.legal}, reason '{outcome.reason}'"
        if agent not in result.gone and world.view(agent).t != result.ticks:
            yield f"the step in which {action} was refused took no time"


def indistinguishable_pairs(case: WorldCase) -> Iterator[str]:
    """Views, pictures of them and entity lists do not change when only hidden truth changes, in the world's pairs."""
    pairs: Iterable[IndistinguishablePair] = getattr(case.module, "indistinguishable_pairs", lambda level, seed: ())(
        case.level, case.seed
    )
    draw: DrawKnown | None = getattr(case.module, "known_picture", None)
    for number, (first, second, agent) in enumerate(pairs):
        if list(first.truth()) == list(second.truth()):
            yield f"pair {number} of {agent} does not differ"
        if first.entities != second.entities:
            yield f"pair {number}: their entity lists differ"
        for t in range(5):  # the agent waits, as long as it sees no difference
            views = first.view(agent), second.view(agent)
            if t and set(views[0].facts) != set(views[1].facts):
                break
            part = differing_part(*map(describe_view, views))
            if part is not None:
                yield f"pair {number}, tick {t}: {agent} can tell them apart by its {part}"
            elif draw is not None and draw(views[0], first.spec.agents) != draw(views[1], second.spec.agents):
                yield f"pair {number}, tick {t}: {agent} can tell them apart by the picture of what it knows"
            if any(result.end_reason or agent in result.gone for result in (first.step({}), second.step({}))):
                break


_CASE_CHECKS: Final[Mapping[str, Callable[[WorldCase], Iterator[str]]]] = checks_by_name(
    spec, module, same_seed, horizon, stale_view, same_order, refused, indistinguishable_pairs
)
#: The checks by name, each with what it demands in one line.
WORLD_CHECKS: Final[Mapping[str, str]] = summarise({**_CASE_CHECKS, **BEFORE_STEP_CHECKS, **AFTER_STEP_CHECKS})


def check_world(
    world: str | Any,  # noqa: ANN401  (a module of any package)
    levels: Iterable[str] | None = None,
    *,
    seeds: Iterable[int] = (0, 1),
    steps: int = 40,
    skip: Collection[str] = (),
) -> None:
    """Check that a world keeps the contract of worlds.

    Args:
        world: The name of a world, ``MODULE:NAME``, or the module or class itself.
        levels: The levels to check; all that the module lists if None.
        seeds: Each decides the placement and the actions of a random team.
        steps: Steps of the random team.
        skip: Names of checks to leave out, see ``WORLD_CHECKS``.

    Raises:
        Nonconformance: It does not; one line for each check that fails.
        UserError: There is no such world, level or check.
    """
    code: Any = registry.load(world) if isinstance(world, str) else world
    name = world if isinstance(world, str) else code.__name__
    for level in code.LEVELS if levels is None else levels:
        report = CheckReport(f"world {name}, level {level}", WORLD_CHECKS, skip)
        for seed in seeds:
            _check(WorldCase(code, level, seed, steps), report)
        report.raise_failures()


def _check(case: WorldCase, report: CheckReport) -> None:
    for name, check in _CASE_CHECKS.items():
        report.run(name, check, case)
    checks: Mapping[str, Callable[[Any], Iterator[str]]]
    for part in walk_randomly(case.make(case.steps + 1), case.seed, case.steps):
        checks = BEFORE_STEP_CHECKS if isinstance(part, BeforeStep) else AFTER_STEP_CHECKS
        for name, check_part in checks.items():
            report.run(name, check_part, part)
