"""CoBel-World's options, the values that its operations exchange, and what an agent knows at one decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from pydantic import Field, field_validator, model_validator

from teamworld.language import Action, AgentId, Entity, Fact, Facts, GoalId, Plan, RuleSet, plain
from teamworld.methods.contract import InNeighbourhoods, Message, Variant
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import Goal, ImpossibleFacts, LatentVariable, Option, Outcome, View, WorldSpec

# ---- what can be set

#: Who does an operation: a reasoner that is asked, or inference.
EngineName: TypeAlias = Literal["questions", "exact"]
#: What a reasoner or inference can do.
OPERATIONS: Final = ("hear", "model", "predict", "intents", "assess", "compose", "plan", "replan", "ground")


class CobelOptions(InNeighbourhoods):
    """Options of CoBel-World."""

    engine: EngineName = Field(
        default="questions",
        description="who does all operations that are not set apart: a reasoner, or inference",
    )
    hear: EngineName | None = Field(default=None, description="zero-order update: what a message says of the world")
    model: EngineName | None = Field(default=None, description="first-order update: what a teammate knows after talk")
    predict: EngineName | None = Field(default=None, description="prediction of what is not known of the world")
    intents: EngineName | None = Field(default=None, description="prediction of what teammates will do")
    assess: EngineName | None = Field(default=None, description="assessment of miscoordination")
    compose: EngineName | None = Field(default=None, description="the text of a message")
    plan: EngineName | None = Field(default=None, description="active planning")
    replan: EngineName | None = Field(default=None, description="passive planning, round announced plans")
    ground: EngineName | None = Field(default=None, description="from the subplan to the next action")
    rules: Literal["schema", "proposed"] = Field(
        default="schema",
        description="belief rules: made from the world's relations, or proposed and reviewed by the agents",
    )
    rounds: int = Field(default=3, ge=1, le=9, description="rounds of proposal and review at most")
    store: Literal["tables", "text"] = Field(
        default="tables", description="what was said is kept as belief tables, or as the text of the dialogue"
    )
    ruled: bool = Field(default=True, description="only beliefs that a belief rule admits are kept")
    first_order: bool = Field(default=True, description="whether beliefs about teammates' beliefs are kept")
    foresee: bool = Field(default=True, description="whether teammates' plans are predicted, and plans give way")
    gate: Literal["assess", "always", "never", "random"] = Field(
        default="assess",
        description="when a message is sent: if it is assessed to pay, at each new plan, never, or at random ones",
    )
    rate: float = Field(default=0.1, ge=0, le=1, description="probability of a message at a new plan, gate `random`")
    theta: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="steps that a message must save beyond the one it takes"
    )
    cap: Literal["none", "episode", "streak"] = Field(
        default="none", description="what bounds an agent's messages: nothing, the episode, or a row without action"
    )
    most: int = Field(default=2, ge=1, description="messages under the cap")
    to: Literal["all", "concerned"] = Field(
        default="all", description="whom a message goes to; in teams of more than three `concerned` saves reading"
    )
    keep: bool = Field(default=True, description="announced plans are kept until they are obsolete, else for one cycle")
    interrupt: bool = Field(default=True, description="a message whose plan conflicts stops what runs")
    correct: bool = Field(default=True, description="passive plans are assessed too, for one message each")
    warn: bool = Field(
        default=True, description="a teammate in danger that cannot know it is warned, whatever `cap` says"
    )
    skip: bool = Field(default=True, description="questions with one possible answer are not put")
    predicted: int = Field(
        default=3, ge=1, description="teammates whose plans are predicted for one plan at most: those with most to lose"
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description="of update, assessment and grounding")
    actions: int = Field(default=3, ge=1, le=12, description="actions of a subplan before a new one is made")
    length: int = Field(default=500, ge=40, le=2000, description="longest message in characters")
    trust: float = Field(
        default=0.95, ge=0.5, le=1, description="how likely what is told is true: what rests on it counts so much less"
    )
    tau: float = Field(default=0.15, gt=0, description="spread of intents: 0 the best alone, large all alike")
    beta: float = Field(default=1.0, ge=0, description="how much a step off the way speaks against an intent, per step")
    kept: float = Field(default=0.9, ge=0, le=1, description="how likely an announced plan is kept to")

    @field_validator("rules", mode="before")
    @classmethod
    def _as_before(cls, value: object) -> object:
        return "proposed" if value == "agreed" else value  # as earlier logs call it

    @model_validator(mode="after")
    def _text_needs_reasoner(self) -> CobelOptions:
        inferred = [name for name in OPERATIONS if self.by(name) == "exact"]
        if self.store == "text" and inferred:
            raise ValueError(f"store=text leaves nothing to infer from: {inferred[0]} is a question too")
        return self

    def by(self, operation: str) -> EngineName:
        """Return who does an operation."""
        name: EngineName | None = getattr(self, operation)
        return self.engine if name is None else name


VARIANTS: Final[dict[str, Variant]] = {
    "exact": Variant("all operations by inference: no reasoner is asked", {"engine": "exact"}),
    "original": Variant(
        "as published: plans of others are forgotten after a cycle, two messages an episode, nothing interrupts",
        {
            **{"keep": False, "cap": "episode", "interrupt": False, "correct": False, "rules": "proposed"},
            **{"warn": False, "skip": False, "temperature": 0.7},
        },
    ),
    "no_sbr": Variant(
        "no symbolic beliefs: the dialogue stands for what others know; questions only",
        {"store": "text", "ruled": False, "first_order": False, "engine": "questions"},
    ),
    "no_bbc": Variant("no prediction of teammates' plans: only knowledge is compared", {"foresee": False}),
    "text_store": Variant("what was said is kept as text, not in tables; questions only", {"store": "text"}),
    "no_rules": Variant("beliefs of any form are kept that the world can state", {"ruled": False}),
    "no_first_order": Variant("no beliefs about teammates' beliefs", {"first_order": False}),
    "no_intents": Variant("plans are made as if teammates did nothing", {"foresee": False, "correct": False}),
    "always": Variant("a message at each new plan, whatever is assessed", {"gate": "always"}),
    "random": Variant(
        "messages at random moments; by default about as many as inference sends in the household's homes",
        {"gate": "random", "rate": 0.035},
    ),
    "silent": Variant("no messages: everybody decides alone", {"gate": "never"}),
}


#: Steps that a message takes its sender.
MESSAGE: Final = 1

# ---- what operations exchange


class Subplan(NamedTuple):
    """A few actions in a row for one goal, or for none."""

    actions: tuple[Action, ...] = ()
    goal: GoalId | None = None
    words: str = ""
    """The same in the words of the reasoner that made it."""

    @property
    def text(self) -> str:
        """The actions with plain names, and the goal."""
        written = "; ".join(map(plain, self.actions)) or self.words or "nothing"
        return f"{written} for {self.goal}" if self.goal is not None and self.actions else written

    def options(self, agent: AgentId, domain: BeliefDomain, facts: Facts) -> list[Option]:
        """Return the actions as options of an agent, with the steps that they are estimated to take."""
        options = []
        for action in self.actions:
            try:
                steps = domain.estimate_steps(agent, action, facts)
            except ImpossibleFacts:
                steps = 1
            options.append(Option(action, self.goal, max(1, steps)))
        return options


class Announcement(NamedTuple):
    """A subplan that an agent told the others."""

    subplan: Subplan
    t: int
    steps: int
    """Estimated steps that it takes."""
    first: int = 1
    """Steps, from then on, until it is where its first action is done, as it said; else as is estimated."""
    asks: Mapping[AgentId, Subplan] = MappingProxyType({})
    """What it asks others to do meanwhile."""

    def steps_to_go(self, t: int) -> int:
        """Return the steps until its first action is done."""
        return max(0, self.first - (t - self.t))

    def claim(self, t: int) -> int:
        """Return by how many steps it counts where plans conflict: those of its message are not held against it."""
        return max(0, self.first - MESSAGE - (t - self.t))


class BeliefUpdate(NamedTuple):
    """What follows from a message or a dialogue."""

    beliefs: tuple[Fact, ...] = ()
    plan: Subplan | None = None
    first: int | None = None
    """Steps until the first action of the plan is done, where that was said."""
    asks: Mapping[AgentId, Subplan] = MappingProxyType({})
    """What others are asked to do."""
    since: Mapping[Fact, int] = MappingProxyType({})
    """The steps at which beliefs were so, where that was said; else it was when it was said."""


class Intent(NamedTuple):
    """What an agent may do next."""

    agent: AgentId
    option: Option
    """What it begins with."""
    weight: float
    """Probability."""
    actions: tuple[Action, ...] = ()
    """The actions in a row, where more than the first is known."""

    @property
    def subplan(self) -> Subplan:
        """Its actions as a subplan."""
        return Subplan(self.actions or (self.option.action,), self.option.goal)


class Assessment(NamedTuple):
    """Whether plans or knowledge conflict so much that a message pays."""

    speaks: bool
    saved: float = 0.0
    """Steps that a message would save."""
    lacking: Mapping[AgentId, tuple[Fact, ...]] = {}
    """Facts that each teammate concerned does not hold."""
    against: tuple[AgentId, ...] = ()
    """Teammates whose likely plans conflict with the agent's."""
    announces: bool = True
    """Whether the agent's plan is worth telling too."""
    reason: str = ""
    """Why, in words: whoever writes the message is told."""

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
    asks: Mapping[AgentId, Subplan] = MappingProxyType({})
    """What it asks others to do meanwhile."""


