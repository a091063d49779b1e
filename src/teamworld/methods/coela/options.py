"""What can be set in COELA, and its named variants (COELA spec 1.10 and 2)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from teamworld.methods.contract import Variant
from teamworld.methods.parts.options import InWords


class CoelaOptions(InWords):
    """Options of COELA."""

    visibility: Literal["sequential", "simultaneous"] = Field(
        default="sequential", description="whether agents hear what those before them said in the same step"
    )
    order: Literal["team", "shuffle"] = Field(
        default="team", description="in which order agents decide: that of the team, or drawn anew for each step"
    )
    messages: bool = Field(default=True, description="whether there are messages at all")
    messages_kept: int = Field(default=30, ge=0, description="messages that an agent remembers, the newest; 0: all")
    actions_kept: int = Field(default=20, ge=0, description="own actions that an agent remembers, the newest; 0: all")
    listed: Literal["options", "abilities"] = Field(
        default="options", description="what an agent chooses from: numbered options that can start now, or abilities"
    )
    omit: tuple[str, ...] = Field(
        default=(), description="verbs that are left out of the lists; an agent that names one all the same may do it"
    )
    interrupt: bool = Field(
        default=False, description="whether busy agents decide anew when what they do has become impossible"
    )
    belief_map: bool = Field(default=False, description="show what was seen or told before, with the tick")
    teammates: bool = Field(default=False, description="show the last known state and task of each team-mate")
    progress: bool = Field(default=False, description="show a sentence on how far the team is")
    pause: bool = Field(default=False, description="no message is proposed right after one was sent")


VARIANTS: dict[str, Variant] = {
    "reference": Variant(
        "calls as in the benchmark's code: perception of all in every step, every action translated by a mind",
        {"perceive": "all", "translate": "mind", "listed": "abilities"},
    ),
    "original": Variant(
        "with parts of the original CoELA: belief map, team-mates, progress, no message right after one",
        {"belief_map": True, "teammates": True, "progress": True, "pause": True},
    ),
    "silent": Variant("no messages: all decide alone", {"messages": False}),
    "simultaneous": Variant("agents decide at the same time and hear in the next step", {"visibility": "simultaneous"}),
}
