"""What can be set in the four frameworks, and their named variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from teamworld.methods.common.options import REFERENCE, InWords
from teamworld.methods.contract import Variant


class CmasOptions(InWords):
    """The options of CMAS, which all four have."""

    window: int = Field(default=5, ge=0, description="last orders of each agent that prompts show, with their outcome")


class CentralOptions(CmasOptions):
    """The options of CMAS alone."""

    when: Literal["step", "free"] = Field(
        default="step",
        description="when the planner is asked: at every step, or when an agent has nothing to do, and at other steps "
        "as far as the tokens of the episode go, where they are limited",
    )


class _Local(CmasOptions):
    sees: Literal["team", "own"] = Field(
        default="team", description="what an agent reads beside its own view: what all others know, or nothing"
    )


class Hmas2Options(_Local):
    """The options of HMAS-2."""

    rounds: int = Field(default=3, ge=1, le=20, description="plans at most in a step; the last one is carried out")
    feedback: bool = Field(default=True, description="whether agents judge the plan; without, the first is carried out")
    asked: Literal["changed", "all"] = Field(
        default="changed",
        description="who judges the first plan of a step: not who accepted the same plan, goes on and sees nothing new",
    )


class DialogueOptions(_Local):
    """The options of DMAS and HMAS-1."""

    rounds: int = Field(default=2, ge=1, le=20, description="turns of each agent at most; the last one ends it")


OWN = Variant("an agent reads its own view alone, not what all others know", {"sees": "own"})
CMAS: Mapping[str, Variant] = {
    "reference": REFERENCE,
    "free": Variant("asked when an agent has nothing to do, and heeds the tokens that it has", {"when": "free"}),
}
DIALOGUE: Mapping[str, Variant] = {"reference": REFERENCE, "own": OWN}
HMAS2: Mapping[str, Variant] = {
    "reference": Variant(f"{REFERENCE.summary}, and judge every plan", {**REFERENCE.options, "asked": "all"}),
    "own": OWN,
    "central": Variant("no feedback: the planner's first plan is carried out", {"feedback": False}),
}
