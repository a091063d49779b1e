"""What CAMON asks its reasoners: the leader's plan, a proposal, the leader's review of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import Field

from teamworld.language import AgentId, GoalId
from teamworld.methods.common.prompt_context import AgentRecord, TeamRecord, ability_context, team_open_goals
from teamworld.methods.common.single_action import Act, action_error, offer_values, perturb_action
from teamworld.methods.contract import Message, StrictModel
from teamworld.planning.action_parser import read_action
from teamworld.planning.allocation import allocate_steps, choose_step
from teamworld.planning.candidates import CandidateStep
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import WAIT

#: Longest text of a message in characters.
LONGEST = 600


class Order(StrictModel):
    """What the leader tells another agent to do instead of what it does; without both parts it is void."""

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


class Review(StrictModel):
    """The leader's word on a proposal."""

    decision: Literal["ACCEPT", "REJECT"] = Field(description="ACCEPT the proposal as it is, or REJECT it")
    action: str = Field(default="", description="if you reject it: the action to do instead, in written form")
    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")
    message: str = Field(default="", description="what you tell the agent; may be empty", max_length=LONGEST)
    orders: tuple[Order, ...] = Field(default=(), description="orders for others; none if they do well as they are")


LeaderAnswer = TypeVar("LeaderAnswer", Lead, Review)


@dataclass(frozen=True)
class LeaderRecord(TeamRecord):
    """What the leader reads: the shared record of the whole team, and what it was told."""

    heard: tuple[Message, ...]
    """What was said to the leader."""
    ignored: tuple[str, ...]
    """What of its last answer could not be used."""
    orders: bool
    """Whether it may order others."""


@dataclass(frozen=True)
class LeaderQuestion(Question[LeaderAnswer]):
    """What the leader is asked."""

    record: LeaderRecord

    sampling = Sampling(temperature=0.7, max_tokens=1500)

    def context(self) -> dict[str, Any]:
        """The team, the tasks, the shared record, and what was said."""
        record = self.record
        extra = {"heard": record.heard, "ignored": record.ignored, "orders": record.orders}
        return record.context(self.views) | {"agent": self.respondent} | extra

    def assigned(self, agent: AgentId) -> dict[AgentId, CandidateStep]:
        """Return the rule's step for an agent, and for all who can be given an order."""
        record = self.record
        members = [member for member in self.views if member == agent or member in record.members]
        return allocate_steps(self.views, record.domain, members, record.running, record.aims)

    def ordered(self, steps: Mapping[AgentId, CandidateStep], agent: AgentId) -> tuple[Order, ...]:
        """Return the rule's orders: for who is needed on the task of an agent, and for who was in no task's need."""
        goal = steps[agent].goal
        joint = any(known.id == goal and known.quorum > 1 for known in team_open_goals(self.views.values()))
        orders: list[Order] = []
        if not self.record.orders:
            return ()
        for other, step in steps.items():
            running = self.record.running.get(other)
            helps = joint and step.goal == goal and (running is None or running.goal != goal)
            spare = step.goal is not None and running is not None and running.goal is None
            if other not in (agent, self.respondent) and (helps or spare):
                text = f"{other}, take {step.goal}: it needs you."
                orders.append(Order(agent=other, action=str(step.action), message=text, goal=step.goal))
        return tuple(orders)


@dataclass(frozen=True)
class LeaderPlan(LeaderQuestion[Lead]):
    """What do I, the leader, do next, and who has to do something else?"""

    kind = "camon.lead"
    template = "camon/prompts/lead.md.j2"
    answer = Lead

    def context(self) -> dict[str, Any]:
        """As for every question to the leader, and what it can do itself."""
        return super().context() | ability_context(self.view, self.record.past)

    def rule(self, rng: np.random.Generator) -> Lead:
        """The step of most worth when tasks are shared out; orders where a task needs others too."""
        steps = self.assigned(self.respondent)
        own = steps[self.respondent]
        return Lead(action=str(own.action), goal=own.goal, orders=self.ordered(steps, self.respondent))

    def check(self, answer: Lead) -> str | None:
        """Its own action can start; orders that cannot be carried out are passed over later."""
        return action_error(answer.action, self.view, self.record.domain)

    def fallback(self) -> Lead:
        """Nothing for a step."""
        return Lead(action="")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
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

    record: AgentRecord
    leader: AgentId
    heard: tuple[Message, ...]
    """What was said to it since it was last asked."""
    review: bool
    """Whether the leader decides."""

    kind = "camon.propose"
    template = "camon/prompts/propose.md.j2"
    answer = Proposal
    sampling = Sampling(temperature=0.7, max_tokens=1000)

    def context(self) -> dict[str, Any]:
        """Its perception, what it can do, what it did, and what it was told."""
        return self.record.context(self.view) | {"leader": self.leader, "review": self.review, "heard": self.heard}

    def rule(self, rng: np.random.Generator) -> Proposal:
        """The step of most worth by what it sees itself."""
        teammates = sum(map(len, self.record.team.values())) - 1
        step = choose_step(self.view, self.record.domain, {}, teammates, aim=self.record.aim)
        reason = f"{step.goal} is worth the most to me." if step.goal is not None else "I know of no task for me."
        return Proposal(action=str(step.action), goal=step.goal, reason=reason)

    def check(self, answer: Proposal) -> str | None:
        """The action can start."""
        return action_error(answer.action, self.view, self.record.domain)

    def fallback(self) -> Proposal:
        """Nothing; the leader may know better."""
        return Proposal(action=str(WAIT), reason="I have no idea.")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        return offer_values(field, self.view)

    def perturb(self, answer: Proposal, rng: np.random.Generator) -> Proposal:
        """Take another option."""
        return perturb_action(answer, answer.action, self.view, rng)


@dataclass(frozen=True)
class ReviewProposal(LeaderQuestion[Review]):
    """Shall that agent do what it proposes? Asked of the leader, who knows what all others do."""

    proposer: AgentId
    proposal: Proposal

    kind = "camon.review"
    template = "camon/prompts/review.md.j2"
    answer = Review

    def context(self) -> dict[str, Any]:
        """As for every question to the leader, and the proposal with what the proposer can do."""
        own = ability_context(self.views[self.proposer], self.record.past)
        return super().context() | own | {"proposer": self.proposer, "proposal": self.proposal}

    def rule(self, rng: np.random.Generator) -> Review:
        """Accept what serves the task that the agent gets when tasks are shared out; else name the step to take."""
        steps = self.assigned(self.proposer)
        step, view = steps[self.proposer], self.views[self.proposer]
        orders = self.ordered(steps, self.proposer)
        proposed = read_action(self.proposal.action, view, self.record.domain)
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
        return action_error(answer.action, self.views[self.proposer], self.record.domain)

    def fallback(self) -> Review:
        """The proposal stands."""
        return Review(decision="ACCEPT")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Both decisions, the proposer's options, and the tasks."""
        return ("ACCEPT", "REJECT") if field == "decision" else offer_values(field, self.views[self.proposer])

    def perturb(self, answer: Review, rng: np.random.Generator) -> Review:
        """Send the proposer elsewhere, or forget the orders."""
        if answer.orders and rng.random() < 0.5:
            return answer.model_copy(update={"orders": ()})
        other = answer.model_copy(update={"decision": "REJECT"})
        return perturb_action(other, answer.action or str(WAIT), self.views[self.proposer], rng)
