"""``teamworld reproduce cube``: baselines and overhead of the CUBE paper from our runs, beside the published values."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from teamworld.experiment import run
from teamworld.experiment.results import Row
from teamworld.report.figure_style import need
from teamworld.report.reproduce import cube_figures as figures
from teamworld.report.reproduce.measure import ActionCost, StepCost, action_cost, machine, step_costs_apart
from teamworld.report.reproduce.page import PAGE, READ_OFF, Reproduction, check_folder, picture, plain, table
from teamworld.report.reproduce.published import Band, CubePaper, published

TITLE = "# CUBE: the paper's baselines and overhead from our runs"
#: Our stand-ins for the published planners: the scripted team for the heuristic, rules for the naive LLM.
METHODS = ("greedy", "zero_shot")
#: The seed of the published layouts (CUBE spec C2), and our first (B36).
FIRST_SEED = 42

#: Per cent of a core; a process that steps without a pause and gets less has shared its core.
_UNDISTURBED = 90.0

_Bands = Mapping[str, Mapping[str, Sequence[Band]]]


class Plan(NamedTuple):
    """What is run and measured."""

    seeds: int = 3
    sizes: tuple[int, ...] = published().cube.baselines.sizes
    """Numbers of agents of the baselines; the first of the published ones."""
    step_sizes: tuple[int, ...] = published().cube.scaling.sizes
    action_sizes: tuple[int, ...] = published().cube.actions.sizes
    window: float = 1.0
    """Seconds to measure one policy at one size; a macro-action gets a third."""

    @property
    def work(self) -> int:
        """Episodes and measurements in all."""
        episodes = len(METHODS) * len(self.sizes) * (self.seeds + 1)
        return episodes + len(self.step_sizes) + len(self.action_sizes)


#: A look at everything in some seconds.
QUICK = Plan(seeds=2, sizes=(1, 2), step_sizes=(2, 10), action_sizes=(1, 2, 4), window=0.06)


def reproduce(out: Path, plan: Plan, command: str, progress: Callable[[str], None] = lambda text: None) -> Reproduction:
    """Run the baselines, measure steps and macro-actions (or go on with it), and write figures and page.

    Args:
        out: Folder of the page; runs go into its folder ``runs``, measurements into ``measured.json``.
        plan: What to run and measure.
        command: The command as typed, for the page.
        progress: Called after every episode and measurement with what it was.

    Raises:
        UserError: An extra is missing, or the folder holds another run.
    """
    need(matplotlib="plots", pettingzoo="rl", gymnasium="rl")
    check_folder(out, "runs", TITLE)
    paper = published().cube
    rows = _baselines(out, plan, paper, progress)
    steps, actions, made_on = _measured(out, plan, progress)
    ours = bands_of(rows, plan.sizes)
    drawn = _draw(out / "figures", plan, paper, ours, steps, actions)
    page = out / PAGE
    page.write_text(_page(page, drawn, plan, paper, ours, rows, steps, actions, made_on, command), "utf-8")
    return Reproduction(
        page,
        tuple(path for path, _ in drawn),
        _numbers(plan, paper, ours, rows, steps, actions, made_on),
        _findings(plan, paper, ours, steps),
    )


# ---- (a) baselines


class _Rows(NamedTuple):
    """Episodes by number of agents."""

    seeded: dict[int, list[Row]]
    """Layouts placed by seed."""
    paper: dict[int, list[Row]]
    """The published seed-42 layout."""


def _baselines(out: Path, plan: Plan, paper: CubePaper, progress: Callable[[str], None]) -> _Rows:
    """Run all baselines; a short run beforehand takes the loading of the kernels out of the first time."""
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
        run(level="paper-n2", method=METHODS, max_steps=40, out=Path(scratch) / "run")
    seeds = range(FIRST_SEED, FIRST_SEED + plan.seeds)
    rows = _Rows({}, {})
    for n in plan.sizes:
        for found, level, seed in ((rows.seeded, f"n{n}", seeds), (rows.paper, f"paper-n{n}", seeds[:1])):
            found[n] = run(
                level=level,
                method=METHODS,
                seed=seed,
                max_steps=paper.baselines.limit,
                out=out / "runs" / level,
                progress=lambda row, level=level: progress(f"{level}, {row.method}, seed {row.seed}"),  # type: ignore[misc]
            )
    return rows


def bands_of(rows: _Rows, sizes: Sequence[int]) -> dict[str, dict[str, list[Band]]]:
    """Return measure -> method -> one band (mean, smallest, largest over seeds) for each size (CUBE spec B36)."""
    return {
        measure: {
            method: [_band([_value(row, measure) for row in rows.seeded[n] if row.method == method]) for n in sizes]
            for method in METHODS
        }
        for measure in figures.MEASURES
    }


def _band(values: Sequence[float]) -> Band:
    return Band(sum(values) / len(values), min(values), max(values))


def _value(row: Row, measure: str) -> float:
    """Return blocks delivered, steps, or wall seconds of an episode."""
    if measure == "completed":
        return float(sum(done is not None for done in row.summary.done.values()))
    return float(row.summary.steps) if measure == "steps" else row.seconds


# ---- (b) and (c) measurements


def _measured(
    out: Path, plan: Plan, progress: Callable[[str], None]
) -> tuple[list[StepCost], list[ActionCost], dict[str, str]]:
    """Measure what is not measured yet; each size is kept when it is done."""
    file = out / "measured.json"
    made_on = machine()
    kept = _kept(file)
    if kept is None or (kept.window, kept.machine) != (plan.window, made_on):
        kept = _Kept(plan.window, made_on, {}, {})
    for kind, n in _missing(plan):
        new = n not in (kept.steps if kind == "steps" else kept.actions)
        if new and kind == "steps":
            kept.steps[n] = step_costs_apart(n, plan.window)
        elif new:
            kept.actions[n] = [action_cost(n, verb, plan.window / 3) for verb in figures.VERB_LABELS]
        if new:
            draft = file.with_suffix(".tmp")
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1))
            os.replace(draft, file)
        progress(f"measuring {kind} of {n} agents")
    steps = [cost for n in plan.step_sizes for cost in kept.steps[n]]
    actions = [cost for n in plan.action_sizes for cost in kept.actions[n]]
    return steps, actions, made_on


class _Kept(msgspec.Struct):
    """What stands in ``measured.json``: costs by number of agents."""

    window: float
    machine: dict[str, str]
    steps: dict[int, list[StepCost]]
    actions: dict[int, list[ActionCost]]


def _kept(file: Path) -> _Kept | None:
    """Return what an earlier call measured; None if nothing, or if it cannot be read."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Kept)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _missing(plan: Plan) -> Iterator[tuple[str, int]]:
    yield from (("steps", n) for n in plan.step_sizes)
    yield from (("actions", n) for n in plan.action_sizes)


