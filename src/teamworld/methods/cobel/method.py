"""CoBel-World: symbolic beliefs of the world and of each other; talk only where these conflict.

Each agent goes through the paper's cycle: update beliefs of the world (zero order) and of what teammates hold (first
order), plan, predict teammates, assess miscoordination, then speak or act. The options say which of these operations
a reasoner is asked for. What differs from the paper: docs/reference/methods/cobel.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, cast

from pydantic import BaseModel

from teamworld.language import AgentId, Facts, Plan, RuleSet, Schema, plain
from teamworld.methods.cobel import messages, planning, questions
from teamworld.methods.cobel.agent_state import AgentState
from teamworld.methods.cobel.beliefs import BeliefStore
from teamworld.methods.cobel.questions import QUESTIONS, BeliefQuestion, Result, Said
from teamworld.methods.cobel.rule_agreement import ProposeRules, ReviewRules, agree_on_rules
from teamworld.methods.cobel.situation import (
    VARIANTS,
    Assessment,
    CobelOptions,
    Intent,
    MessageDraft,
    NextAction,
    Situation,
    Subplan,
)
from teamworld.methods.common.commitments import commit_to, release_if_over
from teamworld.methods.contract import (
    CARRY,
    WAIT,
    Briefing,
    Choice,
    Decision,
    DecisionContext,
    Message,
    Method,
    Variant,
)
from teamworld.planning.fetch import wanted_kind
from teamworld.planning.goals import open_goals
from teamworld.reasoning.contract import Question
from teamworld.record import Predict, QuestionSkipped
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import WAIT as WAIT_ACTION
from teamworld.worlds.contract import Capability, Option, Outcome, View

#: Subplans that are found to be done within one step before the nearest option is taken.
TURNS: Final = 3


class Cobel(Method):
    """A team whose members hold beliefs about the world, and about each other's beliefs."""

    name: ClassVar[str] = "cobel"
    summary: ClassVar[str] = (
        "CoBel-World: symbolic beliefs of the world and of each other; a message where these conflict"
    )
    options: ClassVar[type[BaseModel]] = CobelOptions
    _options: CobelOptions
    questions: ClassVar[tuple[type[Question[Any]], ...]] = (ProposeRules, ReviewRules, *QUESTIONS)
    variants: ClassVar[Mapping[str, Variant]] = VARIANTS
    requires: ClassVar[frozenset[Capability]] = frozenset({"beliefs"})
    talk: ClassVar[Mapping[str, Any]] = MappingProxyType({"ticks": 1, "paid_by": "speaker"})
    """The published rule of messages in C-WAH: one takes the speaker its step."""

    async def begin(self, briefing: Briefing) -> None:
        """Start with empty stores and the rules that the world's relations make."""
        self._spec, options = briefing.spec, self._options
        self._domain = cast("BeliefDomain", briefing.domain)  # it requires beliefs
        self._schema = Schema(briefing.domain.relations, briefing.spec.agents)
        rules = RuleSet.of(self._schema)
        self._is_agreed = options.rules == "schema" or not options.ruled or options.store == "text"
        #: Inferred plans cost no question: they are made anew whenever something new is known.
        self._infers = options.by("plan") == "exact"
        is_shared = briefing.spec.memory == "team"
        self._states: dict[AgentId, AgentState] = {}
        for agent in briefing.agents:
            teammates = tuple(other for other in briefing.spec.agents if other != agent)
            store = BeliefStore(agent, self._schema, self._domain, is_shared, teammates)
            self._states[agent] = AgentState(agent, store, rules, options, briefing.rng("cobel", "gate", agent))

    # ---- what interrupts an agent

    def watch(self, moment: DecisionContext) -> Collection[AgentId]:
        """Name busy agents that see something new, or hear of a plan that conflicts."""
        return tuple(agent for agent in moment.running if self._is_interrupted(moment, agent))

    def _is_interrupted(self, moment: DecisionContext, agent: AgentId) -> bool:
        view, state = moment.views[agent], self._states[agent]
        if not view.is_able:
            return False
        state.observe(view, self._team(moment))
        if (
            state.deferred
            or state.has_turned
            or _known_goals(view) != state.known_goals
            or self._is_endangered(moment, agent)
        ):
            return True
        return self._options.interrupt and any(
            (self._infers and message.facts) or self._conflicts(moment, agent, message)
            for message in self._unread(moment, agent)
        )

    def _is_endangered(self, moment: DecisionContext, agent: AgentId) -> bool:
        """Return whether an agent hears that it is in danger, or has to warn a teammate."""
        if not self._options.warn or self._states[agent].store.shared or self._domain.danger is None:
            return False
        situation = self._situation(moment, agent)
        news = [fact for message in self._unread(moment, agent) for fact in message.facts]
        known = Facts((*situation.facts, *news), situation.facts.seen)
        before = messages.harm_probability(self._domain, agent, situation.facts)
        after = messages.harm_probability(self._domain, agent, known)
        return after > before or self._assess_danger(moment, situation).speaks

    def _unread(self, moment: DecisionContext, agent: AgentId) -> list[Message]:
        """Return what an agent has not considered yet: also what was said in the step in which it began to act."""
        state = self._states[agent]
        new = [message for message in moment.inbox(agent) if message.id not in state.heard]
        return [*new, *(message for message in state.dialogue if message.sender != agent)]

    def _conflicts(self, moment: DecisionContext, agent: AgentId, message: Message) -> bool:
        """Return whether a message announces a plan that conflicts with the agent's."""
        announced, plan = messages.read_plan(message, self._schema), moment.running[agent]
        if announced is None:
            return False
        facts = self._states[agent].store.facts(moment.views[agent])
        own = Subplan(plan.actions, plan.goal).options(agent, self._domain, facts)
        return self._do_conflict(own, announced.options(message.sender, self._domain, facts), facts)

    def _do_conflict(self, own: Sequence[Option], others: Sequence[Option], facts: Facts) -> bool:
        cost = self._domain.beliefs.conflict_cost
        return any(cost(option, other, facts) > 0 for option in own for other in others)

    # ---- the cycle

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let all free agents think at the same time, then speak or act in order."""
        if not self._is_agreed:
            self._is_agreed = True
            rules = await agree_on_rules(moment, self._spec, self._schema, self._options.rounds)
            for state in self._states.values():
                state.rules = rules
        turns = await moment.together({agent: self._cycle(moment, agent) for agent in moment.free})
        decisions = {agent: self._execute(moment, agent, turn) for agent, turn in turns.items()}
        for agent in moment.free:  # what was said in this step is read in the next one
            self._states[agent].read(moment.inbox(agent))
        return decisions

    async def _cycle(self, moment: DecisionContext, agent: AgentId) -> MessageDraft | NextAction:
        """Take in, update, plan, predict, assess, then speak or ground the subplan."""
        view, state = moment.views[agent], self._states[agent]
        state.observe(view, self._team(moment))
        state.read(moment.inbox(agent))
        known, state.known_goals = state.known_goals, _known_goals(view)
        is_silent = state.deferred and not state.dialogue
        if is_silent or (state.deferred and self._infers):
            state.give_up("a teammate was to speak first")
        elif known != state.known_goals and self._infers:
            state.give_up("something new is known")  # it was the best without knowing this
        state.waited, state.deferred, state.has_turned = is_silent, False, False
        situation = self._situation(moment, agent)
        if state.dialogue:
            situation = await self._update(moment, situation)
        for belief in state.declare(situation, messages.untold_facts(situation)):
            moment.note(belief)
        failure = next(filter(_has_failed, situation.outcomes), None)
        if rivals := self._must_yield(situation):
            state.give_up(f"{' and '.join(rivals)} announced what conflicts with it, and has fewer steps to go")
            situation = self._situation(moment, agent)
        elif failure is not None:
            state.give_up(f"`{plain(failure.action)}` failed")
            situation = self._situation(moment, agent)
        draft = await self._warn(moment, situation)
        if draft is not None:
            return draft
        for _ in range(TURNS):
            if situation.running is None and state.subplan_actions >= self._options.actions:
                is_left = planning.remaining_actions(situation)
                state.give_up("all of it was begun" if is_left else "it is over")
                situation = self._situation(moment, agent)
            if state.subplan is None:
                draft = await self._plan(moment, situation)
                if draft is not None:
                    return draft
                situation = self._situation(moment, agent)
            following = await self._ground(moment, situation)
            if following.action is not None:
                break
            self._end(state, situation)
            situation = self._situation(moment, agent)
        else:
            following = NextAction(questions.nearest_option(view).action)
        if not self._options.keep:  # as published
            state.announced.clear()
        return following

    @staticmethod
    def _end(state: AgentState, situation: Situation) -> None:
        """Give up a subplan of which nothing comes next, and say why: its task may be done before all of it is."""
        subplan, left = situation.subplan, planning.remaining_actions(situation)
        goal = situation.goals.get(subplan.goal) if subplan is not None and subplan.goal is not None else None
        if subplan is not None and goal is not None and goal.state != "open" and left:
            state.give_up(f"{goal.id} is {goal.state}", left)
        elif subplan is not None and not left:
            state.give_up("it is over")
        else:
            is_able = planning.next_action(situation).action is not None
            state.give_up("you found it done or pointless" if is_able else "nothing of it can be done now")

    async def _ground(self, moment: DecisionContext, situation: Situation) -> NextAction:
        """Return what comes next of the subplan; nobody is asked where that is no choice."""
        is_asked = self._options.by("ground") == "questions"
        forced = planning.forced_action(situation) if self._options.skip and is_asked else None
        if forced is not None:
            following, why = forced
            moment.note(_skipped(situation, questions.Ground, why))
            return following
        state, following = self._states[situation.agent], await self._solve(moment, questions.Ground(situation))
        subplan = situation.subplan
        if following.action is not None and (subplan is None or following.action not in subplan.actions):
            state.take_up(Subplan((following.action,), following.goal), situation.view)  # what is new is worth more
        else:
            state.reconsidered(situation.view)
        return following

    async def _solve(self, moment: DecisionContext, question: BeliefQuestion[Said, Result]) -> Result:
        """Infer the result of an operation, or ask for it, as the options say."""
        if self._options.by(question.operation) == "exact":
            return question.infer()
        return question.read(await moment.ask(question))

    async def _update(self, moment: DecisionContext, situation: Situation) -> Situation:
        """Update beliefs: of the world by each message, of each teammate by the dialogue."""
        state, view = self._states[situation.agent], situation.view
        if self._options.store == "tables":
            for message in situation.dialogue:
                if message.sender != situation.agent:
                    reading = questions.ReadMessage(situation, message.sender, (message,))
                    update = await self._solve(moment, reading)
                    state.learn(message, update, view)
                    if update.beliefs and self._infers and self._options.interrupt:
                        state.give_up("something new is known")
            if self._options.first_order and state.store.shared and self._options.skip:
                moment.note(_skipped(situation, questions.ReadDialogue, "all know what one has seen"))
            elif self._options.first_order:
                for teammate in situation.teammates:
                    question = questions.ReadDialogue(situation, teammate, situation.dialogue_with(teammate))
                    state.ascribe(teammate, await self._solve(moment, question), view.t)
        state.dialogue.clear()
        return self._situation(moment, situation.agent)

    async def _plan(self, moment: DecisionContext, situation: Situation) -> MessageDraft | None:
        """Take up a subplan, round announced plans if any; return a message if it is worth one."""
        state, options, view = self._states[situation.agent], self._options, situation.view
        is_passive, intents = self._is_passive(situation), dict[AgentId, Sequence[Intent]]()
        if is_passive:
            state.take_up(await self._solve(moment, questions.RemakePlan(situation)), view)
            situation = self._situation(moment, situation.agent)
            intents = {
                teammate: planning.announced_intents(situation, teammate)[:1] for teammate in situation.announced
            }
            if not options.correct or state.corrected:
                return None
        else:
            question = questions.MakePlan(situation)
            if options.by("predict") == "questions" and options.by("plan") == "exact":
                await moment.ask(question)  # for the record: where what is missing may be
            state.take_up(await self._solve(moment, question), view)
            state.corrected = False
            situation = self._situation(moment, situation.agent)
        if why := self._unasked(moment, situation):
            moment.note(_skipped(situation, questions.Assess, why))
            return None
        concerned = situation.teammates
        if options.skip:
            concerned = messages.concerned_teammates(situation, intents if is_passive else None)
        if not is_passive and options.foresee and options.gate == "assess":
            for teammate in concerned:
                intents[teammate] = await self._solve(moment, questions.PredictIntents(situation, teammate))
        if options.gate == "assess" and situation.teammates and not concerned:
            if options.by("assess") == "questions":
                moment.note(_skipped(situation, questions.Assess, "no message can pay"))
            return None
        assessment = await self._assess(moment, situation, intents)
        for prediction in _predictions(situation, intents, assessment):
            moment.note(prediction)
        if not assessment.speaks:
            state.judged = _to_judge(situation)
            return None
        state.corrected = is_passive
        return await self._draft(moment, situation, assessment)

    def _unasked(self, moment: DecisionContext, situation: Situation) -> str:
        """Return why no message can come of an assessment, so that nobody is asked for one; empty where one can."""
        state, options = self._states[situation.agent], self._options
        is_asked = options.skip and options.gate == "assess" and options.by("assess") == "questions"
        if not is_asked or not situation.teammates:
            return ""
        if not (moment.may_speak(situation.agent) and state.may_speak()):
            return "no message may be sent"
        return "nothing new to judge" if state.judged == _to_judge(situation) else ""

    async def _draft(
        self, moment: DecisionContext, situation: Situation, assessment: Assessment
    ) -> MessageDraft | None:
        draft = await self._solve(moment, questions.WriteMessage(situation, assessment))
        return draft if draft.text else None

    async def _assess(
        self, moment: DecisionContext, situation: Situation, intents: Mapping[AgentId, Sequence[Intent]]
    ) -> Assessment:
        """Decide whether to send a message: by what it is worth, or as the gate says otherwise."""
        state, gate = self._states[situation.agent], self._options.gate
        if gate == "never" or not situation.teammates:
            return Assessment(False)
        may_speak = moment.may_speak(situation.agent) and state.may_speak()
        if gate != "assess":
            sends = gate == "always" or state.rng.random() < self._options.rate
            return messages.assess_all(situation)._replace(speaks=sends and may_speak)
        frozen = {teammate: tuple(likely) for teammate, likely in intents.items()}
        assessment = await self._solve(moment, questions.Assess(situation, frozen))
        if may_speak and assessment.speaks and (self._options.keep or self._options.by("assess") == "exact"):
            return assessment._replace(speaks=not self._defers(situation, assessment))
        return assessment._replace(speaks=assessment.speaks and may_speak)

    # ---- warnings of danger

    def _assess_danger(self, moment: DecisionContext, situation: Situation) -> Assessment:
        """Return who is to be warned, once in so many steps.

        Warnings go beyond the agent's own cap, never beyond the rule of the run.
        """
        state, options = self._states[situation.agent], self._options
        is_due = situation.view.t >= state.warned + messages.WARNED_AHEAD and not state.store.shared
        warns = options.warn and options.gate == "assess" and self._domain.danger is not None
        may_warn = is_due and warns and moment.may_speak(situation.agent)
        return messages.assess_danger(situation) if may_warn else Assessment(False)

    async def _warn(self, moment: DecisionContext, situation: Situation) -> MessageDraft | None:
        """Return a warning, where teammates are in danger and cannot know it."""
        assessment = self._assess_danger(moment, situation)
        if not assessment.speaks or self._defers(situation, assessment):
            return None
        self._states[situation.agent].warned = situation.view.t
        return await self._draft(moment, situation, assessment)

    def _defers(self, situation: Situation, assessment: Assessment) -> bool:
        """Return whether an agent leaves its message to a teammate, once: then it speaks."""
        state = self._states[situation.agent]
        defers = not state.waited and messages.others_can_say(situation, assessment)
        state.deferred = state.deferred or defers
        return defers

    # ---- what it goes by

    def _is_passive(self, situation: Situation) -> bool:
        """Return whether plans are known that it must fit to; as published, those of all teammates."""
        is_complete = self._options.keep or len(situation.announced) == len(situation.teammates)
        return self._options.foresee and bool(situation.announced) and is_complete

    def _must_yield(self, situation: Situation) -> list[AgentId]:
        """Return whose fresh announcements the subplan has to give way to."""
        state = self._states[situation.agent]
        fresh, state.announced_since = state.announced_since, set()
        if situation.subplan is None or not self._options.foresee or not self._options.keep:
            return []
        return planning.must_yield(situation, [teammate for teammate in situation.teammates if teammate in fresh])

    def _team(self, moment: DecisionContext) -> dict[AgentId, str]:
        return {agent: self._spec.kinds[agent] for agent in moment.team}

    def _situation(self, moment: DecisionContext, agent: AgentId) -> Situation:
        running = moment.running.get(agent)
        return self._states[agent].situation(moment.views[agent], self._spec, self._team(moment), running)

    # ---- speaking and acting

    def _execute(self, moment: DecisionContext, agent: AgentId, turn: MessageDraft | NextAction) -> Decision:
        """Send or act, never both: who sends waits for the step."""
        view, state = moment.views[agent], self._states[agent]
        known = {goal.id for goal in open_goals(view.goals)}
        if isinstance(turn, MessageDraft):
            plan = turn.plan
            goal = plan.goal if plan is not None and plan.goal in known else None
            act: Literal["commit", "inform"] = "commit" if goal is not None else "inform"
            message = Message(agent, act, turn.text, goal, turn.facts, turn.recipients)
            moment.post(message)
            state.say(replace(message, text=message.whole), moment.t)
            running = moment.running.get(agent)
            own = state.subplan.actions if state.subplan is not None else ()
            state.has_turned = running is not None and running.actions[:1] != own[:1]
            if plan is not None:
                state.own_announcement = state.announce(agent, plan, moment.t, view)._replace(asks=turn.asks)
            state.committed = commit_to(moment, agent, state.committed, goal)
            return WAIT
        goal = turn.goal if turn.goal in known else None
        state.streak, state.last_goal = 0, goal
        state.committed = release_if_over(moment, agent, state.committed, goal)
        running = moment.running.get(agent)
        if running is not None and running.actions == (turn.action,):
            return CARRY
        state.subplan_actions += 1
        if turn.action is None or turn.action == WAIT_ACTION:
            return WAIT
        state.begin(turn.action, view)
        return Choice(Plan((turn.action,), goal), cause="subplan")


def _skipped(situation: Situation, question: type[Question[Any]], cause: str) -> QuestionSkipped:
    return QuestionSkipped(agent=situation.agent, purpose=question.kind, cause=cause)


def _has_failed(outcome: Outcome) -> bool:
    return outcome.status == "failed" and not outcome.is_stopped


def _to_judge(situation: Situation) -> Hashable:
    """Return what an assessment depends on beside the moment: where it is the same, the answer was given."""
    announced = tuple((teammate, plan.subplan.actions) for teammate, plan in situation.announced.items())
    lacking = tuple(frozenset(situation.missing_from(teammate, situation.facts)) for teammate in situation.teammates)
    return situation.subplan, announced, lacking


def _known_goals(view: View) -> tuple[object, ...]:
    """Return what an agent knows of goals: where it changes there is something new."""
    things = {goal.thing for goal in view.goals}
    kinds = {wanted_kind(goal) for goal in view.goals}
    seen = {
        fact.subject
        for fact in view.facts
        if not isinstance(fact.subject, str) and (fact.subject in things or fact.subject.kind in kinds)
    }
    return tuple((goal.id, goal.state) for goal in view.goals), frozenset(seen)


def _predictions(
    situation: Situation, intents: Mapping[AgentId, Sequence[Intent]], assessment: Assessment
) -> Iterator[Predict]:
    """Yield for the record which goals teammates are likely to have, and whose plans conflict."""
    for teammate, likely in intents.items():
        weights = defaultdict[str, float](float)
        for intent in likely:
            if intent.option.goal is not None:
                weights[intent.option.goal] += intent.weight
        if weights:
            goals = tuple(sorted(weights, key=lambda goal: -weights[goal]))
            top = min(1.0, weights[goals[0]])
            yield Predict(agent=situation.agent, subject="partner_goal", about=teammate, value=goals, confidence=top)
    if assessment.speaks and situation.subplan is not None:
        goal = situation.subplan.goal
        for teammate in assessment.against:
            yield Predict(agent=situation.agent, subject="conflict", about=teammate, value=goal)
