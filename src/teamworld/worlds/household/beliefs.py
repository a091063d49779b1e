"""What is open if so much is known, what would be seen, and what others' doings cost: the domain's part in beliefs.

Priors go by shares that were counted in development homes (``placement_prior``): pieces of furniture of one kind in a
room share alike, so do rooms of one kind, and rooms that nobody has explored count for all that lies in their kind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from math import fsum
from typing import Final

from teamworld.language import AgentId, Entity, Fact, Facts
from teamworld.worlds.contract import WAIT, LatentVariable, Option, Possible
from teamworld.worlds.household.goals import Predicates
from teamworld.worlds.household.homes.furnishing import GOAL_ROOMS
from teamworld.worlds.household.observe import Known
from teamworld.worlds.household.placement_prior import Shares, Spot, shares

#: Share of where nothing is expected.
UNLIKELY: Final = 0.01
#: Share of a room's weight that is left once it was looked at in part.
PART: Final = 0.5
#: How many times likelier the furniture of the goal is to stand in its usual room than in another.
USUAL: Final = 20.0


class HouseholdBeliefs:
    """The capability ``beliefs`` of the household.

    Args:
        predicates: The goal.
        read: Returns what facts tell, with the rooms that everybody knows.
    """

    def __init__(self, predicates: Predicates, read: Callable[[Facts], Known]) -> None:
        self._predicates, self._read = predicates, read

    def latent_variables(self, facts: Facts) -> tuple[LatentVariable, ...]:
        """Return where each thing may be that is still missing and not known of, and where the goal's furniture is."""
        known, predicates = self._read(facts), self._predicates
        useful, missing = Counter(predicates.useful(known).values()), predicates.missing(known)
        held = Counter(thing.kind for things in known.hands.values() for thing in things)
        variables = []
        for wanted in predicates.wanted:
            lacking = missing.get(wanted.id, 0) - useful[wanted.id] - held[wanted.kind]
            for number in range(1, lacking + 1):
                values = tuple(_values(Entity(wanted.kind, number), predicates, known))
                variables.append(LatentVariable(f"{wanted.kind} {number}", values, (wanted.id,)))
        target = predicates.target
        if missing and target not in known.room:
            rooms = [room for room in known.rooms if known.explored.get(room) != "all"] or list(known.rooms)
            usual = GOAL_ROOMS.get(target.kind)
            values = tuple(Possible(Fact(target, "IN", room), USUAL if room.kind == usual else 1.0) for room in rooms)
            variables.append(LatentVariable(str(target), values, tuple(missing)))
        return tuple(variables)

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return 1 for what would be in the agent's room and in nothing closed, else 0; where rooms are all know."""
        known = self._read(facts)
        here, value = known.at.get(agent), fact.value
        if fact.predicate == "POSITION" and fact.subject in known.rooms:
            return 1.0  # from the start
        if here is None:
            return 0.0
        if fact.predicate in ("IN", "AT"):
            return float(value == here)
        if fact.predicate in ("INSIDE", "ON") and isinstance(value, Entity):
            shut = fact.predicate == "INSIDE" and not known.opened.get(value, False)
            return float(known.room_of(value) == here and not shut)
        if fact.predicate == "NEAR" and fact.subject != agent:
            return 0.0  # agents are told only of what is close to themselves
        if isinstance(fact.subject, str):
            return float(known.at.get(fact.subject) == here)
        return float(known.room_of(fact.subject) == here)

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the steps that are lost if two agents do both: one of them goes for nothing."""
        known = self._read(facts)
        verbs = (first.action.verb, second.action.verb)
        if (
            WAIT in (first.action, second.action)
            or "deliver" in verbs
            or not (first.action.args and second.action.args)
        ):
            return 0.0
        lost = float(min(first.steps, second.steps))
        if first.action == second.action:
            place = first.action.args[0]
            return lost * (
                _alone(place, self._predicates) if first.action.verb == "explore" and isinstance(place, Entity) else 1.0
            )
        if set(verbs) == {"explore", "check"}:
            room, box = (o.action.args[0] for o in sorted((first, second), key=lambda o: o.action.verb, reverse=True))
            if isinstance(box, Entity) and known.room.get(box) == room:
                return lost / max(
                    1, sum(known.room.get(closed) == room for closed in self._predicates.unchecked(known))
                )
        if verbs == ("fetch", "fetch") and first.goal == second.goal and first.goal is not None:
            return lost if self._predicates.missing(known).get(first.goal, 0) < 2 else 0.0
        return 0.0


def _expected(name: str, predicates: Predicates) -> Shares:
    """Return where things of a class lie at the start, as far as development homes tell."""
    return shares(predicates.names.episode.placement, predicates.target.kind, name)


def _values(thing: Entity, predicates: Predicates, known: Known) -> Iterator[Possible]:
    """Yield the places in which a thing may be, for which ``thing`` stands: rooms, and containers not looked into."""
    expected, boxes = _expected(thing.kind, predicates), predicates.unchecked(known)
    alike = Counter((box.kind, known.room.get(box)) for box in known.opened)
    rooms = Counter(room.kind for room in known.rooms)
    places_left = []
    for room in known.rooms:
        value = Fact(thing, "IN", room)
        if known.explored.get(room) != "all":
            seen = {box.kind for box in known.opened if known.room.get(box) == room}
            weight = fsum(p for spot, p in expected.items() if spot.room == room.kind and spot.furniture not in seen)
            part = PART if known.explored.get(room) == "part" else 1.0
            places_left.append(Possible(value, part * max(weight / rooms[room.kind], UNLIKELY)))
        for box in boxes:
            if known.room.get(box) == room:
                weight = expected.get(Spot(room.kind, "INSIDE", box.kind), 0.0) / rooms[room.kind]
                weight = max(weight, UNLIKELY) / alike[box.kind, room]
                places_left.append(Possible(Fact(thing, "INSIDE", box), weight, value))
    # Where everything was looked into, somebody has moved it meanwhile.
    yield from places_left or (Possible(Fact(thing, "IN", room), 1.0) for room in known.rooms)


def _alone(room: Entity, predicates: Predicates) -> float:
    """Return the share of a room that one agent sees at once and looks into first; the rest is left to a second one."""
    weights: dict[Spot, float] = defaultdict(float)
    for wanted in predicates.wanted:
        for spot, share in _expected(wanted.kind, predicates).items():
            weights[spot] += share if spot.room == room.kind else 0.0
    first = max((weight for spot, weight in weights.items() if spot.relation == "INSIDE"), default=0.0)
    open_ = fsum(weight for spot, weight in weights.items() if spot.relation == "ON")
    whole = fsum(weights.values())
    return (open_ + first) / whole if whole else 0.0
