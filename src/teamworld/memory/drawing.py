"""Pictures of the world model's graph: how it grows from episode to episode (DR. WELL, figure of the world model).

A tree drawn outward from the universe, one ring for each level. What failed is hollow, what the end of
the episode cut off is a cross: no cue is by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, cos, pi, sin, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.graph import UNIVERSE, Node, build

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Point: TypeAlias = tuple[float, float]

_PANEL = 4.8  # inches
_ONLY_PANEL = 6.2  # inches, where it is alone
_COLUMNS = 3
_TITLE = 0.3  # inches
_LEGEND = {1: 3, 2: 4, 3: 5}  # columns of the legend, by columns of panels
_REACH = 1.13  # what is shown of the plane, from the middle
_RINGS = {"universe": 0.0, "episode": 0.30, "task": 0.54, "prototype": 0.77, "instance": 1.0}
_GAP = {"episode": 1.6, "task": 0.7, "prototype": 0.25}  # space after a subtree, in widths of a leaf
_SPANS = {1: 0.55, 2: 0.85}  # share of the circle used for few episodes: a fan reads better than a ring
_ROW, _MOST_ROWS, _ROW_STEP = 120, 3, 0.045  # crowded instances stand in up to three rows
_MOST_LABELS = 7  # tasks that are still labelled
FORMATS = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


class _Style(NamedTuple):
    """How nodes of one kind look."""

    label: str
    marker: str
    area: float
    """Square points in a sparse panel."""
    colour: str
    filled: bool


# Colours after the scheme of the paper's figure, green and red moved to
# bluish green and vermilion, which colour-blind people tell apart (Okabe & Ito 2008); darker outward.
_STYLES: dict[tuple[str, str], _Style] = {
    ("universe", ""): _Style("universe", "h", 260, "#37474F", True),
    ("episode", "done"): _Style("episode, all tasks done", "o", 150, "#7B4FA3", True),
    ("episode", "failed"): _Style("episode, not all done", "o", 150, "#D98200", False),
    ("task", "done"): _Style("task done", "s", 64, "#12A67C", True),
    ("task", "failed"): _Style("task not done", "s", 64, "#DD6010", False),
    ("prototype", "done"): _Style("prototype that succeeded", "^", 46, "#007A57", True),
    ("prototype", "failed"): _Style("prototype that never did", "^", 46, "#AF4500", False),
    ("instance", "done"): _Style("instance that succeeded", "o", 26, "#00432F", True),
    ("instance", "failed"): _Style("instance that failed", "o", 26, "#6E2B00", False),
    ("instance", "cut"): _Style("instance cut off by the end", "x", 22, "#7F7F7F", True),
}


def draw_stages(deltas: Sequence[MemoryDelta], path: Path | str, title: str | None = None) -> Path:
    """Write how the world model grew: after the first episode, half of them, and all (1, 5, 10 of ten).

    Returns:
        The path. For what can go wrong see ``draw``.
    """
    draw(deltas, path, sorted({min(1, len(deltas)), ceil(len(deltas) / 2), len(deltas)}), title=title)
    return Path(path)


def draw(
    deltas: Sequence[MemoryDelta],
    path: Path | str,
    after: Sequence[int] | None = None,
    *,
    title: str | None = None,
) -> None:
    """Write a picture of the world model; the same deltas give the same bytes.

    Args:
        deltas: The episodes of a run, in order.
        path: A ``.png``, ``.svg`` or ``.pdf`` file.
        after: One panel for each number of episodes, for example 1, 5 and 10; None: one with all.
        title: A line over all panels.

    Raises:
        UserError: matplotlib is missing, the format is unknown, the file cannot be written, or there
            are not as many episodes.
    """
    path = Path(path)
    metadata = FORMATS.get(path.suffix.lower())
    if metadata is None:
        raise UserError(f"expected a file that ends in {', '.join(FORMATS)}; got {path.name}")
    panels = tuple(after) if after is not None else (len(deltas),)
    wrong = [count for count in panels if not 0 <= count <= len(deltas)]
    if wrong or not panels:
        raise UserError(f"panels show 0 to {len(deltas)} episodes; got {', '.join(map(str, wrong)) or 'none'}")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("pictures need matplotlib: pip install teamworld[plots]") from None
    columns = min(_COLUMNS, len(panels))
    rows = ceil(len(panels) / columns)
    # Fixed salt and plain fonts: the file depends on what it shows alone.
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, "svg.hashsalt": "teamworld", "svg.fonttype": "none"}):
        side = _PANEL if len(panels) > 1 else _ONLY_PANEL
        figure = Figure(figsize=(side * columns, (side + 0.35) * rows + 0.9 + _TITLE * bool(title)), dpi=200)
        for place, count in enumerate(panels, start=1):
            _panel(figure.add_subplot(rows, columns, place), build(deltas[:count]))
        if title:
            figure.suptitle(title, fontsize=11, y=1 - 0.12 / figure.get_figheight(), va="top")
        _legend(figure, columns, _TITLE * bool(title))
        try:
            figure.savefig(path, metadata=metadata)
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror or error}") from None


def kind(data: dict[str, Any]) -> tuple[str, str]:
    """Return level and state of a node, by its attributes: what its look depends on."""
    level = data["level"]
    if level == "universe":
        return level, ""
    if level == "instance" and data["truncated"] and not data["success"]:
        return level, "cut"
    good = {"episode": "completed", "prototype": "successes"}.get(level, "success")
    return level, "done" if data[good] else "failed"


@dataclass
class _Layout:
    """Angles for all nodes of a tree: each subtree has a sector as wide as its leaves and gaps need."""

    graph: nx.DiGraph[Node]
    slot: dict[Node, float] = field(default_factory=dict)
    """Place on the outer ring, in widths of a leaf."""
    width: float = 0.0

    def place(self, node: Node) -> float:
        """Give the node and all below it their slots; return the node's."""
        children = list(self.graph.successors(node))
        if children:
            slots = [self.place(child) for child in children]
            self.slot[node] = (slots[0] + slots[-1]) / 2
        else:
            self.slot[node] = self.width
            self.width += 1.0
        self.width += _GAP.get(self.graph.nodes[node]["level"], 0.0)
        return self.slot[node]


