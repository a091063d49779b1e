"""Inference over beliefs: what messages tell, what agents could do next, what teammates intend, and what to do.

All of it goes through the world's ``Domain``. A prospect is worth the goal's weight times the share of its work that it
does (for a look around the chance that it reveals what is missing) over the ticks that it takes. Teammates are taken to
choose by that worth under what they hold: a Boltzmann prior, updated by their steps and by the plans they announced.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum
from typing import Final, NamedTuple, TypeVar

from teamworld.language import Action, AgentId, Fact, Facts, GoalId, ParseError, Term, parse_action
from teamworld.methods.cobel.situation import (
    Announcement,
    BeliefUpdate,
    Intent,
    NextAction,
    Situation,
    Subplan,
    plan_options,
)
from teamworld.methods.contract import Message
from teamworld.planning.candidates import MIN_SHARE, complete_action, nearest_ticks
from teamworld.planning.fetch import carrying_capacity, fetch_options, missing_things
from teamworld.planning.goals import filter_workable
from teamworld.planning.simulate import SimulatedPlan, simulate_plan
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import WAIT, Goal, ImpossibleFacts, LatentVariable, Option

#: Prospects that are looked at closely, the nearest of each sort.
CLOSE: Final = 24
#: By how much more a goal counts that the agent is at already, so that nobody wavers between equals.
STICK: Final = 1.3
#: Share of its gain that a prospect keeps where others are expected to suffice: they may not come.
CROWDED: Final = 0.1
#: Share of its worth that a prospect keeps though teammates are sure to be first: they may do something else.
FLOOR: Final = 0.1
#: Utility that a place in the order of the world's options costs, relative to the best option.
RANK: Final = 0.02
#: Intents of each teammate that count into the agent's own plan.
COUNTED: Final = 8

H = TypeVar("H", bound=Hashable)
_PLAN = re.compile(r"I will: (.{1,400}?)\.(?:\s|$)")


# ---- what was said


def read_message(situation: Situation, message: Message) -> BeliefUpdate:
    """Return the facts that a message carries and its plan. A plan is never a fact."""
    facts = tuple(fact for fact in dict.fromkeys(message.facts) if situation.schema.statable(fact))
    return BeliefUpdate(facts, read_plan(message))


def read_plan(message: Message) -> Subplan | None:
    """Return the plan that a message announces in the form of ``message_value.word_message``, if any."""
    match = _PLAN.search(message.text)
    if match is None:
        return None
    try:
        actions = tuple(parse_action(text.strip()) for text in match[1].partition(" for ")[0].split(";"))
    except ParseError:
        return None
    return Subplan(actions, message.goal)


def read_dialogue(situation: Situation, teammate: AgentId) -> BeliefUpdate:
    """Return what a teammate holds after a dialogue: what it said, and what was said to it."""
    facts: dict[Fact, None] = {}
    plan: Subplan | None = None
    for message in situation.dialogue:
        if teammate == message.sender or message.recipients is None or teammate in message.recipients:
            facts.update(dict.fromkeys(fact for fact in message.facts if situation.schema.statable(fact)))
        if teammate == message.sender:
            plan = read_plan(message) or plan
    return BeliefUpdate(tuple(facts), plan)


# ---- what an agent could do


@dataclass(frozen=True)
class Prospect:
    """Some actions in a row, and what they come to."""

    actions: tuple[Action, ...]
    goal: GoalId | None
    ticks: int
    gain: float
    """Weight of the work that it does; expected, where it looks for something."""
    first: int
    """Ticks of its first action."""
    need: int = 1
    """Agents that its goal takes at once."""
    chance: float = 1.0
    """How likely something comes of it: 1 for work at hand."""
    own: bool = False
    """Nobody else can do it for the agent: it carries something."""
    near: int | None = None
    """Ticks of the agent's nearest option for the goal, where it works at the goal itself."""
    hold: Action | None = None
    """What its plan begins with and was passed over, for it would change nothing: to take one's place anew by."""

    @property
    def rate(self) -> float:
        """Gain a tick, for each of the agents that it takes."""
        return self.gain / (self.ticks * self.need)

    @property
    def option(self) -> Option:
        """Its first action as an option."""
        return Option(self.actions[0], self.goal, self.first)


