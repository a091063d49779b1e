"""What can be set in CaPo, and its named variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from teamworld.methods.common.options import REFERENCE, InWords
from teamworld.methods.contract import Variant


class CapoOptions(InWords):
    """Options of CaPo. What the paper leaves open is set as the reruns of CoBel-World's authors had it."""

    rounds: int = Field(
        default=3, ge=1, le=20, description="rounds of a discussion at most; the last meta-plan stands, agreed or not"
    )
    designer: Literal["first", "trigger"] = Field(
        default="first",
        description="who designs the meta-plan: the first agent that can act, or whoever has the reason to discuss",
    )
    discussion: bool = Field(
        default=True, description="whether evaluators judge the meta-plan; without, the designer's first one stands"
    )
    adaptation: bool = Field(
        default=True, description="whether new progress starts a discussion; without, there is one at the start alone"
    )
    joins: Literal["action", "step"] = Field(
        default="action",
        description="when agents without a reason join a discussion: when their action has ended, or at the next step",
    )
    gap: int = Field(
        default=0, ge=0, description="steps from a discussion to the next at least; reasons within it are kept"
    )
    matching: Literal["exact", "part"] = Field(
        default="exact",
        description="whether a thing is new by its own kind, or if its kind only contains the name of a wanted one",
    )
    told_counts: bool = Field(
        default=True, description="whether a thing that an agent was told of is new no more when it sees the thing"
    )
    deliveries: Literal["together", "each"] = Field(
        default="together",
        description="whether a delivery starts a discussion when the action has ended, with all it delivered, or each",
    )
    refusals: Literal["any", "exact"] = Field(
        default="any",
        description="which word of dissatisfaction leads to another round: no in any form, or only 'No' and 'NO'",
    )
    reparse: bool = Field(
        default=False, description="whether agents choose anew right after a discussion, or first end what they do"
    )
    free_discussion: bool = Field(
        default=False, description="whether messages cost nothing under CaPo's own rule (--talk native)"
    )
    full_hands: Literal["ask", "deliver"] = Field(
        default="deliver", description="whether an agent with full hands delivers what it holds unasked, or is asked"
    )
    messages_shown: int = Field(
        default=3, ge=0, description="newest lines of the dialogue in prompts, beside those of the discussion; 0: all"
    )
    actions_kept: int = Field(default=10, ge=0, description="own actions that an agent remembers, the newest; 0: all")


VARIANTS: Mapping[str, Variant] = {
    "competitors": Variant(
        "as CoBel-World's authors ran it: names match in part, all that is seen or delivered triggers, talk is free",
        {
            **{"matching": "part", "told_counts": False, "deliveries": "each", "refusals": "exact"},
            **{"joins": "step", "free_discussion": True},
        },
    ),
    "no_discussion": Variant("nobody judges the meta-plan: the designer's first one stands", {"discussion": False}),
    "no_adaptation": Variant("one discussion at the start: no progress leads to another", {"adaptation": False}),
    "one_round": Variant("one round a discussion: objections are heard, and change nothing", {"rounds": 1}),
    "reference": REFERENCE,
}
