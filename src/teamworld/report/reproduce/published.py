"""The papers' values, read off their figures, as typed data (DR. WELL spec part C, CUBE spec A17 and A18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: The methods that the DR. WELL paper compares, by our names.
METHODS = ("zero_shot", "drwell")


class Runs(NamedTuple):
    """Episodes in a row of one method, for one or more seeds."""

    completed: Bools
    """(seeds, blocks, episodes): the block was delivered."""
    steps: Floats
    """(seeds, blocks, episodes): steps of the environment at completion, inf where not completed."""
    seconds: Floats
    """(seeds, blocks, episodes): seconds at completion, inf where not completed."""


class Strip(NamedTuple):
    """A stretch of steps during which an agent is committed to a block."""

    block: int
    begin: int
    end: int


#: One strip list for each agent of each episode.
Commitments = tuple[tuple[tuple[Strip, ...], ...], ...]


class DrWellPaper(NamedTuple):
    """Figures of the DR. WELL paper (gpt-4o, one run a method)."""

    blocks: tuple[str, ...]
    reading_error: float
    """Most that a value read off a plot may be off, in units of its axis."""
    runs: Mapping[str, Runs]
    """By method; one seed. Completion is the heat map's, which the other figures contradict in places."""
    commitments: Commitments


class Band(NamedTuple):
    """A mean with its smallest and largest value."""

    mean: float
    low: float
    high: float


class Baselines(NamedTuple):
    """Results of the CUBE paper by number of agents (CUBE spec A17)."""

    sizes: tuple[int, ...]
    blocks: tuple[int, ...]
    """Blocks in the world, by size."""
    limit: int
    """Steps after which an episode ends."""
    measures: Mapping[str, Mapping[str, tuple[Band, ...]]]
    """completed, steps, seconds -> planner -> one band a size."""
    latency: Mapping[str, float]
    """Seconds a call, by model."""


class Scaling(NamedTuple):
    """Cost of a step by number of agents (CUBE spec A18)."""

    sizes: tuple[int, ...]
    seconds: Floats
    gigabytes: Floats
    cpu: Floats
    """Per cent of one core."""


class Actions(NamedTuple):
    """Seconds per symbolic action by verb and number of agents (CUBE spec A18)."""

    sizes: tuple[int, ...]
    seconds: Mapping[str, Floats]


class CubePaper(NamedTuple):
    """Figures of the CUBE paper."""

    baselines: Baselines
    scaling: Scaling
    actions: Actions


class Paper(NamedTuple):
    """All published values."""

    drwell: DrWellPaper
    cube: CubePaper


@cache
def published() -> Paper:
    """Return the published values that ship with the package."""
    return parse(files(__package__).joinpath("published.yaml").read_text("utf-8"))


def parse(text: str) -> Paper:
    """Return the values of a text in the form of ``published.yaml``.

    Raises:
        ValueError: A table has no source or another shape than its axes say.
    """
    data = yaml.safe_load(text)
    return Paper(_drwell(data["drwell"]), _cube(data["cube"]))


def step_seconds() -> float:
    """Return the seconds of one step of the published environment, without a language model.

    The run time of the heuristic at n = 2 over its steps (CUBE spec A17).
    """
    baselines = published().cube.baselines
    at = baselines.sizes.index(2)
    return baselines.measures["seconds"]["heuristic"][at].mean / baselines.measures["steps"]["heuristic"][at].mean


def _source(table: Mapping[str, Any], name: str) -> None:
    if not isinstance(table.get("source"), str):
        raise ValueError(f"the table {name} names no source")


def _drwell(data: Mapping[str, Any]) -> DrWellPaper:
    blocks = tuple(map(str, data["blocks"]))
    for name in ("completion", "steps", "seconds", "commitments"):
        _source(data[name], name)
    commitments = tuple(
        tuple(_strips(agent, len(blocks)) for agent in episode) for episode in data["commitments"]["episodes"]
    )
    shape = (len(blocks), len(commitments))
    runs = {
        method: Runs(
            _letters(data["completion"][method], shape)[np.newaxis],
            _numbers(data["steps"][method], shape)[np.newaxis],
            _numbers(data["seconds"][method], shape)[np.newaxis],
        )
        for method in METHODS
    }
    return DrWellPaper(blocks, float(data["reading_error"]), runs, commitments)


def _strips(agent: Sequence[Sequence[int]], blocks: int) -> tuple[Strip, ...]:
    strips = tuple(Strip(*map(int, strip)) for strip in agent)
    for strip in strips:
        if not (0 <= strip.block < blocks and 0 <= strip.begin < strip.end):
            raise ValueError(f"a commitment is [block, from, to] with from < to, got {list(strip)}")
    if any(one.end > other.begin for one, other in pairwise(strips)):
        raise ValueError(f"commitments of an agent overlap: {[list(strip) for strip in strips]}")
    return strips


def _letters(rows: Sequence[str], shape: tuple[int, int]) -> Bools:
    if any(set(row) - set("C-") for row in rows):
        raise ValueError(f"completion is written with C and -, got {rows}")
    return _shaped([[letter == "C" for letter in row] for row in rows], shape).astype(np.bool_)


def _numbers(rows: Sequence[Any], shape: tuple[int, ...]) -> Floats:
    values = _shaped(rows, shape)
    if np.isnan(values).any() or (values < 0).any():
        raise ValueError(f"a published value is 0 or more, or .inf, got {rows}")
    return values


def _shaped(rows: Sequence[Any], shape: tuple[int, ...]) -> Floats:
    try:
        values = np.array(rows, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"expected numbers in the shape {shape}, got {rows}") from None
    if values.shape != shape:
        raise ValueError(f"expected a table of the shape {shape}, got {values.shape}")
    return values


def _cube(data: Mapping[str, Any]) -> CubePaper:
    for name in ("baselines", "scaling", "actions"):
        _source(data[name], name)
    base, scale, actions = data["baselines"], data["scaling"], data["actions"]
    sizes = tuple(map(int, base["sizes"]))
    measures = {
        measure: {planner: _bands(values, len(sizes)) for planner, values in base[measure].items()}
        for measure in ("completed", "steps", "seconds")
    }
    blocks = tuple(map(int, base["blocks"]))
    if len(blocks) != len(sizes):
        raise ValueError(f"expected a number of blocks for each of the sizes {sizes}, got {blocks}")
    latency = {str(model): float(seconds) for model, seconds in base["latency"].items()}
    many, verbs = tuple(map(int, scale["sizes"])), tuple(map(int, actions["sizes"]))
    return CubePaper(
        Baselines(sizes, blocks, int(base["limit"]), measures, latency),
        Scaling(many, *(_numbers(scale[name], (len(many),)) for name in ("seconds", "gigabytes", "cpu"))),
        Actions(verbs, {verb: _numbers(row, (len(verbs),)) for verb, row in actions["seconds"].items()}),
    )


def _bands(values: Sequence[float | Sequence[float]], count: int) -> tuple[Band, ...]:
    triples = [value if isinstance(value, Sequence) else (value, value, value) for value in values]
    bands = tuple(Band(*row) for row in _numbers(triples, (count, 3)).tolist())
    for band in bands:
        if not band.low <= band.mean <= band.high:
            raise ValueError(f"a mean lies within its band, got {list(band)}")
    return bands
