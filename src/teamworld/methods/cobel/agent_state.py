"""What one agent carries from step to step."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Final

import numpy as np

from teamworld.language import Action, AgentId, Entity, Fact, GoalId, Plan, RuleSet, plain
from teamworld.methods.cobel.beliefs import BeliefEntry, BeliefStore
from teamworld.methods.cobel.situation import MESSAGE, Announcement, BeliefUpdate, CobelOptions, Situation, Subplan
from teamworld.methods.contract import Message
from teamworld.planning.fetch import held_things, wanted_kind
from teamworld.record import Believe, HeldBelief
from teamworld.worlds.contract import WAIT, ImpossibleFacts, Outcome, View, WorldSpec

#: Probability that a teammate holds what it neither saw nor was told.
LACKING: Final = 0.05
#: Messages that an agent remembers: what prompts of the text store show.
CHAT: Final = 30
#: Steps beyond its estimate after which an announced plan is over.
SLACK: Final = 3
#: Steps for which what failed, or changed nothing, is not tried again where nothing about it has changed; and how many
#: times as long as it took at least.
VAIN: Final = 12
VAIN_TIMES: Final = 4
#: Steps that a teammate in sight loses on the way to what it announced from which on it is taken to do something else.
ASTRAY: Final = 3.0
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
    has_turned: bool = False
    """It has told a plan while an action of another one runs: that must not go on."""
    waited: bool = False
    """It did so in the cycle before, and nobody spoke: now it speaks itself."""
    subplan: Subplan | None = None
    former: Subplan | None = None
    """The subplan that it gave up last, until it has another one."""
    given_up: str = ""
    """Why, in words."""
    left: tuple[Action, ...] | None = None
    """What was left of it when its task was over; None where that was not the end of it."""
    judged: Hashable = None
    """What it assessed last, where that led to no message."""
    vain: dict[Action, tuple[int, Hashable]] = field(default_factory=dict)
    """What failed or changed nothing: until which step, and what it knew about it then."""
    subplan_past: int = 0
    """Actions that had ended when it took up its subplan."""
    subplan_actions: int = 0
    """Actions that it began under its subplan."""
    last_goal: GoalId | None = None
    """What the subplan of its last action was for."""
    committed: GoalId | None = None
    """What it told the others that it does."""
    sent: int = 0
    streak: int = 0
    """Messages in a row, without an action between."""
    corrected: bool = False
    """Whether it has sent a message on a passive plan since it last planned actively."""
    known_goals: Hashable = None
    """What it knew of goals when it decided last."""
    planned_on: Mapping[str, str] = field(default_factory=dict)
    """What it knew of goals and their things when it made its subplan, by their names."""
    own_things: set[Entity] = field(default_factory=set)
    """What it held then or since."""
    regrets: defaultdict[AgentId, dict[Action, float]] = field(default_factory=lambda: defaultdict(dict))
    _over: frozenset[GoalId] = frozenset()
    _begun: tuple[Action, Hashable] | None = None
    _ended: int = 0
    _costs: dict[AgentId, tuple[int, dict[Action, int]]] = field(default_factory=dict)
    _declared: dict[AgentId | None, dict[Fact, tuple[float, str]]] = field(default_factory=dict)

    # ---- perception and dialogue

    def observe(self, view: View, team: Mapping[AgentId, str]) -> None:
        """Write down what is seen, and what teammates' steps say of their intents."""
        self.store.observe(view)
        self._observe_own_failures(view)
        self.own_things |= set(held_things(self.agent, view.known, self.store.words.held))
        if self.options.foresee:
            self._observe_steps(view, team)

    def _observe_own_failures(self, view: View) -> None:
        """Remember what failed or changed nothing, for as long as nothing about it changes."""
        self.vain = {
            action: entry
            for action, entry in self.vain.items()
            if view.t < entry[0] and entry[1] == self._concerning(action, view)
        }
        ended, self._ended = self._ended, len(view.history)
        for outcome in view.history[ended:]:
            state = self._concerning(outcome.action, view)
            idle = outcome.status == "done" and self._begun == (outcome.action, state)
            if (outcome.status == "failed" and not outcome.is_stopped) or (
                idle and self._changes(outcome.action, view)
            ):
                self.vain[outcome.action] = view.t + max(VAIN, VAIN_TIMES * (view.t - outcome.start)), state

    def begin(self, action: Action, view: View) -> None:
        """Note what was known about an action when it began."""
        self._begun = action, self._concerning(action, view)

    def _concerning(self, action: Action, view: View) -> Hashable:
        """Return what is known about the agent and about what an action names."""
        about = {self.agent, *(arg for arg in action.args if isinstance(arg, Entity))}
        return frozenset(fact for fact in view.known if fact.subject in about or fact.value in about)

    def _changes(self, action: Action, view: View) -> bool:
        """Return whether an action is expected to change anything."""
        then = self.store.domain.predict(self.agent, action, view.known)
        return action != WAIT and then.items != view.known.items

    def _observe_steps(self, view: View, team: Mapping[AgentId, str]) -> None:
        """Add up the steps that the way of each teammate in sight lost for each action."""
        over = frozenset(goal.id for goal in view.goals if goal.state != "open")
        if over - self._over:
            self.regrets.clear()  # what teammates did until then was for what is over
        self._over = over
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
                        lost = cost - max(0, old[action] - gone)
                        way = old[action] - cost if lost <= 0 else -lost  # who goes straight there takes back its loss
                        faded[action] = max(0.0, faded.get(action, 0.0) - way)
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
        entries = (
            BeliefEntry(fact, trust, min(message.t, update.since.get(fact, message.t)), "told", (source,))
            for fact in update.beliefs
        )
        self.store.hear(entries, view)
        if update.plan is not None and update.plan.actions:
            plan = self.announce(message.sender, update.plan, message.t, view)
            first = plan.first if update.first is None else update.first
            self.announced[message.sender] = plan._replace(first=first, asks=update.asks)
            self.announced_since.add(message.sender)
            self.regrets[message.sender] = {}  # what it did before says nothing of a new plan

    def ascribe(self, teammate: AgentId, update: BeliefUpdate, t: int) -> None:
        """Take in what a teammate knows after the dialogue."""
        ids = tuple(f"message:{said.id}" if said.id >= 0 else f"said:{said.t}" for said in self.dialogue)
        if teammate in self.store.ascribed:
            entries = (BeliefEntry(fact, 1.0, t, "told", ids) for fact in update.beliefs)
            self.store.ascribed[teammate].add(entries)

    # ---- plans

    def announce(self, agent: AgentId, subplan: Subplan, t: int, view: View) -> Announcement:
        """Return the announcement of a subplan, with its estimated steps from when it is told."""
        options = subplan.options(agent, self.store.domain, self.store.facts(view))
        first = MESSAGE + (options[0].steps if options else 1)
        return Announcement(subplan, t, max(1, sum(option.steps for option in options)), first)

    def take_up(self, subplan: Subplan, view: View) -> None:
        """Begin a subplan."""
        self.subplan, self.subplan_past, self.subplan_actions = subplan, len(view.history), 0
        self.former, self.given_up, self.left = None, "", None
        self.own_things = set(held_things(self.agent, view.known, self.store.words.held))
        self.planned_on = self._of_goals(view)

    def give_up(self, why: str, left: tuple[Action, ...] | None = None) -> None:
        """Drop the subplan, and remember why, in words; what is left of it where its task ended before it did."""
        if self.subplan is not None:
            self.former, self.given_up, self.left = self.subplan, why, left
        self.subplan = None

    def reconsidered(self, view: View) -> None:
        """Note that it keeps to its subplan knowing what it knows now."""
        self.planned_on = self._of_goals(view)

    def _news(self, view: View) -> tuple[str, ...]:
        """Return what it came to know of goals and their things since it made its subplan."""
        if self.subplan is None:
            return ()
        old, known = self.planned_on, self._of_goals(view)
        lost = {name: f"no longer: {old[name]}" if name in old else f"{name} was found" for name in known}
        return tuple(sorted(words or lost[name] for name, words in known.items() if old.get(name) != words))

    def _of_goals(self, view: View) -> dict[str, str]:
        """Return what is known of the goals and where their things are: words, or none, by their plain names.

        What the agent holds, or held when it made its subplan, it moves itself: that is no news.
        """
        words, facts = self.store.words, self.store.facts(view)
        over = {goal.thing for goal in view.goals} - {goal.thing for goal in view.goals if goal.state == "open"}
        wanted = {goal.thing for goal in view.goals}
        kinds = {wanted_kind(goal) for goal in view.goals}
        where = {fact.value: fact for fact in facts.about(words.held) if isinstance(fact.value, Entity)}
        own = {thing for thing, fact in where.items() if fact.subject == self.agent} | self.own_things
        places = (words.room, words.container, words.surface)
        where |= {fact.subject: fact for fact in facts if fact.predicate in places and isinstance(fact.subject, Entity)}
        subjects = (fact.subject for fact in facts if isinstance(fact.subject, Entity))
        things = [thing for thing in subjects if thing not in own | over and (thing in wanted or thing.kind in kinds)]

        def words_for(thing: Entity) -> str:
            fact = where.get(thing)
            is_held = fact is not None and fact.predicate == words.held
            return "" if fact is None else f"{fact.subject} holds {plain(thing)}" if is_held else plain(fact)

        known = {plain(thing): words_for(thing) for thing in things}
        return known | {goal.id: f"{goal.id} is {goal.state}" for goal in view.goals if goal.state != "open"}

    def prune(self, view: View, team: Collection[AgentId]) -> None:
        """Forget announced plans of lost teammates, and those that are over by their time or with their goal."""
        states = {goal.id: goal.state for goal in view.goals}

        def is_over(plan: Announcement) -> bool:
            is_late = view.t - plan.t > plan.steps + SLACK
            return is_late or states.get(plan.subplan.goal or "", "open") != "open"

        def is_astray(who: AgentId, plan: Announcement) -> bool:
            """Return whether the agent sees a teammate go another way."""
            lost = self.regrets[who] if who in self._costs and plan.t < view.t else {}
            return any(lost.get(action, 0.0) >= ASTRAY for action in plan.subplan.actions[:1])

        self.announced = {
            who: plan
            for who, plan in self.announced.items()
            if who in team and not is_over(plan) and not is_astray(who, plan)
        }
        if self.own_announcement is not None and is_over(self.own_announcement):
            self.own_announcement = None

    def may_speak(self) -> bool:
        """Return whether its own cap leaves it a message."""
        said = {"none": 0, "episode": self.sent, "streak": self.streak}[self.options.cap]
        return said < self.options.most

    def situation(
        self, view: View, spec: WorldSpec, team: Mapping[AgentId, str], running: Plan | None = None
    ) -> Situation:
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
            spec=spec,
            team=team,
            rules=self.rules,
            facts=facts,
            ascribed={teammate: self.store.facts_of(teammate, view) if is_kept else facts for teammate in teammates},
            dialogue=tuple(self.dialogue),
            chat=tuple(self.chat),
            announced=dict(self.announced),
            own_announcement=self.own_announcement,
            regrets=self.regrets,
            subplan=self.subplan,
            former=self.former,
            given_up=self.given_up,
            left=self.left,
            running=running,
            vain={action: until for action, (until, _) in self.vain.items()},
            news=self._news(view),
            outcomes=self._outcomes(view),
            last_goal=self.last_goal,
            last_met=self.store.last_met,
            inferred=frozenset(inferred),
        )

    def _outcomes(self, view: View) -> tuple[Outcome, ...]:
        """Return what ended under the subplan, also if it ran before; not what gave way to another action."""
        if self.subplan is None:
            return ()
        ended = view.history[self.subplan_past :]
        return tuple(outcome for outcome in ended if outcome.action.verb != "talk" and not outcome.is_stopped)

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
