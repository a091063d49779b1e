"""The form of all answers: reasoning first, then for whom and for what, then the action."""

from __future__ import annotations

import re

from pydantic import Field

from teamworld.methods.contract import StrictModel

#: Longest reasoning in characters.
LONGEST = 2000
_NOTHING = re.compile(r"(nothing|none|null|nil|n/?a|no message|not applicable|empty)", re.IGNORECASE)


class Reasoned(StrictModel):
    """An answer that begins with why; ``reasoning: off`` takes the field away from all of them."""

    reasoning: str = Field(default="", description="your reasoning, in a few sentences", max_length=LONGEST)


def meant(text: str) -> str:
    """Return what a text of an answer says, without space round it; empty where it says that it is nothing.

    "Nothing", "none", "null", "n/a" and "no message" as the whole text are how models leave a field empty.
    """
    said = text.strip()
    bare = said.strip(" \t\r\n\"'`.-()[]<>*_")
    return "" if not bare or _NOTHING.fullmatch(bare) else said
