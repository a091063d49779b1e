"""What an agent goes by when it decides: what it sees, remembers and was told, and what others said they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from teamworld.language import AgentId, Entity, Fact, Facts, GoalId
from teamworld.language.rules import Schema
from teamworld.methods.contract import Message
from teamworld.planning.candidates import nearest_ticks
from teamworld.planning.fetch import held_things, missing_things, wanted_kind
from teamworld.planning.goals import are_possible, filter_workable
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import Domain, Goal, Option, View


@dataclass(frozen=True)
class Situation:
    """One agent at one decision. The prompt shows parts of it; the rules read the rest of the same."""

    view: View
    domain: Domain
    task: str
    team: Mapping[AgentId, str]
    """The living agents with their kinds, in the order of the team."""
    shared: bool
    """Whatever one agent has seen all know (``WorldSpec.memory`` is "team")."""
    chat: tuple[Message, ...]
    """What it heard and said, oldest first."""
    acts: tuple[str, ...]
    """What it did, in words, oldest first."""
    witnessed: Mapping[AgentId, Collection[Fact]]
    """For each teammate what both of them saw."""
    vain: Mapping[GoalId, int]
    """Ticks spent on goals without success."""
    messages: bool = True
    """Whether it may send a message now."""

    @cached_property
    def me(self) -> AgentId:
        """Whose situation it is."""
        return self.view.agent

    @cached_property
    def teammates(self) -> tuple[AgentId, ...]:
        """The other living agents."""
        return tuple(teammate for teammate in self.team if teammate != self.me)

    @cached_property
    def known(self) -> Facts:
        """What it has seen, and what it was told since."""
        return self.view.known if self.shared else believed(self.view, self.domain, self.chat)

    @cached_property
    def goals(self) -> Mapping[GoalId, Goal]:
        """All goals that it knows of; those that it was told something about as they then stand."""
        own = {goal.id: goal for goal in self.view.goals}
        if self.known is self.view.known:
            return own
        return own | {goal.id: goal for goal in self.domain.goals(self.known)}

    @cached_property
    def workable(self) -> Sequence[Goal]:
        """Open goals that it can work on now."""
        return filter_workable(self.goals.values(), self.view.kind)

    @cached_property
    def options(self) -> Sequence[Option]:
        """What can start now, in a fixed order."""
        if self.known is self.view.known:
            return self.view.options
        options = self.domain.options(self.me, self.known)
        return [option for option in options if self.view.check(option.action).ok]

    @cached_property
    def trips(self) -> Mapping[GoalId, int]:
        """Estimated steps of the shortest option that serves each goal."""
        return nearest_ticks(self.options)

    @cached_property
    def search(self) -> float:
        """Estimated steps of a look around: the mean of the options that serve no goal and take more than a step."""
        around = [option.steps for option in self.options if option.goal is None and option.steps > 1]
        ticks = around or [option.steps for option in self.options]
        return max(1.0, sum(ticks) / len(ticks)) if ticks else 1.0

    @cached_property
    def intents(self) -> Mapping[AgentId, GoalId]:
        """What each teammate said last that it does, while that is open and not too long ago.

        It is believed for twice as long as the longest of the agent's options and the work left would take: whoever
        said it may have met with something else.
        """
        longest = max((option.steps for option in self.options), default=1)
        last = {message.sender: message for message in self.chat if message.goal is not None}
        intents: dict[AgentId, GoalId] = {}
        for teammate in (teammate for teammate in self.teammates if teammate in last):
            goal = self.goals.get(last[teammate].goal or "")
            age = self.view.t - last[teammate].t
            if goal is not None and goal.state == "open" and age <= 2 * (longest + goal.units):
                intents[teammate] = goal.id
        return intents

    @cached_property
    def staffed(self) -> Counter[GoalId]:
        """How many teammates said that they do each goal."""
        return Counter(self.intents.values())

    def ahead(self, goal: Goal) -> int:
        """Return how many teammates have a goal before the agent: they said so first, or in the same step in order."""
        if self.announced != goal.id:
            return self.staffed[goal.id]
        order = {agent: place for place, agent in enumerate(self.team)}
        last = {m.sender: (m.t, order.get(m.sender, 0)) for m in self.chat if m.goal is not None}
        return sum(last[teammate] < last[self.me] for teammate, taken in self.intents.items() if taken == goal.id)

    @cached_property
    def announced(self) -> GoalId | None:
        """The goal that it told the others itself, last."""
        return next((m.goal for m in reversed(self.chat) if m.sender == self.me and m.goal is not None), None)

    def helpers(self, goal: Goal) -> list[AgentId]:
        """Return the teammates whose kind can work on a goal and who have not said that they do another."""
        return [
            teammate
            for teammate in self.teammates
            if self.fits(teammate, goal) and self.intents.get(teammate, goal.id) == goal.id
        ]

    def fits(self, teammate: AgentId, goal: Goal) -> bool:
        """Return whether an agent's kind can work on a goal."""
        return not goal.kinds or self.team[teammate] in goal.kinds

    @cached_property
    def _reported(self) -> frozenset[Fact]:
        return frozenset(fact for message in self.chat for fact in message.facts)

    def knows_of(self, teammate: AgentId, goal: Goal) -> bool:
        """Return whether a teammate must know of a goal: of what it is about it was told, or the two saw it together.

        Everybody knows of goals that are about no thing, or about any thing of a kind.
        """
        if self.shared or goal.thing is None or wanted_kind(goal) is not None:
            return True
        return self.knows_about(teammate, goal.thing)

    def knows_about(self, teammate: AgentId, thing: Entity) -> bool:
        """Return whether a teammate must know something of a thing: it was told, or the two saw it together."""
        both = (self._reported, self.witnessed.get(teammate, ()))
        return self.shared or any(fact.subject == thing for facts in both for fact in facts)

    def others(self, teammate: AgentId, but: GoalId) -> Sequence[Goal]:
        """Return the other open goals with room that a teammate knows of and can work on."""
        key = self.team[teammate] if self.shared else teammate
        if key not in self._choices:
            fit = (goal for goal in self._with_room if self.fits(teammate, goal) and self.knows_of(teammate, goal))
            self._choices[key] = tuple(fit)
        return [goal for goal in self._choices[key] if goal.id != but]

    @cached_property
    def _choices(self) -> dict[str, tuple[Goal, ...]]:
        return {}

    @cached_property
    def _with_room(self) -> Sequence[Goal]:
        waiting = {goal.id for goal in self.goals.values() if goal.state == "open"}
        return [
            goal
            for goal in self.goals.values()
            if goal.state == "open" and waiting.isdisjoint(goal.prerequisites) and self.staffed[goal.id] < goal.capacity
        ]

    # ---- what is held, delivered and missing, in worlds where things are fetched

    @cached_property
    def words(self) -> Vocabulary:
        """What the world calls holding, lying and the like."""
        return Vocabulary(self.domain.relations)

    def held(self, agent: AgentId) -> tuple[Entity, ...]:
        """Return what an agent holds, as far as is known."""
        return held_things(agent, self.known, self.words.held)

    @property
    def full(self) -> bool:
        """Whether the agent can hold no more."""
        return 0 < self.words.hands <= len(self.held(self.me))

    def kept(self, option: Option) -> int:
        """Return how many things the agent is expected to hold after an option."""
        return len(held_things(self.me, self.domain.predict(self.me, option.action, self.known), self.words.held))

    def deliveries(self, omit: Collection[str] = ()) -> Iterable[Option]:
        """Yield the options for goals after which the agent holds less than now, without those of omitted verbs."""
        has = len(self.held(self.me))
        if has:
            serving = (option for option in self.options if option.goal is not None and option.action.verb not in omit)
            yield from (option for option in serving if self.kept(option) < has)

    @cached_property
    def targets(self) -> Collection[Entity]:
        """What goals are about: where things are to be brought."""
        return dict.fromkeys(goal.thing for goal in self.goals.values() if goal.thing is not None)

    @cached_property
    def missing(self) -> Mapping[GoalId, int]:
        """How many things each open goal lacks that nobody is known to hold or said that it takes."""
        return missing_things(self.workable, self.known, self.staffed, self.words.held)

    @cached_property
    def delivered(self) -> Sequence[Entity]:
        """The things that the agent knows to be where a goal wants them."""
        things: dict[Entity, None] = {}
        for goal in self.goals.values():
            kind = wanted_kind(goal)
            for fact in self.known:
                there = fact.predicate in (self.words.surface, self.words.container) and fact.value == goal.thing
                if there and isinstance(fact.subject, Entity) and kind in (None, fact.subject.kind):
                    things[fact.subject] = None
        return list(things)

    def lying(self, goal: Goal) -> list[Entity]:
        """Return the things that a goal of a kind can use and that lie about, as far as the agent knows."""
        kind, places = wanted_kind(goal), (self.words.room, self.words.container)
        placed = dict.fromkeys(fact.subject for fact in self.known if fact.predicate in places)
        things = (thing for thing in placed if isinstance(thing, Entity) and thing.kind == kind)
        return [thing for thing in things if thing not in self.delivered]


