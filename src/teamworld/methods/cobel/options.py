"""What can be set in CoBel-World, and its named variants (CoBel-World spec A13, A15 and C)."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from teamworld.methods.contract import Variant

#: Who does an operation: a mind that is asked (a language model or the built-in rules), or inference.
EngineName: TypeAlias = Literal["questions", "exact"]
#: What can be done by either engine (CoBel-World spec B3.1).
OPERATIONS: Final = ("hear", "model", "predict", "intents", "assess", "compose", "plan", "replan", "ground")


class CobelOptions(BaseModel):
    """Options of CoBel-World."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: EngineName = Field(
        default="questions", description="who does all operations that are not set apart: asked minds, or inference"
    )
    hear: EngineName | None = Field(default=None, description="zero-order update: what a message says of the world")
    model: EngineName | None = Field(default=None, description="first-order update: what a team-mate knows after talk")
    predict: EngineName | None = Field(default=None, description="prediction of what is not known of the world")
    intents: EngineName | None = Field(default=None, description="prediction of what team-mates are up to")
    assess: EngineName | None = Field(default=None, description="assessment of miscoordination")
    compose: EngineName | None = Field(default=None, description="the text of a message")
    plan: EngineName | None = Field(default=None, description="active planning")
    replan: EngineName | None = Field(default=None, description="passive planning, round announced plans")
    ground: EngineName | None = Field(default=None, description="from the subplan to the next action")
    rules: Literal["schema", "agreed"] = Field(
        default="schema", description="belief rules: made from the world's relations, or proposed and reviewed by minds"
    )
    rounds: int = Field(default=3, ge=1, le=9, description="rounds of proposal and review at most")
    store: Literal["tables", "text"] = Field(
        default="tables", description="what was said is kept as belief tables, or as the text of the dialogue"
    )
    ruled: bool = Field(default=True, description="only beliefs that a belief rule admits are kept")
    first_order: bool = Field(default=True, description="whether beliefs about team-mates' beliefs are kept")
    foresee: bool = Field(default=True, description="whether team-mates' plans are predicted, and plans give way")
    gate: Literal["assess", "always", "never", "random"] = Field(
        default="assess", description="when a message is sent: where it is assessed to pay, at each new plan, never, or"
    )
    rate: float = Field(default=0.1, ge=0, le=1, description="probability of a message at a new plan, gate `random`")
    theta: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="ticks that a message must save beyond the one it takes"
    )
    cap: Literal["none", "episode", "streak"] = Field(
        default="none", description="what bounds an agent's messages: nothing, the episode, or a row without action"
    )
    most: int = Field(default=2, ge=1, description="messages under the cap")
    to: Literal["all", "concerned"] = Field(
        default="all", description="whom a message goes to; in teams of more than three `concerned` saves reading"
    )
    keep: bool = Field(
        default=True, description="announced plans are kept until they are obsolete, else for one cycle (spec C26)"
    )
    interrupt: bool = Field(default=True, description="a message whose plan clashes stops what runs (spec C6)")
    correct: bool = Field(default=True, description="passive plans are assessed too, for one message each (spec C19)")
    warn: bool = Field(
        default=True, description="a team-mate in danger that cannot know it is warned, whatever `cap` says"
    )
    actions: int = Field(default=3, ge=1, le=12, description="actions of a subplan before a new one is made")
    length: int = Field(default=500, ge=40, le=2000, description="longest message in characters")
    trust: float = Field(default=0.95, ge=0.5, le=1, description="how likely what is told is true (spec C17)")
    tau: float = Field(default=0.15, gt=0, description="spread of intents: 0 the best alone, large all alike")
    beta: float = Field(default=1.0, ge=0, description="how much a step off the way speaks against an intent, per tick")
    kept: float = Field(default=0.9, ge=0, le=1, description="how likely an announced plan is kept to")

    @model_validator(mode="after")
    def _text_is_for_minds(self) -> CobelOptions:
        inferred = [name for name in OPERATIONS if self.by(name) == "exact"]
        if self.store == "text" and inferred:
            raise ValueError(f"store=text leaves nothing to infer from: {inferred[0]} is a question too")
        return self

    def by(self, operation: str) -> EngineName:
        """Return who does an operation."""
        name: EngineName | None = getattr(self, operation)
        return self.engine if name is None else name


_NO_SBR: Final[dict[str, Any]] = {"store": "text", "ruled": False, "first_order": False, "engine": "questions"}

VARIANTS: Final[dict[str, Variant]] = {
    "exact": Variant("all operations by inference: no mind is asked", {"engine": "exact"}),
    "original": Variant(
        "as published: plans of others are forgotten after a cycle, two messages an episode, nothing interrupts",
        {"keep": False, "cap": "episode", "interrupt": False, "correct": False, "rules": "agreed", "warn": False},
    ),
    "no_sbr": Variant("no symbolic beliefs: the dialogue stands for what others know; asked minds only", _NO_SBR),
    "no_bbc": Variant("no prediction of team-mates' plans: only knowledge is compared", {"foresee": False}),
    "text_store": Variant("what was said is kept as text, not in tables; asked minds only", {"store": "text"}),
    "no_rules": Variant("beliefs of any form are kept that the world can state", {"ruled": False}),
    "no_first_order": Variant("no beliefs about team-mates' beliefs", {"first_order": False}),
    "no_intents": Variant("plans are made as if team-mates did nothing", {"foresee": False, "correct": False}),
    "always": Variant("a message at each new plan, whatever is assessed", {"gate": "always"}),
    "random": Variant(
        "messages at random moments; by default about as many as inference sends in the household's homes",
        {"gate": "random", "rate": 0.035},
    ),
    "silent": Variant("no messages: everybody decides alone", {"gate": "never"}),
}
