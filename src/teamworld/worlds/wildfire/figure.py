"""A wildfire as a figure with axes and a legend (extra ``[plots]``)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.wildfire.drawing_data import COLOURS, STYLE, Unit, codes_of, group_units, people, scale_bar, team
from teamworld.worlds.wildfire.kernels.agents import SEEN_CIVILIAN, UNSEEN
from teamworld.worlds.wildfire.map_pixels import paint_land
from teamworld.worlds.wildfire.state import KINDS, SIGHTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from teamworld.worlds.wildfire.drawing_data import Codes, Snapshot, Static

MARKERS = {"firefighter": "o", "bulldozer": "s", "drone": "D", "helicopter": "^", "civilian": "P", "dead": "P"}
HATCH = "0.8"
#: Agents up to which a figure writes their numbers, and numbers of one place.
MOST_LABELS, MOST_NUMBERS = 30, 6


def figure(
    static: Static, snapshot: Snapshot, *, seen: Codes | None = None, windows: Collection[int] = (), title: str = ""
) -> Figure:
    """Draw a moment as a figure with a legend.

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
    axes.imshow(paint_land(static, codes), interpolation="nearest", extent=(-0.5, size - 0.5, size - 0.5, -0.5))
    if (codes == UNSEEN).any():
        dark = axes.contourf(codes == UNSEEN, levels=[0.5, 1.5], colors="none", hatches=["////"])
        dark.set(edgecolor=HATCH, linewidth=0)
    _draw_wind(axes, static)
    _draw_targets(axes, static)
    known = [Unit(0, "civilian", x, y) for y, x in np.argwhere(codes == SEEN_CIVILIAN).tolist()]
    _draw_people(axes, people(snapshot) if seen is None else known)
    _draw_team(axes, team(static, snapshot), size)
    _draw_windows(axes, static, snapshot, windows)
    axes.set_title(title or f"{static['level']}, step {snapshot['t']}", fontsize=9)
    axes.set_xlabel(f"x, cells (to the east){_scale(static)}", fontsize=8)
    axes.set_ylabel("y, cells (to the south)", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    _draw_legend(axes, codes)
    return made


def _scale(static: Static) -> str:
    if "cell_m" not in static:
        return ""
    metres, cells = scale_bar(static["size"] * static["cell_m"], static["size"])
    return f"; {metres:,} m are {cells:.0f} cells"


def _draw_wind(axes: Axes, static: Static) -> None:
    if "wind" not in static:
        return
    field = np.array(static["wind"])
    middles = (np.arange(len(field)) + 0.5) * static["size"] / len(field) - 0.5
    x, y = np.meshgrid(middles, middles)
    axes.quiver(
        x, y, field[:, :, 0], field[:, :, 1], angles="xy", scale_units="xy", scale=15 * len(field) / static["size"],
        pivot="mid", color=[part / 255 for part in STYLE["wind"]], alpha=0.55, width=0.003,
        label=f"wind, up to {np.hypot(field[:, :, 0], field[:, :, 1]).max():.0f} m/s",
    )  # fmt: skip


def _draw_targets(axes: Axes, static: Static) -> None:
    if static["targets"]:
        xs, ys = zip(*static["targets"], strict=True)
        axes.scatter(xs, ys, s=26, marker="s", facecolors="none", edgecolors="black", linewidths=1.2, label="to cut")
    if static["target"]:
        x, y = static["target"]
        axes.scatter(x, y, s=110, marker="*", facecolors="white", edgecolors="black", linewidths=0.9, label="target")


def _draw_people(axes: Axes, civilians: list[Unit]) -> None:
    for kind in ("civilian", "dead"):
        if places := [(unit.x, unit.y) for unit in civilians if unit.kind == kind]:
            xs, ys = zip(*places, strict=True)
            axes.scatter(
                xs, ys, s=42, marker=MARKERS[kind], color=[[part / 255 for part in STYLE["fills"][kind]]],
                edgecolors="black", linewidths=0.7, label="civilian" if kind == "civilian" else "dead civilian",
            )  # fmt: skip


def _draw_team(axes: Axes, units: list[Unit], size: int) -> None:
    """Draw the agents, with their numbers, or how many stand together where these are too many."""
    many = len(units) > MOST_LABELS
    for kind in KINDS:
        if places := [(unit.x, unit.y) for unit in units if unit.kind == kind]:
            xs, ys = zip(*places, strict=True)
            axes.scatter(
                xs, ys, s=8 if many else 34, marker=MARKERS[kind], color="white", edgecolors="black",
                linewidths=0.5 if many else 0.9, label=kind, zorder=3,
            )  # fmt: skip
    for group in [] if many else group_units(units, size / 40):
        rows = sorted(row for kind in group.kinds.values() for row in kind)
        counts = ", ".join(f"{len(of)} {kind}s" for kind, of in group.kinds.items())
        words = ", ".join(str(row + 1) for row in rows) if len(rows) <= MOST_NUMBERS else counts
        box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
        axes.annotate(
            words, (group.x, group.y), xytext=(4, 4), textcoords="offset points", fontsize=6, zorder=4, bbox=box,
            clip_on=True,
        )  # fmt: skip


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

    meanings = ["not seen yet", *STYLE["meanings"][1:]]
    present = [code for code in range(len(meanings)) if code != SEEN_CIVILIAN and (codes == code).any()]
    patches = [
        Patch(
            facecolor=tuple(COLOURS[code] / 255), edgecolor="grey", linewidth=0.5,
            hatch="" if code else "////", label=meanings[code],
        )
        for code in present
    ]  # fmt: skip
    handles, _ = axes.get_legend_handles_labels()
    axes.legend(
        handles=[*handles, *patches], loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=7, frameon=False,
        borderaxespad=0.0,
    )  # fmt: skip
