"""CUBE in words: the mission, the rules, what one agent knows, and how a goal stands for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from teamworld.language import Action, AgentId, Cell, Entity, plain, show
from teamworld.worlds.base.ages import Ages
from teamworld.worlds.base.words import count, listed, summed_up
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import MOST_NAMED
from teamworld.worlds.cube.approach import find_jam, way_to_face
from teamworld.worlds.cube.exploration import cells_shown, shared_searches
from teamworld.worlds.cube.push_path import agents_ahead, meetings, obstruction, pushers_of
from teamworld.worlds.cube.state import Layout
from teamworld.worlds.cube.symbolic_state import SIDES, SymbolicState, area_side, entity, goal_name, once_per_state

if TYPE_CHECKING:
    from teamworld.worlds.cube.world import CubeOptions, CubeView

#: Blocks that are told of in full where there are agents that are not named.
NEAR_BLOCKS = 12

#: Bands of rows by which the words for unseen cells may be longer than those for the areas in which they are.
MORE_BANDS = 2

#: Where agents at a face are, where the name of the face does not say it well.
ABOVE_OR_BELOW = {"up": "above", "down": "below"}


def describe_task(layout: Layout, horizon: int, radius: int | None) -> str:
    """Return the mission and what counts, in words, as every agent is told it before the first step."""
    blocks, total = count(len(layout.blocks), "block"), sum(layout.weights)
    if radius is not None:
        blocks += f", {_describe_weights(layout.weights)},"
    return (
        f"A team of {len(layout.agents)} is to push {blocks} to the right edge of a grid within "
        f"{count(horizon, 'step')}, the sooner the better. A delivered block scores its weight ({total} in all)."
    )


def _describe_weights(weights: Sequence[int]) -> str:
    """Return which blocks there are and what they weigh."""
    if len(weights) == 1:
        return f"block_0, of weight {weights[0]}"
    return f"block_0 to block_{len(weights) - 1}, of weights {listed(list(map(str, weights)))}, in any order"


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
            "is in front of one; more do not help, and what touches it from behind stays. If it "
            f"touches column {side - 1} it is delivered and vanishes.",
            f"{_describe_sight(options.view_radius)} Estimates assume enough push and that others "
            "stay, except one who bars the only way.",
        )
    )


def _describe_sight(radius: int | None) -> str:
    if radius is None:
        return "All see everything."
    return (
        f"An agent sees {count(radius, 'cell')} far in rows and columns. All know where all agents are, what any has "
        "seen of blocks, and what is delivered. A block not found is as likely in one unseen cell as in any other."
    )


# ---- what one agent knows


def describe(view: CubeView) -> str:
    """Return a view in words that are the same on every machine."""
    state, agent = view.state, view.agent

    def doing(who: AgentId) -> str:
        return f", doing {plain(view.running[who])}" if who in view.running else ""

    here, others = state.agents[agent], [other for other in state.agents if other != agent]
    rows = [f"You are {agent} at {show(here)}{doing(agent)}. Goal: column {state.side - 1}."]
    if others and not state.elsewhere:
        rows.append(f"Others: {'; '.join(f'{other} {show(state.agents[other])}{doing(other)}' for other in others)}.")
    elif state.elsewhere:
        rows += [f"{other} is at {show(state.agents[other])}{doing(other)}." for other in others]
        rows.append(_describe_elsewhere(view))
    ages, near, far = Ages(view.known, view.t), near_blocks(state), []
    for block, square in state.open_blocks:
        seen = ages.seen(entity(block), "AT")
        if block in near:
            rows.append(describe_block(state, block, seen) + _describe_wait(view, block))
        else:
            far.append(f"{goal_name(block)} (weight {square.weight}) {show((square.row, square.col))}{seen}")
    rows += [f"Farther blocks, by their top left cells: {'; '.join(far)}."] if far else []
    done = [goal_name(block) for block, square in state.blocks.items() if square.delivered]
    rows += [f"Delivered: {', '.join(done)}."] if done else []
    rows += _describe_search(view)
    return "\n".join(rows)


@once_per_state
def near_blocks(state: SymbolicState) -> frozenset[int]:
    """Return the open blocks that are told of in full: all, or in a large team those nearest to agents that are named.

    How an agent stands to the others follows from where they and all agents that are named stand.
    """
    blocks = dict(state.open_blocks)
    if not state.elsewhere or len(blocks) <= NEAR_BLOCKS:
        return frozenset(blocks)

    def distance(block: int) -> int:
        weight, row, col, _ = blocks[block]
        return min(
            max(row - down, 0, down - row - weight + 1) + max(col - right, 0, right - col - weight + 1)
            for down, right in state.agents.values()
        )

    return frozenset(sorted(blocks, key=lambda block: (distance(block), block))[:NEAR_BLOCKS])


def _describe_elsewhere(view: CubeView) -> str:
    """Return how many more agents there are, by part of the grid, with how many work on which block."""
    side = view.state.side
    thirds = (
        [_span("row", low, high) for low, high in _thirds(side)],
        [_span("column", *part) for part in _thirds(side)],
    )
    where = {agent: (3 * row // side, 3 * col // side) for agent, (row, col) in view.elsewhere.items()}
    parts = summed_up(
        {agent: f"in {thirds[0][down]}, {thirds[1][right]}" for agent, (down, right) in where.items()},
        {agent: _work(action) for agent, action in view.elsewhere_running.items()},
    )
    return f"{count(view.state.elsewhere, 'more agent')}: {'; '.join(parts)}."


def _thirds(side: int) -> list[tuple[int, int]]:
    """Return the first and the last line of each third of the grid."""
    starts = [-(-part * side // 3) for part in range(4)]
    return [(low, high - 1) for low, high in pairwise(starts)]


def _work(action: Action) -> str:
    """Return what a running action is about, in a word or two."""
    return plain(action.args[0]) if action.args and isinstance(action.args[0], Entity) else ""


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
    return f"after {count(columns, 'column')}" if columns else "from the start"


def _describe_wait(view: CubeView, block: int) -> str:
    """Return for whom a push waits of whom some are lined up and others meet there or walk up; empty if for nobody."""
    state = view.state
    for face in SIDES:
        there = geometry.aligned_agents(state, block, face)
        at_it = {who: action for who, action in view.running.items() if action.args[:2] == (entity(block), face)}
        meeting = [who for who, action in at_it.items() if action.verb == "rendezvous" and who in there]
        coming = [who for who, action in at_it.items() if action.verb == "move_to_block" and who not in there]
        if there.difference(meeting) and len(there) - len(meeting) < geometry.chain_weight(state, block, face):
            late = [f"{who} (meeting)" for who in meeting] + [f"{who} (walking up)" for who in coming]
            if late:
                return f" A push now waits for {listed(late)}."
    return ""


# ---- what is not found


def _describe_search(view: CubeView) -> Iterator[str]:
    """Yield which blocks are not found, where nobody has looked, and what the agent sees if it goes there."""
    state, radius, beliefs = view.state, view.radius, view.beliefs
    missing = [f"{goal_name(block)} (weight {beliefs.weights[block]})" for block in beliefs.list_missing(state)]
    if missing:
        yield f"Not found: {', '.join(missing)}."
    unseen = _unseen_cells(view)
    if unseen:
        yield _describe_unseen(unseen, _area_cells(state, radius or 0))
    if radius is None or not beliefs.is_searching(state):
        return
    at = state.agents[view.agent]
    looks = [
        f"{_describe_shown(shown)} by {', '.join(map(plain, search.actions))}"
        f"{f' (share of {search.owner})' if search.owner not in (None, view.agent) else ''}"
        for search in shared_searches(state, view.agent, radius)
        if (shown := cells_shown(at, search.runs, unseen, radius))
    ]
    if looks:
        yield f"Unseen cells to see: {'; '.join(looks)}."


def _unseen_cells(view: CubeView) -> list[Cell]:
    """Return the cells that nobody has seen: those of areas not seen entirely, as facts tell, less what was seen."""
    return [cell for cell in _area_cells(view.state, view.radius or 0) if cell not in view.looked]


def _area_cells(state: SymbolicState, radius: int) -> list[Cell]:
    """Return the cells of the areas that nobody has seen entirely, in order."""
    size = area_side(radius)
    return sorted(
        {
            cell
            for row, col in state.unseen.values()
            for cell in product(range(row, min(row + size, state.side)), range(col, min(col + size, state.side)))
        }
    )


def _describe_shown(cells: Sequence[Cell]) -> str:
    rows = [row for row, _ in cells]
    return f"{len(cells)} of {_span('row', min(rows), max(rows))}"


def _describe_unseen(cells: Sequence[Cell], areas: Sequence[Cell]) -> str:
    """Return the unseen cells in words, or the areas in which they are where that is much shorter."""
    bands, coarse = _describe_bands(cells), _describe_bands(areas)
    if len(bands) > len(coarse) + MORE_BANDS:
        return f"Not wholly seen: {'; '.join(coarse)}."
    return f"Unseen: {'; '.join(bands)}."


def _describe_bands(cells: Iterable[Cell]) -> list[str]:
    """Return cells in words: rows that are alike together, each with its columns."""
    by_row: dict[int, list[int]] = {}
    for row, col in cells:
        by_row.setdefault(row, []).append(col)
    bands: list[tuple[int, int, str]] = []
    for row, cols in by_row.items():
        runs = _describe_columns(cols)
        if bands and bands[-1][1:] == (row - 1, runs):
            bands[-1] = bands[-1][0], row, runs
        else:
            bands.append((row, row, runs))
    return [f"{_span('row', first, last)}: {runs}" for first, last, runs in bands]


def _describe_columns(numbers: Sequence[int]) -> str:
    """Return the columns of a row as runs."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    if len(runs) == 1:
        return _span("column", *runs[0])
    return f"columns {', '.join(str(a) if a == b else f'{a}-{b}' for a, b in runs)}"


