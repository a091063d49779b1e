"""What an agent knows when it is asked: the blocks that all prompts are built from show it, and rules read it.

The shared blocks are the templates of ``common/prompts``; each reads one ``AgentKnowledge``, which they call ``me``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from teamworld.language import Action, ActionSchema, AgentId, Entity, GoalId, Plan, Term, plain
from teamworld.methods.common.plan_answers import parameter_values
from teamworld.planning.candidates import complete_action
from teamworld.planning.fetch import held_things, wanted_kind
from teamworld.planning.goals import open_goals
from teamworld.planning.vocabulary import Vocabulary
from teamworld.reasoning.contract import Question
from teamworld.worlds.contract import WAIT, Domain, Goal, Option, Outcome, View, WorldSpec

Asked = TypeVar("Asked", bound=BaseModel)

#: Finished actions that an agent is shown of its own.
PAST = 5


class Teammate(NamedTuple):
    """What is known of a teammate, from what was seen and said."""

    agent: AgentId
    kind: str
    doing: str = ""
    """What it is doing, in words; empty where nothing is known."""
    commitment: GoalId | None = None
    """The task that it is bound to, or said that it takes."""
    said: int | None = None
    """The step at which it said so; None where it is agreed or seen."""
    then: tuple[GoalId, ...] = ()
    """The tasks that it said it takes after that one, in order."""


class Line(NamedTuple):
    """Something that was said."""

    step: int
    sender: AgentId
    to: tuple[AgentId, ...] | None
    """None: to all."""
    text: str
    """All that was sent, typed facts included."""
    goal: GoalId | None = None
    """The task that the sender takes."""
    became: str = ""
    """What came of it, in words."""


@dataclass(frozen=True)
class AgentKnowledge:
    """What one agent knows: everything that a shared block can show of it."""

    view: View
    domain: Domain
    spec: WorldSpec
    """What everybody knows before the first step."""
    team: tuple[Teammate, ...] = ()
    """The others who are there, in order."""
    running: Plan | None = None
    """What is left of the plan that runs; None for nothing."""
    commitment: GoalId | None = None
    """The task that it is bound to, or said that it takes."""
    announced: int | None = None
    """The step at which it said so; None where it is agreed."""
    then: tuple[GoalId, ...] = ()
    """The tasks that it said it takes after that one, in order."""
    released: str = ""
    """Why it is no longer bound to its last task, in words; empty where that is no news."""
    said: tuple[Line, ...] = ()
    """What it heard and said, in the order of the channel."""
    scene: str | None = None
    """Its situation in the words of its reasoner; None: in the world's own."""

    @property
    def agent(self) -> AgentId:
        """Who it is."""
        return self.view.agent

    @property
    def kind(self) -> str:
        """What kind of agent it is."""
        return self.view.kind

    def kind_of(self, agent: AgentId) -> str:
        """Return what kind of agent somebody of the team is; empty of who is not there."""
        return {self.agent: self.kind, **{teammate.agent: teammate.kind for teammate in self.team}}.get(agent, "")

    @property
    def step(self) -> int:
        """Steps gone."""
        return self.view.t

    @property
    def steps_left(self) -> int:
        """Steps left."""
        return self.view.steps_left

    @property
    def since(self) -> int | None:
        """The step at which the action that runs began; None where that is no news."""
        return None if self.view.since == self.step else self.view.since

    @cached_property
    def situation(self) -> str:
        """Where it is and what it perceives and remembers."""
        return self.view.text() if self.scene is None else self.scene

    @property
    def goals(self) -> Sequence[Goal]:
        """The open goals that it knows of."""
        return open_goals(self.view.goals)

    def describe_goal(self, goal: Goal) -> str:
        """Return how a goal stands for it, in a line."""
        return self.domain.describe_goal(goal, self.agent, self.view.known)

    @cached_property
    def options(self) -> Sequence[Option]:
        """What makes sense now; what runs comes first, also where it could not begin anew, then its own task."""
        options, doing = list(self.view.options), self.doing
        if self.commitment is not None:
            options.sort(key=lambda option: option.goal != self.commitment)
        if doing is None or self.running is None:
            return options
        rest = self.view.remainder
        rest = doing if rest is None or rest.verb != doing.verb else rest
        wholes = [complete_action(action, self.view) for action in (rest, doing)]
        same = [option for option in options if complete_action(option.action, self.view) in wholes]
        left = (option.steps for option in same if complete_action(option.action, self.view) == wholes[0])
        steps = next(left, None) or self.domain.estimate_steps(self.agent, rest, self.view.known)
        others = [option for option in options if option not in same]
        here = Option(doing, self.running.goal, self.view.steps_to_go or steps)
        return [*others, here] if self._is_spent else [here, *others]

    @property
    def _is_spent(self) -> bool:
        """Whether what runs brings nothing any more: its goal is over, or all that it brought lies."""
        hauling = self.domain.hauling
        if hauling is None or self.doing != hauling.deliver():
            return self.is_over
        return hauling.steps_until_it_counts(self.agent, self.view.known) is None

    def tell_late(self, option: Option) -> str:
        """Return that an option ends too late, or that what is then held comes too late, in words; else nothing."""
        hauling, counts = self.domain.hauling, self._steps_until_it_counts(option)
        late = "likely too late: " if counts is not None and counts > self.steps_left else ""
        if hauling is not None and option.action == hauling.deliver():
            return ", all lies already" if counts is None else f", {late}counts in {counts}"
        if option.steps > self.steps_left:
            return ", more than are left"
        what = "what is put in it" if self._is_fetched_to_fill(option) else "it"
        return f", {late}{what} counts in {counts}" if late else ""

    def is_late(self, option: Option) -> bool:
        """Return whether an option ends too late, or what is then held comes too late, or all of it lies already."""
        hauling, counts = self.domain.hauling, self._steps_until_it_counts(option)
        if hauling is not None and option.action == hauling.deliver():
            return counts is None or counts > self.steps_left
        return option.steps > self.steps_left or (counts is not None and counts > self.steps_left)

    def _steps_until_it_counts(self, option: Option) -> int | None:
        """Return the estimated steps until what is held after an option counts; None where nothing would."""
        hauling, known = self.domain.hauling, self.view.known
        if hauling is None:
            return None
        if option.action == hauling.deliver():
            return hauling.steps_until_it_counts(self.agent, known)
        if option.goal is None:
            return None
        then = hauling.steps_until_it_counts(self.agent, self.domain.predict(self.agent, option.action, known))
        return None if then is None else option.steps + then

    def _is_fetched_to_fill(self, option: Option) -> bool:
        """Return whether an option fetches what counts for no goal itself, such as a container."""
        hauling, thing = self.domain.hauling, next(iter(option.action.args), None)
        is_fetch = hauling is not None and isinstance(thing, Entity) and option.action == hauling.fetch(thing)
        return is_fetch and self.is_aid(option)

    def is_aid(self, option: Option) -> bool:
        """Return whether an option is for a goal but about nothing that counts for one, such as a container."""
        kinds = {wanted_kind(goal) for goal in self.goals} - {None}
        things = [thing for thing in option.action.args if isinstance(thing, Entity)]
        return option.goal is not None and bool(kinds) and bool(things) and all(t.kind not in kinds for t in things)

    @cached_property
    def taken(self) -> Mapping[GoalId, Sequence[AgentId]]:
        """Which teammates take a goal, of goals at which no more agents are of use than take them."""
        by: defaultdict[GoalId | None, list[AgentId]] = defaultdict(list)
        for teammate in self.team:
            for goal in dict.fromkeys((teammate.commitment, *teammate.then)):
                by[goal].append(teammate.agent)
        return {goal.id: by[goal.id] for goal in self.goals if len(by[goal.id]) >= goal.capacity}

    def mark(self, goal: GoalId | None) -> str:
        """Return who takes a goal at which no more agents are of use, in words; empty where it has room, or is none."""
        takers = self.taken.get(goal or "", ())
        if not takers or goal not in (self.commitment, *self.then):
            return f" ({', '.join(f'{taker}' + chr(39) + 's' for taker in takers)} task)" if takers else ""
        first = {teammate.agent for teammate in self.team if teammate.commitment == goal}
        also = (f"{agent}'s{'' if agent in first else ' next'}" for agent in takers)
        return f" (yours; also {', '.join(also)})"

    @property
    def doing(self) -> Action | None:
        """The action that runs."""
        return self.running.actions[0] if self.running is not None and self.running.actions else None

    @property
    def is_over(self) -> bool:
        """Whether the goal of what runs is over as far as it knows, and it carries nothing for another."""
        goal = None if self.running is None else self.running.goal
        relation = Vocabulary(self.domain.relations).held
        load = {thing.kind for thing in held_things(self.agent, self.view.known, relation)}
        carries = any(wanted_kind(other) in load for other in self.goals)
        return not carries and any(known.id == goal and known.state != "open" for known in self.view.goals)

    def name_readers(self, line: Line) -> str:
        """Return to whom something was said, in words."""
        return "all" if line.to is None else ", ".join("you" if agent == self.agent else agent for agent in line.to)

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """What it can do; without what only pays for talking, and without `wait` where `idle` alone does the same."""
        idles = (schema for schema in self.view.abilities if schema.verb == "idle")
        is_twice = any(all(param.default is not None for param in schema.params) for schema in idles)
        left_out = ("talk", WAIT.verb) if is_twice else ("talk",)
        return [schema for schema in self.view.abilities if schema.verb not in left_out]

    @property
    def values(self) -> Mapping[str, tuple[Term, ...]]:
        """What the parameters of its actions may be, without what the situation tells."""
        return self.list_values(self.situation)

    def list_values(self, elsewhere: str) -> Mapping[str, tuple[Term, ...]]:
        """Return what the parameters of its actions may be, each list once; those that may be the same stand together.

        What the prompt tells elsewhere is left out: a ``block`` is one of the blocks that it names. What stands in a
        list of its own is told by the name of that: ``any container``.

        Args:
            elsewhere: What the prompt tells elsewhere.
        """
        together = dict[tuple[Term, ...], list[str]]()
        for name, choices in parameter_values(self.abilities).items():
            is_told = all(
                isinstance(choice, Entity) and choice.kind == name and plain(choice) in elsewhere for choice in choices
            )
            if not (choices and is_told):
                together.setdefault(choices, []).append(name)
        return {", ".join(names): _by_lists(choices, together) for choices, names in together.items()}

    @property
    def lists_things(self) -> bool:
        """Whether the values are things of the world, which not every action can use at every moment."""
        return any(isinstance(choice, Entity) for choices in self.values.values() for choice in choices)

    @property
    def past(self) -> Sequence[Outcome]:
        """Its last finished actions, oldest first."""
        history: Sequence[Any] = self.view.history
        return history[max(0, len(history) - PAST) :]

    @property
    def known_team(self) -> Sequence[tuple[str, Teammate]]:
        """Teammates of whom something is known, as it stands for each; those who do the same stand together."""
        groups: dict[Teammate, list[Teammate]] = {}
        for teammate in self.team:
            if teammate.doing or teammate.commitment is not None:
                groups.setdefault(teammate._replace(agent="") if teammate.said is None else teammate, []).append(
                    teammate
                )
        return [(", ".join(teammate.agent for teammate in teammates), teammates[0]) for teammates in groups.values()]

    @property
    def by_kind(self) -> Mapping[str, Sequence[Teammate]]:
        """Teammates of whose doing nothing is known, by kind; none where all are alike."""
        unknown: dict[str, list[Teammate]] = {}
        for teammate in self.team:
            if not teammate.doing and teammate.commitment is None:
                unknown.setdefault(teammate.kind, []).append(teammate)
        return {} if self.is_alike else unknown

    @property
    def is_alike(self) -> bool:
        """Whether all are of one kind, and the situation names each."""
        situation = self.situation
        return bool(self.team) and all(
            teammate.kind == self.kind and teammate.agent in situation for teammate in self.team
        )


