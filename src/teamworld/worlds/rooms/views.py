"""What one agent may know now, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass

from teamworld.language import AgentId, show
from teamworld.worlds.base.views import FactsFrame, FactsView, check_form
from teamworld.worlds.rooms.domain import RoomsDomain
from teamworld.worlds.rooms.observe import believed


@dataclass(eq=False)
class Frame(FactsFrame[RoomsDomain]):
    """One moment of the world, shared by all views of it."""

    overcome: frozenset[AgentId]


class RoomsView(FactsView[Frame]):
    """``contract.View`` for rooms; reading it after the world's next step raises ``StaleView``."""

    @property
    def kind(self) -> str:
        """``carrier`` or ``scout``."""
        return self._now.domain.kinds[self._agent]

    @property
    def is_able(self) -> bool:
        """False while the smoke has overcome it."""
        return self._agent not in self._now.overcome

    def text(self, form: str = "plain") -> str:
        """Return the view in words.

        Raises:
            UserError: There is no such form.
        """
        check_form(form, ["plain"])
        state, house = believed(self.known), self._now.domain.house
        rows, columns = house.size
        lines = [
            f"Tick {self.t} of {self.t + self.steps_left}. Cells are (row, column), {rows} x {columns} of them. "
            f"There are {house.rooms} rooms in a row, doors at {', '.join(map(show, house.doors))}, and the table at "
            f"{show(house.table)}.",
            f"You are {self._agent}, a {self.kind}, at {show(state.agents[self._agent])}"
            f"{'' if self.is_able else ', overcome by the smoke'}. You see your own room only.",
        ]
        lines += [f"{fact}." for fact in self.facts if fact.subject != self._agent or fact.predicate == "HOLD"]
        lines += [f"{fact}, last seen at tick {self.recall.seen[fact]}." for fact in self.recall]
        for outcome in self.history[-5:]:
            why = f" ({outcome.reason})" if outcome.reason else ""
            lines.append(f"You did {outcome.action}, begun at tick {outcome.start}: {outcome.status}{why}.")
        return "\n".join(lines)
