"""A plan for a team, one action for each agent, and what an agent finds wrong with its own part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pydantic import Field

from teamworld.language import Action, AgentId, GoalId, plain
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.single_action import read_act
from teamworld.methods.contract import StrictModel
from teamworld.planning.action_parser import action_text
from teamworld.planning.candidates import MAX_GOALS, CandidateStep, find_step, idle_step, list_steps, nearest_ticks
from teamworld.planning.conflicts import Conflict, Intent, find_conflict, slowed_rate
from teamworld.planning.goals import workable_goals
from teamworld.worlds.contract import Goal

#: An agent objects where it knows something that is worth so many times as much.
CLEARLY = 2.0
#: So many times as much is enough where its action is in conflict with another's.
BETTER = 1.08
#: It objects to what failed so many times of late and never worked.
VAIN = 2


class Assigned(StrictModel):
    """An agent's action."""

    agent: str = Field(description="id of the agent")
    goal: GoalId | None = Field(default=None, description="id of the task that it serves, or null")
    action: str = Field(description="one action in written form")


class TeamPlan(Reasoned):
    """One action for every agent."""

    actions: tuple[Assigned, ...] = Field(description="exactly one action for each agent")

    def of(self, agent: AgentId) -> Assigned | None:
        """Return what the plan has for an agent; the first entry counts."""
        return next((entry for entry in self.actions if entry.agent == agent), None)


def assign(steps: Mapping[AgentId, CandidateStep]) -> tuple[Assigned, ...]:
    """Return the actions of steps."""
    return tuple(Assigned(agent=agent, goal=step.goal, action=plain(step.action)) for agent, step in steps.items())


class Objection(NamedTuple):
    """What an agent finds wrong with its part of a plan."""

    reason: str
    better: CandidateStep
    """What it would do instead."""


def find_objection(me: AgentKnowledge, plan: TeamPlan) -> Objection | None:
    """Return what an agent has against its action in a plan, by its own view alone; None if it accepts.

    It objects to having no action, to one that cannot start, to one that failed ``VAIN`` times of late, and to one that
    leads into danger. It objects where the action and that of an agent before it are in one another's way, by the
    world's conflict costs, and something else is worth ``BETTER`` times as much; and where something else is worth
    ``CLEARLY`` times as much. The worth of a step is that of the allocation: weight, times the share of the work a
    step, over the agents needed; with the steps lost in a conflict; 0 where the plan sends too few others, or enough.
    """
    return _Judgement(me, plan).objection


