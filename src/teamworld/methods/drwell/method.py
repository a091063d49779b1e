"""The protocol of DR. WELL (arXiv 2511.04646): negotiate tasks, plan alone, learn together.

Idle agents meet in a room. Each in turn proposes a task, then each in turn commits to one; a
validator makes the commitments an allocation that can work. Each agent drafts a plan alone,
revises it with the plan library, and carries it out. Outcomes go to the symbolic world model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import AgentId, GoalId
from teamworld.memory.contract import Identity, MemoryDelta, Ranking
from teamworld.memory.tracker import Tracker, delta
from teamworld.methods.contract import Briefing, Choice, Decision, Message, Method, Moment, Room
from teamworld.methods.drwell.allocation import validate
from teamworld.methods.drwell.library import page
from teamworld.methods.drwell.questions import CommitTo, Draft, Propose, Revise
from teamworld.methods.parts.goals import open_goals
from teamworld.methods.parts.planning import made, standby
from teamworld.record import Commit, Event, PlanEnd, Release
from teamworld.worlds.contract import Goal

Stage = TypeVar("Stage", bound="Propose | CommitTo")


class DrWellOptions(BaseModel):
    """Options of DR. WELL."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task_identity: Identity = Field(
        default="id", description="what a task is over episodes: the goal's id, or its class"
    )
    update: Literal["live", "episode"] = Field(
        default="live", description="whether outcomes enter the world model at once, or after the episode"
    )
    ranking: Ranking = Field(default="expected", description="how plans of the library are ranked")
    explore: int = Field(
        default=6, ge=0, description="attempts at a task before an untried draft gives way to the library"
    )
    on_failure: Literal["continue", "abort"] = Field(
        default="continue", description="what a failed action does to its plan"
    )


