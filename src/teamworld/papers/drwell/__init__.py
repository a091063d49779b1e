"""``teamworld reproduce drwell``: the figures of the DR. WELL paper from our runs, beside the published values.

Set-up of the paper: the published layout for two agents, ten episodes in a row, 150 steps an episode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec
import numpy as np

from teamworld.errors import UserError
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.drawing import draw_stages
from teamworld.memory.store import MemoryStore
from teamworld.papers import PaperName, PaperOptions, Progress
from teamworld.papers.drwell import figures
from teamworld.papers.drwell.claims import METHODS, Floats, Runs, RunsByMethod, judge, number_text, published_runs
from teamworld.papers.drwell.figures import Commitments, Strip
from teamworld.papers.reproduction import PaperPlan, Reproduction, load_yaml
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
from teamworld.report.tables import describe_reasoner

LEVEL, MAX_STEPS = "paper-n2", 150


@dataclass(frozen=True, kw_only=True)
class DrWellPlan(PaperPlan):
    """What to run and to assume."""

    paper: ClassVar[PaperName] = "drwell"
    run_folder = "run"

    seeds: int = 10
    episodes: int = 10
    reasoner: str = "rules"
    latency: float
    """Assumed seconds of a call."""
    step_time: float
    """Assumed seconds of a step."""

    @property
    def size(self) -> int:
        """Episodes in all."""
        return len(METHODS) * self.seeds * self.episodes

    def runs(self, out: Path) -> list[tuple[Path, ExperimentSpec]]:
        """Return the one run."""
        fields = {
            "level": LEVEL,
            "methods": METHODS,
            "reasoner": self.reasoner,
            "episodes": self.episodes,
            "seeds": self.seed_range,
            "max_steps": MAX_STEPS,
        }
        return [(out / "run", build(fields))]

    def run(self, out: Path, progress: Progress) -> Reproduction:
        """Run both methods in the folder ``run``."""
        ((path, asked),) = self.runs(out)
        folder = RunFolder(path)
        run(asked, folder.path, lambda row: progress(f"{row.method}, seed {row.seed}"))
        experiment = folder.experiment()
        timelines = {method: _read(folder, experiment, method) for method in METHODS}
        runs = {method: runs_of(episodes, self.latency, self.step_time) for method, episodes in timelines.items()}
        trends = judge(runs)
        first, last = self.seed_range[0], self.seed_range[-1]
        seeds = f"{self.seeds} seeds ({first}–{last})" if last > first else f"seed {first}"
        reasoner = describe_reasoner(experiment)
        steps, seconds = (_value_rows(runs, name, digits) for name, digits in (("steps", 0), ("seconds", 1)))
        calls, chain = (
            {
                method: [[getattr(episode, name) for episode in episodes] for episodes in timelines[method]]
                for method in METHODS
            }
            for name in ("calls", "chain")
        )
        page = {
            "reasoner": reasoner,
            "experiment": experiment,
            "seeds": seeds,
            "trends": trends,
            "copies": [figures.LABELS[method] for method in METHODS if runs[method].are_alike()],
            "columns": ["", *map(str, range(1, len(steps[0])))],
            "steps": steps,
            "seconds": seconds,
            "labels": figures.LABELS,
            "mean_calls": {
                method: {"calls": np.mean(calls[method]), "chain": np.mean(chain[method])} for method in METHODS
            },
        }
        numbers = {
            "level": LEVEL,
            "reasoner": experiment.reasoner,
            "mind": reasoner,
            "seeds": experiment.seeds,
            "episodes": experiment.episodes,
            "max_steps": MAX_STEPS,
            "assumed": {"latency_s": self.latency, "step_s": self.step_time},
            "published": {"runs": published_runs(), "commitments": published_commitments()},
            "ours": {
                "runs": runs,
                "commitments": [[episode.strips for episode in episodes] for episodes in timelines["drwell"]],
                "calls": calls,
                "chain": chain,
            },
            "trends": [
                {
                    **trend._asdict(),
                    "paper": {"verdict": trend.paper.word, "text": trend.paper.text},
                    "ours": {"verdict": trend.ours.word, "text": trend.ours.text, "by_seed": trend.ours.holds},
                }
                for trend in trends
            ],
        }
        drawn = _draw(out / "figures", folder, self, seeds, timelines["drwell"][0], runs)
        lines = [f"{trend.number}  {trend.claim}: {trend.ours.word} ({trend.ours.text})" for trend in trends]
        return Reproduction(drawn, page, numbers, lines)


def plan(options: PaperOptions, terminal: Terminal | None) -> DrWellPlan:
    """Return what the options ask for; ``quick`` has two episodes beyond the exploratory ones.

    The default times are those of the CUBE paper: latency of gpt-4o, seconds of the heuristic over its steps.

    Raises:
        UserError: A time is out of its range.
    """
    for name, value in (("--latency", options.latency), ("--step-time", options.step_time)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UserError(f"{name} is a time in seconds, 0 or more; got {value}")
    paper = load_yaml("cube", "published")["baselines"]
    seconds, steps = (paper["measures"][name]["heuristic"][paper["sizes"].index(2)][0] for name in ("seconds", "steps"))
    usual = DrWellPlan(latency=paper["latency"]["gpt-4o"], step_time=seconds / steps)
    if options.quick:
        usual = replace(usual, seeds=2, episodes=6)
    chosen = {name: getattr(options, name) for name in ("seeds", "reasoner", "latency", "step_time")}
    return replace(usual, **{name: value for name, value in chosen.items() if value is not None})


def published_commitments() -> Commitments:
    """Return what the paper's agents were committed to, method DR. WELL."""
    return msgspec.convert(load_yaml("drwell", "published")["commitments"]["episodes"], Commitments)


