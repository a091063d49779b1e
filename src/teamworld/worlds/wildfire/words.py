"""What agents are told and shown, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from teamworld.worlds.wildfire import describe, grid, observe
from teamworld.worlds.wildfire.units import GO_ANYWHERE

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.levels import Level
    from teamworld.worlds.wildfire.placement import Instance
    from teamworld.worlds.wildfire.sightings import Sightings
    from teamworld.worlds.wildfire.views import WildfireView

#: Actions of the history that a text shows.
TAIL = 5
_PRIMITIVES = {
    "firefighter": ("go", "cut", "lift", "spray", "fill"),
    "bulldozer": ("go", "clear"),
    "drone": ("go",),
    "helicopter": ("go", "board", "fill", "drop"),
}


def shown(incident: Incident, sightings: Sightings, row: int, view: WildfireView, form: str, weather: bool) -> str:
    """Return what an agent sees as the describer tells it, and what else it was told; or its window as a grid.

    Args:
        incident: What goes on.
        sightings: What was seen of it.
        row: The agent's row.
        view: The agent's.
        form: ``plain`` or ``grid``.
        weather: Whether it feels wind and slope (B33).
    """
    if form == "grid":
        seen = observe.observation(incident, sightings, row)
        place = f"{view.agent} at ({seen.x}, {seen.y}), the cell between asterisks"
        return f"{place}. Legend: {grid.legend()}.\n{grid.text(seen.window)}"
    about = describe.situation(incident, sightings, row, weather=weather, names=view.names)
    lines = [f"Timestep {view.t} of {view.t + view.left}. Cells are (x, y).", describe.plain(about), *told(view)]
    for outcome in view.history[-TAIL:]:
        why = f" ({outcome.reason})" if outcome.reason else ""
        lines.append(f"I did {outcome.action}, begun at timestep {outcome.start}: {outcome.status}{why}.")
    return "\n".join(lines)


def told(view: WildfireView) -> Iterator[str]:
    """Yield what an agent knows beyond its window, a line each."""
    scene = view.scene
    for goal in view.goals:
        place = scene.place(goal.thing, scene.agents[view.agent].at) if goal.thing is not None else None
        where = "" if place is None else f", nearest place ({place[0]}, {place[1]})"
        left = f", {goal.units} left" if goal.state == "open" else ""
        yield f"Goal {goal.id} ({goal.kind} {goal.thing}): {goal.state}{left}{where}."
    if scene.zone is not None:
        yield f"The zone is at ({scene.zone[0]}, {scene.zone[1]}); it reaches three cells to each side."
    for number, cell in scene.water.items():
        yield f"Water <water>({number}) is at ({cell[0]}, {cell[1]})."
    if scene.unseen:
        names = ", ".join(f"<sector>({number}) at {scene.sectors[number]}" for number in scene.unseen)
        yield f"Not seen whole: {names}."


def primitive(kind: str, command: Sequence[int]) -> str:
    """Return the name of a primitive, for the log."""
    order = int(command[0])
    return "go" if order == GO_ANYWHERE else "stop" if order < 0 else _PRIMITIVES[kind][order]


def task_of(level: Level, instance: Instance) -> str:
    """Return the task in words."""
    zone = "" if instance.target is None else f"({instance.target.x}, {instance.target.y})"
    people = f"{level.clusters} cluster{'s' * (level.clusters != 1)} of {level.per_cluster} civilians"
    hidden = "" if level.known else " Nobody knows where: look for it first."
    words = {
        "cut_sparse": "Cut all trees of the target cells.",
        "cut_lines": "Cut all trees of the lines of cells.",
        "scout": "Find the fire; two drones or helicopters must be directly above it at the same time.",
        "transport": f"Bring all firefighters to the zone at {zone}, at most three cells from it, on the ground; a "
        "helicopter carries five at a time and flies faster than they walk.",
        "contain": f"Put the fire out or keep it from spreading: trees and buildings that burn, and agents that die, "
        f"count against the team.{hidden}",
        "rescue": f"Bring {people} to the zone at {zone}, at most three cells from it. A firefighter carries one; they "
        f"wander about.{hidden}",
        "both": f"Keep the fire from spreading and {people} from it: what burns and who dies counts against the "
        f"team.{hidden}",
    }
    return (
        f"{words[level.task]} The map has {level.size} x {level.size} cells (x, y), x to the east, y to the south. "
        "Fire goes from cell to cell; water puts it out, and it cannot enter ground whose trees are cut. It kills "
        "whoever walks into it."
    )
