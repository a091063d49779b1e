"""A world of clocks: whoever goes ahead perceives at each of its steps what it perceives where all step at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Action, AgentId
from teamworld.planning.candidates import complete_action
from teamworld.seeding import generator
from teamworld.worlds.contract import LocalWorld, Outcome, View
from teamworld.worlds.wildfire.levels import Level, Task, Team, instance_for
from teamworld.worlds.wildfire.local_world import LocalWildfire
from teamworld.worlds.wildfire.state import MAX_TREES
from teamworld.worlds.wildfire.world import WildfireOptions, WildfireWorld, make
from tests.worlds.wildfire.maps import flat

SIZE, STEPS = 400, 14
TASKS: tuple[Task, ...] = ("cut_sparse", "cut_lines")


class Moment(NamedTuple):
    """What an agent perceives at a step, in full, and what came of its last."""

    text: str
    known: tuple[str, ...]
    outcome: Outcome | None


def small(seed: int, task: Task = "cut_sparse") -> WildfireWorld:
    """Return a map on which agents part within a few steps."""
    team = Team(firefighters=4, bulldozers=2, drones=int(seed % 3 == 0))
    lines = 1 if task == "cut_sparse" else 3
    level = Level(name="scene", task=task, size=SIZE, team=team, max_steps=STEPS, targets=9, trees_per_line=lines)
    instance = instance_for(level, seed, terrain=flat(SIZE, trees=MAX_TREES))
    world = WildfireWorld(instance, "scene", STEPS, WildfireOptions(shared_map=False))
    world.reset(seed)
    return world


def choose(view: View, running: Action | None, seed: int) -> Action:
    """Return what an agent does: what it did, or any option, by its own view alone."""
    rng = generator(seed, "choice", view.agent, view.t)
    if running is not None and view.check(running).ok and rng.random() < 0.9:
        return running
    options = view.options
    return complete_action(options[int(rng.integers(len(options)))].action, view)


def perceive(view: View, outcome: Outcome | None) -> Moment:
    return Moment(view.text(), tuple(map(str, view.known)), outcome)


def lock_step(seed: int, task: Task) -> dict[tuple[AgentId, int], Moment]:
    """Return what everybody perceives at each step where all step at once."""
    world = small(seed, task)
    seen, running, outcomes = {}, dict[AgentId, Action](), dict[AgentId, Outcome]()
    for t in range(STEPS):
        views = {agent: world.view(agent) for agent in world.spec.agents}
        seen.update({(agent, t): perceive(view, outcomes.get(agent)) for agent, view in views.items()})
        running = {agent: choose(view, running.get(agent), seed) for agent, view in views.items()}
        result = world.step(running)
        outcomes = dict(result.outcomes)
        if result.end_reason is not None:
            break
    return seen


def any_order(local: LocalWorld, seed: int, rng: np.random.Generator) -> Iterator[tuple[tuple[AgentId, int], Moment]]:
    """Yield what agents perceive that step in any order that the bounds allow: plain and slow."""
    running, outcomes = dict[AgentId, Action](), dict[AgentId, Outcome]()
    clocks = dict.fromkeys(local.spec.agents, 0)
    while any(t < STEPS for t in clocks.values()):
        first = local.spec.agents[int(rng.integers(len(clocks)))]
        party = gather(local, first)
        t = clocks[first]
        if party is None or t >= STEPS or t > local.goes_on_until():
            if all(t > local.goes_on_until() for t in clocks.values()):
                return
            continue
        views = {agent: local.view(agent) for agent in party}
        for agent, view in views.items():
            assert view.t == t
            yield (agent, t), perceive(view, outcomes.get(agent))
        actions = {agent: choose(view, running.get(agent), seed) for agent, view in views.items()}
        running.update(actions)
        outcomes.update(local.step(actions).outcomes)
        clocks.update(dict.fromkeys(party, t + 1))


def gather(local: LocalWorld, first: AgentId) -> Sequence[AgentId] | None:
    """Return who steps together; None if somebody has to come first."""
    party = {first}
    while True:
        near = [local.neighbours(agent) for agent in sorted(party)]
        if any(neighbours.behind for neighbours in near):
            return None
        wider = party.union(*(neighbours.together for neighbours in near))
        if wider == party:
            return sorted(party)
        party = wider


def local_of(world: WildfireWorld) -> LocalWildfire:
    local = world.local()
    assert local is not None
    return local


def compare(seed: int, order: int, task: Task) -> tuple[int, int]:
    """Compare one order with all at once; return the moments compared and the longest lead."""
    truth, count, lead = lock_step(seed, task), 0, 0
    local = local_of(small(seed, task))
    for place, moment in any_order(local, seed, np.random.default_rng(order)):
        assert moment == truth[place], place
        count += 1
        clocks = [local.view(agent).t for agent in local.spec.agents]
        lead = max(lead, max(clocks) - min(clocks))
    return count, lead


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 20), order=st.integers(0, 10**6), task=st.sampled_from(TASKS))
def test_in_any_order_that_the_bounds_allow_everybody_perceives_the_same(seed: int, order: int, task: Task) -> None:
    count, _ = compare(seed, order, task)
    assert count > STEPS


def test_agents_do_go_ahead() -> None:
    assert max(compare(seed, seed, "cut_sparse")[1] for seed in range(3)) >= 3


def test_bounds_that_promise_too_much_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    reset = LocalWildfire.reset

    def blind(self: LocalWildfire, seed: int) -> None:
        reset(self, seed)
        self._reach = self._reach * 0 - 30.0

    monkeypatch.setattr(LocalWildfire, "reset", blind)
    with pytest.raises(AssertionError):
        [compare(seed, seed, "cut_sparse") for seed in range(6)]


def test_the_episode_goes_on_at_least_where_the_last_agent_is_and_never_past_its_end() -> None:
    team = Team(firefighters=3)
    level = Level(name="scene", task="cut_sparse", size=40, team=team, max_steps=60, targets=2)
    world = WildfireWorld(instance_for(level, 1), "scene", 60, WildfireOptions(shared_map=False))
    world.reset(1)
    local, certain, end = local_of(world), 0, None
    while end is None:
        actions = {agent: work(world.view(agent)) for agent in world.spec.agents}
        until = local.goes_on_until()
        assert until >= max(certain, local.view(local.spec.agents[0]).t)
        certain = until
        end = world.step(actions).end_reason
        local.step(actions)
    assert end == "all_done"
    assert certain < world.incident.t
    assert local.goes_on_until() == world.incident.t - 1


def work(view: View) -> Action:
    """Return what cuts a tree soonest."""
    goal = next(goal for goal in view.goals if goal.state == "open")
    return next(option.action for option in view.options if option.goal == goal.id)


def test_agents_at_different_steps_do_not_step_together() -> None:
    local = local_of(small(0))
    agents, wait = local.spec.agents, Action("wait")
    local.step({agents[0]: wait})
    with pytest.raises(ValueError, match="different ones"):
        local.step({agents[0]: wait, agents[1]: wait})


@pytest.mark.parametrize(
    ("level", "options"),
    [
        ("cut_trees_sparse_small", {}),
        ("rescue_civilians_known_location_small", {"shared_map": False}),
        ("suppress_fire_contain", {"shared_map": False}),
        ("scout_fire_small", {"shared_map": False}),
        ("transport_firefighters_small", {"shared_map": False}),
    ],
)
def test_a_world_in_which_anybody_may_learn_at_once_of_anything_has_no_clocks(
    level: str, options: Mapping[str, object]
) -> None:
    assert make(level, 0, 20, options).local() is None
    assert make("cut_trees_lines_small", 0, 20, {"shared_map": False}).local() is not None
