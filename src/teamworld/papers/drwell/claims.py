"""The judges of the claims on DR. WELL: one rule each, for the published values and for ours (claims.yaml)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from teamworld.papers.page import data
from teamworld.report.statistics import mean_interval

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: The methods that the paper compares, by our names.
METHODS = ("zero_shot", "drwell")
#: Episodes before this one are exploratory in the paper; counted from 0.
LATE = 4


class Runs(NamedTuple):
    """Episodes in a row of one method, for one or more seeds."""

    completed: Bools
    """(seeds, blocks, episodes): the block was delivered."""
    steps: Floats
    """(seeds, blocks, episodes): steps of the environment at completion, inf where not completed."""
    seconds: Floats
    """(seeds, blocks, episodes): seconds at completion, inf where not completed."""


#: The runs of both methods.
RunsByMethod = Mapping[str, Runs]


class Judgement(NamedTuple):
    """What some runs show of one claim."""

    holds: tuple[bool, ...]
    """By seed; one entry where all seeds are judged together; empty where there are too few episodes to say."""
    text: str
    """The numbers."""

    @property
    def word(self) -> str:
        """The verdict in words."""
        if not self.holds:
            return "cannot be said"
        if len(set(self.holds)) == 1:
            return "holds" if self.holds[0] else "does not hold"
        return f"holds in {sum(self.holds)} of {len(self.holds)} seeds"


class Trend(NamedTuple):
    """One claim with what the paper and our runs show of it."""

    number: str
    claim: str
    rule: str
    paper: Judgement
    ours: Judgement


def judge(paper: RunsByMethod, ours: RunsByMethod, reading_error: float) -> list[Trend]:
    """Judge every claim.

    Args:
        paper: The published runs by method: ``zero_shot`` and ``drwell``; blocks 0, 1, 2.
        ours: Ours in the same form.
        reading_error: Largest error of a published value.
    """
    allowed = _ranges(paper["drwell"])[0] + 2 * reading_error
    limits = ", ".join(f"block {block}: {limit:.0f}" for block, limit in enumerate(allowed))
    rules: dict[str, Callable[[RunsByMethod, int], Judgement]] = {
        "easy_blocks": _easy_blocks,
        "hard_block": _hard_block,
        "no_improvement": _no_improvement,
        "exploration": _exploration,
        "mastery": _mastery,
        "order": _order,
        "constant_times": lambda runs, block: _constant_times(runs, allowed),
        "slower": _slower,
        "faster": _faster,
    }
    trends = []
    for claim in data("drwell", "claims")["claims"]:
        rule, block = rules[claim["judge"]], claim.get("block", 0)
        words = claim["rule"].format(limits=limits)
        trends.append(Trend(str(claim["number"]), claim["claim"], words, rule(paper, block), rule(ours, block)))
    return trends


_NO_LATE_EPISODE = Judgement((), "no episode 5")


def _easy_blocks(runs: RunsByMethod, block: int) -> Judgement:
    done = runs["zero_shot"].completed[:, 1:]
    counts = ", ".join(f"block {b}: {done[:, b - 1].sum()}/{done[:, b - 1].size}" for b in (1, 2))
    return Judgement(_by_seed(_all(done, (1, 2))), f"{counts} episodes")


def _hard_block(runs: RunsByMethod, block: int) -> Judgement:
    share = runs["zero_shot"].completed[:, block].mean(axis=1)
    return Judgement(_by_seed((share >= 0.3 - 1e-9) & (share <= 0.5 + 1e-9)), f"share {_spread(share, 2)}")


def _no_improvement(runs: RunsByMethod, block: int) -> Judgement:
    done = runs["zero_shot"].completed[:, block].astype(np.float64)
    half = done.shape[1] // 2
    if half == 0:
        return Judgement((), "one episode only")
    interval = mean_interval((done[:, -half:].mean(axis=1) - done[:, :half].mean(axis=1)).tolist())
    if interval is None:
        return Judgement((), "no seed")
    bounds = f" [{interval.low:+.2f}, {interval.high:+.2f}]" if interval.n > 1 else ""
    return Judgement((interval.low <= 0,), f"difference {interval.mean:+.2f}{bounds}")


def _exploration(runs: RunsByMethod, block: int) -> Judgement:
    left = ~_all(runs["drwell"].completed[:, :, :LATE], 1)
    return Judgement(_by_seed(_all(left, 1)), f"a block left in {left.sum()}/{left.size} episodes")


def _mastery(runs: RunsByMethod, block: int) -> Judgement:
    done = _all(runs["drwell"].completed[:, :, LATE:], 1)
    if not done.size:
        return _NO_LATE_EPISODE
    return Judgement(_by_seed(_all(done, 1)), f"all blocks in {done.sum()}/{done.size} episodes")


def _order(runs: RunsByMethod, block: int) -> Judgement:
    steps = runs["drwell"].steps[:, :, LATE:]
    if not steps.size:
        return _NO_LATE_EPISODE
    kept = (steps[:, 2] < steps[:, 1]) & (steps[:, 1] < steps[:, 0])
    return Judgement(_by_seed(_all(kept, 1)), f"this order in {kept.sum()}/{kept.size} episodes")


def _constant_times(runs: RunsByMethod, allowed: Floats) -> Judgement:
    ranges = _ranges(runs["drwell"])
    if not ranges.size:
        return _NO_LATE_EPISODE
    texts = ", ".join(f"block {b}: {_spread(ranges[:, b], 0)}" for b in range(ranges.shape[1]))
    return Judgement(_by_seed(_all(ranges <= allowed, 1)), f"range in steps, {texts}")


def _slower(runs: RunsByMethod, block: int) -> Judgement:
    late = runs["drwell"].seconds[:, block, LATE:]
    if not late.size:
        return _NO_LATE_EPISODE
    drwell, baseline = _medians(late), _medians(runs["zero_shot"].seconds[:, block])
    return Judgement(_less(baseline, drwell), f"{_spread(drwell, 1)} s against {_spread(baseline, 1)} s")


def _faster(runs: RunsByMethod, block: int) -> Judgement:
    last, baseline = _medians(runs["drwell"].steps[:, block, -1:]), _medians(runs["zero_shot"].steps[:, block])
    return Judgement(_less(last, baseline), f"{_spread(last, 0)} steps against {_spread(baseline, 1)}")


def _less(values: Floats, others: Floats) -> tuple[bool, ...]:
    """Return by seed whether a median is the smaller one; inf stands for no completed episode: nothing can be said."""
    return _by_seed(np.isfinite(values) & np.isfinite(others) & (values < others))


def _ranges(runs: Runs) -> Floats:
    """Return (seeds, blocks): largest less smallest steps in the late episodes, inf if one is not completed."""
    late = runs.steps[:, :, LATE:]
    if not late.size:
        return np.empty((0, late.shape[1]))
    finite = _all(np.isfinite(late), 2)
    known = np.where(finite[:, :, np.newaxis], late, 0.0)
    return np.where(finite, known.max(axis=2) - known.min(axis=2), np.inf)


def _medians(rows: Floats) -> Floats:
    """Return the median of the finite values of each row; inf if it has none."""
    return np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.inf for row in rows])


def _spread(values: Floats, digits: int) -> str:
    """Return the middle value, and the range where there are several; inf is written as in the tables."""
    middle = np.quantile(values, 0.5, method="inverted_cdf")
    texts = ["∞" if np.isinf(value) else f"{value:.{digits}f}" for value in (middle, values.min(), values.max())]
    return texts[0] if len(values) == 1 else f"{texts[0]} ({texts[1]}–{texts[2]})"


def _all(values: Bools, axis: int | tuple[int, ...]) -> Bools:
    return np.asarray(np.all(values, axis=axis))


def _by_seed(holds: Bools) -> tuple[bool, ...]:
    return tuple(holds.tolist())
