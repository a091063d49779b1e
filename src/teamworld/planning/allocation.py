"""Allocate goals to agents: by worth an agent, from what all know or what one knows, and from votes.

``allocate_goals`` hands out goals by worth an agent: a goal that takes two at once takes two, or none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from teamworld.language import Action, AgentId, Entity, Fact, Facts, GoalId, Plan
from teamworld.language.rules import IN_HAND, WHERE
from teamworld.planning.candidates import CandidateStep, find_steps, has_unknown_goal, idle_step
from teamworld.planning.goals import workable_goals
from teamworld.worlds.contract import Domain, Goal, View

#: By how much more the goal counts that an agent is at already, so that nobody wavers between equals.
PERSISTENCE = 1.5


def allocate_goals(
    offers: Mapping[AgentId, Sequence[CandidateStep]],
    goals: Mapping[GoalId, Goal],
    staffed: Mapping[GoalId, int] | None = None,
    holding: Mapping[AgentId, GoalId | None] | None = None,
    others: int = 0,
) -> dict[AgentId, CandidateStep]:
    """Spread agents over goals, the one with the most worth an agent first; whoever is in no goal's need is left out.

    Args:
        offers: For each agent the steps that it could take.
        goals: The goals that these are for, in a fixed order.
        staffed: Agents that are on each goal and not among these.
        holding: What each of these is at already; that counts ``PERSISTENCE`` times.
        others: Teammates that may still join a goal, though nothing is known of what they will do.
    """
    staff, at = Counter(dict(staffed or {})), holding or {}
    free, chosen = dict(offers), dict[AgentId, CandidateStep]()
    while True:
        best: tuple[float, list[tuple[AgentId, CandidateStep]]] | None = None
        for goal in goals.values():
            worth, hands = _crew(goal, free, staff[goal.id], at, others)
            if hands and (best is None or worth > best[0]):
                best = worth, hands
        if best is None:
            return chosen
        for agent, step in best[1]:
            chosen[agent] = step
            staff[step.goal or ""] += 1
            del free[agent]


def _crew(
    goal: Goal,
    free: Mapping[AgentId, Sequence[CandidateStep]],
    staff: int,
    at: Mapping[AgentId, GoalId | None],
    others: int,
) -> tuple[float, list[tuple[AgentId, CandidateStep]]]:
    """Return who would take on a goal next, and what that is worth for each of them; nobody where too few could."""
    if staff >= goal.capacity:
        return 0.0, []
    need = max(1, goal.quorum - staff)
    hands = [(agent, step) for agent, steps in free.items() for step in steps if step.goal == goal.id]
    hands = sorted(hands, key=lambda hand: (at.get(hand[0]) != goal.id, -hand[1].rate))[:need]
    if not hands or len(hands) + others < need:
        return 0.0, []
    stick = PERSISTENCE if any(at.get(agent) == goal.id for agent, _ in hands) else 1.0
    return stick * goal.weight * min(step.rate for _, step in hands) / need, hands


def team_goals(views: Iterable[View]) -> dict[GoalId, Goal]:
    """Return the open goals that somebody knows of, by id; one that somebody knows to be over is none of them."""
    goals: dict[GoalId, Goal] = {}
    over: set[GoalId] = set()
    for view in views:
        for goal in view.goals:
            (over.add(goal.id) if goal.state != "open" else goals.setdefault(goal.id, goal))
    ahead = goals.keys() - over
    return {name: goals[name] for name in sorted(ahead) if ahead.isdisjoint(goals[name].prerequisites)}


def pool_facts(views: Mapping[AgentId, View]) -> Facts:
    """Return what some agents know together, with the step of last sight: the newest counts.

    Of themselves they know best. Where a thing is, is one matter, in whatever words; what is in a hand lies nowhere.
    """
    if len({id(view.known) for view in views.values()}) == 1:
        return next(iter(views.values())).known
    known: dict[tuple[Entity | str, str], tuple[int, list[Fact]]] = {}
    for view in views.values():
        own: dict[tuple[Entity | str, str], tuple[int, list[Fact]]] = {}
        for fact in view.known:
            if fact.subject == view.agent or fact.subject not in views:
                about = fact.subject, "AT" if fact.predicate in WHERE else fact.predicate
                seen = view.known.seen.get(fact, view.t)
                own.setdefault(about, (seen, []))[1].append(fact)
        for about, (seen, facts) in own.items():
            if about not in known or seen > known[about][0]:
                known[about] = seen, facts
    lying: dict[object, int] = {subject: seen for (subject, aspect), (seen, _) in known.items() if aspect == "AT"}
    pooled = {fact: seen for seen, facts in known.values() for fact in facts if _is_held(fact, seen, lying)}
    held = {fact.value for fact in pooled if fact.predicate in IN_HAND}
    kept = {fact: seen for fact, seen in pooled.items() if fact.subject not in held or fact.predicate not in WHERE}
    latest = max(view.t for view in views.values())
    return Facts(tuple(kept), {fact: seen for fact, seen in kept.items() if seen < latest})


def _is_held(fact: Fact, seen: int, lying: Mapping[object, int]) -> bool:
    """Return False for a thing in a hand that was seen lying somewhere later."""
    return fact.predicate not in IN_HAND or seen >= lying.get(fact.value, seen)


def allocate_steps(
    views: Mapping[AgentId, View],
    domain: Domain,
    agents: Collection[AgentId],
    running: Mapping[AgentId, Plan],
    aims: Mapping[AgentId, GoalId | None],
    barred: Collection[tuple[AgentId, Action]] = (),
) -> dict[AgentId, CandidateStep]:
    """Return a step for each of some agents, as one reasoner would choose that knows what all of them know.

    Whoever is at a goal that it keeps goes on with what it does; but who is there before the others that the goal
    needs holds its place. Who is in no goal's need keeps out of the way.

    Args:
        views: Of all whose knowledge is shared.
        domain: The rules of their world.
        agents: Who is to be given a step.
        running: What each agent is doing; of those who are not to be given a step it is what they are counted on for.
        aims: What each was at when it last decided.
        barred: Steps that cannot be taken, as somebody found.
    """
    goals = team_goals(views.values())
    pooled = pool_facts(views) if any(has_unknown_goal(goals, views[agent]) for agent in agents) else None
    offers = {
        agent: [step for step in find_steps(views[agent], domain, goals, pooled) if (agent, step.action) not in barred]
        for agent in agents
    }
    staffed = Counter(plan.goal for agent, plan in running.items() if agent not in offers and plan.goal is not None)
    holding = {agent: running[agent].goal if agent in running else aims.get(agent) for agent in offers}
    chosen = allocate_goals(offers, goals, staffed, holding)
    steps = {
        agent: chosen.get(agent) or idle_step(views[agent], domain, [no for whose, no in barred if whose == agent])
        for agent in offers
    }
    late = Counter[GoalId | None]()
    for step in chosen.values():
        late[step.goal] = max(late[step.goal], step.ticks)
    return {
        agent: step._replace(action=step.hold)
        if step.hold is not None and step.ticks + 1 < late[step.goal]
        else _kept(step, running.get(agent), agent, barred)
        for agent, step in steps.items()
    }


def _kept(
    step: CandidateStep, plan: Plan | None, agent: AgentId, barred: Collection[tuple[AgentId, Action]]
) -> CandidateStep:
    """Return what runs where it is for the goal of the step, else the step."""
    if plan is None or plan.goal != step.goal or not plan.actions or (agent, plan.actions[0]) in barred:
        return step
    return step._replace(action=plan.actions[0])


def choose_step(
    view: View,
    domain: Domain,
    staffed: Mapping[GoalId, int],
    others: int,
    running: Plan | None = None,
    aim: GoalId | None = None,
) -> CandidateStep:
    """Return the step of an agent that chooses for itself, knowing what teammates said that they are at.

    Args:
        view: Of the agent.
        domain: The rules of its world.
        staffed: Teammates on each goal, as far as it knows.
        others: Teammates of whom it does not know what they are at.
        running: What it is doing.
        aim: What it was at when it last decided.
    """
    goals = {goal.id: goal for goal in workable_goals(view)}
    holding = {view.agent: running.goal if running is not None else aim}
    chosen = allocate_goals({view.agent: find_steps(view, domain)}, goals, staffed, holding, others)
    return _kept(chosen.get(view.agent) or idle_step(view, domain), running, view.agent, ())


# ---- from votes


class Allocation(NamedTuple):
    """Who does what after the validator."""

    goals: dict[AgentId, GoalId | None]
    """For each agent its goal; None is a waiting plan."""
    moved: tuple[AgentId, ...]
    """Agents whose commitment was dissolved."""


def validate_commitments(
    committed: Mapping[AgentId, GoalId | None],
    working: Mapping[AgentId, GoalId],
    goals: Sequence[Goal],
    knows: Mapping[AgentId, Collection[GoalId]],
) -> Allocation:
    """Turn commitments into an allocation that the world's constraints allow.

    A goal is feasible if the agents committed to it and those at work on it already reach its
    quorum. Commitments to other goals are dissolved; their agents go to the feasible goal with
    the most votes that can use another agent, ties by work left, then order, or else wait. Nobody is sent to a goal
    that it does not know of, or that its kind cannot work on.

    Args:
        committed: The votes of the agents in the room, in speaking order; None waits.
        working: What agents outside the room are at work on.
        goals: Open goals in a fixed order, with their quorum as things stand now.
        knows: The goals that each of these agents can be sent to.
    """
    known = {goal.id: goal for goal in goals}
    votes = Counter(goal for goal in committed.values() if goal in known)
    staff = votes + Counter(working.values())
    feasible = [goal for goal in goals if votes[goal.id] and staff[goal.id] >= goal.quorum]
    joinable = [goal for goal in goals if goal in feasible or staff[goal.id] >= goal.quorum]
    place = {goal.id: index for index, goal in enumerate(goals)}
    result: dict[AgentId, GoalId | None] = {}
    moved = []
    for agent, goal_id in committed.items():
        if goal_id is None or any(goal.id == goal_id for goal in feasible):
            result[agent] = goal_id
            continue
        moved.append(agent)
        room = [goal for goal in joinable if staff[goal.id] < goal.capacity and goal.id in knows[agent]]
        chosen = min(room, key=lambda goal: (-votes[goal.id], goal.units, place[goal.id]), default=None)
        result[agent] = chosen.id if chosen is not None else None
        if chosen is not None:
            staff[chosen.id] += 1
    return Allocation(result, tuple(moved))
