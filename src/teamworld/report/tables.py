"""Tables of a run: by episode, and over all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from teamworld.errors import UserError, printable
from teamworld.experiment.message_protocol import differ
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.all_metrics import HeadlineValue
from teamworld.metrics.definition import metrics
from teamworld.metrics.summary import Rate
from teamworld.reasoning.registry import describe
from teamworld.report.episode_columns import EpisodeColumns, MethodColumns
from teamworld.report.statistics import Interval, mean_interval, ratio_interval
from teamworld.worlds.contract import GOALS_AND_STEPS

if TYPE_CHECKING:
    from rich.table import Table as RichTable


#: What is told of every run whose level asks for goals.
_COMMON: Final = ("completion", "steps")
#: Headings that are not the metric's name in words.
_HEADINGS: Final = {"success": "solved"}
#: What stands behind a number that ends so.
_ORDINALS: Final = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class Table:
    """A table as plain text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    narrow: tuple[tuple[str, ...], ...] = ()
    """The same for a terminal of 80 columns: a line of headings, then the rows; empty where it fits as it is."""

    def __post_init__(self) -> None:
        """Take out what a terminal would obey: names and texts may be of a folder that somebody else made."""
        for name in ("title", "caption"):
            object.__setattr__(self, name, printable(getattr(self, name)))
        object.__setattr__(self, "columns", tuple(map(printable, self.columns)))
        for name in ("rows", "narrow"):
            object.__setattr__(self, name, tuple(tuple(map(printable, row)) for row in getattr(self, name)))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
            "caption": self.caption,
        }


def of_run(rows: EpisodeColumns, experiment: ExperimentSpec) -> list[Table]:
    """Return the tables of a run: episodes in a row, then each method over all of them."""
    return [by_episode(rows, experiment), by_method(rows, experiment)]


def describe_errors(errors: Sequence[tuple[RunCell, int]]) -> str:
    """Return a line on the episodes that ended in an error; nothing where none did."""
    if not errors:
        return ""
    counts = Counter(cell.method for cell, _ in errors)
    of_methods = ", ".join(f"{method} {count}" for method, count in counts.items())
    number = f"{len(errors)} episode{'s'[: len(errors) - 1]}"
    return (
        f"{number} ended in an error ({of_methods}): no try of a call got through. "
        "They count nowhere, and what would have learned from them was not played; --repeat-errors plays both"
    )


def describe_code(codes: Sequence[Mapping[str, Any]]) -> str:
    """Return a line on a run that other code went on with; nothing of one that one code has played.

    Args:
        codes: As ``RunFolder.codes`` returns them.
    """
    later = [code["from"] + 1 for code in codes[1:]]
    if not later:
        return ""
    ordinals = ", ".join(f"{n}{_ORDINALS.get(n % 10, 'th') if n % 100 not in (11, 12, 13) else 'th'}" for n in later)
    return f"this run was played by changed code from its {ordinals} episode on (code in experiment.yaml)"


def describe_versions(runs: Iterable[Sequence[Mapping[str, Any]]]) -> str:
    """Return a line on runs that are compared though not one code played them; nothing where one did.

    Args:
        runs: What ``RunFolder.codes`` returns of each.
    """
    versions: dict[str, set[str]] = {}
    for codes in runs:
        for code in codes:
            for name, digest in code.items():
                if name != "from":
                    versions.setdefault(name, set()).add(digest)
    several = [f"{len(digests)} versions of {name}" for name, digests in sorted(versions.items()) if len(digests) > 1]
    if not several:
        return ""
    return (
        f"these episodes were not all played by the same code, but by {' and '.join(several)} (code in the runs' "
        "experiment.yaml, and of each episode in its row): a difference may be one of the code"
    )


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
    """Return what captions say of a run: its reasoner, its talk where more than one rule could apply, and its fork."""
    fork = "" if experiment.fork is None else experiment.fork.in_words()
    return "; ".join(filter(None, (describe_reasoner(experiment), talk(experiment), fork)))


def by_episode(rows: EpisodeColumns, experiment: ExperimentSpec) -> Table:
    """Return completion and steps of each episode, averaged over seeds."""
    shown = first_metrics(rows.examples)
    columns = ["episode", *(f"{method} {_words(name)}" for method in experiment.methods for name in shown)]
    lines: list[tuple[str, ...]] = []
    narrow: list[tuple[str, ...]] = [("episode", *experiment.methods)]
    every = [rows.methods.get(method, MethodColumns()) for method in experiment.methods]
    for episode in experiment.episode_numbers:
        pairs = [
            [_number(over_seeds(own, name, episode=episode), _digits(name), bounds=False) for name in shown]
            for own in every
        ]
        lines.append((str(episode), *(cell for pair in pairs for cell in pair)))
        narrow.append((str(episode), *map(", ".join, pairs)))
    played = rows.seeds or list(experiment.seeds)
    seeds = f"mean of {len(played)} seeds" if len(played) > 1 else f"seed {played[0]}"
    title = f"{experiment.world} {experiment.level}: episodes in a row"
    return Table(
        title,
        tuple(columns),
        tuple(lines),
        f"{', '.join(map(_words, shown))}: {seeds}; {_describe_missing(rows, experiment)}"
        f"{describe_reasoner_and_talk(experiment)}; at most {experiment.step_limit} steps",
        tuple(narrow),
    )


