"""Experiments in a grid: one file that names several levels, minds or instances, and a run for each combination."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from teamworld.errors import UserError, suggest
from teamworld.experiment.config import Experiment, build, load
from teamworld.experiment.folder import Folder

#: In an experiment file: fields of which several values are named.
GRID = "grid"
#: What can vary from run to run. Methods and seeds vary within a run already; options of methods as variants of them.
AXES = ("world", "level", "reasoner", "instances", "max_steps", "retries", "answers", "log_level")
_FILE = "grid.yaml"
_LONGEST = 80


class Part(NamedTuple):
    """One run of a grid."""

    name: str
    """Of its folder."""
    values: dict[str, Any]
    """What it has of the grid, by field."""
    experiment: Experiment


def is_grid(data: Mapping[str, Any]) -> bool:
    """Whether an experiment file names several runs."""
    return GRID in data


def expand(data: Mapping[str, Any]) -> list[Part]:
    """Return the runs of a grid, the last of ``AXES`` changing fastest, in whatever order the file names them.

    Args:
        data: Of an experiment file: fields of an experiment, and under ``grid`` a list of values for some of them.

    Raises:
        UserError: One line on the first thing wrong with it.
    """
    rest = {name: value for name, value in data.items() if name != GRID}
    axes = data[GRID]
    if not isinstance(axes, dict) or not axes:
        raise UserError(f"grid: expected lists of values by field, such as level: [n2, n4]; got {axes!r}")
    for name, values in axes.items():
        if name not in AXES:
            raise UserError(f"grid: '{name}' cannot vary from run to run{suggest(str(name), list(AXES))}")
        if name in rest:
            raise UserError(f"grid: {name} is given twice, once outside of the grid")
        if not isinstance(values, list) or not values:
            raise UserError(f"grid: expected a list of values for {name}, got {values!r}")
    parts = []
    names = [name for name in AXES if name in axes]
    for chosen in product(*(axes[name] for name in names)):
        values = dict(zip(names, chosen, strict=True))
        parts.append(Part(_name(values), values, build(rest | values)))
    if len({part.name for part in parts}) < len(parts):
        raise UserError("grid: a value is named twice")
    return parts


def _name(values: Mapping[str, Any]) -> str:
    """Return a name of a folder that tells the values."""
    told = ",".join(f"{name}={value}" for name, value in values.items())
    name = re.sub(r"[^A-Za-z0-9._=,-]+", "_", told)
    if name == told and len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}-{hashlib.blake2b(told.encode(), digest_size=3).hexdigest()}"


def claim(folder: Path, data: Mapping[str, Any]) -> None:
    """Make a folder a grid's own, or see that it is.

    Raises:
        UserError: It holds something else.
    """
    path = folder / _FILE
    if path.exists():
        if load(path) != dict(data):
            raise UserError(f"{folder} holds another grid: use another --out")
        return
    draft = path.with_suffix(".tmp")
    if folder.exists() and (not folder.is_dir() or any(entry != draft for entry in folder.iterdir())):
        raise UserError(f"{folder} is not empty and holds no grid: use another --out")
    folder.mkdir(parents=True, exist_ok=True)
    draft.write_text(yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True), "utf-8")
    draft.replace(path)


def runs(folder: Path) -> Iterator[tuple[Path, Experiment]]:
    """Yield the runs of a folder, be it one run or a grid, begun or not.

    Raises:
        UserError: It holds neither.
    """
    if (folder / _FILE).exists():
        for part in expand(load(folder / _FILE)):
            yield folder / part.name, part.experiment
    else:
        yield folder, Folder(folder).experiment()
