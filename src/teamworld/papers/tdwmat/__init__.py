"""``teamworld reproduce tdwmat``: transport rates and messages on the 24 episodes of TDW-MAT, beside the published."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from teamworld.errors import UserError
from teamworld.experiment import episode_metrics, process_pool
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.papers import PaperName, PaperOptions, Progress
from teamworld.papers.reproduction import NOTHING, Check, PaperPlan, Reproduction, load_yaml
from teamworld.papers.tdwmat.teams import (
    GROUPS,
    TransportEpisode,
    TransportRow,
    TransportTeam,
    choose_rows,
    judge,
    team_episode,
)
from teamworld.reasoning import registry as reasoners
from teamworld.reasoning.human import HUMAN, Terminal
from teamworld.report.dot_plot import DotAxis, DotLine, PublishedMark, draw_dots
from teamworld.report.figure_style import COLOURS
from teamworld.report.tables import interval_text
from teamworld.worlds.transport.official import list_episodes

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


@dataclass(frozen=True, kw_only=True)
class TdwmatPlan(PaperPlan):
    """What to run."""

    paper: ClassVar[PaperName] = "tdwmat"
    extras: ClassVar[Mapping[str, str]] = {}

    data: Path
    """Folder of the published sets."""
    seeds: int = 1
    """On each of the official episodes."""
    rows: tuple[TransportRow, ...] = ()
    groups: Mapping[str, str]
    """The task and the containers of each level, in the published order."""
    reasoner: str = "rules"
    terminal: Terminal | None = None
    """Where a person answers who is part of a team."""

    @property
    def size(self) -> int:
        """Episodes in all."""
        return len(self.rows) * len(self.groups) * self.seeds

    def runs(self, out: Path) -> list[tuple[Path, ExperimentSpec]]:
        """Return the runs of all rows."""
        return [(row_run.path, row_run.experiment) for row in self.rows for row_run in _runs(out, self, row)]

    def run(self, out: Path, progress: Progress) -> Reproduction:
        """Run every row in ``runs``, each on each episode in a folder of its own."""
        runs = [row_run for row in self.rows for row_run in _runs(out, self, row)]
        for row_run in {row_run.row.key: row_run for row_run in reversed(runs)}.values():
            folder = RunFolder(row_run.path)
            folder.check(folder.grown(row_run.experiment).resolved())  # each row once, before anything is written
        episodes: dict[str, list[TransportEpisode]] = {row.key: [] for row in self.rows}
        for row_run, results in _run_all(runs, self):
            episodes[row_run.row.key] += results
            for episode in results:
                progress(f"{row_run.row.name}, {episode.level}, seed {episode.seed}")
        order = list(self.groups)
        for own in episodes.values():
            own.sort(key=lambda episode: (order.index(episode.level), episode.seed))
        result = TdwmatResult(self, [TransportTeam(row, episodes[row.key]) for row in self.rows])
        drawn = (_draw(out / "figures", result),) if importlib.util.find_spec("matplotlib") else ()
        columns, rows = result.table()
        page = {
            "result": result,
            "team_columns": columns,
            "team_rows": rows,
            "has_figure": bool(drawn),
            "groups": list(GROUPS),
            "published": load_yaml("tdwmat", "published"),
        }
        return Reproduction(drawn, page, _numbers(result), _lines(result))


def plan(options: PaperOptions, terminal: Terminal | None) -> TdwmatPlan:
    """Return what the options ask for.

    Raises:
        UserError: The options name what there is not.
    """
    if options.data is None:
        raise UserError(
            "reproduce tdwmat needs --data PATH, the folder of the TDW-MAT sets, which this package has not"
        )
    if not options.data.exists():
        raise UserError(f"--data {options.data}: there is no such folder")
    listed = list_episodes(options.data, "test")
    groups = {f"official-{episode.number}": f"{episode.task} {episode.capacity}" for episode in listed}
    if options.quick:
        firsts = {group: level for level, group in reversed(groups.items())}
        groups = {level: group for level, group in groups.items() if level in firsts.values()}
    return TdwmatPlan(
        data=options.data.resolve(),
        seeds=options.seeds or TdwmatPlan.seeds,
        rows=choose_rows(options.method),
        groups=groups,
        reasoner=options.reasoner or "rules",
        terminal=terminal,
    )


# ---- runs


class RowRun(NamedTuple):
    """A row on one episode with some seeds: one run folder."""

    row: TransportRow
    group: str
    path: Path
    experiment: ExperimentSpec


def _runs(out: Path, plan: TdwmatPlan, row: TransportRow) -> Iterator[RowRun]:
    fields: dict[str, Any] = {
        "world": "transport",
        "methods": [row.method],
        # Runs of a row that asks nobody are the same whatever the reasoner.
        "reasoner": plan.reasoner if row.asks else "rules",
        "max_steps": load_yaml("tdwmat", "published")["horizon"],
        "options": {"transport": {"agents": row.agents, "data": str(plan.data)}},
        "seeds": list(plan.seed_range),
    }
    for level, group in plan.groups.items():
        yield RowRun(row, group, out / "runs" / row.key / level, build({**fields, "level": level}))


def _run_all(runs: Sequence[RowRun], plan: TdwmatPlan) -> Iterator[tuple[RowRun, list[TransportEpisode]]]:
    """Yield each run with its episodes, as they end; in processes where nobody has to be waited for."""
    waits = bool(reasoners.list_models(plan.reasoner)) or HUMAN in plan.reasoner
    processes = 1 if waits else process_pool.many(len(runs), _MIN_PARALLEL, None)
    if processes < 2:
        yield from (run_row(row_run, plan.terminal) for row_run in runs)
    else:
        yield from process_pool.as_done(run_row, runs, processes)


def run_row(row_run: RowRun, terminal: Terminal | None = None) -> tuple[RowRun, list[TransportEpisode]]:
    """Run a row on an episode, or go on with it, and measure it."""
    run(row_run.experiment, row_run.path, running=RunOptions(processes=1), watch=RunMonitor(terminal=terminal))
    folder = RunFolder(row_run.path)
    return row_run, [
        team_episode(row_run.experiment.level, row_run.group, measured)
        for cell in folder.experiment().cells()
        for measured in episode_metrics.of_cell(folder, cell)
    ]


# ---- figure, page, terminal and numbers


class TdwmatResult(NamedTuple):
    """Everything that figure and page show."""

    plan: TdwmatPlan
    teams: Sequence[TransportTeam]

    @property
    def reasoner(self) -> str:
        """Who is asked, in words."""
        return reasoners.describe(self.plan.reasoner)

    @property
    def checks(self) -> list[Check]:
        """What the episodes show."""
        return list(judge({team.row.key: team for team in self.teams}))

    def decider(self, row: TransportRow) -> str:
        """Return what decides, in words; what is no language model is called none."""
        if not row.asks:
            return _DECIDERS[row.by]
        others = (_DECIDERS[part].removesuffix(", no LLM") for part in row.by.split(" and ")[1:])
        return "; ".join([*others, self.reasoner])

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return columns and lines of the table of teams."""
        columns = ["team", "decided by", "transport rate, %", *list(GROUPS)[:-1], "gained over one", "frames"]
        columns += ["messages", "message tokens", "published rate, %", "published tokens"]
        single = next((team for team in self.teams if team.row.key == "rhp-x1"), None)
        return columns, [self._cells(team, single) for team in self.teams]

    def _cells(self, team: TransportTeam, single: TransportTeam | None) -> list[str]:
        gained = None if team.row.agents == 1 else team.gained(single)
        return [
            team.row.name,
            self.decider(team.row),
            interval_text(team.mean("rate"), "{:.1f}".format),
            *(interval_text(team.mean("rate", group), "{:.1f}".format, bounds=False) for group in list(GROUPS)[:-1]),
            NOTHING if gained is None else f"{100 * gained:.0f} %",
            interval_text(team.mean("frames"), "{:.0f}".format, bounds=False),
            interval_text(team.mean("messages"), "{:.1f}".format, bounds=False),
            interval_text(team.mean("message_tokens"), "{:.0f}".format, bounds=False),
            "; ".join(f"{rate:g} ({who})" for rate, who in team.row.published()) or NOTHING,
            "; ".join(f"{tokens:,} ({who})" for tokens, who in team.row.published_tokens()) or NOTHING,
        ]


