"""The frame of a step that all worlds share."""

from __future__ import annotations

import pytest

from teamworld.language import Action
from teamworld.worlds import registry


@pytest.mark.parametrize("world", ["cube", "household", "rooms", "wildfire"])
def test_a_refusal_is_of_its_own_step_alone(world: str) -> None:
    instance = registry.make(world, registry.module(world).DEFAULT_LEVEL, 0, 20, {})
    instance.reset(0)
    agent = instance.spec.agents[0]
    refused = instance.step({agent: Action("fly_to_the_moon")}).outcomes[agent]
    assert not refused.legal
    assert refused.action == Action("fly_to_the_moon")
    after = instance.step({}).outcomes[agent]
    assert after.legal
    assert after.action != refused.action
    assert len(instance.view(agent).history) == 1
