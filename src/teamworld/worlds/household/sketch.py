"""A home as text: a floor plan of letters, and what it cannot show in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.household.home import NAMES
from teamworld.worlds.household.scene import VERSION

Static: TypeAlias = Mapping[str, Any]
Snapshot: TypeAlias = Mapping[str, Any]


def text(static: Static, snapshot: Snapshot) -> str:
    """Draw a moment as text: a floor plan, a sign for 25 by 50 centimetres, then in words what it cannot show.

    ``#`` walls, ``:`` furniture, ``X`` closed and ``O`` open containers, ``T`` what the goal wants things brought to,
    small letters the things (the first of their class; those in closed containers are not on the plan), digits agents.
    """
    check(static, snapshot)
    boxes = [room["box"] for room in static["rooms"]]
    left, top = min(box[0] for box in boxes), max(box[3] for box in boxes)
    size = (top - min(box[1] for box in boxes)) // 50 + 2, (max(box[2] for box in boxes) - left) // 25 + 2
    signs = np.full(size, " ")

    def cells(box: Sequence[int], beyond: int = 0) -> tuple[slice, slice]:
        """Return the signs that a box covers; ``beyond`` counts its right and lower edge, too."""
        last_row, last_column = (top - box[1] - 1 + beyond) // 50, (box[2] - left - 1 + beyond) // 25
        return slice(max((top - box[3]) // 50, 0), last_row + 1), slice(max((box[0] - left) // 25, 0), last_column + 1)

    for box in boxes:
        rows, columns = cells(box, 1)
        signs[rows, [columns.start, columns.stop - 1]] = "#"
        signs[[rows.start, rows.stop - 1], columns] = "#"
    for door in static["doors"]:
        (x, z), half = door["at"], door["width"] // 2
        across, along = (30, half) if door["across"] == "x" else (half, 55)
        signs[cells([x - across, z - along + 25, x + across, z + along - 25])] = " "
    opened = set(snapshot["open"])
    for piece in static["furniture"]:
        sign = "T" if piece["goal"] else ":" if not piece["container"] else "O" if piece["id"] in opened else "X"
        signs[cells(piece["box"])] = sign
    hiding = hiding_of(static, snapshot)
    for thing, (relation, place, x, z) in zip(static["things"], snapshot["things"], strict=True):
        if relation != "HELD" and not (relation == "INSIDE" and place in hiding):
            signs[(top - z) // 50, (x - left) // 25] = thing["name"][0]
    for agent, (x, z, _) in enumerate(snapshot["agents"], 1):
        signs[(top - z) // 50, (x - left) // 25] = str(agent % 10)
    plan = "\n".join("".join(row).rstrip() for row in signs.tolist()).rstrip()
    return f"step {snapshot['t']} of {static['steps']}\n{plan}\n" + "\n".join(_told(static, snapshot))


def _told(static: Static, snapshot: Snapshot) -> Iterator[str]:
    """Say what the goal asks for, who is where with what, and where each thing is."""
    names = {one["id"]: f"{one['name']} {one['id']}" for one in (*static["rooms"], *static["furniture"])}
    for need, missing in zip(static["needs"], snapshot["missing"], strict=True):
        target = names.get(need["target"], str(need["target"]))
        yield f"{need['number']} {need['name']} {need['relation']} {target}: {missing} missing"
    hiding = hiding_of(static, snapshot)
    for agent, (x, z, heading) in enumerate(snapshot["agents"], 1):
        yield f"{agent} {NAMES[agent - 1]} at ({x}, {z}) cm, heading {heading}"
    for thing, (relation, place, _, _) in zip(static["things"], snapshot["things"], strict=True):
        at = f"held by {NAMES[place - 1]}" if relation == "HELD" else f"{relation} {names.get(place, f'node {place}')}"
        yield f"{thing['name']} {thing['id']} {at}" + (" (closed)" if relation == "INSIDE" and place in hiding else "")


def hiding_of(static: Static, snapshot: Snapshot) -> set[int]:
    """Return the containers that are closed."""
    return {piece["id"] for piece in static["furniture"] if piece["container"]} - set(snapshot["open"])


def check(static: Static, snapshot: Snapshot) -> None:
    """Refuse data of another version.

    Raises:
        UserError: It is of another one.
    """
    for one in (static, snapshot):
        if one.get("v") != VERSION:
            raise UserError(f"expected a household picture of version {VERSION}, got {one.get('v')!r}")