def _span(noun: str, first: int, last: int) -> str:
    return f"{noun} {first}" if first == last else f"{noun}s {first}-{last}"


# ---- how a goal stands


def describe_goal(state: SymbolicState, block: int, agent: AgentId) -> str:
    """Return how the delivery of an open block stands for an agent."""
    square, team = state.blocks[block], state.team
    need, there = geometry.chain_weight(state, block, "left"), geometry.aligned_agents(state, block, "left")
    touching = [goal_name(other) for other in geometry.chain(state, block, "right") if other != block]
    is_gone = f"{listed(touching)} {'is' if len(touching) == 1 else 'are'} gone"
    alone = f", {square.weight} once {is_gone}" if touching else ""
    parts = [
        f"{count(state.distance(block), 'column')} to go, worth {square.weight}, takes {count(need, 'agent')}{alone}"
        f"{_describe_those_there(state, there, agent)}",
    ]
    if block not in near_blocks(state):
        way = way_to_face(state, agent, block, "left")
        steps = "no way leads you to its left face now" if way is None else f"you: {count(way.steps, 'step')} to it"
        return "; ".join([*parts, steps, *_describe_bar(state, block, team)])
    parts += [
        *_describe_more_force(state, block, team),
        *_describe_approach(state, block, agent),
        *_describe_bar(state, block, team),
    ]
    stop = obstruction(state, block, "right", team)
    going = pushers_of(state, stop.block) if stop is not None else frozenset[AgentId]()
    ahead = [(after, who) for after, who in agents_ahead(state, block) if who not in going]
    if ahead:
        after, who = ahead[0]
        parts.append(f"{'you stand' if who == agent else f'{who} stands'} in its way {_after(after)}")
    return "; ".join(parts)


