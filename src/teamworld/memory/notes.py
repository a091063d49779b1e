"""Shared notes: short rules that agents told the team, as every agent reads them.

A note may come from a language model: it is data. It is cut to one short line without control
characters, and a prompt shows it as a quotation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

#: Longest note in characters; the rest is cut.
LONGEST = 200
#: Notes that are kept, the newest ones.
MOST = 20
# Control, format and unpaired surrogate characters, and line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def clean_note(text: str) -> str:
    """Return a note as one line of at most ``LONGEST`` characters without control characters; may be empty."""
    shown = (" " if unicodedata.category(character) in _HIDDEN else character for character in text)
    return " ".join("".join(shown).split())[:LONGEST].rstrip()


def note_key(text: str) -> str:
    """Return what two notes that say the same have in common: letters and digits, without case and marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(character if character.isalnum() else " " for character in folded).split())


def recent_notes(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the notes in some texts, oldest first: cleaned, each said once, the newest ``MOST`` of them.

    Said again, a note counts as new, in its newest wording. What holds no letter or digit is no note.
    """
    notes: dict[str, str] = {}
    for text in reversed(tuple(texts)):
        note = clean_note(text)
        if key := note_key(note):
            notes.setdefault(key, note)
        if len(notes) == MOST:
            break
    return tuple(reversed(notes.values()))
