"""From the lines that minds write to beliefs, actions and goals; what cannot be read is left out."""

from __future__ import annotations

from collections.abc import Sequence

from teamworld.language import Action, AgentId, Belief, GoalId, ParseError, parse_action, read_belief, show
from teamworld.methods.cobel.engine import Situation
from teamworld.planning.action_parser import action_text, read_action


def read_line(line: str, now: Situation, holders: tuple[AgentId, ...], *, missing: bool = False) -> Belief | None:
    """Return the belief of a line if these hold it and a rule admits it; None otherwise.

    Args:
        line: As a mind wrote it.
        now: Its situation.
        holders: Who must be said to believe it; a fact without holders is taken to be theirs.
        missing: Whether it may be about a stand-in for what is not known.
    """
    text = line if "believe" in line.casefold() else f"{show(holders[-1])} BELIEVE {line.strip(' -*`')}"
    if len(holders) == 2 and text.casefold().count("believe") == 1:
        text = f"{show(holders[0])} BELIEVE {text}"
    try:
        belief = read_belief(text, now.schema, now.things, (len(holders) - 1,))
    except (ParseError, ValueError):
        return None
    if belief.holders != holders or (now.options.ruled and not now.rules.admits(belief)):
        return None
    known = missing or belief.fact.subject in now.team or belief.fact.subject in now.things
    return belief if known or len(holders) == 1 else None


def read_steps(texts: Sequence[str], now: Situation, agent: AgentId | None = None) -> tuple[Action, ...]:
    """Return the actions that some words mean, those that mean none left out.

    Args:
        texts: Of a plan, action by action.
        now: The situation of whoever was asked.
        agent: Whose actions they are; its own if None. Of another kind only the written form is read.
    """
    found = []
    for text in texts[:12]:
        action: Action | None = None
        if agent is None or now.team.get(agent) == now.view.kind:
            action = read_action(text, now.view, now.domain)
        if action is None:
            try:
                action = parse_action(action_text(text))
            except ParseError:
                continue
        if action.verb != "talk":
            found.append(action)
    return tuple(found)


def read_goal(goal: GoalId | None, now: Situation) -> GoalId | None:
    """Return a goal that was named, if the agent knows of it."""
    return goal if goal in now.goals else None
