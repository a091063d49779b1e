"""What a CUBE world is made of: a layout to start from, and the arrays of many environments.

A ``Layout`` is a value that a person can write down. A ``CubeState`` holds E environments of equal
shape as flat numpy arrays, so that one kernel call steps them all (see ``physics``).

Coordinates are (row, column) with the origin at the top left; rows grow downward, columns rightward,
and the goal is the right-most column. The arrays store a position as a *cell*: an index
into the grid with a wall of one cell around it, ``cell = (row + 1) * stride + column + 1``,
``stride = K + 2``. The wall spares the kernel every test of bounds.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from teamworld.errors import UserError, brief, suggest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

ForceScope = Literal["chain", "rear"]

# The codes below are frozen into the compiled kernels, and numba's cache looks at the kernel's own file only:
# who changes one of them must also touch physics.py and observe.py.

#: The primitive actions; the four directions are also the values of ``moved_dir``.
STAY, UP, DOWN, LEFT, RIGHT = range(5)
ACTIONS = ("STAY", "UP", "DOWN", "LEFT", "RIGHT")
#: (rows, columns) that each action moves.
STEPS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))

#: Grid codes: 0 is empty, block b is b + 1, agent i is -(i + 1), and the frame around the grid is WALL.
WALL = -32768

#: Values of ``CubeState.agent_result``: did not move, moved by itself, advanced behind a block that it pushed.
STAYED, WALKED, PUSHED = range(3)

#: Fields of one record of ``blocks`` and of ``episodes``; records are padded to powers of two.
ROW, COL, BLOCK_WEIGHT, MOVED_AT, MOVED_DIR, DELIVERED_AT = range(6)
BLOCK_FIELDS = 8
STEPS_DONE, BLOCKS_LEFT, DELIVERED_WEIGHT = range(3)
EPISODE_FIELDS = 4
#: The kernel's table of moves is indexed by the low byte of an action, so that odd actions need no test.
MOVES = 256

#: What stands at the head of ``CubeState.arena``: sizes, rules, and where each section begins.
(
    NUM_ENVS, NUM_AGENTS, NUM_BLOCKS, GRID_SIZE, MAX_STEPS, WHOLE_CHAIN,
    AT_EPISODES, AT_AGENTS, AT_FROM, AT_PUSHED, AT_BLOCKS, AT_PUSHES, AT_WAITING, AT_SCRATCH,
) = range(14)  # fmt: skip
HEADER = 16
#: What stands at the head of ``CubeState.rewards``.
STEP_COST, DELIVER_REWARD = range(2)

#: Fields of one record of ``pushes``; a record is about this step only when its STEP is the step count.
STEP, FORCE, HEAD, TOTAL, WEIGHT, RESULT, BLOCKER = range(7)
PUSH_FIELDS = 8
#: Bits of a push record's RESULT; no bit set means that the block moved.
TOO_HEAVY, BY_WALL, BY_AGENT, ALREADY_MOVED = 1, 2, 4, 8

#: Smallest grid side, the largest whose agents fit the 16-bit codes, and how many blocks fit them.
MIN_GRID, MAX_GRID, MAX_BLOCKS = 5, 32_766, 32_767


@dataclass(frozen=True, slots=True)
class Block:
    """A square block; its weight is the length of its side and the force that moves it."""

    weight: int
    """Side in cells, and units of force needed to move it one cell; at least 1."""
    row: int
    """Row of the top-left cell."""
    col: int
    """Column of the top-left cell."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands at the start of an episode; checked when made.

    Blocks may touch walls and one another, and agents may start on any free cell, the goal column included.
    A layout without blocks is allowed; its episode ends at the first step.

    Raises:
        UserError: If the layout is impossible: grid under 5 cells, no agent or more agents than rows, anything
            outside the grid, two entities on one cell, a block in the goal column, a weight under 1, more blocks
            than 32,767, or a number that is not an integer.
    """

    grid_size: int
    """Side K of the square grid, in cells."""
    agents: tuple[tuple[int, int], ...]
    """(row, column) of each agent; agent i is ``agent_<i>``."""
    blocks: tuple[Block, ...]
    """The blocks; a block's id is its place here."""

    def __post_init__(self) -> None:
        """Turn integer-like numbers into ints, then check everything."""
        try:
            side = _integer(self.grid_size)
            agents = tuple((_integer(row), _integer(col)) for row, col in self.agents)
            blocks = tuple(Block(*map(_integer, (block.weight, block.row, block.col))) for block in self.blocks)
        except (TypeError, ValueError, AttributeError):
            raise UserError(
                "a layout takes a grid_size, agents as a sequence of (row, column) pairs and blocks as a sequence of "
                f"Block(weight, row, col), all whole numbers; got {brief((self.grid_size, self.agents, self.blocks))}"
            ) from None
        for name, value in (("grid_size", side), ("agents", agents), ("blocks", blocks)):
            object.__setattr__(self, name, value)  # the documented way to normalise a frozen dataclass
        _check(self)

    @property
    def weights(self) -> tuple[int, ...]:
        """Weight of each block, by id."""
        return tuple(block.weight for block in self.blocks)


