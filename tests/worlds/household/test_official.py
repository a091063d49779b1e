"""The loader of the C-WAH data: what it reads, and what it refuses with one line and nothing run."""

from __future__ import annotations

import collections
import copy
import io
import json
import math
import pickle
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.household.homes import official_episodes, safe_files
from teamworld.worlds.household.homes.home import Need
from tests.worlds.household import files
from tests.worlds.household.data import FOLDER, needs_data
from tests.worlds.household.homes import (
    APPLE,
    CRATE,
    CUPCAKE,
    DOOR,
    FRIDGE,
    KITCHEN,
    LIVING,
    PLATE,
    TABLE,
    flat,
    tea,
)
from tests.worlds.household.recordings import published, runs

Change = Callable[[dict[str, Any]], Any]


def written(folder: Path, value: object, name: str = "episode.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def pickled(folder: Path, value: object, protocol: int = 4) -> Path:
    path = folder / "test_env_set_help.pik"
    path.write_bytes(pickle.dumps(value, protocol))
    return path


def refusal(path: Path, read: Callable[[Path], object] = official_episodes.episodes) -> str:
    """Return the one line with which a file is refused."""
    with pytest.raises(UserError) as caught:
        read(path)
    line = str(caught.value)
    assert "\n" not in line
    assert str(path.name) in line or "index.json" in line
    return line


# What is read.


def test_an_episode_is_read_back(tmp_path: Path) -> None:
    read, episode = official_episodes.episode(written(tmp_path, files.neutral(tea()))), tea()
    assert (read.name, read.task, read.steps) == ("task07_read_book", "read_book", 250)
    assert (read.needs, read.starts) == (episode.needs, episode.starts)
    assert read.recorded == (((0.5, 1.25),), ((0.5, 1.25),))
    home = read.home
    assert home.name == "apartment_3"
    assert (home.nodes, home.rooms, home.opened) == (flat().nodes, flat().rooms, flat().opened)
    assert home.doors == flat().doors
    assert home.parent == {**flat().parent}
    assert home.room == flat().room


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_an_original_pickle_is_read_like_the_neutral_file(tmp_path: Path, protocol: int) -> None:
    neutral = official_episodes.episode(written(tmp_path, files.neutral(tea())))
    (read,) = official_episodes.episodes(pickled(tmp_path, [files.original(tea())], protocol))
    assert read.recorded == ()
    assert (read.home, read.needs, read.starts, read.name) == (
        neutral.home,
        neutral.needs,
        neutral.starts,
        neutral.name,
    )


def test_a_pickle_may_hold_one_record_sets_and_other_mappings(tmp_path: Path) -> None:
    record = files.original(tea(), level=frozenset({1}), total=collections.defaultdict(int, {"a": 1}), tags={"x", "y"})
    for protocol in (0, 2, 4):
        assert (
            official_episodes.episode(pickled(tmp_path, collections.OrderedDict(record), protocol)).needs == tea().needs
        )


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_numbers_of_numpy_are_read_without_it(tmp_path: Path, protocol: int) -> None:
    record = files.original(tea(), task_id=np.int64(12), env_id=np.int16(6), level=np.bool_(True))
    for node in record["init_graph"]["nodes"]:
        node["bounding_box"]["size"] = [np.float64(length) for length in node["bounding_box"]["size"]]
        node["bounding_box"]["center"] = [np.dtype(">f8").type(length) for length in node["bounding_box"]["center"]]
    read = official_episodes.episode(pickled(tmp_path, record, protocol))
    assert (read.name, read.home.name) == ("task12_read_book", "apartment_6")
    assert read.home.nodes == flat().nodes
    assert type(read.home.nodes[TABLE].box.width) is float


def test_numbers_of_numpy_in_the_other_byte_order(tmp_path: Path) -> None:
    kind = b"cnumpy\ndtype\n(X\x02\x00\x00\x00i4K\x00K\x01tR"
    old = kind + b"(K\x03X\x01\x00\x00\x00>NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    number = b"cnumpy.core.multiarray\nscalar\n(" + old + b"C\x04" + struct.pack(">i", 12) + b"tR"
    whole = pickle.dumps(files.original(tea(), task_id=999), 2).replace(pickle.dumps(999, 2)[2:-1], number)
    path = tmp_path / "one.pkl"
    path.write_bytes(whole)
    assert official_episodes.episode(path).name == "task12_read_book"


def test_of_several_parents_one_is_taken_so_that_they_are_a_tree(tmp_path: Path) -> None:
    whole = files.neutral(tea())
    whole["graph"]["edges"] += [
        {"from": CUPCAKE, "relation": "ON", "to": TABLE},  # and on the plate: furniture counts
        {"from": PLATE, "relation": "ON", "to": CUPCAKE},  # which lies higher
        {"from": APPLE, "relation": "ON", "to": TABLE},  # while inside the fridge
        {"from": APPLE, "relation": "FACING", "to": TABLE},
        {"from": APPLE, "relation": "ON", "to": TABLE},  # twice
    ]
    parent = official_episodes.episode(written(tmp_path, whole)).home.parent
    assert parent[CUPCAKE] == parent[PLATE] == ("ON", TABLE)
    assert parent[APPLE] == ("INSIDE", FRIDGE)


def test_contents_without_an_edge_to_their_room_are_in_that_of_their_container(tmp_path: Path) -> None:
    whole = files.neutral(tea())
    whole["graph"]["edges"] = [
        edge for edge in whole["graph"]["edges"] if (edge["from"], edge["to"]) != (APPLE, KITCHEN)
    ]
    assert official_episodes.episode(written(tmp_path, whole)).home.room[APPLE] == KITCHEN


def test_the_jamb_tells_how_a_square_door_lies(tmp_path: Path) -> None:
    whole = files.neutral(tea())
    nodes = {node["id"]: node for node in whole["graph"]["nodes"]}
    nodes[DOOR]["bbox_size"] = [0.93, 2, 0.93]
    assert official_episodes.episode(written(tmp_path, whole)).home.doors[0].across_x
    whole["graph"]["nodes"].append({**nodes[DOOR], "id": 99, "class_name": "doorjamb", "bbox_size": [0.93, 2, 0.12]})
    whole["graph"]["edges"].append({"from": 99, "relation": "INSIDE", "to": KITCHEN})
    assert not official_episodes.episode(written(tmp_path, whole)).home.doors[0].across_x


def test_a_folder_is_read_in_the_order_of_its_index(tmp_path: Path) -> None:
    for number in (4, 2):
        written(tmp_path, files.neutral(tea(), task_id=number), f"{number}.json")
    written(tmp_path, {"episodes": [{"file": "4.json"}, {"file": "2.json"}]}, "index.json")
    assert [episode.name for episode in official_episodes.episodes(tmp_path)] == [
        "task04_read_book",
        "task02_read_book",
    ]


# What is refused.


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "none.json")
    assert "no such file" in refusal(tmp_path / "none.pik")
    assert "no such file" in refusal(tmp_path / "folder")
    assert "index.json, found none" in refusal(tmp_path)
    written(tmp_path, {"episodes": [{"file": "../../secret.json"}]}, "index.json")
    assert "a file of the folder" in refusal(tmp_path)
    (tmp_path / "folder.json").mkdir()
    assert "cannot be read" in refusal(tmp_path / "folder.json", official_episodes.episode)


@pytest.mark.parametrize(
    "text", ["", "{", "[1, 2", "\xff\xfe", "[" * 100_000, '"episode"', "[]", "{}", "null", "1e999"]
)
def test_damaged_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "episode.json"
    path.write_bytes(text.encode("latin1"))
    assert re.search("xpected|required", refusal(path))


def test_one_episode_is_not_several(tmp_path: Path) -> None:
    assert "found 2" in refusal(pickled(tmp_path, [files.original(tea())] * 2), official_episodes.episode)
    assert "found none" in refusal(pickled(tmp_path, []))


def nodes(whole: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {node["id"]: node for node in whole["graph"]["nodes"]}


def edge(start: object, relation: object, end: object) -> Change:
    return lambda whole: whole["graph"]["edges"].append({"from": start, "relation": relation, "to": end})


def without_doors(whole: dict[str, Any]) -> None:
    whole["graph"]["edges"] = [edge for edge in whole["graph"]["edges"] if edge["relation"] != "BETWEEN"]


def goal(**changes: object) -> Change:
    return lambda whole: whole["goal"][0].update(changes)


FAULTS: dict[str, tuple[Change, str]] = {
    "format": (lambda whole: whole.update(format="cwah-episode/9"), "cwah-episode/9"),
    "field": (lambda whole: whole.pop("graph"), "missing required field `graph`"),
    "list": (lambda whole: whole["graph"].update(nodes=3), "Expected `array`"),
    "text": (lambda whole: nodes(whole)[TABLE].update(class_name=3), "Expected `str`"),
    "whole": (lambda whole: nodes(whole)[TABLE].update(id="72"), "Expected `int`"),
    "truth": (lambda whole: nodes(whole)[TABLE].update(id=True), "Expected `int`"),
    "agent": (lambda whole: nodes(whole)[TABLE].update(id=2), ">= 11"),
    "twice": (lambda whole: whole["graph"]["nodes"].append(nodes(whole)[TABLE]), "every id once"),
    "number": (lambda whole: nodes(whole)[TABLE].update(bbox_center=[0, "1", 2]), "Expected `float`"),
    "nan": (lambda whole: nodes(whole)[TABLE].update(bbox_center=[0, float("nan"), 2]), "damage"),
    "infinite": (lambda whole: nodes(whole)[TABLE].update(bbox_size=[1, float("inf"), 2]), "damage"),
    "flat": (lambda whole: nodes(whole)[TABLE].update(bbox_size=[1, 2]), "length 3"),
    "negative": (lambda whole: nodes(whole)[TABLE].update(bbox_size=[1, -2, 1]), "expected a size"),
    "lengths": (lambda whole: nodes(whole)[TABLE].update(bbox_center=[0, 1e7, 2]), "lengths in metres"),
    "far": (lambda whole: nodes(whole)[KITCHEN].update(bbox_center=[5000, 1, 1]), "within 100 m"),
    "tiny": (lambda whole: nodes(whole)[KITCHEN].update(bbox_size=[1, 1, 1]), "rooms of 2 m"),
    "no rooms": (lambda whole: [node.update(category="Decor") for node in nodes(whole).values()], "expected rooms"),
    "dangling": (edge(APPLE, "ON", 4711), "node 4711, which is not in the graph"),
    "from nowhere": (edge(4711, "ON", APPLE), "node 4711, which is not in the graph"),
    "relation": (edge(APPLE, "UNDER", TABLE), "UNDER"),
    "no relation": (edge(APPLE, [], TABLE), "Expected `str`"),
    "two rooms": (edge(APPLE, "INSIDE", LIVING), "in one room, found it in 2"),
    "two containers": (edge(APPLE, "INSIDE", CRATE), "lies in 2 containers"),
    "in itself": (edge(CRATE, "INSIDE", CRATE), "in or on itself"),
    "circle": (edge(FRIDGE, "INSIDE", APPLE), "in or on itself"),
    "lost": (
        lambda whole: whole["graph"]["edges"].__setitem__(slice(None), []),
        "in one room, found it in 0",
    ),
    "door": (edge(DOOR, "BETWEEN", TABLE), "between two rooms"),
    "no agents": (lambda whole: whole.update(agents=[]), "1 to 10 agents"),
    "start": (lambda whole: whole["agents"][1].update(start_room_id=TABLE), "a room to start in"),
    "no goal": (lambda whole: whole.update(goal=[]), "expected a goal"),
    "no steps": (lambda whole: whole.update(max_steps=0), "expected a goal and steps"),
    "no target": (goal(target_id=4711), "node 4711, is not in the graph"),
    "other target": (goal(target_class="desk"), "expected desk"),
    "none": (goal(count=0), "expected a number"),
    "verb": (goal(relation="UNDER"), "UNDER"),
    "no surface": (goal(target_id=FRIDGE, target_class="fridge"), "no surface"),
    "no container": (goal(relation="INSIDE"), "does not open"),
    "unknown class": (goal(object_class="aple"), "'aple', which no node is; did you mean 'apple'?"),
    "too many": (goal(count=2), "2 of 'apple', but only 1 of 1 can be fetched"),
    "twice the last": (lambda whole: whole["goal"].append(whole["goal"][0]), "2 of 'apple'"),
    "not grabbable": (lambda whole: nodes(whole)[APPLE].update(properties=[]), "only 0 of 1"),
    "shut in": (lambda whole: nodes(whole)[FRIDGE].update(properties=["CONTAINERS"]), "only 0 of 1"),
    "walled off": (without_doors, "no doors lead from the start to the target"),
    "met": (lambda whole: whole.update(goal=[{**whole["goal"][0], "object_class": "box"}]), "met at the start"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_an_episode(tmp_path: Path, fault: str) -> None:
    whole = files.neutral(tea())
    change, expected = FAULTS[fault]
    change(whole)
    assert expected in refusal(written(tmp_path, whole))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"task_goal": {0: {"on_apple_24": 1}, 1: {}}}, "one goal for all"),
        ({"task_goal": {1: {}}}, "agent 0"),
        ({"task_goal": {0: {"holds_apple_1": 1}}}, "such as 'on_apple_268'"),
        ({"task_goal": {0: {"on_apple": 1}}}, "such as 'on_apple_268'"),
        ({"task_goal": {0: {"on_apple_24": 0}}}, "expected a goal"),
        ({"task_goal": {0: {"on_apple_" + "9" * 5000: 1}}}, "such as 'on_apple_268'"),
        ({"task_goal": [{}]}, "Expected `object`, got `array`"),
        ({"init_rooms": ["kitchen", "attic"]}, "expected a room, found 'attic'"),
        ({"init_rooms": [0, 0]}, "Expected `str`"),
        ({"init_graph": None}, "Expected `object`"),
    ],
)
def test_faults_of_an_original_record(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    assert expected in refusal(pickled(tmp_path, [files.original(tea(), **changes)]))


ran: list[str] = []


class Malicious:
    """Calls a function when it is read."""

    def __init__(self, *called: Any) -> None:
        self.called = called

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.called[0], self.called[1:]


class Custom:
    """Has a state that is set when it is read."""

    def __init__(self) -> None:
        self.name = "x"


def mark(text: str) -> None:
    ran.append(text)


ATTACKS: dict[str, bytes] = {
    **{f"function {protocol}": pickle.dumps(Malicious(mark, "ran"), protocol) for protocol in range(6)},
    **{f"class {protocol}": pickle.dumps([Custom()], protocol) for protocol in range(6)},
    "eval": pickle.dumps(Malicious(eval, "ran.append(1)")),
    "getattr": pickle.dumps(Malicious(getattr, "", "join")),
    "path": b"cos\nsystem\n(S'true'\ntR.",
    "inner name": b"\x80\x04\x8c\x0bcollections\x8c\x17OrderedDict.__subclasses\x93.",
    "old object": b"(S'true'\nios\nsystem\n.",
    "persistent": b"Pos.system\n.",
    "extension": b"\x80\x02\x82\x01.",
    "new object": b"\x80\x02ccollections\nOrderedDict\n)\x81.",
    "changed function": b"\x80\x02ccollections\nOrderedDict\n}X\x08\x00\x00\x00__call__K\x01sb.",
    "changed slots": b"\x80\x02ccollections\nOrderedDict\nN}X\x05\x00\x00\x00_makeK\x01s\x86b.",
    "calls a number": b"\x80\x02K\x01K\x01\x85R.",
    "kind": b"cnumpy\ndtype\n(X\x02\x00\x00\x00O8K\x00K\x01tR.",
    "object for a number": b"cnumpy.core.multiarray\nscalar\n(K\x01K\x02tR.",
    "large memo": b"\x80\x02]r\xff\xff\xff\xff.",
    "negative memo": b"]p-5\n.",
    "long promise": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x00ab.",
    "long number": b"\x80\x02\x8b\xff\xff\xff\x7f.",
    "unhashable": b"\x80\x02}](K\x01s.",
    "deep": b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b".",
    "itself": b"\x80\x02]q\x00h\x00a.",
    "empty": b"",
    "text": b"hello",
    "no end": pickle.dumps(list(range(50)))[:-1],
    "after the end": b"N.cos\nsystem\n",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_pickle_is_run(tmp_path: Path, attack: str) -> None:
    path = tmp_path / "evil.pik"
    path.write_bytes(ATTACKS[attack])
    assert re.search("xpected|required", refusal(path))
    assert not ran


def test_the_attacks_would_work_on_an_open_reader() -> None:
    pickle.load(io.BytesIO(ATTACKS["function 4"]))
    assert ran.pop() == "ran"


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02}N" + b"\x85" * 200_000 + b"Ns.",  # a key whose hash would end the process
        b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
        b"\x80\x02N" + b"(N" * 50_000 + b"t" * 50_000 + b".",
    ],
)
def test_a_pickle_nested_without_end_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "deep.pik"
    path.write_bytes(data)
    assert "nested more than 100 deep" in refusal(path)


