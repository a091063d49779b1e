"""What can be set in COELA, and its named variants."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from teamworld.methods.common.options import InWords
from teamworld.methods.contract import Variant


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
    listed: Literal["options", "abilities", "plans"] = Field(
        default="options",
        description="what an agent chooses from: numbered options that can start now, abilities, or lettered plans",
    )
    omit: tuple[str, ...] = Field(
        default=(), description="verbs that are left out of the lists; an agent that names one all the same may do it"
    )
    interrupt: bool = Field(
        default=False, description="whether busy agents decide anew when what they do has become impossible"
    )
    belief_map: bool = Field(default=False, description="show what was seen or told before, with the step")
    teammates: bool = Field(default=False, description="show the last known state and task of each teammate")
    progress: bool = Field(default=False, description="show a sentence on how far the team is")
    pause: bool = Field(default=False, description="no message is proposed right after one was sent")
    propose: Literal["always", "news"] = Field(
        default="news", description="whether a message is proposed at every decision, or if something is new since"
    )
    thinking: Literal["with", "before"] = Field(
        default="with", description="whether an agent reasons in the answer that chooses, or before, in one of its own"
    )
    report: bool = Field(
        default=False,
        description="show what is delivered, held and found, room by room, in place of the view (in worlds with rooms "
        "to explore; elsewhere the sentence of progress, and the view)",
    )
    opening: bool = Field(default=False, description="begin the dialogue with two fixed lines")
    messages_shown: int = Field(default=0, ge=0, description="messages that prompts show, the newest; 0: all")
    full_hands: Literal["ask", "deliver"] = Field(
        default="ask", description="whether an agent with full hands is asked, or delivers what it holds unasked"
    )
    unread: Literal["ask", "draw"] = Field(
        default="ask", description="where no plan can be read in an answer: ask again, or draw one (parsed: false)"
    )
    blind_delivery: bool = Field(
        default=False, description="plans hold delivery also before the place was seen: it looks for the place first"
    )

    @model_validator(mode="after")
    def _of_plans(self) -> CoelaOptions:
        for name in ("unread", "blind_delivery"):
            if self.listed != "plans" and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is about plans: set listed=plans")
        if self.listed == "plans" and self.translate == "mind":
            raise ValueError("plans are read by their letters and words: set translate=parser, or another list")
        return self

    @model_serializer(mode="wrap")
    def _as_ever(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out later options that are not set: logs without them stay the bytes that they were before."""
        values: dict[str, Any] = plain(self)
        fields = type(self).model_fields
        return {name: value for name, value in values.items() if name not in _LATER or value != fields[name].default}


#: Options that came with the original form, see ``CoelaOptions._as_ever``.
_LATER = frozenset(
    {
        *("propose", "thinking", "report", "opening", "messages_shown", "full_hands", "unread", "blind_delivery"),
        "neighbourhood",
    }
)

#: The agent of the CoELA paper, whose two benchmarks differ in what it does with full hands.
_ORIGINAL: dict[str, Any] = {
    **{"listed": "plans", "thinking": "before", "report": True, "opening": True, "messages_shown": 3},
    **{"propose": "always", "actions_kept": 10, "pause": True, "visibility": "simultaneous", "unread": "draw"},
}

VARIANTS: dict[str, Variant] = {
    "reference": Variant(
        "calls as in the benchmark's code: perception of all in every step, every action translated by a reasoner",
        {"perceive": "all", "translate": "mind", "listed": "abilities", "propose": "always"},
    ),
    "original": Variant(
        "with parts of the original CoELA: belief map, teammates, progress, no message right after one",
        {"belief_map": True, "teammates": True, "progress": True, "pause": True},
    ),
    "cwah": Variant(
        "the original CoELA as in C-WAH: a report, lettered plans, thinking first, full hands deliver unasked",
        _ORIGINAL | {"full_hands": "deliver"},
    ),
    "tdwmat": Variant(
        "the original CoELA as in TDW-MAT: the same, but asked with full hands too, to put into containers or deliver",
        _ORIGINAL,
    ),
    "silent": Variant("no messages: all decide alone", {"messages": False}),
    "simultaneous": Variant("agents decide at the same time and hear in the next step", {"visibility": "simultaneous"}),
}
