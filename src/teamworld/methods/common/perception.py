"""Perception: an agent's view as a paragraph by its reasoner, or in the world's own plain words without a call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from pydantic import Field

from teamworld.errors import UserError
from teamworld.language import AgentId
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentKnowledge, AgentQuestion
from teamworld.methods.contract import DecisionContext
from teamworld.reasoning.contract import Sampling
from teamworld.worlds.contract import Domain, WorldSpec

#: Whose views a reasoner puts in words: nobody's (the world's plain words do), those of agents that are about to
#: decide, or those of all.
Perception: TypeAlias = Literal["plain", "deciding", "all"]
#: Longest paragraph in characters.
LONGEST = 4000
_EYES = "it puts one view in words and decides nothing (CREW-Wildfire, perception module)"


class Paragraph(Reasoned):
    """What an agent perceives, in words."""

    text: str = Field(description="one paragraph of plain text", max_length=LONGEST)


@dataclass(frozen=True)
class Perceive(AgentQuestion[Paragraph]):
    """What do I perceive? Asked with the world's grid of signs and what stands beside it, else with its plain words."""

    kind = "perception"
    template = "common/prompts/perception.md.j2"
    answer = Paragraph
    sampling = Sampling(temperature=0.0, max_tokens=1000)
    departures = MappingProxyType(
        dict.fromkeys(("world_rules", "abilities", "team", "tasks", "own", "said", "quotes", "options"), _EYES)
    )

    @property
    def grid(self) -> str:
        """The view as a grid of signs; empty where the world has no such form."""
        try:
            return self.view.text("grid")
        except UserError:
            return ""

    def rule(self, rng: np.random.Generator) -> Paragraph:
        """The world's plain words, as far as they fit."""
        return Paragraph(text=self.me.situation[:LONGEST])

    def check(self, answer: Paragraph) -> str | None:
        """There must be something in it."""
        return None if answer.text.strip() else "the paragraph is empty"

    def fallback(self) -> Paragraph:
        """The world's plain words, as far as they fit."""
        return Paragraph(text=self.me.situation[:LONGEST])


async def describe_views(
    context: DecisionContext, how: Perception, deciding: Collection[AgentId], domain: Domain, spec: WorldSpec
) -> dict[AgentId, str]:
    """Return what reasoners say that agents perceive: of those who decide, of all who are able, or of nobody.

    Whoever is left out reads ``View.text()``, which is made only when somebody does.
    """
    if how == "plain":
        return {}
    agents = [agent for agent, view in context.views.items() if view.is_able and (how == "all" or agent in deciding)]
    known = {name: AgentKnowledge(context.views[name], domain, spec) for name in agents}
    paragraphs = await context.together(
        {name: context.ask(Perceive(name, {name: me.view}, me)) for name, me in known.items()}
    )
    return {agent: paragraph.text for agent, paragraph in paragraphs.items()}
