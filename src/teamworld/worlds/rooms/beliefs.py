"""What rooms say of beliefs: what is not known, what is in sight, and what two should not both do.

A place is believed by the room: the middle cell of a room stands for all of it, and one look
shows all of a room.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from teamworld.language import AgentId, Entity, Fact, Facts, GoalId
from teamworld.worlds.base.beliefs import SAFETY, UNSEEN_TOO, is_cell, readable
from teamworld.worlds.contract import LatentVariable, Option, Possible
from teamworld.worlds.rooms.observe import believed, item
from teamworld.worlds.rooms.state import House

#: How likely a thing that was carried off was put down in a room that one has seen, against one that one has not.
CARRIED: Final = 0.2


def unknowns(house: House, facts: Facts) -> tuple[LatentVariable, ...]:
    """Return where each thing is that is known of and was not where it had been seen, and those that nobody has seen.

    Things are numbered without gaps, and all are told of what was delivered: a number below a known one that nothing
    is known of is a thing that nobody has seen. Without such a gap one more is looked for, if there is one, as long as
    there are rooms that were never seen: how many things there are nobody was told. Rooms are alike; see ``CARRIED``.
    """
    state = readable(believed, facts)
    if state is None:
        return ()
    lost = [n for n, thing in state.items.items() if thing.cell is None and thing.state == "free"]
    rooms = [room for room in range(house.rooms) if room in state.unseen]
    highest = max(state.items, default=-1)
    gaps = list(islice((n for n in range(highest) if n not in state.items), len(rooms)))  # numbers may be made up
    new = gaps or [highest + 1][: len(rooms)]
    weights = {room: 1.0 if room in rooms else CARRIED for room in range(house.rooms)}
    variables = [_unknown(house, number, weights, (f"deliver_{number}",)) for number in lost]
    variables += [_unknown(house, number, dict.fromkeys(rooms, 1.0), ()) for number in new]
    return tuple(variables)


def _unknown(house: House, number: int, weights: Mapping[int, float], goals: tuple[GoalId, ...]) -> LatentVariable:
    at = ((Fact(item(number), "AT", house.middle(room)), weight) for room, weight in weights.items())
    return LatentVariable(f"item {number}", tuple(Possible(fact, weight) for fact, weight in at), goals)


def visible(house: House, fact: Fact, agent: AgentId, facts: Facts) -> float:
    """Return 1 for what is in the agent's room, or on the board for all to see; else 0.

    That a room was not seen is in nobody's sight; whoever is not in it is taken not to have seen it (0.9).
    """
    state = readable(believed, facts)
    if state is None or agent not in state.agents:
        return 0.0
    here, subject, value = _rooms(house, state.agents[agent]), fact.subject, fact.value
    if fact.predicate == "UNSEEN":
        return 0.0 if isinstance(subject, Entity) and subject.id in here else UNSEEN_TOO
    if fact.predicate == "AT":
        return float(bool(here & _rooms(house, value)))
    if isinstance(subject, str):
        return float(bool(here & _rooms(house, state.agents.get(subject))))
    thing = state.items.get(subject.id)
    if subject.kind == "door" or value == "delivered" or (thing is not None and thing.state == "delivered"):
        return 1.0
    return float(thing is not None and bool(here & _rooms(house, thing.cell)))


def _rooms(house: House, cell: object) -> frozenset[int]:
    """Return the rooms that are seen from a cell; none where it is no cell."""
    return frozenset(house.rooms_at(cell)) if is_cell(cell) else frozenset()


def conflict_cost(house: House, first: Option, other: Option, facts: Facts) -> float:
    """Return the ticks that are lost if two agents do both.

    ======================================================== ===========================================
    both go for, or lift, a thing that one can carry          the shorter way
    one brings what the two hold, the other puts it down      the longer one: it is brought by nobody
    both open one door                                        the shorter way
    both look into a room that nobody has seen                the shorter way
    one goes where it burns                                   ``SAFETY``: an agent is lost
    ======================================================== ===========================================
    """
    state = readable(believed, facts)
    if state is None:
        return 0.0
    ways = [_first(option) for option in (first, other) if option.action.verb == "go"]
    if any(is_cell(cell) and cell in state.fire for cell in ways):
        return SAFETY
    verbs, short = {first.action.verb, other.action.verb}, float(min(first.steps, other.steps))
    if first.goal is not None and first.goal == other.goal and not verbs & {"wait", "talk"}:
        kind, _, number = first.goal.partition("_")
        if kind == "open":
            return short
        thing = next((thing for n, thing in state.items.items() if str(n) == number), None)
        if verbs == {"bring", "drop"} and thing is not None and len(thing.holders) > 1:
            return float(max(first.steps, other.steps))
        return short if thing is not None and thing.weight == 1 else 0.0
    if verbs != {"go"} or first.goal != other.goal:
        return 0.0
    rooms = [_rooms(house, _first(option)) for option in (first, other)]
    return short if rooms[0] & rooms[1] & state.unseen else 0.0


def _first(option: Option) -> object:
    return option.action.args[0] if option.action.args else None


class RoomsBeliefs:
    """The capability ``beliefs`` of rooms.

    Args:
        house: The floor plan.
    """

    def __init__(self, house: House) -> None:
        self._house = house

    def latent_variables(self, facts: Facts) -> tuple[LatentVariable, ...]:
        """Return where things may be that were not found."""
        return unknowns(self._house, facts)

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return 1 for what is in the agent's room or on the board."""
        return visible(self._house, fact, agent, facts)

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the steps that are lost if two agents do both."""
        return conflict_cost(self._house, first, second, facts)
