"""The claims on DR. WELL: the published runs, and one rule for each claim, for the paper's runs and for ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from teamworld.papers.reproduction import load_yaml
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

    def are_alike(self) -> bool:
        """Return whether several seeds came out the same in all that is compared."""
        return len(self.steps) > 1 and all((array == array[:1]).all() for array in (self.steps, self.seconds))


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


@cache
def published_runs() -> RunsByMethod:
    """Return the paper's runs, of one seed. Completion is the heat map's, which other figures contradict in places."""
    values = load_yaml("drwell", "published")
    return {
        method: Runs(
            np.array([[list(row) for row in values["completion"][method]]]) == "C",
            np.array([values["steps"][method]], np.float64),
            np.array([values["seconds"][method]], np.float64),
        )
        for method in METHODS
    }


def judge(ours: RunsByMethod) -> list[Trend]:
    """Judge every claim, by the paper's runs and by ours: ``zero_shot`` and ``drwell``; blocks 0, 1, 2."""
    limits = ", ".join(f"block {block}: {limit:.0f}" for block, limit in enumerate(_largest_ranges()))
    trends = []
    for claim in load_yaml("drwell", "claims")["claims"]:
        rule, block = _RULES[claim["judge"]], claim.get("block", 0)
        paper, own = (
            Judgement((), "no episode 5")
            if claim.get("late") and runs["drwell"].steps.shape[2] <= LATE
            else rule(runs["zero_shot"], runs["drwell"], block)
            for runs in (published_runs(), ours)
        )
        trends.append(Trend(str(claim["number"]), claim["claim"], claim["rule"].format(limits=limits), paper, own))
    return trends


# ---- rules: of the baseline's runs, DR. WELL's, and the block that the claim is about


def _easy_blocks(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    done = baseline.completed[:, 1:]
    counts = ", ".join(f"block {b}: {done[:, b - 1].sum()}/{done[:, b - 1].size}" for b in (1, 2))
    return Judgement(_by_seed(_all(done, (1, 2))), f"{counts} episodes")


def _hard_block(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    share = baseline.completed[:, block].mean(axis=1)
    return Judgement(_by_seed((share >= 0.3 - 1e-9) & (share <= 0.5 + 1e-9)), f"share {_spread(share, 2)}")


def _no_improvement(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    done = baseline.completed[:, block].astype(np.float64)
    half = done.shape[1] // 2
    gains = (done[:, -half:].mean(axis=1) - done[:, :half].mean(axis=1)).tolist() if half else []
    interval = mean_interval(gains)
    if interval is None:
        return Judgement((), "one episode only")
    bounds = f" [{interval.low:+.2f}, {interval.high:+.2f}]" if interval.n > 1 else ""
    return Judgement((interval.low <= 0,), f"difference {interval.mean:+.2f}{bounds}")


def _exploration(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    left = ~_all(drwell.completed[:, :, :LATE], 1)
    return Judgement(_by_seed(_all(left, 1)), f"a block left in {left.sum()}/{left.size} episodes")


def _mastery(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    done = _all(drwell.completed[:, :, LATE:], 1)
    return Judgement(_by_seed(_all(done, 1)), f"all blocks in {done.sum()}/{done.size} episodes")


def _order(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    steps = drwell.steps[:, :, LATE:]
    kept = (steps[:, 2] < steps[:, 1]) & (steps[:, 1] < steps[:, 0])
    return Judgement(_by_seed(_all(kept, 1)), f"this order in {kept.sum()}/{kept.size} episodes")


def _constant_times(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    ranges = _ranges(drwell)
    texts = ", ".join(f"block {b}: {_spread(ranges[:, b], 0)}" for b in range(ranges.shape[1]))
    return Judgement(_by_seed(_all(ranges <= _largest_ranges(), 1)), f"range in steps, {texts}")


def _slower(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    late, usual = _medians(drwell.seconds[:, block, LATE:]), _medians(baseline.seconds[:, block])
    return Judgement(_less(usual, late), f"{_spread(late, 1)} s against {_spread(usual, 1)} s")


def _faster(baseline: Runs, drwell: Runs, block: int) -> Judgement:
    last, usual = _medians(drwell.steps[:, block, -1:]), _medians(baseline.steps[:, block])
    return Judgement(_less(last, usual), f"{_spread(last, 0)} steps against {_spread(usual, 1)}")


_RULES: Final = {
    rule.__name__[1:]: rule
    for rule in (
        *(_easy_blocks, _hard_block, _no_improvement, _exploration),
        *(_mastery, _order, _constant_times, _slower, _faster),
    )
}


def _less(values: Floats, others: Floats) -> tuple[bool, ...]:
    """Return by seed whether a median is the smaller one; inf stands for no completed episode: nothing can be said."""
    return _by_seed(np.isfinite(values) & np.isfinite(others) & (values < others))


def _ranges(runs: Runs) -> Floats:
    """Return (seeds, blocks): largest less smallest steps in the late episodes, inf if one is not completed."""
    late = runs.steps[:, :, LATE:]
    known = np.where(np.isfinite(late), late, 0.0)
    return np.where(_all(np.isfinite(late), 2), np.ptp(known, axis=2), np.inf)


def _largest_ranges() -> Floats:
    """Return by block the paper's own range, and twice the reading error."""
    ranges: Floats = _ranges(published_runs()["drwell"])[0] + 2 * load_yaml("drwell", "published")["reading_error"]
    return ranges


def _medians(rows: Floats) -> Floats:
    """Return the median of the finite values of each row; inf if it has none."""
    return np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.inf for row in rows])


def _spread(values: Floats, digits: int) -> str:
    """Return the middle value, and the range where there are several; inf is written as in the tables."""
    middle = np.quantile(values, 0.5, method="inverted_cdf")
    texts = [number_text(value, digits) for value in (middle, values.min(), values.max())]
    return texts[0] if len(values) == 1 else f"{texts[0]} ({texts[1]}–{texts[2]})"


def number_text(value: float, digits: int) -> str:
    """Return a number as tables show it."""
    return "∞" if np.isinf(value) else f"{value:.{digits}f}"


def _all(values: Bools, axis: int | tuple[int, ...]) -> Bools:
    return np.asarray(values.all(axis))


def _by_seed(holds: Bools) -> tuple[bool, ...]:
    return tuple(holds.tolist())
