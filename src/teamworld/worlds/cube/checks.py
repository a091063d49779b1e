"""What must hold for an action to make sense, and what to expect from it if all goes well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Cell
from teamworld.worlds.contract import POSSIBLE, ActionSchema, Verdict
from teamworld.worlds.cube import concepts
from teamworld.worlds.cube.crew import Refused
from teamworld.worlds.cube.paths import distances, length
from teamworld.worlds.cube.scene import DELTA, OPPOSITE, Scene, Square, entity
from teamworld.worlds.cube.schemas import block_of, complete, count_of, word_of
from teamworld.worlds.cube.skills import face_gone, stand, targets

_WORDS: Mapping[str, str] = {
    "block_gone": "{block} has been delivered",
    "unknown_block": "it is not known where {block} is",
    "face_gone": "nobody can stand at that face of {block}",
    "unreachable": "there is no way to that face of {block}",
    "not_aligned": "{agent} is not lined up there with {block}",
}


def check(
    scene: Scene, agent: AgentId, action: Action, known: Mapping[str, ActionSchema], *, planning: bool = True
) -> Verdict:
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
        action = complete(action, known)
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

    The same object at each call: many plans begin alike.
    """
    key = ("after", agent, action)
    if key not in scene.memo:
        scene.memo[key] = _after(scene, agent, action)
    then: Scene = scene.memo[key]
    return then


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
    away = scene.with_agents({agent: (-2, -2)})  # its own body is not in its way
    cells = targets(away, block, face)
    if cells:
        return scene.with_agents({agent: cells[0][1]})
    middle = next(iter(concepts.staging(scene, block, face)), None)
    if middle is None:
        return scene
    return scene.with_agents({scene.by_cell[middle]: scene.agents[agent], agent: middle})  # a team-mate makes room


def _gathered(scene: Scene, block: int, face: str, need: int) -> Scene:
    here = concepts.aligned_agents(scene, block, face)
    others = [agent for agent in scene.agents if agent not in here]
    others.sort(key=lambda agent: concepts.get_distance(scene, agent, block))
    for agent in others[: max(0, need - len(here))]:
        scene = _lined_up(scene, agent, block, face)
    return scene


def shifted(scene: Scene, block: int, direction: str, steps: int) -> Scene:
    """Return the scene after the team pushed a block: its chain and the agents behind it move along.

    The block stops where the grid ends, or where its chain becomes too heavy for the whole team.
    """
    steps = min(steps, room(scene, block, direction))
    while steps > 0 and not scene.blocks[block].delivered:
        leap = steps if _clear(scene, block, direction, steps) else 1
        moving = concepts.chain(scene, block, direction)
        weight = sum(scene.blocks[one].weight for one in moving)
        if weight > len(scene.agents) or any(room(scene, one, direction) == 0 for one in moving):
            break
        scene = _leap(scene, block, moving, direction, leap)
        steps -= leap
    return scene


def _clear(scene: Scene, block: int, direction: str, steps: int) -> bool:
    weight, row, col, _ = scene.blocks[block]
    rows, cols = DELTA[direction]
    top, left = (
        row + 1 + (weight * rows if rows > 0 else steps * rows),
        col + 1 + (weight * cols if cols > 0 else steps * cols),
    )
    height, width = (steps, weight) if rows else (weight, steps)
    return not scene.walls[top : top + height, left : left + width].any()


def _leap(scene: Scene, block: int, moving: list[int], direction: str, cells: int) -> Scene:
    rows, cols = DELTA[direction][0] * cells, DELTA[direction][1] * cells
    blocks = dict(scene.blocks)
    for one in moving:
        weight, row, col, _ = blocks[one]
        home = direction == "right" and col + cols + weight >= scene.side
        blocks[one] = Square(weight, -1, -1, True) if home else Square(weight, row + rows, col + cols)
    agents: dict[AgentId, Cell] = {}
    for agent in concepts.aligned_agents(scene, block, OPPOSITE[direction]):
        row, col = scene.agents[agent]
        agents[agent] = row + rows, col + cols
    return replace(scene, agents={**scene.agents, **agents}, blocks=blocks)
