"""Translate an action in free words by asking the agent's reasoner; ``planning.action_parser`` does it without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from teamworld.language import Action
from teamworld.methods.common.plan_answers import parameter_values
from teamworld.methods.contract import StrictModel
from teamworld.planning.action_parser import parse_written, read_action
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import WAIT, Domain

#: Who translates: the parser, and a reasoner what the parser cannot read; or always a reasoner.
Translator: TypeAlias = Literal["parser", "mind"]


class Translation(StrictModel):
    """An action in written form, if there is one."""

    action: str | None = Field(description="the action in written form, or null where the text names none")
    description: str = Field(default="", description="what it does, or why there is none", max_length=300)


@dataclass(frozen=True)
class Translate(Question[Translation]):
    """Which of the agent's actions do these words mean?"""

    domain: Domain
    text: str
    numbered: tuple[Action, ...]
    """What the agent was shown, in its order."""

    kind = "translation"
    template = "common/prompts/translation.md.j2"
    answer = Translation
    sampling = Sampling(temperature=0.0, max_tokens=400)

    def context(self) -> dict[str, Any]:
        """The words, the options by number, and what the agent can do."""
        return {
            "agent": self.respondent,
            "text": self.text,
            "actions": self.numbered,
            "abilities": self.view.abilities,
            "values": parameter_values(self.view.abilities),
        }

    def read(self, answer: Translation) -> Action | None:
        """Return the action of an answer that passed the check; None where the words name none."""
        return parse_written(answer.action or "", {schema.verb: schema for schema in self.view.abilities})

    def rule(self, rng: np.random.Generator) -> Translation:
        """What the parser reads, if it can start; else none."""
        action = read_action(self.text, self.view, self.domain, self.numbered)
        if action is None:
            return self.fallback()
        verdict = self.view.check(action)
        if verdict.ok:
            return Translation(action=str(action))
        return Translation(action=None, description=f"none: {verdict.reason}"[:300])

    def check(self, answer: Translation) -> str | None:
        """It is an action of the agent in written form, which can start now; or none."""
        if answer.action is None:
            return None
        action = self.read(answer)
        if action is None:
            forms = ", ".join(schema.signature() for schema in self.view.abilities)
            return f"'{answer.action[:80]}' is no action in written form; there are: {forms}; or null"
        verdict = self.view.check(action)
        return None if verdict.ok else f"{action} cannot start: {verdict.reason}"

    def fallback(self) -> Translation:
        """None."""
        return Translation(action=None, description="the words name no action")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, nothing for a step, and none."""
        return [*map(str, self.numbered), str(WAIT), None] if field == "action" else ()
