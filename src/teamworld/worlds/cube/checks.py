"""What must hold for an action to make sense, and what to expect from it if all goes well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Cell
from teamworld.worlds.contract import POSSIBLE, Verdict
from teamworld.worlds.cube import concepts
from teamworld.worlds.cube.crew import Refused
from teamworld.worlds.cube.paths import distances, length
from teamworld.worlds.cube.scene import DELTA, OPPOSITE, Blocks, Scene, Square, entity
from teamworld.worlds.cube.schemas import Abilities, block_of, count_of, word_of
from teamworld.worlds.cube.skills import face_gone, stand, targets

_WORDS: Mapping[str, str] = {
    "block_gone": "{block} has been delivered",
    "unknown_block": "it is not known where {block} is",
    "face_gone": "nobody can stand at that face of {block}",
    "unreachable": "there is no way to that face of {block}",
    "not_aligned": "{agent} is not lined up there with {block}",
}


def check(scene: Scene, agent: AgentId, action: Action, known: Abilities, *, planning: bool = True) -> Verdict:
    """Return whether an action's preconditions hold in a scene (DR. WELL spec A6, B16, B17).

    A plan that pushes a block further than it can go is unsound (``planning``); when the push is to
    start it is none the worse for a team-mate having moved the block meanwhile.

    The reason starts with one of the world's words, for example ``not_aligned: ...``. Team-mates are not
    obstacles here: they move on.
    """
    block = block_of(action)
    if block is not None and block in scene.blocks and scene.blocks[block].delivered:
        return _no("block_gone", agent, block)
    try:
        action = known.complete(action)
    except UserError as error:
        return Verdict(False, f"illegal: {error}")
    if block is None:
        return POSSIBLE
    if action.verb == "move_to_block":
        return _face(scene, agent, block, word_of(action, 1))
    place = stand(scene, agent, block, word_of(action, 1) if action.verb == "rendezvous" else None)
    if isinstance(place, Refused):
        return _no(place.reason, agent, block)
    if planning and action.verb == "push_block":
        way, steps = OPPOSITE[place.face], count_of(action, 1)
        if steps > (most := room(scene, block, way)):
            return Verdict(False, f"too_far: {entity(block)} can be pushed {way} {most} steps, not {steps}")
    return POSSIBLE


def _face(scene: Scene, agent: AgentId, block: int, face: str) -> Verdict:
    if face_gone(scene, block, face) is not None:
        return _no("face_gone", agent, block)
    if not reachable(scene, agent, block, face):
        return _no("unreachable", agent, block)
    return POSSIBLE


def reachable(scene: Scene, agent: AgentId, block: int, face: str) -> bool:
    """Return whether the agent can come to a face if no team-mate is in the way."""
    field = distances(scene, concepts.staging(scene, block, face), through_agents=True)
    return length(field, scene.agents[agent]) is not None


def room(scene: Scene, block: int, direction: str) -> int:
    """Return the cells from a block's edge to the end of the grid, or to the goal if pushed right."""
    weight, row, col, _ = scene.blocks[block]
    return {"right": scene.distance(block), "left": col, "up": row, "down": scene.side - row - weight}[direction]


def _no(word: str, agent: AgentId, block: int) -> Verdict:
    return Verdict(False, f"{word}: {_WORDS[word].format(agent=agent, block=entity(block))}")


def after(scene: Scene, agent: AgentId, action: Action) -> Scene:
    """Return the scene to expect after a complete action that succeeds, team-mates playing their part.

    The same object at each call, for many plans begin alike; the scene itself where nothing changes.
    """
    key = ("after", agent, action)
    if key not in scene.memo:
        then = _after(scene, agent, action)
        scene.memo[key] = None if then is scene else then  # a scene that held itself would outlive its last reader
    kept: Scene | None = scene.memo[key]
    return scene if kept is None else kept


def _after(scene: Scene, agent: AgentId, action: Action) -> Scene:
    block = block_of(action)
    if action.verb == "move":
        return _gone_on(scene, agent, word_of(action, 0), count_of(action, 1))
    if block is None or block not in scene.blocks or scene.blocks[block].delivered:
        return scene
    if action.verb == "move_to_block":
        return _lined_up(scene, agent, block, word_of(action, 1))
    face = concepts.face_of(scene, agent, block)
    if face is None:
        return scene
    if action.verb == "rendezvous":
        return _gathered(scene, block, face, count_of(action, 2) or concepts.chain_weight(scene, block, face))
    if action.verb == "push_block":
        return shifted(scene, block, OPPOSITE[face], count_of(action, 1))
    return _gone_on(scene, agent, face, count_of(action, 1))


def _gone_on(scene: Scene, agent: AgentId, direction: str, steps: int) -> Scene:
    at = scene.agents[agent]
    for _ in range(steps):
        cell = at[0] + DELTA[direction][0], at[1] + DELTA[direction][1]
        if not scene.free(cell):
            break
        at = cell
    return scene.with_agents({agent: at})


def _lined_up(scene: Scene, agent: AgentId, block: int, face: str) -> Scene:
    if concepts.face_of(scene, agent, block) == face:
        return scene
    # Its own body is not in its way: who is not aligned holds no cell that matters, but may hide another agent there.
    away = scene.with_agents({agent: (-2, -2)}) if _crowded(scene) else scene
    cells = targets(away, block, face)
    if cells:
        return scene.with_agents({agent: cells[0][1]})
    middle = next(iter(concepts.staging(scene, block, face)), None)
    if middle is None:
        return scene
    return scene.with_agents({scene.by_cell[middle]: scene.agents[agent], agent: middle})  # a team-mate makes room


