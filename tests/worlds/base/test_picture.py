"""What a world declares for its drawing: what is wrong with it is said, agents that share a cell are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teamworld.worlds.base import picture

KINDS: dict[str, picture.Kind] = {"box": ("square", "#c98a3c", "a box"), "wall": ("tile", "#8b8f97", "wall")}
STATIC = picture.static((2, 3), KINDS, [((0, 0), "wall")])
MOMENT = picture.snapshot([((1, 1), "0", "north", "box"), ((1, 2), "1", "", "")], [((0, 1), "box", "7")])


def test_what_can_be_drawn_has_no_fault() -> None:
    assert picture.find_fault(STATIC, [MOMENT, MOMENT], 2) == ""
    assert picture.frame(STATIC, MOMENT).shape == (64, 96, 3)


@pytest.mark.parametrize(
    ("static", "moment", "fault"),
    [
        ({"drawer": "household"}, {}, "static: Invalid enum value 'household'"),
        ({"size": [2]}, {}, "static: Expected `array` of length 2"),
        ({"size": [2, 0]}, {}, "static: Expected `int` >= 1"),
        ({"size": [2, 10**9]}, {}, "static: Expected `int` <= 1000"),
        (
            {"kinds": {"box": {"shape": "star", "colour": "#ffffff", "words": ""}}},
            {},
            "static: Invalid enum value 'star'",
        ),
        (
            {"kinds": {"box": {"shape": "disc", "colour": "red", "words": ""}}},
            {},
            "static: Expected `str` matching regex",
        ),
        ({"kinds": {"box": {"shape": "disc", "colour": "#fff", "words": ""}}}, {}, "static: Expected `str` matching"),
        ({"ground": [[0, 3, "wall"]]}, {}, "static: cell (0, 3) is not in a grid of 2 by 3"),
        ({"ground": [[0, 0, "tree"]]}, {}, "static: there is no kind 'tree'"),
        ({}, {"things": [[0, 0, "", ""]]}, "snapshot 1: Expected `str` of length >= 1"),
        ({}, {"things": [[0, 0, "box", "x" * 41]]}, "snapshot 1: Expected `str` of length <= 40"),
        ({}, {"things": [[-1, 0, "box", ""]]}, "snapshot 1: cell (-1, 0) is not in a grid"),
        ({}, {"things": [[0, 0, "tree", ""]]}, "snapshot 1: there is no kind 'tree'"),
        ({}, {"agents": [[0, 0, "", "", ""]]}, "snapshot 1: 1 agents of a team of 2"),
        ({}, {"agents": [[0, 0, "", "", ""], [2, 0, "", "", ""]]}, "snapshot 1: cell (2, 0) is not in a grid"),
        ({}, {"agents": [[0, 0, "", "", ""], [0, 0, "", "", "tree"]]}, "snapshot 1: there is no kind 'tree'"),
        ({}, {"agents": [[0, 0, "", "up", ""], [0, 0, "", "", ""]]}, "snapshot 1: Invalid enum value 'up'"),
    ],
)
def test_what_cannot_be_drawn_is_said(static: dict[str, Any], moment: dict[str, Any], fault: str) -> None:
    found = picture.find_fault({**STATIC, **static}, [MOMENT, {**MOMENT, **moment}], 2)
    assert found.startswith(fault)


def test_agents_that_share_a_cell_are_told_apart() -> None:
    def count_discs(number: int) -> int:
        """Count runs of the agents' colour along a circle through their middles."""
        crowd = picture.snapshot([((0, 0), "", "", "")] * number, [])
        pixels = picture.frame(picture.static((1, 1), {}), crowd, scale=200)
        angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
        rows, columns = (100 - 50 * np.cos(angles)).astype(int), (100 + 50 * np.sin(angles)).astype(int)
        is_agent = (pixels[rows, columns] == picture.AGENT).all(axis=-1)
        return int((is_agent & ~np.roll(is_agent, 1)).sum())

    assert [count_discs(number) for number in (2, 3, 4, 7)] == [2, 3, 4, 7]
    alone = picture.frame(picture.static((1, 1), {}), picture.snapshot([((0, 0), "", "", "")], []), scale=100)
    assert tuple(alone[50, 50]) == picture.AGENT
