"""The protocol of DR. WELL (arXiv 2511.04646): negotiate tasks, plan alone, learn together.

Idle agents meet in a room. Each in turn proposes a task, then each in turn commits to one; a
validator makes the commitments an allocation that can work. Each agent drafts a plan alone,
revises it with the plan library, and carries it out. Outcomes go to the symbolic world model.
Options leave parts out, or put others in their place: see ``options``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import msgspec
from pydantic import BaseModel

from teamworld.language import AgentId, GoalId
from teamworld.memory.contract import Communication, Memory, MemoryDelta
from teamworld.memory.experience import Experience
from teamworld.memory.tracker import Tracker, delta
from teamworld.methods.common.goals import workable
from teamworld.methods.common.planning import PlanAnswer, made, rewritten, standby
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Message, Method, Room, Variant
from teamworld.methods.drwell.allocation import validate
from teamworld.methods.drwell.library import page
from teamworld.methods.drwell.options import COMMUNICATION, VARIANTS, DrWellOptions
from teamworld.methods.drwell.questions import Chat, Choose, CommitTo, Draft, Propose, Revise
from teamworld.methods.drwell.reflections import reflections
from teamworld.reasoning.contract import Question
from teamworld.record import Commit, Event, PlanEnd, Release
from teamworld.worlds.contract import Goal, View

Origin: TypeAlias = Literal["fresh", "revised", "reused"]


class _Planned(NamedTuple):
    """What an agent's planning came to."""

    choice: Choice | None
    """None where it has no task, or no sound plan was found for it."""
    reflection: str = ""


#: Why an agent lets go of a goal, by how the goal stands.
_RELEASED: Mapping[str, str] = {"open": "reassigned", "done": "done", "lost": "failed"}


def _known(view: View, goal: GoalId | None) -> Goal | None:
    """Return a goal as an agent knows it."""
    return next((known for known in view.goals if known.id == goal), None)


