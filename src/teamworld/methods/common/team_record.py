"""The shared record: what a reasoner reads of the whole team that plans for others, and what became of its orders."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist, inf
from typing import NamedTuple

from teamworld.language import Action, AgentId, Entity, Fact, Facts, GoalId, Plan, plain
from teamworld.language.rules import IN_HAND, WHERE
from teamworld.methods.common.informed import SUBJECT, has_hand, list_unseen, rank_options, text_parts
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.planning.allocation import allocate_steps, pool_facts, team_goals
from teamworld.planning.candidates import MAX_GOALS, CandidateStep, complete_action, nearest_ticks
from teamworld.planning.conflicts import Intent, spread_steps
from teamworld.planning.fetch import held_things, wanted_kind
from teamworld.planning.vocabulary import Vocabulary
from teamworld.reasoning.contract import RespondentId
from teamworld.worlds.base.views import FactsView
from teamworld.worlds.contract import WAIT, Goal, Option, Outcome, View

#: Options of an agent that the record lists at most.
MOST = 8
#: Agents that the board names at most of each task in a neighbourhood of a large team.
FEW = 3
#: What became of an order that is carried out now.
GOES_ON = "goes on"
_THIRD = {
    **{"are": "is", "am": "is", "have": "has", "do": "does", "carry": "carries", "hold": "holds", "know": "knows"},
    **{"ride": "rides", "see": "sees", "stand": "stands", "get": "gets", "need": "needs"},
}
#: What an agent takes its teammates to be, and they do not tell themselves: rules go by it.
_TRAITS = frozenset({"LEVEL"})
_PERSON = re.compile(rf"\b(?:(?:you|i) ({'|'.join(_THIRD)})|(your|my)|you|me)\b", re.IGNORECASE)


def name_agent(text: str, agent: AgentId) -> str:
    """Return words that a world has for an agent with its name in the place of "you", "your", "I" and "my"."""

    def name(match: re.Match[str]) -> str:
        verb, own = match.groups()
        return f"{agent} {_THIRD[verb.lower()]}" if verb else f"{agent}'s" if own else agent

    named = re.sub(rf"\b{re.escape(agent)} is {re.escape(agent)}\b,?", f"{agent} is", _PERSON.sub(name, text))
    return named.replace(" and hold ", " and holds ")


class GivenOrder(NamedTuple):
    """What an agent was given to do, and what became of it."""

    step: int
    """At which it was given."""
    by: RespondentId
    """Who gave it: the agent itself where it chose for itself."""
    state: str
    """What the agent knew of itself then, in words."""
    action: str
    """In written form; as it was said where it could not be read."""
    goal: GoalId | None
    became: str = ""
    """In words."""
    accepted: RespondentId | None = None
    """Who accepted it as the agent's own proposal."""


