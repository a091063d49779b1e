"""What one agent carries from step to step."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Final

import numpy as np

from teamworld.language import Action, AgentId, Fact, GoalId, RuleSet
from teamworld.methods.cobel.beliefs import BeliefEntry, BeliefStore
from teamworld.methods.cobel.situation import Announcement, BeliefUpdate, CobelOptions, Situation, Subplan
from teamworld.methods.contract import Message
from teamworld.record import Believe, HeldBelief
from teamworld.worlds.contract import ImpossibleFacts, Outcome, View

#: Probability that a teammate holds what it neither saw nor was told.
LACKING: Final = 0.05
#: Messages that an agent remembers: what prompts of the text store show.
CHAT: Final = 30
#: Steps beyond its estimate after which an announced plan is over.
SLACK: Final = 3
#: Share of a teammate's lost steps that still counts a step later: it may have changed its intent.
FADING: Final = 0.8


@dataclass
class AgentState:
    """What one agent carries from step to step: beliefs, dialogue, subplan, announced plans."""

    agent: AgentId
    store: BeliefStore
    rules: RuleSet
    options: CobelOptions
    rng: np.random.Generator
    """Of the gate."""
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
        """Add up the steps that the way of each teammate in sight lost for each action."""
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
        entries = (BeliefEntry(fact, trust, message.t, "told", (source,)) for fact in update.beliefs)
        self.store.hear(entries, view)
        if update.plan is not None and update.plan.actions:
            self.announced[message.sender] = self.announce(message.sender, update.plan, message.t, view)
            self.announced_since.add(message.sender)

    def ascribe(self, teammate: AgentId, update: BeliefUpdate, t: int) -> None:
        """Take in what a teammate knows after the dialogue."""
        ids = tuple(f"message:{said.id}" if said.id >= 0 else f"said:{said.t}" for said in self.dialogue)
        if teammate in self.store.ascribed:
            entries = (BeliefEntry(fact, 1.0, t, "told", ids) for fact in update.beliefs)
            self.store.ascribed[teammate].add(entries)

    # ---- plans

    def announce(self, agent: AgentId, subplan: Subplan, t: int, view: View) -> Announcement:
        """Return the announcement of a subplan, with its estimated steps."""
        options = subplan.options(agent, self.store.domain, self.store.facts(view))
        return Announcement(subplan, t, max(1, sum(option.steps for option in options)))

    def take_up(self, subplan: Subplan, t: int) -> None:
        """Begin a subplan."""
        self.subplan, self.subplan_start, self.subplan_actions = subplan, t, 0

    def prune(self, view: View, team: Collection[AgentId]) -> None:
        """Forget announced plans of lost teammates, and those that are over by their time or with their goal."""
        states = {goal.id: goal.state for goal in view.goals}

        def is_over(plan: Announcement) -> bool:
            is_late = view.t - plan.t > plan.steps + SLACK
            return is_late or states.get(plan.subplan.goal or "", "open") != "open"

        self.announced = {who: plan for who, plan in self.announced.items() if who in team and not is_over(plan)}
        if self.own_announcement is not None and is_over(self.own_announcement):
            self.own_announcement = None

    def _yields_to(self, team: Sequence[AgentId]) -> frozenset[AgentId]:
        """Return who announced before it, or at the same time and comes first in the team."""
        if self.own_announcement is None or self.subplan != self.own_announcement.subplan:
            return frozenset(self.announced)
        order = {agent: place for place, agent in enumerate(team)}
        own = self.own_announcement.t, order[self.agent]
        theirs = {who: (plan.t, order.get(who, len(order))) for who, plan in self.announced.items()}
        return frozenset(who for who, place in theirs.items() if place < own)

    def may_speak(self) -> bool:
        """Return whether its own cap leaves it a message."""
        said = {"none": 0, "episode": self.sent, "streak": self.streak}[self.options.cap]
        return said < self.options.most

    def situation(self, view: View, task: str, team: Mapping[AgentId, str]) -> Situation:
        """Return what its operations may use now."""
        self.prune(view, team)
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
            announced=dict(self.announced),
            own_announcement=self.own_announcement,
            yields_to=self._yields_to(tuple(team)),
            regrets=self.regrets,
            subplan=self.subplan,
            outcomes=() if self.subplan is None else tuple(filter(self._is_of_subplan, view.history)),
            last_goal=self.last_goal,
            last_met=self.store.last_met,
            inferred=frozenset(inferred),
        )

    def _is_of_subplan(self, outcome: Outcome) -> bool:
        return outcome.start >= self.subplan_start and outcome.action.verb != "talk"

    # ---- on record

    def declare(self, situation: Situation, untold: Collection[Fact]) -> Iterator[Believe]:
        """Yield what has changed of its beliefs; what is untold and a teammate does not hold, it lacks."""
        tables: dict[AgentId | None, dict[Fact, tuple[float, str]]] = {None: self._world_beliefs(situation)}
        if self.options.first_order and self.options.store == "tables" and not self.store.shared:
            for teammate in situation.teammates:
                tables[teammate] = self._ascribed_beliefs(situation, teammate, untold)
        t = situation.view.t
        for about, beliefs in tables.items():
            old = self._declared.get(about, {})
            new = [(fact, *belief) for fact, belief in beliefs.items() if old.get(fact) != belief]
            gone = tuple(str(fact) for fact in old if fact not in beliefs)
            if new or gone:
                self._declared[about] = beliefs
                held = tuple(HeldBelief(fact=str(f), probability=p, since=t, source=source) for f, p, source in new)
                yield Believe(agent=self.agent, about=about, held=held, dropped=gone)

    def _world_beliefs(self, situation: Situation) -> dict[Fact, tuple[float, str]]:
        """Return what it holds of the world; of what is not known only facts about goals' things."""
        beliefs: dict[Fact, tuple[float, str]] = dict.fromkeys(situation.facts, (1.0, "own"))
        for fact in situation.facts:
            entry = self.store.world.entries.get(fact)
            if entry is not None and fact not in situation.view.known:
                beliefs[fact] = entry.weight, entry.evidence[0] if entry.origin == "told" else "inferred"
        named = {goal.thing for goal in situation.goals.values()}
        for latent in situation.latents:
            total = fsum(value.weight for value in latent.values)
            for fact, weight in ((value.fact, value.weight) for value in latent.values if total > 0):
                if fact.subject in named:
                    beliefs.setdefault(fact, (round(weight / total, 6), "inferred"))
        return beliefs

    def _ascribed_beliefs(
        self, situation: Situation, teammate: AgentId, untold: Collection[Fact]
    ) -> dict[Fact, tuple[float, str]]:
        """Return what it believes that a teammate holds and lacks."""
        held, beliefs = situation.ascribed[teammate], dict[Fact, tuple[float, str]]()
        for entry in self.store.ascribed[teammate].entries.values():
            if entry.fact in held:
                is_told = entry.origin == "told" and entry.evidence[0].startswith("message")
                beliefs[entry.fact] = entry.weight, entry.evidence[0] if is_told else "inferred"
        return beliefs | {fact: (LACKING, "inferred") for fact in untold if fact not in held}
