"""What a run tells of its calls: in flight and waiting, prices and where they came from, what they took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from teamworld.errors import UserError
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build, load
from teamworld.experiment.store.folder import RunFolder
from teamworld.reasoning.llm.budget import OutOfBudget, Spent
from teamworld.reasoning.llm.prices import Prices
from teamworld.report import bills
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import Peer


def small(server: Peer, **changes: Any) -> ExperimentSpec:
    return build({"reasoner": server.name(), "methods": ["drwell"], "max_steps": 12} | changes)


def prices(path: Path, model: str, date: str) -> Path:
    path.write_text(
        f'date: {date}\nsource: a test\nmodels:\n  "{model}": {{prompt: 1000, cached: 1000, output: 1000}}\n'
    )
    return path


@pytest.mark.heavy
@pytest.mark.parametrize("names", ["*={0}", "agent_0={0},*={1}"])
def test_in_flight_is_what_flies_and_the_rest_waits(server: Peer, tmp_path: Path, names: str) -> None:
    server.set(seconds=0.02)
    told: list[tuple[int, int]] = []
    watch = RunMonitor(spent=lambda spent, flying, waiting: told.append((flying, waiting)))
    reasoner = names.format(server.name("a"), server.name("b"))
    run(small(server, reasoner=reasoner, seeds=range(6)), tmp_path / "a", running=RunOptions(calls=2), watch=watch)
    models = 1 + names.count("1")
    assert len(told) == server.stats()["completions"]
    assert server.stats()["peak"] <= 2 * models
    assert 1 <= max(flying for flying, _ in told) <= 2 * models
    assert max(waiting for _, waiting in told) >= 5 - 2 * models  # of six episodes, one has just been answered
    assert min(min(one) for one in told) == 0


@pytest.mark.heavy
def test_prices_are_named_beside_the_run_and_not_in_its_log(server: Peer, tmp_path: Path) -> None:
    experiment, out = small(server), tmp_path / "a"
    first, second = (prices(tmp_path / f"{date}.yaml", server.name(), date) for date in ("2026-01-01", "2026-02-02"))
    with pytest.raises(OutOfBudget):
        run(experiment, out, running=RunOptions(prices=first, budget="2usd"))
    assert RunFolder(out).price_tables() == (Prices.load(first).table(),)
    before = (out / "experiment.yaml").read_text()
    with pytest.raises(OutOfBudget):
        run(experiment, out, running=RunOptions(prices=first, budget="3usd"))
    assert (out / "experiment.yaml").read_text() == before
    run(experiment, out, running=RunOptions(prices=second))
    assert RunFolder(out).price_tables() == (Prices.load(first).table(), Prices.load(second).table())
    assert RunFolder(out).experiment() == experiment.resolved()
    assert RunFolder(out).prompts()
    run(experiment, out)  # finished: no call is made, at no price
    assert len(RunFolder(out).price_tables()) == 2
    assert "price_tables" not in load(out / "experiment.yaml")  # and the file can be run again
    table = next(bills.of_run(RunFolder(out)))
    assert "prices: a test, 2026-01-01" in table.caption
    assert " | a test, 2026-02-02" in table.caption
    run(experiment, tmp_path / "b")
    assert logs(out) == logs(tmp_path / "b")


def test_rules_have_no_prices(tmp_path: Path) -> None:
    run(build({"methods": ["greedy"], "max_steps": 2}), tmp_path / "a")
    assert RunFolder(tmp_path / "a").price_tables() == ()
    assert "price" not in (tmp_path / "a" / "experiment.yaml").read_text()


def test_the_bill_says_what_the_budget_says(server: Peer, tmp_path: Path) -> None:
    """Of calls that were made before a price was known, too."""
    experiment, out = small(server), tmp_path / "a"
    told: list[Spent] = []
    with pytest.raises(OutOfBudget):
        run(experiment, out, running=RunOptions(budget="3ktok"))
    assert next(bills.of_run(RunFolder(out))).rows[0][6] == "unknown"
    costs = Prices.load(prices(tmp_path / "prices.yaml", server.name(), "2026-01-01"))
    watch = RunMonitor(spent=lambda spent, flying, waiting: told.append(spent))
    run(experiment, out, running=RunOptions(prices=tmp_path / "prices.yaml", budget="500usd"), watch=watch)
    assert next(bills.of_run(RunFolder(out), costs)).rows[0][6] == f"{told[-1].usd.total:.4f}"
    assert next(bills.of_run(RunFolder(out))).rows[0][6].startswith("at least ")


def test_a_file_of_prices_that_cannot_be_used_is_refused(server: Peer, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        run(small(server), tmp_path / "a", running=RunOptions(prices=tmp_path / "none.yaml"))
    assert not (tmp_path / "a").exists()
