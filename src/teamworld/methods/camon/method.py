"""The protocol of CAMON (arXiv 2407.00632) as CREW-Wildfire runs it: leadership moves with the conversation.

The first agent leads. The leader alone reads the shared record of what all know, do and did. When it is idle it plans
for itself, and may order others to do something else. Another agent that is idle proposes what it would do; the leader
reviews the proposal, and its word holds. Then the proposer leads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from teamworld.language import Action, AgentId, GoalId, Plan, plain
from teamworld.methods.camon.options import VARIANTS, CamonOptions
from teamworld.methods.camon.questions import LONGEST, LeaderPlan, Order, Propose, ReviewProposal, Word, orders_of
from teamworld.methods.common.answers import meant
from teamworld.methods.common.informed import inform
from teamworld.methods.common.knowledge import AgentKnowledge, Line, list_teammates
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.single_action import (
    aims_of,
    confirm_goal,
    decide_action,
    translate_action,
    write_act,
)
from teamworld.methods.common.team_record import Member, OrderBook, TeamRecord, one_option
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import Act, Briefing, Choice, Decision, DecisionContext, Message, Method
from teamworld.record import QuestionSkipped

#: Messages that a prompt shows: a busy leader hears many.
HEARD = 6
#: Void orders that a leader is told of: an answer may hold any number.
TOLD = 10


@dataclass
class _Turn:
    """One step's decisions as they come about."""

    context: DecisionContext
    scenes: Mapping[AgentId, str]
    decisions: dict[AgentId, Decision] = field(default_factory=dict)

    @property
    def running(self) -> dict[AgentId, Plan]:
        """What agents do, what was decided so far included."""
        plans = dict(self.context.running)
        for agent, decision in self.decisions.items():
            if isinstance(decision, Choice):
                plans[agent] = decision.plan
        return plans

    @property
    def orderable(self) -> tuple[AgentId, ...]:
        """Agents that can be given something to do now: able, and either busy or free."""
        here = {*self.context.running, *self.context.free}
        return tuple(agent for agent, view in self.context.views.items() if agent in here and view.is_able)


class _Outcome(NamedTuple):
    """What a leader made of a proposal."""

    leader: AgentId
    changed: Action | None
    """What the proposer does instead; None: the leader accepted."""

    def words(self, reader: AgentId) -> str:
        """Return it as an agent reads it."""
        if self.changed is None:
            return "accepted"
        return f"changed by {'you' if self.leader == reader else self.leader} to {plain(self.changed)}"


