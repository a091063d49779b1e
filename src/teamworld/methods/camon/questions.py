"""What CAMON asks its minds: the leader's plan, a proposal, the leader's review of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import AgentId, GoalId, Plan
from teamworld.methods.common.prompt_context import ability_context, agent_context, team_context, team_open_goals
from teamworld.methods.common.single_action import Act, action_error, offer_values, perturb_action
from teamworld.methods.contract import Message
from teamworld.planning.action_parser import read_action
from teamworld.planning.allocation import allocate_steps, choose_step
from teamworld.planning.candidates import CandidateStep
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import WAIT, Domain, View

#: Longest text of a message in characters.
LONGEST = 600


class Order(BaseModel):
    """What the leader tells another agent to do instead of what it does; without both parts it is void."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent: str = Field(description="id of the agent")
    action: str = Field(description="one action of that agent in written form")
    message: str = Field(description="what you tell it", max_length=LONGEST)
    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")


class Lead(Act):
    """The leader's own action, and orders for others."""

    orders: tuple[Order, ...] = Field(default=(), description="orders for others; none if they do well as they are")


class Proposal(Act):
    """What an agent would do."""

    reason: str = Field(default="", description="why, in one sentence for the leader", max_length=LONGEST)


class Review(BaseModel):
    """The leader's word on a proposal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Literal["ACCEPT", "REJECT"] = Field(description="ACCEPT the proposal as it is, or REJECT it")
    action: str = Field(default="", description="if you reject it: the action to do instead, in written form")
    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")
    message: str = Field(default="", description="what you tell the agent; may be empty", max_length=LONGEST)
    orders: tuple[Order, ...] = Field(default=(), description="orders for others; none if they do well as they are")


Said = TypeVar("Said", Lead, Review)


@dataclass(frozen=True)
class Leading(Question[Said]):
    """What the leader is asked: it sees the shared record of the whole team."""

    respondent: AgentId
    views: Mapping[AgentId, View]
    """Of the whole team: the shared record is made from them."""
    domain: Domain
    team: Mapping[str, Sequence[AgentId]]
    running: Mapping[AgentId, Plan]
    """What agents do, what was decided in this step included."""
    aims: Mapping[AgentId, GoalId | None]
    """What each agent's last action was for."""
    open: tuple[AgentId, ...]
    """Agents for whom nothing is decided yet in this step."""
    orderable: tuple[AgentId, ...]
    scenes: Mapping[AgentId, str]
    """Perceptions in the words of minds, as far as there are any."""
    heard: tuple[Message, ...]
    """What was said to the leader."""
    ignored: tuple[str, ...]
    """What of its last answer could not be used."""
    orders: bool
    """Whether it may order others."""
    past: int

    sampling: ClassVar[Sampling] = Sampling(temperature=0.7, max_tokens=1500)

    def context(self) -> dict[str, Any]:
        """The team, the tasks, the shared record, and what was said."""
        team = team_context(self.views, self.team, self.scenes, self.running, self.aims, self.orderable, self.past)
        return team | {"agent": self.respondent, "heard": self.heard, "ignored": self.ignored, "orders": self.orders}

    def assigned(self, agent: AgentId) -> dict[AgentId, CandidateStep]:
        """Return the rule's step for an agent, and for all who can be given an order."""
        pool = {agent, *self.orderable}
        return allocate_steps(
            self.views, self.domain, [one for one in self.views if one in pool], self.running, self.aims
        )

    def ordered(self, steps: Mapping[AgentId, CandidateStep], agent: AgentId) -> tuple[Order, ...]:
        """Return the rule's orders: for who is needed on the task of an agent, and for who was in no task's need."""
        goal = steps[agent].goal
        joint = any(known.id == goal and known.quorum > 1 for known in team_open_goals(self.views.values()))
        orders: list[Order] = []
        if not self.orders:
            return ()
        for other, step in steps.items():
            running = self.running.get(other)
            helps = joint and step.goal == goal and (running is None or running.goal != goal)
            spare = step.goal is not None and running is not None and running.goal is None
            if other not in (agent, self.respondent) and (helps or spare):
                text = f"{other}, take {step.goal}: it needs you."
                orders.append(Order(agent=other, action=str(step.action), message=text, goal=step.goal))
        return tuple(orders)


