"""What others say that they hold is believed where a method lets them tell it: it lies nowhere, until they let go."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Facts, parse_fact
from teamworld.methods.common.knowledge import Line
from teamworld.methods.common.told_facts import OF_AGENTS, STATE_OF_AGENTS, believed, read_told
from tests.methods.coela.house import House, Rules, goal

LIES, HELD = "<apple>(3) IN <kitchen>(11)", "Bob HOLD <apple>(3)"
TEAM = ("Alice", "Bob", "Cleo")


def says(step: int, sender: str, *facts: str) -> Line:
    return Line(step, sender, None, f"Facts: {'; '.join(facts)}.")


def believes(*lines: Line, own: Sequence[str] = (LIES,), seen: int = 1, state: bool = True) -> set[str]:
    """Return what Alice believes who saw some facts at a step and was told some others."""
    facts = tuple(map(parse_fact, own))
    house = House(Facts(facts, dict.fromkeys(facts, seen)), (goal("apple", 2),), recalled=facts)
    return set(map(str, believed(house, Rules(house), lines, TEAM, STATE_OF_AGENTS if state else OF_AGENTS)))


def test_by_default_nobody_tells_what_is_in_a_hand() -> None:
    house = House(Facts(()), (goal("apple", 2),))
    line = says(4, "Bob", "Bob AT <kitchen>(11)", HELD)
    assert list(map(str, read_told(line.text, Rules(house), TEAM))) == ["Bob AT <kitchen>(11)"]
    assert believes(line, state=False) == {LIES, "Bob AT <kitchen>(11)"}


def test_what_somebody_says_that_it_holds_lies_nowhere() -> None:
    assert believes(says(4, "Bob", "Bob AT <kitchen>(11)", HELD)) == {"Bob AT <kitchen>(11)", HELD}


def test_who_tells_of_itself_tells_of_all_that_it_holds() -> None:
    told = says(4, "Bob", "Bob AT <kitchen>(11)", HELD), says(6, "Bob", "Bob AT <bedroom>(12)")
    assert believes(*told, own=()) == {"Bob AT <bedroom>(12)"}
    assert believes(told[0], says(6, "Bob", "<plate>(5) IN <kitchen>(11)"), own=()) >= {HELD}


def test_what_one_saw_in_a_hand_stays_there_if_it_is_told_again() -> None:
    told = says(4, "Bob", "Bob AT <bedroom>(12)", HELD)
    assert believes(told, own=("Bob AT <kitchen>(11)", HELD), seen=2) == {"Bob AT <bedroom>(12)", HELD}


def test_what_somebody_saw_lie_later_is_in_no_hand() -> None:
    told = says(4, "Bob", "Bob AT <kitchen>(11)", HELD), says(6, "Cleo", "<apple>(3) ON <table>(20)")
    assert believes(*told) == {"Bob AT <kitchen>(11)", "<apple>(3) ON <table>(20)"}


def test_ones_own_later_sight_stands() -> None:
    assert believes(says(4, "Bob", HELD), seen=5) == {LIES}


def test_a_message_of_ones_own_tells_one_nothing() -> None:
    assert believes(says(4, "Alice", HELD)) == {LIES}


FACTS = ["Bob AT <kitchen>(11)", "Bob AT <bedroom>(12)", HELD, "Bob HOLD <apple>(4)", LIES, "<apple>(4) ON <table>(20)"]


@given(st.lists(st.tuples(st.sampled_from(TEAM), st.lists(st.sampled_from(FACTS), min_size=1, max_size=3)), max_size=6))
def test_a_thing_is_never_believed_to_be_in_a_hand_and_to_lie_somewhere(told: list[tuple[str, list[str]]]) -> None:
    lines = [says(step, sender, *facts) for step, (sender, facts) in enumerate(told, start=2)]
    for line in lines:  # nobody says both in one message
        stated = {parse_fact(fact) for fact in line.text.removeprefix("Facts: ").rstrip(".").split("; ")}
        held = {fact.value for fact in stated if fact.predicate == "HOLD"}
        if held & {fact.subject for fact in stated}:
            return
    known = list(map(parse_fact, believes(*lines, own=())))
    held_now = [fact.value for fact in known if fact.predicate == "HOLD"]
    lying = {fact.subject for fact in known if fact.predicate in ("IN", "ON")}
    assert not any(thing in lying for thing in held_now)
