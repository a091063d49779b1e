"""What agents answer in CoBel-World, and how belief lines and actions are read from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from pydantic import Field

from teamworld.language import (
    Action,
    AgentId,
    Belief,
    Fact,
    GoalId,
    ParseError,
    parse_action,
    read_belief,
    show,
    written_names,
)
from teamworld.methods.cobel import messages
from teamworld.methods.cobel.situation import Situation
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.contract import StrictModel
from teamworld.planning.action_parser import action_text, read_action
from teamworld.planning.candidates import complete_action

#: What an agent answers whose subplan is done.
DONE: Final = "DONE"


class Beliefs(Reasoned):
    """Beliefs that follow from what was said."""

    beliefs: tuple[str, ...] = Field(default=(), description="belief lines that fit the patterns above", max_length=40)


class Update(Beliefs):
    """The same, and what its sender plans."""

    goal: GoalId | None = Field(default=None, description="id of the task that the plan is for, or null")
    plan: tuple[str, ...] = Field(default=(), description="the plan that was told, action by action", max_length=12)
    asked: tuple[str, ...] = Field(
        default=(), description="actions that the sender asks of the agent you read for", max_length=12
    )


class Plans(Reasoned):
    """A subplan."""

    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")
    steps: tuple[str, ...] = Field(description="the actions, in order")


class Guess(StrictModel):
    """What a teammate may be up to."""

    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")
    steps: tuple[str, ...] = Field(description="its actions, in order")
    weight: float | None = Field(default=None, description="how likely, from 0 to 1, or null", ge=0, le=1)


class Guesses(Reasoned):
    """Ranked subplans of a teammate."""

    subplans: tuple[Guess, ...] = Field(description="at most three subplans, the likeliest first")


class Judged(Reasoned):
    """Whether there is heavy miscoordination."""

    answer: Literal["yes", "no"] = Field(description="yes if it is heavy enough for a message")
    misaligned: tuple[str, ...] = Field(
        default=(), description="facts that teammates lack and should know, as listed", max_length=20
    )


class Words(Reasoned):
    """A message."""

    message: str = Field(description="the message and nothing else")


class Act(Reasoned):
    """The next action, or that the subplan is done."""

    answer: str = Field(description=f"one of the listed actions or its number, or {DONE}", max_length=400)

    @property
    def is_done(self) -> bool:
        """Whether it says that the subplan is done."""
        return action_text(self.answer).casefold().startswith(DONE.casefold())


# ---- from lines to beliefs and actions; what cannot be read is left out


def read_lines(
    lines: Iterable[str], situation: Situation, holders: tuple[AgentId, ...], since: dict[Fact, int] | None = None
) -> tuple[Fact, ...]:
    """Return the facts of some lines that these agents hold and a rule admits.

    Args:
        lines: What a reasoner wrote.
        situation: Of the agent.
        holders: Who believes: the agent, or the agent that a teammate does.
        since: Is filled with the steps that lines name at their end: ``(step 12)``.
    """
    facts = dict[Fact, None]()
    for line in lines:
        text, step = messages.split_step(line)
        belief = _read_line(text, situation, holders)
        if belief is not None:
            facts[belief.fact] = None
            if step is not None and since is not None:
                since[belief.fact] = min(step, situation.view.t)
    return tuple(facts)


def _read_line(line: str, situation: Situation, holders: tuple[AgentId, ...]) -> Belief | None:
    line = written_names(line, situation.rules.schema.kinds)
    text = line if "believe" in line.casefold() else f"{show(holders[-1])} BELIEVE {line.strip(' -*`')}"
    if len(holders) == 2 and text.casefold().count("believe") == 1:
        text = f"{show(holders[0])} BELIEVE {text}"
    try:
        belief = read_belief(text, situation.rules.schema, situation.entities, (len(holders) - 1,))
    except (ParseError, ValueError):
        return None
    if belief.holders != holders or (situation.options.ruled and not situation.rules.admits(belief)):
        return None
    subject = belief.fact.subject
    is_known = len(holders) == 1 or subject in situation.team or subject in situation.entities
    return belief if is_known else None


def read_steps(texts: Sequence[str], situation: Situation, agent: AgentId | None = None) -> tuple[Action, ...]:
    """Return the actions that some words mean; of an agent of another kind only the written form."""
    actions, schemas = [], {schema.verb: schema for schema in situation.view.abilities}
    kinds = situation.rules.schema.kinds
    for text in texts[:12]:
        action: Action | None = None
        if agent is None or situation.team.get(agent) == situation.view.kind:
            action = read_action(text, situation.view, situation.domain)
        if action is None:
            try:
                action = parse_action(written_names(action_text(text), kinds))
            except ParseError:
                continue
            if agent is not None and action.verb in schemas:
                action = complete_action(action, situation.view)
        if action.verb != "talk":
            actions.append(action)
    return tuple(actions)
