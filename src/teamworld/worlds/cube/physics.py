"""The rules of motion: one step of E environments in one compiled call (CUBE spec A7, A8, B1-B6).

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

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numba
import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.cube.state import (
    ALREADY_MOVED,
    BLOCK_FIELDS,
    BLOCK_WEIGHT,
    BLOCKER,
    BLOCKS_LEFT,
    BY_AGENT,
    BY_WALL,
    COL,
    DELIVERED_AT,
    DELIVERED_WEIGHT,
    DOWN,
    EPISODE_FIELDS,
    FORCE,
    HEAD,
    LEFT,
    MOVED_AT,
    MOVED_DIR,
    MOVES,
    PUSH_FIELDS,
    PUSHED,
    RESULT,
    RIGHT,
    ROW,
    STAY,
    STEP,
    STEPS,
    STEPS_DONE,
    TOO_HEAVY,
    TOTAL,
    UP,
    WALL,
    WEIGHT,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from teamworld.worlds.cube.state import CubeState

Kernel = TypeVar("Kernel", bound="Callable[..., Any]")


def compiled(function: Kernel) -> Kernel:
    """Compile on first call, keep the machine code on disk, and release the interpreter lock while running.

    The code is kept in ``__pycache__`` beside the source, else in the user's cache directory, or where
    ``NUMBA_CACHE_DIR`` says. If none can be written, every process compiles anew.
    """
    try:
        kernel = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = numba.njit(nogil=True)(function)
    return cast("Kernel", kernel)


def step(state: CubeState, actions: npt.ArrayLike) -> None:
    """Advance every unfinished environment of ``state`` by one step, in place.

    Args:
        state: The environments.
        actions: Integers of shape (E, n), or (n,) for one environment: 0 STAY, 1 UP, 2 DOWN, 3 LEFT, 4 RIGHT;
            any other value acts as STAY (CUBE spec A6). An int8 array is used without a copy.

    Raises:
        UserError: If the actions are not integers or their shape is wrong.
    """
    _step(_flat_int8(actions, state.num_envs, state.num_agents), *state.kernel_args)


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
    """A block of the chain had moved in this step before (CUBE spec B4)."""
    blockers: tuple[str, ...]
    """Kinds of things that held a destination cell: ``"wall"``, ``"agent"``."""
    blocker: int
    """Grid code of one of the things in the way, 0 if none: see ``state.name_of``."""


class PushReport(NamedTuple):
    """What a push on one block in one direction would meet now."""

    chain: tuple[int, ...]
    """Ids of the blocks that would have to move together, the pushed block first."""
    weight: int
    """Sum of their weights: the force needed."""
    pushers: tuple[int, ...]
    """Indices of the agents whose force counts, ascending; see ``push_report``."""
    blocked: dict[tuple[int, int], int]
    """Destination cells (row, column) that are not free: grid code of what holds each, an agent or WALL."""

    @property
    def force(self) -> int:
        """Units of force, one per pusher."""
        return len(self.pushers)

    @property
    def moves(self) -> bool:
        """Whether the chain would move, if none of its blocks has moved in the same step before."""
        return self.force >= self.weight and not self.blocked


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


def push_report(
    state: CubeState, env: int, block: int, direction: int, actions: Sequence[int] | None = None
) -> PushReport:
    """Analyse a push on ``block`` in ``direction`` in the present positions (not for hot paths).

    Args:
        state: The environments.
        env: Which environment.
        block: Id of a block that is not delivered.
        direction: UP, DOWN, LEFT or RIGHT.
        actions: Action of each agent. If None, every agent that stands in an unbroken line behind a rear face
            counts as a pusher, whatever it is about to do.

    Raises:
        UserError: If the block has been delivered.
    """
    if state.delivered_at[env, block]:
        raise UserError(f"block {block} has been delivered: ask about a block that is still on the grid")
    dr, dc = STEPS[direction]
    chain, blocked, pushers = [block], dict[tuple[int, int], int](), list[int]()
    for b in chain:  # grows while it is walked
        for row, col in face_cells(state, env, b, direction):
            code = state.code_at(row, col, env)
            if code > 0 and code - 1 not in chain:
                chain.append(code - 1)
            elif code < 0:
                blocked[row, col] = code
    for b in chain if state.rules.force_scope == "chain" else chain[:1]:
        for row, col in face_cells(state, env, b, _OPPOSITE[direction]):
            code = state.code_at(row, col, env)
            while WALL < code < 0 and (actions is None or actions[-code - 1] == direction):
                pushers.append(-code - 1)
                row, col = row - dr, col - dc
                code = state.code_at(row, col, env)
    weight = int(state.block_weight[env, chain].sum())
    return PushReport(tuple(chain), weight, tuple(sorted(pushers)), blocked)


_OPPOSITE = (STAY, DOWN, UP, RIGHT, LEFT)


def face_cells(state: CubeState, env: int, block: int, direction: int) -> list[tuple[int, int]]:
    """Return the (row, column) cells just outside a block's face in ``direction``, in rising order.

    Cells of the frame, one outside the grid, are among them when the block stands at a wall.
    """
    row, col = int(state.block_row[env, block]), int(state.block_col[env, block])
    side = int(state.block_weight[env, block])
    if direction in (UP, DOWN):
        return [(row - 1 if direction == UP else row + side, col + k) for k in range(side)]
    return [(row + k, col - 1 if direction == LEFT else col + side) for k in range(side)]


def _flat_int8(actions: npt.ArrayLike, num_envs: int, num_agents: int) -> npt.NDArray[np.int8]:
    """Return the actions flat, as int8; what int8 cannot hold becomes STAY, not another action."""
    given = np.asarray(actions)
    if given.shape != (num_envs, num_agents) and not (num_envs == 1 and given.shape == (num_agents,)):
        raise UserError(f"actions must have shape ({num_envs}, {num_agents}), got {given.shape}")
    if given.dtype is not _INT8:
        if given.dtype.kind not in "iu":
            raise UserError(f"actions must be integers (0 STAY, 1 UP, 2 DOWN, 3 LEFT, 4 RIGHT), got {given.dtype}")
        given = np.where((given < 0) | (given > RIGHT), 0, given).astype(np.int8)
    if not given.flags.carray:  # numba would compile again for strided or read-only arrays
        given = given.copy(order="C")
    return given.reshape(-1)


_INT8 = np.dtype(np.int8)


#: An unsigned index spares numba the test for negative ones: a step of the kernel takes 20-40 % less time.
u = np.uint64


# One function, although long: numba spends about 180 ns on each call that passes this many arrays, more than a
# whole step of a small team, so the loop over environments and every phase stand inside (numba issue 2345).
@compiled
def _step(
    actions: npt.NDArray[np.int8],
    grid: npt.NDArray[np.int16],
    agent_cell: npt.NDArray[np.int32],
    agent_result: npt.NDArray[np.int8],
    blocks: npt.NDArray[np.int32],
    pushes: npt.NDArray[np.int32],
    episodes: npt.NDArray[np.int32],
    reward: npt.NDArray[np.float64],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
    scratch: npt.NDArray[np.int64],
    num_agents: int,
    num_blocks: int,
    grid_size: int,
    max_steps: int,
    step_cost: float,
    deliver_reward: float,
    whole_chain: bool,
) -> None:
    stride = grid_size + 2
    # Sections of the scratch array: the table of moves; blocks pushed per direction; per agent its move, the next
    # front agent of the same block, the length of its line, a cell left behind; pushed blocks in order, per
    # direction; the chain; a mark per block, and the number last used as a mark.
    at_count = MOVES
    at_move = at_count + 8
    at_next = at_move + num_agents
    at_length = at_next + num_agents
    at_left = at_length + num_agents
    at_order = at_left + num_agents
    at_chain = at_order + 4 * num_agents
    at_mark = at_chain + num_blocks
    at_serial = at_mark + num_blocks
    serial = scratch[u(at_serial)]
    for env in range(reward.shape[0]):
        reward[env] = 0.0
        episodes[u(env * EPISODE_FIELDS + DELIVERED_WEIGHT)] = 0
        if terminated[env] or truncated[env]:
            continue
        grid0 = env * stride * stride
        agent0 = env * num_agents
        block0 = env * num_blocks * BLOCK_FIELDS
        push0 = env * num_blocks * 4 * PUSH_FIELDS
        now = episodes[u(env * EPISODE_FIELDS + STEPS_DONE)] + 1

        # Who faces a block? One record per (block, direction): the force of the lines that end on it, and a linked
        # list of their front agents. Force cannot change before its direction is processed, unless the block
        # itself moves: agents of a line act in one direction only, and nothing can slip between them and the block.
        for i in range(num_agents):
            action = actions[u(agent0 + i)]
            ahead = scratch[u(action & (MOVES - 1))]  # 0 for STAY and for anything out of range
            cell = agent_cell[u(agent0 + i)]
            scratch[u(at_move + i)] = ahead
            agent_result[u(agent0 + i)] = 0
            code = grid[u(grid0 + cell + ahead)]
            if code <= 0:
                continue
            block = code - 1
            record = push0 + (block * 4 + action - 1) * PUSH_FIELDS
            if pushes[u(record + STEP)] != now:
                pushes[u(record + STEP)] = now
                pushes[u(record + FORCE)] = 0
                pushes[u(record + HEAD)] = -1
                scratch[u(at_order + (action - 1) * num_agents + scratch[u(at_count + action)])] = block
                scratch[u(at_count + action)] += 1
            length = 1
            behind = grid0 + cell - ahead
            code = grid[u(behind)]
            while code < 0 and code != WALL and actions[u(agent0 - code - 1)] == action:
                length += 1
                behind -= ahead
                code = grid[u(behind)]
            scratch[u(at_next + i)] = pushes[u(record + HEAD)]
            scratch[u(at_length + i)] = length
            pushes[u(record + HEAD)] = i
            pushes[u(record + FORCE)] += length

        for direction in range(UP, RIGHT + 1):
            first = at_order + (direction - 1) * num_agents
            count = scratch[u(at_count + direction)]
            if count == 0:
                continue
            scratch[u(at_count + direction)] = 0
            ahead = scratch[u(direction)]
            along = 1 if direction <= DOWN else stride
            drow, dcol = STEPS[direction]
            if count > 1:
                # Front-most first: sort by (distance of the leading face to the far wall, id), as one number.
                for k in range(first, first + count):
                    b = scratch[u(k)]
                    at = block0 + b * BLOCK_FIELDS
                    if direction == UP:
                        gap = blocks[u(at + ROW)]
                    elif direction == DOWN:
                        gap = grid_size - blocks[u(at + ROW)] - blocks[u(at + BLOCK_WEIGHT)]
                    elif direction == LEFT:
                        gap = blocks[u(at + COL)]
                    else:
                        gap = grid_size - blocks[u(at + COL)] - blocks[u(at + BLOCK_WEIGHT)]
                    scratch[u(k)] = (np.int64(gap) << 32) | b
                # Shell sort: in place, short, and quick enough when a thousand blocks are pushed.
                leap = 1
                while leap < count // 3:
                    leap = 3 * leap + 1
                while leap > 0:
                    for k in range(first + leap, first + count):
                        key = scratch[u(k)]
                        m = k
                        while m - leap >= first and scratch[u(m - leap)] > key:
                            scratch[u(m)] = scratch[u(m - leap)]
                            m -= leap
                        scratch[u(m)] = key
                    leap //= 3

            for k in range(first, first + count):
                start = scratch[u(k)] & 0xFFFFFFFF
                record = push0 + (start * 4 + direction - 1) * PUSH_FIELDS
                # The chain: closure of contacts ahead, breadth first.
                serial += 1
                scratch[u(at_mark + start)] = serial
                scratch[u(at_chain)] = start
                size = 1
                done = 0
                weight = 0
                force = 0
                result = 0
                blocker = 0
                while done < size:
                    b = scratch[u(at_chain + done)]
                    done += 1
                    at = block0 + b * BLOCK_FIELDS
                    side = blocks[u(at + BLOCK_WEIGHT)]
                    weight += side
                    if blocks[u(at + MOVED_AT)] == now:
                        result |= ALREADY_MOVED
                        blocker = b + 1
                    if whole_chain or b == start:
                        other = push0 + (b * 4 + direction - 1) * PUSH_FIELDS
                        if pushes[u(other + STEP)] == now:
                            force += pushes[u(other + FORCE)]
                    edge = grid0 + (blocks[u(at + ROW)] + 1) * stride + blocks[u(at + COL)] + 1
                    edge += side * ahead if ahead > 0 else ahead
                    for _ in range(side):
                        code = grid[u(edge)]
                        edge += along
                        if code > 0:
                            if scratch[u(at_mark + code - 1)] != serial:
                                scratch[u(at_mark + code - 1)] = serial
                                scratch[u(at_chain + size)] = code - 1
                                size += 1
                        elif code < 0:
                            result |= BY_WALL if code == WALL else BY_AGENT
                            blocker = code
                if force < weight:
                    result |= TOO_HEAVY
                pushes[u(record + TOTAL)] = force
                pushes[u(record + WEIGHT)] = weight
                pushes[u(record + RESULT)] = result
                pushes[u(record + BLOCKER)] = blocker
                if result != 0:
                    continue

                # Only edges change. All trailing edges are cleared before any leading edge is written, because
                # a block's leading edge is the trailing edge of the block in front of it.
                for c in range(size):
                    at = block0 + scratch[u(at_chain + c)] * BLOCK_FIELDS
                    side = blocks[u(at + BLOCK_WEIGHT)]
                    edge = grid0 + (blocks[u(at + ROW)] + 1) * stride + blocks[u(at + COL)] + 1
                    if ahead < 0:
                        edge -= (side - 1) * ahead
                    for _ in range(side):
                        grid[u(edge)] = 0
                        edge += along
                for c in range(size):
                    b = scratch[u(at_chain + c)]
                    at = block0 + b * BLOCK_FIELDS
                    side = blocks[u(at + BLOCK_WEIGHT)]
                    edge = grid0 + (blocks[u(at + ROW)] + 1) * stride + blocks[u(at + COL)] + 1
                    edge += side * ahead if ahead > 0 else ahead
                    for _ in range(side):
                        grid[u(edge)] = b + 1
                        edge += along
                    blocks[u(at + ROW)] += drow
                    blocks[u(at + COL)] += dcol
                    blocks[u(at + MOVED_AT)] = now
                    blocks[u(at + MOVED_DIR)] = direction

                # Lines advance from the front, each agent into the cell that was just left.
                for c in range(size if whole_chain else 1):
                    other = push0 + (scratch[u(at_chain + c)] * 4 + direction - 1) * PUSH_FIELDS
                    if pushes[u(other + STEP)] != now:
                        continue
                    pushes[u(other + TOTAL)] = force
                    pushes[u(other + WEIGHT)] = weight
                    pushes[u(other + RESULT)] = 0
                    front = pushes[u(other + HEAD)]
                    while front >= 0:
                        cell = agent_cell[u(agent0 + front)]
                        for _ in range(scratch[u(at_length + front)]):
                            code = grid[u(grid0 + cell)]
                            mate = -code - 1
                            grid[u(grid0 + cell + ahead)] = code
                            agent_cell[u(agent0 + mate)] = cell + ahead
                            agent_result[u(agent0 + mate)] = PUSHED
                            scratch[u(at_move + mate)] = 0
                            cell -= ahead
                        grid[u(grid0 + cell + ahead)] = 0
                        front = scratch[u(at_next + front)]

                # Delivery (CUBE spec A8): the block goes as soon as one of its cells is in the goal column.
                for c in range(size):
                    at = block0 + scratch[u(at_chain + c)] * BLOCK_FIELDS
                    side = blocks[u(at + BLOCK_WEIGHT)]
                    if blocks[u(at + COL)] + side < grid_size:
                        continue
                    blocks[u(at + DELIVERED_AT)] = now
                    episodes[u(env * EPISODE_FIELDS + BLOCKS_LEFT)] -= 1
                    episodes[u(env * EPISODE_FIELDS + DELIVERED_WEIGHT)] += side
                    edge = grid0 + (blocks[u(at + ROW)] + 1) * stride + blocks[u(at + COL)] + 1
                    for _ in range(side):
                        for inner in range(side):
                            grid[u(edge + inner)] = 0
                        edge += stride

        # Free moves. A cell that is being left keeps its code until all have moved, so nobody can enter it, and a
        # cell just entered is taken, so the smallest index wins. Written without branches: which random agent can
        # move is a coin toss to the branch predictor. An agent that stays or has pushed aims at its own cell.
        left = 0
        for i in range(num_agents):
            cell = agent_cell[u(agent0 + i)]
            target = cell + scratch[u(at_move + i)]
            free = grid[u(grid0 + target)] == 0
            goes_to = target if free else cell
            grid[u(grid0 + goes_to)] = -(i + 1)
            agent_cell[u(agent0 + i)] = goes_to
            agent_result[u(agent0 + i)] |= free
            scratch[u(at_left + left)] = cell
            left += free
        for k in range(left):
            grid[u(grid0 + scratch[u(at_left + k)])] = 0

        episodes[u(env * EPISODE_FIELDS + STEPS_DONE)] = now
        reward[env] = deliver_reward * episodes[u(env * EPISODE_FIELDS + DELIVERED_WEIGHT)] / num_agents - step_cost
        if episodes[u(env * EPISODE_FIELDS + BLOCKS_LEFT)] == 0:
            terminated[env] = True
        elif now >= max_steps:
            truncated[env] = True
    scratch[u(at_serial)] = serial
