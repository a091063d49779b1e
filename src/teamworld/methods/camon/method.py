"""The protocol of CAMON (arXiv 2407.00632) as CREW-Wildfire runs it: leadership moves with the conversation.

The first agent leads. The leader alone reads the shared record of what all perceive, do and did. When it is idle it
plans for itself, and may order others to do something else. Another agent that is idle proposes what it would do; the
leader reviews the proposal, and its word holds. Then the proposer leads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from teamworld.language import AgentId, GoalId, Plan
from teamworld.methods.camon.options import VARIANTS, CamonOptions
from teamworld.methods.camon.questions import LONGEST, LeaderPlan, LeaderRecord, Order, Propose, Review, ReviewProposal
from teamworld.methods.common.perception import Perceive, describe_views
from teamworld.methods.common.prompt_context import AgentRecord, team_by_kind
from teamworld.methods.common.single_action import aims_of, confirm_goal, decide_action, translate_action
from teamworld.methods.common.translation import Translate
from teamworld.methods.contract import Act, Briefing, Choice, Decision, DecisionContext, Message, Method

#: Messages that a prompt shows: a busy leader hears many.
HEARD = 10
#: Void orders that a leader is told of: an answer may hold any number.
TOLD = 10


@dataclass
class _Turn:
    """One timestep's decisions as they come about."""

    context: DecisionContext
    idle: tuple[AgentId, ...]
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
        self._heard: defaultdict[AgentId, list[Message]] = defaultdict(list)
        self._latest: defaultdict[AgentId, int] = defaultdict(lambda: -1)

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Where all perceive at every step, so do busy agents; what they do runs on."""
        self._listen(context)
        return tuple(context.running) if self._options.perceive == "all" else ()

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let the idle agents settle in turn what they do: each may be ordered something before its turn comes."""
        idle = tuple(agent for agent in context.free if agent not in context.running)
        turn = _Turn(context, idle, await describe_views(context, self._options.perceive, idle))
        for agent in idle:
            if agent in turn.decisions:
                continue
            self._succeed(context)
            if agent == self.leader:
                await self._lead(turn, agent)
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

    def _listen(self, context: DecisionContext) -> None:
        """Keep what reached each agent, until it is next asked what it does itself."""
        for agent in context.views:
            new = [message for message in context.inbox(agent) if message.id > self._latest[agent]]
            if new:
                self._latest[agent] = new[-1].id
                self._heard[agent] = [*self._heard[agent], *new][-HEARD:]

    async def _lead(self, turn: _Turn, leader: AgentId) -> None:
        question = LeaderPlan(leader, dict(turn.context.views), self._record(turn, leader))
        self._heard[leader] = []
        answer = await turn.context.ask(question)
        await self._settle(turn, leader, answer.action, answer.goal, "leads")
        await self._order(turn, leader, answer.orders)

    async def _propose(self, turn: _Turn, agent: AgentId) -> None:
        context, leader = turn.context, self.leader
        self._listen(context)
        record = AgentRecord(
            domain=self._domain,
            team=team_by_kind(self._spec, context.views),
            scenes=turn.scenes,
            aim=self._aims.get(agent),
            past=self._options.past,
        )
        views, heard = {agent: context.views[agent]}, tuple(self._heard[agent])
        question = Propose(agent, views, record, leader, heard, self._options.review)
        self._heard[agent] = []
        proposal = await context.ask(question)
        goal = confirm_goal(proposal.goal, [context.views[agent]])
        text = f"I propose {proposal.action}"[:LONGEST] + f". {proposal.reason}".rstrip()
        context.post(Message(agent, "propose", text, goal, recipients=(leader,)))
        if not self._options.review:
            await self._settle(turn, agent, proposal.action, goal, "proposed")
            return
        record_of_team = self._record(turn, leader)
        review = await context.ask(ReviewProposal(leader, dict(context.views), record_of_team, agent, proposal))
        await self._reviewed(turn, leader, agent, review)
        if review.decision == "ACCEPT":
            await self._settle(turn, agent, proposal.action, proposal.goal, "accepted")
        else:
            await self._settle(turn, agent, review.action, review.goal, "rejected")
        await self._order(turn, leader, review.orders, agent)

    async def _reviewed(self, turn: _Turn, leader: AgentId, agent: AgentId, review: Review) -> None:
        """Say the leader's word where there is one to say."""
        if review.message.strip():
            act: Act = "accept" if review.decision == "ACCEPT" else "reject"
            goal = confirm_goal(review.goal, turn.context.views.values())
            turn.context.post(Message(leader, act, review.message, goal, recipients=(agent,)))

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
                action = await translate_action(
                    turn.context, order.agent, order.action, self._domain, self._options.translate
                )
                why = None if action is not None and view.check(action).ok else "it cannot do that now"
            if why is not None or view is None:
                ignored[f"{order.agent}: {why}"] = None
                continue
            ordered.add(order.agent)
            goal = confirm_goal(order.goal, turn.context.views.values())
            turn.context.post(Message(leader, "request", order.message, goal, recipients=(order.agent,)))
            running = turn.context.running.get(order.agent)
            turn.decisions[order.agent] = decide_action(action, view, running, goal, "ordered")
        self._ignored[leader] = list(ignored)[:TOLD]

    def _void(self, turn: _Turn, leader: AgentId, order: Order, proposer: AgentId | None) -> str | None:
        """Return why an order is passed over, or None."""
        if order.agent not in turn.context.views:
            return "there is no such agent"
        if order.agent in (leader, proposer):
            return "its action stands beside the orders"
        if not order.action.strip() or not order.message.strip():
            return "an order has an action and a message"
        return None if order.agent in turn.orderable else "it takes no orders now"

    async def _settle(self, turn: _Turn, agent: AgentId, text: str, goal: GoalId | None, cause: str) -> None:
        action = await translate_action(turn.context, agent, text, self._domain, self._options.translate)
        goal = confirm_goal(goal, turn.context.views.values())
        turn.decisions[agent] = decide_action(action, turn.context.views[agent], None, goal, cause)

    def _record(self, turn: _Turn, leader: AgentId) -> LeaderRecord:
        """Return what every question to the leader shows it beside the views."""
        self._listen(turn.context)
        return LeaderRecord(
            domain=self._domain,
            team=team_by_kind(self._spec, turn.context.views),
            scenes=turn.scenes,
            running=turn.running,
            aims=dict(self._aims),
            members=turn.orderable,
            past=self._options.past,
            heard=tuple(self._heard[leader]),
            ignored=tuple(self._ignored[leader]),
            orders=self._options.orders,
        )
