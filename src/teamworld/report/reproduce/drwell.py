"""``teamworld reproduce drwell``: the figures of the DR. WELL paper from our runs, beside the published values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from teamworld.report.reproduce.chain import Told, simulated_seconds, tell
from teamworld.report.reproduce.page import PAGE, READ_OFF, Reproduction, check_folder, picture, plain, table
from teamworld.report.reproduce.published import METHODS, Floats, Paper, Runs, published, step_seconds
from teamworld.report.reproduce.trends import Trend, trends

from teamworld.experiment import run
from teamworld.experiment.config import ExperimentSpec, RunCell
from teamworld.experiment.folder import RunFolder
from teamworld.memory.drawing import draw_stages
from teamworld.memory.store import MemoryStore
from teamworld.record import read_log
from teamworld.report.figure_style import need
from teamworld.report.reproduce import drwell_figures as figures
from teamworld.report.tables import describe_reasoner

TITLE = "# DR. WELL: the paper's figures from our runs"
#: The paper's set-up (DR. WELL spec A12): level and steps of an episode.
LEVEL, MAX_STEPS = "paper-n2", 150
#: The seed that is shown alone, as the paper shows one run: the published default (DR. WELL spec A12).
FIRST_SEED = 42


class Plan(NamedTuple):
    """What is run and what is assumed."""

    seeds: int = 10
    episodes: int = 10
    reasoner: str = "rules"
    latency: float | None = None
    """Seconds a call; None: the published figure of gpt-4o (CUBE spec A17)."""
    step_time: float | None = None
    """Seconds a step; None: the published heuristic's run time over its steps at n = 2 (CUBE spec A17)."""

    @property
    def work(self) -> int:
        """Episodes to run in all."""
        return len(METHODS) * self.seeds * self.episodes


#: A look at everything in some seconds; two episodes beyond the exploratory ones.
QUICK = Plan(seeds=2, episodes=6)


class _Clock(NamedTuple):
    """The assumed times, in seconds."""

    call: float
    step: float


def reproduce(out: Path, plan: Plan, command: str, progress: Callable[[str], None] = lambda text: None) -> Reproduction:
    """Run both methods (or go on with them) and write figures and page.

    Args:
        out: Folder of the page; the runs go into its folder ``run``.
        plan: What to run.
        command: The command as typed, for the page.
        progress: Called after every episode with what is running.

    Raises:
        UserError: An extra is missing, or the folder holds another run.
    """
    need(matplotlib="plots")
    check_folder(out, "run", TITLE)
    paper = published()
    run(
        level=LEVEL,
        method=METHODS,
        reasoner=plan.reasoner,
        episodes=plan.episodes,
        seed=range(FIRST_SEED, FIRST_SEED + plan.seeds),
        max_steps=MAX_STEPS,
        out=out / "run",
        progress=lambda row: progress(f"{row.method}, seed {row.seed}"),
    )
    folder = RunFolder(out / "run")
    experiment = folder.experiment()
    latency = paper.cube.baselines.latency["gpt-4o"] if plan.latency is None else plan.latency
    clock = _Clock(latency, step_seconds() if plan.step_time is None else plan.step_time)
    told = {method: _told(folder, experiment, method) for method in METHODS}
    ours = {method: runs_of(some, clock.call, clock.step) for method, some in told.items()}
    judged = trends(paper.drwell.runs, ours, paper.drwell.reading_error)
    page = out / PAGE
    drawn = _draw(out / "figures", folder, experiment, paper, ours, told["drwell"][0], clock)
    page.write_text(_page(page, drawn, experiment, paper, ours, told, judged, clock, command), "utf-8")
    return Reproduction(
        page,
        tuple(path for path, _ in drawn.values()),
        _numbers(experiment, paper, ours, told, judged, clock),
        tuple(f"{trend.number}  {trend.claim}: {trend.ours.word} ({trend.ours.text})" for trend in judged),
    )


def runs_of(told: Sequence[Sequence[Told]], latency: float, step_time: float) -> Runs:
    """Return the arrays of the episodes of each seed.

    Args:
        told: By seed, the episodes in order; all of one level.
        latency: Seconds a call.
        step_time: Seconds a step.
    """
    steps = [[[_or_inf(done) for done in one.done.values()] for one in some] for some in told]
    seconds = [
        [
            [
                np.inf if done is None or calls is None else simulated_seconds(calls, done, latency, step_time)
                for done, calls in zip(one.done.values(), one.waited.values(), strict=True)
            ]
            for one in some
        ]
        for some in told
    ]
    at, clock = (np.array(values, np.float64).transpose(0, 2, 1) for values in (steps, seconds))
    return Runs(np.isfinite(at), at, clock)


def _or_inf(value: int | None) -> float:
    return np.inf if value is None else float(value)


