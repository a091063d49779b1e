"""What one agent of COELA remembers over an episode: the dialogue and its losses, and what teammates saw with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
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
    """For each teammate what both of them saw when they were in sight of one another: things, and rooms it was in."""
    spoke: bool = False
    """Whether it sent a message when it decided last."""
    remark: str = ""
    """Why its last decision came to nothing."""
    proposed: tuple[object, ...] | None = None
    """What it knew when it was last asked for a message, and had none or sent it; None where it kept it back."""

    def witness(self, view: View, team: Iterable[AgentId], rooms: Collection[str]) -> None:
        """Note who sees what it sees now: whoever is in sight is taken to see the same, and the room that it is in.

        Args:
            view: Of the agent.
            team: All agents.
            rooms: The kinds of things that are rooms.
        """
        seen = dict.fromkeys(fact.subject for fact in view.facts)
        things = [thing for thing in seen if isinstance(thing, Entity) and thing.kind not in rooms]
        for teammate in team:
            if teammate != self.agent and teammate in seen:
                places = (fact.value for fact in view.facts if fact.subject == teammate)
                here = [place for place in places if isinstance(place, Entity) and place.kind in rooms]
                self.witnessed.setdefault(teammate, {}).update(dict.fromkeys((*things, *here)))
