"""Folders at a URL (``s3://``, ``gs://``): each has a copy on this machine, which is read and written as any folder is.

What is small comes to the copy when a command begins; a log comes when it is opened, and so does a results file whose
Parquet tables say the same. What a run writes is uploaded episode by episode: its log, and from time to time the
databases as they are then, so that whoever reads the URL finds no row without its log. The copy is what a run goes on
from: after a kill the same command uploads what is missing.

Keys are the business of the library of the store (environment, profile): they are in no URL, and in no message.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec
from filelock import FileLock

from teamworld.errors import UserError
from teamworld.experiment.store.parquet_tables import RESULTS, ParquetTables, ResultsState
from teamworld.plain_files import file_state, list_files, write_file

#: Where the copies are; the user's cache folder if it is not set.
COPIES: Final = "TEAMWORLD_COPIES"
#: Of a URL, or of what a path makes of one: ``s3:/bucket/key``.
_URL: Final = re.compile(r"(s3|gs):/{1,2}([^/].*)", re.DOTALL)
_PACKAGES: Final = {"s3": "s3fs", "gs": "gcsfs"}
_STATE, _UPLOADED = ".remote", ".uploaded"
_SNAPSHOT: Final = "snapshot"
#: At the URL: when each file was last changed here, by which Parquet tables know their results.
_TIMES: Final = ".times.json"
_TRIES: Final = 12
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 5.0  # seconds
_AT_ONCE: Final = 8
#: The databases are uploaded once this many times as long has passed as the last upload took.
_SHARE: Final = 20
#: Bytes from which on a file may come in several requests, which have to meet one version.
_LARGE: Final = 2**20
Result = TypeVar("Result")
_Time = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class FileState(msgspec.Struct, frozen=True):
    """A file when here and there were last the same."""

    here: tuple[int, int]
    """Bytes, and time of the last change in nanoseconds."""
    there: str
    """What the store calls this version; empty while it is uploaded."""


class _RemoteFile(NamedTuple):
    """A file at the URL."""

    name: str
    version: str
    size: int
    """Bytes."""

    @property
    def is_results(self) -> bool:
        """Whether it is the results of a run."""
        return PurePosixPath(self.name).name == RESULTS


class _State(msgspec.Struct):
    url: str
    files: dict[str, FileState] = {}
    later: dict[str, str] = {}
    """What comes when it is opened, with the version there."""


def url_of(path: Path | str) -> str | None:
    """Return the URL that a path stands for; None of one on this machine.

    Raises:
        UserError: It holds a key, or names no bucket.
    """
    match = _URL.fullmatch(str(path))
    if match is None:
        return None
    scheme, rest = match[1], match[2].strip("/")
    if "@" in rest.partition("/")[0] or "?" in rest:
        raise UserError(
            f"expected {scheme}://BUCKET/FOLDER without a key or a query: put keys into the environment or a profile"
        )
    if not all(part not in ("", ".", "..") for part in rest.split("/")) or "/" not in rest:
        raise UserError(f"expected a folder in a bucket, such as {scheme}://results/first")
    return f"{scheme}://{rest}"


def local_folder(path: Path | str) -> Path:
    """Return the folder to read: of a URL its copy, with what is there now; any other path as it is.

    Raises:
        UserError: It cannot be read, or was changed both here and there.
    """
    url = url_of(path)
    if url is None:
        return Path(path)
    folder = RemoteFolder(url)
    folder.refresh()
    return folder.path


def remote_of(path: Path) -> RemoteFolder | None:
    """Return the folder at a URL that a path of this machine is in the copy of; None if it is in none."""
    copies = _copies()
    if copies not in path.parents:
        return None
    root = copies / path.relative_to(copies).parts[0]
    try:
        state = msgspec.json.decode((root / _STATE).read_bytes(), type=_State)
    except (OSError, msgspec.DecodeError):
        return None
    return RemoteFolder(state.url)


def fetch_log(path: Path) -> None:
    """Get a log that is not here, where it is in the copy of a URL and there; else do nothing."""
    remote = remote_of(path)
    if remote is not None:
        remote.fetch(path.relative_to(remote.path).as_posix())


def fetch_results(path: Path) -> None:
    """Get a results file that was left at the URL, since tables say the same; else do nothing.

    Raises:
        UserError: It cannot be read.
    """
    remote = remote_of(path)
    if remote is not None and remote.is_left_there(path):
        remote.refresh(whole=True)


def _copies() -> Path:
    """Return the folder of all copies."""
    if COPIES in os.environ:
        return Path(os.environ[COPIES]).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache).absolute() / "teamworld" / "copies"


class RemoteFolder:
    """A folder at a URL, and its copy here.

    Args:
        url: As ``url_of`` returns it.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._home = _copies() / hashlib.blake2b(url.encode(), digest_size=8).hexdigest()
        self.path = self._home / PurePosixPath(url).name
        """The copy."""
        self._scheme, _, self._root = url.partition("://")

    @cached_property
    def _store(self) -> Any:  # noqa: ANN401  (fsspec carries no types)
        package = _PACKAGES[self._scheme]
        try:
            import fsspec

            options = {
                "s3": {
                    "config_kwargs": {"retries": {"total_max_attempts": 1}},  # ``_tried`` is for that
                    "max_concurrency": 1,  # parts of a large file, 50 MB each, that are in memory at the same time
                }
            }
            return fsspec.filesystem(
                self._scheme, use_listings_cache=False, skip_instance_cache=True, **options.get(self._scheme, {})
            )
        except ImportError:
            raise UserError(
                f"{self._scheme}:// needs another package: pip install 'teamworld[{self._scheme}]' ({package})"
            ) from None

    def _tried(self, what: str, work: Callable[[], Result]) -> Result:
        """Do something until it succeeds, with longer and longer waits.

        Raises:
            FileNotFoundError: It is not there.
            UserError: It never did. The message says what kind of error came and not what it said, which may hold keys.
        """
        wait, errors = _FIRST_WAIT, _errors()
        for left in reversed(range(_TRIES)):
            try:
                return work()
            except FileNotFoundError:
                raise
            except errors as error:
                name = type(error).__name__
                if not left or isinstance(error, PermissionError) or "Credentials" in name:
                    raise UserError(
                        f"{self.url} cannot be {what} ({name}): see that it is there and that your keys for it are in "
                        "the environment or a profile; the same command goes on, nothing that is finished is lost"
                    ) from None
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        raise AssertionError("the last try returns or raises")

    # ---- from there

    def refresh(self, *, whole: bool = False) -> None:
        """Bring what has changed there, logs aside, into the copy.

        Args:
            whole: Also results files whose Parquet tables say the same, which else come when they are opened.

        Raises:
            UserError: It cannot be read, or a file was changed both here and there.
        """
        with self._locked() as state:
            changed = [file for file in self._list_files() if self._has_changed(state, file)]
            if not whole and all(state.later.get(file.name) == file.version for file in changed):
                return
            times = self._read_times()
            self._bring(state, [file for file in changed if not file.is_results], times)
            results = []
            for file in changed:
                if not file.is_results:
                    continue
                if whole or not _is_told(self.path / file.name, file.size, times.get(file.name)):
                    results.append(file)
                    continue
                self._drop(file.name)
                state.files.pop(file.name, None)
                state.later[file.name] = file.version
                self._save(state)
            self._bring(state, results, times)

    def _has_changed(self, state: _State, file: _RemoteFile) -> bool:
        """Whether a file there is to come here; raises ``UserError`` where it was changed here too."""
        known, here = state.files.get(file.name), file_state(self.path / file.name)
        if here is not None and known is not None and known.there in (file.version, ""):
            return False  # as it was, or changed here alone: it is to be uploaded
        if here is not None and (known is None or known.here != here):
            raise UserError(
                f"{self.url}/{file.name} was changed there, and its copy {self.path / file.name} here: take away the "
                "one that is wrong"
            )
        return True

    def _bring(self, state: _State, files: Sequence[_RemoteFile], times: Mapping[str, int]) -> None:
        """Put files there into the copy, some at a time."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            drafts = [pool.submit(self._get, file.name, file.size) for file in files]
            for file, draft in zip(files, drafts, strict=True):
                path = self.path / file.name
                self._replace(file.name, draft.result())
                if file.name in times:
                    os.utime(path, ns=(times[file.name], times[file.name]))
                after = file_state(path)
                assert after is not None
                state.files[file.name] = FileState(after, file.version)
                state.later.pop(file.name, None)
                self._save(state)

    def is_left_there(self, path: Path) -> bool:
        """Whether a file of the copy is to come when it is opened."""
        with self._locked() as state:
            return path.relative_to(self.path).as_posix() in state.later

    def _read_times(self) -> dict[str, int]:
        try:
            data = self._tried("read", partial(self._store.cat_file, f"{self._root}/{_TIMES}"))
            return msgspec.json.decode(data, type=dict[str, _Time])
        except (FileNotFoundError, msgspec.DecodeError):
            return {}

    def fetch(self, name: str) -> None:
        """Get a file that is not here; nothing happens where it is not there either."""
        try:
            self._replace(name, self._get(name))
        except FileNotFoundError:
            return

    def _get(self, name: str, size: int = 0) -> Path:
        """Get a file into a draft beside its place, and return that."""
        draft, there = self.path / f"{name}.new", f"{self._root}/{name}"
        find_version = partial(self._tried, "read", lambda: _version(self._store.info(there)))
        draft.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(_TRIES):
            draft.unlink(missing_ok=True)
            version = find_version() if size >= _LARGE else ""
            self._tried("read", partial(self._store.get_file, there, str(draft)))
            if size < _LARGE or find_version() == version:
                with draft.open("rb+") as file:
                    os.fsync(file.fileno())
                return draft
        raise UserError(f"{self.url}/{name} changes while it is read: try again once less is written there")

    def _replace(self, name: str, draft: Path) -> None:
        """Put a draft in place of the copy of a file."""
        self._drop(name)
        draft.replace(self.path / name)

    def _drop(self, name: str) -> None:
        """Take the copy of a file away, and of a database what lies beside it."""
        for beside in ("-wal", "-shm", ""):
            (self.path / f"{name}{beside}").unlink(missing_ok=True)

    def _list_files(self) -> Iterator[_RemoteFile]:
        """Yield the files there; folders of logs are not looked into."""
        folders = [self._root]
        while folders:
            folder = folders.pop()
            try:
                entries = self._tried("read", partial(self._store.ls, folder, detail=True))
            except FileNotFoundError:
                continue
            for entry in sorted(entries, key=lambda entry: str(entry["name"])):
                path = str(entry["name"]).strip("/")
                name = path.removeprefix(f"{self._root}/")
                parts = PurePosixPath(name).parts
                if path == self._root or not path.startswith(f"{self._root}/"):
                    continue
                if any(part in ("..", ".", "/") or "\\" in part or "\0" in part for part in parts):
                    raise UserError(f"{self.url} holds a file whose name leads out of it: take it away")
                if entry["type"] == "directory":
                    folders += [] if parts[-1] == "logs" else [path]
                elif not _is_own(name):
                    yield _RemoteFile(name, _version(entry), int(entry["size"]))

    # ---- to there

    def push(self, logs: Sequence[str] | None = None) -> int:
        """Upload what has changed here, logs first, and return how many files that were.

        Args:
            logs: Names of the logs that may be new; None: look for them.

        Raises:
            UserError: It cannot be written.
        """
        with self._locked() as state:
            number = self._push_logs(self._list_logs() if logs is None else logs)
            changed = self._list_changed(state)
            for name in changed:
                path = self.path / name
                here = file_state(path)
                if here is None:
                    continue
                state.files[name] = FileState(here, "")
                self._save(state)  # so that a kill meanwhile is no change of somebody else
                self._put(path, name)
                there = self._tried("read", partial(self._store.info, f"{self._root}/{name}"))
                state.files[name] = FileState(here, _version(there))
                self._save(state)
                number += 1
            if changed:
                times = msgspec.json.encode({name: known.here[1] for name, known in state.files.items()})
                self._tried("written", partial(self._store.pipe_file, f"{self._root}/{_TIMES}", times))
            return number

    def _list_logs(self) -> list[str]:
        return sorted(path.relative_to(self.path).as_posix() for path in self.path.glob("**/logs/*/*.zst"))

    def _push_logs(self, names: Sequence[str]) -> int:
        names = [name for name in names if name not in self._uploaded and (self.path / name).exists()]
        with ThreadPoolExecutor(_AT_ONCE) as pool, (self._home / _UPLOADED).open("a", encoding="utf-8") as file:
            futures: list[tuple[str, Future[None]]] = [
                (name, pool.submit(self._put, self.path / name, name)) for name in names
            ]
            for name, future in futures:
                future.result()
                file.write(f"{name}\n")
                file.flush()
                self._uploaded.add(name)
        return len(names)

    @cached_property
    def _uploaded(self) -> set[str]:
        """Names of the logs that are there."""
        try:
            return set((self._home / _UPLOADED).read_text("utf-8").splitlines())
        except FileNotFoundError:
            return set()

    def is_uploaded(self, name: str) -> bool:
        """Whether a log is there."""
        return name in self._uploaded

    def _list_changed(self, state: _State) -> list[str]:
        """Return the files that are not there as they are here, databases last."""
        names = []
        for path in sorted(list_files(self.path)) if self.path.is_dir() else ():
            name = path.relative_to(self.path).as_posix()
            known = state.files.get(name)
            if not _is_own(name) and (known is None or not known.there or known.here != file_state(path)):
                names.append(name)
        return sorted(names, key=lambda name: (name.endswith(".sqlite"), name))

    def _put(self, path: Path, name: str) -> None:
        """Upload a file as it is now; the store shows it once it is whole."""
        source = path
        if path.suffix == ".sqlite":
            source = path.with_name(f"{path.name}.{_SNAPSHOT}")
            source.unlink(missing_ok=True)
            with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(source)) as copy:
                db.backup(copy)
        try:
            self._tried("written", partial(self._store.put_file, str(source), f"{self._root}/{name}"))
        except FileNotFoundError:
            raise UserError(f"{self.url} cannot be written: there is no such bucket") from None
        finally:
            if source != path:
                source.unlink(missing_ok=True)

    # ---- what was the same when

    @contextmanager
    def _locked(self) -> Iterator[_State]:
        self._home.mkdir(parents=True, exist_ok=True)
        with FileLock(self._home / f"{_STATE}.lock"):
            state = _State(self.url)
            try:
                state = msgspec.json.decode((self._home / _STATE).read_bytes(), type=_State)
            except FileNotFoundError:
                self._save(state)
            except msgspec.DecodeError as error:
                raise UserError(f"{self._home / _STATE} is damaged ({error}): take {self._home} away") from None
            yield state

    def _save(self, state: _State) -> None:
        write_file(self._home / _STATE, msgspec.json.encode(state))


class EpisodeUpload:
    """Uploads the episodes of a run as they are finished.

    Args:
        remote: Where to.
    """

    def __init__(self, remote: RemoteFolder) -> None:
        self._remote = remote
        self._logs: list[str] = []
        self._due = 0.0

    def add(self, log: Path) -> None:
        """Upload a log and, if it is time, all else that has changed."""
        self._add(log.relative_to(self._remote.path).as_posix())

    def _add(self, name: str) -> None:
        self._logs.append(name)
        if len(self._logs) >= _AT_ONCE and time.monotonic() >= self._due:
            self.flush()

    def add_earlier(self, logs: Path, finished: Collection[int]) -> None:
        """Upload what is here and not there of a cell that was begun before.

        Args:
            logs: Folder of the cell's logs.
            finished: Numbers of its finished episodes.
        """
        if not logs.is_dir():  # they were played on another machine
            return
        prefix = logs.relative_to(self._remote.path).as_posix()
        for file in sorted(os.listdir(logs)):
            name, number = f"{prefix}/{file}", file.partition(".")[0]
            if number.isdecimal() and int(number) in finished and not self._remote.is_uploaded(name):
                self._add(name)

    def flush(self) -> None:
        """Upload what has changed."""
        begun = time.monotonic()
        self._remote.push(self._logs)
        self._logs = []
        self._due = time.monotonic() + _SHARE * (time.monotonic() - begun)

    def __enter__(self) -> EpisodeUpload:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Upload the rest, also of a run that stopped at a limit."""
        if kind is None or issubclass(kind, UserError):
            self.flush()


