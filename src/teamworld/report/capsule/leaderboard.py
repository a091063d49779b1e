"""A leaderboard: one page that needs nothing else, of capsules that verify and that played the same instances."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import jinja2

from teamworld.errors import UserError, printable
from teamworld.experiment import comparison_runs, grid
from teamworld.experiment.comparison_runs import REFERENCES, ComparisonRun
from teamworld.experiment.store.folder import RunFolder
from teamworld.metrics.definition import metrics
from teamworld.report import comparison_tables, measurement
from teamworld.report.capsule.verification import Verified, unpacked, verify_unpacked
from teamworld.report.comparison import Comparison, PairedDifference, Sample
from teamworld.report.metric_tables import number
from teamworld.report.tables import describe_reasoner

#: What is shown beside the metric that decides, where anybody has a value.
_BESIDE: Final = ("success", "completion", "steps", "messages", "tokens", "cost_usd")
_DIGEST = 8  # characters of a digest of an instance set

#: What an episode took place in: world, level, layout and seed, episode, setting, digest of the layout.
Instance: TypeAlias = tuple[str, str, int, str]


class BoardRow(NamedTuple):
    """A method of a capsule."""

    rank: str
    label: str
    reasoner: str
    cells: tuple[str, ...]
    against: str
    """The difference to the best, with its interval, and whether it is supported."""
    counted: str
    """Instances, layouts, distinct plays."""
    is_reference: bool


class BoardCapsule(NamedTuple):
    """A capsule that the page is made of."""

    name: str
    seal: str
    episodes: str
    code: str
    registered: str
    """Digests of the registrations in force."""
    notes: str


class Board(NamedTuple):
    """What the page shows, all of it text."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[BoardRow, ...]
    caption: str
    capsules: tuple[BoardCapsule, ...]


def make_board(
    paths: Sequence[Path],
    primary: str | None = None,
    *,
    trust: bool = False,
    processes: int | None = None,
    progress: Callable[[Path], None] = lambda path: None,
) -> Board:
    """Verify capsules and rank their methods.

    Args:
        paths: The capsules.
        primary: The metric that decides; None: that of a comparison on these levels.
        trust: As for ``verify``.
        processes: As for ``verify``.
        progress: Called before each capsule is verified.

    Raises:
        UserError: One does not verify, two have the same name or seal, or they played other instances.
    """
    if len({path.stem for path in paths}) < len(paths):
        raise UserError("two of the capsules have the same name: rename one, the page tells them apart by it")
    with ExitStack() as stack:
        parts: list[ComparisonRun] = []
        capsules: list[BoardCapsule] = []
        for path in paths:
            progress(path)
            capsule = stack.enter_context(unpacked(path))
            verified = verify_unpacked(capsule, trust=trust, processes=processes)
            for line in verified.differences:
                raise UserError(
                    f"{path} does not verify, so nothing of it is shown: {line}; see: teamworld verify {path}"
                )
            if (twin := next((held.name for held in capsules if held.seal == verified.seal), None)) is not None:
                raise UserError(f"{path} and {twin} are the same capsule: name it once")
            capsules.append(_describe(path, capsule.folder, verified))
            parts += _entries(path.stem, capsule.folder, {name for part in parts for name in part.names.values()})
        return _rank(parts, primary, capsules, processes)


def _entries(capsule: str, folder: Path, taken: set[str]) -> Iterator[ComparisonRun]:
    """Yield the runs of a capsule with the names that their methods go by; reference teams stand once on a page."""
    runs = [part for part in comparison_runs.recorded([folder]) if part.is_aloud]
    reasoners = {part.experiment.reasoner for part in runs}
    for part in runs:
        beside = f", {describe_reasoner(part.experiment)}" if len(reasoners) > 1 else ""
        names = {m: m if m in REFERENCES else f"{m} ({capsule}{beside})" for m in part.experiment.methods}
        names = {method: name for method, name in names.items() if name not in taken}
        values = {name: value for name, value in part.setting.values.items() if name != "reasoner"}
        place = part.setting._replace(name=grid.name_of(values) if values else "", values=values)
        kept = part.experiment.model_copy(update={"methods": tuple(names)})
        if names:
            yield ComparisonRun(part.folder, kept, names, place)


