"""What is left of an action that takes as many steps as it says is counted down, in every world."""

from __future__ import annotations

import pytest

from teamworld.language import parse_action
from teamworld.worlds import registry


@pytest.mark.parametrize(
    ("world", "verb"),
    [("household", "idle"), ("household", "talk"), ("rooms", "talk"), ("wildfire", "idle"), ("wildfire", "talk")],
)
def test_what_is_left_of_waiting_is_counted_down(world: str, verb: str) -> None:
    level = registry.load(world).DEFAULT_LEVEL
    here = registry.make(world, level, seed=0, horizon=60, options={})
    agent, other = here.spec.agents[:2]
    assert here.view(agent).remainder is None
    here.step({agent: parse_action(f"{verb}(3)")})
    for left in (2, 1):
        assert here.view(agent).remainder == parse_action(f"{verb}({left})")
        assert here.view(other).remainder is None
        here.step({})
    assert here.view(agent).remainder is None


def test_what_is_left_of_a_walk_is_the_walk() -> None:
    here = registry.make("household", "dev-0", seed=0, horizon=60, options={})
    walk = here.view("Alice").options[-2].action
    here.step({"Alice": walk})
    assert here.view("Alice").remainder == walk


def test_an_action_tells_since_when_it_runs() -> None:
    here = registry.make("household", "dev-0", seed=0, horizon=60, options={})
    here.step({})
    assert here.view("Alice").since is None
    here.step({"Alice": parse_action("idle(3)")})
    assert [here.view(agent).since for agent in here.spec.agents] == [1, None]
    here.step({})
    assert here.view("Alice").since == 1
