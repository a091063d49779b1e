"""What a coordination method is: a protocol among agents and what answers their questions.

A method learns of the instance in ``begin``, sees every step in ``watch``, and decides in ``decide`` whenever agents
are free. It never holds the world: it reads views and the domain, talks through meetings and posts, and asks reasoners
through ``DecisionContext.ask``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from teamworld.language import AgentId, Entity, Fact, GoalId, Plan, plain, plain_names
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.guidebook import WorldModel
from teamworld.reasoning.allowance import TokenAllowance
from teamworld.reasoning.contract import Answer, Question, RespondentId
from teamworld.record import Believe, Commit, Event, Predict, QuestionSkipped, Release
from teamworld.seeding import Streams
from teamworld.worlds.contract import Capability, Domain, View, WorldSpec

#: Speech acts of a message.
Act: TypeAlias = Literal["inform", "request", "propose", "accept", "reject", "commit", "release", "ack", "other"]
Branch = TypeVar("Branch")


class Carry:
    """Decision: let what runs run on."""


class Wait:
    """Decision: do nothing for one step (void while talk is owed)."""


CARRY, WAIT = Carry(), Wait()


@dataclass(frozen=True, slots=True)
class Choice:
    """Decision: replace what runs by a plan, and where the plan came from."""

    plan: Plan
    origin: Literal["fresh", "revised", "reused"] = "fresh"
    cause: str = "idle"
    """What made the agent plan now: how its last plan ended, resync, ..."""
    parsed: bool = True
    """False where no plan could be read and this one stands in."""


Decision: TypeAlias = Choice | Carry | Wait


@dataclass(frozen=True, slots=True)
class Message:
    """Something said. The channel sets ``id``, ``t`` and the final ``recipients``."""

    sender: AgentId
    act: Act
    text: str
    goal: GoalId | None = None
    facts: tuple[Fact, ...] = ()
    recipients: tuple[AgentId, ...] | None = None
    """None: everybody in reach."""
    id: int = -1
    t: int = -1

    @property
    def whole(self) -> str:
        """All that it says: its words and, in plain names, its task and the facts beside them that the words leave out.

        The channel limits, charges, logs and delivers this text; of a message that was sent it is ``text`` itself.
        """
        task = "" if self.goal is None or _states(self.text, plain(self.goal)) else f"Task: {plain(self.goal)}."
        untold = dict.fromkeys(fact for fact in map(plain, self.facts) if not _states(self.text, fact))
        return " ".join(filter(None, (self.text, task, f"Facts: {'; '.join(untold)}." if untold else "")))

    def within(self, maximum: int | None) -> Message:
        """Return the message with all that it says as its text, in at most so many characters.

        The words come first, then the task, then the facts. Each of these is told whole or not at all.
        """
        if maximum is None or len(self.whole) <= maximum:
            return replace(self, text=self.whole)
        cut = replace(self, text=self.text[:maximum], facts=())
        if len(cut.whole) > maximum:
            cut = replace(cut, goal=None)
        for fact in self.facts:
            longer = replace(cut, facts=(*cut.facts, fact))
            cut = longer if len(longer.whole) <= maximum else cut
        return replace(cut, text=cut.whole)


def _states(text: str, fact: str) -> bool:
    """Return whether a text holds a fact in plain names."""
    return re.search(rf"(?<!\w){re.escape(fact)}(?!\w|\.\d)", plain_names(text)) is not None


class Meeting(Protocol):
    """A meeting of agents who take turns; all members hear at once what is said."""

    @property
    def members(self) -> Sequence[AgentId]:
        """In speaking order."""

    def heard(self, agent: AgentId) -> Sequence[Message]:
        """What a member has heard here so far, its own words included, in the order of speaking."""

    def say(self, message: Message) -> None:
        """Speak to the members."""


@dataclass(frozen=True)
class Briefing:
    """What a method knows before the first step."""

    spec: WorldSpec
    domain: Domain
    agents: tuple[AgentId, ...]
    """The agents in its charge, in order."""
    episode: int
    memory: WorldModel
    rng: Streams
    """``rng(purpose, agent)``: a generator named by purpose and agent."""
    entities: tuple[Entity, ...] = ()
    """All that the task is about, by id and class; empty unless the method requires ``entities``."""


class DecisionContext(Protocol):
    """Everything a method may read and do at one step."""

    @property
    def t(self) -> int:
        """Steps gone."""

    @property
    def free(self) -> Sequence[AgentId]:
        """Agents that are idle, that finished or failed, or that ``watch`` named, and that owe no talk."""

    @property
    def views(self) -> Mapping[AgentId, View]:
        """Of every living agent in its charge, busy ones too."""

    @property
    def team(self) -> Sequence[AgentId]:
        """All living agents of the world, in order: those that are not in ``views`` play by another method."""

    @property
    def running(self) -> Mapping[AgentId, Plan]:
        """The plans that run."""

    @property
    def news(self) -> Sequence[Event]:
        """Commitments, plans, plan ends and what happened to goals since the last step, as they stand in the log."""

    @property
    def allowance(self) -> TokenAllowance | None:
        """What the questions of the episode may take, for a method that heeds it; None where nothing limits them."""

    def inbox(self, agent: AgentId) -> Sequence[Message]:
        """What reached the agent since its last decision, in the protocol's order."""

    def may_speak(self, agent: AgentId) -> bool:
        """Return whether the run's rule for messages lets the agent say one more thing; what exceeds it is not sent."""

    def post(self, message: Message) -> None:
        """Send a message."""

    def open_meeting(self, members: Sequence[AgentId]) -> Meeting:
        """Open a meeting of present agents."""

    async def ask(self, question: Question[Answer]) -> Answer:
        """Ask a reasoner; a bad answer is asked again, then the question's fallback stands."""

    async def together(self, branches: Mapping[AgentId, Coroutine[Any, Any, Branch]]) -> dict[AgentId, Branch]:
        """Run what does not depend on one another at the same time; records keep the agents' order."""

    async def apart(self, parts: Mapping[AgentId, Coroutine[Any, Any, Branch]]) -> dict[AgentId, Branch]:
        """Run parts of the team, by their first agents, at the same time.

        Each has turns of its own: it may post and meet among its own agents, and nobody of another part hears it.
        """

    def note(self, event: Commit | Release | QuestionSkipped | Believe | Predict) -> None:
        """Put on record a commitment, its release, or a question that is not asked and why.

        At the log level ``beliefs`` beliefs and predictions too.
        """


