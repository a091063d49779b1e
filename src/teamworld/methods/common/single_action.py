"""From the words of an answer to what an agent does: one action, at every step or when it is free."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Entity, GoalId, Plan, plain
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.translation import Translate, Translator
from teamworld.methods.contract import CARRY, Choice, Decision, DecisionContext
from teamworld.planning.action_parser import action_text, read_action, read_written
from teamworld.planning.candidates import complete_action
from teamworld.planning.goals import open_goals
from teamworld.worlds.contract import WAIT, View

Chosen = TypeVar("Chosen", bound=BaseModel)
_CALL = re.compile(r"\w+\s*\(.*\)", re.DOTALL)


class Act(Reasoned):
    """An action, and what it is for."""

    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")
    action: str = Field(description="one action in written form, or its number in the list")


def read_act(text: str, me: AgentKnowledge, listed: bool = True) -> Action | None:
    """Return the action that the text of an answer means, complete with its defaults; None where it cannot be told.

    Args:
        text: In any words; see ``action_parser.read_action``.
        me: What the agent knows that is to act.
        listed: Whether its options stood in the prompt as a numbered list: only then do numbers mean anything.
    """
    return read_action(text, me.view, me.domain, _numbered(me, listed))


def write_act(text: str, me: AgentKnowledge) -> str:
    """Return the action of an answer in written form; a number means nothing to who has another list.

    Args:
        text: As ``read_act``; words that the parser cannot read stay.
        me: What whoever answered was shown of the agent that is to act.
    """
    action = read_act(text, me)
    return text if action is None else plain(action)


def action_error(text: str, me: AgentKnowledge, listed: bool = True) -> str | None:
    """Return why an agent cannot do now what a text says, and what was expected; None if it can.

    None also for free words that the parser cannot read: ``translate_action`` asks a reasoner what they mean.

    Args:
        text: As ``read_act``.
        me: As ``read_act``.
        listed: As ``read_act``.
    """
    numbered, words = _numbered(me, listed), action_text(text)
    if not words:
        such = f", such as {plain(numbered[0])}" if numbered else ""
        return f"name one action{such}"
    action = read_act(text, me, listed)
    if action is None:
        if words.isdecimal():
            return f"the list has no number {words[:9]}; it has 1 to {len(numbered)}" if numbered else (
                f"{words[:9]} is no action: write the action itself, as nothing here is numbered"
            )  # fmt: skip
        return _form_error(words, me) if _CALL.fullmatch(words) else None  # free words are translated
    if me.doing is not None and action == complete_action(me.doing, me.view):
        return None
    verdict = me.view.check(action)
    if verdict.ok:
        return None
    can = f"; what can start is listed, such as {plain(numbered[0])}" if numbered else ""
    return f"{plain(action)} cannot start now: {plain(verdict.reason)}{can}"


def _numbered(me: AgentKnowledge, listed: bool) -> list[Action]:
    return [option.action for option in me.options] if listed else []


def _form_error(words: str, me: AgentKnowledge) -> str | None:
    try:
        read_written(words, {schema.verb: schema for schema in me.abilities})
    except UserError as error:
        return plain(error)
    return None


async def translate_action(
    context: DecisionContext, me: AgentKnowledge, text: str, by: Translator, listed: bool = True
) -> Action | None:
    """Return the action that words mean, None if they mean none; a reasoner is asked for what the parser cannot read.

    Args:
        context: Where the reasoner can be asked.
        me: What the agent knows that is to act.
        text: The words.
        by: Whether a reasoner is always asked.
        listed: Whether its options stood in the prompt as a numbered list.
    """
    if not action_text(text):
        return None
    action = read_act(text, me, listed) if by == "parser" else None
    if action is not None:
        return action
    question = Translate(me.agent, {me.agent: me.view}, me, text, tuple(_numbered(me, listed)))
    return question.read(await context.ask(question))


def decide_action(
    action: Action | None,
    view: View,
    running: Plan | None,
    goal: GoalId | None = None,
    cause: str = "idle",
    infer: bool = True,
) -> Decision:
    """Return the decision to do one action: what runs already runs on, and no action is nothing for a step.

    Args:
        action: What to do, complete; None if no action could be read.
        view: Of the agent.
        running: What it is doing.
        goal: What the action is for, if that was said and is a goal of the world.
        cause: Why it is decided now.
        infer: Whether the goal is taken from the action where none was said.
    """
    if action is None:
        return Choice(Plan((WAIT,)), cause=cause, parsed=False)
    if running is not None and running.actions == (action,):
        return CARRY
    return Choice(Plan((action,), goal or (goal_of_action(action, view) if infer else None)), cause=cause)


def goal_of_action(action: Action, view: View) -> GoalId | None:
    """Return the goal that an action serves as far as the agent knows: that of the option, or what it is done to."""
    for option in view.options:
        if option.goal is not None and complete_action(option.action, view) == action:
            return option.goal
    things = [arg for arg in action.args if isinstance(arg, Entity)]
    return next((goal.id for goal in view.goals if goal.state == "open" and goal.thing in things), None)


def confirm_goal(goal: GoalId | None, views: Iterable[View]) -> GoalId | None:
    """Return a goal that was named, if it is open as far as whoever decides knows; else None.

    Args:
        goal: As an answer names it.
        views: All that whoever answered was shown: who plans for others may send them to what they have not seen.
    """
    return goal if any(known.id == goal and known.state == "open" for view in views for known in view.goals) else None


def aims_of(decisions: Mapping[AgentId, Decision]) -> dict[AgentId, GoalId | None]:
    """Return what each agent that was given something new does it for."""
    return {agent: choice.plan.goal for agent, choice in decisions.items() if isinstance(choice, Choice)}


def offer_values(field: str, view: View) -> Sequence[Any]:
    """Return what a person chooses from: the options for an action, the open goals for what it is for."""
    if field == "action":
        return [str(option.action) for option in view.options]
    return [*(goal.id for goal in open_goals(view.goals)), None] if field == "goal" else ()


def perturb_action(answer: Chosen, action: str, view: View, rng: np.random.Generator) -> Chosen:
    """Return an answer with an error in it: another of an agent's options in the place of an action, for no goal.

    Args:
        answer: It has the fields ``action`` and ``goal``.
        action: The written form that it would have; it stays where there is no other option.
        view: Of the agent that is to act.
        rng: Draws the option.
    """
    others = [str(option.action) for option in view.options if str(complete_action(option.action, view)) != action]
    other = others[int(rng.integers(len(others)))] if others else action
    return answer.model_copy(update={"action": other, "goal": None})
