"""The loop of an episode: settle, watch, decide, order, advance, record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET, UnsetType

from teamworld.episode.compatibility import entities_for
from teamworld.episode.decision_context import DecisionPoint, Views
from teamworld.episode.event_recorder import EventRecorder
from teamworld.episode.message_delivery import Channel, MessageEdit, MessageRule
from teamworld.episode.perception_recorder import PerceptionRecorder
from teamworld.episode.plan_execution import Ending, PlanExecution, Status
from teamworld.episode.stages import Stages
from teamworld.language import Action, AgentId, Entity, GoalId, Relation, show
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.contract import Briefing, Carry, Choice, Decision, Method
from teamworld.planning.simulate import dry_run
from teamworld.reasoning.allowance import TokenAllowance
from teamworld.reasoning.contract import Reasoner
from teamworld.record import (
    FORMATS,
    ActionStep,
    AgentLeft,
    AttemptMade,
    Commit,
    DrawingState,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    GoalInfo,
    HeadlineInfo,
    LogLevel,
    LogWriter,
    PlanEnd,
    PlanStart,
    RelationInfo,
    Release,
    StepDone,
    TokensTaken,
)
from teamworld.seeding import Streams
from teamworld.worlds.contract import (
    GOALS_AND_STEPS,
    WAIT,
    EndReason,
    Goal,
    HeadlineMeasure,
    Outcome,
    StepResult,
    Verdict,
    View,
    World,
    talk,
)

_NEWS = (Commit, Release, PlanStart, PlanEnd, GoalChange)


@dataclass(frozen=True)
class Setting:
    """What names an episode, for its first record."""

    seed: int
    world_seed: int
    episode: int
    method_options: Mapping[str, Any]
    messages: MessageRule
    topology: str = "complete"
    retries: int = 2
    """How often a bad answer is asked again."""
    log_level: LogLevel = "play"
    code: Mapping[str, str] = field(default_factory=dict)
    """Digests of the code that plays."""
    registered: str = ""
    """Digest of what its run set out to play."""


class Episode:
    """One run of a team in one instance. ``play`` runs it from start to end.

    Args:
        world: The instance.
        method: What decides.
        reasoner: What answers the method's questions.
        memory: What the method knows of earlier episodes.
        log: Takes all events.
        streams: Makes the generators of the episode.
        setting: What names the episode.
        edit: Changes messages before they are sent.
        allowance: What questions may take; whoever counts it stands round the reasoner. None: no limit.
    """

    def __init__(
        self,
        world: World,
        method: Method,
        reasoner: Reasoner,
        memory: WorldModel,
        log: LogWriter,
        streams: Streams,
        setting: Setting,
        edit: MessageEdit = lambda message: message,
        allowance: TokenAllowance | None = None,
    ) -> None:
        self._world = world
        self._method = method
        self._reasoner = reasoner
        self._memory = memory
        self._streams = streams
        self._setting = setting
        self._allowance = allowance
        self._recorder = EventRecorder(log, setting.log_level)
        self._perceptions = PerceptionRecorder(self._recorder.record)
        self._alive = list(world.spec.agents)
        self._executions: dict[AgentId, PlanExecution] = {}
        self._needed: dict[AgentId, dict[GoalId, int]] = {}  # agents that goals needed when plans were taken up
        self._committed: dict[AgentId, str] = {}
        self._waiting: set[AgentId] = set()
        self._unable: frozenset[AgentId] = frozenset()
        self._talking: dict[AgentId, Action] = {}
        self._plans = 0
        self._idle: dict[str, float] = {}
        self._read = 0
        self._stages = Stages(self._alive, self._recorder.record)
        self._channel = Channel(setting.messages, world.in_range, streams, self._recorder.record, edit)

    async def play(self) -> EndReason:
        """Run the episode to its end and return why it ended.

        Raises:
            DoesNotApply: The method cannot play in this world.
        """
        await self._begin()
        over: EndReason | None = None
        while over is None:
            # The world ends the episode, not the last death: what happens when nobody is left counts for the team.
            over = self._advance(await self._choose_actions() if self._alive else {})
        if over == "horizon" and not self._alive:
            over = "lost"
        self._finish(over)
        return over

    async def _begin(self) -> None:
        """Bring world and method to the first step."""
        entities = entities_for(self._method, self._world)
        self._world.reset(self._setting.world_seed)
        self._start(entities)
        await self._method.begin(
            Briefing(
                spec=self._world.spec.public,
                domain=self._world.domain,
                agents=tuple(self._alive),
                episode=self._setting.episode,
                memory=self._memory,
                rng=self._streams,
                entities=entities,
            )
        )

    # ---- before the step

    async def _choose_actions(self) -> dict[AgentId, Action]:
        """Let the living agents look and decide; return what each of them is to do."""
        views = self._views()
        self._unable = frozenset(agent for agent in self._alive if not views[agent].is_able)
        self._record_perceptions(views)
        self._settle(views)
        self._waiting = await self._decide(views)
        return self._next_actions(views)

    def _views(self) -> Views:
        return Views(self._alive, self._world.view)

    def _record_perceptions(self, views: Views) -> None:
        """Record what agents perceive before they decide."""
        if self._recorder.level == "beliefs":
            self._perceptions.observe({agent: view.facts for agent, view in views.items()})

    def _settle(self, views: Views) -> None:
        """Pass over actions that cannot start; end plans that are over, and those of agents that cannot act."""
        for agent in list(self._executions):
            execution = self._executions[agent]
            if agent in self._unable:
                self._end_plan(agent, Ending("interrupted", "unable"))
                continue
            while (action := execution.action) is not None and not execution.started:
                verdict = views[agent].check(action)
                if verdict.ok:
                    break
                self._record_skip(agent, execution, action, verdict)
                execution.skip(verdict.word)
            if execution.action is None:
                self._end_plan(agent, None)

    def _make_context(self, free: Sequence[AgentId], views: Views, news: Sequence[Event]) -> DecisionPoint:
        running = {agent: execution.plan for agent, execution in self._executions.items()}
        return DecisionPoint(
            free=free,
            views=views,
            running=running,
            news=news,
            channel=self._channel,
            recorder=self._recorder,
            reasoner=self._reasoner,
            retries=self._setting.retries,
            allowance=self._allowance,
        )

    async def _decide(self, views: Views) -> set[AgentId]:
        """Let the method decide for whoever is free; return the agents that will wait this step."""
        ready = [agent for agent in self._alive if not self._channel.owed[agent] and agent not in self._unable]
        idle = [agent for agent in ready if agent not in self._executions]
        news = [event for event in self._recorder.events[self._read :] if isinstance(event, _NEWS)]
        self._read = len(self._recorder.events)
        named = set(self._method.watch(self._make_context(tuple(idle), views, news)))
        stopped = [agent for agent in ready if agent in named and agent in self._executions]
        for agent in stopped:
            self._stages.enter(agent, "I")
        free = tuple(agent for agent in self._alive if agent in idle or agent in stopped)
        if not free:
            return set()
        for agent in free:
            self._stages.enter(agent, "R")
        decisions = await self._method.decide(self._make_context(free, views, news))
        waiting = self._apply(decisions, set(stopped), views)
        for agent in free:
            self._channel.clear(agent, self._recorder.tick)
            self._stages.enter(agent, "W")
        return waiting

    def _apply(self, decisions: Mapping[AgentId, Decision], stopped: set[AgentId], views: Views) -> set[AgentId]:
        waiting: set[AgentId] = set()
        goals = self._world.goals() if any(isinstance(made, Choice) for made in decisions.values()) else ()
        for agent in self._alive:
            decision = decisions.get(agent)
            if isinstance(decision, Choice) and agent in self._unable:
                raise ValueError(f"{agent} cannot act and was given a plan: {decision.plan}")
            if isinstance(decision, Choice):
                if agent in self._executions:
                    status: Status = "interrupted" if agent in stopped else "superseded"
                    self._end_plan(agent, Ending(status, decision.cause))
                self._take_up(agent, decision, views[agent], goals)
            elif decision is not None and not isinstance(decision, Carry):
                waiting.add(agent)
        self._track_commitments()
        return waiting

    def _take_up(self, agent: AgentId, choice: Choice, view: View, goals: Sequence[Goal]) -> None:
        plan = choice.plan
        # It may have been told of a goal that it has not seen: by a teammate, or by whoever plans for all.
        goal = _goal(view.goals, plan.goal) or _goal(goals, plan.goal)
        if plan.goal is not None and goal is None:
            raise ValueError(f"{agent} took up a plan for an unknown goal: {plan}")
        simulated = dry_run(plan, view, self._world.domain)
        self._needed[agent] = {known.id: known.quorum for known in goals if known.state == "open"}
        self._executions[agent] = PlanExecution(self._plans, plan, self._world.domain.ends_plan)
        self._recorder.record(
            PlanStart(
                agent=agent,
                plan=self._plans,
                goal=plan.goal,
                thing=str(goal.thing) if goal is not None and goal.thing is not None else None,
                label=goal.label if goal is not None else None,
                units=goal.units if goal is not None else 0,
                quorum=goal.quorum if goal is not None else 0,
                text=str(plan),
                origin=choice.origin,
                cause=choice.cause,
                parsed=choice.parsed,
                first_action_legal=simulated.first_legal,
                dry_run_ok=simulated.ok,
                predicted_steps=simulated.ticks,
                length=len(plan.actions),
            )
        )
        self._plans += 1

    def _track_commitments(self) -> None:
        for event in self._recorder.events[self._read :]:
            if isinstance(event, Commit):
                self._committed[event.agent] = event.goal
            elif isinstance(event, Release):
                self._committed.pop(event.agent, None)

    # ---- the step

    def _next_actions(self, views: Views) -> dict[AgentId, Action]:
        """Return what each agent is to do: pay talk owed, else the plan's next action, else wait."""
        self._settle(views)  # new plans may begin with actions that cannot start
        actions: dict[AgentId, Action] = {}
        for agent in self._alive:
            execution = self._executions.get(agent)
            owed = self._channel.owed[agent]
            if owed and agent not in self._unable:
                actions[agent] = self._talking.get(agent, talk(owed))
            elif agent in self._waiting or execution is None or execution.action is None:
                actions[agent] = WAIT
            else:
                actions[agent] = execution.action
        return actions

    def _advance(self, actions: Mapping[AgentId, Action]) -> EndReason | None:
        self._stages.execute()
        report = self._world.step(actions)
        record = self._recorder.record
        for agent in self._alive:
            self._take_outcome(agent, actions[agent], report)
        for attempt in report.attempts:
            record(
                AttemptMade(
                    goal=attempt.goal,
                    k=attempt.quorum,
                    have=dict(attempt.have),
                    need=dict(attempt.need),
                    participants=attempt.participants,
                    success=attempt.success,
                )
            )
        for change in report.goals:
            record(
                GoalChange(goal=change.goal, event=change.event, delta=change.delta, participants=change.participants)
            )
        for agent, why in report.gone.items():
            self._leave(agent, why)
        record(StepDone(ticks=report.ticks, score=dict(report.score)))
        self._recorder.step += 1
        self._recorder.tick += report.ticks
        self._show()
        self._recorder.flush()
        self._idle = dict(report.idle)
        return report.end_reason

    def _take_outcome(self, agent: AgentId, action: Action, report: StepResult) -> None:
        outcome = report.outcomes[agent]
        execution = self._executions.get(agent)
        owed = self._channel.owed[agent]
        ran_plan = execution is not None and not owed and agent not in self._waiting and execution.action == action
        self._record_action(agent, outcome, execution if ran_plan else None)
        if owed and action != WAIT:  # who cannot act goes on owing
            self._channel.owed[agent] = max(0, owed - report.ticks)
            self._talking[agent] = action
        if not self._channel.owed[agent] or outcome.status != "running":
            self._talking.pop(agent, None)
        if execution is not None and ran_plan:
            execution.take(outcome)
        elif execution is not None:
            execution.started = False  # talking or waiting stopped what ran

    def _leave(self, agent: AgentId, why: str) -> None:
        self._recorder.record(AgentLeft(agent=agent, why=why))
        self._alive.remove(agent)
        if agent in self._executions:
            self._end_plan(agent, Ending("failed", "gone"))
        if agent in self._committed:
            self._recorder.record(Release(agent=agent, goal=self._committed.pop(agent), cause="gone"))
        self._stages.leave(agent)

    # ---- records

    def _start(self, entities: Sequence[Entity]) -> None:
        spec, setting = self._world.spec, self._setting
        self._recorder.record(
            EpisodeStart(
                schema=FORMATS[setting.log_level],
                world=spec.world,
                level=spec.level,
                world_options=dict(spec.options),
                world_seed=setting.world_seed,
                seed=setting.seed,
                episode=setting.episode,
                team=spec.agents,
                kinds=dict(spec.kinds),
                goals=tuple(map(_info, self._world.goals())),
                measures=dict(self._world.domain.measures),
                relations=tuple(map(_relation, self._world.domain.relations)),
                static=dict(spec.static),
                horizon=spec.horizon,
                task=spec.task,
                method=self._method.name,
                method_options=dict(setting.method_options),
                reasoner=self._reasoner.name,
                message_rule=setting.messages.model_dump(mode="json"),
                topology=setting.topology,
                log_level=setting.log_level,
                roster=tuple(map(str, entities)) if "entities" in self._method.requires else UNSET,
                headline=_headline(spec.headline),
                searches=_searches(self._world.domain.relations) or UNSET,
                code=dict(setting.code) or UNSET,
                registered=setting.registered or UNSET,
            )
        )
        self._show()

    def _show(self) -> None:
        """Record what a drawing of this moment needs, and what is true."""
        self._recorder.record(DrawingState(state=dict(self._world.snapshot())))
        if self._recorder.level == "beliefs":
            self._perceptions.truth(self._world.truth())

    def _record_action(self, agent: AgentId, outcome: Outcome, execution: PlanExecution | None) -> None:
        self._recorder.record(
            ActionStep(
                agent=agent,
                verb=outcome.action.verb,
                args=tuple(map(show, outcome.action.args)),
                goal=execution.plan.goal if execution is not None else None,
                plan=execution.number if execution is not None else None,
                status=outcome.status,
                legal=outcome.legal,
                effect=outcome.effect,
                moved=outcome.moved,
                reason=outcome.reason,
                constraint=outcome.constraint,
                blocker=outcome.blocker,
                ready=outcome.ready,
                primitives=outcome.primitives,
                place=None if outcome.place is None else show(outcome.place),
                aim=None if outcome.aim is None else show(outcome.aim),
            )
        )

    def _record_skip(self, agent: AgentId, execution: PlanExecution, action: Action, verdict: Verdict) -> None:
        self._recorder.record(
            ActionStep(
                agent=agent,
                verb=action.verb,
                args=tuple(map(show, action.args)),
                goal=execution.plan.goal,
                plan=execution.number,
                status="failed",
                legal=False,
                effect=False,
                moved=False,
                reason=verdict.word,
                spent=False,
            )
        )

    def _end_plan(self, agent: AgentId, ending: Ending | None) -> None:
        """End an agent's plan; without an ending it ended by itself."""
        execution = self._executions.pop(agent)
        # What the agent knows decides, as when it took the plan up; where it knows nothing of the goal, the truth.
        known = self._world.view(agent).goals if agent in self._alive else ()
        goal = _goal(known, execution.plan.goal) or _goal(self._world.goals(), execution.plan.goal)
        done = goal is not None and goal.state == "done"
        if ending is None or (done and ending.status == "unfinished"):
            ending = execution.ending(done)
        self._recorder.record(
            PlanEnd(
                agent=agent,
                plan=execution.number,
                goal=execution.plan.goal,
                status=ending.status,
                cause=ending.cause,
                actions_done=execution.done,
                goal_done=done,
                units_left=goal.units if goal is not None else 0,
                eased=(self._eased(agent) if execution.had_effect else None) or UNSET,
            )
        )

    def _eased(self, agent: AgentId) -> dict[str, tuple[int, int]]:
        """Return the open goals that need fewer agents than when the agent's plan was taken up, with then and now."""
        needed = self._needed[agent]
        return {
            goal.id: (needed[goal.id], goal.quorum)
            for goal in self._world.goals()
            if goal.state == "open" and goal.quorum < needed.get(goal.id, 0)
        }

    def _finish(self, over: EndReason) -> None:
        for agent in list(self._executions):
            self._end_plan(agent, Ending("unfinished", over))
        for agent, goal in self._committed.items():
            self._recorder.record(Release(agent=agent, goal=goal, cause="ended"))
        allowance = self._allowance
        tokens = UNSET if allowance is None else TokensTaken(limit=allowance.limit, taken=allowance.taken)
        self._recorder.record(EpisodeEnd(reason=over, idle=self._idle or UNSET, tokens=tokens))


