"""The matrix finds what it looks for: each check tells of a method or a world that breaks it, in one line."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from teamworld.episode import loop
from teamworld.episode.compatibility import entities_for
from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Entity
from teamworld.methods import registry as methods
from teamworld.methods.contract import WAIT, Decision, DecisionContext, Message, Method
from teamworld.testing import Nonconformance, episodes
from teamworld.testing.episodes import Scenario
from teamworld.testing.matrix import MATRIX_CHECKS, check_pair, check_scenario, main, method_labels, scenarios, tasks
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.views import TeamView
from teamworld.worlds.contract import WAIT as WAITING
from teamworld.worlds.contract import Capability, StepResult, World
from teamworld.worlds.rooms import world as rooms
from teamworld.worlds.rooms.world import RoomsWorld
from tests.testing.broken import Idle, Meddles, Raises

pytestmark = pytest.mark.heavy

ROOMS = Scenario("rooms", "two", 0, 12)


class Counts(Idle):
    """Remembers earlier episodes, which no seed names."""

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        type(self).turn += 1
        context.post(Message(context.free[0], "inform", f"{self.turn}"))
        return dict.fromkeys(context.free, WAIT)


class FirstCome(Idle):
    """Speaks in the order in which answers come."""

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        came: list[AgentId] = []
        late = cast("Any", context)._reasoner.__class__.__name__ == "ReorderedRules"

        async def think(agent: AgentId, turns: int) -> None:
            for _ in range(turns if late else 0):
                await asyncio.sleep(0)
            came.append(agent)

        turns = range(len(context.free), 0, -1)
        await context.together({agent: think(agent, n) for agent, n in zip(context.free, turns, strict=True)})
        for agent in came:
            context.post(Message(agent, "inform", "I was ready"))
        return dict.fromkeys(context.free, WAIT)


class Peeks(Idle):
    """Knows what it cannot see."""

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        for agent in context.free:
            truth = cast("Any", context.views)._make.__self__.truth()
            context.post(Message(agent, "inform", f"all that is true: {', '.join(map(str, truth))}"))
        return dict.fromkeys(context.free, WAIT)


class Stumbles(RoomsWorld):
    """Loses a step whenever it is told again what it does."""

    def step(self, orders: Mapping[AgentId, Action]) -> StepResult:
        again = {agent for agent, order in orders.items() if agent in self._executor.running}
        return super().step({agent: WAITING if agent in again else order for agent, order in orders.items()})


def spoiled(**parts: Any) -> SimpleNamespace:
    """Return the module of rooms with other parts."""
    names = ("LEVELS", "DEFAULT_LEVEL", "step_limit", "OPTIONS", "SUMMARY", "make", "indistinguishable_pairs")
    return SimpleNamespace(__name__="spoiled", **{name: getattr(rooms, name) for name in names} | parts)


@pytest.fixture
def method(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Method]], None]:
    def register(method: type[Method]) -> None:
        monkeypatch.setitem(methods.BUILT_IN, "broken", f"{method.__module__}:{method.__name__}")

    return register


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Callable[[SimpleNamespace], None]:
    def register(module: SimpleNamespace) -> None:
        right = worlds.module
        monkeypatch.setattr(worlds, "module", lambda name: module if name == "rooms" else right(name))

    return register


BROKEN: Mapping[str, type[Method]] = {
    "plays": Raises,
    "given-agents": Meddles,
    "same-seed": Counts,
    "any-order": FirstCome,
    "hidden": Peeks,
}


def failures(label: str, **given: Any) -> dict[str, str]:
    with pytest.raises(Nonconformance) as caught:
        check_pair(label, ROOMS, **given)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.failures)
    assert all(line.startswith(f"{label} in rooms two seed 0: ") for line in lines)
    return caught.value.failures


@pytest.mark.parametrize("check", BROKEN)
def test_a_check_finds_the_method_that_breaks_it(check: str, method: Callable[[type[Method]], None]) -> None:
    method(Idle)
    check_pair("broken", ROOMS)
    method(BROKEN[check])
    told = failures("broken")
    assert check in told
    if check == "plays":
        assert "KeyError" in told["plays"]
        return
    assert set(told) <= {check, "hidden"}  # a count is also seen there
    check_pair("broken", ROOMS, skip=set(told))


def test_every_check_is_tried() -> None:
    assert {*BROKEN, "same-orders", "applies"} == set(MATRIX_CHECKS)
    assert all(MATRIX_CHECKS.values())
    with pytest.raises(UserError, match="no check 'play'"):
        check_pair("greedy", ROOMS, skip=["play"])


def test_where_all_decide_alike_nobody_asks_what_they_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "describe_view", lambda view: pytest.fail("takes long"))
    check_pair("do_nothing", ROOMS)


class Choosy(Idle):
    """Needs what rooms does not tell."""

    requires: ClassVar[frozenset[Capability]] = frozenset({"entities"})


def test_a_method_that_declares_that_it_does_not_apply_is_refused_and_never_waits(
    method: Callable[[type[Method]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    method(Choosy)
    check_pair("broken", ROOMS)
    monkeypatch.setattr(loop, "entities_for", lambda method, world: ())
    assert failures("broken") == {"applies": "it plays where it declares that it does not apply"}
    check_pair("broken", ROOMS, skip=["applies"])

    def late(method: object, world: World) -> tuple[Entity, ...]:
        world.reset(0)
        return entities_for(Choosy, world)

    monkeypatch.setattr(loop, "entities_for", late)
    assert failures("broken") == {"applies": "it is refused after the world was reset"}


def test_a_world_that_starts_actions_anew_is_found(world: Callable[[SimpleNamespace], None]) -> None:
    def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> RoomsWorld:
        good = rooms.make(level, seed, horizon, options)
        return Stumbles(good._placed, level, horizon, good._options)

    world(spoiled(make=make))
    assert set(failures("greedy", skip=["plays", "hidden"])) == {"same-orders"}
    with pytest.raises(Nonconformance, match="same-order"):
        check_scenario(ROOMS)


def test_a_view_that_tells_hidden_truth_is_found(world: Callable[[SimpleNamespace], None]) -> None:
    def twins(level: str, seed: int) -> Iterator[IndistinguishablePair]:
        for one, other, agent in rooms.indistinguishable_pairs(level, seed):
            told = cast("RoomsWorld", other)
            yield IndistinguishablePair(one, Tells(told._placed, level, told.spec.horizon, told._options), agent)

    world(spoiled(indistinguishable_pairs=twins))
    with pytest.raises(
        Nonconformance, match="indistinguishable-pairs: pair 0, tick 0: agent_0 can tell them apart by its able"
    ):
        check_scenario(ROOMS)


class Unable(TeamView):
    @property
    def is_able(self) -> bool:
        return False


class Tells(RoomsWorld):
    """Its agents feel what they cannot see."""

    def view(self, agent: AgentId) -> TeamView:
        view = super().view(agent)
        return Unable(agent, view._frame, view._current)


def test_the_matrix_holds_every_method_and_every_world() -> None:
    played = {methods.method_of(label) for label in method_labels()}
    assert played == set(methods.names()) - {"policy"}  # a trained network is in a file
    assert {f"drwell:{variant}" for variant in methods.method_class("drwell").variants} <= set(method_labels())
    assert {stage.world for stage in scenarios()} == set(worlds.names())
    long = scenarios(every=True, seeds=range(2))
    assert {(stage.world, stage.level) for stage in scenarios()} < {(stage.world, stage.level) for stage in long}
    assert set(method_labels()) < set(method_labels(every=True))
    assert len(tasks(["greedy"], long[:4], suites=True)) > len(tasks(["greedy"], long[:4], suites=False))


def test_the_command_takes_several_processes() -> None:
    asked = ["--short", "--worlds", "rooms", "--methods", "do_nothing,greedy", "--steps", "3", "--processes", "2"]
    done = subprocess.run([sys.executable, "-m", "teamworld.testing.matrix", *asked], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "6 checks of 2 methods in 2 places: 0 failed\n"


def test_the_command_tells_a_line_for_each_pair_that_fails(
    method: Callable[[type[Method]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    method(Raises)
    asked = ["--short", "--worlds", "rooms", "--methods", "broken,greedy", "--processes", "1", "--steps", "5"]
    assert main(asked) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "broken in rooms two seed 0",
        "broken in rooms two-hazard seed 0",
    ]
    assert last == "6 checks of 2 methods in 2 places: 2 failed"
    asked[4] = "greedy"
    assert main(asked) == 0
    assert main([*asked[:4], "no_such", *asked[5:]]) == 1
    assert "unknown method 'no_such'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--worlds", "room"], "unknown world 'room'; did you mean 'rooms'?"),
        (["--worlds", "rooms,"], "unknown world ''"),
        (["--seeds", "0"], "expected a number from 1 on, got 0"),
        (["--steps", "-1"], "expected a number from 1 on, got -1"),
        (["--processes", "0"], "expected a number from 1 on, got 0"),
    ],
)
def test_the_command_refuses_to_look_at_nothing(
    asked: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--short", "--methods", "do_nothing", *asked])
    assert left.value.code == 2
    assert says in capsys.readouterr().err
