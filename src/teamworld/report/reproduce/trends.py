"""The trends that a reproduction of DR. WELL should show, judged by one rule for the paper and for us (spec C6).

Each rule is a function of the runs of both methods, so the published values pass through the same rule as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from teamworld.report.reproduce.published import Bools, Floats, Runs
from teamworld.report.statistics import mean_interval

#: Episodes before this one are exploratory in the paper (DR. WELL spec C6, 2); counted from 0.
LATE = 4


class Verdict(NamedTuple):
    """What some runs show of one trend."""

    holds: tuple[bool, ...]
    """By seed; one entry where all seeds are judged together; empty where there are too few episodes to say."""
    text: str
    """The numbers."""

    @property
    def word(self) -> str:
        """The verdict in words."""
        if not self.holds:
            return "cannot be said"
        if all(self.holds) or not any(self.holds):
            return "holds" if self.holds[0] else "does not hold"
        return f"holds in {sum(self.holds)} of {len(self.holds)} seeds"


class Trend(NamedTuple):
    """One trend beside the rule that decides it."""

    number: str
    claim: str
    rule: str
    paper: Verdict
    ours: Verdict


Both = Mapping[str, Runs]
Judge = Callable[[Both], Verdict]


def trends(paper: Both, ours: Both, reading_error: float) -> list[Trend]:
    """Judge every trend.

    Args:
        paper: The published runs by method: ``zero_shot`` and ``drwell``; blocks 0, 1, 2.
        ours: Ours in the same form.
        reading_error: Most that a published value may be off.
    """
    allowed = _ranges(paper["drwell"])[0] + 2 * reading_error
    near = ", ".join(f"block {b}: {limit:.0f}" for b, limit in enumerate(allowed))
    judges: list[tuple[str, str, str, Judge]] = [
        ("1a", "baseline: blocks 1 and 2 always", "both delivered in every episode", _easy_blocks),
        ("1b", "baseline: block 0 in 3 to 5 of 10 episodes", "share of episodes from 0.3 to 0.5", _hard_block),
        (
            "1c",
            "baseline: no improvement with episodes",
            "block 0, last half less first half of the episodes: the 95 % interval over seeds reaches 0 or below",
            _no_improvement,
        ),
        (
            "2a",
            "DR. WELL: four exploratory episodes with failures",
            "a block is left over in each of episodes 1 to 4",
            _exploration,
        ),
        ("2b", "DR. WELL: then all blocks in every episode", "all delivered in every episode from 5 on", _mastery),
        (
            "3a",
            "DR. WELL: the same order, block 2, 1, 0",
            "delivered in this order in every episode from 5 on",
            _order,
        ),
        (
            "3b",
            "DR. WELL: near-constant times",
            "largest less smallest number of steps from episode 5 on is at most the paper's own and twice the "
            f"reading error ({near})",
            lambda runs: _constant(runs, allowed),
        ),
        *(
            (
                f"4{letter}",
                f"DR. WELL: more seconds than the baseline, block {block}",
                "median of completed episodes, DR. WELL from episode 5 on, baseline all",
                _slower(block),
            )
            for letter, block in zip("abc", (0, 1, 2), strict=True)
        ),
        *(
            (
                f"5{letter}",
                f"DR. WELL: fewer steps than the baseline in the last episode, block {block}",
                "below the median of the baseline's completed episodes",
                _faster(block),
            )
            for letter, block in zip("ab", (1, 2), strict=True)
        ),
    ]
    return [Trend(number, claim, rule, judge(paper), judge(ours)) for number, claim, rule, judge in judges]


def _easy_blocks(runs: Both) -> Verdict:
    done = runs["zero_shot"].completed[:, 1:]
    counts = ", ".join(f"block {b}: {done[:, b - 1].sum()}/{done[:, b - 1].size}" for b in (1, 2))
    return Verdict(_each(_all(done, (1, 2))), f"{counts} episodes")


def _hard_block(runs: Both) -> Verdict:
    share = runs["zero_shot"].completed[:, 0].mean(axis=1)
    holds = (share >= 0.3 - 1e-9) & (share <= 0.5 + 1e-9)
    return Verdict(_each(holds), f"share {_spread(share, 2)}")


def _no_improvement(runs: Both) -> Verdict:
    done = runs["zero_shot"].completed[:, 0].astype(np.float64)
    half = done.shape[1] // 2
    if half == 0:
        return Verdict((), "one episode only")
    interval = mean_interval((done[:, -half:].mean(axis=1) - done[:, :half].mean(axis=1)).tolist())
    if interval is None:
        return Verdict((), "no seed")
    bounds = f" [{interval.low:+.2f}, {interval.high:+.2f}]" if interval.n > 1 else ""
    return Verdict((interval.low <= 0,), f"difference {interval.mean:+.2f}{bounds}")


def _exploration(runs: Both) -> Verdict:
    left = ~_all(runs["drwell"].completed[:, :, :LATE], 1)
    return Verdict(_each(_all(left, 1)), f"a block left in {left.sum()}/{left.size} episodes")


def _mastery(runs: Both) -> Verdict:
    done = _all(runs["drwell"].completed[:, :, LATE:], 1)
    if not done.size:
        return Verdict((), "no episode 5")
    return Verdict(_each(_all(done, 1)), f"all blocks in {done.sum()}/{done.size} episodes")


def _order(runs: Both) -> Verdict:
    steps = runs["drwell"].steps[:, :, LATE:]
    if not steps.size:
        return Verdict((), "no episode 5")
    kept = (steps[:, 2] < steps[:, 1]) & (steps[:, 1] < steps[:, 0])
    return Verdict(_each(_all(kept, 1)), f"this order in {kept.sum()}/{kept.size} episodes")


def _constant(runs: Both, allowed: Floats) -> Verdict:
    ranges = _ranges(runs["drwell"])
    if not ranges.size:
        return Verdict((), "no episode 5")
    texts = ", ".join(f"block {b}: {_spread(ranges[:, b], 0)}" for b in range(ranges.shape[1]))
    return Verdict(_each(_all(ranges <= allowed, 1)), f"range in steps, {texts}")


def _slower(block: int) -> Judge:
    def judge(runs: Both) -> Verdict:
        ours = [_median(row) for row in runs["drwell"].seconds[:, block, LATE:]]
        base = [_median(row) for row in runs["zero_shot"].seconds[:, block]]
        holds = tuple(one is not None and other is not None and one > other for one, other in _pairs(ours, base))
        if runs["drwell"].seconds.shape[2] <= LATE:
            return Verdict((), "no episode 5")
        return Verdict(holds, f"{_of(ours, 1)} s against {_of(base, 1)} s")

    return judge


def _faster(block: int) -> Judge:
    def judge(runs: Both) -> Verdict:
        last = [_median(row) for row in runs["drwell"].steps[:, block, -1:]]
        base = [_median(row) for row in runs["zero_shot"].steps[:, block]]
        holds = tuple(one is not None and other is not None and one < other for one, other in _pairs(last, base))
        return Verdict(holds, f"{_of(last, 0)} steps against {_of(base, 1)}")

    return judge


def _ranges(runs: Runs) -> Floats:
    """Return (seeds, blocks): largest less smallest steps in the late episodes, inf if one is not completed."""
    late = runs.steps[:, :, LATE:]
    if not late.size:
        return np.empty((0, late.shape[1]))
    finite = _all(np.isfinite(late), 2)
    known = np.where(finite[:, :, np.newaxis], late, 0.0)
    return np.where(finite, known.max(axis=2) - known.min(axis=2), np.inf)


def _median(values: Floats) -> float | None:
    """Return the median of the finite values; None if there is none."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else None


def _pairs(one: Sequence[float | None], other: Sequence[float | None]) -> list[tuple[float | None, float | None]]:
    return list(zip(one, other, strict=True))


def _of(values: Sequence[float | None], digits: int) -> str:
    return _spread(np.array([np.inf if value is None else value for value in values]), digits)


def _spread(values: Floats, digits: int) -> str:
    """Return the middle value, and the range where there are several; inf is written as in the tables."""
    middle = np.quantile(values, 0.5, method="inverted_cdf")
    texts = ["∞" if np.isinf(value) else f"{value:.{digits}f}" for value in (middle, values.min(), values.max())]
    return texts[0] if len(values) == 1 else f"{texts[0]} ({texts[1]}–{texts[2]})"


def _all(values: Bools, axis: int | tuple[int, ...]) -> Bools:
    return np.asarray(np.all(values, axis=axis))


def _each(values: Bools) -> tuple[bool, ...]:
    return tuple(bool(value) for value in values)
