"""``teamworld reproduce cube``: baselines and overhead of the CUBE paper from our runs, beside the published values."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from teamworld.experiment.api import run
from teamworld.experiment.store.results import EpisodeRow
from teamworld.papers import FIRST_SEED, Job, PaperOptions, Progress
from teamworld.papers.cube import figures
from teamworld.papers.cube.costs import VERBS, ActionCost, StepCost, action_cost, machine, step_costs_apart
from teamworld.papers.cube.figures import Actions, Band, Bands, Baselines, Scaling
from teamworld.papers.page import Reproduction, check_folder, data, plain, write
from teamworld.reasoning.human import Terminal
from teamworld.report.figure_style import need

#: Our stand-ins for the published planners: the scripted team for the heuristic, rules for the naive LLM.
METHODS = ("greedy", "zero_shot")


class CubePaper(NamedTuple):
    """The values of the paper's figures."""

    baselines: Baselines
    scaling: Scaling
    actions: Actions


def published() -> CubePaper:
    """Return the values of the paper's figures."""
    values = data("cube", "published")
    baselines, scaling, actions = ({**values[name]} for name in ("baselines", "scaling", "actions"))
    for table in (baselines, scaling, actions):
        del table["source"]
    measures = {
        measure: {planner: [_band(value) for value in row] for planner, row in baselines.pop(measure).items()}
        for measure in figures.MEASURES
    }
    return CubePaper(Baselines(**baselines, measures=measures), Scaling(**scaling), Actions(**actions))


def _band(value: float | Sequence[float]) -> Band:
    return Band(*value) if isinstance(value, Sequence) else Band(value, value, value)


class CubePlan(NamedTuple):
    """What to run and to measure."""

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


#: A small version in some seconds.
QUICK = CubePlan(seeds=2, sizes=(1, 2), step_sizes=(2, 10), action_sizes=(1, 2, 4), window=0.06)


class EpisodeRows(NamedTuple):
    """Episodes by number of agents."""

    seeded: dict[int, list[EpisodeRow]]
    """Layouts placed by seed."""
    paper: dict[int, list[EpisodeRow]]
    """The published seed-42 layout."""


class Costs(msgspec.Struct):
    """The content of ``measured.json``: costs by number of agents."""

    window: float
    machine: dict[str, str]
    steps: dict[int, list[StepCost]]
    actions: dict[int, list[ActionCost]]


def job(options: PaperOptions, out: Path, command: str, terminal: Terminal | None) -> Job:
    """Return the reproduction that the options ask for."""
    plan = QUICK if options.quick else CubePlan()
    plan = plan._replace(seeds=options.seeds or plan.seeds)
    return Job(partial(reproduce, out, plan, command), plan.size)


def reproduce(out: Path, plan: CubePlan, command: str, progress: Progress = lambda text: None) -> Reproduction:
    """Run the baselines in ``runs``, measure costs into ``measured.json``; write figures and page."""
    need(matplotlib="plots", pettingzoo="rl", gymnasium="rl")
    check_folder(out, "runs", "cube")
    paper = published()
    rows = _run(out, plan, paper.baselines.limit, progress)
    costs = _measure(out / "measured.json", plan, progress)
    ours = bands_of(rows, plan.sizes)
    bands = {measure: {**paper.baselines.measures[measure], **ours[measure]} for measure in figures.MEASURES}
    steps = [cost for n in plan.step_sizes for cost in costs.steps[n]]
    actions = [cost for n in plan.action_sizes for cost in costs.actions[n]]
    layouts = {
        n: {row.method: {name: _value(row, name) for name in figures.MEASURES} for row in rows_of_size}
        for n, rows_of_size in rows.paper.items()
    }
    seeds = [FIRST_SEED + index for index in range(plan.seeds)]
    target = out / "figures"
    target.mkdir(parents=True, exist_ok=True)
    drawn = (
        figures.baselines(paper.baselines, ours, target / "baselines"),
        figures.scaling(paper.scaling, steps, target / "scaling"),
        figures.actions(paper.actions, actions, target / "actions"),
    )
    page = write(
        "cube",
        out,
        command,
        plan=plan,
        published=paper,
        seeds=", ".join(map(str, seeds)),
        machine=", ".join(f"{name} {value}" for name, value in costs.machine.items()),
        planners=figures.LINES,
        bands=bands,
        band_text=_text,
        layouts=layouts,
        steps=steps,
        actions={(cost.verb, cost.n): 1e3 * cost.seconds for cost in actions},
        verbs=VERBS,
    )
    numbers = {
        "paper": "cube",
        "reasoner": "rules",
        "seeds": seeds,
        "sizes": list(plan.sizes),
        "max_steps": paper.baselines.limit,
        "machine": costs.machine,
        "published": plain(paper),
        "ours": plain({"baselines": ours, "seed_42_layout": layouts, "scaling": steps, "actions": actions}),
    }
    return Reproduction(page, drawn, numbers, tuple(_lines(plan, paper, bands, steps)))