class Camon(Method):
    """Moving leadership: the leader knows what all know, and whoever has just proposed is the next leader."""

    name = "camon"
    summary = "CAMON: a moving leader reviews proposals and may order others to do something else"
    options = CamonOptions
    _options: CamonOptions
    questions = (LeaderPlan, Propose, ReviewProposal, Perceive, Translate)
    variants = VARIANTS

    async def begin(self, briefing: Briefing) -> None:
        """The first agent leads."""
        self._spec, self._domain, self._agents = briefing.spec, briefing.domain, briefing.agents
        self.leader = briefing.agents[0]
        self._aims: dict[AgentId, GoalId | None] = {}
        self._ignored: defaultdict[AgentId, list[str]] = defaultdict(list)
        self._said: defaultdict[AgentId, list[Line]] = defaultdict(list)
        self._reviews: dict[tuple[AgentId, int, str], _Outcome] = {}
        self._latest: defaultdict[AgentId, int] = defaultdict(lambda: -1)
        self._orders = OrderBook(self._options.window)

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Where all perceive at every step, so do busy agents; what they do runs on."""
        self._listen(context)
        return tuple(context.running) if self._options.perceive == "all" else ()

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let the idle agents settle in turn what they do: each may be ordered something before its turn comes."""
        idle = tuple(agent for agent in context.free if agent not in context.running)
        scenes = await describe_views(context, self._options.perceive, idle, self._domain, self._spec)
        turn = _Turn(context, scenes)
        for agent in idle:
            if agent in turn.decisions:
                continue
            self._succeed(context)
            if agent == self.leader:
                await self._lead(turn, agent)
            elif (only := one_option(self._know(turn, agent))) is not None:
                context.note(QuestionSkipped(agent=agent, purpose=Propose.kind, cause="one option"))
                await self._settle(turn, agent, agent, only, None, "one option")
            else:
                await self._propose(turn, agent)
                self.leader = agent
        self._listen(context)  # what was said to those who decided before stands in no inbox after this step
        self._aims |= aims_of(turn.decisions)
        return turn.decisions

    def _succeed(self, context: DecisionContext) -> None:
        """Where the leader is gone, or cannot act, the first agent that can leads."""
        able = [agent for agent in self._agents if agent in context.views and context.views[agent].is_able]
        if self.leader not in able:
            self.leader = able[0]

    # ---- what is said

    def _listen(self, context: DecisionContext) -> None:
        """Keep what reached each agent."""
        for agent in context.views:
            new = [message for message in context.inbox(agent) if message.id > self._latest[agent]]
            if new:
                self._latest[agent] = new[-1].id
                self._keep(agent, new)

    def _keep(self, agent: AgentId, messages: Sequence[Message]) -> None:
        lines = [Line(msg.t, msg.sender, msg.recipients, msg.text) for msg in messages]
        self._said[agent] = [*self._said[agent], *lines][-HEARD:]

    def _tell(
        self, context: DecisionContext, sender: AgentId, act: Act, text: str, goal: GoalId | None, to: AgentId
    ) -> None:
        """Say something to one agent; the sender remembers what it said."""
        message = Message(sender, act, text, goal, recipients=(to,), t=context.t)
        context.post(message)
        self._keep(sender, [message])

    # ---- turns

    async def _lead(self, turn: _Turn, leader: AgentId) -> None:
        views = dict(turn.context.views)
        me = inform(self._know(turn, leader), views)
        question = LeaderPlan(leader, views, me, self._record(turn), tuple(self._ignored[leader]), self._options.orders)
        answer = await turn.context.ask(question)
        await self._settle(turn, leader, leader, write_act(answer.action, me), answer.goal, "leads")
        await self._order(turn, leader, orders_of(answer))

    async def _propose(self, turn: _Turn, agent: AgentId) -> None:
        context, leader = turn.context, self.leader
        self._listen(context)
        me, views = self._know(turn, agent), {agent: context.views[agent]}
        proposal = await context.ask(Propose(agent, views, me, leader, self._options.review))
        goal = confirm_goal(proposal.goal, [context.views[agent]])
        action = write_act(proposal.action, me)
        begins = f"I {'propose' if self._options.review else 'do'} {action}"[:LONGEST]
        text = f"{begins}. {meant(proposal.message)}".rstrip()
        before = self._know(turn, leader)  # the proposal stands in its review, and later in what was said
        self._tell(context, agent, "propose", text, goal, leader)
        if not self._options.review:
            await self._settle(turn, agent, agent, proposal.action, goal, "proposed")
            return
        known = (before, self._record(turn), tuple(self._ignored[leader]), self._options.orders)
        proposer, written = inform(me, dict(context.views)), proposal.model_copy(update={"action": action})
        review = await context.ask(ReviewProposal(leader, dict(context.views), *known, proposer, written))
        self._listen(context)
        self._reviewed(turn, leader, agent, review)
        if review.decision == "ACCEPT":
            await self._settle(turn, agent, agent, proposal.action, proposal.goal, "accepted", leader)
        else:
            await self._settle(turn, leader, agent, write_act(review.action, proposer), review.goal, "rejected")
        instead = None if review.decision == "ACCEPT" else turn.running[agent].actions[0]
        self._reviews[agent, context.t, text] = _Outcome(leader, instead)
        await self._order(turn, leader, orders_of(review), agent)

    def _reviewed(self, turn: _Turn, leader: AgentId, agent: AgentId, review: Word) -> None:
        """Say the leader's word where there is one to say."""
        if (text := meant(review.message)) != "":
            act: Act = "accept" if review.decision == "ACCEPT" else "reject"
            self._tell(turn.context, leader, act, text, confirm_goal(review.goal, turn.context.views.values()), agent)

    async def _order(
        self, turn: _Turn, leader: AgentId, orders: Sequence[Order], proposer: AgentId | None = None
    ) -> None:
        """Carry out the orders that can be; the leader is told of the others when it is next asked."""
        ignored, ordered = dict[str, None](), set[AgentId]()
        for order in orders if self._options.orders else ():
            why = "more than one order, the first counts" if order.agent in ordered else None
            why = why or self._void(turn, leader, order, proposer)
            view = turn.context.views.get(order.agent)
            action = None
            if why is None and view is not None:
                me = self._know(turn, order.agent)
                action = await translate_action(turn.context, me, order.action, self._options.translate, listed=False)
                why = None if action is not None and view.check(action).ok else "it cannot do that now"
            if why is not None or view is None or action is None:
                ignored[f"{order.agent}: {why}"] = None
                continue
            ordered.add(order.agent)
            goal = confirm_goal(order.goal, turn.context.views.values())
            if order.agent != leader:
                self._tell(turn.context, leader, "request", meant(order.message), goal, order.agent)
            await self._settle(turn, leader, order.agent, action, goal, "ordered")
        self._ignored[leader] = list(ignored)[:TOLD]

    def _void(self, turn: _Turn, leader: AgentId, order: Order, proposer: AgentId | None) -> str | None:
        """Return why an order is passed over, or None."""
        if order.agent not in turn.context.views:
            return "there is no such agent"
        if order.agent == (proposer or leader):
            return "its action stands beside the orders"
        if not meant(order.action) or not meant(order.message):
            return "an order has an action and a message"
        return None if order.agent in self._orderable(turn) else "it takes no orders now"

    async def _settle(
        self, turn: _Turn, by: AgentId, agent: AgentId, what: str | Action, goal: GoalId | None, cause: str,
        accepted: AgentId | None = None,
    ) -> None:  # fmt: skip
        """Decide what an agent does.

        Args:
            turn: The decisions of this step.
            by: Who chose it.
            agent: Who does it.
            what: An action, or words for one, read by the agent's list.
            goal: What it is for.
            cause: How it came about.
            accepted: Who accepted it as the agent's own proposal.
        """
        context, me = turn.context, self._know(turn, agent)
        action = (
            what if isinstance(what, Action) else await translate_action(context, me, what, self._options.translate)
        )
        goal = confirm_goal(goal, context.views.values())
        running = context.running.get(agent)
        decision = decide_action(action, context.views[agent], running, goal, cause)
        turn.decisions[agent] = decision
        plan = decision.plan if isinstance(decision, Choice) else running
        if plan is not None:
            self._orders.give(context.views[agent], by, str(plan.actions[0]), plan.goal, running, accepted)

    # ---- what is known

    def _know(self, turn: _Turn, agent: AgentId) -> AgentKnowledge:
        """Return what an agent knows itself."""
        view, running = turn.context.views[agent], turn.running.get(agent)
        return AgentKnowledge(
            view,
            self._domain,
            self._spec,
            list_teammates(self._spec, agent, turn.context.team),
            running=running,
            commitment=confirm_goal(self._aims.get(agent), [view]) if running is None else running.goal,
            said=tuple(self._with_outcome(line, agent) for line in self._said[agent]),
            scene=turn.scenes.get(agent),
        )

    def _with_outcome(self, line: Line, reader: AgentId) -> Line:
        outcome = self._reviews.get((line.sender, line.step, line.text))
        return line if outcome is None else line._replace(became=outcome.words(reader))

    def _record(self, turn: _Turn) -> TeamRecord:
        """Return the shared record."""
        views = dict(turn.context.views)
        known = [inform(self._know(turn, agent), views) for agent in views]
        able = self._orderable(turn)
        return TeamRecord(tuple(Member(me, me.agent in able, self._orders.of(me)) for me in known))

    def _orderable(self, turn: _Turn) -> tuple[AgentId, ...]:
        """Return who can be given something to do now: not a leader that has just decided for itself."""
        return tuple(agent for agent in turn.orderable if agent != self.leader or agent not in turn.decisions)
