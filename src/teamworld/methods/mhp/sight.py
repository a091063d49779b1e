"""What an agent perceives now, by the numbers of the stock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from teamworld.language import AgentId, Cell, Entity, Facts, Term
from teamworld.methods.mhp.stock import Number, Stock
from teamworld.worlds.contract import View


class Sight(NamedTuple):
    """What an agent perceives."""

    room: Number
    """Where it is."""
    place: Mapping[Number, Number]
    """Of what it sees: the container that it is in, else the room; what is held is in the room of whoever holds it."""
    on: Mapping[Number, Number]
    """What things lie on, where that is known."""
    opened: frozenset[Number]
    """Containers that stand open."""
    shut: frozenset[Number]
    near: frozenset[Number]
    hands: tuple[Number, ...]
    """What it holds itself."""
    taken: frozenset[Number]
    """What others hold."""
    whole: bool = True
    """It has seen all of its room: what it does not see is not in the open there."""
    at: Mapping[Number, Cell] = {}
    """Where things stand, whole centimetres."""
    here: Cell | None = None
    """Where it stands itself."""


def glimpses(view: View) -> bool:
    """Return whether an agent has seen a part only of where it is: it sees what is ahead of it, not all of its room."""
    return any(fact.value == "part" for fact in view.facts.about("EXPLORED"))


def sight(view: View, stock: Stock, *, ahead: bool = False) -> Sight | None:
    """Return what an agent perceives; None if it does not perceive where it is.

    Args:
        view: Of the agent.
        stock: What there is.
        ahead: Whether it sees what is ahead only. Then all that it has seen in its room and not missed since counts as
            seen.
    """
    room = _number(view.facts.value(view.agent, "AT"), stock)
    if room is None:
        return None
    if not ahead:
        return _seen(view.facts, view.agent, room, stock)
    known = view.known
    found, taken = _seen(known, view.agent, room, stock), _seen(view.facts, view.agent, room, stock).taken
    place = {
        one: into
        for one, into in found.place.items()
        if room in (into, found.place.get(into)) and (one in taken or one not in found.taken)
    }
    return found._replace(
        place=place,
        opened=found.opened & place.keys(),
        shut=found.shut & place.keys(),
        taken=taken,
        whole=known.value(stock.entities[room], "EXPLORED") == "all",
    )


def _seen(facts: Facts, agent: AgentId, room: Number, stock: Stock) -> Sight:
    numbers = stock.numbers
    place: dict[Number, Number] = {}
    on: dict[Number, Number] = {}
    at: dict[Number, Cell] = {}
    here: Cell | None = None
    states: dict[Number, Term] = {}
    near: set[Number] = set()
    hands: list[Number] = []
    taken: set[Number] = set()
    for fact in facts:
        subject, predicate, value = fact.subject, fact.predicate, fact.value
        if predicate == "POSITION":
            if isinstance(subject, str):
                here = _cell(value) if subject == agent else here
            elif subject in numbers and (cell := _cell(value)) is not None:
                at[numbers[subject]] = cell
            continue
        if predicate == "STATE":
            if isinstance(subject, Entity) and subject in numbers:
                states[numbers[subject]] = value
            continue
        if not isinstance(value, Entity) or value not in numbers:
            continue
        other = numbers[value]
        if isinstance(subject, str):
            if predicate == "HOLD":
                place[other] = room
                hands += [other] if subject == agent else []
                taken |= {other} if subject != agent else set()
            elif predicate == "NEAR" and subject == agent:
                near.add(other)
        elif subject in numbers:
            if predicate in ("IN", "INSIDE"):
                place[numbers[subject]] = other
            elif predicate == "ON":
                on[numbers[subject]] = other
    opened = frozenset(one for one, state in states.items() if state == "open")
    shut = frozenset(states) - opened
    return Sight(room, place, on, opened, shut, frozenset(near), tuple(hands), frozenset(taken), at=at, here=here)


def _number(value: Term | None, stock: Stock) -> Number | None:
    return stock.numbers.get(value) if isinstance(value, Entity) else None


def _cell(value: Term) -> Cell | None:
    return value if isinstance(value, tuple) else None
