"""The scripted team: the published greedy baseline."""

from __future__ import annotations

from teamworld.language import Action, Plan
from teamworld.worlds.cube.symbolic_state import SymbolicState, entity, goal_name

#: How long the greedy team waits in a rendezvous, in steps.
PATIENCE = 5


def nearest_block(state: SymbolicState) -> int | None:
    """Return the open block nearest to the goal, ties to the lowest id; None if there is none."""
    return min(
        (block for block, _ in state.open_blocks), key=lambda block: (state.distance(block), block), default=None
    )


def greedy_plan(state: SymbolicState) -> Plan | None:
    """Return the plan that every agent of the greedy team gets; None when all blocks are delivered.

    All agents work on one block, the one nearest to the goal: line up left of it, meet, push it home. There is no
    handling of congestion.
    """
    block = nearest_block(state)
    if block is None:
        return None
    thing, need = entity(block), min(state.blocks[block].weight, len(state.agents))
    actions = (
        Action("move_to_block", (thing, "left")),
        Action("rendezvous", (thing, "left", need, PATIENCE)),
        Action("push_block", (thing, max(1, state.distance(block)))),
    )
    return Plan(actions, goal_name(block))
