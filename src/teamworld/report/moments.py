"""A figure of moments of an episode, from its log alone. Needs matplotlib (extra ``plots``).

A world that declares its drawing as in ``worlds.base.picture``, or offers ``still_picture``, gets a panel a moment; of
any other one the figure is a table of what it records, a column a moment.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teamworld.errors import UserError, printable
from teamworld.record import AgentLeft, DrawingState, EpisodeStart, Event
from teamworld.report.figure_style import WIDTH, figure, need, save
from teamworld.worlds import registry
from teamworld.worlds.base import picture
from teamworld.worlds.base.picture import AGENT, find_fault

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Moments in a figure at most, and in a row of pictures.
MOST, _PER_ROW = 6, 3
#: Entries in a row of the key at most, and characters of one.
_KEYS, _LONGEST = 5, 40
#: Width of a character, in inches.
_LETTER = 0.065
#: Height of a picture at most, in inches.
_TALLEST = 3.0
#: Width of a picture that a world draws.
_PIXELS = 1200
#: Rows of a table at most.
_ROWS = 40


def draw_moments(log: Sequence[Event], stem: Path, steps: Sequence[int] | None = None) -> Path:
    """Draw moments of an episode; return the PNG, with an SVG beside it.

    Args:
        log: Of the episode.
        stem: The file without its ending.
        steps: Which moments: the world after so many steps. The first, the middle and the last if None.

    Raises:
        UserError: matplotlib is not installed, the log holds no such moments, or they are too many.
    """
    need(matplotlib="plots")
    states = {event.step: event.state for event in log if isinstance(event, DrawingState)}
    if not log or not isinstance(log[0], EpisodeStart) or not states:
        raise UserError("a figure needs a log with its start and the states of its world: the log level records none")
    start, last = log[0], max(states)
    chosen = sorted({0, last // 2, last}) if steps is None else list(dict.fromkeys(steps))
    if not 1 <= len(chosen) <= MOST or any(step not in states for step in chosen):
        raise UserError(f"expected 1 to {MOST} steps from 0 to {last}, got {', '.join(map(str, chosen)) or 'none'}")
    caption = f"{start.world} {start.level}: {start.method}, seed {start.seed}, episode {start.episode}"
    is_grid = "drawer" in start.static and not find_fault(start.static, states.values(), len(start.team))
    with warnings.catch_warnings(), figure(WIDTH, 1) as drawn:
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a box stands for it
        drawn.suptitle(printable(caption), fontsize=8, x=0.01, ha="left", parse_math=False)
        pixels = [] if is_grid else _draw_stills(start, [states[step] for step in chosen])
        if pixels:
            _set_pictures(drawn, pixels, chosen)
        elif is_grid:
            left = {event.agent: event.step for event in log if isinstance(event, AgentLeft)}
            gone = [left.get(agent, math.inf) for agent in start.team]
            _draw_grids(drawn, start.static, {step: states[step] for step in chosen}, gone)
        else:
            _draw_table(drawn, {step: states[step] for step in chosen})
        return save(drawn, stem)


def _draw_grids(
    drawn: Figure, static: Mapping[str, Any], moments: Mapping[int, Mapping[str, Any]], gone: Sequence[float]
) -> None:
    """Draw a panel a moment and the key below them; agents are drawn until the steps at which they are gone."""
    from matplotlib.patches import Patch

    rows, columns = static["size"]
    across = 2 if len(moments) == 4 else min(len(moments), _PER_ROW)
    down = -(-len(moments) // across)
    looks = [(look["colour"], _cut(printable(look["words"]), _LONGEST)) for look in static["kinds"].values()]
    looks.append((f"#{bytes(AGENT).hex()}", "agent"))
    keys = min(_KEYS, int(WIDTH / (0.5 + _LETTER * max(len(words) for _, words in looks))))
    panel = min(WIDTH / across, _TALLEST * columns / rows)
    drawn.set_size_inches(WIDTH, down * (panel * rows / columns + 0.2) + 0.2 * -(-len(looks) // keys) + 0.4)
    scale = max(4, round(panel * drawn.dpi / columns))
    panels = list(drawn.subplots(down, across, squeeze=False).flat)
    for axes in panels:
        axes.set_axis_off()
    for axes, (step, moment) in zip(panels, moments.items(), strict=False):
        there = [agent for agent, left in zip(moment["agents"], gone, strict=True) if step < left]
        axes.imshow(picture.frame(static, {**moment, "agents": there}, scale))
        axes.set_title(f"step {step}")
    key = drawn.legend(
        [Patch(color=colour) for colour, _ in looks],
        [words for _, words in looks],
        loc="outside lower center",
        ncols=keys,
        frameon=False,
    )
    for text in key.get_texts():
        text.set_parse_math(False)


def _draw_stills(start: EpisodeStart, moments: Sequence[Mapping[str, Any]]) -> list[npt.NDArray[np.uint8]]:
    """Return a picture of each moment as the world draws it; none where it offers none, or cannot draw the log."""
    still = registry.still_picture(start.world)
    if still is None:
        return []
    try:
        return [still(start.static, moment, _PIXELS) for moment in moments]
    except (UserError, ValueError, TypeError, LookupError, AttributeError):
        return []


def _set_pictures(drawn: Figure, pixels: Sequence[npt.NDArray[np.uint8]], steps: Sequence[int]) -> None:
    """Set pictures: two in a row if they are square, else one: wider ones hold a key, whose words need the width."""
    ratio = max(image.shape[0] / image.shape[1] for image in pixels)
    across = min(2, len(pixels)) if ratio >= 1 else 1
    down = -(-len(pixels) // across)
    panel = WIDTH / across
    drawn.set_size_inches(WIDTH, down * (panel * ratio + 0.25) + 0.3)
    panels = list(drawn.subplots(down, across, squeeze=False).flat)
    for axes in panels:
        axes.set_axis_off()
    for axes, image, step in zip(panels, pixels, steps, strict=False):
        axes.imshow(image, interpolation="antialiased")
        axes.set_title(f"step {step}")


def _draw_table(drawn: Figure, moments: Mapping[int, Mapping[str, Any]]) -> None:
    """Write a row for each part of the states, a column for each moment; what differs from the one before is bold."""
    columns = [_list_parts(state) for state in moments.values()]
    names = list(dict.fromkeys(name for column in columns for name in column))
    shown = names[:_ROWS]
    share = 0.75 / len(columns)  # of the width, for a column
    most = int(share * WIDTH / _LETTER)  # characters of a value
    height = 0.16 * (len(shown) + 3)
    drawn.set_size_inches(WIDTH, height + 0.3)
    axes = drawn.subplots()
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(len(shown) + 2, 0))
    for at, (step, parts) in enumerate(zip(moments, columns, strict=True)):
        left, before = 0.25 + at * share, columns[max(0, at - 1)]
        _write(axes, left, 0.5, f"step {step}", weight="bold")
        for row, name in enumerate(shown):
            value = parts.get(name, "")
            _write(
                axes, left, row + 1.5, _cut(value, most), weight="normal" if before.get(name, "") == value else "bold"
            )
    for row, name in enumerate(shown):
        _write(axes, 0, row + 1.5, _cut(name, int(0.24 * WIDTH / _LETTER)), color="0.35")
    if len(names) > len(shown):
        _write(axes, 0, len(shown) + 1.5, f"and {len(names) - len(shown)} more", color="0.35")


def _list_parts(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of a state as the replay lists them: of each list or mapping in it every entry."""
    parts: dict[str, str] = {}
    for name, value in state.items():
        if name == "v":
            continue
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
        named = {name: value} if entries is None else {f"{name} {key}": part for key, part in entries}
        parts |= {key: json.dumps(part, ensure_ascii=False) for key, part in named.items()}
    return parts


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def _write(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write a text as it stands: whatever a world calls its things, it is no formula."""
    axes.text(x, y, printable(text), va="center", fontsize=7, parse_math=False, **look)
