"""What calls of language models took, as tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from teamworld.experiment.spec import RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore, price_of
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.llm.contract import CallRecord, Usage
from teamworld.reasoning.llm.prices import Prices, Rates
from teamworld.report import bills
from tests.reasoning.llm.records import completion, failed, key, record, request

#: Prompt tokens that were written into a cache are the dear ones.
PRICES = Prices({"gpu:m": Rates(((0, 1.0),), ((0, 0.5),), ((0, 100.0),), ((0, 10.0),))}, "a test, 2026-01-01")


def run(path: Path, *tables: str, **fields: Any) -> RunFolder:
    """Return the folder of a run that asked nobody yet."""
    folder = RunFolder(path)
    experiment = build({"reasoner": "openai:gpt-4o"} | fields)
    folder.path.mkdir(exist_ok=True)
    for table in tables or (None,):
        folder.claim(experiment, table)
    return folder


def unpriced(**counts: int) -> CallRecord:
    """Return a call that was made before a price of its model was known."""
    answer = msgspec.structs.replace(completion(), usage=Usage(**counts))
    return record(None, request=request(model="gpu:m"), completion=answer)


def test_calls_are_told_by_method_model_question_mind_and_episode(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", methods=["drwell", "zero_shot"], episodes=2)
    with CallStore(folder.results_file) as store:
        calls = store.of(RunCell("drwell", 0), 1)
        calls.add(key(1, "agent_0"), record(usd=0.25))
        calls.add(key(1, "agent_1"), record(usd=None))
        calls.add(key(2, "agent_1"), failed())
        store.of(RunCell("zero_shot", 0), 2).add(key(1, "agent_0", "zero_shot.plan"), record(usd=0.5))
        store.of(RunCell("drwell", 0), 2).add(key(1, "agent_0"), record(request=request(model=HUMAN)))
    tables = list(bills.of_run(folder))
    assert [table.columns[0] for table in tables] == ["method", "model", "question", "respondent", "episode"]
    methods = {row[0]: dict(zip(tables[0].columns, row, strict=True)) for row in tables[0].rows}
    assert {name: row["calls"] for name, row in methods.items()} == {"drwell": "3", "zero_shot": "1", "all": "4"}
    assert (methods["drwell"]["prompt"], methods["drwell"]["output"]) == ("200", "20")
    assert methods["zero_shot"]["USD"] == "0.5000"
    assert methods["drwell"]["faults"] == "1"
    assert [row[0] for row in tables[3].rows] == ["agent_0", "agent_1", "all"]


def test_rules_have_no_bill(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", reasoner="rules")
    assert list(bills.of_run(folder)) == []
    with CallStore(folder.results_file):
        pass
    assert list(bills.of_run(folder)) == []


def test_a_call_made_before_a_price_was_known_is_billed_at_what_is_known_now(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    with CallStore(folder.results_file) as store:
        calls = store.of(RunCell("drwell", 0), 1)
        calls.add(key(1), unpriced(prompt=1000, cached=200, written=300, output=40))
        calls.add(key(2), unpriced(prompt=1000, output=40))
        told = store.spent(PRICES.price).usd
    usd = (500 * 1 + 200 * 0.5 + 300 * 100 + 40 * 10) / 1e6 + (1000 * 1 + 40 * 10) / 1e6
    assert told.total == pytest.approx(usd)
    assert (told.calls, told.estimated) == (2, 0)
    table = next(bills.of_run(folder, PRICES))
    assert dict(zip(table.columns, table.rows[0], strict=True))["USD"] == f"{usd:.4f}" == "0.0324"
    assert (
        "2 of the calls at prices of now, as none were known when they were made: a test, 2026-01-01" in table.caption
    )
    assert "prices: " not in table.caption  # none was when they were made
    unknown = next(bills.of_run(folder))
    assert dict(zip(unknown.columns, unknown.rows[0], strict=True))["USD"] == "unknown"
    assert "prices" not in unknown.caption


@pytest.mark.parametrize(
    ("made", "usd"),
    [
        (lambda: record(0.25, request=request(model="gpu:m")), 0.25),  # as it was made, whatever holds now
        (lambda: record(None, cached=True, request=request(model="gpu:m")), None),
        (lambda: unpriced(prompt=10), None),
        (failed, None),
    ],
)
def test_what_was_priced_free_or_not_counted_stays_so(
    tmp_path: Path, made: Callable[[], CallRecord], usd: float | None
) -> None:
    with CallStore(tmp_path / "results.sqlite") as store:
        store.of(RunCell("drwell", 0), 1).add(key(), made())
        assert [price_of(row, PRICES) for row in store.rows()] == [usd]


def test_a_sum_that_lacks_some_calls_says_so_and_prices_are_named(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", "first", "second", "first")
    with CallStore(folder.results_file) as store:
        store.of(RunCell("drwell", 0), 1).add(key(1), record(0.25))
        store.of(RunCell("drwell", 0), 1).add(key(2), unpriced(prompt=10))
        store.of(RunCell("drwell", 0), 1).add(key(3), failed())  # takes nothing, so nothing lacks
    table = next(bills.of_run(folder, PRICES))
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert cells["USD"] == "at least 0.2500"
    assert (cells["prompt"], cells["output"]) == ("110", "at least 10")
    assert table.caption.endswith("prices: first | second")
