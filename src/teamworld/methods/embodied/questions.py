"""What Embodied asks its agents: what to say, then what to do, and who is to lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from teamworld.language import Action, AgentId, GoalId
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.methods.common.single_action import Act, action_error, goal_of_action, offer_values, perturb_action
from teamworld.methods.contract import StrictModel
from teamworld.methods.embodied.leading import assign_goals, is_placed
from teamworld.methods.embodied.organisations import Organisation
from teamworld.planning.allocation import choose_step
from teamworld.planning.candidates import CandidateStep, find_step
from teamworld.planning.goals import open_goals, workable_goals
from teamworld.reasoning.contract import Sampling
from teamworld.worlds.contract import Goal, ImpossibleFacts

#: Longest text of a message in characters.
LONGEST = 600


class Private(StrictModel):
    """Something said to one teammate."""

    to: str = Field(description="id of the teammate")
    text: str = Field(description="what you tell it; nothing is sent if this is empty", max_length=LONGEST)
    goal: GoalId | None = Field(
        default=None, description="id of the task that you ask it to take, added if the text lacks it; or null"
    )


class Talk(Reasoned):
    """What an agent says in a round: to teammates apart, and to all at once."""

    goals: tuple[GoalId, ...] = Field(
        default=(),
        description="ids of all tasks that you take from now on, in order, in place of those that you said before, "
        "added to your message to all if that lacks them; none if nothing is new",
    )
    private: tuple[Private, ...] = Field(default=(), description="messages to single teammates; none to save costs")
    everybody: str = Field(default="", description="one message to all, or empty", max_length=LONGEST)


class Vote(Reasoned):
    """Who is to lead."""

    leader: AgentId = Field(description="id of the agent that is to lead; it may be you")
    reason: str = Field(default="", description="why, as the others hear it", max_length=300)


class Request(NamedTuple):
    """That an agent is asked to take a task."""

    sender: AgentId
    to: AgentId
    goal: GoalId
    said: int
    """The step at which it was asked."""


Answer = TypeVar("Answer", Talk, Act, Vote)


@dataclass(frozen=True)
class TalkingQuestion(AgentQuestion[Answer]):
    """What an agent knows when it is asked: its own view, what was said, and how the team is organised."""

    organisation: Organisation
    asked: tuple[Request, ...] = ()
    """What teammates have asked of it, the last of each, and it of teammates, as far as that is not over."""
    aim: GoalId | None = None
    """What its last action was for."""
    remember: int = 1
    """Steps for which all that was said can be read."""
    votes_at: int | None = None
    """The step at which the team elects its leader again; None where it does not."""

    @property
    def silence(self) -> str:
        """What stands in place of what was said where there is nothing to read."""
        if self.me.step <= self.remember:
            return "Nothing."
        return f"Nothing in {f'the last {self.remember + 1} steps' if self.remember else 'this step'}."

    @property
    def asked_of_me(self) -> list[Request]:
        """What teammates have asked of it."""
        return [ask for ask in self.asked if ask.to == self.respondent]

    @property
    def asked_by_me(self) -> list[Request]:
        """What it has asked of teammates."""
        return [ask for ask in self.asked if ask.sender == self.respondent]

    @property
    def teammates(self) -> list[AgentId]:
        """The others in the team."""
        return [mate.agent for mate in self.me.team]

    @property
    def leads(self) -> bool:
        """Whether it is a leader with somebody to lead."""
        return self.respondent in self.organisation.leaders and bool(self.me.team)

    @property
    def group(self) -> tuple[AgentId, ...]:
        """Whom it assigns tasks to, itself included, where it leads."""
        order = {agent: at for at, agent in enumerate(self.me.spec.agents)}
        team = sorted((self.respondent, *self.teammates), key=lambda agent: order.get(agent, -1))
        return self.organisation.followers(self.respondent, team)

    @property
    def order(self) -> GoalId | None:
        """The task that a leader asked it to take last."""
        orders = [ask for ask in self.asked_of_me if ask.sender in self.organisation.leaders]
        return max(orders, key=lambda ask: ask.said).goal if orders else None

    @property
    def task(self) -> GoalId | None:
        """The task that it said it takes, else the one of what it does or did last."""
        doing = self.me.running.goal if self.me.running is not None else self.aim
        return self.me.commitment or doing

    @property
    def taken(self) -> list[GoalId]:
        """What teammates take, as the rule counts on it: what each said, or was asked by this agent.

        Of two for one task the one that said so first keeps it, by name within a step.
        """
        asked = {ask.to: (ask.said, ask.to, ask.goal) for ask in self.asked_by_me}
        claims = asked | {
            mate.agent: (mate.said or 0, mate.agent, mate.commitment)
            for mate in self.me.team
            if mate.commitment is not None
        }
        own, said = self.task, self.me.announced
        return [
            goal
            for t, mate, goal in claims.values()
            if goal != own or said is None or (t, mate) < (said, self.respondent)
        ]

    def step(self) -> CandidateStep:
        """Return the rule's step: what a leader ordered, what a leader keeps for itself, else what is worth most."""
        own = assign_goals(self.me, self.group).get(self.respondent) if self.leads else self.order
        goal = next((goal for goal in workable_goals(self.me.view) if goal.id == own), None)
        if goal is not None:
            running, step = self.me.running, find_step(goal, self.me.view, self.domain)
            if running is not None and running.goal == own and self.me.doing is not None:
                return CandidateStep(self.me.doing, own, step.ticks if step is not None else 1)
            if step is not None:
                return step
        others = len(self.teammates) - len(self.taken)
        step = choose_step(self.me.view, self.domain, Counter(self.taken), others, self.me.running, self.aim)
        return step if step.goal is not None else self._joining(step)

    def _joining(self, step: CandidateStep) -> CandidateStep:
        """Return the step of an agent that nobody needs: at hand where others work it works with them."""
        done: list[Action] = [outcome.action for outcome in self.me.past if outcome.status == "done"]
        places = (goal_of_action(action, self.me.view) for action in (step.action, *done[-1:]))
        near = next((goal for goal in places if goal is not None), None)
        goal = next((goal for goal in workable_goals(self.me.view) if goal.id == near), None)
        joining = None if goal is None else find_step(goal, self.me.view, self.domain)
        return step if joining is None else joining._replace(goal=None)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        if field == "goals":
            return [(goal.id,) for goal in open_goals(self.view.goals)]
        return offer_values(field, self.view)


