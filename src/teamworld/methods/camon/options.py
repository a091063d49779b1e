"""What can be set in CAMON, and its named variants."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from teamworld.methods.common.options import REFERENCE, InWords
from teamworld.methods.contract import Variant


class CamonOptions(InWords):
    """The options of CAMON."""

    review: bool = Field(default=True, description="whether the leader reviews proposals")
    orders: bool = Field(default=True, description="whether the leader may give orders to others")
    window: int = Field(default=5, ge=0, description="last orders of each agent that the leader reads")


VARIANTS: Mapping[str, Variant] = {
    "reference": REFERENCE,
    "no_review": Variant("proposals stand; the leader only passes on", {"review": False}),
    "no_orders": Variant("the leader orders nobody but who proposes", {"orders": False}),
}
