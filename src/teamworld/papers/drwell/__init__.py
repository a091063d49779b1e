"""``teamworld reproduce drwell``: the figures of the DR. WELL paper from our runs, beside the published values.

Set-up of the paper: the published layout for two agents, ten episodes in a row, 150 steps an episode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.drawing import draw_stages
from teamworld.memory.store import MemoryStore
from teamworld.papers import FIRST_SEED, Job, PaperOptions, Progress
from teamworld.papers.drwell import figures
from teamworld.papers.drwell.claims import METHODS, Floats, Runs, RunsByMethod, judge
from teamworld.papers.drwell.figures import Commitments, Strip
from teamworld.papers.page import Reproduction, check_folder, data, plain, write
from teamworld.reasoning.human import Terminal
from teamworld.record import (
    Commit,
    EpisodeStart,
    Event,
    GoalChange,
    MessageSent,
    QuestionAsked,
    Release,
    StepDone,
    read_log,
)
from teamworld.report.figure_style import need
from teamworld.report.tables import describe_reasoner

LEVEL, MAX_STEPS = "paper-n2", 150


class DrWellPlan(NamedTuple):
    """What to run and to assume."""

    seeds: int = 10
    episodes: int = 10
    reasoner: str = "rules"
    latency: float | None = None
    """Seconds a call; None: the published figure of gpt-4o."""
    step_time: float | None = None
    """Seconds a step; None: the run time of the published heuristic over its steps at n = 2."""


#: A small version in some seconds; two episodes beyond the exploratory ones.
QUICK = DrWellPlan(seeds=2, episodes=6)


class Clock(NamedTuple):
    """The assumed times, in seconds."""

    call: float
    step: float


class Published(NamedTuple):
    """The values of the paper's figures."""

    runs: RunsByMethod
    """One seed. Completion is the heat map's, which the other figures contradict in places."""
    commitments: Commitments
    """Of DR. WELL."""
    reading_error: float
    """Largest error of a value, in units of its axis."""


class Timeline(NamedTuple):
    """One episode as the figures need it."""

    done: dict[str, int | None]
    """By goal, the steps after which it was done; None if it was not."""
    calls_before: dict[str, int | None]
    """By goal, the calls in the longest dependent chain up to then; None if it was not done."""
    strips: tuple[tuple[Strip, ...], ...]
    """By agent, its commitments; the number of a block is the goal's place in the log's first record."""
    calls: int
    """All calls of the episode."""
    chain: int
    """Calls in the longest dependent chain of the whole episode."""


def published() -> Published:
    """Return the values of the paper's figures."""
    values = data("drwell", "published")
    runs = {
        method: Runs(
            np.array([[list(row) for row in values["completion"][method]]]) == "C",
            np.array([values["steps"][method]], np.float64),
            np.array([values["seconds"][method]], np.float64),
        )
        for method in METHODS
    }
    episodes = values["commitments"]["episodes"]
    commitments = tuple(tuple(tuple(Strip(*strip) for strip in agent) for agent in episode) for episode in episodes)
    return Published(runs, commitments, float(values["reading_error"]))


def published_clock() -> Clock:
    """Return the default times, from the CUBE paper: latency of gpt-4o, seconds of the heuristic over its steps."""
    baselines = data("cube", "published")["baselines"]
    column = baselines["sizes"].index(2)
    mean_steps, _, _ = baselines["steps"]["heuristic"][column]
    return Clock(baselines["latency"]["gpt-4o"], baselines["seconds"]["heuristic"][column] / mean_steps)


