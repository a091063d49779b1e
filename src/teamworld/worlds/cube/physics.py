"""The rules of motion: one step of E environments in one compiled call.

Order within a step:

1. Pushes, direction by direction: UP, DOWN, LEFT, RIGHT. Within a direction the block whose leading face is
   furthest ahead comes first, ties by id. Each block with at least one pusher on its own rear starts a chain: the
   closure of all blocks in contact ahead of it. The chain moves one cell when the force is at least the sum of the
   weights, no destination cell holds an agent or a wall, and none of its blocks has moved in this step.
2. The force is the number of agents that act in this direction in an unbroken straight line ending on a rear cell
   of any block of the chain (``force_scope="chain"``) or of the block that starts it (``"rear"``). On success
   those agents advance too, and blocks of the chain that reach the goal column are delivered at once.
3. Free moves of all other agents, into cells that are empty after the pushes and before any free move; among
   several agents the smallest index wins. No trains, swaps or rotations.

Cost: O(agents + edges of the blocks touched), never O(cells), except that a delivered block is wiped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.cube.state import (
    ALREADY_MOVED,
    AT_AGENTS,
    AT_BLOCKS,
    AT_EPISODES,
    AT_FROM,
    AT_PUSHED,
    AT_PUSHES,
    AT_SCRATCH,
    AT_WAITING,
    BLOCK_FIELDS,
    BLOCK_WEIGHT,
    BLOCKER,
    BLOCKS_LEFT,
    BY_AGENT,
    BY_WALL,
    COL,
    DELIVER_REWARD,
    DELIVERED_AT,
    DELIVERED_WEIGHT,
    DOWN,
    EPISODE_FIELDS,
    FORCE,
    GRID_SIZE,
    HEAD,
    MAX_STEPS,
    MOVED_AT,
    MOVED_DIR,
    MOVES,
    NUM_AGENTS,
    NUM_BLOCKS,
    NUM_ENVS,
    PUSH_FIELDS,
    RESULT,
    RIGHT,
    ROW,
    STEP,
    STEP_COST,
    STEPS_DONE,
    TOO_HEAVY,
    TOTAL,
    WALL,
    WEIGHT,
    WHOLE_CHAIN,
)
from teamworld.worlds.kernel_compiler import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.cube.state import CubeState


def step(state: CubeState, actions: npt.ArrayLike) -> None:
    """Advance every unfinished environment of ``state`` by one step, in place.

    Args:
        state: The environments.
        actions: Integers of shape (E, n), or (n,) for one environment: 0 STAY, 1 UP, 2 DOWN, 3 LEFT, 4 RIGHT;
            any other value acts as STAY. An int8 array is used without a copy.

    Raises:
        UserError: If the actions are not integers or their shape is wrong.
    """
    advance(as_int8(actions, state.num_envs, state.num_agents), *state.kernel_args)


class PushAttempt(NamedTuple):
    """What became of the last step's push on one block in one direction."""

    moved: bool
    """The block moved."""
    force: int
    """Units of force on the chain that the block starts (of the longer chain that took it along, if one did)."""
    weight: int
    """Sum of the weights of that chain."""
    too_heavy: bool
    """The force was less than the weight."""
    already_moved: bool
    """A block of the chain had moved in this step before."""
    blockers: tuple[str, ...]
    """Kinds of things that held a destination cell: ``"wall"``, ``"agent"``."""
    blocker: int
    """Grid code of one of the things in the way, 0 if none: see ``state.name_of``."""


def push_attempt(state: CubeState, env: int, block: int, direction: int) -> PushAttempt | None:
    """Return the outcome of the last step's push on ``block`` in ``direction``, None if nobody pushed it so.

    Args:
        state: The environments.
        env: Which environment.
        block: Block id.
        direction: UP, DOWN, LEFT or RIGHT.
    """
    record = state.pushes[env, block, direction - 1]
    if state.steps[env] == 0 or record[STEP] != state.steps[env]:
        return None
    result = int(record[RESULT])
    kinds = ((BY_WALL, "wall"), (BY_AGENT, "agent"))
    return PushAttempt(
        moved=result == 0,
        force=int(record[TOTAL]),
        weight=int(record[WEIGHT]),
        too_heavy=bool(result & TOO_HEAVY),
        already_moved=bool(result & ALREADY_MOVED),
        blockers=tuple(kind for bit, kind in kinds if result & bit),
        blocker=int(record[BLOCKER]),
    )


