"""The episode's hand on its log: clocks, and records of concurrent branches kept in the agents' order."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from teamworld.language import AgentId
from teamworld.record import Believe, Event, LogLevel, LogWriter, Observe, Predict, Truth

Branch = TypeVar("Branch")
#: What only the log level ``beliefs`` records.
_BELIEFS = (Truth, Observe, Believe, Predict)
_branch: ContextVar[list[Event] | None] = ContextVar("teamworld_branch", default=None)
#: Whether the branch is a part of the team that has turns of its own.
_apart: ContextVar[bool] = ContextVar("teamworld_apart", default=False)


class EventRecorder:
    """Writes events at the current clocks, in an order that never depends on who answers first.

    Args:
        log: Where to.
        level: What is recorded; events of a higher level are passed over.
    """

    def __init__(self, log: LogWriter, level: LogLevel = "play") -> None:
        self._log = log
        self.level: LogLevel = level
        self.step = 0
        self.tick = 0

    @property
    def events(self) -> Sequence[Event]:
        """All events so far."""
        return self._log.events

    def record(self, event: Event) -> None:
        """Write an event; inside a branch of ``together`` it waits for its turn."""
        if self.level == "play" and isinstance(event, _BELIEFS):
            return
        waiting = _branch.get()
        if waiting is not None:
            waiting.append(event)
        else:
            self._log.write(event, self.step, self.tick)

    def in_turn(self, what: str) -> None:
        """Refuse what depends on the order of events inside concurrent branches.

        Raises:
            RuntimeError: Called from a branch of ``together``.
        """
        if _branch.get() is not None and not _apart.get():
            raise RuntimeError(f"{what} has its turn: not inside DecisionContext.together")

    def flush(self) -> None:
        """Make everything so far readable from outside."""
        self._log.flush()

    async def together(
        self, branches: Mapping[AgentId, Coroutine[Any, Any, Branch]], *, apart: bool = False
    ) -> dict[AgentId, Branch]:
        """Run branches at the same time; their records follow one another in the given order.

        Args:
            branches: By agent, or by the first agent of a part of the team.
            apart: Whether each branch is a part of the team that has turns of its own: who speaks in one is heard by
                nobody in another.
        """

        async def run(branch: Coroutine[Any, Any, Branch], waiting: list[Event]) -> Branch:
            _branch.set(waiting)  # each task has its own copy of the context
            _apart.set(apart)
            return await branch

        records: dict[AgentId, list[Event]] = {agent: [] for agent in branches}
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {agent: group.create_task(run(branch, records[agent])) for agent, branch in branches.items()}
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None  # one error, as if it had been alone
        for events in records.values():
            for event in events:
                self.record(event)
        return {agent: task.result() for agent, task in tasks.items()}