@dataclass(frozen=True)
class Outlook:
    """What one agent could do if some facts hold; worked out once for each collection of facts."""

    agent: AgentId
    kind: str
    domain: BeliefDomain

    def __call__(self, facts: Facts) -> tuple[Prospect, ...]:
        """Return its prospects, those toward goals first."""
        return tuple(_Search(self, facts).prospects())

    def prospects(self, facts: Facts) -> tuple[Prospect, ...]:
        """Return its prospects; none where the domain can make nothing of what is believed."""
        try:
            return facts.derive(self)
        except ImpossibleFacts:
            return ()


class _Search:
    """Works out an outlook."""

    def __init__(self, outlook: Outlook, facts: Facts) -> None:
        self.agent, self.domain, self.facts = outlook.agent, outlook.domain, facts
        self.goals = {goal.id: goal for goal in filter_workable(self.domain.goals(facts), outlook.kind)}
        self.latents = self.domain.beliefs.latent_variables(facts)
        self.options = self.domain.options(self.agent, facts)

    def prospects(self) -> Iterable[Prospect]:
        """Return plans toward goals, looks around, and what else can be done."""
        if carrying_capacity(self.domain) > 1:
            return [*self._fetches(), *map(_aside, self._needless())]
        best: dict[tuple[Action, ...], Prospect] = {}
        for prospect in (*self._works(), *self._looks(), *self._needless_prospects()):
            old = best.get(prospect.actions)
            if old is None or prospect.rate > old.rate:
                best[prospect.actions] = prospect
        return best.values()

    def _works(self) -> Iterable[Prospect]:
        """Yield plans toward goals; those that only look around count by what they may reveal."""
        near = nearest_ticks(self.options)
        for goal in sorted(self.goals.values(), key=lambda goal: (near.get(goal.id, 1 << 30), goal.id))[:CLOSE]:
            for plan in self.domain.candidate_plans(goal, self.agent, self.facts)[:CLOSE]:
                run = self._simulate(plan.actions).trimmed
                if not run.ok or not run.actions:
                    continue
                share = run.share(goal)
                if share <= 0 and self.latents:
                    continue
                yield Prospect(
                    actions=run.actions,
                    goal=goal.id,
                    ticks=max(1, run.ticks),
                    gain=goal.weight * max(share, MIN_SHARE * (MIN_SHARE if run.still else 1)),
                    first=max(1, run.spans[0]),
                    need=max(1, goal.quorum),
                    near=near.get(goal.id, max(1, run.spans[0])),
                    hold=plan.actions[0] if len(run.actions) < len(plan.actions) else None,
                )

    def _fetches(self) -> Iterable[Prospect]:
        """Yield what an agent with several hands could do next."""
        wanted = missing_things(self.goals.values(), self.facts, {})
        targets = {goal.thing for goal in self.goals.values() if goal.thing is not None}
        for option, gain, chance, own in fetch_options(
            self.agent, self.domain, self.facts, self.options, wanted, targets
        ):
            ticks = max(1, option.steps)
            yield Prospect((option.action,), option.goal, ticks, gain, ticks, chance=min(1.0, chance), own=own)

    def _looks(self) -> Iterable[Prospect]:
        """Yield options as ways to look around."""
        if self.latents:
            for action in dict.fromkeys(option.action for option in self.options):
                if action != WAIT and action.verb != "talk":
                    look = self._look(self._simulate((action,)))
                    if look is not None:
                        yield look

    def _look(self, run: SimulatedPlan) -> Prospect | None:
        """Return some actions in a row as a look around from where they end; None where that reveals nothing."""
        if not run.ok:
            return None
        seen: dict[tuple[str, Term], float] = {}
        for value in (value for latent in self.latents for value in latent.values):
            key = value.fact.predicate, value.fact.value  # what stands for like things is seen alike
            if key not in seen:
                seen[key] = self.domain.beliefs.observation_probability(value.fact, self.agent, run.then)
        chance = 1 - math.prod(1 - _revealed(latent, seen) for latent in self.latents)
        ticks, first = max(1, run.ticks), max(1, run.spans[0])
        return Prospect(run.actions, None, ticks, chance, first, chance=chance) if chance > 0 else None

    def _simulate(self, actions: tuple[Action, ...]) -> SimulatedPlan:
        return simulate_plan(actions, self.agent, self.facts, self.domain)

    def _needless(self) -> Iterable[SimulatedPlan]:
        """Return what the agent does that no goal needs: out of the way, or looking around."""
        plans = self.domain.candidate_plans(None, self.agent, self.facts)[:3]
        return [run for run in (self._simulate(plan.actions).trimmed for plan in plans) if run.ok]

    def _needless_prospects(self) -> Iterable[Prospect]:
        """Yield the same as prospects: ways to look as such, and nothing above what the world names before it.

        The way to ground that nobody has seen takes many ticks, a wait takes one: by ticks alone nobody would ever go.
        """
        most = math.inf
        for run in self._needless():
            aside = _aside(run)
            most = min(most, aside.rate)
            # who waits sees what it saw before
            look = self._look(run) if self.latents and not run.still else None
            yield look or replace(aside, gain=most * aside.ticks)


