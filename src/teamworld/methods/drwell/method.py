"""The protocol of DR. WELL (arXiv 2511.04646): negotiate tasks, plan alone, learn together.

Idle agents meet in a meeting. Each in turn proposes a task, then each in turn commits to one; a
validator makes the commitments an allocation that can work. Each agent drafts a plan alone,
revises it with the plan library, and carries it out. Outcomes go to the symbolic world model.
Options leave parts out, or put others in their place: see ``options``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from teamworld.language import AgentId, GoalId
from teamworld.memory.contract import Communication, MemoryDelta
from teamworld.memory.episode_learning import Tracker, delta
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.common.commitments import release_cause
from teamworld.methods.common.plan_answers import PlanAnswer, make_plan, normalize_texts, standby_plan
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Meeting, Message, Method
from teamworld.methods.drwell.library import page
from teamworld.methods.drwell.options import COMMUNICATION, VARIANTS, DrWellOptions
from teamworld.methods.drwell.questions import Chat, Choose, CommitTo, Draft, NegotiationRecord, Propose, Revise
from teamworld.methods.drwell.reflections import reflections
from teamworld.planning.allocation import validate_commitments
from teamworld.planning.goals import workable_goals
from teamworld.record import Commit, Event, PlanEnd, Release
from teamworld.worlds.contract import Goal, View

Origin: TypeAlias = Literal["fresh", "revised", "reused"]


class _Planned(NamedTuple):
    """What an agent's planning came to."""

    choice: Choice | None
    """None where it has no task, or no sound plan was found for it."""
    reflection: str = ""


def _known(view: View, goal: GoalId | None) -> Goal | None:
    """Return a goal as an agent knows it."""
    return next((known for known in view.goals if known.id == goal), None)


