"""What an agent knows that also goes by what it was told: shared by methods whose agents talk in words and facts.

The prompts show it, and the rules read the same. Messages are read as everybody reads them, from their text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from teamworld.language import ActionSchema, AgentId, Entity, Fact, Facts, GoalId, Role, plain
from teamworld.methods.common.knowledge import AgentKnowledge, Line
from teamworld.methods.common.told_facts import OF_AGENTS, believed
from teamworld.planning.candidates import nearest_ticks
from teamworld.planning.fetch import held_things, missing_things, wanted_kind
from teamworld.planning.goals import filter_workable, open_goals
from teamworld.planning.simulate import simulate_plan
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import WAIT, Goal, Option, Outcome


@dataclass(frozen=True)
class DialogueKnowledge(AgentKnowledge):
    """What an agent knows that believes what it was told, and remembers what it spent in vain."""

    earlier: tuple[Line, ...] = ()
    """What was said before ``said`` and is not shown word by word any more."""
    lost: Mapping[GoalId, int] = field(default_factory=dict)
    """Steps spent on goals without success."""
    vain: Mapping[GoalId, int] = field(default_factory=dict)
    """The same, more or less: by how many steps goals count as farther."""
    gone: Mapping[Entity, tuple[Fact, int]] = field(default_factory=dict)
    """Things that it saw lie somewhere and has not found there since: where, and the step at which it noticed."""
    kept: int = 20
    """Own actions that it remembers; 0: all."""
    omit: tuple[str, ...] = ()
    """Verbs that it does not know of."""
    told_roles: tuple[Role, ...] = OF_AGENTS
    """Roles of the relations about agents of which it believes what it is told."""

    # ---- what the shared blocks show otherwise than for other methods

    @property
    def goals(self) -> Sequence[Goal]:
        """The open goals that it knows of, those that it was only told of included."""
        return open_goals(self.all_goals.values())

    def describe_goal(self, goal: Goal) -> str:
        """Return how a goal stands by what it knows and was told, in a line."""
        line = self.domain.describe_goal(goal, self.agent, self.known)
        is_out_of_reach = goal.thing in self.unseen and goal.id not in self.trips
        if goal.thing is None or not is_out_of_reach:
            return line
        what = ", which you must have seen to deliver there" if self.words.hands > 1 else ": go and see it first"
        return f"{line}; you were only told of {plain(goal.thing)}{what}"

    @cached_property
    def _options(self) -> Sequence[Option]:
        own = super().options
        if self.known is not self.view.known:
            options = self.domain.options(self.agent, self.known)
            able = {option.action: option for option in options if self.view.check(option.action).ok}
            own = list({option.action: option for option in (*able.values(), *own)}.values())
        return [option for option in own if option.action.verb not in self.omit]

    @property
    def options(self) -> Sequence[Option]:
        """What can start now as far as it knows and was told, in a fixed order."""
        return self._options

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """What it can do, as far as it is shown."""
        return [schema for schema in super().abilities if schema.verb not in self.omit]

    @property
    def past(self) -> Sequence[Outcome]:
        """Its last finished actions, oldest first; talking is none."""
        acts = [outcome for outcome in self.view.history if outcome.action.verb != "talk"]
        return acts[-self.kept :] if self.kept else acts

    # ---- what is known

    @cached_property
    def teammates(self) -> tuple[AgentId, ...]:
        """The others who are there."""
        return tuple(teammate.agent for teammate in self.team)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All that it heard and said, oldest first."""
        return tuple(sorted((*self.earlier, *self.said), key=lambda line: line.step))

    @property
    def is_shared(self) -> bool:
        """Whether all know whatever one agent has seen."""
        return self.spec.memory == "team"

    @cached_property
    def known(self) -> Facts:
        """What it has seen, and what it was told since."""
        if self.is_shared:
            return self.view.known
        return believed(self.view, self.domain, self.lines, self.spec.agents, self.told_roles)

    @cached_property
    def unseen(self) -> frozenset[Entity]:
        """The things that it was only told of."""
        own = {fact.subject for fact in self.view.known}
        return frozenset(
            fact.subject for fact in self.known if isinstance(fact.subject, Entity) and fact.subject not in own
        )

    @property
    def told_facts(self) -> Sequence[str]:
        """What it was told and has not perceived since, with the step at which it was said."""
        if self.known is self.view.known:
            return ()
        own = set(self.view.known)
        return [f"{plain(fact)} (step {self.known.seen[fact]})" for fact in self.known if fact not in own]

    @property
    def missed(self) -> Sequence[str]:
        """The things for open goals that are gone and that it knows nothing else of, with the step."""
        kinds, known = {wanted_kind(goal) for goal in self.goals}, {fact.subject for fact in self.known}
        lost = ((thing, *gone) for thing, gone in self.gone.items() if thing.kind in kinds and thing not in known)
        return [f"{plain(fact)} (noticed at step {step})" for _, fact, step in lost]

    @cached_property
    def all_goals(self) -> Mapping[GoalId, Goal]:
        """All goals that it knows of; those that it was told something about as they then stand."""
        own = {goal.id: goal for goal in self.view.goals}
        if self.known is self.view.known:
            return own
        return own | {goal.id: goal for goal in self.domain.goals(self.known)}

    @cached_property
    def workable(self) -> Sequence[Goal]:
        """Open goals that it can work on now."""
        return filter_workable(self.all_goals.values(), self.kind)

    @cached_property
    def trips(self) -> Mapping[GoalId, int]:
        """Estimated steps of the shortest option that serves each goal."""
        return nearest_ticks(self.options)

    @cached_property
    def search(self) -> int:
        """Estimated steps of a look around: the mean of the options that serve no goal and take more than a step."""
        around = [option.steps for option in self.options if option.goal is None and option.steps > 1]
        return round(sum(around) / len(around)) if around else 1

    # ---- who does what

    @cached_property
    def intents(self) -> Mapping[AgentId, GoalId]:
        """What each teammate said last that it does, as far as that is still believed."""
        return {teammate.agent: teammate.commitment for teammate in self.team if teammate.commitment is not None}

    @cached_property
    def staffed(self) -> Counter[GoalId]:
        """How many teammates said that they do each goal."""
        return Counter(self.intents.values())

    def ahead(self, goal: Goal) -> int:
        """Return how many teammates have a goal before the agent: they said so first, or in the same step in order."""
        if self.commitment != goal.id:
            return self.staffed[goal.id]
        order = {agent: place for place, agent in enumerate(self.spec.agents)}
        mine = self.step if self.announced is None else self.announced, order[self.agent]
        takers = (teammate for teammate in self.team if teammate.commitment == goal.id)
        return sum(
            (self.step if teammate.said is None else teammate.said, order[teammate.agent]) < mine for teammate in takers
        )

    def helpers(self, goal: Goal) -> list[AgentId]:
        """Return the teammates whose kind can work on a goal and who have not said that they do another."""
        return [
            teammate.agent
            for teammate in self.team
            if (not goal.kinds or teammate.kind in goal.kinds) and teammate.commitment in (None, goal.id)
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
    def is_full(self) -> bool:
        """Whether the agent can hold no more."""
        return 0 < self.words.hands <= len(self.held(self.agent))

    def kept_after(self, option: Option) -> int:
        """Return how many things the agent is expected to hold after an option."""
        return len(held_things(self.agent, self.domain.predict(self.agent, option.action, self.known), self.words.held))

    def deliveries(self) -> Iterable[Option]:
        """Yield the options for goals after which the agent holds less than now."""
        has = len(self.held(self.agent))
        if has:
            yield from (o for o in self.options if o.goal is not None and self.kept_after(o) < has)

    def serves(self, option: Option) -> bool:
        """Return whether an option is expected to do some of its goal's work; laying a thing down is none."""
        goal = self.all_goals.get(option.goal or "")
        plan = simulate_plan((option.action,), self.agent, self.known, self.domain)
        return goal is not None and plan.ok and plan.share(goal) > 0

    def nearer(self, option: Option) -> AgentId | None:
        """Return the first teammate in sight who is nearer to what an option is about and has a hand for it.

        What the agent holds nobody else can bring.
        """
        change = 0 if option.action == WAIT else self.kept_after(option) - len(self.held(self.agent))
        if option.action == WAIT or change < 0:
            return None
        order = {agent: place for place, agent in enumerate(self.spec.agents)}
        own, takes = (option.steps, order[self.agent]), change > 0
        for teammate in self.teammates:
            is_full = takes and len(self.held(teammate)) >= self.words.hands > 0
            if self.view.facts.value(teammate, self.words.at) is not None and not is_full:
                steps = self.domain.estimate_steps(teammate, option.action, self.known)
                if (steps, order[teammate]) < own:
                    return teammate
        return None

    @cached_property
    def targets(self) -> Sequence[Entity]:
        """What goals are about: where things are to be brought."""
        return list(dict.fromkeys(goal.thing for goal in self.all_goals.values() if goal.thing is not None))

    @cached_property
    def missing(self) -> Mapping[GoalId, int]:
        """How many things each open goal lacks that nobody is known to hold or said that it takes."""
        return missing_things(self.workable, self.known, self.staffed, self.words.held)

    @cached_property
    def delivered(self) -> Sequence[Entity]:
        """The things that the agent knows to be where a goal wants them."""
        things: dict[Entity, None] = {}
        for goal in self.all_goals.values():
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
