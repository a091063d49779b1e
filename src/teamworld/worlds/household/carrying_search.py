"""Proof by search that no team brings all things in so few steps, whoever carries what, over whatever pieces.

A thing comes to the target in one or more *carries*: an agent takes it where it lies, and puts it on a piece or to the
target; what lies on a piece is taken there by the same agent or another. A container that a thing is in is opened
before, by somebody. What happens between the first and the last time that a thing lies in one place is left out, and
after it first comes to the target. So each plan that brings a thing has a carry of it, or several over different
pieces; and events that are left out are steps of the legs between others, where those allow for all handling.

Agents are in nobody's way. Each makes its own events in an order of its own, two things in hand at most, by the legs of
``handling_legs``; what others do before lets it wait until the earliest step at which they alone could have done it. So
its fewest steps are exact for this relaxed problem, found over sets of events and places.

All teams are searched, as far as no agent takes more steps than allowed: thing by thing, who brings it at once, or that
it is laid down in between; then for each thing that is, over which pieces it comes, and who carries it to each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from teamworld.worlds.household.handling_legs import NEVER, Handling, Legs, Steps, advance, restrict
from teamworld.worlds.household.homes.home import NodeId
from teamworld.worlds.household.state import HANDS, AgentId

Events: TypeAlias = tuple[int, ...]
"""The numbers of some events, ascending."""
#: Where things lie before the first step, and the target, beside pieces.
_ORIGIN: Final = 0
_TARGET: Final = -2


class _Carry(NamedTuple):
    """An agent takes a thing at one place and puts it at another."""

    thing: NodeId
    number: int
    """Of the carries of this thing, from 0."""
    start: NodeId
    end: NodeId
    ready: int
    """The step before which it cannot lie there to be taken."""
    opens: NodeId
    """What the same agent has to open before; 0 for nothing."""


class _Event(NamedTuple):
    """What an agent does at some time."""

    handling: Handling
    ready: int
    """The step before which it cannot be done."""
    rest: int
    """Steps that are left at least after it."""
    carried: int
    """By how much it changes how many things are carried."""
    later: set[int]
    """What has to come after it, if an agent does both."""
    never: Steps
    """``NEVER`` at each place after it."""


class _Share(NamedTuple):
    """What each agent does, and who opens what."""

    doing: Mapping[AgentId, Events]
    openers: Mapping[NodeId, AgentId]


class _Laid(NamedTuple):
    """A thing that is laid down before it comes to the target."""

    thing: NodeId
    first: AgentId
    """Who takes it where it lies."""


class CarryingSearch:
    """Search of all teams.

    Args:
        legs: Steps between handlings.
        agents: Who carries.
        target: Where to.
        shut: The closed containers that things are in.
        needed: What has to be opened beside.
        most: Steps that are looked at.
        work: How often places before an event are joined to those after it, and shares looked at, at most.
    """

    def __init__(
        self, legs: Legs, agents: Sequence[AgentId], target: NodeId, shut: Mapping[NodeId, NodeId],
        needed: Sequence[NodeId], most: int, work: int,
    ) -> None:  # fmt: skip
        self._legs, self._agents, self._target, self._shut, self._needed = legs, agents, target, shut, needed
        self._pieces = [piece for piece in legs.pieces if piece != target]
        self._most, self._work = most, work
        self._events: list[_Event] = []
        self._visits: dict[NodeId, Events] = {}
        self._openings: dict[NodeId, Events] = {}
        self._carries: dict[_Carry, tuple[int, int]] = {}
        self._reach, self._count = cache(self._find_fields), cache(self._count_steps)
        self._onwards = self._list_onwards()

    @property
    def is_exhausted(self) -> bool:
        """Return whether there was more to look at than allowed."""
        return self._work < 0

    def can_bring(self, choices: Sequence[tuple[Sequence[NodeId], int]], limit: int) -> bool:
        """Return whether a team may bring things within so many steps; True, too, if there was too much to look at.

        Args:
            choices: Things that are alike, and how many of them are needed.
            limit: Steps.
        """
        empty: tuple[tuple[_Laid, ...] | None, ...] = (None, ())
        for laid, parts in product(empty, product(*(combinations(things, number) for things, number in choices))):
            things = sorted((thing for part in parts for thing in part), key=self._distance)
            for share in self._open(_Share(dict.fromkeys(self._agents, ()), {}), self._needed, limit):
                if self._assign(share, things, laid, limit):
                    return True
        return self.is_exhausted

    def _distance(self, thing: NodeId) -> tuple[int, NodeId]:
        """Return an order of things: what is farthest is assigned first."""
        return -self._legs.fewest(("grab", thing), ("put", self._target)), thing

    # Who does what.

    def _open(self, share: _Share, nodes: Sequence[NodeId], limit: int) -> Iterator[_Share]:
        """Yield who may open some things, in addition."""
        left = [node for node in nodes if node not in share.openers]
        if not left:
            yield share
            return
        for agent in self._agents:
            more = self._add(share, agent, self._opening(left[0]), limit)
            if more is not None:
                yield from self._open(more._replace(openers={**share.openers, left[0]: agent}), left[1:], limit)

    def _assign(self, share: _Share, things: Sequence[NodeId], laid: tuple[_Laid, ...] | None, limit: int) -> bool:
        """Return whether the rest of the things can be brought, in one carry, or laid down in between unless None."""
        if self.is_exhausted:
            return True
        if not things:
            return self._relay(share, laid or (), limit)
        thing = things[0]
        for opened in self._open(share, [self._shut[thing]] if thing in self._shut else [], limit):
            for agent in self._agents:
                more = self._add(opened, agent, self._take(opened, thing, agent, _TARGET), limit)
                if more is not None and self._assign(more, things[1:], laid, limit):
                    return True
            for agent in self._agents if laid is not None else ():
                more = self._add(opened, agent, self._visit(thing), limit)
                if more is not None and self._assign(more, things[1:], (*(laid or ()), _Laid(thing, agent)), limit):
                    return True
        return False

    def _relay(self, share: _Share, laid: Sequence[_Laid], limit: int) -> bool:
        """Return whether things can be brought that are laid down in between."""
        if self.is_exhausted or not laid:
            return True
        thing, agent = laid[0]
        visit = self._visit(thing)
        less = {**share.doing, agent: tuple(event for event in share.doing[agent] if event not in visit)}
        return self._lay(share._replace(doing=less), laid, (), agent, 0, limit)

    def _lay(
        self,
        share: _Share,
        laid: Sequence[_Laid],
        visited: tuple[NodeId, ...],
        agent: AgentId,
        ready: int,
        limit: int,
    ) -> bool:
        """Return whether the first of some things can go on to a piece by an agent, and on from there."""
        thing = laid[0].thing
        for piece in self._pieces:
            if piece in visited:
                continue
            if visited:
                carried = alone = self._bring(thing, agent, visited, piece, ready)
            else:
                carried = self._take(share, thing, agent, piece)
                alone = _join(carried, self._opened_for(share, thing, agent))
            more = self._add(share, agent, carried, limit)
            if more is None:
                continue
            lies, further = self._count(agent, alone), (*visited, piece)
            if lies + self._onwards[piece] > limit:
                continue
            for other in self._agents:
                done = self._add(more, other, self._bring(thing, other, further, _TARGET, lies), limit)
                if done is not None and self._relay(done, laid[1:], limit):
                    return True
            if any(self._lay(more, laid, further, other, lies, limit) for other in self._agents):
                return True
        return False

    def _bring(self, thing: NodeId, agent: AgentId, visited: Sequence[NodeId], end: NodeId, ready: int) -> Events:
        """Return a carry of a thing from the last piece that it was laid on."""
        alone = self._legs.fewest(("start", agent), ("take", visited[-1]))
        return self._carry(_Carry(thing, len(visited), visited[-1], end, ready if ready >= alone else 0, 0))

    def _add(self, share: _Share, agent: AgentId, events: Events, limit: int) -> _Share | None:
        """Return a share with more events of an agent; None if this takes it too long."""
        self._work -= 1
        doing = _join(share.doing[agent], events)
        return share._replace(doing={**share.doing, agent: doing}) if self._count(agent, doing) <= limit else None

    def _take(self, share: _Share, thing: NodeId, agent: AgentId, end: NodeId) -> Events:
        """Return the first carry of a thing."""
        box = self._shut.get(thing, 0)
        if not box or share.openers[box] == agent:
            return self._carry(_Carry(thing, 0, _ORIGIN, end, 0, box))
        return self._carry(_Carry(thing, 0, _ORIGIN, end, self._count(share.openers[box], self._opening(box)), 0))

    def _opened_for(self, share: _Share, thing: NodeId, agent: AgentId) -> Events:
        """Return what an agent opens to take a thing."""
        box = self._shut.get(thing, 0)
        return self._opening(box) if box and share.openers[box] == agent else ()

    # Events.

    def _opening(self, node: NodeId) -> Events:
        if node not in self._openings:
            self._openings[node] = (self._add_event(("open", node)),)
        return self._openings[node]

    def _visit(self, thing: NodeId) -> Events:
        """Return the event of taking a thing where it lies, by somebody with a hand free, to lay it on any piece."""
        if thing not in self._visits:
            taken: Handling = ("grab", thing)
            rest = (self._legs.fewest(taken, ("lay", piece)) + self._onwards[piece] for piece in self._pieces)
            self._visits[thing] = (self._add_event(taken, rest=min(rest, default=NEVER)),)
        return self._visits[thing]

    def _carry(self, carry: _Carry) -> Events:
        """Return the two events of a carry."""
        if carry not in self._carries:
            taken: Handling = ("grab", carry.thing) if carry.start == _ORIGIN else ("take", carry.start)
            put: Handling = ("put", self._target) if carry.end == _TARGET else ("lay", carry.end)
            rest = self._onwards.get(carry.end, 0)
            left = self._legs.fewest(taken, put) + rest
            take = self._add_event(taken, ready=carry.ready, rest=left, carried=1)
            release = self._add_event(put, rest=rest, carried=-1)
            self._events[take].later.add(release)
            for event in self._opening(carry.opens) if carry.opens else ():
                self._events[event].later.add(take)
            for other, (taken_before, put_before) in self._carries.items():  # a thing is carried on after it came there
                if other.thing == carry.thing and other.number < carry.number:
                    self._events[put_before].later.add(take)
                elif other.thing == carry.thing and other.number > carry.number:
                    self._events[release].later.add(taken_before)
            self._carries[carry] = take, release
        return self._carries[carry]

    def _add_event(self, handling: Handling, *, ready: int = 0, rest: int = 0, carried: int = 0) -> int:
        never = np.full(self._legs.places(handling), NEVER, np.int16)
        self._events.append(_Event(handling, ready, rest, carried, set(), never))
        return len(self._events) - 1

    def _list_onwards(self) -> dict[NodeId, int]:
        """Return the fewest steps from when a thing lies on each piece until it is put to the target, by anybody."""
        fewest = self._legs.fewest
        onwards = {piece: 1 + fewest(("take", piece), ("put", self._target)) for piece in self._pieces}
        legs = {(p, q): 1 + fewest(("take", p), ("lay", q)) for p in self._pieces for q in self._pieces if p != q}
        for _ in self._pieces:
            for (piece, other), steps in legs.items():
                onwards[piece] = min(onwards[piece], steps + onwards[other])
        return onwards

    # The fewest steps of an agent.

    def _count_steps(self, agent: AgentId, events: Events) -> int:
        """Return the fewest steps in which an agent does all of some events; ``NEVER`` for more than are looked at."""
        if not events:
            return 0
        return min((int(field.min()) for _, field in self._reach(agent, events)), default=NEVER)

    def _find_fields(self, agent: AgentId, doing: Events) -> list[tuple[Handling, Steps]]:
        """Return what an agent may do last of some events, and the fewest steps after all, by where it stands."""
        fields: list[tuple[Handling, Steps]] = []
        events = self._events
        carried = sum(events[number].carried for number in doing)
        puts = [events[number + 1] for number in doing if events[number].carried > 0 and number + 1 not in doing]
        for at, last in enumerate(doing):
            handling, ready, rest, change, later, never = events[last]
            is_full, before = carried - change >= HANDS, doing[:at] + doing[at + 1 :]
            if self.is_exhausted or (is_full and change >= 0) or not later.isdisjoint(before):
                continue
            field = never.copy()
            if not before:
                advance(np.zeros(1, np.int16), self._legs.steps(("start", agent), handling, is_full), field)
            for first, begun in self._reach(agent, before) if before else ():
                self._work -= 1
                advance(begun, self._legs.steps(first, handling, is_full), field)
            left = max(rest, carried, *(self._legs.fewest(handling, put.handling) + put.rest for put in puts))
            if restrict(field, ready + 1, self._most - left):
                fields.append((handling, field))
        return fields


def _join(first: Events, second: Events) -> Events:
    """Return the events of both."""
    return tuple(sorted({*first, *second}))
