"""The goals of each task, from what is known, learned or imagined (docs/reference/worlds/wildfire.md)."""

from __future__ import annotations

from collections.abc import Iterator
from math import dist
from typing import Literal

from teamworld.language import Cell
from teamworld.worlds.contract import Goal
from teamworld.worlds.wildfire.scene import Body, Brief, Scene, thing

#: Flyers that have to be over a fire at once, and a helicopter with somebody to carry.
PAIR = 2
_WINDS = (("northwest", "north", "northeast"), ("west", "centre", "east"), ("southwest", "south", "southeast"))
_WORK: dict[str, tuple[str, ...]] = {
    "cut": ("firefighter", "bulldozer"),
    "search": ("firefighter", "bulldozer", "drone", "helicopter"),
    "scout": ("drone", "helicopter"),
    "suppress": ("firefighter", "bulldozer", "helicopter"),
    "transport": ("firefighter", "helicopter"),
    "rescue": ("firefighter",),
}


def part_of_map(cell: Cell, size: int) -> str:
    """Return in which of nine parts of the map a cell lies, in words."""
    return _WINDS[min(2, 3 * cell[1] // size)][min(2, 3 * cell[0] // size)]


def bucket(length: float, size: int) -> str:
    """Return a distance in words, by the side of the map."""
    return "near" if length < size / 4 else "middle" if length < size / 2 else "far"


def goals_in(brief: Brief, scene: Scene, looked: bool | None = None) -> tuple[Goal, ...]:
    """Return the goals as they stand in a scene, in a fixed order.

    Args:
        brief: What everybody was told.
        scene: What is known, or true.
        looked: In the truth, where all is known: whether what had to be found was found; None in what agents know.
    """
    makers = {
        "cut_sparse": _cuts, "cut_lines": _lines, "scout": _scouting, "transport": _transport, "contain": _fires,
        "rescue": _rescues, "both": _both,
    }  # fmt: skip
    return (*_search(brief, scene, looked), *makers[brief.task](brief, scene))


def _search(brief: Brief, scene: Scene, looked: bool | None) -> Iterator[Goal]:
    """Yield the goal to find the fire and the civilians, where nobody was told."""
    if brief.known:
        return
    fire = brief.task in ("scout", "contain", "both")
    people = brief.clusters * brief.per_cluster
    seen = sum(number < people for number in scene.people)
    left = people - seen + int(fire and not scene.fires)
    if looked is not None:
        left = 0 if looked else max(1, left)
    yield Goal(
        "search",
        "search",
        thing("area", 0),
        features=(("for", "fire and civilians" if fire and people else "fire" if fire else "civilians"),),
        places=len(brief.kinds),
        kinds=brief.of_team(*_WORK["search"]),
        units=left,
        state="open" if left else "done",
    )


def _cuts(brief: Brief, scene: Scene) -> Iterator[Goal]:
    for number, spot in scene.targets.items():
        yield Goal(
            f"cut_{number}",
            "cut",
            thing("target", number),
            features=(("shape", "cell"),),
            weight=3.0,
            places=1,
            kinds=brief.of_team(*_WORK["cut"]),
            units=spot.trees,
            state="open" if spot.trees else "done",
        )


def _lines(brief: Brief, scene: Scene) -> Iterator[Goal]:
    for number in dict.fromkeys(spot.line for spot in scene.targets.values() if spot.line is not None):
        cells = scene.line(number)
        trees = sum(spot.trees for spot in cells)
        across = len(cells) > 1 and cells[0].at[1] == cells[1].at[1]
        yield Goal(
            f"line_{number}",
            "cut",
            thing("line", number),
            features=(("shape", "line"), ("cells", str(len(cells))), ("way", "across" if across else "down")),
            weight=3.0 * len(cells),
            places=min(len(cells), len(brief.agents(*_WORK["cut"]))),
            kinds=brief.of_team(*_WORK["cut"]),
            units=trees,
            state="open" if trees else "done",
        )


def _scouting(brief: Brief, scene: Scene) -> Iterator[Goal]:
    for number, front in scene.fires.items():
        place = scene.place(thing("fire", number), front.origin or (0, 0))
        over = sum(scene.over_fire(at, number) for at in _flyers(brief, scene))
        yield Goal(
            f"scout_{number}",
            "scout",
            thing("fire", number),
            features=(("part", part_of_map(place or (0, 0), brief.size)),),
            weight=float(PAIR),
            quorum=PAIR,
            places=PAIR,
            kinds=brief.of_team(*_WORK["scout"]),
            units=max(0, PAIR - over),
            constraints=("participation", "spatial", "temporal"),
            state="open" if over < PAIR else "done",
        )


def _flyers(brief: Brief, scene: Scene) -> list[Cell]:
    return [body.at for agent, body in scene.agents.items() if brief.kinds[agent] in _WORK["scout"]]


def _fires(brief: Brief, scene: Scene) -> Iterator[Goal]:
    """Yield one goal for each fire: all that burns and burnt from one beginning is one, however its front runs."""
    for number, front in scene.fires.items():
        place = _middle(front.cells) or front.origin
        yield Goal(
            f"fire_{number}",
            "suppress",
            thing("fire", number),
            features=(
                ("part", "unknown" if place is None else part_of_map(place, brief.size)),
                ("water", "yes" if scene.water else "no"),
            ),
            weight=1.0,
            places=max(1, len(brief.agents(*_WORK["suppress"]))),
            kinds=brief.of_team(*_WORK["suppress"]),
            units=0 if front.out else max(1, len(front.cells)),
            prerequisites=() if front.part_of is None or front.out else (f"fire_{front.part_of}",),
            state="done" if front.out else "open",
        )


def _middle(cells: tuple[Cell, ...]) -> Cell | None:
    if not cells:
        return None
    return sum(x for x, _ in cells) // len(cells), sum(y for _, y in cells) // len(cells)


def _transport(brief: Brief, scene: Scene) -> Iterator[Goal]:
    """Yield the goal to bring all firefighters to the zone: joint for a helicopter and those it carries."""
    left = [
        body
        for agent, body in scene.agents.items()
        if brief.kinds[agent] == "firefighter" and not _arrived(body, brief, scene)
    ]
    start = max((dist(body.at, scene.zone or body.at) for body in left), default=0.0)
    helicopters = brief.of_team("helicopter")
    yield Goal(
        "transport_0",
        "transport",
        thing("zone", 0),
        features=(("distance", bucket(start, brief.size)), ("helicopter", "yes" if helicopters else "no")),
        weight=float(len(brief.agents("firefighter"))),
        quorum=PAIR if helicopters else 1,
        places=len(brief.agents(*_WORK["transport"])),
        kinds=brief.of_team(*_WORK["transport"]),
        units=len(left),
        constraints=("capability", "participation", "spatial") if helicopters else (),
        losable=True,
        state="open" if left else "done",
    )


def _arrived(body: Body, brief: Brief, scene: Scene) -> bool:
    """Whether a firefighter counts as transported (B26)."""
    there = scene.zone is not None and in_zone(body.at, scene.zone)
    return there and (body.aboard is None or brief.riders_count)


def in_zone(at: Cell, zone: Cell) -> bool:
    """Whether a cell counts as the zone: at most three cells away in x and in y (wildfire spec A13)."""
    return abs(at[0] - zone[0]) <= 3 and abs(at[1] - zone[1]) <= 3


def _rescues(brief: Brief, scene: Scene) -> Iterator[Goal]:
    """Yield one goal for each cluster of civilians that somebody knows of."""
    clusters = sorted({*scene.clusters, *(person.cluster for person in scene.people.values())})
    for number in clusters:
        people = list(scene.members(number).values())
        dead = sum(person.state == "dead" for person in people)
        size = brief.per_cluster if number < brief.clusters else len(people)
        left = max(0, size - sum(person.state in ("safe", "dead") for person in people))
        place = scene.place(thing("cluster", number), scene.zone or (0, 0))
        away = "unknown" if place is None or scene.zone is None else bucket(dist(place, scene.zone), brief.size)
        state: Literal["open", "done", "lost"] = "open" if left else "lost" if dead else "done"
        yield Goal(
            f"rescue_{number}",
            "rescue",
            thing("cluster", number),
            features=(("people", "few" if size <= 3 else "many"), ("distance", away)),
            weight=float(size),
            places=max(1, min(size, len(brief.agents("firefighter")))),
            kinds=("firefighter",),
            units=left,
            constraints=("dependency", "spatial"),
            losable=True,
            state=state,
        )


def _both(brief: Brief, scene: Scene) -> Iterator[Goal]:
    """Yield the fires, and for each cluster the goal to keep its people from the fire until it is out."""
    fires = tuple(_fires(brief, scene))
    yield from fires
    out = bool(fires) and all(goal.state == "done" for goal in fires)
    for goal in _rescues(brief, scene):
        number = goal.thing.id if goal.thing is not None else 0
        people = list(scene.members(number).values())
        alive = [person for person in people if person.state != "dead"]
        size = brief.per_cluster if number < brief.clusters else len(people)
        lost = len(people) - len(alive)
        state: Literal["open", "done", "lost"] = "open"
        if lost >= size or (out and lost):
            state = "lost"
        elif out:
            state = "done"
        yield Goal(
            f"guard_{number}",
            "guard",
            goal.thing,
            features=goal.features[:1],
            weight=goal.weight,
            places=goal.places,
            kinds=goal.kinds,
            units=size - lost if state == "open" else 0,
            constraints=goal.constraints,
            losable=True,
            state=state,
        )
