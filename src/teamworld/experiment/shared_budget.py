"""One budget for several runs: each may take what the others have left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import fsum
from pathlib import Path

from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm import budget as budgets
from teamworld.reasoning.llm.budget import BudgetLimit, OutOfBudget, Spent
from teamworld.reasoning.llm.prices import Prices
from teamworld.reasoning.registry import list_models


class SharedBudget:
    """Shares out a budget.

    Args:
        running: How all runs are carried out; holds the budget of them together.
        folders: Where they are, begun or not.

    Raises:
        UserError: The budget is none.
    """

    def __init__(self, running: RunOptions, folders: Iterable[Path]) -> None:
        self._running, self._folders = running, tuple(folders)
        self._limit = None if running.budget is None else budgets.parse_limit(running.budget)

    @property
    def shard(self) -> str | None:
        """Which part of the runs is carried out; None: all."""
        return self._running.shard

    def options_for(self, folder: Path, experiment: ExperimentSpec) -> RunOptions:
        """Return how one of the runs is carried out: its budget is the whole one less what the others took.

        A run that asks no model, or has nothing left to ask, needs none.

        Raises:
            OutOfBudget: Nothing is left.
        """
        if self._limit is None:
            return self._running
        is_finished = RunFolder(folder).count_finished(experiment) == RunFolder(folder).episode_count(experiment)
        if is_finished or not any(map(list_models, experiment.reasoners)):
            return replace(self._running, budget=None)
        prices = Prices.load(self._running.prices)
        others = [_spent(other, prices) for other in self._folders if other != folder]
        usd, tokens = fsum(spent.usd.likely for spent in others), fsum(spent.tokens.likely for spent in others)
        left = BudgetLimit(
            None if self._limit.usd is None else round(self._limit.usd - usd, 9),
            None if self._limit.tokens is None else self._limit.tokens - round(tokens),
        )
        if (left.usd is not None and left.usd <= 0) or (left.tokens is not None and left.tokens <= 0):
            raise OutOfBudget(
                f"--budget {self._running.budget} is spent by the other runs: a larger one goes on where this stopped"
            )
        return replace(self._running, budget=str(left))


def _spent(folder: Path, prices: Prices) -> Spent:
    path = RunFolder(folder).results_file
    if not path.exists():
        return Spent()
    with CallStore(path, readonly=True) as calls:
        return calls.spent(prices.price)
