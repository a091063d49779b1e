"""Large teams: neighbourhoods that talk and plan by themselves, all at the same time, by views that stay bounded.

A team of more than ``LARGE`` agents is split by where its agents stand at the start: across the longer side of the area
in which they stand, again and again, into parts of one size or nearly so, until none has more agents than the option
``neighbourhood`` says. Each part plays its method as if it were the whole team, with its own planner or leader, its own
meetings, and messages that its own agents hear. In smaller teams nothing changes.

Views are narrowed before a method sees them. They tell in full of the agents of the neighbourhood, of the ``NEAR``
others that are nearest to one of them, and of up to ``SAME_GOAL`` more that work for a goal of one of them. Of all
others they tell how many there are, and where. Goals, options, checks and words are made from the narrowed view, so a
rule reads what its prompt tells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from teamworld.language import AgentId
from teamworld.language.rules import WHERE
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.guidebook import merge
from teamworld.methods.common.mixed_team import Own
from teamworld.methods.contract import (
    Briefing,
    Decision,
    DecisionContext,
    Message,
    Method,
)
from teamworld.reasoning.contract import Answer, Question
from teamworld.record import Believe, Commit, Event, Predict, QuestionSkipped, Release
from teamworld.worlds.base.views import FactsView, Narrowing
from teamworld.worlds.contract import View, WorldSpec

#: Agents of the largest team that is never split.
LARGE = 16
#: Agents outside of a neighbourhood of which views tell in full: the nearest, and those at a goal of its agents.
NEAR, SAME_GOAL = 16, 8
#: Where an agent is, in the world's coordinates.
Place = tuple[int, ...]


class Neighbourhood(NamedTuple):
    """A part of the team."""

    number: int
    agents: tuple[AgentId, ...]
    method: Method
    """Its own, with its own planner or leader."""


def in_neighbourhoods(method: Method) -> Method:
    """Return a method whose large teams are split as it says; one that says nothing as it is."""
    return method if method.neighbourhood is None else Neighbourhoods(method, method.neighbourhood)


class Neighbourhoods(Method):
    """A method whose large teams are split into neighbourhoods.

    Args:
        inner: The method; it plays small teams itself.
        most: Agents of a neighbourhood.
    """

    def __init__(self, inner: Method, most: int) -> None:
        self.name = inner.name  # type: ignore[misc]  # the log names the method that plays
        self.requires = inner.requires  # type: ignore[misc]  # it gets the entities that the method needs
        self._inner, self._most = inner, most
        self._briefing: Briefing | None = None
        self._parts: Sequence[Neighbourhood] = ()
        self._narrowed: tuple[int, Mapping[int, Narrowing]] = -1, {}

    async def begin(self, briefing: Briefing) -> None:
        """Start the method, or wait for the first step, in which agents see where they are."""
        if len(briefing.agents) <= LARGE:
            await self._inner.begin(briefing)
        else:
            self._briefing = briefing

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Return the busy agents that any neighbourhood interrupts among its own."""
        if self._briefing is None:
            return self._inner.watch(context)
        return [agent for part in self._parts for agent in part.method.watch(self._context(context, part))]

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let all neighbourhoods that have free agents decide at the same time."""
        if self._briefing is None:
            return await self._inner.decide(context)
        if not self._parts:
            self._parts = await self._split(context, self._briefing)
        contexts = {part.agents[0]: (part, self._context(context, part)) for part in self._parts}
        made = await context.apart(
            {first: part.method.decide(own) for first, (part, own) in contexts.items() if own.free}
        )
        return {agent: decision for decisions in made.values() for agent, decision in decisions.items()}

    def learns_in(self, episode: int) -> bool:
        """As the method."""
        return self._inner.learns_in(episode)

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        """As the method: from the log of the whole team."""
        return self._inner.learn(log)

    async def _split(self, context: DecisionContext, briefing: Briefing) -> Sequence[Neighbourhood]:
        """Form the neighbourhoods, each with a method of its own and what was learned in earlier episodes."""
        groups = divide({agent: find_place(context.views[agent]) for agent in briefing.agents}, self._most)
        parts = []
        for number, agents in enumerate(groups, 1):
            method = self._inner.fresh()
            spec = _local(briefing.spec, agents, len(groups))
            await method.begin(replace(briefing, spec=spec, agents=agents, memory=merge(briefing.memory)))
            parts.append(Neighbourhood(number, agents, method))
        return parts

    def _context(self, context: DecisionContext, part: Neighbourhood) -> _NeighbourhoodContext:
        if self._narrowed[0] != context.t:
            self._narrowed = context.t, narrow(context, self._parts)
        return _NeighbourhoodContext(context, part, self._narrowed[1][part.number])


def _local(spec: WorldSpec, agents: Sequence[AgentId], number: int) -> WorldSpec:
    """Return what agents of a neighbourhood know of the instance: the same, and who belongs to them."""
    words = (
        f"The team is split into {number} neighbourhoods, by where agents stood at the start. Agents talk and settle "
        f"who does what within theirs alone. This one: {', '.join(agents)}. Of agents that are "
        "neither among them nor near one of them they know the number and the part of the map."
    )
    return replace(spec, agents=tuple(agents), task=f"{spec.task}\n{words}")


# ---- who belongs together, and whom views tell of


def find_place(view: View) -> Place | None:
    """Return where an agent sees itself; None where its world has no coordinates."""
    values = (view.known.value(view.agent, predicate) for predicate in sorted(WHERE))
    return next((value for value in values if isinstance(value, tuple)), None)


def divide(places: Mapping[AgentId, Place | None], most: int) -> list[tuple[AgentId, ...]]:
    """Return the neighbourhoods of some agents, each in the order of the agents.

    The agents are halved, as evenly as whole neighbourhoods allow, across the longer side of the area in which they
    stand; of those equally far along it who comes first in order goes to the first half. Without coordinates the order
    of the agents alone decides.

    Args:
        places: Where each of them is, in their order.
        most: Agents of a neighbourhood.
    """
    order = {agent: at for at, agent in enumerate(places)}
    where = {agent: place for agent, place in places.items() if place is not None}
    spots: Mapping[AgentId, Place] = (
        where if len(where) == len(places) else {agent: (at,) for agent, at in order.items()}
    )

    def halve(agents: list[AgentId]) -> Iterator[tuple[AgentId, ...]]:
        number = ceil(len(agents) / most)
        if number <= 1:
            yield tuple(sorted(agents, key=order.__getitem__))
            return
        sides = list(zip(*(spots[agent] for agent in agents), strict=True))
        axis = max(range(len(sides)), key=lambda side: max(sides[side]) - min(sides[side]))
        along = sorted(agents, key=lambda agent: (spots[agent][axis], order[agent]))
        cut = len(agents) * (number // 2) // number
        yield from halve(along[:cut])
        yield from halve(along[cut:])

    return list(halve(list(places)))


def narrow(context: DecisionContext, parts: Sequence[Neighbourhood]) -> Mapping[int, Narrowing]:
    """Return by its number of which agents the views of a neighbourhood tell in full."""
    agents = list(context.views)
    places = [find_place(context.views[agent]) for agent in agents]
    if any(place is None for place in places):
        return {part.number: Narrowing(agents) for part in parts}
    at: npt.NDArray[np.int64] = np.array(places, np.int64)
    row = {agent: number for number, agent in enumerate(agents)}
    goals = {agent: plan.goal for agent, plan in context.running.items() if plan.goal is not None}
    narrowed = {}
    for part in parts:
        own = [agent for agent in part.agents if agent in row]
        rows = [row[agent] for agent in own]
        apart = ((at[:, None] - at[None, rows]) ** 2).sum(axis=2).min(axis=1, initial=np.iinfo(np.int64).max)
        nearest = [agents[number] for number in np.argsort(apart, kind="stable").tolist() if agents[number] not in own]
        ours = {goals[agent] for agent in own if agent in goals}
        joined = [agent for agent in nearest[NEAR:] if goals.get(agent) in ours]
        narrowed[part.number] = Narrowing([*own, *nearest[:NEAR], *joined[:SAME_GOAL]])
    return narrowed


# ---- what a neighbourhood may read and do


class _NeighbourhoodContext(Own):
    """The ``DecisionContext`` of a neighbourhood: its agents are the team."""

    def __init__(self, context: DecisionContext, part: Neighbourhood, narrowing: Narrowing) -> None:
        super().__init__(context, part.agents, {})
        self._number = part.number
        self.team = tuple(agent for agent in context.team if agent in self._agents)
        self.views = _NarrowedViews(self.views, narrowing)
        self.post, self.ask, self.note = self._post, self._ask, self._note

    @property
    def news(self) -> Sequence[Event]:
        """Commitments and plans of its agents, and what happened to goals."""
        return [event for event in self._context.news if getattr(event, "agent", None) in {None, *self._agents}]

    def _post(self, message: Message) -> None:
        """Send a message to agents of the neighbourhood: to all, or to those whom it is for."""
        wanted = self.team if message.recipients is None else message.recipients
        to = tuple(agent for agent in wanted if agent in self._agents and agent != message.sender)
        self._context.post(replace(message, recipients=to))

    async def _ask(self, question: Question[Answer]) -> Answer:
        """Ask; a respondent without a body is that of this neighbourhood, by name too."""
        name = self._name(question.respondent)
        return await self._context.ask(question if name == question.respondent else replace(question, respondent=name))

    def _note(self, event: Commit | Release | QuestionSkipped | Believe | Predict) -> None:
        """Put on record, under the same names."""
        self._context.note(msgspec.structs.replace(event, agent=self._name(event.agent)))

    def _name(self, respondent: str) -> str:
        return respondent if respondent in self._agents else f"{respondent}.{self._number}"


class _NarrowedViews(Mapping[AgentId, View]):
    """Views that tell of some agents alone, each narrowed when first read."""

    def __init__(self, views: Mapping[AgentId, View], narrowing: Narrowing) -> None:
        self._views, self._narrowing = views, narrowing
        self._made: dict[AgentId, View] = {}

    def __getitem__(self, agent: AgentId) -> View:
        if agent not in self._made:
            view = self._views[agent]
            self._made[agent] = view.narrowed(self._narrowing) if isinstance(view, FactsView) else view
        return self._made[agent]

    def __iter__(self) -> Iterator[AgentId]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)
