"""Find JSON objects in what a language model says: JSON as it should be, and JSON as models write it.

Text around the objects, code fences, reasoning blocks and tags are passed over. Forgiven in an object is what can be
read in one way only: comments, a trailing comma, single or curly quotes, keys without quotes, ``None``, ``True`` and
``NaN``, line breaks in strings, needless backslashes. What would have to be guessed is not: an object that is not
closed, a missing comma, a value without quotes.

Why this is no library: docs/decisions/0005-dependencies.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

from pydantic_core import from_json

#: Characters that are read; of a longer text the end, where the answer stands.
LONGEST = 200_000
_DEPTH = 16  # answers are shallow; it bounds the recursion
# What is begun again and again must not make reading quadratic: characters passed for each of the text, a step counting
# as some. Sound JSON takes 13 at most.
_EFFORT, _STEP = 24, 8
_DIGITS = 400

_SPACE = re.compile(r"[\s\x00\ufeff\u200b-\u200f\u2060]*+")
_LINE = re.compile(r"[^\n]*+")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_HEX = "[0-9a-fA-F]"
ESCAPE = re.compile(rf"\\(?:u({_HEX}{{4}})|U(00(?:0{_HEX}|10){_HEX}{{4}})|x({_HEX}{{2}})|(.))", re.DOTALL)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""}
_WORDS = {
    **{"null": None, "None": None, "true": True, "True": True, "false": False, "False": False},
    **{"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")},
}
_DOUBLE, _SINGLE = '"\u201c\u201d\u201e', "'\u2018\u2019"
_CLOSERS = {'"': '"', "'": "'", **dict.fromkeys(_DOUBLE[1:], _DOUBLE), **dict.fromkeys(_SINGLE[1:], _SINGLE)}
_INSIDE = {
    closers: re.compile(rf"[^{closers}\\]*+(?:\\.[^{closers}\\]*+)*+", re.DOTALL) for closers in _CLOSERS.values()
}

_APOSTROPHE = re.compile(rf"\w[{_SINGLE}]\w")

_THOUGHTS = "think|thinking|thought|thoughts|reasoning|analysis|scratchpad"
_MARK = re.compile(rf"(?P<object>{{)|[<\[](?P<end>/?)(?:(?P<thought>{_THOUGHTS})|answer)[>\]]", re.IGNORECASE)
_THOUGHT_END = re.compile(rf"[<\[]/(?:{_THOUGHTS})[>\]]", re.IGNORECASE)


class Tangled(Exception):
    """Text with so many half objects in it that reading it would take too long."""


class FoundObjects(NamedTuple):
    """What is in a text."""

    objects: tuple[dict[str, Any], ...]
    """The complete ones that stand in no other, the likeliest answer last."""
    rest: str
    """The text without reasoning blocks and tags."""
    open: bool
    """The text ends inside an object or a reasoning block."""
    broken: str | None = None
    """Where reading got furthest in what is no object after all: the text from there on."""


class _NotAValue(Exception):
    """No value stands here."""

    def __init__(self, at: int) -> None:
        self.at = at


class _UnexpectedEnd(_NotAValue):
    """The text ended inside a value."""


class _Reader:
    """Reads one value after another of a text; each method takes where to begin and returns where it ended.

    Args:
        text: The text.
        prose: Keys whose values are free text; in them alone a quote may stand without its backslash.
    """

    def __init__(self, text: str, prose: Collection[str]) -> None:
        self._text, self._prose = text, prose
        self._left = _EFFORT * len(text) + 10_000
        self._last_comment_end = text.rfind("*/")

    def object(self, at: int, depth: int = 0) -> tuple[dict[str, Any], int]:
        """Read an object; of a key that comes twice the last value counts, as in every JSON reader of Python."""
        if depth > _DEPTH:
            raise _NotAValue(at)
        members = {}
        at = self._space(at + 1)
        while not self._text.startswith("}", at):
            key, at = self._key(at)
            at = self._space(at)
            if not self._text.startswith(":", at):
                raise self._error_at(at)
            members[key], at = self._value(self._space(at + 1), depth + 1, key in self._prose)
            at = self._comma(at, "}")
        return members, at + 1

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        if depth > _DEPTH:
            raise _NotAValue(at)
        entries = []
        at = self._space(at + 1)
        while not self._text.startswith("]", at):
            entry, at = self._value(at, depth + 1)
            entries.append(entry)
            at = self._comma(at, "]")
        return entries, at + 1

    def _value(self, at: int, depth: int, prose: bool = False) -> tuple[Any, int]:
        first = self._text[at : at + 1]
        if first == "{":
            return self.object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first in _CLOSERS:
            return self._string(at, prose)
        if number := _NUMBER.match(self._text, at):
            end = self._advance(number.end(), at)
            if end - at > _DIGITS:
                raise _NotAValue(at)
            return (int if number[0].lstrip("+-").isdecimal() else float)(number[0]), end
        word = _WORD.match(self._text, at + (first == "-"))
        if word is None or self._text[at : word.end()] not in _WORDS:
            raise _UnexpectedEnd(at) if word and word.end() == len(self._text) else self._error_at(at)
        return _WORDS[self._text[at : word.end()]], self._advance(word.end(), at)

    def _key(self, at: int) -> tuple[str, int]:
        if self._text[at : at + 1] in _CLOSERS:
            return self._string(at, False)
        if word := _WORD.match(self._text, at):
            return word[0], self._advance(word.end(), at)
        raise self._error_at(at)

    def _string(self, start: int, prose: bool) -> tuple[str, int]:
        """Read a string.

        In prose a quote ends it only where the value can end, after pairs of quotes; apostrophes are none. A quote
        before a colon ends a key: a comma is missing, and a field must not become prose.
        """
        closers = _CLOSERS[self._text[start]]
        at, inner = start, 0
        while True:
            at = self._advance(_match_end(_INSIDE[closers], self._text, at + 1), at)
            if at >= len(self._text):
                raise _UnexpectedEnd(at)
            if prose and not self._ends_prose(at, inner, closers):
                inner += not _APOSTROPHE.match(self._text, at - 1)
                continue
            return _unescape(self._text[start + 1 : at]), at + 1

    def _ends_prose(self, at: int, inner: int, closers: str) -> bool:
        """Return whether the quote at ``at``, with ``inner`` quotes before it, ends a string of prose."""
        after = self._space(at + 1)
        if self._text.startswith(":", after) or any(quote in self._text[at + 1 : after] for quote in closers):
            raise _NotAValue(at)  # the latter: a comment, or prose that looks like one
        return inner % 2 == 0 and (after >= len(self._text) or self._text[after] in ",}")

    def _comma(self, at: int, close: str) -> int:
        """Pass over a comma, or stop before what closes."""
        at = self._space(at)
        if self._text.startswith(",", at):
            return self._space(at + 1)
        if not self._text.startswith(close, at):
            raise self._error_at(at)
        return at

    def _space(self, at: int) -> int:
        """Pass over white space, invisible characters and comments."""
        while True:
            at = self._advance(_match_end(_SPACE, self._text, at), at)
            if self._text.startswith(("//", "#"), at):
                at = self._advance(_match_end(_LINE, self._text, at), at)
            elif self._text.startswith("/*", at):
                if self._last_comment_end < at + 2:
                    raise _UnexpectedEnd(at)
                at = self._advance(self._text.index("*/", at + 2) + 2, at)
            else:
                return at

    def _advance(self, end: int, start: int) -> int:
        self._left -= _STEP + end - start
        if self._left < 0:
            raise Tangled
        return end

    def _error_at(self, at: int) -> _NotAValue:
        return _NotAValue(at) if at < len(self._text) else _UnexpectedEnd(at)


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def escaped_character(match: re.Match[str]) -> str:
    """Return what a match of ``ESCAPE`` stands for: a character, half of one (a surrogate), or nothing."""
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _PLAIN.get(match[4], match[4])


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    # Two escapes may be the halves of one character.
    return ESCAPE.sub(escaped_character, text).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def find_objects(text: str, prose: Collection[str] = ()) -> FoundObjects:
    """Find the objects in a text.

    Thoughts are no answer: a reasoning block is passed over, and so is all that stands before the end of one that was
    never begun (some servers put its beginning into the prompt). In one that is never closed objects do count: models
    forget to close it. Objects between ``<answer>`` tags come last in the result. Tags inside an object are content.

    Args:
        text: The text; of more than ``LONGEST`` characters the end is read.
        prose: Keys whose values are free text; in them alone a quote may stand without its backslash.

    Returns:
        What is in it. The time taken grows with the length of the text, whatever is in it.

    Raises:
        Tangled: It would take too long.
    """
    text = text[-LONGEST:]
    try:
        whole = from_json(text)
    except (ValueError, TypeError):  # the latter on half a surrogate pair
        whole = None
    if isinstance(whole, dict):
        return FoundObjects((whole,), text, False)
    if isinstance(whole, str) and whole.lstrip().startswith("{"):
        return find_objects(whole, prose)  # JSON within JSON: each layer doubles the backslashes, so there are few
    reader = _Reader(text, prose)
    objects: list[tuple[bool, dict[str, Any]]] = []
    said: list[str] = []
    at = since = furthest = 0
    tagged = ended = False
    last_thought_end = max((match.end() for match in _THOUGHT_END.finditer(text)), default=0)
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark["object"]:
            try:
                value, at = reader.object(mark.start())
                objects.append((tagged, value))
            except _UnexpectedEnd:
                ended = True
            except _NotAValue as error:
                furthest = max(furthest, error.at)
            continue
        said.append(text[since : mark.start()])
        if not mark["thought"]:
            tagged = not mark["end"]
        elif mark["end"]:
            objects, said, furthest, ended, tagged = [], [], 0, False, False
        elif last_thought_end > at and (close := _THOUGHT_END.search(text, at)):
            at = close.end()
        else:
            ended = True
        since = at
    said.append(text[since:])
    objects.sort(key=lambda item: item[0])
    return FoundObjects(
        tuple(value for _, value in objects), "".join(said), ended, text[furthest:] if furthest else None
    )
