"""The check of names finds each kind of violation."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def violations() -> Callable[[Path], Iterator[str]]:
    check: Callable[[Path], Iterator[str]] = runpy.run_path(str(ROOT / "scripts" / "check_names.py"))["violations"]
    return check


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("def choose(given: int) -> int:\n    return given\n", "'given' does not say what it holds"),
        ("found = 1\n", "'found' does not say what it holds"),
        ("class Journal:\n    pass\n", "'journal' in 'Journal' is not a word of the field: say event log"),
        ("def nearest_mate() -> None:\n    pass\n", "'mate' in 'nearest_mate' is not a word of the field"),
        ('"""What a mind is asked."""\n', "'mind' is not a word of the field: say reasoner"),
        ('"""Pushes as in spec A13."""\n', "refers to a document outside the repository"),
    ],
)
def test_a_violation_in_a_module_is_found(
    violations: Callable[[Path], Iterator[str]], tmp_path: Path, module: str, expected: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module.py").write_text(module, "utf-8")
    assert any(expected in line for line in violations(tmp_path))


def test_a_class_with_three_meanings_is_found(violations: Callable[[Path], Iterator[str]], tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for number in range(3):
        (tmp_path / "src" / f"module{number}.py").write_text("class Plan:\n    pass\n", "utf-8")
    assert [line for line in violations(tmp_path) if line.startswith("class Plan has 3 meanings")]
    (tmp_path / "src" / "module2.py").unlink()
    assert not list(violations(tmp_path))


def test_a_violation_in_a_page_is_found_and_changes_may_tell_old_names(
    violations: Callable[[Path], Iterator[str]], tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("Ask another mind.\n", "utf-8")
    (tmp_path / "CHANGELOG.md").write_text("A mind is called a reasoner.\n", "utf-8")
    assert [line.partition(":")[0] for line in violations(tmp_path)] == ["docs/page.md"]
