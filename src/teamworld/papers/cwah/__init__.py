"""``teamworld reproduce cwah``: steps and messages on the ten episodes of C-WAH beside the published, or on our own."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from teamworld.errors import UserError
from teamworld.experiment import episode_metrics, process_pool
from teamworld.experiment.folder import RunFolder
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.papers import FIRST_SEED, Job, PaperOptions, Progress
from teamworld.papers.claims import Check
from teamworld.papers.cwah.teams import (
    EpisodesByRow,
    Strata,
    TeamEpisode,
    TeamMeans,
    TeamRow,
    by_level,
    checks,
    choose_rows,
    difference,
    horizon,
    mean,
    mean_steps,
    mean_steps_by_task,
    official_tasks,
    one_stratum,
    saved,
    team_episode,
)
from teamworld.papers.page import NOTHING, Reproduction, check_folder, data, plain, seeds_text, write
from teamworld.reasoning import registry as reasoners
from teamworld.reasoning.human import HUMAN, Terminal
from teamworld.report.dot_plot import DotAxis, DotLine, PublishedMark, draw_dots
from teamworld.report.figure_style import COLOURS
from teamworld.report.statistics import Interval, Paired
from teamworld.worlds.household.levels import SPLITS

#: Episodes of our own: to tune on, or to report.
Split: TypeAlias = Literal["dev", "test"]
#: Seeds of a run folder: a larger number of generated episodes goes on with what is there.
_SEEDS_PER_FOLDER: Final = 10
#: Folders from which processes of their own are worth their start.
_MIN_PARALLEL: Final = 8
#: What decides in a row of ours that is no language model.
_DECIDERS: Final = {
    "planner": "a planner, no LLM",
    "script": "a script, no LLM",
    "inference": "exact inference, no LLM",
}
#: Marks of published values, by the beginning of their source.
_MARKS: Final = {
    "planner": PublishedMark("published: a planner", "s", COLOURS[2]),
    "GPT": PublishedMark("published: GPT-4, GPT-4o", "D", COLOURS[5]),
    "Qwen": PublishedMark("published: Qwen3-32B", "^", COLOURS[1]),
}


class Generated(NamedTuple):
    """Episodes of our own, each of another seed."""

    split: Split
    seeds: range


class CwahPlan(NamedTuple):
    """What to run."""

    data: Path | None = None
    """Folder, or pickle, of the official test set; None with generated episodes."""
    seeds: int = 5
    """On each official episode."""
    rows: tuple[TeamRow, ...] = choose_rows(None)
    generated: Generated | None = None
    """Episodes of our own in place of the official ones."""
    reasoner: str = "rules"
    cap: int | None = None
    """Most messages of an agent in an episode, for all that are compared; None: no bound."""
    terminal: Terminal | None = None
    """Where a person answers who is part of a team."""

    @property
    def available(self) -> tuple[TeamRow, ...]:
        """The rows that are run: the other methods are not in this version."""
        return tuple(row for row in self.rows if row.is_available)

    @property
    def size(self) -> int:
        """Episodes in all."""
        return len(self.available) * sum(len(seeds) for _, seeds in self.places())

    def places(self) -> list[tuple[str, range]]:
        """Return the levels with their seeds, as run folders hold them."""
        if self.generated is None:
            seeds = range(FIRST_SEED, FIRST_SEED + self.seeds)
            return [(f"official-{number}", seeds) for number in official_tasks()]
        split, seeds = self.generated
        begins = [seed for seed in seeds if seed == seeds.start or seed % _SEEDS_PER_FOLDER == 0]
        return [(split, range(a, b)) for a, b in zip(begins, [*begins[1:], seeds.stop], strict=True)]

    @property
    def seeds_in_words(self) -> str:
        """The seeds in words."""
        if self.generated is None:
            return seeds_text(range(FIRST_SEED, FIRST_SEED + self.seeds))
        seeds = self.generated.seeds
        return f"{len(seeds)} episodes of {self.generated.split}, {seeds[0]} to {seeds[-1]}"


class RowRun(NamedTuple):
    """A row on one level with some seeds: one run folder."""

    row: TeamRow
    path: Path
    experiment: ExperimentSpec


class CwahResult(NamedTuple):
    """Everything that the page shows."""

    seeds: str
    """Which were run, in words."""
    rows: Sequence[TeamRow]
    episodes: EpisodesByRow
    """By the key of their row; rows that are not available have none."""
    split: str | None
    """Of generated episodes; None of the official ones."""
    reasoner: str
    """In words."""
    cap: int | None

    @property
    def strata(self) -> Strata:
        """Which episodes belong together."""
        return by_level if self.split is None else one_stratum

    @property
    def checks(self) -> list[Check]:
        """What the episodes show."""
        return checks(self.episodes, self.strata, official=self.split is None)

    @property
    def shown(self) -> list[TeamRow]:
        """The rows that were run."""
        return [row for row in self.rows if self.of(row)]

    def of(self, row: TeamRow) -> Sequence[TeamEpisode]:
        """Return the episodes of a row."""
        return self.episodes.get(row.key, ())

    def find(self, label: str, agents: int) -> TeamRow | None:
        """Return a row that was run."""
        return next((row for row in self.shown if (row.method, row.agents) == (label, agents)), None)

    def others(self, row: TeamRow) -> dict[str, TeamRow]:
        """Return the rows that a row is compared with, by what the table calls them."""
        others = {"MHP x2": self.find("mhp", 2), "CoELA": self.find("coela:cwah", 2)}
        others["full"] = None if row.full is None else self.find(row.full, row.agents) or self.find(row.full, 2)
        return {name: other for name, other in others.items() if other is not None and other != row and self.of(row)}

    def saved(self, row: TeamRow) -> float | None:
        """Return what a team saves against one planner; None of that one, or where it was not run."""
        single = self.find("mhp", 1)
        return None if single is None or single == row else saved(self.of(row), self.of(single))

    def difference(self, row: TeamRow, other: TeamRow | None, value: str) -> Paired | None:
        """Return the paired difference of two rows; None where there is none."""
        return None if other is None else difference(self.of(row), self.of(other), self.strata, value)

    def decider(self, row: TeamRow) -> str:
        """Return what decides, in words; what is no language model is called none."""
        if not row.asks:
            return _DECIDERS[row.by]
        if not any(episode.questions for episode in self.of(row)):
            return "nobody asked, no LLM"
        others = (_DECIDERS[part].removesuffix(", no LLM") for part in row.by.split(" and ")[1:])
        return "; ".join([*others, self.reasoner])

    def short_decider(self, row: TeamRow) -> str:
        """Return the same in a word or two."""
        if not self.of(row):
            return NOTHING
        reasoner = "rules" if self.reasoner.startswith("built-in rules") else self.reasoner
        words = {"inference": "exact", "reasoners": reasoner}
        return " + ".join(words.get(part, part) for part in reversed(row.by.split(" and ")))

    def asks_model(self, row: TeamRow) -> bool:
        """Return whether a language model answers in a row of ours."""
        return row.asks and any(episode.total_tokens is not None for episode in self.of(row))


# ---- plans and runs


def job(options: PaperOptions, out: Path, command: str, terminal: Terminal | None) -> Job:
    """Return the reproduction that the options ask for.

    Raises:
        UserError: The options do not fit together, or name what there is not.
    """
    generated = None if options.episodes is None else parse_episodes(options.episodes)
    if generated is None and options.data is None:
        raise UserError(
            "reproduce cwah needs --data PATH, the folder of the C-WAH test set, which this package has not; "
            "--episodes dev:50 plays episodes of our own"
        )
    if generated is not None:
        for name, value in {"--data": options.data, "--seeds": options.seeds, "--quick": options.quick}.items():
            if value:
                raise UserError(
                    f"{name} belongs to the official episodes: leave it out with --episodes {options.episodes}"
                )
    if options.data is not None and not options.data.exists():
        raise UserError(f"--data {options.data}: there is no such folder or file")
    if options.cap is not None and options.cap < 1:
        raise UserError(f"--cap is a number of messages from 1 on, got {options.cap}")
    plan = CwahPlan(
        data=None if options.data is None else options.data.resolve(),
        seeds=options.seeds or (1 if options.quick else CwahPlan().seeds),
        rows=choose_rows(options.method),
        generated=generated,
        reasoner=options.reasoner or "rules",
        cap=options.cap,
        terminal=terminal,
    )
    return Job(partial(reproduce, out, plan, command), plan.size)


def parse_episodes(text: str) -> Generated | None:
    """Return which episodes ``--episodes`` names: None for the official ones, else ``SPLIT:NUMBER`` or a range.

    The split has to be named, so that nobody looks at episodes of ``test`` by accident.

    Raises:
        UserError: It is none of these.
    """
    if text == "official":
        return None
    match = re.fullmatch(r"(\w+):(?:([0-9]{1,6})-)?([0-9]{1,6})", text)
    split = next((name for name in get_args(Split) if match is not None and match[1] == name), None)
    if match is None or split is None:
        raise UserError(
            f"--episodes is official, dev:NUMBER or test:NUMBER (dev to tune on, test to report), or a range such as "
            f"dev:100-149; got '{text}'"
        )
    first, last = (int(match[2]), int(match[3])) if match[2] else (0, int(match[3]) - 1)
    count = len(SPLITS[split])
    if not first <= last < count:
        raise UserError(f"--episodes {text}: {split} has episodes 0 to {count - 1}; expected one of them or more")
    return Generated(split, range(first, last + 1))


def reproduce(out: Path, plan: CwahPlan, command: str, progress: Progress = lambda text: None) -> Reproduction:
    """Run every row in ``runs``, each in a folder of its own; write figure and page."""
    check_folder(out, "runs", "cwah")
    runs = [row_run for row in plan.available for row_run in _runs(out, plan, row)]
    if not runs:
        raise UserError(f"nothing to run: {', '.join(row.name for row in plan.rows)} is not in this version")
    _check(runs)
    episodes: dict[str, list[TeamEpisode]] = {row.key: [] for row in plan.available}
    for row_run, results in _run_all(runs, plan):
        episodes[row_run.row.key] += results
        for episode in results:
            progress(f"{row_run.row.name}, {episode.level}, seed {episode.seed}")
    result = CwahResult(
        seeds=plan.seeds_in_words,
        rows=plan.rows,
        episodes={key: sorted(own, key=_place) for key, own in episodes.items()},
        split=None if plan.generated is None else plan.generated.split,
        reasoner=reasoners.describe(plan.reasoner),
        cap=plan.cap,
    )
    drawn = draw(out / "figures", result) if importlib.util.find_spec("matplotlib") else None
    page = _write(out, command, result, drawn)
    return Reproduction(page, () if drawn is None else (drawn,), _numbers(result), _lines(result))


def _place(episode: TeamEpisode) -> tuple[int, int]:
    """Return where an episode comes: in the papers' order, then by seed."""
    number = episode.level.partition("official-")[2]
    return (list(official_tasks()).index(int(number)) if number else 0, episode.seed)


