"""What stands in houses of our own: models of furniture with their sizes, and which of them each kind of room gets.

Sizes are those of common models of the published layouts (TDW, ``models_core.json``), to whole even centimetres. How
many pieces a room gets follows the published layouts in the mean (``floorplan_layouts.json``), leaving out what is too
small to matter: crockery, lamps on tables, cushions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from teamworld.worlds.transport.scene import RoomKind

Spot: TypeAlias = Literal["wall", "corner", "middle", "before_sofa", "around_table", "hung"]


class Model(NamedTuple):
    """A model of furniture; lengths are whole even centimetres."""

    category: str
    width: int
    """From side to side."""
    depth: int
    """From back to front."""
    top: int
    bottom: int = 0
    is_fixed: bool = False


MODELS: Final[Mapping[str, Model]] = {
    "side_table": Model("table", 62, 46, 61),
    "square_table": Model("table", 58, 58, 58),
    "small_table": Model("table", 60, 60, 45),
    "low_table": Model("table", 100, 100, 31),
    "high_table": Model("table", 114, 76, 90),
    "dining_table": Model("table", 108, 108, 73),
    "long_table": Model("table", 206, 104, 73),
    "desk": Model("table", 130, 76, 74),
    "long_coffee_table": Model("coffee table", 200, 54, 33),
    "round_coffee_table": Model("coffee table", 90, 90, 39),
    "coffee_table": Model("coffee table", 122, 74, 36),
    "side_chair": Model("chair", 48, 54, 78),
    "dining_chair": Model("chair", 48, 56, 103),
    "linen_chair": Model("chair", 62, 66, 93),
    "metal_chair": Model("chair", 42, 52, 87),
    "club_chair": Model("chair", 92, 84, 75),
    "armchair": Model("chair", 70, 70, 76),
    "office_chair": Model("chair", 80, 76, 116),
    "loveseat": Model("sofa", 162, 92, 83),
    "three_seat_sofa": Model("sofa", 232, 90, 68),
    "bench_sofa": Model("sofa", 224, 68, 57),
    "deep_sofa": Model("sofa", 204, 106, 75),
    "bench": Model("sofa", 128, 48, 58),
    "bed": Model("bed", 220, 258, 120),
    "base_cabinet": Model("cabinet", 62, 64, 92, is_fixed=True),
    "sink_cabinet": Model("cabinet", 152, 64, 93, is_fixed=True),
    "tall_cabinet": Model("cabinet", 62, 64, 208, is_fixed=True),
    "wall_cabinet": Model("cabinet", 62, 40, 206, 128, is_fixed=True),
    "refrigerator": Model("refrigerator", 78, 92, 178, is_fixed=True),
    "dishwasher": Model("dishwasher", 60, 66, 82, is_fixed=True),
    "bookcase": Model("shelf", 90, 34, 190, is_fixed=True),
    "floor_lamp": Model("floor lamp", 60, 50, 161, is_fixed=True),
    "tripod_lamp": Model("floor lamp", 56, 50, 140, is_fixed=True),
    "trunk": Model("trunk", 90, 68, 100, is_fixed=True),
    "suitcase": Model("suitcase", 38, 12, 36),
    "woven_box": Model("box", 72, 72, 50),
    "toy_horse": Model("toy", 94, 28, 56),
    "tall_painting": Model("painting", 82, 4, 230, 114, is_fixed=True),
    "wide_painting": Model("painting", 152, 4, 158, 56, is_fixed=True),
    "picture": Model("picture", 116, 4, 198, 114, is_fixed=True),
}

#: What stands side by side along a wall of a kitchen, in one of these orders; the middle ones carry wall cabinets.
COUNTERS: Final = (
    ("refrigerator", "base_cabinet", "sink_cabinet", "dishwasher", "base_cabinet", "tall_cabinet"),
    ("tall_cabinet", "dishwasher", "sink_cabinet", "base_cabinet", "refrigerator"),
    ("refrigerator", "sink_cabinet", "base_cabinet", "dishwasher", "tall_cabinet"),
)
#: What there is at the counter in any case.
SHORTEST_COUNTER: Final = ("refrigerator", "base_cabinet", "sink_cabinet", "dishwasher")


class Group(NamedTuple):
    """Some pieces of a room: each is one of several models."""

    models: tuple[str, ...]
    counts: tuple[int, ...]
    """How many there are, each as likely as the others."""
    spots: tuple[Spot, ...]
    """Where each may stand, the first that has a place."""
    is_needed: bool = False
    """Whether the room is drawn anew if one of them has no place."""


_DINING: Final = ("side_chair", "dining_chair", "linen_chair", "metal_chair")
_SEATS: Final = ("club_chair", "armchair", "linen_chair", "side_chair")
_SOFAS: Final = ("loveseat", "loveseat", "bench_sofa", "three_seat_sofa", "deep_sofa", "bench")
_COFFEE_TABLES: Final = ("long_coffee_table", "round_coffee_table", "coffee_table")
_SIDE_TABLES: Final = ("side_table", "side_table", "side_table", "square_table", "small_table", "high_table")
_LAMPS: Final = ("floor_lamp", "tripod_lamp")
_PAINTINGS: Final = ("tall_painting", "tall_painting", "wide_painting", "picture")
_LUGGAGE: Final = ("suitcase", "suitcase", "suitcase", "woven_box", "toy_horse")

#: What a room of each kind gets, in the order in which it is placed; a kitchen first gets its counter.
GROUPS: Final[Mapping[RoomKind, tuple[Group, ...]]] = {
    "Kitchen": (
        Group(("dining_table", "high_table", "high_table"), (1, 1, 1, 1, 2), ("middle", "wall"), is_needed=True),
        Group(_DINING, (1, 2, 3, 3, 4), ("around_table", "wall")),
        Group(_PAINTINGS, (0, 1, 1), ("hung",)),
        Group(_LUGGAGE, (0, 0, 1), ("corner",)),
    ),
    "Livingroom": (
        Group(_SOFAS, (1, 1, 2, 2, 2, 3), ("wall",), is_needed=True),
        Group(_COFFEE_TABLES, (0, 1, 1), ("before_sofa",)),
        Group(("dining_table", "low_table", "long_table", "dining_table"), (0, 0, 1), ("middle",)),
        Group(_SIDE_TABLES, (0, 0, 1, 1, 2), ("wall",)),
        Group(_DINING, (0, 0, 1, 2), ("around_table", "wall")),
        Group(_SEATS, (0, 1, 1, 2), ("wall", "corner")),
        Group(_LAMPS, (0, 1, 1), ("corner",)),
        Group(("bookcase", "trunk"), (0, 0, 1), ("wall",)),
        Group(_LUGGAGE, (0, 1, 1), ("corner", "wall")),
        Group(_PAINTINGS, (1, 2, 2), ("hung",)),
    ),
    "Bedroom": (
        Group(("bed",), (1,), ("wall",), is_needed=True),
        Group(_SIDE_TABLES, (0, 1, 1, 2), ("wall",)),
        Group(_SEATS, (1, 1, 2, 3), ("wall", "corner")),
        Group(("trunk",), (0, 1, 1), ("wall",)),
        Group(_LAMPS, (0, 1, 2), ("corner",)),
        Group(_PAINTINGS, (1, 2, 2), ("hung",)),
    ),
    "Office": (
        Group(("desk", "high_table", "high_table", "long_table"), (1, 1, 2), ("wall",), is_needed=True),
        Group(("low_table", "dining_table"), (0, 0, 1), ("middle",)),
        Group(("office_chair", "side_chair", "metal_chair"), (1, 1, 2), ("around_table",)),
        Group(_SIDE_TABLES, (0, 0, 1), ("wall",)),
        Group(_SOFAS, (0, 1, 1), ("wall",)),
        Group(_SEATS, (0, 1, 1), ("wall", "corner")),
        Group(("bookcase", "trunk"), (0, 1, 1), ("wall",)),
        Group(_LAMPS, (0, 0, 1), ("corner",)),
        Group(_LUGGAGE, (0, 1), ("corner", "wall")),
        Group(_PAINTINGS, (1, 1, 2), ("hung",)),
    ),
    "Porch": (),
}
