"""The paragraph of the original form: its order, and that it tells what is known and nothing else."""

from __future__ import annotations

from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.progress_report import report_progress
from teamworld.methods.coela.questions import Tell
from teamworld.methods.contract import Message
from teamworld.reasoning.prompts import render
from teamworld.worlds import registry as worlds
from tests.methods.coela.house import FRIDGE, goal, make_situation
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
        "Delivered: <apple>(58). Still missing, what is in hands included: 1 for apple_on_table, 1 for plate_on_table. "
        "You hold <plate>(32). "
        "You are in <kitchen>(11), where you found <table>(20), where things are to go; "
        "<apple>(57) inside <fridge>(21); and <cabinet>(22), unopened. "
        "Bob was last seen in <bedroom>(12), at t = 5, and held <apple>(59). Bob said that it takes apple_on_table. "
        "In <bedroom>(12) you found <plate>(33). "
        "<bathroom>(13) is unexplored."
    )


def test_little_is_known_at_the_start() -> None:
    texts = ("Alice AT <kitchen>(11)", "<kitchen>(11) EXPLORED all", "<bedroom>(12) POSITION (1, 1)")
    assert report_progress(make_situation(*texts)) == (
        "Nothing that you know of is delivered yet. Still missing, what is in hands included: 2 for apple_on_table. "
        "Your hands are empty. You are in <kitchen>(11), where you found nothing. "
        "You do not know where Bob is. <bedroom>(12) is unexplored."
    )


def test_what_is_of_no_use_any_more_is_left_out() -> None:
    done = make_situation(*HOME, goals=(goal("apple", 0), goal("plate", 1)))
    text = report_progress(done)
    assert text is not None
    assert "<apple>(57)" not in text  # no apple is missing
    assert "<plate>(33)" in text
    target = make_situation(*HOME, goals=(goal("apple", 1, FRIDGE, "INSIDE"),))
    told = report_progress(target)
    assert told is not None
    assert told.startswith("Delivered: <apple>(57).")
    assert "<fridge>(21), where things are to go" in told


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
    assert "<bedroom>(12) is explored in part only." in text
    assert "<bathroom>(13) is unexplored; you know of <apple>(5) there." in text
    assert "Bob is in <kitchen>(11) and holds nothing." in text


def test_worlds_without_rooms_to_explore_keep_their_words() -> None:
    world = worlds.make("rooms", "two", 0, 60, {})
    shown, plain = (render(questions(world, CoelaOptions(report=told))[0]).user for told in (True, False))
    assert "Of 1 tasks that you know of 0 are done" in shown or "tasks that you know of" in shown
    assert world.view("agent_0").text() in shown
    assert world.view("agent_0").text() in plain
    situation = make_situation(*HOME)
    assert (
        "Of 1 tasks"
        not in render(Tell("Alice", {"Alice": situation.view}, situation, CoelaOptions(report=True), None)).user
    )
