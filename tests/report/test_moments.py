"""Figures of moments: pictures of worlds on cells, tables of all others; texts of worlds are texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from teamworld.errors import UserError
from teamworld.record import AgentLeft, DrawingState, Event
from teamworld.report import moments
from teamworld.report.moments import MOST, draw_moments
from teamworld.worlds import registry
from teamworld.worlds.cube import draw as cube
from tests.viewer import samples


@pytest.fixture(autouse=True)
def _needs_matplotlib() -> None:
    pytest.importorskip("matplotlib")


def texts(svg: Path) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def images(svg: Path) -> int:
    return sum(1 for _ in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}image"))


def draw(log: Sequence[Event], tmp_path: Path, steps: Sequence[int] | None = None, name: str = "moments") -> Path:
    return draw_moments(log, tmp_path / name, steps)


def test_a_world_on_cells_gets_a_picture_a_moment_and_the_key(tmp_path: Path) -> None:
    log = samples.drawn("a box to fetch")
    path = draw(log, tmp_path)
    assert path.read_bytes() == draw(log, tmp_path, name="again").read_bytes()
    svg = path.with_suffix(".svg")
    assert images(svg) == 3
    assert {"step 0", "step 1", "step 3", "a box to fetch", "wall", "agent"} <= set(texts(svg))
    assert draw(log, tmp_path, [0, 2], "other").read_bytes() != path.read_bytes()


def test_an_agent_is_drawn_until_it_is_gone(tmp_path: Path) -> None:
    log = samples.drawn("a box")
    stayed = [event for event in log if not isinstance(event, AgentLeft)]
    for step, is_same in ((0, True), (3, False)):
        pictures = [
            draw(part, tmp_path, [step], name).read_bytes() for part, name in ((log, "gone"), (stayed, "there"))
        ]
        assert (pictures[0] == pictures[1]) == is_same


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("world", "level"), [("cube", "n2"), ("household", "dev-0"), ("wildfire", "perception"), ("transport", "dev")]
)
def test_a_world_that_draws_its_moments_gets_a_picture_of_each(world: str, level: str, tmp_path: Path) -> None:
    log = samples.played("greedy", level, 60 if world == "transport" else 5, world)  # frames, of which a step has some
    path = draw(log, tmp_path, [0, 2])
    assert images(path.with_suffix(".svg")) == 2
    assert {"step 0", "step 2"} <= set(texts(path.with_suffix(".svg")))
    assert draw(log, tmp_path, [0], "one").read_bytes() != draw(log, tmp_path, [2], "other").read_bytes()


@pytest.mark.parametrize("part", [{}, {"agents": 3, "blocks": []}, {"agents": [["a", "b"]], "blocks": None}])
def test_a_log_that_a_world_cannot_draw_gets_the_table(part: dict[str, object], tmp_path: Path) -> None:
    log = [
        msgspec.structs.replace(event, state={"v": 1, **part}) if isinstance(event, DrawingState) else event
        for event in samples.played("greedy", "n2", 5, "cube")
    ]
    path = draw(log, tmp_path, [0, 2])
    assert images(path.with_suffix(".svg")) == 0


def test_cube_is_printed_on_light_paper() -> None:
    still = registry.still_picture("cube")
    assert still is not None
    static = {"grid_size": 20, "weights": [2, 1]}
    pixels = still(static, {"agents": [[3, 4]], "blocks": [[5, 6], None]}, 400)
    assert pixels.shape == (400, 400, 3)
    assert pixels[50, 50].min() > 240, "nothing is there"
    assert pixels[5 * 20 + 3, 6 * 20 + 3].tolist() == list(cube.BLOCK)
    assert registry.still_picture("nowhere") is None


def test_any_other_world_gets_a_table_in_which_changes_are_bold(tmp_path: Path) -> None:
    log = [
        msgspec.structs.replace(event, state={"v": 1, "at": {"ann": event.step, "bob": 7}, "left": [3, 4]})
        if isinstance(event, DrawingState)
        else event
        for event in samples.by_hand()
    ]
    svg = draw(log, tmp_path, [0, 3]).with_suffix(".svg")
    assert images(svg) == 0
    values = ["0", "7", "3", "4"], ["3", "7", "3", "4"]
    names = ["at ann", "at bob", "left 0", "left 1"]
    assert texts(svg)[:-1] == ["step 0", *values[0], "step 3", *values[1], *names]
    bold = [text.text for text in ElementTree.parse(svg).iter() if " 700" in text.get("style", "")]
    assert bold == ["step 0", "step 3", "3"]


def test_a_long_table_says_how_much_it_leaves_out(tmp_path: Path) -> None:
    state = {"cells": list(range(moments._ROWS + 5)), "text": "x" * 500}
    log = [msgspec.structs.replace(e, state=state) if isinstance(e, DrawingState) else e for e in samples.by_hand()]
    shown = texts(draw(log, tmp_path).with_suffix(".svg"))
    assert "and 6 more" in shown
    assert max(map(len, shown)) < 100


@pytest.mark.parametrize("words", [samples.HOSTILE, "$x^2$ $\\frac{", "\x00\x1b[31m", "\u4e16\u754c", "x" * 500])
def test_texts_of_a_world_are_texts(tmp_path: Path, words: str) -> None:
    svg = draw(samples.drawn(words, label=words[:40]), tmp_path).with_suffix(".svg")
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(svg).iter()}
    assert not tags & {"script", "img", "a", "foreignObject"}
    cleaned = "".join(char if char.isprintable() else " " for char in words)
    assert any(text.strip().startswith(cleaned[:39].strip()) for text in texts(svg))


def test_a_drawing_that_cannot_be_made_gives_way_to_the_table(tmp_path: Path) -> None:
    svg = draw(samples.undrawable(), tmp_path, [0]).with_suffix(".svg")
    assert images(svg) == 0
    assert json.dumps([1, 1, "a", "", ""]) in texts(svg)


@pytest.mark.parametrize("steps", [[], [4], [-1], [0, 9], list(range(MOST + 1))])
def test_moments_that_are_not_there_are_refused(tmp_path: Path, steps: list[int]) -> None:
    with pytest.raises(UserError, match="expected 1 to 6 steps from 0 to 3, got"):
        draw(samples.by_hand(), tmp_path, steps)
    assert not list(tmp_path.iterdir())


def test_a_log_without_states_is_refused(tmp_path: Path) -> None:
    log = [event for event in samples.by_hand() if not isinstance(event, DrawingState)]
    with pytest.raises(UserError, match="the log level records none"):
        draw(log, tmp_path)
