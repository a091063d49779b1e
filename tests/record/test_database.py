"""Our SQLite files: looking without writing, and files that are not ours stay as they are."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from teamworld.errors import UserError
from teamworld.experiment.store.answer_cache import AnswerCache
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import Results
from teamworld.memory.store import MemoryStore
from teamworld.record.database import Database, Format

FORM = Format(
    what="results file",
    name="results.sqlite",
    application=0x7477_7273,
    version=2,
    schema="CREATE TABLE numbers (number INTEGER NOT NULL, text TEXT NOT NULL);",
    synchronous="FULL",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run" / "results.sqlite"


def add(database: Database, *numbers: int) -> None:
    with database.transaction() as db:
        db.executemany("INSERT INTO numbers VALUES (?, ?)", ((number, "x" * 100) for number in numbers))


def ours(path: Path, *numbers: int) -> Path:
    database = Database(path, FORM)
    add(database, *numbers)
    database.close()
    return path


def held(database: Database) -> list[int]:
    with database.reading() as db:
        return [number for (number,) in db.execute("SELECT number FROM numbers ORDER BY number")]


def looked_at(path: Path) -> list[int]:
    database = Database(path, FORM, readonly=True)
    result = held(database)
    database.close()
    return result


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    files = {
        file.name: (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns) for file in folder.iterdir()
    }
    return files | {".": ("", folder.stat().st_mtime_ns)}


def test_a_new_file_is_on_the_disk_before_it_has_its_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, link = os.fsync, os.link

    def synced(number: int) -> None:
        assert not path.exists()
        done.append("synced")
        sync(number)

    def linked(draft: Path, name: Path) -> None:
        done.append("linked")
        link(draft, name)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "link", linked)
    Database(path, FORM).close()
    assert done == ["synced", "linked"]


# ---- reading only


def test_looking_writes_nothing(path: Path) -> None:
    ours(path, 1, 2)
    before = contents(path.parent)
    database = Database(path, FORM, readonly=True)
    assert held(database) == [1, 2]
    assert contents(path.parent) == before
    database.close()
    database.close()
    assert contents(path.parent) == before
    assert sorted(before) == [".", path.name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root ignores modes")
def test_a_file_in_a_folder_that_must_not_be_written(path: Path) -> None:
    ours(path, 1, 2)
    path.chmod(stat.S_IRUSR)
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert looked_at(path) == [1, 2]
        with pytest.raises(UserError, match="allow writing"):
            Database(path, FORM)
    finally:
        path.parent.chmod(stat.S_IRWXU)


def test_looking_asks_for_no_right_to_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours(path, 1)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UserError, match="allow writing"):
        Database(path, FORM)
    assert looked_at(path) == [1]


def test_a_missing_file_is_not_made(path: Path) -> None:
    with pytest.raises(UserError, match="No such file") as caught:
        Database(path, FORM, readonly=True)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(path.parent.iterdir()) == []


def test_writing_is_refused(path: Path) -> None:
    ours(path, 1)
    before = contents(path.parent)
    database = Database(path, FORM, readonly=True)
    with pytest.raises(sqlite3.ProgrammingError, match="reading only"), database.transaction():
        pytest.fail("a transaction on a file that is only looked at")
    with pytest.raises(UserError), database.reading() as db:
        db.execute("DELETE FROM numbers")
    assert held(database) == [1]
    database.close()
    assert contents(path.parent) == before


@pytest.mark.parametrize("name", ["a b", "50%", "100%25", "why?mode=rwc", "a#b", "a&immutable=0", "ä", "file:x"])
def test_names_that_mean_something_in_a_uri(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    ours(folder / f"{name}.sqlite", 7)
    before = contents(folder)
    assert looked_at(folder / f"{name}.sqlite") == [7]
    assert contents(folder) == before
    assert os.listdir(tmp_path) == [name]


def test_a_relative_path_and_a_link(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Database(path, FORM)
    add(writer, 3)  # still in the log, which lies beside the file and not beside the link
    (tmp_path / "link.sqlite").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    assert looked_at(Path("link.sqlite")) == [3]
    assert looked_at(Path("run/results.sqlite")) == [3]
    writer.close()


def test_what_a_writer_has_not_yet_brought_in_is_seen(path: Path) -> None:
    writer = Database(path, FORM)
    add(writer, 1)
    assert Path(f"{path}-wal").stat().st_size > 0
    reader = Database(path, FORM, readonly=True)
    assert held(reader) == [1]
    add(writer, 2)
    assert held(reader) == [1, 2]
    log = Path(f"{path}-wal").read_bytes()
    reader.close()
    assert Path(f"{path}-wal").read_bytes() == log  # closing brings nothing in
    writer.close()
    assert os.listdir(path.parent) == [path.name]


def test_a_writer_that_has_not_written_yet_is_noticed(path: Path) -> None:
    ours(path, 1)
    writer = Database(path, FORM)
    assert held(writer) == [1]
    assert Path(f"{path}-wal").stat().st_size == 0
    reader = Database(path, FORM, readonly=True)
    add(writer, 2)
    assert held(reader) == [1, 2]
    reader.close()
    writer.close()


def test_after_a_kill_the_log_is_read_and_kept(path: Path, tmp_path: Path) -> None:
    writer = Database(path, FORM)
    add(writer, 1, 2)
    killed = tmp_path / "killed"
    shutil.copytree(path.parent, killed)
    writer.close()
    kept = {end: Path(f"{killed / path.name}{end}").read_bytes() for end in ("", "-wal")}
    assert kept["-wal"]
    assert looked_at(killed / path.name) == [1, 2]
    assert {end: Path(f"{killed / path.name}{end}").read_bytes() for end in kept} == kept


def test_an_empty_log_that_was_left_behind_is_no_writer(path: Path) -> None:
    ours(path, 1)
    Path(f"{path}-wal").touch()
    before = contents(path.parent)
    assert looked_at(path) == [1]
    assert contents(path.parent) == before


def test_a_world_model_is_looked_at(path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        MemoryStore(path, readonly=True)
    MemoryStore(path).close()
    before = contents(path.parent)
    with MemoryStore(path, readonly=True) as store:
        assert store.runs() == ()
        with pytest.raises(sqlite3.ProgrammingError, match="reading only"):
            store.commit("run", None)  # type: ignore[arg-type]  # refused before it looks
    assert contents(path.parent) == before


# ---- what is not ours, or no longer whole


def foreign(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE precious (text)")
    db.close()


def foreign_with_log(path: Path) -> None:
    """Make a foreign database that waits for its write-ahead log to be brought in."""
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode = WAL; CREATE TABLE precious (text);")
    held = {part: Path(f"{path}{part}").read_bytes() for part in ("", "-wal")}
    db.close()
    for part, data in held.items():
        Path(f"{path}{part}").write_bytes(data)


def of_our_other_kind(path: Path) -> None:
    MemoryStore(path).close()


def versioned(version: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        ours(path, 1)
        db = sqlite3.connect(path)
        db.execute(f"PRAGMA user_version = {version}")
        db.close()

    return make


def cut(path: Path) -> None:
    ours(path, *range(1000))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def overwritten(path: Path) -> None:
    ours(path, *range(1000))
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 64] = b"\xff" * 64
    path.write_bytes(data)


def header_damaged(path: Path) -> None:
    data = bytearray(ours(path, 1).read_bytes())
    data[16:18] = b"\x00\x03"  # no page size
    path.write_bytes(data)


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (foreign_with_log, "another program"),
        (header_damaged, "damaged"),
        (foreign, "another program: expected a results.sqlite"),
        (of_our_other_kind, "another program: expected a results.sqlite"),
        (versioned(3), "newer teamworld .results file format 3, this one reads 2.: upgrade it"),
        (versioned(1), "older teamworld .results file format 1, this one reads 2.: run it anew"),
        (cut, "is damaged"),
        (overwritten, "is damaged"),
        (lambda path: path.write_bytes(b"SQLite format 3\x00" + b"\x10"), "another program"),
        (lambda path: path.write_text("dear diary, " * 50), "not a results file"),
        (lambda path: path.write_bytes(b""), "not a results file"),
    ],
)
def test_a_file_that_is_not_of_the_kind_stays_as_it_is(
    path: Path, make: Callable[[Path], object], words: str, readonly: bool
) -> None:
    make(path)
    before = contents(path.parent)
    with pytest.raises(UserError, match=words) as caught:
        Database(path, FORM, readonly=readonly)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    after = contents(path.parent)
    if not readonly:  # SQLite may have made a log beside the file and taken it away
        del before["."], after["."]
    assert after == before


@pytest.mark.parametrize(
    ("store", "name"),
    [
        (Results, "results.sqlite"),
        (CallStore, "results.sqlite"),
        (AnswerCache, "cache.sqlite"),
        (MemoryStore, "memory.sqlite"),
    ],
)
def test_every_store_leaves_files_of_others_and_of_other_versions_as_they_are(
    path: Path, store: Callable[[Path], Database], name: str
) -> None:
    for change, words in (
        ("application_id = 7", f"another program: expected a {name}"),
        ("user_version = 99", "a newer teamworld"),
        ("user_version = 0", "an older teamworld"),
    ):
        store(path).close()
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA {change}")
        before = path.read_bytes()
        with pytest.raises(UserError, match=words):
            store(path)
        assert path.read_bytes() == before
        path.unlink()


MAGIC = bytes.fromhex("d9d505f920a163d7")


def forge_rollback(path: Path, named: Path) -> None:
    """Put a hot rollback file beside a database that names another file, as a transaction over both leaves it."""
    name = str(named).encode()
    sector, pages = 512, path.stat().st_size // 4096
    head = MAGIC + b"".join(number.to_bytes(4, "big") for number in (0, 7, pages, sector, 4096))
    summed = sum(name) & 0xFFFFFFFF
    record = (2**30 // 4096 + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big")
    path.with_name(f"{path.name}-journal").write_bytes(
        head.ljust(sector, b"\0") + record + summed.to_bytes(4, "big") + MAGIC
    )


def test_no_file_is_deleted_that_a_forged_rollback_file_names(path: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    ours(path, 1)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")

    def forge() -> None:
        precious.write_bytes(b"nothing that SQLite knows")
        forge_rollback(path, precious)

    forge()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("SELECT * FROM numbers").fetchall()
    assert not precious.exists(), "the forged file must be one that SQLite obeys"
    forge()
    for readonly in (False, True):
        with pytest.raises(UserError, match="SQLite would delete a file it names"):
            Database(path, FORM, readonly=readonly)
    assert precious.exists()


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DROP TABLE numbers", "its table numbers is missing"),
        ("DROP TABLE numbers; CREATE VIEW numbers AS SELECT 1 AS number, '' AS text", "its table numbers is missing"),
        (
            "CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n",
            "a view",
        ),
        ("CREATE TRIGGER t AFTER INSERT ON numbers BEGIN DELETE FROM numbers; END", "a trigger 't'"),
        ("CREATE INDEX i ON numbers (hex(zeroblob(number)))", "a index 'i'"),
        ("ALTER TABLE numbers ADD COLUMN more", "numbers is not as it was made"),
        ("CREATE VIRTUAL TABLE v USING fts5(x)", "a table 'v'"),
    ],
)
def test_tables_that_are_not_ours_are_refused(path: Path, change: str, said: str, readonly: bool) -> None:
    ours(path, 1)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(change)
    with pytest.raises(UserError, match=said):
        Database(path, FORM, readonly=readonly)


def test_tables_that_are_made_when_needed_are_ours(path: Path) -> None:
    ours(path, 1)
    later = "CREATE TABLE later (number INTEGER NOT NULL);"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(later)
    with pytest.raises(UserError, match="a table 'later'"):
        Database(path, FORM)
    Database(path, FORM._replace(optional=later)).close()


def test_rows_that_cannot_be_are_refused(path: Path) -> None:
    ours(path, 1)
    form = FORM._replace(impossible={"numbers": "NOT number BETWEEN 0 AND 5", "later": "TRUE"})
    Database(path, form).close()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE numbers SET number = 6")
    for readonly in (False, True):
        with pytest.raises(UserError, match="a row of its table numbers holds numbers that cannot be"):
            Database(path, form, readonly=readonly)


def test_a_file_of_holes_is_refused_before_memory_is_taken_for_it(path: Path) -> None:
    ours(path, 1)
    with path.open("r+b") as file:
        file.truncate(2**41)
    with pytest.raises(UserError, match="it has 2048 GB, more than a"):
        Database(path, FORM, readonly=True)


def test_a_trigger_with_the_name_of_a_table_is_seen(path: Path) -> None:
    ours(path, 1)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript("CREATE TRIGGER t AFTER INSERT ON numbers BEGIN DELETE FROM numbers; END;")
        db.execute("PRAGMA writable_schema = ON")
        db.execute(
            "UPDATE sqlite_schema SET name = 'numbers', sql = replace(sql, 'TRIGGER t', 'TRIGGER numbers')"
            " WHERE name = 't'"
        )
    with pytest.raises(UserError, match="a trigger 'numbers'"):
        Database(path, FORM)


def test_a_list_of_tables_without_end_ends(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours(path, 1)
    monkeypatch.setattr("teamworld.record.database._SCHEMA_SECONDS", -1.0)
    monkeypatch.setattr(
        "teamworld.record.database._read_schema",
        lambda db: db.execute(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT count(*) FROM n"
        ).fetchall(),
    )
    with pytest.raises(UserError, match="the list of its tables has no end"):
        Database(path, FORM)
