"""A view in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teamworld.language import AgentId, Entity
from teamworld.worlds.base.domain import describe_history
from teamworld.worlds.contract import View
from teamworld.worlds.household.goals import Predicates
from teamworld.worlds.household.observe import Known


def describe(view: View, known: Known, predicates: Predicates) -> Iterator[str]:
    """Yield the lines of a view in words.

    Args:
        view: The view.
        known: What the agent knows.
        predicates: The goal.
    """
    agent = view.agent
    yield f"Step {view.t} of {view.t + view.steps_left}. You are {agent}, in {known.at[agent]}."
    yield f"You hold {_listed(known.hands[agent]) or 'nothing'}."
    for wanted, goal in zip(predicates.wanted, predicates.goals(known), strict=True):
        on = "on" if wanted.relation == "ON" else "in"
        left = f"{goal.units} to go" if goal.state == "open" else "done"
        yield f"Goal {goal.id}: {wanted.number} x {wanted.kind} {on} {wanted.target}; {left}."
    for room in known.rooms:
        yield from _room(room, known, agent)
    for teammate in (name for name in known.hands if name != agent):
        where = known.at.get(teammate)
        seen = f", last seen at step {known.last[teammate]}" if teammate in known.last else ""
        place = "somewhere else" if where is None else f"in {where}"
        yield f"{teammate} is {place} and holds {_listed(known.hands[teammate]) or 'nothing'}{seen}."
    yield from describe_history(view, "step")


def _listed(things: Sequence[Entity]) -> str:
    return " and ".join(map(str, things))


def _room(room: Entity, known: Known, agent: AgentId) -> Iterator[str]:
    """Yield what is known of a room: how well it was looked at, what lies in the open, its containers."""
    if known.explored.get(room) is None:
        yield f"{room}: not explored."
    else:
        here = " You are here." if known.at.get(agent) == room else ""
        yield f"{room}: {'explored' if known.explored[room] == 'all' else 'explored in part'}.{here}"
    for entity in sorted((thing for thing, at in known.room.items() if at == room), key=lambda thing: thing.id):
        seen = f", last seen at step {known.last[entity]}" if entity in known.last else ""
        relation, holder = known.places.get(entity, ("IN", room))
        where = f" on {holder}" if relation == "ON" else ""
        state = "" if entity not in known.opened else ", open" if known.opened[entity] else ", closed"
        inside = [str(thing) for thing, place in known.places.items() if place == ("INSIDE", entity)]
        holds = f", with {' and '.join(inside)} inside" if inside else ""
        yield f"- {entity}{where}{state}{holds}{seen}"