def _told(folder: RunFolder, experiment: ExperimentSpec, method: str) -> list[list[Told]]:
    return [
        [tell(read_log(folder.log(RunCell(method, seed), episode + 1))) for episode in range(experiment.episodes)]
        for seed in experiment.seeds
    ]


# ---- figures

_Drawn = dict[str, tuple[Path, str]]


def _seeds(experiment: ExperimentSpec) -> str:
    first, last = experiment.seeds[0], experiment.seeds[-1]
    return f"{len(experiment.seeds)} seeds ({first}–{last})" if last > first else f"seed {first}"


def _draw(
    target: Path,
    folder: RunFolder,
    experiment: ExperimentSpec,
    paper: Paper,
    ours: Mapping[str, Runs],
    first: Sequence[Told],
    clock: _Clock,
) -> _Drawn:
    """Draw everything; return files and captions by name."""
    target.mkdir(parents=True, exist_ok=True)
    who, seed, many = describe_reasoner(experiment), experiment.seeds[0], _seeds(experiment)
    short = "rules" if experiment.reasoner.startswith("rules") else experiment.reasoner
    setting = f"CUBE {experiment.level}, n = 2, at most {experiment.max_steps} steps; ours: {who}"
    middle = f"bars and lines: median of {many}, whiskers: quartiles" if len(experiment.seeds) > 1 else f"{many}"
    theirs = paper.drwell.runs
    top = float(np.ceil(max(_largest(runs.seconds) for runs in (*theirs.values(), *ours.values())) / 10) * 10)
    assumed = f"{clock.call:g} s a call in the longest dependent chain and {clock.step:.3g} s a step"
    drawn = {
        "completion": (
            figures.completion(theirs, ours, seed, short, target / "c1_completion"),
            f"Completion of each block in each episode. ✓ complete, × incomplete; right: share of {many}. {setting}.",
        ),
        "steps": (
            figures.bars(
                {method: runs.steps for method, runs in theirs.items()},
                {method: runs.steps for method, runs in ours.items()},
                ("published, LLM", f"ours, {short}, {many}"),
                "steps at completion",
                experiment.max_steps,
                target / "c2_steps",
            ),
            f"Environment steps at completion; ∞ (hatched) is not completed. Ours: {middle}. {setting}.",
        ),
        "seconds": (
            figures.bars(
                {method: runs.seconds for method, runs in theirs.items()},
                {method: runs.seconds for method, runs in ours.items()},
                ("published, LLM, wall clock", f"ours, {short}, simulated at {clock.call:g} s a call"),
                "seconds at completion",
                top,
                target / "c3_seconds",
            ),
            f"Seconds at completion. Published: wall clock. Ours: simulated, not measured, from {assumed}, both "
            f"assumed; {middle}. {setting}.",
        ),
        "commitments": (
            figures.strips(
                paper.drwell.commitments,
                tuple(one.strips for one in first),
                [_end(one, experiment.max_steps) for one in first],
                ("DR. WELL: published, LLM", f"DR. WELL: ours, seed {seed}, {short}"),
                experiment.max_steps,
                target / "c4_commitments",
            ),
            f"What each agent is committed to over an episode; the number is the block. {setting}.",
        ),
    }
    with MemoryStore(folder.memory_file, readonly=True) as memory:
        deltas = memory.deltas(RunCell("drwell", seed).name)
    title = f"World model of DR. WELL, seed {seed}; {who}"
    draw_stages(deltas, target / "world_model.svg", title=title)
    drawn["world model"] = (
        draw_stages(deltas, target / "world_model.png", title=title),
        f"The world model's graph as it grows over the episodes, seed {seed}. {setting}.",
    )
    return drawn


def _largest(values: Floats) -> float:
    return float(values[np.isfinite(values)].max(initial=1.0))


def _end(told: Told, limit: int) -> int:
    steps = [limit if step is None else step for step in told.done.values()]
    return max(steps, default=limit)


# ---- page and numbers


