"""The protocol of CaPo (Cooperative Plan Optimization, arXiv 2411.04679): plan together, then act, and plan anew.

Before anything is done, and whenever there is new progress, the agents stop and discuss. A designer writes the
meta-plan, three steps with what each agent does; evaluators say what they think of it by what they know themselves;
until all are satisfied or the rounds are up the designer writes it anew. Then each agent chooses its next action by the
meta-plan, alone, whenever its last one has ended. A discussion does not stop what an agent is at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from teamworld.language import AgentId, Plan
from teamworld.methods.capo.following import commitments
from teamworld.methods.capo.memory import PLAN, PROGRESS, REFUSAL, PlannerMemory
from teamworld.methods.capo.meta_plan import tidy_plan, write_plan
from teamworld.methods.capo.options import VARIANTS, CapoOptions
from teamworld.methods.capo.progress import find_untold, tell_progress
from teamworld.methods.capo.questions import (
    AGREED,
    Agenda,
    DesignPlan,
    InDiscussion,
    JudgePlan,
    ParsePlan,
    PresentPlan,
    RefinePlan,
)
from teamworld.methods.capo.triggers import DONE, Reason, TriggerWatch
from teamworld.methods.common.answers import meant
from teamworld.methods.common.commitments import commit_to, release_if_over
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.knowledge import list_teammates
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.single_action import confirm_goal, decide_action, translate_action
from teamworld.methods.common.told_facts import STATE_OF_AGENTS
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import (
    CARRY,
    WAIT,
    Act,
    Briefing,
    Choice,
    Decision,
    DecisionContext,
    Meeting,
    Message,
    Method,
)
from teamworld.planning.candidates import complete_action
from teamworld.planning.goals import open_goals
from teamworld.planning.vocabulary import Vocabulary
from teamworld.record import QuestionSkipped
from teamworld.worlds.contract import Option

Discussed = TypeVar("Discussed", bound=InDiscussion[Any])


class Talk(NamedTuple):
    """A round of a discussion that is held."""

    context: DecisionContext
    meeting: Meeting
    scenes: Mapping[AgentId, str]
    """Views in the words of reasoners, of agents that have them."""
    agenda: Agenda


class Capo(Method):
    """Cooperative plan optimization: a meta-plan that is discussed, followed, and discussed again."""

    name = "capo"
    summary = "CaPo: a designer's meta-plan that the others judge in rounds, made anew on new progress"
    options = CapoOptions
    _options: CapoOptions
    questions = (DesignPlan, RefinePlan, PresentPlan, JudgePlan, ParsePlan, Perceive, Translate)
    variants = VARIANTS
    talk = MappingProxyType({"ticks": 1, "paid_by": "speaker"})
    """As CoELA's messages, which CaPo keeps: one takes the speaker a step."""

    @classmethod
    def native_talk(cls, options: BaseModel) -> Mapping[str, Any]:
        """Messages cost nothing where discussions are free."""
        return {} if isinstance(options, CapoOptions) and options.free_discussion else cls.talk

    async def begin(self, briefing: Briefing) -> None:
        """Nobody has said anything, and there is no meta-plan."""
        self._spec, self._domain = briefing.spec, briefing.domain
        self._memory = {
            agent: PlannerMemory(
                agent, briefing.spec.agents, briefing.rng("capo", "vain", agent), domain=briefing.domain
            )
            for agent in briefing.agents
        }
        self._watches = {agent: TriggerWatch(agent, self._options) for agent in briefing.agents}
        self._reasons: dict[str, Reason] = {}
        self._called: set[AgentId] = set()
        self._last: int | None = None

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """See what is new; call the agents to a discussion for which there is a reason."""
        if self._last is not None and self._options.adaptation:
            self._notice(context)
        if not self._is_due(context):
            return ()
        if self._options.joins == "action":  # the others join when their actions have ended
            self._called |= {reason.agent for reason in self._reasons.values()}
            return tuple(agent for agent in context.running if agent in self._called)
        return tuple(context.running)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Discuss once all who are called are there, else wait for them; where there is no reason to, act."""
        for agent in context.free:
            self._memory[agent].overhear(context.inbox(agent))
        is_due, members = self._is_due(context), self._members(context)
        if is_due:
            for agent in context.free:
                self._halt(context, agent)
            if not set(members) <= set(context.free):
                return dict.fromkeys(context.free, WAIT)
        scenes = await describe_views(context, self._options.perceive, context.free, self._domain, self._spec)
        if is_due:
            await self._discuss(context, members, scenes)
        return await context.together({agent: self._resume(context, agent, scenes) for agent in context.free})

    # ---- when a discussion is held

    def _notice(self, context: DecisionContext) -> None:
        """Gather what the agents find new; what several find before the discussion is one reason, that of the first."""
        for agent, view in context.views.items():
            if view.is_able:
                busy = agent in context.running
                for reason in self._watches[agent].notice(view, self._memory[agent].reported, busy):
                    if reason.about == DONE or reason.about not in self._reasons:
                        self._reasons[reason.about] = reason

    def _is_due(self, context: DecisionContext) -> bool:
        """Return whether there is a reason to discuss: that nothing was discussed yet, or new progress."""
        if self._last is None:
            return True
        return bool(self._reasons) and context.t - self._last >= self._options.gap

    def _members(self, context: DecisionContext) -> tuple[AgentId, ...]:
        """Return who discusses, the designer first: all who can act."""
        able = [agent for agent, view in context.views.items() if view.is_able]
        finders = [reason.agent for reason in self._reasons.values() if reason.agent in able]
        designer = finders[0] if finders and self._options.designer == "trigger" else able[0]
        return (designer, *(agent for agent in able if agent != designer))

    # ---- the discussion

    async def _discuss(
        self, context: DecisionContext, members: Sequence[AgentId], scenes: Mapping[AgentId, str]
    ) -> None:
        """Tell the progress; then design and judge the meta-plan until all are satisfied, or the rounds are up."""
        meeting, reasons = context.open_meeting(members), tuple(reason.text for reason in self._reasons.values())
        judged = self._options.discussion and len(members) > 1
        rounds = self._options.rounds if judged else 0
        design = DesignPlan if self._last is None else RefinePlan
        if self._last is not None:
            self._tell_progress(context, meeting)
        for number in range(1, max(1, rounds) + 1):
            parts = tuple(members), reasons, number, rounds
            agenda = Agenda(
                *parts,
                is_free=self._options.free_discussion,
                resumes=not self._options.reparse,
                delivers=self._delivers,
            )
            talk = Talk(context, meeting, scenes, agenda)
            is_new = await self._design(talk, design)
            if not judged or not is_new or not await self._judge(talk):
                break
            design = RefinePlan
        self._conclude(context, members)

    def _tell_progress(self, context: DecisionContext, meeting: Meeting) -> None:
        """Let each tell the others how far it is; nobody where all know what one of them sees."""
        if self._spec.memory == "team" or len(meeting.members) < 2:
            return
        for agent in meeting.members:
            me = self._knowledge(context, agent)
            meeting.say(Message(agent, PROGRESS, tell_progress(me), facts=find_untold(me)))
            self._attend(meeting)

    async def _design(self, talk: Talk, design: type[DesignPlan]) -> bool:
        """Let the designer write the meta-plan and send it; return whether there is one."""
        designer, *evaluators = talk.meeting.members
        if evaluators and not self._may_speak(talk.context, designer, design.kind):
            return False
        answer = await talk.context.ask(self._question(design, talk, designer))
        plan = tidy_plan(answer.items, talk.meeting.members)
        self._memory[designer].hold(plan, designer, talk.context.t)
        if plan and evaluators:
            talk.meeting.say(Message(designer, PLAN, f"My meta-plan. {write_plan(plan)}"))
            self._attend(talk.meeting)
        return bool(plan)

    async def _judge(self, talk: Talk) -> bool:
        """Let the designer present the meta-plan and each evaluator judge it; return whether it heard a refusal."""
        context, meeting = talk.context, talk.meeting
        designer, *evaluators = meeting.members
        if self._may_speak(context, designer, PresentPlan.kind):
            remark = await context.ask(self._question(PresentPlan, talk, designer))
            if text := meant(remark.message):
                meeting.say(Message(designer, "request", text))
        heard = len(meeting.heard(designer))
        for agent in evaluators:
            self._attend(meeting)
            if not any(message.act == PLAN for message in meeting.heard(agent)):
                context.note(QuestionSkipped(agent=agent, purpose=JudgePlan.kind, cause="no meta-plan reached it"))
            elif self._may_speak(context, agent, JudgePlan.kind):
                question = replace(self._question(JudgePlan, talk, agent), refusals=self._options.refusals)
                opinion = await context.ask(question)
                act: Act = REFUSAL if question.is_satisfied(opinion) is False else "accept"
                meeting.say(Message(agent, act, question.text_of(opinion)))
        self._attend(meeting)
        return any(message.act == REFUSAL for message in meeting.heard(designer)[heard:])

    def _conclude(self, context: DecisionContext, members: Sequence[AgentId]) -> None:
        """End a discussion: what led to it is discussed, and each is committed to what it is to do first."""
        self._last = context.t
        self._reasons.clear()
        self._called.clear()
        for agent in members:
            me, memory = self._knowledge(context, agent), self._memory[agent]
            self._watches[agent].settle(me.view, me.all_goals)
            memory.commitment = commit_to(context, agent, memory.commitment, me.commitment)

    def _attend(self, meeting: Meeting) -> None:
        for agent in meeting.members:
            self._memory[agent].attend(meeting.heard(agent))

    @staticmethod
    def _may_speak(context: DecisionContext, agent: AgentId, purpose: str) -> bool:
        """Return whether an agent has a message left; that it is not asked where it has none goes on record."""
        if context.may_speak(agent):
            return True
        context.note(QuestionSkipped(agent=agent, purpose=purpose, cause="no message left"))
        return False

    def _question(self, kind: type[Discussed], talk: Talk, agent: AgentId) -> Discussed:
        memory, others = self._memory[agent], (name for name in talk.agenda.members if name != agent)
        reported = tuple(memory.progress[name] for name in others if name in memory.progress)
        me = self._knowledge(talk.context, agent, talk.scenes.get(agent))
        return kind(agent, {agent: me.view}, me, memory.plan, memory.by, memory.since, talk.agenda, reported)

    # ---- acting

    def _halt(self, context: DecisionContext, agent: AgentId) -> None:
        """Remember what is left of what an agent is at when it stops for a discussion."""
        memory, rest = self._memory[agent], context.views[agent].remainder
        if agent in context.running and memory.remainder is None:
            memory.remainder = rest

    async def _resume(self, context: DecisionContext, agent: AgentId, scenes: Mapping[AgentId, str]) -> Decision:
        """Let an agent go on with what is left of an action that a discussion stopped, else choose the next one."""
        memory, running, view = self._memory[agent], context.running.get(agent), context.views[agent]
        rest, memory.remainder = memory.remainder, None
        if running is None or self._options.reparse:
            return await self._act(context, agent, scenes)
        if rest is None or complete_action(rest, view) == complete_action(running.actions[0], view):
            return CARRY
        return Choice(Plan((complete_action(rest, view),), running.goal), cause="resumed")

    async def _act(self, context: DecisionContext, agent: AgentId, scenes: Mapping[AgentId, str]) -> Decision:
        """Let an agent choose its next action by the meta-plan; what is no choice it is not asked for."""
        view, memory = context.views[agent], self._memory[agent]
        memory.look(view)
        me = self._knowledge(context, agent, scenes.get(agent))
        goal, option = None, self._unasked(context, me)
        if option is None:
            shown = {agent: view}, me, memory.plan, memory.by, memory.since
            answer = await context.ask(ParsePlan(agent, *shown, delivers=self._delivers))
            action = await translate_action(context, me, answer.action, self._options.translate)
            goal = answer.goal
        else:
            action, goal = complete_action(option.action, view), option.goal
        cause = "chosen" if option is None else "unasked"
        memory.goal = confirm_goal(goal, [view])
        memory.commitment = release_if_over(context, agent, memory.commitment, memory.goal)
        return decide_action(action, view, context.running.get(agent), memory.goal, cause)

    def _unasked(self, context: DecisionContext, me: DialogueKnowledge) -> Option | None:
        """Return what an agent does without being asked: full hands deliver, and who has one option takes it."""
        only = me.options[0] if len(me.options) == 1 else None
        full = self._delivers and me.is_full
        nearest = (
            min(filter(me.serves, me.deliveries()), key=lambda option: option.steps, default=None) if full else None
        )
        for option, cause in ((nearest, "full hands"), (only, "one option")):
            if option is not None:
                context.note(QuestionSkipped(agent=me.agent, purpose=ParsePlan.kind, cause=cause))
                return option
        return None

    @property
    def _delivers(self) -> bool:
        return self._options.full_hands == "deliver" and bool(Vocabulary(self._domain.relations).held)

    # ---- what an agent knows

    def _knowledge(self, context: DecisionContext, agent: AgentId, scene: str | None = None) -> DialogueKnowledge:
        """Return what an agent knows, with what it was told, and what the meta-plan has for each."""
        view, memory, options = context.views[agent], self._memory[agent], self._options
        telling = [line for line in memory.talk if line.text != AGREED]
        shown = telling[-options.messages_shown :] if options.messages_shown else telling
        said = [line for line in memory.talk if line.step == context.t or line in shown]
        draft = DialogueKnowledge(
            view=view,
            domain=self._domain,
            spec=self._spec,
            running=context.running.get(agent),
            said=tuple(said),
            scene=scene,
            earlier=tuple(line for line in memory.chat if line not in said),
            lost={goal.id: memory.lost[goal.id] for goal in open_goals(view.goals) if memory.lost[goal.id]},
            vain={goal.id: memory.vain[goal.id] for goal in open_goals(view.goals) if memory.vain[goal.id]},
            gone=memory.gone,
            kept=options.actions_kept,
            told_roles=STATE_OF_AGENTS,
        )
        at = commitments(memory.plan, draft)
        team = list_teammates(self._spec, agent, context.team, commitments=at)
        return replace(draft, team=team, commitment=at.get(agent))
