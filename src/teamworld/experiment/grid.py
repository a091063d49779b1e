"""Experiments in a grid: one file that names several levels, reasoners or instances, and a run for each combination."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from teamworld.errors import UserError, brief, suggest
from teamworld.experiment import shared_memory
from teamworld.experiment.spec import ExperimentSpec, build, load
from teamworld.experiment.store.folder import EXPERIMENT_FILE, RunFolder, join_values, write_yaml
from teamworld.experiment.suites import suite
from teamworld.plain_files import check_inside, list_files
from teamworld.yaml_io import parse_value

#: In an experiment file: fields of which several values are named.
GRID = "grid"
#: In an experiment file, in place of world, level and seeds: the name of a set of instances, see ``suites.suite``.
SUITE = "suite"
#: What can vary from run to run, beside options as OWNER.OPTION. Methods and seeds vary within a run already; options
#: of methods as variants of them.
AXES = (
    "world",
    "level",
    "reasoner",
    "instances",
    "memory",
    "max_steps",
    "retries",
    "answers",
    "reasoning",
    "log_level",
    "talk",
)
#: What a folder of several runs holds, and the file that says so.
FolderKind: TypeAlias = Literal["grid", "comparison", "evidence"]
_FILES: Mapping[FolderKind, str] = {"grid": "grid.yaml", "comparison": "comparison.yaml", "evidence": "evidence.yaml"}
_KINDS: Mapping[str, tuple[type, str]] = {
    "methods": (list, "a list"),
    "seeds": (list, "a list"),
    "options": (dict, "a mapping"),
    GRID: (dict, "a mapping"),
}
_GROWING = ("methods", "seeds", "episodes")
_LONGEST = 80
#: Runs of a grid; more are surely a slip.
MOST = 10_000


class GridRun(NamedTuple):
    """One place of a grid: a world, a level, a reasoner, ... in which all methods are run."""

    name: str
    """Of its folder, and in tables; empty where there is no other."""
    values: dict[str, Any]
    """What it has of the grid, by field."""
    experiment: ExperimentSpec


def is_grid(data: Mapping[str, Any]) -> bool:
    """Whether an experiment file names several runs."""
    return GRID in data or SUITE in data


def expand(data: Mapping[str, Any], *, imports: bool = True) -> list[GridRun]:
    """Return the runs of a grid, the last of ``AXES`` changing fastest, in whatever order the file names them.

    Options come after ``AXES``, in alphabetical order.

    Args:
        data: Of an experiment file: fields of an experiment, and under ``grid`` a list of values for some of them.
        imports: As for ``build``.

    Raises:
        UserError: One line on the first thing wrong with it.
    """
    if SUITE in data:
        return list(_expand_suite(data, imports=imports))
    rest = {name: value for name, value in data.items() if name != GRID}
    axes = data[GRID]
    if not isinstance(axes, dict) or not axes:
        raise UserError(f"grid: expected lists of values by field, such as level: [n2, n4]; got {brief(axes)}")
    for name, values in axes.items():
        if not isinstance(name, str):
            raise UserError(f"grid: expected a text as the name of what varies, got {brief(name)}")
        if name not in AXES and "." not in name:
            shown = name[:_LONGEST]
            raise UserError(f"grid: '{shown}' cannot vary from run to run{suggest(shown, list(AXES))}")
        if name in rest:
            raise UserError(f"grid: {name} is given twice, once outside of the grid")
        if not isinstance(values, list) or not values:
            raise UserError(f"grid: expected a list of values for {name[:_LONGEST]}, got {brief(values)}")
        if len({_told(value) for value in values}) < len(values):
            raise UserError(f"grid: a value of {name[:_LONGEST]} is named twice, got {brief(values)}")
    number = prod(map(len, axes.values()))
    if number > MOST:
        sizes = " x ".join(f"{len(values)} {name[:_LONGEST]}" for name, values in axes.items())
        raise UserError(f"grid: {sizes} are {number:,} runs, and at most {MOST:,} are taken: name fewer values")
    parts = []
    names = [name for name in AXES if name in axes] + sorted(name for name in axes if name not in AXES)
    for chosen in product(*(axes[name] for name in names)):
        values = dict(zip(names, chosen, strict=True))
        parts.append(GridRun(name_of(values), values, build(_with(rest, values), imports=imports)))
        shared_memory.refuse(parts[-1].experiment)
    return parts


def _expand_suite(data: Mapping[str, Any], *, imports: bool) -> Iterator[GridRun]:
    """Yield a run for each level of a suite, with its seeds; raises ``UserError``."""
    rest = {name: value for name, value in data.items() if name != SUITE}
    if odd := [name for name in ("world", "level", "seeds", "instances", GRID) if name in rest]:
        raise UserError(f"suite: it names worlds, levels and seeds itself: leave out {', '.join(odd)}")
    if not isinstance(data[SUITE], str):
        raise UserError(f"suite: expected a name such as {suite.NAMES[0]}, got {brief(data[SUITE])}")
    for place in suite.places(data[SUITE]):
        values = {"world": place.world, "level": place.level}
        experiment = build({**rest, **values, "seeds": list(place.seeds)}, imports=imports)
        shared_memory.refuse(experiment)
        yield GridRun(name_of(values), values, experiment)


def _told(value: object) -> str:
    """Return a value in one of the forms in which it can be written: 1, 1.0, true and '1' are one number."""
    return f"{float(value):g}" if isinstance(value, bool | int | float) else str(value)


def axes(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return what varies of ``FIELD=VALUE,VALUE,...`` texts; values are read as YAML; raises ``UserError``."""
    by_name: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        parts = [part.strip() for part in values.split(",")]
        if not equals or not name or not all(parts):
            raise UserError(f"--vary takes FIELD=VALUE,VALUE,..., such as level=n1,n2,n4; got '{text}'")
        if name in by_name:
            raise UserError(f"--vary {name} is given twice")
        by_name[name] = [part if ":" in part else parse_value(part, f"--vary {name}") for part in parts]
    return by_name


