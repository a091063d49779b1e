"""A team that is split among methods: each plays its own agents, and all share the channel of messages.

Its label joins theirs by ``+``. Agents are dealt out in turns: of ``mhp+coela`` the first plays MHP, the second CoELA,
the third MHP. To each of the methods it is as if the others' agents were played by somebody else: they are in its views
and speak, but it neither decides for them nor sees their plans.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel

from teamworld.errors import UserError
from teamworld.language import AgentId
from teamworld.methods.contract import (
    Briefing,
    Decision,
    DecisionContext,
    Meeting,
    Message,
    Method,
    StrictModel,
)
from teamworld.record import Event
from teamworld.worlds.contract import Capability, Domain, View

#: Joins the labels of methods that share a team.
JOINT = "+"


class SplitOptions(StrictModel):
    """Options of a split team: those of each method, by label."""

    parts: dict[str, dict[str, Any]]


class Part(NamedTuple):
    """One of the methods."""

    label: str
    method: type[Method]


class TeamShare(NamedTuple):
    """The agents that one method plays."""

    method: Method
    agents: tuple[AgentId, ...]


class SharedTeam:
    """Methods that have begun and share a team, each with its own agents.

    Args:
        groups: Who plays whom; it may be another list from one step to the next.
    """

    def __init__(self, groups: Sequence[TeamShare]) -> None:
        self.groups = groups
        self._late: dict[AgentId, tuple[Message, ...]] = {}

    def watch(self, context: DecisionContext) -> list[AgentId]:
        """Return the busy agents that any method interrupts among its own."""
        return [agent for method, agents in self.groups for agent in method.watch(self._own(context, agents))]

    async def decide(self, context: DecisionContext) -> dict[AgentId, Decision]:
        """Let each method that has free agents decide, one after the other."""
        decisions: dict[AgentId, Decision] = {}
        read: dict[AgentId, int] = {}
        for method, agents in self.groups:
            own = self._own(context, agents)
            if own.free:
                decisions.update(await method.decide(own))
            for agent in own.free:
                self._late.pop(agent, None)
                read[agent] = len(context.inbox(agent))
        # What later methods said in this step is gone from the inbox with the step: it is kept for the next decision.
        self._late.update({agent: late for agent, seen in read.items() if (late := tuple(context.inbox(agent)[seen:]))})
        return decisions

    def _own(self, context: DecisionContext, agents: Sequence[AgentId]) -> Own:
        return Own(context, agents, self._late)


class Split(Method):
    """Base of split teams; ``split`` makes one of some methods."""

    parts: ClassVar[tuple[Part, ...]]
    options = SplitOptions
    _options: SplitOptions

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        own_options = self._options.parts
        self._methods = [
            part.method(part.method.options.model_validate(own_options[part.label])) for part in self.parts
        ]

    @classmethod
    def recorded_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options of each method as logs hold them."""
        recorded = {part.label: part.method.recorded_options(options["parts"][part.label]) for part in cls.parts}
        return {**options, "parts": recorded}

    def prepare(self, domain: Domain) -> None:
        """See that each method has what it needs."""
        for method in self._methods:
            method.prepare(domain)

    def recall(self, log: Sequence[Event]) -> None:
        """Pass the log on; each reads what its own agents did."""
        for method in self._methods:
            method.recall(log)

    async def begin(self, briefing: Briefing) -> None:
        """Deal the agents out and start each method; only those that require entities are told them."""
        number = len(self.parts)
        groups = [TeamShare(part_method, briefing.agents[at::number]) for at, part_method in enumerate(self._methods)]
        self._team = SharedTeam(groups)
        for method, agents in groups:
            entities = briefing.entities if "entities" in method.requires else ()
            await method.begin(replace(briefing, agents=agents, entities=entities))

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Return the busy agents that any method interrupts among its own."""
        return self._team.watch(context)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let each method that has free agents decide, one after the other."""
        return await self._team.decide(context)


def split(parts: Sequence[Part]) -> type[Method]:
    """Return the method of a team that is split among some.

    Raises:
        UserError: They were published with different rules for messages, and a team has one.
    """
    label = JOINT.join(part.label for part in parts)
    talk: dict[str, Any] = {}
    for part in parts:
        if part.method.talk and talk and dict(part.method.talk) != talk:
            raise UserError(f"'{label}': they were published with different rules for messages, and a team has one")
        talk = talk or dict(part.method.talk)
    return type(
        "SplitTeam",
        (Split,),
        {
            "__doc__": f"A team split among {', '.join(part.label for part in parts)}.",
            "name": JOINT.join(part.method.name for part in parts),
            "summary": f"a team split among {', '.join(part.label for part in parts)}, dealt out in turns",
            "parts": tuple(parts),
            "questions": tuple(dict.fromkeys(question for part in parts for question in part.method.questions)),
            "respondents": tuple(dict.fromkeys(who for part in parts for who in part.method.respondents)),
            "requires": frozenset[Capability]().union(*(part.method.requires for part in parts)),
            "talk": MappingProxyType(talk),
        },
    )


class Own:
    """The ``DecisionContext`` of a method that has some of the agents."""

    def __init__(
        self, context: DecisionContext, agents: Sequence[AgentId], late: Mapping[AgentId, Sequence[Message]]
    ) -> None:
        self._context, self._agents, self._late = context, frozenset(agents), late
        self.t, self.team, self.allowance = context.t, context.team, context.allowance
        self.free = tuple(agent for agent in context.free if agent in self._agents)
        self.views: Mapping[AgentId, View] = _OwnViews(context.views, self._agents)
        self.running = {agent: plan for agent, plan in context.running.items() if agent in self._agents}
        self.may_speak, self.post, self.note = context.may_speak, context.post, context.note
        self.ask, self.together, self.apart = context.ask, context.together, context.apart

    @property
    def news(self) -> Sequence[Event]:
        """Commitments and plans of its agents."""
        return [event for event in self._context.news if getattr(event, "agent", None) in self._agents]

    def inbox(self, agent: AgentId) -> Sequence[Message]:
        """What reached one of its agents."""
        return (*self._late.get(agent, ()), *self._context.inbox(agent))

    def open_meeting(self, members: Sequence[AgentId]) -> Meeting:
        """Open a meeting of its agents."""
        if not self._agents.issuperset(members):
            raise ValueError(f"a room is for agents of one method, got {', '.join(members)}")
        return self._context.open_meeting(members)


class _OwnViews(Mapping[AgentId, View]):
    """Some of the views, each still made when first read."""

    def __init__(self, views: Mapping[AgentId, View], agents: Collection[AgentId]) -> None:
        self._views, self._agents = views, agents

    def __getitem__(self, agent: AgentId) -> View:
        if agent not in self._agents:
            raise KeyError(agent)
        return self._views[agent]

    def __iter__(self) -> Iterator[AgentId]:
        return (agent for agent in self._views if agent in self._agents)

    def __len__(self) -> int:
        return sum(1 for _ in self)
