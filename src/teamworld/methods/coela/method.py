"""COELA as the benchmark CREW-Wildfire runs it: a message is proposed, then sent or not; sending takes the step.

There is no leader. In each timestep every agent that is free, in order, proposes a message to the group, then chooses
between sending it and an action. Whoever sends does nothing in this step; whoever acts is not asked again until its
action has ended. See the page on COELA for what differs from the sources, and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from teamworld.language import Action, AgentId, GoalId, Plan
from teamworld.methods.coela.lettered_plans import BLIND, SEND, find_room_search, list_plans
from teamworld.methods.coela.memory import AgentMemory
from teamworld.methods.coela.options import VARIANTS, CoelaOptions
from teamworld.methods.coela.questions import (
    ChooseAction,
    PickPlan,
    ProposeMessage,
    Tell,
    Think,
    read_facts,
    served,
)
from teamworld.methods.coela.situation import Situation, assess
from teamworld.methods.common.answers import meant
from teamworld.methods.common.commitments import commit_to, release_if_over
from teamworld.methods.common.knowledge import list_teammates
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import (
    CARRY,
    WAIT,
    Act,
    Briefing,
    Choice,
    Decision,
    DecisionContext,
    Message,
    Method,
)
from teamworld.planning.goals import open_goals
from teamworld.planning.vocabulary import Vocabulary
from teamworld.record import QuestionSkipped
from teamworld.worlds.contract import WAIT as NO_ACTION


class AgentTurn(NamedTuple):
    """What an agent has decided: to send a message, to act, or, with neither, to do nothing."""

    message: Message | None = None
    action: Action | None = None
    goal: GoalId | None = None
    remark: str = ""
    """Why it came to nothing, as the agent is told next time."""
    cause: str = "free"
    """Why the agent does it."""
    parsed: bool = True
    """False where no plan could be read and this one was drawn."""
    news: tuple[object, ...] | None = None
    """What it knew when it wrote the message that it sends."""


class Coela(Method):
    """Cooperative embodied agents that weigh telling against acting."""

    name = "coela"
    summary = "COELA: each agent alone proposes a message, then sends it, which costs the step, or acts"
    options = CoelaOptions
    _options: CoelaOptions
    questions = (
        *(ProposeMessage, ChooseAction, Tell, Think, PickPlan),
        *(Perceive, Translate),
    )
    variants = VARIANTS
    talk = MappingProxyType({"ticks": 1, "paid_by": "speaker"})
    """The published rule of messages: one takes the speaker its step, and is read by those who decide after it."""

    async def begin(self, briefing: Briefing) -> None:
        """Start with empty histories."""
        self._spec, self._domain, self._rng = briefing.spec, briefing.domain, briefing.rng
        self._memory = {
            agent: AgentMemory(
                agent,
                briefing.spec.agents,
                briefing.rng("coela", "vain", agent),
                self._options.messages_kept,
                plan_rng=briefing.rng("coela", "drawn", agent),
            )
            for agent in briefing.agents
        }

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Name busy agents that decide anew, and with perception of all everybody, who is asked for nothing else."""
        if self._options.perceive == "all":
            return tuple(context.running)
        return tuple(agent for agent in context.running if self._blocked(context, agent))

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """One timestep: perceive; then each free agent proposes a message, chooses, and sends or acts."""
        agents = self._order(context)
        perception = await describe_views(context, self._options.perceive, agents, self._domain, self._spec)
        decisions: dict[AgentId, Decision] = dict.fromkeys(context.free, CARRY)
        if self._options.visibility == "simultaneous":
            situations = {agent: self._situation(context, agent, perception.get(agent)) for agent in agents}
            turns = await context.together({agent: self._turn(context, situations[agent]) for agent in agents})
            for agent, turn in turns.items():
                decisions[agent] = self._execute(context, agent, turn)
        else:
            for agent in agents:
                turn = await self._turn(context, self._situation(context, agent, perception.get(agent)))
                decisions[agent] = self._execute(context, agent, turn)
        for agent in context.free:  # what was said after its turn is read when it decides next
            self._memory[agent].hear(context.inbox(agent))
        return decisions

    async def _turn(self, context: DecisionContext, me: Situation) -> AgentTurn:
        """Let one agent propose a message and choose between sending it and an action."""
        unasked = self._unasked(context, me)
        if unasked is not None:
            return unasked
        plans, views = self._options.listed == "plans", {me.agent: me.view}
        message = await self._propose(context, me)
        if plans and message is None and list_plans(me, self._options, message=False) == (NO_ACTION,):
            return AgentTurn()
        thought: str | None = None
        if self._options.thinking == "before":
            thought = (await context.ask(Think(me.agent, views, me, self._options, message))).reasoning
        if plans:
            pick = PickPlan(me.agent, views, me, self._options, message, thought)
            return self._picked(me, pick, pick.read(await context.ask(pick)))
        choice = ChooseAction(me.agent, views, me, self._options, message, thought)
        chosen = await context.ask(choice)
        if choice.sends(chosen):
            return _sending(message, me)
        action = None if self._options.translate == "mind" else choice.read(chosen)
        if action is None:
            translate = Translate(me.agent, views, me, chosen.action, choice.numbered)
            action = translate.read(await context.ask(translate))
        if action is None:
            return AgentTurn(remark=choice.refuse(chosen) or "no action could be read in your answer")
        return AgentTurn(action=action, goal=choice.goal_of(chosen, action))

    async def _propose(self, context: DecisionContext, me: Situation) -> Message | None:
        """Return the message that an agent could send; None where it has nothing to tell, or nobody would hear it."""
        question = Tell if self._options.listed == "plans" else ProposeMessage
        if not me.can_tell:
            return None
        deaf = "" if me.team else "alone"
        if deaf or not context.may_speak(me.agent):
            self._skip(context, me.agent, question.kind, deaf or "no message left")
            return None
        memory = self._memory[me.agent]
        if self._options.propose == "news" and memory.proposed == me.news:
            self._skip(context, me.agent, question.kind, "nothing new")
            return None
        memory.proposed = me.news
        proposal = await context.ask(question(me.agent, {me.agent: me.view}, me, self._options))
        if not meant(proposal.message):
            return None
        act: Act = "commit" if proposal.goal else "inform"
        memory.proposed = None  # asked again where it keeps the message back
        facts = read_facts(proposal, self._domain, self._spec.agents)
        return Message(me.agent, act, proposal.message, proposal.goal, facts)

    def _unasked(self, context: DecisionContext, me: Situation) -> AgentTurn | None:
        """Return what an agent does without being asked: full hands deliver, and who can only wait waits."""
        options, choose = self._options, PickPlan if self._options.listed == "plans" else ChooseAction
        if options.full_hands == "deliver" and me.is_full:
            nearest = min(filter(me.serves, me.deliveries()), key=lambda option: option.steps, default=None)
            action = find_room_search(me) if nearest is None and options.blind_delivery else None
            action = action if nearest is None else nearest.action
            if action is not None:
                self._skip(context, me.agent, choose.kind, "full hands")
                return AgentTurn(action=action, goal=served(me, action), cause="full hands")
        only = list_plans(me, options, message=False) == (NO_ACTION,)
        if only and (choose is PickPlan or not any(schema.verb != NO_ACTION.verb for schema in me.abilities)):
            self._skip(context, me.agent, choose.kind, "one option")
            return AgentTurn()
        return None

    @staticmethod
    def _skip(context: DecisionContext, agent: AgentId, purpose: str, cause: str) -> None:
        context.note(QuestionSkipped(agent=agent, purpose=purpose, cause=cause))

    def _picked(self, me: Situation, pick: PickPlan, plan: Action | None) -> AgentTurn:
        """Return what a plan comes to; where none could be read one is drawn, or nothing is done."""
        parsed = plan is not None
        if plan is None:
            if self._options.unread == "ask":
                return AgentTurn(remark="no plan could be read in your answer")
            others = [other for other in pick.numbered if other not in (SEND, NO_ACTION)]  # nobody chose to say it
            rng = self._memory[me.agent].plan_rng
            plan = others[int(rng.integers(len(others)))] if others else NO_ACTION
        if plan == SEND:
            return _sending(pick.message, me)
        if plan == BLIND:
            return AgentTurn(action=find_room_search(me), parsed=parsed)
        return AgentTurn(action=plan, goal=served(me, plan), parsed=parsed)

    def _execute(self, context: DecisionContext, agent: AgentId, turn: AgentTurn) -> Decision:
        """Send or act. Who sends waits for the step, which the run's rule may charge as talk: never both."""
        memory = self._memory[agent]
        memory.spoke = turn.message is not None
        if turn.message is not None:
            memory.proposed = turn.news
            context.post(turn.message)
            memory.say(turn.message, context.t)
            memory.remark = ""
            memory.commitment = commit_to(context, agent, memory.commitment, turn.message.goal)
            return WAIT
        memory.remark = f"At step {context.t} you did nothing: {turn.remark}." if turn.remark else ""
        memory.goal = turn.goal
        memory.commitment = release_if_over(context, agent, memory.commitment, turn.goal)
        if turn.action is None or turn.action == NO_ACTION:
            return WAIT
        return Choice(Plan((turn.action,), turn.goal), cause=turn.cause, parsed=turn.parsed)

    # ---- what an agent goes by

    def _order(self, context: DecisionContext) -> Sequence[AgentId]:
        """Return the agents that decide now, in their order: those that are free, and busy ones that are stopped."""
        agents = [agent for agent in context.free if agent not in context.running or self._blocked(context, agent)]
        if self._options.order == "shuffle":
            order = self._rng("coela", "order", context.t).permutation(len(agents))
            return [agents[index] for index in order]
        return agents

    def _blocked(self, context: DecisionContext, agent: AgentId) -> bool:
        """Return whether a busy agent is to decide anew, for what it does has become impossible as far as it knows."""
        plan = context.running[agent]
        return self._options.interrupt and not context.views[agent].check(plan.actions[0]).ok

    def _situation(self, context: DecisionContext, agent: AgentId, scene: str | None) -> Situation:
        view, memory, options = context.views[agent], self._memory[agent], self._options
        memory.hear(context.inbox(agent))
        memory.look(view)
        memory.witness(view, context.team, Vocabulary(self._domain.relations).rooms)
        draft = Situation(
            view=view,
            domain=self._domain,
            spec=self._spec,
            team=list_teammates(self._spec, agent, context.team),
            running=context.running.get(agent),
            said=tuple(memory.chat),
            scene=scene,
            lost={goal.id: memory.lost[goal.id] for goal in open_goals(view.goals) if memory.lost[goal.id]},
            vain={goal.id: memory.vain[goal.id] for goal in open_goals(view.goals) if memory.vain[goal.id]},
            gone=memory.gone,
            remark=memory.remark,
            kept=options.actions_kept,
            omit=options.omit,
            can_tell=options.messages and not (options.pause and memory.spoke),
        )
        return assess(draft, options.messages_shown, memory.witnessed)


def _sending(message: Message | None, me: Situation) -> AgentTurn:
    """Return the turn of an agent that sends its message, if there is one."""
    if message is None:
        return AgentTurn(remark="there was no message to send")
    return AgentTurn(message, news=None if message.goal is None else me.news)  # it may yet say what it takes
