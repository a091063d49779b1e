"""One agent over an episode: its store, what was said, its subplan, and what it was told that others do."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from teamworld.language import Action, AgentId, Facts, GoalId, RuleSet
from teamworld.methods.cobel import exact
from teamworld.methods.cobel.engine import Announced, Situation, Subplan, UpdateResult, kind_of
from teamworld.methods.cobel.options import CobelOptions
from teamworld.methods.cobel.store import Entry, Store
from teamworld.methods.contract import Message
from teamworld.worlds.contract import Domain, LatentVariable, Outcome, View

#: Messages that an agent remembers: what prompts of the text store show.
CHAT = 30
#: Ticks after which an announced plan is taken to be over, beyond those that it was estimated to take.
SLACK = 3
#: Share of a team-mate's lost ticks that still counts a step later: it may have changed its mind.
FADING = 0.8


@dataclass
class Mind:
    """What one agent carries from step to step; nobody else reads it."""

    agent: AgentId
    store: Store
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
    announced: dict[AgentId, Announced] = field(default_factory=dict)
    fresh: set[AgentId] = field(default_factory=set)
    """Who announced something since the last cycle."""
    mine: Announced | None = None
    warned: int = -(1 << 30)
    """Tick at which it last warned somebody."""
    deferred: bool = False
    """It has left its word to a team-mate who can say the same."""
    waited: bool = False
    """It did so in the cycle before, and nobody spoke: now it speaks itself."""
    subplan: Subplan | None = None
    began: int = 0
    """Tick at which it took its subplan up."""
    taken: int = 0
    """Actions that it took under it."""
    at: GoalId | None = None
    """What its last action was for."""
    bound: GoalId | None = None
    """What it told the others that it does."""
    sent: int = 0
    streak: int = 0
    """Messages in a row, without an action between."""
    corrected: bool = False
    """Whether it has sent a message on a passive plan since it last planned actively."""
    sought: dict[str, tuple[float, float]] = field(default_factory=dict)
    """For each kind of thing: the weight of its places at the most, and since then at the least."""
    known: Hashable = None
    """What it knew of goals when it decided last."""
    regrets: defaultdict[AgentId, dict[Action, float]] = field(default_factory=lambda: defaultdict(dict))
    _costs: dict[AgentId, tuple[int, dict[Action, int]]] = field(default_factory=dict)

    # ---- taking in

    def observe(self, view: View, team: Mapping[AgentId, str]) -> None:
        """Write down what is seen (spec A10, step 1); see what team-mates' steps say of what they are up to."""
        self.store.see(view)
        if self.options.foresee:
            self._watch(view, team)

    def _watch(self, view: View, team: Mapping[AgentId, str]) -> None:
        """Add up, for each team-mate in sight, the ticks that its way since the last sight lost for each action."""
        given = self.store.given(view)
        seen = {fact.subject for fact in view.facts if fact.predicate == "AT"}
        for mate in (mate for mate in self.store.mates if mate in team):
            if mate not in seen:
                self._costs.pop(mate, None)
                continue
            try:
                options = self.store.domain.options(mate, given)
            except (LookupError, ValueError, TypeError, ArithmeticError):
                continue
            costs = {option.action: option.steps for option in options}
            before = self._costs.get(mate)
            if before is not None and view.t > before[0]:
                gone, old = view.t - before[0], before[1]
                fading = {action: lost * FADING**gone for action, lost in self.regrets[mate].items() if action in costs}
                for action, cost in costs.items():
                    if action in old:
                        fading[action] = fading.get(action, 0.0) + max(0, cost - max(0, old[action] - gone))
                self.regrets[mate] = fading
            if before is None or view.t > before[0]:
                self._costs[mate] = view.t, costs

    def read(self, messages: Iterable[Message]) -> None:
        """Remember what has been heard, each message once."""
        for message in messages:
            if message.id not in self.heard and message.sender != self.agent:
                self.heard.add(message.id)
                self.chat.append(message)
                self.dialogue.append(message)

    def say(self, message: Message, t: int) -> None:
        """Remember what it said itself: it is part of the dialogue (spec A6.2)."""
        said = replace(message, t=t)
        self.chat.append(said)
        self.dialogue.append(said)
        self.sent += 1
        self.streak += 1

    def learn(self, message: Message, told: UpdateResult, view: View) -> None:
        """Take in what a message says of the world, and its plan."""
        source = f"message:{message.id}"
        entries = (Entry(fact, self.options.trust, message.t, "told", (source,)) for fact in told.beliefs)
        self.store.hear(entries, view)
        if told.plan is not None and told.plan.actions:
            options = exact.options_of(self.store.domain, message.sender, told.plan, self.store.given(view))
            ticks = sum(option.steps for option in options)
            self.announced[message.sender] = Announced(told.plan, message.t, max(1, ticks))
            self.fresh.add(message.sender)

    def ascribe(self, mate: AgentId, told: UpdateResult, t: int) -> None:
        """Take in what a team-mate knows after the dialogue (D4)."""
        ids = tuple(f"message:{message.id}" if message.id >= 0 else f"said:{message.t}" for message in self.dialogue)
        self.store.tell(mate, (Entry(fact, 1.0, t, "told", ids) for fact in told.beliefs))

    # ---- plans

    def take_up(self, subplan: Subplan, t: int) -> None:
        """Begin a subplan."""
        self.subplan, self.began, self.taken = subplan, t, 0

    def prune(self, view: View, domain: Domain, goals: Mapping[GoalId, str]) -> None:
        """Forget announced plans that are obsolete: over by their time, or for a goal that is (spec C26)."""
        for mate, one in list(self.announced.items()):
            over = view.t - one.t > one.ticks + SLACK
            if over or goals.get(one.subplan.goal or "", "open") != "open":
                del self.announced[mate]
                if over:
                    self.store.expect(
                        mate, _imagined(mate, one.subplan, domain, self.store.held_by(mate, view)), view.t
                    )
        if self.mine is not None and (
            view.t - self.mine.t > self.mine.ticks + SLACK or goals.get(self.mine.subplan.goal or "", "open") != "open"
        ):
            self.mine = None

    def yields(self, team: Sequence[AgentId]) -> frozenset[AgentId]:
        """Return the team-mates that it gives way to: they announced first, or come first in the team (C14)."""
        if self.mine is None or self.subplan != self.mine.subplan:
            return frozenset(self.announced)
        order = {agent: place for place, agent in enumerate(team)}
        own = self.mine.t, order[self.agent]
        return frozenset(mate for mate, one in self.announced.items() if (one.t, order.get(mate, len(order))) < own)

    def may_speak(self) -> bool:
        """Return whether its own cap leaves it a message (C5)."""
        said = {"none": 0, "episode": self.sent, "streak": self.streak}[self.options.cap]
        return said < self.options.most

    def seek(self, unknowns: Iterable[LatentVariable]) -> None:
        """Note how much is left of the places of what it seeks: weights fall as places are ruled out."""
        for unknown in unknowns:
            total = sum(value.weight for value in unknown.values)
            most, least = self.sought.get(kind_of(unknown), (total, total))
            self.sought[kind_of(unknown)] = (total, total) if total > most else (most, min(least, total))

    def situation(self, view: View, task: str, team: Mapping[AgentId, str], done: Sequence[Outcome]) -> Situation:
        """Return what its operations may use now."""
        given = view.known if self.options.store == "text" else self.store.given(view)
        mates = [mate for mate in team if mate != self.agent]
        kept = self.options.first_order and self.options.store == "tables"
        return Situation(
            view=view,
            domain=self.store.domain,
            options=self.options,
            task=task,
            team=team,
            rules=self.rules,
            given=given,
            minds={mate: self.store.held_by(mate, view) if kept else given for mate in mates},
            dialogue=tuple(self.dialogue),
            chat=tuple(self.chat),
            announced={mate: one for mate, one in self.announced.items() if mate in team},
            mine=self.mine,
            yields=self.yields(tuple(team)),
            regrets={mate: dict(self.regrets[mate]) for mate in mates if mate in self.regrets},
            subplan=self.subplan,
            done=tuple(done),
            at=self.at,
            guesses=self.store.guesses,
            sought=self.sought,
            met=self.store.met,
            guessed=self.store.guessed,
            seed=self.seed,
        )


def _imagined(mate: AgentId, subplan: Subplan, domain: Domain, given: Facts) -> Facts:
    """Return what somebody holds who has done its subplan."""
    try:
        for action in subplan.actions:
            given = domain.predict(mate, action, given)
    except (LookupError, ValueError, TypeError, ArithmeticError):
        pass
    return given
