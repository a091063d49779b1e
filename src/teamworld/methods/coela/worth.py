"""What a message is worth: the ticks that it saves the team, against those that it costs.

Let T(g) be the agent's way to a goal g, the shortest of its options that serve it, and S a look around, the mean of its
options that serve no goal, both in estimated ticks. How likely a team-mate m is to take g up by itself is

    p(m, g) = (1 / T(g)) / (sum of 1 / T(h) over g and all other goals h with room that m knows of and can work on),

for near goals are preferred, and how far things are from m the agent does not know: it takes them to be as far as from
itself. A message saves

- for each goal that its facts are about and that has room: p(m, g) S, the search, for team-mates that do not know of it
  and have said of no other goal that they take it; as many as there is room for, those that it helps most;
- for the goal that the agent says it takes, if that is news and free team-mates m can work on it:
  - while it is short of hands with the agent on it: (1 - p(m, g)) (T(g) + S) for as many of them as it is short of:
    a lone agent goes there and waits until somebody comes by;
  - if the agent fills it: p(m, g) T(g) for each that knows of it: the way there for nothing.

A goal that wants any things of a kind is known to all from the start. Facts about it are those of the place where the
things go, which saves the search as above; and "I take g" saves the way of those who know where such a thing lies, once
the agent takes the last one that is lacking.

No saving is longer than the time left. The price is the tick of the speaker, and one of each team-mate that already
waits for it at a goal short of hands. All of it is in agent-ticks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from teamworld.language import AgentId, Fact, GoalId
from teamworld.methods.coela.errands import lacking, lying
from teamworld.methods.coela.situation import Situation
from teamworld.planning.fetch import wanted_kind
from teamworld.worlds.contract import Goal

#: Ticks that the speaker spends: COELA's message takes the step (COELA spec 1.1).
PRICE = 1.0


class Worth(NamedTuple):
    """Both sides, in agent-ticks."""

    saved: float
    cost: float

    @property
    def pays(self) -> bool:
        """Whether it is worth the time."""
        return self.saved > self.cost


def worth(now: Situation, goal: GoalId | None, facts: Iterable[Fact]) -> Worth:
    """Return what it is worth to tell that one takes a goal, and some facts."""
    about = {fact.subject for fact in facts}
    saved = sum(
        _of_facts(now, known) for known in now.goals.values() if known.thing is not None and known.thing in about
    )
    target = now.goals.get(goal) if goal is not None else None
    if target is not None:
        saved += _of_intent(now, target)
    waiting = now.staffed[target.id] if target is not None and now.staffed[target.id] < target.quorum else 0
    return Worth(saved, PRICE + waiting)


def likely(now: Situation, mate: AgentId, goal: Goal) -> float:
    """Return how likely a team-mate that knows of a goal is to take it up by itself, from 0 to 1."""
    here = 1 / way(now, goal)
    return here / (here + sum(1 / way(now, other) for other in now.others(mate, goal.id)))


def way(now: Situation, goal: Goal) -> float:
    """Return the estimated ticks to a goal; a look around where no option serves it."""
    return max(1.0, now.trips.get(goal.id, now.search))


def _bounded(now: Situation, ticks: float) -> float:
    return min(ticks, max(0.0, now.view.left - PRICE))


def _of_facts(now: Situation, goal: Goal) -> float:
    if goal.state != "open":
        return 0.0
    room = max(0, goal.places - now.staffed[goal.id])
    unaware = [mate for mate in now.hands(goal) if goal.thing is not None and not now.knows_about(mate, goal.thing)]
    helped = sorted((likely(now, mate, goal) for mate in unaware), reverse=True)
    return sum(helped[:room]) * _bounded(now, now.search)


def _of_intent(now: Situation, goal: Goal) -> float:
    if goal.state != "open" or now.announced == goal.id:
        return 0.0
    trip = _bounded(now, way(now, goal))
    there = now.staffed[goal.id] + 1
    free = [mate for mate in now.hands(goal) if mate not in now.intents]
    if wanted_kind(goal) is not None:
        return _of_taking(now, goal, free) * trip
    if there < goal.quorum:
        wait = _bounded(now, trip + now.search)
        return sum(sorted(((1 - likely(now, mate, goal)) * wait for mate in free), reverse=True)[: goal.quorum - there])
    if there >= goal.places:
        return sum(likely(now, mate, goal) * trip for mate in free if now.knows_of(mate, goal))
    return 0.0


def _of_taking(now: Situation, goal: Goal, free: Iterable[AgentId]) -> float:
    """Return how many team-mates are likely to go for the last thing that a goal lacks and that the agent takes."""
    if lacking(now).get(goal.id, 0) > 1:
        return 0.0
    things = lying(now, goal)
    return sum(likely(now, mate, goal) for mate in free if any(now.knows_about(mate, thing) for thing in things))
