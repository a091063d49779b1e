"""What a method is told before the first step: nothing of the land, in no world anything that only a drawing needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from teamworld.methods import registry as methods
from teamworld.methods.contract import Briefing, Method
from teamworld.record import EpisodeStart
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import WorldSpec


class Nosy:
    """Keeps what a method gets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, label: str) -> None:
        self.briefings: list[Briefing] = []
        kind = type(methods.make(label, methods.resolve(label, {}).model_dump(mode="json")))
        inner = kind.begin

        async def begin(method: Method, briefing: Briefing) -> None:
            self.briefings.append(briefing)
            await inner(method, briefing)

        monkeypatch.setattr(kind, "begin", begin)


def strings(value: object, seen: set[int]) -> list[str]:
    """Return every text and array that can be reached from a value by its fields."""
    if id(value) in seen or isinstance(value, (int, float, type(None))):
        return []
    seen.add(id(value))
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.items() for part in item for text in strings(part, seen)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [text for part in value for text in strings(part, seen)]
    if hasattr(value, "dtype"):
        return [f"an array of shape {getattr(value, 'shape', ())}"]
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    parts = [getattr(value, name) for name in names] + list(getattr(value, "__dict__", {}).values())
    return [text for part in parts for text in strings(part, seen)]


@pytest.mark.parametrize("level", ["suppress_fire_locate_and_suppress", "suppress_fire_contain", "perception"])
def test_the_briefing_holds_nothing_of_the_land(monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    nosy = Nosy(monkeypatch, "do_nothing")
    events = play("do_nothing", Scenario("wildfire", level, 1, 2), {}).events
    (briefing,) = nosy.briefings
    start = next(event for event in events if isinstance(event, EpisodeStart))
    land = start.static["land"]
    assert len(land) == start.static["size"]  # the log has what a drawing needs
    told = strings((briefing.spec, briefing.domain), set())
    assert briefing.spec.task in told
    assert not set(land) & set(told)
    assert not [text for text in told if text.startswith("an array")]


@pytest.mark.parametrize("world", worlds.names())
def test_no_world_tells_methods_what_only_a_drawing_needs(monkeypatch: pytest.MonkeyPatch, world: str) -> None:
    nosy = Nosy(monkeypatch, "do_nothing")
    level = worlds.module(world).DEFAULT_LEVEL
    events = play("do_nothing", Scenario(world, level, 1, 2), {}).events
    (briefing,) = nosy.briefings
    assert briefing.spec.static == {}
    made = worlds.make(world, level, 1, 2, {})
    assert next(event for event in events if isinstance(event, EpisodeStart)).static == made.spec.static != {}
    for field in dataclasses.fields(WorldSpec):
        if field.name != "static":
            assert getattr(briefing.spec, field.name) == getattr(made.spec, field.name)