def test_what_is_nested_a_little_is_read_in_every_protocol(tmp_path: Path) -> None:
    value = {"a": [1, 2.5, None, "x", (1, (2, (3,))), {"b": {1, 2}}], "c": frozenset([1])}
    value["again"] = value["a"]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert safe_files.read_pickle(pickled(tmp_path, value, protocol)) == value


def test_stand_ins_stay_as_they_were(tmp_path: Path) -> None:
    for attack in ("changed function", "changed slots"):
        path = tmp_path / "evil.pik"
        path.write_bytes(ATTACKS[attack])
        refusal(path)
    assert (
        official_episodes.episode(pickled(tmp_path, collections.OrderedDict(files.original(tea())))).needs
        == tea().needs
    )


def test_refusals_name_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "evil.pik"
    path.write_bytes(ATTACKS["path"])
    assert "the class or function os.system; nothing was run" in refusal(path)


WHOLE = pickle.dumps([files.original(tea())], 4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=0, max_size=4), st.integers(0, 40))
def test_a_damaged_pickle_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes, lost: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.pik"
    path.write_bytes(WHOLE[:at] + noise + WHOLE[at + lost :])
    try:
        official_episodes.episodes(path)
    except UserError as error:
        assert "\n" not in str(error)


VALUES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_changed_field_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = copy.deepcopy(files.neutral(tea()))
    place: Any = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.integers(0, 3)) == 0:
            place[key] = data.draw(VALUES)
            break
        place = place[key]
    path = tmp_path_factory.getbasetemp() / "changed.json"
    path.write_text(json.dumps(whole))
    try:
        official_episodes.episodes(path)
    except UserError as error:
        assert "\n" not in str(error)


