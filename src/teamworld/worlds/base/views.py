"""The base of views: one moment of a world that is read by one agent, until the next step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from teamworld.language import AgentId
from teamworld.worlds.contract import Outcome, StaleView


class ViewSource(Protocol):
    """One moment of a world, shared by all views of it."""

    @property
    def t(self) -> int:
        """Ticks gone."""

    @property
    def horizon(self) -> int:
        """Ticks after which the episode ends."""

    @property
    def histories(self) -> Mapping[AgentId, Sequence[Outcome]]:
        """Finished actions of each agent, oldest first."""


Frame = TypeVar("Frame", bound=ViewSource)


class FrameView(Generic[Frame]):
    """What all views of ``contract.View`` have in common; reading one after the next step raises ``StaleView``.

    Args:
        agent: Whose view it is.
        frame: The moment.
        current: Returns the moment that the world is at.
    """

    def __init__(self, agent: AgentId, frame: Frame, current: Callable[[], Frame]) -> None:
        self._agent, self._frame, self._current = agent, frame, current

    @property
    def _now(self) -> Frame:
        if self._current() is not self._frame:
            raise StaleView(f"the view of {self._agent} at t = {self._frame.t} was read after the world moved on")
        return self._frame

    @property
    def agent(self) -> AgentId:
        """Whose view it is."""
        return self._agent

    @property
    def t(self) -> int:
        """Ticks gone."""
        return self._now.t

    @property
    def steps_left(self) -> int:
        """Ticks left."""
        return self._now.horizon - self._now.t

    @property
    def history(self) -> Sequence[Outcome]:
        """Its finished actions, oldest first."""
        return tuple(self._now.histories[self._agent])
