"""Shared notes: short rules that agents told the team, as every agent reads them (DR. WELL spec A5, B18).

A note may come from a language model: it is data. It is cut to one short line without control
characters, and whoever shows it shows it as a quotation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

#: Longest note in characters; the rest is cut.
LONGEST = 200
#: Notes that are kept, the newest ones.
MOST = 20
# Control, format and unpaired surrogate characters, and what ends a line or a paragraph.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def clean(text: str) -> str:
    """Return a note as one line of at most ``LONGEST`` characters without control characters; may be empty."""
    shown = (" " if unicodedata.category(character) in _HIDDEN else character for character in text)
    return " ".join("".join(shown).split())[:LONGEST].rstrip()


def alike(text: str) -> str:
    """Return what two notes that say the same have in common: letters and digits, without case and marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(one if one.isalnum() else " " for one in folded).split())


def collected(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the notes of some texts, oldest first: cleaned, each said once, the newest ``MOST`` of them.

    Said again, a note counts as new, in its newest wording. What holds no letter or digit is no note.
    """
    return newest(reversed(tuple(texts)))


def newest(backwards: Iterable[str]) -> tuple[str, ...]:
    """Return what ``collected`` does of texts that come newest first, reading no more of them than it takes."""
    notes: dict[str, str] = {}
    for text in backwards:
        note = clean(text)
        if key := alike(note):
            notes.setdefault(key, note)
        if len(notes) == MOST:
            break
    return tuple(reversed(notes.values()))