def _runs(out: Path, plan: CwahPlan, row: TeamRow) -> list[RowRun]:
    # Runs of a row that asks nobody are the same whatever the reasoner.
    reasoner = plan.reasoner if row.asks else "rules"
    world: dict[str, Any] = {"agents": row.agents}
    if plan.data is not None:
        world["data"] = str(plan.data)
    fields: dict[str, Any] = {
        "world": "household",
        "methods": [row.method],
        "reasoner": reasoner,
        "max_steps": horizon(),
        "options": {"household": world, **row.options()},
    }
    if plan.cap is not None:
        # Without a cap each method talks by its own rule; with one, all by the same.
        fields["options"]["messages"] = {"ticks": 1, "paid_by": "speaker", "most": plan.cap}
        fields["talk"] = "equal"
    return [
        RowRun(
            row,
            out / "runs" / row.key / f"{level}-s{seeds[0]}-{seeds[-1]}",
            build({**fields, "level": level, "seeds": list(seeds)}),
        )
        for level, seeds in plan.places()
    ]


def _check(runs: Sequence[RowRun]) -> None:
    """Check that everything can be run, before anything is written.

    Raises:
        UserError: Something cannot: a level has no data, or a folder holds another run.
    """
    first_of_row = {row_run.row.key: row_run for row_run in reversed(runs)}
    first_of_level = {row_run.experiment.level: row_run for row_run in reversed(runs)}
    tried = {row_run.path: row_run for row_run in (*first_of_row.values(), *first_of_level.values())}
    for row_run in tried.values():
        RunFolder(row_run.path).check(row_run.experiment.resolved())


