"""What one agent remembers: belief tables of order zero and one, the dialogue, its subplan and what others announced.

What an agent perceives itself comes from its ``View``. Beside that the store keeps what the agent was told of the
world, and a table for each teammate: a fact enters it only if the teammate could perceive it too, or if it was said
between the two. The agent's own sights never enter it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from teamworld.language import Action, AgentId, Entity, Fact, Facts, GoalId, RuleSet, Schema
from teamworld.methods.cobel.situation import (
    Announcement,
    BeliefUpdate,
    CobelOptions,
    Situation,
    Subplan,
    kind_of,
    plan_options,
)
from teamworld.methods.contract import Message
from teamworld.planning.goals import are_possible
from teamworld.planning.vocabulary import Vocabulary
from teamworld.record import Believe, HeldBelief
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import ImpossibleFacts, LatentVariable, Outcome, View

Origin: TypeAlias = Literal["seen", "told", "predicted"]
#: From this probability on that a teammate perceived something it is taken to know it.
LIKELY: Final = 0.5
#: Probability that something was brought that a teammate was seen with and is seen without.
BROUGHT: Final = 0.9
#: Probability of what a teammate will have found out by carrying out the plan that it announced.
EXPECTED: Final = 0.7
#: From this probability on a fact would be seen if it were true.
CERTAIN: Final = 0.999
#: Probability that a teammate holds what it neither saw nor was told, as far as is known.
LACKING: Final = 0.05
#: Messages that an agent remembers: what prompts of the text store show.
CHAT: Final = 30
#: Ticks after which an announced plan is taken to be over, beyond those that it was estimated to take.
SLACK: Final = 3
#: Share of a teammate's lost ticks that still counts a tick later: it may have changed its intent.
FADING: Final = 0.8


class BeliefEntry(NamedTuple):
    """A fact that a host holds."""

    fact: Fact
    weight: float = 1.0
    """Probability that it is so, or for a teammate that it holds it."""
    since: int = 0
    """Tick at which it was so: of the sight, or of the message."""
    origin: Origin = "seen"
    evidence: tuple[str, ...] = ()
    """What it goes back to: ``sight:TICK`` or ``message:ID``, each once."""


class BeliefTable:
    """What one host holds, oldest first; newer evidence takes the place of what it excludes.

    Args:
        schema: What excludes what.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.entries: dict[Fact, BeliefEntry] = {}
        self.version = 0
        """Counted up with each change."""

    def add(self, evidence: Iterable[BeliefEntry]) -> None:
        """Take in evidence of one moment. The same evidence again changes nothing."""
        new = {entry.fact: entry for entry in evidence if not self._is_counted(entry)}
        if not new:
            return
        self.drop(self._schema.displaced(self.entries, tuple(new)))
        for fact, entry in new.items():
            old = self.entries.pop(fact, None)
            if old is not None:  # confirmed: the better evidence counts, never both
                sources = tuple(dict.fromkeys((*old.evidence, *entry.evidence)))
                entry = entry._replace(weight=max(old.weight, entry.weight), evidence=sources)
                if old.origin == "seen" and entry.origin != "seen":
                    entry = entry._replace(origin="seen", since=old.since)
            self.entries[fact] = entry
        self.version += 1

    def _is_counted(self, entry: BeliefEntry) -> bool:
        old = self.entries.get(entry.fact)
        if old is None or entry.weight > old.weight:
            return False
        return set(entry.evidence) <= set(old.evidence) or (entry.origin == old.origin == "seen")

    def drop(self, facts: Iterable[Fact]) -> None:
        """Forget facts."""
        for fact in list(facts):
            if self.entries.pop(fact, None) is not None:
                self.version += 1


