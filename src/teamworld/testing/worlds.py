"""Does a world keep its contract?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from teamworld.errors import UserError
from teamworld.language import Action, AgentId
from teamworld.testing.findings import Findings
from teamworld.testing.steps import NONSENSE, PAUSES, STRIDES
from teamworld.testing.walk import Pause, Stride, difference, plain, seen, told, walk
from teamworld.worlds import registry
from teamworld.worlds.contract import WAIT, IndistinguishablePair, StaleView, World, roster

_PARTS = ("t", "left", "able", "facts", "recall", "known", "goals", "abilities", "options", "history")
#: Ticks after which the episodes of the checks that need an end are over.
SHORT = 9


@dataclass(frozen=True)
class Case:
    """One level of a world."""

    module: Any
    level: str
    seed: int
    steps: int

    def make(self, horizon: int | None = None) -> World:
        """Return the instance, from its start."""
        made: World = self.module.make(self.level, self.seed, horizon or self.module.DEFAULT_HORIZON, {})
        made.reset(self.seed)
        return made


def spec(case: Case) -> Iterator[str]:
    """The specification is whole, and what goes into the log is plain data."""
    found = case.make(SHORT).spec
    if not found.agents or len(set(found.agents)) < len(found.agents) or set(found.kinds) != set(found.agents):
        yield f"agents {found.agents} with kinds of {tuple(found.kinds)}: none, repeated, or not the same"
    if found.horizon != SHORT:
        yield f"made with a horizon of {SHORT}, its horizon is {found.horizon}"
    if not found.task:
        yield "the task is empty: nobody is told what to do"
    if not (plain(dict(found.options)) and plain(dict(found.static))):
        yield "options or static are not plain JSON data"


def module(case: Case) -> Iterator[str]:
    """The module offers what the registry reads; bad input gets a UserError."""
    levels = dict(case.module.LEVELS)
    if case.module.DEFAULT_LEVEL not in levels or not all(levels.values()) or not case.module.SUMMARY:
        yield "DEFAULT_LEVEL is not among LEVELS, or a level or SUMMARY says nothing"
    tries: dict[str, Callable[[], object]] = {
        "an unknown level": lambda: case.module.make("no such level", 0, SHORT, {}),
        "a horizon of 0": lambda: case.module.make(case.level, 0, 0, {}),
        "an unknown option": lambda: case.module.make(case.level, 0, SHORT, {"no_such_option": 1}),
    }
    for what, attempt in tries.items():
        try:
            attempt()
        except UserError:
            continue
        yield f"{what} is not refused with a UserError"


def same_seed(case: Case) -> Iterator[str]:
    """The same seeds give the same episode, from a new world and from one that is reset."""
    used = case.make()
    first = _record(used, case)
    for how, again in (("a new world", case.make()), ("the same world after reset", used)):
        again.reset(case.seed)
        for number, (one, other) in enumerate(zip(first, _record(again, case), strict=False)):
            if one != other:
                yield f"{how} with the same seed differs after {number} steps"
                return


def _record(world: World, case: Case) -> list[str]:
    found = []
    for part in walk(world, case.seed, min(case.steps, 15)):
        if isinstance(part, Stride):
            found.append(told(part.report) + repr(dict(world.snapshot())))
        else:
            found.append(repr([seen(view) for view in part.views.values()]))
    return found


def horizon(case: Case) -> Iterator[str]:
    """The episode is over by its horizon, and then takes no more steps."""
    world, t, over = case.make(SHORT), 0, None
    while over is None and t < 3 * SHORT:
        report = world.step({})
        t, over = t + report.ticks, report.over
    if over is None or (over == "horizon" and t < SHORT):
        yield f"with a horizon of {SHORT} it is over ({over}) at tick {t}"
    try:
        world.step({})
    except UserError:
        return
    yield "a step after the end is not refused with a UserError"


def stale_view(case: Case) -> Iterator[str]:
    """A view cannot be read after the world's next step."""
    world = case.make()
    view = world.view(world.spec.agents[0])
    world.step({})
    for part in (*_PARTS, "check", "text"):
        try:
            found = getattr(view, part)
            if part == "check":
                found(WAIT)
            elif part == "text":
                found()
        except StaleView:
            continue
        yield f"{part} of a view can be read after the next step"


