"""Pictures: what they show, that they are the same every time, and what is told when there can be none."""

from __future__ import annotations

import sys
from itertools import combinations
from math import dist, hypot
from pathlib import Path

import pytest

from teamworld.errors import UserError
from teamworld.memory.contract import MemoryDelta, TaskOutcome
from teamworld.memory.drawing import draw, draw_stages, kind, layout
from teamworld.memory.graph import UNIVERSE, build
from tests.memory.samples import delta, instance

pytest.importorskip("matplotlib")


def episode(number: int, size: int) -> MemoryDelta:
    return delta(
        number,
        *(
            instance(
                episode=number,
                agent="ab"[place % 2],
                task=(task := f"block_{place % 3}"),
                goal=task,
                prototype=("push", "meet > push", "wait")[place % 7 % 3],
                start=place,
                end=place + 5,
                success=place % 4 == number % 4,
                truncated=place > size - 3,
            )
            for place in range(size)
        ),
        completed=number % 2 == 0,
        tasks=tuple(
            TaskOutcome(task=f"block_{n}", goal=f"block_{n}", success=n > 0, end=n * 9 or None, order=n or None)
            for n in range(3)
        ),
    )


TEN = [episode(number, 12 + number * 2) for number in range(1, 11)]


@pytest.mark.parametrize("count", [1, 2, 5, 10])
def test_nodes_stand_on_the_ring_of_their_level_and_apart(count: int) -> None:
    graph = build(TEN[:count])
    points = layout(graph)
    assert points.keys() == set(graph)
    assert points[UNIVERSE] == (0.0, 0.0)
    rings: dict[str, list[tuple[float, float]]] = {}
    for node, level in graph.nodes(data="level"):
        rings.setdefault(level, []).append(points[node])
    inner = [max(hypot(*point) for point in rings[level]) for level in ("episode", "task", "prototype")]
    outer = [min(hypot(*point) for point in rings[level]) for level in ("task", "prototype", "instance")]
    assert all(one < other for one, other in zip(inner, outer, strict=True))
    # Measured in the panel of 4.8 inches that 2.26 units fill: instances are at least 2 points apart.
    closest = min(dist(one, other) for one, other in combinations(rings["instance"], 2))
    assert closest * 4.8 * 72 / 2.26 > 2


def test_an_empty_world_model_has_a_place_too() -> None:
    assert layout(build([])) == {UNIVERSE: (0.0, 0.0)}


def test_what_a_node_looks_like_says_what_became_of_it() -> None:
    cut = delta(
        1,
        instance(agent="a", success=False, truncated=True),
        instance(agent="b", success=True, truncated=True),
        instance(agent="c", success=False, prototype="wait"),
        tasks=(TaskOutcome(task="block_1", goal="block_1", success=False, end=None, order=None),),
    )
    graph = build([cut])
    assert {kind(data) for _, data in graph.nodes(data=True)} == {
        ("universe", ""),
        ("episode", "failed"),
        ("task", "failed"),
        ("prototype", "done"),
        ("prototype", "failed"),
        ("instance", "cut"),
        ("instance", "done"),
        ("instance", "failed"),
    }


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_world_model_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    one, other, less = (tmp_path / f"{name}{suffix}" for name in ("one", "other", "less"))
    draw(TEN[:3], one)
    draw(TEN[:3], other)
    draw(TEN[:2], less)
    assert one.read_bytes() == other.read_bytes() != less.read_bytes()
    assert [word for word in (b"CreationDate", b"dc:date", b"Software") if word in one.read_bytes()] == []


def test_stages_are_the_first_episode_half_of_them_and_all(tmp_path: Path) -> None:
    assert draw_stages(TEN, tmp_path / "stages.svg", title="a run & more") == tmp_path / "stages.svg"
    text = (tmp_path / "stages.svg").read_text()
    assert [f"after {count} episode" in text for count in (1, 2, 5, 9, 10)] == [True, False, True, False, True]
    assert "a run &amp; more" in text
    assert "10 episodes (5 complete)" in text
    assert "20 of 30 tasks done" in text
    draw_stages(TEN[:1], tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_text().count("after 1 episode") == 1
    draw_stages([], tmp_path / "none.svg")
    assert "after 0 episodes" in (tmp_path / "none.svg").read_text()


def test_settings_of_the_user_do_not_change_the_picture(tmp_path: Path) -> None:
    import matplotlib

    draw(TEN[:1], tmp_path / "one.svg")
    with matplotlib.rc_context({"font.size": 30, "figure.facecolor": "red", "lines.linewidth": 9}):
        draw(TEN[:1], tmp_path / "other.svg")
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


@pytest.mark.parametrize(
    ("path", "after", "words"),
    [
        ("model.jpeg", None, ".png, .svg, .pdf; got model.jpeg"),
        ("model.png", (1, 11), "0 to 10 episodes; got 11"),
        ("model.png", (), "got none"),
        ("missing/model.png", (1,), "cannot be written"),
    ],
)
def test_what_cannot_be_drawn(tmp_path: Path, path: str, after: tuple[int, ...] | None, words: str) -> None:
    with pytest.raises(UserError, match=words):
        draw(TEN, tmp_path / path, after)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_user_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=r"pip install teamworld\[plots\]"):
        draw(TEN, tmp_path / "model.png")
