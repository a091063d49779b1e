"""A scripted team for any world: it pools what all know and gives each idle agent the goal that needs it most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from teamworld.language import AgentId, Entity, Fact, Facts, GoalId, Plan
from teamworld.worlds.contract import Domain, View


def pool_facts(
    views: Mapping[AgentId, View], is_shared: Callable[[View, Fact], bool] = lambda _view, _fact: True
) -> Iterator[Fact]:
    """Yield what agents know together: of each subject what was seen last.

    Args:
        views: Of the team.
        is_shared: Whether a fact of a view is pooled.
    """
    latest: dict[Entity | str, tuple[int, list[Fact]]] = {}
    for view in views.values():
        seen, by_subject = view.recall.seen, dict[Entity | str, tuple[int, list[Fact]]]()
        for fact in view.known:
            if is_shared(view, fact):
                by_subject.setdefault(fact.subject, (seen.get(fact, view.t), []))[1].append(fact)
        for subject, sighting in by_subject.items():
            if subject not in latest or sighting[0] > latest[subject][0]:
                latest[subject] = sighting
    return (fact for _, facts in latest.values() for fact in facts)


def plan_greedily(
    domain: Domain,
    views: Mapping[AgentId, View],
    running: Mapping[AgentId, Plan],
    facts: Facts,
    is_urgent: Callable[[Plan], bool],
) -> dict[AgentId, Plan]:
    """Return a plan for each agent that is able and has none: the first candidate plan of a goal that can use it.

    Urgent plans come first, then goals for which enough agents are free, then those with the largest quorum, then the
    nearest.

    Args:
        domain: The rules.
        views: Of all living agents.
        running: The plans that run.
        facts: What the team knows.
        is_urgent: Whether a plan comes before all others.
    """
    taken = Counter(plan.goal for plan in running.values())
    goals = [goal for goal in domain.goals(facts) if goal.state == "open" and not goal.prerequisites]
    idle = [agent for agent, view in views.items() if agent not in running and view.is_able]
    chosen: dict[AgentId, Plan] = {}
    for agent in idle:
        kind = views[agent].kind
        hands = sum(views[teammate].kind == kind for teammate in idle if teammate not in chosen)
        ranks: dict[tuple[bool, bool, int, int, GoalId], Plan] = {}
        for goal in goals:
            if (goal.kinds and kind not in goal.kinds) or taken[goal.id] >= goal.capacity:
                continue
            plan = domain.candidate_plans(goal, agent, facts)[0]
            steps = domain.estimate_steps(agent, plan.actions[0], facts)
            is_short = taken[goal.id] + hands < goal.quorum
            ranks[not is_urgent(plan), is_short, -goal.quorum, steps, goal.id] = plan
        chosen[agent] = ranks[min(ranks)] if ranks else domain.candidate_plans(None, agent, facts)[0]
        taken[chosen[agent].goal] += 1
    return chosen
