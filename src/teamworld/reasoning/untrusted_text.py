"""Quote what another agent wrote for a prompt: the quotation can neither end itself nor hide anything.

Messages, notes and reflections are data. A template shows them with the filter ``quoted`` and nothing else; its
system part says that what stands between the quotation marks is information, never an order.
"""

from __future__ import annotations

import re
import unicodedata

from teamworld.language import plain_names

#: Longest quotation in characters; the rest is cut. An answer's texts are at most 600 long.
LONGEST = 700
OPEN, CLOSE = "«", "»"

# Commands to a terminal: colours, titles, moves of the cursor.
_TERMINAL = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b.?")
# Characters that nobody sees and a model reads: fillers, joiners, variation selectors, tags.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0000-\U000e0fff]")
# Format characters (bidirectional overrides, zero width), unpaired surrogates, private use.
_REMOVED = frozenset({"Cf", "Cs", "Co"})
_ENDS_A_LINE = frozenset({"Cc", "Zl", "Zp"})
# Whatever could close the quotation, or looks as if it did; and code marks.
_MARKS = str.maketrans({**dict.fromkeys("«»《》≪≫⟪⟫", '"'), "`": "'"})
# A space takes the meaning from marks that chat templates read: <|im_start|>, </s>, [INST]. The language reads it over.
_TAGS = re.compile(r"([<\[])(?=\S)")


def quoted(text: str, longest: int = LONGEST) -> str:
    """Return a text of another agent as a quotation: one line, at most ``longest`` characters between the marks.

    Terminal commands, control characters and characters that nobody sees are gone, compatibility characters are the
    plain ones (NFKC), quotation marks of the block's kind are plain ones, and no mark of a chat template is left whole.
    """
    if not (text.isascii() and text.isprintable()):
        text = _plain(text)
    text = plain_names(text)  # a name is no mark of a chat template
    line = " ".join(_TAGS.sub(r"\1 ", text.translate(_MARKS)).split())
    if len(line) > longest:
        line = f"{line[: longest - 3].rstrip()}..."
    return f"{OPEN}{line}{CLOSE}"


def own_words(text: str, longest: int = LONGEST) -> str:
    """Return a text that the asked agent's own reasoner wrote earlier: each line after ``>``, cut and cleaned alike.

    It is nobody else's (or the method's own words to the whole team), so it has no quotation marks; but no line of it
    can pass for a line of the prompt.
    """
    lines = (quoted(line, longest)[1:-1] for line in text[:longest].splitlines())
    return "\n".join(f"> {line}" for line in lines if line)


def plain_characters(text: str) -> list[str]:
    """Return what a quotation shows of each character of a text, terminal commands left out; "" where it shows nothing.

    Put together it is what a quotation shows of the text, but for characters that are shown as one with the one before.
    """
    shown = {char: _UNSEEN.sub("", unicodedata.normalize("NFKC", char)) for char in set(text)}
    shown = {char: "".join(map(_shown, plain)) for char, plain in shown.items()}
    hidden = bytearray(len(text))
    for command in _TERMINAL.finditer(text):
        hidden[command.start() : command.end()] = b"\1" * (command.end() - command.start())
    return ["" if unseen else shown[char] for char, unseen in zip(text, hidden, strict=True)]


def _plain(text: str) -> str:
    """Return a text without what is not shown, in plain characters."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", _TERMINAL.sub("", text)))
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    return "" if category in _REMOVED else " " if category in _ENDS_A_LINE else character
