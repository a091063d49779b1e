"""The graph: identities, unions, and what is written of it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from typing import Any

import msgspec
import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.memory.contract import MemoryDelta, Reflection, TaskOutcome
from teamworld.memory.graph import UNIVERSE, build, name, to_graphml, to_json
from tests.memory.samples import delta, instance, runs

DONE = TaskOutcome(task="block_1", goal="block_1", success=True, end=30, order=1)
OPEN = TaskOutcome(task="block_2", goal="block_2", success=False, end=None, order=None)
EXAMPLE = (
    delta(
        1,
        instance(agent="a", start=0, end=30),
        instance(agent="b", start=5, end=30, prototype="meet > push"),
        instance(agent="b", start=30, end=40, task="block_2", goal="block_2", success=False, progress=1),
        tasks=(DONE, OPEN),
        ticks=40,
    ),
    delta(2, instance(episode=2, success=False), tasks=(DONE,), completed=True, ticks=20),
)


def test_the_levels_and_their_attributes() -> None:
    graph = build(EXAMPLE)
    data = graph.nodes
    levels = Counter(level for _, level in data(data="level"))
    assert levels == {"universe": 1, "episode": 2, "task": 3, "prototype": 4, "instance": 4}
    root = data[UNIVERSE]
    assert (root["episodes"], root["completed"], root["completion_rate"]) == (2, 1, 0.5)
    assert (root["ticks_min"], root["ticks_mean"], root["ticks_max"]) == (20, 30.0, 40)
    assert root["tasks"]["block_1"] == {
        "goals": 2,
        "goals_done": 2,
        "end_min": 30,
        "end_mean": 30.0,
        "end_max": 30,
        "attempts": 3,
        "successes": 2,
        "rate": 2 / 3,
        "progress": 1.0,
        "duration_mean": 27.5,
        "duration_min": 25,
        "duration_max": 30,
    }
    assert data["episode", 1]["done"] == [["block_1", 30, 1]]
    assert data["episode", 1]["undone"] == ["block_2"]
    assert (data["task", 1, "block_1"]["success"], data["task", 1, "block_1"]["order"]) == (True, 1)
    assert data["task", 1, "block_2"]["end"] is None
    assert data["prototype", 1, "block_2", "push"]["successes"] == 0
    leaf = data["instance", 1, "block_1", "meet > push", "b", 5]
    assert (leaf["duration"], leaf["team"], leaf["agent"]) == (25, 1, "b")
    assert list(nx.shortest_path(graph, UNIVERSE, ("instance", 1, "block_1", "meet > push", "b", 5))) == [
        UNIVERSE,
        ("episode", 1),
        ("task", 1, "block_1"),
        ("prototype", 1, "block_1", "meet > push"),
        ("instance", 1, "block_1", "meet > push", "b", 5),
    ]


def test_a_class_is_done_when_all_its_goals_are() -> None:
    def outcome(number: int, end: int | None, order: int | None) -> TaskOutcome:
        return TaskOutcome(task="light", goal=f"block_{number}", success=end is not None, end=end, order=order)

    half = build([delta(1, tasks=(outcome(1, 9, 1), outcome(2, None, None)))]).nodes["task", 1, "light"]
    assert (half["success"], half["goals"], half["goals_done"], half["end"]) == (False, 2, 1, None)
    whole = build([delta(1, tasks=(outcome(1, 9, 1), outcome(2, 12, 3)))]).nodes["task", 1, "light"]
    assert (whole["success"], whole["goals_done"], whole["end"], whole["order"]) == (True, 2, 12, 3)


def test_a_goal_that_changed_its_class_counts_in_both() -> None:
    outcome = TaskOutcome(task="far", goal="block_1", success=True, end=9, order=1)
    graph = build([delta(1, instance(task="near"), tasks=(outcome,))])
    assert graph.nodes["task", 1, "far"]["success"]
    assert graph.nodes["task", 1, "near"]["success"]


def test_two_instances_with_one_identity_are_two_nodes() -> None:
    graph = build([delta(1, instance(end=0, success=False), instance(end=0, success=False), instance(end=9))])
    leaf = ("instance", 1, "block_1", "push", "a", 0)
    assert [node for node, level in graph.nodes(data="level") if level == "instance"] == [leaf, (*leaf, 2), (*leaf, 3)]


@pytest.mark.heavy
@given(runs())
def test_it_is_a_tree_of_four_levels_below_the_universe(deltas: list[MemoryDelta]) -> None:
    graph = build(deltas)
    assert nx.is_arborescence(graph)
    levels = ["universe", "episode", "task", "prototype", "instance"]
    steps = set(pairwise(levels))
    assert {(graph.nodes[one]["level"], graph.nodes[other]["level"]) for one, other in graph.edges} <= steps
    leaves = [node for node, level in graph.nodes(data="level") if level == "instance"]
    assert len(leaves) == sum(len(one.instances) for one in deltas)


@pytest.mark.heavy
@given(runs(), st.data())
def test_a_graph_is_the_union_of_its_episodes_in_any_order(deltas: list[MemoryDelta], data: st.DataObject) -> None:
    whole = build(deltas)
    assert same(build(data.draw(st.permutations(deltas))), whole)
    assert same(build(deltas + deltas[:1]), whole)
    union: nx.DiGraph[Any] = build([])
    for one in deltas:
        union = nx.compose(union, build([one]))
    union.nodes[UNIVERSE].update(whole.nodes[UNIVERSE])  # the sums at the root are no union
    assert same(union, whole)


def same(one: Any, other: Any) -> bool:  # noqa: ANN401
    return dict(one.nodes(data=True)) == dict(other.nodes(data=True)) and set(one.edges) == set(other.edges)


@pytest.mark.heavy
@given(runs())
def test_names_are_as_different_as_nodes(deltas: list[MemoryDelta]) -> None:
    graph = build(deltas)
    assert len({name(node) for node in graph}) == len(graph)
    assert name(("task", 1, "a/b%")) == "task/1/a%2Fb%25"


def test_names_cannot_be_mixed_up() -> None:
    assert name(("task", 1, "a/b", "c")) != name(("task", 1, "a", "b/c"))
    assert name(("a%2F",)) != name(("a/",))


@pytest.mark.heavy
@given(runs())
def test_json_says_all_and_nothing_else(deltas: list[MemoryDelta]) -> None:
    graph = build(deltas)
    document = msgspec.json.decode(msgspec.json.encode(to_json(deltas)))
    assert (document["format"], document["version"], document["directed"]) == ("teamworld.memory.graph", 1, True)
    assert {node.pop("id"): node for node in document["nodes"]} == {name(n): d for n, d in graph.nodes(data=True)}
    assert {(e["source"], e["target"]) for e in document["edges"]} == {(name(a), name(b)) for a, b in graph.edges}


@given(runs())
def test_graphml_can_be_read_again(deltas: list[MemoryDelta]) -> None:
    graph = build(deltas)
    again = nx.read_graphml(io.BytesIO(to_graphml(graph).encode()))
    assert set(again.edges) == {(name(a), name(b)) for a, b in graph.edges}
    for node, data in graph.nodes(data=True):
        read = again.nodes[name(node)]
        assert set(read) == {key for key, value in data.items() if value is not None}
        for key, value in read.items():
            assert (json.loads(value) if isinstance(data[key], list | dict) else value) == data[key]


def test_the_contract_costs_no_library_that_it_does_not_use() -> None:
    heavy = {"networkx", "matplotlib", "sqlite3", "lark"}
    code = f"import sys, teamworld.memory.contract; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_reflections_stand_in_the_export() -> None:
    told = tuple(Reflection(agent="a", tick=n, text=text) for n, text in enumerate(("Meet.", "Push.")))
    again = (Reflection(agent="b", tick=9, text="meet"),)
    document = to_json([delta(1, reflections=told), delta(2, reflections=again)])
    nodes = {node["id"]: node for node in document["nodes"]}
    assert nodes["universe"]["notes"] == ["Push.", "meet"]
    assert nodes["episode/1"]["reflections"][1] == {"agent": "a", "tick": 1, "text": "Push."}
    assert [one["agent"] for one in nodes["episode/2"]["reflections"]] == ["b"]
