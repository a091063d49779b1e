"""How figures look: colours that colour-blind people tell apart, fonts, and files with the same bytes every time."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from teamworld.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour-blind safe (Okabe and Ito 2008), in a fixed order.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
MARKERS = ("o", "s", "^", "D", "v", "P")
#: Of lines: what tells them apart in black and white, with the markers. Dashes are (offset, lengths).
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (7, 1.5, 1, 1.5, 1, 1.5)), (0, (2.5, 1)))
#: What came out well, and what did not.
GOOD, BAD = "#12A67C", "#E0763C"
#: Width of a figure over both columns of a page, in inches.
WIDTH = 7.0
#: And over one of them.
COLUMN = 3.3

_RC: Any = {  # matplotlib types the names of its settings one by one
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "hatch.linewidth": 0.6,
    "axes.linewidth": 0.6,
    "svg.hashsalt": "teamworld",
    "svg.fonttype": "none",
}


def look(index: int) -> dict[str, Any]:
    """Return how the line of this index is drawn: colour, marker and style of line.

    No two of the first 36 have the same marker and style, so that they are told apart without colours too.
    """
    lap, place = divmod(index, len(COLOURS))
    marker, style = (place + 2 * lap) % len(MARKERS), (place + lap) % len(STYLES)
    return {"color": COLOURS[place], "marker": MARKERS[marker], "linestyle": STYLES[style]}


def layer(index: int, number: int) -> dict[str, Any]:
    """Return how the line of this index lies among so many: the first on top and thinnest, so none hides another."""
    below = min(index, 5)
    return {
        "zorder": 3.0 - index / max(1, number),  # above the bands, which lie at 1
        "linewidth": 1.0 + 0.3 * below,
        "markersize": 3.0 + 0.5 * below,
    }


def need(**packages: str) -> None:
    """Check that packages are installed, each with the extra that brings it, before any work is done.

    Raises:
        UserError: Some are not; names them and the extras.
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        extras = ",".join(sorted({packages[name] for name in missing}))
        raise UserError(f"this needs {', '.join(missing)}, not installed: pip install 'teamworld[{extras}]'")


@contextmanager
def figure(width: float, height: float) -> Iterator[Figure]:
    """Give an empty figure in the common style; sizes are in inches."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(matplotlib.rcParamsDefault):
        matplotlib.rcParams.update(_RC)
        yield Figure(figsize=(width, height), layout="constrained", dpi=200)


def save(drawn: Figure, stem: Path) -> Path:
    """Write the figure as ``stem.png`` and ``stem.svg``; return the PNG."""
    png = stem.with_suffix(".png")
    drawn.savefig(png, metadata={"Software": None})
    drawn.set_layout_engine("none")  # it is laid out now
    drawn.savefig(stem.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    return png


def bare(axes: Axes, grid: Literal["", "x", "y", "both"] = "") -> None:
    """Take away the lines of the frame that say nothing, and draw a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(axis=grid, color="0.92", linewidth=0.5)


def legend_below(drawn: Figure, columns: int = 3, handlelength: float | None = None) -> None:
    """Put one legend for all panels below them, each name once."""
    entries: dict[str, Any] = {}
    for axes in drawn.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(name, handle)
    where: Any = {"loc": "outside lower center", "ncols": columns}
    drawn.legend(list(entries.values()), list(entries), frameon=False, handlelength=handlelength, **where)
