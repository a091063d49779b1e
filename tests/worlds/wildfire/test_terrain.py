"""Maps: what the generator makes, and map files good and bad."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire.state import (
    DENSE_FOREST,
    MEDIUM_FOREST,
    ROCKS,
    TREES,
    WATER,
    Terrain,
    can_burn,
    load_map,
    save_map,
)
from teamworld.worlds.wildfire.terrain import ELEVATION, VEGETATION, generate, noise_field

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = ("land", "trees", "elevation", "moisture", "wind", "building", "burnable")


def same(first: Terrain, second: Terrain) -> bool:
    """Return whether two maps are equal."""
    numbers = (first.relief_m, first.cell_m) == (second.relief_m, second.cell_m)
    return numbers and all((getattr(first, name) == getattr(second, name)).all() for name in LAYERS)


@given(size=st.integers(10, 70), seed=st.integers(0, 2**63), offset=st.sampled_from([0, 20, 30, 40]))
@settings(max_examples=40, deadline=None)
def test_generated_maps_keep_the_rules(size: int, seed: int, offset: int) -> None:
    terrain = generate(size, seed, vegetation_offset=offset)
    assert terrain.size == size
    assert (terrain.elevation.min(), terrain.elevation.max()) == (0, 65535)
    assert terrain.moisture.min() == pytest.approx(0.4)
    assert terrain.moisture.max() == pytest.approx(0.8)
    for part in terrain.wind:
        assert (part.min(), part.max()) == (-10, 10)
    assert (terrain.trees == np.where(terrain.building, 0, np.array(TREES)[terrain.land])).all()
    assert terrain.land.max() <= DENSE_FOREST
    # Slowly: whatever lies within two cells of a building can burn, and what has trees.
    for y, x in np.argwhere(terrain.burnable != (terrain.trees > 0)):
        assert terrain.building[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3].any()
    for y, x in np.argwhere(terrain.building):
        assert terrain.burnable[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3].all()
        assert (terrain.land[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] == ROCKS).any()


def test_vegetation_classes_follow_the_noise() -> None:
    growth = noise_field(80, VEGETATION, 4, "vegetation")
    expected = np.clip(np.rint(2.5 * (growth + 0.3) + 2), 0, 4)
    assert (generate(80, 4, vegetation_offset=30).land == expected).all()
    more, less = (generate(80, 4, vegetation_offset=offset).trees.sum() for offset in (40, 0))
    assert more > less * 1.3


def test_settlements_are_as_frequent_as_coded() -> None:
    rocks = built = 0
    for seed in range(12):
        terrain = generate(120, seed, vegetation_offset=-20)
        alone = terrain.land == ROCKS
        rocks, built = rocks + int(alone.sum()), built + int(terrain.building.sum())
    # Each rock cell is a middle with 0.05 and brings half of its eight neighbours, less where they overlap.
    assert 0.05 < built / rocks < 0.05 * 5
    assert built / rocks == pytest.approx(0.05 * 5, rel=0.25)


def test_noise_is_smooth_and_has_the_scale_of_its_field() -> None:
    height = noise_field(200, ELEVATION, 3, "elevation")
    assert np.abs(np.diff(height, axis=0)).max() < 0.2
    coarse = np.corrcoef(height[:, :-50].ravel(), height[:, 50:].ravel())[0, 1]
    fine = np.corrcoef(height[:, :-3].ravel(), height[:, 3:].ravel())[0, 1]
    assert fine > 0.95 > coarse + 0.3


def test_seeds_and_fields_differ() -> None:
    first, second = generate(40, 1), generate(40, 2)
    assert not same(first, second)
    assert same(first, generate(40, 1))
    assert np.abs(np.corrcoef(first.wind[0].ravel(), first.elevation.ravel())[0, 1]) < 0.99


def test_maps_are_the_same_on_every_machine() -> None:
    terrain = generate(60, 12345, vegetation_offset=30)
    checksum = hashlib.sha256()
    for name in LAYERS:
        checksum.update(getattr(terrain, name).tobytes())
    assert checksum.hexdigest()[:16] == "3d8b4589eb31af26"


def test_steepness_can_be_chosen() -> None:
    assert generate(30, 1).height_m.max() == pytest.approx(890)
    plain = generate(30, 1, relief_m=50, cell_m=10)
    assert (plain.height_m.max(), plain.cell_m) == (pytest.approx(50), 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 9}, "from 10 to 2,000, got 9"),
        ({"size": 2001}, "from 10 to 2,000, got 2001"),
        ({"size": 30.0}, "must be an integer"),
        ({"size": True}, "must be an integer"),
        ({"relief_m": float("nan")}, "relief_m must be a number of metres"),
        ({"cell_m": 0}, "cell_m must be a number of metres from 0.1"),
        ({"vegetation_offset": 1000}, "vegetation_offset must be a number from -200"),
    ],
)
def test_bad_arguments_get_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        generate(**{"size": 30, "seed": 0, **arguments})
    assert "\n" not in str(error.value)


def test_water_and_planting_make_new_maps() -> None:
    base = generate(20, 0)
    changed = base.planted([(3, 4)]).with_water([(5, 6)])
    assert (changed.land[4, 3], changed.trees[4, 3], changed.burnable[4, 3]) == (DENSE_FOREST, 3, True)
    assert (changed.land[6, 5], changed.trees[6, 5], changed.burnable[6, 5]) == (WATER, 0, False)
    assert (changed.land != base.land).sum() <= 2
    assert not changed.trees.flags.writeable


# Map files ------------------------------------------------------------------------------------------------------------


def test_a_saved_map_comes_back_equal(tmp_path: Path) -> None:
    terrain = generate(50, 3, relief_m=123.5).with_water([(1, 2)])
    save_map(terrain, tmp_path / "map.npz")
    assert same(load_map(tmp_path / "map.npz"), terrain)


def test_a_map_of_land_alone_gets_the_rest(tmp_path: Path) -> None:
    land = np.full((15, 15), MEDIUM_FOREST)
    land[7, 7], land[0, 0] = WATER, ROCKS
    np.savez(tmp_path / "map.npz", land=land)
    terrain = load_map(str(tmp_path / "map.npz"))
    assert (terrain.trees[1, 1], terrain.trees[0, 0], terrain.relief_m) == (2, 0, 890)
    assert terrain.burnable.sum() == 15 * 15 - 2
    assert not terrain.wind.any()


def test_a_yaml_map_names_files_beside_it(tmp_path: Path) -> None:
    building = np.zeros((12, 12), np.uint8)
    building[3, 3] = 1
    np.save(tmp_path / "land.npy", np.ones((12, 12), np.int8))
    np.save(tmp_path / "houses.npy", building)
    (tmp_path / "map.yaml").write_text("land: land.npy\nbuilding: houses.npy\nrelief_m: 40\n")
    terrain = load_map(tmp_path / "map.yaml")
    assert terrain.relief_m == 40
    assert (terrain.burnable == can_burn(terrain.trees, building > 0)).all()
    assert terrain.burnable.sum() == 25


GOOD = np.full((12, 12), MEDIUM_FOREST)


def spoilt(value: float) -> np.ndarray[Any, Any]:
    """Return a layer with one wrong number at x 4, y 7."""
    layer = np.zeros((12, 12))
    layer[7, 4] = value
    return layer


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ({}, "needs the layer 'land'"),
        ({"land": GOOD, "moistur": GOOD}, "no layer 'moistur' in a map; did you mean 'moisture'"),
        ({"land": GOOD[:5]}, "land must be a square array"),
        ({"land": GOOD[:5, :5]}, "from 10 to 2,000, got 5"),
        ({"land": np.zeros((2001, 2001), np.uint8)}, "at most 2,000 x 2,000"),
        ({"land": spoilt(6)}, r"land must be whole numbers from 0 to 5 \(rocks, .*\), got 6.0 at x 4, y 7"),
        ({"land": spoilt(1.5)}, "land must be whole numbers"),
        ({"land": GOOD, "trees": spoilt(4)}, "trees must be whole numbers from 0 to 3, got 4.0 at x 4, y 7"),
        ({"land": GOOD, "elevation": spoilt(890)}, "elevation must be numbers from 0 to 1, got 890.0 at x 4, y 7"),
        ({"land": GOOD, "moisture": spoilt(float("nan"))}, "moisture must be numbers from 0 to 1, got nan"),
        ({"land": GOOD, "wind_x": spoilt(-101)}, "wind_x must be numbers from -100 to 100"),
        ({"land": GOOD, "wind_y": np.zeros((3, 3))}, r"wind_y must be numbers of shape \(12, 12\)"),
        ({"land": GOOD, "building": np.full((12, 12), "x")}, "building must be numbers"),
        ({"land": GOOD, "trees": np.array([{}])}, "is not a map"),
        ({"land": spoilt(WATER), "trees": np.ones((12, 12))}, "trees must be 0 on water, got 1 at x 4, y 7"),
        ({"land": spoilt(WATER), "burnable": np.ones((12, 12))}, "water cannot burn"),
        ({"land": GOOD, "relief_m": -5.0}, "relief_m must be a number of metres"),
        ({"land": GOOD, "cell_m": GOOD}, "cell_m must be a number of metres"),
    ],
)
def test_a_bad_map_gets_one_line_that_names_the_layer(tmp_path: Path, layers: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "map.npz", **layers)
    with pytest.raises(UserError, match=message) as error:
        load_map(tmp_path / "map.npz")
    assert "\n" not in str(error.value)
    assert "map.npz" in str(error.value)


@pytest.mark.heavy
def test_what_is_no_map_file_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04 and nothing more")
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "list.yaml").write_text("- 1\n- 2\n")
    (tmp_path / "odd.yaml").write_text("land: [unclosed")
    (tmp_path / "away.yaml").write_text("land: ../land.npy")
    (tmp_path / "gone.yaml").write_text("land: gone.npy")
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "text.yaml").write_text("land: text.npy")
    (tmp_path / "long.yaml").write_text("#" * 200_000)
    (tmp_path / "deep.yaml").write_text("[" * 20_000)
    (tmp_path / "date.yaml").write_text("land: 2020-13-45")
    for name, message in {
        "torn.npz": "is not a map",
        "text.npz": "is not a map",
        "empty.npz": "is not a map",
        "none.npz": "cannot read the map",
        "list.yaml": "expected layers and file names",
        "odd.yaml": "is not YAML",
        "away.yaml": "in the same folder",
        "gone.yaml": "cannot read the map",
        "text.yaml": "is not a map",
        "long.yaml": "at most 100,000 bytes",
        "deep.yaml": "is not",
        "date.yaml": "is not",
        "map.tif": "ending in .npz",
    }.items():
        with pytest.raises(UserError, match=message) as error:
            load_map(tmp_path / name)
        assert "\n" not in str(error.value), name


def test_a_damaged_map_gets_one_line(tmp_path: Path) -> None:
    terrain, refused = generate(12, 0), 0
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "map.npz", land=terrain.land, moisture=terrain.moisture)
        whole, rng = (tmp_path / "map.npz").read_bytes(), np.random.default_rng(0)
        for _ in range(150):
            damaged = bytearray(whole)
            for place in rng.integers(len(whole), size=3):
                damaged[place] = rng.integers(256)
            (tmp_path / "damaged.npz").write_bytes(damaged)
            try:
                load_map(tmp_path / "damaged.npz")
            except UserError as error:
                refused += 1
                assert "\n" not in str(error)
    assert refused > 100


def test_saving_where_nothing_can_be_saved_gets_one_line(tmp_path: Path) -> None:
    terrain = generate(10, 0)
    with pytest.raises(UserError, match="saved as .npz, got 'map.png'"):
        save_map(terrain, tmp_path / "map.png")
    with pytest.raises(UserError, match="cannot write the map"):
        save_map(terrain, tmp_path / "none" / "map.npz")
