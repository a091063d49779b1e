"""Right of way: how agents that sidestep in step, again and again, get past each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from teamworld.language import AgentId, Cell

#: Where the agents stand, in the order of the agents.
Positions: TypeAlias = Mapping[AgentId, Cell]

#: Agents that sidestep together are at most so many cells apart (Manhattan).
REACH = 2

#: Steps for which an agent stands still, times how often it has done so: time for the other one to step aside and pass.
PAUSE = 2


@dataclass
class RightOfWay:
    """One walking agent's part in a rule that all follow, each by the positions that it sees.

    Two agents that meet and step aside the same way in the same step meet again, and so on. Both see that
    they are back where they were two steps ago, and both know that the one with the lower number goes first, as it
    does into a cell that both want. The other one stands still. Each pause is longer than the last one, so that
    no rhythm of many agents lasts.
    """

    agent: AgentId
    _trail: tuple[Positions, ...] = field(default=(), init=False)
    """What was seen at the last two steps, the older one first."""
    _senior: AgentId | None = field(default=None, init=False)
    """For whom the agent stands still."""
    _steps_left: int = field(default=0, init=False)
    _pauses: int = field(default=0, init=False)

    def find_senior(self, seen: Positions) -> AgentId | None:
        """Return the teammate for which the agent stands still in this step; None if it walks on.

        Ask once at every step.
        """
        trail, self._trail = (*self._trail, seen), (*self._trail[-1:], seen)
        if self._steps_left == 0:
            self._senior = self._find_partner(*trail) if len(trail) > 2 else None
            if self._senior is not None:
                self._pauses += 1
                self._steps_left = PAUSE * self._pauses
        self._steps_left = max(0, self._steps_left - 1)
        return self._senior

    def _find_partner(self, before: Positions, between: Positions, after: Positions) -> AgentId | None:
        """Return the first agent nearby with a lower number if both went to and fro in the last two steps."""

        def went_to_and_fro(agent: AgentId) -> bool:
            return before[agent] == after[agent] != between[agent]

        if not went_to_and_fro(self.agent):
            return None
        row, col = after[self.agent]
        for other, (rows, cols) in after.items():
            if other == self.agent:
                return None
            if abs(rows - row) + abs(cols - col) <= REACH and went_to_and_fro(other):
                return other
        return None