# ---- figures, page, numbers


def _draw(
    target: Path,
    plan: Plan,
    paper: CubePaper,
    ours: _Bands,
    steps: Sequence[StepCost],
    actions: Sequence[ActionCost],
) -> list[tuple[Path, str]]:
    """Draw everything; return files and captions."""
    target.mkdir(parents=True, exist_ok=True)
    return [
        (
            figures.baselines(paper.baselines, ours, target / "baselines"),
            f"Baselines by number of agents, at most {paper.baselines.limit} steps; lines: mean, bands: smallest to "
            f"largest. Published: n = 1, 2, 4, 8, three runs. Ours: seeds {_seeds(plan)}, one episode each, scripted "
            "team and built-in rules, no language model; run time is wall clock on this machine.",
        ),
        (
            figures.scaling(paper.scaling, steps, target / "scaling"),
            "Cost of a step through PettingZoo with observations, n = 2 to 256; lines: mean, bands: standard "
            "deviation over steps, cut at a third of the mean on the logarithmic axis. Ours: wall clock on this "
            "machine, one process a size, stepping without a pause. The published policy and pauses are not known.",
        ),
        (
            figures.actions(paper.actions, actions, target / "actions"),
            "Time of each macro-action, n = 1 to 256. Ours: wall clock on this machine, seconds of a symbolic step "
            "over the number of agents while all do the action. The published definition is not known and may differ.",
        ),
    ]


