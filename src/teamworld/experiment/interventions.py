"""What happens otherwise in a fork, at the places where methods, reasoners and messages meet the loop.

Until a change takes place, everything passes through as it is. Random numbers come from streams named by purpose, agent
and count, and neither names nor counts are changed here: a question whose answer is replaced was asked all the same,
and a message that is dropped keeps its number.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from teamworld.episode.compatibility import entities_for
from teamworld.errors import UserError, brief
from teamworld.experiment.fork_spec import Fork, ForkChange, Heir, MessageChange, PlanChange
from teamworld.language import ActionSchema, AgentId, ParseError, Plan, parse_fact, parse_plan
from teamworld.methods import registry as methods
from teamworld.methods.common.mixed_team import SharedTeam, TeamShare
from teamworld.methods.common.neighbourhoods import in_neighbourhoods
from teamworld.methods.common.plan_answers import read_actions
from teamworld.methods.contract import (
    Briefing,
    Choice,
    Decision,
    DecisionContext,
    Message,
    Method,
)
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.router import ReasonerRouter, Route, find_reasoner
from teamworld.record import Commit, Event, Release
from teamworld.worlds.contract import WAIT, World


class ChangeRefused(UserError):
    """A change of a fork cannot take place."""


class Interventions:
    """The changes of a fork while it is played: which step it is, and which changes are still to come."""

    def __init__(self, fork: Fork) -> None:
        self.fork = fork
        self._pending = list(fork.changes)
        self._step = 0
        self._counts: Counter[tuple[str, ...]] = Counter()

    def enter(self, step: int) -> None:
        """Take note that a step begins."""
        if step != self._step:
            self._step = step
            self._counts.clear()

    def due(self) -> Iterator[ForkChange]:
        """Yield the changes of this step that have not taken place."""
        return (change for change in tuple(self._pending) if change.step == self._step)

    def done(self, change: ForkChange) -> None:
        """Take note that a change has taken place."""
        self._pending.remove(change)

    def count(self, *place: str) -> int:
        """Count something that happens in this step; return how often it has."""
        self._counts[place] += 1
        return self._counts[place]

    def edit(self, message: Message) -> Message | None:
        """Return what is sent instead of a message; None for nothing."""
        number = self.count("message", message.sender)
        for change in self.due():
            wanted = change.message
            if wanted is not None and (wanted.agent, wanted.number) == (message.sender, number):
                self.done(change)
                return _edited(message, wanted)
        return message

    def check(self) -> None:
        """See that all changes have taken place.

        Raises:
            ChangeRefused: One has not.
        """
        for change in self._pending:
            raise ChangeRefused(
                f"the change {brief(change.model_dump(exclude_none=True))} finds no place: what it would change does "
                "not happen any more after the changes before it"
            )


def _edited(message: Message, change: MessageChange) -> Message | None:
    if change.drop:
        return None
    if change.recipients is not None:
        message = dataclasses.replace(message, recipients=change.recipients)
    if change.text is not None:
        facts = tuple(map(parse_fact, change.facts))
        message = dataclasses.replace(message, text=change.text, goal=change.goal, facts=facts)
    return message


class GivenAnswers:
    """Stands in records for whoever made a fork and gave an answer."""

    name = "fork"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> NoReturn:
        """Refuse: answers are given by ``ForkedReasoner``."""
        raise AssertionError(question.kind)


class ForkedReasoner(ReasonerRouter):
    """The reasoner of an episode; some answers are replaced, and from some step on others answer for some agents.

    Args:
        first: Who answers until then.
        others: Who takes over; they share the counts of ``first``.
    """

    def __init__(self, first: Reasoner, others: Mapping[Heir, Reasoner]) -> None:
        super().__init__(first.name, [(Route("*", "*", first.name), first)])
        self._others = others
        self._heirs: dict[str, Reasoner] = {}
        self._given: set[tuple[str, str]] = set()
        self._interventions: Interventions | None = None

    def join(self, interventions: Interventions) -> None:
        """Take the changes of the episode that begins."""
        self._interventions = interventions

    def hand_over(self, agents: Collection[str], heir: Heir) -> None:
        """Let another reasoner answer some respondents from now on; in a playback, which has none, all goes on."""
        if heir in self._others:
            self._heirs.update(dict.fromkeys(agents, self._others[heir]))

    def of(self, question: Question[Answer]) -> Reasoner:
        """Return who answered a respondent's last question of this kind."""
        if (question.respondent, question.kind) in self._given:
            return GivenAnswers()
        return self._asked(question)

    def _asked(self, question: Question[Answer]) -> Reasoner:
        heir = self._heirs.get(question.respondent)
        return super().of(question) if heir is None else find_reasoner(heir, question)

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Ask, and replace the answer where it is changed."""
        place = (question.respondent, question.kind)
        if not tries:
            self._given.discard(place)
        change = None if tries else self._change(place)
        if change is None:
            return await self._asked(question).ask(question, tries)
        try:  # the question is asked all the same: whoever answers the next one counts it
            call = (await self._asked(question).ask(question, tries)).call
        except BadAnswer as bad:
            call = bad.rejected.call
        self._given.add(place)
        return Reply(_given_answer(question, change), call)

    def _change(self, place: tuple[str, str]) -> Mapping[str, Any] | None:
        if self._interventions is None:
            return None
        number = self._interventions.count("question", *place)
        for change in self._interventions.due():
            wanted = change.answer
            if wanted is not None and (wanted.agent, wanted.question, wanted.number) == (*place, number):
                self._interventions.done(change)
                return wanted.answer
        return None


def _given_answer(question: Question[Answer], values: Mapping[str, Any]) -> Answer:
    """Return an answer as the question takes it.

    Raises:
        ChangeRefused: It does not.
    """
    try:
        answer: Answer = question.answer.model_validate(values)  # type: ignore[assignment]
        complaint = question.check(answer)
    except ValidationError as error:
        complaint = methods.option_error(f"an answer to {question.kind}", question.answer, error)
    if complaint is not None:
        raise ChangeRefused(f"the changed answer of {question.respondent} to {question.kind} cannot be: {complaint}")
    return answer


class ForkedMethod(Method):
    """Passes everything on to a method; some plans are replaced, and from some step on others play some agents.

    An agent that is handed over is interrupted as soon as it can be: its new method decides for it at once. What the
    new method leaves open, it waits.

    Args:
        inner: The method that plays until then.
        others: The methods that take over, by the label in the change.
        interventions: What is changed.
        reasoner: Who answers, for agents that are handed to another one.
        world: Where they play.
    """

    def __init__(
        self,
        inner: Method,
        others: Mapping[str, Method],
        interventions: Interventions,
        reasoner: ForkedReasoner,
        world: World,
    ) -> None:
        self.name = inner.name  # type: ignore[misc]  # the log names the method that plays
        self.requires = inner.requires  # type: ignore[misc]  # it gets the entities that the method needs
        self._inner = in_neighbourhoods(inner)
        self._others = {label: in_neighbourhoods(method) for label, method in others.items()}
        self._interventions, self._reasoner, self._world = interventions, reasoner, world
        self._watched = 0
        self._players: dict[AgentId, Method] = {}
        self._team: SharedTeam | None = None  # until an agent is handed over, the method sees the whole context
        self._arriving: set[AgentId] = set()
        self._goals: dict[AgentId, str] = {}

    async def begin(self, briefing: Briefing) -> None:
        """Start the methods: those that take over know what can be known before the first step."""
        self._players = dict.fromkeys(briefing.agents, self._inner)
        await self._inner.begin(briefing)
        for label, method in self._others.items():
            named = {
                agent for hand in self._interventions.fork.hand_overs if hand.method == label for agent in hand.agents
            }
            agents = tuple(agent for agent in briefing.agents if agent in named)
            entities = entities_for(method, self._world)
            await method.begin(dataclasses.replace(briefing, agents=agents, entities=entities))

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Begin a step: hand over whoever is to be, and interrupt them."""
        self._interventions.enter(self._watched)
        self._watched += 1
        self._follow(context.news)
        for change in self._interventions.due():
            if (hand := change.hand_over) is not None:
                self._interventions.done(change)
                if hand.reasoner is not None:
                    self._reasoner.hand_over(hand.agents, Heir(hand.reasoner, hand.seed))
                if hand.method is not None:
                    self._hand_over(hand.agents, hand.method, context)
        if self._team is None:
            return self._inner.watch(context)
        self._arriving &= set(context.views)
        return [*self._arriving, *(agent for agent in self._team.watch(context) if agent not in self._arriving)]

    def _follow(self, news: Sequence[Event]) -> None:
        """Take note of what agents are committed to."""
        for event in news:
            if isinstance(event, Commit):
                self._goals[event.agent] = event.goal
            elif isinstance(event, Release):
                self._goals.pop(event.agent, None)

    def _hand_over(self, agents: Collection[AgentId], label: str, context: DecisionContext) -> None:
        self._players.update(dict.fromkeys(agents, self._others[label]))
        self._arriving.update(agents)
        for agent in agents:
            if (goal := self._goals.pop(agent, None)) is not None:
                context.note(Release(agent=agent, goal=goal, cause="reassigned"))
        groups: dict[int, TeamShare] = {}
        for method in (self._inner, *self._others.values()):
            own = tuple(agent for agent, player in self._players.items() if player is method)
            if own:
                groups[id(method)] = TeamShare(method, own)
        if self._team is None:
            self._team = SharedTeam(())
        self._team.groups = tuple(groups.values())

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let the methods decide, and replace the plans that are changed."""
        if self._team is None:
            decisions = dict(await self._inner.decide(context))
        else:
            decisions = await self._team.decide(context)
            for agent in self._arriving.intersection(context.free):
                self._arriving.discard(agent)
                if not isinstance(decisions.get(agent), Choice):  # what ran is over
                    decisions[agent] = Choice(Plan((WAIT,)), cause="handed over")
        for change in self._interventions.due():
            if change.plan is not None and isinstance(was := decisions.get(change.plan.agent), Choice):
                self._interventions.done(change)
                decisions[change.plan.agent] = dataclasses.replace(
                    was, plan=self._plan(change.plan, context), parsed=True
                )
        return decisions

    def _plan(self, change: PlanChange, context: DecisionContext) -> Plan:
        """Return a changed plan that the agent can carry out, or try to.

        Raises:
            ChangeRefused: It is not.
        """
        plan, view = read_plan(change, context.views[change.agent].abilities), context.views[change.agent]
        known = [goal.id for goal in (*view.goals, *self._world.goals())]
        if plan.goal is not None and plan.goal not in known:
            raise ChangeRefused(
                f"the changed plan of {change.agent} is for '{plan.goal}', which is no goal here; goals are: "
                f"{', '.join(dict.fromkeys(known))}"
            )
        return plan


def read_plan(change: PlanChange, abilities: Sequence[ActionSchema]) -> Plan:
    """Return a changed plan as it is written.

    Raises:
        ChangeRefused: It does not parse, or no such agent can do it.
    """
    try:
        plan = parse_plan(change.plan)
        read_actions(tuple(map(str, plan.actions)), abilities)
        return plan
    except (ParseError, UserError) as error:
        raise ChangeRefused(f"the changed plan of {change.agent} cannot be: {error}") from None
