"""Criticise and reflect (arXiv 2403.12482, section 3.2): between episodes the organisation of the team is chosen anew.

An episode leaves a record of what it came to and what it cost. Before the next one a critic judges the records and
proposes organisations; a coordinator chooses one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from pydantic import Field

from teamworld.language import AgentId
from teamworld.memory.contract import MemoryDelta, Reflection
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.contract import StrictModel
from teamworld.methods.embodied.organisations import LONGEST, MUTE, Form, Organisation, organise
from teamworld.reasoning.contract import Question, RespondentId, Sampling
from teamworld.record import ActionStep, EpisodeEnd, EpisodeStart, Event, GoalChange, MessageSent, QuestionAsked
from teamworld.worlds.contract import WorldSpec

#: The reasoners without a body that judge episodes, and choose.
CRITIC: Final[RespondentId] = "critic"
COORDINATOR: Final[RespondentId] = "coordinator"
#: Episodes that are shown, the newest.
SHOWN = 8
#: What the rules of the critic propose, in this order.
FORMS: Final[tuple[Form, ...]] = ("none", "leader", "two_leaders")
_BLIND = "critic and coordinator read records of episodes, not a scene (arXiv 2403.12482, section 3.2)"
_DEPARTURES = dict.fromkeys(("abilities", "who", "situation", "team", "tasks", "own", "said", "options"), _BLIND)
Answer = TypeVar("Answer", "Criticism", "Coordination")


class AgentCosts(msgspec.Struct, frozen=True):
    """What one agent did in an episode."""

    agent: AgentId
    messages: int
    characters: int
    failed: int
    """Actions that failed."""
    idle: int
    """Steps spent on no task."""


class EpisodeRecord(msgspec.Struct, frozen=True):
    """What an episode came to, how the team was organised, and what it cost."""

    episode: int
    text: str
    """The organisation, as the agents read it."""
    leaders: tuple[AgentId, ...]
    done: int
    goals: int
    steps: int
    horizon: int
    agents: tuple[AgentCosts, ...]

    @property
    def messages(self) -> int:
        """Messages that were sent."""
        return sum(agent.messages for agent in self.agents)

    @property
    def characters(self) -> int:
        """Their length."""
        return sum(agent.characters for agent in self.agents)

    @property
    def cost(self) -> float:
        """Steps, and as many as the limit has for the share of the tasks that was not done."""
        return self.steps + self.horizon * (self.goals - self.done) / max(1, self.goals)


class Proposal(StrictModel):
    """An organisation of the team."""

    text: str = Field(description="how the team is organised, as every agent is to read it", max_length=LONGEST)
    leaders: tuple[AgentId, ...] = Field(default=(), description="ids of the agents that lead; none if nobody does")


class Criticism(Reasoned):
    """What went wrong, and how the team should be organised."""

    problems: str = Field(description="what cost steps and messages, and who caused it", max_length=800)
    proposals: tuple[Proposal, ...] = Field(default=(), description="up to three other organisations", max_length=3)


class Coordination(Reasoned):
    """The organisation for the next episode."""

    leaders: tuple[AgentId, ...] = Field(default=(), description="ids of the agents that lead; none if nobody does")
    text: str = Field(description="the organisation, word by word as every agent is to read it", max_length=LONGEST)


@dataclass(frozen=True)
class ReflectionQuestion(Question[Answer]):
    """What critic and coordinator read."""

    spec: WorldSpec
    records: tuple[EpisodeRecord, ...]
    """Of the last episodes, oldest first."""

    def context(self) -> dict[str, Any]:
        """The question; the blocks of the mission and of the world read it too."""
        return {"q": self, "me": self}

    @property
    def tried(self) -> Mapping[str, float]:
        """Mean cost of each organisation that was tried."""
        texts = dict.fromkeys(record.text for record in self.records)
        costs = {text: [record.cost for record in self.records if record.text == text] for text in texts}
        return {text: fsum(costs_of_text) / len(costs_of_text) for text, costs_of_text in costs.items()}


@dataclass(frozen=True)
class Criticise(ReflectionQuestion[Criticism]):
    """What went wrong, and how should the team be organised?"""

    kind = "embodied.criticise"
    template = "embodied/prompts/criticise.md.j2"
    answer = Criticism
    sampling = Sampling(temperature=0.0, max_tokens=1500)
    departures = MappingProxyType(_DEPARTURES)

    def rule(self, rng: np.random.Generator) -> Criticism:
        """Tell the cost of the last episode, and propose the first form of the package that was not tried yet."""
        last = self.records[-1]
        forms = [organise(form, self.spec.agents) for form in FORMS]
        untried = [Proposal(text=form.text, leaders=form.leaders) for form in forms if form.text not in self.tried][:1]
        return Criticism(
            problems=f"Tasks done: {last.done} of {last.goals}; steps: {last.steps}; messages: {last.messages}.",
            proposals=tuple(untried),
        )

    def check(self, answer: Criticism) -> str | None:
        """Leaders must be of the team."""
        return next(
            filter(None, (_flaw(proposal.text, proposal.leaders, self.spec) for proposal in answer.proposals)), None
        )

    def fallback(self) -> Criticism:
        """Nothing is proposed."""
        return Criticism(problems="")


@dataclass(frozen=True)
class Coordinate(ReflectionQuestion[Coordination]):
    """How is the team organised in the next episode?"""

    criticism: Criticism

    kind = "embodied.coordinate"
    template = "embodied/prompts/coordinate.md.j2"
    answer = Coordination
    sampling = Sampling(temperature=0.0, max_tokens=1000)
    departures = MappingProxyType(_DEPARTURES)

    def rule(self, rng: np.random.Generator) -> Coordination:
        """Try what is proposed and was not tried; else go back to what cost least, the first of equals."""
        for proposal in self.criticism.proposals:
            if proposal.text not in self.tried:
                return Coordination(text=proposal.text, leaders=proposal.leaders)
        best = min(self.tried, key=lambda text: self.tried[text])
        record = next(record for record in self.records if record.text == best)
        return Coordination(text=best, leaders=record.leaders)

    def check(self, answer: Coordination) -> str | None:
        """It has words, and leaders must be of the team."""
        return _flaw(answer.text, answer.leaders, self.spec)

    def fallback(self) -> Coordination:
        """The last organisation stands."""
        return Coordination(text=self.records[-1].text, leaders=self.records[-1].leaders)


def _flaw(text: str, leaders: Iterable[AgentId], spec: WorldSpec) -> str | None:
    if not text.strip():
        return "the text of an organisation is empty"
    unknown = [agent for agent in leaders if agent not in spec.agents]
    return f"there is no agent {unknown[0][:80]}; there are: {', '.join(spec.agents)}" if unknown else None


def _elected(log: Sequence[Event]) -> AgentId | None:
    """Return who had most votes in the last election of an episode; None where none was held."""
    votes = [event for event in log if isinstance(event, QuestionAsked) and event.purpose == "embodied.vote"]
    last = Counter(vote.answer["leader"] for vote in votes if vote.step == votes[-1].step and vote.answer["leader"])
    return last.most_common(1)[0][0] if last else None


def record_episode(log: Sequence[Event], form: Form, rounds: int) -> MemoryDelta:
    """Return the record of an episode as what memory learns of it.

    Args:
        log: Of the whole episode.
        form: How the team was organised where nobody chose otherwise.
        rounds: Rounds of talk a step; none where nobody can talk.
    """
    start = next(event for event in log if isinstance(event, EpisodeStart))
    end = next((event for event in log if isinstance(event, EpisodeEnd)), None)
    chosen = next((e for e in log if isinstance(e, QuestionAsked) and e.purpose == Coordinate.kind), None)
    organisation = organise(form, start.team, _elected(log)) if rounds else MUTE
    if chosen is not None:
        answer = Coordination.model_validate(chosen.answer)
        organisation = Organisation(answer.text, answer.leaders)
    messages, characters, failed, idle = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    goals, done, steps = {goal.id for goal in start.goals}, set[str](), 0
    for event in log:
        if isinstance(event, MessageSent):
            messages[event.agent] += 1
            characters[event.agent] += len(event.text)
        elif isinstance(event, ActionStep):
            steps = max(steps, event.step + 1)
            failed[event.agent] += event.status == "failed"
            idle[event.agent] += event.spent and event.goal is None
        elif isinstance(event, GoalChange):
            goals.add(event.goal)
            done |= {event.goal} if event.event == "done" else set()
    agents = tuple(
        AgentCosts(agent, messages[agent], characters[agent], failed[agent], idle[agent]) for agent in start.team
    )
    record = EpisodeRecord(start.episode, *organisation, len(done), len(goals), steps, start.horizon, agents)
    report = Reflection(agent=CRITIC, tick=steps, text=msgspec.json.encode(record).decode())
    whole = end is not None and end.reason == "all_done"
    return MemoryDelta(
        episode=start.episode, completed=whole, ticks=steps, tasks=(), instances=(), reflections=(report,)
    )


def read_records(reports: Iterable[Reflection]) -> tuple[EpisodeRecord, ...]:
    """Return the records among what earlier episodes left behind, the newest ``SHOWN``, oldest first."""
    texts = [report.text for report in reports if report.agent == CRITIC]
    return tuple(msgspec.json.decode(text, type=EpisodeRecord) for text in texts[-SHOWN:])