class OrderBook:
    """The last orders of each agent; an order that is given again runs on and is one.

    Args:
        most: Orders that are kept of each agent.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._orders: defaultdict[AgentId, list[GivenOrder]] = defaultdict(list)

    def give(
        self, view: View, by: RespondentId, action: str, goal: GoalId | None, running: Plan | None,
        accepted: RespondentId | None = None,
    ) -> None:  # fmt: skip
        """Note what an agent was given to do.

        Args:
            view: Of the agent.
            by: Who gave it.
            action: In written form.
            goal: What it is for.
            running: What the agent was doing: the same action goes on.
            accepted: Who accepted it as the agent's own proposal.
        """
        orders = self._orders[view.agent]
        goes_on = action == str(WAIT) or (running is not None and str(running.actions[0]) == action)
        if orders and orders[-1].action == action and goes_on:
            return
        orders.append(GivenOrder(view.t, by, describe_state(view), action, goal, accepted=accepted))
        del orders[: max(0, len(orders) - self._most)]

    def of(self, me: AgentKnowledge) -> tuple[GivenOrder, ...]:
        """Return the last orders of an agent, oldest first, with what became of each as far as it noticed."""
        return tuple(order._replace(became=_became(order, me)) for order in self._orders[me.agent])


def describe_state(view: View) -> str:
    """Return where an agent is and what it has in hand, in words."""
    own = [fact for fact in view.facts if fact.subject == view.agent]
    place = [fact for fact in own if fact.predicate == "AT"] or [fact for fact in own if fact.predicate == "POSITION"]
    held = [fact for fact in own if fact.predicate in IN_HAND]
    return ", ".join(map(_state_words, (*place, *held)))


def _state_words(fact: Fact) -> str:
    return f"{'with' if fact.predicate in IN_HAND else 'at'} {plain(fact.value)}"


def _became(order: GivenOrder, me: AgentKnowledge) -> str:
    if order.action == str(WAIT):
        return "done"  # no history holds it
    history: Sequence[Outcome] = me.view.history
    ended = next((done for done in history if done.start >= order.step and str(done.action) == order.action), None)
    if ended is not None:
        return "stopped by what came next" if ended.is_stopped else ended.ending
    return GOES_ON if me.doing is not None and str(me.doing) == order.action else "broken off"


def is_at(me: AgentKnowledge, goal: Goal) -> bool:
    """Return whether what an agent does now is for a goal."""
    return me.running is not None and me.running.goal == goal.id


class Member(NamedTuple):
    """What the record holds of an agent."""

    me: AgentKnowledge
    """What the agent knows."""
    is_open: bool
    """It can be given an action now."""
    orders: tuple[GivenOrder, ...] = ()
    """The last ones, oldest first."""

    @property
    def last_goal(self) -> GoalId | None:
        """What it does now is for, or what it did last."""
        if self.me.running is not None:
            return self.me.running.goal
        return self.me.commitment

    @property
    def goes_on(self) -> bool:
        """Whether its last order tells what it does now."""
        return bool(self.orders) and self.orders[-1].became == GOES_ON and self.orders[-1].goal == self.last_goal

    @property
    def options(self) -> Sequence[Option]:
        """What runs, the nearest for each of the nearest goals, then of each kind of action, then others.

        What serves a goal comes first, then what names its thing (to bring it before to drop what one holds), then what
        may find most a step, where the world tells that, then the nearest: where many things are close at hand, what is
        done with them is still listed. What comes too late comes last of many.
        """
        running = [option for option in self.me.options if option.action == self.me.doing]
        listed = sorted(self.me.options, key=lambda option: (option.goal is None, not option.action.args, option.steps))
        late = {option for option in listed if self.me.is_late(option)} if len(listed) > MOST else set()
        if len(listed) > MOST:
            listed = sorted(
                rank_options(self.me, listed),
                key=lambda option: (option in late, self.me.is_aid(option)),
            )
        by_goal: dict[GoalId, Option] = {}
        by_verb: dict[str, Option] = {}
        timely = [option for option in listed if option not in late]
        for option in timely:
            if option.goal is not None:
                by_goal.setdefault(option.goal, option)
        goals = [*by_goal.values()][:MAX_GOALS]
        met = {option.action.verb for option in goals}
        for option in timely:
            if option.action.verb not in met:
                by_verb.setdefault(option.action.verb, option)
        first = [*dict.fromkeys((*running, *goals, *by_verb.values()))]
        return [*first, *(option for option in listed if option not in first)][:MOST]

    @property
    def told_options(self) -> Sequence[Option]:
        """The options as the record lists them: to wait comes last."""
        return sorted(self.options, key=lambda option: option.action == WAIT != self.me.doing)

    @property
    def more(self) -> int:
        """Options that are not listed."""
        return max(0, len(self.me.options) - MOST)

    @property
    def situation(self) -> str:
        """Its situation with its name in the place of "you"."""
        return name_agent(self.me.situation, self.me.agent)


class Task(NamedTuple):
    """An open goal of the team."""

    goal: Goal
    text: str
    """How it stands by what all know together for one agent."""
    reader: AgentId
    """For whom: the nearest of those at it, else of all; where things are fetched the nearest with a free hand."""
    at: tuple[AgentId, ...] = ()
    """Who is at it, the nearest first."""
    others: tuple[tuple[AgentId, int], ...] = ()
    """The others who are at it, then the nearest of those whom it takes or could use; with their steps."""
    is_near: bool = True
    """Whether the reader has a way to it, or to a thing that it wants, so that it can be called the nearest."""
    unseen: tuple[Entity, ...] = ()
    """Things that the text names, which the reader has not found itself."""

    @property
    def aim(self) -> str:
        """What the steps of others lead to, in words; empty where the goal itself says it."""
        return "" if wanted_kind(self.goal) is None else " to take one"


@dataclass(frozen=True)
class TeamRecord:
    """What all agents know, do and did."""

    members: tuple[Member, ...]
    shown: str = ""
    """The situation that a prompt shows beside the record."""
    reader: AgentId | None = None
    """Whose situation that is."""

    @property
    def open(self) -> tuple[AgentId, ...]:
        """Who can be given an action now."""
        return tuple(member.me.agent for member in self.members if member.is_open)

    @property
    def kinds(self) -> Mapping[str, AgentKnowledge]:
        """One agent of each kind: what it can do the others of its kind can do too."""
        kinds: dict[str, AgentKnowledge] = {}
        for member in self.members:
            kinds.setdefault(member.me.kind, member.me)
        return kinds

    @property
    def first(self) -> AgentKnowledge:
        """What the first agent knows: mission and rules of the world are the same for all."""
        return self.members[0].me

    @property
    def views(self) -> dict[AgentId, View]:
        """The views of all."""
        return {member.me.agent: member.me.view for member in self.members}

    @property
    def goals(self) -> Mapping[GoalId, Goal]:
        """The open goals that somebody knows of."""
        return team_goals(self.views.values())

    @property
    def tasks(self) -> Sequence[Task]:
        """The open goals as they stand by what all know together, with who is at each and who is nearest to it."""
        domain, facts, view = self.first.domain, self._pooled, self.first.view
        is_large = isinstance(view, FactsView) and view.narrowing is not None
        tasks = []
        for goal in self._pooled_goals.values():
            near = self._nearest(goal)
            at = [me for me in near if is_at(me, goal) or self._brings(me, goal)]
            named = max(len(at), min(goal.capacity, max(goal.quorum, len(at) + 1)), 1)
            named = min(named, FEW) if is_large else named
            able = near if wanted_kind(goal) is None else [me for me in near if has_hand(me)] or near
            first, *rest = sorted(able, key=lambda me: wanted_kind(goal) is None and me not in at)[:named]
            known = self._steps if wanted_kind(goal) is None else self._fetches
            steps = ((me.agent, known[me.agent].get(goal.id)) for me in rest)
            # Who is there, or has the thing in its hands, stands in the text.
            others = tuple((agent, count) for agent, count in steps if count and not self._holds(agent, goal.thing))
            text = name_agent(domain.describe_goal(goal, first.agent, facts), first.agent)
            is_near = goal.id in known[first.agent] and (first is near[0] or wanted_kind(goal) is not None)
            unseen = list_unseen(goal, text, facts, first.view)
            tasks.append(Task(goal, text, first.agent, tuple(me.agent for me in at), others, is_near, unseen))
        return tasks

    def _brings(self, me: AgentKnowledge, goal: Goal) -> bool:
        """Return whether an agent holds a thing of the kind that a goal wants brought."""
        return any(thing.kind == wanted_kind(goal) for thing in self._held(me.agent))

    def _holds(self, agent: AgentId, thing: Entity | None) -> bool:
        return thing is not None and thing in self._held(agent)

    def _held(self, agent: AgentId) -> Sequence[Entity]:
        return held_things(agent, self._pooled, Vocabulary(self.first.domain.relations).held)

    def late(self, agent: AgentId, option: Option) -> str:
        """Return for whom an option of an agent waits, as its task takes several, in words; empty where for nobody."""
        goal = None if option.goal is None else self._pooled_goals.get(option.goal)
        is_at_it = any(isinstance(value, Entity) for value in option.action.args)
        if goal is None or goal.quorum < 2 or not is_at_it:
            return ""
        near = sorted(self._nearest(goal), key=lambda me: not is_at(me, goal))
        others = [me.agent for me in near if me.agent != agent][: goal.quorum - 1]
        far = {other: self._steps[other].get(goal.id, 0) for other in others}
        last = max(far, key=far.__getitem__, default=agent)
        return f"{last}, {far[last]} steps" if far.get(last, 0) > option.steps else ""

    def _nearest(self, goal: Goal) -> list[AgentKnowledge]:
        """Return who can work on a goal, the nearest first: by steps, as options tell, then by the straight way."""
        fit = [member.me for member in self.members if not goal.kinds or member.me.kind in goal.kinds]
        aim = None if goal.thing is None else self._places.get(goal.thing)

        def distance(me: AgentKnowledge) -> tuple[float, float]:
            place = self._places.get(me.agent)
            return self._steps[me.agent].get(goal.id, inf), inf if aim is None or place is None else dist(aim, place)

        return sorted(fit or [member.me for member in self.members], key=distance)

    @cached_property
    def _pooled_goals(self) -> Mapping[GoalId, Goal]:
        """The open goals that somebody knows of, as they stand by what all know together."""
        pooled = {goal.id: goal for goal in self.first.domain.goals(self._pooled)}
        stand = {name: pooled.get(name, goal) for name, goal in self.goals.items()}
        return {name: goal for name, goal in stand.items() if goal.state == "open"}

    @cached_property
    def _steps(self) -> Mapping[AgentId, Mapping[GoalId, int]]:
        """By agent and goal the steps of the nearest option; of what it does, where that is for the goal; 0 at work.

        Where a goal wants things fetched, and the agent can take one, looks for them do not count. What it does counts
        where it is an action that the world offers for the goal: else it may end anywhere.
        """
        steps = {
            member.me.agent: nearest_ticks(member.me.options) | self._fetches[member.me.agent]
            for member in self.members
        }
        for me in (member.me for member in self.members):
            if me.doing is not None and me.options and me.options[0].goal is not None:
                running, *offered = me.options
                alike = [option for option in me.view.options if option.goal == running.goal]
                if not alike or any(option.action.verb == running.action.verb for option in alike):
                    steps[me.agent][me.options[0].goal] = running.steps
                else:
                    steps[me.agent] |= nearest_ticks(option for option in offered if option.goal == running.goal)
            steps[me.agent] |= {option.goal: 0 for option in me.view.options if option.is_work and option.goal}
        return steps

    @cached_property
    def _fetches(self) -> Mapping[AgentId, dict[GoalId, int]]:
        """By agent and goal the steps of the nearest option that is about a thing of the kind that the goal wants."""
        kinds = {goal.id: wanted_kind(goal) for goal in self._pooled_goals.values()}

        def is_fetched(option: Option) -> bool:
            kind = kinds.get(option.goal or "")
            return any(isinstance(arg, Entity) and arg.kind == kind for arg in option.action.args)

        return {m.me.agent: nearest_ticks(filter(is_fetched, m.me.options)) for m in self.members}

    @cached_property
    def _places(self) -> Mapping[Entity | str, tuple[int, ...]]:
        """Where everybody and everything is, of what has coordinates."""
        where = ((fact.subject, fact.value) for fact in self._pooled if fact.predicate in WHERE)
        return {subject: place for subject, place in where if isinstance(place, tuple)}

    @cached_property
    def _pooled(self) -> Facts:
        return pool_facts(self.views)

    @cached_property
    def _readers(self) -> Mapping[str, tuple[AgentId, ...]]:
        """By part of a situation, who of them reads it word for word."""
        readers: dict[str, tuple[AgentId, ...]] = {}
        for member in self.members:
            for part in dict.fromkeys(self._own_parts(member) if member.me.scene is None else ()):
                readers[part] = (*readers.get(part, ()), member.me.agent)
        return readers

    @property
    def shared(self) -> Mapping[str, str]:
        """What several of them read alike, by who; without what all read and stands beside the record as well."""
        shown, groups = set(text_parts(self.shown)), dict[tuple[AgentId, ...], list[str]]()
        for part, readers in self._readers.items():
            if len(readers) > 1 and not (part in shown and len(readers) == len(self.members)):
                groups.setdefault(readers, []).append(part)
        ordered = sorted(groups.items(), key=lambda group: -len(group[0]))
        return {self._name(readers): "\n".join(parts) for readers, parts in ordered}

    def _name(self, readers: Sequence[AgentId]) -> str:
        return "all of them" if len(readers) == len(self.members) else ", ".join(readers)

    @property
    def situations(self) -> Mapping[AgentId, str]:
        """The situation of each agent without what several read alike."""
        shown = set(text_parts(self.shown)) if len(self.members) == 1 else set()
        return {
            member.me.agent: "\n".join(
                part for part in self._own_parts(member) if len(self._readers.get(part, ())) < 2 and part not in shown
            )
            for member in self.members
        }

    def _own_parts(self, member: Member) -> Sequence[str]:
        """Return the parts of an agent's situation; not where it takes teammates to be, who tell that themselves."""
        traits = {fact.subject for fact in member.me.view.known if fact.predicate in _TRAITS}
        elsewhere = {self.reader, *(other.me.agent for other in self.members)} - {None, member.me.agent, *traits}
        return [
            part for part in text_parts(member.situation) if SUBJECT.findall(part)[0] not in {*elsewhere, "Teammates:"}
        ]

    def of(self, agent: AgentId) -> Member | None:
        """Return what the record holds of an agent."""
        return next((member for member in self.members if member.me.agent == agent), None)

    def without(self, me: AgentKnowledge) -> TeamRecord:
        """Return the record of the others, to be shown beside the situation of one agent."""
        others = tuple(member for member in self.members if member.me.agent != me.agent)
        shown = "" if me.scene is not None else name_agent(me.situation, me.agent)
        return replace(self, members=others, shown=shown, reader=me.agent)

    def allocate(
        self, agents: Collection[AgentId], barred: Collection[tuple[AgentId, Action]] = (),
        settled: Mapping[AgentId, Plan] | None = None,
    ) -> dict[AgentId, CandidateStep]:  # fmt: skip
        """Return a step for each of some agents, as one reasoner would choose that knows what all of them know.

        Args:
            agents: Who is to be given a step.
            barred: Steps that cannot be taken, as somebody found.
            settled: What others do that are not to be given a step, in place of what runs.
        """
        running = {m.me.agent: m.me.running for m in self.members if m.me.running is not None} | dict(settled or {})
        aims = {member.me.agent: member.last_goal for member in self.members}
        steps = allocate_steps(self.views, self.first.domain, agents, running, aims, barred)
        # who keeps on with what it does chooses first
        ordered = sorted(
            steps, key=lambda agent: agent not in running or running[agent].actions[0] != steps[agent].action
        )
        others = [Intent(name, plan.actions[0], plan.goal) for name, plan in running.items() if name not in steps]
        first = {agent: steps[agent] for agent in ordered}
        spread = spread_steps(first, self.goals, self.views, self.first.domain, others, barred)
        return {agent: spread[agent] for agent in steps}


def one_option(me: AgentKnowledge) -> Action | None:
    """Return the one action that makes sense for an agent, where there is no other: to ask for it would be vain."""
    options = me.options
    return complete_action(options[0].action, me.view) if len(options) == 1 else None
