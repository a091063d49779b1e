"""The operations of CoBel-World on beliefs, what they are given and what they return (spec B3.1).

Each operation has two engines, which can be mixed: ``asking`` puts it to a mind, a language model or built-in rules,
and ``exact`` works it out. Both get the same ``Situation`` and return the same types; text exists only on the way to
a mind and from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

from teamworld.language import Action, AgentId, Entity, Fact, Facts, GoalId, RuleSet, Schema
from teamworld.methods.cobel.options import CobelOptions
from teamworld.methods.cobel.store import Entry, things
from teamworld.methods.contract import Message
from teamworld.worlds.contract import Domain, Goal, LatentVariable, Option, Outcome, View


class Subplan(NamedTuple):
    """A few actions in a row for one goal, or for none."""

    actions: tuple[Action, ...] = ()
    goal: GoalId | None = None
    words: str = ""
    """The same in the words of the mind that made it, where one did."""

    @property
    def text(self) -> str:
        """The actions in written form, and the goal."""
        written = "; ".join(map(str, self.actions)) or self.words or "nothing"
        return f"{written} for {self.goal}" if self.goal is not None and self.actions else written


class Announced(NamedTuple):
    """A subplan that somebody told the others."""

    subplan: Subplan
    t: int
    ticks: int
    """Estimated ticks that it takes."""


class UpdateResult(NamedTuple):
    """What a message, or a dialogue, tells."""

    beliefs: tuple[Fact, ...] = ()
    plan: Subplan | None = None
    unreadable: int = 0
    """Lines that were no beliefs of the rules, and were left out."""


class Intent(NamedTuple):
    """What a team-mate may be up to."""

    agent: AgentId
    subplan: Subplan
    weight: float
    """Probability."""
    ticks: int = 1
    """Estimated ticks of its first action."""

    @property
    def option(self) -> Option:
        """Its first action as an option."""
        return Option(self.subplan.actions[0], self.subplan.goal, self.ticks)


class Misaligned(NamedTuple):
    """Facts that the agent holds and a team-mate does not, and what telling them would save."""

    mate: AgentId
    facts: tuple[Fact, ...]
    gain: float
    """Ticks."""


class Assessment(NamedTuple):
    """Whether plans or knowledge clash so that it is worth a message."""

    clash: bool
    kind: Literal["none", "plans", "knowledge", "both"] = "none"
    severity: float = 0.0
    """Ticks that a message would save."""
    reasons: tuple[str, ...] = ()
    misaligned: tuple[Misaligned, ...] = ()
    against: tuple[AgentId, ...] = ()
    """Team-mates whose likely plans clash with the agent's."""
    plan: bool = True
    """Whether the agent's plan is worth telling too."""


class Letter(NamedTuple):
    """A message before it is sent."""

    text: str
    facts: tuple[Fact, ...]
    plan: Subplan | None
    to: tuple[AgentId, ...] | None
    """None: all."""


class Grounded(NamedTuple):
    """The next action of a subplan; None where the subplan is done."""

    action: Action | None
    goal: GoalId | None = None


#: Of an unknown: its values with probabilities, which add up to 1.
Distribution = tuple[tuple[Fact, float], ...]