def job(options: PaperOptions, out: Path, command: str, terminal: Terminal | None) -> Job:
    """Return the reproduction that the options ask for.

    Raises:
        UserError: A time is out of its range.
    """
    for name, value in (("--latency", options.latency), ("--step-time", options.step_time)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UserError(f"{name} is a time in seconds, 0 or more; got {value}")
    plan = (QUICK if options.quick else DrWellPlan())._replace(latency=options.latency, step_time=options.step_time)
    plan = plan._replace(seeds=options.seeds or plan.seeds, reasoner=options.reasoner or plan.reasoner)
    return Job(partial(reproduce, out, plan, command), len(METHODS) * plan.seeds * plan.episodes)


def reproduce(out: Path, plan: DrWellPlan, command: str, progress: Progress = lambda text: None) -> Reproduction:
    """Run both methods in the folder ``run``; write figures and page."""
    need(matplotlib="plots")
    check_folder(out, "run", "drwell")
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
    experiment, paper, default = folder.experiment(), published(), published_clock()
    clock = Clock(
        default.call if plan.latency is None else plan.latency,
        default.step if plan.step_time is None else plan.step_time,
    )
    timelines = {method: _read(folder, experiment, method) for method in METHODS}
    ours = {method: runs_of(episodes, clock) for method, episodes in timelines.items()}
    trends = judge(paper.runs, ours, paper.reading_error)
    first, last = experiment.seeds[0], experiment.seeds[-1]
    seeds = f"{len(experiment.seeds)} seeds ({first}–{last})" if last > first else f"seed {first}"
    drawn = _draw(out / "figures", folder, seeds, clock, paper, timelines["drwell"][0], ours)
    page = write(
        "drwell",
        out,
        command,
        reasoner=describe_reasoner(experiment),
        experiment=experiment,
        seeds=seeds,
        clock=clock,
        trends=trends,
        steps=_value_rows(paper.runs, ours, lambda runs: runs.steps, 0),
        seconds=_value_rows(paper.runs, ours, lambda runs: runs.seconds, 1),
        calls=[_mean_calls(method, timelines[method]) for method in METHODS],
    )
    numbers = {
        "paper": "drwell",
        "level": experiment.level,
        "reasoner": experiment.reasoner,
        "mind": describe_reasoner(experiment),
        "seeds": list(experiment.seeds),
        "episodes": experiment.episodes,
        "max_steps": experiment.max_steps,
        "assumed": {"latency_s": clock.call, "step_s": clock.step},
        "published": plain({"runs": paper.runs, "commitments": paper.commitments}),
        "ours": plain(
            {
                "runs": ours,
                "commitments": _by_episode(timelines["drwell"], "strips"),
                "calls": {method: _by_episode(timelines[method], "calls") for method in METHODS},
                "chain": {method: _by_episode(timelines[method], "chain") for method in METHODS},
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
            for trend in trends
        ],
    }
    lines = (f"{trend.number}  {trend.claim}: {trend.ours.word} ({trend.ours.text})" for trend in trends)
    return Reproduction(page, drawn, numbers, tuple(lines))


def _by_episode(timelines: Sequence[Sequence[Timeline]], name: str) -> list[list[Any]]:
    return [[getattr(episode, name) for episode in episodes] for episodes in timelines]


# ---- logs


def _read(folder: RunFolder, experiment: ExperimentSpec, method: str) -> list[list[Timeline]]:
    return [
        [timeline(read_log(folder.log(RunCell(method, seed), episode + 1))) for episode in range(experiment.episodes)]
        for seed in experiment.seeds
    ]


def timeline(log: Iterable[Event]) -> Timeline:
    """Read one finished log.

    Raises:
        ValueError: The log has no start.
    """
    start: EpisodeStart | None = None
    done: dict[str, int | None] = {}
    calls_before: dict[str, int | None] = {}
    commitments: dict[str, list[tuple[str, int, int]]] = {}
    committed: dict[str, tuple[str, int]] = {}
    decision: list[Event] = []
    new: list[str] = []
    calls = chain = 0
    for event in log:
        match event:
            case EpisodeStart():
                start = event
                done = {goal.id: None for goal in event.goals}
                calls_before = dict(done)
                commitments = {agent: [] for agent in event.team}
            case QuestionAsked():
                calls += count_calls(event)
                decision.append(event)
            case MessageSent():
                decision.append(event)
            case Commit():
                committed[event.agent] = (event.goal, event.step)
            case Release() if event.agent in committed:
                commitments[event.agent].append((*committed.pop(event.agent), event.step))
            case GoalChange(event="done"):
                new.append(event.goal)
            case StepDone():
                chain += longest_chain(decision)
                decision.clear()
                done |= dict.fromkeys(new, event.step + 1)
                calls_before |= dict.fromkeys(new, chain)
                new.clear()
            case _:
                pass
    if start is None:
        raise ValueError("the log has no start")
    number = {goal.id: place for place, goal in enumerate(start.goals)}
    strips = tuple(
        tuple(Strip(number[goal], begin, end) for goal, begin, end in stretches if end > begin)
        for stretches in commitments.values()
    )
    return Timeline(done, calls_before, strips, calls, chain + longest_chain(decision))


def count_calls(question: QuestionAsked) -> int:
    """Return the calls that a question took: one, and one for each retry.

    A question that ended in its fallback took as many calls as it had errors.
    """
    return len(question.errors) + (not question.fallback)


def longest_chain(decision: Sequence[Event]) -> int:
    """Return the number of calls in the longest dependent chain of the questions of one decision.

    A question whose answer is spoken in a room (its asker's next event is a message in a room) is a turn of the
    protocol: it waits for everything before it, and everything after it waits for it. All other questions are answered
    alone: those of one agent follow one another, those of different agents run at the same time.

    Args:
        decision: The events of one decision, in order; other kinds are passed over.
    """
    total = 0
    alone: dict[str, int] = {}
    for index, event in enumerate(decision):
        if not isinstance(event, QuestionAsked):
            continue
        if _is_spoken(event.agent, decision[index + 1 :]):
            total += max(alone.values(), default=0) + count_calls(event)
            alone.clear()
        else:
            alone[event.agent] = alone.get(event.agent, 0) + count_calls(event)
    return total + max(alone.values(), default=0)


def _is_spoken(agent: str, rest: Sequence[Event]) -> bool:
    own = (event for event in rest if isinstance(event, (QuestionAsked, MessageSent)) and event.agent == agent)
    event = next(own, None)
    return isinstance(event, MessageSent) and event.room is not None


def runs_of(timelines: Sequence[Sequence[Timeline]], clock: Clock) -> Runs:
    """Return the arrays of the episodes of each seed.

    Seconds are simulated: calls of the dependent chain and steps of the environment, each at its assumed time.

    Args:
        timelines: By seed, the episodes in order; all of one level.
        clock: The assumed times.
    """

    def array(field: Callable[[Timeline], dict[str, int | None]]) -> Floats:
        values = [
            [[np.inf if count is None else count for count in field(episode).values()] for episode in episodes]
            for episodes in timelines
        ]
        return np.array(values, np.float64).transpose(0, 2, 1)

    steps, chain = array(lambda episode: episode.done), array(lambda episode: episode.calls_before)
    completed = np.isfinite(steps)
    seconds = np.full_like(steps, np.inf)
    seconds[completed] = chain[completed] * clock.call + steps[completed] * clock.step
    return Runs(completed, steps, seconds)


# ---- figures and tables


def _draw(
    target: Path,
    folder: RunFolder,
    seeds: str,
    clock: Clock,
    paper: Published,
    episodes: Sequence[Timeline],
    ours: RunsByMethod,
) -> tuple[Path, ...]:
    """Draw everything; ``episodes`` are those of the first seed."""
    target.mkdir(parents=True, exist_ok=True)
    experiment = folder.experiment()
    seed, limit = experiment.seeds[0], experiment.max_steps
    short = "rules" if experiment.reasoner.startswith("rules") else experiment.reasoner
    steps, seconds = (
        tuple({method: getattr(runs, name) for method, runs in by_method.items()} for by_method in (paper.runs, ours))
        for name in ("steps", "seconds")
    )
    finite = [values[np.isfinite(values)] for by_method in seconds for values in by_method.values()]
    top = float(np.ceil(max(values.max(initial=1.0) for values in finite) / 10) * 10)
    ends = [max((limit if step is None else step for step in e.done.values()), default=limit) for e in episodes]
    with MemoryStore(folder.memory_file, readonly=True) as memory:
        deltas = memory.deltas(RunCell("drwell", seed).name)
    title = f"World model of DR. WELL, seed {seed}; {describe_reasoner(experiment)}"
    draw_stages(deltas, target / "world_model.svg", title=title)
    step_titles = ("published, LLM", f"ours, {short}, {seeds}")
    second_titles = ("published, LLM, wall clock", f"ours, {short}, simulated at {clock.call:g} s a call")
    strip_titles = ("DR. WELL: published, LLM", f"DR. WELL: ours, seed {seed}, {short}")
    strips = tuple(episode.strips for episode in episodes)
    return (
        figures.completion(paper.runs, ours, seed, short, target / "c1_completion"),
        figures.bars(steps, step_titles, "steps at completion", limit, target / "c2_steps"),
        figures.bars(seconds, second_titles, "seconds at completion", top, target / "c3_seconds"),
        figures.strips(paper.commitments, strips, ends, strip_titles, limit, target / "c4_commitments"),
        draw_stages(deltas, target / "world_model.png", title=title),
    )


def _mean_calls(method: str, timelines: Sequence[Sequence[Timeline]]) -> tuple[str, str, str]:
    episodes = [episode for by_seed in timelines for episode in by_seed]
    calls, chain = (sum(getattr(episode, name) for episode in episodes) / len(episodes) for name in ("calls", "chain"))
    return figures.LABELS[method], f"{calls:.1f}", f"{chain:.1f}"


def _value_rows(
    paper: RunsByMethod, ours: RunsByMethod, field: Callable[[Runs], Floats], digits: int
) -> list[list[str]]:
    """Return rows of published values over ours, the median with quartiles."""
    columns = max(field(runs).shape[2] for runs in (*paper.values(), *ours.values()))
    rows = []
    for method in METHODS:
        for block in range(field(paper[method]).shape[1]):
            for name, runs in (("published", paper), ("ours", ours)):
                low, middle, high = (part[block] for part in figures.quartiles(field(runs[method])))
                cells = [_cell(*values, digits) for values in zip(low, middle, high, strict=True)]
                label = f"{figures.LABELS[method]}, block {block}, {name}"
                rows.append([label, *cells, *[""] * (columns - len(cells))])
    return rows


def _cell(low: float, middle: float, high: float, digits: int) -> str:
    texts = ["∞" if np.isinf(value) else f"{value:.{digits}f}" for value in (low, middle, high)]
    return texts[1] if texts[0] == texts[2] else f"{texts[1]} ({texts[0]}–{texts[2]})"
