"""The meta-plan: what can be followed of an answer, the text that is sent, and how it is read again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.methods.capo.meta_plan import (
    LONGEST,
    MOST,
    STEPS,
    PlanAnswer,
    PlanItem,
    by_step,
    change_plan,
    describe_item,
    items_of,
    read_plan,
    refuse_plan,
    tidy_plan,
    write_plan,
)

TEAM = ("Alice", "Bob", "agent_1", "agent_10")
names = st.sampled_from(TEAM)
goals = st.none() | st.sampled_from(["g1", "apple_on_table", "block_0"])
#: What agents are told to do: written forms and words, none of which passes for the head of another item.
actions = st.sampled_from(["", "grab(apple_3)", "go((2, 8))", "explore the kitchen, if nobody is there", "wait"])
answers = st.lists(
    st.builds(PlanItem, step=st.integers(-3, 9), agent=names | st.just("Nobody"), goal=goals, action=actions),
    max_size=30,
)


@given(answers)
def test_a_plan_that_is_sent_reads_as_it_was_written(items: list[PlanItem]) -> None:
    plan = tidy_plan(items, TEAM)
    assert read_plan(f"My meta-plan. {write_plan(plan)}", TEAM) == plan


@given(answers)
def test_what_can_be_followed_is_for_the_team_in_three_steps(items: list[PlanItem]) -> None:
    plan = tidy_plan(items, TEAM)
    assert tidy_plan(plan, TEAM) == plan
    assert [item.step for item in plan] == sorted(item.step for item in plan)
    for item in plan:
        assert 1 <= item.step <= STEPS
        assert item.agent in TEAM
        assert item.action or item.goal
    assert all(len(own) <= MOST for agents in by_step(plan).values() for own in agents.values())


@given(st.text(max_size=300), st.text(max_size=60), st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str, goal: str, action: str) -> None:
    plan = tidy_plan([PlanItem(step=2, agent="Bob", goal=goal, action=action)], TEAM)
    assert all(len(item.action) <= LONGEST for item in plan)
    for item in read_plan(f"{text} {write_plan(plan)} {text}", TEAM):
        assert item.agent in TEAM


def test_a_step_in_words_and_one_out_of_range_are_read() -> None:
    answer = PlanAnswer.model_validate_json(
        json.dumps(
            {"items": [{"step": "Step 2", "agent": "Bob", "action": "wait"}, {"step": 7, "agent": "Bob", "goal": "g"}]}
        )
    )
    assert [item.step for item in tidy_plan(answer.items, TEAM)] == [2, 3]


def test_none_as_a_word_is_no_task_and_no_action() -> None:
    plan = tidy_plan([PlanItem(step=1, agent="Bob", goal="none", action="grab(apple_3)")], TEAM)
    assert plan == (PlanItem(step=1, agent="Bob", action="grab(apple_3)"),)
    assert tidy_plan([PlanItem(step=1, agent="Bob", goal="g1", action="null")], TEAM)[0].action == ""


def test_what_an_agent_says_in_the_name_of_another_is_an_item_of_that_one_and_hides_nothing() -> None:
    item = PlanItem(step=1, agent="Bob", action="rest. Step 1, Alice: do all of it")
    assert read_plan(write_plan(tidy_plan([item], TEAM)), TEAM) == (
        PlanItem(step=1, agent="Bob", action="rest"),
        PlanItem(step=1, agent="Alice", action="do all of it"),
    )


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([], "the meta-plan is empty: say for each of Alice, Bob what it does in steps 1 to 3"),
        ([PlanItem(step=1, agent="Eve", goal="g")], "there is no agent 'Eve' in this team; there are: Alice, Bob"),
        ([PlanItem(step=1, agent="Bob", goal="g")], "the meta-plan has nothing for Alice: say what each does"),
        ([PlanItem(step=1, agent=name, goal="g") for name in ("Alice", "Bob")], ""),
    ],
)
def test_what_is_wrong_with_a_plan_is_told(items: list[PlanItem], says: str) -> None:
    refused = refuse_plan(items, ("Alice", "Bob"))
    assert (refused is None) == (not says)
    assert says in (refused or "")


def test_an_item_in_words() -> None:
    assert describe_item(PlanItem(step=1, agent="Bob", goal="g")) == "task g"
    assert describe_item(PlanItem(step=1, agent="Bob", goal="g", action="wait")) == "wait (for g)"
    assert describe_item(PlanItem(step=1, agent="Bob", action="wait")) == "wait"


def test_a_change_takes_the_place_of_what_an_agent_had_in_that_step() -> None:
    plan = tuple(PlanItem(step=step, agent=agent, goal="g") for step in (1, 2) for agent in ("Alice", "Bob"))
    changed = change_plan(plan, (PlanItem(step=1, agent="Bob", goal="h"), PlanItem(step=3, agent="Bob", goal="g")))
    assert items_of(changed, "Alice") == items_of(plan, "Alice")
    assert [(item.step, item.goal) for item in items_of(changed, "Bob")] == [(1, "h"), (2, "g"), (3, "g")]
