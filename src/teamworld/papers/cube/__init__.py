"""``teamworld reproduce cube``: baselines and overhead of the CUBE paper from our runs, beside the published values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import fsum
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from teamworld.experiment.api import run
from teamworld.experiment.store.results import EpisodeRow
from teamworld.papers import PaperName, PaperOptions, Progress
from teamworld.papers.cube import figures
from teamworld.papers.cube.costs import VERBS, ActionCost, StepCost, action_cost, machine, step_costs_apart
from teamworld.papers.cube.figures import Band, Bands
from teamworld.papers.reproduction import PaperPlan, Reproduction, load_yaml
from teamworld.plain_files import write_file
from teamworld.reasoning.human import Terminal

#: Our stand-ins for the published planners: the scripted team for the heuristic, rules for the naive LLM.
METHODS = ("greedy", "zero_shot")


@dataclass(frozen=True, kw_only=True)
class CubePlan(PaperPlan):
    """What to run and to measure."""

    paper: ClassVar[PaperName] = "cube"
    extras: ClassVar[Mapping[str, str]] = {"matplotlib": "plots", "pettingzoo": "rl", "gymnasium": "rl"}

    seeds: int = 3
    sizes: tuple[int, ...] = (1, 2, 4, 8)
    """Numbers of agents of the baselines; the first of the published ones."""
    step_sizes: tuple[int, ...] = (2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 128, 256)
    action_sizes: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
    window: float = 1.0
    """Seconds to measure one policy at one size; a macro-action gets a third."""

    @property
    def size(self) -> int:
        """Episodes and measurements in all."""
        episodes = len(METHODS) * len(self.sizes) * (self.seeds + 1)
        return episodes + len(self.step_sizes) + len(self.action_sizes)

    def run(self, out: Path, progress: Progress) -> Reproduction:
        """Run the baselines, and measure costs into ``measured.json``."""
        paper = published()
        baselines, limit = paper["baselines"], paper["baselines"]["limit"]
        with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:  # loads the kernels before the first time
            run(level="paper-n2", method=METHODS, max_steps=40, out=Path(scratch) / "run")
        seeded, layouts = {}, {}
        for n in self.sizes:
            seeded[n] = _play(out, f"n{n}", self.seed_range, limit, progress)
            rows = _play(out, f"paper-n{n}", self.seed_range[:1], limit, progress)
            layouts[n] = {row.method: {name: _value(row, name) for name in figures.MEASURES} for row in rows}
        costs = _measure(out / "measured.json", self, progress)
        steps = [cost for n in self.step_sizes for cost in costs.steps[n]]
        actions = [cost for n in self.action_sizes for cost in costs.actions[n]]
        ours: Bands = {
            measure: {method: [_band(seeded[n], method, measure) for n in self.sizes] for method in METHODS}
            for measure in figures.MEASURES
        }
        bands = {measure: {**baselines["measures"][measure], **ours[measure]} for measure in figures.MEASURES}
        page = {
            "published": paper,
            "machine": ", ".join(f"{name} {value}" for name, value in costs.machine.items()),
            "planners": figures.LINES,
            "bands": bands,
            "band_text": _band_text,
            "layouts": layouts,
            "steps": steps,
            "actions": {(cost.verb, cost.n): 1e3 * cost.seconds for cost in actions},
            "verbs": VERBS,
        }
        numbers = {
            "reasoner": "rules",
            "seeds": self.seed_range,
            "sizes": self.sizes,
            "max_steps": limit,
            "machine": costs.machine,
            "published": paper,
            "ours": {"baselines": ours, "seed_42_layout": layouts, "scaling": steps, "actions": actions},
        }
        target = out / "figures"
        target.mkdir(parents=True, exist_ok=True)
        drawn = (
            figures.baselines(baselines, ours, target / "baselines"),
            figures.scaling(paper["scaling"], steps, target / "scaling"),
            figures.actions(paper["actions"], actions, target / "actions"),
        )
        return Reproduction(drawn, page, numbers, list(_lines(self, paper, bands, steps)))


#: A small version in some seconds.
QUICK = CubePlan(seeds=2, sizes=(1, 2), step_sizes=(2, 10), action_sizes=(1, 2, 4), window=0.06)


def plan(options: PaperOptions, terminal: Terminal | None) -> CubePlan:
    """Return what the options ask for."""
    chosen = QUICK if options.quick else CubePlan()
    return chosen if options.seeds is None else replace(chosen, seeds=options.seeds)


@cache
def published() -> dict[str, dict[str, Any]]:
    """Return the tables of the paper's figures, without their sources."""
    tables = {
        name: {key: value for key, value in values.items() if key != "source"}
        for name, values in load_yaml("cube", "published").items()
    }
    tables["baselines"]["measures"] = msgspec.convert(tables["baselines"]["measures"], dict[str, dict[str, list[Band]]])
    return tables