def _headline(measures: Sequence[HeadlineMeasure]) -> tuple[HeadlineInfo, ...] | UnsetType:
    return UNSET if measures == GOALS_AND_STEPS else tuple(HeadlineInfo(**part._asdict()) for part in measures)


def _goal(goals: Sequence[Goal], wanted: GoalId | None) -> Goal | None:
    return next((goal for goal in goals if goal.id == wanted), None)


def _relation(relation: Relation) -> RelationInfo:
    return RelationInfo(predicate=relation.predicate, subject=relation.subject, values=relation.values)


def _searches(relations: Iterable[Relation]) -> tuple[str, ...]:
    """Return the verbs that look into rooms and containers; closing one (the second verb of ``access``) does not."""
    kept = {"search": (0,), "access": (0, 2)}
    verbs = (relation.verbs[at] for relation in relations if relation.verbs for at in kept.get(relation.role, ()))
    return tuple(sorted(set(verbs) - {""}))


def _info(goal: Goal) -> GoalInfo:
    return GoalInfo(
        id=goal.id,
        kind=goal.kind,
        thing=str(goal.thing) if goal.thing is not None else None,
        label=goal.label,
        weight=goal.weight,
        quorum=goal.quorum,
        places=goal.capacity,
        exclusive=goal.capacity <= goal.quorum,
        units=goal.units,
        constraints=goal.constraints,
        prerequisites=goal.prerequisites,
        losable=goal.can_be_lost,
    )
