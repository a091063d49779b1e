"""What can be set in Embodied, and its named variants."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from teamworld.methods.common.options import REFERENCE, InWords
from teamworld.methods.contract import Variant
from teamworld.methods.embodied.organisations import Form


class EmbodiedOptions(InWords):
    """The options of Embodied."""

    rounds: int = Field(default=1, ge=0, le=10, description="communication rounds in a step; 0: nobody talks")
    remember: int = Field(
        default=1, ge=0, description="steps for which all that was said can be read; a few messages of each: longer"
    )
    organisation: Form = Field(
        default="none", description="how the team is organised: no leader, one, two, or one that the agents elect"
    )
    term: int = Field(default=30, ge=1, description="steps after which the team elects its leader again")
    reflect: bool = Field(
        default=False,
        description="before each episode but the first a critic judges those before and proposes other organisations, "
        "and a coordinator chooses one",
    )


VARIANTS: Mapping[str, Variant] = {
    "reference": REFERENCE,
    "silent": Variant("no communication round: each chooses alone", {"rounds": 0}),
    "two_rounds": Variant("two communication rounds in a step: time to answer", {"rounds": 2}),
    "leader": Variant("the first agent leads: it says who takes which task", {"organisation": "leader"}),
    "two_leaders": Variant("the first two agents lead, each one half of the team", {"organisation": "two_leaders"}),
    "elected": Variant("the agents elect a leader, and again after each term", {"organisation": "elected"}),
    "reflect": Variant(
        "criticise and reflect: between episodes the organisation is judged and chosen anew", {"reflect": True}
    ),
}
