"""Conflicts of what agents are to do: who is in whose way, and steps that avoid it, by the world's conflict costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from teamworld.language import Action, AgentId, GoalId
from teamworld.planning.candidates import CandidateStep, list_steps
from teamworld.worlds.contract import Domain, Goal, ImpossibleFacts, Option, View

_NO_VIEWS: Final[Mapping[AgentId, View]] = MappingProxyType({})


class Intent(NamedTuple):
    """What an agent is to do, and what for."""

    agent: AgentId
    action: Action
    goal: GoalId | None


class Conflict(NamedTuple):
    """Who is in the way, and what that costs."""

    agent: AgentId
    lost: float
    """Steps, more than 0."""


def find_conflict(
    mine: Intent, others: Iterable[Intent], view: View, domain: Domain, views: Mapping[AgentId, View] = _NO_VIEWS
) -> Conflict | None:
    """Return the worst conflict of an agent's intent with those of others; None where nobody is in its way.

    Args:
        mine: What the agent is to do.
        others: What others are to do.
        view: Of the agent.
        domain: The rules of its world; one that does not declare ``beliefs`` knows of no conflicts.
        views: Of the others whose views are shared: how long what they do takes them, they know best.
    """
    if domain.beliefs is None:
        return None
    own, worst = _option(mine, view, domain), None
    for other in others:
        try:
            lost = domain.beliefs.conflict_cost(own, _option(other, views.get(other.agent, view), domain), view.known)
        except ImpossibleFacts:  # what the agent remembers cannot all be true: it can tell of no conflict
            continue
        if lost > 0 and (worst is None or lost > worst.lost):
            worst = Conflict(other.agent, lost)
    return worst


def _option(intent: Intent, view: View, domain: Domain) -> Option:
    return Option(intent.action, intent.goal, domain.estimate_steps(intent.agent, intent.action, view.known))


def slowed_rate(step: CandidateStep, conflict: Conflict | None) -> float:
    """Return the share of the work that a step's plan does a step, with what it loses in a conflict."""
    return step.rate * step.ticks / (step.ticks + (0.0 if conflict is None else conflict.lost))


def spread_steps(
    steps: Mapping[AgentId, CandidateStep],
    goals: Mapping[GoalId, Goal],
    views: Mapping[AgentId, View],
    domain: Domain,
    settled: Iterable[Intent] = (),
    barred: Iterable[tuple[AgentId, Action]] = (),
) -> dict[AgentId, CandidateStep]:
    """Return steps in which agents keep out of one another's way: the later takes another way to the same goal.

    Args:
        steps: A step for each agent, in the order in which they choose.
        goals: The goals by id.
        views: Of the agents.
        domain: The rules of their world.
        settled: What others do whatever these choose.
        barred: Steps that cannot be taken.
    """
    taken, chosen, closed = list(settled), dict[AgentId, CandidateStep](), set(barred)
    for agent, step in steps.items():
        view, goal = views[agent], goals.get(step.goal or "")
        conflict = find_conflict(Intent(agent, step.action, step.goal), taken, view, domain, views)
        best = step, slowed_rate(step, conflict)
        if conflict is not None and goal is not None and any(known.id == goal.id for known in view.goals):
            for other in list_steps(goal, view, domain):
                if (agent, other.action) in closed:
                    continue
                left = find_conflict(Intent(agent, other.action, other.goal), taken, view, domain, views)
                if left is None or left.lost < conflict.lost:
                    rate = slowed_rate(other, left)
                    best = (other, rate) if rate > best[1] else best
        chosen[agent] = best[0]
        taken.append(Intent(agent, best[0].action, best[0].goal))
    return chosen
