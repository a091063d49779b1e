"""A simulation of a team that fetches things and brings them to one place, played to the end in one imagined world.

Each agent goes by its beliefs: it fetches what it knows of, looks where it expects most a tick, and brings what it
holds when its hands are full, nothing else is of use, or the way there is the shortest. Nobody sets out for what
another agent, already on its way, reaches first. The imagined world says what is so; what an agent believes may be
wrong.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeAlias

from teamworld.language import AgentId, Entity
from teamworld.planning.fetch import MIN_FINDS

#: Ticks after which a team is taken to be done that never would be: three times what is left on average in the homes.
LATE: Final = 60
#: Share of things that lie in something closed, by the development homes: who has looked round in a room has that much
#: of what it expected there yet to find in it.
CLOSED: Final = 0.7
#: Share of the estimated ticks of a way that it takes, by the development homes: agents choose by estimates.
PACE: Final = 0.75
#: The kind under which agents keep where the place may be to which things are brought.
TARGET: Final = ""


@dataclass(frozen=True, eq=False)
class Item:
    """One thing that lies somewhere."""

    kind: str
    place: Entity
    """Who looks here finds it."""
    site: Entity
    """Where to go for it."""
    since: int = 0
    """Since when it is known to lie there, in ticks from now: nobody has taken it before."""


#: Where an agent is heading: for a thing, or to a place.
Aim: TypeAlias = Item | Entity


@dataclass
class Walker:
    """One simulated agent: where it is, what it holds, and what it believes."""

    agent: AgentId
    site: Entity | AgentId
    """The place; the agent itself for where it is now."""
    hands: list[str]
    """Kinds of things."""
    missing: Counter[str]
    """Things of each kind that are not brought yet."""
    others: Counter[str]
    """Things of each kind in others' hands."""
    known: list[Item]
    """Things that it could fetch."""
    places: dict[str, dict[Entity, float]]
    """Where a thing of each kind may be beside those, with weights."""
    finds: bool
    """It knows where things are brought."""
    room: Entity | None = None
    """Where it is; None on the way to another room."""
    left: Entity | None = None
    """Where it was when it set out."""
    aim: Aim | None = None
    since: int = 0
    due: int = 0
    """When it is there."""

    def copy(self) -> Walker:
        """Return the same, to be changed."""
        return replace(
            self,
            hands=list(self.hands),
            missing=self.missing.copy(),
            others=self.others.copy(),
            known=list(self.known),
            places={kind: dict(places) for kind, places in self.places.items()},
        )

    @property
    def lacking(self) -> dict[str, int]:
        """How many things of each kind nobody has yet, as it believes."""
        left = {kind: n - self.hands.count(kind) - self.others[kind] for kind, n in self.missing.items()}
        return {kind: n for kind, n in left.items() if n > 0}

    def look(self, place: Entity, within: Sequence[Entity], items: Sequence[Item]) -> None:
        """Find what is at a place; what else stands there it has yet to look into."""
        for kind, places in self.places.items():
            weight = places.pop(place, 0.0)
            shut = [box for box in within if box not in places]
            if weight > 0 and kind != TARGET:
                places.update(dict.fromkeys(shut, CLOSED * weight / max(1, len(shut))))
        self.known += [item for item in items if item.place == place and item not in self.known]

    def see_taken(self, item: Item) -> None:
        """See another agent take a thing; who is on its way to it finds out there."""
        if item != self.aim:
            self.others[item.kind] += 1
            if item in self.known:
                self.known.remove(item)

    def hear(self, before: Walker, after: Walker, items: Sequence[Item]) -> None:
        """Take in what it is told: what it would hold after it less what it held before."""
        self.known += [i for i in after.known if i in items and i not in before.known and i not in self.known]
        for kind, places in before.places.items():
            for place in places.keys() - after.places.get(kind, {}).keys():
                self.places.get(kind, {}).pop(place, None)
        for kind, n in before.missing.items():
            if after.missing[kind] < n:
                self.missing[kind] = min(self.missing[kind], after.missing[kind])
        self.others |= after.others
        self.finds = self.finds or after.finds


#: For each teammate what it holds before and after it is told something.
News: TypeAlias = Mapping[AgentId, tuple[Walker, Walker]]