def _rank(
    parts: Sequence[ComparisonRun], primary: str | None, capsules: Sequence[BoardCapsule], processes: int | None
) -> Board:
    rows = [row for part in parts for _, row in RunFolder(part.folder).finished(part.experiment)]
    (main, *_) = measurement.primary_metrics(rows, primary)
    names = tuple(dict.fromkeys((main, *_BESIDE)))
    measured = measurement.measure(parts, names, processes)
    by_method: dict[str, list[Sample]] = {}
    for sample in measured.episodes:
        by_method.setdefault(sample.method, []).append(sample)
    instances = _shared_instances(by_method)
    result = measurement.compared(measured, names, (main,))
    shown = [name for name in names if any(r.metric == name and r.value is not None for r in result.rows)]
    values = {row.method: row.value for row in result.rows if row.metric == main}
    sign = -1.0 if metrics()[main].better == "high" else 1.0
    ranked = sorted(by_method, key=lambda m: (values[m] is None, sign * (values[m] or 0.0), m))
    reasoners = {name: describe_reasoner(part.experiment) for part in parts for name in part.names.values()}
    places = ", ".join(dict.fromkeys(f"{part.experiment.world} {part.experiment.level}" for part in parts))
    better = [values[method] for method in ranked]
    entries = tuple(
        _row(1 + better.index(values[method]), method, ranked[0], main, shown, result, reasoners) for method in ranked
    )
    titles = [comparison_tables.title(metrics()[name]) for name in shown]
    return Board(
        title=printable(f"Leaderboard: {places}"),
        about=printable(
            f"{len(entries)} methods on the same {len(instances):,} episodes (set {_name(instances)}), "
            f"ranked by {comparison_tables.title(metrics()[main])}."
        ),
        columns=("", "method", *titles, "against the best", "evidence"),
        rows=entries,
        caption="Means with 95 % intervals over independent observations. A place is not a verdict: the last "
        "columns say whether the difference to the best is supported. Reference teams (grey) need no language model.",
        capsules=tuple(capsules),
    )


def _row(
    place: int,
    method: str,
    best: str,
    main: str,
    shown: Sequence[str],
    result: Comparison,
    reasoners: dict[str, str],
) -> BoardRow:
    cells = {row.metric: row for row in result.rows if row.method == method}
    pairs = [pair for pair in result.paired if pair.metric == main and {pair.a, pair.b} == {method, best}]
    counts = next(counted for counted in result.independence if counted.method == method)
    return BoardRow(
        rank=str(place),
        label=printable(method),
        reasoner=printable(reasoners[method]),
        cells=tuple(comparison_tables.cell(cells[name]) for name in shown),
        against=next((_difference(pair, method) for pair in pairs), "" if method == best else "not tested"),
        counted=f"{counts.instances} seeds, {counts.layouts} layouts, {counts.plays} distinct plays",
        is_reference=method in REFERENCES,
    )


def _difference(pair: PairedDifference, method: str) -> str:
    """Return the difference of a method to the best in words."""
    sign = 1.0 if pair.a == method else -1.0
    text = f"{number(sign * pair.difference)}"
    if pair.low is not None and pair.high is not None:
        low, high = sorted((sign * pair.low, sign * pair.high))
        text += f" [{number(low)}, {number(high)}]"
    return f"{text}, {'supported' if pair.supported else 'not supported'}"


def _shared_instances(by_method: dict[str, list[Sample]]) -> list[Instance]:
    """Return the instances that all entries have played; raises ``UserError`` where they are not the same."""
    played = {
        method: sorted((sample.instance, sample.setting, sample.episode, sample.layout) for sample in samples)
        for method, samples in by_method.items()
    }
    (first, wanted), *others = played.items()
    for method, instances in others:
        if instances != wanted:
            shared = len(set(instances) & set(wanted))
            raise UserError(
                f"{first} and {method} did not play the same instances: {len(wanted)} and {len(instances)} episodes, "
                f"{shared} in common; a leaderboard ranks what played one set of instances"
            )
    return [(instance, setting, episode, layout) for instance, setting, episode, layout in wanted]


def _name(instances: Sequence[Instance]) -> str:
    """Return what a set of instances is called: it has no other name than its digest."""
    return hashlib.blake2b(repr(instances).encode(), digest_size=_DIGEST // 2).hexdigest()


def _describe(path: Path, folder: Path, verified: Verified) -> BoardCapsule:
    records = [RunFolder(run).record() for run, _ in grid.runs(folder)]
    codes = dict.fromkeys(str(code.get("teamworld", "")) for record in records for code in record.code or ())
    registered = dict.fromkeys(record.registered[-1].digest for record in records if record.registered)
    notes = "; ".join(verified.notes)
    return BoardCapsule(
        printable(path.name),
        verified.seal,
        f"{verified.episodes:,}",
        printable(", ".join(codes)),
        printable(", ".join(registered)),
        printable(notes),
    )


def page(board: Board) -> str:
    """Return a whole HTML document: no script, no network, and all that capsules say is text."""
    place = files("teamworld.report.capsule")
    style, template = (
        (place / name).read_text("utf-8").replace("\r\n", "\n") for name in ("leaderboard.css", "leaderboard.html")
    )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.from_string(template).render(board=board, style=style, style_hash=f"sha256-{digest}")
