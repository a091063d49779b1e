"""Outcome: what was reached, how soon, and how it ended. Without goals there is nothing to measure."""

from __future__ import annotations

from math import fsum

from teamworld.metrics.definition import NULL, Value, count, metric, share
from teamworld.metrics.event_table import EventTable


@metric
def success(table: EventTable) -> Value:
    """Return whether all goals were done."""
    return NULL if table.is_solved is None else share(table.is_solved, 1)


@metric
def completion(table: EventTable) -> Value:
    """Return the weight of the goals that were done, of all that were announced."""
    return share(table.reached, fsum(table.weights))


@metric
def anytime_completion(table: EventTable) -> Value:
    """Return completion after each tick, averaged over the horizon: what a step does holds from its last tick on."""
    total, horizon = fsum(table.weights), table.start.horizon
    if not total:
        return share(0, 0)
    area = fsum(
        table.weights[table.index[goal]] * max(0, horizon - int(table.clock[step + 1]) + 1)
        for goal, step in table.done.items()
    )
    return share(area / total, horizon)


@metric
def world_score(table: EventTable) -> Value:
    """Return the sum of rewards."""
    return NULL if table.reward is None else count(table.reward)


@metric
def damage_prevented(table: EventTable) -> Value:
    """Return the share of the damage of doing nothing that was prevented; null where the log does not tell that damage.

    Damage is what the world's own score lost from 0. The share is below 0 for a team that does more harm than good.
    """
    idle = table.end.idle.get("reward") if table.end.idle else None
    if idle is None or table.reward is None or max(idle, table.reward) > 0:
        return NULL
    return share(table.reward - idle, -idle)


@metric
def area_burnt(table: EventTable) -> Value:
    """Return the cells that caught fire; null of worlds whose score does not count them."""
    cells = table.score.get("area_burnt")
    return NULL if cells is None else count(cells)
