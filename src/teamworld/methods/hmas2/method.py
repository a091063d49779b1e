"""The protocol of HMAS-2 (arXiv 2309.15943) as CREW-Wildfire runs it: central plan, local feedback, at every step.

A planner without a body gives every agent one action. Each agent accepts its action or says what is wrong with it; on
any objection the planner makes a new plan for all, with everything that was said. The last of so many plans is carried
out in any case. Nothing runs for longer than a step unless the planner says the same again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence

from teamworld.language import AgentId, GoalId
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.prompt_context import team_by_kind
from teamworld.methods.common.single_action import aims_of, confirm_goal, decide_action, translate_action
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import Briefing, Decision, DecisionContext, Method
from teamworld.methods.hmas2.options import VARIANTS, Hmas2Options
from teamworld.methods.hmas2.questions import PLANNER, Judge, Pair, Past, PlanAll, Round, StepRecord, TeamPlan

#: Entries of a plan that come to nothing of which the planner is told: an answer may hold any number.
TOLD = 10


class Hmas2(Method):
    """A central planner for all, with feedback of each."""

    name = "hmas2"
    summary = "HMAS-2: a central planner gives all their actions each step and heeds what they object"
    options = Hmas2Options
    _options: Hmas2Options
    questions = (PlanAll, Judge, Perceive, Translate)
    respondents = (PLANNER,)
    variants = VARIANTS

    async def begin(self, briefing: Briefing) -> None:
        """Nothing has happened yet."""
        self._spec, self._domain = briefing.spec, briefing.domain
        self._aims: dict[AgentId, GoalId | None] = {}
        self._ignored: tuple[str, ...] = ()
        self._steps: deque[tuple[int, tuple[Pair, ...]]] = deque(maxlen=self._options.window)

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Everybody is planned for at every step."""
        return tuple(context.running)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Plan, hear what the agents think of it, plan again; carry out what all accept, or the last plan."""
        record = self._record(context, await describe_views(context, self._options.perceive, context.free))
        views = dict(context.views)
        rounds: list[Round] = []
        while True:
            asked_for = PlanAll(PLANNER, views, record, tuple(rounds), self._ignored)
            plan = self._usable(await context.ask(asked_for), context.free)
            if not self._options.feedback:
                break
            asked = {agent: context.ask(Judge(agent, views, record, plan)) for agent in context.free}
            opinions = await context.together(asked)
            rounds.append(Round(plan, opinions))
            if len(rounds) == self._options.rounds or all(opinion.accept for opinion in opinions.values()):
                break
        return await self._carried_out(context, plan)

    def _usable(self, plan: TeamPlan, members: Sequence[AgentId]) -> TeamPlan:
        """Return the first action for each agent that takes one; the planner is told of the rest when next asked."""
        named = Counter(entry.agent for entry in plan.actions)
        unknown = [f"{name}: no such agent takes an action now" for name in named if name not in members]
        twice = [f"{agent}: more than one action, the first counts" for agent in members if named[agent] > 1]
        self._ignored = (*twice, *unknown)[:TOLD]
        first = (plan.of(agent) for agent in members)
        return TeamPlan(actions=tuple(entry for entry in first if entry is not None))

    async def _carried_out(self, context: DecisionContext, plan: TeamPlan) -> Mapping[AgentId, Decision]:
        """Return the decisions that a plan comes to; who is left out of it does nothing for a step."""
        done = await context.together({agent: self._decision(context, agent, plan) for agent in context.free})
        pairs = []
        for agent in context.views:
            entry = plan.of(agent)
            pairs.append(Pair(agent, _state(context, agent), "nothing" if entry is None else entry.action))
        self._steps.append((context.t, tuple(pairs)))
        self._aims |= aims_of(done)
        return done

    async def _decision(self, context: DecisionContext, agent: AgentId, plan: TeamPlan) -> Decision:
        entry, view, running = plan.of(agent), context.views[agent], context.running.get(agent)
        if entry is None:
            return decide_action(None, view, running, cause="left out")
        action = await translate_action(context, agent, entry.action, self._domain, self._options.translate)
        return decide_action(action, view, running, confirm_goal(entry.goal, context.views.values()), "planned")

    def _record(self, context: DecisionContext, scenes: Mapping[AgentId, str]) -> StepRecord:
        """Return what every question of a step shows, to the planner and to each agent."""
        return StepRecord(
            domain=self._domain,
            team=team_by_kind(self._spec, context.views),
            scenes=scenes,
            running=dict(context.running),
            aims=dict(self._aims),
            members=tuple(context.free),
            past=0,
            task=self._spec.task,
            steps=tuple(Past(context.t - t, pairs) for t, pairs in self._steps),
        )


def _state(context: DecisionContext, agent: AgentId) -> str:
    """Return in words what an agent perceives of itself."""
    return ", ".join(str(fact) for fact in context.views[agent].facts if fact.subject == agent)