def _is_own(name: str) -> bool:
    """Whether a file is for this machine alone, or a log."""
    path = PurePosixPath(name)
    beside = ("-wal", "-shm", "-journal", ".tmp", ".new", f".{_SNAPSHOT}", ".lock")
    return path.name == _TIMES or path.name.endswith(beside) or "logs" in path.parts[:-1]


def _is_told(path: Path, size: int, changed: int | None) -> bool:
    """Whether a results file at the URL says no more than the Parquet tables that are here."""
    if changed is None or find_spec("polars") is None:
        return False
    try:
        tables = ParquetTables.open(path.parent)
        return tables is not None and tables.manifest.results == ResultsState(size, changed) and tables.is_whole()
    except UserError:
        return False


def _version(entry: dict[str, Any]) -> str:
    return str(entry.get("ETag") or entry.get("etag") or f"{entry.get('size')} {entry.get('mtime')}")


def _errors() -> tuple[type[Exception], ...]:
    """Return the errors of stores: each library has some of its own."""
    kinds: list[type[Exception]] = [OSError]
    for module, names in (("botocore.exceptions", ("BotoCoreError", "ClientError")), ("aiohttp", ("ClientError",))):
        try:
            library = __import__(module, fromlist=names)
        except ImportError:
            continue
        kinds += [getattr(library, name) for name in names]
    return tuple(kinds)