def _aside(run: SimulatedPlan) -> Prospect:
    return Prospect(run.actions, None, max(1, run.ticks), MIN_SHARE**3, run.spans[0], chance=0.0)


def _revealed(latent: LatentVariable, seen: Mapping[tuple[str, Term], float]) -> float:
    """Return how likely an agent perceives the value of a latent variable where it then is."""
    total = fsum(value.weight for value in latent.values)
    visible = fsum(value.weight * seen[value.fact.predicate, value.fact.value] for value in latent.values)
    return visible / total if total > 0 else 0.0


def outlook(situation: Situation, agent: AgentId, facts: Facts) -> tuple[Prospect, ...]:
    """Return what an agent could do if it believes some facts."""
    return Outlook(agent, situation.team[agent], situation.domain).prospects(facts)


def by_action(prospects: Iterable[Prospect]) -> dict[Action, Prospect]:
    """Return the best prospect that begins with each action."""
    best: dict[Action, Prospect] = {}
    for prospect in prospects:
        old = best.get(prospect.actions[0])
        if old is None or prospect.rate > old.rate:
            best[prospect.actions[0]] = prospect
    return best


# ---- what a teammate intends: a posterior over its options


def prior(utilities: Mapping[H, float], tau: float) -> dict[H, float]:
    """Return how likely each option is to be chosen: P(h) in proportion to exp(U(h) / tau).

    Args:
        utilities: Value less cost of each option, under the agent's beliefs.
        tau: Above 0; the utility that makes an option e times as likely.

    Returns:
        Probabilities that add up to 1, in the order of the utilities.
    """
    best = max(utilities.values(), default=0.0)
    return _normal({option: exp((utility - best) / tau) for option, utility in utilities.items()}, {})


def after_step(intents: Mapping[H, float], regrets: Mapping[H, float], beta: float) -> dict[H, float]:
    """Return the posterior once the agent was seen to act: P(h) times exp(-beta * regret).

    Args:
        intents: The probabilities before.
        regrets: For each intent, cost-to-go after the act less the best cost-to-go: what the act loses if that were
            the intent. An intent that is not named loses nothing.
        beta: Weight of a lost tick, at least 0.
    """
    losses = {option: regrets.get(option, 0.0) for option in intents}
    least = min((loss for option, loss in losses.items() if intents[option] > 0), default=0.0)
    weights = {option: p * exp(-beta * max(0.0, losses[option] - least)) for option, p in intents.items()}
    return _normal(weights, intents)


def after_word(intents: Mapping[H, float], announced: H, trust: float) -> dict[H, float]:
    """Return the posterior once the agent has announced a plan, which it carries out with the chance ``trust``.

    Otherwise it does any of the others alike. A plan that nobody had thought of gets the chance ``trust``.
    """
    if announced not in intents:
        return {option: p * (1 - trust) for option, p in intents.items()} | {announced: trust if intents else 1.0}
    if len(intents) == 1:
        return dict(intents)
    wrong = (1 - trust) / (len(intents) - 1)
    return _normal({option: p * (trust if option == announced else wrong) for option, p in intents.items()}, intents)


