"""Capsules: the same bytes from the same folder, all of it made again by who verifies, every tampering found."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
import zstandard

from teamworld import run
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.report.capsule.archive import opened, write_archive
from teamworld.report.capsule.packing import pack
from teamworld.report.capsule.verification import verify
from tests.reasoning.llm.server import running
from tests.report.capsule import tampering
from tests.report.capsule.tampering import Members, Tampering, members_of, write

KEY = "sk-a-key-of-mine-1234567890"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a method that learns and one that does not, whose reasoner errs."""
    out = tmp_path_factory.mktemp("folder") / "run"
    fields: dict[str, Any] = {"level": "n1", "seeds": [0, 1, 2], "episodes": 2, "max_steps": 6}
    run("cube", method=["drwell", "zero_shot"], reasoner="rules:noise=0.3", out=out, **fields)
    return out


@pytest.fixture(scope="module")
def plain(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plain") / "run.tw"
    pack(folder, file)
    return file


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capsule of a run in which a model answered."""
    place = tmp_path_factory.mktemp("modelled")
    with running("tests.reasoning.llm.player:plays") as server:
        run(
            "cube", method="zero_shot", level="n1", seeds=[0, 1], max_steps=6, reasoner=server.name(), out=place / "run"
        )
    pack(place / "run", place / "run.tw")
    return place / "run.tw"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capsule of a comparison."""
    place = tmp_path_factory.mktemp("compared")
    fields = ["--level", "n1", "--max-steps", "6", "--seeds", "2", "--retries", "2", "--out", str(place / "out")]
    assert command(["compare", "drwell", "zero_shot", *fields]) == 0
    pack(place / "out", place / "out.tw")
    return place / "out.tw"


# ---- what holds


def test_the_same_folder_gives_the_same_bytes(folder: Path, plain: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
    pack(copy, tmp_path / "copy.tw")
    assert (tmp_path / "copy.tw").read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("fixture", ["plain", "modelled", "compared"])
def test_what_was_packed_verifies(fixture: str, request: pytest.FixtureRequest) -> None:
    verified = verify(request.getfixturevalue(fixture))
    assert verified.differences == ()
    assert verified.episodes == {"plain": 12, "modelled": 2, "compared": 10}[fixture]
    assert verified.notes == ()


def test_processes_find_the_same(plain: Path, tmp_path: Path) -> None:
    members = members_of(plain)
    members["tables/report.md"] += b"more\n"
    first, second = tampering.logs(members)[:2]
    members[first], members[second] = members[second], members[first]
    write(tmp_path / "x.tw", members)
    alone = verify(tmp_path / "x.tw", processes=1)
    assert len(alone.differences) >= 3
    assert verify(tmp_path / "x.tw", processes=2) == alone


def test_the_command_says_what_differs_line_by_line(
    plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["verify", str(plain)]) == 0
    assert "verified: 12 episodes of 1 run played again to the same bytes, 2 tables" in capsys.readouterr().out
    members = members_of(plain)
    table = members["tables/report.md"].decode().replace("| 1 |", "| one |")
    members["tables/report.md"] = table.encode()
    write(tmp_path / "x.tw", members)
    assert command(["verify", str(tmp_path / "x.tw")]) == 1
    shown = capsys.readouterr()
    assert "tables/report.md line 5 says '| one |" in shown.out
    assert str(tmp_path) not in shown.out.replace(str(tmp_path / "x.tw"), "")
    assert command(["verify", str(tmp_path / "x.tw"), "--json"]) == 1
    assert msgspec.json.decode(capsys.readouterr().out)["verified"] is False


def test_seeds_that_were_added_after_a_look_are_told(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    fields: dict[str, Any] = {"level": "n1", "method": "random", "max_steps": 4, "out": out}
    run("cube", seeds=[0], **fields)
    run("cube", seeds=[0, 1], **fields)
    pack(out, tmp_path / "x.tw")
    verified = verify(tmp_path / "x.tw")
    assert verified.holds
    assert verified.notes == ("1 methods, 2 seeds and 1 episodes were registered after 1 episodes were finished",)


def test_other_code_is_told(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teamworld.experiment.code_identity.package_digest", lambda: "0" * 16)
    verified = verify(plain)
    assert verified.holds
    assert verified.notes == (
        "the installed code is not that of the capsule: teamworld; what differs may come from that",
    )


# ---- tamperings


def _kinds(plain: Members, modelled: Members, compared: Members, scratch: Path) -> dict[str, list[Tampering]]:
    return {
        "edited_records": list(tampering.edited_records(plain, scratch)),
        "moved_records": list(tampering.moved_records(plain, scratch)),
        "swapped_logs": list(tampering.swapped_logs(plain)),
        "edited_rows": list(tampering.edited_rows(plain)),
        "dropped_parts": list(tampering.dropped_parts(plain)),
        "added_episodes": list(tampering.added_episodes(plain)),
        "changed_rules": list(tampering.changed_rules(plain)),
        "other_locks": list(tampering.other_locks(plain)),
        "edited_tables": list(tampering.edited_tables(plain)),
        "edited_calls": list(tampering.edited_calls(modelled)),
        "changed_plans": list(tampering.changed_plans(compared)),
        "tables_of_comparisons": list(tampering.edited_tables(compared)),
    }


#: Of each kind of tampering one in so many is tried; TAMPERINGS_EVERY=1 tries all.
_EVERY = int(os.environ.get("TAMPERINGS_EVERY", "6"))
_OF_MODELS, _OF_COMPARISONS = ("edited_calls",), ("changed_plans", "tables_of_comparisons")
#: What the tables are made to fit afterwards: no table gives it away.
_CAREFUL = ("edited_records", "moved_records", "swapped_logs", "edited_rows", "dropped_parts", "added_episodes")
KINDS = (*(*_CAREFUL, "changed_rules", "other_locks", "edited_tables", *_OF_MODELS, *_OF_COMPARISONS),)


@pytest.fixture(scope="module")
def kinds(
    plain: Path, modelled: Path, compared: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Tampering]]:
    return _kinds(members_of(plain), members_of(modelled), members_of(compared), tmp_path_factory.mktemp("scratch"))


def _unfound(capsule: Path, tamperings: Iterable[Tampering], target: Path, *, careful: bool) -> list[str]:
    """Return the tamperings that verifying does not find; careful ones make the tables fit."""
    members, missed = members_of(capsule), []
    for each in tamperings:
        them = dict(members)
        each.change(them)
        assert them != members, f"{each.name} changes nothing"
        if careful:
            tampering.remake_tables(them, target)
        write(target, them)
        try:
            if verify(target).holds:
                missed.append(each.name)
        except UserError:
            pass  # it cannot even be read, which is told in a line
    return missed


@pytest.mark.heavy
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", KINDS)
def test_every_tampering_is_found(
    kind: str, kinds: dict[str, list[Tampering]], plain: Path, modelled: Path, compared: Path, tmp_path: Path
) -> None:
    capsule = modelled if kind in _OF_MODELS else compared if kind in _OF_COMPARISONS else plain
    assert _unfound(capsule, kinds[kind][::_EVERY], tmp_path / "x.tw", careful=kind in _CAREFUL) == []


def test_there_are_two_hundred_tamperings_and_a_capsule_that_is_only_written_again_holds(
    kinds: dict[str, list[Tampering]], plain: Path, modelled: Path, compared: Path, tmp_path: Path
) -> None:
    assert set(kinds) == set(KINDS)
    assert len({each.name for tamperings in kinds.values() for each in tamperings}) >= 200
    for capsule in (plain, modelled, compared):
        write(tmp_path / "x.tw", members_of(capsule))
        assert verify(tmp_path / "x.tw").holds


def test_what_is_not_even_sealed_again_is_named(plain: Path, tmp_path: Path) -> None:
    members = members_of(plain)
    for name in ("tables/report.md", "experiment.yaml"):
        write_archive(tmp_path / "x.tw", {**members, name: members[name] + b"\n"})
        assert f"{name} was altered since it was packed" in verify(tmp_path / "x.tw").differences
    write_archive(tmp_path / "x.tw", {name: data for name, data in members.items() if name != "tables/report.md"})
    assert "'tables/report.md' is missing: the capsule was packed with it" in verify(tmp_path / "x.tw").differences
    write_archive(tmp_path / "x.tw", {**members, "tables/more.md": b""})
    assert "tables/more.md was added: the capsule was packed without it" in verify(tmp_path / "x.tw").differences


# ---- files of strangers


def _crafted(path: Path, members: Members, change: Callable[[zipfile.ZipInfo], object], name: str) -> None:
    with zipfile.ZipFile(path, "w") as target:
        for each, data in members.items():
            entry = zipfile.ZipInfo(each, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            if each == name:
                change(entry)
            target.writestr(entry, data)


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: setattr(entry, "filename", "../escaped.yaml"),
        lambda entry: setattr(entry, "filename", "/etc/escaped.yaml"),
        lambda entry: setattr(entry, "filename", "a/../../escaped.yaml"),
        lambda entry: setattr(entry, "filename", "a\\b.yaml"),
        lambda entry: setattr(entry, "filename", ".hidden"),
        lambda entry: setattr(entry, "filename", "episodes.jsonl/below"),
        lambda entry: setattr(entry, "filename", "EPISODES.jsonl"),
        lambda entry: setattr(entry, "external_attr", (stat.S_IFLNK | 0o777) << 16),
        lambda entry: setattr(entry, "external_attr", (stat.S_IFIFO | 0o644) << 16),
        lambda entry: setattr(entry, "compress_type", zipfile.ZIP_DEFLATED),
        lambda entry: setattr(entry, "comment", b"hello"),
        lambda entry: setattr(entry, "date_time", (2020, 1, 1, 0, 0, 0)),
    ],
)
def test_only_plain_files_of_its_own_are_in_a_capsule(
    change: Callable[[zipfile.ZipInfo], object],
    plain: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "x.tw"
    _crafted(file, members_of(plain), change, "tables/report.md")
    before = sorted(tmp_path.parent.rglob("*"))
    assert command(["verify", str(file)]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "is not a capsule" in shown.err
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_garbage_is_one_line(plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = plain.read_bytes()
    file = tmp_path / "x.tw"
    pieces = [b"", b"PK", b"\0" * 4000, data[:-30], data[: len(data) // 2], data[1000:], b"x" + data[1:]]
    flips = [
        data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]
        for at in [*range(0, len(data), len(data) // 40), *range(60), *range(len(data) - 200, len(data), 3)]
    ]
    for content in (*pieces, *flips):
        file.write_bytes(content)
        code = command(["verify", str(file)])
        shown = capsys.readouterr()
        assert code == 2
        assert "Traceback" not in shown.err
        assert shown.err.count("\n") == 1
    file.unlink()
    os.mkfifo(file)
    assert command(["verify", str(file)]) == 2
    assert command(["verify", str(tmp_path)]) == 2
    assert command(["verify", str(tmp_path / "none.tw")]) == 2


def test_members_that_share_their_bytes_do_not_unfold(plain: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.tw"
    with zipfile.ZipFile(file, "w") as target:
        for number in range(50):
            entry = zipfile.ZipInfo(f"m{number:02}", (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            if number == 0:
                target.writestr(entry, b"0" * 100_000)
                (first,) = target.infolist()
            else:
                shared = target.infolist()
                entry.header_offset, entry.CRC = first.header_offset, first.CRC
                entry.file_size = entry.compress_size = first.file_size
                shared.append(entry)
                target.NameToInfo[entry.filename] = entry
    with pytest.raises(UserError, match="share bytes"), opened(file):
        pass


@pytest.mark.parametrize("name", ["logs/drwell-s0/0001.jsonl.zst", "calls/drwell-s0.jsonl.zst"])
def test_what_unfolds_without_end_is_refused(
    name: str, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teamworld.report.capsule.contents.LARGEST", 1 << 22)
    members = members_of(plain)
    members[name] = zstandard.compress(b"\n" * (1 << 24))
    assert len(members[name]) < 10_000
    write(tmp_path / "x.tw", members)
    with pytest.raises(UserError, match="unfolds into more than"):
        verify(tmp_path / "x.tw")


def test_code_and_files_that_a_capsule_names_are_left_alone(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil_code.py").write_text("from pathlib import Path\nPath('ran').write_text('')\nclass World: ...\n")
    monkeypatch.chdir(tmp_path)
    changes: list[Callable[[dict[str, Any]], object]] = [
        lambda data: data.update(world="evil_code:World"),
        lambda data: data.update(reasoner="evil_code:World"),
        lambda data: data["methods"].append("evil_code:World"),
        lambda data: data["options"]["cube"].update(data="/etc/passwd"),
    ]
    for change in changes:
        members = members_of(plain)
        data = yaml.safe_load(members["experiment.yaml"])
        change(data)
        members["experiment.yaml"] = yaml.safe_dump(data).encode()
        write(tmp_path / "x.tw", members)
        with pytest.raises(UserError, match="add --trust"):
            verify(tmp_path / "x.tw")
        assert not (tmp_path / "ran").exists()


# ---- what is not packed


def test_keys_are_not_packed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "run"))
    data = yaml.safe_load((copy / "experiment.yaml").read_text())
    data["prompts"][f"x/{KEY}.md.j2"] = {"version": 1, "hash": "0"}
    (copy / "experiment.yaml").write_text(yaml.safe_dump(data))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UserError, match="holds the key in OPENAI_API_KEY") as refused:
        pack(copy, tmp_path / "x.tw")
    assert KEY not in str(refused.value)
    assert not (tmp_path / "x.tw").exists()


def test_what_cannot_be_verified_is_not_packed(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "run"))
    (copy / "logs" / "drwell-s0" / "0002.jsonl.zst").unlink()
    with pytest.raises(UserError, match=r"0002.jsonl.zst is missing"):
        pack(copy, tmp_path / "x.tw")
    stored = Path(__file__).parents[2] / "experiment" / "stored" / "run-0.1.0"
    with pytest.raises(UserError, match="were not registered before the first call"):
        pack(Path(shutil.copytree(stored, tmp_path / "old")), tmp_path / "x.tw")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no run"):
        pack(tmp_path / "empty", tmp_path / "x.tw")


def test_another_process_packs_the_same_bytes(folder: Path, plain: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.tw"
    arguments = [sys.executable, "-m", "teamworld", "capsule", str(folder), "-o", str(out)]
    subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": "77"}, stdout=subprocess.DEVNULL)
    assert out.read_bytes() == plain.read_bytes()
