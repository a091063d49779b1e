"""What an agent perceives now, by the indices of the inventory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from teamworld.language import AgentId, Cell, Entity, Facts, Term
from teamworld.methods.mhp.inventory import Index, Inventory
from teamworld.worlds.contract import View


class Percept(NamedTuple):
    """What an agent perceives."""

    room: Index
    """Where it is."""
    place: Mapping[Index, Index]
    """Of what it sees: the container that it is in, else the room; what is held is in the room of whoever holds it."""
    on: Mapping[Index, Index]
    """What things lie on, where that is known."""
    opened: frozenset[Index]
    """Containers that stand open."""
    closed: frozenset[Index]
    near: frozenset[Index]
    held: tuple[Index, ...]
    """What it holds itself."""
    held_by_others: frozenset[Index]
    is_whole: bool = True
    """Whether it has seen all of its room: what it does not see is not in the open there."""
    positions: Mapping[Index, Cell] = {}
    """Where things stand, in whole centimetres."""
    position: Cell | None = None
    """Where it stands itself."""


def sees_in_part(view: View, inventory: Inventory) -> bool:
    """Return whether an agent has seen only a part of where it is: it sees what is ahead of it, not all of its room."""
    words = inventory.words
    return any(fact.value == words.seen_in_part for fact in view.facts.about(words.search))


def perceive(view: View, inventory: Inventory, *, in_part: bool = False) -> Percept | None:
    """Return what an agent perceives; None if it does not perceive where it is.

    Args:
        view: Of the agent.
        inventory: What there is.
        in_part: Whether it sees only what is ahead. Then all that it has seen in its room and not missed since counts
            as seen.
    """
    words = inventory.words
    at = view.facts.value(view.agent, words.at)
    room = inventory.indices.get(at) if isinstance(at, Entity) else None
    if room is None:
        return None
    percept = _read_facts(view.facts, view.agent, room, inventory)
    if not in_part:
        return percept
    taken = percept.held_by_others
    known = _read_facts(view.known, view.agent, room, inventory)
    place = {
        index: into
        for index, into in known.place.items()
        if room in (into, known.place.get(into)) and (index in taken or index not in known.held_by_others)
    }
    return known._replace(
        place=place,
        opened=known.opened & place.keys(),
        closed=known.closed & place.keys(),
        held_by_others=taken,
        is_whole=view.known.value(inventory.entities[room], words.search) == words.seen,
    )


def _read_facts(facts: Facts, agent: AgentId, room: Index, inventory: Inventory) -> Percept:
    indices, words = inventory.indices, inventory.words
    place: dict[Index, Index] = {}
    on: dict[Index, Index] = {}
    positions: dict[Index, Cell] = {}
    position: Cell | None = None
    states: dict[Index, Term] = {}
    near: set[Index] = set()
    held: list[Index] = []
    held_by_others: set[Index] = set()
    for fact in facts:
        subject, predicate = fact.subject, fact.predicate
        index = indices.get(subject) if isinstance(subject, Entity) else None
        value = indices.get(fact.value) if isinstance(fact.value, Entity) else None
        if predicate == words.position and isinstance(fact.value, tuple):
            if index is not None:
                positions[index] = fact.value
            elif subject == agent:
                position = fact.value
        elif predicate == words.access and index is not None:
            states[index] = fact.value
        elif value is None:
            continue
        elif predicate == words.held and isinstance(subject, str):
            place[value] = room
            if subject == agent:
                held.append(value)
            else:
                held_by_others.add(value)
        elif predicate == words.near and subject == agent:
            near.add(value)
        elif predicate in (words.room, words.container) and index is not None:
            place[index] = value
        elif predicate == words.surface and index is not None:
            on[index] = value
    opened = frozenset(index for index, state in states.items() if state == words.opened)
    return Percept(
        room=room,
        place=place,
        on=on,
        opened=opened,
        closed=frozenset(states) - opened,
        near=frozenset(near),
        held=tuple(held),
        held_by_others=frozenset(held_by_others),
        positions=positions,
        position=position,
    )
