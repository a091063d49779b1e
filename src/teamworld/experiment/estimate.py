"""What a run with language models will take, from a dry run with the built-in rules."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from pathlib import Path
from typing import NamedTuple

from teamworld.experiment.runner import completed, play
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.warm_start import RunMemories
from teamworld.memory.store import MemoryStore
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.llm.budget import BudgetLimit
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Form, Request, Usage
from teamworld.reasoning.llm.expense import CHARACTERS
from teamworld.reasoning.llm.model_names import is_model
from teamworld.reasoning.llm.prices import Prices
from teamworld.reasoning.llm.reasoner import LanguageModel
from teamworld.reasoning.registry import list_models
from teamworld.reasoning.router import parse_routes
from teamworld.reasoning.rules import RuleReasoner


class CostEstimate(NamedTuple):
    """What is expected of one model in a whole run."""

    model: str
    calls: int
    prompt: int
    """Tokens."""
    output: int
    """Tokens; a model that reasons takes more."""
    usd: float | None
    """None where no price is known."""

    def __str__(self) -> str:
        """In words, on one line."""
        usd = "no price is known" if self.usd is None else f"{self.usd:.2f} USD"
        return f"expected of {self.model}: {self.calls:,} calls, {self.prompt:,} tokens in, {self.output:,} out, {usd}"


class _Unsent:
    """A line on which nothing is sent."""

    async def call(self, key: CallKey, request: Request) -> CallRecord:
        raise AssertionError(key)  # requests are made, and counted


class _Counting:
    """Answers by the rules and counts what a model would have been sent, and have said."""

    def __init__(self, experiment: ExperimentSpec, rules: RuleReasoner) -> None:
        self._shares = parse_routes(experiment.reasoner)
        self._rules = rules
        self._form: Form = "schema" if experiment.answers == "auto" else experiment.answers
        self._reasoning = experiment.reasoning == "on"
        self.sent: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """As the rules: what comes of it is thrown away."""
        return self._rules.name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer by the rule."""
        reply = await self._rules.ask(question, tries)
        name = next(share.name for share in self._shares if share.covers(question.respondent, question.kind))
        if is_model(name):
            request = LanguageModel(name, self._form, _Unsent(), reasoning=self._reasoning).request(question, tries)
            self.calls[name] += 1
            self.sent[name] += sum(len(turn.text) for turn in request.turns)
            self.said[name] += len(reply.answer.model_dump_json())
        return reply


def beyond(estimates: Sequence[CostEstimate], limit: BudgetLimit) -> bool:
    """Whether what is expected is more than a limit."""
    tokens, usd = (
        sum(estimate.prompt + estimate.output for estimate in estimates),
        fsum(estimate.usd or 0.0 for estimate in estimates),
    )
    return tokens > (limit.tokens or math.inf) or usd > (limit.usd or math.inf)


def estimate(experiments: Iterable[ExperimentSpec], prices: Prices) -> list[CostEstimate]:
    """Return what is expected of each model in all of some runs; nobody is asked.

    Args:
        experiments: Resolved experiments.
        prices: Of the models.
    """
    total: dict[str, CostEstimate] = {}
    for experiment in experiments:
        for part in _estimate_one(experiment, prices):
            before = total.get(part.model, CostEstimate(part.model, 0, 0, 0, 0.0))
            usd = None if part.usd is None or before.usd is None else before.usd + part.usd
            counts = (before.calls + part.calls, before.prompt + part.prompt, before.output + part.output)
            total[part.model] = CostEstimate(part.model, *counts, usd)
    return list(total.values())


def _estimate_one(experiment: ExperimentSpec, prices: Prices) -> Iterator[CostEstimate]:
    """Yield what is expected of each model, from the first episode of each method with the first seed."""
    with tempfile.TemporaryDirectory(prefix="teamworld-") as folder:
        scratch = Path(folder)
        counts = [_counted(experiment, RunCell(method, experiment.seeds[0]), scratch) for method in experiment.methods]
    times = experiment.episodes * len(experiment.seeds)
    for model in list_models(experiment.reasoner):
        prompt = round(times * sum(count.sent[model] for count in counts) / CHARACTERS)
        output = round(times * sum(count.said[model] for count in counts) / CHARACTERS)
        calls = times * sum(count.calls[model] for count in counts)
        # The price of a token can depend on the length of a prompt: that of the mean call.
        mean = prices.price(model, "", Usage(prompt=prompt // max(1, calls), output=output // max(1, calls)))
        yield CostEstimate(model, calls, prompt, output, None if mean is None else mean * calls)


def _counted(experiment: ExperimentSpec, cell: RunCell, scratch: Path) -> _Counting:
    reasoner = _Counting(experiment, RuleReasoner(cell.streams(1)))
    with MemoryStore(scratch / f"{cell.name}.sqlite") as memory:
        completed(play(experiment, cell, 1, scratch / f"{cell.name}.jsonl.zst", RunMemories(memory), reasoner))
    return reasoner
