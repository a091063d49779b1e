"""Sight replaces what was told, and a thing has one place."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.language import Action, Entity, parse_fact
from teamworld.methods.coela.told_facts import list_predicates
from teamworld.methods.contract import Message
from teamworld.worlds.contract import Option
from tests.methods.coela.house import make_situation

TOLD = "<apple>(57) INSIDE <fridge>(21)"
HOME = ("Alice AT <kitchen>(11)", "<kitchen>(11) EXPLORED all", "<fridge>(21) IN <kitchen>(11)")
SHUT, OPEN = "<fridge>(21) STATE closed", "<fridge>(21) STATE open"


def is_believed(*texts: str, fact: str = TOLD, t: int = 5, **more: Any) -> bool:
    told = Message("Bob", "inform", "look", facts=(parse_fact(fact),), t=t)
    situation = make_situation(*texts, chat=(told,), shared=False, **more)
    return parse_fact(fact) in situation.known


def test_what_was_told_of_a_place_out_of_sight_is_believed() -> None:
    assert is_believed(*HOME, SHUT)


@pytest.mark.parametrize(
    "sight", [OPEN, "Bob HOLD <apple>(57)", "Alice HOLD <apple>(57)", "<apple>(57) ON <table>(20)"]
)
def test_what_is_seen_otherwise_is_not_believed(sight: str) -> None:
    assert not is_believed(*HOME, sight)


@pytest.mark.parametrize(("seen", "believed"), [(4, True), (6, False)])
def test_what_was_seen_later_counts(seen: int, believed: bool) -> None:
    for fact in (OPEN, "Bob HOLD <apple>(57)"):
        assert is_believed(*HOME, fact, seen={fact: seen}) == believed


def test_what_lies_somewhere_is_in_no_hand() -> None:
    held = "Bob HOLD <apple>(57)"
    told = Message("Bob", "inform", "look", facts=(parse_fact(TOLD),), t=5)
    situation = make_situation(*HOME, SHUT, held, seen={held: 3}, chat=(told,), shared=False)
    assert parse_fact(held) not in situation.known


def test_a_teammate_with_full_hands_takes_nothing_before_the_agent() -> None:
    fetch = Option(Action("fetch", (Entity("apple", 57),)), "apple_on_table", 4)
    here = ("Alice AT <kitchen>(11)", "Bob AT <kitchen>(11)", "Bob HOLD <plate>(32)")
    assert make_situation(*here, options=(fetch,), mate_ticks=1).nearer(fetch) == "Bob"
    assert make_situation(*here, "Bob HOLD <plate>(33)", options=(fetch,), mate_ticks=1).nearer(fetch) is None


def test_predicates_are_listed_with_what_they_take() -> None:
    forms = list_predicates(make_situation("Alice AT <kitchen>(11)").domain)
    assert forms["INSIDE"] == "INSIDE fridge/cabinet"
    assert forms["STATE"] == "STATE open/closed"
    assert "HOLD" not in forms
