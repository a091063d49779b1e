"""Shared notes: one short line each, said once, the newest ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.memory.experience import Experience, joined
from teamworld.memory.notes import LONGEST, MOST, alike, clean, collected, newest

texts = st.text(max_size=300)
few = st.lists(
    st.sampled_from(["Meet.", "meet!", "MEET", "Push on", "push  on", "", "...", "a", "b"]) | texts, max_size=60
)


@given(texts)
def test_a_note_is_one_short_line_without_hidden_characters(text: str) -> None:
    note = clean(text)
    assert len(note) <= LONGEST
    assert note == clean(note)
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
    assert clean(text) == note


def slow(given: list[str]) -> list[str]:
    """Say the same one text after the other, by hand."""
    notes: list[str] = []
    for text in given:
        if alike(clean(text)):
            notes = [note for note in notes if alike(note) != alike(clean(text))] + [clean(text)]
    return notes[-MOST:]


@given(few)
def test_each_is_said_once_and_the_newest_stay(given: list[str]) -> None:
    assert list(collected(given)) == slow(given)
    assert collected(collected(given)) == collected(given)


@given(few, few)
def test_one_after_the_other_is_all_at_once(first: list[str], second: list[str]) -> None:
    experience = Experience.from_rows((), (), notes=first)
    other = experience.ranked("rate")
    for text in second:
        experience.remember(text)
    assert experience.notes == other.notes == collected([*first, *second])
    parts = [Experience.from_rows((), (), notes=part) for part in (first, second)]
    assert joined(*parts).notes == collected([*first, *second])


def test_no_more_is_read_than_it_takes() -> None:
    def backwards() -> Iterator[str]:
        yield from (f"Rule {number // 2}." for number in range(2 * MOST - 1))
        raise AssertionError("read on, with enough notes found")

    assert newest(backwards()) == tuple(f"Rule {number}." for number in reversed(range(MOST)))


def test_wording_and_case_do_not_make_a_new_note() -> None:
    assert collected(["Meet, first!", "Wait.", "meet FIRST", "?!"]) == ("Wait.", "meet FIRST")