def believed(view: View, domain: Domain, chat: Iterable[Message]) -> Facts:
    """Return what an agent has seen and, of things that it has not seen since, what others told.

    A message may say anything. What the rules of the world cannot state is passed over, and so are things of which
    the rules can make nothing: a place in a wall, a number too large.
    """
    schema = Schema(domain.relations)
    reports: dict[Entity, tuple[int, tuple[Fact, ...]]] = {}
    for message in chat:
        if message.sender == view.agent:
            continue
        about: dict[Entity, list[Fact]] = {}
        for fact in message.facts:
            if isinstance(fact.subject, Entity) and schema.statable(fact):
                about.setdefault(fact.subject, []).append(fact)
        reports |= {subject: (message.t, tuple(facts)) for subject, facts in about.items()}
    in_sight = {fact.subject for fact in view.facts}
    last: dict[Entity | str, int] = {}
    for fact in view.recall:
        last[fact.subject] = max(view.recall.seen.get(fact, 0), last.get(fact.subject, 0))
    news = {
        subject: (t, facts)
        for subject, (t, facts) in reports.items()
        if subject not in in_sight and t > last.get(subject, -1)
    }
    if not news:
        return view.known
    merged = _merge(view, news)
    if are_possible(merged, view, domain):
        return merged
    possible: dict[Entity, tuple[int, tuple[Fact, ...]]] = {}
    for subject, report in news.items():
        if are_possible(_merge(view, {**possible, subject: report}), view, domain):
            possible[subject] = report
    return _merge(view, possible) if possible else view.known


def _merge(view: View, news: Mapping[Entity, tuple[int, tuple[Fact, ...]]]) -> Facts:
    own = tuple(fact for fact in view.known if fact.subject not in news)
    reported = {fact: t for t, facts in news.values() for fact in facts}
    return Facts((*own, *reported), {**view.recall.seen, **reported})
