"""Guidebook, library and ranking, against worked examples and against sums made the slow way."""

from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.memory.contract import GuideEntry, PlanInstance, Ranking, StartRecord
from teamworld.memory.guidebook import WorldModel, verdict, wilson
from tests.memory.samples import TASKS, instance, instances

RANKINGS: tuple[Ranking, ...] = get_args(Ranking)


def tried(
    text: str, successes: int, attempts: int, duration: int = 10, team: int = 1, progress: int = 0
) -> list[PlanInstance]:
    """Attempts at a plan of which the first so many succeeded."""
    return [
        instance(
            lifted=text,
            prototype=text,
            success=(success := number < successes),
            end=duration,
            progress=4 if success else progress,
            team=team,
        )
        for number in range(attempts)
    ]


def learnt(*groups: list[PlanInstance], ranking: Ranking = "expected") -> WorldModel:
    world_model = WorldModel(ranking)
    for group in groups:
        for attempt in group:
            world_model.add(attempt)
    return world_model


def order(*groups: list[PlanInstance], ranking: Ranking = "expected") -> list[str]:
    library = learnt(*groups, ranking=ranking).library("block_1")
    assert [record.text for record in library.plans] == [record.text for record in library.prototypes]
    return [record.text for record in library.plans]


def test_a_page_of_the_guidebook() -> None:
    world_model = learnt(
        [
            instance(team=2, start=0, end=20),
            instance(team=2, start=10, end=22),
            instance(team=1, start=5, end=45),
            instance(team=1, start=3, end=30, success=False, progress=1),
            instance(team=3, start=40, end=50, success=False, progress=0),
            instance(task="block_2", team=9),
        ]
    )
    guide = world_model.guide("block_1")
    assert guide == GuideEntry(
        attempts=5,
        successes=3,
        mean_duration=24.0,
        team=2,
        earliest_start=0,  # of the successes, as is the latest
        latest_start=10,
        verdict="moderate",
        about_now=StartRecord(3, 2),  # begun at ticks 0, 3 and 5
    )


def test_what_is_not_known_is_untested_and_empty() -> None:
    memory = WorldModel()
    guide = memory.guide("block_1")
    assert (guide.attempts, guide.mean_duration, guide.verdict, guide.team) == (0, None, "untested", None)
    assert memory.library("block_1") == (0, (), ())
    assert memory.best() is None
    assert list(WorldModel().rows()) == []


@pytest.mark.parametrize(
    ("rate", "word"),
    [
        (1.0, "highly effective"),
        (0.71, "highly effective"),
        (0.7, "moderate"),
        (0.4, "challenging"),
        (0.1, "needs a new strategy"),
        (0.0, "needs a new strategy"),
        (None, "untested"),
    ],
)
def test_verdicts_begin_above_their_bounds(rate: float | None, word: str) -> None:
    assert verdict(rate) == word


def test_the_recommended_team_performs_best_or_is_the_smallest_that_succeeded() -> None:
    assert learnt(tried("p", 5, 10, team=1), tried("p", 9, 10, team=2)).guide("block_1").team == 2
    assert learnt(tried("p", 1, 20, team=3), tried("p", 1, 20, duration=5, team=4)).guide("block_1").team == 3
    assert learnt(tried("p", 0, 20, team=3)).guide("block_1").team is None


def test_how_it_went_about_that_time() -> None:
    world_model = learnt([instance(start=start, success=start > 25) for start in (0, 9, 10, 19, 20, 29, 30, 39, 40)])
    result = [world_model.guide("block_1", tick).about_now for tick in (0, 10, 19, 25, 45, 60, 1000)]
    assert result == [(2, 0), (2, 0), (2, 0), (2, 1), (1, 1), (0, 0), (0, 0)]
    assert world_model.guide("block_1").about_now == world_model.guide("block_1", 0).about_now


def test_a_page_of_the_library() -> None:
    library = learnt(tried("p", 1, 2, team=2, progress=1), tried("p", 1, 2, team=1, duration=30)).library("block_1")
    (record,) = library.plans
    assert library.attempts == 4
    assert record == ("p", 4, 2, 20.0, 1.5)


def test_few_samples_do_not_beat_many() -> None:
    few, many = tried("few", 1, 1, duration=25), tried("many", 9, 10, duration=30)
    assert order(few, many, ranking="expected") == ["many", "few"]
    assert order(tried("few", 1, 1, duration=20), many, ranking="expected") == ["few", "many"]  # much quicker: worth it
    assert order(few, many, ranking="wilson") == ["many", "few"]
    assert order(few, many, ranking="rate") == ["few", "many"]  # as the paper states it