def _run_all(runs: Sequence[RowRun], plan: CwahPlan) -> Iterator[tuple[RowRun, list[TeamEpisode]]]:
    """Yield each run with its episodes, as they end; in processes where nobody has to be waited for."""
    waits = bool(reasoners.list_models(plan.reasoner)) or HUMAN in plan.reasoner
    processes = 1 if waits else process_pool.many(len(runs), _MIN_PARALLEL, None)
    if processes < 2:
        yield from (run_row(row_run, plan.terminal) for row_run in runs)
    else:
        yield from process_pool.as_done(run_row, runs, processes)


def run_row(row_run: RowRun, terminal: Terminal | None = None) -> tuple[RowRun, list[TeamEpisode]]:
    """Run a row on a level, or go on with it, and measure its episodes."""
    run(row_run.experiment, row_run.path, running=RunOptions(processes=1), watch=RunMonitor(terminal=terminal))
    folder = RunFolder(row_run.path)
    experiment = folder.experiment()
    return row_run, [
        team_episode(experiment.level, measured)
        for cell in experiment.cells()
        for measured in episode_metrics.of_cell(folder, cell)
    ]


# ---- published values


def published(row: TeamRow) -> dict[str, float]:
    """Return the published mean steps of such a team with symbolic observation, by model and source."""
    values, steps = data("cwah", "published"), {}
    for name in row.table:
        column = values["table"]["columns"][name]
        steps[f"{column['mind'] or 'planner'}, CoBel-World paper"] = column["mean"][0]
    if row.ablation is not None:
        steps["GPT-4o, CoBel-World paper's ablation"] = values["ablations"]["steps"][row.ablation]
    if row.earlier is not None:
        earlier = values["earlier"]["rows"][row.earlier]
        steps[f"{earlier['mind'] or 'planner'}, CoELA paper"] = earlier["symbolic"]
    return steps


