"""The symbolic state of a CUBE world: an immutable value with the positions of agents and blocks.

Everything symbolic works on a ``SymbolicState``: concepts, paths, skills, candidate plans. A state is made from the
arrays of the primitive layer (the truth), from what a team has seen, or from facts that somebody
believes or imagines; ``SymbolicState.facts`` and ``read_state`` lead from one to the other.

Faces and directions share four words: ``up``, ``down``, ``left``, ``right``. The face ``left`` of a block
is its left side; who stands there pushes ``right``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, update_wrapper
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar
from weakref import ref

import numpy as np

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, Term
from teamworld.worlds.base.views import leave_out
from teamworld.worlds.contract import ImpossibleFacts
from teamworld.worlds.cube.state import DOWN, LEFT, RIGHT, STEPS, UP, WALL

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.cube.state import CubeState, Layout

#: The words for faces and directions, in the order in which paths try them.
SIDES: Final = ("up", "down", "left", "right")
#: The primitive that moves in a direction.
PRIMITIVE: Final[Mapping[str, int]] = {"up": UP, "down": DOWN, "left": LEFT, "right": RIGHT}
OPPOSITE: Final[Mapping[str, str]] = {"up": "down", "down": "up", "left": "right", "right": "left"}
#: (rows, columns) of one step in a direction; also the way out of a face.
DELTA: Final[Mapping[str, Cell]] = {side: STEPS[PRIMITIVE[side]] for side in SIDES}

Computed = TypeVar("Computed")

GRID: Final = Entity("grid", 0)
NOWHERE: Final[Cell] = (-1, -1)


class Square(NamedTuple):
    """A block in a state; its weight is its side in cells."""

    weight: int
    row: int
    """Row of the top-left cell; -1 once delivered."""
    col: int
    """Column of the top-left cell; -1 once delivered."""
    delivered: bool = False

    def contains(self, cell: Cell) -> bool:
        """Return whether the cell lies in the block."""
        return 0 <= cell[0] - self.row < self.weight and 0 <= cell[1] - self.col < self.weight


class Blocks(dict[int, Square]):
    """The known blocks by id, with everything computed from them alone; states that differ only in agents share it.

    A value: nobody changes it once it is made, so nothing that is kept with it grows old.
    """

    def __init__(self, side: int, blocks: Mapping[int, Square]) -> None:
        super().__init__(blocks)
        self.side = side
        self.memo: dict[Any, Any] = {}
        """What was computed from the blocks: chains, faces, ways that pass through agents."""

    @cached_property
    def open_ids(self) -> tuple[int, ...]:
        """The ids of the blocks not yet delivered, in order."""
        return tuple(block for block, square in self.items() if not square.delivered)

    @cached_property
    def walls(self) -> npt.NDArray[np.int16]:
        """Return the framed grid without agents, shape (K + 2, K + 2): 0 free, block id + 1, WALL."""
        grid = np.full((self.side + 2, self.side + 2), WALL, np.int16)
        grid[1:-1, 1:-1] = 0
        for block, (weight, row, col, delivered) in self.items():
            if not delivered:
                grid[row + 1 : row + 1 + weight, col + 1 : col + 1 + weight] = block + 1
        return grid

    def codes_beside(self, block: int, side: str) -> list[int]:
        """Return what stands on the cells just outside a face, from the top or the left, as codes of ``walls``."""
        weight, row, col, _ = self[block]
        if side in ("left", "right"):
            at = col if side == "left" else col + weight + 1
            codes: list[int] = self.walls[row + 1 : row + 1 + weight, at].tolist()
        else:
            at = row if side == "up" else row + weight + 1
            codes = self.walls[at, col + 1 : col + 1 + weight].tolist()
        return codes


Asked = ParamSpec("Asked")


def once_per_state(
    function: Callable[Concatenate[SymbolicState, Asked], Computed],
) -> Callable[Concatenate[SymbolicState, Asked], Computed]:
    """Compute a function of a state once for each state and arguments."""
    return _remembered(function, attrgetter("memo"))


def once_per_blocks(
    function: Callable[Concatenate[SymbolicState, Asked], Computed],
) -> Callable[Concatenate[SymbolicState, Asked], Computed]:
    """Compute a function that reads only the blocks of a state once for all states with these blocks."""
    return _remembered(function, attrgetter("blocks.memo"))


def _remembered(
    function: Callable[Concatenate[SymbolicState, Asked], Computed],
    memo_of: Callable[[SymbolicState], dict[Any, Any]],
) -> Callable[Concatenate[SymbolicState, Asked], Computed]:
    def wrapped(state: SymbolicState, /, *args: Asked.args, **kwargs: Asked.kwargs) -> Computed:
        memo, key = memo_of(state), (function, *args)
        try:
            value: Computed = memo[key]
        except KeyError:
            value = memo[key] = function(state, *args, **kwargs)
        return value

    update_wrapper(wrapped, function)
    return wrapped


@dataclass(frozen=True)
class SymbolicState:
    """Where everything stands; a value, equal to every state with the same contents."""

    side: int
    """Side K of the grid; the goal is column K - 1."""
    agents: Mapping[AgentId, Cell]
    """(row, column) of each agent."""
    blocks: Mapping[int, Square]
    """The known blocks by id, the delivered ones too."""
    unseen: Mapping[int, Cell] = field(default_factory=dict)
    """Areas that the team has not seen entirely, by id, each with its top-left cell; see ``beliefs``."""
    elsewhere: int = 0
    """Agents of the team whose places are not told."""
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was computed from this state, agents included, kept with it: lines, ways around agents."""

    def __post_init__(self) -> None:
        """Wrap the blocks, unless they come from another state with the same blocks."""
        if not (isinstance(self.blocks, Blocks) and self.blocks.side == self.side):
            object.__setattr__(self, "blocks", Blocks(self.side, self.blocks))

    @property
    def block_map(self) -> Blocks:
        """The blocks with their memo."""
        return self.blocks  # type: ignore[return-value]  # wrapped in __post_init__; called too often for a cast

    @property
    def open_blocks(self) -> Iterator[tuple[int, Square]]:
        """Yield the blocks not yet delivered, by id."""
        return ((block, square) for block, square in self.blocks.items() if not square.delivered)

    @property
    def team(self) -> int:
        """How many agents the team has."""
        return len(self.agents) + self.elsewhere

    @cached_property
    def by_cell(self) -> Mapping[Cell, AgentId]:
        """Return the agent on each cell that holds one."""
        return {cell: agent for agent, cell in self.agents.items()}

    @cached_property
    def taken(self) -> frozenset[int]:
        """The cells with an agent, as places in the flat framed grid."""
        return frozenset((row + 1) * (self.side + 2) + col + 1 for row, col in self.agents.values())

    @property
    def walls(self) -> npt.NDArray[np.int16]:
        """The framed grid without agents, see ``Blocks``."""
        return self.block_map.walls

    @cached_property
    def grid(self) -> npt.NDArray[np.int16]:
        """Return the framed grid, shape (K + 2, K + 2), with agent i (in the order of ``agents``) as -(i + 1)."""
        return self.draw()

    def draw(self) -> npt.NDArray[np.int16]:
        """Return the same, made anew."""
        grid = self.walls.copy()
        for i, (row, col) in enumerate(self.agents.values()):
            if grid[row + 1, col + 1] == 0:  # an imagined state may have an agent where a block came to lie
                grid[row + 1, col + 1] = -(i + 1)
        return grid

    def is_inside(self, cell: Cell) -> bool:
        """Return whether the cell lies in the grid."""
        return 0 <= cell[0] < self.side and 0 <= cell[1] < self.side

    def block_at(self, cell: Cell) -> int | None:
        """Return the id of the block on a cell of the grid, if any."""
        code = int(self.walls[cell[0] + 1, cell[1] + 1])
        return code - 1 if code > 0 else None

    def is_passable(self, cell: Cell) -> bool:
        """Return whether an agent could stand there: inside the grid and not in a block."""
        return self.is_inside(cell) and self.walls[cell[0] + 1, cell[1] + 1] == 0

    def is_free(self, cell: Cell) -> bool:
        """Return whether the cell is inside the grid and empty."""
        return self.is_passable(cell) and cell not in self.by_cell

    def distance(self, block: int) -> int:
        """Return the columns that a block's right edge has still to travel, 0 if delivered."""
        square = self.blocks[block]
        return 0 if square.delivered else self.side - square.col - square.weight

    def with_agents(self, agents: Mapping[AgentId, Cell]) -> SymbolicState:
        """Return the state with some agents elsewhere."""
        return SymbolicState(self.side, {**self.agents, **agents}, self.blocks, self.unseen, self.elsewhere)

    @property
    def facts(self) -> Facts:
        """The state as facts, the same while somebody holds them; ``read_state`` leads back to this state.

        They are made when somebody reads one.
        """
        facts: Facts | None = self.memo.get("facts", lambda: None)()
        if facts is None:
            facts = self.as_facts(self._tell)
            self.memo["facts"] = ref(facts)  # facts hold their state: one that held them would outlive its last reader
        return facts

    def as_facts(self, make: Callable[[], Iterable[Fact]], seen: Mapping[Fact, int] | None = None) -> Facts:
        """Return facts that tell this state, made when somebody reads one; ``seen`` is when each was last seen."""
        return Facts.later(make, _read, self, seen, is_exact=True)

    def _tell(self) -> Iterator[Fact]:
        yield Fact(GRID, "SIDE", self.side)
        yield from _elsewhere_facts(self)
        yield from (Fact(agent, "AT", cell) for agent, cell in self.agents.items())
        for block in self.blocks:
            yield from block_facts(block, self.blocks[block])
        yield from unseen_facts(self)

    @staticmethod
    def from_arrays(
        arrays: CubeState, names: tuple[AgentId, ...], env: int = 0, before: SymbolicState | None = None
    ) -> SymbolicState:
        """Return the true state of one environment; ``before`` itself, or its blocks, where all stand as they stood."""
        cells = zip(*(part.tolist() for part in np.divmod(arrays.agent_cell[env], arrays.stride)), strict=True)
        agents = {name: (row - 1, col - 1) for name, (row, col) in zip(names, cells, strict=True)}
        weights, rows, cols, ends = (
            part[env].tolist()
            for part in (arrays.block_weight, arrays.block_row, arrays.block_col, arrays.delivered_at)
        )
        blocks: dict[int, Square] = {
            block: Square(weights[block], *NOWHERE, True)
            if ends[block]
            else Square(weights[block], rows[block], cols[block])
            for block in range(arrays.num_blocks)
        }
        if before is not None and before.blocks == blocks:
            if before.agents == agents:
                return before
            blocks = before.block_map
        state = SymbolicState(arrays.grid_size, agents, blocks)
        state.__dict__["grid"] = arrays.grid[env].copy()  # cheaper than drawing it again
        return state

    @staticmethod
    def from_layout(layout: Layout) -> SymbolicState:
        """Return the state in which a layout starts."""
        agents = {agent_name(i): cell for i, cell in enumerate(layout.agents)}
        blocks = {b: Square(block.weight, block.row, block.col) for b, block in enumerate(layout.blocks)}
        return SymbolicState(layout.grid_size, agents, blocks)