def _draw(target: Path, result: TdwmatResult) -> Path:
    """Draw the transport rate of each team."""
    lines = []
    for team in result.teams:
        marks = [
            (next(mark for name, mark in _MARKS.items() if who.startswith(name)), rate)
            for rate, who in team.row.published()
        ]
        lines.append(DotLine(team.row.name, {"": team.mean("rate")}, {"": marks}))
    target.mkdir(parents=True, exist_ok=True)
    return draw_dots(lines, {"": ""}, DotAxis("targets delivered, %"), "ours, 95 % interval", target / "rates")


def _lines(result: TdwmatResult) -> list[str]:
    """Return the table of teams and the checks for a terminal."""
    columns, rows = result.table()
    shown = [0, 2, 3, 4, 5, 6, 10, 12, 13]
    cells = [[line[at] for at in shown] for line in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    head = (
        f"TDW-MAT, {len(result.plan.groups)} official episodes, {result.plan.seeds_text}. Reasoners: "
        f"{result.reasoner}. Planner, script, exact inference and rules are no LLM."
    )
    table = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    return [head, "", *table, "", *(check.line for check in result.checks)]


def _numbers(result: TdwmatResult) -> dict[str, Any]:
    """Return our numbers and the published ones."""
    return {
        "episodes": len(result.plan.groups),
        "seeds": result.plan.seeds_text,
        "mind": result.reasoner,
        "rows": [_team_numbers(result, team) for team in result.teams],
        "checks": [check.to_json() for check in result.checks],
        "published": load_yaml("tdwmat", "published"),
    }


def _team_numbers(result: TdwmatResult, team: TransportTeam) -> dict[str, Any]:
    rate = team.mean("rate")
    groups = {name: team.mean("rate", name) for name in GROUPS}
    return {
        "name": team.row.name,
        "method": team.row.method,
        "agents": team.row.agents,
        "decided_by": result.decider(team.row),
        "transport_rate": None if rate is None else rate.mean,
        "transport_rate_interval": None if rate is None else rate[1:3],
        **{name: None if mean is None else mean.mean for name, mean in groups.items() if name in ("low", "high")},
        "groups": {name: None if mean is None else mean.mean for name, mean in groups.items()},
        **{
            name: None if (m := team.mean(name)) is None else m.mean
            for name in ("frames", "messages", "message_tokens")
        },
        **{name: sum(getattr(episode, name) for episode in team.episodes) for name in ("questions", "fallbacks")},
        "by_episode": team.by_level("rate"),
        "runs": len(team.episodes),
        "published": [{"rate": rate, "mind": who} for rate, who in team.row.published()],
    }