def as_int8(actions: npt.ArrayLike, num_envs: int, num_agents: int) -> npt.NDArray[np.int8]:
    """Return the actions as int8 of shape (E, n); what int8 cannot hold becomes STAY, not another action.

    Raises:
        UserError: If the actions are not integers or their shape is wrong.
    """
    try:
        array = np.asarray(actions)
    except ValueError:
        raise UserError("each action must be one integer from 0 to 4, got lists of different lengths") from None
    if array.shape != (num_envs, num_agents) and not (num_envs == 1 and array.shape == (num_agents,)):
        raise UserError(f"actions must have shape ({num_envs}, {num_agents}), got {array.shape}")
    if array.dtype is not _INT8:
        if array.dtype.kind not in "iu":
            raise UserError(f"actions must be integers (0 STAY, 1 UP, 2 DOWN, 3 LEFT, 4 RIGHT), got {array.dtype}")
        array = np.where((array < 0) | (array > RIGHT), 0, array).astype(np.int8)
    if not array.flags.carray:  # numba would compile again for strided or read-only arrays
        array = array.copy(order="C")
    return array.reshape(num_envs, num_agents)


_INT8 = np.dtype(np.int8)


#: An unsigned index spares numba the test for negative ones: a step of the kernel takes 20-40 % less time.
u = np.uint64


