"""What one agent may know now, and the same in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teamworld.language import AgentId, Entity
from teamworld.worlds.base.views import FactsFrame, FactsView, check_form
from teamworld.worlds.household.domain import HouseholdDomain
from teamworld.worlds.household.observe import Known, believed


class HouseholdView(FactsView[FactsFrame[HouseholdDomain]]):
    """``contract.View`` for the household; reading it after the world's next step raises ``StaleView``."""

    @property
    def kind(self) -> str:
        """All are ``person``."""
        _ = self._now
        return "person"

    @property
    def is_able(self) -> bool:
        """Always."""
        _ = self._now
        return True

    def text(self, form: str = "plain") -> str:
        """Return the view in words.

        Raises:
            UserError: There is no such form.
        """
        check_form(form, ["plain"])
        known, frame = believed(self.known), self._now
        lines = [f"Step {self.t} of {self.t + self.steps_left}. You are {self._agent}, in {known.at[self._agent]}."]
        lines.append(f"You hold {_listed(known.hands[self._agent]) or 'nothing'}.")
        for goal in frame.domain.predicates.goals(known):
            wanted = next(predicate for predicate in frame.domain.predicates.wanted if predicate.id == goal.id)
            on = "on" if wanted.relation == "ON" else "in"
            left = f"{goal.units} to go" if goal.state == "open" else "done"
            lines.append(f"Goal {goal.id}: {wanted.number} x {wanted.kind} {on} {wanted.target}; {left}.")
        for room in known.rooms:
            lines += _room(room, known, self._agent)
        for teammate in (agent for agent in known.hands if agent != self._agent):
            where = known.at.get(teammate)
            seen = f", last seen at step {known.last[teammate]}" if teammate in known.last else ""
            place = "somewhere else" if where is None else f"in {where}"
            lines.append(f"{teammate} is {place} and holds {_listed(known.hands[teammate]) or 'nothing'}{seen}.")
        for outcome in self.history[-5:]:
            why = f" ({outcome.reason})" if outcome.reason else ""
            lines.append(f"You did {outcome.action}, begun at step {outcome.start}: {outcome.status}{why}.")
        return "\n".join(lines)


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
