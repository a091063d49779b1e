"""The levels: layouts by name, and the environment that the package registers for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: The layouts of Carroll et al., "On the Utility of Learning about Humans for Human-AI Coordination" (2019), and what
#: the package calls them.
ENVIRONMENTS: Final[Mapping[str, str]] = {
    "cramped_room": "Overcooked-CrampedRoom-V0",
    "asymmetric_advantages": "Overcooked-AsymmetricAdvantages-V0",
    "coordination_ring": "Overcooked-CoordinationRing-V0",
    "forced_coordination": "Overcooked-ForcedCoordination-V0",
    "counter_circuit": "Overcooked-CounterCircuit-V0",
}
#: The levels to list, each with one line.
LEVELS: Final[Mapping[str, str]] = {
    "cramped_room": "one room of six cells, one pot: cooks are in each other's way",
    "asymmetric_advantages": "a wall between the cooks: one is near the window, the other near the onions",
    "coordination_ring": "a ring of one cell's width, two pots in a corner",
    "forced_coordination": "a wall between the cooks: one has onions and plates, the other pots and the window",
    "counter_circuit": "a ring of one cell's width around counters, over which things can be handed",
}
