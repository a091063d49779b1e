"""A run on disk: one folder with the resolved experiment, results, memory and logs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import yaml
from filelock import FileLock, Timeout

from teamworld import __version__, yaml_io
from teamworld.errors import UserError
from teamworld.experiment.registration import Registration, register, what_decides
from teamworld.experiment.run_options import Shard
from teamworld.experiment.spec import ExperimentSpec, RunCell, build, load
from teamworld.experiment.store.parquet_tables import RESULTS, ParquetTables
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.remote import fetch_log, fetch_results
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.plain_files import check_inside, check_link, list_files, open_file, write_file
from teamworld.reasoning.prompts import template_info, template_versions

#: The file by which a run's folder is known.
EXPERIMENT_FILE = "experiment.yaml"
_LOCK, _DRAFT = ".lock", f"{EXPERIMENT_FILE}.tmp"
#: What a kill can leave behind before the experiment file stands.
_OURS_EARLY = frozenset({_LOCK, _DRAFT})
_BEFORE = "before.sqlite"
Value = TypeVar("Value")
_WAIT = 0.5  # seconds, longer than somebody looks whether a run is held


def write_yaml(path: Path, data: Mapping[str, Any]) -> None:
    """Write a YAML file whole: a kill leaves the one before, or none, and a draft beside it."""
    write_file(path, yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True).encode())


class FolderShard(msgspec.Struct, frozen=True):
    """Which part of an experiment a folder holds."""

    number: Annotated[int, msgspec.Meta(ge=1)]
    total: Annotated[int, msgspec.Meta(ge=1)]
    episodes: Annotated[int, msgspec.Meta(ge=0)]
    """That the part has, finished or not."""

    @property
    def shard(self) -> Shard:
        """As the option names it."""
        return Shard(self.number, self.total)


class RunRecord(msgspec.Struct, frozen=True):
    """What stands in an experiment file beside the experiment."""

    versions: dict[str, str] | None = None
    """Of this package and of Python, when the run began."""
    prompts: dict[str, dict[str, int | str]] | None = None
    """Version and hash of each prompt template then, by path."""
    code: tuple[dict[str, int | str], ...] | None = None
    """See ``RunFolder.codes``."""
    price_tables: tuple[str, ...] | None = None
    packages: dict[str, tuple[str, ...]] | None = None
    """The packages that it was played with as ``NAME==VERSION``, by the digest that its code names."""
    registered: tuple[Registration, ...] | None = None
    """What it set out to play, in the order in which it grew."""
    shard: FolderShard | None = None
    """Which part of the experiment it holds; None: all."""


class RunFolder:
    """The places of a run under one folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.experiment_file = path / EXPERIMENT_FILE
        self.results_path = path / RESULTS
        """Of the results, which may be left at a URL: see ``results_file``."""
        self.lock_file = path / _LOCK
        """Held by the process that runs here."""
        self.memory_file = path / "memory.sqlite"
        self.before_file = path / _BEFORE
        """World models that the run began with, where it began with any."""

    @property
    def results_file(self) -> Path:
        """Path of the results, to read or write them; what was left at a URL is brought from there.

        Raises:
            UserError: What is at the URL cannot be read.
        """
        if not self.results_path.exists():
            fetch_results(self.results_path)
        return self.results_path

    def log(self, cell: RunCell, episode: int) -> Path:
        """Return the path of an episode's log, to read it; in the copy of a URL it is brought from there.

        Raises:
            UserError: It is a link out of the folder, or what is at the URL cannot be read.
        """
        path = self.new_log(cell, episode)
        if path.is_symlink():
            check_link(path, self.path)
        elif not path.exists():
            fetch_log(path)
        return path

    def new_log(self, cell: RunCell, episode: int) -> Path:
        """Return the path of an episode's log, to write it."""
        return self.path / "logs" / cell.name / f"{episode:04d}.jsonl.zst"

    def finished(self, experiment: ExperimentSpec) -> list[tuple[RunCell, EpisodeRow]]:
        """Return the finished episodes of the run, in the order of its cells; nothing is written.

        Where there is no results file they are those of the Parquet tables, if there are any.
        """
        return list(self.each_finished(experiment))

    def each_finished(self, experiment: ExperimentSpec) -> Iterator[tuple[RunCell, EpisodeRow]]:
        """Yield the same; few are held at a time."""
        if self.results_path.exists():
            with Results(self.results_path, readonly=True) as results:
                for cell in experiment.cells():
                    for row in results.each(cell):
                        yield cell, row
        elif (tables := self.tables()) is not None:
            yield from tables.each_finished(experiment.cells())

    def count_finished(self, experiment: ExperimentSpec) -> int:
        """Return how many episodes of the run are finished, without a look at what came of them."""
        if not self.results_path.exists():
            tables = self.tables()
            return 0 if tables is None else tables.count_finished(experiment.cells())
        with Results(self.results_path, readonly=True) as results:
            counts = results.counts()
        return sum(counts.get(cell.name, 0) for cell in experiment.cells())

    def digests(self, cell: RunCell) -> dict[int, str]:
        """Return the digests of the logs of a cell's finished episodes, by number."""
        if not self.results_path.exists():
            tables = self.tables()
            return {} if tables is None else tables.digests(cell)
        with Results(self.results_path, readonly=True) as results:
            return results.digests(cell)

    def finished_places(self, experiment: ExperimentSpec) -> set[tuple[str, int]]:
        """Return name of the cell and number of the finished episodes."""
        if not self.results_path.exists():
            tables = self.tables()
            return set() if tables is None else tables.finished_places(experiment.cells())
        with Results(self.results_path, readonly=True) as results:
            return {(cell.name, number) for cell in experiment.cells() for number in results.digests(cell)}

    def first_finished(self, experiment: ExperimentSpec) -> tuple[RunCell, int] | None:
        """Return the first finished episode of the run, in the order of its cells."""
        for cell in experiment.cells():
            if digests := self.digests(cell):
                return cell, min(digests)
        return None

    def tables(self) -> ParquetTables | None:
        """Return the Parquet tables that tell what the results do; None where there are none, or the run has grown.

        Raises:
            UserError: They are damaged, or of another version.
        """
        tables = ParquetTables.open(self.path)
        return tables if tables is not None and tables.is_current(self.results_path) else None

    def count_calls(self) -> int:
        """Return how many calls of language models are on record."""
        if not self.results_path.exists():
            tables = self.tables()
            if tables is None or "calls" in tables.manifest.tables:
                return 0 if tables is None else tables.count("calls")
        if not self.results_file.exists():
            return 0
        with CallStore(self.results_file, readonly=True) as calls:
            return calls.count()

    def errors(self, experiment: ExperimentSpec) -> list[tuple[RunCell, int]]:
        """Return the episodes that ended in an error: no try of a call got through, and they have no score."""
        is_over = self.count_finished(experiment) == self.episode_count(experiment)
        if is_over or not self.results_file.exists():
            return []  # without a look at all calls, which may be many
        finished = self.finished_places(experiment)
        with CallStore(self.results_file, readonly=True) as calls:
            failed = calls.failed() - finished
        return [
            (cell, episode)
            for cell in experiment.cells()
            for episode in experiment.episode_numbers
            if (cell.name, episode) in failed
        ]

    @property
    def is_begun(self) -> bool:
        """Whether the folder holds a run."""
        return self.experiment_file.exists()

    def experiment(self) -> ExperimentSpec:
        """Return the experiment that this folder holds; raises ``UserError``."""
        if not self.is_begun:
            paths = list_files(self.path) if self.path.is_dir() else ()
            if inside := [path.parent for path in paths if path.name == EXPERIMENT_FILE]:
                raise UserError(f"{self.path} holds several runs: name one of them, such as {min(inside)}")
            raise UserError(f"{self.path} holds no run: there is no experiment.yaml in it")
        check_inside(self.path)
        return build(load(self.experiment_file), imports=False)

    def keep_limit(self, experiment: ExperimentSpec) -> ExperimentSpec:
        """Return the experiment; where it names no step limit, with the one that a run in this folder began with."""
        if experiment.max_steps is not None or not self.experiment_file.exists():
            return experiment
        return experiment.model_copy(update={"max_steps": self.experiment().max_steps})

    def grown(self, experiment: ExperimentSpec) -> ExperimentSpec:
        """Return the experiment with the methods, seeds and episodes that this folder's run has beside it.

        Methods and seeds stand in the order of the experiment if it names all that the folder holds, else new ones
        come last. Whether all else is the same is for ``check`` to say.

        Raises:
            UserError: It has new cells, and those of the folder began with world models that were copied then.
        """
        if not self.experiment_file.exists():
            return experiment
        held = self.experiment()
        if (held.world, held.level) != (experiment.world, experiment.level):
            return experiment  # another experiment: merged, it would not even be one
        left_out = [method for method in held.methods if method not in experiment.methods]
        grown = experiment.model_copy(
            update={
                "methods": join_values(held.methods, experiment.methods),
                "seeds": join_values(held.seeds, experiment.seeds),
                "episodes": max(held.episodes, experiment.episodes),
                "allowances": {**held.allowances, **experiment.allowances} if experiment.allowances else {},
                "options": {**experiment.options, **{m: held.options[m] for m in left_out if m in held.options}},
            }
        )
        if held.memory is not None and not set(grown.cells()) <= set(held.cells()):
            raise UserError(
                f"{self.path} began with the world models of {held.memory}, which may have changed since: run new "
                "methods and seeds with another --out"
            )
        return grown

    def prompts(self) -> dict[str, Any]:
        """Return version and hash of each prompt template when the run began, by path."""
        return dict(self._data().get("prompts") or {})

    def check_prompts(self, templates: Iterable[str]) -> None:
        """See that the templates say what they said when the run began: episodes of one run have the same prompts.

        Raises:
            UserError: One says something else.
        """
        held = self.prompts() if self.experiment_file.exists() else {}
        for template in templates:
            if template in held and held[template] != template_info(template)._asdict():
                raise UserError(
                    f"{template} has changed since the run in {self.path} began: go back to that version, or start anew"
                    " with another --out"
                )

    def codes(self) -> tuple[dict[str, Any], ...]:
        """Return the digests of the code that played the run, in the order of their use.

        Under ``from`` stands how many episodes were finished when one took over. Empty for runs of before they were
        kept.
        """
        return tuple(self._data().get("code") or ())

    def changed_code(self, code: Mapping[str, str]) -> list[str]:
        """Return which parts of the code are others than those that played last; none where that is not known."""
        held = self.codes() if self.is_begun else ()
        return _changed(held[-1], code) if held else []

    def check_code(self, code: Mapping[str, str], *, accepted: bool) -> None:
        """See that the code that is to play on is the one that played last.

        Args:
            code: Digests by name, see ``code_identity``.
            accepted: Whether the user said that it may differ.

        Raises:
            UserError: It is not, and the user did not.
        """
        if not accepted and (changed := self.changed_code(code)):
            raise UserError(
                f"the code of {', '.join(changed)} has changed since the run in {self.path} began: go back to it, add "
                "--accept-changes to go on with what is there now, or start anew with another --out"
            )

    def record(self) -> RunRecord:
        """Return what the experiment file holds beside the experiment; raises ``UserError``."""
        return msgspec.convert(self._data(), RunRecord)

    @property
    def registered(self) -> str:
        """Digest of the registration in force, for the first record of a log; empty if there is none."""
        return next((entry.digest for entry in reversed(self.record().registered or ())), "")

    def shard(self) -> FolderShard | None:
        """Return which part of its experiment the folder holds; None where that is all, or nothing yet."""
        held = self._data().get("shard") if self.is_begun else None
        return None if held is None else msgspec.convert(held, FolderShard)

    def episode_count(self, experiment: ExperimentSpec) -> int:
        """Return how many episodes the folder has once the experiment is finished here."""
        held = self.shard()
        return experiment.episode_count if held is None else held.episodes

    def check_shard(self, experiment: ExperimentSpec, shard: Shard | None) -> None:
        """See that a folder that has begun holds just this part of just this experiment.

        Args:
            experiment: The resolved experiment, see ``grown``.
            shard: The part that is to be run; None: all.

        Raises:
            UserError: It does not.
        """
        if not self.is_begun:
            return
        held = self.shard()
        if shard != (held and held.shard):
            whole = "a whole run" if held is None else f"shard {held.shard}"
            wanted = "all of it" if shard is None else f"shard {shard}"
            raise UserError(
                f"{self.path} holds {whole}, not {wanted}: each shard takes a folder of its own, name another --out; "
                "teamworld merge joins them"
            )
        if held is not None and self.experiment() != experiment:
            raise UserError(
                f"{self.path} holds shard {held.shard} of an experiment with other methods, seeds or episodes, and a "
                "shard does not grow: use another --out, or join the shards first with teamworld merge"
            )

    def price_tables(self) -> tuple[str, ...]:
        """Return where the prices of its calls come from, in the order of their use; empty where none was made."""
        return tuple(self._data().get("price_tables") or ())

    def _data(self) -> dict[str, Any]:
        data = yaml_io.load(self.experiment_file)
        try:
            msgspec.convert(data, RunRecord)
        except msgspec.ValidationError as error:
            raise UserError(f"{self.experiment_file} is damaged: {error}") from None
        return dict(data)

    def check(self, experiment: ExperimentSpec) -> None:
        """See whether the folder can be this experiment's, or grow to it; touches nothing.

        Args:
            experiment: The resolved experiment, see ``grown``.

        Raises:
            UserError: It is a file, holds another experiment, or holds things that are no run.
        """
        if self.path.exists() and not self.path.is_dir():
            raise UserError(f"{self.path} is a file: expected a folder for the run")
        if self.path.exists():
            check_inside(self.path)
        if self.experiment_file.exists():
            if not self.results_file.exists() and ParquetTables.open(self.path) is not None:
                raise UserError(
                    f"{self.path} holds its results as Parquet alone, which can be read and not gone on with: put its "
                    "results.sqlite back, or use another --out"
                )
            if (difference := _difference(self.experiment(), experiment)) is not None:
                name, was, wanted = difference
                raise UserError(
                    f"{self.path} holds another experiment: its {name} is {was}, not {wanted}, and a run takes more "
                    f"methods, seeds and episodes alone (a grid more levels); set {name} back, or use another --out"
                )
        elif self.path.exists() and not all(_ours_early(entry.name) for entry in self.path.iterdir()):
            raise UserError(f"{self.path} is not empty and holds no run: use another --out")

    def claim(
        self,
        experiment: ExperimentSpec,
        price_table: str | None = None,
        templates: Iterable[str] = (),
        code: Mapping[str, str] | None = None,
        dependencies: Sequence[str] = (),
        shard: FolderShard | None = None,
    ) -> None:
        """Make the folder this experiment's own; whoever calls has checked it and holds the lock.

        Args:
            experiment: The resolved experiment.
            price_table: Where the prices of calls come from that are made from now on; None where none will be.
            templates: Prompt templates of other packages that the experiment's methods use.
            code: Digests of the code that plays from now on; None where nothing will be played.
            dependencies: Names and versions of the packages that it plays with.
            shard: Which part of the experiment is run here; None: all.
        """
        held = self._data() if self.experiment_file.exists() else {}
        data = experiment.model_dump(mode="json")
        data["versions"] = held.get("versions") or {"teamworld": __version__, "python": platform.python_version()}
        versions = {template: version._asdict() for template, version in template_versions(templates).items()}
        data["prompts"] = {**versions, **(held.get("prompts") or {})}
        tables = list(held.get("price_tables") or ())
        tables += [price_table] if price_table is not None and price_table not in tables else []
        if tables:
            data["price_tables"] = tables
        codes = list(held.get("code") or ())
        if code is not None and codes and not _changed(codes[-1], code):
            codes[-1] = {**code, **codes[-1]}  # with what new methods brought
        elif code is not None and (codes or not held):
            codes.append({**code, "from": self.count_finished(experiment)})
        if codes:
            data["code"] = codes
        packages = dict(held.get("packages") or {})
        if code is not None and codes and "dependencies" in code and dependencies:
            packages.setdefault(code["dependencies"], list(dependencies))
        if packages:
            data["packages"] = packages
        entries = msgspec.convert(held.get("registered") or [], list[Registration])
        if code is not None and (entries or not held):
            entries = list(register(entries, experiment, data["versions"], self.count_finished(experiment)))
        if entries:
            data["registered"] = msgspec.json.decode(msgspec.json.encode(entries))  # lists, as YAML reads them
        if shard is not None:
            data["shard"] = msgspec.to_builtins(shard)
        named = ("methods", "seeds", "episodes", "price_tables", "code", "packages", "registered")
        if any(data.get(name) != held.get(name) for name in named):  # else the file stays what it was
            write_yaml(self.experiment_file, data)

    def claim_joined(self, parts: Sequence[RunFolder]) -> None:
        """Make the folder that of the whole run whose parts stand in other folders; as ``claim``.

        Code that did not play the first of them follows, with how many episodes the parts before have.
        """
        held = self._data() if self.is_begun else None
        data = dict(held or {name: value for name, value in parts[0]._data().items() if name != "shard"})
        codes, begun = list(data.get("code") or ()), 0
        for part in parts:
            new = [code for code in part.codes() if not any(_is_same(code, known) for known in codes)]
            codes += [{**code, "from": begun} for code in new]
            begun += part.count_finished(part.experiment())
        if codes:
            data["code"] = codes
        if tables := list(
            dict.fromkeys(table for folder in (self, *parts) if folder.is_begun for table in folder.price_tables())
        ):
            data["price_tables"] = tables
        if held is None or data != self._data():
            write_yaml(self.experiment_file, data)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder alone; a second process on it is refused, a killed one leaves no lock.

        Raises:
            UserError: Another process runs here, or the folder cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with FileLock(self.lock_file, timeout=_WAIT):
                for draft in self.path.glob(".*.new"):  # of a database that a kill left unmade
                    draft.unlink(missing_ok=True)
                yield
        except Timeout:
            raise UserError(f"another process is running in {self.path}: wait for it, or use another --out") from None

    def held(self) -> bool | None:
        """Return whether a process holds the folder now; None where that cannot be seen. Nothing is written."""
        try:
            return _is_locked(self.lock_file)
        except FileNotFoundError:
            return False
        except OSError:  # not ours to read, or a file system without locks
            return None


