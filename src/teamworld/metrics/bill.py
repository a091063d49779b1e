"""What minds took: calls, tokens, dollars, seconds (metrics spec, section 9).

Tokens come from the log; dollars and seconds from the calls on record, because no log holds them. Sums keep how many
calls stand in them: a provider need not count its tokens, and a model need not have a price.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from typing import Final, NamedTuple, Protocol, TypeVar, get_args, get_type_hints

import numpy as np

from teamworld.metrics.summary import Rate
from teamworld.record import AnswerError, Event, LlmCall, QuestionAsked, StepDone

#: What can be wrong with an answer.
FLAWS: Final[Sequence[str]] = get_args(get_type_hints(AnswerError)["flaw"])

Item = TypeVar("Item")
Result = TypeVar("Result")


class Count(NamedTuple):
    """A sum over calls."""

    total: int
    said: int
    """Calls whose provider counted it: those in the total."""
    calls: int
    """All calls."""

    @property
    def value(self) -> int | None:
        """The sum; None where no call was counted."""
        return self.total if self.said else None


class Tokens(NamedTuple):
    """K1, K2, K8 and K9 of some calls."""

    prompt: Count
    cached: Count
    output: Count
    reasoning: Count
    cache: Rate
    """K9: prompt tokens read from the provider's cache, of all prompt tokens, over the calls that counted both; no
    call has more of the former, whatever its provider says."""
    unusable: Rate
    """K8: calls whose answer could not be used, of all calls."""
    retries: Rate
    """K8: calls that asked again, of all calls."""


class Slope(NamedTuple):
    """A least-squares slope."""

    num: int
    den: int
    points: int

    @property
    def value(self) -> float | None:
        """The slope; None with fewer than two points."""
        return self.num / self.den if self.den else None


class Bill(NamedTuple):
    """What the minds of an episode took, as its log says."""

    total: Tokens
    agents: Mapping[str, Tokens]
    """By mind, in the order of their first calls."""
    purposes: Mapping[str, Tokens]
    """By kind of question, in the order of their first calls."""
    per_step: Rate
    """K1: calls, of steps of the world."""
    growth: Mapping[str, Slope]
    """K7: prompt tokens by which the question of a mind grows over the one before; re-asks left out."""
    flaws: Mapping[str, Rate]
    """By what was wrong with them, answers that could not be used, of all answers; minds without a model included."""


def bill(log: Iterable[Event]) -> Bill:
    """Return what the minds of an episode took."""
    calls: list[LlmCall] = []
    flaws: Counter[str] = Counter()
    answers = steps = 0
    for event in log:
        match event:
            case LlmCall():
                calls.append(event)
            case QuestionAsked():
                flaws.update(error.flaw for error in event.errors)
                answers += len(event.errors) + (not event.fallback)
            case StepDone():
                steps += 1
            case _:
                pass
    agents = grouped(calls, lambda call: call.agent)
    return Bill(
        total=tokens(calls),
        agents={agent: tokens(some) for agent, some in agents.items()},
        purposes={purpose: tokens(some) for purpose, some in grouped(calls, lambda call: call.purpose).items()},
        per_step=Rate(len(calls), steps),
        growth={agent: growth(some) for agent, some in agents.items()},
        flaws={flaw: Rate(flaws[flaw], answers) for flaw in FLAWS},
    )


def tokens(calls: Iterable[LlmCall]) -> Tokens:
    """Return K2, K8 and K9 of some calls, of one episode or many."""
    calls = list(calls)
    both = [
        (call.cached_tokens, call.prompt_tokens)
        for call in calls
        if call.cached_tokens is not None and call.prompt_tokens is not None
    ]
    return Tokens(
        prompt=_count([call.prompt_tokens for call in calls]),
        cached=_count([call.cached_tokens for call in calls]),
        output=_count([call.output_tokens for call in calls]),
        reasoning=_count([call.reasoning_tokens for call in calls]),
        cache=Rate(sum(min(some) for some in both), sum(prompt for _, prompt in both)),
        unusable=Rate(sum(not call.usable for call in calls), len(calls)),
        retries=Rate(sum(call.attempt > 0 for call in calls), len(calls)),
    )


def _count(values: Sequence[int | None]) -> Count:
    said = [value for value in values if value is not None]
    return Count(sum(said), len(said), len(values))


def growth(calls: Iterable[LlmCall]) -> Slope:
    """Return K7 of one mind's calls in an episode: prompt tokens over the index of the question.

    ``(n Σxy - Σx Σy) / (n Σx² - (Σx)²)``, x the index from 0, y the prompt tokens of its first call.
    """
    first = (call.prompt_tokens for call in calls if call.attempt == 0)
    points = [(x, y) for x, y in enumerate(first) if y is not None]
    n, sum_x, sum_y = len(points), sum(x for x, _ in points), sum(y for _, y in points)
    num = n * sum(x * y for x, y in points) - sum_x * sum_y
    return Slope(num, n * sum(x * x for x, _ in points) - sum_x**2, n)


class Made(Protocol):
    """A call on record, such as a row of ``experiment.calls.CallStore``."""

    @property
    def cell(self) -> str:
        """Name of its cell."""

    @property
    def episode(self) -> int:
        """Its episode."""

    @property
    def respondent(self) -> str:
        """Who was asked."""

    @property
    def purpose(self) -> str:
        """Kind of the question."""

    @property
    def number(self) -> int:
        """Which of these questions, from 1."""

    @property
    def finish(self) -> str | None:
        """None where no completion came."""

    @property
    def usd(self) -> float | None:
        """Its price; None where none is known."""

    @property
    def seconds(self) -> float:
        """From the first sending to the answer."""

    @property
    def cached(self) -> bool:
        """It came from a cache of earlier runs, at no cost."""


Call = TypeVar("Call", bound=Made)


class Cost(NamedTuple):
    """K3 of some calls."""

    usd: float
    priced: int
    """Calls in the sum."""
    calls: int
    """Calls that were answered by their provider: what can cost something."""
    free: int
    """Calls answered by a cache of earlier runs."""

    @property
    def value(self) -> float | None:
        """Dollars; None where no call has a price. A lower bound where ``priced`` is less than ``calls``."""
        return self.usd if self.priced else None


class Latency(NamedTuple):
    """K5 of some decisions, in seconds; None without any."""

    decisions: int
    """Questions, each with its re-asks; those that a cache of earlier runs answered in part are left out."""
    total: float
    p50: float | None
    p95: float | None
    longest: float | None


def cost(calls: Iterable[Made]) -> Cost:
    """Return K3 of some calls."""
    calls = list(calls)
    paid = [call.usd for call in calls if call.finish is not None and not call.cached]
    prices = [usd for usd in paid if usd is not None]
    return Cost(fsum(prices), len(prices), len(paid), sum(call.cached for call in calls))


def latency(calls: Iterable[Made]) -> Latency:
    """Return K5 of some calls: seconds of each decision, percentiles linear between neighbours."""
    decisions = grouped(calls, lambda call: (call.cell, call.episode, call.respondent, call.purpose, call.number))
    waited = [
        fsum(call.seconds for call in some) for some in decisions.values() if not any(call.cached for call in some)
    ]
    if not waited:
        return Latency(0, 0.0, None, None, None)
    p50, p95 = np.percentile(waited, (50, 95))
    return Latency(len(waited), fsum(waited), float(p50), float(p95), max(waited))


def grouped(items: Iterable[Item], key: Callable[[Item], Result]) -> dict[Result, list[Item]]:
    """Return items by a key, in the order of their first: bills by mind, kind of question, cell, episode."""
    groups: defaultdict[Result, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)
