"""One moment of the transport world as arrays, and what of the instance and of its rules the kernels read.

A ``State`` is changed in place by ``physics`` and by nobody else. Headings are unit vectors (east, north) rather than
angles: turning and walking then take + - * / and square roots alone, which are the same on every machine.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from teamworld.worlds.transport.scene import Instance, Item

F64: TypeAlias = npt.NDArray[np.float64]
F32: TypeAlias = npt.NDArray[np.float32]
I64: TypeAlias = npt.NDArray[np.int64]
I16: TypeAlias = npt.NDArray[np.int16]
U8: TypeAlias = npt.NDArray[np.uint8]
Flags: TypeAlias = npt.NDArray[np.bool_]
Records: TypeAlias = npt.NDArray[np.void]

#: Names of agents, by number. The benchmark has the first two.
TEAM: Final = ("Alice", "Bob", "Carol", "Dave")
#: Hands of an agent: 0 left, 1 right.
HANDS: Final = 2
#: Things that a container takes (TDW-MAT, ``tdw_gym.py``: three places in the list of what is held).
CAPACITY: Final = 3
#: Frames of an episode of the benchmark.
FRAMES: Final = 3000
NOBODY: Final = -1
NOTHING: Final = -1

# Primitive actions, by code.
NONE, FORWARD, LEFT, RIGHT, GRASP, PUT, DROP, STAY = range(8)
PRIMITIVES: Final = ("none", "forward", "turn_left", "turn_right", "grasp", "put_in", "drop", "stay")
# How a primitive action ended, by code.
RUNNING, SUCCESS, FAILURE = range(3)
#: Why one failed; ``reason`` holds indices.
REASONS: Final = (
    "", "blocked", "too_far", "hand_full", "contained", "held", "nothing_to_put", "container_full", "empty_hand",
    "spilled",
)  # fmt: skip
OK, BLOCKED, TOO_FAR, HAND_FULL, CONTAINED, HELD, NOTHING_TO_PUT, CONTAINER_FULL, EMPTY_HAND, SPILLED = range(10)

#: Kinds of items, by code.
TARGET, CONTAINER, UNRELATED = range(3)
ITEM_KINDS: Final = ("target", "container", "unrelated")


class Rules(NamedTuple):
    """What may be chosen about the rules, as numbers."""

    is_faithful: bool = True
    """Whether bodies walk as in the benchmark: a wide probe ahead stops them, and each blocked move shifts them."""
    body_radius: float = 0.2
    """Of the disc in which an agent stands, metres."""
    creep: float = 0.06
    """How far a blocked move shifts the body where there is room, metres."""
    put_frames: int = 146
    """Frames of putting a thing into a container."""
    put_failure: float = 0.0
    """Probability that the thing falls beside it."""
    can_steal: bool = False
    """Whether agents can take what another agent holds."""


#: A room: its box, whether it has a name, whether it is a bedroom.
ROOM: Final = np.dtype(
    [("x0", "f8"), ("z0", "f8"), ("x1", "f8"), ("z1", "f8"), ("is_named", "?"), ("is_bedroom", "?")], align=True
)
#: An item as it never changes: a code of its kind, its size, the radius of the disc that it covers on the floor, and
#: whether it stops a walking body where it lies on the floor.
ITEM: Final = np.dtype(
    [("kind", "i8"), ("width", "f8"), ("height", "f8"), ("depth", "f8"), ("radius", "f8"), ("blocks", "?")], align=True
)
#: An agent. ``east`` and ``north`` are its heading. ``verb`` is the primitive action that runs, ``item`` and ``hand``
#: what it is about, ``length`` the frames of ``STAY``, ``spent`` the frames that it has run, ``phase`` of ``GRASP`` the
#: frames since its walk ended (0 before), ``walked`` metres, ``luck`` a number drawn for it, from 0 to 1. ``last`` is
#: the one that ended in the last run of frames (``NONE`` where none did), with ``status`` and ``reason``. ``moves``
#: counts the moves forward that have ended, ``blocked`` those of them that were blocked. ``room`` is where it is.
AGENT: Final = np.dtype(
    [
        *((name, "f8") for name in ("x", "z", "east", "north", "walked", "luck")),
        *((name, "i8") for name in ("verb", "item", "hand", "length", "spent", "phase")),
        *((name, "i8") for name in ("last", "status", "reason", "moves", "blocked", "room")),
    ],
    align=True,
)
#: An item as it is: where it lies (of what is held or contained, where it was before; y is the height of its lower
#: side), the agent that holds it, the container that it is in, the furniture that it lies on, -1 for none of each;
#: whether it has been near the bed, for good, and whether it was in nobody's hands then.
THING: Final = np.dtype(
    [
        *((name, "f8") for name in ("x", "y", "z")),
        *((name, "i8") for name in ("holder", "inside", "support")),
        *((name, "?") for name in ("delivered", "released")),
    ],
    align=True,
)


class Ground(NamedTuple):
    """What never changes while an episode is played, as arrays for the kernels."""

    walls: F64
    """(W, 4): x0, z0, x1, z1."""
    x0: float
    """Where the rasters begin."""
    z0: float
    cell: float
    """Side of their cells."""
    blocked: U8
    """(I, J): 1 where furniture stops a walking body."""
    height: F32
    """(I, J): how high walls and furniture reach, metres."""
    owner: I16
    """(I, J): the furniture that reaches highest, -1 where none does."""
    rooms: Records
    """(R,) of ``ROOM``."""
    items: Records
    """(M,) of ``ITEM``."""
    bed_x: float
    """The point to which targets are brought."""
    bed_z: float
    bed_top: float
    """How high it reaches."""
    bed_radius: float
    """How far its corners are from that point."""
    bed_owner: int
    """Its index in the furniture."""


class TransportState(NamedTuple):
    """One moment. N agents, M items."""

    clock: I64
    """(1,): frames gone."""
    agents: Records
    """(N,) of ``AGENT``."""
    hands: I64
    """(N, 2): the item in each hand, left first, -1 for none."""
    items: Records
    """(M,) of ``THING``."""

    def copy(self) -> TransportState:
        """Return another that can be changed without changing this one."""
        return TransportState._make(array.copy() for array in self)


class Primitive(NamedTuple):
    """A primitive action of one agent."""

    verb: int = STAY
    item: int = NOTHING
    """``GRASP``: what."""
    hand: int = 0
    """``GRASP``, ``DROP``: 0 left, 1 right."""
    frames: int = 1
    """``STAY``: how long."""


#: Height of a thing's upper side from which it stops a walking body (the probe box of TDW's Replicant begins there).
LOW: Final = 0.12


def make_ground(instance: Instance) -> Ground:
    """Return what kernels read of an instance."""
    plan, rasters, items = instance.plan, instance.rasters, instance.items
    bed = plan.furniture[instance.bed.furniture]
    return Ground(
        # Copies: kernels are compiled anew for arrays that cannot be written.
        walls=np.array(plan.walls, np.float64, order="C"),
        x0=float(rasters.x0),
        z0=float(rasters.z0),
        cell=float(rasters.cell),
        blocked=np.array(rasters.is_blocked, np.uint8, order="C"),
        height=np.ascontiguousarray(np.where(rasters.is_wall, plan.wall_height, rasters.top), np.float32),
        owner=np.array(rasters.owner, np.int16, order="C"),
        rooms=np.array([(*room.box, room.is_named, room.kind == "Bedroom") for room in plan.rooms], ROOM),
        items=np.array([(ITEM_KINDS.index(i.kind), *i.size, max(i.size[::2]) / 2, _blocks(i)) for i in items], ITEM),
        bed_x=float(instance.bed.x),
        bed_z=float(instance.bed.z),
        bed_top=float(bed.top),
        bed_radius=max(math.hypot(x - instance.bed.x, z - instance.bed.z) for x, z in bed.corners),
        bed_owner=instance.bed.furniture,
    )


def _blocks(item: Item) -> bool:
    """Return whether an item on the floor stops a walking body: a target of the task never does (TDW-MAT)."""
    return item.kind != "target" and item.size[1] > LOW


def begin(instance: Instance) -> TransportState:
    """Return the moment before the first frame."""
    agents = np.zeros(len(instance.starts), AGENT)
    agents["item"] = NOTHING
    for agent, pose in zip(agents, instance.starts, strict=True):
        yaw = math.radians(pose.yaw)
        agent["room"] = instance.plan.room_at(pose.x, pose.z).number
        agent["x"], agent["z"] = pose.x, pose.z
        # Rounded, so that machines whose sine differs in the last digit begin alike.
        agent["east"], agent["north"] = round(math.sin(yaw), 12), round(math.cos(yaw), 12)
    supports = (NOTHING if item.support is None else item.support for item in instance.items)
    lying = [(i.x, i.y, i.z, NOBODY, NOTHING, on, False, False) for i, on in zip(instance.items, supports, strict=True)]
    hands = np.full((len(agents), HANDS), NOTHING, np.int64)
    return TransportState(np.zeros(1, np.int64), agents, hands, np.array(lying, THING))
