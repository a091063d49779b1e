"""Steps in which no two cooks can deliver a number of soups.

A cook goes a cell a step, or uses the station that it faces. Cells count without walls: what is handed over a counter
comes two cells on in two steps, no faster than it is carried.

*A pot.* The first onion is fetched and added. Two cooks add three onions in two steps at least, of which one may be the
step in which the soup before was taken out. A soup cooks for ``cook_time`` steps, of which one may be that of the last
onion. So a pot takes that long for each soup at least, and one of them takes as many soups as there are for each pot.
The last soup is carried to the window.

*Work.* A soup takes nine uses of stations; three onions and a plate are carried to a pot, and the soup to the window.
All cooks share the sum.
"""

from __future__ import annotations

from teamworld.worlds.adapters.overcooked.state import FULL, Kitchen, KitchenState
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.grid import distance

#: Uses of stations for a soup: getting and adding each onion, a plate, the soup, the window.
_USES = 2 * FULL + 3


def bound(kitchen: Kitchen, state: KitchenState, soups: int) -> StepBound:
    """Return the bound of a kitchen in which nothing was done yet.

    Args:
        kitchen: The layout.
        state: Where cooks begin.
        soups: How many are to be delivered.
    """
    sides = {
        kind: [cell for each in kitchen.list(kind) for cell in kitchen.sides(each)] for kind, _ in kitchen.stations
    }

    def between(first: str, second: str) -> int:
        return min(distance(a, b) for a in sides[first] for b in sides[second])

    onion, plate, window = between("onion_stack", "pot"), between("plate_stack", "pot"), between("pot", "window")
    come = min(distance(at, cell) for at in state.at.values() for cell in sides["onion_stack"])
    each = -(-soups // len(kitchen.list("pot")))
    in_pot = come + 1 + onion + 1 + each * kitchen.cook_time + window + 1
    work = soups * (_USES + FULL * onion + plate + window)
    return StepBound(max(in_pot, -(-work // len(state.at))))
