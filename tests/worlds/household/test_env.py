"""The household through PettingZoo: what agents see and may do, rewards, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.seeding import generator
from teamworld.worlds import registry
from teamworld.worlds.household import drawing_data, physics, sight
from teamworld.worlds.household.array_features import (
    ACTIONS,
    FEATURES,
    NEED,
    NEEDS,
    ON_ROWS,
    OWN,
    PLAIN,
    ROWS,
    TEAMMATE,
    Table,
    length,
    nodes_of,
)
from teamworld.worlds.household.env import HouseholdEnv, parallel_env
from teamworld.worlds.household.homes import home_generator
from teamworld.worlds.household.homes.home import Episode, Home, Need, NodeId, Point
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.state import Rules, State
from tests.worlds.household import homes
from tests.worlds.household.data import FOLDER, needs_data
from tests.worlds.household.homes import APPLE, COFFEE, CUPCAKE, FRIDGE, KITCHEN, LIVING, STOVE, TABLE, WINE

if TYPE_CHECKING:
    pass

FLAT = homes.flat()
TEA = homes.tea(FLAT)
FLOOR = Floor(FLAT)
TABLE_OF_TEA = Table(TEA)


def feature(rows: Any, node: NodeId, name: str, table: Table = TABLE_OF_TEA) -> float:  # noqa: ANN401
    return float(rows[table.row[node], FEATURES.index(name)])


def number(verb: str, node: NodeId, table: Table = TABLE_OF_TEA) -> int:
    return len(PLAIN) + ON_ROWS.index(verb) * ROWS + table.row[node]


def begin(*points: Point, **rules: Any) -> State:
    at = dict(enumerate(points, 1))
    return physics.start(TEA, FLOOR, generator(0, "test"), agents=len(points), rules=Rules(**rules), at=at)


def test_spaces_and_names() -> None:
    env = parallel_env("dev-0", agents=3)
    assert env.possible_agents == ["Alice", "Bob", "Carol"]
    assert env.action_space("Bob").n == ACTIONS == 195
    shapes = {name: space.shape for name, space in env.observation_space("Bob").items()}
    assert shapes == {"observation": (length(3),), "action_mask": (195,)}
    assert length(3) == 6 + 12 + 12 + 48 * 29


def test_what_an_agent_sees() -> None:
    state = begin(Point(-1.6, 0.5), Point(0.9, -0.7), Point(6.0, 0.5))
    state.headings[2] = 90.0
    state.grab(2, CUPCAKE)
    state.time = 25
    seen, _ = TABLE_OF_TEA.look(state, 1)
    own, rest = np.split(seen, [len(OWN)])
    assert own == pytest.approx([-1.6, 0.5, 0.0, 1.0, 0.1, 0.0])
    needs, rest = np.split(rest, [NEEDS * len(NEED)])
    assert needs.tolist() == [1, 0, 1, 0] + [0] * 8
    mates = rest[: 2 * len(TEAMMATE)].reshape(2, -1)
    assert mates[0] == pytest.approx([1, 0.9, -0.7, 1.0, 0.0, 0.5], abs=1e-6)
    assert mates[1].tolist() == [0] * 6, "in another room"
    rows = nodes_of(seen)
    assert rows.base is not None
    expected = {"seen": 1, "known": 1, "container": 1, "x": -2.4, "z": 0.5, "close": 1, "here": 1, "stove": 1}
    expected["parent"] = 1 / ROWS  # the kitchen
    features = dict(zip(FEATURES, rows[TABLE_OF_TEA.row[STOVE]].tolist(), strict=True))
    assert {name: value for name, value in features.items() if value} == pytest.approx(expected)
    assert feature(rows, KITCHEN, "here") == 1
    assert feature(rows, LIVING, "seen") == feature(rows, LIVING, "room") == 1
    assert feature(rows, LIVING, "here") == 0
    assert feature(rows, CUPCAKE, "held_by_mate") == 1
    assert feature(rows, CUPCAKE, "need_1") == 1
    assert (feature(rows, CUPCAKE, "x"), feature(rows, CUPCAKE, "z")) == pytest.approx((0.9, -0.7))
    for hidden in (APPLE, COFFEE):
        assert not rows[TABLE_OF_TEA.row[hidden]].any()
    assert WINE not in TABLE_OF_TEA.row
    state.open(FRIDGE)
    physics.step(state, {}, generator(0, "step"))
    rows = nodes_of(TABLE_OF_TEA.look(state, 1)[0])
    assert feature(rows, FRIDGE, "open") == 1
    assert feature(rows, APPLE, "inside") == 1
    assert feature(rows, APPLE, "parent") == pytest.approx((TABLE_OF_TEA.row[FRIDGE] + 1) / ROWS)
    state.put(1, Point(6.0, 1.0))
    rows = nodes_of(TABLE_OF_TEA.look(state, 1)[0])
    gone = rows[TABLE_OF_TEA.row[APPLE]]
    assert gone[FEATURES.index("known")] == 1
    assert gone.sum() == 1, "known, and nothing else of it"
    assert feature(rows, COFFEE, "target") == 1


def test_hands() -> None:
    state = begin(Point(0.0, -0.7))
    for thing in (CUPCAKE, homes.PLATE):
        state.grab(1, thing)
    seen, mask = TABLE_OF_TEA.look(state, 1)
    assert seen[OWN.index("hands")] == 1.0
    assert feature(nodes_of(seen), CUPCAKE, "right_hand") == 1
    assert mask[number("go", CUPCAKE)] == 0
    both = Table(
        Episode("e", "t", FLAT, (Need("ON", "plate", COFFEE, 1), Need("ON", "cupcake", COFFEE, 1)), (KITCHEN,))
    )
    assert feature(nodes_of(both.look(state, 1)[0]), homes.PLATE, "left_hand", both) == 1


def random_state(seed: int, steps: int, episode: Episode, rules: Rules) -> State:
    """Return a moment after acts drawn at random."""
    rng, floor, table = generator(seed, "test"), Floor(episode.home), Table(episode)
    state = physics.start(episode, floor, rng, agents=3, rules=rules)
    for _ in range(steps):
        physics.step(state, {agent: table.act(state, agent, int(rng.integers(ACTIONS))) for agent in (1, 2, 3)}, rng)
        masks = {agent: np.flatnonzero(table.look(state, agent)[1]) for agent in (1, 2, 3)}
        acts = {agent: table.act(state, agent, int(rng.choice(mask))) for agent, mask in masks.items()}
        physics.step(state, acts, rng)
    return state


def rules_of(sight: Any, mode: Any, flag: bool) -> Rules:  # noqa: ANN401
    return Rules(mode=mode, strict_put=flag, sight=sight, occlusion=flag)


RULES = st.builds(rules_of, st.sampled_from(["room", "cone"]), st.sampled_from(["strict", "engine"]), st.booleans())


@pytest.mark.heavy
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 50), steps=st.integers(0, 40), rules=RULES)
def test_the_mask_is_what_can_be_done_with_what_is_seen(seed: int, steps: int, rules: Rules) -> None:
    episode = home_generator.episode(seed % 3)
    table = Table(episode)
    state = random_state(seed, steps, episode, rules)
    for agent in state.points:
        seen, mask = table.look(state, agent)
        rows, view = nodes_of(seen), sight.view(state, agent)
        assert mask[0] == 1
        assert mask[1:3].tolist() == [int(rules.sight == "cone")] * 2
        for action in np.flatnonzero(mask):
            act = table.act(state, agent, int(action))
            assert physics.refusal(state, agent, act) == ""
            if act.verb == "walktowards":
                assert act.target in state.known[agent]
            elif action > 2:
                assert (act.onto or act.target) in view
        for node, row in table.row.items():
            assert bool(rows[row, 0]) == (node in view)
            if node in view:
                assert bool(rows[row, FEATURES.index("close")]) == state.close(agent, node)
            for verb in ("open", "grab", "put"):
                act = table.act(state, agent, number(verb, node, table))
                possible = node in view and node not in state.holder and physics.refusal(state, agent, act) == ""
                if not (possible and verb == "open" and node in episode.home.rooms):
                    assert bool(mask[number(verb, node, table)]) == possible, (verb, node)


def twins(home: Home) -> tuple[Episode, Episode]:
    """Return two episodes that differ in where things are that nobody in the kitchen can see."""
    moved = {
        APPLE: homes.node(APPLE, "apple", "Food", "g", (8.3, 0.5, 2.0, 0.1, 0.1, 0.1)),
        homes.JUICE: homes.node(homes.JUICE, "juice", "Food", "g", (6.0, 0.6, -1.0, 0.1, 0.2, 0.1)),
    }
    needs = (Need("ON", "apple", TABLE, 1), Need("ON", "wine", TABLE, 1))
    other = Home(
        "flat",
        {**home.nodes, **moved},
        home.rooms,
        home.doors,
        {**home.parent, APPLE: ("INSIDE", homes.CABINET), WINE: ("ON", COFFEE)},
        {**home.room, APPLE: LIVING},
        home.opened,
    )
    return Episode("a", "t", home, needs, (KITCHEN,)), Episode("b", "t", other, needs, (KITCHEN,))


@pytest.mark.parametrize("mode", ["strict", "engine"])
@pytest.mark.parametrize("sees", ["room", "cone"])
def test_nothing_hidden_leaks(mode: Any, sees: Any) -> None:  # noqa: ANN401
    found: list[list[Any]] = []
    for episode in twins(FLAT):
        env = HouseholdEnv(episode, 2, Rules(mode=mode, sight=sees))
        observations, _ = env.reset(seed=3)
        table = env._played.table
        told: list[Any] = []
        for verb, node in (
            ("go", STOVE),
            ("open", STOVE),
            ("go", TABLE),
            ("grab", APPLE),
            ("go", APPLE),
            ("grab", WINE),
        ):
            if mode == "engine" and node in (APPLE, WINE):
                continue  # the engine's own rules know where things are
            actions = {"Alice": number(verb, node, table), "Bob": 0}
            told += [*(observations["Alice"][part].tobytes() for part in ("observation", "action_mask"))]
            observations, rewards, over, _, infos = env.step(actions)
            told += [rewards["Alice"], over["Alice"], infos["Alice"]]
        found.append(told)
        assert env.state().any()
    assert found[0] == found[1]


def test_two_agents_do_the_task_and_the_rewards_add_up() -> None:
    env = parallel_env(TEA, agents=1)
    env.reset(seed=1)
    table, total = env._played.table, 0.0
    walk = [("go", FRIDGE)] * 8 + [("open", FRIDGE), ("grab", APPLE)] + [("go", CUPCAKE)] * 6 + [("grab", CUPCAKE)]
    walk += [("go", LIVING)] * 8 + [("go", COFFEE)] * 6 + [("put", COFFEE)] * 2
    for verb, node in walk:
        assert env.agents
        _, rewards, over, cut, infos = env.step({"Alice": number(verb, node, table)})
        assert infos["Alice"]["reason"] == ""
        total += rewards["Alice"]
    assert (total, over, cut, env.agents) == (2.0, {"Alice": True}, {"Alice": False}, [])


def test_taking_back_costs_what_it_gave() -> None:
    env = parallel_env(TEA, agents=2)
    env.reset(seed=1)
    assert env._state is not None
    env._state.put(1, Point(0.0, -0.7))
    env._state.grab(1, CUPCAKE)
    env._state.put(1, Point(6.0, 0.0))
    rewards = []
    for verb, node in (("put", COFFEE), ("grab", CUPCAKE), ("put", COFFEE)):
        _, reward, *_ = env.step({"Alice": number(verb, node), "Bob": 0})
        rewards.append(reward)
    assert rewards == [{"Alice": k, "Bob": k} for k in (1.0, -1.0, 1.0)]


def test_seeds_are_those_of_the_world() -> None:
    env = parallel_env("dev")
    for seed in (7, 3):
        env.reset(seed=seed)
        world = registry.make("household", "dev", seed, None, {})
        world.reset(seed)
        assert env._state is not None
        assert drawing_data.snapshot(env._state, env._played.episode) == world.snapshot()


def test_the_state_is_the_truth() -> None:
    env = parallel_env(TEA)
    env.reset(seed=1)
    whole = env.state()
    assert env.state_space.contains(whole)
    rows = nodes_of(whole)
    assert all(feature(rows, node, "seen") == 1 for node in TABLE_OF_TEA.nodes)
    assert feature(rows, APPLE, "inside") == 1
    assert not rows[:, FEATURES.index("here")].any()


def test_rows_without_a_node_are_as_those_never_seen() -> None:
    env = parallel_env(TEA, agents=1)
    env.reset(seed=1)
    for verb in range(len(ON_ROWS)):
        _, _, _, _, infos = env.step({"Alice": len(PLAIN) + verb * ROWS + ROWS - 1})
        assert infos["Alice"] == {"reason": "not_held" if ON_ROWS[verb] == "put" else "unseen", "moved": False}


def test_too_large_homes_are_told() -> None:
    nodes = {**FLAT.nodes}
    for extra in range(50, 100):
        nodes[extra] = homes.node(extra, "apple", "Food", "g", (1.0, 0.1, 1.5, 0.1, 0.2, 0.1))
    parent = {**FLAT.parent, **dict.fromkeys(range(50, 100), ("INSIDE", KITCHEN))}
    home = Home(
        "large",
        nodes,
        FLAT.rooms,
        FLAT.doors,
        parent,
        {**FLAT.room, **dict.fromkeys(range(50, 100), KITCHEN)},
        FLAT.opened,
    )
    with pytest.raises(UserError, match="has 48 rows for nodes and 6 for the goal, got 58 and 2"):
        parallel_env(homes.tea(home))


@needs_data
def test_official_levels() -> None:
    for task in (0, 5, 49):
        env = parallel_env(f"official-{task}", data=FOLDER)
        observations, _ = env.reset(seed=0)
        assert env.observation_space("Alice").contains(observations["Alice"])
