"""What can be set in ReAct, and its named variants."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from teamworld.methods.contract import StrictModel, Variant


class ReactOptions(StrictModel):
    """The options of ReAct."""

    history: int = Field(default=10, ge=1, description="thoughts and actions of its own that an agent is shown")
    reflections: bool = Field(
        default=False, description="after an episode each agent draws one lesson, which it is shown in later ones"
    )
    lessons: int = Field(default=3, ge=1, description="lessons that an agent is shown, the newest")


VARIANTS: Mapping[str, Variant] = {
    "reflexion": Variant("each agent reflects on its last episode and keeps the lesson", {"reflections": True}),
}
