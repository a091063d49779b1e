"""Pictures of the transport world: plain data, a floor plan in pixels, and text."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.worlds.contract import WAIT
from teamworld.worlds.transport import draw, drawing_data
from teamworld.worlds.transport.world import TransportWorld
from tests.worlds.transport.houses import box, give, house, item, world

THINGS = (
    *(item(11, "apple", 2.0, 3.0), item(12, "banana", 11.0, 0.6)),
    *(item(13, "bowl", 1.0, 3.0), item(14, "pen", 5.0, 3.0)),
)


@pytest.fixture
def here() -> TransportWorld:
    furniture = [box("table", 6.0, 1.0, 1.0, 0.8, 0.75), box("picture", 6.0, 3.95, 1.0, 0.1, 2.2)._replace(bottom=1.9)]
    made = world(house(THINGS, furniture, [(2.0, 1.0, 0.0), (6.0, 2.0, 90.0)]))
    give(made._moment, 0, 1, 2)
    made._moment.state.items["inside"][0] = 2
    made.step({"Alice": WAIT})
    return made


def snapshot(here: TransportWorld) -> dict[str, Any]:
    return dict(here.snapshot())


def test_plain_data(here: TransportWorld) -> None:
    static, moment = here.spec.static, snapshot(here)
    assert json.loads(json.dumps(static)) == static
    assert [room["name"] for room in static["rooms"]] == ["Livingroom", "Kitchen", "Bedroom"]
    assert static["walls"][0] == [-12, -12, 1212, 0]
    assert [piece["name"] for piece in static["furniture"]] == ["bed", "table"], "what hangs is left out"
    assert static["bed"] == [1130, 200, 300]
    assert moment["t"] == 10
    assert moment["agents"] == [[200, 100, 0], [600, 200, 90]]
    assert moment["hands"] == [[-1, 2], [-1, -1]]
    assert moment["items"] == [[200, 300, -1, 2, 0], [1100, 60, -1, -1, 2], [100, 300, 0, -1, 0], [500, 300, -1, -1, 0]]
    assert moment["known"] == [[0, 2], [1]]
    assert moment["seen"][0][0] > 20
    assert moment["trails"] == [[[200, 100]], [[600, 200]]]
    assert moment["moves"] == [[0, 0], [0, 0]]


def test_the_text_is_a_plan_and_says_the_rest(here: TransportWorld) -> None:
    text = draw.text(here.spec.static, snapshot(here))
    plan, words = text.split("\nframe ")
    assert [plan.count(sign) for sign in "12o."] == [1, 1, 1, 1]
    assert {"#", ":", "B"} < set(plan)
    assert words.split("\n") == [
        "10: 0 of 1 apple, 1 of 1 banana delivered",
        "Alice holds bowl (apple); knows of 2 of 3 things; 12 % of the rooms seen; 0 of 0 moves blocked",
        words.split("\n")[2],
    ]
    assert words.split("\n")[2].startswith("Bob holds nothing; knows of 1 of 3 things; ")


def test_the_picture_shows_all_that_there_is(here: TransportWorld) -> None:
    picture = draw.frame(here.spec.static, snapshot(here), 600)
    assert (picture.shape[1], picture.shape[2], str(picture.dtype)) == (600, 3, "uint8")
    style = drawing_data.STYLE

    def has(colour: str) -> bool:
        wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
        return bool((np.abs(picture.astype(int) - wanted).sum(axis=2) < 12).any())

    for colour in (style["wall"], style["bed"][0], style["target"][0], style["container"][0], style["other"][0]):
        assert has(colour), colour
    for colour in (*style["agents"][:2], style["furniture"][0], style["rooms"]["Bedroom"]):
        assert has(colour), colour
    assert not has(style["agents"][3])


@pytest.mark.parametrize("width", [199, 4001, 300.0, True, "wide"])
def test_impossible_widths_are_refused(here: TransportWorld, width: Any) -> None:  # noqa: ANN401
    with pytest.raises(UserError, match="width must be None or an integer from 200 to 4000"):
        draw.frame(here.spec.static, snapshot(here), width)


@pytest.mark.parametrize("drawn", [draw.text, draw.frame])
def test_other_versions_are_refused(here: TransportWorld, drawn: Any) -> None:  # noqa: ANN401
    with pytest.raises(UserError, match="picture of version 1, got 2"):
        drawn(here.spec.static, {**snapshot(here), "v": 2})
    with pytest.raises(UserError, match="picture of version 1, got None"):
        drawn({}, snapshot(here))
