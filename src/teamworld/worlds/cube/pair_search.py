"""The fewest steps in which two agents deliver a block that takes both of them and one that takes one agent.

Other blocks are left out: what delivers all delivers these two. The heavy block ``H`` weighs 2, the light block ``L``
weighs 1, and no chain weighs more than the agents, 2. So

- ``H`` moves by itself, and both agents push it, from cells behind two of its lanes or one behind the other (six ways);
- ``L`` moves by itself, and the first of its pushers stands right behind it. Or it is the front of a chain with another
  block of weight 1, and the agents stand in its line, two and three cells behind it;
- the moves of ``H`` and ``L`` fall into different steps: each agent pushes one chain a step, ``H`` takes both, and no
  block moves twice a step.

A plan is then a sequence of pushes of ``H`` and ``L``, in all four directions. At each push, both blocks are where the
pushes before have brought them, on cells of the grid that they share with nobody. A push takes a step and brings its
pushers one cell on. From one push of its own to the next, an agent walks at least the distance of the cells.

*The search* goes through all such sequences, each push as early as this allows, so the best of them takes no more
steps than a plan of the world. What it leaves out: agents and blocks are in no walker's way, other blocks are in
nobody's, and chains are possible wherever there is a second block of weight 1. A state holds the places of both blocks,
and of each agent the cell and the time of its last push; at first where it stands, and 0. A state whose times are both
no earlier than those of another with the same places is dropped. The agents are alike, so their order does not matter.
States are taken in the order of an estimate that is never too high (A*), so the least estimate of those that are left
is a bound at any time.

*The estimate* forgets cells and times of all but the last push, and is tabulated from the end backward. As ``H`` takes
both agents, whoever pushes ``L`` right after or right before ``H`` takes part in both pushes, and walks from behind one
block to behind the other; where the direction changes between two pushes of ``H``, both walk round it. Besides, ``H``
does not move again before both have come near.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from teamworld.worlds.kernel_compiler import compiled, part

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.cube.state import Layout

#: States that are kept at most, about 50 bytes each; beyond, the bound of what is left stands.
MOST_STATES: Final = 1_000_000
#: Largest side of a grid: the estimate of all places takes 17 MB there, and grows with its fourth power.
MOST_SIDE: Final = 32
#: Up, down, left, right.
_DOWN: Final = np.array([-1, 1, 0, 0])
_RIGHT: Final = np.array([0, 0, -1, 1])
#: How two agents push the heavy block: cells behind it and lane, of the first agent and of the second.
_WAYS: Final = np.array([[1, 0, 1, 1], [1, 1, 1, 0], [1, 0, 2, 0], [2, 0, 1, 0], [1, 1, 2, 1], [2, 1, 1, 1]])
_FAR: Final = 30_000


def bound_pairs(layout: Layout, most: int, most_states: int = MOST_STATES) -> int:
    """Return the steps that two agents need at least for a block of weight 2 and one of weight 1; 0 without both.

    Args:
        layout: The instance.
        most: Nothing above this is proven.
        most_states: States of a search at most; what is proven until then stands.
    """
    weights = layout.weights
    if len(layout.agents) != 2 or 2 not in weights:
        return 0
    side, has_chains = layout.grid_size, weights.count(1) > 1
    left = _tabulate(side, 3 if has_chains else 1)
    agents = min(cells := [row * side + col for row, col in layout.agents]), max(cells)
    best = 0
    for heavy in layout.blocks:
        for light in layout.blocks:
            if heavy.weight == 2 and light.weight == 1:
                at = heavy.row * side + heavy.col, light.row * side + light.col
                best = max(best, _search(side, *at, agents, has_chains, most, most_states, left))
    return best


@part
def _gap(at: int, low: int, high: int) -> int:
    """Return the steps from a row or column to the nearest of a span."""
    return max(0, low - at, at - high)


@part
def _stand(row: int, col: int, side: int, way: int, behind: int, lane: int) -> tuple[int, int]:
    """Return where an agent stands that pushes a block of this side in a direction."""
    if _DOWN[way] != 0:
        return (row + side - 1 + behind if _DOWN[way] < 0 else row - behind), col + lane
    return row + lane, (col + side - 1 + behind if _RIGHT[way] < 0 else col - behind)


@part
def _zone(row: int, col: int, side: int, way: int, deep: int) -> tuple[int, int, int, int]:
    """Return the first and last row and column of all cells where pushers of a block stand."""
    r1, c1 = _stand(row, col, side, way, 1, 0)
    r2, c2 = _stand(row, col, side, way, deep, side - 1)
    return min(r1, r2), max(r1, r2), min(c1, c2), max(c1, c2)


@part
def _apart(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> int:
    """Return the steps from one zone to another."""
    return max(0, a[0] - b[1], b[0] - a[1]) + max(0, a[2] - b[3], b[2] - a[3])


@part
def _covers(heavy: int, light: int, size: int) -> bool:
    """Return whether a cell is one of the four of the heavy block."""
    down, right = light // size - heavy // size, light % size - heavy % size
    return 0 <= down < 2 and 0 <= right < 2


@compiled
def _tabulate(size: int, deep: int) -> npt.NDArray[np.int16]:
    """Return the least steps after a push, for all places of ``H`` and ``L`` and the push: 4 of ``H``, then 4 of ``L``.

    A block in the goal column is delivered; the push that brought it there still says where its pushers are.

    Args:
        size: Side of the grid.
        deep: How many cells behind ``L`` its pushers stand at most.
    """
    cells = size * size
    left = np.full((cells, cells, 8), _FAR, np.int16)
    for heavy_row in range(size - 1):
        for light_row in range(size):
            left[heavy_row * size + size - 2, light_row * size + size - 1, :] = 0
    longest = 0
    steps = 0
    while steps <= longest:  # each push takes a step, so what has the least steps is final
        for heavy in range(cells):
            for light in range(cells):
                for push in range(8):
                    if left[heavy, light, push] != steps:
                        continue
                    way = push % 4
                    side = 2 if push < 4 else 1
                    moved = heavy if push < 4 else light
                    row, col = moved // size - _DOWN[way], moved % size - _RIGHT[way]
                    if not (0 <= row <= size - side and 0 <= col < size - side):
                        continue
                    r, c = _stand(row, col, side, way, 1, 0)
                    if not (0 <= r < size and 0 <= c < size):
                        continue
                    h, k = (row * size + col, light) if push < 4 else (heavy, row * size + col)
                    if h % size < size - 2 and k % size < size - 1 and _covers(h, k, size):
                        continue
                    zone = _zone(row, col, side, way, 2 if push < 4 else deep)
                    for before in range(8):
                        walk = 0
                        if before < 4:
                            walk = _apart(_zone(h // size, h % size, 2, before, 2), zone)
                        elif push < 4:
                            walk = _apart(_zone(k // size, k % size, 1, before - 4, deep), zone)
                        if steps + 1 + walk < left[h, k, before]:
                            left[h, k, before] = steps + 1 + walk
                            longest = max(longest, steps + 1 + walk)
        steps += 1
    return left


@compiled
def _search(
    size: int,
    heavy: int,
    light: int,
    agents: tuple[int, int],
    has_chains: bool,
    most: int,
    most_states: int,
    left: npt.NDArray[np.int16],
) -> int:
    """Return the fewest steps to deliver both blocks, or what is proven of them: at most ``most``.

    Args:
        size: Side of the grid.
        heavy: Cell of the top left of ``H``, row by row from 0.
        light: Cell of ``L``.
        agents: Cells of the agents, the lower one first.
        has_chains: Whether there is a third block of weight 1.
        most: Sequences that take as long are not looked at.
        most_states: How many states are kept; beyond, the search ends.
        left: The estimate, see ``_tabulate``.
    """
    gone = size * size
    slots = 1
    while slots < 2 * most_states:
        slots *= 2
    # Per slot of the hash table: places and cells, and the later and the earlier time of a state with them.
    keys, late, early = np.full(slots, -1, np.int64), np.zeros(slots, np.int16), np.zeros(slots, np.int16)
    # A state: places of H and L, cells of the agents, times of the agents. Those of one estimate are linked.
    states = np.empty((most_states, 6), np.int16)
    after = np.empty(most_states, np.int32)
    first = np.full(most + 1, -1, np.int32)
    states[0] = np.array([heavy, light, agents[0], agents[1], 0, 0], np.int16)
    after[0] = -1
    first[0] = 0
    count = 1
    for bound in range(most):
        while first[bound] >= 0:
            number = first[bound]
            first[bound] = after[number]
            h, k, p, q = int(states[number, 0]), int(states[number, 1]), int(states[number, 2]), int(states[number, 3])
            tp, tq = int(states[number, 4]), int(states[number, 5])
            if h == gone and k == gone:
                return bound
            latest = max(tp, tq)
            for push in range(40):  # 24 of H, 8 of L alone, 8 of L in a chain
                way = push % 4
                kind = push // 4
                side = 2 if kind < 6 else 1
                if (h if kind < 6 else k) == gone or (kind >= 8 and not has_chains):
                    continue
                row, col = (h // size, h % size) if kind < 6 else (k // size, k % size)
                to_row, to_col = row + _DOWN[way], col + _RIGHT[way]
                if not (0 <= to_row <= size - side and 0 <= to_col <= size - side):
                    continue
                # Where both stand; alone, the other stays where it was.
                if kind < 6:
                    r1, c1 = _stand(row, col, 2, way, _WAYS[kind, 0], _WAYS[kind, 1])
                    r2, c2 = _stand(row, col, 2, way, _WAYS[kind, 2], _WAYS[kind, 3])
                elif kind == 6:
                    r1, c1 = _stand(row, col, 1, way, 1, 0)
                    r2, c2 = q // size, q % size
                elif kind == 7:
                    r1, c1 = p // size, p % size
                    r2, c2 = _stand(row, col, 1, way, 1, 0)
                else:
                    r1, c1 = _stand(row, col, 1, way, kind - 6, 0)
                    r2, c2 = _stand(row, col, 1, way, 11 - kind, 0)
                if not (0 <= r1 < size and 0 <= c1 < size and 0 <= r2 < size and 0 <= c2 < size):
                    continue
                at1, at2 = r1 * size + c1, r2 * size + c2
                new_h, new_k = (to_row * size + to_col, k) if kind < 6 else (h, to_row * size + to_col)
                if h != gone and k != gone:
                    if _covers(new_h, new_k, size):
                        continue
                    if kind < 6 and (at1 == k or at2 == k):
                        continue
                    if kind >= 6 and ((kind != 7 and _covers(h, at1, size)) or (kind != 6 and _covers(h, at2, size))):
                        continue
                came1 = tp + abs(p // size - r1) + abs(p % size - c1)
                came2 = tq + abs(q // size - r2) + abs(q % size - c2)
                ahead = to_row * size + to_col - row * size - col
                end1, end2 = tp, tq
                if kind == 6:
                    end1 = max(latest, came1) + 1
                    at1 += ahead
                elif kind == 7:
                    end2 = max(latest, came2) + 1
                    at2 += ahead
                else:
                    end1 = end2 = max(came1, came2, latest) + 1
                    at1 += ahead
                    at2 += ahead
                end = max(end1, end2)
                least = max(
                    bound,
                    end
                    + left[
                        size - 2 if new_h == gone else new_h,
                        size - 1 if new_k == gone else new_k,
                        way + (0 if kind < 6 else 4),
                    ],
                )
                if new_h != gone and new_h % size < size - 2:
                    hr, hc = new_h // size, new_h % size
                    near1 = end1 + _gap(at1 // size, hr - 2, hr + 3) + _gap(at1 % size, hc - 2, hc + 3)
                    near2 = end2 + _gap(at2 // size, hr - 2, hr + 3) + _gap(at2 % size, hc - 2, hc + 3)
                    least = max(least, max(near1, near2) + size - 2 - hc)
                if least >= most:
                    continue
                if kind < 6 and to_col == size - 2:
                    new_h = gone
                if kind >= 6 and to_col == size - 1:
                    new_k = gone
                if at1 > at2:
                    at1, at2, end1, end2 = at2, at1, end2, end1
                start = min(end1, end2)
                later = 0 if end1 > end2 else 1 if end2 > end1 else 2
                key = (((new_h * (gone + 1) + new_k) * gone + at1) * gone + at2) * 3 + later
                slot = key * np.int64(-7046029254386353131)
                slot = (slot ^ (slot >> 31)) & (slots - 1)
                while keys[slot] != -1 and keys[slot] != key:
                    slot = (slot + 1) & (slots - 1)
                if keys[slot] == key and late[slot] <= end and early[slot] <= start:
                    continue
                if keys[slot] == -1 or (end <= late[slot] and start <= early[slot]):
                    keys[slot], late[slot], early[slot] = key, end, start
                if count == most_states:
                    return bound
                states[count] = np.array([new_h, new_k, at1, at2, end1, end2], np.int16)
                after[count] = first[least]
                first[least] = count
                count += 1
    return most