class NextAction(NamedTuple):
    """The next action of a subplan; None where the subplan is done."""

    action: Action | None
    goal: GoalId | None = None


# ---- what an agent knows


@dataclass(frozen=True)
class Situation:
    """One agent at one decision: all that its operations may use."""

    view: View
    domain: BeliefDomain
    options: CobelOptions
    spec: WorldSpec
    team: Mapping[AgentId, str]
    """The living agents with their kinds, in the order of the team."""
    rules: RuleSet
    facts: Facts
    """Zero-order beliefs."""
    ascribed: Mapping[AgentId, Facts]
    """First-order beliefs: what each teammate holds of the world."""
    dialogue: tuple[Message, ...] = ()
    """What was said since its last cycle, its own words included."""
    chat: tuple[Message, ...] = ()
    """All that it heard and said, as far as it is kept."""
    announced: Mapping[AgentId, Announcement] = field(default_factory=dict)
    """Plans of teammates that still hold as far as it knows."""
    own_announcement: Announcement | None = None
    regrets: Mapping[AgentId, Mapping[Action, float]] = field(default_factory=dict)
    """Steps that a teammate's moves lost if it is about an action."""
    subplan: Subplan | None = None
    former: Subplan | None = None
    """The subplan that it has just given up."""
    given_up: str = ""
    """Why, in words."""
    left: tuple[Action, ...] | None = None
    """What was left of that subplan when its task was over; None where that was not the end of it."""
    outcomes: tuple[Outcome, ...] = ()
    """What it did under its subplan."""
    running: Plan | None = None
    """What it is doing now."""
    vain: Mapping[Action, int] = field(default_factory=dict)
    """What failed or changed nothing lately, with the step until which it is not worth another try."""
    news: tuple[str, ...] = ()
    """What it came to know of goals and their things since it made its subplan."""
    last_goal: GoalId | None = None
    """The goal that the subplan of its last action was for."""
    last_met: Mapping[AgentId, int] = field(default_factory=dict)
    """When it saw each teammate last."""
    inferred: frozenset[Fact] = frozenset()
    """What it holds of the world without having seen it or been told."""

    @property
    def agent(self) -> AgentId:
        """Whose situation it is."""
        return self.view.agent

    @cached_property
    def teammates(self) -> tuple[AgentId, ...]:
        """The other living agents."""
        return tuple(agent for agent in self.team if agent != self.agent)

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
    def in_hand(self) -> frozenset[GoalId]:
        """The open goals whose things enough teammates hold, so that no more are of use."""
        held = (fact for fact in self.facts.about(self.words.held) if fact.subject != self.agent)
        holders = Counter(fact.value for fact in held) if self.words.held else Counter()
        things = ((goal.id, goal.thing, goal.quorum) for goal in self.goals.values() if goal.state == "open")
        return frozenset(goal for goal, thing, need in things if thing is not None and holders[thing] >= need)

    @cached_property
    def told_facts(self) -> tuple[Fact, ...]:
        """What it holds of the world without having perceived it: it was told, or concludes it."""
        known = set(self.view.known)
        return tuple(fact for fact in self.facts if fact not in known)

    @cached_property
    def latents(self) -> Sequence[LatentVariable]:
        """What matters and is not known."""
        return self.domain.beliefs.latent_variables(self.facts)

    @cached_property
    def own_options(self) -> list[Option]:
        """The actions of its subplan as options."""
        return [] if self.subplan is None else self.subplan.options(self.agent, self.domain, self.facts)

    def dialogue_with(self, teammate: AgentId) -> list[Message]:
        """Return what a teammate said, and what was said to it, since the agent's last cycle."""
        return [
            message
            for message in self.dialogue
            if teammate == message.sender or message.recipients is None or teammate in message.recipients
        ]

    def facts_of(self, agent: AgentId) -> Facts:
        """Return what an agent holds of the world, as far as this one knows."""
        return self.facts if agent == self.agent else self.ascribed[agent]

    def missing_from(self, teammate: AgentId, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Return which of some facts a teammate does not hold, as far as the agent knows."""
        held = self.ascribed[teammate]
        return tuple(fact for fact in facts if fact not in held)

    def facts_after_telling(self, teammate: AgentId, facts: Sequence[Fact]) -> Facts:
        """Return what a teammate would hold once it is told some facts; what they exclude goes."""
        held = self.ascribed[teammate]
        gone = set(self.rules.schema.displaced(held, facts))
        return Facts((*(fact for fact in held if fact not in gone), *facts), held.seen)
