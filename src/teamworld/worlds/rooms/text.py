"""Rooms in words: mission, rules of the instance, how a goal stands, and the situation of an agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from teamworld.language import AgentId, Cell, Entity, Facts, plain, show
from teamworld.worlds.base.ages import Ages
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import Goal, View
from teamworld.worlds.rooms.beliefs import CARRIED
from teamworld.worlds.rooms.facts import door, item
from teamworld.worlds.rooms.physics import BURNS, OVERCOME
from teamworld.worlds.rooms.state import SPEED, House, Item, State, distances


def tell_task(start: State, doors: Sequence[int], horizon: int) -> str:
    """Return the mission and what counts.

    Args:
        start: The moment before the first step.
        doors: Doors that are shut at the start.
        horizon: Steps after which the episode ends.
    """
    opened = " A shut door that is opened counts 1 point." if doors else ""
    burnt = " What burns is lost." if start.fire else ""
    return (
        f"Bring all things to the table within {count(horizon, 'step')}, and as soon as you can. A thing on the table "
        f"counts its weight in points.{opened}{burnt} The episode ends when everything has been brought"
        f"{' or is lost' if start.fire else ''}."
    )


def tell_rules(house: House, kinds: Mapping[AgentId, str], start: State, doors: Sequence[int], spread: float) -> str:
    """Return how this instance works."""
    speeds = {"carrier": "a carrier goes 1 cell a step and carries things, one at a time"}
    speeds["scout"] = f"a scout goes {SPEED['scout']} cells a step" + (" and opens doors" if doors else "")
    speeds_told = [words for kind, words in speeds.items() if kind in kinds.values()]
    rows, columns = house.size
    doors_at = [f"{plain(door(number))} at {show(cell)}" for number, cell in enumerate(house.doors)]
    carried = (
        f" A thing that is no longer where it was seen is {1 / CARRIED:g} times as likely to be in a room not yet seen "
        "as in one that was."
        if sum(kind == "carrier" for kind in kinds.values()) > 1
        else ""
    )
    parts = [
        f"Cells are (row, column), rows 0 to {rows - 1} from the top, columns 0 to {columns - 1}. Rooms 0 "
        f"{'and' if house.rooms == 2 else 'to'} {house.rooms - 1} stand in a row, {house.width} columns each, with a "
        f"wall of one column between them. Doors in these walls: {', '.join(doors_at)}. The "
        f"table is at {show(house.table)}. One goes up, down, left or right; agents are not in one another's way; "
        f"{'; '.join(speeds_told)}.",
        "You see your own room, from a doorway both rooms"
        + (", and on a board which doors are shut and what was delivered." if doors else ", and what was delivered.")
        + f" A thing that was not found yet is in a room that you have not seen.{carried} Things are numbered without "
        "gaps.",
    ]
    if any(thing.weight > 1 for thing in start.items.values()):
        parts.append(
            "A thing of weight 2 takes two carriers on its cell who lift it in the same step; it moves in the steps in "
            "which both go, where the first of its holders leads. Each waits for the other for its patience in steps; "
            "giving the running action again does not restart it."
        )
    if start.fire:
        parts.append(
            f"Fire: a cell beside a burning one catches fire with probability {spread:g} a step, burns for {BURNS} "
            "steps and never again. Whoever stands in fire is gone, and a thing there is lost; a cell that catches "
            f"fire overcomes those beside it for {OVERCOME} steps, in which they can only wait and which end what they "
            "do. Ways lead around known fire, right past it if that is shortest."
        )
    return "\n".join(parts)


# How a goal stands.


def tell_goal(goal: Goal, agent: AgentId, kind: str, state: State, house: House) -> str:
    """Return how a goal stands for an agent, in a line."""
    if goal.state != "open":
        return goal.state
    thing = goal.thing
    number = thing.id if isinstance(thing, Entity) else -1
    if goal.kind == "open":
        way = _way(agent, kind, house.doors[number], state, house, beside=True)
        use = way if kind in goal.kinds else f"a {kind} cannot open it"
        return f"{plain(door(number))} at {show(house.doors[number])} is shut, a scout beside it opens it; {use}"
    return _tell_delivery(goal, number, agent, kind, state, house)


def _tell_delivery(goal: Goal, number: int, agent: AgentId, kind: str, state: State, house: House) -> str:
    thing = state.items[number]
    who = "one carrier is enough" if thing.weight == 1 else f"{thing.weight} carriers at once, no more"
    parts = [f"{plain(item(number))} to the table, {count(thing.weight, 'point')}; {who}"]
    hands = (state.agents[holder] for holder in thing.holders if holder in state.agents)
    cell = thing.cell or next(hands, None)  # what is in a hand is where the hand is
    held = f"held by {_holders(thing, agent)} " if thing.holders else ""
    if cell is None:
        parts.append(f"{held}nobody knows where")
    else:
        far = distances(house, house.table, frozenset()).get(cell, 0)
        way = f"{count(far, 'step')} to" if held else f"{_way(agent, kind, cell, state, house)}, then {far} to"
        parts.append(f"{held}at {show(cell)}, {way} the table")
    there = [other for other, at in state.agents.items() if at == cell and other != agent]
    if thing.weight > 1 and there and not thing.holders:
        parts.append(f"on its cell: {listed(there)}")
    shut = [plain(door(int(name.removeprefix("open_")))) for name in goal.prerequisites]
    if shut:
        parts.append(f"cannot be brought before these doors are open: {listed(shut)}")
    load = state.held(agent)
    if load is not None and load != number:
        parts.append(f"your hands are full: bring or drop {plain(item(load))} first")
    if kind not in goal.kinds:
        parts.append(f"a {kind} cannot carry it")
    return "; ".join(parts)


def _holders(thing: Item, agent: AgentId) -> str:
    """Return who holds a thing, as told to an agent."""
    return listed(["you" if holder == agent else holder for holder in thing.holders])


def _way(agent: AgentId, kind: str, cell: Cell, state: State, house: House, *, beside: bool = False) -> str:
    """Return the estimated steps of an agent to a cell, or beside it; and whether there is a way now."""
    at = state.agents.get(agent)
    if at is None:
        return "steps unknown"
    ends = house.beside(cell) if beside else (cell,)
    far = min(distances(house, end, frozenset()).get(at, 0) for end in ends)
    speed = 1 if state.held(agent) is not None else SPEED[kind]
    closed = state.closed(house)
    is_open = any(end not in closed and at in distances(house, end, closed) for end in ends)
    return f"{count(-(-far // speed), 'step')} for you{'' if is_open else ', no way now'}"


# The situation.


def describe(view: View, state: State, house: House, kinds: Mapping[AgentId, str]) -> Iterator[str]:
    """Yield the lines of a situation in words.

    Args:
        view: Of whom, with the step of last sight of what it remembers.
        state: What it knows.
        house: The floor plan.
        kinds: The kind of each agent.
    """
    agent, kind = view.agent, view.kind
    ages = Ages(view.known, view.t)
    held = state.held(agent)
    hands = "" if kind == "scout" else ", with free hands" if held is None else f", holding {plain(item(held))}"
    smoke = ", overcome by smoke" if agent in state.overcome else ""
    here = () if agent not in state.agents else house.rooms_at(state.agents[agent])
    yield f"You are {agent}, a {kind}, {_where(agent, state, house)}{hands}{smoke}."
    for room in range(house.rooms):
        middle = house.middle(room)
        seen = "you are in it" if room in here else "not seen yet" if room in state.unseen else "seen"
        yield f"room {room}: {seen}; its middle {show(middle)}: {_way(agent, kind, middle, state, house)}."
    yield f"The table at {show(house.table)}: {_way(agent, kind, house.table, state, house)}."
    if state.shut:
        yield f"Shut doors: {', '.join(plain(door(number)) for number in sorted(state.shut))}."
    for number, thing in state.items.items():
        yield _tell_item(number, thing, agent, kind, state, house) + ages.seen(item(number), "AT", "STATE") + "."
    for other, other_kind in kinds.items():
        if other != agent:
            load = state.held(other)
            hold = "" if load is None else f", holding {plain(item(load))}"
            low = ", overcome by smoke" if other in state.overcome else ""
            yield f"{other}, a {other_kind}: {_where(other, state, house)}{hold}{low}{ages.seen(other, 'AT', 'HOLD')}."
    if state.fire:
        burning = (f"{show(cell)}{ages.seen(fire, 'AT')}" for fire, cell in _list_fire(view.known))
        yield f"Fire at {', '.join(burning)}; what you saw {BURNS} or more steps ago has burnt out."


def _where(agent: AgentId, state: State, house: House) -> str:
    cell = state.agents.get(agent)
    if cell is None:
        return "out of your sight"
    return f"at {show(cell)} in {' and '.join(f'room {room}' for room in house.rooms_at(cell))}"


def _tell_item(number: int, thing: Item, agent: AgentId, kind: str, state: State, house: House) -> str:
    words = f"{plain(item(number))}, weight {thing.weight}: {thing.state}"
    if thing.holders:
        return f"{words} by {_holders(thing, agent)}{f' at {show(thing.cell)}' if thing.cell else ''}"
    if thing.cell is None:
        return words if thing.state in ("delivered", "lost") else f"{words}, nobody knows where"
    if thing.state == "lost":
        return f"{words} at {show(thing.cell)}"
    return f"{words} at {show(thing.cell)}, {_way(agent, kind, thing.cell, state, house)}"


def _list_fire(facts: Facts) -> Iterator[tuple[Entity, Cell]]:
    """Yield the burning cells that are known."""
    for fact in facts.about("AT"):
        if isinstance(fact.subject, Entity) and fact.subject.kind == "fire" and isinstance(fact.value, tuple):
            yield fact.subject, fact.value
