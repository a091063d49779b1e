"""Reading of YAML files: keys given twice, and texts that unfold without end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from teamworld.cli import run as command
from teamworld.errors import UserError, brief
from teamworld.experiment.spec import build, load
from teamworld.yaml_io import parse

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
)


@pytest.mark.parametrize("last", ["grid: *a8", "grid: {level: [*a8]}", "options: *a8", "seeds: *a8", "level: *a8"])
def test_a_text_that_unfolds_without_end_is_refused_in_one_line(
    last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bomb.yaml").write_text(BOMB + last)
    assert command(["run", str(tmp_path / "bomb.yaml"), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert "bomb.yaml: line 6: more than 1,000,000 values, anchors unfolded" in " ".join(told.split())
    assert len(told) < 400


def test_a_value_that_is_a_part_of_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ring.yaml").write_text("world: cube\nseeds: &ring [0, *ring]\n")
    with pytest.raises(UserError, match="line 2: a value is a part of itself"):
        load(tmp_path / "ring.yaml")


@pytest.mark.parametrize(
    ("text", "says"),
    [("episodes: 2020-13-45", "month must be in 1..12"), ("seeds: " + "[" * 3000, "nested too deeply")],
)
def test_what_is_no_yaml_is_told_in_one_line(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text(text)
    with pytest.raises(UserError, match=re.escape(f"odd.yaml is not valid YAML: {says}")):
        load(tmp_path / "odd.yaml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("level: n1\nseeds: [0]\nlevel: n2\n", "line 3: 'level' is given twice, first in line 1"),
        ("options:\n  drwell:\n    explore: 1\n    explore: 2\n", "line 4: 'explore' is given twice, first in line 3"),
        ("grid: {level: [n1], level: [n2]}", "line 1: 'level' is given twice, first in line 1"),
    ],
)
def test_a_key_given_twice_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text(text)
    with pytest.raises(UserError, match=says):
        load(tmp_path / "twice.yaml")


def test_anchors_and_merged_mappings_are_read(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b\n  c: {<<: *a, y: 3}\nd: {<<: [*a, *b], x: 4}\ne: &f {g: {<<: *a}}\nh: {<<: *f}\n"
    assert parse(text) == yaml.safe_load(text)
    (tmp_path / "merged.yaml").write_text(text)
    assert load(tmp_path / "merged.yaml")["b"]["c"] == {"x": 1, "y": 3}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_what_is_written_is_read(value: object) -> None:
    assert parse(yaml.safe_dump(value)) == value


@given(_VALUES | st.binary() | st.lists(st.integers(), min_size=100))
def test_a_quoted_value_is_short(value: object) -> None:
    assert len(brief(value)) <= 80
    assert len(brief([value] * 1000)) <= 80
    if len(repr(value)) < 20:
        assert brief(value) == repr(value)


def test_an_option_of_any_size_is_quoted_in_a_line() -> None:
    huge = [["x" * 1000] * 1000] * 1000
    for given_data in ({"max_steps": huge}, {"x" * 10**6: 1}, {"level": huge}, {"options": huge}):
        with pytest.raises(UserError) as caught:
            build(given_data)
        assert len(str(caught.value)) < 800
