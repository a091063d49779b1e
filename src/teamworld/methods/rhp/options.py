"""What can be set in RHP, and its named variants."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from teamworld.methods.contract import StrictModel, Variant


class RhpOptions(StrictModel):
    """Options of RHP."""

    containers_until: int = Field(
        default=1600, ge=0, description="frame from which an agent without a container carries things in its hands"
    )
    deliver_from: int = Field(default=2300, ge=0, description="frame from which an agent delivers whatever it holds")
    choice: Literal["random", "nearest"] = Field(
        default="random", description="which of the known things it fetches: one at random, or the nearest"
    )
    free_hand: bool = Field(
        default=False, description="whether it takes one thing more in the free hand when its container is full"
    )


VARIANTS: dict[str, Variant] = {
    "nearest": Variant(
        "fetches the nearest known thing, and one more in the free hand when its container is full",
        {"choice": "nearest", "free_hand": True},
    ),
}