def _integer(value: object) -> int:
    """Return a whole number as an int; a TypeError refuses bools, floats and the rest."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    return operator.index(value)  # type: ignore[arg-type]  # the failure is the test


def _check(layout: Layout) -> None:
    """Refuse an impossible layout; the entities' numbers are ints already."""
    side = layout.grid_size
    if not MIN_GRID <= side <= MAX_GRID:
        raise UserError(f"grid_size must be from {MIN_GRID} to {MAX_GRID}, got {side}")
    if not 1 <= len(layout.agents) <= side:
        raise UserError(
            f"a grid of {side} x {side} takes 1 to {side} agents (at most one per row), got {len(layout.agents)}: "
            "change the number of agents or grid_size"
        )
    if len(layout.blocks) > MAX_BLOCKS:
        raise UserError(f"a layout takes at most {MAX_BLOCKS} blocks, got {len(layout.blocks)}")
    codes = np.zeros((side, side), np.int16)
    for i, (row, col) in enumerate(layout.agents):
        if not (0 <= row < side and 0 <= col < side):
            raise UserError(f"agent {i} must stand inside rows and columns 0 to {side - 1}, got ({row}, {col})")
        _claim(codes, row, col, 1, -(i + 1))
    for b, block in enumerate(layout.blocks):
        _check_block(b, block, side)
        _claim(codes, block.row, block.col, block.weight, b + 1)


def _check_block(b: int, block: Block, side: int) -> None:
    if block.weight < 1:
        raise UserError(f"the weight of block {b} must be at least 1, got {block.weight}")
    last_row, last_col = block.row + block.weight - 1, block.col + block.weight - 1
    if block.row < 0 or block.col < 0 or last_row >= side or last_col >= side:
        raise UserError(
            f"block {b} must lie inside rows and columns 0 to {side - 1}, got rows {block.row} to {last_row} and "
            f"columns {block.col} to {last_col}"
        )
    if last_col == side - 1:
        raise UserError(
            f"block {b} must start outside the goal column {side - 1}, got columns {block.col} to {last_col}: "
            "move it at least one column to the left"
        )


def _claim(codes: npt.NDArray[np.int16], row: int, col: int, size: int, code: int) -> None:
    """Write ``code`` on a square of cells; refuse it if one of them is taken."""
    square = codes[row : row + size, col : col + size]
    if square.any():
        i, j = (int(k[0]) for k in np.nonzero(square))
        raise UserError(
            f"{name_of(int(square[i, j]))} and {name_of(code)} overlap at ({row + i}, {col + j}): "
            "each cell holds at most one agent or block"
        )
    square[...] = code


