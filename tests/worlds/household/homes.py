"""Tiny apartments made by hand."""

from __future__ import annotations

from collections.abc import Iterable

from teamworld.worlds.household.homes.home import Box, Door, Episode, Home, Need, Node, NodeId, Relation

KITCHEN, LIVING, DOOR = 11, 12, 13
FRIDGE, TABLE, CABINET, COFFEE, SHELF, STOVE, SWITCH = 20, 21, 22, 23, 24, 25, 26
APPLE, PLATE, CUPCAKE, WINE, CRATE, PUDDING, JUICE, BOOK = 30, 31, 32, 33, 34, 35, 36, 40

_PROPERTIES = {
    "g": "GRABBABLE",
    "o": "CAN_OPEN",
    "c": "CONTAINERS",
    "s": "SURFACES",
}


def node(id_: NodeId, name: str, category: str, flags: str, box: Iterable[float]) -> Node:
    """Return a node; flags: g grabbable, o can be opened, c container, s surface."""
    return Node(id_, name, category, frozenset(_PROPERTIES[flag] for flag in flags), Box(*box))


def flat() -> Home:
    """Return two rooms of 6 x 5 m joined by a door, with a fridge, a stove, tables, a cabinet and a shelf.

    On the kitchen table a plate with a cupcake, in the fridge an apple, in the cabinet wine, on the coffee table a
    crate that can be carried and opened with a pudding in it, juice on the floor, a book in an open shelf.
    """
    nodes = (
        node(KITCHEN, "kitchen", "Rooms", "", (0.0, 1.25, 0.0, 6.5, 3.0, 5.5)),
        node(LIVING, "livingroom", "Rooms", "", (6.0, 1.25, 0.0, 6.5, 3.0, 5.5)),
        node(DOOR, "door", "Doors", "o", (3.0, 1.0, 0.0, 0.12, 2.0, 0.93)),
        node(FRIDGE, "fridge", "Appliances", "oc", (-2.4, 0.9, 2.0, 0.8, 1.8, 0.8)),
        node(TABLE, "kitchentable", "Furniture", "s", (0.0, 0.4, -1.5, 1.6, 0.8, 0.8)),
        node(CABINET, "cabinet", "Furniture", "ocs", (8.3, 0.5, 2.0, 0.8, 1.0, 0.6)),
        node(COFFEE, "coffeetable", "Furniture", "s", (6.0, 0.25, -1.0, 1.2, 0.5, 0.6)),
        node(SHELF, "bookshelf", "Furniture", "c", (5.0, 1.0, 2.3, 1.0, 2.0, 0.3)),
        node(STOVE, "stove", "Appliances", "ocs", (-2.4, 0.5, 0.5, 0.8, 1.0, 0.8)),
        node(SWITCH, "lightswitch", "Lamps", "", (2.7, 1.2, 1.5, 0.05, 0.1, 0.1)),
        node(APPLE, "apple", "Food", "g", (-2.4, 0.9, 2.0, 0.1, 0.1, 0.1)),
        node(PLATE, "plate", "Props", "gs", (0.1, 0.82, -1.5, 0.3, 0.04, 0.3)),
        node(CUPCAKE, "cupcake", "Food", "g", (0.1, 0.89, -1.5, 0.1, 0.1, 0.1)),
        node(WINE, "wine", "Food", "g", (8.3, 0.5, 2.0, 0.1, 0.3, 0.1)),
        node(CRATE, "box", "Props", "goc", (6.0, 0.65, -1.0, 0.3, 0.3, 0.3)),
        node(PUDDING, "pudding", "Food", "g", (6.0, 0.65, -1.0, 0.1, 0.1, 0.1)),
        node(JUICE, "juice", "Food", "g", (1.0, 0.1, 1.5, 0.1, 0.2, 0.1)),
        node(BOOK, "book", "Props", "go", (5.0, 1.0, 2.3, 0.2, 0.3, 0.2)),
    )
    parent: dict[NodeId, tuple[Relation, NodeId]] = {
        DOOR: ("INSIDE", KITCHEN),
        FRIDGE: ("INSIDE", KITCHEN),
        TABLE: ("INSIDE", KITCHEN),
        CABINET: ("INSIDE", LIVING),
        COFFEE: ("INSIDE", LIVING),
        SHELF: ("INSIDE", LIVING),
        STOVE: ("INSIDE", KITCHEN),
        SWITCH: ("INSIDE", KITCHEN),
        APPLE: ("INSIDE", FRIDGE),
        PLATE: ("ON", TABLE),
        CUPCAKE: ("ON", PLATE),
        WINE: ("INSIDE", CABINET),
        CRATE: ("ON", COFFEE),
        PUDDING: ("INSIDE", CRATE),
        JUICE: ("INSIDE", KITCHEN),
        BOOK: ("INSIDE", SHELF),
    }
    return Home(
        name="flat",
        nodes={item.id: item for item in nodes},
        rooms=(KITCHEN, LIVING),
        doors=(Door(DOOR, (KITCHEN, LIVING), 3.0, 0.0, across_x=True),),
        parent=parent,
        room={item.id: LIVING if item.box.x > 3 else KITCHEN for item in nodes},
        opened=frozenset({DOOR}),
    )


def tea(home: Home | None = None) -> Episode:
    """Return the task to bring an apple and a cupcake to the coffee table."""
    needs = (Need("ON", "apple", COFFEE, 1), Need("ON", "cupcake", COFFEE, 1))
    return Episode("tea", "read_book", home or flat(), needs, (KITCHEN, LIVING))


def studio() -> Home:
    """Return one room with a fridge that holds an apple, and a table."""
    nodes = (
        node(KITCHEN, "kitchen", "Rooms", "", (0.0, 1.25, 0.0, 5.0, 3.0, 5.0)),
        node(FRIDGE, "fridge", "Appliances", "oc", (-1.5, 0.9, 1.5, 0.8, 1.8, 0.8)),
        node(TABLE, "kitchentable", "Furniture", "s", (1.0, 0.4, -1.0, 1.0, 0.8, 1.0)),
        node(APPLE, "apple", "Food", "g", (-1.5, 0.9, 1.5, 0.1, 0.1, 0.1)),
    )
    return Home(
        name="studio",
        nodes={item.id: item for item in nodes},
        rooms=(KITCHEN,),
        doors=(),
        parent={FRIDGE: ("INSIDE", KITCHEN), TABLE: ("INSIDE", KITCHEN), APPLE: ("INSIDE", FRIDGE)},
        room={item.id: KITCHEN for item in nodes},
        opened=frozenset(),
    )