class DrWell(Method):
    """Dynamic reasoning and learning with a symbolic world model."""

    name: ClassVar[str] = "drwell"
    summary: ClassVar[str] = "DR. WELL: two-round negotiation, plans revised from a symbolic world model that learns"
    options: ClassVar[type[BaseModel]] = DrWellOptions
    learns: ClassVar[bool] = True

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        self._options = DrWellOptions.model_validate(options, from_attributes=True)

    async def begin(self, briefing: Briefing) -> None:
        """Start with what the memory holds."""
        self._domain = briefing.domain
        self._memory = briefing.memory.ranked(self._options.ranking)
        self._convention = int(briefing.rng("drwell", "convention").integers(2**31))
        self._committed: dict[AgentId, GoalId] = {}
        self._standby: set[AgentId] = set()
        self._ended: dict[AgentId, str] = {}
        self._tracker = Tracker(
            self._options.task_identity, briefing.episode, "negotiated", measures=briefing.domain.measures
        )

    def watch(self, moment: Moment) -> Collection[AgentId]:
        """Take new outcomes into the world model; call waiting agents to a room that opens (re-sync)."""
        for event in moment.news:
            if isinstance(event, PlanEnd):
                self._ended[event.agent] = event.cause
            instance = self._tracker.see(event)
            if instance is not None and self._options.update == "live":
                self._memory.add(instance)
        return tuple(agent for agent in moment.running if agent in self._standby) if moment.free else ()

    async def decide(self, moment: Moment) -> Mapping[AgentId, Decision]:
        """Negotiate among the free agents, then let each plan alone."""
        members = tuple(moment.free)
        self._standby -= set(members)
        self._ended.update(dict.fromkeys((agent for agent in members if agent in moment.running), "resync"))
        known = {goal.id: goal for agent in members for goal in open_goals(moment.views[agent].goals)}
        goals = [known[goal] for goal in sorted(known)]
        living = {agent: goal for agent, goal in self._committed.items() if agent in moment.views}
        working = {agent: goal for agent, goal in living.items() if agent not in members}
        # Whoever knows of no open task has nothing to say: it stands by, and may look around.
        room = moment.room(tuple(agent for agent in members if open_goals(moment.views[agent].goals)))
        await self._proposals(moment, room, working)
        votes = await self._commitments(moment, room, working)
        aims = dict.fromkeys(members) | validate(votes, working, goals).goals
        self._bind(moment, aims, known)
        return await self._plans(moment, aims, working, known)

    # ---- negotiation

    async def _proposals(self, moment: Moment, room: Room, working: Mapping[AgentId, GoalId]) -> None:
        for agent in room.members:
            proposal = await moment.ask(self._question(Propose, moment, room, agent, working))
            room.say(Message(agent, "propose", f"I propose {proposal.goal}. {proposal.reason}", proposal.goal))

    async def _commitments(
        self, moment: Moment, room: Room, working: Mapping[AgentId, GoalId]
    ) -> dict[AgentId, GoalId | None]:
        votes: dict[AgentId, GoalId | None] = {}
        for agent in room.members:
            answer = await moment.ask(self._question(CommitTo, moment, room, agent, working))
            votes[agent] = answer.goal
            if answer.goal is None:
                room.say(Message(agent, "other", f"I wait. {answer.reason}"))
            else:
                room.say(Message(agent, "commit", f"I commit to {answer.goal}. {answer.reason}", answer.goal))
        return votes

    def _question(
        self, stage: type[Stage], moment: Moment, room: Room, agent: AgentId, working: Mapping[AgentId, GoalId]
    ) -> Stage:
        view = moment.views[agent]
        goals = open_goals(view.goals)
        best = self._memory.best()
        return stage(
            mind=agent,
            views={agent: view},
            members=tuple(room.members),
            team=len(moment.views),
            working=working,
            guide={goal.id: self._memory.guide(self._task(goal), moment.t) for goal in goals},
            best=next((goal.id for goal in goals if self._task(goal) == best), None),
            heard=tuple(room.heard(agent)),
        )

    def _bind(self, moment: Moment, goals: Mapping[AgentId, GoalId | None], still_open: Collection[GoalId]) -> None:
        """Release what is over, commit to what is new, and put both on record."""
        for agent, goal in goals.items():
            before = self._committed.get(agent)
            if before is not None and before != goal:
                cause = "reassigned" if before in still_open else "done"
                moment.note(Release(agent=agent, goal=before, cause=cause))
                del self._committed[agent]
            if goal is not None and before != goal:
                moment.note(Commit(agent=agent, goal=goal, cause="negotiated"))
                self._committed[agent] = goal

    # ---- planning

    async def _plans(
        self,
        moment: Moment,
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
                agent: self._plan(moment, agent, known.get(goal or ""), committed)
                for agent, goal in {**goals, **partners}.items()
            }
        )
        decisions: dict[AgentId, Decision] = {}
        for agent, plan in plans.items():
            if plan is not None:
                decisions[agent] = plan
            elif agent in goals:
                if agent in self._committed:  # no plan was found: the task is given back
                    moment.note(Release(agent=agent, goal=self._committed.pop(agent), cause="failed"))
                decisions[agent] = self._stand_by(moment, agent, parsed=goals[agent] is None)
        return decisions

    async def _plan(
        self, moment: Moment, agent: AgentId, goal: Goal | None, committed: Mapping[AgentId, GoalId]
    ) -> Choice | None:
        """Return the agent's plan; None where it has no task, or no sound plan was found for it."""
        if goal is None:
            return None
        view = moment.views[agent]
        views = {agent: view}
        draft = await moment.ask(Draft(agent, views, self._domain, goal, committed))
        library = self._memory.library(self._task(goal))
        joint = self._convention if goal.quorum > 1 else None
        offered = page(library, goal, view, self._domain, self._options.explore, joint)
        revision = await moment.ask(
            Revise(agent, views, self._domain, goal, committed, draft.actions, library, offered)
        )
        if not revision.actions:
            return None
        plan = made(revision, view, goal.id, self._options.on_failure)
        cause = self._ended.get(agent, "start")
        if revision.actions == draft.actions:
            return Choice(plan, "fresh", cause)
        known = any(entry.actions == revision.actions for entry in offered.entries)
        return Choice(plan, "reused" if known else "revised", cause)

    def _stand_by(self, moment: Moment, agent: AgentId, *, parsed: bool = True) -> Decision:
        self._standby.add(agent)
        return Choice(standby(self._domain, moment.views[agent]), cause="nothing to do", parsed=parsed)

    def _task(self, goal: Goal) -> str:
        return goal.id if self._options.task_identity == "id" else goal.label

    def learn(self, log: Sequence[Event]) -> MemoryDelta:
        """Return the instances and task outcomes of an episode."""
        return delta(log, identity=self._options.task_identity, communication="negotiated")
