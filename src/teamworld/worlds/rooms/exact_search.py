"""The fewest steps of two carriers with one heavy item and at most two light ones through fire: all that they can do.

The search goes step by step through all moments that the two can bring about: where both are, who is overcome, where
each item lies or who holds it. It takes the rules of the world as they are, with one relaxation: once the heavy item is
delivered, fire spares who holds nothing. Moments in which an item burns are left out, and so are those in which a
carrier burns before the heavy item is delivered, which takes both. Where no moment is left, nobody can deliver all.
Given a limit, moments are left out from which an item cannot be at the table in time, even by open ways.

Who stands in fresh smoke acts in neither of the next two steps: the first follows from where it stands, so that only
the second is kept.

Moments are sets of bits: a word for all cells of the second carrier, by the place of the heavy item, by whether each
carrier is overcome for a last step, by the cell of the first carrier and the places of the light items. A place is the
index of a cell, or behind these: held by the first carrier, held by the second, delivered.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, product
from typing import Final, NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell
from teamworld.worlds.rooms.fire import Fire
from teamworld.worlds.rooms.physics import STAY, Primitive
from teamworld.worlds.rooms.search_kernels import Mask, Numbers, Words, act, clear
from teamworld.worlds.rooms.state import House, distances

#: The place of the heavy item while both hold it.
HELD: Final = -1
#: The bits of a word, and steps that no limit is as long as.
BITS, UNLIMITED = 64, 1 << 20


@dataclass(frozen=True)
class Maze:
    """The cells of a house by index."""

    cells: tuple[Cell, ...]
    bits: Words
    """One a cell, row by row with gaps for walls: a step shifts by 1 or ``width``."""
    near: Numbers
    """Cells that a step leads to, 4 a cell; -1 where there are fewer."""
    ways: Numbers
    """Steps between cells."""
    within: Words
    """By cell and steps: the bits of all cells at most so many steps away."""
    width: int
    table: int

    def join(self, chosen: Mask) -> np.uint64:
        """Return the bits of some cells."""
        return np.uint64(np.bitwise_or.reduce(self.bits[chosen], initial=np.uint64(0)))

    def spread(self, words: Words) -> Words:
        """Return the cells of sets of cells, and those that a step leads to."""
        beside, below, floor = np.uint64(1), np.uint64(self.width), self.join(np.ones(len(self.cells), np.bool_))
        aims: Words = ((words << beside) | (words >> beside) | (words << below) | (words >> below)) & floor
        return words | aims


def read_maze(house: House) -> Maze | None:
    """Return the cells of a house; None if they are too many for a word."""
    rows, width = house.size[0], house.size[1] + 1
    if rows * width > BITS:
        return None
    cells, numbers = house.floor, {cell: number for number, cell in enumerate(house.floor)}
    bits = np.array([1 << (row * width + column) for row, column in cells], np.uint64)
    near = np.full((len(cells), 4), -1, np.int64)
    for number, cell in enumerate(cells):
        aims = [numbers[aim] for aim in house.beside(cell)]
        near[number, : len(aims)] = aims
    ways = np.array([[distances(house, end, frozenset())[cell] for cell in cells] for end in cells], np.int64)
    reached = ways[:, None, :] <= np.arange(ways.max() + 1)[None, :, None]
    within = np.bitwise_or.reduce(np.where(reached, bits, np.uint64(0)), axis=2)
    return Maze(cells, bits, near, ways, within, width, numbers[house.table])


class Moment(NamedTuple):
    """One moment, by places."""

    heavy: int
    late: tuple[bool, bool]
    """Who is overcome for a last step."""
    at: tuple[int, int]
    """The cells of the carriers."""
    light: tuple[int, int]


class Origin(NamedTuple):
    """What a carrier did in a step, and how it was before."""

    act: Primitive
    cell: int
    late: bool = False
    item: int | None = None
    """The light item that it lifted or put down, by its number among these."""
    place: int = -1
    """Of that item."""


class Free(NamedTuple):
    """Moments in which nobody holds the heavy item, which lies at one place or is delivered, as of ``act``."""

    flat: Numbers
    """Their flat numbers, in order."""
    rows: Numbers
    words: Words


class Moments(NamedTuple):
    """The moments of a step."""

    held: Words
    """Those in which both hold the heavy item: bits of their cell, by whether they are late and by light items."""
    free: Mapping[int, Free]
    """The others, by the place of the heavy item."""


class Search:
    """A search of an instance with two carriers, one heavy item and at most two light ones, and no door shut.

    Args:
        fire: How it burns.
        maze: The cells of its house.
    """

    def __init__(self, fire: Fire, maze: Maze) -> None:
        self._fire, self._maze, self._count = fire, maze, len(maze.cells)
        placed, numbers = fire.placed, {cell: number for number, cell in enumerate(maze.cells)}
        self._carriers = [agent for agent, kind in placed.kinds.items() if kind == "carrier"]
        self._light = [number for number, item in placed.state.items.items() if item.weight == 1]
        self._heavy = next(number for number, item in placed.state.items.items() if item.weight == 2)
        self._delivered = self._count + 2
        lying = {number: numbers[item.cell] for number, item in placed.state.items.items() if item.cell is not None}
        light, other = ([lying[number] for number in self._light] + [self._delivered] * 2)[:2]
        first, second = (numbers[placed.state.agents[agent]] for agent in self._carriers)
        self._shape = (2, 2, self._count, self._count + 3, self._count + 3)
        self._after_words = np.zeros(math.prod(self._shape), np.uint64)
        self._touched = np.zeros(len(self._after_words), np.int64)
        self._start = Moment(lying[self._heavy], (False, False), (first, second), (light, other))

    def count_steps(self, limit: int | None) -> int | None:
        """Return the fewest steps in which all is delivered; None if it takes more than a limit, or is never done.

        Args:
            limit: Steps; None: any number.
        """
        return next((step for step, moments in self._list_steps(limit, is_spared=True) if self._is_done(moments)), None)

    def find_plan(self, steps: int) -> int | None:
        """Return the steps of a plan, played by the rules of the world; None where none of so many steps is known.

        Fire may take a carrier that is of no use any more, as the rules have it, where there is no other plan.
        """
        for is_spared in (False, True):
            kept = list[Moments]()
            for _, moments in self._list_steps(steps, is_spared):
                kept.append(moments)
                if self._is_done(moments):
                    played = self._fire.play(self._trace(kept))
                    if played is not None:
                        return played
                    break
        return None

    def _is_done(self, moments: Moments) -> bool:
        done = self._delivered
        return done in moments.free and bool((moments.free[done].rows[:, 3:] == done).all(axis=1).any())

    def _holds(self, moments: Moments, moment: Moment) -> bool:
        """Return whether a moment is among others."""
        heavy, late, (first, second), light = moment
        if heavy == HELD:
            return bool(moments.held[(int(late[0]), *light)] & self._maze.bits[second])
        if heavy not in moments.free:
            return False
        flat, _, words = moments.free[heavy]
        number = int(np.ravel_multi_index((*map(int, late), first, *light), self._shape))
        place = int(np.searchsorted(flat, number))
        return place < len(flat) and int(flat[place]) == number and bool(words[place] & self._maze.bits[second])

    def _mask(self, cells: Collection[Cell]) -> Mask:
        return np.array([cell in cells for cell in self._maze.cells])

    def _list_steps(self, limit: int | None, is_spared: bool) -> Iterator[tuple[int, Moments]]:
        """Yield the moments of each step, as long as there are any; see ``clear`` for the last argument."""
        heavy, _, (first, second), light = self._start
        row = np.array([[0, 0, first, *light]], np.int64)
        start = Free(np.ravel_multi_index(tuple(row.T), self._shape), row, self._maze.bits[[second]])
        moments = Moments(np.zeros((2, *self._shape[3:]), np.uint64), {heavy: start})
        for step in count():
            if not (moments.free or moments.held.any()) or (limit is not None and step > limit):
                return
            yield step, moments
            left = UNLIMITED if limit is None else limit - step - 1
            moments = self._after(moments, step, left, is_spared)

    def _after(self, before: Moments, step: int, left: int, is_spared: bool) -> Moments:
        """Return the moments a step later."""
        maze, fire = self._maze, self._mask(self._fire.burning(step + 1))
        smoke, fresh = self._mask(self._fire.smoke(step)), self._mask(self._fire.smoke(step + 1))
        smoky, freshly = maze.join(smoke), maze.join(fresh)
        able, stuck = before.held[0] & ~smoky, (before.held[0] | before.held[1]) & smoky
        held = np.stack([maze.spread(able) | (before.held[1] & ~smoky) | (stuck & freshly), stuck & ~freshly])
        free: dict[int, Free] = {}
        for heavy in (*range(self._count), self._delivered):
            cell, listed = maze.table if heavy == self._delivered else heavy, 0
            if (own := before.free.get(heavy)) is not None:
                *_, words = own
                listed = act(
                    own.rows, words, self._after_words, held[0], self._touched, heavy,
                    smoke, fresh, maze.bits, maze.near, maze.width, maze.table,
                )  # fmt: skip
            flat = self._touched[:listed]
            if heavy != maze.table:  # what both put down there
                light, other = np.nonzero(able & maze.bits[cell])
                put = np.ravel_multi_index(
                    (np.zeros_like(light), np.zeros_like(light), np.full_like(light, cell), light, other), self._shape
                )
                self._after_words[put] |= maze.bits[cell]
                flat = np.union1d(flat, put)
            if not len(flat):
                continue
            words = self._after_words[flat]
            self._after_words[flat] = 0
            rows = np.stack(np.unravel_index(flat, self._shape), axis=1)
            clear(rows, words, heavy, left, is_spared, fire, maze.bits, maze.ways, maze.within, maze.table)
            if (kept := np.flatnonzero(words)).size:
                free[heavy] = Free(flat[kept], rows[kept], words[kept])
        rest = left - 2 - maze.ways[:, maze.table]
        held &= ~maze.join(fire | (rest + 1 < 0))
        for axis in (1, 2):
            np.moveaxis(held, axis, 0)[: self._count][fire | (rest < 0)] = 0
        return Moments(held, free)

    def _trace(self, kept: list[Moments]) -> Mapping[AgentId, list[Primitive]]:
        """Return what the carriers do to come to the end of what was kept of each step."""
        acts: dict[AgentId, list[Primitive]] = {agent: [] for agent in self._carriers}
        done, cells = self._delivered, range(self._count)
        ends = (Moment(done, (False, False), at, (done, done)) for at in product(cells, cells))
        moment = next(end for end in ends if self._holds(kept[-1], end))
        for step in reversed(range(len(kept) - 1)):
            ways = self._list_ways_to(moment, step)
            moment, *chosen = next(way for way in ways if self._holds(kept[step], way[0]))
            for agent, own in zip(self._carriers, chosen, strict=True):
                acts[agent].append(own)
        return {agent: own[::-1] for agent, own in acts.items()}

    def _list_ways_to(self, after: Moment, step: int) -> Iterator[tuple[Moment, Primitive, Primitive]]:
        """Yield moments from which a step may lead to a moment, and what the carriers do; some are never brought about.

        Args:
            after: The moment after the step.
            step: Steps before it.
        """
        smoke, fresh = self._mask(self._fire.smoke(step)), self._mask(self._fire.smoke(step + 1))
        near, cells = self._maze.near, self._maze.cells
        put, lift = Primitive("put"), Primitive("lift", target=self._heavy)
        place = after.at[0]
        if after.heavy == HELD:
            for late in (False, True):
                if after.late[0] == (smoke[place] and not fresh[place]):
                    yield after._replace(late=(late, late)), STAY, STAY
            if not after.late[0]:
                for start in near[place][near[place] >= 0]:
                    if not smoke[start]:
                        go = Primitive("go", (cells[place],))
                        yield after._replace(at=(int(start), int(start))), go, go
                if not smoke[place]:
                    yield after._replace(heavy=place), lift, lift
            return
        lies_here = after.heavy == place or (after.heavy == self._delivered and place == self._maze.table)
        if lies_here and after.at == (place, place) and not any(after.late) and not smoke[place]:
            yield after._replace(heavy=HELD), put, STAY
        starts = [list(self._list_ways_of(who, after, smoke, fresh)) for who in (0, 1)]
        for first, second in product(*starts):
            light = list(after.light)
            for way in (first, second):
                if way.item is not None:
                    light[way.item] = way.place
            if first.item is None or first.item != second.item:
                both, at = (first.late, second.late), (first.cell, second.cell)
                yield Moment(after.heavy, both, at, (light[0], light[1])), first.act, second.act

    def _list_ways_of(self, who: int, after: Moment, smoke: Mask, fresh: Mask) -> Iterator[Origin]:
        """Yield what a carrier may have done, where no heavy item is held."""
        cell, is_late = after.at[who], after.late[who]
        for late in (False, True):
            if is_late == (smoke[cell] and not fresh[cell]):
                yield Origin(STAY, cell, late)
        if is_late:
            return
        for start in self._maze.near[cell]:
            if start >= 0 and not smoke[start]:
                yield Origin(Primitive("go", (self._maze.cells[cell],)), int(start))
        down, held = self._delivered if cell == self._maze.table else cell, self._count + who
        for item, place in enumerate(after.light) if not smoke[cell] else ():
            if place == held:
                yield Origin(Primitive("lift", target=self._light[item]), cell, False, item, cell)
            elif place == down:
                yield Origin(Primitive("put"), cell, False, item, held)
