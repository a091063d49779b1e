"""What is CLOSE."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.worlds.household.homes.home import REACH, SEARCHED, Box, Home, NodeId, can_be, close
from tests.worlds.household.data import needs_data
from tests.worlds.household.homes import node
from tests.worlds.household.recordings import runs


def body(x: float, z: float) -> Box:
    return Box(x, 0.9, z, 0.8, 1.8, 0.8)


@pytest.mark.parametrize(
    ("x", "z", "expected"),
    [
        (1.3, 0.0, True),  # a thing without size: it may be as far from the agent's box as from its middle
        (1.7, 0.0, True),
        (1.71, 0.0, False),
        (0.0, 1.7, True),
        (0.4 + 0.92, 0.4 + 0.91, True),  # past the corner of the agent's box
        (0.4 + 0.92, 0.4 + 0.92, False),
    ],
)
def test_a_point_is_close_to_the_box_of_the_agent(x: float, z: float, expected: bool) -> None:
    assert close(body(0, 0), Box(x, 0, z, 0, 0, 0)) is expected


@pytest.mark.parametrize(
    ("x", "box", "expected"),
    [
        (3.29, Box(0, 0.4, 0, 4.0, 0.8, 1.0), True),  # a long thing is close by its edge
        (3.31, Box(0, 0.4, 0, 4.0, 0.8, 1.0), False),
        (0, Box(1.0, 40.0, 0, 0.1, 0.1, 0.1), True),  # heights do not count
        (0, Box(4.9, 0, 0, 9.0, 1, 1), True),  # nothing five metres away is close, whatever its size
        (0, Box(5.1, 0, 0, 9.0, 1, 1), False),
    ],
)
def test_a_thing_is_close_by_its_edge_within_five_metres(x: float, box: Box, expected: bool) -> None:
    assert close(body(x, 0), box) is expected


@given(*[st.floats(-4, 4) for _ in range(2)], *[st.floats(0, 3) for _ in range(2)])
def test_close_agrees_with_all_points_of_a_box(x: float, z: float, width: float, depth: float) -> None:
    agent, box = body(0.3, -0.2), Box(x, 1, z, width, 1, depth)

    def least(first: Box, other: Box) -> float:
        sides = [
            (other.x - other.width / 2, other.x + other.width / 2),
            (other.z - other.depth / 2, other.z + other.depth / 2),
        ]
        return math.dist(
            (first.x, first.z),
            [min(max(at, low), high) for at, (low, high) in zip((first.x, first.z), sides, strict=True)],
        )

    away = min(least(agent, box), least(box, agent))
    if abs(away - REACH) > 1e-9 and math.dist((x, z), (0.3, -0.2)) < 5:
        assert close(agent, box) == (away <= REACH)


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("kitchen", "Rooms"),
        ("door", "Doors"),
        ("doorjamb", "Doors"),
        ("wall", "Walls"),
        ("ceilinglamp", "Lamps"),
        ("curtains", "Decor"),
    ],
)
def test_some_nodes_are_never_close(name: str, category: str) -> None:
    assert not can_be(node(50, name, category, "", (0, 0, 0, 1, 1, 1)))
    assert can_be(node(50, "tablelamp", "Lamps", "", (0, 0, 0, 1, 1, 1)))


def is_close(agent: Box, node_id: NodeId, container: NodeId | None, home: Home) -> bool:
    """Return whether a node, or the searched container that it lies in, is CLOSE to an agent."""
    nodes = home.nodes
    if container is not None and nodes[container].name in SEARCHED and close(agent, nodes[container].box):
        return True
    return can_be(nodes[node_id]) and close(agent, nodes[node_id].box)


@needs_data
def test_recorded_relations_follow_from_recorded_boxes() -> None:
    """Check D3, on things that have not been moved: precision and recall over all recorded agent-steps."""
    both = only_ours = only_theirs = 0
    for _, episode, trace in runs():
        home, moved = episode.home, set[int]()
        inside = {
            id_: parent for id_, (kind, parent) in home.parent.items() if kind == "INSIDE" and parent not in home.rooms
        }
        for step in trace.steps:
            for agent in step.agents:
                assert agent.box is not None
                shown = {id_ for id_ in agent.seen if id_ in home.parent and id_ not in moved}
                ours = {id_ for id_ in shown if is_close(agent.box, id_, inside.get(id_), home)}
                both += len(ours & agent.close)
                only_ours += len(ours - agent.close)
                only_theirs += len(agent.close & shown - ours)
                if agent.action and agent.action.verb == "grab":
                    moved.update(agent.action.ids)
    assert both > 2500
    assert both / (both + only_ours) >= 0.98  # measured 0.997
    assert both / (both + only_theirs) >= 0.94  # measured 0.948