# The data.


@needs_data
def test_the_ten_episodes() -> None:
    """Check D1."""
    found = published()
    assert [int(episode.name[4:6]) for episode in found] == list(official_episodes.PUBLISHED)
    for episode in found:
        home = episode.home
        assert 337 <= len(home.nodes) <= 365
        assert home.name in ("apartment_3", "apartment_6")
        assert len(home.rooms) == 4
        assert len(home.doors) == 3
        assert len(home.searched) == (14 if home.name == "apartment_3" else 15)
        assert not home.opened & set(home.searched)
        assert all(node in home.nodes and parent in home.nodes for node, (_, parent) in home.parent.items())
        assert set(home.parent) == set(home.nodes) - set(home.rooms)
        assert len(episode.starts) == len(episode.recorded) == 2
        assert 3 <= episode.units <= 5
        assert episode.steps == 250
        for need in episode.needs:
            lying = [node for node, place in home.parent.items() if place == (need.relation, need.target)]
            assert not [node for node in lying if home.nodes[node].name == need.name]
    assert found[0].needs[-1] == Need("ON", "cupcake", 268, 2)


@needs_data
def test_the_recorded_runs() -> None:
    symbolic, visual = runs(), runs(visual=True)
    assert (len(symbolic), len(visual)) == (15, 3)
    assert sum(len(step.agents) for _, _, trace in symbolic for step in trace.steps) == 2044
    assert sum(len(step.agents) for _, _, trace in visual for step in trace.steps) == 362
    assert all(trace.finished != name.endswith("unfinished") for name, _, trace in (*symbolic, *visual))


