"""Texts that have most of their lines in common, such as the prompts of an episode: each line is kept once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

#: Places of a line that are tried for how far a text goes on as there; the latest are the likeliest.
_TRIES: Final = 16
#: Characters up to which a line alone is written again, rather than referred to.
_SHORT: Final = 12


class SharedLines:
    """Lines in the order in which they first came; a text is where to find its lines.

    A text is a list of pairs in a row: the place of a line, and how many follow from there. ``text`` is the plain
    inverse of ``add``.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._places: dict[str, list[int]] = {}

    def add(self, text: str) -> list[int]:
        """Take in a text and return where its lines are."""
        lines, pairs, at = text.split("\n"), list[int](), 0
        while at < len(lines):
            place, count = self._match(lines, at)
            is_at_end = not pairs or pairs[-2] + pairs[-1] == len(self.lines)
            if count == 0 or (count == 1 and is_at_end and len(lines[at]) <= _SHORT):
                place, count = self._append(lines[at]), 1
            if pairs and pairs[-2] + pairs[-1] == place:
                pairs[-1] += count
            else:
                pairs += (place, count)
            at += count
        return pairs

    def _append(self, line: str) -> int:
        self._places.setdefault(line, []).append(len(self.lines))
        self.lines.append(line)
        return len(self.lines) - 1

    def _match(self, lines: Sequence[str], at: int) -> tuple[int, int]:
        """Return where most of the next lines stand in a row, and how many; none where the next line is new."""
        best = (0, 0)
        for place in reversed(self._places.get(lines[at], ())[-_TRIES:]):
            count = 1
            while (
                at + count < len(lines)
                and place + count < len(self.lines)
                and lines[at + count] == self.lines[place + count]
            ):
                count += 1
            if count > best[1]:
                best = (place, count)
        return best


def text_of(lines: Sequence[str], pairs: Sequence[int]) -> str:
    """Return a text from where its lines are, as the page does."""
    places = zip(pairs[::2], pairs[1::2], strict=True)
    return "\n".join(line for place, count in places for line in lines[place : place + count])
