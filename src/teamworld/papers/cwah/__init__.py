"""``teamworld reproduce cwah``: steps and messages on the ten episodes of C-WAH beside the published, or on our own."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, get_args

from teamworld.errors import UserError
from teamworld.experiment import episode_metrics, process_pool
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.papers import PaperName, PaperOptions, Progress
from teamworld.papers.cwah.teams import (
    Team,
    TeamEpisode,
    TeamRow,
    choose_rows,
    count_tokens,
    horizon,
    judge,
    official_tasks,
    team_episode,
)
from teamworld.papers.reproduction import NOTHING, Check, PaperPlan, Reproduction, load_yaml
from teamworld.reasoning import registry as reasoners
from teamworld.reasoning.human import HUMAN, Terminal
from teamworld.report.dot_plot import DotAxis, DotLine, PublishedMark, draw_dots
from teamworld.report.figure_style import COLOURS
from teamworld.report.statistics import Paired
from teamworld.report.tables import interval_text
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
#: Marks of published values, by the beginning of who decided.
_MARKS: Final = {
    "planner": PublishedMark("published: a planner", "s", COLOURS[2]),
    "GPT": PublishedMark("published: GPT-4, GPT-4o", "D", COLOURS[5]),
    "Qwen": PublishedMark("published: Qwen3-32B", "^", COLOURS[1]),
}
#: Columns of the table of teams by the source of what was published.
_SOURCES: Final = {
    "CoBel-World paper": "published: CoBel-World paper",
    "CoBel-World paper's ablation": "its ablations",
    "CoELA paper": "CoELA paper",
}


class Generated(NamedTuple):
    """Episodes of our own, each of another seed."""

    split: Split
    seeds: range


@dataclass(frozen=True, kw_only=True)
class CwahPlan(PaperPlan):
    """What to run."""

    paper: ClassVar[PaperName] = "cwah"
    extras: ClassVar[Mapping[str, str]] = {}

    data: Path | None = None
    """Folder, or pickle, of the official test set; None with generated episodes."""
    seeds: int = 5
    """On each official episode."""
    rows: tuple[TeamRow, ...] = ()
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
            return [(level, self.seed_range) for level in official_tasks()]
        split, seeds = self.generated
        begins = [seed for seed in seeds if seed == seeds.start or seed % _SEEDS_PER_FOLDER == 0]
        return [(split, range(a, b)) for a, b in zip(begins, [*begins[1:], seeds.stop], strict=True)]

    @property
    def seeds_text(self) -> str:
        """The seeds in words."""
        if self.generated is None:
            return super().seeds_text
        split, seeds = self.generated
        return f"{len(seeds)} episodes of {split}, {seeds[0]} to {seeds[-1]}"

    def runs(self, out: Path) -> list[tuple[Path, ExperimentSpec]]:
        """Return the runs of all rows."""
        return [(row_run.path, row_run.experiment) for row in self.available for row_run in _runs(out, self, row)]

    def run(self, out: Path, progress: Progress) -> Reproduction:
        """Run every row in ``runs``, each on each level in a folder of its own."""
        runs = [row_run for row in self.available for row_run in _runs(out, self, row)]
        if not runs:
            raise UserError(f"nothing to run: {', '.join(row.name for row in self.rows)} is not in this version")
        _check(runs)
        episodes: dict[str, list[TeamEpisode]] = {row.key: [] for row in self.rows}
        for row_run, results in _run_all(runs, self):
            episodes[row_run.row.key] += results
            for episode in results:
                progress(f"{row_run.row.name}, {episode.level}, seed {episode.seed}")
        levels = [level for level, _ in self.places()]
        for own in episodes.values():
            own.sort(key=lambda episode: (levels.index(episode.level), episode.seed))
        result = CwahResult(self, [Team(row, episodes[row.key]) for row in self.rows])
        drawn = (_draw(out / "figures", result),) if importlib.util.find_spec("matplotlib") else ()
        columns, rows = result.table()
        page = {
            "result": result,
            "official": self.generated is None,
            "team_columns": columns,
            "team_rows": rows,
            "horizon": horizon(),
            "has_figure": bool(drawn),
            "official_tasks": official_tasks(),
            "paired_text": _paired_text,
            "published": load_yaml("cwah", "published"),
        }
        return Reproduction(drawn, page, _numbers(result), _lines(result))


def plan(options: PaperOptions, terminal: Terminal | None) -> CwahPlan:
    """Return what the options ask for.

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
    return CwahPlan(
        data=None if options.data is None else options.data.resolve(),
        seeds=options.seeds or (1 if options.quick else CwahPlan.seeds),
        rows=choose_rows(options.method),
        generated=generated,
        reasoner=options.reasoner or "rules",
        cap=options.cap,
        terminal=terminal,
    )


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


