"""What makes sense for a cook: the next thing that a soup needs, done alone or handed over where a wall is between."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from teamworld.language import Action, AgentId, Cell, Entity
from teamworld.worlds.adapters.overcooked.state import (
    FULL,
    NOTHING,
    ONION,
    PLATE,
    SOUP,
    Kitchen,
    KitchenState,
)
from teamworld.worlds.contract import WAIT

#: Acts that a soup takes: an onion three times, plating, delivering.
ACTS = FULL + 2
Steps = tuple[Action, ...]


class Batch(NamedTuple):
    """A soup that is being made: in a pot, or on a plate."""

    acts: int
    """Left to do: 1 to deliver, 2 to plate and deliver, one for each onion more."""
    pot: int | None
    """None: on a plate."""
    holder: AgentId | None = None
    """Who holds the plate with it."""


def list_batches(state: KitchenState) -> list[Batch]:
    """Return what is being made, the furthest first, then pots that are empty."""
    pots = sorted(
        range(len(state.pots)), key=lambda number: (-state.pots[number].onions, state.pots[number].left, number)
    )
    held = [Batch(1, None, agent) for agent, thing in state.hands.items() if thing == SOUP]
    lying = [Batch(1, None)] * (state.soups - len(held))
    return [*held, *lying, *(Batch(ACTS - state.pots[number].onions, number) for number in pots)]


def find_supplier(wanted: Batch, state: KitchenState, kitchen: Kitchen) -> AgentId | None:
    """Return who already holds the one thing that a soup takes next; None where that is missing, or more than one is.

    What a cook holds is for the furthest pot that takes it and that it can get to, of two cooks the nearer one's.
    """
    free = {agent: thing for agent, thing in state.hands.items() if agent in state.at}
    for batch in list_batches(state):
        if batch.pot is None:
            continue
        sides, left = kitchen.sides(Entity("pot", batch.pot)), FULL - state.pots[batch.pot].onions
        ways = {
            agent: kitchen.distance(state.at[agent], sides)
            for agent, thing in free.items()
            if thing == (ONION if left else PLATE)
        }
        near = sorted((way, agent) for agent, way in ways.items() if way is not None)[: max(1, left)]
        if batch == wanted:
            return near[0][1] if near and left <= 1 else None
        for _, agent in near:
            del free[agent]
    return wanted.holder


class Cook(NamedTuple):
    """One cook in a state: what it can get to, and how it brings things on."""

    agent: AgentId
    state: KitchenState
    kitchen: Kitchen
    avoided: Collection[object] = ()
    """Stations that somebody else is about to use up."""

    @property
    def at(self) -> Cell:
        """Where it is."""
        return self.state.at[self.agent]

    @property
    def held(self) -> str:
        """What it holds."""
        return self.state.hands.get(self.agent, NOTHING)

    def reaches(self, station: Entity) -> bool:
        """Return whether there is a way to a station."""
        return station in self.kitchen.reach(self.at)

    def nearest(self, stations: Collection[Entity]) -> Entity | None:
        """Return the nearest of those stations that it can get to and nobody else is about to use."""
        ways = {
            station: self.kitchen.distance(self.at, self.kitchen.sides(station))
            for station in stations
            if self.reaches(station) and station not in self.avoided
        }
        return min(ways, key=lambda station: (ways[station] or 0, station.kind, station.id), default=None)

    def find_source(self, thing: str) -> Entity | None:
        """Return where it gets a thing: the nearest stack or counter."""
        stacks = {ONION: "onion_stack", PLATE: "plate_stack"}
        stations = [*self.kitchen.list(stacks[thing])] if thing in stacks else []
        stations += [Entity("counter", number) for number, lying in self.state.counters.items() if lying == thing]
        return self.nearest(stations)

    def find_counter(self, *, to_others: bool = False) -> Entity | None:
        """Return an empty counter; to hand something over, one beside the others' part of the kitchen."""
        free = [counter for counter in self.kitchen.list("counter") if counter.id not in self.state.counters]
        theirs = [self.kitchen.reach(cell) for other, cell in self.state.at.items() if other != self.agent]
        if to_others:
            free = [counter for counter in free if any(counter in reach for reach in theirs)]
        return self.nearest(free)

    def count_on_way(self, thing: str) -> int:
        """Return how many of a thing lie on counters or are in others' hands."""
        others = [held for other, held in self.state.hands.items() if other != self.agent]
        return [*self.state.counters.values(), *others].count(thing)

    def put(self, kind: str, station: Entity | None) -> Steps:
        """Return how it gets rid of what it holds: at a station, else over a counter to the others."""
        if station is not None:
            return (Action(kind, (station,)),)
        counter = self.find_counter(to_others=True)
        return () if counter is None else (Action("place", (counter,)),)

    def serve(self) -> Steps:
        """Return how it brings a soup that it holds to the window."""
        return self.put("deliver", self.nearest(self.kitchen.list("window")))

    def clear_hands(self) -> Steps:
        """Return how it empties its hands."""
        if self.held == NOTHING:
            return ()
        if self.held == SOUP:
            return self.serve()
        open_pots = [Entity("pot", number) for number, pot in enumerate(self.state.pots) if not pot.is_full]
        pot = self.nearest(open_pots) if self.held == ONION else None
        if pot is not None:
            return (Action("add", (pot,)),)
        counter = self.find_counter()
        return () if counter is None else (Action("place", (counter,)),)

    def bring(self, thing: str, pot: Entity) -> Steps:
        """Return how a thing gets to a pot: an onion into it, a plate to take the soup and serve it.

        Where the cook cannot get to the pot, it hands the thing over; where it cannot get the thing, it does nothing.
        """
        at_pot, cleared = self.reaches(pot), self.clear_hands()
        if self.held == thing:
            return self._use(thing, pot if at_pot else None)
        if self.held != NOTHING and not cleared:
            return ()
        placed = [action.args[0] for action in cleared if action.verb == "place"]
        after = self._replace(avoided=[*self.avoided, *placed])
        source, use = after.find_source(thing), after._use(thing, pot if at_pot else None)
        if source is None or (not at_pot and source.kind == "counter") or not use:
            return ()
        return (*cleared, Action("get", (source,)), *use)

    def _use(self, thing: str, pot: Entity | None) -> Steps:
        """Return what it does with an onion or a plate that it holds; without a pot it hands it over."""
        if thing == ONION or pot is None:
            return self.put("add", pot)
        return (Action("plate", (pot,)), *self.serve())


