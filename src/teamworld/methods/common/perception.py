"""Perception: an agent's view as a paragraph by its reasoner, or in the world's own plain words without a call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from teamworld.errors import UserError
from teamworld.language import AgentId
from teamworld.methods.contract import DecisionContext, StrictModel
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import View

#: Whose views a reasoner puts in words: nobody's (the world's plain words do), those of agents that are about to
#: decide, or those of all.
Perception: TypeAlias = Literal["plain", "deciding", "all"]
#: Longest paragraph in characters.
LONGEST = 4000


class Paragraph(StrictModel):
    """What an agent perceives, in words."""

    text: str = Field(description="one paragraph of plain text", max_length=LONGEST)


@dataclass(frozen=True)
class Perceive(Question[Paragraph]):
    """What do I perceive? Asked with the world's grid of signs where it has one, else with its plain words."""

    kind = "perception"
    template = "common/prompts/perception.md.j2"
    answer = Paragraph
    sampling = Sampling(temperature=0.0, max_tokens=1000)

    def context(self) -> dict[str, Any]:
        """Who it is, and the view as signs."""
        return {
            "agent": self.respondent,
            "kind": self.view.kind,
            "scene": scene_text(self.view),
            "steps_left": self.view.steps_left,
        }

    def rule(self, rng: np.random.Generator) -> Paragraph:
        """The world's plain words, as far as they fit."""
        return Paragraph(text=self.view.text()[:LONGEST])

    def check(self, answer: Paragraph) -> str | None:
        """There must be something in it."""
        return None if answer.text.strip() else "the paragraph is empty"

    def fallback(self) -> Paragraph:
        """The world's plain words, as far as they fit."""
        return Paragraph(text=self.view.text()[:LONGEST])


def scene_text(view: View) -> str:
    """Return a view as a grid of signs where the world has that form, else in its plain words."""
    try:
        return view.text("grid")
    except UserError:
        return view.text()


async def describe_views(
    context: DecisionContext, how: Perception, deciding: Collection[AgentId]
) -> dict[AgentId, str]:
    """Return what reasoners say that agents perceive: of those who decide, of all who are able, or of nobody.

    Whoever is left out reads ``View.text()``, which is made only when somebody does.
    """
    if how == "plain":
        return {}
    agents = [agent for agent, view in context.views.items() if view.is_able and (how == "all" or agent in deciding)]
    paragraphs = await context.together(
        {name: context.ask(Perceive(name, {name: context.views[name]})) for name in agents}
    )
    return {agent: paragraph.text for agent, paragraph in paragraphs.items()}