def _seeds(plan: Plan) -> str:
    return ", ".join(str(FIRST_SEED + index) for index in range(plan.seeds))


def _page(
    page: Path,
    drawn: Sequence[tuple[Path, str]],
    plan: Plan,
    paper: CubePaper,
    ours: _Bands,
    rows: _Rows,
    steps: Sequence[StepCost],
    actions: Sequence[ActionCost],
    made_on: Mapping[str, str],
    command: str,
) -> str:
    baselines, scaling, heat = (picture(path, page, caption) for path, caption in drawn)
    return "\n\n".join(
        [
            TITLE,
            f"```console\n{command}\n```",
            f"Ours: built-in rules and the scripted team, no language model. {READ_OFF} "
            "Wall-clock figures were measured on one machine, by one run of this command, and differ from run to run: "
            f"{', '.join(f'{name} {value}' for name, value in made_on.items())}.",
            "## Baselines (A17)",
            "`greedy` is the published heuristic; `zero_shot` is the protocol of the naive LLM baseline with rules in "
            "the LLM's place. Its line says what the protocol does with a mind that never errs, not what a model "
            "does. Published run time holds the model's latency; ours does not. Our layouts for a seed are not the "
            "published ones, so the last columns give the published seed-42 layout.",
            baselines,
            _baseline_table(plan, paper, ours, rows),
            "## Scalability (A18)",
            scaling,
            _scaling_table(paper, steps),
            "CPU load is CPU time over wall time while stepping without a pause, so it is near 100 % at every size. "
            "The published load grows with n, as it does when a process also waits; the two are not comparable. "
            "Memory is the whole process with Python and its libraries.",
            *_disturbed(steps),
            "## Time of a macro-action (A18)",
            "Every agent does the same action: it pushes to the goal, walks across the grid, backs away, or waits. "
            "The time is that of `CubeWorld.step`: start of actions, path search, physics, feedback and outcomes, "
            "divided by agents and steps. A fixed cost of each step is shared by all agents, so it weighs most at n = "
            "1. Published values are printed with four decimals, 0.1 ms apart.",
            heat,
            _action_table(paper, actions),
        ]
    ) + "\n"  # fmt: skip


def _disturbed(steps: Sequence[StepCost]) -> list[str]:
    """Return a warning where others took the core away while steps were measured."""
    least = min((one.cpu for one in steps), default=100.0)
    if least >= _UNDISTURBED:
        return []
    return [
        f"**The machine was busy while this was measured** (load down to {least:.0f} %): its wall-clock figures are "
        "too large. Delete `measured.json` and give the command again on a quiet machine."
    ]


def _baseline_table(plan: Plan, paper: CubePaper, ours: _Bands, rows: _Rows) -> str:
    lines = []
    for at, n in enumerate(plan.sizes):
        for planner, line in figures.LINES.items():
            cells = [
                _text({**paper.baselines.measures[measure], **ours[measure]}[planner][at], digits)
                for measure, digits in (("completed", 2), ("steps", 0), ("seconds", 2))
            ]
            lone = [row for row in rows.paper[n] if row.method == planner]
            cells += [f"{_value(lone[0], name):.0f}" for name in ("completed", "steps")] if lone else ["", ""]
            lines.append((str(n), line.label, f"{cells[0]} of {paper.baselines.blocks[at]}", *cells[1:]))
    columns = ("n", "planner", "blocks", "steps", "run time, s", "blocks, seed-42 layout", "steps, seed-42 layout")
    return table(columns, lines)


