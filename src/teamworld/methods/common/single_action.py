"""From the words of an answer to what an agent does: one action, at every step or when it is free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from teamworld.language import Action, AgentId, Entity, GoalId, Plan
from teamworld.methods.common.translation import Translate, Translator
from teamworld.methods.contract import CARRY, Choice, Decision, DecisionContext, StrictModel
from teamworld.planning.action_parser import action_text, read_action
from teamworld.planning.candidates import complete_action
from teamworld.planning.goals import open_goals
from teamworld.worlds.contract import WAIT, Domain, View

Chosen = TypeVar("Chosen", bound=BaseModel)


class Act(StrictModel):
    """An action, and what it is for."""

    action: str = Field(description="one action in written form, or its number in the list")
    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")


def action_error(text: str, view: View, domain: Domain) -> str | None:
    """Return why an agent cannot do now what a text says; None if it can, or the parser cannot read it."""
    if not action_text(text):
        return "name one action"
    action = read_action(text, view, domain)
    if action is None:
        return None  # a mind translates it
    verdict = view.check(action)
    return None if verdict.ok else f"{action} cannot start: {verdict.reason}"


async def translate_action(
    context: DecisionContext, agent: AgentId, text: str, domain: Domain, by: Translator
) -> Action | None:
    """Return the action that words mean, None if they mean none; a reasoner is asked for what the parser cannot read.

    Args:
        context: Where the reasoner can be asked.
        agent: Who is to act.
        text: The words.
        domain: The rules of its world.
        by: Whether a reasoner is always asked.
    """
    view = context.views[agent]
    if not action_text(text):
        return None
    action = read_action(text, view, domain) if by == "parser" else None
    if action is not None:
        return action
    numbered = tuple(option.action for option in view.options)
    question = Translate(agent, {agent: view}, domain, text, numbered)
    return question.read(await context.ask(question))


def decide_action(
    action: Action | None, view: View, running: Plan | None, goal: GoalId | None = None, cause: str = "idle"
) -> Decision:
    """Return the decision to do one action: what runs already runs on, and no action is nothing for a step.

    Args:
        action: What to do, complete; None if no action could be read.
        view: Of the agent.
        running: What it is doing.
        goal: What the action is for, if that was said and is a goal of the world.
        cause: Why it is decided now.
    """
    if action is None:
        return Choice(Plan((WAIT,)), cause=cause, parsed=False)
    if running is not None and running.actions == (action,):
        return CARRY
    return Choice(Plan((action,), goal or goal_of_action(action, view)), cause=cause)


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
