"""Guidebook, library and ranking, against worked examples and against sums made the slow way."""

from __future__ import annotations

import random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.memory.contract import GuideEntry, PlanInstance, Ranking, TeamRecord
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
            start=team,  # so that teams of several sizes are no partners
            end=team + duration,
            progress=4 if success else progress,
            team=team,
            episode=number,
            cause="" if success else "stuck",
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
    failed = {"success": False, "cause": "stuck"}
    world_model = learnt(
        [
            instance(team=2, start=0, end=20),
            instance(team=2, start=10, end=22),
            instance(team=1, start=5, end=45),
            instance(team=1, start=3, end=30, progress=1, **failed),
            instance(team=3, start=40, end=50, progress=0, **failed),
            instance(team=3, start=60, end=70, success=False, progress=0, cause="goal_open"),  # a search
            instance(team=3, start=80, end=90, cut=True, **failed),  # replaced
            instance(task="block_2", team=9),
        ]
    )
    guide = world_model.guide("block_1")
    assert guide == GuideEntry(
        attempts=5,
        successes=3,
        progress=0.65,
        steps=21.8,
        mean_duration=24.0,
        shortest=12,
        team=2,
        smallest=1,
        teams=(TeamRecord(1, 2, 1, 0.625), TeamRecord(2, 2, 2, 1.0), TeamRecord(3, 1, 0, 0.0)),
        earliest_start=0,  # of the successes, as is the latest
        latest_start=10,
        causes=(("stuck", 2),),
        verdict="moderate",
    )


def test_partners_who_begin_together_make_one_attempt() -> None:
    def joint(**changes: Any) -> list[PlanInstance]:
        return [instance(agent=agent, team=2, **changes) for agent in ("a", "b")]

    both = [*joint(start=0), *joint(start=20, end=44, success=False, progress=1, cause="stuck")]
    guide = learnt(both).guide("block_1")
    assert (guide.attempts, guide.successes, guide.progress, guide.causes) == (2, 1, 0.625, (("stuck", 1),))
    (record,) = learnt(both).library("block_1").plans
    assert (record.attempts, record.successes) == (2, 1)
    # What one of them did counts for both, as do the steps until then.
    one = learnt([instance(agent="a", end=12), instance(agent="b", end=30, success=False, progress=0, cause="stuck")])
    assert (one.guide("block_1").attempts, one.guide("block_1").steps, one.guide("block_1").progress) == (1, 12, 1)


def test_what_helped_other_goals_is_no_failure() -> None:
    aside = instance(success=False, progress=0, cause="stuck", credit=333_333, helped=("block_0",))
    entry = learnt([aside]).guide("block_1")
    assert entry.progress == pytest.approx(1 / 3, abs=1e-6)
    assert entry.verdict == "challenging"


def test_what_is_not_known_is_untested_and_empty() -> None:
    memory = WorldModel()
    guide = memory.guide("block_1")
    assert (guide.attempts, guide.progress, guide.verdict, guide.team) == (0, None, "untested", None)
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


def test_a_page_of_the_library() -> None:
    library = learnt(
        tried("p", 1, 2, team=2, progress=1), [instance(lifted="p", prototype="p", start=50, end=80)]
    ).library("block_1")
    (record,) = library.plans
    assert library.attempts == 3
    assert record == ("p", 3, 2, 0.75, 50 / 3, 20.0, 5 / 3, (("stuck", 1),))


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
def test_what_never_did_anything_comes_last_the_less_tried_first(ranking: Ranking) -> None:
    groups = (tried("never", 0, 5), tried("none", 0, 1), tried("near", 0, 2, progress=3))
    assert order(*groups, ranking=ranking) == ["near", "none", "never"]


def test_a_plan_that_did_most_of_the_work_beats_one_that_seldom_finishes() -> None:
    near, rare = tried("near", 0, 3, progress=3), tried("rare", 1, 30, duration=10)
    assert order(near, rare, ranking="expected") == order(near, rare, ranking="wilson") == ["near", "rare"]
    assert order(near, rare, ranking="rate") == ["rare", "near"]  # as in the paper: finished plans alone


def test_the_wilson_bound_of_nine_in_ten() -> None:
    assert wilson(9, 10) == pytest.approx(0.5958500)  # statsmodels: proportion_confint(9, 10, method="wilson")
    assert wilson(1, 1) == pytest.approx(0.2065493)
    assert wilson(0, 5) == pytest.approx(0.0, abs=1e-12)


def test_the_best_task_is_the_one_that_went_best() -> None:
    def moved(group: list[PlanInstance], task: str) -> list[PlanInstance]:
        return [
            instance(task=task, episode=one.episode, success=one.success, progress=one.progress, end=one.end)
            for one in group
        ]

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
    guides = [world_model.guide(task) for task in TASKS]
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
    summed = WorldModel.from_rows(one.rows(), one.team_rows(), one.cause_rows(), ranking)
    assert list(summed.team_rows()) == list(one.team_rows())
    assert everything(summed) == everything(one)
    assert list(summed.rows()) == list(one.rows())


@given(st.lists(instances(1), min_size=1, max_size=25))
def test_a_page_adds_up(instances_drawn: list[PlanInstance]) -> None:
    world_model = learnt(instances_drawn)
    for task in TASKS:
        mine = [one for one in instances_drawn if one.task == task and not one.cut]
        attempts = {(one.goal, one.start) for one in mine if not one.is_preparation}
        starts = [one.start for one in mine if one.success]
        guide, library = world_model.guide(task), world_model.library(task)
        assert guide.attempts == len(attempts) == sum(team.attempts for team in guide.teams)
        assert guide.successes == len({(one.goal, one.start) for one in mine if one.success})
        assert guide.team in {one.team for one in mine} | {None}
        assert (guide.team is None) == (not starts)
        assert guide.earliest_start == min(starts, default=None)
        assert guide.latest_start == max(starts, default=None)
        assert guide.progress is None or 0 <= guide.progress <= 1
        for part in (library.plans, library.prototypes):
            assert sum(record.attempts for record in part) == library.attempts <= len(mine)
            did = [bool(record.progress) for record in part]
            assert did == sorted(did, reverse=True)
