"""The exact engine: the operations on beliefs worked out from the world's rules (CoBel-World spec B3).

Team-mates are taken to go for what is worth most by what they hold, more or less (``inference.intents``); their steps
and words tell which of it. A message is worth the ticks that it saves: those that a team-mate would spend on what I
know to be in vain, and those that both of us would spend on the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from teamworld.language import Action, AgentId, Fact, Facts, GoalId, ParseError, parse_action
from teamworld.methods.cobel.engine import (
    Announced,
    Distribution,
    Grounded,
    Intent,
    Situation,
    Subplan,
    UpdateResult,
)
from teamworld.methods.cobel.posterior import after_step, after_word, likeliest, prior
from teamworld.methods.cobel.value import STICK, Outlook, Prospect, crowd, spared
from teamworld.methods.contract import Message
from teamworld.planning.candidates import complete_action, nearest_ticks
from teamworld.worlds.contract import WAIT, Domain, LatentVariable, Option

#: Utility that a place in the order of the world's options costs, relative to the best option.
RANK: Final = 0.02

#: What somebody may do: who, its option, and how likely.
Likely = tuple[AgentId, Option, float]

_PLAN = re.compile(r"I will: (.{1,400}?)\.(?:\s|$)")


# ---- what was said


def heard(now: Situation, message: Message) -> UpdateResult:
    """Return the facts that a message carries and its plan. A plan is never a fact (D5)."""
    admitted = tuple(fact for fact in dict.fromkeys(message.facts) if now.schema.statable(fact))
    plan = read_plan(message)
    return UpdateResult(admitted, plan, len(set(message.facts)) - len(admitted))


def read_plan(message: Message) -> Subplan | None:
    """Return the plan that a message tells in the form that ``letter`` writes; None where it tells none."""
    told = _PLAN.search(message.text)
    if told is None:
        return None
    actions = []
    for text in re.split(r";", told[1].partition(" for ")[0]):
        try:
            actions.append(parse_action(text.strip()))
        except ParseError:
            return None
    return Subplan(tuple(actions), message.goal) if actions else None


def modelled(now: Situation, mate: AgentId) -> UpdateResult:
    """Return what a team-mate holds after a dialogue: what it said, and what was said to it."""
    facts: dict[Fact, None] = {}
    plan: Subplan | None = None
    for message in now.dialogue:
        if mate == message.sender or message.recipients is None or mate in message.recipients:
            facts.update(dict.fromkeys(fact for fact in message.facts if now.schema.statable(fact)))
        if mate == message.sender:
            plan = read_plan(message) or plan
    return UpdateResult(tuple(facts), plan)


# ---- what is likely


def distribution(unknown: LatentVariable) -> Distribution:
    """Return the values of an unknown with probabilities."""
    total = fsum(value.weight for value in unknown.values)
    return tuple((value.fact, value.weight / total) for value in unknown.values) if total > 0 else ()


def predicted(now: Situation) -> dict[str, Distribution]:
    """Return how likely each value of what is unknown is."""
    return {unknown.name: distribution(unknown) for unknown in now.unknowns}


def outlook(now: Situation, agent: AgentId, given: Facts) -> tuple[Prospect, ...]:
    """Return what an agent could do if ``given`` is what is believed."""
    return Outlook(agent, now.team[agent], now.domain).of(given)


def by_action(prospects: Iterable[Prospect]) -> dict[Action, Prospect]:
    """Return the best prospect that begins with each action."""
    found: dict[Action, Prospect] = {}
    for one in prospects:
        old = found.get(one.actions[0])
        if old is None or one.rate > old.rate:
            found[one.actions[0]] = one
    return found


def intents(now: Situation, mate: AgentId, most: int) -> list[Intent]:
    """Return what a team-mate may be up to by what it holds, what it was seen to do and what it announced (B3.4).

    Where a goal takes several it counts on the others as far as it can expect them there.
    """
    found = by_action(outlook(now, mate, now.minds[mate]))
    rates = {action: one.rate for action, one in found.items()}
    if any(one.need > 1 for one in found.values()):
        others = [one for other in now.team if other != mate for one in _alone_likely(now, other)]
        rates |= {action: one.gain / _span(now, mate, one, others) for action, one in found.items() if one.need > 1}
    told = now.announced.get(mate)
    made = []
    for action, weight in likeliest(_table(now, mate, rates, told), most):
        one = found.get(action)
        if one is None:
            assert told is not None
            made.append(Intent(mate, told.subplan, weight, max(1, told.ticks)))
        else:
            subplan = Subplan(one.actions[: now.options.actions], one.goal)
            made.append(Intent(mate, subplan, weight, one.first))
    return made


def _table(
    now: Situation, agent: AgentId, rates: Mapping[Action, float], told: Announced | None
) -> dict[Action, float]:
    """Return how likely an agent begins with each action, by its rates, its steps and its word."""
    table = prior(relative(rates), now.options.tau)
    regrets = now.regrets.get(agent, {})
    table = after_step(table, {one: regrets.get(one, 0.0) for one in table}, now.options.beta)
    if told is not None and told.subplan.actions:
        current = next((action for action in told.subplan.actions if action in table), told.subplan.actions[0])
        table = after_word(table, current, now.options.kept)
    return table


def _alone_likely(now: Situation, agent: AgentId) -> list[Likely]:
    """Return what an agent, itself included, may be up to if it thinks of nobody else."""
    held = now.given if agent == now.me else now.minds[agent]
    found = by_action(outlook(now, agent, held))
    told = now.mine if agent == now.me else now.announced.get(agent)
    table = _table(now, agent, {action: one.rate for action, one in found.items()}, told)
    return [(agent, found[action].option, weight) for action, weight in table.items() if action in found]


def relative(rates: Mapping[Action, float]) -> dict[Action, float]:
    """Return each rate relative to the best: utilities up to 1. Of equals the first is taken first."""
    top = max(rates.values(), default=0.0)
    order = sorted(rates, key=lambda action: -rates[action])
    return {action: (rates[action] / top if top > 0 else 0.0) - RANK * place for place, action in enumerate(order)}


# ---- what to do


def best(now: Situation, others: Sequence[Likely] = ()) -> Subplan:
    """Return the subplan that is worth most a tick, what is lost to others counted in."""
    rated = [(score(now, one, others), one) for one in possible(now)]
    if not rated:
        return Subplan((WAIT,))
    top = max(rated, key=lambda pair: pair[0])[1]
    return Subplan((*_anew(now, top), *top.actions)[: now.options.actions], top.goal)


def _anew(now: Situation, one: Prospect) -> tuple[Action, ...]:
    """Return what takes the agent's place anew where that what it would do there has just failed.

    Where each of several stands well enough for itself, they may shut each other out.
    """
    last = now.view.history[-1] if now.view.history else None
    failed = last is not None and last.status == "failed" and last.action == complete_action(one.actions[0], now.view)
    return (one.hold,) if failed and one.hold is not None and now.view.check(one.hold).ok else ()


def possible(now: Situation) -> list[Prospect]:
    """Return the agent's prospects that can begin now, as it knows."""
    return [one for one in outlook(now, now.me, now.given) if now.view.check(one.actions[0]).ok]


