"""Tables of a run: by episode, and over all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teamworld.errors import UserError
from teamworld.experiment.message_protocol import differ
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.results import EpisodeRow
from teamworld.reasoning.registry import describe
from teamworld.report.statistics import Interval, mean_interval

if TYPE_CHECKING:
    from rich.table import Table as RichTable


@dataclass(frozen=True)
class Table:
    """A table as plain text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    narrow: tuple[tuple[str, ...], ...] = ()
    """The same for a terminal of 80 columns: a line of headings, then the rows; empty where it fits as it is."""

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
            "caption": self.caption,
        }


def of_run(rows: Sequence[EpisodeRow], experiment: ExperimentSpec) -> list[Table]:
    """Return the tables of a run: episodes in a row, then each method over all of them."""
    return [by_episode(rows, experiment), by_method(rows, experiment)]


def describe_reasoner(experiment: ExperimentSpec) -> str:
    """Return the reasoner in words: rules are called rules, a stand-in a stand-in."""
    return describe(experiment.reasoner)


def talk(experiment: ExperimentSpec) -> str:
    """Return by which protocol agents talked, and each method's rule; empty where free talk is all there could be."""
    try:
        rules = {method: experiment.message_rule(method).in_words() for method in experiment.methods}
        several = differ(experiment.methods)
    except UserError:  # a method of a package that is not here now: its rule stands in the logs
        return f"{experiment.talk} talk" if experiment.talk is not None else ""
    if not several:
        words = rules[experiment.methods[0]]
        return "" if words == "free" else f"talk: {words}"
    by_words: dict[str, list[str]] = {}
    for method, words in rules.items():
        by_words.setdefault(words, []).append(method)
    if len(by_words) == 1:
        return f"{experiment.protocol} talk: {next(iter(by_words))}"
    texts = (f"{', '.join(users)}: {words}" for words, users in by_words.items())
    return f"{experiment.protocol} talk ({'; '.join(texts)})"


def describe_reasoner_and_talk(experiment: ExperimentSpec) -> str:
    """Return what every caption says of a run: its reasoner, and its talk where more than one rule could apply."""
    return "; ".join(filter(None, (describe_reasoner(experiment), talk(experiment))))


def by_episode(rows: Sequence[EpisodeRow], experiment: ExperimentSpec) -> Table:
    """Return completion and steps of each episode, averaged over seeds."""
    columns = ["episode"]
    for method in experiment.methods:
        columns += [f"{method} completion", f"{method} steps"]
    lines: list[tuple[str, ...]] = []
    narrow: list[tuple[str, ...]] = [("episode", *experiment.methods)]
    for episode in range(1, experiment.episodes + 1):
        pairs = []
        for method in experiment.methods:
            summaries = [row.summary for row in rows if row.method == method and row.episode == episode]
            completion = mean_interval(_some(summary.completion for summary in summaries))
            steps = mean_interval([float(summary.steps) for summary in summaries])
            pairs.append((_number(completion, 2, bounds=False), _number(steps, 1, bounds=False)))
        lines.append((str(episode), *(cell for pair in pairs for cell in pair)))
        narrow.append((str(episode), *map(", ".join, pairs)))
    seeds = f"mean of {len(experiment.seeds)} seeds" if len(experiment.seeds) > 1 else f"seed {experiment.seeds[0]}"
    title = f"{experiment.world} {experiment.level}: episodes in a row"
    return Table(
        title,
        tuple(columns),
        tuple(lines),
        f"completion, steps: {seeds}; {describe_reasoner_and_talk(experiment)}; at most {experiment.step_limit} steps",
        tuple(narrow),
    )


