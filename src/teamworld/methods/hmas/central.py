"""CMAS and HMAS-2: a planner without a body gives every agent one action at every step; in HMAS-2 it hears of each.

In HMAS-2 each agent accepts its action or says what is wrong with it; on any objection the planner makes a new plan for
all, with everything that was said. The last of so many plans is carried out in any case.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from teamworld.language import Action, AgentId, Fact, GoalId
from teamworld.methods.common.informed import alone
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.single_action import read_act
from teamworld.methods.common.team_record import TeamRecord
from teamworld.methods.contract import WAIT, Briefing, Decision, DecisionContext
from teamworld.methods.hmas.method import SHARED, Framework, is_forced
from teamworld.methods.hmas.options import CMAS, HMAS2, CentralOptions, Hmas2Options
from teamworld.methods.hmas.plans import Assigned, TeamPlan
from teamworld.methods.hmas.questions import PLANNER, SHOWN, CmasPlan, Judge, Opinion, PlanAll, Round
from teamworld.record import QuestionSkipped
from teamworld.worlds.contract import Outcome


class Cmas(Framework):
    """A central planner for all; nobody else is asked."""

    name = "cmas"
    summary = "CMAS: a central planner gives all their actions each step, and nobody is heard on it"
    options = CentralOptions
    _options: CentralOptions
    questions = (CmasPlan, *SHARED)
    respondents = (PLANNER,)
    variants = CMAS

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """All are planned for at every step, or those that are busy as far as the tokens of the episode go."""
        if self._options.when == "step":
            return super().watch(context)
        allowance = context.allowance
        return super().watch(context) if allowance is not None and allowance.affords_step(context.t) else ()

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Settle a plan; once the tokens are spent nobody is asked, and who has nothing to do waits."""
        allowance = context.allowance
        if allowance is None or allowance.affords() or self._options.when == "step":
            return await super().decide(context)
        context.note(QuestionSkipped(agent=PLANNER, purpose=CmasPlan.kind, cause="tokens spent"))
        return dict.fromkeys(context.free, WAIT)

    async def _settle(self, context: DecisionContext, record: TeamRecord) -> TeamPlan:
        """Carry out the planner's plan."""
        question = CmasPlan(PLANNER, record.views, record, runs_on=self._options.when == "free")
        return await self._ask_planner(context, question)


class Hmas2(Framework):
    """A central planner for all, with feedback of each."""

    name = "hmas2"
    summary = "HMAS-2: a central planner gives all their actions each step and heeds what they object"
    options = Hmas2Options
    _options: Hmas2Options
    questions = (PlanAll, Judge, *SHARED)
    respondents = (PLANNER,)
    variants = HMAS2

    async def begin(self, briefing: Briefing) -> None:
        """Nobody has accepted anything yet."""
        await super().begin(briefing)
        self._accepted: dict[AgentId, _Grounds] = {}

    async def _settle(self, context: DecisionContext, record: TeamRecord) -> TeamPlan:
        """Plan, hear what the agents think of it, plan again, until all accept or the rounds are up."""
        rounds: list[Round] = []
        most = self._options.rounds if self._options.feedback else 1
        while True:
            plan = await self._ask_planner(context, PlanAll(PLANNER, record.views, record, tuple(rounds), most=most))
            if len(rounds) + 1 == most:
                for agent in record.open if self._options.feedback else ():
                    context.note(QuestionSkipped(agent=agent, purpose=Judge.kind, cause="last round"))
                return plan
            rounds.append(Round(plan, await self._opinions(context, record, plan, rounds)))
            if all(opinion.accept for opinion in rounds[-1].opinions.values()):
                return plan

    async def _opinions(
        self, context: DecisionContext, record: TeamRecord, plan: TeamPlan, rounds: Sequence[Round]
    ) -> dict[AgentId, Opinion]:
        """Ask all what they think of their parts; not who has no other option, or goes on and saw nothing new."""
        known = {member.me.agent: member.me for member in record.members if member.is_open}
        grounds = {agent: _grounds(me, plan) for agent, me in known.items()}
        causes = {agent: self._needless(me, plan, grounds[agent], rounds) for agent, me in known.items()}
        for agent, cause in causes.items():
            if cause:
                context.note(QuestionSkipped(agent=agent, purpose=Judge.kind, cause=cause))
        asked = {agent: self._judge(record, me, plan, rounds) for agent, me in known.items() if not causes[agent]}
        said = await context.together({agent: context.ask(judge) for agent, judge in asked.items()})
        said = {agent: asked[agent].in_writing(opinion) for agent, opinion in said.items()}
        for agent, opinion in said.items():
            self._accepted.pop(agent, None)
            if opinion.accept:
                self._accepted[agent] = grounds[agent]
        return {agent: said.get(agent, Opinion(accept=True)) for agent in known}

    def _needless(self, me: AgentKnowledge, plan: TeamPlan, grounds: _Grounds, rounds: Sequence[Round]) -> str:
        """Return why an agent need not be asked; empty where it is."""
        entry = plan.of(me.agent)
        if is_forced(entry, me):
            return "one option"
        if self._options.asked == "all" or rounds or entry is None or me.doing is None:
            return ""
        goes_on = read_act(entry.action, me, listed=False) == me.doing
        return "goes on, nothing new" if goes_on and grounds.still_hold(self._accepted.get(me.agent)) else ""

    def _judge(self, record: TeamRecord, me: AgentKnowledge, plan: TeamPlan, rounds: Sequence[Round]) -> Judge:
        said = ((past.plan.of(me.agent), past.opinions.get(me.agent)) for past in rounds[-SHOWN:])
        before = tuple((part, opinion) for part, opinion in said if opinion is not None)
        if self._options.sees == "own":
            return Judge(me.agent, {me.agent: me.view}, alone(me), TeamRecord(()), plan, before)
        return Judge(me.agent, record.views, me, record.without(me), plan, before)


class _Grounds(NamedTuple):
    """What an agent accepted its part of a plan on, but for the ways of the team, which are as planned."""

    actions: tuple[Assigned, ...]
    """The whole plan."""
    facts: frozenset[Fact]
    """What it knows of things."""
    options: frozenset[tuple[Action, GoalId | None]]
    """What makes sense for it, near or far."""
    past: tuple[Outcome, ...]

    def still_hold(self, then: _Grounds | None) -> bool:
        """Return whether they are as they were: what it knows, or what it could do instead, is the same."""
        if then is None or (self.actions, self.past) != (then.actions, then.past):
            return False
        return self.facts == then.facts or self.options == then.options


def _grounds(me: AgentKnowledge, plan: TeamPlan) -> _Grounds:
    facts = frozenset(fact for fact in me.view.known if not isinstance(fact.subject, str))
    options = frozenset((option.action, option.goal) for option in me.options)
    return _Grounds(plan.actions, facts, options, tuple(me.past))
