"""The scripted team of foragers: it pools what all know and sends just enough foragers to each food."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.language import Action, AgentId, Cell, Facts, GoalId, Plan
from teamworld.worlds.adapters.lbf.state import ForagingState
from teamworld.worlds.base import grid
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
                plans[agent] = _plan_load(cell, goal, views[agent], state, domain)
                level += state.levels[agent]
    searched = {action for plan in running.values() for action in plan.actions}
    for agent in idle:
        if agent in plans:
            continue
        ways = domain.candidate_plans(None, agent, views[agent].known)
        plans[agent] = next((plan for plan in ways if plan.actions[0] not in searched), Plan((WAIT,)))
        searched |= set(plans[agent].actions) - {WAIT}
    return plans


def _plan_load(cell: Cell, goal: GoalId, view: View, state: ForagingState, domain: Any) -> Plan:  # noqa: ANN401
    """Return a plan to load a food; a forager that was only told of it walks there first."""
    load = Action("load", (domain.field.food(cell), LONG))
    if view.check(load).ok:
        return Plan((load,), goal)
    at, taken = state.at[view.agent], state.closed(view.agent)
    sides = [side for side in grid.list_neighbours(cell, domain.field.size) if side not in taken] or [at]
    return Plan((Action("go", (min(sides, key=lambda side: grid.distance(at, side)),)), load), goal)


def _way_of_all(cell: Cell, state: ForagingState) -> int:
    """Return the steps that the whole team needs to a cell."""
    return sum(grid.distance(at, cell) for at in state.at.values())