# ---- logs


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


def runs_of(timelines: Sequence[Sequence[Timeline]], latency: float, step_time: float) -> Runs:
    """Return the arrays of the episodes of each seed.

    Seconds are simulated: calls of the dependent chain and steps of the environment, each at its assumed time.
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
    seconds[completed] = chain[completed] * latency + steps[completed] * step_time
    return Runs(completed, steps, seconds)


# ---- figures and tables


def _draw(
    target: Path, folder: RunFolder, plan: DrWellPlan, seeds: str, episodes: Sequence[Timeline], ours: RunsByMethod
) -> tuple[Path, ...]:
    """Draw everything; ``episodes`` are those of the first seed."""
    target.mkdir(parents=True, exist_ok=True)
    experiment, paper = folder.experiment(), published_runs()
    seed = experiment.seeds[0]
    short = "rules" if experiment.reasoner.startswith("rules") else experiment.reasoner
    seconds = np.concatenate([np.ravel(runs.seconds) for runs in (*paper.values(), *ours.values())])
    top = float(np.ceil(max(1.0, seconds[np.isfinite(seconds)].max()) / 10) * 10)
    ends = [max(MAX_STEPS if step is None else step for step in episode.done.values()) for episode in episodes]
    with MemoryStore(folder.memory_file, readonly=True) as memory:
        deltas = memory.deltas(RunCell("drwell", seed).name)
    world_model = f"World model of DR. WELL, seed {seed}; {describe_reasoner(experiment)}"
    draw_stages(deltas, target / "world_model.svg", title=world_model)
    step_titles = ("published, LLM", f"ours, {short}, {seeds}")
    second_titles = ("published, LLM, wall clock", f"ours, {short}, simulated at {plan.latency:g} s a call")
    strip_titles = ("DR. WELL: published, LLM", f"DR. WELL: ours, seed {seed}, {short}")
    commitments = (published_commitments(), tuple(episode.strips for episode in episodes))
    return (
        figures.completion(paper, ours, seed, short, target / "c1_completion"),
        figures.bars((paper, ours), "steps", step_titles, MAX_STEPS, target / "c2_steps"),
        figures.bars((paper, ours), "seconds", second_titles, top, target / "c3_seconds"),
        figures.strips(*commitments, ends, strip_titles, MAX_STEPS, target / "c4_commitments"),
        draw_stages(deltas, target / "world_model.png", title=world_model),
    )


def _value_rows(ours: RunsByMethod, name: str, digits: int) -> list[list[str]]:
    """Return rows of published steps or seconds over ours, the median with quartiles."""
    rows = []
    paper = published_runs()
    for method in METHODS:
        for block in range(paper[method].steps.shape[1]):
            for label, runs in (("published", paper), ("ours", ours)):
                quartiles = (part[block] for part in figures.quartiles(getattr(runs[method], name)))
                cells = [
                    _cell([number_text(value, digits) for value in values]) for values in zip(*quartiles, strict=True)
                ]
                rows.append([f"{figures.LABELS[method]}, block {block}, {label}", *cells])
    columns = max(map(len, rows))
    return [[*row, *[""] * (columns - len(row))] for row in rows]


def _cell(quartiles: Sequence[str]) -> str:
    low, middle, high = quartiles
    return middle if low == high else f"{middle} ({low}–{high})"
