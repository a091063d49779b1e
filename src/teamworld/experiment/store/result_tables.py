"""Results as tables of five kinds: their columns, and the rows that each episode of a run has in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from teamworld.errors import UserError, suggest
from teamworld.experiment.comparison_runs import SILENT, is_twin, twin_name
from teamworld.experiment.episode_metrics import EpisodeMetrics, of_events
from teamworld.experiment.shards import EpisodePart
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.metrics.definition import NULL, logged_metrics
from teamworld.metrics.event_table import CallRow
from teamworld.record import Event, MessageSent, read_log

#: ``episodes`` and ``calls`` are made of the results file alone; the others take the logs.
TableName: TypeAlias = Literal["episodes", "metrics", "calls", "messages", "events"]
TABLES: Final[tuple[TableName, ...]] = get_args(TableName)
_ROWS = 1000  # that are held
_OF_LOGS: Final = frozenset({"metrics", "messages", "events"})
Columns: TypeAlias = Mapping[str, type]
Row: TypeAlias = tuple[Any, ...]
#: Rows of an episode by table.
EpisodeTables: TypeAlias = Mapping[TableName, list[Row]]

#: Columns that all tables begin with: where a row is from. The talk is null where only one rule could apply. A method
#: that a comparison ran in silence is ``silent:METHOD``.
PLACE: Final[Columns] = {
    **{"world": str, "level": str, "instances": str, "method": str, "reasoner": str, "talk": str},
    **{"seed": int, "episode": int},
}
_EPISODE: Columns = {
    **{"cell": str, "digest": str, "code": str, "seconds": float, "reason": str},
    **{"completion": float, "success": bool, "steps": int, "anytime": float, "reward": float},
    **{"plans_won": int, "plans": int, "joint_acts_won": int, "joint_acts": int},
    **{"messages": int, "questions": int, "re_asked": int, "fallbacks": int, "summary": str},
}
_CALL: Columns = {
    **{"respondent": str, "purpose": str, "number": int, "attempt": int, "model": str, "served": str, "finish": str},
    **{"prompt_tokens": int, "cached_tokens": int, "written_tokens": int, "output_tokens": int},
    **{"reasoning_tokens": int, "seconds": float, "usd": float, "faults": int, "cached": bool},
    **{"lost_prompt_tokens": int, "lost_output_tokens": int, "uncounted_tries": int},
}
_MESSAGE: Columns = {
    **{"seq": int, "step": int, "tick": int, "agent": str, "id": int, "recipients": str, "act": str, "text": str},
    **{"goal": str, "facts": str, "reply_to": int, "room": int, "ticks": int, "paid_by": str},
}
#: What stands in a column of its own in the table of events; the rest is JSON.
_EVENT: Columns = {"seq": int, "step": int, "tick": int, "kind": str, "agent": str, "goal": str, "plan": int}
#: Of the table of metrics, before the metrics.
IDENTITY: Final[Columns] = {
    "cell": str,
    "layout": str,
    "play": str,
    "deeds": str,
    "token_limit": int,
    "tokens_taken": int,
    "code": str,
    "seconds": float,
    "extract": str,
}


def table_named(name: str) -> TableName:
    """Return the table of a name; raises ``UserError`` where there is none."""
    for table in TABLES:
        if table == name:
            return table
    raise UserError(f"there is no table '{name}'{suggest(name, list(TABLES))}")


def columns_of(table: TableName) -> Columns:
    """Return the columns of a table with their types.

    A metric has three, NAME, NAME_num and NAME_den, as in ``Value``: shares of several episodes are ratios of sums.
    """
    match table:
        case "episodes":
            return {**PLACE, **_EPISODE}
        case "metrics":
            names = [f"{name}{end}" for name in logged_metrics() for end in ("", "_num", "_den")]
            return {**PLACE, **IDENTITY, **dict.fromkeys(names, float)}
        case "calls":
            return {**PLACE, **_CALL}
        case "messages":
            return {**PLACE, **_MESSAGE}
        case "events":
            return {**PLACE, **_EVENT, "data": str}


def planned(experiment: ExperimentSpec, begin: int = 0, end: int | None = None) -> dict[RunCell, range]:
    """Return the numbers of the episodes that an experiment has once it is finished, by cell.

    Args:
        experiment: The experiment.
        begin: The first, by its place in the order of the experiment.
        end: The place after the last; None: that of all.
    """
    numbers, cells = experiment.episode_numbers, experiment.cells()
    end = len(cells) * len(numbers) if end is None else min(end, len(cells) * len(numbers))
    count = len(numbers)
    return {
        cells[at]: numbers[max(0, begin - at * count) : max(0, end - at * count)]
        for at in range(begin // count, -(-end // count))
    }


def rows_of(
    folder: RunFolder, experiment: ExperimentSpec, part: EpisodePart, names: Collection[TableName]
) -> Iterator[EpisodeTables]:
    """Yield the rows of the episodes of a run, episode by episode: no more than that is held.

    An episode that is not finished has rows in ``calls`` alone.

    Args:
        folder: The run; one that goes on may be read too.
        experiment: What it holds.
        part: Which of its episodes; numbers of a cell follow one another.
        names: Tables that are wanted.

    Raises:
        UserError: The results are damaged, or a log is missing, damaged or altered.
    """
    if not folder.results_file.exists():
        return
    with (
        Results(folder.results_file, readonly=True) as results,
        CallStore(folder.results_file, readonly=True) as store,
    ):
        has_calls = bool({"calls", "metrics"} & {*names}) and store.count() > 0
        for cell, numbers in part.items():
            for number, row in _finished(results, cell, numbers):
                calls = store.rows(cell, number) if has_calls else []
                if row is None and not calls:
                    continue
                start = _place(folder, experiment, cell, number)
                yield {name: [start + own for own in rows] for name, rows in _own(folder, cell, row, calls, names)}


def _finished(results: Results, cell: RunCell, numbers: Sequence[int]) -> Iterator[tuple[int, EpisodeRow | None]]:
    """Yield each number with the result of its episode, if there is one; some rows are held at a time."""
    for begin in range(0, len(numbers), _ROWS):
        part = numbers[begin : begin + _ROWS]
        rows = {row.episode: row for row in results.rows(cell, part)}
        yield from ((number, rows.get(number)) for number in part)


def _own(
    folder: RunFolder, cell: RunCell, row: EpisodeRow | None, calls: Sequence[CallRow], names: Collection[TableName]
) -> Iterator[tuple[TableName, list[Row]]]:
    """Yield the rows of an episode by table, without their place."""
    if "calls" in names:
        yield "calls", [tuple(getattr(call, name) for name in _CALL) for call in calls]
    if row is None:
        return
    if "episodes" in names:
        yield "episodes", [_episode(row)]
    if not _OF_LOGS & {*names}:
        return
    path = folder.log(cell, row.episode)
    events = list(read_log(path, expected=row.digest))
    if "metrics" in names:
        yield "metrics", [_metrics(of_events(path, cell, row, events, calls))]
    if "messages" in names:
        yield "messages", [_message(event) for event in events if isinstance(event, MessageSent)]
    if "events" in names:
        yield "events", [_event(event) for event in events]


def _place(folder: RunFolder, experiment: ExperimentSpec, cell: RunCell, episode: int) -> Row:
    is_silent = folder.path.name == SILENT and experiment.options.get("messages", {}).get("loss") == 1.0
    has_twins = is_twin(folder.path, experiment)
    method = f"{SILENT}:{cell.method}" if is_silent else twin_name(cell.method) if has_twins else cell.method
    of_run = (experiment.world, experiment.level, str(experiment.instances), method, experiment.reasoner)
    return (*of_run, experiment.talk, cell.seed, episode)


def _episode(row: EpisodeRow) -> Row:
    summary = row.summary
    return (
        *(row.cell, row.digest, summary.code, row.seconds, summary.reason),
        *(summary.completion, summary.success, summary.steps, summary.anytime, summary.reward),
        *(*summary.plans, *summary.attempts),
        *(summary.messages, summary.questions, summary.re_asked, summary.fallbacks),
        msgspec.json.encode(summary).decode(),
    )


def _metrics(measured: EpisodeMetrics) -> Row:
    row, values = measured.row, measured.values
    extract = msgspec.json.encode(measured.extract).decode()
    identity = (row.cell, *measured.identity, measured.deeds, *(measured.tokens or (None, None)))
    origin = (row.summary.code, row.seconds, extract)
    return (*identity, *origin, *(part for name in logged_metrics() for part in values.get(name, NULL)))


def _message(event: MessageSent) -> Row:
    fields = {name: getattr(event, name) for name in _MESSAGE}
    texts = {name: msgspec.json.encode(fields[name]).decode() for name in ("recipients", "facts")}
    return tuple((fields | texts).values())


def _event(event: Event) -> Row:
    fields = msgspec.to_builtins(event)
    own = tuple(fields.pop(name, None) for name in _EVENT)
    return (*own, msgspec.json.encode(fields).decode())