def _describe_those_there(state: SymbolicState, there: Collection[AgentId], agent: AgentId) -> str:
    """Return who is lined up at a face, the reader first; empty if nobody is."""
    if not there:
        return ""
    others = [other for other in state.agents if other in there and other != agent]
    names = [*(["you"] if agent in there else []), *others]
    return f" ({listed(names, MOST_NAMED)} {'are' if len(names) > 1 or agent in there else 'is'} there)"


def _describe_approach(state: SymbolicState, block: int, agent: AgentId) -> Iterator[str]:
    """Yield how an agent gets to the left face, and who shuts out others there."""
    way, jam = way_to_face(state, agent, block, "left"), find_jam(state, block, "left")
    there = geometry.aligned_agents(state, block, "left")
    if not geometry.staging_cells(state, block, "left"):
        causes = geometry.blocked_by(state, block, "left").blocks
        what = listed(list(map(goal_name, causes))) if causes else "the wall"
        yield f"cannot be done now: {what} is at its left face"
    elif way is None:
        yield "no way leads you to its left face now"
    elif way.steps:
        words = f"you: {count(way.steps, 'step')} to its left face"
        if way.is_barred:
            at = show(state.agents[way.met[0]])
            words = (
                f"you: no way to its left face while {way.met[0]} stays at {at}, {count(way.steps, 'step')} without it"
            )
        elif way.met and not there.intersection(way.met):
            words += f", {way.straight} if {listed(way.met, MOST_NAMED)} {'make' if len(way.met) > 1 else 'makes'} way"
        if behind := _place_behind(state, block, agent, way.steps):
            words += f", {count(behind[0], 'step')} to line up behind {behind[1]}"
        yield words
    if jam is not None and agent in (jam.agent, jam.comer, *there):
        move, comer = plain(Action("move", jam.way[0])), "you" if agent == jam.comer else jam.comer
        room = f"{show(jam.cell)} cannot be reached past you: " if agent == jam.agent else f"{jam.agent}'s "
        yield f"{room}{move} lets {comer} in a step later"


