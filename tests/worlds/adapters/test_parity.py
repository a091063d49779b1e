"""The array interface gives what the bare package gives; ``benchmarks/adapters.py`` compares 10,000 steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.testing import matrix
from teamworld.worlds.adapters.gymnasium_team import GymnasiumTeam, make_registered
from teamworld.worlds.adapters.lbf.env import parallel_env as lbf
from teamworld.worlds.adapters.overcooked.env import parallel_env as overcooked
from teamworld.worlds.adapters.rware.env import parallel_env as rware

LEVELS = [
    ("lbforaging", lbf, "Foraging-8x8-2p-2f-coop-v3"),
    ("lbforaging", lbf, "Foraging-2s-10x10-3p-3f-v3"),
    ("lbforaging", lbf, "Foraging-6x6-4p-2f-v3"),
    ("rware", rware, "rware-tiny-2ag-v2"),
    ("rware", rware, "rware-tiny-4ag-easy-v2"),
]
Make = Callable[[str], GymnasiumTeam]


@pytest.mark.parametrize(("name", "make", "level"), LEVELS)
def test_observations_and_rewards_are_the_packages(name: str, make: Make, level: str) -> None:
    bare, adapted, rng = make_registered(name, level), make(level), np.random.default_rng(1)
    episode = 0

    def begin() -> None:
        for own, other in zip(bare.reset(seed=episode)[0], adapted.reset(seed=episode)[0].values(), strict=True):
            np.testing.assert_array_equal(own, other)

    begin()
    for _ in range(200):
        actions = rng.integers(bare.action_space[0].n, size=len(bare.action_space)).tolist()
        observations, rewards, done, _, _ = bare.step(actions)
        others, other_rewards, ended, _, _ = adapted.step(dict(zip(adapted.agents, actions, strict=True)))
        for own, other in zip(observations, others.values(), strict=True):
            np.testing.assert_array_equal(own, other)
        assert list(rewards) == list(other_rewards.values())
        assert set(ended.values()) == {done}
        assert bool(adapted.agents) != done
        if done:
            episode += 1
            begin()


@pytest.mark.parametrize(("name", "make", "level"), LEVELS[::3])
def test_it_is_a_parallel_environment(name: str, make: Make, level: str) -> None:
    env: Any = make(level)
    with pytest.raises(UserError, match=r"call reset\(\) before step\(\)"):
        env.step({})
    observations, _ = env.reset(seed=3)
    assert env.agents == env.possible_agents == list(observations)
    assert all(env.observation_space(agent).contains(observations[agent]) for agent in env.agents)
    with pytest.raises(UserError, match="no action for agent_1"):
        env.step({"agent_0": 0})
    env.close()


@pytest.mark.parametrize(
    ("make", "level"), [(lbf, "Foraging-8x8-2p-1f-v3"), (rware, "rware-tiny-2ag-v2"), (overcooked, "cramped_room")]
)
@pytest.mark.parametrize("steps", [0, -4, "x"])
def test_a_limit_that_is_none_is_refused(make: Callable[..., object], level: str, steps: object) -> None:
    with pytest.raises(UserError, match=f"max_steps must be an integer from 1 to 10000000, got {steps!r}"):
        make(level, steps)


def test_an_unknown_level_is_refused_with_a_near_name() -> None:
    with pytest.raises(UserError, match="no environment 'rware-tiny-2ag-v9'; did you mean 'rware-tiny-2ag-v2'"):
        rware("rware-tiny-2ag-v9")


def test_a_missing_package_is_missed_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(UserError, match=r"the package lbforaging is needed .* pip install 'teamworld\[adapters\]'"):
        lbf("Foraging-8x8-2p-1f-v3")
    with pytest.raises(UserError, match="the package cogrid is needed"):
        overcooked("cramped_room")


def test_the_matrix_leaves_out_worlds_whose_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"lbf", "rware", "rooms"} <= {scenario.world for scenario in matrix.scenarios()}
    monkeypatch.setattr(matrix, "find_spec", lambda name: None)
    left = {scenario.world for scenario in matrix.scenarios()}
    assert left.isdisjoint(["lbf", "rware"])
    assert "rooms" in left
