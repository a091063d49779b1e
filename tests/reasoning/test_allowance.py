"""Tokens of an episode: never more than allowed as long as questions are alike, and spread over its steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.reasoning.allowance import TokenAllowance


@given(st.integers(0, 10_000), st.integers(1, 500), st.integers(1, 50))
def test_questions_of_one_size_never_take_more_than_allowed_but_for_the_first(
    limit: int, size: int, steps: int
) -> None:
    allowance = TokenAllowance(limit, steps)
    while allowance.affords():
        allowance.take(size)
    assert allowance.taken <= max(limit, size)
    assert allowance.taken + size > limit or limit == 0
    assert (limit == 0) == (allowance.asked == 0)


@given(st.integers(1, 10_000), st.integers(1, 500), st.integers(1, 50))
def test_by_each_step_no_more_is_taken_than_is_due(limit: int, size: int, steps: int) -> None:
    allowance = TokenAllowance(limit, steps)
    allowance.take(size)
    for step in range(2 * steps):
        while allowance.affords_step(step):
            allowance.take(size)
            assert allowance.taken <= limit * min(1.0, (step + 1) / steps)
    assert allowance.taken + size > limit


def test_an_episode_without_steps_has_all_at_once() -> None:
    assert TokenAllowance(10, 0).affords_step(0)


@pytest.mark.parametrize(("limit", "can"), [(0, False), (1, True)])
def test_before_the_first_question_anything_is_enough(limit: int, can: bool) -> None:
    assert TokenAllowance(limit, 5).affords() == can
