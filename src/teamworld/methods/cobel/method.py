"""CoBel-World: symbolic beliefs of the world and of each other; talk only where these conflict.

Each agent goes through the paper's cycle: update beliefs of the world (zero order) and of what teammates hold (first
order), plan, predict teammates, assess miscoordination, then speak or act. The options say which of these operations
a reasoner is asked for. What differs from the paper: docs/reference/methods/cobel.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Final, cast

from pydantic import BaseModel

from teamworld.language import AgentId, Facts, Plan, RuleSet, Schema
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
from teamworld.record import Predict
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import WAIT as WAIT_ACTION
from teamworld.worlds.contract import Capability, Option, View

#: Subplans that are found to be done within one step before the nearest option is taken.
TURNS: Final = 3


class Cobel(Method):
    """A team whose members hold beliefs about the world, and about each other's beliefs."""

    name: ClassVar[str] = "cobel"
    summary: ClassVar[str] = "CoBel-World: symbolic beliefs of the world and of each other; a message where these clash"
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
        if state.deferred or _known_goals(view) != state.known_goals or self._is_endangered(moment, agent):
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
        return [message for message in moment.inbox(agent) if message.id not in self._states[agent].heard]

    def _conflicts(self, moment: DecisionContext, agent: AgentId, message: Message) -> bool:
        """Return whether a message announces a plan that conflicts with the agent's."""
        announced, plan = messages.read_plan(message), moment.running[agent]
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
            rules = await agree_on_rules(moment, self._spec.task, self._schema, self._options.rounds)
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
        if state.deferred or (known != state.known_goals and self._infers):
            state.subplan = None  # it was the best without knowing this
        state.waited, state.deferred = state.deferred and not state.dialogue, False
        situation = self._situation(moment, agent)
        if state.dialogue:
            situation = await self._update(moment, situation)
        for belief in state.declare(situation, messages.untold_facts(situation)):
            moment.note(belief)
        if self._must_yield(situation) or any(outcome.status == "failed" for outcome in situation.outcomes):
            state.subplan = None
            situation = self._situation(moment, agent)
        draft = await self._warn(moment, situation)
        if draft is not None:
            return draft
        for _ in range(TURNS):
            if state.subplan is None or state.subplan_actions >= self._options.actions:
                draft = await self._plan(moment, situation)
                if draft is not None:
                    return draft
                situation = self._situation(moment, agent)
            following = await self._solve(moment, questions.Ground(situation))
            if following.action is not None:
                break
            state.subplan = None
            situation = self._situation(moment, agent)
        else:
            following = NextAction(questions.nearest_option(view).action)
        if not self._options.keep:  # as published
            state.announced.clear()
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
                        state.subplan = None
            if self._options.first_order:
                for teammate in situation.teammates:
                    question = questions.ReadDialogue(situation, teammate, situation.dialogue_with(teammate))
                    state.ascribe(teammate, await self._solve(moment, question), view.t)
        state.dialogue.clear()
        return self._situation(moment, situation.agent)

    async def _plan(self, moment: DecisionContext, situation: Situation) -> MessageDraft | None:
        """Take up a subplan, round announced plans if any; return a message if it is worth one."""
        state, options, t = self._states[situation.agent], self._options, situation.view.t
        is_passive, intents = self._is_passive(situation), dict[AgentId, Sequence[Intent]]()
        if is_passive:
            state.take_up(await self._solve(moment, questions.RemakePlan(situation)), t)
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
            state.take_up(await self._solve(moment, question), t)
            state.corrected = False
            situation = self._situation(moment, situation.agent)
            if options.foresee and options.gate == "assess":
                for teammate in situation.teammates:
                    intents[teammate] = await self._solve(moment, questions.PredictIntents(situation, teammate))
        assessment = await self._assess(moment, situation, intents)
        for prediction in _predictions(situation, intents, assessment):
            moment.note(prediction)
        if not assessment.speaks:
            return None
        state.corrected = is_passive
        return await self._draft(moment, situation, assessment)

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
        if may_speak and assessment.speaks and self._options.by("assess") == "exact":
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

    def _must_yield(self, situation: Situation) -> bool:
        """Return whether a fresh announcement conflicts with its subplan."""
        state = self._states[situation.agent]
        fresh, state.announced_since = state.announced_since & situation.yields_to, set()
        if situation.subplan is None or not self._options.foresee or not self._options.keep:
            return False
        intents = (intent for teammate in fresh for intent in planning.announced_intents(situation, teammate))
        theirs = [intent.option for intent in intents]
        return self._do_conflict(situation.own_options, theirs, situation.facts)

    def _team(self, moment: DecisionContext) -> dict[AgentId, str]:
        return {agent: self._spec.kinds[agent] for agent in moment.team}

    def _situation(self, moment: DecisionContext, agent: AgentId) -> Situation:
        return self._states[agent].situation(moment.views[agent], self._spec.task, self._team(moment))

    # ---- speaking and acting

    def _execute(self, moment: DecisionContext, agent: AgentId, turn: MessageDraft | NextAction) -> Decision:
        """Send or act, never both: who sends waits for the step."""
        view, state = moment.views[agent], self._states[agent]
        known = {goal.id for goal in open_goals(view.goals)}
        if isinstance(turn, MessageDraft):
            text, facts, plan, recipients = turn
            goal = plan.goal if plan is not None and plan.goal in known else None
            message = Message(agent, "commit" if goal is not None else "inform", text, goal, facts, recipients)
            moment.post(message)
            state.say(message, moment.t)
            if plan is not None:
                state.own_announcement = state.announce(agent, plan, moment.t, view)
            state.committed = commit_to(moment, agent, state.committed, goal)
            return WAIT
        goal = turn.goal if turn.goal in known else None
        state.streak, state.last_goal = 0, goal
        state.subplan_actions += 1
        state.committed = release_if_over(moment, agent, state.committed, goal)
        if turn.action is None or turn.action == WAIT_ACTION:
            return WAIT
        running = moment.running.get(agent)
        if running is not None and running.actions == (turn.action,):
            return CARRY
        return Choice(Plan((turn.action,), goal), cause="subplan")


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
