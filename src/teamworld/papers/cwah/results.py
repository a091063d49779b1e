"""The results of C-WAH: what each row is compared with, and its figure, page, terminal lines and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from teamworld.papers.claims import Check
from teamworld.papers.cwah.teams import (
    EpisodesByRow,
    Strata,
    TeamEpisode,
    TeamMeans,
    TeamRow,
    by_level,
    checks,
    difference,
    horizon,
    mean,
    mean_steps,
    mean_steps_by_task,
    official_tasks,
    one_stratum,
    saved,
)
from teamworld.papers.page import NOTHING, data, interval_text, plain, write
from teamworld.report.dot_plot import DotAxis, DotLine, PublishedMark, draw_dots
from teamworld.report.figure_style import COLOURS
from teamworld.report.statistics import Paired

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


def write_page(out: Path, command: str, result: CwahResult, figure: Path | None) -> Path:
    """Write the page; ``figure`` is None where none was drawn."""
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
    published_cells = [] if result.split else _published_cells(row)
    if not result.of(row):
        return [row.name, "not there yet", *[NOTHING] * 6, *published_cells]
    means, share = mean(result.of(row), result.strata), result.saved(row)
    return [
        row.name,
        result.decider(row),
        interval_text(means.steps, "{:.1f}".format),
        f"{means.failures} of {means.runs}",
        interval_text(means.messages, "{:.1f}".format),
        _tokens(means),
        NOTHING if means.total_tokens is None else f"{means.total_tokens.mean:,.0f}",
        NOTHING if share is None else f"{100 * share:.0f} %",
        *published_cells,
    ]


def _tokens(means: TeamMeans) -> str:
    sent = f"{means.message_tokens.mean:.0f}"
    return sent if means.written_tokens is None else f"{means.written_tokens.mean:.0f} written, {sent} sent"


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


def terminal_lines(result: CwahResult) -> tuple[str, ...]:
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


def numbers(result: CwahResult) -> dict[str, Any]:
    """Return our numbers and the published ones as plain data."""
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