# One function, although long: numba spends about 180 ns on each call that passes this many arrays, more than a
# whole step of a small team, so the loop over environments and every phase stand inside (numba issue 2345).
@compiled
def advance(
    actions: npt.NDArray[np.int8],
    grid: npt.NDArray[np.int16],
    arena: npt.NDArray[np.int32],
    rewards: npt.NDArray[np.float64],
    ended: npt.NDArray[np.bool_],
) -> int:
    """Do ``step`` for int8 actions of shape (E, n) and ``CubeState.kernel_args``.

    Returns:
        How many environments were finished before and passed over; ``CubeState.waiting`` begins with their numbers.
    """
    num_envs = int(arena[NUM_ENVS])
    num_agents = int(arena[NUM_AGENTS])
    num_blocks = int(arena[NUM_BLOCKS])
    grid_size = int(arena[GRID_SIZE])
    max_steps = int(arena[MAX_STEPS])
    whole_chain = arena[WHOLE_CHAIN] != 0
    step_cost = rewards[STEP_COST]
    deliver_reward = rewards[DELIVER_REWARD]
    stride = grid_size + 2
    # Sections of the work space: the table of moves; per agent its move, the next
    # front agent of the same block, the length of its line; the agents that face a block; pushed blocks in order; the
    # chain; a mark per block.
    at_moves = int(arena[AT_SCRATCH])
    at_move = at_moves + MOVES
    at_next = at_move + num_agents
    at_length = at_next + num_agents
    at_facing = at_length + num_agents
    at_order = at_facing + num_agents + 1
    at_chain = at_order + num_agents
    at_mark = at_chain + num_blocks
    at_episodes = int(arena[AT_EPISODES])
    at_agents = int(arena[AT_AGENTS])
    at_from = int(arena[AT_FROM])
    at_pushed = int(arena[AT_PUSHED])
    at_blocks = int(arena[AT_BLOCKS])
    at_pushes = int(arena[AT_PUSHES])
    at_waiting = int(arena[AT_WAITING])
    waiting = 0
    for env in range(num_envs):
        episode = at_episodes + env * EPISODE_FIELDS
        rewards[u(DELIVER_REWARD + 1 + env)] = 0.0
        arena[u(episode + DELIVERED_WEIGHT)] = 0
        if ended[u(env)] or ended[u(num_envs + env)]:
            arena[u(at_waiting + waiting)] = env
            waiting += 1
            continue
        grid0 = env * stride * stride
        agent0 = at_agents + env * num_agents
        from0 = at_from + env * num_agents
        pushed0 = at_pushed + env * num_agents
        block0 = at_blocks + env * num_blocks * BLOCK_FIELDS
        push0 = at_pushes + env * num_blocks * 4 * PUSH_FIELDS
        step_number = arena[u(episode + STEPS_DONE)] + 1

        # Who faces a block? One record per (block, direction): the force of the lines that end on it, and a linked
        # list of their front agents. Force cannot change before its direction is processed, unless the block
        # itself moves: agents of a line act in one direction only, and nothing can slip between them and the block.
        facing = 0
        for i in range(num_agents):
            ahead = arena[u(at_moves + (int(actions[u(env), u(i)]) & (MOVES - 1)))]  # 0 for what is not a direction
            arena[u(at_move + i)] = ahead
            arena[u(at_facing + facing)] = i
            facing += grid[u(grid0 + arena[u(agent0 + i)] + ahead)] > 0
        count = 0
        for k in range(facing):
            i = int(arena[u(at_facing + k)])
            action = int(actions[u(env), u(i)])
            ahead = int(arena[u(at_move + i)])
            cell = grid0 + int(arena[u(agent0 + i)])
            block = int(grid[u(cell + ahead)]) - 1
            record = push0 + (block * 4 + action - 1) * PUSH_FIELDS
            if arena[u(record + STEP)] != step_number:
                arena[u(record + STEP)] = step_number
                arena[u(record + FORCE)] = 0
                arena[u(record + HEAD)] = -1
                # Cells from the leading face to the wall ahead. One number sorts by direction, this, and id.
                at = block0 + block * BLOCK_FIELDS
                gap = int(arena[u(at + (ROW if action <= DOWN else COL))])
                if action in (DOWN, RIGHT):
                    gap = grid_size - gap - int(arena[u(at + BLOCK_WEIGHT)])
                arena[u(at_order + count)] = ((action - 3) << 30) + (gap << 15) + block
                count += 1
            length = 1
            behind = cell - ahead
            code = int(grid[u(behind)])
            while code < 0 and code != WALL and actions[u(env), u(-code - 1)] == action:
                length += 1
                behind -= ahead
                code = int(grid[u(behind)])
            arena[u(at_next + i)] = arena[u(record + HEAD)]
            arena[u(at_length + i)] = length
            arena[u(record + HEAD)] = i
            arena[u(record + FORCE)] += length

        if count > 1:
            # Shell sort: in place, short, and quick enough when a thousand blocks are pushed.
            leap = 1
            while leap < count // 3:
                leap = 3 * leap + 1
            while leap > 0:
                for k in range(at_order + leap, at_order + count):
                    key = arena[u(k)]
                    m = k
                    while m - leap >= at_order and arena[u(m - leap)] > key:
                        arena[u(m)] = arena[u(m - leap)]
                        m -= leap
                    arena[u(m)] = key
                leap //= 3

        for k in range(count):
            key = int(arena[u(at_order + k)])
            start = key & 0x7FFF
            direction = (key >> 30) + 3
            ahead = int(arena[u(at_moves + direction)])
            along = 1 if direction <= DOWN else stride
            record = push0 + (start * 4 + direction - 1) * PUSH_FIELDS
            # The chain: closure of contacts ahead, breadth first.
            arena[u(at_chain)] = start
            size = 1
            done = 0
            weight = 0
            force = 0
            result = 0
            blocker = 0
            while done < size:
                b = arena[u(at_chain + done)]
                done += 1
                at = block0 + b * BLOCK_FIELDS
                side = arena[u(at + BLOCK_WEIGHT)]
                weight += side
                if arena[u(at + MOVED_AT)] == step_number:
                    result |= ALREADY_MOVED
                    blocker = b + 1
                if whole_chain or b == start:
                    other = push0 + (b * 4 + direction - 1) * PUSH_FIELDS
                    if arena[u(other + STEP)] == step_number:
                        force += arena[u(other + FORCE)]
                edge = grid0 + (arena[u(at + ROW)] + 1) * stride + arena[u(at + COL)] + 1
                edge += side * ahead if ahead > 0 else ahead
                for _ in range(side):
                    code = grid[u(edge)]
                    edge += along
                    if code > 0:
                        if arena[u(at_mark + code - 1)] == 0:
                            arena[u(at_mark + code - 1)] = 1
                            arena[u(at_chain + size)] = code - 1
                            size += 1
                    elif code < 0:
                        result |= BY_WALL if code == WALL else BY_AGENT
                        blocker = code
            for c in range(1, size):
                arena[u(at_mark + arena[u(at_chain + c)])] = 0
            if force < weight:
                result |= TOO_HEAVY
            arena[u(record + TOTAL)] = force
            arena[u(record + WEIGHT)] = weight
            arena[u(record + RESULT)] = result
            arena[u(record + BLOCKER)] = blocker
            if result != 0:
                continue

            # Only edges change. A trailing edge may hold the next block's leading edge already: that one stays.
            for c in range(size):
                b = int(arena[u(at_chain + c)])
                at = block0 + b * BLOCK_FIELDS
                side = int(arena[u(at + BLOCK_WEIGHT)])
                trailing = grid0 + (int(arena[u(at + ROW)]) + 1) * stride + int(arena[u(at + COL)]) + 1
                if ahead < 0:
                    trailing -= (side - 1) * ahead
                leading = trailing + side * ahead
                for _ in range(side):
                    code = grid[u(trailing)]
                    grid[u(trailing)] = 0 if code == b + 1 else code
                    grid[u(leading)] = b + 1
                    trailing += along
                    leading += along
                arena[u(at + (ROW if direction <= DOWN else COL))] += -1 if ahead < 0 else 1
                arena[u(at + MOVED_AT)] = step_number
                arena[u(at + MOVED_DIR)] = direction
                # Delivery: the block goes as soon as one of its cells is in the goal column.
                if int(arena[u(at + COL)]) + side == grid_size:
                    arena[u(at + DELIVERED_AT)] = step_number
                    arena[u(episode + BLOCKS_LEFT)] -= 1
                    arena[u(episode + DELIVERED_WEIGHT)] += side
                    cell = grid0 + (int(arena[u(at + ROW)]) + 1) * stride + grid_size - side + 1
                    for _ in range(side):
                        for inner in range(side):
                            grid[u(cell + inner)] = 0
                        cell += stride

            # Lines advance from the front, each agent into the cell that was just left.
            for c in range(size if whole_chain else 1):
                other = push0 + (arena[u(at_chain + c)] * 4 + direction - 1) * PUSH_FIELDS
                if arena[u(other + STEP)] != step_number:
                    continue
                if c > 0:
                    arena[u(other + TOTAL)] = force
                    arena[u(other + WEIGHT)] = weight
                    arena[u(other + RESULT)] = 0
                front = arena[u(other + HEAD)]
                while front >= 0:
                    cell = arena[u(agent0 + front)]
                    for _ in range(arena[u(at_length + front)]):
                        code = grid[u(grid0 + cell)]
                        member = -code - 1
                        grid[u(grid0 + cell + ahead)] = code
                        arena[u(agent0 + member)] = cell + ahead
                        arena[u(pushed0 + member)] = step_number
                        arena[u(at_move + member)] = 0
                        cell -= ahead
                    grid[u(grid0 + cell + ahead)] = 0
                    front = arena[u(at_next + front)]

        # Free moves. A cell that is being left keeps its code until all have moved, so nobody can enter it, and a
        # cell just entered is taken, so the smallest index wins. Written without branches: which random agent can
        # move is a coin toss to the branch predictor. An agent that stays or has pushed aims at its own cell.
        for i in range(num_agents):
            cell = arena[u(agent0 + i)]
            target = cell + arena[u(at_move + i)]
            free = grid[u(grid0 + target)] == 0
            goes_to = target if free else cell
            grid[u(grid0 + goes_to)] = -(i + 1)
            arena[u(agent0 + i)] = goes_to
            arena[u(from0 + i)] = cell
        for i in range(num_agents):
            cell = arena[u(from0 + i)]
            grid[u(grid0 + cell)] = -(i + 1) if arena[u(agent0 + i)] == cell else 0

        arena[u(episode + STEPS_DONE)] = step_number
        reward = deliver_reward * arena[u(episode + DELIVERED_WEIGHT)] / num_agents - step_cost
        rewards[u(DELIVER_REWARD + 1 + env)] = reward
        if arena[u(episode + BLOCKS_LEFT)] == 0:
            ended[u(env)] = True
        elif step_number >= max_steps:
            ended[u(num_envs + env)] = True
    return waiting
