"""Compiled loops of the exact search: what two carriers can bring about in a step, and what fire leaves of it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.kernel_compiler import compiled, part

Words: TypeAlias = npt.NDArray[np.uint64]
Numbers: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


@compiled
def act(
    rows: Numbers,
    words: Words,
    after: Words,
    lifted: Words,
    touched: Numbers,
    heavy: int,
    smoke: Mask,
    fresh: Mask,
    bits: Words,
    near: Numbers,
    width: int,
    table: int,
) -> int:
    """Add what a step leads to from moments in which the heavy item is not held, fire left out.

    Args:
        rows: The moments: by whether each carrier is late, the cell of the first, and the places of both light items.
        words: The bits of the cells where the second carrier is in each.
        after: They are added here, by the flat numbers of such rows, but for those in which both have lifted it.
        lifted: Those, shape (places, places), bits of the cell of both.
        touched: Places in ``after`` that are no longer empty are listed here.
        heavy: The place of the heavy item.
        smoke: Cells in fresh smoke before the step.
        fresh: Cells in fresh smoke after it.
        bits: See ``Maze``, as ``near``, ``width`` and ``table``.
        near: As above.
        width: As above.
        table: As above.

    Returns:
        How many places are listed.
    """
    count, listed = len(bits), 0
    first, second, delivered, places = count, count + 1, count + 2, count + 3
    zero, shift, below = np.uint64(0), np.uint64(1), np.uint64(width)
    floor, smoky, freshly = zero, zero, zero
    for cell in range(count):
        floor |= bits[cell]
        smoky |= bits[cell] if smoke[cell] else zero
        freshly |= bits[cell] if fresh[cell] else zero
    options = np.zeros((8, 3), np.int64)
    for row in range(len(rows)):
        a_late, b_late, a, light, other = rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3], rows[row, 4]
        word = words[row]
        # What the first carrier can do: stay; if smoke lets it, go, put down or lift.
        options[0, 0], options[0, 1], options[0, 2], tried = a, light, other, 1
        is_free, late = a_late == 0 and not smoke[a], 1 if smoke[a] and not fresh[a] else 0
        if is_free:
            for way in range(4):
                if near[a, way] >= 0:
                    options[tried, 0], options[tried, 1], options[tried, 2] = near[a, way], light, other
                    tried += 1
            down = delivered if a == table else a
            if light == first or other == first:
                options[tried, 0] = a
                options[tried, 1], options[tried, 2] = (
                    down if light == first else light,
                    down if other == first else other,
                )
                tried += 1
            if light == a and other != first:
                options[tried, 0], options[tried, 1], options[tried, 2] = a, first, other
                tried += 1
            if other == a and light != first:
                options[tried, 0], options[tried, 1], options[tried, 2] = a, light, first
                tried += 1
        # What the second can, by the bits of where it is.
        stuck = word & smoky
        able = zero if b_late == 1 else word & ~smoky
        staying = (stuck & freshly) | (word & ~smoky)
        going = able | (((able << shift) | (able >> shift) | (able << below) | (able >> below)) & floor)
        is_holding = light == second or other == second
        if heavy == a and is_free and not is_holding and light != first and other != first:
            lifted[light, other] |= able & bits[a]
        for option in range(tried):
            to, x, y = options[option, 0], options[option, 1], options[option, 2]
            here = late * 2 * count + to
            listed = _add(after, touched, listed, (here * places + x) * places + y, staying | going)
            listed = _add(after, touched, listed, ((here + count) * places + x) * places + y, stuck & ~freshly)
            for cell in range(count):  # put down, or lift
                if able & bits[cell] == zero:
                    continue
                down = delivered if cell == table else cell
                if is_holding:
                    p, q = down if light == second else x, down if other == second else y
                    listed = _add(after, touched, listed, (here * places + p) * places + q, bits[cell])
                    continue
                if cell == light and x == light:
                    listed = _add(after, touched, listed, (here * places + second) * places + y, bits[cell])
                if cell == other and y == other:
                    listed = _add(after, touched, listed, (here * places + x) * places + second, bits[cell])
    return listed


@part
def _add(after: Words, touched: Numbers, listed: int, flat: int, word: np.uint64) -> int:
    """Add bits at a place, list it if it was empty, and return how many are listed."""
    if word != np.uint64(0):
        if after[flat] == np.uint64(0):
            touched[listed] = flat
            listed += 1
        after[flat] |= word
    return listed


@compiled
def clear(
    rows: Numbers,
    words: Words,
    heavy: int,
    left: int,
    is_spared: bool,
    fire: Mask,
    bits: Words,
    ways: Numbers,
    within: Words,
    table: int,
) -> None:
    """Take bits of moments out that fire ends, or from which an item is not at the table in so many steps.

    Args:
        rows: As of ``act``.
        words: As of ``act``; they are changed.
        heavy: The place of the heavy item.
        left: The steps.
        is_spared: Whether fire spares who holds nothing once the heavy item is delivered.
        fire: Cells that burn.
        bits: See ``Maze``, as ``ways``, ``within`` and ``table``.
        ways: As above.
        within: As above.
        table: As above.
    """
    count, most = len(bits), within.shape[1] - 1
    first, second, delivered = count, count + 1, count + 2
    zero, burning = np.uint64(0), np.uint64(0)
    for cell in range(count):
        burning |= bits[cell] if fire[cell] else zero
    for row in range(len(rows)):
        a, light, other = rows[row, 2], rows[row, 3], rows[row, 4]
        word, is_spare = words[row], is_spared and heavy == delivered
        if fire[a] and not (is_spare and light != first and other != first):
            word = zero
        if not (is_spare and light != second and other != second):
            word &= ~burning
        if heavy < count:  # both have to come there, lift it, and carry it
            rest = left - ways[heavy, table] - 2
            word = zero if rest < ways[heavy, a] or fire[heavy] else word & within[heavy, min(rest, most)]
        for place in (light, other):
            if place < count:  # one has to
                rest = left - ways[place, table] - 2
                if rest < 0 or fire[place]:
                    word = zero
                elif rest < ways[place, a]:
                    word &= within[place, min(rest, most)]
            elif place == first and left < ways[a, table] + 1:
                word = zero
            elif place == second:
                word = zero if left < 1 else word & within[table, min(left - 1, most)]
        words[row] = word