def by_method(rows: Sequence[EpisodeRow], experiment: ExperimentSpec) -> Table:
    """Return the headline numbers of each method, with 95 % intervals over seeds."""
    columns = ("method", "episodes", "completion", "solved", "steps", "joint acts", "plans", "messages", "re-asked")
    lines = []
    for method in experiment.methods:
        own = [row for row in rows if row.method == method]
        if not own:
            lines.append((method, "0", *["none"] * (len(columns) - 2)))
            continue
        summaries = [row.summary for row in own]
        lines.append(
            (
                method,
                str(len(own)),
                _number(_over_seeds(own, lambda row: row.summary.completion), 2),
                _number(_over_seeds(own, lambda row: row.summary.success), 2),
                _number(_over_seeds(own, lambda row: float(row.summary.steps)), 1),
                _share([summary.attempts for summary in summaries]),
                _share([summary.plans for summary in summaries]),
                _number(_over_seeds(own, lambda row: float(row.summary.messages)), 1, bounds=False),
                _share([(summary.re_asked, summary.questions) for summary in summaries]),
            )
        )
    several = len(experiment.seeds) > 1
    over = f"[95 % bootstrap interval over {len(experiment.seeds)} seeds]" if several else "one seed, no interval"
    steps = f"at most {experiment.step_limit:,} steps"
    caption = f"mean of episodes, {over}; {steps}; shares as successes of all; {describe_reasoner_and_talk(experiment)}"
    turned = tuple(zip(columns, *lines, strict=True))
    return Table(f"{experiment.world} {experiment.level}: methods", columns, tuple(lines), caption, turned)


def rich_tables(table: Table, width: int = 80) -> list[RichTable]:
    """Return the table for a terminal, without its title and caption, which would be as narrow as the table.

    Where so many columns would not fit into ``width``, the later ones follow in further tables, the first in each.
    """
    heading, *rows = table.narrow or (table.columns, *table.rows)
    lines = [heading, *((first, *map(_broken, cells)) for first, *cells in rows)]
    columns = list(zip(*lines, strict=True))
    needs = [max(len(word) for cell in columns[0] for word in (columns[0][0], *cell.split()))]
    needs += [max(len(line) for cell in column for line in cell.split("\n")) for column in columns[1:]]
    parts: list[list[int]] = [[]]
    for column in range(1, len(needs)):
        used = needs[0] + sum(needs[other] + 1 for other in parts[-1])
        if parts[-1] and used + needs[column] + 3 > width:
            parts.append([])
        parts[-1].append(column)
    return [_rich_table([[line[column] for column in (0, *part)] for line in lines]) for part in parts]


def _rich_table(lines: Sequence[Sequence[str]]) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    headings, *rows = lines
    shown = RichTable(padding=(0, 1 if len(headings) < 5 else 0))
    for index, heading in enumerate(headings):
        if index == 0:  # says whose line it is: never cut
            shown.add_column(heading, overflow="fold", min_width=len(heading))
        else:
            shown.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


def _broken(cell: str) -> str:
    """Return a cell with what stands in brackets on lines of their own."""
    return cell.replace(" [", "\n[").replace(" (", "\n(")


def _some(values: Iterable[float | None]) -> list[float]:
    """Leave out what is null."""
    return [float(value) for value in values if value is not None]


def _over_seeds(rows: Sequence[EpisodeRow], value: Callable[[EpisodeRow], float | None]) -> Interval | None:
    """Average over the episodes of each seed first: episodes of one seed are not independent."""
    by_seed: dict[int, list[float]] = {}
    for row in rows:
        by_seed.setdefault(row.seed, []).extend(_some([value(row)]))
    return mean_interval([sum(values) / len(values) for values in by_seed.values() if values])


def interval_text(interval: Interval | None, text: Callable[[float], str], *, bounds: bool = True) -> str:
    """Return a mean with its interval where there is more than one value; ``none`` without a value."""
    if interval is None:
        return "none"
    mean, low, high = map(text, interval[:3])
    return f"{mean} [{low}, {high}]" if bounds and interval.n > 1 else mean


def _number(interval: Interval | None, digits: int, *, bounds: bool = True) -> str:
    return interval_text(interval, f"{{:.{digits}f}}".format, bounds=bounds)


def _share(rates: Sequence[tuple[int, int]]) -> str:
    """Pool rates as the ratio of sums ; nothing to count is 'none'."""
    part, whole = sum(rate[0] for rate in rates), sum(rate[1] for rate in rates)
    return f"{part / whole:.2f} ({part}/{whole})" if whole else "none"
