"""The forms in which minds answer CoBel-World's questions."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import GoalId

#: What an agent answers whose subplan is done.
DONE: Final = "DONE"


class Form(BaseModel):
    """What all have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Update(Form):
    """Beliefs that follow from what was said."""

    knows: str = Field(default="", description="what was said to be so, in a sentence or two", max_length=1000)
    beliefs: tuple[str, ...] = Field(default=(), description="belief lines that fit the rules", max_length=40)
    plan: tuple[str, ...] = Field(default=(), description="the plan that was told, action by action", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that the plan is for, or null")


class Plans(Form):
    """A subplan, and why."""

    reasoning: str = Field(default="", description="at most three reasons", max_length=1500)
    likely: tuple[str, ...] = Field(
        default=(), description="where what is missing probably is, as belief lines", max_length=20
    )
    steps: tuple[str, ...] = Field(description="one to three actions, in order", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")


class Guess(Form):
    """What a team-mate may be up to."""

    steps: tuple[str, ...] = Field(description="one to three actions, in order", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")
    weight: float | None = Field(default=None, description="how likely, from 0 to 1, or null", ge=0, le=1)


class Guesses(Form):
    """Ranked subplans of a team-mate."""

    reasoning: str = Field(default="", description="at most three reasons", max_length=1500)
    subplans: tuple[Guess, ...] = Field(description="three subplans, the likeliest first", max_length=6)


class Judged(Form):
    """Whether there is heavy miscoordination."""

    reasons: tuple[str, ...] = Field(default=(), description="at most three, each a sentence", max_length=6)
    answer: Literal["yes", "no"] = Field(description="yes if it is heavy enough for a message")
    misaligned: tuple[str, ...] = Field(
        default=(), description="what only you know and they should, as belief lines", max_length=20
    )


class Words(Form):
    """A message."""

    message: str = Field(description="the message and nothing else", max_length=2000)


class Act(Form):
    """The next action, or that the subplan is done."""

    reasons: tuple[str, ...] = Field(default=(), description="at most three", max_length=6)
    answer: str = Field(description=f"one of the listed actions or its number, or {DONE}", max_length=400)
