"""Translate an action in free words by asking the agent's reasoner; ``planning.action_parser`` does it without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from teamworld.errors import UserError
from teamworld.language import Action, plain
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.planning.action_parser import parse_written, read_action, read_written
from teamworld.reasoning.contract import Sampling
from teamworld.worlds.contract import WAIT

#: Who translates: the parser, and a reasoner what the parser cannot read; or always a reasoner.
Translator: TypeAlias = Literal["parser", "mind"]
_BLIND = "who translates sees the words and the forms of actions, not the scene (CREW-Wildfire, action translation)"


class Translation(Reasoned):
    """An action in written form, if there is one."""

    action: str | None = Field(description="the action in written form, or null where the words name none")


@dataclass(frozen=True)
class Translate(AgentQuestion[Translation]):
    """Which of the agent's actions do these words mean?"""

    text: str
    numbered: tuple[Action, ...]
    """What the agent was shown as a numbered list, in its order."""

    kind = "translation"
    template = "common/prompts/translation.md.j2"
    answer = Translation
    sampling = Sampling(temperature=0.0, max_tokens=400)
    departures = MappingProxyType(
        dict.fromkeys(("who", "mission", "world_rules", "situation", "team", "tasks", "own", "said", "options"), _BLIND)
    )

    @property
    def values(self) -> Mapping[str, Sequence[Any]]:
        """What the parameters of actions may be, all of it: no situation stands beside it."""
        return self.me.list_values("")

    def read(self, answer: Translation) -> Action | None:
        """Return the action of an answer that passed the check; None where it is none or one that cannot start now."""
        action = parse_written(answer.action or "", {schema.verb: schema for schema in self.view.abilities})
        return action if action is not None and self.view.check(action).ok else None

    def rule(self, rng: np.random.Generator) -> Translation:
        """What the parser reads, else none."""
        action = read_action(self.text, self.view, self.domain, self.numbered)
        return Translation(action=None if action is None else plain(action))

    def check(self, answer: Translation) -> str | None:
        """It is an action of the agent in written form, or none; whether it can start now is not for the translator."""
        if answer.action is None:
            return None
        try:
            read_written(answer.action, {schema.verb: schema for schema in self.me.abilities})
        except UserError as error:
            return f"{error}; or null"
        return None

    def fallback(self) -> Translation:
        """None."""
        return Translation(action=None)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, nothing for a step, and none."""
        return [*map(str, self.numbered), str(WAIT), None] if field == "action" else ()