@dataclass(frozen=True)
class Speak(TalkingQuestion[Talk]):
    """What do I tell the others before we act?"""

    round: int = 1
    rounds: int = 1
    ignored: tuple[str, ...] = ()
    """What of its last answer could not be sent."""
    new: str = ""
    """What is new to it since it was last asked to speak, in words; empty where it was not, or that tells nothing."""

    kind = "embodied.talk"
    template = "embodied/prompts/talk.md.j2"
    answer = Talk
    sampling = Sampling(temperature=0.0, max_tokens=1000)
    departures = MappingProxyType(
        {"abilities": "a message names tasks and findings; what to do is asked next (arXiv 2403.12482, section 3)"}
    )

    def rule(self, rng: np.random.Generator) -> Talk:
        """Tell all which task it takes when it is another than before, when others want it too, or when it takes more.

        A leader asks each of its group to take what it is assigned, once.
        """
        step, orders = self.step(), self._orders() if self.leads else ()
        goal = next((goal for goal in self.view.goals if goal.id == step.goal), None)
        if goal is None or not self.teammates or self.me.commitment == goal.id:
            return Talk(private=orders)
        hands = 1 + sum(mate.commitment == goal.id for mate in self.me.team)
        if goal.id == self.task and goal.quorum <= hands <= goal.capacity:
            return Talk(private=orders)
        return Talk(
            goals=(goal.id,), private=orders, everybody=f"I take {goal.id}{_needs(goal)}, {_steps(step.ticks)}."
        )

    def _orders(self) -> tuple[Private, ...]:
        """Return what to ask of whom that is not at it and was not asked before."""
        goals, at = assign_goals(self.me, self.group), {mate.agent: mate.commitment for mate in self.me.team}
        asked = {ask.to: ask.goal for ask in self.asked_by_me}
        known = {goal.id: goal for goal in self.view.goals}
        return tuple(
            Private(to=mate, text=f"Please take {goal}{_needs(known[goal])}.", goal=goal)
            for mate, goal in goals.items()
            if mate != self.respondent and goal not in (at.get(mate), asked.get(mate))
        )

    def check(self, answer: Talk) -> str | None:
        """Anything can be said; what reaches nobody is passed over."""
        return None

    def fallback(self) -> Talk:
        """Nothing."""
        return Talk()


