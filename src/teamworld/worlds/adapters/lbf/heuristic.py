"""The scripted team of foragers: it pools what all know and sends just enough foragers to each food."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.language import Action, AgentId, Cell, Facts, Plan
from teamworld.worlds.adapters import grid
from teamworld.worlds.adapters.lbf.state import ForagingState
from teamworld.worlds.base.scripted_team import pool_facts
from teamworld.worlds.contract import WAIT, View

#: Steps for which foragers of the scripted team wait for one another.
LONG = 99


def assign_foods(domain: Any, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]) -> dict[AgentId, Plan]:  # noqa: ANN401
    """Return a plan for each forager that has none.

    The food nearest to the team comes first; the nearest foragers go there until their levels suffice, and the others
    to the next one. Where no food is known to need them, each searches another area.

    Args:
        domain: The rules.
        views: Of the team.
        running: The plans that run.
    """
    state: ForagingState = domain.read(Facts(tuple(pool_facts(views, lambda _, fact: fact.predicate != "UNSEEN"))))
    idle = [agent for agent in views if agent not in running]
    plans: dict[AgentId, Plan] = {}
    open_foods = sorted(state.fields_of_food(), key=lambda cell: (_way_of_all(cell, state), cell))
    for cell in open_foods:
        goal = f"load_{domain.field.food(cell).id}"
        level = sum(state.levels[agent] for agent, plan in running.items() if plan.goal == goal)
        for agent in sorted(idle, key=lambda agent: (grid.distance(state.at[agent], cell), agent)):
            if level < state.foods[cell].level and agent not in plans:
                plans[agent] = Plan((Action("load", (domain.field.food(cell), LONG)),), goal)
                level += state.levels[agent]
    searched = {action for plan in running.values() for action in plan.actions}
    for agent in idle:
        if agent in plans:
            continue
        ways = domain.candidate_plans(None, agent, views[agent].known)
        plans[agent] = next((plan for plan in ways if plan.actions[0] not in searched), Plan((WAIT,)))
        searched |= set(plans[agent].actions) - {WAIT}
    return plans


def _way_of_all(cell: Cell, state: ForagingState) -> int:
    """Return the steps that the whole team needs to a cell."""
    return sum(grid.distance(at, cell) for at in state.at.values())
