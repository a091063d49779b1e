"""Limits between variables: listed jointly where there are few, one limit exact at any size, several nearly so."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.methods.cobel.inference import Beliefs, Claim, Limit, Sight
from teamworld.methods.cobel.inference.coupling import JOINT, joint_values, marginals

DOMAIN = ("a", "b", "c", "d")


def listed(own: list[list[float]], limits: list[Limit[str]]) -> list[list[float]] | None:
    """The marginals by listing all joint values."""
    tables = [[0.0] * len(weights) for weights in own]
    total = 0.0
    for state in product(*(range(len(weights)) for weights in own)):
        if all(limit.least <= sum(DOMAIN[at] in limit.values for at in state) <= limit.most for limit in limits):
            weight = 1.0
            for at, weights in zip(state, own, strict=True):
                weight *= weights[at]
            total += weight
            for at, table in zip(state, tables, strict=True):
                table[at] += weight
    return [[weight / total for weight in table] for table in tables] if total > 0 else None


weights = st.lists(st.lists(st.floats(0.01, 1), min_size=2, max_size=4), min_size=2, max_size=4)
limits = st.builds(
    lambda values, least, more: Limit(frozenset(values), least + more, least),
    st.sets(st.sampled_from(DOMAIN), min_size=1, max_size=3),
    st.integers(0, 2),
    st.integers(0, 2),
)


@given(weights, limits)
def test_marginals_under_one_limit_are_exact(own: list[list[float]], limit: Limit[str]) -> None:
    truth = listed(own, [limit])
    domains = [DOMAIN[: len(some)] for some in own]
    found = marginals(own, domains, [limit])
    if truth is None:  # nothing is possible: everybody keeps what it had
        truth = [[weight / sum(some) for weight in some] for some in own]
    for one, other in zip(found, truth, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


@given(weights, st.lists(limits, min_size=1, max_size=3))
def test_joint_values_are_those_that_keep_the_limits(own: list[list[float]], some: list[Limit[str]]) -> None:
    domains = [DOMAIN[: len(part)] for part in own]
    states = joint_values(domains, some)
    assert states == [
        state
        for state in product(*(range(len(domain)) for domain in domains))
        if all(one.least <= sum(domains[k][at] in one.values for k, at in enumerate(state)) <= one.most for one in some)
    ]


def things(count: int, *limits: Limit[str]) -> Beliefs[str]:
    rng = random.Random(count)
    beliefs = Beliefs[str]()
    for n in range(count):
        beliefs.add(f"thing {n}", {value: rng.uniform(0.1, 1) for value in DOMAIN})
    beliefs.couple(beliefs.names, limits)
    return beliefs


def test_a_full_place_takes_no_more() -> None:
    beliefs = things(3, Limit(frozenset("a"), most=1))
    assert beliefs.exact("thing 1")
    beliefs.apply(Sight("thing 0", ("look",), 1, "a"))
    assert beliefs.table("thing 1")["a"] == beliefs.table("thing 2")["a"] == 0.0


def test_the_last_of_a_kind_is_where_it_must_be() -> None:
    beliefs = things(2, Limit(frozenset("ab"), 1, 1))
    beliefs.apply(Sight("thing 0", ("look",), 1, "c"))
    assert beliefs.table("thing 1")["c"] == beliefs.table("thing 1")["d"] == 0.0


def test_too_many_joint_values_are_factorised_and_the_tables_say_so() -> None:
    assert 4**6 <= JOINT < 4**7
    limit = Limit(frozenset("a"), most=2)
    assert things(6, limit).exact("thing 0")
    beliefs = things(8, limit)
    assert not beliefs.exact("thing 0")
    for n in range(2):
        beliefs.apply(Sight(f"thing {n}", ("look",), 1, "a"))
    beliefs.apply(Claim("thing 2", ("word",), 1, ("b",)))
    for n in range(2, 8):
        table = beliefs.table(f"thing {n}")
        assert sum(table.values()) == pytest.approx(1.0)
        assert table["a"] == pytest.approx(0.0, abs=1e-12)


def test_the_first_refinement_beyond_the_limit_factorises() -> None:
    beliefs = things(6, Limit(frozenset("a"), most=1))
    beliefs.apply(Sight("thing 0", ("look",), 1, "a"))
    assert beliefs.exact("thing 1")
    for n in range(6):
        beliefs.refine(f"thing {n}", {"b": {f"b{part}": 0.1 for part in range(10)}, "a": {"a": 0.5, "a2": 0.5}})
    assert not beliefs.exact("thing 1")
    table = beliefs.table("thing 1")
    assert table["a"] == table["a2"] == pytest.approx(0.0, abs=1e-12)  # the limit holds for the parts of a together
    assert sum(table.values()) == pytest.approx(1.0)


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="least=2, most=1"):
        Limit(frozenset("a"), 1, 2)
    beliefs = things(2, Limit(frozenset("a"), most=1))
    with pytest.raises(ValueError, match="not coupled yet"):
        beliefs.couple(("thing 0",), [Limit(frozenset("a"), most=1)])
    other = Beliefs[str]()
    other.add("one", {"a": 1.0})
    other.add("two", {"a": 1.0})
    with pytest.raises(ValueError, match="possible"):
        other.couple(("one", "two"), [Limit(frozenset("a"), most=1)])
    assert other.table("one") == {"a": 1.0}


def test_what_is_coupled_keeps_what_it_learned_from_a_dropped_variable() -> None:
    beliefs = things(2, Limit(frozenset("a"), most=1))
    beliefs.apply(Sight("thing 0", ("look",), 1, "a"))
    beliefs.drop("thing 0")
    assert beliefs.names == ("thing 1",)
    assert beliefs.table("thing 1")["a"] == 0.0


def test_only_what_is_bound_is_coupled() -> None:
    beliefs = Beliefs[str]()
    for name in ("cup", "fork", "pan"):
        beliefs.add(name, {"shelf": 1.0, "table": 1.0})
    beliefs.couple(("pan", "cup"), [Limit(frozenset({"shelf"}), most=1)])
    assert beliefs.names == ("cup", "fork", "pan")
    beliefs.predict(1, {"cup": {"table": {"shelf": 0.5, "table": 0.5}}, "fork": {"table": {"shelf": 1.0}}})
    # Of (cup, pan), equally likely before: (shelf, table) stays; (table, shelf) stays by half, the rest would be two on
    # the shelf; (table, table) goes to (shelf, table) by half.
    assert beliefs.table("cup") == pytest.approx({"shelf": 1.5 / 2.5, "table": 1.0 / 2.5})
    assert beliefs.table("pan") == pytest.approx({"shelf": 0.5 / 2.5, "table": 2.0 / 2.5})
    assert beliefs.table("fork") == {"shelf": 1.0, "table": 0.0}
    beliefs.apply(Sight("cup", ("look",), 2, "shelf"))
    assert beliefs.table("pan") == {"shelf": 0.0, "table": 1.0}
    assert beliefs.table("fork") == {"shelf": 1.0, "table": 0.0}