class DrWell(Method):
    """Dynamic reasoning and learning with a symbolic world model."""

    name: ClassVar[str] = "drwell"
    summary: ClassVar[str] = "DR. WELL: two-round negotiation, plans revised from a symbolic world model that learns"
    options: ClassVar[type[BaseModel]] = DrWellOptions
    questions: ClassVar[tuple[type[Question[Any]], ...]] = (Propose, CommitTo, Chat, Choose, Draft, Revise)
    learns: ClassVar[bool] = True
    variants: ClassVar[Mapping[str, Variant]] = VARIANTS

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        self._options = DrWellOptions.model_validate(options, from_attributes=True)

    async def begin(self, briefing: Briefing) -> None:
        """Start with what the memory holds."""
        self._domain = briefing.domain
        self._memory = briefing.memory.ranked(self._options.ranking)
        unread = Experience()
        self._guidebook: Memory = self._memory if self._options.guided else unread
        self._library: Memory = self._memory if self._options.looks_up else unread
        self._writes = self._options.update == "live" and self._options.learns_in(briefing.episode)
        self._convention = int(briefing.rng("drwell", "convention").integers(2**31))
        self._committed: dict[AgentId, GoalId] = {}
        self._standby: set[AgentId] = set()
        self._ended: dict[AgentId, str] = {}
        self._tracker = Tracker(
            self._options.task_identity, briefing.episode, self._communication, measures=briefing.domain.measures
        )

    def watch(self, moment: DecisionContext) -> Collection[AgentId]:
        """Take new outcomes into the world model; call waiting agents to a room that opens (re-sync)."""
        for event in moment.news:
            if isinstance(event, PlanEnd):
                self._ended[event.agent] = event.cause
            instance = self._tracker.see(event)
            if instance is not None and self._writes:
                self._memory.add(instance)
        return tuple(agent for agent in moment.running if agent in self._standby) if moment.free else ()

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        """Settle among the free agents who does what, then let each plan alone."""
        members = tuple(moment.free)
        # The world model stands still while they settle: each line is looked up once, not once for every agent.
        self._guide = cache(partial(self._guidebook.guide, now=moment.t))
        self._best = cache(self._guidebook.best)
        self._standby -= set(members)
        self._ended.update(dict.fromkeys((agent for agent in members if agent in moment.running), "resync"))
        known = {goal.id: goal for agent in members for goal in workable(moment.views[agent])}
        goals = [known[goal] for goal in sorted(known)]
        living = {agent: goal for agent, goal in self._committed.items() if agent in moment.views}
        working = {agent: goal for agent, goal in living.items() if agent not in members}
        # Whoever knows of no task for itself has nothing to say: it stands by, and may look around.
        speakers = tuple(agent for agent in members if workable(moment.views[agent]))
        aims = dict.fromkeys(members) | await self._settled(moment, speakers, working, goals)
        self._bind(moment, aims)
        return await self._plans(moment, aims, working, known)

    # ---- negotiation

    async def _settled(
        self,
        moment: DecisionContext,
        speakers: tuple[AgentId, ...],
        working: Mapping[AgentId, GoalId],
        goals: Sequence[Goal],
    ) -> dict[AgentId, GoalId | None]:
        """Return what each of the free agents binds itself to."""
        if self._options.negotiation == "none":
            return await self._choices(moment, speakers, None, working)
        room = moment.room(speakers)
        if self._options.negotiation == "chat":
            await self._chat(moment, room, working)
            return await self._choices(moment, speakers, room, working)
        await self._proposals(moment, room, working)
        votes = await self._commitments(moment, room, working)
        knows = {agent: {goal.id for goal in workable(moment.views[agent])} for agent in votes}
        return validate(votes, working, goals, knows).goals

    async def _proposals(self, moment: DecisionContext, room: Room, working: Mapping[AgentId, GoalId]) -> None:
        for agent in room.members:
            proposal = await moment.ask(Propose(**self._told(moment, room, agent, working)))
            room.say(Message(agent, "propose", f"I propose {proposal.goal}. {proposal.reason}", proposal.goal))

    async def _commitments(
        self, moment: DecisionContext, room: Room, working: Mapping[AgentId, GoalId]
    ) -> dict[AgentId, GoalId | None]:
        votes: dict[AgentId, GoalId | None] = {}
        for agent in room.members:
            answer = await moment.ask(CommitTo(**self._told(moment, room, agent, working)))
            votes[agent] = answer.goal
            if answer.goal is None:
                room.say(Message(agent, "other", f"I wait. {answer.reason}"))
            else:
                room.say(Message(agent, "commit", f"I commit to {answer.goal}. {answer.reason}", answer.goal))
        return votes

    async def _chat(self, moment: DecisionContext, room: Room, working: Mapping[AgentId, GoalId]) -> None:
        turns = self._options.chat_turns
        for turn in range(1, turns + 1):
            for agent in room.members:
                told = self._told(moment, room, agent, working)
                remark = await moment.ask(Chat(**told, turn=turn, turns=turns))
                if remark.text:
                    room.say(Message(agent, "inform" if remark.goal else "other", remark.text, remark.goal))

    async def _choices(
        self, moment: DecisionContext, agents: Sequence[AgentId], room: Room | None, working: Mapping[AgentId, GoalId]
    ) -> dict[AgentId, GoalId | None]:
        """Let all choose alone at the same time; nothing is checked."""
        answers = await moment.together(
            {agent: moment.ask(Choose(**self._told(moment, room, agent, working))) for agent in agents}
        )
        return {agent: answer.goal for agent, answer in answers.items()}

    def _told(
        self, moment: DecisionContext, room: Room | None, agent: AgentId, working: Mapping[AgentId, GoalId]
    ) -> dict[str, Any]:
        """Return what every question of the negotiation tells its agent."""
        view = moment.views[agent]
        goals = workable(view)
        best = self._best()
        return {
            "respondent": agent,
            "views": {agent: view},
            "members": tuple(room.members) if room is not None else (),
            "team": len(moment.views),
            "working": working,
            "guide": {goal.id: self._guide(self._task(goal)) for goal in goals},
            "guided": self._options.guided,
            "best": next((goal.id for goal in goals if self._task(goal) == best), None),
            "heard": tuple(room.heard(agent)) if room is not None else (),
        }

    def _bind(self, moment: DecisionContext, goals: Mapping[AgentId, GoalId | None]) -> None:
        """Release what is over, commit to what is new, and put both on record."""
        for agent, goal in goals.items():
            before = self._committed.get(agent)
            if before is not None and before != goal:
                found = _known(moment.views[agent], before)
                cause = "reassigned" if found is None else _RELEASED[found.state]
                moment.note(Release(agent=agent, goal=before, cause=cause))
                del self._committed[agent]
            if goal is not None and before != goal:
                moment.note(Commit(agent=agent, goal=goal, cause=self._communication))
                self._committed[agent] = goal

    # ---- planning

    async def _plans(
        self,
        moment: DecisionContext,
        goals: Mapping[AgentId, GoalId | None],
        working: Mapping[AgentId, GoalId],
        known: Mapping[GoalId, Goal],
    ) -> dict[AgentId, Decision]:
        """Let each member plan alone; who is at work on a joint task that members join begins anew with them."""
        joint = {goal for goal in goals.values() if goal is not None and known[goal].quorum > 1}
        partners = {mate: goal for mate, goal in working.items() if goal in joint and mate in moment.running}
        self._ended.update(dict.fromkeys(partners, "resync"))
        committed = dict(self._committed)
        plans = await moment.together(
            {
                agent: self._plan(moment, agent, _known(moment.views[agent], goal), committed)
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
                    moment.note(Release(agent=agent, goal=self._committed.pop(agent), cause="failed"))
                decisions[agent] = self._stand_by(moment, agent, parsed=goals[agent] is None)
        return decisions

    async def _plan(
        self, moment: DecisionContext, agent: AgentId, goal: Goal | None, committed: Mapping[AgentId, GoalId]
    ) -> _Planned:
        """Let an agent draft a plan for its task, and revise it with what the team has learned."""
        if goal is None:
            return _Planned(None)
        view = moment.views[agent]
        views = {agent: view}
        draft = await moment.ask(Draft(agent, views, self._domain, goal, committed))
        cause = self._ended.get(agent, "start")
        if not self._options.revision:
            return _Planned(self._choice(draft, view, goal, "fresh", cause))
        drafted = rewritten(draft.actions)
        library = self._library.library(self._task(goal))
        joint = self._convention if goal.quorum > 1 else None
        # Attempts tell one try from the next only where they are counted while the episode runs.
        turn = library.attempts if self._writes and self._options.looks_up else moment.t
        offered = page(library, goal, view, self._domain, self._options.explore, joint, turn)
        told = library if self._options.looks_up else None
        notes = self._memory.notes if self._options.takes_notes else None
        revision = await moment.ask(Revise(agent, views, self._domain, goal, committed, drafted, told, offered, notes))
        revised = rewritten(revision.actions)
        known = any(entry.actions == revised for entry in offered.entries)
        origin: Origin = "fresh" if revised == drafted else "reused" if known else "revised"
        return _Planned(self._choice(revision, view, goal, origin, cause), revision.reflection)

    def _choice(self, answer: PlanAnswer, view: View, goal: Goal, origin: Origin, cause: str) -> Choice | None:
        if not answer.actions:
            return None
        return Choice(made(answer, view, goal.id, self._options.on_failure), origin, cause)

    def _stand_by(self, moment: DecisionContext, agent: AgentId, *, parsed: bool = True) -> Decision:
        self._standby.add(agent)
        return Choice(standby(self._domain, moment.views[agent]), cause="nothing to do", parsed=parsed)

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
        told = reflections(log) if self._options.takes_notes else ()
        return msgspec.structs.replace(learned, reflections=told)