def agent_name(index: int) -> AgentId:
    """Return the name of the agent with an index."""
    return f"agent_{index}"


def goal_name(block: int) -> str:
    """Return the id of the goal to deliver a block."""
    return f"block_{block}"


@lru_cache(maxsize=4096)  # the same few blocks are named at every step
def entity(block: int) -> Entity:
    """Return the block as an argument of an action."""
    return Entity("block", block)


def block_facts(block: int, square: Square) -> list[Fact]:
    """Return the facts about one block; a delivered one has no position."""
    thing = entity(block)
    known = [Fact(thing, "WEIGHT", square.weight), Fact(thing, "STATE", "delivered" if square.delivered else "free")]
    return known if square.delivered else [Fact(thing, "AT", (square.row, square.col)), *known]


def _elsewhere_facts(state: SymbolicState) -> list[Fact]:
    """Return the fact how many agents there are of which nothing else is told, if there are any."""
    return [Fact(GRID, "ELSEWHERE", state.elsewhere)] if state.elsewhere else []


def without_agents(facts: Facts, kept: frozenset[AgentId]) -> Facts:
    """Return facts without the places of agents that are not kept; their number stays known."""
    if not isinstance(facts.value(GRID, "SIDE"), int):
        return leave_out(facts, kept)  # a part of what is known
    state = read_state(facts)
    near = {agent: cell for agent, cell in state.agents.items() if agent in kept}
    narrow = replace(state, agents=near, elsewhere=state.team - len(near))
    return narrow.as_facts(lambda: (*leave_out(facts, kept), *_elsewhere_facts(narrow)), facts.seen)


