"""CoBel-World: symbolic beliefs about the world and about each other's beliefs, and talk only where these clash.

Each agent on its own goes through the same cycle (spec A10): take in what is seen and said; update beliefs of the world
and of what team-mates hold; plan, for itself or round what others announced; foresee what team-mates are up to; assess
whether plans or knowledge clash; then speak, which takes the step, or act. Every operation on beliefs is done by
asking a mind or by inference, as the options say. See the page on CoBel-World for what differs, and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel

from teamworld.language import Action, AgentId, Facts, GoalId, Plan, RuleSet, Schema
from teamworld.methods.cobel import exact, telling, warning
from teamworld.methods.cobel.asking import Asking
from teamworld.methods.cobel.declaring import Declared, predictions
from teamworld.methods.cobel.engine import Announced, Assessment, Engine, Intent, Letter, Situation, Subplan
from teamworld.methods.cobel.inferring import Exact
from teamworld.methods.cobel.mind import Mind
from teamworld.methods.cobel.options import VARIANTS, CobelOptions
from teamworld.methods.cobel.questions import INTENTS, QUESTIONS
from teamworld.methods.cobel.ruling import agreed
from teamworld.methods.cobel.store import Entry, Store
from teamworld.methods.common.commitments import commit_to, release_if_over
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
    Variant,
)
from teamworld.reasoning.contract import Question
from teamworld.worlds.contract import WAIT as NOTHING
from teamworld.worlds.contract import Option, View, danger, harms

#: Subplans that are found to be done within one step before the nearest option is taken (spec A10, step 6).
TURNS = 3


class Turn(NamedTuple):
    """What an agent has decided: to send a message, or to act; and what it puts on record of its beliefs."""

    letter: Letter | None = None
    action: Action | None = None
    goal: GoalId | None = None


class Cobel(Method):
    """A team whose members believe, and believe that others believe."""

    name: ClassVar[str] = "cobel"
    summary: ClassVar[str] = "CoBel-World: symbolic beliefs of the world and of each other; a message where these clash"
    options: ClassVar[type[BaseModel]] = CobelOptions
    questions: ClassVar[tuple[type[Question[Any]], ...]] = QUESTIONS
    variants: ClassVar[Mapping[str, Variant]] = VARIANTS
    talk: ClassVar[Mapping[str, Any]] = MappingProxyType({"ticks": 1, "paid_by": "speaker"})
    """The published rule of messages in C-WAH: one takes the speaker its step."""

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        self._options = CobelOptions.model_validate(options, from_attributes=True)

    async def begin(self, briefing: Briefing) -> None:
        """Start with empty stores and the rules that the world's relations make."""
        self._spec, self._domain, options = briefing.spec, briefing.domain, self._options
        self._schema = Schema(briefing.domain.relations, briefing.spec.agents)
        rules = RuleSet.of(self._schema)
        self._agreed = options.rules == "schema" or not options.ruled or options.store == "text"
        self._minds = {
            agent: Mind(
                agent,
                Store(
                    agent,
                    self._schema,
                    briefing.domain,
                    briefing.spec.memory == "team",
                    tuple(mate for mate in briefing.spec.agents if mate != agent),
                ),
                rules,
                options,
                briefing.rng("cobel", "gate", agent),
                int(briefing.rng("cobel", "worlds", agent).integers(1 << 62)),
            )
            for agent in briefing.agents
        }
        self._declared = {agent: Declared() for agent in briefing.agents}

    @property
    def _infers(self) -> bool:
        """Whether plans are inferred: they cost no question, so they are made anew whenever something new is known."""
        return self._options.by("plan") == "exact"

    # ---- triggers

    def watch(self, moment: DecisionContext) -> Collection[AgentId]:
        """Name busy agents that think anew: they see something new, or a plan was announced that clashes (C6)."""
        return tuple(agent for agent in moment.running if self._stopped(moment, agent))

    def _stopped(self, moment: DecisionContext, agent: AgentId) -> bool:
        view, mind = moment.views[agent], self._minds[agent]
        if not view.is_able:
            return False
        mind.observe(view, self._team(moment))
        if mind.deferred or _news(view) != mind.known or self._endangered(moment, agent):
            return True
        return self._options.interrupt and any(
            self._tells(agent, one) or self._clashes(moment, agent, one) for one in moment.inbox(agent)
        )

    def _tells(self, agent: AgentId, message: Message) -> bool:
        """Return whether a message that it has not read yet says something of the world."""
        return self._infers and bool(message.facts) and message.id not in self._minds[agent].heard

    def _endangered(self, moment: DecisionContext, agent: AgentId) -> bool:
        """Return whether an agent is told that it is in danger, or has to tell that somebody else is."""
        if not self._options.warn or self._store(agent).shared or not harms(self._domain):
            return False
        view, given = moment.views[agent], self._store(agent).given(moment.views[agent])
        new = [message for message in moment.inbox(agent) if message.id not in self._minds[agent].heard]
        told = Facts((*given, *(fact for message in new for fact in message.facts)), given.seen)
        if new and danger(self._domain, agent, warning.AHEAD, told) > danger(self._domain, agent, warning.AHEAD, given):
            return True
        if view.t < self._minds[agent].warned + warning.AHEAD:
            return False
        return self._dangers(moment, self._situation(moment, view.agent)).clash

    def _store(self, agent: AgentId) -> Store:
        return self._minds[agent].store

    def _clashes(self, moment: DecisionContext, agent: AgentId, message: Message) -> bool:
        """Return whether a message announces a plan that clashes with what the agent is doing."""
        told, running = exact.read_plan(message), moment.running[agent]
        if told is None or message.id in self._minds[agent].heard:
            return False
        given = self._minds[agent].store.given(moment.views[agent])
        doing = exact.options_of(self._domain, agent, Subplan(running.actions, running.goal), given)
        theirs = exact.options_of(self._domain, message.sender, told, given)
        return any(self._domain.conflict_cost(one, other, given) > 0 for one in doing for other in theirs)

    # ---- the cycle

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        """One step: all agents that are free think at the same time, then speak or act in order."""
        if not self._agreed:
            self._agreed = True
            for mind, rules in zip(self._minds.values(), [await self._rules(moment)] * len(self._minds), strict=True):
                mind.rules = rules
        engine = Engines(self._options, moment)
        turns = await moment.together({agent: self._cycle(moment, engine, agent) for agent in moment.free})
        decisions = {agent: self._execute(moment, agent, turn) for agent, turn in turns.items()}
        for agent in moment.free:  # what was said in this step is read in the next one
            self._minds[agent].read(moment.inbox(agent))
        return decisions

    async def _rules(self, moment: DecisionContext) -> RuleSet:
        """Lay down the belief rules: one agent proposes, others review (spec A4)."""
        return await agreed(moment, self._spec.task, self._schema, self._options.rounds)

    async def _cycle(self, moment: DecisionContext, engine: Engines, agent: AgentId) -> Turn:
        """Take in, update, plan, foresee, assess, then speak or ground the subplan (spec A10)."""
        view, mind = moment.views[agent], self._minds[agent]
        mind.observe(view, self._team(moment))
        mind.read(moment.inbox(agent))
        known, mind.known = mind.known, _news(view)
        if known != mind.known and self._infers:  # what it has set out to do was the best without knowing this
            mind.subplan = None
        if mind.deferred:  # what it would have said is assessed anew
            mind.subplan = None
        mind.waited, mind.deferred = mind.deferred and not mind.dialogue, False
        now = self._situation(moment, agent)
        if mind.dialogue:
            now = await self._update(moment, engine, now)
        self._declare(moment, now)
        if self._must_yield(now) or self._failed(now):
            mind.subplan = None
            now = self._situation(moment, agent)
        letter = await self._warn(moment, engine, now)
        if letter is not None:
            return Turn(letter=letter)
        for _ in range(TURNS):
            if mind.subplan is None or mind.taken >= self._options.actions:
                letter = await self._plan(moment, engine, now)
                if letter is not None:
                    return Turn(letter=letter)
                now = self._situation(moment, agent)
            found = await engine.of("ground").ground(now)
            if found.action is not None:
                self._forget(mind)
                return Turn(action=found.action, goal=found.goal)
            mind.subplan = None
            now = self._situation(moment, agent)
        self._forget(mind)
        return Turn(action=_nearest(view))

    async def _update(self, moment: DecisionContext, engine: Engines, now: Situation) -> Situation:
        """Update beliefs by what was said: of the world by each message, of each team-mate by the dialogue (A6.2)."""
        mind, view = self._minds[now.me], now.view
        if self._options.store == "tables":
            for message in now.dialogue:
                if message.sender != now.me:
                    told = await engine.of("hear").hear(now, message)
                    mind.learn(message, told, view)
                    if told.beliefs and self._infers and self._options.interrupt:
                        mind.subplan = None
            if self._options.first_order:
                for mate in now.mates:
                    mind.ascribe(mate, await engine.of("model").model_teammate(now, mate), view.t)
        mind.dialogue.clear()
        return self._situation(moment, now.me)

    async def _plan(self, moment: DecisionContext, engine: Engines, now: Situation) -> Letter | None:
        """Take up a new subplan: round what others announced, else one's own; return a message if it is worth one."""
        mind = self._minds[now.me]
        mind.seek(now.unknowns)
        passive = self._passive(now)
        if passive:
            mind.take_up(await engine.of("replan").replan(now), now.view.t)
            now = self._situation(moment, now.me)
            intents = _as_intents(now)
            if not self._options.correct or mind.corrected:
                return None
        else:
            values = await engine.of("predict").predict_world(now)
            mind.take_up(await engine.of("plan").plan(now), now.view.t)
            mind.store.guesses = tuple(
                Entry(fact, chance, now.view.t, "predicted") for some in values.values() for fact, chance in some
            )
            mind.corrected = False
            now = self._situation(moment, now.me)
            intents = await self._foresee(engine, now)
        found = await self._assess(moment, engine, now, intents)
        for event in predictions(now, intents, found):
            moment.note(event)
        if not found.clash:
            return None
        mind.corrected = passive
        letter = await engine.of("compose").compose(now, found)
        return letter if letter.text else None

    def _dangers(self, moment: DecisionContext, now: Situation) -> Assessment:
        """Return who is to be warned of a danger: whatever the agent's own cap says, not beyond the rule of the run."""
        may = self._options.warn and self._speaks() and harms(self._domain) and moment.may_speak(now.me)
        if not may or self._store(now.me).shared:
            return Assessment(False)
        return warning.warnings(now)

    async def _warn(self, moment: DecisionContext, engine: Engines, now: Situation) -> Letter | None:
        """Return a warning, where team-mates are in danger and cannot know it (D13), once in so many ticks."""
        mind = self._minds[now.me]
        if now.view.t < mind.warned + warning.AHEAD:
            return None
        found = self._dangers(moment, now)
        if not found.clash or self._defers(now, found):
            return None
        mind.warned = now.view.t
        letter = await engine.of("compose").compose(now, found)
        return letter if letter.text else None

    def _defers(self, now: Situation, found: Assessment) -> bool:
        """Return whether an agent leaves its word to a team-mate who can say the same: once, then it speaks itself."""
        mind = self._minds[now.me]
        defers = not mind.waited and telling.others_say(now, found)
        mind.deferred = mind.deferred or defers
        return defers

    async def _foresee(self, engine: Engines, now: Situation) -> dict[AgentId, Sequence[Intent]]:
        """Predict what each team-mate may be up to (spec A7)."""
        if not self._options.foresee or not self._speaks():
            return {}
        return {mate: await engine.of("intents").predict_intents(now, mate, INTENTS) for mate in now.mates}

    async def _assess(
        self, moment: DecisionContext, engine: Engines, now: Situation, intents: Mapping[AgentId, Sequence[Intent]]
    ) -> Assessment:
        """Decide whether to send a message: by what it is worth, or as the gate says otherwise (C21)."""
        mind, gate = self._minds[now.me], self._options.gate
        able = bool(now.mates) and moment.may_speak(now.me) and mind.may_speak()
        if gate == "never" or not now.mates:
            return Assessment(False)
        if gate == "assess":
            found = await engine.of("assess").assess(now, intents)
            defers = able and found.clash and self._options.by("assess") == "exact" and self._defers(now, found)
            return found if able and not defers else found._replace(clash=False)
        sends = gate == "always" or mind.rng.random() < self._options.rate
        return telling.everything(now)._replace(clash=sends and able)

    # ---- what it goes by

    def _speaks(self) -> bool:
        return self._options.gate == "assess"

    def _passive(self, now: Situation) -> bool:
        """Return whether plans are known that it must fit to; as published, those of all team-mates (spec A9)."""
        if not self._options.foresee or not now.announced:
            return False
        return self._options.keep or len(now.announced) == len(now.mates)

    def _must_yield(self, now: Situation) -> bool:
        """Return whether somebody announced something since the last cycle that clashes with its subplan (C26)."""
        mind = self._minds[now.me]
        fresh, mind.fresh = mind.fresh & now.yields, set()
        if now.subplan is None or not self._options.foresee or not self._options.keep:
            return False
        mine = exact.options_of(self._domain, now.me, now.subplan, now.given)
        theirs = [option for mate in fresh for option in exact.steps_of(now, mate, now.announced[mate])]
        return any(self._domain.conflict_cost(one, other, now.given) > 0 for one in mine for other in theirs)

    def _failed(self, now: Situation) -> bool:
        """Return whether an action of the subplan has failed."""
        return any(outcome.status == "failed" for outcome in now.done)

    def _forget(self, mind: Mind) -> None:
        """As published, announced plans are forgotten at the end of the cycle."""
        if not self._options.keep:
            mind.announced.clear()

    def _team(self, moment: DecisionContext) -> dict[AgentId, str]:
        return {agent: self._spec.kinds[agent] for agent in moment.team}

    def _situation(self, moment: DecisionContext, agent: AgentId) -> Situation:
        view, mind = moment.views[agent], self._minds[agent]
        mind.prune(view, self._domain, {goal.id: goal.state for goal in view.goals})
        done = [
            outcome
            for outcome in view.history
            if mind.subplan is not None and outcome.start >= mind.began and outcome.action.verb != "talk"
        ]
        return mind.situation(view, self._spec.task, self._team(moment), done)

    def _declare(self, moment: DecisionContext, now: Situation) -> None:
        for event in self._declared[now.me].changes(now, self._minds[now.me]):
            moment.note(event)

    # ---- speaking and acting

    def _execute(self, moment: DecisionContext, agent: AgentId, turn: Turn) -> Decision:
        """Send or act. Who sends waits for the step, which the run's rule may charge as talk: never both."""
        view, mind = moment.views[agent], self._minds[agent]
        known = {goal.id for goal in view.goals if goal.state == "open"}
        if turn.letter is not None:
            letter, plan = turn.letter, turn.letter.plan
            goal = plan.goal if plan is not None and plan.goal in known else None
            act: Act = "commit" if goal is not None else "inform"
            message = Message(agent, act, letter.text, goal, letter.facts, letter.to)
            moment.post(message)
            mind.say(message, moment.t)
            if plan is not None:
                given = mind.store.given(view)
                ticks = sum(one.steps for one in exact.options_of(self._domain, agent, plan, given))
                mind.mine = Announced(plan, moment.t, max(1, ticks))
            mind.bound = commit_to(moment, agent, mind.bound, goal)
            return WAIT
        goal = turn.goal if turn.goal in known else None
        mind.streak, mind.at = 0, goal
        mind.taken += 1
        mind.bound = release_if_over(moment, agent, mind.bound, goal)
        action = turn.action
        if action is None or action == NOTHING:
            return WAIT
        running = moment.running.get(agent)
        if running is not None and running.actions == (action,):
            return CARRY
        return Choice(Plan((action,), goal), cause="subplan")


