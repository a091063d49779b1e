"""What a method can read and do at one step."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from teamworld.episode.event_recorder import EventRecorder
from teamworld.episode.message_delivery import Channel, Meeting
from teamworld.language import AgentId, Plan
from teamworld.methods.contract import Message
from teamworld.reasoning.allowance import TokenAllowance
from teamworld.reasoning.contract import Answer, Question, Reasoner
from teamworld.reasoning.retry import ask_until_usable
from teamworld.reasoning.router import find_reasoner
from teamworld.record import AnswerError, Event, LlmCall, QuestionAsked, ViewsShared
from teamworld.worlds.contract import View

Branch = TypeVar("Branch")


class Views(Mapping[AgentId, View]):
    """The views of some agents, each made when first read."""

    def __init__(self, agents: Sequence[AgentId], make: Callable[[AgentId], View]) -> None:
        self._agents = dict.fromkeys(agents)
        self._make = make
        self._made: dict[AgentId, View] = {}

    def __getitem__(self, agent: AgentId) -> View:
        if agent not in self._made:
            if agent not in self._agents:
                raise KeyError(agent)
            self._made[agent] = self._make(agent)
        return self._made[agent]

    def __iter__(self) -> Iterator[AgentId]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)


class DecisionPoint:
    """The ``DecisionContext`` that the loop hands to a method."""

    def __init__(
        self,
        *,
        free: Sequence[AgentId],
        views: Views,
        running: Mapping[AgentId, Plan],
        news: Sequence[Event],
        channel: Channel,
        recorder: EventRecorder,
        reasoner: Reasoner,
        retries: int,
        allowance: TokenAllowance | None = None,
    ) -> None:
        self.free = free
        self.views = views
        self.running = running
        self.news = news
        self.may_speak = channel.may_speak
        self.together = recorder.together
        self.note = recorder.record
        self.allowance = allowance
        self._channel = channel
        self._recorder = recorder
        self._reasoner = reasoner
        self._retries = retries

    @property
    def t(self) -> int:
        """Steps gone."""
        return self._recorder.tick

    @property
    def team(self) -> Sequence[AgentId]:
        """Every living agent: the loop has one method, which has charge of all."""
        return tuple(self.views)

    async def apart(self, parts: Mapping[AgentId, Coroutine[Any, Any, Branch]]) -> dict[AgentId, Branch]:
        """Run parts of the team at the same time, each with turns of its own."""
        with self._channel.lanes(parts) as lanes:
            return await self._recorder.together(lanes, apart=True)

    def inbox(self, agent: AgentId) -> Sequence[Message]:
        """What reached the agent since its last decision, in the protocol's order."""
        return self._channel.inbox(agent, self.t)

    def post(self, message: Message) -> None:
        """Send a message."""
        self._recorder.in_turn("a post")
        self._channel.post(message, self.t)

    def open_meeting(self, members: Sequence[AgentId]) -> Meeting:
        """Open a meeting of present agents."""
        self._recorder.in_turn("a meeting")
        absent = [agent for agent in members if agent not in self.views]
        if absent:
            raise ValueError(f"not here: {', '.join(absent)}")
        return self._channel.open_meeting(members, self.t)

    async def ask(self, question: Question[Answer]) -> Answer:
        """Ask a reasoner and put question and answer on record."""
        asked = await ask_until_usable(self._reasoner, question, self._retries)
        others = tuple(agent for agent in question.views if agent != question.respondent)
        if others:
            self._recorder.record(ViewsShared(agent=question.respondent, purpose=question.kind, views=others))
        calls = (*(rejected.call for rejected in asked.tries), asked.call)
        for attempt, call in enumerate(calls):
            if call is not None:
                usable = attempt == len(calls) - 1
                event = LlmCall(
                    agent=question.respondent, purpose=question.kind, usable=usable, attempt=attempt, **call._asdict()
                )
                self._recorder.record(event)
        self._recorder.record(
            QuestionAsked(
                agent=question.respondent,
                purpose=question.kind,
                reasoner=find_reasoner(self._reasoner, question).name,
                answer=asked.answer.model_dump(mode="json"),
                errors=tuple(AnswerError(flaw=bad.flaw, text=bad.complaint) for bad in asked.tries),
                fallback=asked.fallback,
            )
        )
        return asked.answer