def unseen_facts(state: SymbolicState) -> list[Fact]:
    """Return the facts about areas that the team has not seen entirely."""
    return [Fact(Entity("area", area), "UNSEEN", cell) for area, cell in state.unseen.items()]


def read_state(facts: Facts) -> SymbolicState:
    """Return the state that facts describe; computed once for each collection of facts.

    Blocks without a place (and not delivered) or without a weight are left out: nothing can be done with them.

    Raises:
        ImpossibleFacts: The facts do not tell the side of the grid, or a place is not a pair of numbers.
    """
    return facts.derive(_read)


def _read(facts: Facts) -> SymbolicState:
    side = facts.value(GRID, "SIDE")
    if not isinstance(side, int):
        raise ImpossibleFacts(f"a CUBE state needs the fact '{GRID} SIDE <number>', got {len(facts)} facts without it")
    agents: dict[AgentId, Cell] = {}
    places: dict[int, Cell] = {}
    weights: dict[int, int] = {}
    delivered: set[int] = set()
    unseen: dict[int, Cell] = {}
    for fact in facts:
        subject, value = fact.subject, fact.value
        if isinstance(subject, str):
            if fact.predicate == "AT":
                agents[subject] = _cell(fact, value)
        elif subject.kind == "block":
            if fact.predicate == "AT":
                places[subject.id] = _cell(fact, value)
            elif fact.predicate == "WEIGHT" and isinstance(value, int):
                weights[subject.id] = value
            elif fact.predicate == "STATE" and value == "delivered":
                delivered.add(subject.id)
        elif fact.predicate == "UNSEEN":
            unseen[subject.id] = _cell(fact, value)
    blocks = {
        block: Square(weights[block], *NOWHERE, True) if block in delivered else Square(weights[block], *places[block])
        for block in sorted(weights)
        if block in delivered or block in places
    }
    in_order = dict(sorted(agents.items(), key=lambda item: (len(item[0]), item[0])))  # whatever order facts came in
    elsewhere = facts.value(GRID, "ELSEWHERE")
    return SymbolicState(
        side, in_order, blocks, dict(sorted(unseen.items())), elsewhere if isinstance(elsewhere, int) else 0
    )


def _cell(fact: Fact, value: Term) -> Cell:
    if not isinstance(value, tuple):
        raise ImpossibleFacts(f"a place is written (row, column), got {fact}")
    return value


def area_side(radius: int) -> int:
    """Return the side of an area in cells; an agent inside an area sees all of it."""
    return radius + 1


def is_within(cell: Cell, square: Square, radius: int) -> bool:
    """Return whether a cell of the block is at most ``radius`` rows and columns away."""
    rows = max(square.row - cell[0], cell[0] - (square.row + square.weight - 1))
    cols = max(square.col - cell[1], cell[1] - (square.col + square.weight - 1))
    return max(rows, cols) <= radius