def list_plans(batch: Batch, cook: Cook) -> Iterator[Steps]:
    """Yield what a cook can do for a soup: a short plan, and the whole way where it can go it alone."""
    if batch.pot is None:
        yield from filter(None, [_carry_on(cook)])
        return
    pot, state = Entity("pot", batch.pot), cook.state.pots[batch.pot]
    thing = PLATE if state.is_full else ONION
    if not cook.reaches(pot) and not _is_short(thing, cook):
        return
    plan = cook.bring(thing, pot)
    if plan:
        yield plan
    if thing == ONION and cook.reaches(pot) and plan:
        yield (*plan, *_finish(cook, pot, FULL - state.onions - 1))


def _carry_on(cook: Cook) -> Steps:
    """Return what a cook does for a soup that is on a plate."""
    if cook.held == SOUP:
        return cook.serve()
    source, window = cook.find_source(SOUP), cook.nearest(cook.kitchen.list("window"))
    if source is None or window is None:
        return ()
    return (*cook.clear_hands(), Action("get", (source,)), Action("deliver", (window,)))


def _finish(cook: Cook, pot: Entity, onions: int) -> Steps:
    """Return the rest of a soup after the next onion."""
    free = cook._replace(state=_with_empty_hands(cook))
    stack, plates, window = free.find_source(ONION), free.find_source(PLATE), free.serve()
    if stack is None or stack.kind == "counter" or plates is None:
        return ()
    more = (Action("get", (stack,)), Action("add", (pot,))) * onions
    return (*more, Action("get", (plates,)), Action("plate", (pot,)), *window)


def _with_empty_hands(cook: Cook) -> KitchenState:
    return replace(cook.state, hands={**cook.state.hands, cook.agent: NOTHING})


def _is_short(thing: str, cook: Cook) -> bool:
    """Return whether the others lack a thing that a cook could hand over: less is on its way than pots can take."""
    pots = cook.state.pots
    wanted = sum(pot.is_full for pot in pots) if thing == PLATE else sum(FULL - pot.onions for pot in pots)
    return cook.count_on_way(thing) < wanted


def find_refuge(cook: Cook) -> Cell:
    """Return a cell where a cook is out of the way: beside no station but counters, on no way of the others."""
    kitchen, at = cook.kitchen, cook.at
    others = {cell for other, cell in cook.state.at.items() if other != cook.agent}
    used = [
        side
        for kind, _ in kitchen.stations
        if kind != "counter"
        for station in kitchen.list(kind)
        for side in kitchen.sides(station)
    ]
    cells = [cell for cell in sorted(kitchen.floor) if cell not in others and kitchen.distance(at, (cell,)) is not None]
    return min(cells, key=lambda cell: (used.count(cell), kitchen.distance(at, (cell,)) or 0, cell), default=at)


def rest(cook: Cook) -> Steps:
    """Return what a cook does that is not needed now: it goes out of the way and waits."""
    refuge = find_refuge(cook)
    return (WAIT, WAIT) if refuge == cook.at else (Action("go", (refuge,)), WAIT)