@dataclass
class BeliefStore:
    """The belief tables of one agent; nobody else reads them."""

    agent: AgentId
    schema: Schema
    domain: BeliefDomain
    shared: bool
    """All agents know what one of them has seen (``WorldSpec.memory`` is "team")."""
    teammates: tuple[AgentId, ...]
    world: BeliefTable = field(init=False)
    """Order zero: what others told of the world."""
    ascribed: dict[AgentId, BeliefTable] = field(init=False)
    """Order one: what each teammate holds."""
    words: Vocabulary = field(init=False)
    last_met: dict[AgentId, int] = field(default_factory=dict)
    """When it saw each teammate last."""
    carried: dict[Entity, AgentId] = field(default_factory=dict)
    """What teammates were seen with last."""
    _cache: dict[AgentId, tuple[Hashable, Facts]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = Vocabulary(self.domain.relations)
        self.world = BeliefTable(self.schema)
        self.ascribed = {teammate: BeliefTable(self.schema) for teammate in self.teammates}

    def _cached(self, host: AgentId, key: Hashable, merge: Callable[[], Facts]) -> Facts:
        if host not in self._cache or self._cache[host][0] != key:
            self._cache[host] = key, merge()
        return self._cache[host][1]

    # ---- order zero: the world

    def facts(self, view: View) -> Facts:
        """Return what the agent holds of the world: what it has perceived, and what it was told since."""
        return self._cached(self.agent, (view.t, self.world.version), lambda: self._merge(view))

    def _merge(self, view: View) -> Facts:
        if not self.world.entries:
            return view.known
        seen, current = view.recall.seen, set(view.facts)
        kept: dict[Fact, int] = {}
        known = list(view.known)
        for entry in sorted(self.world.entries.values(), key=lambda entry: entry.since):
            if entry.fact in known:
                continue
            excluded = self.schema.displaced(known, (entry.fact,))
            outdated = any(fact in current or seen.get(fact, view.t) >= entry.since for fact in excluded)
            if outdated or self.domain.beliefs.observation_probability(entry.fact, self.agent, view.known) >= CERTAIN:
                continue  # sight beats hearsay: what it saw since, or would see now, is otherwise
            known = [fact for fact in known if fact not in set(excluded)]
            kept[entry.fact] = entry.since
        if not kept:
            return view.known
        ticks = {fact: tick for fact, tick in seen.items() if fact in set(known)}
        facts = Facts((*known, *kept), {**ticks, **kept})
        return facts if are_possible(facts, view, self.domain) else view.known

    def observe(self, view: View) -> None:
        """Take in what the agent perceives: who was in sight has seen what it could see."""
        placed = {fact.subject for fact in view.facts if fact.predicate == self.words.at}
        self.last_met |= {teammate: view.t for teammate in self.teammates if teammate in placed}
        if self.shared:
            return
        self._observe_hands(view)
        facts = self.facts(view)
        current = dict.fromkeys(view.facts)
        near = {fact.subject for fact in current if isinstance(fact.subject, str)}
        for teammate in self.teammates:
            if teammate in near or view.t == 0:
                self._observe_witness(teammate, current, view, facts)

    def _observe_hands(self, view: View) -> None:
        """Take what a teammate was seen with, and is seen without, to be where goals want it."""
        words = self.words
        places = words.room, words.container, words.surface
        in_hand = {fact.value for fact in view.facts if fact.predicate == words.held}
        near = {fact.subject for fact in view.facts if fact.predicate == words.at}
        lying = {fact.subject for fact in view.known if fact.predicate in places}
        wanted = {dict(goal.features).get("thing"): goal for goal in view.goals if goal.thing is not None}
        news: list[BeliefEntry] = []
        for thing, teammate in list(self.carried.items()):
            goal = wanted.get(thing.kind)
            if thing in in_hand or thing in lying or teammate in near:
                del self.carried[thing]
            relation = dict(goal.features).get("relation") if goal is not None else None
            if relation and goal and goal.thing is not None and teammate in near and thing not in {*in_hand, *lying}:
                fact = Fact(thing, relation, goal.thing)
                entry = BeliefEntry(fact, BROUGHT, view.t, "predicted", (f"sight:{view.t}",))
                news.append(entry)
                self.ascribed[teammate].add((entry,))  # who brought it knows
        self.carried |= {
            fact.value: fact.subject
            for fact in view.facts
            if fact.predicate == words.held and fact.subject in self.teammates
            if isinstance(fact.value, Entity) and isinstance(fact.subject, str)
        }
        self.world.add(news)

    def _observe_witness(self, teammate: AgentId, current: Collection[Fact], view: View, facts: Facts) -> None:
        """Note what a teammate in sight perceives as well, and what it sees to be otherwise."""
        table, news = self.ascribed[teammate], list[BeliefEntry]()
        perceives = self.domain.beliefs.observation_probability
        for fact in current:
            if fact not in table.entries:
                weight = perceives(fact, teammate, facts)
                if weight >= LIKELY:
                    news.append(BeliefEntry(fact, weight, view.t, "seen", (f"sight:{view.t}",)))
        table.add(news)
        table.drop(
            fact
            for fact in table.entries
            if fact not in current
            and perceives(fact, teammate, facts) >= CERTAIN
            and perceives(fact, self.agent, facts) >= CERTAIN
        )

    def hear(self, entries: Iterable[BeliefEntry], view: View) -> None:
        """Take in what was told of the world; what the agent sees for itself now is left out."""
        current = set(view.facts)
        self.world.add(entry for entry in entries if entry.fact not in current and entry.fact.subject != self.agent)

    # ---- order one: teammates

    def facts_of(self, teammate: AgentId, view: View) -> Facts:
        """Return what a teammate holds of the world, as far as the agent knows.

        What the agent believes of the teammate itself, where it is and what it has in hand, the teammate knows.
        """
        if self.shared:
            return self.facts(view)
        table = self.ascribed[teammate]

        def merge() -> Facts:
            own = [fact for fact in self.facts(view) if fact.subject == teammate]
            gone = set(self.schema.displaced(table.entries, own))
            facts = dict.fromkeys((*(fact for fact in table.entries if fact not in gone), *own))
            since = {entry.fact: entry.since for entry in table.entries.values() if entry.since < view.t}
            return Facts(tuple(facts), {fact: tick for fact, tick in since.items() if fact in facts})

        return self._cached(teammate, (view.t, self.world.version, table.version), merge)

    def expect(self, teammate: AgentId, facts: Facts, t: int) -> None:
        """Note what a teammate will have found out by doing what it announced: places that it has looked into."""
        table = self.ascribed.get(teammate)
        if table is not None and not self.shared:
            news = [fact for fact in facts if fact not in table.entries and isinstance(fact.value, str)]
            table.add([BeliefEntry(fact, EXPECTED, t, "predicted") for fact in news])


@dataclass
class AgentState:
    """What one agent carries from step to step; nobody else reads it."""

    agent: AgentId
    store: BeliefStore
    rules: RuleSet
    options: CobelOptions
    rng: np.random.Generator
    """Of the gate."""
    seed: int
    """Of the worlds that it imagines."""
    chat: deque[Message] = field(default_factory=lambda: deque(maxlen=CHAT))
    dialogue: list[Message] = field(default_factory=list)
    """What was said since the last update, its own words included."""
    heard: set[int] = field(default_factory=set)
    announced: dict[AgentId, Announcement] = field(default_factory=dict)
    announced_since: set[AgentId] = field(default_factory=set)
    """Who announced something since the last cycle."""
    own_announcement: Announcement | None = None
    warned: int = -(1 << 30)
    """Tick at which it last warned a teammate."""
    deferred: bool = False
    """It has left its message to a teammate who can say the same."""
    waited: bool = False
    """It did so in the cycle before, and nobody spoke: now it speaks itself."""
    subplan: Subplan | None = None
    subplan_start: int = 0
    subplan_actions: int = 0
    """Actions that it took under its subplan."""
    last_goal: GoalId | None = None
    """What its last action was for."""
    committed: GoalId | None = None
    """What it told the others that it does."""
    sent: int = 0
    streak: int = 0
    """Messages in a row, without an action between."""
    corrected: bool = False
    """Whether it has sent a message on a passive plan since it last planned actively."""
    searched: dict[str, tuple[float, float]] = field(default_factory=dict)
    """For each kind of thing: the weight of its places at the most, and since then at the least."""
    known_goals: Hashable = None
    """What it knew of goals when it decided last."""
    regrets: defaultdict[AgentId, dict[Action, float]] = field(default_factory=lambda: defaultdict(dict))
    _costs: dict[AgentId, tuple[int, dict[Action, int]]] = field(default_factory=dict)
    _declared: dict[AgentId | None, dict[Fact, tuple[float, str]]] = field(default_factory=dict)

    # ---- perception and dialogue

    def observe(self, view: View, team: Mapping[AgentId, str]) -> None:
        """Write down what is seen, and what teammates' steps say of their intents."""
        self.store.observe(view)
        if self.options.foresee:
            self._observe_steps(view, team)

    def _observe_steps(self, view: View, team: Mapping[AgentId, str]) -> None:
        """Add up, for each teammate in sight, the ticks that its way since the last sight lost for each action."""
        facts = self.store.facts(view)
        in_sight = {fact.subject for fact in view.facts if fact.predicate == self.store.words.at}
        for teammate in (teammate for teammate in self.store.teammates if teammate in team):
            if teammate not in in_sight:
                self._costs.pop(teammate, None)
                continue
            try:
                costs = {option.action: option.steps for option in self.store.domain.options(teammate, facts)}
            except ImpossibleFacts:
                continue
            then, old = self._costs.get(teammate, (view.t, costs))
            gone = view.t - then
            if gone > 0:
                regrets = self.regrets[teammate]
                faded = {action: lost * FADING**gone for action, lost in regrets.items() if action in costs}
                for action, cost in costs.items():
                    if action in old:
                        faded[action] = faded.get(action, 0.0) + max(0, cost - max(0, old[action] - gone))
                self.regrets[teammate] = faded
            if gone > 0 or teammate not in self._costs:
                self._costs[teammate] = view.t, costs

    def read(self, messages: Iterable[Message]) -> None:
        """Remember what has been heard, each message once."""
        for message in messages:
            if message.id not in self.heard and message.sender != self.agent:
                self.heard.add(message.id)
                self.chat.append(message)
                self.dialogue.append(message)

    def say(self, message: Message, t: int) -> None:
        """Remember what it said itself: it is part of the dialogue."""
        said = replace(message, t=t)
        self.chat.append(said)
        self.dialogue.append(said)
        self.sent += 1
        self.streak += 1

    def learn(self, message: Message, update: BeliefUpdate, view: View) -> None:
        """Take in what a message says of the world, and its plan."""
        source = f"message:{message.id}"
        trust = self.options.trust
        self.store.hear((BeliefEntry(fact, trust, message.t, "told", (source,)) for fact in update.beliefs), view)
        if update.plan is not None and update.plan.actions:
            options = plan_options(self.store.domain, message.sender, update.plan, self.store.facts(view))
            ticks = sum(option.steps for option in options)
            self.announced[message.sender] = Announcement(update.plan, message.t, max(1, ticks))
            self.announced_since.add(message.sender)

    def ascribe(self, teammate: AgentId, update: BeliefUpdate, t: int) -> None:
        """Take in what a teammate knows after the dialogue."""
        ids = tuple(f"message:{message.id}" if message.id >= 0 else f"said:{message.t}" for message in self.dialogue)
        if teammate in self.store.ascribed:
            self.store.ascribed[teammate].add(BeliefEntry(fact, 1.0, t, "told", ids) for fact in update.beliefs)

    # ---- plans

    def take_up(self, subplan: Subplan, t: int) -> None:
        """Begin a subplan."""
        self.subplan, self.subplan_start, self.subplan_actions = subplan, t, 0

    def prune(self, view: View) -> None:
        """Forget announced plans that are over by their time, or for a goal that is over."""
        states = {goal.id: goal.state for goal in view.goals}

        def expired(plan: Announcement) -> bool:
            return view.t - plan.t > plan.ticks + SLACK

        def over(plan: Announcement) -> bool:
            return expired(plan) or states.get(plan.subplan.goal or "", "open") != "open"

        for teammate, plan in list(self.announced.items()):
            if over(plan):
                del self.announced[teammate]
                if expired(plan):
                    self.store.expect(teammate, self._expected(teammate, plan.subplan, view), view.t)
        if self.own_announcement is not None and over(self.own_announcement):
            self.own_announcement = None

    def _expected(self, teammate: AgentId, subplan: Subplan, view: View) -> Facts:
        """Return what a teammate holds that has carried out its subplan."""
        facts = self.store.facts_of(teammate, view)
        try:
            for action in subplan.actions:
                facts = self.store.domain.predict(teammate, action, facts)
        except ImpossibleFacts:
            pass
        return facts

    def _yields_to(self, team: Sequence[AgentId]) -> frozenset[AgentId]:
        """Return the teammates that it gives way to: they announced first, or come first in the team."""
        if self.own_announcement is None or self.subplan != self.own_announcement.subplan:
            return frozenset(self.announced)
        order = {agent: place for place, agent in enumerate(team)}
        own = self.own_announcement.t, order[self.agent]
        return frozenset(who for who, plan in self.announced.items() if (plan.t, order.get(who, len(order))) < own)

    def may_speak(self) -> bool:
        """Return whether its own cap leaves it a message."""
        said = {"none": 0, "episode": self.sent, "streak": self.streak}[self.options.cap]
        return said < self.options.most

    def note_search(self, latents: Iterable[LatentVariable]) -> None:
        """Note how much is left of the places of what it seeks: weights fall as places are ruled out."""
        for latent in latents:
            total = sum(value.weight for value in latent.values)
            most, least = self.searched.get(kind_of(latent), (total, total))
            self.searched[kind_of(latent)] = (total, total) if total > most else (most, min(least, total))

    def situation(self, view: View, task: str, team: Mapping[AgentId, str]) -> Situation:
        """Return what its operations may use now."""
        self.prune(view)
        facts = view.known if self.options.store == "text" else self.store.facts(view)
        teammates = [agent for agent in team if agent != self.agent]
        is_kept = self.options.first_order and self.options.store == "tables"
        inferred = (entry.fact for entry in self.store.world.entries.values() if entry.origin == "predicted")
        return Situation(
            view=view,
            domain=self.store.domain,
            options=self.options,
            task=task,
            team=team,
            rules=self.rules,
            facts=facts,
            ascribed={teammate: self.store.facts_of(teammate, view) if is_kept else facts for teammate in teammates},
            dialogue=tuple(self.dialogue),
            chat=tuple(self.chat),
            announced={who: plan for who, plan in self.announced.items() if who in team},
            own_announcement=self.own_announcement,
            yields_to=self._yields_to(tuple(team)),
            regrets={teammate: dict(self.regrets[teammate]) for teammate in teammates if teammate in self.regrets},
            subplan=self.subplan,
            outcomes=tuple(outcome for outcome in view.history if self._is_of_subplan(outcome)),
            last_goal=self.last_goal,
            searched=self.searched,
            last_met=self.store.last_met,
            inferred=frozenset(inferred),
            seed=self.seed,
        )

    def _is_of_subplan(self, outcome: Outcome) -> bool:
        return self.subplan is not None and outcome.start >= self.subplan_start and outcome.action.verb != "talk"

    # ---- on record

    def declare(self, situation: Situation, untold: Collection[Fact]) -> Iterator[Believe]:
        """Yield what has changed of its beliefs since the last time, for the log level ``beliefs``.

        Args:
            situation: The agent's.
            untold: What it could tell, see ``message_value``: what a teammate does not hold of it, it lacks.
        """
        tables: dict[AgentId | None, dict[Fact, tuple[float, str]]] = {None: self._world_beliefs(situation)}
        if self.options.first_order and self.options.store == "tables":
            tables |= {
                teammate: self._ascribed_beliefs(situation, teammate, untold) for teammate in situation.teammates
            }
        for about, beliefs in tables.items():
            old = self._declared.get(about, {})
            new = [(fact, *belief) for fact, belief in beliefs.items() if old.get(fact) != belief]
            gone = tuple(str(fact) for fact in old if fact not in beliefs)
            if new or gone:
                self._declared[about] = beliefs
                t = situation.view.t
                held = tuple(HeldBelief(fact=str(f), probability=p, since=t, source=source) for f, p, source in new)
                yield Believe(agent=self.agent, about=about, held=held, dropped=gone)

    def _world_beliefs(self, situation: Situation) -> dict[Fact, tuple[float, str]]:
        """Return what it holds of the world; of what is not known only facts about things that all know by name."""
        beliefs: dict[Fact, tuple[float, str]] = {}
        for fact in situation.facts:
            entry = self.store.world.entries.get(fact)
            if entry is None or fact in situation.view.known:
                beliefs[fact] = 1.0, "own"
            else:
                beliefs[fact] = entry.weight, entry.evidence[0] if entry.origin == "told" else "inferred"
        named = {goal.thing for goal in situation.goals.values()}
        for latent in situation.latents:
            for fact, chance in distribution(latent):
                if isinstance(fact.subject, Entity) and fact.subject in named and fact not in beliefs:
                    beliefs[fact] = round(chance, 6), "inferred"
        return beliefs

    def _ascribed_beliefs(
        self, situation: Situation, teammate: AgentId, untold: Collection[Fact]
    ) -> dict[Fact, tuple[float, str]]:
        """Return what it believes that a teammate holds, and what that one lacks of what matters."""
        if self.store.shared:
            return {}
        held, beliefs = situation.ascribed[teammate], dict[Fact, tuple[float, str]]()
        for entry in self.store.ascribed[teammate].entries.values():
            if entry.fact in held:
                is_told = entry.origin == "told" and entry.evidence[0].startswith("message")
                beliefs[entry.fact] = entry.weight, entry.evidence[0] if is_told else "inferred"
        return beliefs | {fact: (LACKING, "inferred") for fact in untold if fact not in held}


def distribution(latent: LatentVariable) -> tuple[tuple[Fact, float], ...]:
    """Return the values of a latent variable with probabilities that add up to 1."""
    total = fsum(value.weight for value in latent.values)
    return tuple((value.fact, value.weight / total) for value in latent.values) if total > 0 else ()
