"""What must hold for an action to make sense, and what to expect from it if all goes well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Cell
from teamworld.worlds.contract import POSSIBLE, Verdict
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import ActionSchemas, block_of, count_of, word_of
from teamworld.worlds.cube.crew import Refusal
from teamworld.worlds.cube.paths import distances, length
from teamworld.worlds.cube.skills import face_gone, stand, targets
from teamworld.worlds.cube.symbolic_state import DELTA, OPPOSITE, Blocks, Square, SymbolicState, entity

_WORDS: Mapping[str, str] = {
    "block_gone": "{block} has been delivered",
    "unknown_block": "it is not known where {block} is",
    "face_gone": "nobody can stand at that face of {block}",
    "unreachable": "there is no way to that face of {block}",
    "not_aligned": "{agent} is not lined up there with {block}",
}


def check(
    state: SymbolicState, agent: AgentId, action: Action, known: ActionSchemas, *, planning: bool = True
) -> Verdict:
    """Return whether an action's preconditions hold in a state (DR. WELL spec A6, B16, B17).

    A plan that pushes a block further than it can go is unsound (``planning``); when the push is to
    start it is none the worse for a team-mate having moved the block meanwhile.

    The reason starts with one of the world's words, for example ``not_aligned: ...``. Team-mates are not
    obstacles here: they move on.
    """
    block = block_of(action)
    if block is not None and block in state.blocks and state.blocks[block].delivered:
        return _no("block_gone", agent, block)
    try:
        action = known.complete(action)
    except UserError as error:
        return Verdict(False, f"illegal: {error}")
    if block is None:
        return POSSIBLE
    if action.verb == "move_to_block":
        return _face(state, agent, block, word_of(action, 1))
    place = stand(state, agent, block, word_of(action, 1) if action.verb == "rendezvous" else None)
    if isinstance(place, Refusal):
        return _no(place.reason, agent, block)
    if planning and action.verb == "push_block":
        way, steps = OPPOSITE[place.face], count_of(action, 1)
        if steps > (most := room(state, block, way)):
            return Verdict(False, f"too_far: {entity(block)} can be pushed {way} {most} steps, not {steps}")
    return POSSIBLE


def _face(state: SymbolicState, agent: AgentId, block: int, face: str) -> Verdict:
    if face_gone(state, block, face) is not None:
        return _no("face_gone", agent, block)
    if not reachable(state, agent, block, face):
        return _no("unreachable", agent, block)
    return POSSIBLE


def reachable(state: SymbolicState, agent: AgentId, block: int, face: str) -> bool:
    """Return whether the agent can come to a face if no team-mate is in the way."""
    field = distances(state, geometry.staging(state, block, face), through_agents=True)
    return length(field, state.agents[agent]) is not None


def room(state: SymbolicState, block: int, direction: str) -> int:
    """Return the cells from a block's edge to the end of the grid, or to the goal if pushed right."""
    weight, row, col, _ = state.blocks[block]
    return {"right": state.distance(block), "left": col, "up": row, "down": state.side - row - weight}[direction]


def _no(word: str, agent: AgentId, block: int) -> Verdict:
    return Verdict(False, f"{word}: {_WORDS[word].format(agent=agent, block=entity(block))}")


def after(state: SymbolicState, agent: AgentId, action: Action) -> SymbolicState:
    """Return the state to expect after a complete action that succeeds, team-mates playing their part.

    The same object at each call, for many plans begin alike; the state itself where nothing changes.
    """
    key = ("after", agent, action)
    if key not in state.memo:
        then = _after(state, agent, action)
        state.memo[key] = None if then is state else then  # a state that held itself would outlive its last reader
    kept: SymbolicState | None = state.memo[key]
    return state if kept is None else kept


def _after(state: SymbolicState, agent: AgentId, action: Action) -> SymbolicState:
    block = block_of(action)
    if action.verb == "move":
        return _gone_on(state, agent, word_of(action, 0), count_of(action, 1))
    if block is None or block not in state.blocks or state.blocks[block].delivered:
        return state
    if action.verb == "move_to_block":
        return _lined_up(state, agent, block, word_of(action, 1))
    face = geometry.face_of(state, agent, block)
    if face is None:
        return state
    if action.verb == "rendezvous":
        return _gathered(state, block, face, count_of(action, 2) or geometry.chain_weight(state, block, face))
    if action.verb == "push_block":
        return shifted(state, block, OPPOSITE[face], count_of(action, 1))
    return _gone_on(state, agent, face, count_of(action, 1))


def _gone_on(state: SymbolicState, agent: AgentId, direction: str, steps: int) -> SymbolicState:
    at = state.agents[agent]
    for _ in range(steps):
        cell = at[0] + DELTA[direction][0], at[1] + DELTA[direction][1]
        if not state.free(cell):
            break
        at = cell
    return state.with_agents({agent: at})


def _lined_up(state: SymbolicState, agent: AgentId, block: int, face: str) -> SymbolicState:
    if geometry.face_of(state, agent, block) == face:
        return state
    # Its own body is not in its way: who is not aligned holds no cell that matters, but may hide another agent there.
    away = state.with_agents({agent: (-2, -2)}) if _crowded(state) else state
    cells = targets(away, block, face)
    if cells:
        return state.with_agents({agent: cells[0][1]})
    middle = next(iter(geometry.staging(state, block, face)), None)
    if middle is None:
        return state
    return state.with_agents({state.by_cell[middle]: state.agents[agent], agent: middle})  # a team-mate makes room


