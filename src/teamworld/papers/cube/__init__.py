"""``teamworld reproduce cube``: baselines and overhead of the CUBE paper from our runs, beside the published values."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from teamworld.experiment import run
from teamworld.experiment.results import EpisodeRow
from teamworld.papers import FIRST_SEED, Job, PaperOptions, Progress
from teamworld.papers.cube import figures
from teamworld.papers.cube.costs import ActionCost, StepCost, action_cost, machine, step_costs_apart
from teamworld.papers.cube.figures import Actions, Band, Bands, Baselines, Scaling
from teamworld.papers.page import Figure, Reproduction, check_folder, data, plain, write
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


class CubeResult(NamedTuple):
    """Everything that figures and page show."""

    plan: CubePlan
    paper: CubePaper
    rows: EpisodeRows
    ours: Bands
    steps: list[StepCost]
    actions: list[ActionCost]
    machine: dict[str, str]

    def band(self, measure: str, planner: str, column: int) -> Band:
        """Return a published value or ours of the size in this column."""
        return {**self.paper.baselines.measures[measure], **self.ours[measure]}[planner][column]


def job(options: PaperOptions, out: Path, command: str, terminal: Terminal | None) -> Job:
    """Return the reproduction that the options ask for."""
    plan = QUICK if options.quick else CubePlan()
    plan = plan._replace(seeds=options.seeds or plan.seeds)
    return Job(partial(reproduce, out, plan, command), plan.size)


def reproduce(out: Path, plan: CubePlan, command: str, progress: Progress = lambda text: None) -> Reproduction:
    """Run the baselines, measure steps and macro-actions, or go on with it, and write figures and page.

    Args:
        out: Folder of the page; runs go into its folder ``runs``, measurements into ``measured.json``.
        plan: What to run and measure.
        command: The command as typed, for the page.
        progress: Called after every episode and measurement.

    Raises:
        UserError: An extra is missing, or the folder holds another run.
    """
    need(matplotlib="plots", pettingzoo="rl", gymnasium="rl")
    check_folder(out, "runs", "cube")
    paper = published()
    rows = _run(out, plan, paper.baselines.limit, progress)
    costs = _measure(out / "measured.json", plan, progress)
    result = CubeResult(
        plan,
        paper,
        rows,
        bands_of(rows, plan.sizes),
        [cost for n in plan.step_sizes for cost in costs.steps[n]],
        [cost for n in plan.action_sizes for cost in costs.actions[n]],
        costs.machine,
    )
    drawn = _draw(out / "figures", result)
    return Reproduction(
        _write(out, command, result, drawn),
        tuple(figure.path for figure in drawn.values()),
        _numbers(result),
        tuple(_lines(result)),
    )


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
            costs.actions[n] = [action_cost(n, verb, plan.window / 3) for verb in figures.VERB_LABELS]
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


# ---- figures, page, numbers


def _draw(target: Path, result: CubeResult) -> dict[str, Figure]:
    """Draw everything; return the figures by name."""
    target.mkdir(parents=True, exist_ok=True)
    paper = result.paper
    seeds = ", ".join(str(FIRST_SEED + index) for index in range(result.plan.seeds))
    return {
        "baselines": Figure(
            figures.baselines(paper.baselines, result.ours, target / "baselines"),
            f"Baselines by number of agents, at most {paper.baselines.limit} steps; lines: mean, bands: smallest to "
            f"largest. Published: n = 1, 2, 4, 8, three runs. Ours: seeds {seeds}, one episode each, scripted "
            "team and built-in rules, no language model; run time is wall clock on this machine.",
        ),
        "scaling": Figure(
            figures.scaling(paper.scaling, result.steps, target / "scaling"),
            "Cost of a step through PettingZoo with observations, n = 2 to 256; lines: mean, bands: standard "
            "deviation over steps, cut at a third of the mean on the logarithmic axis. Ours: wall clock on this "
            "machine, one process a size, stepping without a pause. The published policy and pauses are not known.",
        ),
        "actions": Figure(
            figures.actions(paper.actions, result.actions, target / "actions"),
            "Time of each macro-action, n = 1 to 256. Ours: wall clock on this machine, seconds of a symbolic step "
            "over the number of agents while all do the action. The published definition is not known and may differ.",
        ),
    }


def _write(out: Path, command: str, result: CubeResult, drawn: Mapping[str, Figure]) -> Path:
    return write(
        "cube",
        out,
        command,
        machine=", ".join(f"{name} {value}" for name, value in result.machine.items()),
        **drawn,
        baseline_rows=list(_baseline_rows(result)),
        scaling_rows=[_scaling_row(result.paper.scaling, cost) for cost in result.steps],
        least_load=min((cost.cpu for cost in result.steps), default=100.0),
        action_columns=["n", *map(str, result.plan.action_sizes)],
        action_rows=list(_action_rows(result)),
    )


def _baseline_rows(result: CubeResult) -> Iterator[list[str]]:
    blocks = result.paper.baselines.blocks
    for column, n in enumerate(result.plan.sizes):
        for planner, line in figures.LINES.items():
            completed, steps, seconds = (
                _text(result.band(measure, planner, column), digits)
                for measure, digits in (("completed", 2), ("steps", 0), ("seconds", 2))
            )
            layout = next((row for row in result.rows.paper[n] if row.method == planner), None)
            cells = [f"{_value(layout, name):.0f}" if layout else "" for name in ("completed", "steps")]
            yield [str(n), line.label, f"{completed} of {blocks[column]}", steps, seconds, *cells]


def _text(band: Band, digits: int) -> str:
    mean, low, high = (_short(value, digits) for value in band)
    return mean if low == high else f"{mean} ({low}–{high})"


def _short(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaling_row(paper: Scaling, cost: StepCost) -> list[str]:
    column = paper.sizes.index(cost.n)
    published, memory = paper.seconds[column], paper.gigabytes[column]
    return [
        str(cost.n),
        cost.policy,
        f"{1e3 * published:.2f}",
        f"{1e3 * cost.mean:.3f} ± {1e3 * cost.std:.3f}",
        f"{published / cost.mean:.0f} x",
        f"{1 / cost.mean:,.0f}",
        f"{memory:.2f}",
        "none" if cost.gigabytes is None else f"{cost.gigabytes:.2f}",
        "none" if cost.gigabytes is None else f"{cost.gigabytes / memory:.1f} x",
        f"{paper.cpu[column]:.0f}",
        f"{cost.cpu:.0f}",
        str(cost.steps),
    ]


def _action_rows(result: CubeResult) -> Iterator[list[str]]:
    sizes, paper = result.plan.action_sizes, result.paper.actions
    ours = {(cost.verb, cost.n): 1e3 * cost.seconds for cost in result.actions}
    for verb, label in figures.VERB_LABELS.items():
        theirs = dict(zip(paper.sizes, paper.seconds[verb], strict=True))
        yield [f"{label}, published, ms", *(f"{1e3 * theirs[n]:.1f}" for n in sizes)]
        yield [f"{label}, ours, ms an agent and step", *(f"{ours[verb, n]:.3f}" for n in sizes)]
        yield [f"{label}, ours, ms a step of all", *(f"{ours[verb, n] * n:.2f}" for n in sizes)]


def _lines(result: CubeResult) -> Iterator[str]:
    """Yield the main results for a terminal."""
    for column, n in enumerate(result.plan.sizes):
        teams = []
        for planner in ("heuristic", *METHODS):
            blocks, steps = (result.band(name, planner, column) for name in ("completed", "steps"))
            label = figures.LINES[planner].label
            teams.append(f"{label} {_text(blocks, 1)} blocks, {_text(steps, 0)} steps")
        yield f"n = {n}, {result.paper.baselines.blocks[column]} block(s): {'; '.join(teams)}"
    for cost in result.steps:
        if cost.policy == "random" and cost.n in (10, 256):
            theirs = result.paper.scaling.seconds[result.paper.scaling.sizes.index(cost.n)]
            yield f"n = {cost.n}, random: {1e3 * cost.mean:.3f} ms a step, published {1e3 * theirs:.2f} ms"


def _numbers(result: CubeResult) -> dict[str, Any]:
    layouts = {
        n: {row.method: {name: _value(row, name) for name in figures.MEASURES} for row in rows}
        for n, rows in result.rows.paper.items()
    }
    return {
        "paper": "cube",
        "reasoner": "rules",
        "seeds": [FIRST_SEED + index for index in range(result.plan.seeds)],
        "sizes": list(result.plan.sizes),
        "max_steps": result.paper.baselines.limit,
        "machine": result.machine,
        "published": plain(result.paper),
        "ours": plain(
            {
                "baselines": result.ours,
                "seed_42_layout": layouts,
                "scaling": result.steps,
                "actions": result.actions,
            }
        ),
    }