@dataclass(frozen=True)
class Situation:
    """One agent at one decision: all that its operations may use."""

    view: View
    domain: Domain
    options: CobelOptions
    task: str
    team: Mapping[AgentId, str]
    """The living agents with their kinds, in the order of the team."""
    rules: RuleSet
    given: Facts
    """What it holds of the world."""
    minds: Mapping[AgentId, Facts]
    """What it believes that each team-mate holds of the world."""
    dialogue: tuple[Message, ...] = ()
    """What was said since its last cycle, its own words included."""
    chat: tuple[Message, ...] = ()
    """All that it heard and said, as far as it is kept."""
    announced: Mapping[AgentId, Announced] = field(default_factory=dict)
    """Plans of team-mates that still hold as far as it knows."""
    mine: Announced | None = None
    """What it announced itself."""
    yields: frozenset[AgentId] = frozenset()
    """Team-mates whose announcement it gives way to, for they were first (C14)."""
    regrets: Mapping[AgentId, Mapping[Action, float]] = field(default_factory=dict)
    """For each team-mate the ticks that its steps lost for an action, if that were what it is about."""
    subplan: Subplan | None = None
    done: tuple[Outcome, ...] = ()
    """What it did under its subplan."""
    at: GoalId | None = None
    """The goal that its last action was for."""
    guesses: tuple[Entry, ...] = ()
    sought: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """For each kind of thing the weight of its places at the most, and at the least, over the episode."""
    met: Mapping[AgentId, int] = field(default_factory=dict)
    """When it saw each team-mate last."""
    guessed: frozenset[Fact] = frozenset()
    """What it holds of the world without having seen it or been told."""
    seed: int = 0
    """Of what it imagines."""

    @property
    def me(self) -> AgentId:
        """Whose situation it is."""
        return self.view.agent

    @cached_property
    def mates(self) -> tuple[AgentId, ...]:
        """The other living agents."""
        return tuple(mate for mate in self.team if mate != self.me)

    @cached_property
    def schema(self) -> Schema:
        """What facts can state."""
        return self.rules.schema

    @cached_property
    def things(self) -> Sequence[Entity]:
        """All entities that it knows of."""
        goals = (goal.thing for goal in self.goals.values() if goal.thing is not None)
        return tuple(dict.fromkeys((*things(self.given), *goals)))

    @cached_property
    def goals(self) -> Mapping[GoalId, Goal]:
        """All goals that it knows of, as they stand as far as it knows."""
        own = {goal.id: goal for goal in self.view.goals}
        if self.given is self.view.known:
            return own
        return own | {goal.id: goal for goal in self.domain.goals(self.given)}

    @cached_property
    def unknowns(self) -> Sequence[LatentVariable]:
        """What matters and is not known."""
        return self.domain.latent_variables(self.given)

    @cached_property
    def left(self) -> Mapping[str, float]:
        """For what it seeks, by the name of the unknown: the share of the places that is not ruled out yet."""
        found = {}
        for unknown in self.unknowns:
            most, least = self.sought.get(kind_of(unknown), (1.0, 1.0))
            found[unknown.name] = least / most if most > 0 else 1.0
        return found


def kind_of(unknown: LatentVariable) -> str:
    """Return what an unknown is one of: the kind of thing that it is about."""
    subject = unknown.values[0].fact.subject if unknown.values else ""
    return subject.kind if isinstance(subject, Entity) else subject


class Engine(Protocol):
    """Whoever does the operations on beliefs. ``observe`` is the store's: what is seen is written by program (C3)."""

    async def hear(self, now: Situation, message: Message) -> UpdateResult:
        """Zero-order update: what one message says of the world, and the sender's plan."""

    async def model_teammate(self, now: Situation, mate: AgentId) -> UpdateResult:
        """First-order update: what a team-mate holds after the dialogue, and its plan."""

    async def predict_world(self, now: Situation) -> Mapping[str, Distribution]:
        """Return for what is unknown how likely each of its values is."""

    async def plan(self, now: Situation) -> Subplan:
        """Active planning: a subplan of one's own."""

    async def predict_intents(self, now: Situation, mate: AgentId, most: int) -> Sequence[Intent]:
        """Return what a team-mate may be up to, the likeliest first."""

    async def assess(self, now: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
        """Return whether plans or knowledge clash."""

    async def compose(self, now: Situation, found: Assessment) -> Letter:
        """Put what the others do not know, and the subplan, into a message."""

    async def replan(self, now: Situation) -> Subplan:
        """Passive planning: a subplan that fits to what team-mates announced."""

    async def ground(self, now: Situation) -> Grounded:
        """Return the next action of the subplan, or that it is done."""
