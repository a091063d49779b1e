"""What calls of language models took, as tables."""

from __future__ import annotations

from pathlib import Path

from teamworld.experiment.calls import CallStore
from teamworld.experiment.config import Cell, build
from teamworld.reasoning.human import HUMAN
from teamworld.report import bills
from tests.reasoning.llm.records import failed, key, record, request


def test_calls_are_told_by_method_model_question_mind_and_episode(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with CallStore(path) as store:
        one = store.of(Cell("drwell", 0), 1)
        one.add(key(1, "agent_0"), record(usd=0.25))
        one.add(key(1, "agent_1"), record(usd=None))
        one.add(key(2, "agent_1"), failed())
        store.of(Cell("zero_shot", 0), 2).add(key(1, "agent_0", "zero_shot.plan"), record(usd=0.5))
        store.of(Cell("drwell", 0), 2).add(key(1, "agent_0"), record(request=request(model=HUMAN)))
    experiment = build({"methods": ["drwell", "zero_shot"], "episodes": 2, "reasoner": "openai:gpt-4o"})
    tables = list(bills.of_run(path, experiment))
    assert [table.columns[0] for table in tables] == ["method", "model", "question", "mind", "episode"]
    methods = {row[0]: dict(zip(tables[0].columns, row, strict=True)) for row in tables[0].rows}
    assert {name: row["calls"] for name, row in methods.items()} == {"drwell": "3", "zero_shot": "1", "all": "4"}
    assert (methods["drwell"]["prompt"], methods["drwell"]["output"]) == ("200", "20")
    assert methods["zero_shot"]["USD"] == "0.5000"
    assert methods["drwell"]["faults"] == "1"
    assert [row[0] for row in tables[3].rows] == ["agent_0", "agent_1", "all"]


def test_rules_have_no_bill(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with CallStore(path):
        pass
    assert list(bills.of_run(path, build({}))) == []
