"""The derived views, each against an example worked by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from teamworld.memory.contract import Instance, MemoryDelta
from teamworld.memory.store import MemoryStore
from teamworld.memory.views import (
    Context,
    EnoughAgents,
    PlanChange,
    commitment_outcomes,
    contexts,
    edit_of,
    enough_agents,
    plan_changes,
)
from tests.memory.samples import instance, runs


def several(successes: int, attempts: int, **given: Any) -> list[Instance]:
    return [instance(success=number < successes, **given) for number in range(attempts)]


def test_template_contexts_by_task_time_team_communication_and_prototype() -> None:
    rows = contexts(
        [
            instance(start=9, end=19),
            instance(start=0, end=20, success=False),
            instance(start=3, end=33),
            instance(start=10, end=30),
            instance(start=3, end=33, communication="none"),
        ]
    )
    assert [(row.context, row.tally.attempts, row.tally.rate, row.tally.mean_duration) for row in rows] == [
        (Context("block_1", 0, 1, "negotiated", "push"), 3, 2 / 3, 20.0),
        (Context("block_1", 0, 1, "none", "push"), 1, 1.0, 30.0),
        (Context("block_1", 1, 1, "negotiated", "push"), 1, 1.0, 20.0),
    ]


def test_commitment_outcomes_put_prototypes_and_communication_together() -> None:
    rows = contexts(
        [
            instance(team=2, end=10),
            instance(team=2, end=16, prototype="meet > push", communication="none"),
            instance(team=2, end=99, success=False),
            instance(team=1, success=False),
        ]
    )
    one, two = commitment_outcomes(rows)
    assert (one.task, one.bucket, one.team, one.tally.rate, one.tally.mean_duration) == ("block_1", 0, 1, 0.0, None)
    assert (two.team, two.tally.attempts, two.tally.successes) == (2, 3, 2)
    assert (two.tally.mean_duration, two.tally.shortest, two.tally.longest) == (13.0, 10, 16)
    assert two.communication == (("negotiated", 2), ("none", 1))


def test_enough_agents_is_the_smallest_team_within_five_per_cent_of_the_best() -> None:
    rows = contexts(
        [
            *several(18, 20, team=1),  # 0.90 < 0.95 * 0.98
            *several(19, 20, team=2),  # 0.95 is enough
            *several(49, 50, team=3),
            *several(0, 4, team=1, start=10),  # never done at that time: no answer
        ]
    )
    assert enough_agents(rows) == (EnoughAgents("block_1", 0, 2, 0.95, 0.98),)


def test_plan_changes_are_those_for_the_better_in_one_context() -> None:
    rows = contexts(
        [
            *several(1, 4, prototype="push"),
            *several(3, 4, prototype="meet > push"),
            *several(3, 4, prototype="wait"),
            *several(4, 4, prototype="meet", team=2),
        ]
    )
    context = Context("block_1", 0, 1, "negotiated", "push")
    assert plan_changes(rows) == (
        PlanChange(context, "meet > push", 0.5, "insert", (4, 4)),
        PlanChange(context, "wait", 0.5, "other", (4, 4)),
    )


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("push", "meet > push", "insert"),
        ("a > c", "a > b > c > d", "insert"),
        ("meet > push", "push", "delete"),
        ("a > b > c", "a > x > c", "replace"),
        ("a > b > c", "x > y > c", "replace"),
        ("a > b > c", "x > b > y", "other"),
        ("a > b", "b > a", "other"),
        ("a", "b", "other"),
        ("a > b", "c", "other"),
    ],
)
def test_kinds_of_edit(old: str, new: str, edit: str) -> None:
    assert edit_of(old, new) == edit


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path_factory.mktemp("views") / "memory.sqlite") as opened:
        yield opened


@given(deltas=runs())
def test_the_database_sums_up_as_the_views_do(store: MemoryStore, deltas: list[MemoryDelta]) -> None:
    run = f"run {len(store.runs())}"
    for delta in deltas:
        store.commit(run, delta)
    assert store.contexts(run) == contexts(one for delta in deltas for one in delta.instances)
