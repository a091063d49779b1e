"""Every method in every world: ``python -m teamworld.testing.matrix``.

What ``check_method`` and ``check_world`` look at in depth is looked at here in breadth, pair by pair, in two plays
each: one as it is, and one in which answers come in another order and orders that say what already runs are left out.
The command plays the long form: all levels that are no stress tests, all variants, more seeds and steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple, cast

from teamworld.episode.compatibility import DoesNotApply, applies
from teamworld.errors import UserError, suggest
from teamworld.experiment import process_pool
from teamworld.language import Action, AgentId
from teamworld.methods import registry as methods
from teamworld.record import Commit, Event, MessageSent, PlanStart, QuestionAsked
from teamworld.testing.findings import Findings, Nonconformance
from teamworld.testing.methods import check_method, valid
from teamworld.testing.plays import Diary, Late, Played, Stage, play
from teamworld.testing.worlds import WORLD_CHECKS, check_world
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import IndistinguishablePair, StepResult, World

#: The levels of the short form, one for each kind of task; of other worlds their default level.
SHORT: Final[Mapping[str, tuple[str, ...]]] = {
    "cube": ("paper-n2", "n4"),
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
SWITCHED: Final = ("drwell",)
#: Levels with more agents or cells than a matrix is for: beginnings of names.
HUGE: Final[Mapping[str, tuple[str, ...]]] = {
    "wildfire": ("darpa", "stress", "scale"),
    "cube": ("n32", "n64", "n128", "n256", "paper-n32"),
}
#: Steps of the short form's episodes.
HORIZON: Final = 20
#: Where a step takes so long that the short form makes fewer.
FEWER: Final[Mapping[str, int]] = {"full_game": 4}
#: Pairs of twins, and steps in which they are played.
TWINS, LOOKS = 2, 5
#: What is looked at of a pair, each with what it wants in one line.
MATRIX_CHECKS: Final[Mapping[str, str]] = {
    "applies": "Where it declares that it does not apply, it is refused in a line before anything happens.",
    "plays": "The episode ends, and its log is one from which metrics can be made.",
    "given-agents": "It decides only for agents that are free or busy and able, with plans that are not empty.",
    "same-seed": "The same seed gives the same bytes.",
    "any-order": "Answers that arrive in another order give the same log.",
    "same-orders": "Orders equal to the running action do not reset it.",
    "hidden": "As long as nobody sees a difference, hidden truth changes no decision.",
}
#: What is looked at of a place alone.
_PLACE: Final = ("indistinguishable-pairs", "same-order")


class Pair(NamedTuple):
    """A method and where it plays."""

    label: str
    stage: Stage

    def __str__(self) -> str:
        return f"{self.label} in {self.stage.world} {self.stage.level} seed {self.stage.seed}"


class Terse:
    """A world that is not told again what runs already."""

    def __init__(self, inner: World) -> None:
        self._inner = inner
        self._running: dict[AgentId, Action] = {}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the world has)
        return getattr(self._inner, name)

    def step(self, orders: Mapping[AgentId, Action]) -> StepResult:
        """Pass on what is new."""
        report = self._inner.step({who: one for who, one in orders.items() if self._running.get(who) != one})
        self._running = {who: one.action for who, one in report.outcomes.items() if one.status == "running"}
        return report


class Brief:
    """A world that is over after some steps."""

    def __init__(self, inner: World, steps: int) -> None:
        self._inner, self._left = inner, steps

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the world has)
        return getattr(self._inner, name)

    def step(self, orders: Mapping[AgentId, Action]) -> StepResult:
        """Pass on, until it is over."""
        report = self._inner.step(orders)
        self._left -= 1
        return report if self._left or report.over else report._replace(over="horizon")


class Untouched:
    """A world that tells whether an episode began."""

    def __init__(self, inner: World) -> None:
        self._inner, self.touched = inner, False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the world has)
        return getattr(self._inner, name)

    def reset(self, seed: int) -> None:
        """Pass on."""
        self.touched = True
        self._inner.reset(seed)


def labels(*, every: bool = False) -> list[str]:
    """Return all methods, with the variants of some or of every one."""
    found = []
    for name in methods.names():
        variants = methods.method_class(name).variants if every or name in SWITCHED else ()
        found += [name, *(f"{name}:{variant}" for variant in variants)]
    return found


def stages(*, every: bool = False, seeds: Iterable[int] = (0,), horizon: int = HORIZON) -> list[Stage]:
    """Return where all are made to play: one level for each kind of task, or every level that is not huge."""
    found = []
    for world in worlds.names():
        short = SHORT.get(world, (worlds.module(world).DEFAULT_LEVEL,))
        levels = [one for one in worlds.levels(world) if not one.startswith(HUGE.get(world, ()))] if every else short
        for level in dict.fromkeys((*short, *levels)):
            steps = horizon if every else min(horizon, FEWER.get(level, horizon))
            found += [Stage(world, level, seed, steps) for seed in seeds]
    return found


def check_pair(label: str, stage: Stage, *, skip: Collection[str] = ()) -> None:
    """See that a method and a world go together.

    Args:
        label: ``METHOD`` or ``METHOD:VARIANT``.
        stage: Where it plays.
        skip: Names of checks to leave out, see ``MATRIX_CHECKS``.

    Raises:
        Nonconformance: They do not; one line for each check that fails.
        UserError: There is no such method, world, level or check.
    """
    methods.resolve(label, {})
    stage.make()
    findings = Findings(str(Pair(label, stage)), MATRIX_CHECKS, skip)
    if not applies(methods.method_class(label), stage.make()):
        findings.ask("applies", lambda place: _refused(label, place), stage)
        findings.told()
        return
    for check in (_plays, _hidden):
        try:
            for name, found in check(label, stage, findings):
                findings.add(name, found)
        except Exception as error:  # noqa: BLE001  (whatever a method or a world raises where it should not)
            findings.add("plays" if check is _plays else "hidden", f"{type(error).__name__}: {error}")
            break
    findings.told()


def check_place(stage: Stage) -> None:
    """See that a world tells agents nothing hidden, and lets what runs run on.

    Raises:
        Nonconformance: It does not.
    """
    skip = [name for name in WORLD_CHECKS if name not in _PLACE]
    check_world(stage.world, [stage.level], seeds=[stage.seed], steps=1, skip=skip)


def _refused(label: str, stage: Stage) -> Iterator[str]:
    """Try to play all the same."""
    world = Untouched(stage.make())
    try:
        play(label, stage, {}, made=cast("World", world))
    except DoesNotApply:
        if world.touched:
            yield "it is refused after the world was reset"
    else:
        yield "it plays where it declares that it does not apply"


def _plays(label: str, stage: Stage, findings: Findings) -> Iterator[tuple[str, str]]:
    """Play twice, the second time otherwise in all that must not matter; if it does, find out which it was."""

    def again(**how: Any) -> str:
        return play(label, stage, {}, **how).digest

    played = play(label, stage, {})
    yield from (("plays", found) for found in valid(played, stage))
    yield from (("given-agents", found) for found in played.complaints)
    if not any(map(findings.due, ("same-seed", "any-order", "same-orders"))):
        return
    if again(make_reasoner=Late, made=_terse(stage)) == played.digest:
        return
    if again() != played.digest:
        yield "same-seed", "two runs with the same seed differ"
        return  # the rest would differ for that alone
    late, terse = again(make_reasoner=Late) != played.digest, again(made=_terse(stage)) != played.digest
    if late or not terse:
        yield "any-order", "the log depends on which answer comes first"
    if terse:
        yield "same-orders", "the log differs if orders for what runs already are left out"


def _terse(stage: Stage) -> World:
    return cast("World", Terse(stage.make()))


def _hidden(label: str, stage: Stage, findings: Findings) -> Iterator[tuple[str, str]]:
    """Play in worlds that nobody can tell apart, as long as nobody can."""
    offered: Callable[[str, int], Iterable[IndistinguishablePair]] | None = getattr(
        worlds.module(stage.world), "indistinguishable_pairs", None
    )
    if offered is None or not findings.due("hidden"):
        return
    for number, twins in enumerate(islice(offered(stage.level, stage.seed), TWINS)):
        if not _differs(_brief(label, stage, twins.one), _brief(label, stage, twins.other), LOOKS):
            continue  # then it does not matter how long nobody sees a difference, and to find out takes long
        diaries: tuple[Diary, Diary] = ([], [])
        one, other = _brief(label, stage, twins.one, diaries[0]), _brief(label, stage, twins.other, diaries[1])
        alike = len(list(takewhile(lambda pages: pages[0] == pages[1], zip(*diaries, strict=False))))
        if differs := _differs(one, other, alike):
            yield "hidden", f"twins {number}: {differs} is decided in one alone, though nobody sees a difference"


def _brief(label: str, stage: Stage, world: World, diary: Diary | None = None) -> Played:
    """Play the first steps."""
    return play(label, stage, {}, made=cast("World", Brief(world, min(LOOKS, stage.horizon))), diary=diary)


def _differs(one: Played, other: Played, steps: int) -> str:
    """Return what is first decided in one episode alone in its first steps; empty if all is decided alike."""
    decided, otherwise = ([told for told in map(_decision, _early(play, steps)) if told] for play in (one, other))
    if decided == otherwise:
        return ""
    return next((a or b for a, b in zip(decided, otherwise, strict=False) if a != b), "one more")


def _early(played: Played, steps: int) -> list[Event]:
    return [event for event in played.events if event.step < steps]


def _decision(event: Event) -> str:
    """Return what an event says of a decision; empty where it tells what is true, or what came of it."""
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


def _told(check: Callable[[], None]) -> str:
    """Return what a check finds in one line; empty if nothing."""
    try:
        check()
    except Nonconformance as error:
        what = str(error).partition(": ")[0]
        return f"{what}: {'; '.join(f'{name}: {found}' for name, found in error.findings.items())}"
    except UserError as error:
        return str(error)
    return ""


def tasks(found: Iterable[str], places: Sequence[Stage], *, suites: bool) -> list[Callable[[], None]]:
    """Return all checks: of places, of pairs and, in the long form, the suites of methods and worlds."""
    made: list[Callable[[], None]] = [partial(check_place, stage) for stage in places]
    made += [partial(check_pair, label, stage) for label in found for stage in places]
    if suites:
        levels: dict[str, dict[str, None]] = {}
        for stage in places:
            levels.setdefault(stage.world, {})[stage.level] = None
        made += [partial(check_world, world, [level]) for world, some in levels.items() for level in some]
        made += [partial(check_method, label) for label in found]
    return made


def _some(text: str) -> int:
    """Return a number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text}")
    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Run the matrix; print a line for each pair, place or suite that fails, return 1 if one does."""
    parser = argparse.ArgumentParser("python -m teamworld.testing.matrix", description="Every method in every world.")
    parser.add_argument("--short", action="store_true", help="the form that the tests run")
    parser.add_argument("--methods", help="labels with commas; all if left out")
    parser.add_argument("--worlds", help="names with commas; all if left out")
    parser.add_argument("--seeds", type=_some, help="so many, from 0 (3; short: 1)")
    parser.add_argument("--steps", type=_some, help=f"of an episode (100; short: {HORIZON})")
    parser.add_argument("--processes", type=_some, default=process_pool.processors(), help="at a time")
    given = parser.parse_args(argv)
    known, asked_for = worlds.names(), given.worlds.split(",") if given.worlds else []
    for name in asked_for:
        if name not in known:  # nothing would be looked at, and nothing found
            parser.error(f"unknown world '{name}'{suggest(name, known)}")
    every = not given.short
    seeds, steps = given.seeds or (3 if every else 1), given.steps or (100 if every else HORIZON)
    chosen = given.methods.split(",") if given.methods else labels(every=every)
    places = stages(every=every, seeds=range(seeds), horizon=steps)
    if asked_for:
        places = [stage for stage in places if stage.world in asked_for]
    made = tasks(chosen, places, suites=every)
    failed = 0
    for line in filter(None, process_pool.in_order(_told, made, given.processes)):
        failed += 1
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(made)} checks of {len(chosen)} methods in {len(places)} places: {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    from teamworld.testing import matrix  # by the name under which processes find it

    sys.exit(matrix.main())