class Variant(NamedTuple):
    """A named setting of a method's options: an ablation, or another form of it."""

    summary: str
    """One line for ``teamworld methods``."""
    options: Mapping[str, Any]
    """What differs from the method's defaults."""


class StrictModel(BaseModel):
    """Options or an answer: it refuses unknown fields and does not change; alone, of a method without options."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class InNeighbourhoods(StrictModel):
    """The option of methods whose agents talk or are planned for together."""

    neighbourhood: int | None = Field(
        default=8,
        ge=1,
        description="agents that talk and plan together at most, in teams of more than 16: a larger team is split by "
        "where its agents stand at the start; null: never",
    )

    @model_serializer(mode="wrap")
    def _as_ever(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave the option out where it is not set: logs without it stay the bytes that they were before."""
        values: dict[str, Any] = plain(self)
        is_default = self.neighbourhood == type(self).model_fields["neighbourhood"].default
        return {name: value for name, value in values.items() if name != "neighbourhood" or not is_default}


class Method:
    """Base of all methods: hooks that a method does not need do nothing."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for ``teamworld methods``."""
    options: ClassVar[type[BaseModel]] = StrictModel
    """What ``--set METHOD.OPTION=VALUE`` can set."""
    questions: ClassVar[tuple[type[Question[Any]], ...]] = ()
    """All that it may ask, shared questions too: by them runs assign reasoners, sampling and digests of prompts."""
    respondents: ClassVar[tuple[RespondentId, ...]] = ()
    """Respondents without a body, such as a central planner: ``--reasoner`` can name them."""
    requires: ClassVar[frozenset[Capability]] = frozenset()
    """The capabilities without which it cannot play in a world; with ``entities`` it is told of these in ``begin``."""
    decides_alone: ClassVar[bool] = False
    """Whether each agent decides by its own view, plan and past and the names of the living alone, and nobody talks or
    interrupts: then agents may decide in any order, and at steps of their own, each by a copy of the object."""
    learns: ClassVar[bool] = False
    """Whether ``learn`` ever returns anything."""
    variants: ClassVar[Mapping[str, Variant]] = MappingProxyType({})
    """What ``METHOD:VARIANT`` can name."""
    talk: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Its published rule for messages, as options that differ from free talk (``MessageRule``); it holds under the
    protocol ``native``."""
    neighbourhood: int | None = None
    """Agents that talk or are planned for together at most, where the team is large; None: the whole team. Methods
    whose options are ``InNeighbourhoods`` have it from there."""

    @classmethod
    def native_talk(cls, options: BaseModel) -> Mapping[str, Any]:
        """Return the published rule for messages under some options: ``talk`` where these change nothing about it."""
        return cls.talk

    def __init__(self, options: BaseModel) -> None:
        """Take the method's own options; every episode has a new object."""
        self._options: Any = self.options.model_validate(options, from_attributes=True)
        if isinstance(self._options, InNeighbourhoods):
            self.neighbourhood = self._options.neighbourhood

    def fresh(self) -> Method:
        """Return another of this method, with the same options, that has not begun."""
        return type(self)(self._options)

    @classmethod
    def recorded_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return options as logs hold them: without paths, which differ from machine to machine."""
        return options

    def prepare(self, domain: Domain) -> None:
        """See that what it needs beside the package is there and fits; called before a run writes anything.

        Raises:
            UserError: It is not.
        """

    def recall(self, log: Sequence[Event]) -> None:
        """Take the log of the episode that is played again, before it begins.

        A method that decides by something that may be missing when a run is replayed reads from it what it decided.
        """

    async def begin(self, briefing: Briefing) -> None:
        """Start an episode; may ask."""

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """See every step; return busy agents to interrupt."""
        return ()

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Decide for ``context.free``, and for any busy agent to be overridden."""
        raise NotImplementedError

    def learns_in(self, episode: int) -> bool:
        """Whether ``learn`` returns anything for the episode of this number, from 1."""
        return self.learns

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        """Return what the episode adds to memory; pure, from the log alone."""
        return None
