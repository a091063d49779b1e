"""The claims on DR. WELL: the paper shows all of its own, and runs made to break one break that one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest

from teamworld.papers.drwell.claims import Judgement, Runs, judge, published_runs

PAPER = published_runs()
NUMBERS = ["1a", "1b", "1c", "2a", "2b", "3a", "3b", "4a", "4b", "4c", "5a", "5b"]


def copied(seeds: int = 1) -> dict[str, Runs]:
    """Return the paper's runs, as if each seed had given the same."""
    return {method: Runs._make(np.repeat(values, seeds, axis=0) for values in runs) for method, runs in PAPER.items()}


def judged(ours: Mapping[str, Runs]) -> dict[str, Judgement]:
    return {trend.number: trend.ours for trend in judge(ours)}


def test_the_paper_shows_every_trend() -> None:
    trends = judge(copied(3))
    assert [trend.number for trend in trends] == NUMBERS
    assert {trend.paper.word for trend in trends} == {"holds"}
    assert {trend.ours.word for trend in trends} == {"holds"}


def test_seeds_that_came_out_alike_are_told() -> None:
    alike = copied(3)["drwell"]
    assert alike.are_alike()
    assert not copied(1)["drwell"].are_alike()
    alike.steps[1, 0, 0] = 1  # it was inf: not completed
    assert not alike.are_alike()


STEPS = PAPER["drwell"].steps[0]


@pytest.mark.parametrize(
    ("method", "values", "place", "value", "broken"),
    [
        pytest.param("zero_shot", "completed", np.s_[:, 1, 3], False, {"1a"}, id="lose block 1"),
        pytest.param("zero_shot", "completed", np.s_[:, 0], True, {"1b"}, id="always block 0"),
        pytest.param("zero_shot", "completed", np.s_[:, 0], np.arange(10) >= 6, {"1c"}, id="improve"),
        pytest.param("drwell", "completed", np.s_[:, :], True, {"2a"}, id="complete all from the first episode on"),
        pytest.param("drwell", "completed", np.s_[:, 0, 8], False, {"2b"}, id="forget"),
        pytest.param("drwell", "steps", np.s_[:, [1, 2], 6], STEPS[[2, 1], 6], {"3a", "3b"}, id="swap"),
        pytest.param("drwell", "steps", np.s_[:, 1, 5], STEPS[1, 5] + 6, {"3b"}, id="jump"),
        pytest.param("drwell", "steps", np.s_[:, 2, 5], np.inf, {"3a", "3b"}, id="miss a late block"),
        pytest.param("drwell", "seconds", np.s_[:, 0, 4:], 5, {"4a"}, id="be quick"),
        pytest.param("zero_shot", "seconds", np.s_[:, 0], np.inf, {"4a"}, id="baseline never"),
        pytest.param("drwell", "steps", np.s_[:, 1, 9], 70, {"3b", "5a"}, id="be slow at the end"),
    ],
)
def test_a_trend_that_is_broken_does_not_hold(
    method: str, values: str, place: tuple[int | slice | list[int], ...], value: npt.ArrayLike, broken: set[str]
) -> None:
    runs = copied(2)
    getattr(runs[method], values)[place] = value
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
    short = {method: Runs._make(values[:, :, :4] for values in runs) for method, runs in copied().items()}
    verdicts = judged(short)
    assert {number for number in NUMBERS if verdicts[number].word == "cannot be said"} == set(NUMBERS[4:10])


def test_the_numbers_are_those_of_the_runs() -> None:
    runs = copied(2)
    runs["zero_shot"].completed[1, 0] = True
    verdict = judged(runs)["1b"]
    assert verdict.text == "share 0.30 (0.30–1.00)"
    assert verdict.holds == (True, False)
