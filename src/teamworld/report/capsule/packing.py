"""Packing: the folder of a run, a grid or a comparison becomes one file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard

from teamworld import __version__
from teamworld.errors import UserError
from teamworld.experiment import grid
from teamworld.experiment.store.folder import RunFolder
from teamworld.reasoning.llm import keys
from teamworld.report.capsule import run_checks
from teamworld.report.capsule.archive import digest_of, write_archive
from teamworld.report.capsule.contents import FORMAT, MANIFEST, TABLES, Manifest, members_of, seal
from teamworld.report.capsule.rebuilt_tables import plan_gaps, tables_of


class PackedCapsule(NamedTuple):
    """What was packed."""

    seal: str
    """Digest of all of it: published elsewhere, it shows that no capsule took its place."""
    runs: int
    episodes: int
    registered: tuple[str, ...]
    """Digests of the runs' registrations in force."""
    other_tables: tuple[str, ...]
    """Tables in the folder that say something else than those in the capsule, such as ones with other metrics."""


def pack(
    folder: Path, out: Path, metrics: str | None = None, primary: str | None = None, processes: int | None = None
) -> PackedCapsule:
    """Pack a folder into a capsule; the same folder gives the same bytes.

    Args:
        folder: Of a run, a grid or a comparison.
        out: The file to write.
        metrics: Of a comparison, names with commas; None: those of a results table.
        primary: Of a comparison, what it was made for; None: the usual.
        processes: How many measure at a time.

    Raises:
        UserError: The folder is not finished, was altered, holds a key, or is not one that can be verified.
        OSError: The file cannot be written.
    """
    runs = list(grid.runs(folder))
    for line in plan_gaps(folder):
        raise UserError(f"{folder} cannot be packed: {line}; finish it with the same command")
    members: dict[str, bytes | Path] = {}
    if (kind := grid.kind_of(folder)) is not None:
        members[f"{kind}.yaml"] = folder / f"{kind}.yaml"
    episodes = 0
    for path, experiment in runs:
        run = RunFolder(path)
        if experiment.fork is not None:
            raise UserError(
                f"{path} cannot be packed: a fork is of another run, whose registration it has; pack that one"
            )
        for line in run_checks.check_run(run, experiment):
            raise UserError(f"{path} cannot be packed: {line}")
        place = "" if path == folder else f"{path.relative_to(folder).as_posix()}/"
        members |= {f"{place}{name}": content for name, content in members_of(run, experiment)}
        episodes += len(run.finished(experiment))
    made = dict(tables_of(folder, metrics, primary, processes))
    members |= {f"{TABLES}/{name}": content for name, content in made.items()}
    _check_keys(members)
    files = {name: digest_of(content) for name, content in sorted(members.items())}
    manifest = msgspec.json.format(
        msgspec.json.encode(
            Manifest(format=FORMAT, teamworld=__version__, metrics=metrics, primary=primary, files=files)
        ),
        indent=1,
    )
    write_archive(out, {MANIFEST: manifest, **members})
    registered = tuple(RunFolder(path).registered for path, _ in runs)
    others = tuple(name for name, content in made.items() if _differs(folder / name, content))
    return PackedCapsule(seal(manifest), len(runs), episodes, registered, others)


def _differs(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() != content


def _check_keys(members: Mapping[str, bytes | Path]) -> None:
    """See that no member holds a key that is known here; raises ``UserError``, which does not show it."""
    known = dict(_known_keys())
    if not known:
        return
    for name, content in members.items():
        data = content.read_bytes() if isinstance(content, Path) else content
        if name.endswith(".zst"):
            with zstandard.ZstdDecompressor().stream_reader(data) as stream:
                data = stream.read()
        text = data.decode("utf-8", "replace")
        for value, source in known.items():
            spelled = "\\" in text or not text.isascii()  # which may spell the key in another way
            if value in text or (spelled and keys.mask(text, value) != text):
                raise UserError(
                    f"{name} holds the key in {source}: a capsule is for others to read; nothing was packed"
                )


def _known_keys() -> Iterator[tuple[str, str]]:
    """Yield the keys in the environment and the keys file, each with where it is from; short ones may be words."""
    names = (keys.GENERIC, *(name for own in keys.OWN.values() for name in own))
    values = [(os.environ.get(name, "").strip(), name) for name in names]
    values += [(secret.reveal(), f"the keys file ({host})") for host, secret in keys.read_keys_file().items()]
    return ((value, source) for value, source in values if len(value) >= keys.SHORT)