def _page(
    page: Path,
    drawn: _Drawn,
    experiment: ExperimentSpec,
    paper: Paper,
    ours: Mapping[str, Runs],
    told: Mapping[str, list[list[Told]]],
    judged: Sequence[Trend],
    clock: _Clock,
    command: str,
) -> str:
    shown = {name: picture(path, page, caption) for name, (path, caption) in drawn.items()}
    checklist = table(
        ("", "trend", "rule", "paper", "ours", "verdict on ours"),
        [
            (t.number, t.claim, t.rule, f"{t.paper.text}: {t.paper.word}", t.ours.text, f"**{t.ours.word}**")
            for t in judged
        ],
    )
    calls = [_calls(method, told[method]) for method in METHODS]
    return "\n\n".join(
        [
            TITLE,
            f"```console\n{command}\n```",
            f"Ours: {describe_reasoner(experiment)}; {experiment.level}, {experiment.episodes} episodes in a row "
            f"with one memory, "
            f"at most {experiment.max_steps} steps, {_seeds(experiment)}. The paper: gpt-4o, one run a method. "
            f"{READ_OFF}",
            "## Trends",
            "Each trend is decided by one rule, for the paper's values and for ours. Ranges are over seeds. "
            "Nothing below is entered by hand.",
            checklist,
            "## Completion (C1)",
            shown["completion"],
            "The paper's figures disagree on the baseline's block 0 (complete in 3, 5 or 4 episodes) and on block 2 of "
            "DR. WELL in episode 2; here completion is the heat map's, steps and seconds are their own figures'.",
            "## Steps (C2)",
            shown["steps"],
            _value_table(paper.drwell.runs, ours, lambda runs: runs.steps, 0),
            "## Seconds (C3)",
            "**Simulated, not measured.** Our mind here answers at once, so seconds are counted from the log as "
            f"{clock.call:g} s for each call in the longest chain of dependent calls and {clock.step:.3g} s for each "
            "step. Turns in the negotiation follow one another; agents that plan alone think at the same time; the "
            "world stands still meanwhile. Both times are assumptions (`--latency`, `--step-time`); the defaults are "
            "the published latency of gpt-4o, and the published heuristic's run time over its steps.",
            shown["seconds"],
            _value_table(paper.drwell.runs, ours, lambda runs: runs.seconds, 1),
            table(("method", "calls an episode", "of them in the dependent chain"), calls),
            "## Commitments (C4)",
            shown["commitments"],
            "## World model",
            shown["world model"],
            "The paper shows its graph after episodes 1, 5 and 10 without readable counts: sparse, structured, dense.",
        ]
    ) + "\n"  # fmt: skip


def _calls(method: str, told: Sequence[Sequence[Told]]) -> tuple[str, str, str]:
    episodes = [one for some in told for one in some]
    calls, chain = (sum(getattr(one, name) for one in episodes) / len(episodes) for name in ("calls", "chain"))
    return figures.LABELS[method], f"{calls:.1f}", f"{chain:.1f}"


def _value_table(paper: Mapping[str, Runs], ours: Mapping[str, Runs], of: Callable[[Runs], Floats], digits: int) -> str:
    """Return published values over ours, the median with quartiles."""
    episodes = max(of(runs).shape[2] for runs in (*paper.values(), *ours.values()))
    rows = []
    for method in METHODS:
        for block in range(of(paper[method]).shape[1]):
            for name, runs in (("published", paper), ("ours", ours)):
                low, middle, high = (part[block] for part in figures.quartiles(of(runs[method])))
                cells = [_cell(*values, digits) for values in zip(low, middle, high, strict=True)]
                label = f"{figures.LABELS[method]}, block {block}, {name}"
                rows.append([label, *cells, *[""] * (episodes - len(cells))])
    return table(("", *(str(episode + 1) for episode in range(episodes))), rows)


def _cell(low: float, middle: float, high: float, digits: int) -> str:
    texts = ["∞" if np.isinf(value) else f"{value:.{digits}f}" for value in (low, middle, high)]
    return texts[1] if texts[0] == texts[2] else f"{texts[1]} ({texts[0]}–{texts[2]})"


def _numbers(
    experiment: ExperimentSpec,
    paper: Paper,
    ours: Mapping[str, Runs],
    told: Mapping[str, list[list[Told]]],
    judged: Sequence[Trend],
    clock: _Clock,
) -> dict[str, Any]:
    return {
        "paper": "drwell",
        "level": experiment.level,
        "reasoner": experiment.reasoner,
        "mind": describe_reasoner(experiment),
        "seeds": list(experiment.seeds),
        "episodes": experiment.episodes,
        "max_steps": experiment.max_steps,
        "assumed": {"latency_s": clock.call, "step_s": clock.step},
        "published": plain({"runs": paper.drwell.runs, "commitments": paper.drwell.commitments}),
        "ours": plain(
            {
                "runs": ours,
                "commitments": [[one.strips for one in some] for some in told["drwell"]],
                "calls": {method: [[one.calls for one in some] for some in told[method]] for method in METHODS},
                "chain": {method: [[one.chain for one in some] for some in told[method]] for method in METHODS},
            }
        ),
        "trends": [
            {
                "number": trend.number,
                "claim": trend.claim,
                "rule": trend.rule,
                "paper": {"verdict": trend.paper.word, "text": trend.paper.text},
                "ours": {"verdict": trend.ours.word, "text": trend.ours.text, "by_seed": list(trend.ours.holds)},
            }
            for trend in judged
        ],
    }