if sys.platform == "win32":

    def _is_locked(path: Path) -> bool:
        if not path.exists():
            return False
        try:
            with FileLock(path, timeout=0):
                return False
        except Timeout:
            return True

else:
    import fcntl

    def _is_locked(path: Path) -> bool:
        """Try for a lock that any number may share: who looks takes nothing from another who looks."""
        with open_file(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False  # closing lets go of it


def _ours_early(name: str) -> bool:
    """Whether a kill can leave a file of this name behind before the experiment file stands."""
    return name in _OURS_EARLY or name.lstrip(".").startswith(_BEFORE)


def _is_same(code: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two entries name the same code, whenever it took over."""
    return {**code, "from": 0} == {**other, "from": 0}


def _changed(held: Mapping[str, Any], code: Mapping[str, str]) -> list[str]:
    """Return the names of the parts of the code that were there before and were others."""
    return [name for name, digest in code.items() if held.get(name, digest) != digest]


def join_values(held: Iterable[Value], wanted: Iterable[Value]) -> tuple[Value, ...]:
    """Return all values, in the order of those that are wanted if these are all, else new ones last."""
    before, after = tuple(held), tuple(wanted)
    return after if all(value in after for value in before) else (*before, *(v for v in after if v not in before))


def _difference(held: ExperimentSpec, wanted: ExperimentSpec) -> tuple[str, object, object] | None:
    """Return the first thing that would change the play of a run's cells: its name and both values."""
    if bool(held.allowances) != bool(wanted.allowances):
        was, wish = ("limited" if plan.allowances else "not limited" for plan in (held, wanted))
        return "allowance of tokens", was, wish
    for seed, limits in held.allowances.items():
        if (allowed := wanted.allowances.get(seed, ())[: len(limits)]) != limits:
            return f"allowances of seed {seed}", limits, allowed
    methods = [method for method in held.methods if method in wanted.options]
    before, after = what_decides(held, methods), what_decides(wanted, methods)
    names = (name for name in {**before, **after} if before.get(name) != after.get(name))
    return next(((name, before.get(name, "not set"), after.get(name, "not set")) for name in names), None)
