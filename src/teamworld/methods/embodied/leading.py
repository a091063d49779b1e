"""What a leader assigns to whom: the shared allocation, from what the leader itself knows of each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from teamworld.language import AgentId, Facts, GoalId
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.planning.allocation import allocate_goals
from teamworld.planning.candidates import CandidateStep, find_steps, foresee_step
from teamworld.planning.goals import filter_workable, workable_goals
from teamworld.worlds.contract import WAIT, ImpossibleFacts


def is_placed(agent: AgentId, facts: Facts) -> bool:
    """Return whether facts tell where an agent is, not just which way it looked."""
    return any(fact.subject == agent for fact in facts.about("AT"))


def assign_goals(me: AgentKnowledge, group: Sequence[AgentId]) -> dict[AgentId, GoalId]:
    """Return the tasks that a leader would give to the agents that it leads, itself included.

    Each gets what is worth most an agent, by the steps that the leader expects of it. Where it does not know where an
    agent is, it takes that one to be as far from everything as itself. Tasks that others outside the group said they
    take count as taken, and who is at a task rather stays there.

    Args:
        me: What the leader knows.
        group: Whom it leads, itself included.
    """
    own, facts = find_steps(me.view, me.domain), me.view.known
    goals = {goal.id: goal for goal in workable_goals(me.view)} | {goal.id: goal for goal in me.goals}
    offers = {me.agent: own}
    held = {teammate.agent: teammate.commitment for teammate in me.team}
    near = [step.goal for step in own] or list(goals)
    for teammate in (teammate for teammate in me.team if teammate.agent in group):
        fit = [
            goal for goal in filter_workable(goals.values(), teammate.kind) if goal.id in (*near, teammate.commitment)
        ]
        steps = [step._replace(action=WAIT) for step in own if any(step.goal == goal.id for goal in fit)]
        if is_placed(teammate.agent, facts):
            with suppress(ImpossibleFacts):  # what is known of it does not tell where it is
                foreseen = [foresee_step(goal, teammate.agent, me.domain, facts) for goal in fit]
                steps = [step for step in foreseen if step is not None]
        offers[teammate.agent] = steps
    staffed: dict[GoalId, int] = {}
    for agent, goal in held.items():
        if agent not in group and goal is not None:
            staffed[goal] = staffed.get(goal, 0) + 1
    holding: dict[AgentId, GoalId | None] = {**held, me.agent: me.commitment}
    chosen: dict[AgentId, CandidateStep] = allocate_goals(offers, goals, staffed, holding)
    return {agent: step.goal for agent, step in chosen.items() if step.goal is not None}
