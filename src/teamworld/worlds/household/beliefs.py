"""What is open if so much is known, what would be seen, and what others' doings cost: the domain's part in beliefs.

Priors go by the benchmark's rule of placement: each kind of furniture in which a thing may lie is
as likely as any other, pieces of one kind share alike, and rooms that nobody has explored count for the furniture that
stands in rooms of their kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from teamworld.language import AgentId, Entity, Fact, Facts
from teamworld.worlds.contract import WAIT, LatentVariable, Option, Possible
from teamworld.worlds.household.goals import Predicates
from teamworld.worlds.household.homes.furnishing import GOAL_ROOMS, places
from teamworld.worlds.household.observe import Known

#: In which kind of room furniture stands in which things may lie at the start; anywhere, where it does not say.
STANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("kitchencabinet", "fridge", "dishwasher", "microwave", "stove", "kitchentable"), "kitchen"),
    **{"bathroomcabinet": "bathroom", "coffeetable": "livingroom", "cabinet": "bedroom", "bench": "livingroom"},
}
#: Weight of where nothing is expected, against 1 for each kind of furniture in which a thing may lie.
UNLIKELY: Final = 0.1
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


def _values(thing: Entity, predicates: Predicates, known: Known) -> Iterator[Possible]:
    """Yield the places in which a thing may be, for which ``thing`` stands: rooms, and containers not looked into."""
    may, boxes = {kind for _, kind in places(thing.kind)}, predicates.unchecked(known)
    alike = Counter((box.kind, known.room.get(box)) for box in known.opened)
    places_left = []
    for room in known.rooms:
        value = Fact(thing, "IN", room)
        if known.explored.get(room) != "all":
            seen = {box.kind for box in known.opened if known.room.get(box) == room}
            weight = sum(1.0 for kind in may - seen if STANDS.get(kind, room.kind) == room.kind)
            share = PART if known.explored.get(room) == "part" else 1.0
            places_left.append(Possible(value, share * max(weight, UNLIKELY)))
        for box in boxes:
            if known.room.get(box) == room:
                weight = 1.0 if box.kind in may else UNLIKELY
                places_left.append(Possible(Fact(thing, "INSIDE", box), weight / alike[box.kind, room], value))
    # Where everything was looked into, somebody has moved it meanwhile.
    yield from places_left or (Possible(Fact(thing, "IN", room), 1.0) for room in known.rooms)


def _alone(room: Entity, predicates: Predicates) -> float:
    """Return the share of a room that one agent sees at once and looks into first; the rest is left to a second one."""
    may = {place for wanted in predicates.wanted for place in places(wanted.kind)}
    here = [relation for relation, kind in sorted(may) if STANDS.get(kind, room.kind) == room.kind]
    return (here.count("ON") + ("INSIDE" in here)) / len(here) if here else 1.0
