"""Wildfire's pictures: plain data there and back, the right colour in the right place, and figures that say what is."""

from __future__ import annotations

import json
import re
import sys
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import draw, observe, physics
from teamworld.worlds.wildfire.levels import Team, instance_for
from teamworld.worlds.wildfire.state import CARRIED, FREE, KINDS, SIGHTS, Civilians
from tests.worlds.wildfire.maps import flat, rough
from tests.worlds.wildfire.test_sightings import scramble, send, started


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(10, 40), share=st.sampled_from([0.0, 0.01, 0.3, 1.0]))
def test_snapshots_hold_the_whole_land(seed: int, size: int, share: float) -> None:
    running = started(rough(seed, size), Team(2, drones=1))
    if share:
        scramble(running, np.random.default_rng(seed), share)
    static, snapshot = draw.static(running.instance), draw.snapshot(running)
    assert json.loads(json.dumps([static, snapshot])) == [static, snapshot]
    assert np.array_equal(draw.codes_of(static, snapshot), observe.true_codes(running.land))
    if not share:
        assert snapshot["land"] == []


def test_a_snapshot_is_small() -> None:
    running = physics.begin_incident(instance_for("full_game", 2), 2)
    for _ in range(60):
        physics.step(running, np.full((15, 3), -1))
    assert running.land.cells_caught > 150
    assert len(json.dumps(draw.snapshot(running))) < 4000


def scene() -> tuple[dict[str, object], dict[str, object]]:
    """Return a small moment: a firefighter, a bulldozer, a drone, a helicopter, a rider, one civilian of two."""
    running = started(flat(12, trees=1), Team(2, 1, 1, 1), (5, 5))
    send(running, np.array([[1, 2], [9, 9], [4, 2], [7, 2], [9, 9]], float))
    running.units.aboard[1] = 4
    running.civilians = Civilians(
        np.array([1, 2], np.int32), np.array([8, 8], np.int32), np.array([FREE, CARRIED], np.uint8)
    )
    running.land.inner(running.land.burn)[11] = 3
    return draw.static(running.instance), draw.snapshot(running)


def test_one_pixel_per_cell() -> None:
    pixels = draw.frame(*scene(), 1)
    expected = np.zeros((12, 12, 3), np.uint8) + draw.COLOURS[6]
    expected[11] = draw.COLOURS[10]
    expected[0, 0] = draw.TARGET
    expected[8, 1] = draw.CIVILIAN
    for x, y in ((1, 2), (4, 2), (7, 2), (9, 9)):
        expected[y, x] = draw.RIM
    assert np.array_equal(pixels, expected)


@pytest.mark.parametrize("scale", [2, 5, 9, 16, 40])
def test_every_scale_shows_everything(scale: int) -> None:
    pixels = draw.frame(*scene(), scale)
    assert pixels.shape == (12 * scale, 12 * scale, 3)
    middle = pixels[scale // 2 :: scale, scale // 2 :: scale]
    assert tuple(middle[8, 1]) == draw.CIVILIAN
    for x, y in ((1, 2), (4, 2), (7, 2), (9, 9)):
        assert tuple(middle[y, x]) == draw.AGENT
    assert tuple(middle[11, 5]) == tuple(draw.COLOURS[10])
    assert (pixels == draw.TARGET).all(axis=2)[: max(9, scale), : max(9, scale)].any()


def test_kinds_have_shapes_of_their_own() -> None:
    shapes = [draw._shape(kind, 20) for kind in ("firefighter", "bulldozer", "drone", "helicopter", "civilian")]
    for k, shape in enumerate(shapes):
        assert shape.any()
        for other in shapes[:k]:
            assert np.count_nonzero(shape != other) > 40


def test_what_lies_at_the_edge_is_cut_off() -> None:
    running = started(flat(12), Team(4), (0, 0))
    send(running, np.array([[0, 0], [11, 0], [0, 11], [11, 11]], float))
    pixels = draw.frame(draw.static(running.instance), draw.snapshot(running), 2)
    assert pixels.shape == (24, 24, 3)
    assert tuple(pixels[23, 23]) == tuple(pixels[0, 23]) == draw.AGENT


@pytest.mark.parametrize("scale", [0, -1, 1.5, True, "4"])
def test_bad_scales_are_told(scale: object) -> None:
    with pytest.raises(UserError, match="scale must be None or an integer of at least 1"):
        draw.frame(*scene(), scale)  # type: ignore[arg-type]


def test_text() -> None:
    lines = draw.text(*scene()).split("\n")
    assert lines[0] == "step 0"
    assert lines[3] == "1F11Z11D1111"
    assert lines[9] == "1C1111111111"
    assert lines[10] == "111111111H11"
    assert lines[12] == "f" * 12
    assert "Z bulldozer" in lines[13]


def test_no_two_codes_look_alike() -> None:
    colours = draw.COLOURS[1:15].astype(int)
    for k in range(len(colours)):
        for other in range(k):
            assert abs(colours[k] - colours[other]).sum() > 60
    light = colours @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(light[4:8]) < -15).all()  # denser forest is darker
    assert (np.diff(light[8:12]) < -20).all()  # what burns gets darker


def test_figures_show_what_is_there() -> None:
    pytest.importorskip("matplotlib")
    made = draw.figure(*scene(), windows=(0, 4))
    (axes,) = made.axes
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [
        "to cut", "civilian", "firefighter", "bulldozer", "drone", "helicopter", "dry ground with 1 tree", "on fire",
    ]  # fmt: skip
    assert axes.get_title() == "x, step 0"
    assert len(axes.patches) == 8  # two agents, two squares each, each with a rim
    assert sorted(text.get_text() for text in axes.texts) == ["1", "3", "4", "5"]  # the rider is not shown
    made.canvas.draw()


def test_figures_of_what_is_known_show_nothing_else() -> None:
    pytest.importorskip("matplotlib")
    static, snapshot = scene()
    seen = np.zeros((12, 12), np.uint8)
    seen[:4] = 6
    made = draw.figure(static, snapshot, seen=seen, title="known")
    (axes,) = made.axes
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert "not seen yet" in names
    assert not {"civilian", "on fire"} & set(names)
    assert axes.get_title() == "known"
    made.canvas.draw()


def test_figures_need_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match=r"pip install 'teamworld\[plots\]'"):
        draw.figure(*scene())


def test_the_replay_has_the_same_colours_and_windows() -> None:
    script = resources.files("teamworld.viewer").joinpath("static/worlds/wildfire.js").read_text("utf-8")
    table = script.partition("const COLOURS = [")[2].partition("];")[0]
    colours = [[int(part) for part in colour] for colour in re.findall(r"\[(\d+), (\d+), (\d+)\]", table)]
    assert colours == draw.COLOURS.tolist()
    reach = dict(re.findall(r"(\w+): (\d+)", script.partition("const REACH = {")[2].partition("}")[0]))
    assert {kind: int(cells) for kind, cells in reach.items()} == {
        kind: sight.window for kind, sight in zip(KINDS, SIGHTS, strict=True)
    }
