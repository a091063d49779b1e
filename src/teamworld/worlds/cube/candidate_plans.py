"""Candidate plans of CUBE, good and poor ones, and the expected effects of their actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from teamworld.language import Action, AgentId, Cell, Plan, prototype
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import ActionSchemas, block_of, check_action, count_of, word_of
from teamworld.worlds.cube.exploration import exploration_plans
from teamworld.worlds.cube.geometry import (
    cells_to_edge,
    distances,
    find_better_place,
    straight_runs,
    targets,
)
from teamworld.worlds.cube.symbolic_state import (
    DELTA,
    OPPOSITE,
    Blocks,
    Square,
    SymbolicState,
    entity,
    goal_name,
    once_per_blocks,
    once_per_state,
)

#: Plans offered for each goal, at least.
FEWEST = 6

#: Prototypes among them, at least.
KINDS = 4

#: Cells by which a block is pushed out of its row, and back to get clear of a chain.
ASIDE = 2

#: Steps of a pause before a push.
PAUSE = 2

Actions = tuple[Action, ...]


# ---- plans to deliver a block


@once_per_state
def delivery_plans(state: SymbolicState, block: int, agent: AgentId, known: ActionSchemas) -> list[Plan]:
    """Return plans for delivering a block, at least six of at least four prototypes, in the order of their texts.

    A dry run in the state tells which plans would work if teammates play their part. Where these are too few or
    too much alike, plans that cannot work now fill the list.
    """
    chosen: list[Plan] = []
    rest: list[Plan] = []
    for actions in dict.fromkeys(_plan_variants(state, block)):
        plan = Plan(actions, goal_name(block))
        (chosen if dry_run(state, agent, actions, known) is None else rest).append(plan)
    kinds = set(map(prototype, chosen))
    for plan in rest:
        if len(chosen) < FEWEST or (len(kinds) < KINDS and prototype(plan) not in kinds):
            chosen.append(plan)
            kinds.add(prototype(plan))
    return sorted(chosen, key=str)


def dry_run(state: SymbolicState, agent: AgentId, actions: Actions, known: ActionSchemas) -> str | None:
    """Return why a plan would fail if teammates play their part, or None if it would not."""
    for number, action in enumerate(actions, start=1):
        verdict = check_action(state, agent, action, known)
        if not verdict.ok:
            return f"{action}: {verdict.reason}"
        if number < len(actions):
            state = expected_state(state, agent, known.complete(action))
    return None


def _plan_variants(state: SymbolicState, block: int) -> Iterator[Actions]:
    """Yield ways to deliver a block, whether or not they can work now."""
    team, steps = state.team, state.distance(block)
    meet, push = _quorum_rendezvous(state, block, "left"), _push_action(block, steps)
    align, wait = _align_action(block, "left"), Action("idle", (PAUSE,))
    gather = Action("wait_agents", (min(team, geometry.chain_weight(state, block, "left")),))
    yield (align, meet, push)
    yield (align, push)
    yield (align, wait, push)
    yield (gather, align, meet, push)
    yield (align, Action("yield_block", (entity(block), 1)), align, meet, push)
    yield (align, meet, _push_action(block, _cells_to_contact(state, block)))
    yield (align, _rendezvous_action(state, block, "left", team), push)
    if steps > 1:
        yield (align, meet, _push_action(block, steps // 2), meet, _push_action(block, steps - steps // 2))
    for face in ("up", "down"):
        yield from _detour_plans(state, block, face)
    back = min(ASIDE, cells_to_edge(state, block, "left"))
    if back and geometry.chain_weight(state, block, "left") > state.blocks[block].weight:  # to get clear of the chain
        yield (_align_action(block, "right"), _quorum_rendezvous(state, block, "right"), _push_action(block, back))
    yield (gather, align, push)


def _cells_to_contact(state: SymbolicState, block: int) -> int:
    """Return the cells to the next block in the lane, or at most 3 if the lane is clear or there is contact."""
    weight, row, col, _ = state.blocks[block]
    ahead = [
        other.col - col - weight
        for _, other in state.open_blocks
        if other.col > col and other.row < row + weight and row < other.row + other.weight
    ]
    few = min(state.distance(block), 3)
    return min(ahead, default=few) or few


def _detour_plans(state: SymbolicState, block: int, face: str) -> Iterator[Actions]:
    """Yield plans that push the block out of its row, and on to the goal from there."""
    away = OPPOSITE[face]
    cells = ASIDE
    if cells_to_edge(state, block, away) < cells:
        return
    start = (_align_action(block, face), _quorum_rendezvous(state, block, face), _push_action(block, cells))
    then = pushed_state(state, block, away, cells)
    yield start
    yield (
        *start,
        _align_action(block, "left"),
        _quorum_rendezvous(then, block, "left"),
        _push_action(block, then.distance(block)),
    )


def _align_action(block: int, face: str) -> Action:
    return Action("move_to_block", (entity(block), face))


def _push_action(block: int, steps: int) -> Action:
    return Action("push_block", (entity(block), steps))


def _rendezvous_action(state: SymbolicState, block: int, face: str, count: int) -> Action:
    """Return a rendezvous with the time-out that it takes to cross the grid."""
    return Action("rendezvous", (entity(block), face, count, state.side))


def _quorum_rendezvous(state: SymbolicState, block: int, face: str) -> Action:
    return _rendezvous_action(state, block, face, min(state.team, geometry.chain_weight(state, block, face)))


# ---- plans of agents that are not needed


def standby_plans(state: SymbolicState, agent: AgentId, radius: int | None = None) -> list[Plan]:
    """Return plans for an agent that is not needed now, best first: it goes to the nearest cell out of the way.

    ``wait_agents`` brings it back into the conversation. Where agents do not see everything, plans to look at
    areas that nobody has seen come before all these.

    Args:
        state: Where everything stands.
        agent: Who is not needed.
        radius: How far agents see, in cells; None if they see everything.
    """
    waits = Action("wait_agents", (state.team,))
    plans = [] if radius is None else exploration_plans(state, agent, radius)
    leave = tuple(Action("move", (side, steps)) for side, steps in _path_out_of_the_way(state, agent))
    if leave or state.agents[agent] not in busy_cells(state):
        plans.append(Plan((*leave, waits)))
        plans.append(Plan((*leave, Action("idle", (5,)))))
    return plans or [Plan((Action("idle", (1,)),))]


@once_per_blocks
def lanes(state: SymbolicState) -> frozenset[Cell]:
    """Return the cells right of the open blocks, in their rows, where an agent is in the way."""
    return frozenset(
        (row, col)
        for _, square in state.open_blocks
        for row in range(square.row, square.row + square.weight)
        for col in range(square.col + square.weight, state.side)
    )


@once_per_blocks
def busy_cells(state: SymbolicState) -> frozenset[Cell]:
    """Return the cells where an agent that stands still is in the way: the lanes, and the ring round each open block.

    In the ring it takes a pusher's place, or shuts the way round a block that stands near a wall.
    """
    ring = (
        (row, col)
        for _, square in state.open_blocks
        for row in range(square.row - 1, square.row + square.weight + 1)
        for col in range(square.col - 1, square.col + square.weight + 1)
    )
    return lanes(state).union(ring)


def _path_out_of_the_way(state: SymbolicState, agent: AgentId) -> list[tuple[str, int]]:
    """Return the straight runs to the nearest free cell out of the way; empty if the agent stands on one."""
    at, busy = state.agents[agent], busy_cells(state)
    if at not in busy:
        return []
    cells = ((row, col) for row in range(state.side) for col in range(state.side))
    quiet = tuple(cell for cell in cells if cell not in busy and state.is_free(cell))
    return straight_runs(distances(state, quiet), at)


# ---- expected effects


def expected_state(state: SymbolicState, agent: AgentId, action: Action) -> SymbolicState:
    """Return the state to expect after a complete action that succeeds, teammates playing their part.

    The same object at each call, for many plans begin alike; the state itself where nothing changes.
    """
    then = _other_state(state, agent, action)
    return state if then is None else then


@once_per_state
def _other_state(state: SymbolicState, agent: AgentId, action: Action) -> SymbolicState | None:
    """Return the same, None where nothing changes: a state that held itself would outlive its last reader."""
    then = _expected_state(state, agent, action)
    return None if then == state else then


def _expected_state(state: SymbolicState, agent: AgentId, action: Action) -> SymbolicState:
    block = block_of(action)
    if action.verb == "move":
        return _state_after_move(state, agent, word_of(action, 0), count_of(action, 1))
    if block is None or block not in state.blocks or state.blocks[block].delivered:
        return state
    if action.verb == "move_to_block":
        place = find_better_place(state, agent, block, word_of(action, 1))
        if place is not None:  # it goes on to the middle, so that it does not shut others out
            return state.with_agents({agent: place})
        return _state_after_alignment(state, agent, block, word_of(action, 1))
    face = geometry.face_of(state, agent, block)
    if face is None:
        return state
    if action.verb == "rendezvous":
        return _state_after_rendezvous(
            state, block, face, count_of(action, 2) or geometry.chain_weight(state, block, face)
        )
    if action.verb == "push_block":
        return pushed_state(state, block, OPPOSITE[face], count_of(action, 1))
    return _state_after_move(state, agent, face, count_of(action, 1))


def _state_after_move(state: SymbolicState, agent: AgentId, direction: str, steps: int) -> SymbolicState:
    at = state.agents[agent]
    for _ in range(steps):
        cell = at[0] + DELTA[direction][0], at[1] + DELTA[direction][1]
        if not state.is_free(cell):
            break
        at = cell
    return state.with_agents({agent: at})


def _state_after_alignment(state: SymbolicState, agent: AgentId, block: int, face: str) -> SymbolicState:
    if geometry.face_of(state, agent, block) == face:
        return state
    # Its own body is not in its way: who is not aligned holds no cell that matters, but may hide another agent there.
    away = state.with_agents({agent: (-2, -2)}) if _has_shared_cells(state) else state
    cells = targets(away, block, face)
    if cells:
        return state.with_agents({agent: cells[0][1]})
    middle = next(iter(geometry.staging_cells(state, block, face)), None)
    if middle is None:
        return state
    return state.with_agents({state.by_cell[middle]: state.agents[agent], agent: middle})  # a teammate makes room


def _state_after_rendezvous(state: SymbolicState, block: int, face: str, need: int) -> SymbolicState:
    """Return the state in which the nearest agents have come to a face, one after another, until there are enough."""
    aligned = geometry.aligned_agents(state, block, face)
    missing = need - len(aligned)
    if missing <= 0:
        return state
    others = [agent for agent in state.agents if agent not in aligned]
    weight, top, left, _ = state.blocks[block]

    def way(agent: AgentId) -> int:
        row, col = state.agents[agent]
        return max(top - row, row - top - weight + 1, 0) + max(left - col, col - left - weight + 1, 0)

    coming = sorted(others, key=way)[:missing]
    if not _has_shared_cells(state):
        return line_up_agents(state, coming, block, face)
    for agent in coming:
        state = _state_after_alignment(state, agent, block, face)
    return state


def _has_shared_cells(state: SymbolicState) -> bool:
    """Return whether two imagined agents share a cell."""
    return len(state.by_cell) < len(state.agents)


def line_up_agents(state: SymbolicState, comers: Iterable[AgentId], block: int, face: str) -> SymbolicState:
    """Return the state after agents have lined up at a face one after another, each on the best cell left.

    No two agents of the state stand on one cell. Only the line that an agent joins changes, so the lines are kept
    by rank and each agent costs little, whatever the length of the face.
    """
    agents, by_cell = dict(state.agents), dict(state.by_cell)
    lines = geometry.lines(state, block, face)
    aligned = {agent for line in lines for agent in line.agents}
    ends = [(len(line.agents), line.offset, i, line.next) for i, line in enumerate(lines) if line.next is not None]
    heapify(ends)
    cells = geometry.staging_cells(state, block, face)
    for agent in comers:
        if agent in aligned or not cells:
            continue
        at = agents[agent]
        if ends:
            _, offset, i, cell = heappop(ends)
            del by_cell[at]
            agents[agent], by_cell[cell] = cell, agent
            line = geometry.line_at(state, by_cell, cells[i], face, offset)
            aligned.update(line.agents)
            if line.next is not None:
                heappush(ends, (len(line.agents), offset, i, line.next))
        else:
            teammate = by_cell[cells[0]]  # a teammate makes room
            agents[agent], agents[teammate] = cells[0], at
            by_cell[cells[0]], by_cell[at] = agent, teammate
            aligned ^= {agent, teammate}
    return state.with_agents(agents)


def pushed_state(state: SymbolicState, block: int, direction: str, steps: int) -> SymbolicState:
    """Return the state after the team pushed a block: its chain and the agents behind it move along.

    The block stops where the grid ends, or where its chain becomes too heavy for the whole team.
    """
    steps = min(steps, cells_to_edge(state, block, direction))
    while steps > 0 and not state.blocks[block].delivered:
        ahead = _free_cells_ahead(state, block, direction, steps)
        leap = ahead if ahead == steps or (ahead and _is_path_clear(state, block, direction, ahead)) else 1
        moving = geometry.chain(state, block, direction)
        weight = sum(state.blocks[member].weight for member in moving)
        if weight > state.team or any(cells_to_edge(state, member, direction) == 0 for member in moving):
            break
        if not ahead and _is_path_clear(state, block, direction, cells := _chain_leap(state, block, direction, steps)):
            leap = cells
        state = _shift_chain(state, block, moving, direction, leap)
        steps -= leap
    return state


@once_per_blocks
def _free_cells_ahead(state: SymbolicState, block: int, direction: str, steps: int) -> int:
    """Return how many of some steps a block can move until it touches another one."""
    taken = np.flatnonzero(_cells_ahead(state, block, direction, steps).any(axis=1))
    return int(taken[0]) if taken.size else steps


def _cells_ahead(state: SymbolicState, block: int, direction: str, steps: int) -> npt.NDArray[np.int16]:
    """Return what stands ahead of a block, as codes of ``walls``, shape (steps, weight): nearest cells first."""
    weight, row, col, _ = state.blocks[block]
    rows, cols = DELTA[direction]
    top, left = (
        row + 1 + (weight * rows if rows > 0 else steps * rows),
        col + 1 + (weight * cols if cols > 0 else steps * cols),
    )
    height, width = (steps, weight) if rows else (weight, steps)
    ahead = state.walls[top : top + height, left : left + width]
    return (ahead if rows else ahead.T)[:: rows + cols]


@once_per_blocks
def _chain_leap(state: SymbolicState, block: int, direction: str, steps: int) -> int:
    """Return how many of some steps a chain that can move moves alike: until it touches a block, or one is home."""
    moving = geometry.chain(state, block, direction)
    own = np.array([0, *(member + 1 for member in moving)], np.int16)
    cells = min(steps, *(cells_to_edge(state, member, direction) for member in moving))
    for member in moving:
        ahead = _cells_ahead(state, member, direction, cells)
        foreign = np.flatnonzero(~np.isin(ahead, own).all(axis=1))
        cells = int(foreign[0]) if foreign.size else cells
    return cells


def _is_path_clear(state: SymbolicState, block: int, direction: str, cells: int) -> bool:
    """Return whether no agent is in the way of a block, so that the same agents stay behind it all the way."""
    weight, row, col, _ = state.blocks[block]
    rows, cols = DELTA[direction][0] * cells, DELTA[direction][1] * cells
    top, bottom = row + min(0, rows), row + weight + max(0, rows)
    left, right = col + min(0, cols), col + weight + max(0, cols)
    return not _has_shared_cells(state) and not any(
        top <= row < bottom and left <= col < right for row, col in state.agents.values()
    )


def _shift_chain(state: SymbolicState, block: int, moving: list[int], direction: str, cells: int) -> SymbolicState:
    rows, cols = DELTA[direction][0] * cells, DELTA[direction][1] * cells
    key = ("leap", block, direction, cells)
    if key not in state.block_map.memo:  # many agents imagine the same push
        blocks = dict(state.blocks)
        for member in moving:
            weight, row, col, _ = blocks[member]
            home = direction == "right" and col + cols + weight >= state.side
            blocks[member] = Square(weight, -1, -1, True) if home else Square(weight, row + rows, col + cols)
        state.block_map.memo[key] = Blocks(state.side, blocks)
    agents: dict[AgentId, Cell] = {}
    for agent in geometry.aligned_agents(state, block, OPPOSITE[direction]):
        row, col = state.agents[agent]
        agents[agent] = row + rows, col + cols
    return replace(state, agents={**state.agents, **agents}, blocks=state.block_map.memo[key])