def likeliest(intents: Mapping[H, float], most: int) -> list[tuple[H, float]]:
    """Return the likeliest intents, likeliest first and in the order of the table where equal."""
    return sorted(intents.items(), key=lambda entry: -entry[1])[:most]


def _normal(weights: dict[H, float], otherwise: Mapping[H, float]) -> dict[H, float]:
    """Return weights that add up to 1, or the other table where all are 0."""
    total = fsum(weights.values())
    return {option: weight / total for option, weight in weights.items()} if total > 0 else dict(otherwise)


class Expected(NamedTuple):
    """What an agent may do, and how likely."""

    agent: AgentId
    option: Option
    weight: float


def predict_intents(situation: Situation, teammate: AgentId, most: int) -> list[Intent]:
    """Return a teammate's likeliest next steps by what it holds, what it was seen to do and what it announced.

    Where a goal takes several agents it counts on the others as far as it can expect them there.
    """
    prospects = by_action(outlook(situation, teammate, situation.ascribed[teammate]))
    rates = {action: prospect.rate for action, prospect in prospects.items()}
    joint = {action: prospect for action, prospect in prospects.items() if prospect.need > 1}
    if joint:
        others = [item for other in situation.team if other != teammate for item in _expect_alone(situation, other)]
        rates |= {action: p.gain / _agent_ticks(situation, teammate, p, others) for action, p in joint.items()}
    announcement = situation.announced.get(teammate)
    intents = []
    for action, weight in likeliest(_posterior(situation, teammate, rates, announcement), most):
        prospect = prospects.get(action)
        if prospect is not None:
            subplan = Subplan(prospect.actions[: situation.options.actions], prospect.goal)
            intents.append(Intent(teammate, subplan, weight, prospect.first))
        elif announcement is not None:
            intents.append(Intent(teammate, announcement.subplan, weight, max(1, announcement.ticks)))
    return intents


def _posterior(
    situation: Situation, agent: AgentId, rates: Mapping[Action, float], announcement: Announcement | None
) -> dict[Action, float]:
    """Return how likely an agent begins with each action, by its rates, its steps and its word."""
    options = situation.options
    top = max(rates.values(), default=0.0)
    order = sorted(rates, key=lambda action: -rates[action])  # of equals the first is taken first
    utilities = {a: (rates[a] / top if top > 0 else 0.0) - RANK * place for place, a in enumerate(order)}
    table = after_step(prior(utilities, options.tau), situation.regrets.get(agent, {}), options.beta)
    if announcement is not None and announcement.subplan.actions:
        actions = announcement.subplan.actions
        current = next((action for action in actions if action in table), actions[0])
        table = after_word(table, current, options.kept)
    return table


def _expect_alone(situation: Situation, agent: AgentId) -> list[Expected]:
    """Return what an agent, itself included, may do next if it thinks of nobody else."""
    prospects = by_action(outlook(situation, agent, situation.facts_of(agent)))
    is_self = agent == situation.agent
    announcement = situation.own_announcement if is_self else situation.announced.get(agent)
    table = _posterior(situation, agent, {a: prospect.rate for a, prospect in prospects.items()}, announcement)
    return [Expected(agent, prospects[a].option, weight) for a, weight in table.items() if a in prospects]


# ---- what to do


def plan_alone(situation: Situation) -> Subplan:
    """Return the subplan that is worth most a tick by what the agent itself holds."""
    return best_subplan(situation, ())


def plan_beside_intents(situation: Situation) -> Subplan:
    """Return the subplan that is worth most a tick, with what teammates may do counted in."""
    return best_subplan(situation, _expected_intents(situation, situation.teammates))


