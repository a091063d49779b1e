"""A small house of three rooms in a row, furnished as a test asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from teamworld.worlds.transport import physics, sight
from teamworld.worlds.transport import state as arrays
from teamworld.worlds.transport.rasters import build_rasters
from teamworld.worlds.transport.scene import Bed, FloorPlan, Furniture, Instance, Item, Pose, Rect, Room, Task
from teamworld.worlds.transport.sight import Eyes, Moment
from teamworld.worlds.transport.state import Primitive, Rules
from teamworld.worlds.transport.world import TransportOptions, TransportWorld

#: Living room, kitchen and bedroom, each 4 m x 4 m, with openings of 1.5 m between them.
ROOMS = (
    Room(0, "Livingroom", Rect(0.0, 0.0, 3.94, 4.0)),
    Room(1, "Kitchen", Rect(4.06, 0.0, 7.94, 4.0)),
    Room(2, "Bedroom", Rect(8.06, 0.0, 12.0, 4.0)),
)
WALLS = np.array(
    [
        *((-0.12, -0.12, 12.12, 0.0), (-0.12, 4.0, 12.12, 4.12), (-0.12, 0.0, 0.0, 4.0), (12.0, 0.0, 12.12, 4.0)),
        *((3.94, 0.0, 4.06, 1.25), (3.94, 2.75, 4.06, 4.0), (7.94, 0.0, 8.06, 1.25), (7.94, 2.75, 8.06, 4.0)),
    ]
)
SIZES = {
    **dict.fromkeys(("apple", "banana", "orange", "burger"), (0.12, 0.12, 0.12)),
    **dict.fromkeys(("bread", "loaf_bread"), (0.2, 0.1, 0.12)),
    **dict.fromkeys(("plastic_basket", "wicker_basket", "wood_basket"), (0.457, 0.305, 0.457)),
    **{
        "bowl": (0.53, 0.18, 0.53),
        "plate": (0.54, 0.05, 0.54),
        "tea_tray": (0.56, 0.06, 0.4),
        "pen": (0.2, 0.02, 0.02),
    },
}
BED = (11.3, 2.0)


def box(name: str, x: float, z: float, width: float, depth: float, top: float, category: str = "table") -> Furniture:
    """Return a box of furniture around its middle."""
    low, high = (x - width / 2, z - depth / 2), (x + width / 2, z + depth / 2)
    corners = (low, (high[0], low[1]), high, (low[0], high[1]))
    return Furniture(name, category, x, z, 0.0, corners, 0.0, top, is_kinematic=False)


def item(number: int, name: str, x: float, z: float, y: float = 0.0, *, support: int | None = None) -> Item:
    """Return a thing; food is of the task, the rest of no use."""
    task: Task = "stuff" if name in ("pen", "plastic_basket", "wicker_basket", "wood_basket") else "food"
    kind = "unrelated" if task == "stuff" else "container" if name in ("bowl", "plate", "tea_tray") else "target"
    room = min(ROOMS, key=lambda room: room.box.distance(x, z)).number
    return Item(number, name, name, task, kind, x, y, z, 0.0, SIZES[name], support, room)  # type: ignore[arg-type]


def house(
    items: Sequence[Item] = (), furniture: Sequence[Furniture] = (), starts: Sequence[tuple[float, float, float]] = ()
) -> Instance:
    """Return the house. The bed is its first piece of furniture; agents start at (x, z, yaw)."""
    bed = box("bed", *BED, 1.2, 2.0, 0.5, "bed")
    plan = FloorPlan("small", Rect(0.0, 0.0, 12.0, 4.0), WALLS, 2.97, ROOMS, (bed, *furniture))
    kinds = [thing.name for thing in items if thing.kind == "target"]
    goals = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    poses = tuple(Pose(*start) for start in starts or ((2.0, 2.0, 0.0),))
    return Instance(
        "small", plan, "food", "low", tuple(items), goals, Bed(0, *BED, 2), poses, build_rasters(plan, poses)
    )


def moment(instance: Instance) -> Moment:
    """Return the moment before the first frame; nobody has looked."""
    ground = arrays.make_ground(instance)
    field = sight.make_field(ground, instance.plan.wall_height)
    state = arrays.begin(instance)
    knowledge = sight.begin(len(instance.starts), len(instance.items), len(instance.plan.rooms))
    return Moment(ground, field, state, knowledge)


def look(at: Moment, eyes: Eyes = Eyes(), draws: float = 1.0) -> None:  # noqa: B008
    """Let all agents look."""
    agents, items = len(at.state.agents), len(at.state.items)
    sight.look(at.ground, at.field, eyes, at.state, at.knowledge, np.full((agents, items + agents), draws))


def do(at: Moment, agent: int, *verbs: int, rules: Rules = Rules(), **about: int) -> list[tuple[int, int, int]]:  # noqa: B008
    """Let one agent do primitive actions alone; return frames, status and reason of each."""
    done = []
    for verb in verbs:
        physics.order(at.state, agent, Primitive(verb, **about))
        frames = physics.run(at.ground, rules, at.state, 1000)
        done.append((frames, int(at.state.agents["status"][agent]), int(at.state.agents["reason"][agent])))
    return done


def put_agent(at: Moment, agent: int, x: float, z: float, yaw: float = 0.0) -> None:
    """Put an agent somewhere."""
    body = at.state.agents[agent]
    body["x"], body["z"] = x, z
    body["east"], body["north"] = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    body["room"] = min(ROOMS, key=lambda room: room.box.distance(x, z)).number


def give(at: Moment, agent: int, hand: int, thing: int) -> None:
    """Put a thing into a hand."""
    at.state.hands[agent, hand] = thing
    at.state.items["holder"][thing] = agent


def world(instance: Instance, horizon: int = 3000, **options: object) -> TransportWorld:
    """Return a world of an instance."""
    chosen = TransportOptions(agents=len(instance.starts), **options)  # type: ignore[arg-type]
    return TransportWorld(instance, "small", horizon, chosen)
