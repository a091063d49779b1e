"""Joint plans of agents that handle things in orders that legs say are short, found walk by walk and played.

Each agent brings its own things, two at a time at most; who opens a container is chosen, too. On the way it may open or
close something by the way, as this leads it to where walks to that end. Agents are in nobody's way, so each order is
searched for by itself (A*, by the legs to come); what comes out is played by the rules of the home.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, count, pairwise, product
from typing import NamedTuple, TypeAlias

import numpy as np

from teamworld.seeding import generator
from teamworld.worlds.household import physics
from teamworld.worlds.household.handling_legs import NEVER, Handling, Legs, Steps, advance
from teamworld.worlds.household.homes.home import SEARCHED, Box, Need, NodeId, Point, close
from teamworld.worlds.household.interaction_points import SWINGS
from teamworld.worlds.household.physics import ARM, WAIT, PrimitiveAction
from teamworld.worlds.household.state import HANDS, AgentId, State, body

Order: TypeAlias = tuple[tuple[Handling, NodeId], ...]
"""What an agent does, and the thing that it puts."""
#: Places from which walks are tried, for one order and in all; orders of an agent that are tried for a share.
_PLACES_OF_ORDER, _PLACES, _ORDERS = 400, 20_000, 8
#: Things of one agent, and shares of some things, that are looked at.
_MOST_THINGS, _MOST_SHARES = 4, 2_000


class _Course(NamedTuple):
    """The acts of one agent, by step."""

    acts: tuple[PrimitiveAction, ...]
    opened: Mapping[NodeId, int]
    """The steps after which containers stand open."""


class _Moment(NamedTuple):
    """Where an agent has come."""

    at: Point
    done: int
    """How much of its order."""
    entered: frozenset[NodeId]
    """Rooms that it has seen."""
    acts: tuple[PrimitiveAction, ...]


class _Work(NamedTuple):
    """What one agent does."""

    things: frozenset[NodeId]
    opens: frozenset[NodeId]


class HandlingPlans:
    """The plans of a team.

    Args:
        state: The moment before the first step; agents see rooms.
        needs: The predicates of the goal, of one target.
        legs: Steps between handlings.
        shut: The closed containers that things are in.
    """

    def __init__(self, state: State, needs: Sequence[Need], legs: Legs, shut: Mapping[NodeId, NodeId]) -> None:
        self._state, self._needs, self._legs, self._shut = state, needs, legs, shut
        self._target, self._inside = needs[0].target, needs[0].relation == "INSIDE"
        self._put: Handling = ("put", self._target)
        self._left, self._most = _PLACES, 0
        self._list_orders = cache(self._find_orders)
        nodes = state.home.nodes
        self._containers = [n for n in legs.pieces if nodes[n].opens and n not in shut.values()]
        self._room = {node: state.room(node) for node in state.watched}

    def find(self, choices: Sequence[tuple[Sequence[NodeId], int]], most: int) -> int | None:
        """Return the steps of the best plan that was played, of those with fewer steps than given; None without any.

        Args:
            choices: Things that are alike, and how many of them are needed.
            most: Steps that a plan must not take.
        """
        shares: list[tuple[int, int, dict[AgentId, _Work]]] = []
        self._most = most
        for share in self._list_shares(choices):
            orders = [self._list_orders(agent, work) for agent, work in share.items()]
            if all(orders):
                shares.append((max(each[0][0] for each in orders), len(shares), share))
        best = most
        for steps, _, share in sorted(shares):
            if steps >= best or self._left < 0:
                break
            courses = self._find_courses(share, best - 1)
            if courses is not None:
                played = self._play({agent: course.acts for agent, course in courses.items()}, best - 1)
                best = best if played is None else played
        return best if best < most else None

    def _list_shares(self, choices: Sequence[tuple[Sequence[NodeId], int]]) -> Iterator[dict[AgentId, _Work]]:
        agents = tuple(self._state.points)
        for parts in product(*(combinations(things, number) for things, number in choices)):
            things = [thing for part in parts for thing in part]
            boxes = sorted({self._shut[thing] for thing in things if thing in self._shut})
            if len(agents) ** (len(things) + len(boxes)) > _MOST_SHARES:
                return
            for owners in product(agents, repeat=len(things) + len(boxes)):
                owned = list(zip(owners, (*things, *boxes), strict=True))
                sets = {agent: frozenset(node for owner, node in owned if owner == agent) for agent in agents}
                if max(len(own.difference(boxes)) for own in sets.values()) <= _MOST_THINGS:
                    yield {agent: _Work(own.difference(boxes), own.intersection(boxes)) for agent, own in sets.items()}

    # Orders of one agent.

    def _find_orders(self, agent: AgentId, work: _Work) -> list[tuple[int, Order]]:
        """Return the best orders of an agent's work, with the steps that they take at least."""
        orders: list[tuple[int, Order]] = []

        def extend(order: Order, field: Steps, left: frozenset[NodeId], held: tuple[NodeId, ...]) -> None:
            if not left and not held:
                orders.append((int(field.min()), order))
                return
            last = order[-1][0] if order else _start(agent)
            able: list[tuple[Handling, NodeId]] = [(self._put, thing) for thing in held[:1]]
            if len(held) < HANDS:
                able += [
                    (("grab" if node in work.things else "open", node), 0)
                    for node in sorted(left)
                    if self._shut.get(node) not in left
                ]
            for then, thing in able:
                after = _join(field, self._legs.direct(last, then))
                more = held[1:] if thing else (*held, then[1]) if then[0] == "grab" else held
                rest = left - {then[1]}
                if after.min() + len(rest) + len(rest & work.things) + len(more) < self._most:
                    extend((*order, (then, thing)), after, rest, more)

        extend((), np.zeros(1, np.int16), work.things | work.opens, ())
        orders = sorted(orders)[:_ORDERS]
        better = [each for steps, order in orders for each in self._pass_by(agent, steps, order)]
        return sorted({*orders, *better})[:_ORDERS]

    def _pass_by(self, agent: AgentId, steps: int, order: Order) -> list[tuple[int, Order]]:
        """Return orders with a detour or two more that take no more steps at least."""
        passing: list[tuple[int, Order]] = []
        for _ in range(2):
            options = sorted(self._insert(agent, order))
            if not options or options[0][0] > steps:
                break
            passing += [each for each in options[:3] if each[0] <= steps]
            steps, order = options[0]
        return passing

    def _insert(self, agent: AgentId, order: Order) -> Iterator[tuple[int, Order]]:
        """Yield orders with a detour more, and the steps that they take at least."""
        onwards = self._count_onwards(order)
        field, last, held = np.zeros(1, np.int16), _start(agent), 0
        for number, (handling, thing) in enumerate(order):
            for node in self._containers if held < HANDS else ():
                opening: Handling = "open", node
                if (opening, 0) not in order:
                    over = _join(_join(field, self._legs.direct(last, opening)), self._legs.direct(opening, handling))
                    steps = int((over + onwards[number]).min(initial=NEVER))
                    yield steps, (*order[:number], (opening, 0), *order[number:])
            field, last = _join(field, self._legs.direct(last, handling)), handling
            held += (handling[0] == "grab") - (thing > 0)

    def _count_onwards(self, order: Order) -> list[Steps]:
        """Return the fewest steps from after each handling of an order to its end, by place."""
        handlings = [handling for handling, _ in order]
        onwards: list[Steps] = [np.zeros(self._legs.places(handling), np.int16) for handling in handlings[-1:]]
        for first, then in reversed(list(pairwise(handlings))):
            onwards.insert(0, (self._legs.direct(first, then) + onwards[0]).min(axis=1, initial=NEVER))
        return onwards

    # Courses.

    def _find_courses(self, share: Mapping[AgentId, _Work], most: int) -> dict[AgentId, _Course] | None:
        """Return the courses of all agents, those first that wait for nobody; None if one takes too long."""
        courses: dict[AgentId, _Course] = {}
        opened: dict[NodeId, int] = {}

        def waits_for(agent: AgentId) -> set[NodeId]:
            return {self._shut[t] for t in share[agent].things if t in self._shut} - share[agent].opens

        for agent in sorted(share, key=lambda agent: (len(waits_for(agent)), agent)):
            if not waits_for(agent) <= opened.keys():
                return None
            ready = {node: opened[node] for node in waits_for(agent)}
            best: _Course | None = None
            for steps, order in self._list_orders(agent, share[agent]):
                limit = most if best is None else len(best.acts) - 1
                if steps > limit:
                    break
                best = self._find_course(agent, order, ready, limit) or best
            if best is None:
                return None
            courses[agent] = best
            opened |= best.opened
        return courses

    def _find_course(
        self, agent: AgentId, order: Order, ready: Mapping[NodeId, int], most: int
    ) -> _Course | None:  # fmt: skip
        """Return the shortest course through an order, see ``_PLACES_OF_ORDER``; None if there is none so short."""
        onwards = self._count_onwards(order)
        rest: dict[tuple[Point, int], int] = {}  # steps from a place on, when so much of the order is done

        def count_rest(moments: Sequence[_Moment]) -> None:
            for done, (handling, _) in enumerate(order):
                places = list(dict.fromkeys(m.at for m in moments if m.done == done and m[:2] not in rest))
                if places:
                    steps = (self._legs.walks(places, handling) + onwards[done]).min(axis=1, initial=NEVER)
                    rest.update(zip(((at, done) for at in places), steps.tolist(), strict=True))

        floor, start = self._state.floor, self._state.points[agent]
        ticket, left = count(), _PLACES_OF_ORDER
        begun = _Moment(start, 0, frozenset({floor.room(start)}), ())
        count_rest([begun])
        waiting = [(rest.get(begun[:2], 0), 0, next(ticket), begun)]
        reached: set[tuple[Point, int, frozenset[NodeId]]] = set()
        while waiting and left > 0:
            _, minus, _, moment = heapq.heappop(waiting)
            if moment.done == len(order):
                return _Course(moment.acts, _list_opened(moment.acts))
            if moment[:3] in reached:
                continue
            reached.add(moment[:3])
            left, self._left = left - 1, self._left - 1
            afters = list(self._list_steps(moment, order, ready))
            count_rest(afters)
            for after in afters:
                total = 1 - minus + rest.get(after[:2], 0)
                if total <= most and after[:3] not in reached:
                    heapq.heappush(waiting, (total, minus - 1, next(ticket), after))
        return None

    def _list_steps(self, moment: _Moment, order: Order, ready: Mapping[NodeId, int]) -> Iterator[_Moment]:
        """Yield the moments after one step: the next of an order if it can be done, or a walk."""
        floor = self._state.floor
        node = order[moment.done][0][1]
        opened = {handling[1] for handling, _ in order[: moment.done] if handling[0] == "open"}
        box = self._shut.get(node)
        is_shut = box is not None and box not in opened and len(moment.acts) < ready.get(box, NEVER)
        if is_shut and box in ready:
            yield moment._replace(acts=(*moment.acts, WAIT))
        if not is_shut and self._room[node] == floor.room(moment.at):
            did = self._handle(moment.at, order[moment.done], opened | ready.keys())
            if did is not None:
                to, act = did
                yield _Moment(to, moment.done + 1, moment.entered | {floor.room(to)}, (*moment.acts, act))
        for aim in self._list_aims(moment, {handling[1] for handling, _ in order[: moment.done]}):
            to = floor.towards(moment.at, aim)
            if to != moment.at:
                acts = (*moment.acts, PrimitiveAction("walktowards", aim))
                yield _Moment(to, moment.done, moment.entered | {floor.room(to)}, acts)

    def _list_aims(self, moment: _Moment, handled: set[NodeId]) -> Iterator[NodeId]:
        """Yield where an agent may walk: rooms, and what lies open in rooms that it has entered."""
        state = self._state
        yield from state.home.rooms
        for node in sorted(state.watched):
            is_moved = node in handled and state.home.nodes[node].grabbable
            if self._room[node] in moment.entered and not is_moved and not state.closed(node):
                yield node

    def _handle(
        self, at: Point, step: tuple[Handling, NodeId], opened: set[NodeId]
    ) -> tuple[Point, PrimitiveAction] | None:
        """Return where an agent stands after handling something, and how it does; None where it is not close."""
        state, own = self._state, body(at)
        (verb, node), thing = step
        box, end = state.box(node), state.floor.end(node)
        boxes = [self._reached(node, opened)]
        place = state.place(node)
        if (
            verb == "grab"
            and place is not None
            and place[0] == "INSIDE"
            and state.home.nodes[place[1]].name in SEARCHED
        ):
            boxes.append(self._reached(place[1], opened))
        if not any(close(own, each) for each in boxes):
            return None
        if verb == "open":
            return end, PrimitiveAction("close" if node in state.opened else "open", node)
        if verb == "grab":
            stays = (at.x - box.x) ** 2 + (at.z - box.z) ** 2 <= ARM * ARM
            return at if stays else end, PrimitiveAction("grab", node)
        stays = self._inside and close(own, box)
        return at if stays else end, PrimitiveAction("putin" if self._inside else "putback", thing, node)

    def _reached(self, node: NodeId, opened: set[NodeId]) -> Box:
        is_open = node in opened or node in self._state.opened
        is_wide = is_open and self._state.home.nodes[node].name in SWINGS
        return self._state.floor.opened_box(node) if is_wide else self._state.box(node)

    def _play(self, acts: Mapping[AgentId, Sequence[PrimitiveAction]], most: int) -> int | None:
        """Play a joint plan and return its steps; None if it takes more than so many."""
        state, rng = self._state.copy(), generator(0, "household", "joint plan")
        for step in range(most + 1):
            if state.done(self._needs):
                return step
            physics.step(state, {a: own[step] if step < len(own) else WAIT for a, own in acts.items()}, rng)
        return None


def _start(agent: AgentId) -> Handling:
    return "start", agent


def _join(begun: Steps, steps: Steps) -> Steps:
    """Return the fewest steps at the places after a handling."""
    field = np.full(steps.shape[1], NEVER, np.int16)
    advance(begun, steps, field)
    return field


def _list_opened(acts: Sequence[PrimitiveAction]) -> dict[NodeId, int]:
    return {act.target: time for time, act in enumerate(acts, 1) if act.verb == "open"}