def _published_cells(row: TeamRow) -> list[str]:
    """Return what was published of such a team: main table, ablations, CoELA paper."""
    values = data("cwah", "published")
    texts = []
    for column in (values["table"]["columns"][name] for name in row.table):
        tokens = f", {column['tokens'][0]:,} message tokens" if "tokens" in column else ""
        texts.append(f"{column['mean'][0]} ({column['mind'] or 'planner'}{tokens})")
    ablation, earlier = NOTHING, NOTHING
    if row.ablation is not None:
        ablation = f"{values['ablations']['steps'][row.ablation]} (GPT-4o)"
    if row.earlier is not None:
        team = values["earlier"]["rows"][row.earlier]
        share = f", saves {100 * team['saved'][0]:.0f} %" if "saved" in team else ""
        earlier = f"{team['symbolic']} ({team['mind'] or 'planner'}{share})"
    return ["; ".join(texts) or NOTHING, ablation, earlier]


# ---- figure and page


def draw(target: Path, result: CwahResult) -> Path:
    """Draw the average steps of each team."""
    lines = []
    for row in result.shown:
        values = {} if result.split else published(row)
        marks = [(next(mark for name, mark in _MARKS.items() if source.startswith(name)), value)
                 for source, value in values.items()]  # fmt: skip
        lines.append(DotLine(row.name, {"": mean(result.of(row), result.strata).steps}, {"": marks}))
    target.mkdir(parents=True, exist_ok=True)
    return draw_dots(lines, {"": ""}, DotAxis("average steps of an episode"), "ours, 95 % interval", target / "steps")


def _write(out: Path, command: str, result: CwahResult, figure: Path | None) -> Path:
    columns, rows = teams(result)
    return write(
        "cwah",
        out,
        command,
        result=result,
        official=result.split is None,
        has_several_seeds=any(len({episode.seed for episode in own}) > 1 for own in result.episodes.values()),
        team_columns=columns,
        team_rows=rows,
        horizon=horizon(),
        has_figure=figure is not None,
        official_tasks=official_tasks(),
        task_steps=lambda row: mean_steps_by_task(result.of(row), _level_tasks()),
        episode_steps=lambda row: mean_steps(result.of(row)),
        mean_of=lambda row: mean(result.of(row), result.strata).steps.mean,
        difference_rows=_difference_rows(result),
        published=data("cwah", "published"),
    )


def teams(result: CwahResult) -> tuple[list[str], list[list[str]]]:
    """Return columns and lines of the table of teams."""
    columns = ["team", "decided by", "steps", "failed", "messages", "message tokens", "total tokens", "saved"]
    columns += [] if result.split else ["published: CoBel-World paper", "its ablations", "CoELA paper"]
    return columns, [_team(result, row) for row in result.rows]


def _team(result: CwahResult, row: TeamRow) -> list[str]:
    theirs = [] if result.split else _published_cells(row)
    if not result.of(row):
        return [row.name, "not there yet", *[NOTHING] * 6, *theirs]
    means, share = mean(result.of(row), result.strata), result.saved(row)
    return [
        row.name,
        result.decider(row),
        _interval(means.steps),
        f"{means.failures} of {means.runs}",
        _interval(means.messages),
        _tokens(means),
        NOTHING if means.total_tokens is None else f"{means.total_tokens.mean:,.0f}",
        NOTHING if share is None else f"{100 * share:.0f} %",
        *theirs,
    ]


def _tokens(means: TeamMeans) -> str:
    sent = f"{means.message_tokens.mean:.0f}"
    return sent if means.written_tokens is None else f"{means.written_tokens.mean:.0f} written, {sent} sent"


def _interval(interval: Interval) -> str:
    bounds = f" [{interval.low:.1f}, {interval.high:.1f}]" if interval.n > 1 else ""
    return f"{interval.mean:.1f}{bounds}"