@dataclass(frozen=True)
class _Judgement:
    me: AgentKnowledge
    plan: TeamPlan

    @property
    def objection(self) -> Objection | None:
        me, entry = self.me, self.plan.of(self.me.agent)
        if entry is None or not action_text(entry.action):
            return Objection("I have no action.", self._best(()))
        action = read_act(entry.action, me, listed=False)
        if action is None:
            return Objection("I cannot tell which action that is.", self._best(()))
        verdict = me.view.check(action)
        if action != me.doing and not verdict.ok:
            return Objection(f"I cannot: {plain(verdict.reason)}", self._best((action,)))
        if (vain := self._vain(action)) is not None:
            return Objection(vain, self._best((action,)))
        if self._is_deadly(action):
            return Objection("It leads me into danger.", self._best((action,)))
        return self._rather(entry.goal, action)

    def _vain(self, action: Action) -> str | None:
        """Return how an action failed that was tried time and again of late; None if it was not."""
        tried = [done for done in self.me.past if done.action == action]
        if len(tried) < VAIN or any(done.status != "failed" for done in tried):
            return None
        return f"It failed {len(tried)} times, last from step {tried[-1].start}: {plain(tried[-1].reason)}"

    def _is_deadly(self, action: Action) -> bool:
        """Return whether the world's danger rules say that the agent is harmed after the action and not before."""
        me, danger = self.me, self.me.domain.danger
        if danger is None or danger.harm_probability(me.agent, 1, me.view.known) >= 1:
            return False
        after = me.domain.predict(me.agent, action, me.view.known)
        return danger.harm_probability(me.agent, 1, after) >= 1

    def _rather(self, goal_id: GoalId | None, action: Action) -> Objection | None:
        """Return the objection that something else is worth more; None where the agent is needed where it is sent."""
        goal, conflict = self._goal(goal_id), self._conflict(action, goal_id)
        if goal_id is not None and goal is None:
            return None  # the planner may know of what it does not
        best = self._best((action,))
        if best.goal is None or (best.goal != goal_id and self._is_needed(goal)):
            return None
        planned = max((self._worth(step._replace(action=action)) for step in self._steps_to(goal)), default=0.0)
        if self._worth(best) <= (CLEARLY if conflict is None else BETTER) * planned:
            return None
        if conflict is not None:
            lost = f"{conflict.lost:.1f}".removesuffix(".0")
            return Objection(f"{conflict.agent} and I are in one another's way, which loses about {lost} steps.", best)
        if best.goal == goal_id:
            return None
        return Objection(f"{best.goal} is clearly worth more to me: about {best.ticks} steps for its part.", best)

    def _best(self, barred: tuple[Action, ...]) -> CandidateStep:
        """Return the step that is worth most of those that are not barred, else out of the way."""
        able = (step for goal in self._goals for step in self._steps_to(goal) if step.action not in barred)
        worth = [(self._worth(step), step) for step in able]
        best = max((rated for rated in worth if rated[0] > 0), key=lambda rated: rated[0], default=None)
        while best is not None and self._is_deadly(best[1].action):
            worth.remove(best)
            best = max((rated for rated in worth if rated[0] > 0), key=lambda rated: rated[0], default=None)
        return idle_step(self.me.view, self.me.domain, barred) if best is None else best[1]

    def _worth(self, step: CandidateStep) -> float:
        """Return the worth of a step a tick and agent; 0 where the plan sends too few or enough others."""
        goal, sent = self._goal(step.goal), self._sent(step.goal)
        if goal is None or sent >= goal.capacity or sent + 1 < goal.quorum:
            return 0.0
        return goal.weight * slowed_rate(step, self._conflict(step.action, step.goal)) / max(1, goal.quorum)

    def _conflict(self, action: Action, goal: GoalId | None) -> Conflict | None:
        """Return with whom of those before it in the plan an action is most in conflict; None if with nobody."""
        return find_conflict(Intent(self.me.agent, action, goal), self._before, self.me.view, self.me.domain)

    @cached_property
    def _before(self) -> list[Intent]:
        """What those are to do who stand before the agent in the plan."""
        names = [entry.agent for entry in self.plan.actions]
        before = self.plan.actions[: names.index(self.me.agent)] if self.me.agent in names else self.plan.actions
        read = ((entry, read_act(entry.action, self.me, listed=False)) for entry in before)
        return [Intent(entry.agent, action, entry.goal) for entry, action in read if action is not None]

    @cached_property
    def _goals(self) -> list[Goal]:
        """The goals that the agent can work on: the nearest ones, as its options tell."""
        near = nearest_ticks(self.me.view.options)
        return sorted(workable_goals(self.me.view), key=lambda goal: near.get(goal.id, 1 << 30))[:MAX_GOALS]

    def _steps_to(self, goal: Goal | None) -> list[CandidateStep]:
        """Return the first steps of the sound plans for a goal, the one that all rules would take first among them."""
        if goal is None:
            return []
        best = find_step(goal, self.me.view, self.me.domain)
        listed = list_steps(goal, self.me.view, self.me.domain)
        return listed if best is None else [best, *(step for step in listed if step.action != best.action)]

    def _is_needed(self, goal: Goal | None) -> bool:
        """Return whether the others whom the plan sends to a goal are too few without this agent."""
        return goal is not None and 0 < self._sent(goal.id) < goal.quorum

    def _goal(self, goal_id: GoalId | None) -> Goal | None:
        return next((goal for goal in self._goals if goal.id == goal_id), None)

    def _sent(self, goal_id: GoalId | None) -> int:
        return sum(entry.goal == goal_id and entry.agent != self.me.agent for entry in self.plan.actions)
