"""The text grid: as the specification writes it, and there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import text


def test_the_grid_of_the_specification() -> None:
    window = np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 0, 5, 5, 5], [5] * 5])
    assert text.grid_text(window) == "-,'0','1','2','3'\n0,1,2,3,i\nf,e,*x*,w,B\nC,-,0,0,0\n0,0,0,0,0"
    assert text.grid_text(np.array([[4]])) == "*'3'*"
    assert text.grid_text(np.zeros((0, 0), np.uint8)) == ""


@given(st.sampled_from([1, 3, 21]), st.integers(0, 10**6))
def test_every_window_can_be_read_back(side: int, seed: int) -> None:
    window = np.random.default_rng(seed).integers(0, 16, (side, side))
    rows = [line.split(",") for line in text.grid_text(window).split("\n")]
    marked = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell.startswith("*")]
    assert marked == [(side // 2, side // 2)]
    assert [[text.SYMBOLS.index(cell.strip("*")) for cell in row] for row in rows] == window.tolist()


def test_the_legend_names_every_character_once() -> None:
    assert list(text.LEGEND) == list(text.SYMBOLS)
    assert len(text.LEGEND) == len(set(text.LEGEND.values())) == 16
    assert text.LEGEND["'2'"] == "wet ground with 2 trees"
    assert text.LEGEND["1"] == "dry ground with 1 tree"
    assert text.grid_legend().startswith("- not seen yet, or outside the map; '0' wet ground without trees;")
    with pytest.raises(TypeError):
        text.LEGEND["?"] = "no"  # type: ignore[index]


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (np.zeros((2, 2), np.uint8), "a cell in the middle"),
        (np.zeros((3, 5), np.uint8), "a cell in the middle"),
        (np.full((3, 3), 16), "codes from 0 to 15"),
        (np.full((3, 3), -1), "codes from 0 to 15"),
    ],
)
def test_what_is_no_window_is_told(window: np.ndarray, words: str) -> None:
    with pytest.raises(UserError, match=words):
        text.grid_text(window)
