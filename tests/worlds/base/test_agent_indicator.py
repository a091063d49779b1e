"""With an indicator an agent's numbers say which one it is; without one they are what they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from teamworld.errors import UserError
from teamworld.worlds import household, transport, wildfire
from teamworld.worlds.adapters import lbf, overcooked, rware
from teamworld.worlds.base.agent_indicator import space_with_indicator
from teamworld.worlds.base.array_interface import spaces

ENVIRONMENTS: dict[str, Callable[..., Any]] = {
    "wildfire": lambda **more: wildfire.parallel_env(**more),
    "household": lambda **more: household.parallel_env("dev-0", agents=3, **more),
    "transport": lambda **more: transport.parallel_env("dev-0", agents=3, **more),
    "lbf": lambda **more: lbf.parallel_env("Foraging-8x8-2p-2f-coop-v3", **more),
    "rware": lambda **more: rware.parallel_env("rware-tiny-2ag-v2", **more),
    "overcooked": lambda **more: overcooked.parallel_env("cramped_room", **more),
}


def row(observation: Any) -> Any:  # noqa: ANN401
    return observation["observation"] if isinstance(observation, Mapping) else observation


@pytest.mark.parametrize("world", [*ENVIRONMENTS])
def test_an_indicator_comes_after_what_was_there(world: str) -> None:
    marked, plain = ENVIRONMENTS[world](agent_indicator=True), ENVIRONMENTS[world]()
    count = len(marked.possible_agents)
    seen, same = marked.reset(seed=3)[0], plain.reset(seed=3)[0]
    for _ in range(3):
        for number, agent in enumerate(marked.agents):
            whole, before = row(seen[agent]), row(same[agent])
            assert whole.dtype == before.dtype
            assert np.array_equal(whole[:-count], before)
            assert whole[-count:].tolist() == [float(k == number) for k in range(count)]
            assert marked.observation_space(agent).contains(seen[agent])
        actions = {agent: marked.action_space(agent).sample() for agent in marked.agents}
        seen, same = marked.step(actions)[0], plain.step(actions)[0]


@pytest.mark.parametrize("world", ["wildfire", "household", "transport"])
def test_every_number_has_a_name_of_its_own(world: str) -> None:
    marked, plain = ENVIRONMENTS[world](agent_indicator=True), ENVIRONMENTS[world]()
    agent = plain.possible_agents[0]
    assert len(plain.fields) == row(plain.observation_space(agent)).shape[0]
    assert len(marked.fields) == row(marked.observation_space(agent)).shape[0]
    assert marked.fields == (*plain.fields, *(f"is_{name}" for name in plain.possible_agents))
    assert len(set(marked.fields)) == len(marked.fields)


def test_names_stand_where_their_numbers_are() -> None:
    env = household.parallel_env("dev-0", agents=2)
    seen, state = env.reset(seed=0)[0]["Bob"]["observation"], env.state()
    names = env.fields
    assert [seen[names.index(name)] for name in ("x", "z")] == state[6:8].tolist()
    kinds = [seen[names.index(f"node_{k}_room")] for k in range(48)]
    assert sum(kinds) > 0
    assert {seen[names.index(f"node_{k}_room")] for k in range(48)} <= {0.0, 1.0}
    fire = wildfire.parallel_env()
    rows, _ = fire.reset(seed=0)
    agent = fire.possible_agents[0]
    place = [int(rows[agent][fire.fields.index(name)]) for name in ("x", "y")]
    assert place == fire._episodes.incident.units.places()[0].tolist()
    house = transport.parallel_env("dev-0")
    own = house.reset(seed=0)[0]["Alice"]["observation"]
    body = house._episodes.moment.state.agents[0]
    assert [own[house.fields.index(name)] for name in ("x", "z")] == [np.float32(body["x"]), np.float32(body["z"])]
    assert own[house.fields.index("teammate_0_known")] in (0, 1)


def test_vectors_end_with_the_same_numbers() -> None:
    fires, same = (wildfire.vector_env(num_envs=2, agent_indicator=mark) for mark in (True, False))
    seen, plain = fires.reset(seed=0)[0], same.reset(seed=0)[0]
    assert seen is not None
    assert plain is not None
    count = fires.num_agents
    assert np.array_equal(seen[..., :-count], plain)
    assert seen[1, 0, -count:].tolist() == [0] * count  # the manager
    assert np.array_equal(seen[1, 1:, -count:], np.eye(count))
    assert fires.single_observation_space.shape == seen.shape[1:] == (count + 1, len(fires.fields))
    houses, same_houses = (
        transport.vector_env("dev-0", 2, agents=3, observation="both", agent_indicator=mark) for mark in (True, False)
    )
    both: Any = houses.reset(seed=0)[0]
    other: Any = same_houses.reset(seed=0)[0]
    assert np.array_equal(both["numbers"][..., :-3], other["numbers"])
    assert np.array_equal(both["numbers"][1, :, -3:], np.eye(3))
    assert np.array_equal(both["window"], other["window"])
    assert houses.observation_space.contains(both)
    assert len(houses.fields) == both["numbers"].shape[-1]


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(UserError, match="needs observations that are rows of numbers"):
        space_with_indicator(spaces().Box(0, 1, (4, 4)), 2)
