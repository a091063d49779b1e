"""What can be set in Embodied, and its named variants."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from teamworld.methods.common.options import REFERENCE, InWords
from teamworld.methods.contract import Variant


class EmbodiedOptions(InWords):
    """The options of Embodied."""

    rounds: int = Field(default=1, ge=0, le=10, description="communication rounds in a step")
    remember: int = Field(default=1, ge=0, description="ticks for which what was said can be read; older talk is gone")
    past: int = Field(default=10, ge=0, description="finished actions that a prompt shows")


VARIANTS: Mapping[str, Variant] = {
    "reference": REFERENCE,
    "silent": Variant("no communication round: each chooses alone", {"rounds": 0}),
    "two_rounds": Variant("two communication rounds in a step: time to answer", {"rounds": 2}),
}