class DrWell(Method):
    """Dynamic reasoning and learning with a symbolic world model."""

    name = "drwell"
    summary = "DR. WELL: two-round negotiation, plans revised from a symbolic world model that learns"
    options = DrWellOptions
    _options: DrWellOptions
    questions = (Propose, CommitTo, Chat, Choose, Draft, Revise)
    learns = True
    variants = VARIANTS

    async def begin(self, briefing: Briefing) -> None:
        """Start with what the memory holds."""
        self._domain = briefing.domain
        self._memory = briefing.memory.ranked(self._options.ranking)
        unread = WorldModel()
        self._guidebook: WorldModel = self._memory if self._options.guided else unread
        self._library: WorldModel = self._memory if self._options.looks_up else unread
        self._writes = self._options.update == "live" and self._options.learns_in(briefing.episode)
        self._convention = int(briefing.rng("drwell", "convention").integers(2**31))
        self._committed: dict[AgentId, GoalId] = {}
        self._standby: set[AgentId] = set()
        self._ended: dict[AgentId, str] = {}
        self._tracker = Tracker(
            self._options.task_identity, briefing.episode, self._communication, measures=briefing.domain.measures
        )

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Take new outcomes into the world model; call waiting agents to a meeting that opens (re-sync)."""
        for event in context.news:
            if isinstance(event, PlanEnd):
                self._ended[event.agent] = event.cause
            instance = self._tracker.see(event)
            if instance is not None and self._writes:
                self._memory.add(instance)
        return tuple(agent for agent in context.running if agent in self._standby) if context.free else ()

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Settle among the free agents who does what, then let each plan alone."""
        members = tuple(context.free)
        # The world model stands still while they settle: each line is looked up once, not once for every agent.
        self._guide = cache(partial(self._guidebook.guide, tick=context.t))
        self._best = cache(self._guidebook.best)
        self._standby -= set(members)
        self._ended.update(dict.fromkeys((agent for agent in members if agent in context.running), "resync"))
        known = {goal.id: goal for agent in members for goal in workable_goals(context.views[agent])}
        goals = [known[goal] for goal in sorted(known)]
        living = {agent: goal for agent, goal in self._committed.items() if agent in context.views}
        working = {agent: goal for agent, goal in living.items() if agent not in members}
        # Whoever knows of no task for itself has nothing to say: it stands by, and may look around.
        speakers = tuple(agent for agent in members if workable_goals(context.views[agent]))
        aims = dict.fromkeys(members) | await self._settled(context, speakers, working, goals)
        self._bind(context, aims)
        return await self._plans(context, aims, working, known)

    # ---- negotiation

    async def _settled(
        self,
        context: DecisionContext,
        speakers: tuple[AgentId, ...],
        working: Mapping[AgentId, GoalId],
        goals: Sequence[Goal],
    ) -> dict[AgentId, GoalId | None]:
        """Return what each of the free agents binds itself to."""
        if self._options.negotiation == "none":
            return await self._choices(context, speakers, None, working)
        meeting = context.open_meeting(speakers)
        if self._options.negotiation == "chat":
            await self._chat(context, meeting, working)
            return await self._choices(context, speakers, meeting, working)
        await self._proposals(context, meeting, working)
        votes = await self._commitments(context, meeting, working)
        knows = {agent: {goal.id for goal in workable_goals(context.views[agent])} for agent in votes}
        return validate_commitments(votes, working, goals, knows).goals

    async def _proposals(self, context: DecisionContext, meeting: Meeting, working: Mapping[AgentId, GoalId]) -> None:
        for agent in meeting.members:
            proposal = await context.ask(Propose(agent, *self._shown(context, meeting, agent, working)))
            meeting.say(Message(agent, "propose", f"I propose {proposal.goal}. {proposal.reason}", proposal.goal))

    async def _commitments(
        self, context: DecisionContext, meeting: Meeting, working: Mapping[AgentId, GoalId]
    ) -> dict[AgentId, GoalId | None]:
        votes: dict[AgentId, GoalId | None] = {}
        for agent in meeting.members:
            answer = await context.ask(CommitTo(agent, *self._shown(context, meeting, agent, working)))
            votes[agent] = answer.goal
            if answer.goal is None:
                meeting.say(Message(agent, "other", f"I wait. {answer.reason}"))
            else:
                meeting.say(Message(agent, "commit", f"I commit to {answer.goal}. {answer.reason}", answer.goal))
        return votes

    async def _chat(self, context: DecisionContext, meeting: Meeting, working: Mapping[AgentId, GoalId]) -> None:
        turns = self._options.chat_turns
        for turn in range(1, turns + 1):
            for agent in meeting.members:
                shown = self._shown(context, meeting, agent, working)
                remark = await context.ask(Chat(agent, *shown, turn, turns))
                if remark.text:
                    meeting.say(Message(agent, "inform" if remark.goal else "other", remark.text, remark.goal))

    async def _choices(
        self,
        context: DecisionContext,
        agents: Sequence[AgentId],
        meeting: Meeting | None,
        working: Mapping[AgentId, GoalId],
    ) -> dict[AgentId, GoalId | None]:
        """Let all choose alone at the same time; nothing is checked."""
        answers = await context.together(
            {agent: context.ask(Choose(agent, *self._shown(context, meeting, agent, working))) for agent in agents}
        )
        return {agent: answer.goal for agent, answer in answers.items()}

    def _shown(
        self, context: DecisionContext, meeting: Meeting | None, agent: AgentId, working: Mapping[AgentId, GoalId]
    ) -> tuple[Mapping[AgentId, View], NegotiationRecord]:
        """Return what every question of the negotiation shows its agent."""
        view = context.views[agent]
        goals, best = workable_goals(view), self._best()
        record = NegotiationRecord(
            members=tuple(meeting.members) if meeting is not None else (),
            team=len(context.views),
            working=working,
            guide={goal.id: self._guide(self._task(goal)) for goal in goals},
            guided=self._options.guided,
            best=next((goal.id for goal in goals if self._task(goal) == best), None),
            heard=tuple(meeting.heard(agent)) if meeting is not None else (),
        )
        return {agent: view}, record

    def _bind(self, context: DecisionContext, goals: Mapping[AgentId, GoalId | None]) -> None:
        """Release what is over, commit to what is new, and put both on record."""
        for agent, goal in goals.items():
            before = self._committed.get(agent)
            if before is not None and before != goal:
                cause = release_cause(context.views[agent], before)
                context.note(Release(agent=agent, goal=before, cause=cause))
                del self._committed[agent]
            if goal is not None and before != goal:
                context.note(Commit(agent=agent, goal=goal, cause=self._communication))
                self._committed[agent] = goal

    # ---- planning

    async def _plans(
        self,
        context: DecisionContext,
        goals: Mapping[AgentId, GoalId | None],
        working: Mapping[AgentId, GoalId],
        known: Mapping[GoalId, Goal],
    ) -> dict[AgentId, Decision]:
        """Let each member plan alone; who is at work on a joint task that members join begins anew with them."""
        joint = {goal for goal in goals.values() if goal is not None and known[goal].quorum > 1}
        partners = {
            teammate: goal for teammate, goal in working.items() if goal in joint and teammate in context.running
        }
        self._ended.update(dict.fromkeys(partners, "resync"))
        committed = dict(self._committed)
        plans = await context.together(
            {
                agent: self._plan(context, agent, _known(context.views[agent], goal), committed)
                for agent, goal in {**goals, **partners}.items()
            }
        )
        decisions: dict[AgentId, Decision] = {}
        for agent, (plan, reflection) in plans.items():
            if reflection and self._options.takes_notes and self._writes:
                self._memory.remember(reflection)
            if plan is not None:
                decisions[agent] = plan
            elif agent in goals:
                if agent in self._committed:  # no plan was found: the task is given back
                    context.note(Release(agent=agent, goal=self._committed.pop(agent), cause="failed"))
                decisions[agent] = self._stand_by(context, agent, parsed=goals[agent] is None)
        return decisions

    async def _plan(
        self, context: DecisionContext, agent: AgentId, goal: Goal | None, committed: Mapping[AgentId, GoalId]
    ) -> _Planned:
        """Let an agent draft a plan for its task, and revise it with what the team has learned."""
        if goal is None:
            return _Planned(None)
        view = context.views[agent]
        views = {agent: view}
        draft = await context.ask(Draft(agent, views, self._domain, goal, committed))
        cause = self._ended.get(agent, "start")
        if not self._options.revision:
            return _Planned(self._choice(draft, view, goal, "fresh", cause))
        drafted = normalize_texts(draft.actions)
        library = self._library.library(self._task(goal))
        joint = self._convention if goal.quorum > 1 else None
        # Attempts tell one try from the next only where they are counted while the episode runs.
        turn = library.attempts if self._writes and self._options.looks_up else context.t
        offered = page(library, goal, view, self._domain, self._options.explore, joint, turn)
        shown = library if self._options.looks_up else None
        notes = self._memory.notes if self._options.takes_notes else None
        revision = await context.ask(
            Revise(agent, views, self._domain, goal, committed, drafted, shown, offered, notes)
        )
        revised = normalize_texts(revision.actions)
        known = any(entry.actions == revised for entry in offered.entries)
        origin: Origin = "fresh" if revised == drafted else "reused" if known else "revised"
        return _Planned(self._choice(revision, view, goal, origin, cause), revision.reflection)

    def _choice(self, answer: PlanAnswer, view: View, goal: Goal, origin: Origin, cause: str) -> Choice | None:
        if not answer.actions:
            return None
        return Choice(make_plan(answer, view, goal.id, self._options.on_failure), origin, cause)

    def _stand_by(self, context: DecisionContext, agent: AgentId, *, parsed: bool = True) -> Decision:
        self._standby.add(agent)
        return Choice(standby_plan(self._domain, context.views[agent]), cause="nothing to do", parsed=parsed)

    def _task(self, goal: Goal) -> str:
        return goal.id if self._options.task_identity == "id" else goal.label

    @property
    def _communication(self) -> Communication:
        return COMMUNICATION[self._options.negotiation]

    def learns_in(self, episode: int) -> bool:
        """Every episode, unless the world model is frozen or there is none."""
        return self._options.learns_in(episode)

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        """Return the instances, task outcomes and reflections of an episode; None where nothing is learned."""
        learned = delta(log, identity=self._options.task_identity, communication=self._communication)
        if not self._options.learns_in(learned.episode):
            return None
        notes = reflections(log) if self._options.takes_notes else ()
        return msgspec.structs.replace(learned, reflections=notes)
