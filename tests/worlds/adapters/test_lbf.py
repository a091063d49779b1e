"""Level-based foraging: quorums from levels, joint loads, what is seen, ways round each other, the contract."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.language import Action, Cell, Entity, Fact, Facts
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.worlds import check_world
from teamworld.worlds import registry
from teamworld.worlds.adapters.lbf import world as lbf
from teamworld.worlds.adapters.lbf.domain import LbfDomain
from teamworld.worlds.adapters.lbf.env import LbfEnv, parallel_env
from teamworld.worlds.adapters.lbf.state import Field, Food, ForagingState
from teamworld.worlds.adapters.world import AdapterWorld
from teamworld.worlds.contract import ImpossibleFacts, Option

COOP, PARTIAL = "Foraging-8x8-2p-2f-coop-v3", "Foraging-2s-10x10-3p-3f-v3"
AGENTS = ("agent_0", "agent_1", "agent_2")
DOMAIN = LbfDomain(Field((8, 8), 8), AGENTS)


def state(
    levels: tuple[int, ...], foods: dict[Cell, int], at: tuple[Cell, ...] = ((0, 0), (0, 7), (7, 7))
) -> ForagingState:
    return ForagingState(
        dict(zip(AGENTS, at, strict=True)),
        dict(zip(AGENTS, levels, strict=True)),
        {cell: Food(level) for cell, level in foods.items()},
    )


def placed(foods: dict[Cell, int], at: tuple[Cell, ...], levels: tuple[int, ...]) -> AdapterWorld:
    """Return a world of the package in which everything stands where it is put."""

    def put(env: Any) -> None:  # noqa: ANN401  (the package is not typed)
        env.field[:] = 0
        for cell, level in foods.items():
            env.field[cell] = level
        for player, cell, level in zip(env.players, at, levels, strict=True):
            player.position, player.level = cell, level
        env._food_spawned = env.field.sum()
        env._gen_valid_moves()

    return lbf._build(f"Foraging-8x8-{len(at)}p-2f-v3", 0, 50, put)


@pytest.mark.parametrize("order", [AGENTS[:2], AGENTS[1::-1]])
def test_who_took_part_stands_in_the_order_of_the_team(order: tuple[str, ...]) -> None:
    world = placed({(4, 4): 2}, ((4, 3), (4, 5)), (1, 1))
    result = world.step(dict.fromkeys(order, Action("load", (Field((8, 8), 8).food((4, 4)), 12))))
    assert [attempt.participants for attempt in result.attempts] == [AGENTS[:2]]


@pytest.mark.heavy
@pytest.mark.parametrize("level", [COOP, PARTIAL])
def test_it_keeps_the_contract(level: str) -> None:
    check_world("lbf", [level], seeds=(0, 5), steps=15)


@pytest.mark.parametrize(
    ("levels", "food", "quorum"),
    [((1, 1, 2), 1, 1), ((1, 1, 2), 2, 2), ((2, 2, 2), 2, 1), ((1, 2, 2), 5, 3), ((2, 2, 1), 3, 2)],
)
def test_the_quorum_is_how_many_it_takes_whoever_they_are(levels: tuple[int, ...], food: int, quorum: int) -> None:
    (goal,) = DOMAIN.list_goals(state(levels, {(3, 3): food}))
    assert (goal.quorum, goal.weight, goal.state) == (quorum, food, "open")
    assert goal.capacity >= goal.quorum


def test_food_is_loaded_by_those_whose_levels_suffice_in_one_step() -> None:
    world = placed({(3, 3): 3}, ((3, 1), (5, 3)), (1, 2))
    load = Action("load", (Entity("food", 27), 12))
    results = [world.step({"agent_0": load})]
    results += [world.step({}) for _ in range(3)]
    assert results[-1].outcomes["agent_0"].ready == "load_27"  # it is there and waits
    assert not any(result.attempts for result in results)
    world.step({"agent_1": load})
    last = world.step({})
    assert last.score == {"reward": 1.0, "score": 1.0}
    assert last.end_reason == "all_done"
    (attempt,) = last.attempts
    assert attempt.success
    assert attempt.have == attempt.need == (("participation", 3), ("spatial", 3), ("temporal", 3))
    assert {event.event for event in last.goals} == {"progress", "done"}
    assert all(set(event.participants) == {"agent_0", "agent_1"} for event in last.goals)
    assert all(last.outcomes[agent].status == "done" for agent in ("agent_0", "agent_1"))


class Leaves(LbfEnv):
    """Ends agent_1 after the first step, as a PettingZoo environment may."""

    def step(self, actions: Mapping[str, Any]) -> Any:  # noqa: ANN401  (five mappings)
        self.agents = self.possible_agents.copy()
        observations, rewards, terminations, *rest = super().step({"agent_1": 0, **actions})
        terminations["agent_1"] = True
        self.agents = ["agent_0"]
        return observations, rewards, terminations, *rest


def test_an_agent_that_the_environment_ends_is_gone_and_the_others_go_on() -> None:
    made = placed({(3, 3): 1, (6, 6): 1}, ((3, 1), (5, 3)), (1, 2))
    world = AdapterWorld(made.spec, made.domain, lambda: Leaves(parallel_env(COOP).env, "leaves"))
    result = world.step({"agent_1": Action("go", ((0, 0),))})
    assert result.gone == {"agent_1": "terminated"}
    assert (result.outcomes["agent_1"].status, result.outcomes["agent_1"].reason) == ("failed", "terminated")
    assert result.end_reason is None
    with pytest.raises(UserError, match="it is gone"):
        world.view("agent_1")
    assert set(world.step({"agent_0": Action("wait")}).outcomes) == {"agent_0"}


def test_patience_ends() -> None:
    world = placed({(3, 3): 3}, ((3, 2), (7, 7)), (1, 2))
    world.step({"agent_0": Action("load", (Entity("food", 27), 3))})
    outcome = [world.step({}) for _ in range(2)][-1].outcomes["agent_0"]
    assert (outcome.status, outcome.word, outcome.constraint) == ("failed", "timeout", "participation")


def test_two_who_want_one_cell_do_not_block_each_other_for_long() -> None:
    world = placed({(4, 4): 1, (0, 4): 1}, ((4, 0), (4, 2)), (1, 1))
    world.step({"agent_0": Action("go", ((4, 3),)), "agent_1": Action("go", ((4, 0),))})
    results = [world.step({}) for _ in range(9)]
    assert (
        sum(outcome.status == "done" for r in results for outcome in r.outcomes.values() if outcome.action.verb == "go")
        == 2
    )


def test_a_food_that_is_gone_when_its_cell_is_seen_was_loaded() -> None:
    world = placed({(3, 3): 1, (6, 1): 1}, ((3, 2), (0, 7)), (1, 1))
    world.step({"agent_0": Action("load", (Entity("food", 27), 3))})
    view = world.view("agent_1")
    assert Fact(Entity("food", 27), "STATE", "loaded") in view.facts
    assert [goal.state for goal in view.goals] == ["done", "open"]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_who_sees_two_cells_far_knows_no_more(seed: int) -> None:
    world = registry.make("lbf", PARTIAL, seed, None, {})
    domain = cast("LbfDomain", world.domain)
    truth = domain.read(world.truth())
    for agent in world.spec.agents:
        known = domain.read(world.view(agent).known)
        window = set(domain.field.window(truth.at[agent]))
        assert known.foods == {cell: food for cell, food in truth.foods.items() if cell in window}
        assert known.at[agent] == truth.at[agent]
        assert all(
            truth.at[other] == cell and known.levels[other] == truth.levels[other] for other, cell in known.at.items()
        )
        assert set(known.unseen) == {domain.field.area(cell) for cell in _outside(domain.field, window)}


def _outside(field: Field, window: set[Cell]) -> list[Cell]:
    return [
        (row, column) for row in range(field.size[0]) for column in range(field.size[1]) if (row, column) not in window
    ]


def test_an_episode_does_not_depend_on_those_before() -> None:
    used = registry.make("lbf", COOP, 4, None, {})
    used.step({})
    used.reset(9)
    assert list(used.truth()) == list(registry.make("lbf", COOP, 9, None, {}).truth())


def test_conflicts_are_loads_that_take_more_than_there_are() -> None:
    facts = DOMAIN.write(state((1, 1, 1), {(2, 2): 3, (5, 5): 3, (2, 6): 1}))
    rules = DOMAIN.beliefs
    assert rules is not None
    heavy, other, light = (Option(Action("wait"), f"load_{number}", 5) for number in (18, 45, 22))
    assert rules.conflict_cost(heavy, other, facts) > 0
    assert rules.conflict_cost(heavy, light, facts) > 0  # three and one are more than the three that there are
    assert rules.conflict_cost(light, light, facts) == 5


@pytest.mark.parametrize("method", ["greedy", "drwell", "coela", "hmas2", "camon", "embodied", "cobel"])
def test_methods_finish(method: str) -> None:
    played = play(method, Scenario("lbf", "Foraging-8x8-2p-1f-v3", 2, 50), {})
    assert cast("Any", played.events[-1]).reason == "all_done"


def test_the_scripted_team_finds_food_that_it_does_not_see() -> None:
    played = play("greedy", Scenario("lbf", "Foraging-2s-8x8-2p-2f-coop-v3", 1, 50), {})
    assert cast("Any", played.events[-1]).reason == "all_done"


@pytest.mark.parametrize("fact", [Fact("agent_0", "AT", (8, 0)), Fact(Entity("food", 64), "LEVEL", 2)])
def test_facts_outside_the_field_are_impossible(fact: Fact) -> None:
    with pytest.raises(ImpossibleFacts):
        DOMAIN.read(Facts((fact,)))


def test_levels_that_the_world_cannot_read_are_refused() -> None:
    with pytest.raises(UserError, match="did you mean"):
        lbf.make("Foraging-8x8-2p-1f-v2", 0, 50, {})
    with pytest.raises(UserError, match="a seed of lbf is a number from 0, got -1"):
        lbf.make(COOP, -1, 50, {})
    assert parallel_env(COOP).env._max_episode_steps == registry.step_limit("lbf", COOP, {}) == 50


# ---- what stands in prompts


def test_a_line_of_a_task_says_what_the_agents_own_level_comes_to() -> None:
    facts = DOMAIN.write(state((1, 1, 2), {(2, 2): 2, (5, 5): 3, (6, 6): 1}))
    goals = {goal.id: goal for goal in DOMAIN.goals(facts)}

    def line(goal: str, agent: str) -> str:
        return DOMAIN.describe_goal(goals[goal], agent, facts)

    assert "your level 2 is enough alone; 2 foragers if they are the weakest, at most 3 are of use" in line(
        "load_18", "agent_2"
    )
    assert "takes your level 2 and 1 more at once; 3 foragers if they are the weakest" in line("load_45", "agent_2")
    assert "one forager is enough" in line("load_54", "agent_0")


def test_foragers_near_the_first_rows_are_seen_as_far_as_the_rules_say() -> None:
    world = registry.make("lbf", PARTIAL, 0, None, {})
    assert "foragers from near the first rows and columns as far as row or column 4" in world.spec.rules


def test_a_forager_that_has_left_is_no_longer_where_it_was() -> None:
    known = Facts((Fact("agent_0", "AT", (3, 3)), Fact("agent_0", "LEVEL", 1), Fact("agent_1", "LEVEL", 2)))
    lines = [*describe_state(known)]
    assert "agent_1 of level 2, no longer where you saw it." in lines
    assert "agent_2 of unknown level, not seen yet." in lines


def describe_state(known: Facts) -> list[str]:
    view: Any = SimpleNamespace(known=known, t=5, agent="agent_0", kind="forager")
    return [*DOMAIN.describe(view)]
