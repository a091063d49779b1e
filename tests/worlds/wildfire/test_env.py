"""The PettingZoo environment, and the vector environment that plays the same episodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from teamworld.worlds.wildfire import observe, physics
from teamworld.worlds.wildfire.env import TYPES, WildfireEnv, parallel_env, vector_env
from teamworld.worlds.wildfire.kernels.agents import ACTS, IDLE
from teamworld.worlds.wildfire.levels import Level, Team, instance_for, level_for
from tests.worlds.wildfire.maps import flat

if TYPE_CHECKING:
    import numpy.typing as npt


pytest.importorskip("pettingzoo")


def wait(env: WildfireEnv) -> dict[str, list[int]]:
    """Return no action for every live agent."""
    return {agent: [-1, 0, 0] for agent in env.agents}


def test_metadata_spaces_and_names() -> None:
    env = parallel_env("full_game")
    assert env.possible_agents[9:12] == ["firefighter_10", "bulldozer_11", "drone_12"]
    assert env.observation_space("drone_12").shape == (3728,)
    space = env.action_space("helicopter_14")
    assert space.nvec.tolist() == [6, 200, 200]
    assert space.start.tolist() == [-2, 0, 0]
    assert env.action_space("drone_12").nvec[0] == 3
    for kind, types in enumerate(TYPES):  # the space has the primitives that the kind knows, and no other
        assert [act != IDLE for act in ACTS[kind]] == [k < types for k in range(len(ACTS[kind]))]


def test_observations_are_rows_of_the_state_and_frozen() -> None:
    env = parallel_env("full_game", max_steps=6)
    observations, infos = env.reset(seed=1)
    rng = np.random.default_rng(0)
    history = []
    assert infos == {agent: {} for agent in env.agents}
    while env.agents:
        state = env.state()
        assert state.shape == (16, 3728)
        for k, agent in enumerate(env.possible_agents):
            assert np.array_equal(observations[agent], state[k + 1])
            assert env.observation_space(agent).contains(observations[agent])
        episodes = env._episodes
        assert np.array_equal(state, observe.observations(episodes.incident, episodes.sightings))
        with pytest.raises(ValueError, match="read-only"):
            observations["drone_12"][0] = 9
        history.append((state, state.copy()))
        observations, _, _, _, infos = env.step({agent: [0, *rng.integers(0, 200, 2).tolist()] for agent in env.agents})
        assert infos["drone_12"] == {"alive": True, "effect": True, "moved": True, "reason": ""}
    for state, before in history:
        assert np.array_equal(state, before)


def test_a_team_cuts_its_targets_and_the_rewards_add_up() -> None:
    env = parallel_env("cut_trees_sparse_small")
    env.reset(seed=4)
    cells = [line[0] for line in env._episodes.incident.instance.targets]
    todo = {agent: list(cells[k::3]) for k, agent in enumerate(env.agents)}
    total = steps = 0.0
    while env.agents:
        units = env._episodes.incident.units
        actions: dict[str, npt.NDArray[np.int64]] = {}
        for k, agent in enumerate(env.agents):
            land = env._episodes.incident.land
            while todo[agent] and land.inner(land.trees)[todo[agent][0].y, todo[agent][0].x] == 0:
                todo[agent].pop(0)
            goal = todo[agent][0] if todo[agent] else units.place(k)
            there = tuple(goal) == units.place(k)
            actions[agent] = np.array([1 if there else -2, *goal])
        _, rewards, gone, cut, _ = env.step(actions)
        assert len(set(rewards.values())) == 1
        total += rewards["firefighter_1"]
        steps += 1
    assert total == 18 == physics.best_score(level_for("cut_trees_sparse_small"))
    assert all(gone.values())
    assert not any(cut.values())
    assert steps < 30


def fiery() -> Level:
    """Return a small level where a fire is fought."""
    return Level(name="fiery", task="contain", size=30, team=Team(2, drones=1), max_steps=60)


def test_who_dies_stays_and_is_paid_with_the_team() -> None:
    placed = instance_for(fiery(), 0, terrain=flat(30, wind=(3.0, 0.0)))
    assert placed.fire is not None
    env = parallel_env(placed)
    env.reset(seed=0)
    fire = list(placed.fire)
    observations: dict[str, npt.NDArray[np.float32]] = {}
    for _ in range(9):
        actions = wait(env) | {"firefighter_1": [0, *fire]}
        observations, rewards, gone, cut, infos = env.step(actions)
        if not infos["firefighter_1"]["alive"]:
            break
    assert env.agents == ["firefighter_1", "firefighter_2", "drone_3"]
    assert {*gone.values(), *cut.values()} == {False}
    assert observations["firefighter_1"][0] == 5
    assert set(rewards.values()) == {rewards["drone_3"]}
    assert rewards["drone_3"] <= -20
    assert infos["firefighter_1"].keys() == {"alive", "effect", "moved", "reason"}
    before = env.state()[1]
    observations, rewards, *_ = env.step(wait(env) | {"firefighter_1": [0, 1, 1]})
    assert np.array_equal(observations["firefighter_1"], before)
    assert set(rewards) == set(env.possible_agents)


def test_when_all_are_lost_the_fire_burns_on_and_they_pay() -> None:
    """Walking into the fire is never better than staying away, in what each agent is paid."""
    level = replace(fiery(), team=Team(1))
    placed = instance_for(level, 0, terrain=flat(30, wind=(3.0, 0.0)))
    assert placed.fire is not None
    paid = {}
    for name, action in (("idling", [-1, 0, 0]), ("suicide", [0, *placed.fire])):
        env = parallel_env(placed)
        env.reset()
        paid[name], lost = 0.0, 0
        while env.agents:
            _, rewards, gone, cut, infos = env.step({"firefighter_1": action})
            paid[name] += rewards["firefighter_1"]
            lost += not infos["firefighter_1"]["alive"]
        incident = env._episodes.incident
        assert incident.land.cells_burning == 0 or incident.t == level.max_steps
        assert gone["firefighter_1"] != cut["firefighter_1"]
        assert paid[name] == physics.score(incident).reference
        assert (lost > 10) == (name == "suicide")
    assert paid["suicide"] <= paid["idling"] < 0


def test_rewards_follow_the_chosen_score() -> None:
    totals = {}
    for score in ("reference", "burnt"):
        env = parallel_env("suppress_fire_contain", score=score, max_steps=15)
        env.reset(seed=2)
        total = 0.0
        while env.agents:
            _, rewards, _, _, _ = env.step({agent: [1, 0, 0] for agent in env.agents})  # cut where they stand
            total += next(iter(rewards.values()))
        totals[score] = total
        assert total == getattr(physics.score(env._episodes.incident), score)
    cut = env._episodes.incident.land.trees_cut
    assert cut > 0
    assert totals["burnt"] - totals["reference"] == cut


def test_maps_of_ones_own() -> None:
    runs = [parallel_env("suppress_fire_contain", shared_map=shared) for shared in (True, False)]
    away = {"bulldozer_6": [0, 59, 59]}
    for env in runs:
        env.reset(seed=1)
        for _ in range(4):
            observations, *_ = env.step({agent: [0, 0, 0] for agent in env.agents} | away)
        back, *_ = env.step({agent: [-2, 30, 30] for agent in env.agents})
    shared, own = (np.count_nonzero(env._episodes.sightings.seen(0)) for env in runs)
    assert shared > own
    assert observations["bulldozer_6"][0] == 1
    assert back["bulldozer_6"].shape == (3728,)


class Twin:
    """One ``parallel_env`` played as the vector environment plays each of its own."""

    def __init__(self, env: WildfireEnv, seed: int) -> None:
        self.env, self.waiting = env, False
        env.reset(seed=seed)

    def step(self, actions: npt.NDArray[np.int64]) -> tuple[float, bool, bool]:
        """Return reward, terminated, truncated."""
        if self.waiting:
            self.env.reset()
            self.waiting = False
            return 0.0, False, False
        orders = {agent: actions[self.env.possible_agents.index(agent)] for agent in self.env.agents}
        _, rewards, _, cut, _ = self.env.step(orders)
        self.waiting = not self.env.agents
        return next(iter(rewards.values())), self.waiting and not any(cut.values()), any(cut.values())


@pytest.mark.parametrize(
    "options",
    [
        {"level": "perception", "mode": "stochastic", "max_steps": 6},
        {"level": "suppress_fire_contain", "score": "burnt", "shared_map": False, "max_steps": 5},
        {"level": "scout_fire_small", "max_steps": 4},
    ],
)
@pytest.mark.parametrize("copy", [True, False])
def test_equal_to_the_parallel_environment(options: dict[str, Any], copy: bool) -> None:
    envs = vector_env(num_envs=3, copy=copy, **options)
    rows, infos = envs.reset(seed=5)
    twins = [Twin(parallel_env(**options), 5 + k) for k in range(3)]
    rng = np.random.default_rng(1)
    size = int(envs.single_action_space.nvec[0, 1])  # type: ignore[attr-defined]
    for _ in range(16):
        assert rows is not None
        assert np.array_equal(rows, np.stack([twin.env.state() for twin in twins]))
        assert np.array_equal(infos["alive"], rows[:, 1:, 0] != 5)
        actions = rng.integers(0, size, (3, envs.num_agents, 3))
        actions[..., 0] %= 4
        rows, reward, terminated, truncated, infos = envs.step(actions)
        expected = [twin.step(orders) for twin, orders in zip(twins, actions, strict=True)]
        assert list(zip(reward.tolist(), terminated.tolist(), truncated.tolist(), strict=True)) == expected


def test_gymnasium_takes_it() -> None:
    envs: Any = vector_env("perception", num_envs=2, max_steps=4)
    recorded = RecordEpisodeStatistics(envs)
    recorded.reset(seed=0)
    finished = 0
    for _ in range(11):
        envs.action_space.seed(3)
        *_, infos = recorded.step(envs.action_space.sample())
        if "episode" in infos:
            finished += int(infos["_episode"].sum())
            assert set(infos["episode"]["l"][infos["_episode"]].tolist()) <= {1, 2, 3, 4}
    assert finished >= 4


def test_spaces() -> None:
    envs = vector_env("suppress_fire_contain", num_envs=2)
    assert envs.single_action_space.shape == (6, 3)
    assert envs.action_space.shape == (2, 6, 3)
    assert envs.observation_space.shape == (2, 7, 3728)
    envs.action_space.seed(0)
    for _ in range(20):
        actions = envs.action_space.sample()
        assert (actions[..., 0] >= -2).all()
        assert (actions[:, 5, 0] <= 1).all()  # a bulldozer
        assert (actions[..., 1:] < 60).all()