def _by_lists(choices: tuple[Term, ...], lists: Mapping[tuple[Term, ...], Sequence[str]]) -> tuple[Term, ...]:
    """Return values with the name of a list in place of those that stand in it."""
    named: list[Term] = []
    for shorter in (other for other in lists if 1 < len(other) < len(choices) and "." not in lists[other][0]):
        if set(shorter) <= set(choices):
            named.append(f"each {lists[shorter][0]}")
            choices = tuple(choice for choice in choices if choice not in shorter)
    return (*named, *choices)


@dataclass(frozen=True)
class AgentQuestion(Question[Asked]):
    """What is asked of an agent, by what it knows."""

    me: AgentKnowledge

    def context(self) -> dict[str, Any]:
        """The question, and what the agent knows under the name that the shared blocks read."""
        return {"q": self, "me": self.me}

    @property
    def domain(self) -> Domain:
        """The rules of the world."""
        return self.me.domain


def list_teammates(
    spec: WorldSpec,
    agent: AgentId,
    living: Iterable[AgentId],
    doing: Mapping[AgentId, str] | None = None,
    commitments: Mapping[AgentId, GoalId | None] | None = None,
    said: Mapping[AgentId, int] | None = None,
) -> tuple[Teammate, ...]:
    """Return what an agent knows of the others who are there.

    Args:
        spec: Who is of which kind.
        agent: Who is asked.
        living: Who is there.
        doing: What it knows that they are doing.
        commitments: The tasks that it knows them to be bound to, or that they said they take.
        said: The steps at which they said so.
    """
    doing, commitments, said = doing or {}, commitments or {}, said or {}
    return tuple(
        Teammate(teammate, spec.kinds[teammate], doing.get(teammate, ""), commitments.get(teammate), said.get(teammate))
        for teammate in living
        if teammate != agent
    )
