"""What can be set in HMAS-2, and its named variants."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from teamworld.methods.common.options import REFERENCE, InWords
from teamworld.methods.contract import Variant


class Hmas2Options(InWords):
    """The options of HMAS-2."""

    rounds: int = Field(default=3, ge=1, le=20, description="plans at most in a step; the last one is carried out")
    feedback: bool = Field(default=True, description="whether agents judge the plan; without, the first is carried out")
    window: int = Field(
        default=5, ge=0, description="steps of the past that the planner sees, each agent's state and action"
    )


VARIANTS: Mapping[str, Variant] = {
    "reference": REFERENCE,
    "central": Variant("no feedback: the planner's first plan is carried out", {"feedback": False}),
}