def _level_tasks() -> dict[str, str]:
    return {f"official-{number}": task for number, task in official_tasks().items()}


def _difference_rows(result: CwahResult) -> list[list[str]]:
    wanted = (("MHP x2", "steps"), ("CoELA", "steps"), ("CoELA", "messages"), ("full", "steps"), ("full", "messages"))
    rows = []
    for row in result.shown:
        others = result.others(row)
        cells = [_paired(result.difference(row, others.get(name), value)) for name, value in wanted]
        rows.append([row.name, *cells, others["full"].name if "full" in others else NOTHING])
    return rows


def _paired(result: Paired | None) -> str:
    if result is None:
        return NOTHING
    bounds = f" [{result.low:+.1f}, {result.high:+.1f}], p {result.p:.2g}" if result.n > 1 else ""
    return f"{result.difference:+.1f}{bounds}"


# ---- terminal and numbers

_ALWAYS_SHOWN: Final = ("team", "decided by", "steps", "failed", "messages", "message tokens")
_SHORT: Final = {"decided by": "by", "published: CoBel-World paper": "published", "message tokens": "tokens"}


def _lines(result: CwahResult) -> tuple[str, ...]:
    """Return the table of teams and the checks for a terminal."""
    columns, rows = teams(result)
    used = [at for at, name in enumerate(columns) if name in _ALWAYS_SHOWN or any(row[at] != NOTHING for row in rows)]
    cells = [[line[at] for at in used] for line in ([_SHORT.get(name, name) for name in columns], *rows)]
    for line, row in zip(cells[1:], result.rows, strict=True):
        line[1] = result.short_decider(row)
    widths = [max(len(line[at]) for line in cells) for at in range(len(used))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    verdicts = [check.line for check in result.checks]
    episodes = "ten official episodes" if result.split is None else "generated episodes"
    head = (
        f"C-WAH, {episodes}, {result.seeds}. Reasoners: {result.reasoner}. Planner, script, exact inference and rules "
        "are no LLM."
    )
    return (head, "", *table, *[""] * bool(verdicts), *verdicts)


def _numbers(result: CwahResult) -> dict[str, Any]:
    values = data("cwah", "published")
    spent = {name: {**row, "total": row["prompt"] + row["completion"]} for name, row in values["spent"]["rows"].items()}
    return {
        "paper": "cwah",
        "episodes": "official" if result.split is None else result.split,
        "seeds": result.seeds,
        "mind": result.reasoner,
        "cap": result.cap,
        "rows": [_row_numbers(result, row) for row in result.rows],
        "checks": [check.to_json() for check in result.checks],
        "published": {
            "table": {
                "source": values["table"]["source"],
                "tasks": values["tasks"],
                "columns": {name: {"tokens": None, **team} for name, team in values["table"]["columns"].items()},
            },
            "earlier": {
                "source": values["earlier"]["source"],
                "rows": {name: {"saved": None, **team} for name, team in values["earlier"]["rows"].items()},
            },
            "ablations": plain(values["ablations"]),
            "spent": {"source": values["spent"]["source"], "rows": spent},
        },
    }


def _row_numbers(result: CwahResult, row: TeamRow) -> dict[str, Any]:
    own, official = result.of(row), result.split is None
    team = {"method": row.method, "agents": row.agents, "name": row.name, "published": published(row)}
    if not own:
        return {**team, "decided_by": None, "llm": None, "steps": None, "runs": 0}
    means = mean(own, result.strata)
    tokens = {"written_tokens": means.written_tokens, "total_tokens": means.total_tokens}
    return {
        **team,
        "decided_by": result.decider(row),
        "llm": result.asks_model(row),
        "steps": means.steps.mean,
        "steps_interval": [means.steps.low, means.steps.high],
        "runs": means.runs,
        "failures": means.failures,
        "messages": means.messages.mean,
        "messages_interval": [means.messages.low, means.messages.high],
        "message_tokens": means.message_tokens.mean,
        **{name: None if interval is None else interval.mean for name, interval in tokens.items()},
        "questions": means.questions,
        "fallbacks": means.fallbacks,
        "saved": result.saved(row),
        "tasks": mean_steps_by_task(own, _level_tasks()) if official else None,
        "by_episode": mean_steps(own) if official else None,
        "episodes": plain(list(own)),
        "differences": {
            name: {
                "to": other.method,
                "agents": other.agents,
                "steps": plain(result.difference(row, other, "steps")),
                "messages": plain(result.difference(row, other, "messages")),
            }
            for name, other in result.others(row).items()
        },
    }