# ---- runs


class RowRun(NamedTuple):
    """A row on one level with some seeds: one run folder."""

    row: TeamRow
    path: Path
    experiment: ExperimentSpec


def _runs(out: Path, plan: CwahPlan, row: TeamRow) -> Iterator[RowRun]:
    world: dict[str, Any] = {"agents": row.agents}
    if plan.data is not None:
        world["data"] = str(plan.data)
    fields: dict[str, Any] = {
        "world": "household",
        "methods": [row.method],
        # Runs of a row that asks nobody are the same whatever the reasoner.
        "reasoner": plan.reasoner if row.asks else "rules",
        "max_steps": horizon(),
        "options": {"household": world, **row.options()},
    }
    if plan.cap is not None:
        # Without a cap each method talks by its own rule; with one, all by the same.
        fields["options"]["messages"] = {"ticks": 1, "paid_by": "speaker", "most": plan.cap}
        fields["talk"] = "equal"
    for level, seeds in plan.places():
        path = out / "runs" / row.key / f"{level}-s{seeds[0]}-{seeds[-1]}"
        yield RowRun(row, path, build({**fields, "level": level, "seeds": list(seeds)}))


def _check(runs: Sequence[RowRun]) -> None:
    """Check that every row and every level can be run, before anything is written.

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
    experiment, counted = folder.experiment(), row_run.row.counted
    with CallStore(folder.results_file, readonly=True) as store:
        return row_run, [
            team_episode(
                experiment.level,
                measured,
                count_tokens(store.rows(cell, measured.row.episode), counted) if counted else None,
            )
            for cell in experiment.cells()
            for measured in episode_metrics.of_cell(folder, cell)
        ]


# ---- figure, page, terminal and numbers


class CwahResult(NamedTuple):
    """Everything that figure and page show."""

    plan: CwahPlan
    teams: Sequence[Team]
    """All rows, also those that are not available."""

    @property
    def reasoner(self) -> str:
        """Who is asked, in words."""
        return reasoners.describe(self.plan.reasoner)

    @property
    def played(self) -> list[Team]:
        """The teams that were run."""
        return [team for team in self.teams if team.episodes]

    @property
    def checks(self) -> list[Check]:
        """What the episodes show."""
        teams = {team.row.key: team for team in self.played}
        return list(judge(teams, official=self.plan.generated is None))

    def find(self, method: str | None, agents: int) -> Team | None:
        """Return a team that was run."""
        return next((team for team in self.played if (team.row.method, team.row.agents) == (method, agents)), None)

    def others(self, team: Team) -> dict[str, Team]:
        """Return the teams that a team is compared with, by what the table calls them."""
        full = self.find(team.row.full, team.row.agents) or self.find(team.row.full, 2)
        others = {"MHP x2": self.find("mhp", 2), "CoELA": self.find("coela:cwah", 2), "full": full}
        return {name: other for name, other in others.items() if other is not None and other.row != team.row}

    def saved(self, team: Team) -> float | None:
        """Return what a team saves against one planner; None of that one, or where it was not run."""
        return team.saved(self.find("mhp", 1))

    def decider(self, team: Team) -> str:
        """Return what decides, in words; what is no language model is called none."""
        if not team.row.asks:
            return _DECIDERS[team.row.by]
        if not any(episode.questions for episode in team.episodes):
            return "nobody asked, no LLM"
        others = (_DECIDERS[part].removesuffix(", no LLM") for part in team.row.by.split(" and ")[1:])
        return "; ".join([*others, self.reasoner])

    def short_decider(self, team: Team) -> str:
        """Return the same in a word or two."""
        if not team.episodes:
            return NOTHING
        reasoner = "rules" if self.reasoner.startswith("built-in rules") else self.reasoner
        words = {"inference": "exact", "reasoners": reasoner}
        return " + ".join(words.get(part, part) for part in reversed(team.row.by.split(" and ")))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return columns and lines of the table of teams."""
        columns = ["team", "decided by", "steps", "failed", "messages", "message tokens", "total tokens", "saved"]
        if self.plan.generated is None:
            columns += _SOURCES.values()
        return columns, [self._cells(team) for team in self.teams]

    def _cells(self, team: Team) -> list[str]:
        published = [
            "; ".join(f"{steps} ({who}{note})" for steps, who, at, note in team.row.published() if at == source)
            or NOTHING
            for source in (_SOURCES if self.plan.generated is None else ())
        ]
        if not team.episodes:
            return [team.row.name, "not there yet", *[NOTHING] * 6, *published]
        share = self.saved(team)
        sent, written, counted, total = (
            None if (interval := team.mean(f"{name}_tokens")) is None else interval.mean
            for name in ("message", "written", "counted", "total")
        )
        published_count = "" if counted is None else f"{counted:.0f} counted as published, "
        return [
            team.row.name,
            self.decider(team),
            interval_text(team.mean("steps"), "{:.1f}".format),
            f"{team.failures} of {len(team.episodes)}",
            interval_text(team.mean("messages"), "{:.1f}".format),
            f"{sent:.0f}" if written is None else f"{published_count}{written:.0f} written, {sent:.0f} sent",
            NOTHING if total is None else f"{total:,.0f}",
            NOTHING if share is None else f"{100 * share:.0f} %",
            *published,
        ]