def _place_behind(state: SymbolicState, block: int, agent: AgentId, most: int) -> tuple[int, AgentId] | None:
    """Return in how many steps, fewer than given, an agent is lined up behind whom, where the push lacks it."""
    if len(geometry.aligned_agents(state, block, "left")) >= geometry.chain_weight(state, block, "left"):
        return None
    ends = [(line.next, line.agents[-1]) for line in geometry.lines(state, block, "left") if line.agents and line.next]
    fields = ((geometry.distances(state, (cell,)), last) for cell, last in ends if cell is not None)
    ways = ((geometry.path_length(field, state.agents[agent]), last) for field, last in fields)
    return min(((steps, last) for steps, last in ways if steps is not None and steps < most), default=None)


def _describe_pushers(state: SymbolicState, agents: Collection[AgentId]) -> str:
    names = [agent for agent in state.agents if agent in agents]
    return f"{listed(names, MOST_NAMED)} {'is' if len(names) == 1 else 'are'}"


def _describe_more_force(state: SymbolicState, block: int, team: int) -> Iterator[str]:
    """Yield how much more than at the start a block takes on its way, where the team can do it."""
    met = meetings(state, block)
    most = max((meeting.need for meeting in met), default=0)
    if geometry.chain_weight(state, block, "left") < most <= team:
        first = next(meeting for meeting in met if meeting.need == most)
        yield f"{most} {_after(first.after)}, with {goal_name(first.block)}"


def _describe_bar(state: SymbolicState, block: int, team: int) -> Iterator[str]:
    """Yield why the whole team cannot push a block to the goal, as it stands."""
    if state.blocks[block].weight > team:
        yield f"cannot be done by {team}: it is too heavy"
    elif (stop := obstruction(state, block, "right", team)) is not None:
        ahead = f"{goal_name(stop.block)} is in the way {_after(stop.after)} (takes {stop.need})"
        if going := pushers_of(state, stop.block):
            left = count(state.distance(stop.block), "column")
            yield f"{ahead} unless it is gone by then: {_describe_pushers(state, going)} at it, {left} to go"
        else:
            yield f"cannot be done now by {team}: {ahead}"


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
