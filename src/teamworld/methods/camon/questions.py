"""What CAMON asks its reasoners: the leader's plan, a proposal, the leader's review of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from teamworld.language import AgentId, GoalId, plain
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentKnowledge, AgentQuestion
from teamworld.methods.common.single_action import Act, action_error, offer_values, perturb_action, read_act
from teamworld.methods.common.team_record import TeamRecord
from teamworld.methods.contract import StrictModel
from teamworld.planning.allocation import choose_step
from teamworld.planning.candidates import CandidateStep
from teamworld.reasoning.contract import Sampling
from teamworld.worlds.contract import WAIT

#: Longest text of a message in characters.
LONGEST = 600
_RECORD = "stands of each agent in the shared record, which the leader alone reads (CAMON, shared record)"


_ORDERS = "orders; [] if all do well as they are"


class Order(StrictModel):
    """What the leader has an agent do instead of what it does; without both parts it is void."""

    agent: str = Field(description="id of the agent")
    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")
    action: str = Field(description="one action of that agent in written form")
    message: str = Field(description="what you tell it", max_length=LONGEST)


class OwnStep(Act):
    """The leader's own action, where there is nobody to order."""


class Lead(OwnStep):
    """The leader's own action, and orders for others."""

    orders: tuple[Order, ...] = Field(default=(), description=_ORDERS)


class Proposal(Act):
    """What an agent would do."""

    message: str = Field(
        default="",
        description="what you tell the leader, in one sentence; your action is put before it",
        max_length=LONGEST,
    )


class Word(Reasoned):
    """The leader's word on a proposal, where there is nobody to order."""

    decision: Literal["ACCEPT", "REJECT"] = Field(description="ACCEPT the proposal as it is, or REJECT it")
    goal: GoalId | None = Field(
        default=None, description="if you reject it: id of the task to serve instead, or null; null if you accept it"
    )
    action: str = Field(
        default="",
        description="if you reject it: the action to do instead, in written form or its number in the list; empty if "
        "you accept it",
    )
    message: str = Field(default="", description="what you tell the agent; may be empty", max_length=LONGEST)


class Review(Word):
    """The leader's word on a proposal, and orders for others."""

    orders: tuple[Order, ...] = Field(default=(), description=_ORDERS)


LeaderAnswer = TypeVar("LeaderAnswer", OwnStep, Word)


def orders_of(answer: OwnStep | Word) -> tuple[Order, ...]:
    """Return the orders of an answer of a leader."""
    return answer.orders if isinstance(answer, Lead | Review) else ()


@dataclass(frozen=True)
class LeaderQuestion(AgentQuestion[LeaderAnswer]):
    """What the leader is asked."""

    record: TeamRecord
    """The shared record of the whole team."""
    ignored: tuple[str, ...]
    """What of its last answer could not be used."""
    orders: bool
    """Whether it may order others."""

    sampling = Sampling(temperature=0.7, max_tokens=1500)
    departures = MappingProxyType(dict.fromkeys(("situation", "team", "own", "tasks"), _RECORD))
    silent: ClassVar[type[BaseModel]]
    """The answer where there is nobody to order: it has no field for orders."""

    def __post_init__(self) -> None:
        if not self.may_order:
            object.__setattr__(self, "answer", self.silent)

    @property
    def may_order(self) -> bool:
        """Whether there is anybody whom it may order: at a review it may stop what it does itself."""
        return self.orders and len(self.record.members) > 1

    def made(self, orders: tuple[Order, ...] = (), **fields: Any) -> Any:  # noqa: ANN401  (the answer's own class)
        """Return an answer, with orders where there are any to give."""
        return self.answer.model_validate(fields | ({"orders": orders} if self.may_order else {}))

    def assigned(self, agent: AgentId) -> dict[AgentId, CandidateStep]:
        """Return the rule's step for an agent, and for all who can be given an order."""
        members = [member.me.agent for member in self.record.members if member.is_open or member.me.agent == agent]
        return self.record.allocate(members)

    def ordered(self, steps: Mapping[AgentId, CandidateStep], agent: AgentId) -> tuple[Order, ...]:
        """Return the rule's orders: for who is needed on the task of an agent, and for who was in no task's need."""
        goal = steps[agent].goal
        joint = goal is not None and goal in self.record.goals and self.record.goals[goal].quorum > 1
        orders: list[Order] = []
        if not self.may_order:
            return ()
        for member in self.record.members:
            other, running = member.me.agent, member.me.running
            step = steps.get(other)
            if step is None or other == agent:
                continue
            helps = joint and step.goal == goal and (running is None or running.goal != goal)
            spare = step.goal is not None and running is not None and running.goal is None
            if helps or spare:
                own = other == self.respondent
                text = f"I take {step.goal}." if own else f"{other}, take {step.goal}: it needs you."
                orders.append(Order(agent=other, goal=step.goal, action=plain(step.action), message=text))
        return tuple(orders)