def _describe_missing(rows: EpisodeColumns, experiment: ExperimentSpec) -> str:
    """Return how far a run is, in words; nothing of one that is finished."""
    count = experiment.episode_count
    return f"unfinished: {len(rows)} of {count} episodes, not all of each seed; " if len(rows) < count else ""


def headline(rows: Iterable[EpisodeRow]) -> tuple[HeadlineValue, ...]:
    """Return the measures that results are told in first, once each; their values are those of the first episode."""
    return tuple({part.metric: part for row in rows for part in row.summary.headline}.values())


def asks_for_goals(rows: Iterable[EpisodeRow]) -> bool:
    """Return whether the level of any episode asks for goals to be done."""
    rows = list(rows)
    return not rows or any(row.summary.has_success for row in rows)


def first_metrics(rows: Sequence[EpisodeRow]) -> tuple[str, ...]:
    """Return what is told of each episode in a row: completion and steps, or the first two of the headline."""
    return _COMMON if asks_for_goals(rows) else tuple(part.metric for part in headline(rows)[:2])


def describe_headline(rows: Iterable[EpisodeRow]) -> str:
    """Return what the measures of the headline say on this level, but for those that say the same everywhere."""
    every = {(part.metric, part.definition): part for row in rows for part in row.summary.headline}
    usual = {measure.definition for measure in GOALS_AND_STEPS}
    measures = [part for part in every.values() if part.definition not in usual]
    return "; ".join(f"{_words(part.metric)} ({unit(part)} is better): {part.definition}" for part in measures)


def unit(measure: HeadlineValue) -> str:
    """Return what a measure is counted in, and whether more or less of it is better."""
    more = "more" if measure.better == "high" else "less"
    return f"{measure.unit}, {more}" if measure.unit else more


def by_method(rows: EpisodeColumns, experiment: ExperimentSpec) -> Table:
    """Return the headline numbers of each method, with 95 % intervals over seeds."""
    first = [part.metric for part in headline(rows.examples) if part.metric not in _COMMON]
    outcome = [*first, *(("completion", "success") if asks_for_goals(rows.examples) else ()), "steps"]
    columns = ("method", "episodes", *map(_words, outcome), "joint acts", "plans", "messages", "re-asked")
    lines = []
    for method in experiment.methods:
        own = rows.methods.get(method)
        if own is None:
            lines.append((method, "0", *["none"] * (len(columns) - 2)))
            continue
        lines.append(
            (
                method,
                str(len(own)),
                *(_number(over_seeds(own, name, experiment.step_limit), _digits(name)) for name in outcome),
                _share(own.attempts),
                _share(own.plans),
                _number(over_seeds(own, "messages"), 1, bounds=False),
                _share(own.re_asked),
            )
        )
    played = len(rows.seeds)
    over = f"[95 % interval over {played} seeds]" if played > 1 else "one seed, no interval"
    said = [
        f"{_describe_missing(rows, experiment)}mean of episodes, {over}",
        f"at most {experiment.step_limit:,} steps",
    ]
    said += [text for text in (describe_headline(rows.examples),) if text]
    said += ["shares as successes of all", describe_reasoner_and_talk(experiment)]
    turned = tuple(zip(columns, *lines, strict=True))
    return Table(f"{experiment.world} {experiment.level}: methods", columns, tuple(lines), "; ".join(said), turned)


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


def _words(metric: str) -> str:
    return _HEADINGS.get(metric, metric.replace("_", " "))


def _digits(metric: str) -> int:
    return 2 if metrics()[metric].unit is None else 1


def over_seeds(
    rows: MethodColumns, metric: str, step_limit: int | None = None, episode: int | None = None
) -> Interval | None:
    """Return the mean of a metric and its interval, over seeds.

    Args:
        rows: Of one method.
        metric: What is pooled.
        step_limit: Of the episodes: no interval of steps reaches beyond.
        episode: Of the episodes of this number alone.
    """
    definition, pooled = metrics()[metric], rows.pool(metric, episode)
    if definition.pooling == "micro":
        interval = ratio_interval({"": [(unit.num or 0.0, unit.den) for unit in pooled if unit.den]})
    else:
        values = [unit.value for unit in pooled if unit.value is not None]
        interval = mean_interval(values, binary=definition.is_binary)
    if interval is None:
        return None
    low, high = definition.within(interval.low, interval.high)
    if definition.unit == "steps" and step_limit is not None:
        high = min(high, float(step_limit))
    return interval._replace(low=low, high=high)


def interval_text(interval: Interval | None, text: Callable[[float], str], *, bounds: bool = True) -> str:
    """Return a mean with its interval, or how many values are all alike; ``none`` without a value."""
    if interval is None:
        return "none"
    mean, low, high = map(text, interval[:3])
    if not bounds or interval.n < 2:
        return mean
    return f"{mean} ({interval.n}/{interval.n})" if interval.low == interval.high else f"{mean} [{low}, {high}]"


def _number(interval: Interval | None, digits: int, *, bounds: bool = True) -> str:
    return interval_text(interval, f"{{:.{digits}f}}".format, bounds=bounds)


def _share(rate: Rate) -> str:
    """Return a rate as text; nothing to count is 'none'."""
    return "none" if rate.value is None else f"{rate.value:.2f} ({rate.num}/{rate.den})"
