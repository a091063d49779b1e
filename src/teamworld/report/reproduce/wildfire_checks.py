"""What a table of wildfire should show, each judged by one rule on paired seeds (wildfire spec A13, B39)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from teamworld.report.reproduce.wildfire_published import IDLE, METHODS
from teamworld.report.reproduce.wildfire_results import SCRIPTED, Outcome, Outcomes, difference, methods, of, points

#: What can be said. ``not decided``: the interval has both in it; ``same``: one should be more, all seeds are equal;
#: ``one seed``: it has no interval.
VERDICTS: Final = ("holds", "does not hold", "not decided", "same", "one seed")
#: What is claimed, by number.
CLAIMS: Final = {
    "1": "doing nothing scores 0",
    "2": "the scripted team reaches the maximum",
    "3": "a method reaches at least half of the scripted team's score",
    "4a": "the scripted team lets less be destroyed than doing nothing, own agents not counted",
    "4b": "the scripted team scores more than doing nothing, cut trees counted as lost",
    "5": "a method lets less burn than doing nothing (score_burnt)",
}
#: Share of the scripted team's score that a method on rules should reach on small levels.
HALF: Final = 0.5
#: Where a team can do all there is to do in the step limit, and is told where.
REACHABLE: Final = (
    "cut_trees_sparse_small",
    "cut_trees_lines_small",
    "transport_firefighters_small",
    "rescue_civilians_known_location_small",
)
#: The small levels on which something can be gained.
SMALL: Final = (*REACHABLE[:2], "scout_fire_small", *REACHABLE[2:])


class Check(NamedTuple):
    """One claim on one level."""

    number: str
    claim: str
    method: str | None
    """Which of the paper's methods it is about; None if none."""
    level: str
    found: str
    """The numbers."""
    verdict: str
    """One of ``VERDICTS``."""


def checks(found: Outcomes, best: Mapping[str, float]) -> list[Check]:
    """Judge every claim on every level that it is about.

    Args:
        found: Episodes by level.
        best: Best score by level; 0 where a fire is fought.
    """
    return list(_judged(found, best))


def _judged(found: Outcomes, best: Mapping[str, float]) -> Iterator[Check]:
    finite = [level for level in found if best[level]]
    fires = [level for level in found if not best[level]]
    for level in finite:
        yield _count("1", level, [one.reference == 0 for one in of(found[level], IDLE)])
    for level in (level for level in REACHABLE if level in found):
        yield _count("2", level, [one.reference >= best[level] for one in of(found[level], SCRIPTED)])
    for level in (level for level in SMALL if level in found):
        for method in (method for method in METHODS if method in methods(found[level])):
            told = _compared(found[level], method, SCRIPTED, lambda one: one.reference, HALF)
            yield Check("3", CLAIMS["3"], method, level, *told)
    for level in fires:
        yield Check("4a", CLAIMS["4a"], None, level, *_compared(found[level], SCRIPTED, IDLE, _spared, strict=True))
    for level in fires:
        told = _compared(found[level], SCRIPTED, IDLE, lambda one: one.reference, strict=True)
        yield Check("4b", CLAIMS["4b"], None, level, *told)
    for level in fires:
        for method in (method for method in METHODS if method in methods(found[level])):
            told = _compared(found[level], method, IDLE, lambda one: one.burnt, strict=True)
            yield Check("5", CLAIMS["5"], method, level, *told)


def _spared(one: Outcome) -> float:
    return 0.0 - (one.destroyed or 0.0)


def _count(number: str, level: str, holds: Sequence[bool]) -> Check:
    word = "holds" if all(holds) else "does not hold"
    return Check(number, CLAIMS[number], None, level, f"{sum(holds)} of {len(holds)} seeds", word)


def _compared(
    found: Sequence[Outcome],
    one: str,
    other: str,
    value: Callable[[Outcome], float],
    times: float = 1.0,
    *,
    strict: bool = False,
) -> tuple[str, str]:
    """Return the numbers and the verdict on whether one is at least ``times`` the other, or more if ``strict``."""
    paired = difference(found, one, other, value, times)
    if paired is None:
        return "not run", "not decided"
    bounds = f" [{points(paired.low, '+')}, {points(paired.high, '+')}]" if paired.n > 1 else ""
    text = f"{points(paired.difference, '+')}{bounds}, n {paired.n}"
    if paired.n < 2:
        return text, "one seed"
    if strict and paired.low == paired.high == 0:
        return text, "same"
    above = paired.low > 0 if strict else paired.low >= 0
    below = paired.high <= 0 if strict else paired.high < 0
    return text, "holds" if above else "does not hold" if below else "not decided"
