"""What Embodied asks its reasoners: what to say, then what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from teamworld.language import AgentId, GoalId, Plan
from teamworld.methods.common.prompt_context import AgentRecord, describe_plan
from teamworld.methods.common.single_action import Act, action_error, offer_values, perturb_action
from teamworld.methods.contract import StrictModel
from teamworld.planning.action_parser import read_action
from teamworld.planning.allocation import choose_step
from teamworld.planning.candidates import CandidateStep
from teamworld.reasoning.contract import Question, Sampling

#: Longest text of a message in characters.
LONGEST = 600


class Private(StrictModel):
    """Something said to one team-mate."""

    to: str = Field(description="id of the team-mate")
    text: str = Field(description="what you tell it; nothing is sent if this is empty", max_length=LONGEST)


class Talk(StrictModel):
    """What an agent says in a round: to team-mates apart, and to all at once."""

    private: tuple[Private, ...] = Field(default=(), description="messages to single team-mates; none to save costs")
    everybody: str = Field(default="", description="one message to all, or empty", max_length=LONGEST)
    goal: GoalId | None = Field(default=None, description="id of the task that you take, or null")


class Line(NamedTuple):
    """Something that an agent said or heard."""

    t: int
    sender: AgentId
    to: AgentId | None
    """None: to all."""
    text: str
    goal: GoalId | None
    """The task that the sender takes."""


class Chat(NamedTuple):
    """All that was said between an agent and one partner, oldest first."""

    partner: str
    """A teammate, or ``everybody``."""
    lines: tuple[Line, ...]


Answer = TypeVar("Answer", Talk, Act)


@dataclass(frozen=True)
class DialogueRecord(AgentRecord):
    """What an agent reads beside its view, with what was said."""

    running: Plan | None
    lines: tuple[Line, ...]
    """What it said and heard and can still read, oldest first."""


@dataclass(frozen=True)
class AgentQuestion(Question[Answer]):
    """What an agent knows when it is asked: its own view, and what was said."""

    record: DialogueRecord

    @property
    def teammates(self) -> list[AgentId]:
        """The others in the team."""
        return [agent for members in self.record.team.values() for agent in members if agent != self.respondent]

    @property
    def chats(self) -> list[Chat]:
        """What was said, by partner; what was said to all comes first."""
        lines = self.record.lines
        chats = [Chat("everybody", tuple(line for line in lines if line.to is None))]
        for teammate in self.teammates:
            between = tuple(line for line in lines if line.to is not None and teammate in (line.sender, line.to))
            chats.append(Chat(teammate, between))
        return [chat for chat in chats if chat.lines]

    def context(self) -> dict[str, Any]:
        """The team, its perception, the tasks, what was said, what it can do and did."""
        return self.record.context(self.view) | {"chats": self.chats, "doing": describe_plan(self.record.running)}

    @property
    def claims(self) -> dict[AgentId, tuple[int, GoalId]]:
        """What each agent said last that it takes, and at which line, as far as that can still be read."""
        claims: dict[AgentId, tuple[int, GoalId]] = {}
        for at, line in enumerate(self.record.lines):
            claims.pop(line.sender, None)
            if line.goal is not None and line.sender in (self.respondent, *self.teammates):
                claims[line.sender] = at, line.goal
        return claims

    @property
    def heeded(self) -> list[GoalId]:
        """What teammates take, as the rule counts on it.

        Who takes what another is at already, has the first word and not the last: of two for one task the one that
        spoke last keeps it, and who is at a task and has not spoken of it yet will.
        """
        claims = self.claims
        at, goal = claims.pop(self.respondent, (-1, self.record.aim))
        return [taken for place, taken in claims.values() if taken != goal or (at >= 0 and place > at)]

    def step(self) -> CandidateStep:
        """Return the rule's step: that of most worth, if teammates do what they said."""
        others = len(self.teammates) - len(self.heeded)
        return choose_step(
            self.view, self.record.domain, Counter(self.heeded), others, self.record.running, self.record.aim
        )


@dataclass(frozen=True)
class Speak(AgentQuestion[Talk]):
    """What do I tell the others before we act?"""

    round: int
    rounds: int
    ignored: tuple[str, ...]
    """What of its last answer could not be sent."""

    kind = "embodied.talk"
    template = "embodied/prompts/talk.md.j2"
    answer = Talk
    sampling = Sampling(temperature=0.0, max_tokens=1000)

    def context(self) -> dict[str, Any]:
        """As above, and how many rounds there are."""
        return super().context() | {"turn": self.round, "turns": self.rounds, "ignored": self.ignored}

    def rule(self, rng: np.random.Generator) -> Talk:
        """Tell all which task it takes when it is another than before, when others want it too, or when it takes more.

        Nothing is said again while it can still be read.
        """
        step, claims = self.step(), self.claims
        goal = next((goal for goal in self.view.goals if goal.id == step.goal), None)
        if goal is None or not self.teammates or claims.get(self.respondent, (0, ""))[1] == goal.id:
            return Talk(goal=step.goal)
        hands = 1 + sum(taken == goal.id for _, taken in claims.values())
        if goal.id == self.record.aim and goal.quorum <= hands <= goal.capacity:
            return Talk(goal=goal.id)
        needs = f", which needs {goal.quorum} at once" if goal.quorum > 1 else ""
        return Talk(everybody=f"I take {goal.id}{needs}, about {step.ticks} steps.", goal=goal.id)

    def check(self, answer: Talk) -> str | None:
        """Anything can be said; what reaches nobody is passed over."""
        return None

    def fallback(self) -> Talk:
        """Nothing."""
        return Talk()

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The tasks."""
        return offer_values(field, self.view)


@dataclass(frozen=True)
class Decide(AgentQuestion[Act]):
    """What do I do in this step?"""

    kind = "embodied.act"
    template = "embodied/prompts/act.md.j2"
    answer = Act
    sampling = Sampling(temperature=0.0, max_tokens=1000)

    def rule(self, rng: np.random.Generator) -> Act:
        """The step of most worth, if teammates do what they said."""
        step = self.step()
        return Act(action=str(step.action), goal=step.goal)

    def check(self, answer: Act) -> str | None:
        """The action can start, or is the one that runs."""
        action = read_action(answer.action, self.view, self.record.domain)
        if self.record.running is not None and self.record.running.actions == (action,):
            return None
        return action_error(answer.action, self.view, self.record.domain)

    def fallback(self) -> Act:
        """Nothing for a step."""
        return Act(action="")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        return offer_values(field, self.view)

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Take another option."""
        return perturb_action(answer, answer.action, self.view, rng)
