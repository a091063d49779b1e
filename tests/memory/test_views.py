"""Kinds of plans by context, and what a change gained, against worked examples."""

from __future__ import annotations

import json

import pytest

from teamworld.memory.contract import MemoryDelta
from teamworld.memory.graph import to_json
from teamworld.memory.views import PlanContext, classify_edit, plan_deltas, template_contexts
from tests.memory.samples import delta, instance

FAILED = {"success": False, "progress": 1, "cause": "stuck"}


def deltas() -> list[MemoryDelta]:
    return [
        delta(
            1,
            instance(prototype="push"),
            instance(prototype="push", agent="b"),
            instance(start=25, end=40, prototype="push"),
        ),
        delta(
            2, instance(episode=2, prototype="push", **FAILED), instance(episode=2, prototype="meet > push", start=4)
        ),
        delta(3, instance(episode=3, prototype="push", cut=True, **FAILED)),
    ]


def test_kinds_of_plans_by_context() -> None:
    early, late = PlanContext("block_1", 0, 1, "negotiated"), PlanContext("block_1", 2, 1, "negotiated")
    assert template_contexts(deltas()) == [
        (early, "meet > push", 1, 1, 1.0, 6.0),
        (early, "push", 2, 1, 0.625, 10.0),  # partners who begin together make one attempt; what was replaced is none
        (late, "push", 1, 1, 1.0, 15.0),
    ]


def test_what_another_kind_of_plan_gained() -> None:
    (found,) = plan_deltas(template_contexts(deltas()))
    assert found == (PlanContext("block_1", 0, 1, "negotiated"), "push", "meet > push", 0.375, "insert")


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        ("a > b", "a > c > b", "insert"),
        ("a > c > b", "a > b", "delete"),
        ("a > b", "a > c", "replace"),
        ("a > b", "c > d", "other"),
        ("a", "a > b > c", "other"),
        ("a", "b > c", "other"),
    ],
)
def test_kinds_of_edits(before: str, after: str, edit: str) -> None:
    assert classify_edit(before, after) == edit


def test_the_views_stand_in_the_file_of_the_graph() -> None:
    data = to_json(deltas(), views=True)
    assert [line["prototype"] for line in data["template_contexts"]] == ["meet > push", "push", "push"]
    assert data["plan_deltas"][0]["gain"] == 0.375
    assert data["plan_deltas"][0]["context"]["task"] == "block_1"
    json.dumps(data)
