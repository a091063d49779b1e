"""The scripted team: it pools what all know, opens doors, brings light things one by one and heavy ones together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from teamworld.language import AgentId, Entity, Fact, Facts, Plan
from teamworld.worlds.contract import Goal, View

if TYPE_CHECKING:
    from teamworld.worlds.rooms.domain import RoomsDomain


def pooled(views: Mapping[AgentId, View]) -> Facts:
    """Return what agents know together: of each thing what was seen last; a room is unseen if nobody saw it."""
    latest: dict[Entity | str, tuple[int, list[Fact]]] = {}
    for view in views.values():
        by_subject: dict[Entity | str, tuple[int, list[Fact]]] = {}
        for fact in view.known:
            by_subject.setdefault(fact.subject, (view.recall.seen.get(fact, view.t), []))[1].append(fact)
        latest |= {subject: seen for subject, seen in by_subject.items() if seen[0] > latest.get(subject, (-1,))[0]}
    rooms = [set(view.facts.about("UNSEEN")) for view in views.values()]
    unseen = set.intersection(*rooms) if rooms else set()
    facts = (fact for _, by_subject in latest.values() for fact in by_subject)
    return Facts(tuple(fact for fact in facts if fact.predicate != "UNSEEN" or fact in unseen))


def plans(domain: RoomsDomain, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]) -> dict[AgentId, Plan]:
    """Return a plan for each agent that is able and has none.

    The first recipe of a goal that can use one agent more. What one holds comes first, then the goal that takes most
    agents of those that enough are free for, then the nearest; a goal that too few are free for comes last.
    """
    if not views:
        return {}
    facts = pooled(views)
    taken = Counter(plan.goal for plan in running.values())
    goals = [goal for goal in domain.goals(facts) if goal.state == "open" and not goal.prerequisites]
    chosen: dict[AgentId, Plan] = {}
    idle = [agent for agent, view in views.items() if agent not in running and view.is_able]
    for agent in idle:
        kind = domain.kinds[agent]
        hands = sum(domain.kinds[teammate] == kind for teammate in idle if teammate not in chosen)

        def rank(goal: Goal, agent: AgentId = agent, hands: int = hands) -> tuple[bool, bool, int, int, str]:
            first = domain.candidate_plans(goal, agent, facts)[0].actions[0]
            short = taken[goal.id] + hands < goal.quorum
            return first.verb != "bring", short, -goal.quorum, domain.estimate_steps(agent, first, facts), goal.id

        free = [goal for goal in goals if kind in goal.kinds and taken[goal.id] < goal.capacity]
        goal = min(free, key=rank, default=None)
        chosen[agent] = domain.candidate_plans(goal, agent, facts)[0]
        taken[chosen[agent].goal] += 1
    return chosen
