"""The capability ``beliefs``: what is not known, what is in sight, and what two agents should not both do."""

from __future__ import annotations

from itertools import islice
from typing import Final

from teamworld.language import AgentId, Entity, Fact, Facts, GoalId
from teamworld.worlds.base.beliefs import SAFETY, UNSEEN_TOO, is_cell, readable
from teamworld.worlds.contract import LatentVariable, Option, Possible
from teamworld.worlds.rooms.facts import item, read_state
from teamworld.worlds.rooms.state import House

#: How likely a thing that was carried off was put down in a room that one has seen, against one that one has not.
CARRIED: Final = 0.2


class RoomsBeliefs:
    """A place is believed by the room: its middle cell stands for all of it, and one look shows all of it.

    Args:
        house: The floor plan.
    """

    def __init__(self, house: House) -> None:
        self._house = house

    def latent_variables(self, facts: Facts) -> tuple[LatentVariable, ...]:
        """Return where each known thing is that was not where it had been seen, and those that nobody has seen.

        Things are numbered without gaps, and all are told of what was delivered: a number below a known one that
        nothing is known of is a thing that nobody has seen. Without such a gap one more is looked for, if there is
        one, as long as there are rooms that were never seen. Rooms are alike; see ``CARRIED``.
        """
        state, house = readable(read_state, facts), self._house
        if state is None:
            return ()
        lost = [number for number, thing in state.items.items() if thing.cell is None and thing.state == "free"]
        rooms = [room for room in range(house.rooms) if room in state.unseen]
        highest = max(state.items, default=-1)
        # Numbers may be made up: no more are looked for than there are rooms.
        gaps = list(islice((number for number in range(highest) if number not in state.items), len(rooms)))

        def variable(number: int, places: dict[int, float], goals: tuple[GoalId, ...]) -> LatentVariable:
            values = (
                Possible(Fact(item(number), "AT", house.middle(room)), weight, area=f"room {room}")
                for room, weight in places.items()
            )
            return LatentVariable(f"item_{number}", tuple(values), goals)

        weights = {room: 1.0 if room in rooms else CARRIED for room in range(house.rooms)}
        variables = [variable(number, weights, (f"deliver_{number}",)) for number in lost]
        new = gaps or [highest + 1][: len(rooms)]
        return (*variables, *(variable(number, dict.fromkeys(rooms, 1.0), ()) for number in new))

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return 1 for what is in the agent's room, or on the board for all to see; else 0.

        That a room was not seen is in nobody's sight; whoever is not in it is taken not to have seen it (0.9).
        """
        state = readable(read_state, facts)
        if state is None or agent not in state.agents:
            return 0.0
        here, subject = self._rooms(state.agents[agent]), fact.subject
        if fact.predicate == "UNSEEN":
            return 0.0 if isinstance(subject, Entity) and subject.id in here else UNSEEN_TOO
        if fact.predicate == "AT":
            return float(bool(here & self._rooms(fact.value)))
        if isinstance(subject, str):
            return float(bool(here & self._rooms(state.agents.get(subject))))
        thing = state.items.get(subject.id)
        if subject.kind == "door" or "delivered" in (fact.value, thing and thing.state):
            return 1.0
        return float(thing is not None and bool(here & self._rooms(thing.cell)))

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the steps that are lost if two agents do both.

        ======================================================== ===========================================
        both go for, or lift, a thing that one can carry          the shorter way
        one brings what the two hold, the other puts it down      the longer one: it is brought by nobody
        both open one door                                        the shorter way
        both look into a room that nobody has seen                the shorter way
        one goes where it burns                                   ``SAFETY``: an agent is lost
        ======================================================== ===========================================
        """
        state = readable(read_state, facts)
        if state is None:
            return 0.0
        places = [option.action.args[:1] for option in (first, second) if option.action.verb == "go"]
        if any(is_cell(cell) and cell in state.fire for place in places for cell in place):
            return SAFETY
        verbs, short = {first.action.verb, second.action.verb}, float(min(first.steps, second.steps))
        if first.goal is not None and first.goal == second.goal and not verbs & {"wait", "talk"}:
            kind, _, number = first.goal.partition("_")
            if kind == "open":
                return short
            thing = next((thing for n, thing in state.items.items() if str(n) == number), None)
            if verbs == {"bring", "drop"} and thing is not None and len(thing.holders) > 1:
                return float(max(first.steps, second.steps))
            return short if thing is not None and thing.weight == 1 else 0.0
        if verbs != {"go"} or first.goal != second.goal or not all(places):
            return 0.0
        here, there = (self._rooms(*place) for place in places)
        return short if here & there & state.unseen else 0.0

    def _rooms(self, cell: object) -> frozenset[int]:
        """Return the rooms that are seen from a cell; none where it is no cell."""
        return frozenset(self._house.rooms_at(cell)) if is_cell(cell) else frozenset()