def score(now: Situation, one: Prospect, others: Sequence[Likely]) -> float:
    """Return the worth of a prospect a tick, beside what others may do.

    Who works on another goal, or on one that takes an agent, takes away from what is left. Who works on the same goal
    that takes several is a partner: it is waited for, and what the two do differently costs its ticks.
    """
    ahead = [(mate, option, weight) for mate, option, weight in others if _goes_first(now, mate, option, one)]
    full = _expected(ahead, one.goal)
    joint = one.need > 1
    counted = one.near is not None  # at the goal itself: ``crowd`` says what is left of it
    rivals = ((option, weight) for _, option, weight in ahead if not (counted and option.goal == one.goal))
    keeps = 1.0 if one.own else crowd(one, now.goals, full) * spared(one.option, rivals, now.domain, now.given)
    stick = STICK if joint and one.goal == now.at else 1.0
    return stick * one.gain * keeps / (_span(now, now.me, one, others) if joint else one.ticks)


def _span(now: Situation, agent: AgentId, one: Prospect, others: Sequence[Likely]) -> float:
    """Return the agent-ticks of all who are still lacking at a goal that takes several.

    Ticks are lost until as many have come as it takes, and by what they do there otherwise.
    """
    partners = [(option, weight) for _, option, weight in others if option.goal == one.goal]
    lost = fsum(weight * now.domain.conflict_cost(one.option, option, now.given) for option, weight in partners)
    if others and one.goal is not None:
        come = sorted(_comes(now, mate, one.goal, others) for mate in now.team if mate != agent)[: one.need - 1]
        late = come[-1] if len(come) == one.need - 1 else float(now.view.steps_left)
        lost += max(0.0, late - way(now, agent, one.goal))
    return (one.ticks + lost) * max(1.0, one.need - _expected(others, one.goal))


