"""What is open if so much is known, what would be seen, and what others' doings cost: the domain's part in beliefs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from teamworld.language import AgentId, Entity, Fact, Facts
from teamworld.worlds.contract import WAIT, LatentVariable, Option, Possible
from teamworld.worlds.transport.goals import Wants
from teamworld.worlds.transport.observe import BED, ROOM_KINDS, Known
from teamworld.worlds.transport.scene import CONTAINERS

#: How densely things of some kinds lie in rooms of a kind, against one another, rounded: counted in 150 development
#: houses and the 24 published training episodes. Rooms that are left out have ``UNLIKELY``.
DENSITIES: Final[tuple[tuple[tuple[str, ...], Mapping[str, float]], ...]] = (
    (("bread", "loaf_bread", "burger"), {"kitchen": 6.0, "livingroom": 1.0}),
    (("apple", "banana", "orange"), {"livingroom": 3.0, "kitchen": 1.0}),
    (("calculator", "mouse", "pen"), {"office": 10.0, "livingroom": 1.0}),
    (("lighter", "purse", "iphone"), {"livingroom": 5.0, "office": 1.0}),
    (CONTAINERS["food"], {"kitchen": 4.0, "livingroom": 1.0}),
    (CONTAINERS["stuff"], {"office": 4.0, "livingroom": 1.0}),
)
_DENSITY: Final = {kind: by_room for kinds, by_room in DENSITIES for kind in kinds}
UNLIKELY: Final = 0.02
#: How likely an agent that comes into a room sees what lies there; one that looks around in it sees all.
GLANCE: Final = 0.5
#: Missing targets from which on looking for a container is worth a thought.
WORTH_A_CONTAINER: Final = 2


class TransportBeliefs:
    """The capability ``beliefs`` of transport.

    Args:
        wants: What is to be delivered.
        read: Returns what facts tell, with the rooms that everybody knows.
    """

    def __init__(self, wants: Wants, read: Callable[[Facts], Known]) -> None:
        self._wants, self._read = wants, read
        boxes = {room.id: room.box for room in wants.names.instance.plan.rooms}
        #: Square metres of each room.
        self.areas = {
            room: (box.x1 - box.x0) * (box.z1 - box.z0)
            for room, box in ((room, boxes[room.id]) for room in wants.names.rooms)
        }

    def latent_variables(self, facts: Facts) -> tuple[LatentVariable, ...]:
        """Return where each target may be that nobody is known to have found, and a container, and the bed."""
        known, wants = self._read(facts), self._wants
        missing, unfound = wants.missing(known), wants.unfound(known)
        variables = []
        for wanted in wants.wanted:
            for number in range(1, unfound.get(wanted.id, 0) + 1):
                values = tuple(self._values(Entity(wanted.kind, number), known))
                variables.append(LatentVariable(f"{wanted.kind} {number}", values, (wanted.id,)))
        has_container = any(thing in wants.names.containers for thing in known.room) or any(
            thing in wants.names.containers for things in known.hands.values() for thing in things
        )
        if not has_container and sum(missing.values()) >= WORTH_A_CONTAINER:
            container = Entity(wants.names.container_kinds[0], 0)
            variables.append(LatentVariable("container", tuple(self._values(container, known)), tuple(missing)))
        if missing and BED not in known.room:
            values = tuple(Possible(Fact(BED, "IN", room), 1.0) for room in wants.names.bedrooms)
            variables.append(LatentVariable(str(BED), values, tuple(missing)))
        return tuple(variables)

    def _values(self, thing: Entity, known: Known) -> Iterator[Possible]:
        """Yield the rooms in which a thing may be, for which ``thing`` stands."""
        new = [room for room in known.rooms if known.explored.get(room) != "all"]
        for room in new or known.rooms:  # where everything was explored, it was overlooked
            unseen = 100 - known.shares.get(room, 0) if new else 100
            density = _DENSITY[thing.kind].get(room.kind, UNLIKELY)
            yield Possible(Fact(thing, "IN", room), density * self.areas[room] * max(unseen, 1) / 100)

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return how likely an agent perceives a fact: 1 in a room in which it looked around, less in another."""
        known = self._read(facts)
        here, value = known.at.get(agent), fact.value
        if fact.subject == agent or (fact.predicate == "POSITION" and fact.subject in known.rooms):
            return 1.0
        if here is None:
            return 0.0
        place = value if isinstance(value, Entity) and value.kind in ROOM_KINDS else self._room_of(fact, known)
        if place != here:
            return 0.0
        return 1.0 if known.explored.get(here) == "all" else GLANCE

    @staticmethod
    def _room_of(fact: Fact, known: Known) -> Entity | None:
        """Return the room of what a fact is about."""
        if isinstance(fact.subject, str):
            return known.at.get(fact.subject)
        if fact.subject in known.rooms:
            return fact.subject
        outer = known.inside.get(fact.subject, fact.subject)
        holder = known.holder(outer)
        return known.room.get(outer) if holder is None else known.at.get(holder)

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the steps that are lost if two agents do both: one of them goes for nothing."""
        acts = first.action, second.action
        if WAIT in acts or not (acts[0].args and acts[1].args) or acts[0].verb in ("put", "drop", "talk"):
            return 0.0
        lost = float(min(first.steps, second.steps))
        if acts[0].args == acts[1].args:
            return lost
        if acts[0].verb == acts[1].verb == "fetch" and first.goal == second.goal and first.goal is not None:
            both_serve = all(self._wants.goal_of(act.args[0]) for act in acts if isinstance(act.args[0], Entity))
            return lost if both_serve and self._wants.missing(self._read(facts)).get(first.goal, 0) < 2 else 0.0
        return 0.0
