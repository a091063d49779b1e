"""Goals as methods look at them."""

from __future__ import annotations

from collections.abc import Iterable

from teamworld.language import Facts
from teamworld.worlds.contract import Domain, Goal, ImpossibleFacts, View


def open_goals(goals: Iterable[Goal]) -> list[Goal]:
    """Return the goals still to be done."""
    return [goal for goal in goals if goal.state == "open"]


def workable_goals(view: View) -> list[Goal]:
    """Return the open goals that an agent knows of, that its kind can work on, and that wait for no other goal."""
    return filter_workable(view.goals, view.kind)


def filter_workable(goals: Iterable[Goal], kind: str) -> list[Goal]:
    """Return the open ones of some goals that a kind of agent can work on, and that wait for no other of them."""
    known = open_goals(goals)
    fit = [goal for goal in known if not goal.kinds or kind in goal.kinds]
    if not any(goal.prerequisites for goal in fit):
        return fit
    ahead = {goal.id for goal in known}
    return [goal for goal in fit if ahead.isdisjoint(goal.prerequisites)]


def are_possible(facts: Facts, view: View, domain: Domain) -> bool:
    """Return whether the rules of the world can work with facts for an agent: whoever told them may have made them up.

    Args:
        facts: What is to be believed.
        view: Of the agent.
        domain: The rules of its world.
    """
    try:
        domain.options(view.agent, facts)
        for goal in filter_workable(domain.goals(facts), view.kind):
            domain.candidate_plans(goal, view.agent, facts)
    except ImpossibleFacts:
        return False
    return True
