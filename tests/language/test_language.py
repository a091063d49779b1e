"""The language: what is printed is read back, and what is not in it is refused with a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import (
    Action,
    Belief,
    Binding,
    Entity,
    Fact,
    Facts,
    Measures,
    ParseError,
    Plan,
    Term,
    Variable,
    ground,
    lift,
    parse_action,
    parse_belief,
    parse_entity,
    parse_fact,
    parse_plan,
    parse_term,
    prototype,
    show,
)

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
free_names = names | st.text(max_size=12)
entities = st.builds(Entity, names, st.integers(0, 10**6))
terms: st.SearchStrategy[Term] = st.one_of(
    entities,
    st.builds(Variable, names),
    free_names,
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.tuples(st.integers(-999, 999), st.integers(-999, 999)),
)
predicates = st.from_regex(r"[A-Z][A-Z0-9_]{0,8}", fullmatch=True).filter(lambda word: word != "BELIEVE")
facts = st.builds(Fact, entities | free_names, predicates, terms)
beliefs = st.builds(
    Belief,
    st.lists(free_names, min_size=1, max_size=3).map(tuple),
    facts,
    st.floats(0, 1),
    st.integers(0, 10**6),
    free_names,
)
verbs = names.filter(lambda name: name not in {"plan", "for", "on", "failure"})
actions = st.builds(Action, verbs, st.lists(terms, max_size=4).map(tuple))
plans = st.builds(
    Plan,
    st.lists(actions, max_size=5).map(tuple),
    st.none() | free_names,
    st.sampled_from(["default", "continue", "abort"]),
)


@pytest.mark.parametrize(
    ("read", "values"),
    [
        (parse_term, terms),
        (parse_entity, entities),
        (parse_fact, facts),
        (parse_belief, beliefs),
        (parse_action, actions),
        (parse_plan, plans),
    ],
)
def test_what_is_printed_is_read_back(read: Callable[[str], Any], values: st.SearchStrategy[Any]) -> None:
    @given(values)
    def check(value: Any) -> None:  # noqa: ANN401
        assert read(show(value)) == value

    check()


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        plan = parse_plan(text)
    except ParseError as error:
        assert error.line >= 1
        assert error.column >= 1
        assert "\n" not in str(error)
    else:
        assert parse_plan(str(plan)) == plan


def test_spaces_and_line_ends_do_not_matter() -> None:
    assert parse_plan("plan for block_1{\n  idle( 2 ) ;\n push_block(<block> (1),5);\n}") == Plan(
        (Action("idle", (2,)), Action("push_block", (Entity("block", 1), 5))), "block_1"
    )


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("plan { idle(2) push() }", 1, 16, "';'"),
        ("plan {\n  idle(2);\n  idle(,)\n}", 3, 8, "a number"),
        ("plan for block_1 { idle(2)", 1, 27, "'}'"),
        ("", 1, 1, "'plan'"),
        ("plan { idle(%) }", 1, 13, "a number"),
        ("plan { idle(2);\n\n", 3, 1, "'}'"),
        ("plan for b {\n  move(up);\n  on(1)\n}", 3, 3, "a verb is a bare name, not 'on'"),
        ("plan {\n  idle(1e999) }", 2, 8, "a number that is finite"),
    ],
)
def test_errors_name_the_place_and_what_was_expected(text: str, line: int, column: int, expected: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_plan(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert expected in caught.value.expected


def test_a_very_long_text_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(ParseError, match="at most"):
        parse_plan("plan { " + "idle(1); " * 10_000 + "}")


def test_what_cannot_be_said_cannot_be_made() -> None:
    for wrong in (
        lambda: Entity("a b", 1),
        lambda: Entity("block", -1),
        lambda: Variable("?x"),
        lambda: Fact("a", "at", 1),
        lambda: Fact("a", "BELIEVE", 1),
        lambda: Belief((), Fact("a", "AT", 1)),
        lambda: Belief(("a",), Fact("a", "AT", 1), 1.5),
        lambda: Belief(("a",), Fact("a", "AT", 1), since=-1),
        lambda: Action("plan"),
        lambda: show(float("nan")),
    ):
        with pytest.raises(ValueError, match="not|at least"):
            wrong()


def test_lifting_takes_out_what_was_particular_and_grounding_puts_it_back() -> None:
    block = Entity("block", 1)
    plan = parse_plan(
        "plan for block_1 { move_to_block(<block>(1), left, 14); rendezvous(<block>(1), left, 2, 14);"
        " push_block(<block>(1), 14); push_block(<block>(2), 14); idle(14) }"
    )
    measures: Measures = {"rendezvous": (None, None, "quorum", None), "push_block": (None, "units")}
    lifted = lift(plan, Binding(block, 14, 2), measures)
    assert str(lifted) == (
        "plan { move_to_block(?goal, left, 14); rendezvous(?goal, left, ?quorum, 14);"
        " push_block(?goal, ?units); push_block(<block>(2), 14); idle(14) }"
    )
    assert ground(lifted, "block_1", Binding(block, 14, 2)) == plan
    moved = ground(lifted, "block_7", Binding(Entity("block", 7), 3, 1))
    assert moved.actions[1] == parse_action("rendezvous(<block>(7), left, 1, 14)")
    assert prototype(plan) == "move_to_block > rendezvous > push_block > push_block > idle"


@given(plans, entities, st.integers(0, 50), st.integers(1, 8))
def test_grounding_undoes_lifting(plan: Plan, goal: Entity, units: int, quorum: int) -> None:
    concrete = Plan(
        tuple(Action(a.verb, tuple(x for x in a.args if not isinstance(x, Variable))) for a in plan.actions),
        "g",
        plan.on_failure,
    )
    binding = Binding(goal, units, quorum)
    measures: Measures = {a.verb: ("units", "quorum", None, "units") for a in concrete.actions}
    assert ground(lift(concrete, binding, measures), "g", binding) == concrete


def test_facts_keep_their_order_and_answer_by_subject_and_predicate() -> None:
    here, there = Fact("agent_0", "AT", (0, 0)), Fact("agent_1", "AT", (1, 0))
    facts = Facts((here, there, Fact("agent_0", "HOLD", 1)))
    assert [str(fact) for fact in facts.about("AT")] == ["agent_0 AT (0, 0)", "agent_1 AT (1, 0)"]
    assert facts.value("agent_1", "AT") == (1, 0)
    assert facts.value("agent_2", "AT") is None
    assert here in facts
    assert len(facts) == 3


def test_a_derived_value_is_built_once() -> None:
    built = []

    def count(facts: Facts) -> int:
        built.append(1)
        return len(facts)

    facts = Facts((Fact("a", "AT", 1),))
    assert (facts.derive(count), facts.derive(count), len(built)) == (1, 1, 1)
