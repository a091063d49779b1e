"""The exact engine: the operations on beliefs worked out from the world's rules (CoBel-World spec B3).

Team-mates are taken to go for what is worth most by what they hold, more or less (``inference.intents``); their steps
and words tell which of it. A message is worth the ticks that it saves: those that a team-mate would spend on what I
know to be in vain, and those that both of us would spend on the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from teamworld.methods.cobel.inference import intents as posterior
from teamworld.methods.cobel.value import STICK, Outlook, Prospect, crowd, hands, spared
from teamworld.methods.contract import Message
from teamworld.worlds.contract import WAIT, Domain, Option, Unknown

#: Utility that a place in the order of the world's options costs, relative to the best option.
RANK: Final = 0.02

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


def distribution(unknown: Unknown) -> Distribution:
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
    """Return what a team-mate may be up to by what it holds, what it was seen to do and what it announced (B3.4)."""
    found = by_action(outlook(now, mate, now.minds[mate]))
    table = posterior.prior(relative(found), now.options.tau)
    regrets = now.regrets.get(mate, {})
    table = posterior.after_step(table, {one: regrets.get(one, 0.0) for one in table}, now.options.beta)
    told = now.announced.get(mate)
    if told is not None and told.subplan.actions:
        current = next((action for action in told.subplan.actions if action in table), told.subplan.actions[0])
        table = posterior.after_word(table, current, now.options.kept)
    made = []
    for action, weight in posterior.ranked(table, most).best:
        one = found.get(action)
        if one is None:
            assert told is not None
            made.append(Intent(mate, told.subplan, weight, max(1, told.ticks)))
        else:
            subplan = Subplan(one.actions[: now.options.actions], one.goal)
            made.append(Intent(mate, subplan, weight, one.first))
    return made


def relative(prospects: Mapping[Action, Prospect]) -> dict[Action, float]:
    """Return the rate of each prospect relative to the best: utilities up to 1. Of equals the first is taken first."""
    top = max((one.rate for one in prospects.values()), default=0.0)
    order = sorted(prospects, key=lambda action: -prospects[action].rate)
    return {
        action: (prospects[action].rate / top if top > 0 else 0.0) - RANK * place for place, action in enumerate(order)
    }


# ---- what to do

#: What somebody may do: who, its option, and how likely.
Likely = tuple[AgentId, Option, float]


def best(now: Situation, others: Sequence[Likely] = ()) -> Subplan:
    """Return the subplan that is worth most a tick, what is lost to others counted in."""
    rated = [(score(now, one, others), one) for one in possible(now)]
    if not rated:
        return Subplan((WAIT,))
    top = max(rated, key=lambda pair: pair[0])[1]
    return Subplan(top.actions[: now.options.actions], top.goal)


def possible(now: Situation) -> list[Prospect]:
    """Return the agent's prospects that can begin now, as it knows."""
    return [one for one in outlook(now, now.me, now.given) if now.view.check(one.actions[0]).ok]


def score(now: Situation, one: Prospect, others: Sequence[Likely]) -> float:
    """Return the worth of a prospect a tick, beside what others may do."""
    ahead = [(option, weight) for mate, option, weight in others if _goes_first(now, mate, option, one.option)]
    staffed = {goal: _expected(others, goal) for goal in (one.goal,) if goal is not None}
    full = {goal: _expected([(now.me, *pair) for pair in ahead], goal) for goal in staffed}
    left = spared(one.option, ahead, now.domain, now.given)
    keeps = 1.0 if one.own else crowd(one, now.goals, full) * left
    stick = STICK if one.need > 1 and one.goal == now.at else 1.0
    return stick * one.gain * keeps / (one.ticks * hands(one, now.goals, staffed))


def _expected(others: Sequence[Likely], goal: GoalId) -> float:
    """Return how many team-mates are expected to work on a goal."""
    return fsum(weight for _, option, weight in others if option.goal == goal and option.action != WAIT)


def _goes_first(now: Situation, mate: AgentId, theirs: Option, mine: Option) -> bool:
    """Return whether the agent gives way to a team-mate that may want the same: if told so, or if that one is nearer.

    Both can tell who is nearer, more or less; if both gave way, they would change places for ever.
    """
    if mate in now.announced:
        return mate in now.yields
    order = list(now.team)
    return (theirs.ticks, order.index(mate)) < (mine.ticks, order.index(now.me))


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
            ticks = domain.ticks(agent, action, given)
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