def _text(band: Band, digits: int) -> str:
    mean, low, high = (_short(value, digits) for value in band)
    return mean if low == high else f"{mean} ({low}–{high})"


def _short(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaling_table(paper: CubePaper, steps: Sequence[StepCost]) -> str:
    lines = []
    for one in steps:
        at = paper.scaling.sizes.index(one.n)
        theirs, memory = paper.scaling.seconds[at], paper.scaling.gigabytes[at]
        lines.append(
            (
                str(one.n),
                one.policy,
                f"{1e3 * theirs:.2f}",
                f"{1e3 * one.mean:.3f} ± {1e3 * one.std:.3f}",
                f"{theirs / one.mean:.0f} x",
                f"{1 / one.mean:,.0f}",
                f"{memory:.2f}",
                "none" if one.gigabytes is None else f"{one.gigabytes:.2f}",
                "none" if one.gigabytes is None else f"{one.gigabytes / memory:.1f} x",
                f"{paper.scaling.cpu[at]:.0f}",
                f"{one.cpu:.0f}",
                str(one.steps),
            )
        )
    columns = ("n", "policy", "step ms, published", "step ms, ours ± std", "faster", "steps/s, ours", "GB, published",
               "GB, ours", "ours over published", "CPU %, published", "CPU %, ours", "steps measured")  # fmt: skip
    return table(columns, lines)


def _action_table(paper: CubePaper, actions: Sequence[ActionCost]) -> str:
    sizes = sorted({one.n for one in actions})
    found = {(one.verb, one.n): 1e3 * one.seconds for one in actions}
    lines = []
    for verb, label in figures.VERB_LABELS.items():
        theirs = dict(zip(paper.actions.sizes, paper.actions.seconds[verb], strict=True))
        lines.append((f"{label}, published, ms", *(f"{1e3 * theirs[n]:.1f}" for n in sizes)))
        lines.append((f"{label}, ours, ms an agent and step", *(f"{found[verb, n]:.3f}" for n in sizes)))
        lines.append((f"{label}, ours, ms a step of all", *(f"{found[verb, n] * n:.2f}" for n in sizes)))
    return table(("n", *map(str, sizes)), lines)


def _findings(plan: Plan, paper: CubePaper, ours: _Bands, steps: Sequence[StepCost]) -> tuple[str, ...]:
    lines = []
    for at, n in enumerate(plan.sizes):
        found = []
        for planner in ("heuristic", "greedy", "zero_shot"):
            blocks, steps_taken = (
                {**paper.baselines.measures[name], **ours[name]}[planner][at] for name in ("completed", "steps")
            )
            label = figures.LINES[planner].label
            found.append(f"{label} {_text(blocks, 1)} blocks, {_text(steps_taken, 0)} steps")
        lines.append(f"n = {n}, {paper.baselines.blocks[at]} block(s): {'; '.join(found)}")
    for one in steps:
        if one.policy == "random" and one.n in (10, 256):
            theirs = paper.scaling.seconds[paper.scaling.sizes.index(one.n)]
            lines.append(f"n = {one.n}, random: {1e3 * one.mean:.3f} ms a step, published {1e3 * theirs:.2f} ms")
    return tuple(lines)


def _numbers(
    plan: Plan,
    paper: CubePaper,
    ours: _Bands,
    rows: _Rows,
    steps: Sequence[StepCost],
    actions: Sequence[ActionCost],
    made_on: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "paper": "cube",
        "reasoner": "rules",
        "seeds": [FIRST_SEED + index for index in range(plan.seeds)],
        "sizes": list(plan.sizes),
        "max_steps": paper.baselines.limit,
        "machine": dict(made_on),
        "published": plain(paper),
        "ours": plain(
            {
                "baselines": ours,
                "seed_42_layout": {
                    str(n): {row.method: {name: _value(row, name) for name in figures.MEASURES} for row in some}
                    for n, some in rows.paper.items()
                },
                "scaling": steps,
                "actions": actions,
            }
        ),
    }