def layout(graph: nx.DiGraph[Node]) -> dict[Node, Point]:
    """Return a place for each node of a graph made by ``build``: rings round the universe, the outer of radius 1."""
    plan = _Layout(graph)
    plan.place(UNIVERSE)
    episodes = graph.out_degree(UNIVERSE)
    span = 2 * pi * _SPANS.get(episodes, 1.0)
    leaves = [node for node in plan.slot if graph.nodes[node]["level"] == "instance"]
    rows = min(_MOST_ROWS, 1 + len(leaves) // _ROW)
    row = {leaf: place % rows for place, leaf in enumerate(leaves)}
    points = {}
    for node, slot in plan.slot.items():
        if episodes in _SPANS:  # a fan: from left to right, with its middle at the bottom
            angle = -pi / 2 + (slot - plan.slot[UNIVERSE]) / plan.width * span
        else:  # a ring: clockwise from the top
            angle = pi / 2 - slot / plan.width * span
        radius = _RINGS[graph.nodes[node]["level"]] + _ROW_STEP * (row.get(node, 0) - (rows - 1) / 2) * (node in row)
        points[node] = (radius * cos(angle), radius * sin(angle))
    return points


def _panel(axes: Axes, graph: nx.DiGraph[Node]) -> None:
    from matplotlib.collections import LineCollection

    points = layout(graph)
    groups: dict[tuple[str, str], list[Node]] = {}
    for node, data in graph.nodes(data=True):
        groups.setdefault(kind(data), []).append(node)
    leaves = sum(len(nodes) for (level, _), nodes in groups.items() if level == "instance")
    scale = min(1.0, sqrt(70 / max(1, leaves)))
    edges = [(points[parent], points[child]) for parent, child in graph.edges]
    axes.add_collection(LineCollection(edges, colors="#B4BCC2", linewidths=0.35 + 0.55 * scale, zorder=1))
    for key, nodes in sorted(groups.items()):
        _scatter(axes, _STYLES[key], [points[node] for node in nodes], scale)
    _label(axes, graph, points)
    axes.set_title(_caption(graph, leaves), fontsize=9, color="#263238")
    axes.set_aspect("equal")
    axes.set_axis_off()
    middle = (max(y for _, y in points.values()) + min(y for _, y in points.values())) / 2
    axes.set_xlim(-_REACH, _REACH)
    axes.set_ylim(middle - _REACH, middle + _REACH)


def _scatter(axes: Axes, style: _Style, points: Sequence[Point], scale: float) -> None:
    # Inner rings have room whatever stands on the outer one, so they shrink less.
    area = style.area * (scale if style.area < 60 else sqrt(scale))
    axes.scatter(
        [x for x, _ in points],
        [y for _, y in points],
        s=area,
        marker=style.marker,
        c=style.colour if style.filled else "white",
        edgecolors=None if style.marker == "x" else style.colour,
        linewidths=0.45 + 0.75 * scale,
        zorder=2,
    )


def _label(axes: Axes, graph: nx.DiGraph[Node], points: dict[Node, Point]) -> None:
    """Number the episodes; name the tasks while there is room."""
    tasks = [node for node, level in graph.nodes(data="level") if level == "task"]
    for node, data in graph.nodes(data=True):
        if data["level"] == "episode":
            colour = "white" if data["completed"] else "black"
            axes.annotate(str(node[1]), points[node], ha="center", va="center", fontsize=6, color=colour, zorder=3)
    if len(tasks) <= _MOST_LABELS:
        box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
        for node in tasks:
            below: dict[str, Any] = {"xytext": (0, -7), "textcoords": "offset points", "bbox": box}
            axes.annotate(str(node[2]), points[node], ha="center", va="top", fontsize=6.5, zorder=4, **below)


def _caption(graph: nx.DiGraph[Node], leaves: int) -> str:
    root = graph.nodes[UNIVERSE]
    tasks = [data for _, data in graph.nodes(data=True) if data["level"] == "task"]
    done = sum(data["success"] for data in tasks)
    prototypes = sum(data["level"] == "prototype" for _, data in graph.nodes(data=True))
    episodes = _many(root["episodes"], "episode")
    return (
        f"after {episodes} ({root['completed']} complete)\n"
        f"{done} of {_many(len(tasks), 'task')} done, {_many(prototypes, 'prototype')}, {_many(leaves, 'instance')}"
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _legend(figure: Figure, columns: int, above: float) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=style.marker,
            color=style.colour,
            markerfacecolor=style.colour if style.filled else "white",
            markersize=sqrt(min(style.area, 90)),
            label=style.label,
        )
        for style in _STYLES.values()
    ]
    figure.legend(handles=handles, loc="lower center", ncols=_LEGEND[columns], fontsize=8, frameon=False)
    height = figure.get_figheight()
    lines = ceil(len(handles) / _LEGEND[columns])
    top, bottom = 1 - (0.5 + above) / height, (0.15 + 0.2 * lines) / height
    figure.subplots_adjust(left=0.01, right=0.99, top=top, bottom=bottom, wspace=0.02, hspace=0.14)
