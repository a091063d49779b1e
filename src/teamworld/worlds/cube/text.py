"""CUBE in words: the task, and what one agent knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teamworld.language import show
from teamworld.worlds.contract import Outcome
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.state import Layout
from teamworld.worlds.cube.symbolic_state import entity

if TYPE_CHECKING:
    from teamworld.worlds.cube.world import CubeView

#: Actions of the history that ``text`` shows.
TAIL = 5


def describe_task(layout: Layout) -> str:
    """Return the task in words, as every agent is told it before the first step."""
    n, weights = len(layout.agents), ", ".join(map(str, layout.weights))
    return (
        f"{n} agent{'s' if n > 1 else ''} on a grid of {layout.grid_size} x {layout.grid_size} cells push "
        f"{len(layout.blocks)} square blocks (weights {weights}) to the right edge, column {layout.grid_size - 1}. "
        "A block moves one cell when the agents that push it the same way from one side, lined up on its face or "
        "behind one another, are at least as many as it weighs, together with the blocks in contact ahead of it, "
        "and no agent or wall is in the way. It is delivered as soon as it touches the right edge."
    )


def plain(view: CubeView) -> str:
    """Return a view in words that are the same on every machine."""
    state, agent = view.state, view.agent
    goal = state.side - 1
    rows = [
        f"Step {view.t} of {view.t + view.steps_left}. The grid has {state.side} x {state.side} cells, (row, column) "
        f"from (0, 0) at the top left; blocks are delivered to column {goal}, the right edge.",
        f"You are {agent} at {show(state.agents[agent])}.",
    ]
    for other, cell in state.agents.items():
        if other != agent:
            rows.append(
                f"{other} is at {show(cell)}{f', doing {view.running[other]}' if other in view.running else ''}."
            )
    rows += [_block_line(view, block) for block in state.blocks]
    if not state.blocks:
        rows.append("No block has been seen yet.")
    tail = view.history[-TAIL:]
    rows += [f"You did {_history_line(outcome)}." for outcome in tail]
    return "\n".join(rows)


def _block_line(view: CubeView, block: int) -> str:
    state = view.state
    square = state.blocks[block]
    name = f"{entity(block)}, weight {square.weight},"
    if square.delivered:
        return f"{name} has been delivered."
    text = f"{name} is at {show((square.row, square.col))}, {state.distance(block)} columns from the goal"
    chain = [other for other in geometry.chain(state, block, "right") if other != block]
    if chain:
        others, need = ", ".join(str(entity(other)) for other in chain), geometry.chain_weight(state, block, "left")
        text += f"; pushed right it moves {others} too, which takes {need} agents"
    facts = view.recall.about("AT")
    seen = next((view.recall.seen[fact] for fact in facts if fact.subject == entity(block)), None)
    return f"{text}{f' (last seen at step {seen})' if seen is not None and seen < view.t else ''}."


def _history_line(outcome: Outcome) -> str:
    causes = ", ".join(filter(None, (outcome.reason, outcome.constraint, outcome.blocker)))
    last = outcome.start + len(outcome.primitives) - 1
    return f"{outcome.action} in steps {outcome.start} to {last}: {outcome.status}{f' ({causes})' if causes else ''}"


def observation(view: CubeView) -> dict[str, Any]:
    """Return the structured observation of the paper: plain data.

    ``history`` holds the finished actions of the agent with their primitive expansion.
    """
    state = view.state
    blocks = {
        f"B{block}": {
            "weight": square.weight,
            "size": square.weight,
            "location": None if square.delivered else (square.row, square.col),
            "goal_dist": state.distance(block),
            "delivered": square.delivered,
            "chain": [] if square.delivered else [b for b in geometry.chain(state, block, "right") if b != block],
        }
        for block, square in state.blocks.items()
    }
    history = [
        {
            "agent": view.agent,
            "action": outcome.action.verb,
            "args": [show(arg) for arg in outcome.action.args],
            "start": outcome.start,
            "end": outcome.start + len(outcome.primitives),
            "status": outcome.status,
            "reason": outcome.reason,
            "primitives": list(outcome.primitives),
        }
        for outcome in view.history
    ]
    return {
        "grid_size": state.side,
        "goal_column": state.side - 1,
        "step": view.t,
        "agent_positions": dict(state.agents),
        "blocks": blocks,
        "history": history,
        "team": [agent for agent in state.agents if agent != view.agent],
    }
