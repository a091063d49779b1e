"""Value a message: the steps that it saves the team, against those that it costs.

Let T(g) be the agent's way to a goal g, the shortest of its options that serve it, and S a look around, the mean of its
options that serve no goal, both in estimated steps. How likely a teammate m is to take g up by itself is

    p(m, g) = (1 / T(g)) / (sum of 1 / T(h) over g and all other goals h with room that m knows of and can work on),

for near goals are preferred, and how far things are from m the agent does not know: it takes them to be as far as from
itself. A message saves

- for each goal that its facts are about and that has room: p(m, g) S, the search, for teammates that do not know of it
  and have said of no other goal that they take it; as many as there is room for, those that it helps most;
- for the goal that the agent says it takes, if that is news and free teammates m can work on it:
  - while it is short of hands with the agent on it: (1 - p(m, g)) (T(g) + S) for as many of them as it is short of:
    a lone agent goes there and waits until somebody comes by;
  - if the agent fills it: p(m, g) T(g) for each that knows of it: the way there for nothing.

A goal that wants any things of a kind is known to all from the start. Facts about it are those of the place where the
things go, which saves the search as above; and "I take g" saves the way of those who know where such a thing lies, once
the agent takes the last one that is lacking.

No saving is longer than the time left. The price is the step of the speaker, and one of each teammate that already
waits for it at a goal short of hands. All of it is in agent-steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import NamedTuple

from teamworld.language import AgentId, Fact, GoalId
from teamworld.methods.coela.situation import Situation
from teamworld.planning.fetch import wanted_kind
from teamworld.worlds.contract import Goal

#: Steps that the speaker spends: COELA's message takes the step.
PRICE = 1.0


class MessageValue(NamedTuple):
    """Both sides, in agent-steps."""

    saved: float
    cost: float

    @property
    def pays(self) -> bool:
        """Whether it is worth the time."""
        return self.saved > self.cost


def value_message(situation: Situation, goal: GoalId | None, facts: Iterable[Fact]) -> MessageValue:
    """Return what it is worth to tell that one takes a goal, and some facts."""
    about = {fact.subject for fact in facts}
    goals = (known for known in situation.all_goals.values() if known.thing is not None and known.thing in about)
    saved = fsum(_value_of_facts(situation, known) for known in goals)
    target = situation.all_goals.get(goal) if goal is not None else None
    waiting = 0
    if target is not None:
        saved += _value_of_intent(situation, target)
        staff = situation.staffed[target.id]
        waiting = staff if staff < target.quorum else 0
    return MessageValue(saved, PRICE + waiting)


def take_up_probability(situation: Situation, teammate: AgentId, goal: Goal) -> float:
    """Return how likely a teammate that knows of a goal is to take it up by itself, from 0 to 1."""
    nearness = 1 / _way(situation, goal)
    return nearness / (nearness + fsum(1 / _way(situation, other) for other in situation.others(teammate, goal.id)))


def _way(situation: Situation, goal: Goal) -> float:
    """Return the estimated steps to a goal; a look around where no option serves it."""
    return max(1.0, situation.trips.get(goal.id, situation.search))


def _bounded(situation: Situation, steps: float) -> float:
    return min(steps, max(0.0, situation.steps_left - PRICE))


def _value_of_facts(situation: Situation, goal: Goal) -> float:
    if goal.state != "open" or goal.thing is None:
        return 0.0
    room = max(0, goal.capacity - situation.staffed[goal.id])
    unaware = [teammate for teammate in situation.helpers(goal) if not situation.knows_about(teammate, goal.thing)]
    helped = sorted((take_up_probability(situation, teammate, goal) for teammate in unaware), reverse=True)
    return fsum(helped[:room]) * _bounded(situation, situation.search)


def _value_of_intent(situation: Situation, goal: Goal) -> float:
    if goal.state != "open" or situation.commitment == goal.id:
        return 0.0
    trip = _bounded(situation, _way(situation, goal))
    staff = situation.staffed[goal.id] + 1
    free = [teammate for teammate in situation.helpers(goal) if teammate not in situation.intents]
    if wanted_kind(goal) is not None:
        return _likely_followers(situation, goal, free) * trip
    if staff < goal.quorum:
        wait = _bounded(situation, trip + situation.search)
        saved = sorted(((1 - take_up_probability(situation, teammate, goal)) * wait for teammate in free), reverse=True)
        return fsum(saved[: goal.quorum - staff])
    if staff >= goal.capacity:
        aware = (teammate for teammate in free if situation.knows_of(teammate, goal))
        return fsum(take_up_probability(situation, teammate, goal) * trip for teammate in aware)
    return 0.0


def _likely_followers(situation: Situation, goal: Goal, free: Iterable[AgentId]) -> float:
    """Return how many teammates are likely to go for the last thing that a goal lacks and that the agent takes."""
    if situation.missing.get(goal.id, 0) > 1:
        return 0.0
    things = situation.lying(goal)
    aware = (teammate for teammate in free if any(situation.knows_about(teammate, thing) for thing in things))
    return fsum(take_up_probability(situation, teammate, goal) for teammate in aware)
