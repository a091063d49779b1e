"""What can be set in MHP, and its named variants."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from teamworld.methods.contract import StrictModel, Variant


class MhpOptions(StrictModel):
    """Options of MHP."""

    simulations: int = Field(default=100, ge=1, le=100_000, description="simulations of a search")
    depth: int = Field(default=5, ge=1, le=100, description="subgoals that a roll-out carries out, at most")
    messages: bool = Field(default=False, description="whether subgoals, deliveries and findings are told")
    worth: int = Field(
        default=5,
        ge=0,
        description="what findings must be worth to be told when a room is left: 4 for each thing, 1 for each place",
    )
    hands: int = Field(default=1, ge=1, le=2, description="how many things an agent carries at once")
    costs: Literal["legs", "metres"] = Field(
        default="legs", description="what ways cost in the search: by the rooms they lead through, or by straight lines"
    )
    look: Literal["anywhere", "near"] = Field(
        default="anywhere",
        description="where things are guessed to be: in any place, all alike, or where finding one is likely and near",
    )

    @property
    def plans_trips(self) -> bool:
        """Whether things are fetched and delivered apart, so that more than one can be carried or ways be compared."""
        return self.hands > 1 or self.costs == "metres"


VARIANTS: dict[str, Variant] = {
    "comm": Variant(
        "with messages from templates: each new subgoal, each delivery, findings; one costs the speaker its step",
        {"messages": True},
    ),
    "plus": Variant(
        "the stronger baseline: counts metres, looks next where it is near, carries two things",
        {"hands": 2, "costs": "metres", "look": "near"},
    ),
}