def test_a_door_has_a_leaf_where_the_file_says_how_it_stands(tmp_path: Path) -> None:
    whole = files.neutral(tea())
    assert not official_episodes.episode(written(tmp_path, whole)).home.leaves
    door = next(node for node in whole["graph"]["nodes"] if node["id"] == DOOR)
    door |= {"position": [3.0, 1.0, -0.4], "rotation": [0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)]}  # 90 degrees
    home = official_episodes.episode(written(tmp_path, whole)).home
    assert home.leaves == {DOOR: pytest.approx((3.0, -0.4, 3.0 + official_episodes.LEAF, -0.4))}


@needs_data
def test_a_whole_episode_of_the_data_reads_the_same_from_a_pickle(tmp_path: Path) -> None:
    path = FOLDER / json.loads((FOLDER / "index.json").read_text())["episodes"][1]["file"]
    episode = official_episodes.episode(path)
    whole = json.loads(path.read_text())
    record = files.original(episode, task_id=whole["task_id"], env_id=whole["env_id"])
    poses = {node["id"]: {at: node[at] for at in ("position", "rotation")} for node in whole["graph"]["nodes"]}
    for node in record["init_graph"]["nodes"]:
        node["obj_transform"] = poses[node["id"]]
    (read,) = official_episodes.episodes(pickled(tmp_path, [record]))
    assert (read.home, read.needs, read.starts, read.name) == (
        episode.home,
        episode.needs,
        episode.starts,
        episode.name,
    )