def _gathered(scene: Scene, block: int, face: str, need: int) -> Scene:
    """Return the scene in which the nearest agents have come to a face, one after another, until there are enough."""
    here = concepts.aligned_agents(scene, block, face)
    others = [agent for agent in scene.agents if agent not in here]
    weight, top, left, _ = scene.blocks[block]

    def way(agent: AgentId) -> int:
        row, col = scene.agents[agent]
        return max(top - row, row - top - weight + 1, 0) + max(left - col, col - left - weight + 1, 0)

    coming = sorted(others, key=way)[: max(0, need - len(here))]
    if not _crowded(scene):
        return line_up(scene, coming, block, face)
    for agent in coming:
        scene = _lined_up(scene, agent, block, face)
    return scene


def _crowded(scene: Scene) -> bool:
    """Return whether agents are imagined on one cell, so that one hides the other."""
    return len(scene.by_cell) < len(scene.agents)


def line_up(scene: Scene, comers: Iterable[AgentId], block: int, face: str) -> Scene:
    """Return the scene after agents have lined up at a face one after another, each on the best cell left.

    No two agents of the scene stand on one cell. Only the line that an agent joins changes, so the lines are kept
    by rank and each agent costs little, whatever the length of the face.
    """
    agents, by_cell = dict(scene.agents), dict(scene.by_cell)
    lines = concepts.lines(scene, block, face)
    aligned = {agent for line in lines for agent in line.agents}
    ends = [(len(line.agents), line.offset, i, line.next) for i, line in enumerate(lines) if line.next is not None]
    heapify(ends)
    cells = concepts.staging(scene, block, face)
    for agent in comers:
        if agent in aligned or not cells:
            continue
        at = agents[agent]
        if ends:
            _, offset, i, cell = heappop(ends)
            del by_cell[at]
            agents[agent], by_cell[cell] = cell, agent
            line = concepts.line(scene, by_cell, cells[i], face, offset)
            aligned.update(line.agents)
            if line.next is not None:
                heappush(ends, (len(line.agents), offset, i, line.next))
        else:
            mate = by_cell[cells[0]]  # a team-mate makes room
            agents[agent], agents[mate] = cells[0], at
            by_cell[cells[0]], by_cell[at] = agent, mate
            aligned ^= {agent, mate}
    return replace(scene, agents=agents)


def shifted(scene: Scene, block: int, direction: str, steps: int) -> Scene:
    """Return the scene after the team pushed a block: its chain and the agents behind it move along.

    The block stops where the grid ends, or where its chain becomes too heavy for the whole team.
    """
    steps = min(steps, room(scene, block, direction))
    while steps > 0 and not scene.blocks[block].delivered:
        ahead = _clear(scene, block, direction, steps)
        leap = ahead if ahead == steps or (ahead and _untouched(scene, block, direction, ahead)) else 1
        moving = concepts.chain(scene, block, direction)
        weight = sum(scene.blocks[one].weight for one in moving)
        if weight > len(scene.agents) or any(room(scene, one, direction) == 0 for one in moving):
            break
        scene = _leap(scene, block, moving, direction, leap)
        steps -= leap
    return scene


def _clear(scene: Scene, block: int, direction: str, steps: int) -> int:
    """Return how many cells a block can move, of so many, until it is in contact with another one."""
    weight, row, col, _ = scene.blocks[block]
    rows, cols = DELTA[direction]
    top, left = (
        row + 1 + (weight * rows if rows > 0 else steps * rows),
        col + 1 + (weight * cols if cols > 0 else steps * cols),
    )
    height, width = (steps, weight) if rows else (weight, steps)
    taken = np.flatnonzero(scene.walls[top : top + height, left : left + width].any(axis=1 if rows else 0))
    if not taken.size:
        return steps
    return int(taken[0]) if rows + cols > 0 else steps - 1 - int(taken[-1])


def _untouched(scene: Scene, block: int, direction: str, cells: int) -> bool:
    """Return whether a block comes over nobody on its way, so that the same agents stay behind it all along."""
    weight, row, col, _ = scene.blocks[block]
    rows, cols = DELTA[direction][0] * cells, DELTA[direction][1] * cells
    top, bottom = row + min(0, rows), row + weight + max(0, rows)
    left, right = col + min(0, cols), col + weight + max(0, cols)
    return not _crowded(scene) and not any(
        top <= row < bottom and left <= col < right for row, col in scene.agents.values()
    )


def _leap(scene: Scene, block: int, moving: list[int], direction: str, cells: int) -> Scene:
    rows, cols = DELTA[direction][0] * cells, DELTA[direction][1] * cells
    key = ("leap", block, direction, cells)
    if key not in scene.ground.memo:  # many agents imagine the same push
        blocks = dict(scene.blocks)
        for one in moving:
            weight, row, col, _ = blocks[one]
            home = direction == "right" and col + cols + weight >= scene.side
            blocks[one] = Square(weight, -1, -1, True) if home else Square(weight, row + rows, col + cols)
        scene.ground.memo[key] = Blocks(scene.side, blocks)
    agents: dict[AgentId, Cell] = {}
    for agent in concepts.aligned_agents(scene, block, OPPOSITE[direction]):
        row, col = scene.agents[agent]
        agents[agent] = row + rows, col + cols
    return replace(scene, agents={**scene.agents, **agents}, blocks=scene.ground.memo[key])
