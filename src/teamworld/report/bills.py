"""What calls of language models took, as tables: by method, by kind of question, by respondent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from teamworld.errors import UserError
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore, price_of
from teamworld.metrics.cost import cost, group_by, latency
from teamworld.metrics.event_table import CallRow
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.llm.prices import Prices
from teamworld.report.tables import Table, talk

_COLUMNS = ("calls", "prompt", "cached", "output", "reasoning", "USD", "s, median", "s, 95 %", "faults")


def of_run(folder: RunFolder, prices: Prices | None = None) -> Iterator[Table]:
    """Yield the bills of a run, that of its methods first; none where no language model was asked.

    Args:
        folder: The run; it is only read.
        prices: Of calls that were made before a price was known; the published ones if None.
    """
    if not folder.results_file.exists():
        if folder.tables() is not None:
            raise UserError(f"{folder.path} holds its results as Parquet alone: a bill takes its results.sqlite")
        return
    prices, experiment = prices or Prices(), folder.experiment()
    with CallStore(folder.results_file, readonly=True) as store:
        made = [row for row in store.rows() if row.model != HUMAN]
        lost = store.lost()
    if not made:
        return
    rows = [row._replace(usd=price_of(row, prices)) for row in made]
    caption = _caption(made, rows, folder.price_tables(), prices)
    if lost:
        tokens = sum(expense.tokens for _, expense in lost)
        caption += f"; besides, {len(lost)} tries of calls that did not come to their end took about {tokens:,} tokens"
    caption = "; ".join(filter(None, (caption, talk(experiment))))
    methods = {cell.name: cell.method for cell in experiment.cells()}
    keys: dict[str, Callable[[CallRow], str]] = {
        "method": lambda row: methods.get(row.cell, row.cell),
        "model": lambda row: row.model,
        "question": lambda row: row.purpose,
        "respondent": lambda row: row.respondent,
        "episode": lambda row: str(row.episode),
    }
    for name, key in keys.items():
        yield _table(name, rows, key, experiment, caption)


def _caption(made: Sequence[CallRow], rows: Sequence[CallRow], tables: Sequence[str], prices: Prices) -> str:
    """Say where the numbers come from; ``rows`` are the calls as they were made, priced."""
    parts = ["tokens as providers counted them", "seconds of an answered question, its re-asks included"]
    if missing := sum(row.uncounted_tries for row in rows):
        parts.append(f"{missing} tries brought no answer and took tokens that nobody counted: a budget estimates them")
    if free := sum(row.cached for row in rows):
        parts.append(f"{free} of the calls came from a cache of earlier runs, at no cost")
    if any(row.usd is not None for row in made):
        parts.append(f"prices: {' | '.join(tables) or 'not recorded'}")
    if later := sum(row.usd is not None and before.usd is None for before, row in zip(made, rows, strict=True)):
        parts.append(f"{later} of the calls at prices of now, as none were known when they were made: {prices.table()}")
    return "; ".join(parts)


def _table(
    name: str, rows: Sequence[CallRow], key: Callable[[CallRow], str], experiment: ExperimentSpec, caption: str
) -> Table:
    groups = group_by(rows, key)
    lines = [(group, *_line(calls)) for group, calls in groups.items()]
    if len(lines) > 1:
        lines.append(("all", *_line(rows)))
    return Table(f"{experiment.world} {experiment.level}: calls by {name}", (name, *_COLUMNS), tuple(lines), caption)


def _line(rows: Sequence[CallRow]) -> tuple[str, ...]:
    bill, waited = cost(rows), latency(rows)
    missing = sum(row.uncounted_tries for row in rows)
    priced = "unknown" if bill.value is None else f"{'at least ' * (bill.priced < bill.calls)}{bill.value:.4f}"
    return (
        f"{len(rows):,}",
        _sum([*(row.prompt_tokens for row in rows if row.finish), *(row.lost_prompt_tokens for row in rows)], missing),
        _sum(row.cached_tokens for row in rows if row.finish),
        _sum([*(row.output_tokens for row in rows if row.finish), *(row.lost_output_tokens for row in rows)], missing),
        _sum(row.reasoning_tokens for row in rows if row.finish),
        priced,
        _seconds(waited.p50),
        _seconds(waited.p95),
        f"{sum(row.faults for row in rows):,}",
    )


def _sum(counts: Iterable[int | None], missing: int = 0) -> str:
    """Return the sum of what was counted; 'unknown' where nothing was, 'at least' where some of it was not."""
    counts = list(counts)
    known = [count for count in counts if count is not None]
    partly = missing > 0 or len(known) < len(counts)
    return f"{'at least ' * partly}{sum(known):,}" if any(known) or not partly else "unknown"


def _seconds(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
