"""Plans: whether they can be carried out, how they end, how often agents plan anew."""

from __future__ import annotations

from teamworld.metrics.definition import Value, metric, share
from teamworld.metrics.tables.event_table import EventTable
from teamworld.record import PlanEnd, PlanStart


@metric
def plan_validity(table: EventTable) -> Value:
    """Return the share of plans that parse and whose first action is legal."""
    plans = table.all(PlanStart)
    return share(sum(plan.parsed and plan.first_action_legal for plan in plans), len(plans))


@metric
def plan_success(table: EventTable) -> Value:
    """Return the share of ended plans that succeeded."""
    endings = table.all(PlanEnd)
    return share(sum(ending.status == "success" for ending in endings), len(endings))


@metric
def replanning(table: EventTable) -> Value:
    """Return revised plans per agent and 100 steps."""
    return share(100 * sum(plan.origin == "revised" for plan in table.all(PlanStart)), len(table.acts.step))


@metric
def plan_reuse(table: EventTable) -> Value:
    """Return the share of plans that were taken from a memory as they were."""
    plans = table.all(PlanStart)
    return share(sum(plan.origin == "reused" for plan in plans), len(plans))


def plan_cycles(table: EventTable) -> list[tuple[PlanStart, ...]]:
    """Return each four plans A, B, A, B in a row of one agent, for goals, of which none succeeded."""
    won = {ending.plan for ending in table.all(PlanEnd) if ending.status == "success"}
    return [
        four
        for plans in table.plans_of.values()
        for four in zip(plans, plans[1:], plans[2:], plans[3:], strict=False)
        if four[0].text == four[2].text != four[1].text == four[3].text
        and None not in (four[0].goal, four[1].goal)
        and not any(plan.plan in won for plan in four)
    ]
