"""CUBE keeps the contract of worlds, and the registry finds it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from teamworld import plugins
from teamworld.errors import UserError
from teamworld.testing import check_world
from teamworld.worlds import registry
from teamworld.worlds.contract import World


def cube(level: str, horizon: int = 30, options: Mapping[str, object] | None = None) -> World:
    """Return the world by its contract alone."""
    return registry.make("cube", level, 3, horizon, options or {})


@pytest.mark.parametrize("options", [{}, {"view_radius": 4}])
def test_cube_passes_the_suite(options: dict[str, object]) -> None:
    def made(level: str, seed: int, horizon: int, given: Mapping[str, object]) -> World:
        return module.make(level, seed, horizon, {**options, **given})

    module = registry.module("cube")
    check_world(SimpleNamespace(**{**vars(module), "make": made}), ["paper-n1", "paper-n4", "n8"], seeds=(3,), steps=12)


def test_reset_gives_equal_instances_for_equal_seeds() -> None:
    assert cube("n8").snapshot() == cube("n8").snapshot()
    other = registry.make("cube", "n8", 4, 30, {})
    assert cube("n8").snapshot() != other.snapshot()


def test_the_registry_knows_cube() -> None:
    assert "cube" in registry.names()
    assert "paper-n2" in registry.levels("cube")
    assert registry.summary("cube")
    assert set(registry.option_model("cube").model_fields) >= {"view_radius", "timeouts"}
    assert all(field.description for field in registry.option_model("cube").model_fields.values())
    assert registry.make("cube", "n2", 0, None, {}).spec.horizon == 500


def test_unknown_names_are_answered_with_a_suggestion() -> None:
    with pytest.raises(UserError, match="did you mean 'cube'"):
        registry.make("cubes", "n2", 0, 10, {})
    with pytest.raises(UserError, match="did you mean 'paper-n"):
        registry.make("cube", "paper-n3", 0, 10, {})
    with pytest.raises(UserError, match="max_steps|horizon"):
        registry.make("cube", "n2", 0, 0, {})


def test_worlds_of_other_packages_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    good = EntryPoint("mine", "teamworld.worlds.cube.world", registry.GROUP)
    bad = EntryPoint("broken", "no.such.module", registry.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [good, bad] if group == registry.GROUP else [])
    assert registry.names() == sorted({*registry.WORLDS, "broken", "mine"})
    assert registry.make("mine", "n1", 0, 5, {}).spec.agents == ("agent_0",)
    with pytest.raises(UserError, match="'broken' of no.such.module cannot be loaded"):
        registry.module("broken")
