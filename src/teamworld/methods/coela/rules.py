"""What an agent on rules takes of the plans that are listed, and what it would tell: by its own situation alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from teamworld.language import Action, Fact, GoalId, plain
from teamworld.methods.coela.message_value import value_message
from teamworld.methods.coela.situation import Situation
from teamworld.methods.common.own_step import choose_step
from teamworld.planning.candidates import CandidateStep, complete_action
from teamworld.planning.fetch import wanted_kind
from teamworld.reasoning.prompts import plural

#: Facts that one message tells, at most.
MAX_FACTS = 12


def nearest_plan(situation: Situation, step: CandidateStep, plans: Sequence[Action]) -> Action:
    """Return what comes next to a step among plans: itself, else what serves its goal, else its verb; then the way.

    Args:
        situation: Of the agent.
        step: What the agent would do if it were free to.
        plans: What it has to choose from; at least one.
    """
    if step.action in plans:
        return step.action
    ways = {option.action: option.steps for option in reversed(situation.options)}
    serving = {option.action for option in situation.options if option.goal is not None and option.goal == step.goal}
    whole = complete_action(step.action, situation.view)

    def order(plan: Action) -> tuple[bool, bool, bool, int]:
        other = complete_action(plan, situation.view) != whole
        return other, plan not in serving, plan.verb != step.action.verb, ways.get(plan, situation.steps_left)

    return min(plans, key=order)


# ---- what it would tell


class News(NamedTuple):
    """What an agent would tell."""

    goal: GoalId | None
    """What it takes, if that is news."""
    facts: tuple[Fact, ...]
    text: str
    """Empty where there is nothing to tell."""


def find_news(situation: Situation) -> News:
    """Return what the others may not know and could use: what the agent takes, and things that goals are about."""
    step = choose_step(situation)
    goal = step.goal if step.goal != situation.commitment else None
    facts: list[Fact] = []
    for known in sorted(situation.all_goals.values(), key=lambda known: (known.id != step.goal, known.id)):
        about = sorted((fact for fact in situation.known if fact.subject == known.thing), key=str)
        repeated = wanted_kind(known) is not None and any(fact in facts for fact in about)  # one place of several goals
        fits = about and not repeated and len(facts) + len(about) <= MAX_FACTS
        if fits and value_message(situation, None, about).saved > 0:
            facts += about
    if goal is not None and value_message(situation, goal, ()).saved <= 0:
        goal = None
    return News(goal, tuple(facts), _word_news(situation, goal, facts))


def _word_news(situation: Situation, goal_id: GoalId | None, facts: list[Fact]) -> str:
    sentences = []
    if goal_id is not None:
        goal = situation.all_goals[goal_id]
        missing = goal.quorum - situation.staffed[goal_id] - 1
        request = f"; it takes {goal.quorum} at once, {missing} more must come" if missing > 0 else ""
        away = plural(situation.trips.get(goal_id, 1), "step")
        sentences.append(f"I take {goal_id}, about {away} from here{request}.")
    if facts:
        sentences.append(f"I know: {'; '.join(map(plain, facts))}.")
    return " ".join(sentences)
