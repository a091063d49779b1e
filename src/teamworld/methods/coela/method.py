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
    Proposal,
    ProposeMessage,
    Tell,
    Think,
    read_facts,
    served,
)
from teamworld.methods.coela.situation import Situation
from teamworld.methods.common.commitments import commit_to, release_if_over
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
from teamworld.worlds.contract import WAIT as NO_ACTION


class AgentTurn(NamedTuple):
    """What an agent has decided: to send a message, to act, or, with neither, to do nothing."""

    message: Message | None = None
    action: Action | None = None
    goal: GoalId | None = None
    remark: str = ""
    """What the action history says of it."""
    parsed: bool = True
    """False where no plan could be read and this one was drawn."""


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
                agent, self._options, briefing.rng("coela", "vain", agent), briefing.rng("coela", "drawn", agent)
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
        perception = await describe_views(context, self._options.perceive, agents)
        decisions: dict[AgentId, Decision] = dict.fromkeys(context.free, CARRY)
        if self._options.visibility == "simultaneous":
            situations = {agent: self._situation(context, agent) for agent in agents}
            turns = await context.together(
                {agent: self._turn(context, situations[agent], perception.get(agent)) for agent in agents}
            )
            for agent, turn in turns.items():
                decisions[agent] = self._execute(context, agent, turn)
        else:
            for agent in agents:
                turn = await self._turn(context, self._situation(context, agent), perception.get(agent))
                decisions[agent] = self._execute(context, agent, turn)
        for agent in context.free:  # what was said after its turn is read when it decides next
            self._memory[agent].hear(context.inbox(agent))
        return decisions

    async def _turn(self, context: DecisionContext, situation: Situation, perception: str | None) -> AgentTurn:
        """Let one agent propose a message and choose between sending it and an action."""
        unasked = self._unasked(situation)
        if unasked is not None:
            return unasked
        plans = self._options.listed == "plans"
        shown = (situation.me, {situation.me: situation.view}, situation, self._options, perception)
        proposal: Proposal | None = None
        if situation.messages:
            proposal = await context.ask((Tell if plans else ProposeMessage)(*shown))
        thought: str | None = None
        if self._options.thinking == "before":
            thought = (await context.ask(Think(*shown, proposal))).reasoning
        if plans:
            pick = PickPlan(*shown, proposal, thought)
            return self._picked(situation, pick, pick.read(await context.ask(pick)))
        choice = ChooseAction(*shown, proposal, thought)
        chosen = await context.ask(choice)
        if choice.sends(chosen):
            return _sending(situation, proposal)
        action = None if self._options.translate == "mind" else choice.read(chosen)
        if action is None:
            views = {situation.me: situation.view}
            translate = Translate(situation.me, views, self._domain, chosen.action, choice.numbered)
            action = translate.read(await context.ask(translate))
        if action is None:
            return AgentTurn(remark="nothing: no action could be read")
        return AgentTurn(action=action, goal=choice.goal_of(chosen, action))

    def _unasked(self, situation: Situation) -> AgentTurn | None:
        """Return what an agent does without being asked: full hands deliver, and who has no plan waits."""
        options = self._options
        if options.full_hands == "deliver" and situation.full:
            deliveries = situation.deliveries(options.omit)
            nearest = min(deliveries, key=lambda option: option.steps, default=None)
            if nearest is not None:
                return AgentTurn(action=nearest.action, goal=served(situation, nearest.action))
            if options.blind_delivery and (search := find_room_search(situation)) is not None:
                return AgentTurn(action=search)
        return AgentTurn() if options.listed == "plans" and not list_plans(situation, options, message=False) else None

    def _picked(self, situation: Situation, pick: PickPlan, plan: Action | None) -> AgentTurn:
        """Return what a plan comes to; where none could be read one is drawn, or nothing is done."""
        parsed = plan is not None
        if plan is None:
            if self._options.unread == "ask":
                return AgentTurn(remark="nothing: no plan could be read")
            others = [other for other in pick.numbered if other != SEND]  # what nobody chose to say is not said
            plan = others[int(self._memory[situation.me].plan_rng.integers(len(others)))]
        if plan == SEND:
            return _sending(situation, pick.proposal)
        if plan == BLIND:
            return AgentTurn(action=find_room_search(situation), parsed=parsed)
        return AgentTurn(action=plan, goal=served(situation, plan), parsed=parsed)

    def _execute(self, context: DecisionContext, agent: AgentId, turn: AgentTurn) -> Decision:
        """Send or act. Who sends waits for the step, which the run's rule may charge as talk: never both."""
        memory = self._memory[agent]
        memory.spoke = turn.message is not None
        if turn.message is not None:
            context.post(turn.message)
            memory.say(turn.message, context.t)
            memory.commitment = commit_to(context, agent, memory.commitment, turn.message.goal)
            return WAIT
        if turn.remark:
            memory.note_action(context.t, turn.remark)
        memory.goal = turn.goal
        memory.commitment = release_if_over(context, agent, memory.commitment, turn.goal)
        if turn.action is None or turn.action == NO_ACTION:
            return WAIT
        return Choice(Plan((turn.action,), turn.goal), cause="free", parsed=turn.parsed)

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

    def _situation(self, context: DecisionContext, agent: AgentId) -> Situation:
        view, memory = context.views[agent], self._memory[agent]
        team = {teammate: self._spec.kinds[teammate] for teammate in context.team}
        memory.hear(context.inbox(agent))
        memory.look(view, team)
        return Situation(
            view=view,
            domain=self._domain,
            task=self._spec.task,
            team=team,
            shared=self._spec.memory == "team",
            chat=tuple(memory.chat),
            acts=memory.lines,
            witnessed=memory.witnessed,
            vain=memory.vain,
            messages=self._options.messages and not (self._options.pause and memory.spoke),
        )


def _sending(situation: Situation, proposal: Proposal | None) -> AgentTurn:
    """Return the turn of an agent that sends its message, if there is one."""
    if proposal is None or not proposal.message:
        return AgentTurn(remark="nothing: there was no message to send")
    act: Act = "commit" if proposal.goal else "inform"
    return AgentTurn(Message(situation.me, act, proposal.message, proposal.goal, read_facts(proposal, situation)))
