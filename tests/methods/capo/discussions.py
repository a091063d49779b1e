"""What a log tells of the discussions of CaPo: who was asked what, what was said, and at which step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from teamworld.language import Facts
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.knowledge import Line, list_teammates
from teamworld.methods.common.told_facts import STATE_OF_AGENTS
from teamworld.record import Event, MessageSent, QuestionAsked
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import World

#: The questions of a discussion.
ASKED = ("capo.design", "capo.refine", "capo.present", "capo.judge")


class Held(NamedTuple):
    """A discussion."""

    step: int
    calls: Counter[str]
    """Questions by kind."""
    said: tuple[MessageSent, ...]

    @property
    def rounds(self) -> int:
        """Meta-plans that were written in it."""
        return self.calls["capo.design"] + self.calls["capo.refine"]

    @property
    def acts(self) -> list[tuple[str, str]]:
        """Who said what sort of thing, in order."""
        return [(message.agent, message.act) for message in self.said]


def discussions(events: Sequence[Event]) -> list[Held]:
    """Return the discussions of an episode, in order: CaPo holds at most one in a step."""
    calls: dict[int, Counter[str]] = {}
    said: dict[int, list[MessageSent]] = {}
    for event in events:
        if isinstance(event, QuestionAsked) and event.purpose in ASKED:
            calls.setdefault(event.step, Counter())[event.purpose] += 1
        elif isinstance(event, MessageSent):
            said.setdefault(event.step, []).append(event)
    return [Held(step, counts, tuple(said.get(step, ()))) for step, counts in calls.items()]


def make_world(world: str, level: str, seed: int = 0, horizon: int = 60) -> World:
    """Return an instance at its beginning."""
    made = worlds.make(world, level, seed, horizon, {})
    made.reset(seed)
    return made


def know(world: World, agent: str, said: Sequence[Line] = (), known: Facts | None = None) -> DialogueKnowledge:
    """Return what an agent of a world knows, as CaPo makes it."""
    view = world.view(agent)
    team = list_teammates(world.spec, agent, world.spec.agents)
    return DialogueKnowledge(view, world.domain, world.spec, team, earlier=tuple(said), told_roles=STATE_OF_AGENTS)
