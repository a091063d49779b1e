"""The leaderboard: capsules that verify, one set of instances, and a page on which what they say is only text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from teamworld import run
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.report.capsule.leaderboard import Board, BoardCapsule, BoardRow, make_board, page
from teamworld.report.capsule.packing import pack
from tests.report.capsule.tampering import members_of, write

FIELDS: dict[str, Any] = {"level": "n1", "max_steps": 6}


def packed(place: Path, name: str, method: str | list[str], seeds: list[int], **more: Any) -> Path:
    run("cube", method=method, seeds=seeds, out=place / name, **(FIELDS | more))
    pack(place / name, place / f"{name}.tw")
    return place / f"{name}.tw"


@pytest.fixture(scope="module")
def capsules(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("board")
    return [
        packed(place, "ours", ["zero_shot", "random"], [0, 1]),
        packed(place, "theirs", ["zero_shot", "random"], [0, 1], reasoner="rules:noise=0.5"),
        packed(place, "fewer", "zero_shot", [0]),
        packed(place, "longer", "zero_shot", [0, 1], max_steps=7),
    ]


def test_methods_of_all_capsules_stand_on_it_and_reference_teams_once(capsules: list[Path]) -> None:
    board = make_board(capsules[:2])
    assert sorted(row.label for row in board.rows) == ["random", "zero_shot (ours)", "zero_shot (theirs)"]
    assert [row.is_reference for row in board.rows if row.label == "random"] == [True]
    assert board.rows[0].rank == "1"
    assert "3 methods on the same 2 episodes" in board.about
    text = page(board)
    for said in ("What is not proven", "That a language model gave the recorded answers", board.capsules[0].seal):
        assert said in text
    assert "<script" not in text
    assert not re.search(r"(href|src)=\"(?!data:,)", text)


@pytest.mark.parametrize("other", [2, 3])
def test_other_instances_are_refused(other: int, capsules: list[Path]) -> None:
    with pytest.raises(UserError, match="did not play the same instances"):
        make_board([capsules[0], capsules[other]])


def test_what_does_not_verify_is_refused(capsules: list[Path], tmp_path: Path) -> None:
    members = members_of(capsules[0])
    members["tables/report.md"] += b"we are the best"
    write(tmp_path / "forged.tw", members)
    with pytest.raises(UserError, match="does not verify, so nothing of it is shown"):
        make_board([capsules[1], tmp_path / "forged.tw"])


def test_one_capsule_stands_once(capsules: list[Path], tmp_path: Path) -> None:
    (tmp_path / "again.tw").write_bytes(capsules[0].read_bytes())
    with pytest.raises(UserError, match="are the same capsule"):
        make_board([capsules[0], tmp_path / "again.tw"])
    (tmp_path / "ours.tw").write_bytes(capsules[1].read_bytes())
    with pytest.raises(UserError, match="have the same name"):
        make_board([capsules[0], tmp_path / "ours.tw"])


def test_the_command_writes_the_same_page_each_time(
    capsules: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(path) for path in capsules[:2]]
    for name in ("a.html", "b.html"):
        assert command(["leaderboard", *files, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert command(["leaderboard", "-o", str(tmp_path / "a.html")]) == 2
    assert command(["leaderboard", *files, "-o", str(tmp_path / "a.txt")]) == 2
    assert "expected files such as" in capsys.readouterr().err


def test_what_a_capsule_says_is_text_on_the_page() -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    row = BoardRow(evil, evil, evil, (evil,), evil, evil, False)
    text = page(Board(evil, evil, (evil,), (row,), evil, (BoardCapsule(*(evil,) * 6),)))
    assert "<script" not in text
    assert "<img" not in text
    assert text.count("&lt;script&gt;") == 17