@dataclass(frozen=True)
class LeaderPlan(Leading[Lead]):
    """What do I, the leader, do next, and who has to do something else?"""

    kind: ClassVar[str] = "camon.lead"
    template: ClassVar[str] = "camon/prompts/lead.md.j2"
    answer: ClassVar[type[BaseModel]] = Lead

    def context(self) -> dict[str, Any]:
        """As for every question to the leader, and what it can do itself."""
        return super().context() | ability_context(self.view, self.past)

    def rule(self, rng: np.random.Generator) -> Lead:
        """The step of most worth when tasks are shared out; orders where a task needs others too."""
        steps = self.assigned(self.respondent)
        own = steps[self.respondent]
        return Lead(action=str(own.action), goal=own.goal, orders=self.ordered(steps, self.respondent))

    def check(self, answer: Lead) -> str | None:
        """Its own action can start; orders that cannot be carried out are passed over later."""
        return action_error(answer.action, self.view, self.domain)

    def fallback(self) -> Lead:
        """Nothing for a step."""
        return Lead(action="")

    def offers(self, field: str, given: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        return offer_values(field, self.view)

    def perturb(self, answer: Lead, rng: np.random.Generator) -> Lead:
        """Take another option, or forget the orders."""
        if answer.orders and rng.random() < 0.5:
            return answer.model_copy(update={"orders": ()})
        return perturb_action(answer, answer.action, self.view, rng)


@dataclass(frozen=True)
class Propose(Question[Proposal]):
    """What would I do next? Asked of an idle agent that does not lead, with its own view alone."""

    respondent: AgentId
    views: Mapping[AgentId, View]
    domain: Domain
    leader: AgentId
    team: Mapping[str, Sequence[AgentId]]
    scenes: Mapping[AgentId, str]
    aim: GoalId | None
    """What its last action was for."""
    heard: tuple[Message, ...]
    """What was said to it since it was last asked."""
    past: int
    review: bool
    """Whether the leader decides."""

    kind: ClassVar[str] = "camon.propose"
    template: ClassVar[str] = "camon/prompts/propose.md.j2"
    answer: ClassVar[type[BaseModel]] = Proposal
    sampling: ClassVar[Sampling] = Sampling(temperature=0.7, max_tokens=1000)

    def context(self) -> dict[str, Any]:
        """Its perception, what it can do, what it did, and what it was told."""
        own = agent_context(self.view, self.team, self.scenes, self.aim, self.past)
        return own | {"leader": self.leader, "review": self.review, "heard": self.heard}

    def rule(self, rng: np.random.Generator) -> Proposal:
        """The step of most worth by what it sees itself."""
        step = choose_step(self.view, self.domain, {}, sum(map(len, self.team.values())) - 1, aim=self.aim)
        reason = f"{step.goal} is worth the most to me." if step.goal is not None else "I know of no task for me."
        return Proposal(action=str(step.action), goal=step.goal, reason=reason)

    def check(self, answer: Proposal) -> str | None:
        """The action can start."""
        return action_error(answer.action, self.view, self.domain)

    def fallback(self) -> Proposal:
        """Nothing; the leader may know better."""
        return Proposal(action=str(WAIT), reason="I have no idea.")

    def offers(self, field: str, given: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        return offer_values(field, self.view)

    def perturb(self, answer: Proposal, rng: np.random.Generator) -> Proposal:
        """Take another option."""
        return perturb_action(answer, answer.action, self.view, rng)


@dataclass(frozen=True)
class ReviewProposal(Leading[Review]):
    """Shall that agent do what it proposes? Asked of the leader, who knows what all others do."""

    proposer: AgentId
    proposal: Proposal

    kind: ClassVar[str] = "camon.review"
    template: ClassVar[str] = "camon/prompts/review.md.j2"
    answer: ClassVar[type[BaseModel]] = Review

    def context(self) -> dict[str, Any]:
        """As for every question to the leader, and the proposal with what the proposer can do."""
        own = ability_context(self.views[self.proposer], self.past)
        return super().context() | own | {"proposer": self.proposer, "proposal": self.proposal}

    def rule(self, rng: np.random.Generator) -> Review:
        """Accept what serves the task that the agent gets when tasks are shared out; else name the step to take."""
        steps = self.assigned(self.proposer)
        step, view = steps[self.proposer], self.views[self.proposer]
        orders = self.ordered(steps, self.proposer)
        proposed = read_action(self.proposal.action, view, self.domain)
        possible = proposed is not None and view.check(proposed).ok
        same = step.goal == self.proposal.goal and (step.goal is not None or proposed != WAIT)
        if possible and (proposed == step.action or same):
            return Review(decision="ACCEPT", orders=orders)
        needed = f"{step.goal} needs you more." if step.goal is not None else "Others have that in hand."
        return Review(decision="REJECT", action=str(step.action), goal=step.goal, message=needed, orders=orders)

    def check(self, answer: Review) -> str | None:
        """A rejection names an action that the proposer can begin."""
        if answer.decision == "ACCEPT":
            return None
        return action_error(answer.action, self.views[self.proposer], self.domain)

    def fallback(self) -> Review:
        """The proposal stands."""
        return Review(decision="ACCEPT")

    def offers(self, field: str, given: Mapping[str, Any]) -> Sequence[Any]:
        """Both decisions, the proposer's options, and the tasks."""
        return ("ACCEPT", "REJECT") if field == "decision" else offer_values(field, self.views[self.proposer])

    def perturb(self, answer: Review, rng: np.random.Generator) -> Review:
        """Send the proposer elsewhere, or forget the orders."""
        if answer.orders and rng.random() < 0.5:
            return answer.model_copy(update={"orders": ()})
        other = answer.model_copy(update={"decision": "REJECT"})
        return perturb_action(other, answer.action or str(WAIT), self.views[self.proposer], rng)