def plan_beside_announcements(situation: Situation, *, intents: bool) -> Subplan:
    """Return the best subplan beside what teammates announced (passive planning).

    A plan that conflicts in part, such as a second search of a room with much to look into, is worth what is left of
    it.

    Args:
        situation: The agent's; it gives way to those of ``yields_to`` alone.
        intents: Whether what the other teammates may do counts as well.
    """
    announced = [
        Expected(teammate, option, situation.options.kept)
        for teammate, announcement in situation.announced.items()
        if teammate in situation.yields_to
        for option in announced_options(situation, teammate, announcement)
    ]
    silent = [teammate for teammate in situation.teammates if teammate not in situation.announced] if intents else []
    return best_subplan(situation, [*announced, *_expected_intents(situation, silent)])


def _expected_intents(situation: Situation, teammates: Iterable[AgentId]) -> list[Expected]:
    if not situation.options.foresee:
        return []
    intents = [intent for teammate in teammates for intent in predict_intents(situation, teammate, COUNTED)]
    return [Expected(intent.agent, intent.option, intent.weight) for intent in intents]


def best_subplan(situation: Situation, others: Sequence[Expected]) -> Subplan:
    """Return the subplan that is worth most a tick beside what others may do."""
    prospects = possible_prospects(situation)
    if not prospects:
        return Subplan((WAIT,))
    best = max(prospects, key=lambda prospect: score(situation, prospect, others))
    return Subplan((*_retry_place(situation, best), *best.actions)[: situation.options.actions], best.goal)


def _retry_place(situation: Situation, prospect: Prospect) -> tuple[Action, ...]:
    """Return what takes the agent's place anew where that what it would do there has just failed.

    Where each of several stands well enough for itself, they may shut each other out.
    """
    view, hold = situation.view, prospect.hold
    last = view.history[-1] if view.history else None
    failed = last is not None and last.status == "failed" and last.action == complete_action(prospect.actions[0], view)
    return (hold,) if failed and hold is not None and view.check(hold).ok else ()


def possible_prospects(situation: Situation) -> list[Prospect]:
    """Return the agent's prospects that can begin now, as it knows."""
    prospects = outlook(situation, situation.agent, situation.facts)
    return [prospect for prospect in prospects if situation.view.check(prospect.actions[0]).ok]


def score(situation: Situation, prospect: Prospect, others: Sequence[Expected]) -> float:
    """Return the worth of a prospect a tick, beside what others may do.

    Who works on another goal, or on one that takes an agent, takes away from what is left. Who works on the same goal
    that takes several is a partner: it is waited for, and what the two do differently costs its ticks.
    """
    ahead = [other for other in others if _goes_first(situation, other, prospect)]
    at_goal = prospect.near is not None  # then ``_uncrowded`` says what is left of it
    rivals = [other for other in ahead if not (at_goal and other.option.goal == prospect.goal)]
    keeps = 1.0
    if not prospect.own:
        goal = situation.goals.get(prospect.goal) if prospect.goal is not None else None
        keeps = _uncrowded(goal, _workers(ahead, prospect.goal)) * _unspoilt(situation, prospect.option, rivals)
    is_joint = prospect.need > 1
    stick = STICK if is_joint and prospect.goal == situation.last_goal else 1.0
    ticks = _agent_ticks(situation, situation.agent, prospect, others) if is_joint else prospect.ticks
    return stick * prospect.gain * keeps / ticks


def _uncrowded(goal: Goal | None, others: float) -> float:
    """Return the share of its gain that work keeps where so many teammates are expected at its goal first."""
    if goal is None or goal.units == goal.capacity > 1:  # one for each unit: whoever comes takes another
        return 1.0
    return min(1.0, max(CROWDED, goal.capacity - others))


def _unspoilt(situation: Situation, option: Option, others: Iterable[Expected]) -> float:
    """Return the share of an option's worth that is left if others do something first, each with a probability."""
    left = 1.0
    for _, other, weight in others:
        whole = max(1, min(option.steps, other.steps))
        left *= 1 - weight * min(1.0, situation.domain.beliefs.conflict_cost(option, other, situation.facts) / whole)
    return max(FLOOR, left)


