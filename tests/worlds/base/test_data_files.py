"""Reading files of others: each that cannot be used is refused with one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from teamworld.errors import UserError
from teamworld.worlds.base import data_files


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        data_files.read_json(path, "numbers")
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": [1, 2.5, null]}')
    assert data_files.read_json(path, "numbers") == {"a": [1, 2.5, None]}
    assert data_files.read_bytes(path, "numbers") == path.read_bytes()


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "[" * 100_000, "1e999", "nonsense\n\n"])
def test_damage(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert "expected JSON, found damage" in refusal(path)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "a.json")
    assert "expected a file with numbers" in refusal(tmp_path / "a.json")


def test_what_is_not_there(tmp_path: Path) -> None:
    assert "no such file; expected numbers" in refusal(tmp_path / "a.json")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "no such file" in refusal(tmp_path / "loop")
    assert refusal(tmp_path / ("a" * 300))


def test_what_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1]")
    monkeypatch.setattr(data_files, "_LARGEST", 2)
    assert "expected at most" in refusal(path)
