"""The scripted team of robots: it pools what all know, sends the nearest robot for each order, the others to look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teamworld.language import Action, AgentId, Facts, Plan
from teamworld.worlds.adapters.rware.state import WarehouseState
from teamworld.worlds.base import grid
from teamworld.worlds.base.scripted_team import pool_facts
from teamworld.worlds.contract import WAIT, View


def assign_orders(domain: Any, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]) -> dict[AgentId, Plan]:  # noqa: ANN401
    """Return a plan for each robot that has none.

    Args:
        domain: The rules.
        views: Of the team.
        running: The plans that run.
    """
    pooled = Facts(tuple(pool_facts(views, lambda _, fact: fact.predicate != "UNSEEN")))
    state: WarehouseState = domain.read(pooled)
    idle = [agent for agent in views if agent not in running]
    taken = {plan.goal for plan in running.values()}
    plans: dict[AgentId, Plan] = {}
    for agent in idle:
        if agent in state.held:
            plans[agent] = domain.candidate_plans(None, agent, views[agent].known)[0]
    for goal in domain.list_goals(state):
        free = [agent for agent in idle if agent not in plans]
        if goal.state != "open" or goal.thing is None or goal.id in taken or not free:
            continue  # what nobody knows the place of is looked for
        slot = domain.floor.slot(goal.thing)
        if slot in state.held.values():
            continue
        agent = min(free, key=lambda agent: (grid.distance(state.at[agent], slot), agent))
        plan = domain.candidate_plans(goal, agent, pooled)[0]
        is_told = not views[agent].check(plan.actions[0]).ok
        plans[agent] = Plan((Action("go", (slot,)), *plan.actions), goal.id) if is_told else plan
    searched = {action for plan in running.values() for action in plan.actions}
    for agent in idle:
        if agent not in plans:
            ways = domain.candidate_plans(None, agent, views[agent].known)
            plans[agent] = next((plan for plan in ways if plan.actions[0] not in searched), Plan((WAIT,)))
            searched |= set(plans[agent].actions) - {WAIT}
    return plans
