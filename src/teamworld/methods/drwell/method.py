"""The protocol of DR. WELL (arXiv 2511.04646): negotiate tasks, plan alone, learn together.

Idle agents meet in a meeting. Each in turn proposes a task, then each in turn commits to one; a
validator makes the commitments an allocation that can work. Each agent drafts a plan alone,
revises it with the plan library, and carries it out. Outcomes go to the symbolic world model.
What can decide nothing is not asked. Options leave parts out, or put others in their place: see ``options``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from teamworld.language import AgentId, GoalId, plain
from teamworld.memory.contract import OPEN, Communication, MemoryDelta
from teamworld.memory.episode_learning import Tracker, delta
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.common.answers import meant
from teamworld.methods.common.commitments import release_cause
from teamworld.methods.common.knowledge import AgentKnowledge, Line, list_teammates
from teamworld.methods.common.mentions import names_open
from teamworld.methods.common.plan_answers import make_plan, normalize_texts, standby_plan
from teamworld.methods.contract import WAIT, Briefing, Choice, Decision, DecisionContext, Meeting, Message, Method
from teamworld.methods.drwell.forced import can_help, find_forced, leaves_time, possible_goals
from teamworld.methods.drwell.library import Page, make_page
from teamworld.methods.drwell.options import COMMUNICATION, VARIANTS, DrWellOptions
from teamworld.methods.drwell.questions import (
    Chat,
    Choose,
    CommitTo,
    Dissolved,
    Draft,
    NegotiationRecord,
    Propose,
    Reflect,
    Revise,
    Revision,
    TaskPlan,
)
from teamworld.methods.drwell.reflections import reflections
from teamworld.planning.allocation import validate_commitments
from teamworld.planning.goals import workable_goals
from teamworld.reasoning.contract import Question
from teamworld.record import Commit, Event, PlanEnd, QuestionSkipped, Release
from teamworld.worlds.contract import Goal, View

Origin: TypeAlias = Literal["fresh", "revised", "reused"]
#: What an agent reads of a plan that it did not choose.
ASIDE = "Being free, you stepped aside; what you do next replaces that."
#: Lines of earlier meetings that an agent plans by at most, the newest.
KEPT = 3


class _Settled(NamedTuple):
    """What the free agents are to do."""

    goals: dict[AgentId, GoalId | None]
    cause: str = ""
    """Why those who have no goal were not asked; empty where they were."""
    meeting: Meeting | None = None


class _Planned(NamedTuple):
    """What an agent's planning came to."""

    choice: Choice | None
    """None where it has no task, or no sound plan was found for it."""
    reflection: str = ""
    handed_back: str = ""
    """Why the agent hands its task back; empty where it does not."""


def _known(view: View, goal: GoalId | None) -> Goal | None:
    """Return a goal as an agent knows it."""
    return next((known for known in view.goals if known.id == goal), None)