def _needs(goal: Goal) -> str:
    return f", which needs {goal.quorum} at once" if goal.quorum > 1 else ""


def _steps(steps: int) -> str:
    return f"about {steps} step{'s' if steps != 1 else ''}"


@dataclass(frozen=True)
class Decide(TalkingQuestion[Act]):
    """What do I do in this step?"""

    kind = "embodied.act"
    template = "embodied/prompts/act.md.j2"
    answer = Act
    sampling = Sampling(temperature=0.0, max_tokens=1000)

    def rule(self, rng: np.random.Generator) -> Act:
        """The step of most worth, if teammates do what they said; what its leader asked comes first."""
        step = self.step()
        return Act(action=str(step.action), goal=step.goal)

    def check(self, answer: Act) -> str | None:
        """The action can start, or is the one that runs."""
        return action_error(answer.action, self.me)

    def fallback(self) -> Act:
        """Nothing for a step."""
        return Act(action="")

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Take another option."""
        return perturb_action(answer, answer.action, self.view, rng)


@dataclass(frozen=True)
class Elect(TalkingQuestion[Vote]):
    """Who is to lead us?"""

    leader: AgentId | None = None
    """Who leads so far."""
    term: int = 30
    """Steps for which a leader is elected."""

    kind = "embodied.vote"
    template = "embodied/prompts/vote.md.j2"
    answer = Vote
    sampling = Sampling(temperature=0.0, max_tokens=600)
    departures = MappingProxyType(
        {
            "abilities": "a vote names an agent; what to do is asked later (arXiv 2403.12482, section 4)",
            "own": "a vote looks ahead, not back (arXiv 2403.12482, section 4)",
        }
    )

    @property
    def candidates(self) -> list[AgentId]:
        """All who are there, the respondent first."""
        return [self.respondent, *self.teammates]

    def rule(self, rng: np.random.Generator) -> Vote:
        """Vote for who is nearest to what can be done; of equals the leader so far, then the first by name.

        Steps are estimated for the agent's own options, whose goals are open, as if each of those in sight stood there.
        """
        facts, options = self.view.known, [option for option in self.view.options if option.goal is not None]
        steps = dict[AgentId, int]()
        for candidate in (candidate for candidate in self.candidates if is_placed(candidate, facts)):
            with suppress(ImpossibleFacts):  # nobody knows where it is
                steps[candidate] = sum(
                    self.domain.estimate_steps(candidate, option.action, facts) for option in options
                )
        best = min(
            steps,
            key=lambda candidate: (steps[candidate], candidate != self.leader, candidate),
            default=self.respondent,
        )
        return Vote(leader=best, reason=f"{best} is nearest to what can be done now." if options else "")

    def check(self, answer: Vote) -> str | None:
        """It must be somebody of the team."""
        if answer.leader in self.candidates:
            return None
        return f"there is no agent {answer.leader[:80]}; there are: {', '.join(self.candidates)}"

    def fallback(self) -> Vote:
        """No vote."""
        return Vote(leader="")

    def perturb(self, answer: Vote, rng: np.random.Generator) -> Vote:
        """Vote for somebody else."""
        others = [candidate for candidate in self.candidates if candidate != answer.leader]
        return Vote(leader=others[int(rng.integers(len(others)))]) if others else answer

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The agents."""
        return self.candidates if field == "leader" else ()