def test_in_one_class_the_faster_plan_is_better() -> None:
    assert order(tried("slow", 10, 10, duration=30), tried("fast", 9, 10, duration=12)) == ["fast", "slow"]
    assert order(tried("less", 8, 8), tried("more", 9, 9)) == ["more", "less"]


def test_ties_go_by_attempts_then_duration_then_text() -> None:
    assert order(tried("b", 2, 2), tried("a", 4, 4), ranking="rate") == ["a", "b"]
    assert order(tried("b", 2, 2, duration=9), tried("a", 2, 2, duration=10), ranking="rate") == ["b", "a"]
    for ranking in RANKINGS:
        assert order(tried("b", 2, 3), tried("a", 2, 3), ranking=ranking) == ["a", "b"]


@pytest.mark.parametrize("ranking", RANKINGS)
def test_what_never_succeeded_comes_last_by_progress(ranking: Ranking) -> None:
    rare = tried("rare", 1, 30, duration=99)
    groups = (tried("none", 0, 1), tried("often", 0, 5, progress=3), tried("near", 0, 2, progress=3), rare)
    assert order(*groups, ranking=ranking) == ["rare", "near", "often", "none"]


def test_the_wilson_bound_of_nine_in_ten() -> None:
    assert wilson(9, 10) == pytest.approx(0.5958500)  # statsmodels: proportion_confint(9, 10, method="wilson")
    assert wilson(1, 1) == pytest.approx(0.2065493)
    assert wilson(0, 5) == pytest.approx(0.0, abs=1e-12)


def test_the_best_task_is_the_one_that_went_best() -> None:
    def moved(group: list[PlanInstance], task: str) -> list[PlanInstance]:
        return [instance(task=task, success=attempt.success, end=attempt.end) for attempt in group]

    sure, once, never = tried("p", 9, 10), tried("p", 1, 1), tried("p", 0, 3)
    assert learnt(moved(sure, "sure"), moved(once, "once"), moved(never, "no")).best() == "sure"
    assert learnt(moved(never, "no")).best() is None


def test_another_ranking_of_the_same_memory() -> None:
    memory = learnt(tried("few", 1, 1), tried("many", 8, 10))
    paper = memory.ranked("rate")
    assert [record.text for record in paper.library("block_1").plans] == ["few", "many"]
    assert [record.text for record in memory.library("block_1").plans] == ["many", "few"]
    paper.add(instance(lifted="new"))
    assert memory.library("block_1").attempts == paper.library("block_1").attempts == 12


def everything(world_model: WorldModel) -> list[object]:
    guides = [world_model.guide(task, tick) for task in TASKS for tick in (0, 17, 60)]
    return [world_model.best(), *guides, *map(world_model.library, TASKS)]


@pytest.mark.heavy
@given(st.lists(instances(1), max_size=25), st.sampled_from(RANKINGS), st.randoms(use_true_random=False))
def test_neither_order_nor_summing_up_changes_an_answer(
    instances_drawn: list[PlanInstance], ranking: Ranking, shuffler: random.Random
) -> None:
    one = learnt(instances_drawn, ranking=ranking)
    mixed = list(instances_drawn)
    shuffler.shuffle(mixed)
    assert everything(learnt(mixed, ranking=ranking)) == everything(one)
    summed = WorldModel.from_rows(one.rows(), one.start_rows(), ranking)
    assert list(summed.start_rows()) == list(one.start_rows())
    assert everything(summed) == everything(one)
    assert list(summed.rows()) == list(one.rows())


@given(st.lists(instances(1), min_size=1, max_size=25))
def test_a_page_adds_up(instances_drawn: list[PlanInstance]) -> None:
    world_model = learnt(instances_drawn)
    for task in TASKS:
        mine = [one for one in instances_drawn if one.task == task]
        wins = [one.duration for one in mine if one.success]
        starts = [one.start for one in mine if one.success]
        guide, library = world_model.guide(task), world_model.library(task)
        assert (guide.attempts, guide.successes) == (len(mine), len(wins))
        assert guide.mean_duration == (sum(wins) / len(wins) if wins else None)
        assert guide.team in {one.team for one in mine if one.success} | ({None} if not wins else set())
        assert guide.earliest_start == min(starts, default=None)
        assert guide.latest_start == max(starts, default=None)
        assert library.attempts == len(mine)
        for part in (library.plans, library.prototypes):
            assert sum(record.attempts for record in part) == len(mine)
            worked = [bool(record.successes) for record in part]
            assert worked == sorted(worked, reverse=True)
        for record in library.plans:
            same = [one for one in mine if one.lifted == record.text]
            assert record.mean_team == sum(one.team for one in same) / len(same)