def _gathered(state: SymbolicState, block: int, face: str, need: int) -> SymbolicState:
    """Return the state in which the nearest agents have come to a face, one after another, until there are enough."""
    here = geometry.aligned_agents(state, block, face)
    others = [agent for agent in state.agents if agent not in here]
    weight, top, left, _ = state.blocks[block]

    def way(agent: AgentId) -> int:
        row, col = state.agents[agent]
        return max(top - row, row - top - weight + 1, 0) + max(left - col, col - left - weight + 1, 0)

    coming = sorted(others, key=way)[: max(0, need - len(here))]
    if not _crowded(state):
        return line_up(state, coming, block, face)
    for agent in coming:
        state = _lined_up(state, agent, block, face)
    return state


def _crowded(state: SymbolicState) -> bool:
    """Return whether agents are imagined on one cell, so that one hides the other."""
    return len(state.by_cell) < len(state.agents)


def line_up(state: SymbolicState, comers: Iterable[AgentId], block: int, face: str) -> SymbolicState:
    """Return the state after agents have lined up at a face one after another, each on the best cell left.

    No two agents of the state stand on one cell. Only the line that an agent joins changes, so the lines are kept
    by rank and each agent costs little, whatever the length of the face.
    """
    agents, by_cell = dict(state.agents), dict(state.by_cell)
    lines = geometry.lines(state, block, face)
    aligned = {agent for line in lines for agent in line.agents}
    ends = [(len(line.agents), line.offset, i, line.next) for i, line in enumerate(lines) if line.next is not None]
    heapify(ends)
    cells = geometry.staging(state, block, face)
    for agent in comers:
        if agent in aligned or not cells:
            continue
        at = agents[agent]
        if ends:
            _, offset, i, cell = heappop(ends)
            del by_cell[at]
            agents[agent], by_cell[cell] = cell, agent
            line = geometry.line(state, by_cell, cells[i], face, offset)
            aligned.update(line.agents)
            if line.next is not None:
                heappush(ends, (len(line.agents), offset, i, line.next))
        else:
            mate = by_cell[cells[0]]  # a team-mate makes room
            agents[agent], agents[mate] = cells[0], at
            by_cell[cells[0]], by_cell[at] = agent, mate
            aligned ^= {agent, mate}
    return replace(state, agents=agents)


def shifted(state: SymbolicState, block: int, direction: str, steps: int) -> SymbolicState:
    """Return the state after the team pushed a block: its chain and the agents behind it move along.

    The block stops where the grid ends, or where its chain becomes too heavy for the whole team.
    """
    steps = min(steps, room(state, block, direction))
    while steps > 0 and not state.blocks[block].delivered:
        ahead = _clear(state, block, direction, steps)
        leap = ahead if ahead == steps or (ahead and _untouched(state, block, direction, ahead)) else 1
        moving = geometry.chain(state, block, direction)
        weight = sum(state.blocks[one].weight for one in moving)
        if weight > len(state.agents) or any(room(state, one, direction) == 0 for one in moving):
            break
        state = _leap(state, block, moving, direction, leap)
        steps -= leap
    return state


def _clear(state: SymbolicState, block: int, direction: str, steps: int) -> int:
    """Return how many cells a block can move, of so many, until it is in contact with another one."""
    weight, row, col, _ = state.blocks[block]
    rows, cols = DELTA[direction]
    top, left = (
        row + 1 + (weight * rows if rows > 0 else steps * rows),
        col + 1 + (weight * cols if cols > 0 else steps * cols),
    )
    height, width = (steps, weight) if rows else (weight, steps)
    taken = np.flatnonzero(state.walls[top : top + height, left : left + width].any(axis=1 if rows else 0))
    if not taken.size:
        return steps
    return int(taken[0]) if rows + cols > 0 else steps - 1 - int(taken[-1])


def _untouched(state: SymbolicState, block: int, direction: str, cells: int) -> bool:
    """Return whether a block comes over nobody on its way, so that the same agents stay behind it all along."""
    weight, row, col, _ = state.blocks[block]
    rows, cols = DELTA[direction][0] * cells, DELTA[direction][1] * cells
    top, bottom = row + min(0, rows), row + weight + max(0, rows)
    left, right = col + min(0, cols), col + weight + max(0, cols)
    return not _crowded(state) and not any(
        top <= row < bottom and left <= col < right for row, col in state.agents.values()
    )


def _leap(state: SymbolicState, block: int, moving: list[int], direction: str, cells: int) -> SymbolicState:
    rows, cols = DELTA[direction][0] * cells, DELTA[direction][1] * cells
    key = ("leap", block, direction, cells)
    if key not in state.ground.memo:  # many agents imagine the same push
        blocks = dict(state.blocks)
        for one in moving:
            weight, row, col, _ = blocks[one]
            home = direction == "right" and col + cols + weight >= state.side
            blocks[one] = Square(weight, -1, -1, True) if home else Square(weight, row + rows, col + cols)
        state.ground.memo[key] = Blocks(state.side, blocks)
    agents: dict[AgentId, Cell] = {}
    for agent in geometry.aligned_agents(state, block, OPPOSITE[direction]):
        row, col = state.agents[agent]
        agents[agent] = row + rows, col + cols
    return replace(state, agents={**state.agents, **agents}, blocks=state.ground.memo[key])
