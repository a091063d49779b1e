"""Shared notes: one short line each, said once, the newest ones."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.memory.guidebook import WorldModel, merge
from teamworld.memory.notes import LONGEST, MOST, clean_note, note_key, recent_notes

texts = st.text(max_size=300)
few = st.lists(
    st.sampled_from(["Meet.", "meet!", "MEET", "Push on", "push  on", "", "...", "a", "b"]) | texts, max_size=60
)


@given(texts)
def test_a_note_is_one_short_line_without_hidden_characters(text: str) -> None:
    note = clean_note(text)
    assert len(note) <= LONGEST
    assert note == clean_note(note)
    assert len(note.splitlines()) <= 1
    assert not any(unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for one in note)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("  Meet\nfirst.\t", "Meet first."),
        ("a\x1b[31mb", "a [31mb"),
        ("left\u202eright\u2028down", "left right down"),
        ("\x00\u200b", ""),
        ("x" * 500, "x" * LONGEST),
    ],
)
def test_what_is_made_of_a_text(text: str, note: str) -> None:
    assert clean_note(text) == note


def slow(given: list[str]) -> list[str]:
    """Say the same one text after the other, by hand."""
    notes: list[str] = []
    for text in given:
        if note_key(clean_note(text)):
            notes = [note for note in notes if note_key(note) != note_key(clean_note(text))] + [clean_note(text)]
    return notes[-MOST:]


@given(few)
def test_each_is_said_once_and_the_newest_stay(given: list[str]) -> None:
    assert list(recent_notes(given)) == slow(given)
    assert recent_notes(recent_notes(given)) == recent_notes(given)


@given(few, few)
def test_one_after_the_other_is_all_at_once(first: list[str], second: list[str]) -> None:
    world_model = WorldModel.from_rows((), (), notes=first)
    other = world_model.ranked("rate")
    for text in second:
        world_model.remember(text)
    assert world_model.notes == other.notes == recent_notes([*first, *second])
    parts = [WorldModel.from_rows((), (), notes=part) for part in (first, second)]
    assert merge(*parts).notes == recent_notes([*first, *second])


def test_wording_and_case_do_not_make_a_new_note() -> None:
    assert recent_notes(["Meet, first!", "Wait.", "meet FIRST", "?!"]) == ("Wait.", "meet FIRST")
