"""The base of worlds on a grid: walks, sight, carrying, own actions, and what goes wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.random import Generator

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Fact, Facts, Param
from teamworld.testing import Nonconformance, check_world
from teamworld.worlds.base import picture
from teamworld.worlds.base.grid_world import GridDomain, GridLevels, GridState, GridWorld
from teamworld.worlds.base.memory import Perception
from teamworld.worlds.contract import WAIT, Goal, GoalEvent

MAP = """
#######
#..#..#
#..#..#
#.....#
#######
"""
POT, FLOWER = Entity("pot", 0), Entity("flower", 0)


class Garden(GridDomain):
    kinds, fixed = ("pot", "flower"), ("flower",)
    states = ("done", "withered")
    landmarks: ClassVar = {"shed": (1, 1)}

    def list_goals(self, state: GridState) -> Sequence[Goal]:
        """Each pot is brought to the shed, each flower watered where it stands."""
        return [self._goal(thing, place) for thing, place in state.things.items()]

    def _goal(self, thing: Entity, place: object) -> Goal:
        left = int(place not in self.states)
        state: Any = "open" if left else "lost" if place == "withered" else "done"
        return Goal(f"{thing.kind}_{thing.id}", thing.kind, thing, units=left, state=state, can_be_lost=True)

    def plan(self, goal: Goal, agent: AgentId, state: GridState) -> Sequence[Action]:
        """Carry, or go and water."""
        assert goal.thing is not None
        if goal.thing.kind == "pot":
            return self.carry(agent, goal.thing, (1, 1), state)
        cell = state.cell(goal.thing)
        return () if cell is None else (*self.walk(state.agents.get(agent), cell), Action("water", (goal.thing,)))

    def settle(self, state: GridState) -> GridState:
        """Pots in the shed are done."""
        done = [thing for thing, place in state.things.items() if thing.kind == "pot" and place == (1, 1)]
        return replace(state, things={**state.things, **dict.fromkeys(done, "done")}) if done else state

    def list_own_actions(self, agent: AgentId, state: GridState) -> Sequence[ActionSchema]:
        """Watering."""
        flowers = tuple(thing for thing in state.things if thing.kind == "flower")
        return (ActionSchema("water", (Param("flower", "entity", flowers),), "Water a flower where you stand."),)

    def list_own_candidates(self, agent: AgentId, state: GridState) -> Iterable[tuple[Action, str | None]]:
        """Every flower."""
        return [(Action("water", (thing,)), None) for thing in state.things if thing.kind == "flower"]

    def refuse_own(self, agent: AgentId, action: Action, state: GridState) -> str:
        """Only where it stands."""
        (flower,) = action.args
        assert isinstance(flower, Entity)
        return "" if state.things.get(flower) == state.agents.get(agent) else "no_flower: it is not here"

    def apply_own(self, agent: AgentId, action: Action, state: GridState) -> GridState:
        """It is done."""
        (flower,) = action.args
        assert isinstance(flower, Entity)
        return state.put(flower, "done")


class World(GridLevels):
    NAME, SUMMARY, TASK = "garden", "tend a garden", "Bring pots to the shed and water flowers."
    LEVELS: ClassVar = {"small": "a pot and a flower"}

    @classmethod
    def place(cls, level: str, rng: Generator) -> tuple[GridDomain, GridState]:
        """Things lie anywhere."""
        domain = Garden(MAP, sight=1)
        pot, flower = rng.permutation([cell for cell in domain.floor if cell != (1, 1)])[:2].tolist()
        return domain, GridState({"ann": (1, 1), "bob": (3, 5)}, {POT: tuple(pot), FLOWER: tuple(flower)})


def world(things: dict[Entity, Any], **agents: Cell) -> GridWorld:
    """Return the garden with things where they are put."""
    return World._build("small", 50, Garden(MAP, 1), GridState(agents or {"ann": (1, 1), "bob": (3, 5)}, things))


def test_the_contract_holds() -> None:
    check_world(World)


def test_views_that_show_what_is_hidden_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GridWorld, "perceive", lambda self, agent: Perception(self.truth(), Facts(), self.truth()))
    with pytest.raises(Nonconformance, match="can tell them apart"):
        check_world(World, seeds=[0])


def test_a_walk_takes_a_step_a_cell_by_a_shortest_way() -> None:
    played = world({POT: (1, 5)})
    steps = 0
    while played.step({"ann": Action("go", ((1, 5),))} if not steps else {}).outcomes["ann"].status == "running":
        steps += 1
    assert played.state.agents["ann"] == (1, 5)
    assert steps + 1 == 8  # round the wall
    assert played.domain.estimate_steps("ann", Action("go", ((1, 1),)), played.truth()) == 8


def test_things_are_carried_and_settle_where_they_belong() -> None:
    played = world({POT: (3, 3)}, ann=(3, 3), bob=(3, 5))
    events: list[GoalEvent] = []
    for action in (Action("pick", (POT,)), Action("go", ((1, 1),)), WAIT, WAIT, WAIT, Action("drop")):
        result = played.step({} if action is WAIT else {"ann": action})
        events += result.goals
        assert played.state.cell(POT) == (played.state.agents["ann"] if played.state.things[POT] != "done" else None)
    assert [(event.event, event.delta, event.participants) for event in events] == [
        ("progress", 1.0, ("ann",)),
        ("done", 0.0, ("ann",)),
    ]
    assert result.score == {"reward": 1.0}
    assert result.end_reason == "all_done"


def test_of_two_that_take_a_thing_the_first_of_the_team_gets_it() -> None:
    played = world({POT: (3, 3)}, ann=(3, 3), bob=(3, 3))
    outcomes = played.step(dict.fromkeys(("bob", "ann"), Action("pick", (POT,)))).outcomes
    assert (outcomes["ann"].status, outcomes["bob"].status) == ("done", "failed")
    assert outcomes["bob"].word == "not_here"
    assert outcomes["bob"].legal
    assert played.state.held("ann") == POT


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (Action("go", ((0, 0),)), "no_way"),
        (Action("go", ((1, 1),)), "here"),
        (Action("go", ((9, 9),)), "illegal"),
        (Action("pick", (POT,)), "not_here"),
        (Action("drop"), "empty_hands"),
        (Action("pick", (FLOWER,)), "illegal"),
        (Action("water", (FLOWER,)), "no_flower"),
        (Action("fly"), "illegal"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_reason(action: Action, reason: str) -> None:
    played = world({POT: (1, 2), FLOWER: (2, 1)})
    outcome = played.step({"ann": action}).outcomes["ann"]
    assert (outcome.status, outcome.legal, outcome.word) == ("failed", False, reason)


def test_own_actions_and_lost_goals() -> None:
    played = world({FLOWER: (1, 1), POT: "withered"})
    result = played.step({"ann": Action("water", (FLOWER,))})
    assert played.state.things[FLOWER] == "done"
    assert result.end_reason == "all_done"
    assert not [event for event in result.goals if event.event == "lost"], "it was lost before"


def test_sight_ends_and_memory_stays() -> None:
    played = world({POT: (2, 2), FLOWER: (1, 5)})
    view = played.view("ann")
    assert Fact(POT, "AT", (2, 2)) in view.facts
    assert not [fact for fact in view.known if fact.subject == FLOWER]
    assert [goal.id for goal in view.goals] == ["pot_0"]
    for _ in range(4):
        played.step({"ann": Action("go", ((3, 3),)), "bob": Action("go", ((2, 2),))})
    played.step({"bob": Action("pick", (POT,))})
    assert played.state.held("bob") == POT
    played.step({"ann": Action("go", ((3, 5),)), "bob": Action("go", ((1, 1),))})
    for _ in range(3):
        played.step({})
    assert played.domain.read(played.view("ann").known).things[POT] == "bob", "as it was seen last"


def test_who_has_not_looked_everywhere_goes_and_looks() -> None:
    played = world({POT: (1, 5)})
    for _ in range(40):
        domain, view = played.domain, played.view("ann")
        if [fact for fact in view.known if fact.subject == POT]:
            break
        (plan, delayed) = domain.candidate_plans(None, "ann", view.known)
        assert delayed.actions == (WAIT, *plan.actions)
        played.step({"ann": plan.actions[0]})
    else:
        pytest.fail("it was never seen")


@pytest.mark.parametrize("drawn", ["", "###\n###", "#..\n#.", "\n\n"])
def test_a_map_that_is_none_is_refused(drawn: str) -> None:
    with pytest.raises(UserError, match="expected a map"):
        Garden(drawn, 1)


def test_a_level_and_an_option_that_are_not_there() -> None:
    with pytest.raises(UserError, match="garden has no level 'smal'; did you mean 'small'"):
        World.make("smal", 0, 10, {})
    with pytest.raises(UserError, match="option 'x' of world garden"):
        World.make("small", 0, 10, {"x": 1})


def test_the_picture_shows_all_that_stands_there() -> None:
    played = world({POT: (1, 5), FLOWER: (2, 2)})
    static, moment = played.spec.static, played.snapshot()
    assert picture.text(static, moment).splitlines() == ["wwwwwww", "wA.w.0w", "w.0w..w", "w....Bw", "wwwwwww"]
    assert picture.frame(static, moment).shape == (5 * 32, 7 * 32, 3)


maps = st.integers(2, 9).flatmap(
    lambda width: st.lists(st.text("##...", min_size=width, max_size=width), min_size=2, max_size=9)
)


@given(maps, st.integers(0, 4))
def test_who_has_been_at_all_spots_has_seen_all(rows: list[str], sight: int) -> None:
    assume(any("." in row for row in rows))
    domain = Garden("\n".join(rows), sight)
    assert set(domain.spots) <= set(domain.floor)
    for number, spot in enumerate(domain.spots):
        assert domain.has_looked(spot, number)
    assert all(any(domain.sees(spot, cell) for spot in domain.spots) for cell in domain.floor)


@given(maps, st.randoms(use_true_random=False))
def test_steps_are_those_of_a_search(rows: list[str], random: Random) -> None:
    assume(any("." in row for row in rows))
    domain = Garden("\n".join(rows), 1)
    start = random.choice(domain.floor)
    ways, queue = {start: 0}, deque([start])
    while queue:
        row, column = cell = queue.popleft()
        for beside in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if beside in domain.floor and beside not in ways:
                ways[beside] = ways[cell] + 1
                queue.append(beside)
    assert {cell: domain.steps(start, cell) for cell in domain.floor} == {cell: ways.get(cell) for cell in domain.floor}
    played = World._build("small", 200, domain, GridState({"ann": start}, {FLOWER: start}))
    end = random.choice(sorted(ways))
    for count in range(ways[end]):
        played.step({"ann": Action("go", (end,))} if count == 0 else {})
    assert played.state.agents["ann"] == end


def test_seeds_are_episodes() -> None:
    first, again, other = (World.make("small", seed, 20, {}) for seed in (0, 0, 1))
    assert tuple(first.truth()) == tuple(again.truth()) != tuple(other.truth())
