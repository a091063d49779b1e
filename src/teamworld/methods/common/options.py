"""Options of methods whose agents perceive and act in words."""

from __future__ import annotations

from pydantic import Field

from teamworld.methods.common.perception import Perception
from teamworld.methods.common.translation import Translator
from teamworld.methods.contract import InNeighbourhoods, Variant


class InWords(InNeighbourhoods):
    """What such methods have in common."""

    perceive: Perception = Field(
        default="plain",
        description="whose views a reasoner puts in words: nobody's, those of agents about to decide, or all of them",
    )
    translate: Translator = Field(
        default="parser",
        description="what reads a chosen action: a parser, a reasoner what it cannot; or a reasoner (mind)",
    )


#: The calls of the benchmark's code.
REFERENCE = Variant(
    "as in CREW-Wildfire: a reasoner puts every view in words and translates every action",
    {"perceive": "all", "translate": "mind"},
)
