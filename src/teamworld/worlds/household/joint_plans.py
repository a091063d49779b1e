"""A joint plan of a team that knows where everything lies, played by the rules of the home.

Who brings what is chosen by walks that pass furniture as the floor has it, for agents that are in nobody's way: each
agent goes to one or two things and brings them, as often as it takes. The best of these shares are played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, islice, permutations, product
from typing import Final, TypeAlias

from teamworld.seeding import generator
from teamworld.worlds.household import physics, sight
from teamworld.worlds.household.homes.home import Need, NodeId, Point
from teamworld.worlds.household.physics import WAIT, PrimitiveAction
from teamworld.worlds.household.state import HANDS, AgentId, State

#: What an agent takes before it goes to the target, time after time.
Tour: TypeAlias = tuple[tuple[NodeId, ...], ...]
#: Shares of the work that are played, those that are looked at, and things that are brought at most.
PLAYED: Final = 16
MOST_SHARES, MOST_THINGS = 20_000, 8


def find_plan(state: State, needs: Sequence[Need], things: Mapping[Need, Sequence[NodeId]], most: int) -> int | None:
    """Return the steps of the best joint plan that was played; None where there is none.

    Args:
        state: The moment before the first step; it is left as it is.
        needs: The predicates of the goal, of one target.
        things: What each predicate that is open may use.
        most: Steps of a plan at most.
    """
    chosen = tuple(thing for need, alike in things.items() for thing in _choose(state, need, alike))
    if not 0 < len(chosen) <= MOST_THINGS or len(state.points) ** len(chosen) > MOST_SHARES:
        return None
    tours = _Tours(state, needs[0].target)
    shares = sorted(
        (max(tours.best(agent, share)[0] for agent, share in shares.items()), number, shares)
        for number, shares in enumerate(_list_shares(tuple(state.points), chosen))
    )
    best: int | None = None
    for _, _, shares_ in islice(shares, PLAYED):
        joint = {agent: tours.best(agent, share)[1] for agent, share in shares_.items()}
        steps = _play(state.copy(), joint, needs, most if best is None else best - 1)
        best = steps if steps is not None else best
    return best


def _choose(state: State, need: Need, things: Sequence[NodeId]) -> list[NodeId]:
    """Return the things of a predicate that are nearest to its target."""
    aim = state.box(need.target)
    away = {thing: (state.box(thing).x - aim.x) ** 2 + (state.box(thing).z - aim.z) ** 2 for thing in things}
    return sorted(away, key=lambda thing: (state.room(thing) != state.room(need.target), away[thing]))[
        : state.missing(need)
    ]


def _list_shares(agents: Sequence[AgentId], things: Sequence[NodeId]) -> Iterator[dict[AgentId, frozenset[NodeId]]]:
    for owners in product(agents, repeat=len(things)):
        owned = list(zip(owners, things, strict=True))
        yield {agent: frozenset(thing for owner, thing in owned if owner == agent) for agent in agents}


class _Tours:
    """The shortest tours of single agents, by the steps of walks.

    Args:
        state: The moment before the first step.
        target: Where things are brought.
    """

    def __init__(self, state: State, target: NodeId) -> None:
        self._state, self._target = state, target
        self._walk = cache(self._count_walk)
        self.best = cache(self._find_best)

    def _count_walk(self, start: Point, target: NodeId) -> int:
        floor, at, steps = self._state.floor, start, 0
        aim = target if self._state.fixed(target) else self._state.box(target)
        while (after := floor.towards(at, aim)) != at:
            at, steps = after, steps + 1
        return steps

    def _end(self, thing: NodeId) -> Point:
        return self._state.floor.end(thing if self._state.fixed(thing) else self._state.box(thing))

    def _find_best(self, agent: AgentId, share: frozenset[NodeId]) -> tuple[int, Tour]:
        """Return the shortest tour of an agent and its estimated steps."""
        return (
            min(
                (
                    self._first(self._state.points[agent], trip) + self._rest(share - {*trip})[0],
                    (trip, *self._rest(share - {*trip})[1]),
                )
                for trip in _list_trips(share)
            )
            if share
            else (0, ())
        )

    def _rest(self, share: frozenset[NodeId]) -> tuple[int, Tour]:
        """Return the shortest tour that begins at the target."""
        if not share:
            return 0, ()
        first = min(share)
        ways = []
        for trip in _list_trips(share):
            if first in trip:
                steps, rest = self._rest(share - {*trip})
                ways.append((self._first(self._end(self._target), trip) + steps, (trip, *rest)))
        return min(ways)

    def _first(self, start: Point, trip: Sequence[NodeId]) -> int:
        steps, at = 0, start
        for thing in trip:
            steps += self._walk(at, thing) + 2 + self._state.closed(thing)
            at = self._end(thing)
        return steps + self._walk(at, self._target)


def _list_trips(share: frozenset[NodeId]) -> Iterator[tuple[NodeId, ...]]:
    for number in range(1, HANDS + 1):
        for things in combinations(sorted(share), number):
            yield from permutations(things)


def _play(state: State, joint: Mapping[AgentId, Tour], needs: Sequence[Need], most: int) -> int | None:
    """Play a joint plan and return its steps; None if it takes more than so many."""
    left = {agent: [[*trip] for trip in tour] for agent, tour in joint.items()}
    rng = generator(0, "household", "joint plan")
    for step in range(most + 1):
        if state.done(needs):
            return step
        if step < most:
            acts = {agent: _act(state, agent, trips, needs[0]) for agent, trips in left.items()}
            physics.step(state, acts, rng)
    return None


def _act(state: State, agent: AgentId, trips: list[list[NodeId]], need: Need) -> PrimitiveAction:
    """Return the next act of an agent, and strike off what it holds."""
    held = state.hands[agent].things
    if trips:
        trips[0] = [thing for thing in trips[0] if thing not in held]
        if not trips[0] and not held:
            trips.pop(0)
    if not trips:
        return WAIT
    if trips[0]:
        return _take(state, agent, trips[0][0])
    if not _within_reach(state, agent, need.target):
        return _go(state, agent, need.target)
    if need.relation == "INSIDE" and state.rules.strict_put and need.target not in state.opened:
        return PrimitiveAction("open", need.target)
    return PrimitiveAction("putin" if need.relation == "INSIDE" else "putback", held[0], need.target)


def _take(state: State, agent: AgentId, thing: NodeId) -> PrimitiveAction:
    place = state.place(thing)
    if state.closed(thing) and place is not None:
        return (
            PrimitiveAction("open", place[1]) if _within_reach(state, agent, place[1]) else _go(state, agent, place[1])
        )
    return PrimitiveAction("grab", thing) if _within_reach(state, agent, thing) else _go(state, agent, thing)


def _within_reach(state: State, agent: AgentId, node: NodeId) -> bool:
    return node in sight.view(state, agent) and state.close(agent, node)


def _go(state: State, agent: AgentId, node: NodeId) -> PrimitiveAction:
    """Walk to a node; as long as the agent cannot know of it, to the middle of its room, and look round there."""
    if node in state.known[agent] or node in sight.view(state, agent):
        return PrimitiveAction("walktowards", node)
    room = state.room(node)
    is_there = state.points[agent] == state.floor.end(room)
    return PrimitiveAction("turnleft") if is_there else PrimitiveAction("walktowards", room)