class Engines:
    """Who does which operation in one moment.

    Args:
        options: That say so.
        moment: Where minds can be asked.
    """

    def __init__(self, options: CobelOptions, moment: DecisionContext) -> None:
        self._options = options
        self._engines: Mapping[str, Engine] = {"questions": Asking(moment), "exact": Exact()}

    def of(self, operation: str) -> Engine:
        """Return the engine for an operation."""
        return self._engines[self._options.by(operation)]


def _news(view: View) -> tuple[object, ...]:
    """Return what an agent knows of goals: where it changes there is something new (spec A10, step 2)."""
    things = {goal.thing for goal in view.goals}
    kinds = {value for goal in view.goals for key, value in goal.features if key == "thing"}
    seen = {
        fact.subject
        for fact in view.facts
        if not isinstance(fact.subject, str) and (fact.subject in things or fact.subject.kind in kinds)
    }
    return tuple((goal.id, goal.state) for goal in view.goals), frozenset(seen)


def _as_intents(now: Situation) -> dict[AgentId, Sequence[Intent]]:
    """Return announced plans as intents: nothing is foreseen beside them (spec A9)."""
    found: dict[AgentId, Sequence[Intent]] = {}
    for mate, one in now.announced.items():
        (option, *_) = exact.steps_of(now, mate, one)
        found[mate] = (Intent(mate, one.subplan, now.options.kept, option.steps),)
    return found


def _nearest(view: View) -> Action:
    """Return the nearest option that is neither to wait nor to talk."""
    options: Sequence[Option] = [option for option in view.options if option.action.verb not in ("wait", "talk")]
    near = min(options, key=lambda option: option.steps, default=None)
    return NOTHING if near is None else near.action
