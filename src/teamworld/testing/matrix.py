"""Every method in every world: ``python -m teamworld.testing.matrix``.

``check_method`` and ``check_world`` go into depth; the matrix goes into breadth, pair by pair, with two episodes each:
a plain one, and one in which answers arrive in another order and actions equal to the running one are left out. The
command plays the long form: all levels but the huge ones, all variants, more seeds and steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import islice, takewhile
from typing import Any, Final, cast

from teamworld.episode.compatibility import DoesNotApply, applies
from teamworld.errors import UserError, suggest
from teamworld.experiment import process_pool
from teamworld.language import Action, AgentId
from teamworld.methods import registry as methods
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import Commit, Event, MessageSent, PlanStart, QuestionAsked
from teamworld.testing.episodes import PlayedEpisode, ReorderedRules, Scenario, ViewLog, play
from teamworld.testing.methods import METHOD_CHECKS, check_method, episode_problems
from teamworld.testing.report import CheckReport, Nonconformance
from teamworld.testing.worlds import WORLD_CHECKS, check_world
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.contract import StepResult, World

#: The levels of the short form, one for each kind of task; of other worlds their default level.
SHORT: Final[Mapping[str, tuple[str, ...]]] = {
    "cube": ("paper-n2", "n4"),
    "lbf": ("Foraging-8x8-2p-2f-coop-v3", "Foraging-2s-10x10-3p-3f-v3"),
    "rooms": ("two", "two-hazard"),
    "wildfire": (
        "cut_trees_sparse_small",
        "cut_trees_lines_small",
        "scout_fire_small",
        "transport_firefighters_small",
        "rescue_civilians_known_location_small",
        "rescue_civilians_search_and_rescue",
        "suppress_fire_contain",
        "full_game",
    ),
}
#: Methods whose variants belong to the short form too.
WITH_VARIANTS: Final = ("drwell",)
#: Levels with more agents or cells than a matrix is for: beginnings of names.
HUGE: Final[Mapping[str, tuple[str, ...]]] = {
    "wildfire": ("darpa", "stress", "scale"),
    "cube": ("n32", "n64", "n128", "n256", "paper-n32"),
}
#: Steps of the short form's episodes.
HORIZON: Final = 20
#: Levels with steps so slow that the short form makes fewer.
SLOW_LEVELS: Final[Mapping[str, int]] = {"full_game": 2, "rescue_civilians_search_and_rescue": 10}
#: Indistinguishable pairs of a level that are played, and the steps of these episodes.
PAIRS, PAIR_STEPS = 2, 5
#: The checks of a method in a world, each with what it demands in one line.
MATRIX_CHECKS: Final[Mapping[str, str]] = {
    "applies": "Where it declares that it does not apply, it is refused in a line before anything happens.",
    **{name: METHOD_CHECKS[name] for name in ("plays", "given-agents", "same-seed", "any-order")},
    "same-orders": "Actions equal to the running one do not reset it.",
    "hidden": "As long as nobody sees a difference, hidden truth changes no decision.",
}
#: The checks of a world alone.
_SCENARIO_CHECKS: Final = ("indistinguishable-pairs", "same-order")


class _WorldWrapper:
    """Passes everything on to a world."""

    def __init__(self, inner: World) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the world has)
        return getattr(self._inner, name)


class RepeatFilter(_WorldWrapper):
    """A world that never gets an action equal to the running one."""

    def __init__(self, inner: World) -> None:
        super().__init__(inner)
        self._running: dict[AgentId, Action] = {}

    def step(self, actions: Mapping[AgentId, Action]) -> StepResult:
        """Pass on the new actions."""
        result = self._inner.step({a: action for a, action in actions.items() if self._running.get(a) != action})
        self._running = {a: outcome.action for a, outcome in result.outcomes.items() if outcome.status == "running"}
        return result


class ShortenedWorld(_WorldWrapper):
    """A world that is over after some steps."""

    def __init__(self, inner: World, steps: int) -> None:
        super().__init__(inner)
        self._left = steps

    def step(self, actions: Mapping[AgentId, Action]) -> StepResult:
        """Pass on, until it is over."""
        result = self._inner.step(actions)
        self._left -= 1
        return result if self._left or result.end_reason else result._replace(end_reason="horizon")


class ResetRecorder(_WorldWrapper):
    """A world that records whether an episode began."""

    was_reset = False

    def reset(self, seed: int) -> None:
        """Pass on."""
        self.was_reset = True
        self._inner.reset(seed)


def method_labels(*, every: bool = False) -> list[str]:
    """Return all methods that play as they are, with the variants of some or of every one."""
    labels = []
    for name in methods.ready_names():
        variants = methods.method_class(name).variants if every or name in WITH_VARIANTS else ()
        labels += [name, *(f"{name}:{variant}" for variant in variants)]
    return labels


def scenarios(*, every: bool = False, seeds: Iterable[int] = (0,), horizon: int = HORIZON) -> list[Scenario]:
    """Return where all methods play: one level for each kind of task, or every level that is not huge."""
    made = []
    for world in filter(_is_installed, worlds.names()):
        short = SHORT.get(world, (worlds.module(world).DEFAULT_LEVEL,))
        small = [level for level in worlds.levels(world) if not level.startswith(HUGE.get(world, ()))]
        for level in dict.fromkeys((*short, *(small if every else ()))):
            steps = horizon if every else min(horizon, SLOW_LEVELS.get(level, horizon))
            made += [Scenario(world, level, seed, steps) for seed in seeds]
    return made


def _is_installed(world: str) -> bool:
    """Return whether the package is there whose environment a world is; most worlds need none."""
    package: str | None = getattr(worlds.module(world), "PACKAGE", None)
    return package is None or find_spec(package) is not None


def check_pair(label: str, scenario: Scenario, *, skip: Collection[str] = ()) -> None:
    """Check that a method and a world go together.

    Args:
        label: ``METHOD`` or ``METHOD:VARIANT``.
        scenario: Where it plays.
        skip: Names of checks to leave out, see ``MATRIX_CHECKS``.

    Raises:
        Nonconformance: They do not; one line for each check that fails.
        UserError: There is no such method, world, level or check.
    """
    methods.resolve(label, {})
    world = scenario.make()
    report = CheckReport(f"{label} in {scenario}", MATRIX_CHECKS, skip)
    if not applies(methods.method_class(label), world):
        report.run("applies", lambda where: _refusal_problems(label, where), scenario)
        report.raise_failures()
        return
    for check, name in ((_episode_failures, "plays"), (_hidden_failures, "hidden")):
        try:
            for failed, problem in check(label, scenario, report):
                report.add(failed, problem)
        except Exception as error:  # noqa: BLE001  (whatever a method or a world raises where it should not)
            report.add(name, f"{type(error).__name__}: {error}")
            break
    report.raise_failures()


def check_scenario(scenario: Scenario) -> None:
    """Check that a world shows agents nothing hidden, and lets running actions run on.

    Raises:
        Nonconformance: It does not.
    """
    skip = [name for name in WORLD_CHECKS if name not in _SCENARIO_CHECKS]
    check_world(scenario.world, [scenario.level], seeds=[scenario.seed], steps=1, skip=skip)


def _refusal_problems(label: str, scenario: Scenario) -> Iterator[str]:
    world = ResetRecorder(scenario.make())
    try:
        play(label, scenario, {}, world=cast("World", world))
    except DoesNotApply:
        if world.was_reset:
            yield "it is refused after the world was reset"
    else:
        yield "it plays where it declares that it does not apply"


def _episode_failures(label: str, scenario: Scenario, report: CheckReport) -> Iterator[tuple[str, str]]:
    """Play twice, the second time with all changes that must not matter; if they do, find out which one does."""

    def replay(*, reorder: bool = False, filter_repeats: bool = False) -> str:
        make_reasoner = ReorderedRules if reorder else RuleReasoner
        world = cast("World", RepeatFilter(scenario.make())) if filter_repeats else None
        return play(label, scenario, {}, make_reasoner, world=world).digest

    episode = play(label, scenario, {})
    yield from (("plays", problem) for problem in episode_problems(episode, scenario))
    yield from (("given-agents", complaint) for complaint in episode.complaints)
    if not any(map(report.is_due, ("same-seed", "any-order", "same-orders"))):
        return
    if replay(reorder=True, filter_repeats=True) == episode.digest:
        return
    if replay() != episode.digest:
        yield "same-seed", "two runs with the same seed differ"
        return  # the rest would differ for that alone
    order_matters = replay(reorder=True) != episode.digest
    repeats_matter = replay(filter_repeats=True) != episode.digest
    if order_matters or not repeats_matter:
        yield "any-order", "the log depends on which answer comes first"
    if repeats_matter:
        yield "same-orders", "the log differs if orders for what runs already are left out"


def _hidden_failures(label: str, scenario: Scenario, report: CheckReport) -> Iterator[tuple[str, str]]:
    """Play in worlds that nobody can tell apart, as long as nobody can."""
    make_pairs: Callable[[str, int], Iterable[IndistinguishablePair]] | None = getattr(
        worlds.module(scenario.world), "indistinguishable_pairs", None
    )
    if make_pairs is None or not report.is_due("hidden"):
        return

    def begin(world: World, view_log: ViewLog | None = None) -> PlayedEpisode:
        shortened = cast("World", ShortenedWorld(world, min(PAIR_STEPS, scenario.horizon)))
        return play(label, scenario, {}, world=shortened, view_log=view_log)

    for number, pair in enumerate(islice(make_pairs(scenario.level, scenario.seed), PAIRS)):
        if not _first_difference(begin(pair.first), begin(pair.second), PAIR_STEPS):
            continue  # then it does not matter how long nobody sees a difference, which takes long to find out
        view_logs: tuple[ViewLog, ViewLog] = ([], [])
        episodes = begin(pair.first, view_logs[0]), begin(pair.second, view_logs[1])
        alike = len(list(takewhile(lambda views: views[0] == views[1], zip(*view_logs, strict=False))))
        if difference := _first_difference(*episodes, alike):
            yield "hidden", f"pair {number}: {difference} is decided in one alone, though nobody sees a difference"


def _first_difference(first: PlayedEpisode, second: PlayedEpisode, steps: int) -> str:
    """Return the first decision of some steps that only one episode has; empty if all decisions are alike."""
    decisions, others = (
        [text for event in episode.events if event.step < steps and (text := _decision(event))]
        for episode in (first, second)
    )
    if decisions == others:
        return ""
    return next((a or b for a, b in zip(decisions, others, strict=False) if a != b), "one more")


def _decision(event: Event) -> str:
    """Return the decision that an event records; empty where it records none."""
    match event:
        case QuestionAsked():
            return f"{event.agent} {event.purpose} {event.answer}"
        case MessageSent():
            return f"{event.agent} says {event.text}"
        case PlanStart():
            return f"{event.agent} plans {event.text}"
        case Commit():
            return f"{event.agent} commits to {event.goal}"
        case _:
            return ""


# ---- the command


def _failure_line(check: Callable[[], None]) -> str:
    """Return what a check finds in one line; empty if nothing."""
    try:
        check()
    except Nonconformance as error:
        subject = str(error).partition(": ")[0]
        return f"{subject}: {'; '.join(f'{name}: {problem}' for name, problem in error.failures.items())}"
    except UserError as error:
        return str(error)
    return ""


def tasks(labels: Iterable[str], places: Sequence[Scenario], *, suites: bool) -> list[Callable[[], None]]:
    """Return all checks: of scenarios, of pairs and, in the long form, the suites of methods and worlds."""
    checks: list[Callable[[], None]] = [partial(check_scenario, scenario) for scenario in places]
    checks += [partial(check_pair, label, scenario) for label in labels for scenario in places]
    if suites:
        levels = dict.fromkeys((scenario.world, scenario.level) for scenario in places)
        checks += [partial(check_world, world, [level]) for world, level in levels]
        checks += [partial(check_method, label) for label in labels]
    return checks


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text}")
    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Run the matrix; print a line for each pair, scenario or suite that fails, return 1 if one does."""
    parser = argparse.ArgumentParser("python -m teamworld.testing.matrix", description="Every method in every world.")
    parser.add_argument("--short", action="store_true", help="the form that the tests run")
    parser.add_argument("--methods", help="labels with commas; all if left out")
    parser.add_argument("--worlds", help="names with commas; all if left out")
    parser.add_argument("--seeds", type=_positive, help="so many, from 0 (3; short: 1)")
    parser.add_argument("--steps", type=_positive, help=f"of an episode (100; short: {HORIZON})")
    parser.add_argument("--processes", type=_positive, default=process_pool.processors(), help="at a time")
    options = parser.parse_args(argv)
    known, chosen_worlds = worlds.names(), options.worlds.split(",") if options.worlds else []
    for name in chosen_worlds:
        if name not in known:  # nothing would be checked, and nothing found
            parser.error(f"unknown world '{name}'{suggest(name, known)}")
    every = not options.short
    seeds, steps = options.seeds or (3 if every else 1), options.steps or (100 if every else HORIZON)
    labels = options.methods.split(",") if options.methods else method_labels(every=every)
    places = scenarios(every=every, seeds=range(seeds), horizon=steps)
    if missing := [name for name in known if not _is_installed(name)]:
        sys.stdout.write(f"left out: {', '.join(missing)}; run pip install 'teamworld[adapters]'\n")
    if chosen_worlds:
        places = [scenario for scenario in places if scenario.world in chosen_worlds]
    checks = tasks(labels, places, suites=every)
    failed = 0
    for line in filter(None, process_pool.in_order(_failure_line, checks, options.processes)):
        failed += 1
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(checks)} checks of {len(labels)} methods in {len(places)} places: {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    from teamworld.testing import matrix  # by the name under which processes find it

    sys.exit(matrix.main())