# ---- runs


def _play(out: Path, level: str, seeds: range, limit: int, progress: Progress) -> list[EpisodeRow]:
    return run(
        level=level,
        method=METHODS,
        seed=seeds,
        max_steps=limit,
        out=out / "runs" / level,
        progress=lambda row: progress(f"{level}, {row.method}, seed {row.seed}"),
    )


def _band(rows: Sequence[EpisodeRow], method: str, measure: str) -> Band:
    """Return mean, smallest and largest value of a method over seeds."""
    values = [_value(row, measure) for row in rows if row.method == method]
    return Band(fsum(values) / len(values), min(values), max(values))


def _value(row: EpisodeRow, measure: str) -> float:
    """Return blocks delivered, steps, or wall seconds of an episode."""
    if measure == "completed":
        return float(sum(step is not None for step in row.summary.done.values()))
    return float(row.summary.steps) if measure == "steps" else row.seconds


# ---- measurements


class Costs(msgspec.Struct):
    """The content of ``measured.json``: costs by number of agents."""

    window: float
    machine: dict[str, str]
    steps: dict[int, list[StepCost]]
    actions: dict[int, list[ActionCost]]


def _measure(file: Path, plan: CubePlan, progress: Progress) -> Costs:
    """Measure what is not measured yet; each size is kept when it is done."""
    try:
        costs = msgspec.json.decode(file.read_bytes(), type=Costs)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        costs = Costs(0.0, {}, {}, {})
    if (costs.window, costs.machine) != (plan.window, machine()):
        costs = Costs(plan.window, machine(), {}, {})
    for n in plan.step_sizes:
        if n not in costs.steps:
            costs.steps[n] = step_costs_apart(n, plan.window)
            _keep(file, costs)
        progress(f"measuring steps of {n} agents")
    for n in plan.action_sizes:
        if n not in costs.actions:
            costs.actions[n] = [action_cost(n, verb, plan.window / 3) for verb in VERBS]
            _keep(file, costs)
        progress(f"measuring actions of {n} agents")
    return costs


def _keep(file: Path, costs: Costs) -> None:
    write_file(file, msgspec.json.format(msgspec.json.encode(costs), indent=1))


# ---- texts


def _band_text(band: Sequence[float], digits: int) -> str:
    """Return a mean with its range, or the mean alone where all values are equal."""
    mean, low, high = (f"{round(value, digits):.12g}" for value in band)
    return mean if low == high else f"{mean} ({low}–{high})"


def _lines(plan: CubePlan, paper: Mapping[str, Any], bands: Bands, steps: Sequence[StepCost]) -> Iterator[str]:
    """Yield the main results for a terminal."""
    for column, n in enumerate(plan.sizes):
        teams = [
            f"{figures.LINES[planner].label} {_band_text(bands['completed'][planner][column], 1)} blocks, "
            f"{_band_text(bands['steps'][planner][column], 0)} steps"
            for planner in ("heuristic", *METHODS)
        ]
        yield f"n = {n}, {paper['baselines']['blocks'][column]} block(s): {'; '.join(teams)}"
    for cost in steps:
        if cost.policy == "random" and cost.n in (10, 256):
            published_time = paper["scaling"]["seconds"][paper["scaling"]["sizes"].index(cost.n)]
            yield f"n = {cost.n}, random: {1e3 * cost.mean:.3f} ms a step, published {1e3 * published_time:.2f} ms"
