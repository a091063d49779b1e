"""The claims on DR. WELL: the paper shows all of its own, and runs made to break one break that one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from teamworld.papers.drwell import published
from teamworld.papers.drwell.claims import Judgement, Runs, judge

PAPER = published()
NUMBERS = ["1a", "1b", "1c", "2a", "2b", "3a", "3b", "4a", "4b", "4c", "5a", "5b"]
Runs2 = dict[str, Runs]


def copied(seeds: int = 1) -> Runs2:
    """Return the paper's runs, as if each seed had given the same."""
    return {
        method: Runs(
            np.repeat(runs.completed, seeds, axis=0),
            np.repeat(runs.steps, seeds, axis=0),
            np.repeat(runs.seconds, seeds, axis=0),
        )
        for method, runs in PAPER.runs.items()
    }


def judged(ours: Mapping[str, Runs]) -> dict[str, Judgement]:
    return {trend.number: trend.ours for trend in judge(PAPER.runs, ours, PAPER.reading_error)}


def test_the_paper_shows_every_trend() -> None:
    trends = judge(PAPER.runs, copied(3), PAPER.reading_error)
    assert [trend.number for trend in trends] == NUMBERS
    assert {trend.paper.word for trend in trends} == {"holds"}
    assert {trend.ours.word for trend in trends} == {"holds"}


def _lose_block_1(runs: Runs2) -> None:
    runs["zero_shot"].completed[:, 1, 3] = False


def _always_block_0(runs: Runs2) -> None:
    runs["zero_shot"].completed[:, 0] = True


def _improve(runs: Runs2) -> None:
    runs["zero_shot"].completed[:, 0] = np.arange(10) >= 6


def _know_it_all(runs: Runs2) -> None:
    runs["drwell"].completed[:] = True


def _forget(runs: Runs2) -> None:
    runs["drwell"].completed[:, 0, 8] = False


def _swap(runs: Runs2) -> None:
    steps = runs["drwell"].steps
    steps[:, [1, 2], 6] = steps[:, [2, 1], 6]


def _jump(runs: Runs2) -> None:
    runs["drwell"].steps[:, 1, 5] += 6


def _never_late(runs: Runs2) -> None:
    runs["drwell"].steps[:, 2, 5] = np.inf


def _quick(runs: Runs2) -> None:
    runs["drwell"].seconds[:, 0, 4:] = 5


def _baseline_never(runs: Runs2) -> None:
    runs["zero_shot"].seconds[:, 0] = np.inf


def _slow_at_the_end(runs: Runs2) -> None:
    runs["drwell"].steps[:, 1, 9] = 70


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (_lose_block_1, {"1a"}),
        (_always_block_0, {"1b"}),
        (_improve, {"1c"}),
        (_know_it_all, {"2a"}),
        (_forget, {"2b"}),
        (_swap, {"3a", "3b"}),
        (_jump, {"3b"}),
        (_never_late, {"3a", "3b"}),
        (_quick, {"4a"}),
        (_baseline_never, {"4a"}),
        (_slow_at_the_end, {"3b", "5a"}),
    ],
)
def test_a_trend_that_is_broken_does_not_hold(change: Callable[[Runs2], None], broken: set[str]) -> None:
    runs = copied(2)
    change(runs)
    verdicts = judged(runs)
    assert {number for number, verdict in verdicts.items() if verdict.word == "does not hold"} == broken
    assert {number for number, verdict in verdicts.items() if verdict.word == "holds"} == set(NUMBERS) - broken


def test_seeds_are_counted_one_by_one() -> None:
    runs = copied(3)
    runs["drwell"].completed[1, 0, 8] = False
    verdict = judged(runs)["2b"]
    assert verdict.holds == (True, False, True)
    assert verdict.word == "holds in 2 of 3 seeds"
    assert "17/18" in verdict.text


def test_too_few_episodes_give_no_verdict() -> None:
    short = {
        method: Runs(runs.completed[:, :, :4], runs.steps[:, :, :4], runs.seconds[:, :, :4])
        for method, runs in copied().items()
    }
    verdicts = judged(short)
    assert {number for number in NUMBERS if verdicts[number].word == "cannot be said"} == set(NUMBERS[4:10])


def test_the_numbers_are_those_of_the_runs() -> None:
    runs = copied(2)
    runs["zero_shot"].completed[1, 0] = True
    verdict = judged(runs)["1b"]
    assert verdict.text == "share 0.30 (0.30–1.00)"
    assert verdict.holds == (True, False)
