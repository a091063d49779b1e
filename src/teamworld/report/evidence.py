"""A page of evidence: several comparisons in one file, each with its tables, figures and what they support.

The file says what is compared and why; every number and every verdict on the page is made from the runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from teamworld.errors import UserError, suggest
from teamworld.experiment import comparison_runs
from teamworld.experiment.comparison_runs import REFERENCES, Beside, ComparisonRun, silent_name
from teamworld.experiment.grid import GridRun
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.results import EpisodeRow
from teamworld.methods.registry import option_error
from teamworld.metrics.definition import Metric, metrics, name_of
from teamworld.reasoning.registry import describe
from teamworld.report import comparison_tables, export, measurement
from teamworld.report.comparison import LEVEL, Comparison, PairedDifference, Sample, compare
from teamworld.report.comparison_sentences import enough
from teamworld.report.metric_tables import number
from teamworld.report.statistics import holm

#: From so many metrics on, a table has them in its lines and the methods in its columns.
_MANY = 4
#: A figure over the episodes instead of an axis of the grid.
_LEARNING = "learning"


class Section(BaseModel):
    """One comparison of a page."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Of its folder; other sections name its memories by it."""
    title: str
    text: str = ""
    """Markdown: what is asked, and how to read it."""
    experiment: dict[str, Any]
    """Fields of an experiment; what varies stands under ``grid``. A memory is a run's folder, from the page's."""
    references: bool = False
    """Whether random and scripted teams stand beside."""
    silent: tuple[str, ...] = ()
    """Methods that are also run when nobody hears a message."""
    by: tuple[str, ...] = ()
    """Axes of the grid that tables keep apart; over the others they pool. The first makes tables, the rest columns."""
    metrics: tuple[str, ...] = ("completion", "steps")
    against: str | None = None
    """The method from which the others differ in one part each; its differences to them are tested."""
    parts: dict[str, str] = Field(default_factory=dict)
    """By method, what it lacks of the one that they are tested against."""
    figure: str | None = None
    """An axis of the grid that a figure goes over, or ``learning``: over the episodes."""

    @field_validator("metrics")
    @classmethod
    def _name_metrics(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        """Read the letter codes of older files."""
        return tuple(map(name_of, words))


class Evidence(BaseModel):
    """A page."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    title: str
    about: str = ""
    """Markdown: what the page is about."""
    common: dict[str, Any] = Field(default_factory=dict)
    """Fields that all experiments share."""
    sections: tuple[Section, ...] = Field(min_length=1)

    def settings(self, section: Section, out: Path, *, imports: bool = True) -> list[GridRun]:
        """Return the settings of a section; memories of earlier sections are found in the folder of the page.

        Args:
            section: One of the page's.
            out: Folder of the page.
            imports: As for ``spec.build``.

        Raises:
            UserError: One line on the first thing wrong with it.
        """
        try:
            places = comparison_runs.settings({**self.common, **section.experiment}, imports=imports)
        except UserError as error:
            raise UserError(f"section {section.name}: {error}") from None
        return [_with_memory(setting, out) for setting in places]


def _with_memory(setting: GridRun, out: Path) -> GridRun:
    asked = setting.experiment
    if asked.memory is None:
        return setting
    return setting._replace(experiment=asked.model_copy(update={"memory": (out / asked.memory).as_posix()}))


def parsed(data: Mapping[str, Any], *, imports: bool = True) -> Evidence:
    """Return a page from the plain data of its file.

    Args:
        data: Of the file.
        imports: Whether everything that it names is imported and tried; not where its runs are only read.

    Raises:
        UserError: One line on the first thing wrong with it.
    """
    try:
        page = Evidence.model_validate(dict(data))
    except ValidationError as error:
        raise UserError(option_error("a page of evidence", Evidence, error)) from None
    names = [section.name for section in page.sections]
    if len(set(names)) < len(names):
        raise UserError(f"a page of evidence names its sections apart, got {', '.join(names)}")
    runs: set[Path] = set()
    for section in page.sections:
        places = page.settings(section, Path(), imports=imports)
        for wrong in _wrong(section, places, runs):
            raise UserError(f"section {section.name}: {wrong}")
        for setting in places if imports else ():
            setting.experiment.model_copy(update={"memory": None}).resolved()
        runs |= {part.folder for part in _parts(section, places, Path())}
    return page


def _wrong(section: Section, places: Sequence[GridRun], runs: Collection[Path]) -> Iterator[str]:
    """Yield what a section names that is not there."""
    known = list(metrics())
    for name in section.metrics:
        if name not in known:
            yield f"there is no metric '{name}' to show{suggest(name, known)} (see: teamworld metrics)"
    if len(set(section.metrics)) < len(section.metrics):
        yield "a metric is named twice"
    axes, methods = places[0].values, places[0].experiment.methods
    for axis in (*section.by, *([section.figure] if section.figure not in (None, _LEARNING) else [])):
        if axis not in axes:
            yield f"nothing varies in '{axis}'{suggest(axis, list(axes))}"
    own = [name for name in methods if name not in REFERENCES]
    rows = (*methods, *REFERENCES, *(silent_name(name, own) for name in section.silent if name in own))
    named = [(name, own) for name in section.silent] + [(name, methods) for name in [section.against] if name]
    for method, there in (*named, *((name, rows) for name in section.parts)):
        if method not in there:
            yield f"'{method}' is not run{suggest(method, list(there))}"
    for memory in dict.fromkeys(place.experiment.memory for place in places):
        if memory is not None and Path(memory) not in runs:
            yield f"no earlier section runs in '{memory}'{suggest(memory, sorted(map(str, runs)))}"


def _parts(section: Section, places: Sequence[GridRun], out: Path) -> Iterator[ComparisonRun]:
    return comparison_runs.planned(places, out / section.name, _beside(section))


def _beside(section: Section) -> Beside:
    return Beside(section.references, section.silent)


def planned(page: Evidence, out: Path, *, imports: bool = True) -> list[tuple[Path, ExperimentSpec]]:
    """Return the folders and experiments of all runs of a page; ``imports`` as for its settings."""
    return [
        (part.folder, part.experiment)
        for section in page.sections
        for part in _parts(section, page.settings(section, out, imports=imports), out)
    ]


def episodes(page: Evidence) -> int:
    """Return how many episodes a page takes."""
    return sum(experiment.episode_count for _, experiment in planned(page, Path()))


class EvidencePage(NamedTuple):
    """A page that was made."""

    text: str
    """Markdown."""
    figures: tuple[Path, ...]


def make(
    page: Evidence,
    out: Path,
    images: Path,
    link: str,
    command: str,
    *,
    progress: Callable[[EpisodeRow], None],
    running: RunOptions,
    watch: RunMonitor,
) -> EvidencePage:
    """Run what is missing, and return the page.

    Args:
        page: What is asked.
        out: Folder of the runs.
        images: Folder of the figures.
        link: How the page names that folder.
        command: What the page says that it was made by.
        progress: Called with each episode.
        running: How runs are carried out.
        watch: Told how many calls are in flight.

    Raises:
        UserError: A run cannot be made, or a limit was reached: the same call goes on.
    """
    parts: list[str] = [
        f"# {page.title}\n",
        f"`{command}` writes this page; every number and every verdict comes from its runs.\n",
    ]
    parts += [page.about.strip() + "\n"] if page.about else []
    figures: list[Path] = []
    budget = SharedBudget(running, [folder for folder, _ in planned(page, out)])
    for section in page.sections:
        settings = page.settings(section, out)
        runs = _run(section, settings, out, progress, budget, watch)
        measured = measurement.measure(runs, section.metrics, running.processes)
        caption = comparison_tables.caption([setting.experiment for setting in settings])
        parts += [f"## {section.title}\n", *([section.text.strip() + "\n"] if section.text else []), f"*{caption}.*\n"]
        if section.figure is not None:
            drawn = list(_figures(section, settings, measured.episodes, images))
            figures += drawn
            parts += [f"![{section.title}: {path.stem}]({link}{path.name})\n" for path in drawn]
        parts += _folded(_tables(section, settings, measured.all))
    return EvidencePage("\n".join(parts), tuple(figures))


def check_shards(page: Evidence) -> None:
    """See that the runs of a page can be played in shards.

    Raises:
        UserError: One begins with what another one has learned, of which a shard has a part.
    """
    for section in page.sections:
        for setting in page.settings(section, Path()):
            if setting.experiment.memory is not None:
                raise UserError(
                    f"section {section.name} begins with the world models of another run, of which a shard has only a "
                    "part: leave out --shard"
                )


def run_shard(
    page: Evidence,
    out: Path,
    *,
    progress: Callable[[EpisodeRow], None],
    running: RunOptions,
    watch: RunMonitor,
) -> None:
    """Run what is missing of one shard, and make no page; arguments and errors as of ``make``."""
    budget = SharedBudget(running, [folder for folder, _ in planned(page, out)])
    for section in page.sections:
        _run(section, page.settings(section, out), out, progress, budget, watch)


def _run(
    section: Section,
    settings: Sequence[GridRun],
    out: Path,
    progress: Callable[[EpisodeRow], None],
    budget: SharedBudget,
    watch: RunMonitor,
) -> list[ComparisonRun]:
    """Run what is missing of a section, and return its runs."""
    return comparison_runs.run_all(
        settings,
        out / section.name,
        _beside(section),
        progress=progress,
        budget=budget,
        watch=watch,
    )


Group = dict[tuple[str, ...], list[Sample]]


def _groups(section: Section, settings: Sequence[GridRun], samples: Sequence[Sample]) -> Group:
    """Return the samples by the values of the axes that are kept apart, the last axis changing fastest."""
    place = {setting.name: tuple(str(setting.values[axis]) for axis in section.by) for setting in settings}
    order = [list(dict.fromkeys(values)) for values in zip(*place.values(), strict=True)]
    groups: Group = {values: [] for values in product(*order)}
    for sample in samples:
        groups[place[sample.setting]].append(sample)
    return groups


def _tables(section: Section, settings: Sequence[GridRun], samples: Sequence[Sample]) -> Iterator[str]:
    """Yield what is supported, then all values."""
    comparisons = {values: _shown(section, group) for values, group in _groups(section, settings, samples).items()}
    if section.against is not None:
        yield from _verdicts(section, section.against, comparisons)
    if len(section.metrics) >= _MANY:
        for values, comparison in comparisons.items():
            shown = comparison_tables.table(comparison, section.metrics, "")
            yield f"{_heading(section, values)}\n\n{export.markdown(shown.columns, shown.rows)}"
        return
    for first, name in product(dict.fromkeys(values[:1] for values in comparisons), section.metrics):
        columns = {
            " ".join(values[1:]) or "all": comparison
            for values, comparison in comparisons.items()
            if values[:1] == first
        }
        shown = comparison_tables.by_setting(columns, name, "")
        yield f"{_heading(section, first, shown.title)}\n\n{export.markdown(shown.columns, shown.rows)}"


def _folded(parts: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a section, several tables in a row in one block that unfolds."""
    for is_table, group in groupby(parts, lambda part: "\n\n| " in part):
        texts = list(group)
        if is_table and len(texts) > 1:
            texts = [f'<details markdown="1"><summary>{len(texts)} tables</summary>\n', *texts, "</details>\n"]
        yield from texts


def _heading(section: Section, values: Sequence[str], title: str = "") -> str:
    words = [describe(value) if axis == "reasoner" else value for axis, value in zip(section.by, values, strict=False)]
    return f"**{'; '.join([*([title] if title else []), *words]) or 'All'}**"


def _shown(section: Section, samples: Sequence[Sample]) -> Comparison:
    """Compare one group; metrics that only runs with a memory of others have are told of those."""
    taught = [sample for sample in samples if sample.memory]
    if taught and all(name.startswith("transfer_") for name in section.metrics):
        samples = taught
    pairs = [(name, section.against) for name in dict.fromkeys(method.method for method in samples)]
    tested = [(method, other) for method, other in pairs if other is not None and method != other]
    return compare(samples, section.metrics, tested)


class _Tested(NamedTuple):
    """A difference in one place."""

    where: tuple[str, ...]
    pair: PairedDifference
    """Its p is corrected for all differences of the section."""


def _verdicts(section: Section, against: str, comparisons: Mapping[tuple[str, ...], Comparison]) -> Iterator[str]:
    """Yield a sentence for each part, then tables of all differences, corrected over the whole section."""
    pairs = [(values, pair) for values, difference in comparisons.items() for pair in difference.paired]
    corrected = holm([pair.p for _, pair in pairs])
    every = [_Tested(values, pair._replace(p_corrected=p)) for (values, pair), p in zip(pairs, corrected, strict=True)]
    wanted, most = enough(len(every)), max((difference.pair.n for difference in every), default=0)
    if every and (wanted is None or most < wanted):
        yield f"**No difference can be supported by {most} pairs in each place: there are {len(every)} of them.**\n"
    for name in section.metrics:
        tested: dict[str, list[_Tested]] = {}
        for difference in every:
            if difference.pair.metric == name:
                tested.setdefault(difference.pair.a, []).append(difference)
        metric = metrics()[name]
        yield (
            f"**{comparison_tables.title(metric)}: difference to `{against}`.** Paired by layout and seed; "
            f"bold: supported, p < {LEVEL} corrected for all {len(every)} differences of this section.\n"
        )
        said = [_worth(metric, section.parts.get(method, ""), tests) for method, tests in tested.items()]
        yield "".join(f"- {sentence}\n" for sentence in said)
        for first in dict.fromkeys(values[:1] for values in comparisons):
            columns = [values for values in comparisons if values[:1] == first]
            lines = []
            for method, tests in tested.items():
                cells = {difference.where: _difference(difference) for difference in tests}
                lines.append((method, *(cells.get(where, "none") for where in columns)))
            heads = [" ".join(values[1:]) or "all" for values in columns]
            yield f"{_heading(section, first)}\n\n{export.markdown(('less ' + against, *heads), lines)}"


def _difference(tested: _Tested) -> str:
    pair = tested.pair
    bounds = "" if pair.low is None or pair.high is None else f" [{number(pair.low)}, {number(pair.high)}]"
    text = f"{number(pair.difference)}{bounds}"
    return f"**{text}**" if pair.supported else text


def _worth(metric: Metric, part: str, tested: Sequence[_Tested]) -> str:
    """Say in how many places a method does worse, better, or not differently, and by how much."""
    sign = -1.0 if metric.better == "low" else 1.0
    words = ("less", "more") if metric.better is None else ("worse", "better")
    unit = f" {metric.unit}" if metric.unit else ""
    worse = [test for test in tested if test.pair.supported and sign * test.pair.difference < 0]
    better = [test for test in tested if test.pair.supported and sign * test.pair.difference > 0]
    said = []
    for supported, word in zip((worse, better), words, strict=True):
        if supported:
            sizes = sorted(abs(test.pair.difference) for test in supported)
            by = " to ".join(dict.fromkeys((number(sizes[0]), number(sizes[-1]))))
            said.append(f"**{word}** by {by}{unit} in {_places(supported, tested)}")
    left = [test for test in tested if test not in worse and test not in better]
    if left:
        where = (
            "in any place" if len(left) == len(tested) else f"in the other{f' {len(left)}' if len(left) > 1 else ''}"
        )
        ends = [abs(end) for test in left for end in (test.pair.low, test.pair.high) if end is not None]
        reach = f"; intervals there reach {number(max(ends))}{unit} at most" if len(ends) == 2 * len(left) else ""
        said.append(f"no supported difference {where}{reach}")
    method = tested[0].pair.a
    return f"`{method}`{f' (without {part})' if part else ''}: {'; '.join(said)}."


def _places(supported: Sequence[_Tested], tested: Sequence[_Tested]) -> str:
    """Say in how many places, and which: by the last axis, and by the others only where these make a difference."""
    if len(supported) == len(tested):
        return "every place" if len(supported) > 1 else "the one place"
    texts = []
    for last in dict.fromkeys(test.where[-1:] for test in tested):
        here, of = ([test for test in group if test.where[-1:] == last] for group in (supported, tested))
        firsts = ", ".join(" ".join(test.where[:-1]) for test in here)
        if here:
            texts.append("".join(last) if len(here) == len(of) else f"{''.join(last)} with {firsts}")
    return f"{len(supported)} of {len(tested)} places ({'; '.join(texts)})"


def _figures(section: Section, settings: Sequence[GridRun], samples: Sequence[Sample], images: Path) -> Iterator[Path]:
    from teamworld.report import comparison_figures
    from teamworld.report.figure_style import need

    need(matplotlib="plots")
    images.mkdir(parents=True, exist_ok=True)
    groups = _groups(section, settings, samples)
    apart = 0 if section.by[:1] == (section.figure,) else 1  # an axis that a figure goes over makes no figures
    for first in dict.fromkeys(values[:apart] for values in groups):
        shown = [setting for values, group in groups.items() if values[:apart] == first for setting in group]
        places = [setting for setting in settings if setting.name in {sample.setting for sample in shown}]
        where = "_".join(re.sub(r"[^a-z0-9]+", "_", part.lower()) for part in first)
        stem = images / "_".join(["evidence", section.name, *([where] if where else [])])
        text = comparison_tables.caption([setting.experiment for setting in places])
        if section.figure == _LEARNING:
            yield comparison_figures.curves(shown, text, stem)
        elif section.figure is not None:
            varied = {setting.name: setting.values for setting in places}
            yield comparison_figures.over(section.figure, shown, varied, section.metrics[:3], text, stem)
