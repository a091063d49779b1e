"""What can be set in DR. WELL, and its named variants."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from teamworld.language import OnFailure
from teamworld.memory.contract import Communication, Identity, Ranking
from teamworld.methods.contract import InNeighbourhoods, Variant

#: What each kind of negotiation is called in the log and in the world model.
COMMUNICATION: dict[str, Communication] = {"rounds": "negotiated", "chat": "chat", "none": "none"}


class DrWellOptions(InNeighbourhoods):
    """Options of DR. WELL."""

    task_identity: Identity = Field(
        default="id", description="what a task is over episodes: the goal's id, or its class"
    )
    update: Literal["live", "episode"] = Field(
        default="live", description="whether outcomes enter the world model at once, or after the episode"
    )
    ranking: Ranking = Field(default="expected", description="how plans of the library are ranked")
    rule: Literal["best", "draw"] = Field(
        default="best", description="built-in rules: drafts are the best plan known, or any that makes sense"
    )
    explore: int = Field(
        default=6, ge=0, description="with rule=draw: plans for a task before an untried draft gives way to the library"
    )
    on_failure: OnFailure = Field(
        default="default", description="what a failed action does to its plan; default: what the world's rules say"
    )
    memory: Literal["full", "guidebook", "library", "none"] = Field(
        default="full", description="what is read of the world model: guidebook (negotiation), library (planning)"
    )
    negotiation: Literal["rounds", "chat", "none"] = Field(
        default="rounds", description="two rounds and a validator, a free chat, or no talk at all"
    )
    chat_turns: int = Field(default=2, ge=1, le=10, description="turns of each agent in a chat")
    revision: bool = Field(default=True, description="whether drafts are revised")
    reflections: bool = Field(
        default=False, description="whether revisions leave notes that later revisions read, with the library"
    )
    freeze_after: int | None = Field(
        default=None, ge=0, description="episodes after which the world model is only read; null: never"
    )

    @property
    def guided(self) -> bool:
        """The guidebook is read."""
        return self.memory in {"full", "guidebook"}

    @property
    def looks_up(self) -> bool:
        """The plan library is read; so are the notes, if there are any."""
        return self.memory in {"full", "library"}

    @property
    def takes_notes(self) -> bool:
        """Reflections are kept and read."""
        return self.reflections and self.revision and self.looks_up

    def learns_in(self, episode: int) -> bool:
        """Whether outcomes of an episode, counted from 1, enter the world model."""
        return self.memory != "none" and (self.freeze_after is None or episode <= self.freeze_after)


VARIANTS: dict[str, Variant] = {
    "no_memory": Variant("no world model: neither guidebook nor plan library", {"memory": "none"}),
    "guidebook_only": Variant("the world model is read in the negotiation, not in planning", {"memory": "guidebook"}),
    "library_only": Variant("the world model is read in planning, not in the negotiation", {"memory": "library"}),
    "no_negotiation": Variant("no talk and no validator: all choose alone at the same time", {"negotiation": "none"}),
    "no_revision": Variant("drafts are carried out as they are", {"revision": False}),
    "draw": Variant("built-in rules draft any plan that makes sense, not the best", {"rule": "draw"}),
    "free_chat": Variant("a free chat instead of the two rounds, no validator", {"negotiation": "chat"}),
    "reflections": Variant("shared notes: rules that agents tell the team", {"reflections": True}),
    "class_identity": Variant("tasks are known by their class, for layouts that change", {"task_identity": "class"}),
    "frozen": Variant("the world model is read and never written: for --memory", {"freeze_after": 0}),
}
