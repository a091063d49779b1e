"""CUBE in words: the mission, the rules, what one agent knows, and how a goal stands for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from teamworld.language import AgentId, plain, show
from teamworld.worlds.base.ages import Ages
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.push_path import agents_ahead, find_bar, meetings, obstruction
from teamworld.worlds.cube.state import Layout
from teamworld.worlds.cube.symbolic_state import SIDES, SymbolicState, area_side, entity, goal_name, once_per_state

if TYPE_CHECKING:
    from teamworld.worlds.cube.world import CubeOptions, CubeView

#: Where agents at a face are, where the name of the face does not say it well.
ABOVE_OR_BELOW = {"up": "above", "down": "below"}


def describe_task(layout: Layout, horizon: int, radius: int | None) -> str:
    """Return the mission and what counts, in words, as every agent is told it before the first step."""
    blocks, total = count(len(layout.blocks), "block"), sum(layout.weights)
    if radius is not None:
        blocks += f" of weights {', '.join(map(str, layout.weights))}, block_0 first,"
    return (
        f"A team of {len(layout.agents)} is to push {blocks} to the right edge of a grid within "
        f"{count(horizon, 'step')}, the sooner the better. A delivered block scores its weight ({total} in all); an "
        "undelivered one nothing."
    )


def describe_rules(layout: Layout, options: CubeOptions) -> str:
    """Return how the instance works, in words: the grid, motion, pushing and sight."""
    side = layout.grid_size
    others = "" if options.force_scope == "rear" else " (pushers of any of them count)"
    return "\n".join(
        (
            f"The grid has {side} x {side} cells, (row, column) from (0, 0) at the top left; a block of weight w fills "
            "w x w. Each step an agent stays or goes 1 cell up, down, left or right: first those who push, then all "
            "others at once, into cells already empty; if several want one, the lowest number gets it.",
            "A face is the line of cells along a side of a block. Agents on it, or behind them in an unbroken line, "
            "are lined up; stepping toward the block they push it, from the left face to the right. It and all blocks "
            f"touching it ahead move 1 cell if as many agents push as they weigh together{others} and no wall or agent "
            f"is in front of one; extra pushers do not help. A block that touches column {side - 1} is delivered and "
            "vanishes.",
            f"{_describe_sight(options.view_radius)} Estimated steps assume enough push.",
        )
    )


def _describe_sight(radius: int | None) -> str:
    if radius is None:
        return "All see everything."
    return (
        f"An agent sees {count(radius, 'cell')} far in rows and columns. All know where every agent is, what any of "
        "them has seen of blocks, and what is delivered. A block that nobody has found is as likely in one unseen cell "
        "as in any other."
    )


# ---- what one agent knows


def describe(view: CubeView) -> str:
    """Return a view in words that are the same on every machine."""
    state, agent = view.state, view.agent

    def doing(who: AgentId) -> str:
        return f", doing {plain(view.running[who])}" if who in view.running else ""

    here, others = state.agents[agent], [other for other in state.agents if other != agent]
    rows = [f"You are {agent} at {show(here)}{doing(agent)}. The goal is column {state.side - 1}."]
    if others:
        rows.append(f"Others: {'; '.join(f'{other} {show(state.agents[other])}{doing(other)}' for other in others)}.")
    ages = Ages(view.known, view.t)
    rows += [describe_block(state, block, ages.seen(entity(block), "AT")) for block, _ in state.open_blocks]
    done = [goal_name(block) for block, square in state.blocks.items() if square.delivered]
    rows += [f"Delivered: {', '.join(done)}."] if done else []
    rows += [] if state.blocks else ["No block has been found yet."]
    rows += _describe_unseen(state, view.radius)
    return "\n".join(rows)


@once_per_state
def describe_block(state: SymbolicState, block: int, seen: str = "") -> str:
    """Return where an open block is, who is lined up at it, and what it meets if it is pushed right.

    Args:
        state: Where everything stands.
        block: The block.
        seen: When its place was seen last, in words.
    """
    weight, row, col, _ = state.blocks[block]
    spans = f"rows {row}-{row + weight - 1}, columns {col}-{col + weight - 1}"
    at = f"is at {show((row, col))}" if weight == 1 else f"fills {spans}"
    faces = [_describe_face(state, block, face, weight) for face in SIDES]
    free = [name for name in faces if name]
    closed = f"open face{'' if len(free) == 1 else 's'}: {', '.join(free) or 'none'}" if free != list(SIDES) else ""
    lined = [
        f"{listed([agent for agent in state.agents if agent in there])} lined up {ABOVE_OR_BELOW.get(face, face)}"
        for face in SIDES
        if (there := geometry.aligned_agents(state, block, face))
    ]
    parts = (f"{goal_name(block)} (weight {weight}) {at}{seen}", closed, *lined)
    text = "; ".join(filter(None, parts))
    return f"{text}.{_describe_way(state, block)}"


def _describe_face(state: SymbolicState, block: int, face: str, weight: int) -> str:
    """Return a face that has cells without wall or block, with their number where these are not all; else nothing."""
    places = len(geometry.staging_cells(state, block, face))
    return face if places == weight else f"{face} ({places} of {weight} cells)" if places else ""


def _describe_way(state: SymbolicState, block: int) -> str:
    """Return the blocks that a block takes along on its way to the goal; empty if none."""
    along = [
        f"{goal_name(met.block)} {_after(met.after)} ({count(met.need, 'agent')})" for met in meetings(state, block)
    ]
    return f" Pushed right it takes along {', '.join(along)}." if along else ""


def _after(columns: int) -> str:
    return f"after {count(columns, 'column')}" if columns else "at once"


def _describe_unseen(state: SymbolicState, radius: int | None) -> Iterator[str]:
    """Yield the areas that nobody has seen entirely, by the rows that they fill."""
    size = area_side(radius or 0)
    rows: dict[int, list[int]] = {}
    for row, col in sorted(set(state.unseen.values())):
        rows.setdefault(row, []).append(col)
    if rows:
        parts = [f"rows {_reach(row, size, state)}: columns {_runs(cols, size, state)}" for row, cols in rows.items()]
        yield f"Not wholly seen yet: {'; '.join(parts)}."


def _reach(first: int, size: int, state: SymbolicState) -> str:
    last = min(first + size, state.side) - 1
    return str(first) if last <= first else f"{first}-{last}"


def _runs(starts: Sequence[int], size: int, state: SymbolicState) -> str:
    """Return areas of one size side by side as runs of columns."""
    runs: list[list[int]] = []
    for start in starts:
        if runs and start == runs[-1][1]:
            runs[-1][1] = start + size
        else:
            runs.append([start, start + size])
    return ", ".join(_reach(first, end - first, state) for first, end in runs)


# ---- how a goal stands


def describe_goal(state: SymbolicState, block: int, agent: AgentId, steps: int | None) -> str:
    """Return how the delivery of an open block stands for an agent.

    Args:
        state: Where everything stands.
        block: The block.
        agent: Who reads it.
        steps: Of the agent to the left face, 0 where it is lined up there; None where no way leads there.
    """
    square, team = state.blocks[block], len(state.agents)
    need, there = geometry.chain_weight(state, block, "left"), geometry.aligned_agents(state, block, "left")
    takes = ", ".join([f"takes {count(need, 'agent')}", *_describe_more_force(state, block, team)])
    lined = f" ({len(there)} there)" if there else ""
    parts = [f"{count(state.distance(block), 'column')} to go, worth {square.weight}, {takes}{lined}"]
    if not geometry.staging_cells(state, block, "left"):
        causes = geometry.blocked_by(state, block, "left").blocks
        what = listed(list(map(goal_name, causes))) if causes else "the wall"
        parts.append(f"cannot be done now: {what} is at its left face")
    elif steps is None:
        parts.append("no way leads you to its left face now")
    elif agent in there:
        parts.append("you are there")
    else:
        bar = find_bar(state, agent, block, "left")
        barred = f", but {bar} bars the way at {show(state.agents[bar])}" if bar is not None else ""
        parts.append(f"{count(steps, 'step')} to its left face{barred}")
    parts += _describe_bar(state, block, team)
    ahead = agents_ahead(state, block)
    if ahead:
        after, who = ahead[0]
        parts.append(f"{'you stand' if who == agent else f'{who} stands'} in its way {_after(after)}")
    return "; ".join(parts)


def _describe_more_force(state: SymbolicState, block: int, team: int) -> Iterable[str]:
    """Yield how much more than at the start a block takes on its way, where the team can do it."""
    met = meetings(state, block)
    most = max((meeting.need for meeting in met), default=0)
    if geometry.chain_weight(state, block, "left") < most <= team:
        first = next(meeting for meeting in met if meeting.need == most)
        yield f"{most} {_after(first.after)} with {goal_name(first.block)}"


def _describe_bar(state: SymbolicState, block: int, team: int) -> Iterable[str]:
    """Yield why the whole team cannot push a block to the goal."""
    if state.blocks[block].weight > team:
        yield f"cannot be done by {team}: it is too heavy"
    elif (stop := obstruction(state, block, "right", team)) is not None:
        ahead = f"{goal_name(stop.block)} is in the way {_after(stop.after)}"
        yield f"cannot be done now by {team}: {ahead} (takes {stop.need})"


# ---- the structured form


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
