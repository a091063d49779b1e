"""What is CLOSE to an agent: near enough to be handled (household spec A2, C3, C28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teamworld.worlds.household.home import SEARCHED, Box, Home, Node, NodeId

#: The farthest that is CLOSE, from the middle of one box to the other box, metres.
REACH: Final = 1.3
#: Metres between the middles; what is farther is not CLOSE whatever its size.
FAR: Final = 5.0
_NEVER: Final = frozenset({"Rooms", "Doors", "Floor", "Floors", "Walls", "Ceiling"})
_HUNG: Final = frozenset({"curtain", "curtains", "ceilinglamp", "walllamp", "doorjamb"})


def close(agent_box: Box, box: Box) -> bool:
    """Say whether two boxes are CLOSE; heights do not count.

    They are when the middle of one is at most :data:`REACH` from the other box, either way round (A2).

    Args:
        agent_box: The character's box, 0.8 m wide and deep (C3).
        box: The other's.

    Returns:
        Whether they are CLOSE.
    """
    across, along = abs(agent_box.x - box.x), abs(agent_box.z - box.z)
    if across * across + along * along > FAR * FAR:
        return False
    dx, dz = max(across - box.width / 2, 0.0), max(along - box.depth / 2, 0.0)
    if dx * dx + dz * dz <= REACH * REACH:
        return True
    dx, dz = max(across - agent_box.width / 2, 0.0), max(along - agent_box.depth / 2, 0.0)
    return dx * dx + dz * dz <= REACH * REACH


def can_be(node: Node) -> bool:
    """Whether a node can be CLOSE at all: rooms, doors, walls, ceilings, curtains and hanging lamps cannot."""
    return node.category not in _NEVER and node.name not in _HUNG


def around(
    agent_box: Box, boxes: Mapping[NodeId, Box], home: Home, holder: Mapping[NodeId, NodeId]
) -> frozenset[NodeId]:
    """Find all that is CLOSE.

    Args:
        agent_box: The character's box.
        boxes: Where the nodes in question are now, agents included.
        home: What the nodes are.
        holder: The container of each thing that lies in one. What lies in a container that is searched, open or not,
            is CLOSE when the container is (A2, C28).

    Returns:
        The ids of those that are CLOSE.
    """
    found = set()
    for node, box in boxes.items():
        container = holder.get(node)
        if container is not None and home.nodes[container].name in SEARCHED:
            near = close(agent_box, boxes.get(container, home.nodes[container].box))
        else:
            near = False
        if near or ((node not in home.nodes or can_be(home.nodes[node])) and close(agent_box, box)):
            found.add(node)
    return frozenset(found)