def same_order(case: Case) -> Iterator[str]:
    """An order equal to the running action lets it run on, as no order does."""
    world = case.make()
    for agent in world.spec.agents:
        long = [option.action for option in world.view(agent).options if option.ticks > 2]
        for action in long[:3]:
            silent, told_again = _runs(case, agent, action, again=False), _runs(case, agent, action, again=True)
            if silent != told_again:
                yield f"{action} of {agent} goes otherwise when it is ordered again while it runs"


def _runs(case: Case, agent: AgentId, action: Action, *, again: bool) -> list[str]:
    world = case.make()
    found: list[str] = []
    report = world.step({agent: action})
    while len(found) < 12:
        found.append(told(report) + repr(dict(world.snapshot())))
        outcome = report.outcomes.get(agent)
        if report.over is not None or outcome is None or outcome.status != "running" or agent in report.gone:
            break
        report = world.step({agent: action} if again else {})
    return found


def refused(case: Case) -> Iterator[str]:
    """What cannot start is refused with a reason, and the step is spent."""
    for action in (NONSENSE, Action("wait", (1, 2, 3)), Action("talk", ("never",))):
        world = case.make()
        agent = world.spec.agents[0]
        report = world.step({agent: action})
        outcome = report.outcomes[agent]
        if outcome.status != "failed" or outcome.legal or not outcome.reason:
            yield f"{action} gives {outcome.status}, legal {outcome.legal}, reason '{outcome.reason}'"
        if agent not in report.gone and world.view(agent).t != report.ticks:
            yield f"the step in which {action} was refused took no time"


def indistinguishable_pairs(case: Case) -> Iterator[str]:
    """Views and rosters do not change when only hidden truth changes, in the world's ``indistinguishable_pairs``."""
    pairs: Iterable[IndistinguishablePair] = getattr(case.module, "indistinguishable_pairs", lambda level, seed: ())(
        case.level, case.seed
    )
    for number, (one, other, agent) in enumerate(pairs):
        if list(one.truth()) == list(other.truth()):
            yield f"twins {number} of {agent} do not differ"
        if roster(one) != roster(other):
            yield f"twins {number}: their rosters differ"
        for t in range(5):  # waiting, as long as it sees no difference
            views = one.view(agent), other.view(agent)
            if t and set(views[0].facts) != set(views[1].facts):
                break
            part = difference(*map(seen, views))
            if part is not None:
                yield f"twins {number}, tick {t}: {agent} can tell them apart by its {part}"
            reports = one.step({}), other.step({})
            if any(report.over or agent in report.gone for report in reports):
                break


CASES: Final[Mapping[str, Callable[[Case], Iterator[str]]]] = {
    "spec": spec,
    "module": module,
    "same-seed": same_seed,
    "horizon": horizon,
    "stale-view": stale_view,
    "same-order": same_order,
    "refused": refused,
    "indistinguishable-pairs": indistinguishable_pairs,
}
#: The checks by name, each with what it wants in one line.
WORLD_CHECKS: Final[Mapping[str, str]] = {
    name: " ".join((check.__doc__ or "").split())
    for name, check in {**CASES, **PAUSES, **{name: make() for name, make in STRIDES.items()}}.items()
}


def check_world(
    world: str | Any,  # noqa: ANN401  (a module of any package)
    levels: Iterable[str] | None = None,
    *,
    seeds: Iterable[int] = (0, 1),
    steps: int = 40,
    skip: Collection[str] = (),
) -> None:
    """See that a world keeps the contract of worlds.

    Args:
        world: The name of a registered world, or the module that an entry point would name.
        levels: The levels to look at; all that the module lists if None.
        seeds: Each decides the placement and what a random team does.
        steps: Steps of the random team.
        skip: Names of checks to leave out, see ``WORLD_CHECKS``.

    Raises:
        Nonconformance: It does not; one line for each check that fails.
        UserError: There is no such world, level or check.
    """
    found: Any = registry.module(world) if isinstance(world, str) else world
    name = world if isinstance(world, str) else found.__name__
    for level in found.LEVELS if levels is None else levels:
        findings = Findings(f"world {name}, level {level}", WORLD_CHECKS, skip)
        for seed in seeds:
            _check(Case(found, level, seed, steps), findings)
        findings.told()


def _check(case: Case, findings: Findings) -> None:
    for name, check in CASES.items():
        findings.ask(name, check, case)
    strides = {name: make() for name, make in STRIDES.items()}
    for part in walk(case.make(case.steps + 1), case.seed, case.steps):
        checks: Mapping[str, Callable[[Any], Iterator[str]]] = PAUSES if isinstance(part, Pause) else strides
        for name, looks in checks.items():
            findings.ask(name, looks, part)
