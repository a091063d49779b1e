"""What one agent of COELA remembers over an episode: the dialogue and its losses, and what teammates saw with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from teamworld.language import AgentId, Entity
from teamworld.methods.common.dialogue_memory import DialogueMemory
from teamworld.worlds.contract import View


@dataclass(kw_only=True)
class AgentMemory(DialogueMemory):
    """The memory of one agent; nobody else reads it."""

    plan_rng: np.random.Generator
    """Draws plans where none could be read."""
    witnessed: dict[AgentId, dict[Entity, None]] = field(default_factory=dict)
    """For each teammate the things that both of them saw when they were in sight of one another."""
    spoke: bool = False
    """Whether it sent a message when it decided last."""
    remark: str = ""
    """Why its last decision came to nothing."""
    proposed: tuple[object, ...] | None = None
    """What it knew when it was last asked for a message, and had none or sent it; None where it kept it back."""

    def witness(self, view: View, team: Iterable[AgentId]) -> None:
        """Note who sees what it sees now: whoever is in sight is taken to see the same."""
        named = {fact.subject for fact in view.facts}
        things = list(dict.fromkeys(fact.subject for fact in view.facts))
        for teammate in team:
            if teammate != self.agent and teammate in named:
                both = self.witnessed.setdefault(teammate, {})
                both.update(dict.fromkeys(thing for thing in things if isinstance(thing, Entity)))
