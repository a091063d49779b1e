"""Wildfire's pictures: plain data there and back, the right colour in the right place, and figures that say what is."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import draw, drawing_data, observe, physics
from teamworld.worlds.wildfire.drawing_data import CLEARED, COLOURS, STYLE, Unit
from teamworld.worlds.wildfire.env import parallel_env
from teamworld.worlds.wildfire.figure import figure
from teamworld.worlds.wildfire.levels import Team, instance_for
from teamworld.worlds.wildfire.map_pixels import AGENT, Part, _cover, paint_land
from teamworld.worlds.wildfire.state import CARRIED, FREE, Civilians
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
    codes, true = drawing_data.codes_of(static, snapshot), observe.true_codes(running.land)
    start = drawing_data.codes_of(static, {"land": []})
    cleared = (true == 5) & (start >= 6) & (start <= 8)
    assert np.array_equal(codes, np.where(cleared, CLEARED, true))
    if not share:
        assert snapshot["land"] == []


def test_static_tells_of_relief_and_wind() -> None:
    terrain = rough(3, 40)
    slope = np.add.outer(np.arange(40), np.arange(40)).astype(np.uint16) * 400  # rises to the south-east
    terrain = replace(
        terrain, elevation=slope, wind=np.stack([np.full((40, 40), 3.0), np.full((40, 40), -4.0)]).astype(np.float32)
    )
    bright = draw.static(started(terrain, Team(1)).instance)
    dark = draw.static(started(replace(terrain, elevation=slope[::-1, ::-1].copy()), Team(1)).instance)
    level = draw.static(started(replace(terrain, elevation=slope * 0), Team(1)).instance)["relief"][7][7]
    assert dark["relief"][7][7] < level < bright["relief"][7][7], "the light comes from the north-west"
    assert bright["wind"] == [[[3.0, -4.0]] * 10] * 10


def test_a_snapshot_is_small_and_counts() -> None:
    running = physics.begin_incident(instance_for("full_game", 2), 2)
    for _ in range(60):
        physics.step(running, np.full((15, 3), -1))
    assert running.land.cells_caught > 150
    moment = draw.snapshot(running)
    assert len(json.dumps(moment)) < 4000
    codes = drawing_data.codes_of(draw.static(running.instance), moment)
    assert moment["counts"][:2] == [int(np.isin(codes, (9, 10)).sum()), int(np.isin(codes, (9, 10, 11, 12)).sum())]
    burning = np.isin(codes, (9, 10))
    assert moment["wind"] == pytest.approx(running.land.terrain.wind[:, burning].mean(axis=1), abs=0.051)
    assert moment["score"] == physics.score(running).reference


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


UNITS = ((1, 2), (4, 2), (7, 2), (9, 9))


@pytest.mark.parametrize("width", [160, 256, 512, 559, 560, 1024])
def test_every_width_shows_everything(width: int) -> None:
    pytest.importorskip("PIL")
    static, snapshot = scene()
    pixels, plain = draw.frame(static, snapshot, width), draw.frame(static, snapshot, width, key=False)
    assert pixels.shape[1] == width
    assert plain.shape == (width, width, 3)
    side = width if width < 560 else width - max(round(width * draw.SHARE), 172)
    assert (pixels.shape[0] > side) == (width < 560), "the key is below the map, or beside it"
    cell = side / 12
    for x, y in UNITS:
        assert tuple(pixels[round((y + 0.5) * cell), round((x + 0.5) * cell)]) == AGENT
    civilian = pixels[round(8 * cell) : round(9 * cell), round(cell) : round(2 * cell)]
    assert (civilian == STYLE["fills"]["civilian"]).all(axis=2).any()
    assert pixels[round(11.9 * cell) - 1, round(5.5 * cell)].tolist() == COLOURS[10].tolist()
    assert (pixels[: round(cell), : round(cell)] == (20, 24, 28)).all(axis=2).any(), "the rim of a target"
    later = draw.frame(static, snapshot | {"land": [], "score": -1234.5, "wind": None, "civilians": []}, width)
    assert later.shape == pixels.shape


@pytest.mark.parametrize("side", [100, 400, 2000])
def test_what_burns_is_seen_on_maps_of_any_size(side: int) -> None:
    codes = np.full((400, 400), 8, np.uint8)
    codes[203, 77] = 10
    codes[204, 77] = 12
    pixels = paint_land({}, codes, part=Part(0, 0, 400, side))
    found = np.argwhere((pixels == COLOURS[10]).all(axis=2))
    assert len(found)
    assert (found // max(side // 400, 1) == np.array([203, 77]) * min(side / 400, 1) // 1).all()


def test_what_was_not_seen_is_faint() -> None:
    static, snapshot = scene()
    codes, seen = drawing_data.codes_of(static, snapshot), np.ones((12, 12), np.uint8)
    seen[:, 6:] = 0
    clear, faint = paint_land(static, codes), paint_land(static, codes, seen)
    assert np.array_equal(clear[:, :6], faint[:, :6])
    far = np.abs(faint[:, 6:].astype(float) - COLOURS[0]).sum() / np.abs(clear[:, 6:].astype(float) - COLOURS[0]).sum()
    assert 0.3 < far < 0.6
    fire, fog = (COLOURS[code].astype(int) for code in (10, 0))
    assert np.abs(faint[11, 8] - fire).sum() < 0.4 * np.abs(fog - fire).sum(), "fire stays fire"


def test_relief_shades_the_land_and_not_the_fire() -> None:
    static, snapshot = scene()
    codes = drawing_data.codes_of(static, snapshot)
    dark, light = (paint_land(static | {"relief": [digit * 12] * 12}, codes) for digit in "07")
    assert (dark[:11] < light[:11]).all()
    assert np.array_equal(dark[11], light[11])


def test_units_that_would_cover_each_other_are_one_symbol_for_each_kind_with_a_number() -> None:
    units = [*(Unit(k, "firefighter", 5, 5) for k in range(6)), Unit(6, "drone", 6, 5), Unit(7, "firefighter", 9, 5)]
    groups = drawing_data.group_units(units, 2.0)
    assert [dict(group.kinds) for group in groups] == [
        {"firefighter": [0, 1, 2, 3, 4, 5], "drone": [6]},
        {"firefighter": [7]},
    ]
    assert (groups[0].x, groups[0].y) == pytest.approx((36 / 7, 5))
    assert drawing_data.group_units([], 2.0) == []
    assert len(drawing_data.group_units(units, 0.1)) == 3, "those of one cell are always together"


def test_a_number_is_written_on_a_symbol_of_several() -> None:
    pytest.importorskip("PIL")
    running = started(flat(60, trees=3), Team(6), (30, 30))
    static = draw.static(running.instance)
    six = draw.frame(static, draw.snapshot(running), key=False)
    running.units.alive[1:] = False
    one = draw.frame(static, draw.snapshot(running), key=False)
    area = [(picture[400:500, 400:500] == AGENT).all(axis=2).sum() for picture in (one, six)]
    assert area[1] > 1.5 * area[0]
    middle = six[450 + 2 : 450 + 14, 450 : 450 + 14]
    assert (middle == (20, 24, 28)).all(axis=2).any()


def test_a_small_fire_on_a_large_map_has_a_frame_and_is_shown_larger() -> None:
    pytest.importorskip("PIL")
    running = physics.begin_incident(instance_for("full_game", 2), 2)
    for _ in range(30):
        physics.step(running, np.full((15, 3), -1))
    static, burning = draw.static(running.instance), draw.snapshot(running)
    shown = draw.frame(static, burning, 1024)
    corner = shown[-250:, 758:]
    assert ((corner == COLOURS[10]).all(axis=2) | (corner == COLOURS[9]).all(axis=2)).sum() > 500
    for picture in (shown, draw.frame(static, burning, 256)):
        assert (picture == draw.FIRE).all(axis=2).sum() > 20
    assert not (draw.frame(static, burning | {"land": []}, 1024) == draw.FIRE).all(axis=2).any()


def test_kinds_have_shapes_of_their_own() -> None:
    shapes = [_cover(kind, 41) > 0.5 for kind in ("firefighter", "bulldozer", "drone", "helicopter", "civilian")]
    for k, shape in enumerate(shapes):
        assert shape.any()
        for other in shapes[:k]:
            assert np.count_nonzero(shape != other) > 0.08 * np.count_nonzero(shape)


def test_what_lies_at_the_edge_is_cut_off() -> None:
    running = started(flat(12), Team(4), (0, 0))
    send(running, np.array([[0, 0], [11, 0], [0, 11], [11, 11]], float))
    pixels = draw.frame(draw.static(running.instance), draw.snapshot(running), 160, key=False)
    assert pixels.shape == (160, 160, 3)
    assert tuple(pixels[153, 153]) == tuple(pixels[7, 153]) == AGENT


@pytest.mark.parametrize("width", [0, 159, 4001, 300.5, True, "big"])
def test_bad_widths_are_told(width: object) -> None:
    with pytest.raises(UserError, match="width must be None or an integer from 160 to 4000"):
        draw.frame(*scene(), width)  # type: ignore[arg-type]


def test_without_pillow_the_map_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    pixels = draw.frame(*scene(), 256)
    assert pixels.shape == (256, 256, 3)
    assert tuple(pixels[round(2.5 * 256 / 12), round(1.5 * 256 / 12)]) == AGENT


def test_logs_without_relief_wind_and_counts_are_drawn() -> None:
    static, snapshot = scene()
    old = [
        {key: value for key, value in data.items() if key not in ("relief", "wind", "cell_m", "counts", "score")}
        for data in (static, snapshot)
    ]
    assert draw.frame(old[0], old[1]).shape[1] == 900
    figure(old[0], old[1]).canvas.draw()


@pytest.mark.parametrize(("metres", "bar"), [(6000, 1000), (1800, 200), (360, 50), (9, 2), (60_000, 10_000), (3.0, 1)])
def test_the_scale_is_a_round_number(metres: float, bar: int) -> None:
    assert drawing_data.scale_bar(metres, 100) == pytest.approx((bar, bar / metres * 100))


def test_text() -> None:
    lines = draw.text(*scene()).split("\n")
    assert lines[0] == "step 0"
    assert lines[3] == "1F11Z11D1111"
    assert lines[9] == "1C1111111111"
    assert lines[10] == "111111111H11"
    assert lines[12] == "f" * 12
    assert "Z bulldozer" in lines[13]


def test_no_two_codes_look_alike() -> None:
    colours = COLOURS[1:15].astype(int)
    for k in range(len(colours)):
        for other in range(k):
            assert abs(colours[k] - colours[other]).sum() > 60
    light = colours @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(light[4:8]) < -15).all()  # denser forest is darker
    assert (np.diff(light[8:12]) < -20).all()  # what burns gets darker


def test_figures_show_what_is_there() -> None:
    pytest.importorskip("matplotlib")
    made = figure(*scene(), windows=(0, 4))
    (axes,) = made.axes
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [
        "wind, up to 0 m/s", "to cut", "civilian", "firefighter", "bulldozer", "drone", "helicopter",
        "dry ground with 1 tree", "on fire",
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
    made = figure(static, snapshot, seen=seen, title="known")
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
        figure(*scene())


def test_an_environment_shows_faintly_what_no_agent_has_seen() -> None:
    pytest.importorskip("pettingzoo")
    pytest.importorskip("PIL")
    pictures: list[npt.NDArray[np.uint8]] = []
    for shared in (True, False):
        env = parallel_env("scout_fire_small", render_mode="rgb_array", shared_map=shared)
        env.reset(seed=1)
        env.step({agent: np.array([-2, 90, 10 * k]) for k, agent in enumerate(env.agents)})
        pictures.append(np.asarray(env.render()))
    assert np.array_equal(pictures[0], pictures[1]), "the union of the agents' maps is the team's"
    incident, sightings = env._episodes.incident, env._episodes.sightings
    static, moment = draw.static(incident.instance), draw.snapshot(incident)
    seen = np.maximum.reduce([sightings.seen(k) for k in range(3)])
    assert 0 < np.count_nonzero(seen) < seen.size
    assert np.array_equal(pictures[0], draw.frame(static, moment, seen=seen))
    assert not np.array_equal(pictures[0], draw.frame(static, moment))
    env.reset(seed=2)
    assert np.mean(np.asarray(env.render()) != pictures[0]) > 0.2, "another map"
