"""Whose beliefs change by what; witnesses that were perhaps there."""

from __future__ import annotations

import random

import pytest

from teamworld.methods.cobel.inference import Beliefs, Claim, Minds, Sight, presence
from tests.methods.cobel.inference.engine import evidence, play
from tests.methods.cobel.inference.reference import MATES, ME, Case, Event, distance, draw

PRIOR = {"hall": 0.5, "kitchen": 0.3, "bath": 0.2}


def minds() -> Minds[str]:
    common = Beliefs[str]()
    common.add("cup", PRIOR)
    return Minds(("bob", "carol"), common)


def test_a_message_reaches_its_sender_and_its_receivers_only() -> None:
    some = minds()
    some.said(Claim("cup", ("o1",), 1, ("kitchen",), 0.9), "alice", ("bob", "alice"))
    assert some["carol"].table("cup") == PRIOR
    once = some["bob"].table("cup")
    assert once["kitchen"] > 0.7
    some.said(Claim("cup", ("o1",), 1, ("kitchen",), 0.9), "bob", ("carol",))
    assert some["bob"].table("cup") == once  # it said what it was told: nothing new to it
    assert some["carol"].table("cup") == once
    other = minds()
    other.said(Claim("cup", ("o2",), 1, ("kitchen",), 0.9), "bob", ("alice",))
    assert other["bob"].table("cup") == once  # what a mate says it knows
    assert other["carol"].table("cup") == PRIOR


def test_a_mate_that_was_perhaps_there_perhaps_knows() -> None:
    look = Event("missed", 0, 1, ("o1",), chances={"hall": 1.0})
    case = Case([PRIOR], (), (), (look,))
    some = minds()
    weight = presence({"hall": 0.4, "bath": 0.6}, {"hall": 0.5, "kitchen": 1.0})
    assert weight == pytest.approx(0.2)
    some.witnessed(Sight("cup", ("o1",), 1, visible={"hall": 1.0}), {"bob": weight})
    assert some["bob"].table("cup") == pytest.approx(case.mixed([(look, 0.2)])[0], abs=1e-12)
    assert not some["bob"].exact("cup")
    assert some["carol"].table("cup") == PRIOR
    # Now it is told, and certainly knows; a third time adds nothing.
    some.said(Sight("cup", ("o1",), 1, visible={"hall": 1.0}), "alice", ("bob",))
    assert some["bob"].table("cup") == pytest.approx(case.posterior([look])[0], abs=1e-12)
    before = some["bob"].table("cup")
    some.witnessed(Sight("cup", ("o1",), 1, visible={"hall": 1.0}), {"bob": 0.5})
    assert some["bob"].table("cup") == before


def test_what_was_perhaps_seen_and_then_told_counts_once() -> None:
    for number in range(60):
        case = draw(random.Random(f"told {number}"), [4], 0, 4, weights=(0.2, 0.9), again=0)
        _, some = play(case)
        for event in case.events:
            some.said(evidence(event), ME, MATES)
        for mate in MATES:
            assert distance(some[mate].table("x0"), case.posterior(case.events)[0]) < 1e-9


def test_where_weights_mix_tables_stay_near_the_mean_over_all_that_may_have_been_witnessed() -> None:
    errors = []
    for number in range(60):
        case = draw(random.Random(f"mixed {number}"), [4], 0, 4, weights=(0.3,), again=0)
        _, some = play(case)
        truth = case.mixed([(event, 0.3) for event in case.events])[0]
        errors.append(distance(some["bob"].table("x0"), truth))
    assert 0 < sum(errors) / len(errors) < 0.03  # docs/reference/methods/cobel-inference.md has the table


def test_what_could_not_be_is_believed_as_far_as_it_was_witnessed() -> None:
    some = minds()
    some.said(Sight("cup", ("o1",), 1, "hall"), "alice", ("bob",))
    some.witnessed(Sight("cup", ("o2",), 2, "bath"), {"bob": 0.25})
    assert some["bob"].table("cup") == pytest.approx({"hall": 0.75, "kitchen": 0.0, "bath": 0.25})
    assert some["bob"].impossible == 1


def test_what_all_know_and_copies() -> None:
    some = minds()
    twin = some.copy()
    some.each(lambda beliefs: beliefs.predict(5, {"cup": {"hall": {"bath": 1.0}}}))
    assert some["bob"].table("cup")["bath"] == some["carol"].table("cup")["bath"] == pytest.approx(0.7)
    assert twin["bob"].table("cup") == PRIOR