class DrWell(Method):
    """Dynamic reasoning and learning with a symbolic world model."""

    name = "drwell"
    summary = "DR. WELL: two-round negotiation, plans revised from a symbolic world model that learns"
    options = DrWellOptions
    _options: DrWellOptions
    questions = (Propose, CommitTo, Chat, Choose, Draft, Revise, Reflect)
    learns = True
    variants = VARIANTS

    async def begin(self, briefing: Briefing) -> None:
        """Start with what the memory holds."""
        self._spec, self._domain = briefing.spec, briefing.domain
        self._memory = briefing.memory.ranked(self._options.ranking)
        unread = WorldModel()
        self._guidebook: WorldModel = self._memory if self._options.guided else unread
        self._library: WorldModel = self._memory if self._options.looks_up else unread
        self._writes = self._options.update == "live" and self._options.learns_in(briefing.episode)
        self._committed: dict[AgentId, GoalId] = {}
        self._standby: set[AgentId] = set()
        self._ended: dict[AgentId, str] = {}
        self._released: dict[AgentId, str] = {}
        self._dissolved: dict[AgentId, list[Dissolved]] = {agent: [] for agent in briefing.agents}
        self._handed_back: dict[AgentId, list[Line]] = {agent: [] for agent in briefing.agents}
        self._told: dict[AgentId, tuple[Line, ...]] = dict.fromkeys(briefing.agents, ())
        self._gave_up: set[AgentId] = set()
        self._aside: set[AgentId] = set()
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
        self._guide, self._best = cache(self._guidebook.guide), cache(self._guidebook.best)
        self._aside = self._standby.intersection(members)
        self._standby -= set(members)
        self._ended.update(dict.fromkeys((agent for agent in members if agent in context.running), "resync"))
        known = {goal.id: goal for agent in members for goal in workable_goals(context.views[agent])}
        goals = [known[goal] for goal in sorted(known)]
        living = {agent: goal for agent, goal in self._committed.items() if agent in context.views}
        working = {agent: goal for agent, goal in living.items() if agent not in members}
        # Whoever knows of no task for itself has nothing to say: it stands by, and may look around.
        speakers = tuple(agent for agent in members if workable_goals(context.views[agent]))
        self._tell_endings(context, members)
        settled = await self._settle(context, speakers, working, goals)
        settled = settled._replace(goals=dict.fromkeys(members) | settled.goals)
        self._hear(context, settled.meeting)
        self._bind(context, settled)
        return await self._plans(context, settled, working, known)

    # ---- negotiation

    async def _settle(
        self,
        context: DecisionContext,
        speakers: tuple[AgentId, ...],
        working: Mapping[AgentId, GoalId],
        goals: Sequence[Goal],
    ) -> _Settled:
        """Return what each of the free agents binds itself to; nobody is asked where nothing can be decided."""
        knows = {agent: {goal.id for goal in workable_goals(context.views[agent])} for agent in speakers}
        possible = possible_goals(goals, Counter(working.values()), knows)
        decided = self._decide_unasked(context, speakers, possible, working, knows)
        if decided is not None:
            for agent in speakers:
                self._skip(context, agent, self._talk, decided.cause)
            return decided
        if self._options.negotiation == "none":
            return _Settled(await self._choices(context, speakers, None, working))
        alone = len(speakers) == 1
        meeting = None if alone else context.open_meeting(speakers)
        if alone:
            self._skip(context, speakers[0], self._talk[:1], "nobody else is free to hear it")
        if self._options.negotiation == "chat":
            if meeting is not None:
                await self._chat(context, meeting, working)
            return _Settled(await self._choices(context, speakers, meeting, working), "", meeting)
        if meeting is not None:
            await self._proposals(context, meeting, working)
        votes = await self._commitments(context, speakers, meeting, working)
        allocation = validate_commitments(votes, working, goals, knows)
        self._tell_dissolved(context, votes, working, goals, allocation.moved)
        return _Settled(allocation.goals, "", meeting)

    def _decide_unasked(
        self,
        context: DecisionContext,
        speakers: Sequence[AgentId],
        possible: Sequence[Goal],
        working: Mapping[AgentId, GoalId],
        knows: Mapping[AgentId, Collection[GoalId]],
    ) -> _Settled | None:
        """Return what the free agents do where no answer could change it; None where they are asked."""
        if not possible:
            return _Settled({}, "nothing can be done by those who are free")
        if not any(leaves_time(possible, context.views[agent], self._domain) for agent in speakers):
            return _Settled({}, "too few steps left")
        forced = find_forced(possible, Counter(working.values()), knows)
        if forced is not None and not any(can_help(possible[0], context.views[a], self._domain) for a in speakers):
            return _Settled({}, "nothing can be done by those who are free")
        if forced is not None:
            return _Settled(dict.fromkeys(speakers, forced), "forced")
        kept = self._kept_alone(speakers[0], possible, knows) if len(speakers) == 1 else None
        return None if kept is None else _Settled({speakers[0]: kept}, "alone, keeps its task")

    @property
    def _talk(self) -> tuple[type[Question[Any]], ...]:
        """What agents are asked in a negotiation; the first is said to others."""
        asked: dict[str, tuple[type[Question[Any]], ...]] = {
            "rounds": (Propose, CommitTo),
            "chat": (Chat, Choose),
            "none": (Choose,),
        }
        return asked[self._options.negotiation]

    def _skip(
        self, context: DecisionContext, agent: AgentId, questions: Sequence[type[Question[Any]]], cause: str
    ) -> None:
        for question in questions:
            context.note(QuestionSkipped(agent=agent, purpose=question.kind, cause=cause))

    def _kept_alone(
        self, agent: AgentId, possible: Sequence[Goal], knows: Mapping[AgentId, Collection[GoalId]]
    ) -> GoalId | None:
        """Return the task that an agent keeps where nobody else is free: the one it was at, if all went well there."""
        goal = self._committed.get(agent)
        went_well = self._ended.get(agent) == OPEN
        is_possible = any(known.id == goal for known in possible) and goal in knows[agent]
        return goal if went_well and is_possible else None

    async def _proposals(self, context: DecisionContext, meeting: Meeting, working: Mapping[AgentId, GoalId]) -> None:
        for agent in meeting.members:
            if not context.may_speak(agent):
                self._skip(context, agent, (Propose,), "no message left")
                continue
            proposal = await context.ask(
                Propose(agent, *self._shown(context, meeting.members, meeting, agent, working))
            )
            text = meant(proposal.reason) or f"I propose {proposal.goal or 'nothing'}."
            meeting.say(Message(agent, "propose", text, proposal.goal))

    async def _commitments(
        self,
        context: DecisionContext,
        speakers: Sequence[AgentId],
        meeting: Meeting | None,
        working: Mapping[AgentId, GoalId],
    ) -> dict[AgentId, GoalId | None]:
        votes: dict[AgentId, GoalId | None] = {}
        for agent in speakers:
            question = CommitTo(agent, *self._shown(context, speakers, meeting, agent, working))
            # Whoever finds everything staffed that can be done has no choice but to wait.
            answer = await context.ask(question) if question.lacking else None
            if answer is None:
                self._skip(context, agent, (CommitTo,), "all that can be done has enough agents")
            votes[agent] = goal = None if answer is None else answer.goal
            if meeting is not None and goal is None:
                meeting.say(Message(agent, "other", "I wait."))
            elif meeting is not None:
                meeting.say(Message(agent, "commit", f"I commit to {goal}.", goal))
        return votes

    async def _chat(self, context: DecisionContext, meeting: Meeting, working: Mapping[AgentId, GoalId]) -> None:
        turns = self._options.chat_turns
        for turn in range(1, turns + 1):
            for agent in meeting.members:
                if not context.may_speak(agent):
                    self._skip(context, agent, (Chat,), "no message left")
                    continue
                shown = self._shown(context, meeting.members, meeting, agent, working)
                remark = await context.ask(Chat(agent, *shown, turn, turns))
                if text := meant(remark.text):
                    meeting.say(Message(agent, "inform" if remark.goal else "other", text, remark.goal))

    async def _choices(
        self,
        context: DecisionContext,
        agents: Sequence[AgentId],
        meeting: Meeting | None,
        working: Mapping[AgentId, GoalId],
    ) -> dict[AgentId, GoalId | None]:
        """Let all choose alone at the same time; nothing is checked."""
        members = agents if meeting is not None else ()
        shown = {agent: self._shown(context, members, meeting, agent, working) for agent in agents}
        answers = await context.together({agent: context.ask(Choose(agent, *shown[agent])) for agent in agents})
        return {agent: answer.goal for agent, answer in answers.items()}

    def _shown(
        self,
        context: DecisionContext,
        members: Sequence[AgentId],
        meeting: Meeting | None,
        agent: AgentId,
        working: Mapping[AgentId, GoalId],
    ) -> tuple[Mapping[AgentId, View], AgentKnowledge, NegotiationRecord]:
        """Return what every question of the negotiation shows its agent."""
        view = context.views[agent]
        goals, best = workable_goals(view), self._best()
        heard = [(message.act, _words(message)) for message in meeting.heard(agent)] if meeting is not None else []
        record = NegotiationRecord(
            members=tuple(members),
            guide={goal.id: self._guide(self._task(goal)) for goal in goals},
            guided=self._options.guided,
            best=next((goal.id for goal in goals if self._task(goal) == best), None),
            proposals=tuple(line for act, line in heard if act == "propose"),
            commitments=tuple(
                line for act, line in heard if act == "commit" or (act == "other" and self._is_in_rounds)
            ),
            chat=() if self._is_in_rounds else tuple(line for _, line in heard),
            dissolved=tuple(self._dissolved[agent]),
            handed_back=tuple(self._handed_back[agent]),
        )
        me = self._knowledge(context, agent, working)
        return {agent: view}, me, record

    def _knowledge(
        self, context: DecisionContext, agent: AgentId, committed: Mapping[AgentId, GoalId], forced: str = ""
    ) -> AgentKnowledge:
        """Return what an agent knows: all know who is bound to what, plans are their agents' own.

        What the agent itself is bound to is asked about, or stands in the question. Who is at a task that the agent
        knows to be over goes on with its plan, and is of use nowhere else before that ends.
        """
        view = context.views[agent]
        states = {goal.id: goal.state for goal in view.goals if goal.state != "open"}
        over = {
            teammate: f"bound to {goal}, which is {states[goal]}"
            for teammate, goal in committed.items()
            if goal in states
        }
        at_work = {teammate: goal for teammate, goal in committed.items() if teammate not in over}
        aside = agent in self._aside and agent in context.running
        words = (self._released.get(agent, ""), ASIDE if aside else "", forced)
        return AgentKnowledge(
            view=view,
            domain=self._domain,
            spec=self._spec,
            team=list_teammates(self._spec, agent, context.team, over, at_work),
            running=context.running.get(agent),
            released=" ".join(filter(None, words)),
        )

    @property
    def _is_in_rounds(self) -> bool:
        return self._options.negotiation == "rounds"

    def _hear(self, context: DecisionContext, meeting: Meeting | None) -> None:
        """Keep what others said in a meeting that names something of an open task: agents plan by it too.

        Who takes which task stands elsewhere.
        """
        if meeting is not None:
            for agent in meeting.members:
                said = (message for message in meeting.heard(agent) if message.act in ("propose", "inform", "other"))
                lines = (_words(message) for message in said if message.sender != agent)
                self._told[agent] = (*self._told[agent], *lines)
        for agent, lines_told in self._told.items():
            view = context.views.get(agent)
            goals, options = (view.goals, view.options) if view is not None else ((), ())
            kept = (line for line in lines_told if names_open(_apart(line), goals, options))
            self._told[agent] = tuple(kept)[-KEPT:]

    # ---- commitments

    def _tell_endings(self, context: DecisionContext, members: Sequence[AgentId]) -> None:
        """Let agents know that they are free of the tasks whose plans are over."""
        for agent in members:
            goal = self._committed.get(agent)
            if goal is not None:
                known = _known(context.views[agent], goal)
                state = "open" if known is None else known.state
                self._released[agent] = f"Your plan for {goal} is over; the task is {state}."

    def _tell_dissolved(
        self,
        context: DecisionContext,
        votes: Mapping[AgentId, GoalId | None],
        working: Mapping[AgentId, GoalId],
        goals: Sequence[Goal],
        moved: Sequence[AgentId],
    ) -> None:
        """Tell what the validator dissolved: to its holder at once, to all who were there in their next meeting."""
        for agent in votes:
            self._dissolved[agent].clear()
            self._handed_back[agent].clear()
        had = Counter(votes.values()) + Counter(working.values())
        for agent in moved:
            goal = next(goal for goal in goals if goal.id == votes[agent])
            dissolved = Dissolved(context.t, agent, goal.id, goal.quorum, had[goal.id])
            self._released[agent] = (
                f"Your commitment to {goal.id} was dissolved: it takes {dissolved.needed} at once "
                f"and had {dissolved.had}."
            )
            for member in votes:
                self._dissolved[member].append(dissolved)

    def _bind(self, context: DecisionContext, settled: _Settled) -> None:
        """Release what is over, commit to what is new, and put both on record."""
        for agent, goal in settled.goals.items():
            before = self._committed.get(agent)
            if goal is not None and before == goal:
                self._released.pop(agent, None)
            if before is not None and before != goal:
                cause = release_cause(context.views[agent], before)
                context.note(Release(agent=agent, goal=before, cause=cause))
                del self._committed[agent]
            if goal is not None and before != goal:
                context.note(Commit(agent=agent, goal=goal, cause=settled.cause or self._communication))
                self._committed[agent] = goal

    def _hand_back(
        self,
        context: DecisionContext,
        plans: Mapping[AgentId, _Planned],
        settled: _Settled,
        known: Mapping[GoalId, Goal],
    ) -> set[AgentId]:
        """Release who hands its task back, and whose task cannot be done without them; return these.

        Those in the meeting are told at once, and read it when they next name a task.
        """
        over, given_up = set[AgentId](), set[GoalId]()
        for agent, planned in plans.items():
            if not planned.handed_back:
                continue
            goal = self._committed[agent]
            text = f"I hand {goal} back. {planned.handed_back}"
            self._let_go(context, agent, "agreed", f"You handed {goal} back.")
            self._handed_back[agent].append(Line(context.t, agent, None, planned.handed_back, goal))
            over.add(agent)
            given_up.add(goal)
            if settled.meeting is not None and agent in settled.meeting.members:
                heard = {member: len(settled.meeting.heard(member)) for member in settled.meeting.members}
                settled.meeting.say(Message(agent, "release", text, goal))
                for member in settled.meeting.members:
                    if member != agent and len(settled.meeting.heard(member)) > heard[member]:
                        self._handed_back[member].append(Line(context.t, agent, None, planned.handed_back, goal))
        for goal in sorted(given_up & known.keys()):
            staff = [agent for agent, bound in self._committed.items() if bound == goal]
            if len(staff) < known[goal].quorum:
                for agent in (agent for agent in staff if agent in plans):
                    why = f"Your commitment to {goal} was dissolved: a partner handed it back."
                    self._let_go(context, agent, "agreed", why)
                    over.add(agent)
        return over

    def _let_go(self, context: DecisionContext, agent: AgentId, cause: str, why: str) -> None:
        context.note(Release(agent=agent, goal=self._committed.pop(agent), cause=cause))
        self._released[agent] = why

    # ---- planning

    async def _plans(
        self,
        context: DecisionContext,
        settled: _Settled,
        working: Mapping[AgentId, GoalId],
        known: Mapping[GoalId, Goal],
    ) -> dict[AgentId, Decision]:
        """Let each member plan alone; who is at work on a joint task that members join begins anew with them."""
        goals = settled.goals
        joint = {goal for goal in goals.values() if goal is not None and known[goal].quorum > 1}
        partners = {
            teammate: goal for teammate, goal in working.items() if goal in joint and teammate in context.running
        }
        self._ended.update(dict.fromkeys(partners, "resync"))
        committed = dict(self._committed)
        plans = await context.together(
            {
                agent: self._plan(
                    context, agent, _known(context.views[agent], goal), committed, settled.cause == "forced"
                )
                for agent, goal in {**goals, **partners}.items()
            }
        )
        over = self._hand_back(context, plans, settled, known)
        decisions: dict[AgentId, Decision] = {}
        for agent, (plan, reflection, _) in plans.items():
            if reflection and self._options.takes_notes and self._writes:
                self._memory.remember(reflection)
            if agent in over and agent not in self._gave_up and settled.cause != "forced":
                decisions[agent] = WAIT  # it is free in the next step, when all know
            elif agent in over:
                decisions[agent] = self._stand_by(context, agent, "handed back")
            elif plan is not None:
                decisions[agent] = plan
                self._released.pop(agent, None)
            elif agent in goals:
                if agent in self._committed:  # no plan was found: the task is given back
                    self._let_go(context, agent, "failed", f"You wrote no plan for {self._committed[agent]}.")
                cause = settled.cause or "nothing to do"
                decisions[agent] = self._stand_by(context, agent, cause, parsed=goals[agent] is None)
        self._gave_up = (self._gave_up - set(plans)) | {agent for agent in over if agent not in self._gave_up}
        return decisions

    async def _plan(
        self, context: DecisionContext, agent: AgentId, goal: Goal | None, committed: Mapping[AgentId, GoalId],
        is_forced: bool = False,
    ) -> _Planned:  # fmt: skip
        """Let an agent draft a plan for its task, and revise it with what the team has learned."""
        if goal is None:
            return _Planned(None)
        view, options = context.views[agent], self._options
        page = make_page(self._library.library(self._task(goal)), goal, view, self._domain)
        notes = self._memory.notes if options.takes_notes else None
        forced = (
            f"{goal.id} is the only task that anybody free can do now, so it was given to you without a meeting."
            if is_forced
            else ""
        )
        said = tuple(line._replace(goal=None) for line in self._told[agent])
        me = replace(self._knowledge(context, agent, committed, forced), said=said)
        shown = ({agent: view}, me, goal.id, options.looks_up, page, notes)
        draft = await context.ask(Draft(agent, *shown, options.rule == "draw"))
        cause = self._ended.get(agent, "start")
        if meant(draft.reason) and not draft.actions:
            return _Planned(None, handed_back=draft.reason)
        drafted = normalize_texts(draft.actions, view.abilities)
        origin: Origin = "fresh" if page.find(drafted) is None else "reused"
        if not options.revision:
            return _Planned(self._choice(draft, view, goal, origin, cause))
        skipped = self._skipped_revision(drafted, page, notes, bool(view.history))
        if skipped:
            self._skip(context, agent, (Revise if notes is None else Reflect,), skipped)
            return _Planned(self._choice(draft, view, goal, origin, cause))
        explores = options.rule == "draw" and page.attempts < options.explore
        kind = Revise if notes is None else Reflect
        revision = await context.ask(kind(agent, *shown, drafted, explores))
        if meant(revision.reason) and not revision.actions:
            return _Planned(None, handed_back=revision.reason)
        revised = normalize_texts(revision.actions, view.abilities)
        origin = "fresh" if revised == drafted else "reused" if page.find(revised) is not None else "revised"
        reflection = revision.reflection if isinstance(revision, Revision) else ""
        return _Planned(self._choice(revision, view, goal, origin, cause), reflection)

    def _skipped_revision(
        self, drafted: tuple[str, ...], page: Page, notes: tuple[str, ...] | None, has_acted: bool
    ) -> str:
        """Return why there is nothing to decide or to reflect on in a revision; empty where it is asked for."""
        if not drafted:
            return ""
        if not page.attempts and not notes and (notes is None or not has_acted):
            return "nothing is known of the task"
        if notes is None and drafted == page.best:
            return "the draft is the best known plan"
        if notes is None and not page.entries and page.find(drafted) is None:
            return "no known plan is of use now"
        return ""

    def _choice(self, answer: TaskPlan, view: View, goal: Goal, origin: Origin, cause: str) -> Choice | None:
        if not answer.actions:
            return None
        return Choice(make_plan(answer.actions, view, goal.id, self._options.on_failure), origin, cause)

    def _stand_by(self, context: DecisionContext, agent: AgentId, cause: str, *, parsed: bool = True) -> Decision:
        self._standby.add(agent)
        return Choice(standby_plan(self._domain, context.views[agent]), cause=cause, parsed=parsed)

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


def _line(message: Message) -> Line:
    return Line(message.t, message.sender, message.recipients, message.text, message.goal)


def _words(message: Message) -> Line:
    """Return a line without the task that the channel adds to its words."""
    line = _line(message)
    return (
        line if line.goal is None else line._replace(text=line.text.removesuffix(f"Task: {plain(line.goal)}.").strip())
    )


def _apart(line: Line) -> str:
    """Return the words of a line without the task that its speaker takes."""
    return line.text if line.goal is None else line.text.replace(plain(line.goal), "")
