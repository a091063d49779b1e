"""The control that has no team in it: ReAct (arXiv 2210.03629), with Reflexion (arXiv 2303.11366) between episodes.

Each agent thinks and then does one action, whenever its last one has ended, by its own view and its own history of
thoughts, actions and outcomes. Nobody sends a message. With reflections each agent draws a lesson from its last episode
before it begins the next one, and is shown its lessons from then on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from teamworld.language import AgentId, plain
from teamworld.memory.contract import MemoryDelta
from teamworld.methods.common.knowledge import AgentKnowledge, list_teammates
from teamworld.methods.common.single_action import confirm_goal, decide_action, translate_action
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method
from teamworld.methods.react.options import VARIANTS, ReactOptions
from teamworld.methods.react.questions import Reflect, Step, Turn
from teamworld.methods.react.records import last_record, list_lessons, record_episode
from teamworld.record import Event, QuestionSkipped


class React(Method):
    """Each agent alone: a thought, then one action."""

    name = "react"
    summary = "control: each agent alone thinks, then does one action, by its own history; no messages"
    options = ReactOptions
    decides_alone = True
    _options: ReactOptions
    questions = (Step, Reflect, Translate)
    learns = True
    variants = VARIANTS

    async def begin(self, briefing: Briefing) -> None:
        """Nobody has done anything; with reflections, agents remember their last episode and their lessons."""
        self._spec, self._domain = briefing.spec, briefing.domain
        self._turns: defaultdict[AgentId, list[Turn]] = defaultdict(list)
        reports = briefing.memory.reports if self._options.reflections else ()
        self._records = {agent: record for agent in briefing.agents if (record := last_record(reports, agent))}
        self._lessons = {agent: list_lessons(reports, agent) for agent in briefing.agents}

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let every free agent think and act; none waits for another."""
        return await context.together({agent: self._act(context, agent) for agent in context.free})

    async def _act(self, context: DecisionContext, agent: AgentId) -> Decision:
        view, running = context.views[agent], context.running.get(agent)
        me = AgentKnowledge(view, self._domain, self._spec, list_teammates(self._spec, agent, context.team), running)
        if record := self._records.pop(agent, ""):
            earlier = tuple(self._lessons[agent][-self._options.lessons :])
            self._lessons[agent].append((await context.ask(Reflect(agent, {agent: view}, me, record, earlier))).lesson)
        if len(me.options) == 1:
            context.note(QuestionSkipped(agent=agent, purpose=Step.kind, cause="one option"))
            return decide_action(me.options[0].action, view, running, me.options[0].goal, "one option", infer=False)
        lessons = tuple(self._lessons[agent][-self._options.lessons :])
        answer = await context.ask(
            Step(agent, {agent: view}, me, tuple(self._turns[agent][-self._options.history :]), lessons)
        )
        action = await translate_action(context, me, answer.action, "parser")
        decision = decide_action(action, view, running, confirm_goal(answer.goal, [view]), "chosen", infer=False)
        if isinstance(decision, Choice):
            done, goal = decision.plan.actions[0], decision.plan.goal
            self._turns[agent].append(Turn(context.t, answer.reasoning.strip(), plain(done), goal))
        return decision

    def learns_in(self, episode: int) -> bool:
        """With reflections, always."""
        return self._options.reflections

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        """Return what each agent did and what it learned; None without reflections."""
        return record_episode(log) if self._options.reflections else None
