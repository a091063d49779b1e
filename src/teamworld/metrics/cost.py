"""Cost: calls, tokens, dollars and seconds of language models.

Calls and tokens come from the log; dollars and seconds from the calls on record, because no log holds them. A metric of
which some part was not counted is null: what is not known is not 0. ``Cost`` and ``Latency``, of which bills are made,
keep what is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from math import fsum
from typing import NamedTuple, TypeVar

import numpy as np

from teamworld.metrics.definition import NULL, Value, count, count_known, metric, metric_family, only, share
from teamworld.metrics.event_table import CallRow, EventTable
from teamworld.record import LlmCall

Item = TypeVar("Item")
Key = TypeVar("Key")


class Cost(NamedTuple):
    """Dollars of some calls."""

    usd: float
    priced: int
    """Calls in the sum, all of whose tries were counted."""
    calls: int
    """Calls that can cost something: answered by their provider, or with tries that took tokens."""
    free: int
    """Calls answered by a cache of earlier runs."""

    @property
    def value(self) -> float | None:
        """Dollars; None where no call has a price. A lower bound where ``priced`` is less than ``calls``."""
        return self.usd if self.usd or self.priced else None


class Latency(NamedTuple):
    """Seconds of some decisions; None without any."""

    decisions: int
    """Questions, each with its re-asks; those that a cache of earlier runs answered in part are left out."""
    total: float
    p50: float | None
    p95: float | None


def cost(calls: Iterable[CallRow]) -> Cost:
    """Return the dollars of some calls."""
    calls = list(calls)
    paid = [call for call in calls if not call.cached and (call.finish is not None or call.usd or call.uncounted_tries)]
    prices = [call.usd for call in paid if call.usd is not None]
    whole = sum(call.usd is not None and not call.uncounted_tries for call in paid)
    return Cost(fsum(prices), whole, len(paid), sum(call.cached for call in calls))


def latency(calls: Iterable[CallRow]) -> Latency:
    """Return the seconds of each decision, percentiles linear between neighbours."""
    decisions = group_by(calls, lambda call: (call.cell, call.episode, call.respondent, call.purpose, call.number))
    waited = [
        fsum(call.seconds for call in asked) for asked in decisions.values() if not any(call.cached for call in asked)
    ]
    if not waited:
        return Latency(0, 0.0, None, None)
    p50, p95 = np.percentile(waited, (50, 95))
    return Latency(len(waited), fsum(waited), float(p50), float(p95))


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return items by a key, in the order of their first."""
    groups: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)


@metric
def calls(table: EventTable) -> Value:
    """Return the calls of language models."""
    return count(len(table.all(LlmCall)))


@metric_family("tokens", "output_tokens")
def token_sums(table: EventTable) -> tuple[Value, Value]:
    """Return sums over all calls; null where there was none, or some were not counted."""
    made: list[LlmCall] = table.all(LlmCall)
    prompt, output = [call.prompt_tokens for call in made], [call.output_tokens for call in made]
    return count_known([*prompt, *output]), count_known(output)


@metric
def unusable_answers(table: EventTable) -> Value:
    """Return the share of calls whose answer could not be used."""
    made = table.all(LlmCall)
    return share(sum(not call.usable for call in made), len(made))


@metric
def cost_usd(table: EventTable) -> Value:
    """Return dollars; null where a call has no price or a try that took tokens was not counted.

    Answers of a cache of earlier runs are free.
    """
    if not table.calls:
        return NULL
    spent = cost(table.calls)
    return count(spent.usd) if spent.priced == spent.calls and spent.calls + spent.free else NULL


@metric
def latency_p95(table: EventTable) -> Value:
    """Return the 95th percentile of the seconds of a decision."""
    waited = latency(table.calls or ())
    return only(waited.p95, waited.decisions or None)