def _comes(now: Situation, agent: AgentId, goal: GoalId, others: Sequence[Likely]) -> float:
    """Return when an agent is expected at a goal: on its way already, or once it has done what it is at."""
    whole = by_action(outlook(now, agent, now.given if agent == now.me else now.minds[agent]))
    before = fsum(
        weight * (whole[option.action].ticks if option.action in whole else option.steps)
        for who, option, weight in others
        if who == agent and option.goal != goal
    )
    return before + way(now, agent, goal)


def way(now: Situation, agent: AgentId, goal: GoalId) -> int:
    """Return the ticks of an agent's nearest option for a goal.

    Where it is not known what the agent could do it is taken to be as far as the one who thinks of it; where that one
    has no option for the goal either, all ticks that are left.
    """
    ways = now.given.derive(_Ways(agent, now.domain))
    if goal not in ways and agent != now.me:
        ways = now.given.derive(_Ways(now.me, now.domain))
    return ways.get(goal, now.view.steps_left)


@dataclass(frozen=True)
class _Ways:
    """How far an agent is from each goal; worked out once for each collection of facts."""

    agent: AgentId
    domain: Domain

    def __call__(self, given: Facts) -> dict[GoalId, int]:
        try:
            return nearest_ticks(self.domain.options(self.agent, given))
        except (LookupError, ValueError, TypeError, ArithmeticError):
            return {}  # nobody knows where it is


def _expected(others: Sequence[Likely], goal: GoalId | None) -> float:
    """Return how many team-mates are expected to work on a goal."""
    return fsum(weight for _, option, weight in others if option.goal == goal and option.action != WAIT)


def _goes_first(now: Situation, mate: AgentId, theirs: Option, mine: Prospect) -> bool:
    """Return whether the agent gives way to a team-mate that may want the same: if told so, or if that one is nearer.

    Both can tell who is nearer, more or less; if both gave way, they would change places for ever.
    """
    if mate in now.announced:
        return mate in now.yields
    far, near = mine.first, theirs.steps
    if mine.near is not None and mine.goal is not None and theirs.goal == mine.goal:  # who is there has much to do
        far, near = mine.near, way(now, mate, mine.goal)
    order = list(now.team)
    return (near, order.index(mate)) < (far, order.index(now.me))


def passive(now: Situation, others: Sequence[Likely] = ()) -> Subplan:
    """Return the best subplan beside what team-mates announced (spec A9).

    Who announced first need not give way (C14). What clashes in part, such as a room with much to look into, is worth
    what is left of it.
    """
    told = [(mate, one) for mate, one in now.announced.items() if mate in now.yields]
    given = [(mate, option, now.options.kept) for mate, one in told for option in steps_of(now, mate, one)]
    return best(now, [*given, *others])


def steps_of(now: Situation, agent: AgentId, told: Announced) -> list[Option]:
    """Return the actions of an announced plan as options."""
    return options_of(now.domain, agent, told.subplan, now.given)


def options_of(domain: Domain, agent: AgentId, subplan: Subplan, given: Facts) -> list[Option]:
    """Return the actions of a subplan as options, with the ticks that they are estimated to take."""
    found = []
    for action in subplan.actions:
        try:
            ticks = domain.estimate_steps(agent, action, given)
        except (LookupError, ValueError, TypeError, ArithmeticError):
            ticks = 1
        found.append(Option(action, subplan.goal, max(1, ticks)))
    return found


def grounded(now: Situation) -> Grounded:
    """Return the first action of the subplan that is not done and can start; none if the next one cannot."""
    if now.subplan is None:
        return Grounded(None)
    done = Counter(outcome.action for outcome in now.done if outcome.status == "done")
    failed = {outcome.action for outcome in now.done if outcome.status == "failed"}
    for action in now.subplan.actions:
        if done[action] > 0:
            done[action] -= 1
            continue
        if action in failed or not now.view.check(action).ok:
            return Grounded(None)
        return Grounded(action, now.subplan.goal)
    return Grounded(None)
