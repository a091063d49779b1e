"""What a run with language models is expected to take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teamworld.cli import run as cli
from teamworld.experiment.estimate import CostEstimate, beyond, estimate
from teamworld.experiment.spec import build
from teamworld.reasoning.llm.budget import BudgetLimit
from teamworld.reasoning.llm.expense import CHARACTERS
from teamworld.reasoning.llm.prices import Prices, Rates
from tests.reasoning.llm.server import running

SMALL, LARGE = "openai:small", "openai:large"


def prices() -> Prices:
    free = ((0, 0.0),)
    return Prices({SMALL: Rates(((0, 3.0),), free, free, ((0, 6.0),))})


def test_calls_tokens_and_dollars_are_told_apart_by_model() -> None:
    given = {"reasoner": f"@drwell.propose={SMALL},*={LARGE}", "max_steps": 40, "episodes": 3, "seeds": [1, 2]}
    small, large = estimate([build(given).resolved()], prices())
    assert (small.model, large.model) == (SMALL, LARGE)
    assert small.calls % 6 == large.calls % 6 == 0
    assert small.calls < large.calls <= 4 * small.calls  # commit, and a draft of each plan of the episode
    assert 300 < small.prompt / small.calls < 1500
    assert small.usd == pytest.approx((small.prompt * 3.0 + small.output * 6.0) / 1e6, rel=0.01)
    assert large.usd is None
    assert "no price is known" in str(large)


def test_a_longer_run_takes_more() -> None:
    short, long = (
        estimate([build({"reasoner": LARGE, "episodes": episodes, "max_steps": 20}).resolved()], prices())[0]
        for episodes in (1, 10)
    )
    assert long.calls == 10 * short.calls > 0
    assert long.prompt == pytest.approx(10 * short.prompt, abs=10)
    assert CHARACTERS > 1


def test_rules_cost_nothing() -> None:
    assert estimate([build({"reasoner": "agent_0=rules,*=rules:noise=0.2"}).resolved()], prices()) == []


def test_it_is_told_before_a_run_begins_and_not_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pydantic_ai")
    command = ["run", "cube", "--max-steps", "6", "--out", str(tmp_path / "run"), "--reasoner"]
    with running("tests.reasoning.llm.player:plays") as server:
        assert cli([*command, server.name(), "--budget", "1ktok"]) == 2
        shown = capsys.readouterr().err
        assert shown.index("expected of") < shown.index("that is more than --budget 1ktok") < shown.index("has spent")
        assert cli([*command, server.name(), "--budget", "1Mtok", "--json"]) == 0
        again = capsys.readouterr()
        assert "expected of" not in again.err
        assert json.loads(again.out)["episodes"]
    assert cli([*command[:-2], str(tmp_path / "rules")]) == 0
    assert "expected of" not in capsys.readouterr().err


def test_more_than_a_limit_is_told_from_less() -> None:
    result = [CostEstimate("a", 10, 900, 100, 0.5), CostEstimate("b", 10, 900, 100, None)]
    assert beyond(result, BudgetLimit(tokens=1999))
    assert not beyond(result, BudgetLimit(tokens=2000))
    assert beyond(result, BudgetLimit(usd=0.4))
    assert not beyond(result, BudgetLimit(usd=0.5))
    assert not beyond(result, BudgetLimit())
