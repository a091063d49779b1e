"""How an observation of the package reads: who is where with what, and what pots and counters hold.

An observation of two agents has a block of 61 numbers for each, its own first, and then masks of 7 x 11 cells for ten
kinds of things (``cogrid.envs``, ``features`` of the configuration; ``cogrid.envs.overcooked.features``).
"""

from __future__ import annotations

from typing import Any, Final

from teamworld.language import AgentId
from teamworld.worlds.adapters.overcooked.state import (
    FACINGS,
    FULL,
    NOTHING,
    ONION,
    PLATE,
    SOUP,
    Kitchen,
    KitchenState,
    Pot,
)

_BLOCK: Final = 61
_FACING, _HANDS, _POTS, _PLACE = slice(0, 4), slice(4, 9), 29, slice(55, 57)
_HELD: Final = (ONION, SOUP, PLATE)
_POT: Final = 12
_READY, _ONIONS, _TIMER = 1, 5, 7
_ROWS, _COLUMNS = 7, 11
#: Masks of what can lie on a counter, by their number.
_MASKS: Final = {ONION: 2, SOUP: 3, PLATE: 5}


def read_observation(observation: Any, agents: tuple[AgentId, ...], agent: AgentId, kitchen: Kitchen) -> KitchenState:  # noqa: ANN401
    """Return what an observation shows; the number of deliveries is not in it.

    Args:
        observation: Of one agent, float32.
        agents: The team, in the package's order.
        agent: Whose observation it is.
        kitchen: The layout.
    """
    numbers = observation.astype(int)
    order = (agent, *(other for other in agents if other != agent))
    at, faces, hands = {}, {}, {}
    for name in agents:
        block = numbers[_BLOCK * order.index(name) :][:_BLOCK]
        row, column = block[_PLACE]
        at[name] = int(row), int(column)
        faces[name] = FACINGS[int(block[_FACING].argmax())]
        held = block[_HANDS]
        hands[name] = _HELD[int(held.argmax())] if held.any() else NOTHING
    pots = []
    for number in range(len(kitchen.list("pot"))):
        pot = numbers[_POTS + _POT * number :][:_POT]
        onions = int(pot[_ONIONS])
        pots.append(Pot(onions, max(0, int(pot[_TIMER])) if onions >= FULL else 0))
    masks = numbers[_BLOCK * len(agents) :].reshape(-1, _ROWS, _COLUMNS)
    counters = {}
    for counter in kitchen.list("counter"):
        cell = kitchen.cell(counter)
        lying = [thing for thing, mask in _MASKS.items() if masks[(mask, *cell)]]
        if lying:
            counters[counter.id] = lying[0]
    return KitchenState(at, faces, hands, tuple(pots), counters)
