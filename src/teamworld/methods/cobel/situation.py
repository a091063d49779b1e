"""What one agent knows at one decision, and the values that CoBel-World's operations exchange.

The page docs/reference/methods/cobel.md describes the cycle in which they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from teamworld.language import Action, AgentId, Entity, Fact, Facts, GoalId, RuleSet, Schema
from teamworld.methods.cobel.options import CobelOptions
from teamworld.methods.contract import Message
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import BeliefDomain, Goal, LatentVariable, Option, Outcome, View

#: What a domain raises on facts that cannot be: a message may carry anything.
IMPOSSIBLE_FACTS: Final = (LookupError, ValueError, TypeError, ArithmeticError)


class Subplan(NamedTuple):
    """A few actions in a row for one goal, or for none."""

    actions: tuple[Action, ...] = ()
    goal: GoalId | None = None
    words: str = ""
    """The same in the words of the reasoner that made it."""

    @property
    def text(self) -> str:
        """The actions in written form, and the goal."""
        written = "; ".join(map(str, self.actions)) or self.words or "nothing"
        return f"{written} for {self.goal}" if self.goal is not None and self.actions else written


class Announcement(NamedTuple):
    """A subplan that an agent told the others."""

    subplan: Subplan
    t: int
    ticks: int
    """Estimated ticks that it takes."""


class BeliefUpdate(NamedTuple):
    """What follows from a message or a dialogue."""

    beliefs: tuple[Fact, ...] = ()
    plan: Subplan | None = None


class Intent(NamedTuple):
    """What a teammate may do next."""

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


class Assessment(NamedTuple):
    """Whether plans or knowledge conflict so much that a message pays."""

    speaks: bool
    saved: float = 0.0
    """Ticks that a message would save."""
    reasons: tuple[str, ...] = ()
    lacking: Mapping[AgentId, tuple[Fact, ...]] = {}
    """For each teammate concerned the facts that the agent holds and the teammate does not."""
    against: tuple[AgentId, ...] = ()
    """Teammates whose likely plans conflict with the agent's."""
    announces: bool = True
    """Whether the agent's plan is worth telling too."""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What some teammate lacks."""
        return tuple(dict.fromkeys(fact for facts in self.lacking.values() for fact in facts))


class MessageDraft(NamedTuple):
    """A message before it is sent."""

    text: str
    facts: tuple[Fact, ...]
    plan: Subplan | None
    recipients: tuple[AgentId, ...] | None
    """None: all."""


class NextAction(NamedTuple):
    """The next action of a subplan; None where the subplan is done."""

    action: Action | None
    goal: GoalId | None = None


@dataclass(frozen=True)
class Situation:
    """One agent at one decision: all that its operations may use."""

    view: View
    domain: BeliefDomain
    options: CobelOptions
    task: str
    team: Mapping[AgentId, str]
    """The living agents with their kinds, in the order of the team."""
    rules: RuleSet
    facts: Facts
    """Zero-order beliefs: what the agent holds of the world."""
    ascribed: Mapping[AgentId, Facts]
    """First-order beliefs: what the agent believes that each teammate holds of the world."""
    dialogue: tuple[Message, ...] = ()
    """What was said since its last cycle, its own words included."""
    chat: tuple[Message, ...] = ()
    """All that it heard and said, as far as it is kept."""
    announced: Mapping[AgentId, Announcement] = field(default_factory=dict)
    """Plans of teammates that still hold as far as it knows."""
    own_announcement: Announcement | None = None
    yields_to: frozenset[AgentId] = frozenset()
    """Teammates whose announcement it gives way to, for they announced first."""
    regrets: Mapping[AgentId, Mapping[Action, float]] = field(default_factory=dict)
    """For each teammate and action the ticks that its steps lost if it is about that action."""
    subplan: Subplan | None = None
    outcomes: tuple[Outcome, ...] = ()
    """What it did under its subplan."""
    last_goal: GoalId | None = None
    """The goal that its last action was for."""
    searched: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """For each kind of thing the weight of its places at the most, and at the least, over the episode."""
    last_met: Mapping[AgentId, int] = field(default_factory=dict)
    """When it saw each teammate last."""
    inferred: frozenset[Fact] = frozenset()
    """What it holds of the world without having seen it or been told."""
    seed: int = 0
    """Of what it imagines."""

    @property
    def agent(self) -> AgentId:
        """Whose situation it is."""
        return self.view.agent

    @cached_property
    def teammates(self) -> tuple[AgentId, ...]:
        """The other living agents."""
        return tuple(agent for agent in self.team if agent != self.agent)

    @cached_property
    def schema(self) -> Schema:
        """What facts can state."""
        return self.rules.schema

    @cached_property
    def words(self) -> Vocabulary:
        """What the world calls what matters to agents that fetch things."""
        return Vocabulary(self.domain.relations)

    @cached_property
    def entities(self) -> Sequence[Entity]:
        """All entities that it knows of."""
        terms = (term for fact in self.facts for term in (fact.subject, fact.value))
        goals = (goal.thing for goal in self.goals.values() if goal.thing is not None)
        return tuple(dict.fromkeys((*(term for term in terms if isinstance(term, Entity)), *goals)))

    @cached_property
    def goals(self) -> Mapping[GoalId, Goal]:
        """All goals that it knows of, as they stand as far as it knows."""
        own = {goal.id: goal for goal in self.view.goals}
        if self.facts is self.view.known:
            return own
        return own | {goal.id: goal for goal in self.domain.goals(self.facts)}

    @cached_property
    def latents(self) -> Sequence[LatentVariable]:
        """What matters and is not known."""
        return self.domain.beliefs.latent_variables(self.facts)

    def facts_of(self, agent: AgentId) -> Facts:
        """Return what an agent holds of the world, as far as this one knows."""
        return self.facts if agent == self.agent else self.ascribed[agent]

    def missing_from(self, teammate: AgentId, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Return which of some facts a teammate does not hold, as far as the agent knows."""
        held = self.ascribed[teammate]
        return tuple(fact for fact in facts if fact not in held)

    def told(self, teammate: AgentId, facts: Sequence[Fact], base: Facts | None = None) -> Facts:
        """Return what a teammate would hold once it is told some facts; what they exclude goes."""
        held = self.ascribed[teammate] if base is None else base
        gone = set(self.schema.displaced(held, facts))
        return Facts((*(fact for fact in held if fact not in gone), *facts), held.seen)


def kind_of(latent: LatentVariable) -> str:
    """Return the kind of thing that a latent variable is about."""
    subject = latent.values[0].fact.subject if latent.values else ""
    return subject.kind if isinstance(subject, Entity) else subject


def place_weights(latent: LatentVariable) -> dict[Entity, float]:
    """Return the places that a latent variable may be in, with weights."""
    weights: dict[Entity, float] = {}
    for value in latent.values:
        if isinstance(value.fact.value, Entity):
            weights[value.fact.value] = weights.get(value.fact.value, 0.0) + value.weight
    return weights


def plan_options(domain: BeliefDomain, agent: AgentId, subplan: Subplan, facts: Facts) -> list[Option]:
    """Return the actions of a subplan as options, with the ticks that they are estimated to take."""
    options = []
    for action in subplan.actions:
        try:
            ticks = domain.estimate_steps(agent, action, facts)
        except IMPOSSIBLE_FACTS:
            ticks = 1
        options.append(Option(action, subplan.goal, max(1, ticks)))
    return options
