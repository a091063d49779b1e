"""What a log tells of the discussions of CaPo: who was asked what, what was said, and at which step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from teamworld.language import ActionSchema, Facts, Param, parse_fact
from teamworld.methods.capo.following import commitments
from teamworld.methods.capo.meta_plan import MetaPlan
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.knowledge import Line, list_teammates
from teamworld.methods.common.told_facts import STATE_OF_AGENTS
from teamworld.record import Event, MessageSent, QuestionAsked
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import Option, Outcome, World, WorldSpec
from tests.methods.coela.house import KITCHEN, RELATIONS, House, Rules, goal

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


def know(world: World, agent: str, said: Sequence[Line] = (), plan: MetaPlan = ()) -> DialogueKnowledge:
    """Return what an agent of a world knows that has a meta-plan, as CaPo makes it."""
    view, spec = world.view(agent), world.spec
    draft = DialogueKnowledge(view, world.domain, spec, earlier=tuple(said), told_roles=STATE_OF_AGENTS)
    at = commitments(plan, draft)
    return replace(draft, team=list_teammates(spec, agent, spec.agents, commitments=at), commitment=at.get(agent))


@dataclass
class Home(House):
    """The small house, in which actions are about things that can be named."""

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """Each action, with what it can be about."""
        things = tuple(dict.fromkeys(arg for option in self.options for arg in option.action.args))
        named = Param("thing", "entity", choices=(*things, KITCHEN))
        return tuple(ActionSchema(verb, (named,), f"do {verb}") for verb in ("explore", "check", "fetch"))


def at_home(
    *texts: str,
    options: Sequence[Option] = (),
    history: Sequence[Outcome] = (),
    seen: Mapping[str, int] = MappingProxyType({}),
    said: Sequence[Line] = (),
) -> DialogueKnowledge:
    """Return what Alice knows in the small house, where two are to bring two apples.

    Args:
        texts: Facts that she perceives.
        options: What she could do.
        history: What she did.
        seen: Facts that she perceived before, with the step of last sight.
        said: What she heard.
    """
    recalled = {parse_fact(text): step for text, step in seen.items()}
    facts = Facts((*map(parse_fact, texts), *recalled), recalled)
    opened = ("open", "close", "check")
    relations = [replace(known, verbs=opened) if known.role == "access" else known for known in RELATIONS]
    home = Home(facts, (goal("apple", 2),), options, recalled=tuple(recalled), history=history, relations=relations)
    kinds = {"Alice": "helper", "Bob": "helper"}
    spec = WorldSpec("house", "", tuple(kinds), kinds, 100, "Put apples on the table.", memory="agent")
    team = list_teammates(spec, "Alice", spec.agents)
    return DialogueKnowledge(home, Rules(home), spec, team, earlier=tuple(said), told_roles=STATE_OF_AGENTS)
