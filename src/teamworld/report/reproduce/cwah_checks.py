"""What a table of C-WAH should show, each judged by one rule: levels of the planner, and what beliefs are to pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from teamworld.report.reproduce.cwah_results import (
    Outcome,
    Outcomes,
    Strata,
    difference,
    mean,
    messages,
    steps,
)
from teamworld.report.reproduce.cwah_rows import COELA, ROWS

#: What can be said; ``not decided``: the interval has both in it.
VERDICTS: Final = ("holds", "does not hold", "not decided")
#: Mean steps that a planner like the published one takes on the official episodes (household spec D8): agents, bounds.
PLANNER: Final = ((1, 103, 121), (2, 66, 82))
#: The team whose beliefs are to pay, its parts taken out, and the team that it is compared with.
BELIEFS: Final = "cobel:exact"
_LESS: Final = ("cobel:exact_no_bbc", "cobel:exact_silent")


class Check(NamedTuple):
    """One claim."""

    number: str
    claim: str
    found: str
    """The numbers."""
    verdict: str
    """One of ``VERDICTS``."""


def checks(found: Outcomes, strata: Strata, *, official: bool) -> list[Check]:
    """Judge every claim whose rows were run.

    Args:
        found: Episodes by the key of their row.
        strata: Which episodes belong together.
        official: Whether they are the official ones, on which the planner's level is known.
    """
    return [*(_levels(found, strata) if official else ()), *_beliefs(found, strata)]


def _levels(found: Outcomes, strata: Strata) -> Iterator[Check]:
    for agents, low, high in PLANNER:
        if own := found.get(_key("mhp", agents)):
            told = mean(own, strata)
            kept = low <= told.steps.mean <= high
            claim = f"MHP, {agents} agent{'s' * (agents > 1)}: {low} to {high} steps in the mean, no failure"
            words = f"{told.steps.mean:.1f} steps, {told.failures} of {told.runs} failed"
            yield Check(f"1{'ab'[agents - 1]}", claim, words, VERDICTS[0 if kept and not told.failures else 1])


def _beliefs(found: Outcomes, strata: Strata) -> Iterator[Check]:
    names = {row.method: row.name for row in ROWS}
    own = found.get(_key(BELIEFS), ())
    for number, other in zip(("2a", "2b"), _LESS, strict=True):
        yield from _fewer(number, own, found.get(_key(other), ()), strata, steps, f"fewer steps than {names[other]}")
    coela = found.get(_key(COELA), ())
    yield from _fewer("3a", own, coela, strata, messages, "fewer messages than CoELA")
    yield from _fewer("3b", own, coela, strata, steps, "no more steps than CoELA", or_as_many=True)


def _fewer(
    number: str,
    own: Sequence[Outcome],
    other: Sequence[Outcome],
    strata: Strata,
    value: Callable[[Outcome], float],
    claim: str,
    *,
    or_as_many: bool = False,
) -> Iterator[Check]:
    """Judge a claim by the side of 0 on which the 95 % interval of the paired difference lies."""
    told = difference(own, other, strata, value)
    if told is None:
        return
    holds = told.n > 1 and (told.high <= 0 if or_as_many else told.high < 0)
    fails = told.n > 1 and (told.low > 0 if or_as_many else told.low >= 0)
    numbers = f"{told.difference:+.2f} [{told.low:+.2f}, {told.high:+.2f}], {told.n} pairs"
    verdict = VERDICTS[0 if holds else 1 if fails else 2]
    yield Check(number, f"CoBel-World, exact: {claim}", numbers, verdict)


def _key(label: str, agents: int = 2) -> str:
    return next(row.key for row in ROWS if (row.method, row.agents) == (label, agents))