def _with(rest: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of one run: those that all share, with its own values and options."""
    fields = {**rest, **{name: value for name, value in values.items() if name in AXES}}
    own = fields.get("options") or {}
    if not isinstance(own, dict) or not all(isinstance(part, dict) for part in own.values()):
        build(fields, imports=False)  # which says what is wrong with them
    options = {owner: dict(part) for owner, part in own.items()}
    for name, value in values.items():
        if name not in AXES:
            owner, _, option = name.rpartition(".")
            if option in options.get(owner, {}):
                raise UserError(f"grid: {name} is given twice, once outside of the grid")
            options.setdefault(owner, {})[option] = value
    return {**fields, "options": options} if options else fields


def name_of(values: Mapping[str, Any]) -> str:
    """Return a name of a folder that tells the values."""
    text = ",".join(f"{name}={value}" for name, value in values.items())
    name = re.sub(r"[^A-Za-z0-9._=,-]+", "_", text)
    if name == text and len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}-{hashlib.blake2b(text.encode(), digest_size=3).hexdigest()}"


def grown(folder: Path, data: Mapping[str, Any], kind: FolderKind = "grid") -> dict[str, Any]:
    """Return what is run in a folder, with the methods, seeds, episodes and values of the grid that it holds beside it.

    Args:
        folder: The folder; nothing is written.
        data: What is to be run in it.
        kind: What it is to hold.

    Raises:
        UserError: It holds something else, of which this is no more.
    """
    path = folder / _FILES[kind]
    if not path.exists():
        return dict(data)
    check_inside(folder)
    held, plain = _read_held(path), ExperimentSpec()
    merged = {**held, **data}
    for name in {"methods", "seeds"} & merged.keys():
        default = getattr(plain, name)
        merged[name] = list(join_values(held.get(name, default), data.get(name, default)))
    if "episodes" in merged:
        merged["episodes"] = max(_count_episodes(held), _count_episodes(data))
    before, after = held.get(GRID, {}), data.get(GRID, {})
    varies_alike = before.keys() == after.keys()
    if before and varies_alike:
        merged[GRID] = {name: list(join_values(values, after[name])) for name, values in before.items()}
    if "options" in merged:
        merged["options"] = {**held.get("options", {}), **data.get("options", {})}
    added = {*merged.get("methods", ())}.difference(held.get("methods", ()))
    for name in [name for name in merged if name not in (*_GROWING, *([GRID] if varies_alike else ()))]:
        was, wanted = held.get(name), merged[name]
        if name == "options":  # those of methods that are new are new too
            kept = {owner: values for owner, values in wanted.items() if owner in (was or {}) or owner not in added}
            wanted = kept or None
        if was != wanted:
            raise UserError(
                f"{folder} holds another {kind}: its {name} is {brief(was)}, not {brief(wanted)}, and a {kind} takes "
                f"more methods, seeds, episodes and values of what varies alone; set {name} back, or use another --out"
            )
    return merged


def _count_episodes(data: Mapping[str, Any]) -> int:
    """Return how many episodes an experiment's data asks for, in whatever form the number is written."""
    return build({"episodes": data.get("episodes", 1)}, imports=False).episodes


def claim(folder: Path, data: Mapping[str, Any], kind: FolderKind = "grid") -> None:
    """Make a folder that of a grid, a comparison or a page of evidence, or write anew what it holds.

    Args:
        folder: The folder.
        data: What is run in it, see ``grown``; stands there as a file.
        kind: What it is to hold.

    Raises:
        UserError: It holds something else.
    """
    path = folder / _FILES[kind]
    if not path.exists():
        draft = path.with_name(f"{path.name}.tmp")
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file: expected a folder for the runs of a {kind}")
        if folder.exists() and any(entry != draft for entry in folder.iterdir()):
            raise UserError(f"{folder} is not empty and holds no {kind}: use another --out")
        folder.mkdir(parents=True, exist_ok=True)
    elif _read_held(path) == dict(data):
        return
    write_yaml(path, data)


def kind_of(folder: Path) -> FolderKind | None:
    """Return what a folder of several runs is; None for any other."""
    kind = next((kind for kind, name in _FILES.items() if (folder / name).exists()), None)
    if kind is not None:
        check_inside(folder)
    return kind


def read_plan(folder: Path) -> dict[str, Any]:
    """Return what is run in a folder of several runs, as its file says."""
    kind = kind_of(folder)
    if kind is None:
        raise UserError(f"{folder} holds no grid, no comparison and no page of evidence")
    return _read_held(folder / _FILES[kind])


def _read_held(path: Path) -> dict[str, Any]:
    """Return what stands in the file of a folder of several runs, its lists as lists and its mappings as mappings."""
    held = load(path)
    for name, (kind, words) in _KINDS.items():
        if name in held and type(held[name]) is not kind:
            raise UserError(f"{path} is damaged: expected {words} as its {name}, got {brief(held[name])}")
    _count_episodes(held)  # says what is wrong with it
    return held


def runs(folder: Path) -> Iterator[tuple[Path, ExperimentSpec]]:
    """Yield the runs of a folder, be it one run, a grid (begun or not), a comparison or a page of evidence.

    Raises:
        UserError: It holds none of these.
    """
    kind = kind_of(folder)
    if kind == "grid":
        for part in expand(read_plan(folder), imports=False):
            yield folder / part.name, part.experiment
    elif kind is not None:
        read_plan(folder)  # says what is wrong with it
        for path in sorted(path for path in list_files(folder) if path.name == EXPERIMENT_FILE):
            yield path.parent, RunFolder(path.parent).experiment()
    else:
        yield folder, RunFolder(folder).experiment()
