"""Pictures of a wildfire: as text, as pixels, and as a figure with a legend.

All are drawn from plain data: what does not change (``static``) and one moment (``snapshot``). Colours keep apart for
colour-blind readers: what burns goes from light to dark as it burns down, forest from light to dark as it grows denser,
and agents are told apart by their shapes.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.wildfire.kernels.agents import DRY, SEEN_BUILDING, SEEN_CIVILIAN, SEEN_WATER, UNSEEN
from teamworld.worlds.wildfire.observe import true_codes
from teamworld.worlds.wildfire.state import CARRIED, DEAD, KINDS, NOBODY, SIGHTS, WATER
from teamworld.worlds.wildfire.text import MEANINGS, SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from teamworld.worlds.wildfire.levels import WildfireInstance
    from teamworld.worlds.wildfire.state import Incident

    Codes = npt.NDArray[np.uint8]
    Colour = tuple[int, int, int]
    Snapshot = Mapping[str, Any]
    Static = Mapping[str, Any]


#: By the code of a cell; UNSEEN is what nobody saw.
COLOURS = np.array(
    [
        (255, 255, 255),
        *((188, 205, 220), (150, 188, 204), (110, 158, 180), (70, 122, 150)),  # wet ground, 0 to 3 trees
        *((238, 233, 219), (204, 221, 184), (146, 185, 136), (88, 139, 94)),  # dry ground
        *((255, 221, 51), (232, 84, 16), (124, 64, 86), (46, 42, 42)),  # ignited, on fire, smouldering, burnt out
        *((0, 92, 175), (177, 96, 160), (255, 255, 255)),  # water, building, civilian
    ],
    np.uint8,
)

#: What agents are filled with, their rim, targets, and civilians.
AGENT, RIM, TARGET, CIVILIAN = (255, 255, 255), (20, 20, 20), (0, 0, 0), (86, 180, 233)
HATCH = "0.8"

#: Letters of the kinds in texts, and shapes in figures.
LETTERS, MARKERS = "FZDH", ("o", "s", "D", "^")

#: Side in pixels that a picture without a given scale comes near to, and the smallest of an agent.
DEFAULT_SIDE, SMALLEST = 800, 9

#: Agents up to which a figure writes their numbers.
MOST_LABELS = 30


def static(instance: WildfireInstance) -> dict[str, Any]:
    """Return what does not change, as plain data: the land as N strings of one hexadecimal digit a cell, its code."""
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[_untouched(instance)]
    level = instance.level
    return {
        "v": 1,
        "size": level.size,
        "level": level.full_name,
        "land": [row.tobytes().decode() for row in digits],
        "kinds": [kind for kind, count in zip(KINDS, level.team.counts, strict=True) for _ in range(count)],
        "targets": [[cell.x, cell.y] for line in instance.targets for cell in line],
        "target": None if instance.target is None else list(instance.target),
    }


def snapshot(incident: Incident) -> dict[str, Any]:
    """Return a moment as plain data.

    ``land`` lists runs of cells that are not as at the start, row by row: first cell (y N + x), how many, code, and so
    on. ``agents`` has a place for each, null for those that are lost; ``aboard`` is the helicopter's place in the team,
    or null; ``civilians`` are [x, y, state].
    """
    units, civilians = incident.units, incident.civilians
    codes, start = true_codes(incident.land).reshape(-1), _untouched(incident.instance).reshape(-1)
    changed = np.concatenate([[0], np.where(codes != start, codes, 0), [0]])
    edges = np.flatnonzero(changed[1:] != changed[:-1])
    runs = np.stack([edges[:-1], np.diff(edges), codes[edges[:-1]]], axis=1) if len(edges) else np.empty((0, 3), int)
    runs = runs[changed[runs[:, 0] + 1] > 0]
    places = units.places().tolist()
    return {
        "v": 1,
        "t": incident.t,
        "land": runs.reshape(-1).tolist(),
        "agents": [place if alive else None for place, alive in zip(places, units.alive.tolist(), strict=True)],
        "aboard": [None if row == NOBODY else row for row in units.aboard.tolist()],
        "water": units.water.tolist(),
        "civilians": np.stack([civilians.x, civilians.y, civilians.state], axis=1).tolist(),
    }


def _untouched(instance: WildfireInstance) -> Codes:
    """Return (N, N): the codes of the land before anything happens."""
    terrain = instance.terrain
    codes = terrain.trees + np.uint8(DRY)
    codes[terrain.building] = SEEN_BUILDING
    codes[terrain.land == WATER] = SEEN_WATER
    return codes


def codes_of(static: Static, snapshot: Snapshot) -> Codes:
    """Return (N, N), indexed [y, x]: the code of each cell at a moment, people left out."""
    size = static["size"]
    codes = np.frombuffer(bytes.fromhex("0" + "0".join("".join(static["land"]))), np.uint8).copy()
    runs = snapshot["land"]
    for first, count, code in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        codes[first : first + count] = code
    return codes.reshape(size, size)


def text(static: Static, snapshot: Snapshot) -> str:
    """Draw a moment as text: a character a cell, as in the text grid; wet ground as ``~``, agents as letters."""
    wet_or_dry = ["~" if len(symbol) == 3 else symbol for symbol in SYMBOLS]
    rows = [[wet_or_dry[code] for code in row] for row in codes_of(static, snapshot).tolist()]
    for x, y in _people(snapshot):
        rows[y][x] = "C"
    for _, kind, (x, y) in _team(static, snapshot):
        rows[y][x] = LETTERS[kind]
    grid = "\n".join("".join(row) for row in rows)
    letters = ", ".join(f"{letter} {kind}" for letter, kind in zip(LETTERS, KINDS, strict=True))
    return f"step {snapshot['t']}\n{grid}\n{letters}, C civilian, B building, w water, i ignited, f on fire"


def frame(static: Static, snapshot: Snapshot, scale: int | None = None) -> npt.NDArray[np.uint8]:
    """Draw a moment as pixels.

    Args:
        static: What does not change.
        snapshot: The moment.
        scale: Pixels per cell; if None, as many as make the side about 800 pixels. At 1 the picture is plain: one
            pixel per cell. From 2 on agents and civilians have shapes of at least 9 pixels, and targets a rim.

    Returns:
        uint8 array of shape (N * scale, N * scale, 3).

    Raises:
        UserError: If the scale is not an integer of at least 1.
    """
    if scale is None:
        scale = max(1, DEFAULT_SIDE // int(static["size"]))
    if isinstance(scale, bool) or not isinstance(scale, (int, np.integer)) or scale < 1:
        raise UserError(f"scale must be None or an integer of at least 1 (pixels per cell), got {scale!r}")
    scale = int(scale)
    side = 1 if scale == 1 else max(scale, SMALLEST)
    pixels = COLOURS[codes_of(static, snapshot)].repeat(scale, axis=0).repeat(scale, axis=1)
    for x, y in [*static["targets"], *([static["target"]] if static["target"] else [])]:
        _put(pixels, scale, x, y, _shape("target", side), TARGET)
    for x, y in _people(snapshot):
        _put(pixels, scale, x, y, _shape("civilian", side), RIM)
        _put(pixels, scale, x, y, _shape("civilian", side, 1 + side // 12), CIVILIAN)
    for _, kind, (x, y) in _team(static, snapshot):
        _put(pixels, scale, x, y, _shape(KINDS[kind], side), RIM)
        if side > 1:
            _put(pixels, scale, x, y, _shape(KINDS[kind], side, 1 + side // 12), AGENT)
    return pixels


def _people(snapshot: Snapshot) -> list[tuple[int, int]]:
    """Return (x, y) of the civilians that can be seen."""
    return [(x, y) for x, y, state in snapshot["civilians"] if state not in (CARRIED, DEAD)]


def _team(static: Static, snapshot: Snapshot) -> list[tuple[int, int, tuple[int, int]]]:
    """Return (row, kind, place) of the agents that are not lost and do not ride."""
    everybody = zip(static["kinds"], snapshot["agents"], snapshot["aboard"], strict=True)
    return [
        (row, KINDS.index(kind), (place[0], place[1]))
        for row, (kind, place, aboard) in enumerate(everybody)
        if place is not None and aboard is None
    ]


def _put(
    pixels: npt.NDArray[np.uint8], scale: int, x: int, y: int, mask: npt.NDArray[np.bool_], colour: Colour
) -> None:
    """Colour the pixels of a mask, its middle on the middle of a cell; what lies outside the picture is cut off."""
    side = len(mask)
    top, left = (at * scale + (scale - side) // 2 for at in (y, x))
    inside = mask[max(0, -top) : len(pixels) - top, max(0, -left) : len(pixels) - left]
    pixels[max(0, top) : top + side, max(0, left) : left + side][inside] = colour


@lru_cache(maxsize=256)
def _shape(thing: str, side: int, less: int = 0) -> npt.NDArray[np.bool_]:
    """Return which pixels of a square a thing covers; ``less`` pixels smaller on all sides."""
    if side == 1:
        return np.ones((1, 1), np.bool_)
    half = (side - 1) / 2
    across, down = np.meshgrid(np.arange(side) - half, np.arange(side) - half)
    wide, size = np.maximum(abs(across), abs(down)), half - less
    masks: dict[str, npt.NDArray[np.bool_]] = {
        "firefighter": np.hypot(across, down) <= size + 0.3,
        "bulldozer": wide <= 0.85 * half - less,
        "drone": abs(across) + abs(down) <= half - 1.4 * less,
        "helicopter": (2.0 * abs(across) - down <= half - 2.2 * less) & (down <= half - less),
        "civilian": (np.minimum(abs(across), abs(down)) <= side / 4 - less) & (wide <= size),
        "target": wide > half - max(1, side // 10),
    }
    return masks[thing]


def figure(
    static: Static, snapshot: Snapshot, *, seen: Codes | None = None, windows: Collection[int] = (), title: str = ""
) -> Figure:
    """Draw a moment as a figure with a legend (extra ``[plots]``).

    Args:
        static: What does not change.
        snapshot: The moment.
        seen: (N, N) codes as ``Sightings.seen`` has them, to draw what is known in place of what is.
        windows: Rows of agents whose windows are outlined, with a solid line what they reveal.
        title: What to write above; level and step if empty.

    Raises:
        UserError: If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError(f"figures need matplotlib ({error}): run pip install 'teamworld[plots]'") from None
    size = int(static["size"])
    codes = codes_of(static, snapshot) if seen is None else seen
    made = Figure(figsize=(7.2, 5.2), dpi=150, layout="constrained")
    axes = made.add_subplot()
    axes.imshow(COLOURS[codes], interpolation="nearest", extent=(-0.5, size - 0.5, size - 0.5, -0.5))
    if (codes == UNSEEN).any():
        dark = axes.contourf(codes == UNSEEN, levels=[0.5, 1.5], colors="none", hatches=["////"])
        dark.set(edgecolor=HATCH, linewidth=0)
    _draw_targets(axes, static)
    people = _people(snapshot) if seen is None else [(x, y) for y, x in np.argwhere(seen == SEEN_CIVILIAN).tolist()]
    _draw_people(axes, people)
    _draw_team(axes, _team(static, snapshot))
    _draw_windows(axes, static, snapshot, windows)
    axes.set_title(title or f"{static['level']}, step {snapshot['t']}", fontsize=9)
    axes.set_xlabel("x, cells (to the east)", fontsize=8)
    axes.set_ylabel("y, cells (to the south)", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    _draw_legend(axes, codes)
    return made


def _draw_targets(axes: Axes, static: Static) -> None:
    if static["targets"]:
        xs, ys = zip(*static["targets"], strict=True)
        axes.scatter(xs, ys, s=26, marker="s", facecolors="none", edgecolors="black", linewidths=1.2, label="to cut")
    if static["target"]:
        x, y = static["target"]
        axes.scatter(x, y, s=110, marker="*", facecolors="white", edgecolors="black", linewidths=0.9, label="target")


def _draw_people(axes: Axes, people: list[tuple[int, int]]) -> None:
    if people:
        colour = tuple(part / 255 for part in CIVILIAN)
        xs, ys = zip(*people, strict=True)
        axes.scatter(xs, ys, s=42, marker="P", color=[colour], edgecolors="black", linewidths=0.7, label="civilian")


def _draw_team(axes: Axes, team: list[tuple[int, int, tuple[int, int]]]) -> None:
    many = len(team) > MOST_LABELS
    for kind, (name, marker) in enumerate(zip(KINDS, MARKERS, strict=True)):
        places = [place for _, shape, place in team if shape == kind]
        if places:
            xs, ys = zip(*places, strict=True)
            axes.scatter(
                xs, ys, s=8 if many else 34, marker=marker, color="white", edgecolors="black",
                linewidths=0.5 if many else 0.9, label=name, zorder=3,
            )  # fmt: skip
    together: dict[tuple[int, int], list[int]] = {}
    for row, _, place in [] if many else team:
        together.setdefault(place, []).append(row + 1)
    for place, numbers in together.items():
        words = ", ".join(map(str, numbers[:6])) + (", ..." if len(numbers) > 6 else "")
        box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
        axes.annotate(
            words, place, xytext=(4, 4), textcoords="offset points", fontsize=6, zorder=4, bbox=box, clip_on=True
        )


def _draw_windows(axes: Axes, static: Static, snapshot: Snapshot, windows: Collection[int]) -> None:
    from matplotlib.patches import Rectangle

    for agent in windows:
        place = snapshot["agents"][agent]
        if place is None:
            continue
        sight = SIGHTS[KINDS.index(static["kinds"][agent])]
        for reach, style in ((sight.reveals, "-"), (sight.window, "--")):
            corner, side = (place[0] - reach - 0.5, place[1] - reach - 0.5), 2 * reach + 1
            axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor="white", linewidth=2.2, zorder=2))
            axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor="black", linestyle=style, zorder=2))


def _draw_legend(axes: Axes, codes: Codes) -> None:
    from matplotlib.patches import Patch

    present = [code for code in range(SEEN_CIVILIAN) if (codes == code).any()]  # people have a marker
    patches = [
        Patch(
            facecolor=tuple(COLOURS[code] / 255), edgecolor="grey", linewidth=0.5,
            hatch="////" if code == UNSEEN else "", label="not seen yet" if code == UNSEEN else MEANINGS[code],
        )
        for code in present
    ]  # fmt: skip
    handles, _ = axes.get_legend_handles_labels()
    axes.legend(
        handles=[*handles, *patches], loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=7, frameon=False,
        borderaxespad=0.0,
    )  # fmt: skip
