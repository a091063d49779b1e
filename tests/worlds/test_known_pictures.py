"""What one agent knows, as a picture: nothing hidden is in it, and what is in it is so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

import pytest

from teamworld.worlds import registry
from teamworld.worlds.base.known_picture import AWAY, KnownPicture, guess_extent
from teamworld.worlds.base.picture import find_fault
from teamworld.worlds.contract import WAIT, View, World

DRAWN = {"cube": "n2", "household": "dev", "transport": "dev", "wildfire": "cut_trees_sparse_small"}
#: Levels in which an agent does not see all.
HIDING = {
    **DRAWN,
    "wildfire": "scout_fire_small",
    "rooms": "three",
    "lbf": "Foraging-2s-8x8-2p-2f-coop-v3",
    "rware": "rware-tiny-2ag-v2",
}


def picture(world: World, view: View) -> KnownPicture:
    draw = registry.known_picture(world.spec.world)
    assert draw is not None
    return draw(view, world.spec.agents)


def text(shown: KnownPicture) -> str:
    return json.dumps([shown.static, shown.frame, sorted(shown.hidden)])


def begun(world: str, options: Mapping[str, Any] | None = None) -> World:
    made = registry.make(world, DRAWN[world], 0, 40, options or {})
    made.reset(0)
    made.step(dict.fromkeys(made.spec.agents, WAIT))
    return made


@pytest.mark.parametrize("world", HIDING)
def test_two_worlds_that_an_agent_cannot_tell_apart_have_one_picture(world: str) -> None:
    if world in ("lbf", "rware"):
        pytest.importorskip({"lbf": "lbforaging", "rware": "rware"}[world])

    pairs = list(islice(registry.module(world).indistinguishable_pairs(HIDING[world], 3), 2))  # type: ignore[attr-defined]
    assert pairs
    for first, second, agent in pairs:
        for made in (first, second):
            made.reset(3)
        assert json.dumps([first.spec.static, first.snapshot()]) != json.dumps([second.spec.static, second.snapshot()])
        assert text(picture(first, first.view(agent))) == text(picture(second, second.view(agent)))
        shown = picture(first, first.view(agent))
        if "drawer" in shown.static:
            away = [place for place, name in enumerate(first.spec.agents) if name in shown.hidden]
            known = [row for place, row in enumerate(shown.frame["agents"]) if place not in away]
            assert not find_fault(shown.static, [{**shown.frame, "agents": known}], len(known))
            assert known


def test_agents_are_where_they_are_and_nowhere_if_nobody_sees_them() -> None:
    home = begun("household")
    shown, true = picture(home, home.view("Bob")), home.snapshot()
    assert shown.hidden == {"Alice"}
    assert shown.frame["agents"][0][:2] == list(AWAY)
    assert shown.frame["agents"][1][:2] == true["agents"][1][:2]
    assert shown.frame["things"] == []
    assert {need["name"] for need in shown.static["needs"]} == {need["name"] for need in home.spec.static["needs"]}


def test_things_are_there_once_they_are_seen() -> None:
    house = begun("transport")
    shown, true = picture(house, house.view("Bob")), house.snapshot()
    places = {(item["id"], item["name"]): true["items"][k] for k, item in enumerate(house.spec.static["items"])}
    assert 0 < len(shown.static["items"]) < len(places)
    for item, row in zip(shown.static["items"], shown.frame["items"], strict=True):
        assert row == places[item["id"], item["name"]]


def test_the_grid_of_a_short_sight_is_that_of_its_facts() -> None:
    grid = begun("cube", {"view_radius": 2})
    agent = grid.spec.agents[0]
    shown, view = picture(grid, grid.view(agent)), grid.view(agent)
    known = {str(fact.subject) for fact in view.known if fact.predicate == "AT"}
    drawn = {f"<block>({block})" for block, place in enumerate(shown.frame["blocks"]) if place is not None}
    assert drawn == {name for name in known if "block" in name}


def test_ground_that_nobody_saw_is_unseen() -> None:
    fire = begun("wildfire")
    agent = fire.spec.agents[0]
    shown = picture(fire, fire.view(agent))
    true = fire.spec.static["land"]
    cells = [
        (mine, own)
        for row, rows in zip(shown.static["land"], true, strict=True)
        for mine, own in zip(row, rows, strict=True)
    ]
    seen = [mine == own for mine, own in cells if mine != "0"]
    assert 0 < len(seen) < len(cells)
    assert all(seen)
    assert shown.frame["agents"][0] == fire.snapshot()["agents"][0]


def test_cooks_see_the_whole_kitchen() -> None:
    pytest.importorskip("cogrid")
    kitchen = registry.make("overcooked", "cramped_room", 0, 40, {})
    kitchen.reset(0)
    for agent in kitchen.spec.agents:
        shown = picture(kitchen, kitchen.view(agent))
        assert (shown.static, shown.frame, shown.hidden) == (kitchen.spec.static, kitchen.snapshot(), frozenset())


def test_a_room_is_as_large_as_what_is_known_of_it() -> None:
    assert guess_extent((100, 50), [], least=10, beyond=5) == [90, 40, 110, 60]
    assert guess_extent((100, 50), [(40, 55), (130, 50)], least=10, beyond=5) == [35, 40, 165, 60]