def _paired_text(result: Paired | None) -> str:
    if result is None:
        return NOTHING
    bounds = f" [{result.low:+.1f}, {result.high:+.1f}], p {result.p:.2g}" if result.n > 1 else ""
    return f"{result.difference:+.1f}{bounds}"


def _draw(target: Path, result: CwahResult) -> Path:
    """Draw the average steps of each team."""
    lines = []
    for team in result.played:
        published = team.row.published() if result.plan.generated is None else ()
        marks = [
            (next(mark for name, mark in _MARKS.items() if value.reasoner.startswith(name)), value.steps)
            for value in published
        ]
        lines.append(DotLine(team.row.name, {"": team.mean("steps")}, {"": marks}))
    target.mkdir(parents=True, exist_ok=True)
    return draw_dots(lines, {"": ""}, DotAxis("average steps of an episode"), "ours, 95 % interval", target / "steps")


def _lines(result: CwahResult) -> list[str]:
    """Return the table of teams and the checks for a terminal; of further columns those that say something."""
    columns, rows = result.table()
    short = {"decided by": "by", "published: CoBel-World paper": "published", "message tokens": "tokens"}
    used = [at for at in range(len(columns)) if at < 6 or any(row[at] != NOTHING for row in rows)]
    cells = [[line[at] for at in used] for line in ([short.get(name, name) for name in columns], *rows)]
    for line, team in zip(cells[1:], result.teams, strict=True):
        line[1] = result.short_decider(team)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    table = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    verdicts = [check.line for check in result.checks]
    head = (
        f"C-WAH, {'generated' if result.plan.generated else 'ten official'} episodes, {result.plan.seeds_text}. "
        f"Reasoners: {result.reasoner}. Planner, script, exact inference and rules are no LLM."
    )
    return [head, "", *table, *[""] * bool(verdicts), *verdicts]


def _numbers(result: CwahResult) -> dict[str, Any]:
    """Return our numbers and the published ones."""
    plan, values = result.plan, load_yaml("cwah", "published")
    return {
        "episodes": "official" if plan.generated is None else plan.generated.split,
        "seeds": plan.seeds_text,
        "mind": result.reasoner,
        "cap": plan.cap,
        "rows": [_team_numbers(result, team) for team in result.teams],
        "checks": [check.to_json() for check in result.checks],
        "published": {name: values[name] for name in ("table", "earlier", "ablations", "spent")},
    }


def _team_numbers(result: CwahResult, team: Team) -> Mapping[str, Any]:
    row, official = team.row, result.plan.generated is None
    published = {f"{value.reasoner}, {value.source}": value.steps for value in row.published()}
    numbers = {"method": row.method, "agents": row.agents, "name": row.name, "published": published}
    if not team.episodes:
        return {**numbers, "decided_by": None, "llm": None, "steps": None, "runs": 0}
    measures = ("steps", "messages", "message_tokens", "written_tokens", "counted_tokens", "total_tokens")
    means = {name: team.mean(name) for name in measures}
    return {
        **numbers,
        "decided_by": result.decider(team),
        "llm": row.asks and means["total_tokens"] is not None,
        "runs": len(team.episodes),
        "failures": team.failures,
        **{name: None if interval is None else interval.mean for name, interval in means.items()},
        **{f"{name}_interval": mean[1:3] for name, mean in means.items() if mean and name in ("steps", "messages")},
        **{name: sum(getattr(episode, name) for episode in team.episodes) for name in ("questions", "fallbacks")},
        "saved": result.saved(team),
        "tasks": team.mean_steps_by_task() if official else None,
        "by_episode": team.mean_steps() if official else None,
        "episodes": team.episodes,
        "differences": {
            name: {
                "to": other.row.method,
                "agents": other.row.agents,
                **{value: team.difference(other, value) for value in ("steps", "messages")},
            }
            for name, other in result.others(team).items()
        },
    }