# ---- runs and measurements


def _run(out: Path, plan: CubePlan, limit: int, progress: Progress) -> EpisodeRows:
    """Run all baselines; a short run beforehand takes the loading of the kernels out of the first time."""
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
        run(level="paper-n2", method=METHODS, max_steps=40, out=Path(scratch) / "run")
    seeds = range(FIRST_SEED, FIRST_SEED + plan.seeds)
    rows = EpisodeRows({}, {})
    for n in plan.sizes:
        for by_size, level, level_seeds in ((rows.seeded, f"n{n}", seeds), (rows.paper, f"paper-n{n}", seeds[:1])):
            by_size[n] = run(
                level=level,
                method=METHODS,
                seed=level_seeds,
                max_steps=limit,
                out=out / "runs" / level,
                progress=lambda row, level=level: progress(f"{level}, {row.method}, seed {row.seed}"),  # type: ignore[misc]
            )
    return rows


def bands_of(rows: EpisodeRows, sizes: Sequence[int]) -> Bands:
    """Return measure -> method -> one band (mean, smallest, largest over seeds) for each size."""

    def band(measure: str, method: str, n: int) -> Band:
        values = [_value(row, measure) for row in rows.seeded[n] if row.method == method]
        return Band(sum(values) / len(values), min(values), max(values))

    return {
        measure: {method: [band(measure, method, n) for n in sizes] for method in METHODS}
        for measure in figures.MEASURES
    }


def _value(row: EpisodeRow, measure: str) -> float:
    """Return blocks delivered, steps, or wall seconds of an episode."""
    if measure == "completed":
        return float(sum(step is not None for step in row.summary.done.values()))
    return float(row.summary.steps) if measure == "steps" else row.seconds


def _measure(file: Path, plan: CubePlan, progress: Progress) -> Costs:
    """Measure what is not measured yet; each size is kept when it is done."""
    costs = _measured(file)
    if costs is None or (costs.window, costs.machine) != (plan.window, machine()):
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


def _measured(file: Path) -> Costs | None:
    """Return what an earlier call measured; None if nothing, or if it cannot be read."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Costs)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _keep(file: Path, costs: Costs) -> None:
    draft = file.with_suffix(".tmp")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(costs), indent=1))
    os.replace(draft, file)


# ---- texts


def _text(band: Band, digits: int) -> str:
    """Return a mean with its range, or the mean alone where all values are equal."""
    mean, low, high = (_short(value, digits) for value in band)
    return mean if low == high else f"{mean} ({low}–{high})"


def _short(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _lines(plan: CubePlan, paper: CubePaper, bands: Bands, steps: Sequence[StepCost]) -> Iterator[str]:
    """Yield the main results for a terminal."""
    for column, n in enumerate(plan.sizes):
        teams = [
            f"{figures.LINES[planner].label} {_text(bands['completed'][planner][column], 1)} blocks, "
            f"{_text(bands['steps'][planner][column], 0)} steps"
            for planner in ("heuristic", *METHODS)
        ]
        yield f"n = {n}, {paper.baselines.blocks[column]} block(s): {'; '.join(teams)}"
    for cost in steps:
        if cost.policy == "random" and cost.n in (10, 256):
            published_time = paper.scaling.seconds[paper.scaling.sizes.index(cost.n)]
            yield f"n = {cost.n}, random: {1e3 * cost.mean:.3f} ms a step, published {1e3 * published_time:.2f} ms"
