"""The paragraph of the original form: its order, and that it tells what is known and nothing else."""

from __future__ import annotations

from teamworld.language import parse_fact
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.questions import Tell
from teamworld.methods.common.progress_report import report_progress
from teamworld.methods.contract import Message
from teamworld.reasoning.prompts import render
from teamworld.worlds import registry as worlds
from tests.methods.coela.house import FRIDGE, KITCHEN, goal, make_situation
from tests.methods.coela.test_coela_prompts import questions

HOME = (
    "Alice AT <kitchen>(11)",
    "Alice HOLD <plate>(32)",
    "<kitchen>(11) EXPLORED all",
    "<bedroom>(12) EXPLORED all",
    "<bathroom>(13) POSITION (3, 4)",
    "<table>(20) IN <kitchen>(11)",
    "<cabinet>(22) IN <kitchen>(11)",
    "<cabinet>(22) STATE closed",
    "<fridge>(21) IN <kitchen>(11)",
    "<fridge>(21) STATE open",
    "<apple>(57) INSIDE <fridge>(21)",
    "<apple>(58) IN <kitchen>(11)",
    "<apple>(58) ON <table>(20)",
    "<plate>(33) IN <bedroom>(12)",
)
GOALS = (goal("apple", 1), goal("plate", 1))


def test_the_whole_paragraph_in_its_order() -> None:
    situation = make_situation(
        *HOME,
        "Bob AT <bedroom>(12)",
        "Bob HOLD <apple>(59)",
        goals=GOALS,
        seen={"Bob AT <bedroom>(12)": 5, "Bob HOLD <apple>(59)": 5, "<plate>(33) IN <bedroom>(12)": 5},
        chat=(Message("Bob", "commit", "x", "apple_on_table", t=6),),
    )
    assert report_progress(situation) == (
        "Delivered: apple_58. "
        "You hold plate_32. "
        "You are in kitchen_11, where you found table_20, where things are to go; "
        "apple_57 inside fridge_21; unopened cabinet_22 and nothing else of use in fridge_21 (open). "
        "You last knew of Bob in bedroom_12 at step 5; it held apple_59. "
        "In bedroom_12 you found plate_33. "
        "bathroom_13 is unexplored."
    )


def test_little_is_known_at_the_start() -> None:
    texts = ("Alice AT <kitchen>(11)", "<kitchen>(11) EXPLORED all", "<bedroom>(12) POSITION (1, 1)")
    assert report_progress(make_situation(*texts)) == (
        "Nothing that you know of is delivered yet. "
        "Your hands are empty. You are in kitchen_11, where you found nothing. "
        "You have not seen Bob yet. bedroom_12 is unexplored."
    )


def test_what_is_of_no_use_any_more_is_left_out() -> None:
    done = make_situation(*HOME, goals=(goal("apple", 0), goal("plate", 1)))
    text = report_progress(done)
    assert text is not None
    assert "apple_57" not in text  # no apple is missing
    assert "plate_33" in text
    target = make_situation(*HOME, goals=(goal("apple", 1, FRIDGE, "INSIDE"),))
    told = report_progress(target)
    assert told is not None
    assert told.startswith("Delivered: apple_57.")
    assert "fridge_21, where things are to go" in told


def test_a_room_seen_in_part_and_one_that_was_only_told_of() -> None:
    text = report_progress(
        make_situation(
            "Alice AT <kitchen>(11)",
            "<kitchen>(11) EXPLORED part",
            "<bedroom>(12) EXPLORED part",
            "<bathroom>(13) POSITION (1, 1)",
            "<apple>(5) IN <bathroom>(13)",
            "Bob AT <kitchen>(11)",
        )
    )
    assert text is not None
    assert "bedroom_12 is explored in part only." in text
    assert "bathroom_13 is unexplored; you know of apple_5 there." in text
    assert "Bob is in kitchen_11 and holds nothing." in text


def test_worlds_without_rooms_to_explore_keep_their_words() -> None:
    world = worlds.make("rooms", "two", 0, 60, {})
    shown, plain = (render(questions(world, CoelaOptions(report=told))[0]).user for told in (True, False))
    assert "that you know of, 0 done" in shown
    assert world.view("agent_0").text() in shown
    assert world.view("agent_0").text() in plain
    situation = make_situation(*HOME)
    assert (
        "Of 1 task" not in render(Tell("Alice", {"Alice": situation.view}, situation, CoelaOptions(report=True))).user
    )


def test_what_was_told_of_a_room_in_view_is_reported() -> None:
    told = (parse_fact("<bathroom>(13) EXPLORED all"), parse_fact("<kitchen>(11) EXPLORED part"))
    situation = make_situation(
        *("Alice AT <kitchen>(11)", "<kitchen>(11) EXPLORED all", "<bathroom>(13) POSITION (1, 1)"),
        shared=False,
        chat=(Message("Bob", "inform", "done there", facts=told, t=3),),
    )
    text = report_progress(situation)
    assert text is not None
    assert "bathroom_13 is explored, as a teammate said." in text
    assert "You are in kitchen_11" in text
    assert situation.known.value(KITCHEN, "EXPLORED") == "all"  # what one has seen oneself is not undone


def test_what_was_told_and_not_seen_says_so() -> None:
    told = (parse_fact("<apple>(5) IN <bathroom>(13)"),)
    situation = make_situation(
        *("Alice AT <kitchen>(11)", "<bathroom>(13) POSITION (1, 1)", "<apple>(6) IN <bathroom>(13)"),
        shared=False,
        chat=(Message("Bob", "inform", "an apple", facts=told, t=3),),
    )
    text = report_progress(situation)
    assert text is not None
    assert "apple_5 (told of it)" in text
    assert "apple_6 (told" not in text


def test_a_teammate_whose_room_is_not_known_was_seen_all_the_same() -> None:
    seen = "Bob HOLD <apple>(59)"
    text = report_progress(make_situation(*HOME, seen, seen={seen: 4}))
    assert text is not None
    assert "You last knew of Bob at step 4; it held apple_59." in text
