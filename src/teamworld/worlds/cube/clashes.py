"""What two agents of CUBE should not both do, in ticks that are lost (CoBel-World spec B1).

========================= ================================================= ================================
kind                      test                                              ticks lost
========================= ================================================= ================================
over-commitment           both walk to a face that lacks fewer agents,      of each who is too many, the
                          while another block lacks some                    shorter way first
counter-push              opposite faces of one block or one chain          both ways
order clash               other faces of one block; lanes that cross        the shorter way
..                        a block ahead in the lane, pushed the same way    the wait until it is under way
blocking                  one works where the other's block is to go        its share of the shorter way
chain surprise            a push that meets a block and is then too weak;   the steps from there on
..                        a block in the lane that is not pushed along      the shorter way
desynchronised start      one pushes, the other still waits for partners    the shorter way
========================= ================================================= ================================

Under-commitment is a matter of the goal's quorum, stale facts are one of knowledge. An option does not say whose it is:
a push is taken to be at the face where most are lined up, the left one if nobody is, for there deliveries are pushed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from teamworld.language import Cell
from teamworld.worlds.contract import Option
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import block_of
from teamworld.worlds.cube.checks import room
from teamworld.worlds.cube.symbolic_state import DELTA, OPPOSITE, SIDES, SymbolicState

#: Cells by which a block is pushed that is not pushed to the goal, where the option does not say.
ASIDE: Final = 2


class Push(NamedTuple):
    """What an option is about."""

    block: int
    face: str
    verb: str
    arrives: int
    """Ticks until its agent is at the face."""
    steps: int
    """Cells that the block is to go."""

    @property
    def way(self) -> str:
        """The direction of the push."""
        return OPPOSITE[self.face]


class Lane(NamedTuple):
    """The cells that a push goes over; ends are beyond it."""

    top: int
    bottom: int
    left: int
    right: int

    def holds(self, cell: Cell) -> bool:
        """Return whether a cell lies in it."""
        return self.top <= cell[0] < self.bottom and self.left <= cell[1] < self.right

    def meets(self, other: Lane) -> bool:
        """Return whether they have cells in common."""
        rows = max(self.top, other.top) < min(self.bottom, other.bottom)
        return rows and max(self.left, other.left) < min(self.right, other.right)


def clash(one: Option, other: Option, state: SymbolicState | None) -> float:
    """Return the ticks that are lost if two agents do both; 0 where nothing is known of the blocks."""
    pushes = [push_of(option, state) for option in (one, other)] if state is not None else []
    if state is None or pushes[0] is None or pushes[1] is None:
        return 0.0
    (first, second), ways = (pushes[0], pushes[1]), sorted((one.ticks, other.ticks))
    if first.block == second.block and first.face == second.face:
        return _together(state, first, second, ways)
    if first.face == OPPOSITE[second.face] and _in_contact(state, first, second):
        return float(sum(ways))
    if first.block == second.block:
        return float(ways[0])
    return max(_in_the_way(state, first, second, ways[0]), _in_the_way(state, second, first, ways[0]))


def push_of(option: Option, state: SymbolicState) -> Push | None:
    """Return what block and face an option is about; None where it is about none, or about one that is not there."""
    verb, args = option.action.verb, option.action.args
    block = block_of(option.action)
    if block is None or verb not in ("move_to_block", "rendezvous", "push_block"):
        return None
    if block not in state.blocks or state.blocks[block].delivered:
        return None
    named = args[1] if len(args) > 1 else None
    if verb == "push_block":
        face = max(("left", "right", "up", "down"), key=lambda side: len(geometry.aligned_agents(state, block, side)))
        most = room(state, block, OPPOSITE[face])
        return Push(block, face, verb, 0, max(1, min(named, most)) if isinstance(named, int) else most)
    if not isinstance(named, str) or named not in SIDES:
        return None
    most = room(state, block, OPPOSITE[named])
    return Push(block, named, verb, option.ticks, most if named == "left" else min(ASIDE, most))


def _in_contact(state: SymbolicState, one: Push, other: Push) -> bool:
    """Whether one of the two blocks moves along if the other is pushed."""
    return other.block in geometry.chain(state, one.block, one.way) or one.block in geometry.chain(
        state, other.block, other.way
    )


def _together(state: SymbolicState, one: Push, other: Push, ways: list[int]) -> float:
    """Return what is lost if two work at one face."""
    need = geometry.chain_weight(state, one.block, one.face)
    there = len(geometry.aligned_agents(state, one.block, one.face))
    verbs = {one.verb, other.verb}
    if verbs == {"push_block", "rendezvous"}:
        return float(ways[0]) if there - 1 < need else 0.0
    if verbs == {"push_block"}:
        return float(_surprise(state, one, min(one.steps, other.steps), there))
    coming = (one.verb, other.verb).count("move_to_block")
    many = min(coming, max(0, there + coming - need))
    return float(sum(ways[:many])) if many and _lacking(state, one.block) else 0.0


def _lacking(state: SymbolicState, block: int) -> bool:
    """Whether another block lacks agents."""
    others = (other for other, _ in state.open if other != block)
    return any(
        len(geometry.aligned_agents(state, other, "left")) < geometry.chain_weight(state, other, "left")
        for other in others
    )


def _surprise(state: SymbolicState, push: Push, steps: int, there: int) -> int:
    """Return the steps of a push that are left when it meets a block and becomes too heavy; 0 if it does not."""
    ahead = [(gap, block) for block, _ in state.open if (gap := _gap(state, push, block)) is not None and gap < steps]
    if not ahead:
        return 0
    gap, met = min(ahead)
    force = geometry.chain_weight(state, push.block, push.face)
    if met not in geometry.chain(state, push.block, push.way):
        force += geometry.chain_weight(state, met, push.face)
    return steps - gap if force > there else 0


def _gap(state: SymbolicState, push: Push, other: int) -> int | None:
    """Return the cells between a block that is pushed and one ahead of it in its lane; None if it is not there."""
    if other == push.block:
        return None
    mine, its, (rows, cols) = state.blocks[push.block], state.blocks[other], DELTA[push.way]
    along = (mine.row, its.row) if cols else (mine.col, its.col)
    if along[0] >= along[1] + its.weight or along[1] >= along[0] + mine.weight:
        return None
    start, there = (mine.col, its.col) if cols else (mine.row, its.row)
    gap = there - start - mine.weight if rows + cols > 0 else start - there - its.weight
    return gap if gap >= 0 else None


def lane(state: SymbolicState, push: Push) -> Lane:
    """Return the cells ahead of a block that a push takes it over."""
    weight, row, col, _ = state.blocks[push.block]
    steps = push.steps
    return {
        "right": Lane(row, row + weight, col + weight, col + weight + steps),
        "left": Lane(row, row + weight, col - steps, col),
        "down": Lane(row + weight, row + weight + steps, col, col + weight),
        "up": Lane(row - steps, row, col, col + weight),
    }[push.way]


def _in_the_way(state: SymbolicState, one: Push, other: Push, short: int) -> float:
    """Return what ``one`` loses through ``other``, who works on another block."""
    path = lane(state, one)
    gap = _gap(state, one, other.block)
    if gap is not None and gap < one.steps:
        if one.way == other.way:  # it goes ahead, as soon as it is under way
            return float(max(0, other.arrives - one.arrives - gap))
        return float(short)
    places = geometry.staging(state, other.block, other.face)
    blocked = sum(path.holds(cell) for cell in places) / len(places) if places else 0.0
    crossing = one.way != other.way and path.meets(lane(state, other))
    return float(short) if crossing else blocked * short
