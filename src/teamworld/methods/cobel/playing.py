"""A team that fetches and brings, played to the end in thought.

Everybody goes by what it believes: it fetches what it knows of, looks where it expects most a tick, and brings what it
holds when its hands are full, nothing else is of use, or the way there is the shortest. Nobody sets out for what
another one, already on its way, reaches first. What is so is a drawn world; what one believes, one may be wrong about.
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


#: Where somebody is heading: for a thing, or to a place.
Aim: TypeAlias = Item | Entity


def site_of(aim: Aim) -> Entity:
    """Return the place that somebody is heading for."""
    return aim.site if isinstance(aim, Item) else aim


@dataclass
class Walker:
    """One agent in thought: where it is, what it holds, and what it believes."""

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
    def lacks(self) -> dict[str, int]:
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
        """See somebody else take a thing; who is on its way to it finds out there."""
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


#: What team-mates hold before and after they are told something.
Told: TypeAlias = Mapping[AgentId, tuple[Walker, Walker]]


class World(NamedTuple):
    """How things may be."""

    items: tuple[Item, ...]
    """What lies somewhere."""
    taken: Mapping[AgentId, tuple[str, ...]]
    """Kinds of things that team-mates may have taken in hand unseen."""
    brought: tuple[str, ...]
    """Kinds of things that they may have brought unseen."""
    moods: Mapping[AgentId, Aim | None]
    """What team-mates are up to that are in sight."""
    home: Entity | None
    """The room of the target."""
    starts: Mapping[AgentId, Entity]
    """The rooms in which those began who were never seen."""


@dataclass
class Play:
    """One play to the end.

    Args:
        world: How things are.
        walkers: Everybody, the agent that thinks first; they are changed.
        target: Where things are brought.
        within: What stands in each room and can be looked into.
        capacity: How many things one can hold.
        ticks: From a place to a place, as the world estimates them.
        pace: Share of them that a way takes.
    """

    world: World
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
        self.missing = self.walkers[0].missing - Counter(self.world.brought)
        self.lying = list(self.world.items)
        self._rooms = {box: room for room, boxes in self.within.items() for box in boxes}
        for one in self.walkers[1:]:
            one.hands += self.world.taken.get(one.agent, ())
            one.missing -= Counter(self.world.brought)
            start = self.world.starts.get(one.agent)
            if start is not None:
                one.site = start
                self._enter(one, start)

    def ends(self, first: Aim | None, starts: Sequence[int], told: Told | None) -> int:
        """Return the tick at which all is brought, from now on; ``LATE`` at most.

        Args:
            first: What the agent that thinks does first.
            starts: When each begins; before 0 for those who have been out of sight since.
            told: What team-mates hold before and after they are told something at tick 0; None: nothing is said.
        """
        if not +self.missing:
            return 0
        moods = {**self.world.moods, self.walkers[0].agent: first}
        queue = [(start, 1, number) for number, start in enumerate(starts)]
        if told is not None:
            queue.append((0, 3, len(starts)))  # after all that happens at that tick
        heapq.heapify(queue)
        while queue:
            t, _, number = heapq.heappop(queue)
            if t > LATE:
                break
            if told is not None and number == len(starts):
                queue = self._read(queue, told)
                continue
            one = self.walkers[number]
            if one.aim is not None:
                self._arrive(one, one.aim)
                if not +self.missing:
                    return max(0, t)
            self._send(one, moods.pop(one.agent, None) or self._choice(one, t), t)
            if one.aim is not None:
                heapq.heappush(queue, (one.due, 2, number))
        return LATE

    def _read(self, queue: list[tuple[int, int, int]], told: Told) -> list[tuple[int, int, int]]:
        """Let team-mates read what they are told at the tick after: who is not there yet may turn round."""
        for number, one in enumerate(self.walkers):
            if one.agent not in told:
                continue
            before = self._choice(one, 1)
            one.hear(*told[one.agent], self.lying)
            if one.aim is not None and one.due <= 1:
                continue
            choice = self._choice(one, 1)
            if choice != before:  # who learns nothing that matters goes on
                self._turn(one, choice, 1)
            queue = [entry for entry in queue if entry[2] != number]
            if one.aim is not None:
                queue.append((one.due, 2, number))
        heapq.heapify(queue)
        return queue

    def _send(self, one: Walker, aim: Aim | None, t: int) -> None:
        one.aim, one.since = aim, t
        if aim is not None:
            laying = len(one.hands) - 1 if aim == self.target and one.hands else 0
            one.due = t + self._takes(one.site, aim) + laying
            one.left = one.room
            one.room = one.room if one.room == self._room(aim) else None

    def _turn(self, one: Walker, aim: Aim | None, t: int) -> None:
        """Send somebody elsewhere who is on its way: on from there, or back, whichever is nearer."""
        old, since, due = one.aim, one.since, one.due
        self._send(one, aim, t)
        if aim is not None and old is not None:
            onward = due + self._takes(self._reachable(old), aim)
            one.due = min(onward, one.due + t - since)

    def _takes(self, at: Entity | AgentId, aim: Aim) -> int:
        return max(1, round(self.pace * self.ticks(at, self._reachable(aim))))

    def _reachable(self, aim: Aim) -> Entity:
        """Return where to go; for a target whose place the agent that thinks does not know, its drawn room."""
        site = site_of(aim)
        known = site != self.target or self.walkers[0].finds
        return site if known or self.world.home is None else self.world.home

    def _room(self, aim: Aim) -> Entity | None:
        """Return the room in which somebody is who has come there."""
        place = aim.place if isinstance(aim, Item) else aim
        return self.world.home if place == self.target else self._rooms.get(place, place)

    def _arrive(self, one: Walker, aim: Aim) -> None:
        one.site, one.aim, room = self._reachable(aim), None, self._room(aim)
        if room is not None and room != one.room:
            self._enter(one, room)
        beside = [other for other in self.walkers if other is not one and room is not None and other.room == room]
        if isinstance(aim, Item):
            if aim in one.known:
                one.known.remove(aim)
            if aim in self.lying:
                self.lying.remove(aim)
                one.hands.append(aim.kind)
                for other in beside:
                    other.see_taken(aim)
            else:  # somebody was quicker
                one.others[aim.kind] += 1
        elif aim == self.target and one.hands:
            brought, one.hands = Counter(one.hands), []
            self.missing -= brought
            one.missing = self.missing.copy()
            one.others &= one.missing
            for other in beside:
                other.missing = self.missing.copy()
                other.others -= brought
        else:
            for other in (one, *beside):
                other.look(aim, self.within.get(aim, ()), self.lying)

    def _enter(self, one: Walker, room: Entity) -> None:
        """Let somebody see a room, and those who are in it each other."""
        one.room = room
        one.look(room, self.within.get(room, ()), self.lying)
        if room == self.world.home:
            one.finds, one.missing = True, self.missing.copy()
        for other in self.walkers:
            if other is not one and other.room == room:
                one.others |= Counter(other.hands)
                other.others |= Counter(one.hands)

    def _choice(self, one: Walker, t: int) -> Aim | None:
        """Return what somebody does next; None if nothing is left to do."""
        taken = [(other.aim, other.due) for other in self.walkers if self._seen(one, other) and self._alone(other.aim)]
        best: Aim | None = None
        top, near = 0.0, 0
        if len(one.hands) < self.capacity:
            for aim, gain in self._worth(one):
                ticks = self.ticks(one.site, site_of(aim))
                if isinstance(aim, Item) and t + ticks < aim.since:
                    continue
                if gain / ticks > top and not any(
                    aim == other and due <= t + self.pace * ticks for other, due in taken
                ):
                    best, top, near = aim, gain / ticks, ticks
        if not one.hands:
            return best
        if not one.finds:
            rooms = one.places.get(TARGET, {})
            return best or max(rooms, key=lambda room: rooms[room] / self.ticks(one.site, room), default=None)
        bring = best is None or self.ticks(one.site, self._reachable(self.target)) <= near
        return self.target if bring else best

    def _seen(self, one: Walker, other: Walker) -> bool:
        """Return whether somebody sees where another one is heading: it is in the room, or has just left it."""
        return other is not one and one.room is not None and one.room in (other.room, other.left)

    def _alone(self, aim: Aim | None) -> bool:
        """Return whether a second agent would come for nothing: in a room there is more to look into."""
        return isinstance(aim, Item) or aim in self._rooms

    def _worth(self, one: Walker) -> list[tuple[Aim, float]]:
        """Return what somebody could go for with the number of things that it expects of it."""
        lacks = one.lacks
        fetch = [item for item in one.known if item.kind in lacks]
        gains: dict[Entity, float] = {}
        wanted = {kind: n - sum(item.kind == kind for item in fetch) for kind, n in lacks.items()}
        if not one.finds:
            wanted[TARGET] = 1
        for kind, n in wanted.items():
            places = one.places.get(kind, {})
            whole = sum(places.values())
            for place, weight in places.items() if n > 0 and whole > 0 else ():
                gains[place] = gains.get(place, 0.0) + n * weight / whole
        looks = [(place, max(MIN_FINDS, min(1.0, gain))) for place, gain in gains.items()]
        return [*((item, 1.0) for item in fetch), *looks]