def name_of(code: int) -> str:
    """Return what a grid code stands for: ``"agent 0"``, ``"block 2"``, ``"wall"`` or ``"empty"``."""
    if code == WALL:
        return "wall"
    if code == 0:
        return "empty"
    return f"block {code - 1}" if code > 0 else f"agent {-code - 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRules:
    """What an episode counts: length, reward, and which agents' force a chain feels.

    Raises:
        UserError: If a value cannot be used.
    """

    max_steps: int = 500
    """Steps after which an unfinished episode is truncated."""
    step_cost: float = 0.01
    """r_s: taken from every agent at every step."""
    deliver_reward: float = 1.0
    """r_d: shared by all agents for each unit of delivered weight."""
    force_scope: ForceScope = "chain"
    """``"chain"``: lines behind any block of a chain push it; ``"rear"``: only lines behind its first block."""

    def __post_init__(self) -> None:
        """Check the values."""
        try:
            steps = _integer(self.max_steps)
        except TypeError:
            steps = 0
        if not 1 <= steps < 2**31 - 1:
            raise UserError(f"max_steps must be a whole number from 1 to {2**31 - 2}, got {brief(self.max_steps)}")
        object.__setattr__(self, "max_steps", steps)
        for name in ("step_cost", "deliver_reward"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
                raise UserError(f"{name} must be a finite number, got {value!r}")
            object.__setattr__(self, name, float(value))
        if self.force_scope not in get_args(ForceScope):
            raise UserError(
                f"force_scope must be 'chain' or 'rear', got {self.force_scope!r}"
                f"{suggest(str(self.force_scope), list(get_args(ForceScope)))}"
            )


class CubeState:
    """E environments with n agents, B blocks and side K; ``physics.step`` changes the arrays in place.

    Arrays are C-contiguous; E comes first. Use ``make_state`` to build one and ``load`` to restart an
    environment in it. One state must not be stepped by two threads at once; two states may.

    Most attributes are views of four arrays, because handing an array to a kernel takes as long as moving an agent.
    """

    grid: npt.NDArray[np.int16]
    """(E, K + 2, K + 2): what stands on each cell, as a code, with a frame of WALL."""
    arena: npt.NDArray[np.int32]
    """All that is counted: a header (``NUM_ENVS`` ...), the sections below, and the work space of the kernel."""
    rewards: npt.NDArray[np.float64]
    """The step cost, the reward for a unit of delivered weight, then ``reward``."""
    ended: npt.NDArray[np.bool_]
    """(2, E): ``terminated`` and ``truncated``."""

    grid_size: int
    """K."""
    num_agents: int
    """n."""
    num_blocks: int
    """B."""
    reward: npt.NDArray[np.float64]
    """(E,): reward of the last step, equal for all agents of an environment."""
    terminated: npt.NDArray[np.bool_]
    """(E,): no block is left."""
    truncated: npt.NDArray[np.bool_]
    """(E,): out of steps with blocks left. A finished environment is not stepped further."""
    episodes: npt.NDArray[np.int32]
    """(E, 4): one record per environment; its fields are ``steps``, ``blocks_left`` and ``delivered_weight``."""
    agent_cell: npt.NDArray[np.int32]
    """(E, n): cell of each agent."""
    agent_from: npt.NDArray[np.int32]
    """(E, n): cell of each agent in the last step, after the pushes and before the free moves."""
    pushed_at: npt.NDArray[np.int32]
    """(E, n): the step in which the agent last advanced behind a block; 0 = never."""
    blocks: npt.NDArray[np.int32]
    """(E, B, 8): one record per block; its fields are the six attributes ``block_row`` to ``delivered_at``."""
    pushes: npt.NDArray[np.int32]
    """(E, B, 4, 8): the last push on a block in direction d at ``[e, b, d - 1]``; read it with ``push_attempt``."""
    waiting: npt.NDArray[np.int32]
    """(E,): the environments that the last step passed over because they were finished; as many as it returned."""

    block_row: npt.NDArray[np.int32]
    """(E, B): row of the top-left cell; the last one once delivered."""
    block_col: npt.NDArray[np.int32]
    """(E, B): column of the top-left cell; the last one once delivered."""
    block_weight: npt.NDArray[np.int32]
    """(E, B)."""
    moved_at: npt.NDArray[np.int32]
    """(E, B): the step in which the block last moved (one cell); 0 = never. Steps count from 1."""
    moved_dir: npt.NDArray[np.int32]
    """(E, B): direction of that move."""
    delivered_at: npt.NDArray[np.int32]
    """(E, B): the step in which the block was delivered; 0 = it is still there."""
    steps: npt.NDArray[np.int32]
    """(E,): steps done in this episode."""
    blocks_left: npt.NDArray[np.int32]
    """(E,): blocks not yet delivered."""
    delivered_weight: npt.NDArray[np.int32]
    """(E,): sum of the weights delivered in the last step."""
    kernel_args: tuple[Any, ...]
    """What the kernels take: the four arrays, flat."""

    def __init__(
        self,
        grid: npt.NDArray[np.int16],
        arena: npt.NDArray[np.int32],
        rewards: npt.NDArray[np.float64],
        ended: npt.NDArray[np.bool_],
    ) -> None:
        """Make the views, once: making them at every step would cost more than a small step."""
        self.grid, self.arena, self.rewards, self.ended = grid, arena, rewards, ended
        e, n, b, self.grid_size = (int(number) for number in arena[:MAX_STEPS])
        self.num_agents, self.num_blocks = n, b
        self.reward, (self.terminated, self.truncated) = rewards[DELIVER_REWARD + 1 :], ended
        for name, begin, shape in _sections(e, n, b):
            if name != "scratch":
                setattr(self, name, arena[begin : begin + math.prod(shape)].reshape(shape))
        for k, name in enumerate(("block_row", "block_col", "block_weight", "moved_at", "moved_dir", "delivered_at")):
            setattr(self, name, self.blocks[:, :, k])
        for k, name in enumerate(("steps", "blocks_left", "delivered_weight")):
            setattr(self, name, self.episodes[:, k])
        self.kernel_args = (grid.reshape(-1), arena, rewards, ended.reshape(-1))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the four arrays alone; the views are made anew, else they would drift apart from them."""
        return CubeState, (self.grid, self.arena, self.rewards, self.ended)

    @property
    def num_envs(self) -> int:
        """E."""
        return len(self.reward)

    @property
    def agent_result(self) -> npt.NDArray[np.int8]:
        """(E, n): STAYED, WALKED or PUSHED in the last step, freshly made."""
        walked = np.where(self.agent_cell == self.agent_from, np.int8(STAYED), np.int8(WALKED))
        pushed = (self.pushed_at == self.steps[:, None]) & (self.pushed_at > 0)
        return np.where(pushed, np.int8(PUSHED), walked)

    @property
    def stride(self) -> int:
        """Cells from one row of the framed grid to the next: K + 2."""
        return self.grid_size + 2

    def cell(self, row: int, col: int) -> int:
        """Return the cell index of (row, column)."""
        return (row + 1) * (self.grid_size + 2) + col + 1

    def agent_positions(self, env: int = 0) -> npt.NDArray[np.int32]:
        """Return the (n, 2) rows and columns of the agents of one environment, freshly made."""
        rows, cols = np.divmod(self.agent_cell[env], np.int32(self.grid_size + 2))
        return np.stack((rows - 1, cols - 1), axis=1)

    def layout(self, env: int = 0) -> Layout:
        """Return the present positions as a layout; delivered blocks are left out, so ids close ranks."""
        live = np.flatnonzero(self.delivered_at[env] == 0)
        parts = (self.block_weight[env], self.block_row[env], self.block_col[env])
        blocks = tuple(Block(*(int(part[b]) for part in parts)) for b in live)
        agents = tuple((int(row), int(col)) for row, col in self.agent_positions(env))
        return Layout(self.grid_size, agents, blocks)


def make_state(layouts: Layout | Sequence[Layout], rules: EpisodeRules | None = None) -> CubeState:
    """Build a state with one environment per layout.

    Args:
        layouts: One layout, or E layouts of equal grid size, number of agents and number of blocks.
        rules: Episode length, reward and force scope; the published defaults if None.

    Raises:
        UserError: If there is no layout, the layouts differ in shape, or there are too many of them.
    """
    layouts = (layouts,) if isinstance(layouts, Layout) else tuple(layouts)
    shapes = Counter((item.grid_size, len(item.agents), len(item.blocks)) for item in layouts)
    if len(shapes) != 1:
        raise UserError(
            "the environments of one state must share grid size, number of agents and number of blocks, got "
            f"{', '.join(map(str, shapes)) or 'no layout'}: make one state per shape"
        )
    ((side, n, b),) = shapes
    e = len(layouts)
    rules = rules or EpisodeRules()
    state = CubeState(
        grid=np.zeros((e, side + 2, side + 2), np.int16),
        arena=_arena(e, n, b, side, rules),
        rewards=np.array([rules.step_cost, rules.deliver_reward, *[0.0] * e]),
        ended=np.zeros((2, e), np.bool_),
    )
    for env, layout in enumerate(layouts):
        load(state, env, layout)
    return state


def _sections(e: int, n: int, b: int) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield name, begin and shape of the arena's sections, in the order of the header."""
    begin = HEADER
    shapes = {
        "episodes": (e, EPISODE_FIELDS),
        "agent_cell": (e, n),
        "agent_from": (e, n),
        "pushed_at": (e, n),
        "blocks": (e, b, BLOCK_FIELDS),
        "pushes": (e, b, 4, PUSH_FIELDS),
        "waiting": (e,),
        "scratch": (MOVES + 5 * n + 1 + 2 * b,),  # see physics
    }
    for name, shape in shapes.items():
        yield name, begin, shape
        begin += -(-math.prod(shape) // 16) * 16  # each on a cache line of its own


def _arena(e: int, n: int, b: int, side: int, rules: EpisodeRules) -> npt.NDArray[np.int32]:
    """Return an arena with its header and the table of the cells that each action moves; all else is 0."""
    *starts, (_, scratch, (size,)) = _sections(e, n, b)
    if scratch >= 2**31:  # where a section begins is a number of the arena too
        raise UserError(f"{e} environments with {n} agents and {b} blocks are too many for one state: take fewer")
    arena = np.zeros(scratch + size, np.int32)
    arena[:AT_EPISODES] = e, n, b, side, rules.max_steps, rules.force_scope == "chain"
    arena[AT_EPISODES : AT_SCRATCH + 1] = [*(begin for _, begin, _ in starts), scratch]
    arena[scratch : scratch + len(STEPS)] = [drow * (side + 2) + dcol for drow, dcol in STEPS]
    return arena


def load(state: CubeState, env: int, layout: Layout) -> None:
    """Restart environment ``env`` of ``state`` from ``layout``.

    Raises:
        UserError: If the layout's shape is not the state's.
    """
    shape = (layout.grid_size, len(layout.agents), len(layout.blocks))
    if shape != (state.grid_size, state.num_agents, state.num_blocks):
        raise UserError(
            f"the layout must have grid size {state.grid_size}, {state.num_agents} agents and {state.num_blocks} "
            f"blocks like its state, got {shape}"
        )
    for name in ("pushed_at", "blocks", "pushes", "episodes", "reward", "terminated", "truncated"):
        getattr(state, name)[env] = 0
    state.grid[env] = WALL
    state.grid[env, 1:-1, 1:-1] = 0
    cells = np.array([state.cell(row, col) for row, col in layout.agents], np.int32)
    state.agent_cell[env] = state.agent_from[env] = cells
    state.grid[env].reshape(-1)[cells] = -np.arange(1, len(cells) + 1)
    for b, block in enumerate(layout.blocks):
        state.block_row[env, b], state.block_col[env, b] = block.row, block.col
        state.block_weight[env, b] = block.weight
        rows, cols = (slice(at + 1, at + 1 + block.weight) for at in (block.row, block.col))
        state.grid[env, rows, cols] = b + 1
    state.blocks_left[env] = len(layout.blocks)