def _agent_ticks(situation: Situation, agent: AgentId, prospect: Prospect, others: Sequence[Expected]) -> float:
    """Return the agent-ticks of all who are still lacking at a goal that takes several.

    Ticks are lost until as many have come as it takes, and by what they do there otherwise.
    """
    cost, goal = situation.domain.beliefs.conflict_cost, prospect.goal
    partners = [other for other in others if other.option.goal == goal]
    lost = fsum(other.weight * cost(prospect.option, other.option, situation.facts) for other in partners)
    if others and goal is not None:
        teammates = (teammate for teammate in situation.team if teammate != agent)
        arrivals = sorted(_arrival(situation, teammate, goal, others) for teammate in teammates)[: prospect.need - 1]
        late = arrivals[-1] if len(arrivals) == prospect.need - 1 else float(situation.view.steps_left)
        lost += max(0.0, late - ticks_to_goal(situation, agent, goal))
    return (prospect.ticks + lost) * max(1.0, prospect.need - _workers(others, goal))


def _arrival(situation: Situation, agent: AgentId, goal: GoalId, others: Sequence[Expected]) -> float:
    """Return when an agent is expected at a goal: on its way already, or once it has done what it is at."""
    prospects = by_action(outlook(situation, agent, situation.facts_of(agent)))
    busy = (other for other in others if other.agent == agent and other.option.goal != goal)
    before = fsum(
        weight * (prospects[option.action].ticks if option.action in prospects else option.steps)
        for _, option, weight in busy
    )
    return before + ticks_to_goal(situation, agent, goal)


def ticks_to_goal(situation: Situation, agent: AgentId, goal: GoalId) -> int:
    """Return the ticks of an agent's nearest option for a goal.

    Where it is not known what the agent could do it is taken to be as far as the one who thinks of it; where that one
    has no option for the goal either, all ticks that are left.
    """
    ticks = situation.facts.derive(_NearestOptions(agent, situation.domain))
    if goal not in ticks and agent != situation.agent:
        ticks = situation.facts.derive(_NearestOptions(situation.agent, situation.domain))
    return ticks.get(goal, situation.view.steps_left)


@dataclass(frozen=True)
class _NearestOptions:
    """Ticks of an agent's nearest option for each goal; worked out once for each collection of facts."""

    agent: AgentId
    domain: BeliefDomain

    def __call__(self, facts: Facts) -> dict[GoalId, int]:
        try:
            return nearest_ticks(self.domain.options(self.agent, facts))
        except ImpossibleFacts:
            return {}  # nobody knows where it is


def _workers(others: Iterable[Expected], goal: GoalId | None) -> float:
    """Return how many teammates are expected to work on a goal."""
    return fsum(weight for _, option, weight in others if option.goal == goal and option.action != WAIT)


def _goes_first(situation: Situation, other: Expected, prospect: Prospect) -> bool:
    """Return whether the agent gives way to a teammate that may want the same: if it announced so, or if it is nearer.

    Both can tell who is nearer, more or less; if both gave way, they would change places for ever.
    """
    if other.agent in situation.announced:
        return other.agent in situation.yields_to
    far, near = prospect.first, other.option.steps
    if prospect.near is not None and prospect.goal is not None and other.option.goal == prospect.goal:
        far, near = prospect.near, ticks_to_goal(situation, other.agent, prospect.goal)  # who is there has much to do
    order = list(situation.team)
    return (near, order.index(other.agent)) < (far, order.index(situation.agent))


def announced_options(situation: Situation, agent: AgentId, announcement: Announcement) -> list[Option]:
    """Return the actions of an announced plan as options."""
    return plan_options(situation.domain, agent, announcement.subplan, situation.facts)


def next_action(situation: Situation) -> NextAction:
    """Return the first action of the subplan that is not done and can start; none if the next one cannot."""
    if situation.subplan is None:
        return NextAction(None)
    done = Counter(outcome.action for outcome in situation.outcomes if outcome.status == "done")
    failed = {outcome.action for outcome in situation.outcomes if outcome.status == "failed"}
    for action in situation.subplan.actions:
        if done[action] > 0:
            done[action] -= 1
            continue
        if action in failed or not situation.view.check(action).ok:
            break
        return NextAction(action, situation.subplan.goal)
    return NextAction(None)
