"""CUBE's pictures: the right colour in the right place, at every scale, with and without Pillow."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.worlds.cube import draw
from teamworld.worlds.cube.levels import layout_for
from teamworld.worlds.cube.physics import step
from teamworld.worlds.cube.state import RIGHT, Block, Layout, make_state

LAYOUT = Layout(6, ((2, 3), (0, 0), (4, 5)), (Block(1, 2, 4), Block(2, 4, 1)))


def test_one_pixel_per_cell_in_the_published_colours() -> None:
    pixels = draw.frame(draw.snapshot(make_state(LAYOUT)), 1)
    assert pixels.shape == (6, 6, 3)
    assert pixels.dtype == np.uint8
    expected = np.zeros((6, 6, 3), np.uint8)
    expected[:, 5] = (157, 212, 177)
    expected[2, 4] = expected[4:6, 1:3] = (212, 196, 188)
    expected[2, 3] = expected[0, 0] = expected[4, 5] = (152, 193, 217)
    assert np.array_equal(pixels, expected)


@pytest.mark.parametrize("scale", [2, 3, 4, 7, 13, 40])
def test_every_scale_shows_everything(scale: int) -> None:
    scene = draw.snapshot(make_state(LAYOUT))
    small, pixels = draw.frame(scene, 1), draw.frame(scene, scale, labels=False)
    assert pixels.shape == (6 * scale, 6 * scale, 3)
    middles = pixels[scale // 2 :: scale, scale // 2 :: scale]
    assert np.array_equal(middles, small)


def test_agents_are_round_and_the_grid_is_drawn() -> None:
    pixels = draw.frame(draw.snapshot(make_state(LAYOUT)), 20, labels=False)
    cell = pixels[2 * 20 : 3 * 20, 3 * 20 : 4 * 20]
    assert tuple(cell[10, 10]) == draw.AGENT
    assert tuple(cell[2, 2]) == draw.BACKGROUND
    assert np.array_equal(cell[1:, 1:], cell[1:, 1:].transpose(1, 0, 2))
    assert tuple(pixels[20, 30]) == (76, 76, 76)
    assert tuple(pixels[30, 30]) == draw.BACKGROUND


def test_labels_need_pillow_and_room(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    scene = draw.snapshot(make_state(LAYOUT))
    plain = draw.frame(scene, 40, labels=False)
    written = draw.frame(scene, 40)
    block, agent = np.s_[160:240, 40:120], np.s_[80:120, 120:160]
    assert (written[block] < 60).all(axis=2).any()
    assert not (plain[block][4:-4, 4:-4] < 60).all(axis=2).any()
    assert (written[agent] == 255).all(axis=2).any()
    assert not (plain[agent] == 255).all(axis=2).any()
    assert np.array_equal(draw.frame(scene, 5), draw.frame(scene, 5, labels=False))
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert np.array_equal(draw.frame(scene, 40), plain)


@pytest.mark.parametrize("scale", [8, 12, 16, 20, 25, 30, 40, 60, 97])
def test_labels_lie_inside_what_they_name(scale: int) -> None:
    pytest.importorskip("PIL")
    blocks = ((0, 1, 0, 0), (12, 1, 0, 2), (255, 1, 0, 4), (3, 2, 2, 0), (44, 3, 2, 3))
    agents = tuple((row, col) for row in range(6, 16) for col in range(11))  # A0 to A109
    scene = draw.Snapshot(16, 0, agents, blocks)
    ink = (draw.frame(scene, scale) != draw.frame(scene, scale, labels=False)).any(axis=2)
    allowed = np.zeros_like(ink)
    gap = max(1, scale // 12)
    for _, weight, row, col in blocks:
        allowed[row * scale + gap : (row + weight) * scale - gap, col * scale + gap : (col + weight) * scale - gap] = 1
    away = np.arange(scale) - scale / 2
    disc = np.hypot(away[:, None], away[None, :]) <= scale / 2 - gap + 1  # one for the rounding of the middle
    for row, col in agents:
        allowed[row * scale : (row + 1) * scale, col * scale : (col + 1) * scale] |= disc
    assert not (ink & ~allowed).any()


@pytest.mark.parametrize(("scale", "block", "agent"), [(8, 0, 0), (16, 1, 1), (25, 2, 1), (40, 2, 1), (60, 2, 1)])
def test_a_small_block_gets_its_second_line_where_there_is_room(scale: int, block: int, agent: int) -> None:
    pytest.importorskip("PIL")
    scene = draw.Snapshot(6, 0, ((3, 3),), ((1, 1, 1, 1),))
    ink = (draw.frame(scene, scale) != draw.frame(scene, scale, labels=False)).any(axis=2)
    inked = [bool(row.any()) for row in ink[: 3 * scale]]
    assert sum(is_inked and not was_inked for was_inked, is_inked in pairwise(inked)) == block  # runs of rows with ink
    assert ink[3 * scale :].any() == bool(agent)
    if block:  # in the middle, up to a pixel; the grid line is the cell's first pixel
        rows = np.flatnonzero(inked)
        assert abs((rows[0] + rows[-1]) / 2 - (1.5 * scale)) <= 1


def test_the_default_scale_fits_the_grid() -> None:
    for level in ("n1", "n64", "n256"):
        side = draw.frame(draw.snapshot(make_state(layout_for(level, 0)))).shape[0]
        assert 500 <= side <= 1000


@pytest.mark.parametrize("scale", [0, -1, 2.5, True, "big"])
def test_wrong_scales_are_refused(scale: float | str) -> None:
    with pytest.raises(UserError, match="scale must be"):
        draw.frame(draw.snapshot(make_state(LAYOUT)), scale)  # type: ignore[arg-type]


def test_text_and_delivered_blocks() -> None:
    state = make_state(LAYOUT)
    lines = draw.text(draw.snapshot(state)).splitlines()
    assert lines[0] == "step 0"
    assert lines[-1] == "blocks left: [0] weight 1  [1] weight 2"
    assert lines[3] == " .  .  . A0 [0] |"
    assert lines[5] == " . [1][1] .  . A2"
    assert len(lines) == 8
    step(state, [RIGHT, 0, 0])
    scene = draw.snapshot(state)
    assert scene.blocks == ((1, 2, 4, 1),)
    assert scene.step == 1
    assert draw.text(scene).splitlines()[3] == " .  .  .  . A0  |"
    many = make_state(layout_for("n128", 0))
    assert "A27" in draw.text(draw.snapshot(many))
    assert hash(draw.snapshot(many))
