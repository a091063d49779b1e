"""What homes of our own are made of: rooms, furniture, everyday things, and which things a task asks for.

Sizes, furniture, everyday things and how many there are, are ours. Facts of the benchmark are restated: which classes a
task may ask for and where it wants them; ``placement`` says where they lie. All lengths here are whole centimetres, so
that homes are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from teamworld.worlds.household.homes.home import Relation

#: Sides of the rooms between their walls: the shortest and longest of one side, then of the other.
ROOMS: Final[Mapping[str, tuple[tuple[int, int], tuple[int, int]]]] = {
    "kitchen": ((640, 800), (640, 800)),
    "bathroom": ((420, 560), (420, 560)),
    "bedroom": ((520, 800), (480, 560)),
    "livingroom": ((640, 800), (640, 800)),
    "corridor": ((800, 1100), (180, 220)),
}


class Kind(NamedTuple):
    """A class of furniture or things: what it is and how large."""

    category: str
    properties: frozenset[str]
    width: int
    """Along the wall, of furniture."""
    height: int
    depth: int
    bottom: int = 0
    """Of its underside above the floor; things lie on what carries them."""


def _kinds(category: str, properties: str, sizes: Mapping[str, tuple[int, ...]]) -> dict[str, Kind]:
    """Return classes that share a category and properties."""
    return {name: Kind(category, frozenset(properties.split()), *size) for name, size in sizes.items()}


#: Width, height, depth, and how far above the floor.
FURNITURE: Final[Mapping[str, Kind]] = {
    **_kinds("Furniture", "CAN_OPEN CONTAINERS SURFACES", {
        "kitchencabinet": (70, 68, 36, 150), "bathroomcabinet": (100, 66, 18, 140), "cabinet": (110, 96, 44),
        "nightstand": (46, 50, 42),
    }),
    **_kinds("Appliances", "CAN_OPEN CONTAINERS HAS_SWITCH HAS_PLUG", {
        "fridge": (76, 186, 70), "dishwasher": (62, 88, 62), "microwave": (52, 30, 40), "washingmachine": (62, 88, 60),
    }),
    **_kinds("Appliances", "CAN_OPEN CONTAINERS HAS_SWITCH SURFACES", {"stove": (76, 92, 64)}),
    **_kinds("Furniture", "CAN_OPEN CONTAINERS", {"closet": (140, 210, 60), "toilet": (42, 44, 68)}),
    **_kinds("Furniture", "SURFACES", {
        "kitchencounter": (70, 92, 62), "bathroomcounter": (130, 86, 54), "desk": (140, 76, 68),
        "bookshelf": (110, 124, 34), "tvstand": (160, 46, 44),
    }),
    **_kinds("Furniture", "SURFACES MOVABLE", {"kitchentable": (180, 76, 100), "coffeetable": (110, 42, 64)}),
    **_kinds("Furniture", "SURFACES SITTABLE LIEABLE MOVABLE", {"sofa": (210, 84, 94), "bench": (140, 46, 36)}),
    **_kinds("Furniture", "SURFACES SITTABLE LIEABLE", {"bed": (170, 54, 206)}),
    **_kinds("Furniture", "SITTABLE MOVABLE", {"chair": (46, 92, 46)}),
    **_kinds("Furniture", "", {"stall": (100, 210, 100)}),
    **_kinds("Appliances", "HAS_SWITCH CONTAINERS HAS_PLUG", {"toaster": (30, 20, 22), "coffeemaker": (24, 36, 34)}),
    **_kinds("Electronics", "HAS_SWITCH HAS_PLUG LOOKABLE", {"tv": (120, 72, 20), "computer": (60, 46, 24)}),
    **_kinds("Props", "CAN_OPEN CONTAINERS MOVABLE", {"garbagecan": (32, 44, 32)}),
    **_kinds("Lamps", "HAS_SWITCH HAS_PLUG MOVABLE", {"tablelamp": (26, 44, 26)}),
}  # fmt: skip

_FOOD, _WARE = "GRABBABLE EATABLE MOVABLE", "GRABBABLE RECIPIENT MOVABLE"

#: What a hand can take: width, height, depth.
THINGS: Final[Mapping[str, Kind]] = {
    # What tasks ask for.
    **_kinds("Food", _FOOD, {
        "cupcake": (8, 9, 8), "pudding": (12, 7, 12), "apple": (8, 8, 8), "juice": (10, 24, 10),
        "wine": (8, 30, 8), "pancake": (20, 6, 20), "poundcake": (24, 10, 14),
    }),
    **_kinds("Props", _WARE + " SURFACES", {"plate": (26, 2, 26)}),
    **_kinds("Props", "GRABBABLE MOVABLE", {"cutleryfork": (20, 2, 4)}),
    **_kinds("Appliances", _WARE + " CAN_OPEN", {"coffeepot": (22, 16, 18)}),
    # What lies about.
    **_kinds("Food", _FOOD, {
        "bananas": (22, 10, 18), "bellpepper": (12, 10, 10), "bread": (28, 12, 12), "carrot": (20, 4, 6),
        "cereal": (20, 28, 8), "chips": (18, 24, 10), "chocolatesyrup": (8, 20, 8), "crackers": (16, 6, 22),
        "lime": (6, 6, 6), "milk": (10, 24, 10), "pear": (8, 12, 8), "salad": (26, 10, 26), "whippedcream": (8, 18, 8),
    }),
    **_kinds("Props", _WARE, {
        "cookingpot": (28, 14, 26), "dishbowl": (18, 8, 18), "fryingpan": (44, 6, 28), "mug": (10, 10, 8),
        "waterglass": (8, 12, 8), "wineglass": (8, 18, 8),
    }),
    **_kinds("Props", "GRABBABLE MOVABLE", {
        "barsoap": (8, 4, 6), "boardgame": (34, 6, 34), "book": (16, 4, 22), "candle": (8, 12, 8),
        "cellphone": (8, 2, 16), "clothespile": (30, 12, 26), "condimentshaker": (6, 12, 6), "cutleryknife": (22, 2, 4),
        "dishwashingliquid": (10, 26, 8), "facecream": (8, 6, 8), "folder": (26, 32, 8), "hairproduct": (8, 20, 8),
        "keyboard": (44, 4, 16), "magazine": (20, 2, 28), "notes": (16, 2, 22), "painkillers": (6, 10, 6),
        "pillow": (50, 14, 34), "remotecontrol": (6, 4, 18), "teddybear": (24, 28, 20), "toothbrush": (4, 18, 4),
        "toothpaste": (18, 4, 6), "towelrolled": (30, 10, 14), "toy": (18, 16, 16), "washingsponge": (12, 4, 8),
    }),
}  # fmt: skip


class Stock(NamedTuple):
    """What lies about on or in each piece of furniture of a class."""

    holder: str
    relation: Relation
    least: int
    most: int
    names: str
    """With blanks between them."""


EVERYDAY: Final = (
    Stock("kitchencounter", "ON", 3, 6, "bananas bread cereal chips dishbowl dishwashingliquid lime mug washingsponge"),
    Stock("stove", "ON", 0, 2, "cookingpot fryingpan"),
    Stock("kitchentable", "ON", 3, 8, "cereal condimentshaker cutleryknife dishbowl milk mug pear waterglass"),
    Stock("kitchencabinet", "INSIDE", 0, 3, "cereal chocolatesyrup condimentshaker crackers dishbowl mug waterglass"),
    Stock("fridge", "INSIDE", 1, 5, "bellpepper carrot chocolatesyrup lime milk salad whippedcream"),
    Stock("bathroomcounter", "ON", 4, 9, "barsoap facecream hairproduct toothbrush toothpaste towelrolled waterglass"),
    Stock("bathroomcabinet", "INSIDE", 0, 3, "facecream hairproduct painkillers toothpaste"),
    Stock("cabinet", "INSIDE", 0, 3, "boardgame book folder notes"),
    Stock("cabinet", "ON", 0, 2, "book candle toy"),
    Stock("nightstand", "ON", 0, 2, "book candle cellphone magazine waterglass"),
    Stock("desk", "ON", 3, 6, "book cellphone folder keyboard magazine mug notes"),
    Stock("bookshelf", "ON", 3, 6, "book boardgame candle folder teddybear toy"),
    Stock("tvstand", "ON", 0, 1, "candle magazine"),
    Stock("coffeetable", "ON", 2, 5, "book candle magazine notes remotecontrol waterglass wineglass"),
    Stock("sofa", "ON", 0, 2, "magazine pillow"),
    Stock("bed", "ON", 1, 2, "pillow"),
    Stock("closet", "INSIDE", 2, 6, "clothespile towelrolled"),
)


class Task(NamedTuple):
    """What a task may ask for, and where it wants it."""

    short: str
    title: str
    relation: Relation
    target: str
    """Class of the goal furniture."""
    names: tuple[str, ...]


_TREATS = ("cupcake", "pudding", "apple", "juice", "wine")
_GROCERIES = (*_TREATS, "pancake", "poundcake")
TASKS: Final[Mapping[str, Task]] = {
    "read_book": Task("tea", "prepare afternoon tea", "ON", "coffeetable", _TREATS),
    "put_dishwasher": Task("dishes", "wash dishes", "INSIDE", "dishwasher", ("plate", "cutleryfork")),
    "prepare_food": Task("meal", "prepare a meal", "ON", "kitchentable", (*_GROCERIES, "coffeepot")),
    "put_fridge": Task("groceries", "put groceries away", "INSIDE", "fridge", _GROCERIES),
    "setup_table": Task("table", "set up a dinner table", "ON", "kitchentable", ("plate", "cutleryfork")),
}
#: The room of the furniture that is the goal; others of its class, in other rooms or beside it, are not.
GOAL_ROOMS: Final[Mapping[str, str]] = {
    "coffeetable": "livingroom", "dishwasher": "kitchen", "kitchentable": "kitchen", "fridge": "kitchen",
}  # fmt: skip
