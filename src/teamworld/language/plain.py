"""The names that people and models read and write: ``block_0`` for what the language writes ``<block>(0)``.

Logs and the grammar keep the exact form, which tells a thing from an agent's name. Prompts, messages and refusals show
plain names, and answers are read back by the kinds of things that there are.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_WRITTEN = re.compile(r"<\s*([A-Za-z_][A-Za-z0-9_]*)\s*>\s*\(\s*(\d+)\s*\)")


def plain(value: object) -> str:
    """Return the written form of a value with plain names in it: ``push_block(block_1, 5)``."""
    return plain_names(str(value))


def plain_names(text: str) -> str:
    """Return a text with every ``<block>(0)`` in it as ``block_0``."""
    return _WRITTEN.sub(r"\1_\2", text) if "<" in text else text


def written_names(text: str, kinds: Collection[str]) -> str:
    """Return a text with every plain name of a thing in it in the exact form of the language.

    Args:
        text: May hold plain names and exact ones, in quotes or not.
        kinds: The kinds of things that there are.
    """
    text = plain_names(text)
    if not kinds:
        return text
    anyone = "|".join(sorted(map(re.escape, kinds), key=len, reverse=True))
    return re.sub(rf"""(?<![A-Za-z0-9_])(["'`]?)({anyone})_(\d+)\1(?![A-Za-z0-9_])""", r"<\2>(\3)", text)
