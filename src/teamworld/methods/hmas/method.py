"""What the four frameworks of Chen et al. (arXiv 2309.15943) have in common: at every step one plan for all.

An action for each agent is settled at every step; nothing runs for longer than a step unless the same is settled again
(the single-step layer of CREW-Wildfire). How it is settled, and who is heard, is what sets the frameworks apart.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from teamworld.language import AgentId, GoalId, Plan
from teamworld.methods.common.answers import meant
from teamworld.methods.common.informed import inform
from teamworld.methods.common.knowledge import AgentKnowledge, list_teammates
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.single_action import aims_of, confirm_goal, decide_action, read_act, translate_action
from teamworld.methods.common.team_record import Member, OrderBook, TeamRecord, one_option
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method
from teamworld.methods.hmas.options import CmasOptions
from teamworld.methods.hmas.plans import Assigned, TeamPlan, assign
from teamworld.methods.hmas.questions import PLANNER, PlanAll
from teamworld.planning.candidates import CandidateStep
from teamworld.reasoning.contract import RespondentId
from teamworld.record import QuestionSkipped

#: What all four may ask beside their own questions.
SHARED = (Perceive, Translate)
#: Entries of a plan that come to nothing of which the planner is told: an answer may hold any number.
TOLD = 10


class Framework(Method):
    """Base of the four: it makes the record, and carries out what was settled."""

    options = CmasOptions
    _options: CmasOptions
    by: ClassVar[RespondentId] = PLANNER
    """Whose orders an agent's actions are."""

    async def begin(self, briefing: Briefing) -> None:
        """Nothing has happened yet."""
        self._spec, self._domain = briefing.spec, briefing.domain
        self._aims: dict[AgentId, GoalId | None] = {}
        self._ignored: tuple[str, ...] = ()
        self._reasons = ""
        self._orders = OrderBook(self._options.window)

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """All are planned for at every step."""
        return tuple(context.running)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Settle a plan for all and carry it out; where each has one option, nobody is asked."""
        scenes = await describe_views(context, self._options.perceive, context.free, self._domain, self._spec)
        record = self._record(context, scenes)
        forced = _forced_plan(record)
        if forced is None:
            return await self._carry_out(context, await self._settle(context, record), "planned")
        for question in self.questions[: -len(SHARED)]:
            for agent in self.respondents if issubclass(question, PlanAll) else record.open:
                context.note(QuestionSkipped(agent=agent, purpose=question.kind, cause="one option each"))
        return await self._carry_out(context, forced, "one option")

    @abstractmethod
    async def _settle(self, context: DecisionContext, record: TeamRecord) -> TeamPlan:
        """Return the plan of this step."""

    async def _ask_planner(self, context: DecisionContext, question: PlanAll) -> TeamPlan:
        """Return the planner's first action for each agent that takes one; it is told of the rest when next asked."""
        earlier = "" if question.rounds else self._reasons
        plan = await context.ask(replace(question, ignored=self._ignored, earlier=earlier))
        self._reasons = plan.reasoning
        members = question.record.open
        named = Counter(entry.agent for entry in plan.actions)
        unknown = [f"{name}: no such agent takes an action now" for name in named if name not in members]
        twice = [f"{agent}: more than one action, the first counts" for agent in members if named[agent] > 1]
        self._ignored = (*twice, *unknown)[:TOLD]
        first = (plan.of(agent) for agent in members)
        meaning = tuple(entry for entry in first if entry is not None and meant(entry.action))
        return TeamPlan(reasoning=plan.reasoning, actions=meaning)

    async def _carry_out(self, context: DecisionContext, plan: TeamPlan, cause: str) -> Mapping[AgentId, Decision]:
        """Return the decisions that a plan comes to; who is left out of it does nothing for a step."""
        decisions = await context.together(
            {agent: self._decision(context, agent, plan, cause) for agent in context.free}
        )
        for agent, decision in decisions.items():
            running = context.running.get(agent)
            done = decision.plan if isinstance(decision, Choice) else running
            if done is not None:
                self._orders.give(context.views[agent], self.by, str(done.actions[0]), done.goal, running)
        self._aims |= aims_of(decisions)
        return decisions

    async def _decision(self, context: DecisionContext, agent: AgentId, plan: TeamPlan, cause: str) -> Decision:
        entry, view, running = plan.of(agent), context.views[agent], context.running.get(agent)
        if entry is None:
            return decide_action(None, view, running, cause="left out")
        me = self._know(context, agent)
        action = await translate_action(context, me, entry.action, self._options.translate, listed=False)
        return decide_action(action, view, running, confirm_goal(entry.goal, context.views.values()), cause)

    def _know(self, context: DecisionContext, agent: AgentId, scene: str | None = None) -> AgentKnowledge:
        """Return what an agent knows; nobody tells it what the others do but the record or what is said."""
        view = context.views[agent]
        running: Plan | None = context.running.get(agent)
        return AgentKnowledge(
            view,
            self._domain,
            self._spec,
            list_teammates(self._spec, agent, context.team),
            running=running,
            commitment=confirm_goal(self._aims.get(agent), [view]) if running is None else None,
            scene=scene,
        )

    def _record(self, context: DecisionContext, scenes: Mapping[AgentId, str]) -> TeamRecord:
        """Return what all know, do and did."""
        views = dict(context.views)
        known = [inform(self._know(context, agent, scenes.get(agent)), views) for agent in views]
        return TeamRecord(tuple(Member(me, me.agent in context.free, self._orders.of(me)) for me in known))


def _forced_plan(record: TeamRecord) -> TeamPlan | None:
    """Return the plan where each agent that can be given an action has one option; None where somebody has more."""
    only = {agent: one_option(member.me) for agent in record.open if (member := record.of(agent)) is not None}
    if not only or any(action is None for action in only.values()):
        return None
    steps = {agent: CandidateStep(action, None) for agent, action in only.items() if action is not None}
    return TeamPlan(actions=assign(steps))


def is_forced(entry: Assigned | None, me: AgentKnowledge) -> bool:
    """Return whether a plan gives an agent the only thing that makes sense for it: it would be vain to ask."""
    only = one_option(me)
    return entry is not None and only is not None and read_act(entry.action, me, listed=False) == only


def as_plan(entries: Mapping[AgentId, Assigned], members: Sequence[AgentId]) -> TeamPlan:
    """Return the plan of entries, in the order of the agents."""
    return TeamPlan(actions=tuple(entries[agent] for agent in members if agent in entries))
