"""Belief rules: read, written, matched; what excludes what; and lines as reasoners write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import (
    Belief,
    Entity,
    Fact,
    ParseError,
    Relation,
    RuleSet,
    Schema,
    Variable,
    parse_rule,
    read_belief,
)
from teamworld.language.rules import BeliefRule

RELATIONS = (
    Relation("AT", "agent", ("kitchen", "bath")),
    Relation("HOLD", "agent", ("apple", "pear"), max_values=2),
    Relation("IN", "apple", ("kitchen", "bath")),
    Relation("IN", "pear", ("kitchen", "bath")),
    Relation("INSIDE", "apple", ("fridge",)),
    Relation("POSITION", "apple", ("cell",)),
    Relation("STATE", "fridge", ("open", "closed")),
    Relation("IN", "fridge", ("kitchen", "bath")),
    Relation("EXPLORED", "kitchen", ("part", "all")),
    Relation("EXPLORED", "bath", ("part", "all")),
    Relation("WEIGHT", "apple", ("number",)),
)
SCHEMA = Schema(RELATIONS, ("Alice", "Bob"))
RULES = RuleSet.of(SCHEMA)
APPLE, PEAR, KITCHEN, BATH, FRIDGE = (
    Entity(kind, number) for kind, number in (("apple", 1), ("pear", 2), ("kitchen", 11), ("bath", 12), ("fridge", 21))
)
FACTS = (
    Fact("Alice", "AT", KITCHEN),
    Fact("Bob", "HOLD", APPLE),
    Fact(APPLE, "IN", BATH),
    Fact(APPLE, "INSIDE", FRIDGE),
    Fact(APPLE, "POSITION", (3, -4)),
    Fact(FRIDGE, "STATE", "open"),
    Fact(KITCHEN, "EXPLORED", "all"),
    Fact(APPLE, "WEIGHT", 3),
)
facts = st.sampled_from(FACTS)
holders = st.sampled_from([("Alice",), ("Bob",), ("Alice", "Bob"), ("Bob", "Alice")])
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
variables = names.map(Variable)
values = st.one_of(
    variables,
    st.integers(-9, 9),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
    st.builds(Entity, names, st.integers(0, 99)),
    st.sampled_from(["open", "shut", "Alice", "for"]),
)
rules = st.builds(
    BeliefRule,
    st.lists(st.one_of(variables, st.sampled_from(["Alice", "Bob"])), min_size=1, max_size=2).map(tuple),
    st.one_of(variables, st.builds(Entity, names, st.integers(0, 99)), st.just("Bob")),
    st.sampled_from(["IN", "AT", "STATE", "BELIEVED"]),
    st.lists(values, min_size=1, max_size=3).map(tuple),
)


@given(rules)
def test_a_rule_comes_back_from_its_written_form(rule: BeliefRule) -> None:
    assert parse_rule(str(rule)) == rule
    assert parse_rule(str(rule).replace(">(", "> (")) == rule


def test_rules_of_a_world_come_in_both_orders() -> None:
    assert [str(rule) for rule in RULES.of_order(0)[:3]] == [
        "?me BELIEVE ?agent AT ?place",
        "?me BELIEVE ?agent HOLD ?place",
        "?me BELIEVE ?thing IN ?place",
    ]
    assert "?me BELIEVE ?mate BELIEVE ?fridge STATE open|closed" in RULES.lines
    zero, first = (RULES.of_order(order) for order in (0, 1))
    assert [str(rule).replace("?mate BELIEVE ", "") for rule in first] == list(map(str, zero))
    assert all(RULES.sound(rule) for rule in RULES.rules)
    assert not RULES.sound(parse_rule("?me BELIEVE ?fridge WEIGHT ?number"))
    assert not RULES.sound(parse_rule("?me BELIEVE ?apple FLIES ?place"))


@pytest.mark.parametrize(
    ("text", "orders"),
    [("?me BELIEVE ?mate BELIEVE ?apple IN ?room", (0,)), ("?me BELIEVE ?apple IN ?room", (1,)),
     ("?a BELIEVE ?b BELIEVE ?c BELIEVE ?apple IN ?room", (0, 1)), ("?apple IN ?room", (0, 1)),
     ("?me BELIEVE ?apple IN", (0, 1)), ("", (0, 1)), ("?me BELIEVE ?apple IN ?room |", (0, 1))],
)  # fmt: skip
def test_rules_of_another_order_or_form_are_refused(text: str, orders: tuple[int, ...]) -> None:
    with pytest.raises(ParseError):
        parse_rule(text, orders)


@given(holders, facts)
def test_every_belief_that_can_be_stated_fits_a_rule(who: tuple[str, ...], fact: Fact) -> None:
    assert RULES.admits(Belief(who, fact))


def test_variables_stand_for_their_kind_and_for_the_same_throughout() -> None:
    rule = parse_rule("?me BELIEVE ?mate BELIEVE ?apple IN ?place")
    found = rule.binding(Belief(("Alice", "Bob"), FACTS[2]), SCHEMA.kinds)
    assert found == {"me": "Alice", "mate": "Bob", "apple": APPLE, "place": BATH}
    assert rule.binding(Belief(("Alice",), FACTS[2]), SCHEMA.kinds) is None
    assert rule.binding(Belief(("Alice", "Bob"), Fact(PEAR, "IN", BATH)), SCHEMA.kinds) is None
    same = parse_rule("?who BELIEVE ?who AT ?place")
    assert same.binding(Belief(("Alice",), FACTS[0])) is not None
    assert same.binding(Belief(("Bob",), FACTS[0])) is None
    either = parse_rule("?me BELIEVE ?fridge STATE open|closed")
    assert either.binding(Belief(("Bob",), Fact(FRIDGE, "STATE", "ajar"))) is None


def test_facts_of_other_kinds_and_values_cannot_be_stated() -> None:
    for fact in (
        Fact(PEAR, "INSIDE", FRIDGE),
        Fact(FRIDGE, "STATE", "ajar"),
        Fact(APPLE, "IN", FRIDGE),
        Fact("Carol", "AT", KITCHEN),
        Fact(APPLE, "POSITION", 3),
        Fact(APPLE, "IN", Variable("room")),
    ):
        assert not SCHEMA.statable(fact)
        assert not RULES.admits(Belief(("Alice",), fact))


# ---- exclusion and capacity


def test_one_value_of_an_exclusive_relation_removes_the_others() -> None:
    assert SCHEMA.displaced([Fact(FRIDGE, "STATE", "closed")], [Fact(FRIDGE, "STATE", "open")]) == [
        Fact(FRIDGE, "STATE", "closed")
    ]
    assert SCHEMA.displaced([Fact(FRIDGE, "STATE", "open")], [Fact(FRIDGE, "STATE", "open")]) == []


def test_a_capacity_keeps_the_newest() -> None:
    third = Entity("apple", 3)
    held = [Fact("Bob", "HOLD", APPLE), Fact("Bob", "HOLD", PEAR)]
    assert SCHEMA.displaced(held, [Fact("Bob", "HOLD", third)]) == held[:1]
    assert SCHEMA.displaced(held, [Fact("Bob", "HOLD", PEAR)]) == []


def test_what_moves_leaves_all_its_places_and_what_is_held_lies_nowhere() -> None:
    lies = [Fact(APPLE, "IN", BATH), Fact(APPLE, "POSITION", (1, 1)), Fact(PEAR, "IN", BATH)]
    assert SCHEMA.displaced(lies, [Fact(APPLE, "INSIDE", FRIDGE)]) == lies[:2]
    assert SCHEMA.displaced(lies, [Fact(APPLE, "IN", KITCHEN)]) == lies[:2]
    assert SCHEMA.displaced(lies, [Fact("Bob", "HOLD", APPLE)]) == lies[:2]
    assert SCHEMA.displaced([Fact("Bob", "HOLD", APPLE)], lies) == [Fact("Bob", "HOLD", APPLE)]
    assert SCHEMA.displaced(lies, [Fact(APPLE, "IN", BATH), Fact(APPLE, "WEIGHT", 2)]) == []


@given(st.lists(facts, max_size=8), st.lists(facts, min_size=1, max_size=4))
def test_only_what_was_held_and_is_no_news_is_displaced(held: list[Fact], news: list[Fact]) -> None:
    out = SCHEMA.displaced(held, news)
    assert set(out) <= set(held) - set(news)


# ---- lines of reasoners


@given(holders, facts)
def test_a_written_belief_is_read_back_in_any_case(who: tuple[str, ...], fact: Fact) -> None:
    belief = Belief(who, fact)
    for text in (str(belief), str(belief).replace(">(", "> ("), f"- {belief}.", f"2. {belief}"):
        assert read_belief(text, SCHEMA) == belief
    assert read_belief(str(belief).lower(), SCHEMA) == belief
    assert read_belief(str(belief).upper(), SCHEMA) == belief


def test_a_kind_alone_is_the_one_thing_of_it_that_is_known() -> None:
    line = "Alice believes <Apple> (1) in Kitchen"
    assert read_belief(line, SCHEMA, [KITCHEN, APPLE]) == Belief(("Alice",), Fact(APPLE, "IN", KITCHEN))
    for known in ([], [KITCHEN, Entity("kitchen", 13)]):
        with pytest.raises(ParseError):
            read_belief(line, SCHEMA, known)


@pytest.mark.parametrize(
    ("line", "orders"),
    [("Alice BELIEVE Bob BELIEVE <apple>(1) IN <bath>(12)", (0,)), ("Alice BELIEVE <apple>(1) IN <bath>(12)", (1,)),
     ("Mallory BELIEVE <apple>(1) IN <bath>(12)", (0, 1)), ("Alice BELIEVE <gun>(1) IN <bath>(12)", (0, 1)),
     ("Alice BELIEVE <apple>(1) EATS <bath>(12)", (0, 1)), ("Alice BELIEVE <apple>(1) IN", (0, 1)),
     ("Alice BELIEVE <apple>(1) IN <bath>(12) AND more", (0, 1)), ("", (0, 1)),
     ("Alice BELIEVE <apple>(1) IN ../../etc/passwd", (0, 1)), ("Alice BELIEVE f('os') IN <bath>(12)", (0, 1))],
)  # fmt: skip
def test_lines_that_are_no_belief_of_the_world_are_refused(line: str, orders: tuple[int, ...]) -> None:
    with pytest.raises(ParseError):
        read_belief(line, SCHEMA, (), orders)


@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(
    ["Alice", "BELIEVE", "believes", "Bob", "IN", "<apple>(1)", "< apple > ( 1 )", "(1, 2)", "3", "open", '"x"', "?x"]
), max_size=9).map(" ".join)))  # fmt: skip
def test_nothing_but_a_belief_can_come_of_any_text(text: str) -> None:
    try:
        belief = read_belief(text, SCHEMA, (KITCHEN,))
    except ParseError:
        return
    assert SCHEMA.statable(belief.fact)
    assert 1 <= len(belief.holders) <= 2
