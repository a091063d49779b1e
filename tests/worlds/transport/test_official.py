"""The loader of the TDW-MAT data: what it reads, and what it refuses with one line."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.worlds.transport import official
from teamworld.worlds.transport.generator import generate_instance
from teamworld.worlds.transport.rasters import BODY, build_rasters, cell_of, connected, is_near, standing_room
from teamworld.worlds.transport.scene import Instance, Pose, rest_height
from teamworld.worlds.transport.starting_places import reached_from, walkable_floor
from teamworld.worlds.transport.world import make
from tests.worlds.transport import files, slow_rasters
from tests.worlds.transport.data import FOLDER, instances, needs_data

#: Metres at which an agent can take something, as the crow flies (``transport_challenge_multi_agent``).
GRASP = 2.0
#: Cells of the reference maps that a wall, or the outside, was found at, by scene (Magnebot, ``data/scenes``).
WALL_HITS = {"2a": 206, "5a": 181}
#: Metres from a sample within which a wall counts: the radius of the body that probed.
SAMPLE_BODY = 0.245


@pytest.fixture(scope="module")
def instance() -> Instance:
    return generate_instance(3, "food", "high")


def written(folder: Path, instance: Instance) -> Path:
    return files.write(folder, files.content(instance))


def refusal(folder: Path, number: int = 0) -> str:
    """Return the one line with which an episode is refused."""
    with pytest.raises(UserError) as caught:
        official.read_instance(folder, "test", number)
    line = str(caught.value)
    assert "\n" not in line
    assert str(folder) in line
    return line


# What is read.


def test_an_instance_is_read_back(tmp_path: Path, instance: Instance) -> None:
    read = official.read_instance(written(tmp_path, instance), "train", 5)
    assert (read.name, read.task, read.capacity, read.plan.name) == ("train-5", "food", "low", "7a_1")
    assert (read.items, read.goals, read.bed, read.starts) == (
        instance.items, instance.goals, instance.bed, instance.starts,
    )  # fmt: skip
    plan = read.plan
    assert (plan.bounds, plan.rooms, plan.furniture) == (
        instance.plan.bounds, instance.plan.rooms, instance.plan.furniture,
    )  # fmt: skip
    assert plan.wall_height == instance.plan.wall_height
    assert (plan.walls == instance.plan.walls).all()
    assert not plan.walls.flags.writeable
    assert plan.samples is not None
    assert (plan.samples.x0, plan.samples.z0, plan.samples.spacing) == (plan.bounds.x0, plan.bounds.z0, 0.49)
    assert plan.samples.is_wall.sum() == 1
    assert plan.samples.is_free.sum() == 31, "every second of 63, but the first"
    assert (read.rasters.is_blocked == build_rasters(plan, read.starts).is_blocked).all()


def test_episodes_of_the_other_task_have_the_same_items(tmp_path: Path, instance: Instance) -> None:
    stuff = generate_instance(3, "stuff", "high")
    read = official.read_instance(written(tmp_path, stuff), "test", 0)
    assert read.items == stuff.items
    assert [item.id for item in read.items] == [item.id for item in instance.items]
    assert {item.task for item in read.targets} == {"stuff"}


def test_episodes_are_listed_in_the_order_of_their_numbers(tmp_path: Path, instance: Instance) -> None:
    content = files.content(instance)
    content["episodes.json"].reverse()
    listed = official.list_episodes(files.write(tmp_path, content), "test")
    assert [episode.number for episode in listed] == list(range(24))
    assert [episode.capacity for episode in listed[:2]] == ["high", "low"]


def test_a_fingerprint_names_what_an_instance_holds(tmp_path: Path, instance: Instance) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    read = official.read_instance(written(tmp_path / "a", instance), "test", 0)
    again = official.read_instance(written(tmp_path / "b", instance), "test", 0)
    assert official.fingerprint(read) == official.fingerprint(again)
    seen = {official.fingerprint(read), official.fingerprint(instance)}
    for path, value in (
        (("episodes.json", 0, "agents", 0, "yaw"), 15.0),
        (("placements.json", files.PLACEMENT, "items", 0, "yaw"), 7.5),
        (("layout_7_1.json", "objects", 0, "y_bottom"), -0.001),
        (("scene_7.json", "walls", "rects_x0_z0_x1_z1", 0, 0), -20.0),
        (("scene_7.json", "grid049", "occupancy_by_layout", "1", 3, 3), -1),
    ):
        content = files.content(instance)
        holder, key = files.place(content, path)
        holder[key] = value
        folder = tmp_path / f"changed-{len(seen)}"
        folder.mkdir()
        seen.add(official.fingerprint(official.read_instance(files.write(folder, content), "test", 0)))
    assert len(seen) == 7
    assert all(name.startswith("sha256:") and len(name) == 23 for name in seen)


# What is refused.


def test_folders_that_are_none(tmp_path: Path, instance: Instance) -> None:
    assert "no such folder" in refusal(tmp_path / "none")
    assert "no such file" in refusal(tmp_path)
    file = tmp_path / "file"
    file.write_text("{}")
    assert "no such folder" in refusal(file)
    (tmp_path / "episodes.json").mkdir()
    assert "expected a file" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["episodes.json", "placements.json", "scene_7.json", "layout_7_1.json"])
def test_missing_and_damaged_files(tmp_path: Path, instance: Instance, name: str) -> None:
    path = written(tmp_path, instance) / name
    text = path.read_text()
    for damaged in (
        text[: len(text) // 2],
        text[:-1],
        "",
        "null",
        "[1, 2",
        "\xff\xfe",
        "[" * 100_000,
        '"text"',
        "1e999",
    ):
        path.write_bytes(damaged.encode("latin1"))
        official.read_floor_plan.cache_clear()
        assert name in refusal(tmp_path)
    path.unlink()
    assert f"{name}: no such file" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["episodes.json", "placements.json", "scene_7.json", "layout_7_1.json"])
def test_links_out_of_the_folder(tmp_path: Path, instance: Instance, name: str) -> None:
    (tmp_path / "data").mkdir()
    path = written(tmp_path / "data", instance) / name
    path.rename(tmp_path / "elsewhere.json")
    for target in (tmp_path / "elsewhere.json", Path("/dev/zero"), path):  # the last leads to itself
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        assert name in refusal(tmp_path / "data")
    path.unlink()
    os.mkfifo(path)
    assert "expected a file" in refusal(tmp_path / "data")


def test_a_linked_folder_is_read(tmp_path: Path, instance: Instance) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(written(tmp_path / "data", instance))
    assert official.read_instance(tmp_path / "link", "test", 0).items == instance.items


EPISODE, ITEM = ("episodes.json", 0), ("placements.json", files.PLACEMENT, "items", 0)
PIECE, REGION = ("layout_7_1.json", "objects", 0), ("scene_7.json", "regions", 0)

#: Where a value is changed, to what, and what the refusal says.
WRONG: Sequence[tuple[Sequence[str | int], object, str]] = (
    ((*EPISODE, "split"), "validation", "split"),
    ((*EPISODE, "split"), "train", "expected 24 episodes of test"),
    ((*EPISODE, "index"), 24, "index"),
    ((*EPISODE, "index"), 1, "expected 24 episodes of test"),
    ((*EPISODE, "index"), 0.5, "index"),
    ((*EPISODE, "task"), "books", "task"),
    ((*EPISODE, "capacity"), "medium", "capacity"),
    ((*EPISODE, "placement"), "9z_0_0", "has the placement"),
    ((*EPISODE, "goal_description"), {"apple": 10}, "expected the goal"),
    ((*EPISODE, "goal_description"), {"apple": "ten"}, "goal_description"),
    ((*EPISODE, "target_ids"), [101], "but the goal has it as"),
    ((*EPISODE, "target_ids", 0), 999_999, "things of the task"),
    ((*EPISODE, "container_ids", 0), None, "container_ids"),
    ((*EPISODE, "goal", "x"), 3.0, "goal at the bed"),
    ((*EPISODE, "goal", "region"), 99, "bedroom of region 99"),
    ((*EPISODE, "agents"), [], "agents"),
    ((*EPISODE, "agents", 0, "x"), 49.0, "starts in the house"),
    ((*EPISODE, "agents", 0, "x"), "1.0", "agents"),
    (("placements.json", files.PLACEMENT, "scene"), "8b", "scene_8.json: no such file"),
    (("placements.json", files.PLACEMENT, "scene"), "../x", "scene"),
    (("placements.json", files.PLACEMENT, "layout"), 0, "layout_7_0.json: no such file"),
    ((*ITEM, "id"), -1, "id"),
    ((*ITEM, "name"), "bed", "expected a"),
    ((*ITEM, "kind"), "unrelated", "kind"),
    ((*ITEM, "x"), 1e9, "x"),
    ((*ITEM, "x"), None, "x"),
    ((*ITEM, "size"), [0.1, 0.1], "size"),
    ((*ITEM, "size"), [0.1, 0.0, 0.1], "size"),
    ((*ITEM, "y"), 2.9, "from the top of the"),
    ((*ITEM, "support"), 9_999, "furniture that is not there"),
    ((*ITEM, "region"), 99, "region 99"),
    ((*ITEM, "room_type_stored"), "Bedroom", "found it in"),
    ((*PIECE, "footprint"), [[0, 0], [1, 0], [1, 1]], "footprint"),
    ((*PIECE, "footprint"), [[0, 0], [1, 1], [1, 0], [0, 1]], "corners of"),
    ((*PIECE, "y_top"), -1.0, "begin below its top"),
    ((*PIECE, "kinematic"), "no", "kinematic"),
    ((*PIECE, "yaw"), 1000, "yaw"),
    (("layout_7_1.json", "layout"), 2, "expected scene 7, layout 1"),
    (("layout_7_1.json", "room_types", 0), "Porch", "expected rooms"),
    (("layout_7_1.json", "room_types", 0), "Bathroom", "room_types"),
    (("scene_7.json", "variant_used"), "7b", "expected scene 7a"),
    (("scene_7.json", "x_max"), -40.0, "x0 < x1"),
    (("scene_7.json", "walls", "height"), 0, "height"),
    (("scene_7.json", "walls", "rects_x0_z0_x1_z1"), [], "rects_x0_z0_x1_z1"),
    (("scene_7.json", "walls", "rects_x0_z0_x1_z1", 0), [1, 0, 0, 1], "x0 < x1"),
    ((*REGION, "id"), 1, "regions by id"),
    ((*REGION, "x_min"), 45.0, "x0 < x1"),
    ((*REGION, "type_by_layout"), ["Office"], "type of region 0"),
    (("scene_7.json", "grid049", "shape"), [9, 8], "occupancy of 9 x 8"),
    (("scene_7.json", "grid049", "cell"), 0, "cell"),
    (("scene_7.json", "grid049", "occupancy_by_layout"), {"0": []}, "occupancy of layout 1"),
    (("scene_7.json", "grid049", "occupancy_by_layout", "1", 0), [0], "occupancy of 9 x 7"),
    (("scene_7.json", "grid049", "occupancy_by_layout", "1", 0, 0), 2, "occupancy_by_layout"),
)


@pytest.mark.parametrize(("path", "value", "reason"), WRONG, ids=lambda part: str(part).replace(files.PLACEMENT, ""))
def test_what_does_not_fit(
    tmp_path: Path, instance: Instance, path: Sequence[str | int], value: object, reason: str
) -> None:
    content = files.content(instance)
    holder, key = files.place(content, path)
    holder[key] = value
    assert reason in refusal(files.write(tmp_path, content))


@pytest.mark.parametrize("path", [path for path, _, _ in WRONG if not isinstance(path[-1], int)], ids=str)
def test_what_is_left_out(tmp_path: Path, instance: Instance, path: Sequence[str | int]) -> None:
    content = files.content(instance)
    holder, key = files.place(content, path)
    del holder[key]
    if key == "yaw":  # has a default for starts, none for furniture
        assert path[0] != "episodes.json"
    assert str(key) in refusal(files.write(tmp_path, content)) or key == files.PLACEMENT


def twice(content: dict[str, Any]) -> None:
    items = content["placements.json"][files.PLACEMENT]["items"]
    items[1]["id"] = items[0]["id"]


def of_the_other_task(content: dict[str, Any]) -> None:
    for episode in content["episodes.json"]:
        episode["task"] = "stuff"


def as_container(content: dict[str, Any]) -> None:
    episode = content["episodes.json"][0]
    episode["container_ids"].append(episode["target_ids"].pop())


def two_beds(content: dict[str, Any]) -> None:
    content["layout_7_1.json"]["objects"][0]["category"] = "bed"


def no_bed(content: dict[str, Any]) -> None:
    for piece in content["layout_7_1.json"]["objects"]:
        piece["category"] = "table"


def no_names(content: dict[str, Any]) -> None:
    count = len(content["scene_7.json"]["regions"])
    content["layout_7_1.json"]["room_types"] = ["Porch"] * count
    for region in content["scene_7.json"]["regions"]:
        region["type_by_layout"] = ["Porch", "Porch"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (twice, "found one twice"),
        (of_the_other_task, "but the goal has it"),
        (as_container, "but the goal has it as container"),
        (two_beds, "expected one bed"),
        (no_bed, "expected one bed"),
        (no_names, "rooms with a name"),
    ],
)
def test_parts_that_do_not_fit_together(
    tmp_path: Path, instance: Instance, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    content = copy.deepcopy(files.content(instance))
    change(content)
    assert reason in refusal(files.write(tmp_path, content))


# The published data.


@needs_data
@pytest.mark.heavy
def test_all_episodes_are_read() -> None:
    assert len(instances()) == 48
    assert [instance.name for instance in instances()[::24]] == ["official-0", "train-0"]
    groups = Counter((instance.task, instance.capacity) for instance in instances()[:24])
    assert set(groups.values()) == {6}
    for instance in instances():
        assert len(instance.targets) == 10
        assert len(instance.starts) == 2
        assert all(start.yaw == 0 for start in instance.starts)
    containers = [len(instance.containers) for instance in instances()]
    assert containers[:24] == [5, 2] * 12
    assert set(containers[24:]) == {1, 2, 4, 5}
    assert len({official.fingerprint(instance) for instance in instances()}) == 48


@needs_data
def test_goals_and_ids_are_as_stored() -> None:
    records = json.loads((FOLDER / "episodes.json").read_text(encoding="utf-8"))
    names = {"test": "official", "train": "train"}
    stored = {f"{names[record['split']]}-{record['index']}": record for record in records}
    for instance in instances():
        record = stored[instance.name]
        assert dict(instance.goals) == record["goal_description"]
        assert {item.id for item in instance.targets} == set(record["target_ids"])
        assert {item.id for item in instance.containers} == set(record["container_ids"])
        assert Counter(item.name for item in instance.containers) == record["container_names"]
        assert instance.plan.rooms[instance.bed.room].name == record["goal"]["room"]
        assert [room.name for room in instance.plan.rooms if room.is_named] == record["rooms"]


@needs_data
def test_all_stored_objects_are_in_the_recorded_room() -> None:
    """The loader refuses what is not; here each is counted once for its placement."""
    placements = official._placements(FOLDER)  # the stored regions, which instances do not keep
    count = 0
    for placement in placements.values():
        plan = official.read_floor_plan(FOLDER, placement.scene, placement.layout)
        for item in placement.items:
            room = plan.room_at(item.x, item.z)
            assert (room.number, room.kind) == (item.region, item.room_type_stored)
            count += 1
    assert count == 645


@needs_data
@pytest.mark.heavy
def test_things_rest_on_what_they_were_dropped_on() -> None:
    for instance in instances():
        for item in instance.items:
            piece = None if item.support is None else instance.plan.furniture[item.support]
            assert item.y == rest_height(piece)
            if piece is not None:
                assert piece.category in ("table", "chair", "sofa")
                is_inside = slow_rasters.is_inside(piece.corners, item.x, item.z)
                assert is_inside or slow_rasters.distance_to_outline(piece.corners, item.x, item.z) < 0.05


@needs_data
@pytest.mark.parametrize("scene", sorted(WALL_HITS))
@pytest.mark.parametrize("layout", [0, 1, 2])
def test_walls_reproduce_the_cells_of_the_reference_maps(scene: str, layout: int) -> None:
    """A sample is marked if a wall is near, or if it is outside of the walls.

    One marked sample of 5a, at the end of a wall, is 6 mm too far; walls are measured to 3 cm.
    """
    plan = official.read_floor_plan(FOLDER, scene, layout)
    samples = plan.samples
    assert samples is not None
    rasters = build_rasters(replace(plan, furniture=()))
    inside = connected(~rasters.is_wall, cell_of(rasters, *plan.rooms[0].box.center))
    hits, far = 0, []
    for i, j in np.ndindex(samples.is_wall.shape):
        x, z = samples.x0 + i * samples.spacing, samples.z0 + j * samples.spacing
        gap = slow_rasters.wall_distance(plan.walls.tolist(), x, z)
        if gap <= SAMPLE_BODY:
            hits += 1
            assert samples.is_wall[i, j], "a wall that is none"
        elif samples.is_wall[i, j] and inside[cell_of(rasters, x, z)]:
            far.append(gap)
    assert hits == WALL_HITS[scene]
    assert far == pytest.approx([0.2507] if scene == "5a" else [], abs=1e-4)


@needs_data
@pytest.mark.heavy
def test_starts_are_free_and_everything_can_be_reached() -> None:
    for instance in instances():
        plan, rasters = instance.plan, instance.rasters
        is_free = standing_room(plan, rasters, BODY)
        assert all(is_free[cell_of(rasters, start.x, start.z)] for start in instance.starts), instance.name
        for start in instance.starts:
            is_reached = reached_from(rasters, walkable_floor(plan, rasters, instance.items), start)
            for item in (*instance.targets, *instance.containers):
                assert is_near(is_reached, rasters, item.x, item.z, GRASP), (instance.name, item)
            assert is_near(is_reached, rasters, instance.bed.x, instance.bed.z, GRASP), instance.name
            edges = (is_reached[0], is_reached[-1], is_reached[:, 0], is_reached[:, -1])
            assert not any(edge.any() for edge in edges), f"{instance.name}: one can leave the house"


@needs_data
def test_bodies_at_starts_touch_no_box() -> None:
    """Without the rasters: a disc of 0.2 m at the exact start, against the walls and the cells that stay blocked."""
    for instance in instances():
        rasters = instance.rasters
        blocked = np.argwhere(rasters.is_blocked)
        x, z = rasters.x0 + rasters.cell * (blocked[:, 0] + 0.5), rasters.z0 + rasters.cell * (blocked[:, 1] + 0.5)
        for start in instance.starts:
            assert slow_rasters.wall_distance(instance.plan.walls.tolist(), start.x, start.z) >= BODY
            assert np.hypot(x - start.x, z - start.z).min() >= BODY


@needs_data
def test_carving_frees_starts_inside_of_boxes() -> None:
    """An L-shaped sofa is stored as a box, in which agents of the benchmark start."""
    boxed = {
        instance.name
        for instance in instances()
        for start in instance.starts
        if any(instance.plan.furniture[piece].top > 0.12 for piece in covering(instance, start))
    }
    assert boxed >= {"official-5", "official-17"}


@needs_data
@pytest.mark.parametrize("level", ["official-0", "official-5"])
def test_without_carving_boxes_are_whole(level: str) -> None:
    carved, whole = (
        make(level, 0, 100, {"data": str(FOLDER), "carving": carving}).instance for carving in (True, False)
    )
    assert (whole.rasters.is_blocked | ~carved.rasters.is_blocked).all()
    assert whole.rasters.is_blocked.sum() > carved.rasters.is_blocked.sum()
    assert whole.plan.samples is None


def covering(instance: Instance, start: Pose) -> list[int]:
    return slow_rasters.covering(instance.plan.furniture, start.x, start.z)