class ImaginedWorld(NamedTuple):
    """How things may be."""

    items: tuple[Item, ...]
    """What lies somewhere."""
    taken: Mapping[AgentId, tuple[str, ...]]
    """Kinds of things that teammates may have taken in hand unseen."""
    brought: tuple[str, ...]
    """Kinds of things that they may have brought unseen."""
    aims: Mapping[AgentId, Aim | None]
    """What teammates in sight are heading for."""
    home: Entity | None
    """The room of the target."""
    starts: Mapping[AgentId, Entity]
    """The rooms in which those began who were never seen."""


@dataclass
class FetchSimulator:
    """One simulation to the end.

    Args:
        world: How things are.
        walkers: All agents, the one that thinks first; they are changed.
        target: Where things are brought.
        within: What stands in each room and can be looked into.
        capacity: How many things one agent can hold.
        ticks: From a place to a place, as the world estimates them.
        pace: Share of them that a way takes.
    """

    world: ImaginedWorld
    walkers: list[Walker]
    target: Entity
    within: Mapping[Entity, Sequence[Entity]]
    capacity: int
    ticks: Callable[[Entity | AgentId, Entity], int]
    pace: float = PACE
    missing: Counter[str] = field(init=False)
    """Things of each kind that truly are not brought yet."""
    lying: list[Item] = field(init=False)
    _rooms: dict[Entity, Entity] = field(init=False)
    """Of what can be looked into."""

    def __post_init__(self) -> None:
        brought = Counter(self.world.brought)
        self.missing = self.walkers[0].missing - brought
        self.lying = list(self.world.items)
        self._rooms = {box: room for room, boxes in self.within.items() for box in boxes}
        for walker in self.walkers[1:]:
            walker.hands += self.world.taken.get(walker.agent, ())
            walker.missing -= brought
            start = self.world.starts.get(walker.agent)
            if start is not None:
                walker.site = start
                self._enter(walker, start)

    def run(self, first: Aim | None, starts: Sequence[int], news: News | None) -> int:
        """Return the tick at which all is brought, from now on; ``LATE`` at most.

        Args:
            first: What the agent that thinks does first.
            starts: When each begins; before 0 for those who have been out of sight since.
            news: What teammates are told at tick 0; None: nothing is said.
        """
        if not +self.missing:
            return 0
        aims = {**self.world.aims, self.walkers[0].agent: first}
        queue = [(start, 1, number) for number, start in enumerate(starts)]
        if news is not None:
            queue.append((0, 3, len(starts)))  # after all that happens at that tick
        heapq.heapify(queue)
        while queue:
            t, _, number = heapq.heappop(queue)
            if t > LATE:
                break
            if news is not None and number == len(starts):
                queue = self._read(queue, news)
                continue
            walker = self.walkers[number]
            if walker.aim is not None:
                self._arrive(walker, walker.aim)
                if not +self.missing:
                    return max(0, t)
            self._send(walker, aims.pop(walker.agent, None) or self._choose(walker, t), t)
            if walker.aim is not None:
                heapq.heappush(queue, (walker.due, 2, number))
        return LATE

    def _read(self, queue: list[tuple[int, int, int]], news: News) -> list[tuple[int, int, int]]:
        """Let teammates read what they are told at the tick after: who is not there yet may turn round."""
        for number, walker in enumerate(self.walkers):
            if walker.agent not in news:
                continue
            before = self._choose(walker, 1)
            walker.hear(*news[walker.agent], self.lying)
            if walker.aim is not None and walker.due <= 1:
                continue
            choice = self._choose(walker, 1)
            if choice != before:  # who learns nothing that matters goes on
                self._turn(walker, choice, 1)
            queue = [entry for entry in queue if entry[2] != number]
            if walker.aim is not None:
                queue.append((walker.due, 2, number))
        heapq.heapify(queue)
        return queue

    def _send(self, walker: Walker, aim: Aim | None, t: int) -> None:
        walker.aim, walker.since = aim, t
        if aim is not None:
            laying = len(walker.hands) - 1 if aim == self.target and walker.hands else 0
            walker.due = t + self._ticks(walker.site, aim) + laying
            walker.left = walker.room
            walker.room = walker.room if walker.room == self._room(aim) else None

    def _turn(self, walker: Walker, aim: Aim | None, t: int) -> None:
        """Send an agent elsewhere that is on its way: on from there, or back, whichever is nearer."""
        old, since, due = walker.aim, walker.since, walker.due
        self._send(walker, aim, t)
        if aim is not None and old is not None:
            onward = due + self._ticks(self._site(old), aim)
            walker.due = min(onward, walker.due + t - since)

    def _ticks(self, start: Entity | AgentId, aim: Aim) -> int:
        return max(1, round(self.pace * self.ticks(start, self._site(aim))))

    def _site(self, aim: Aim) -> Entity:
        """Return where to go; for a target whose place the agent that thinks does not know, its imagined room."""
        site = aim.site if isinstance(aim, Item) else aim
        is_known = site != self.target or self.walkers[0].finds
        return site if is_known or self.world.home is None else self.world.home

    def _room(self, aim: Aim) -> Entity | None:
        """Return the room in which an agent is that has arrived."""
        place = aim.place if isinstance(aim, Item) else aim
        return self.world.home if place == self.target else self._rooms.get(place, place)

    def _arrive(self, walker: Walker, aim: Aim) -> None:
        walker.site, walker.aim, room = self._site(aim), None, self._room(aim)
        if room is not None and room != walker.room:
            self._enter(walker, room)
        beside = [other for other in self.walkers if other is not walker and room is not None and other.room == room]
        if isinstance(aim, Item):
            if aim in walker.known:
                walker.known.remove(aim)
            if aim in self.lying:
                self.lying.remove(aim)
                walker.hands.append(aim.kind)
                for other in beside:
                    other.see_taken(aim)
            else:  # another agent was quicker
                walker.others[aim.kind] += 1
        elif aim == self.target and walker.hands:
            brought, walker.hands = Counter(walker.hands), []
            self.missing -= brought
            walker.missing = self.missing.copy()
            walker.others &= walker.missing
            for other in beside:
                other.missing = self.missing.copy()
                other.others -= brought
        else:
            for other in (walker, *beside):
                other.look(aim, self.within.get(aim, ()), self.lying)

    def _enter(self, walker: Walker, room: Entity) -> None:
        """Let an agent see a room, and those who are in it each other."""
        walker.room = room
        walker.look(room, self.within.get(room, ()), self.lying)
        if room == self.world.home:
            walker.finds, walker.missing = True, self.missing.copy()
        for other in self.walkers:
            if other is not walker and other.room == room:
                walker.others |= Counter(other.hands)
                other.others |= Counter(walker.hands)

    def _choose(self, walker: Walker, t: int) -> Aim | None:
        """Return what an agent does next; None if nothing is left to do."""
        taken = [(other.aim, other.due) for other in self.walkers if self._sees(walker, other)]
        best: Aim | None = None
        top, near = 0.0, 0
        for aim, gain in self._gains(walker) if len(walker.hands) < self.capacity else ():
            ticks = self.ticks(walker.site, aim.site if isinstance(aim, Item) else aim)
            if gain / ticks <= top or (isinstance(aim, Item) and t + ticks < aim.since):
                continue
            if not any(aim == other and due <= t + self.pace * ticks for other, due in taken):
                best, top, near = aim, gain / ticks, ticks
        if not walker.hands:
            return best
        if not walker.finds:
            rooms = walker.places.get(TARGET, {})
            return best or max(rooms, key=lambda room: rooms[room] / self.ticks(walker.site, room), default=None)
        brings = best is None or self.ticks(walker.site, self._site(self.target)) <= near
        return self.target if brings else best

    def _sees(self, walker: Walker, other: Walker) -> bool:
        """Return whether an agent sees another one, in its room or just leaving, head for what takes one agent.

        A second agent would come for nothing; in a room there is more to look into.
        """
        is_seen = other is not walker and walker.room is not None and walker.room in (other.room, other.left)
        return is_seen and (isinstance(other.aim, Item) or other.aim in self._rooms)

    def _gains(self, walker: Walker) -> list[tuple[Aim, float]]:
        """Return what an agent could go for with the number of things that it expects of it."""
        lacking = walker.lacking
        fetch = [item for item in walker.known if item.kind in lacking]
        gains: dict[Entity, float] = {}
        wanted = {kind: n - sum(item.kind == kind for item in fetch) for kind, n in lacking.items()}
        if not walker.finds:
            wanted[TARGET] = 1
        for kind, n in wanted.items():
            places = walker.places.get(kind, {})
            whole = sum(places.values())
            for place, weight in places.items() if n > 0 and whole > 0 else ():
                gains[place] = gains.get(place, 0.0) + n * weight / whole
        looks = [(place, max(MIN_FINDS, min(1.0, gain))) for place, gain in gains.items()]
        return [*((item, 1.0) for item in fetch), *looks]
