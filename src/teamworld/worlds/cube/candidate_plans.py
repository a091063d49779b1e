"""Plans that make sense in CUBE, good and poor ones, and where to wait without being in the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from teamworld.language import Action, AgentId, Cell, Plan, prototype
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import ActionSchemas
from teamworld.worlds.cube.checks import after, check, reachable, room, shifted
from teamworld.worlds.cube.paths import distances, length, walk
from teamworld.worlds.cube.sight import area_side
from teamworld.worlds.cube.skills import targets
from teamworld.worlds.cube.symbolic_state import OPPOSITE, SymbolicState, entity, goal_name

#: Plans offered for each goal, at least.
FEWEST = 6
#: Prototypes among them, at least.
KINDS = 4
#: Cells by which a block is pushed out of its row, and back to get clear of a chain.
ASIDE = 2
#: Ticks of a pause before a push.
PAUSE = 2
#: Straight runs of one plan to explore.
LEGS = 4

Actions = tuple[Action, ...]


def delivery(state: SymbolicState, block: int, agent: AgentId, known: ActionSchemas) -> list[Plan]:
    """Return plans for delivering a block, at least six of at least four prototypes, in the order of their texts.

    A dry run in the state tells which plans would work if team-mates play their part. Where these are too few or
    too much alike, plans that cannot work now fill the list.
    """
    key = ("delivery", block, agent)
    if key not in state.memo:
        state.memo[key] = _delivery(state, block, agent, known)
    found: list[Plan] = state.memo[key]
    return found


def _delivery(state: SymbolicState, block: int, agent: AgentId, known: ActionSchemas) -> list[Plan]:
    chosen: list[Plan] = []
    rest: list[Plan] = []
    for actions in dict.fromkeys(_variants(state, block)):
        plan = Plan(actions, goal_name(block))
        (chosen if dry_run(state, agent, actions, known) is None else rest).append(plan)
    kinds = set(map(prototype, chosen))
    for plan in rest:
        if len(chosen) < FEWEST or (len(kinds) < KINDS and prototype(plan) not in kinds):
            chosen.append(plan)
            kinds.add(prototype(plan))
    return sorted(chosen, key=str)


def dry_run(state: SymbolicState, agent: AgentId, actions: Actions, known: ActionSchemas) -> str | None:
    """Return why a plan would fail if team-mates play their part, or None if it would not."""
    for number, action in enumerate(actions, start=1):
        verdict = check(state, agent, action, known)
        if not verdict.ok:
            return f"{action}: {verdict.reason}"
        if number < len(actions):
            state = after(state, agent, known.complete(action))
    return None


def _variants(state: SymbolicState, block: int) -> Iterator[Actions]:
    """Yield ways to deliver a block, whether or not they can work now."""
    team, steps = len(state.agents), state.distance(block)
    meet, push = _meet(state, block, "left"), _push(block, steps)
    align, wait = _align(block, "left"), Action("idle", (PAUSE,))
    gather = Action("wait_agents", (min(team, geometry.chain_weight(state, block, "left")),))
    yield (align, meet, push)
    yield (align, push)
    yield (align, wait, push)
    yield (gather, align, meet, push)
    yield (align, Action("yield_block", (entity(block), 1)), align, meet, push)
    yield (align, meet, _push(block, _short(state, block)))
    yield (align, _rendezvous(state, block, "left", team), push)
    if steps > 1:
        yield (align, meet, _push(block, steps // 2), meet, _push(block, steps - steps // 2))
    for face in ("up", "down"):
        yield from _aside(state, block, face)
    back = min(ASIDE, room(state, block, "left"))
    if back and geometry.chain_weight(state, block, "left") > state.blocks[block].weight:  # to get clear of the chain
        yield (_align(block, "right"), _meet(state, block, "right"), _push(block, back))
    yield (gather, align, push)


def _short(state: SymbolicState, block: int) -> int:
    """Return the steps to the next block in the lane, or a few if the lane is clear or there is contact."""
    weight, row, col, _ = state.blocks[block]
    ahead = [
        other.col - col - weight
        for _, other in state.open
        if other.col > col and other.row < row + weight and row < other.row + other.weight
    ]
    few = min(state.distance(block), 3)
    return min(ahead, default=few) or few


def _aside(state: SymbolicState, block: int, face: str) -> Iterator[Actions]:
    """Yield plans that push the block out of its row, and on to the goal from there."""
    away = OPPOSITE[face]
    cells = ASIDE
    if room(state, block, away) < cells:
        return
    start = (_align(block, face), _meet(state, block, face), _push(block, cells))
    then = shifted(state, block, away, cells)
    yield start
    yield (*start, _align(block, "left"), _meet(then, block, "left"), _push(block, then.distance(block)))


def _align(block: int, face: str) -> Action:
    return Action("move_to_block", (entity(block), face))


def _push(block: int, steps: int) -> Action:
    return Action("push_block", (entity(block), steps))


def _rendezvous(state: SymbolicState, block: int, face: str, count: int) -> Action:
    """Wait for partners as long as one may take to cross the grid (DR. WELL spec B15: scaled with K)."""
    return Action("rendezvous", (entity(block), face, count, state.side))


def _meet(state: SymbolicState, block: int, face: str) -> Action:
    return _rendezvous(state, block, face, min(len(state.agents), geometry.chain_weight(state, block, face)))


def lanes(state: SymbolicState) -> frozenset[Cell]:
    """Return the cells right of the open blocks, in their rows: an agent there is in the way (DR. WELL spec B13)."""
    key, memo = ("lanes",), state.ground.memo
    if key not in memo:
        memo[key] = frozenset(
            (row, col)
            for _, square in state.open
            for row in range(square.row, square.row + square.weight)
            for col in range(square.col + square.weight, state.side)
        )
    found: frozenset[Cell] = memo[key]
    return found


def standby(state: SymbolicState, agent: AgentId, radius: int | None = None) -> list[Plan]:
    """Return plans for an agent that is not needed now, best first: near the heaviest block, in nobody's lane.

    At a face of the largest open block the agent is at hand when it is needed; ``wait_agents`` brings it back
    into the conversation (DR. WELL spec B13). If no face is out of all lanes, or there is no block left, the agent
    walks to the nearest cell out of all lanes and waits there. Where agents do not see everything, plans to look at
    areas that nobody has seen come before all these.

    Args:
        state: Where everything stands.
        agent: Who is not needed.
        radius: How far agents see, in cells; None if they see everything.
    """
    waits = Action("wait_agents", (len(state.agents),))
    plans = [] if radius is None else explore(state, agent, radius)
    largest = sorted(state.open, key=lambda pair: -pair[1].weight)
    if largest:
        block = largest[0][0]
        for face in ("left", "up", "down", "right"):
            if _quiet(state, agent, block, face):
                plans.append(Plan((_align(block, face), waits)))
    leave = tuple(Action("move", (side, steps)) for side, steps in _way_out(state, agent))
    if leave or state.agents[agent] not in lanes(state):
        plans.append(Plan((*leave, waits)))
        plans.append(Plan((*leave, Action("idle", (5,)))))
    return plans or [Plan((Action("idle", (1,)),))]


def explore(state: SymbolicState, agent: AgentId, radius: int) -> list[Plan]:
    """Return plans to walk toward the nearest areas that nobody has seen, nearest first."""
    ways = []
    for area, (row, col) in state.unseen.items():
        side = range(area_side(radius))
        cells = [cell for i in side for j in side if state.usable(cell := (row + i, col + j))]
        field = distances(state, cells, through_agents=True)
        if (steps := length(field, state.agents[agent])) is not None:
            ways.append((steps, area, walk(field, state.agents[agent])))
    ways.sort()
    return [Plan(tuple(Action("move", run) for run in runs[:LEGS])) for _, _, runs in ways[:FEWEST] if runs]


def _quiet(state: SymbolicState, agent: AgentId, block: int, face: str) -> bool:
    """Return whether an agent can line up at a face with no cell of it in a lane."""
    away = replace(state, agents={mate: cell for mate, cell in state.agents.items() if mate != agent})
    cells = [cell for _, cell in targets(away, block, face)]
    return bool(cells) and not lanes(state).intersection(cells) and reachable(state, agent, block, face)


def _way_out(state: SymbolicState, agent: AgentId) -> list[tuple[str, int]]:
    """Return the straight runs to the nearest free cell out of all lanes; empty if the agent stands on one."""
    at = state.agents[agent]
    busy = lanes(state)
    if at not in busy:
        return []
    cells = ((row, col) for row in range(state.side) for col in range(state.side))
    quiet = tuple(cell for cell in cells if cell not in busy and state.free(cell))
    return walk(distances(state, quiet), at)
