"""One moment of the warehouse: the truth, or what somebody believes; and the facts that tell it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, cast

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, Relation
from teamworld.worlds.base import grid
from teamworld.worlds.base.beliefs import is_cell
from teamworld.worlds.contract import ImpossibleFacts

RELATIONS = (
    Relation("AT", "agent", ("cell",), role="at"),
    Relation("FACING", "agent", ("north", "south", "west", "east")),
    Relation("HOLD", "agent", ("shelf",), role="held"),
    Relation("SHELF", "order", ("shelf",)),
    Relation("STATE", "order", ("pending", "open", "fetched")),
    Relation("DELIVERED", "order", ("yes",)),
    Relation("UNSEEN", "rack", ("cell",), max_values=2, role="map"),
)
#: The package's directions, in its order.
FACINGS = ("north", "south", "west", "east")


class Order(NamedTuple):
    """A request of the package: a shelf is to be brought to a goal."""

    slot: Cell | None
    """The slot of its shelf; None before it is made."""
    state: Literal["pending", "open", "fetched"] = "open"
    """Not made yet; the shelf stands in its slot; a robot took it away."""
    delivered: bool = False


@dataclass(frozen=True)
class WarehouseState:
    """One moment: all there is, or as much of it as somebody knows. A shelf is named by its slot."""

    at: Mapping[AgentId, Cell]
    facing: Mapping[AgentId, str]
    held: Mapping[AgentId, Cell]
    """The slot of the shelf that a robot carries."""
    orders: Mapping[int, Order]
    unseen: Mapping[int, tuple[Cell, ...]] = field(default_factory=dict)
    """In beliefs: racks to be looked at, each with the slots to look at first and last."""

    def order_of(self, slot: Cell | None) -> int | None:
        """Return the number of the undelivered order of a shelf; None if there is none."""
        return next((n for n, order in self.orders.items() if order.slot == slot and not order.delivered), None)


@dataclass(frozen=True)
class FloorPlan:
    """The floor plan, known to all."""

    size: Cell
    """Rows and columns."""
    goals: tuple[Cell, ...]
    """Where shelves are delivered."""
    slots: frozenset[Cell]
    """Cells in which shelves stand at the start; the other cells are aisles."""
    racks: tuple[tuple[Cell, ...], ...]
    """Slots that touch, together."""
    orders: int
    """How many orders are to be delivered."""
    reach: int
    """How many cells a robot's sensor reaches in each direction."""

    def shelf(self, slot: Cell) -> Entity:
        """Return the name of a slot's shelf."""
        return Entity("shelf", slot[0] * self.size[1] + slot[1])

    def slot(self, shelf: Entity) -> Cell:
        """Return the slot of a shelf."""
        return divmod(shelf.id, self.size[1])

    def window(self, at: Cell) -> tuple[Cell, ...]:
        """Return the cells that a sensor covers, in its order; some may lie outside."""
        span = range(-self.reach, self.reach + 1)
        return tuple((at[0] + down, at[1] + right) for down in span for right in span)

    def list_unseen(self, recent: Collection[object], at: Cell) -> dict[int, tuple[Cell, ...]]:
        """Return the racks with slots that were not seen of late, each with the nearest and the farthest from it."""
        unseen = {number: [slot for slot in rack if slot not in recent] for number, rack in enumerate(self.racks)}
        return {number: _list_ends(slots, at) for number, slots in unseen.items() if slots}


def _list_ends(slots: Collection[Cell], at: Cell) -> tuple[Cell, ...]:
    near = min(slots, key=lambda slot: (grid.distance(at, slot), slot))
    far = max(slots, key=lambda slot: (grid.distance(near, slot), slot))
    return tuple(dict.fromkeys((near, far)))


def find_racks(slots: Collection[Cell], size: Cell) -> tuple[tuple[Cell, ...], ...]:
    """Return groups of slots that touch, each from top to bottom."""
    racks: list[tuple[Cell, ...]] = []
    left = sorted(slots, reverse=True)
    while left:
        rack = [left.pop()]
        for slot in rack:  # grows while it is gone through
            rack += [beside for beside in grid.list_neighbours(slot, size) if beside in left]
            left = [other for other in left if other not in rack]
        racks.append(tuple(sorted(rack)))
    return tuple(racks)


def list_facts(state: WarehouseState, floor: FloorPlan) -> Iterator[Fact]:
    """Yield what a state tells."""
    for agent, cell in state.at.items():
        yield Fact(agent, "AT", cell)
        yield Fact(agent, "FACING", state.facing[agent])
        if agent in state.held:
            yield Fact(agent, "HOLD", floor.shelf(state.held[agent]))
    for number, order in sorted(state.orders.items()):
        name = Entity("order", number)
        if order.slot is not None:
            yield Fact(name, "SHELF", floor.shelf(order.slot))
        yield Fact(name, "STATE", order.state)
        if order.delivered:
            yield Fact(name, "DELIVERED", "yes")
    for rack, ends in state.unseen.items():
        yield from (Fact(Entity("rack", rack), "UNSEEN", cell) for cell in ends)


def read_state(facts: Facts, floor: FloorPlan) -> WarehouseState:
    """Return the state that facts tell of.

    Raises:
        ImpossibleFacts: A fact is about a cell or a shelf that the warehouse does not have.
    """
    at: dict[AgentId, Cell] = {}
    facing: dict[AgentId, str] = {}
    held: dict[AgentId, Cell] = {}
    orders: dict[int, Order] = {}
    unseen: dict[int, tuple[Cell, ...]] = {}
    for fact in facts:
        subject, value = fact.subject, fact.value
        if fact.predicate in ("AT", "UNSEEN") and not (is_cell(value) and grid.is_inside(value, floor.size)):
            raise ImpossibleFacts(f"a place is a cell of the floor of {floor.size}, got {fact}")
        if isinstance(value, Entity) and value.kind == "shelf" and floor.slot(value) not in floor.slots:
            raise ImpossibleFacts(f"there is no {value} in this warehouse")
        if isinstance(subject, str):
            if fact.predicate == "AT" and is_cell(value):
                at[subject] = value
            elif fact.predicate == "FACING" and value in FACINGS:
                facing[subject] = str(value)
            elif fact.predicate == "HOLD" and isinstance(value, Entity):
                held[subject] = floor.slot(value)
        elif subject.kind == "rack" and is_cell(value) and subject.id < len(floor.racks):
            unseen[subject.id] = (*unseen.get(subject.id, ()), value)
        elif subject.kind == "order":
            order = orders.get(subject.id, Order(None))
            if fact.predicate == "SHELF" and isinstance(value, Entity):
                order = order._replace(slot=floor.slot(value))
            elif fact.predicate == "STATE" and value in ("pending", "open", "fetched"):
                order = order._replace(state=cast("Literal['pending', 'open', 'fetched']", value))
            elif fact.predicate == "DELIVERED":
                order = order._replace(delivered=True)
            orders[subject.id] = order
    facing = {agent: facing.get(agent, "north") for agent in at}
    return WarehouseState(at, facing, held, dict(sorted(orders.items())), unseen)