@dataclass(frozen=True)
class LeaderPlan(LeaderQuestion[OwnStep]):
    """What do I, the leader, do next, and who has to do something else?"""

    kind = "camon.lead"
    template = "camon/prompts/lead.md.j2"
    answer = Lead
    silent = OwnStep

    def rule(self, rng: np.random.Generator) -> OwnStep:
        """The step of most worth when tasks are allocated; orders where a task needs others too."""
        steps = self.assigned(self.respondent)
        own = steps[self.respondent]
        orders = self.ordered(steps, self.respondent)
        answer: OwnStep = self.made(orders, goal=own.goal, action=plain(own.action))
        return answer

    def check(self, answer: OwnStep) -> str | None:
        """Its own action can start; orders that cannot be carried out are passed over later."""
        return action_error(answer.action, self.me)

    def fallback(self) -> OwnStep:
        """Nothing for a step."""
        answer: OwnStep = self.made(action="")
        return answer

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        return offer_values(field, self.view)

    def perturb(self, answer: OwnStep, rng: np.random.Generator) -> OwnStep:
        """Take another option, or forget the orders."""
        if orders_of(answer) and rng.random() < 0.5:
            return answer.model_copy(update={"orders": ()})
        return perturb_action(answer, answer.action, self.view, rng)


@dataclass(frozen=True)
class Propose(AgentQuestion[Proposal]):
    """What would I do next? Asked of an idle agent that does not lead, with its own view alone."""

    leader: AgentId
    review: bool
    """Whether the leader decides."""

    kind = "camon.propose"
    template = "camon/prompts/propose.md.j2"
    answer = Proposal
    sampling = Sampling(temperature=0.7, max_tokens=1000)

    def rule(self, rng: np.random.Generator) -> Proposal:
        """The step of most worth by what it sees itself."""
        me = self.me
        step = choose_step(me.view, me.domain, {}, len(me.team), aim=me.commitment)
        message = f"{step.goal} is worth the most to me." if step.goal is not None else "I know of no task for me."
        return Proposal(goal=step.goal, action=plain(step.action), message=message)

    def check(self, answer: Proposal) -> str | None:
        """The action can start."""
        return action_error(answer.action, self.me)

    def fallback(self) -> Proposal:
        """Nothing; the leader may know better."""
        return Proposal(action=str(WAIT), message="I have no idea.")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        return offer_values(field, self.view)

    def perturb(self, answer: Proposal, rng: np.random.Generator) -> Proposal:
        """Take another option."""
        return perturb_action(answer, answer.action, self.view, rng)


@dataclass(frozen=True)
class ReviewProposal(LeaderQuestion[Word]):
    """Shall that agent do what it proposes? Asked of the leader, who knows what all others do."""

    proposer: AgentKnowledge
    proposal: Proposal

    kind = "camon.review"
    template = "camon/prompts/review.md.j2"
    answer = Review
    silent = Word

    def rule(self, rng: np.random.Generator) -> Word:
        """Accept what serves the task that the agent gets when tasks are allocated; else name the step to take."""
        steps = self.assigned(self.proposer.agent)
        step = steps[self.proposer.agent]
        orders = self.ordered(steps, self.proposer.agent)
        proposed = read_act(self.proposal.action, self.proposer)
        possible = proposed is not None and self.proposer.view.check(proposed).ok
        same = step.goal == self.proposal.goal and (step.goal is not None or proposed != WAIT)
        if possible and (proposed == step.action or same):
            accepted: Word = self.made(orders, decision="ACCEPT")
            return accepted
        needed = f"{step.goal} needs you more." if step.goal is not None else "Others have that in hand."
        instead = {"goal": step.goal, "action": plain(step.action), "message": needed}
        rejected: Word = self.made(orders, decision="REJECT", **instead)
        return rejected

    def check(self, answer: Word) -> str | None:
        """A rejection names an action that the proposer can begin."""
        return None if answer.decision == "ACCEPT" else action_error(answer.action, self.proposer)

    def fallback(self) -> Word:
        """The proposal stands."""
        accepted: Word = self.made(decision="ACCEPT")
        return accepted

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Both decisions, the proposer's options, and the tasks."""
        return ("ACCEPT", "REJECT") if field == "decision" else offer_values(field, self.proposer.view)

    def perturb(self, answer: Word, rng: np.random.Generator) -> Word:
        """Send the proposer elsewhere, or forget the orders."""
        if orders_of(answer) and rng.random() < 0.5:
            return answer.model_copy(update={"orders": ()})
        other = answer.model_copy(update={"decision": "REJECT"})
        return perturb_action(other, answer.action or str(WAIT), self.proposer.view, rng)
