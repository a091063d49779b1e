"""Evaluate what one agent could do next.

A ``CandidateStep`` is the first action of a plan for a goal, of a plan whose dry run succeeds, with what the whole plan
achieves. Its worth is the goal's weight, times the share of the work that the plan does, over the steps that it takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Facts, GoalId, Plan
from teamworld.planning.goals import workable_goals
from teamworld.planning.simulate import RememberedRules, dry_run, share_in_time, simulate_plan
from teamworld.worlds.contract import WAIT, Domain, Goal, Option, View

#: Goals that are looked at closely for each agent: the nearest ones, as its options tell.
MAX_GOALS = 6
#: Share of the work that a sound plan counts for where the world does not say what it does for the goal.
MIN_SHARE = 0.01


class EvaluatedPlan(NamedTuple):
    """A plan that makes sense for a goal, and what a dry run of it comes to."""

    plan: Plan
    steps: int
    """Estimated steps of the actions that can start, at least 1."""
    share: float
    """Share of the goal's work that it is expected to do, from 0 to 1; 0 where an action cannot start."""
    reason: str
    """Which action cannot start, and why; empty where all can, one after the other."""
    still: bool = False
    """Its first action changes nothing that can be foreseen: it waits."""

    @property
    def rate(self) -> float:
        """Share of the work a step; less than 0 for a plan that cannot be carried out."""
        return -1.0 if self.reason else max(self.share, MIN_SHARE * MIN_SHARE if self.still else MIN_SHARE) / self.steps


class CandidateStep(NamedTuple):
    """The first action of a plan, and what the plan comes to."""

    action: Action
    """With all arguments."""
    goal: GoalId | None
    ticks: int = 1
    """Estimated ticks of the whole plan, at least 1."""
    share: float = 0.0
    """Share of the goal's work that the plan does, from 0 to 1."""
    still: bool = False
    """The action changes nothing that can be foreseen."""
    hold: Action | None = None
    """What the plan begins with and was passed over, for it would change nothing: to hold one's place by."""

    @property
    def rate(self) -> float:
        """Share of the work that the plan does a tick."""
        return max(self.share, MIN_SHARE * MIN_SHARE if self.still else MIN_SHARE) / self.ticks


# ---- what one agent could do next


def complete_action(action: Action, view: View) -> Action:
    """Return an action with its defaults, as ``View.abilities`` know them; as it is where they do not."""
    schema = next((schema for schema in view.abilities if schema.verb == action.verb), None)
    try:
        return action if schema is None else schema.complete(action)
    except UserError:
        return action


def evaluate_plans(goal: Goal, view: View, domain: Domain, facts: Facts | None = None) -> list[EvaluatedPlan]:
    """Return the plans that make sense for a goal, those first that do the most of its work a step by a dry run.

    All methods judge plans by this one. What takes longer than the steps left counts as if it did nothing. Plans that
    cannot be carried out come last; equals keep the world's order.

    Args:
        goal: An open goal that the agent's kind can work on.
        view: Of the agent.
        domain: The rules of its world.
        facts: What is believed; what the agent knows if None.
    """
    evaluated, rules = [], RememberedRules(domain)
    for plan in domain.candidate_plans(goal, view.agent, view.known if facts is None else facts):
        tried = simulate_plan(plan.actions, view.agent, view.known if facts is None else facts, rules)
        share = share_in_time(tried, goal, view.steps_left) if tried.ok else 0.0
        evaluated.append(EvaluatedPlan(plan, max(1, tried.ticks), share, tried.reason, tried.still))
    return sorted(evaluated, key=lambda plan: (-plan.rate, -plan.share))


def best_plan(goals: Iterable[Goal], view: View, domain: Domain) -> Plan | None:
    """Return the plan that earns most a step: its goal's weight, times the share of the work it does, over its steps.

    Of equals the first goal's. None where no plan for the nearest goals can be carried out by what the agent knows.

    Args:
        goals: Open goals that the agent's kind can work on, such as ``workable_goals``; the nearest are tried.
        view: Of the agent.
        domain: The rules of its world.
    """
    known, near = list(goals), nearest_ticks(view.options)
    close = {goal.id for goal in sorted(known, key=lambda goal: near.get(goal.id, 1 << 30))[:MAX_GOALS]}
    tried = [(goal, plan) for goal in known if goal.id in close for plan in evaluate_plans(goal, view, domain)[:1]]
    sound = [(goal.weight * plan.rate, replace(plan.plan, goal=goal.id)) for goal, plan in tried if not plan.reason]
    return max(sound, key=lambda pair: pair[0], default=(0.0, None))[1]


def find_step(goal: Goal, view: View, domain: Domain, facts: Facts | None = None) -> CandidateStep | None:
    """Return the best step toward a goal, or None where no plan for it can begin now.

    Of the plans that make sense the one that does the most of the goal's work a tick, then the most in all, then the
    first. What a plan begins with is passed over if it would change nothing, unless what comes next has just failed.

    Args:
        goal: An open goal that the agent's kind can work on.
        view: Of the agent.
        domain: The rules of its world.
        facts: What is believed; what the agent knows if None. The step must be possible by what the agent knows.
    """
    best = max(list_steps(goal, view, domain, facts), key=lambda step: (step.rate, step.share), default=None)
    if best is None:
        return None
    action, hold = complete_action(best.action, view), None if best.hold is None else complete_action(best.hold, view)
    last = view.history[-1] if view.history else None
    failed = hold is not None and last is not None and last.status == "failed" and last.action == action
    return best._replace(action=hold if failed and hold is not None else action, hold=hold)


def foresee_step(goal: Goal, agent: AgentId, domain: Domain, facts: Facts) -> CandidateStep | None:
    """Return the best step that somebody expects of another agent toward a goal; None where it has no sound plan.

    Args:
        goal: An open goal that the agent's kind can work on.
        agent: The other agent.
        domain: The rules of the world.
        facts: What whoever asks knows; they tell where the agent is.
    """
    return max(facts.derive(_Sound(goal, agent, domain)), key=lambda step: (step.rate, step.share), default=None)


def list_steps(goal: Goal, view: View, domain: Domain, facts: Facts | None = None) -> list[CandidateStep]:
    """Return the first steps of all sound plans toward a goal that are possible now; arguments as for ``find_step``.

    What takes longer than the steps left has no share of the work.
    """
    facts = view.known if facts is None else facts
    return [
        step if step.ticks <= view.steps_left else step._replace(share=0.0)
        for step in facts.derive(_Sound(goal, view.agent, domain))
        if view.check(step.action).ok
    ]


@dataclass(frozen=True)
class _Sound:
    """The steps of the sound plans of an agent for a goal; computed once for each collection of facts."""

    goal: Goal
    agent: AgentId
    domain: Domain

    def __call__(self, facts: Facts) -> list[CandidateStep]:
        steps, rules = [], RememberedRules(self.domain)
        for recipe in self.domain.candidate_plans(self.goal, self.agent, facts):
            plan = simulate_plan(recipe.actions, self.agent, facts, rules).trimmed
            if plan.ok:
                hold = recipe.actions[0] if len(plan.actions) < len(recipe.actions) else None
                share = plan.share(self.goal)
                steps.append(CandidateStep(plan.actions[0], self.goal.id, max(1, plan.ticks), share, plan.still, hold))
        return steps


def find_steps(
    view: View, domain: Domain, goals: Mapping[GoalId, Goal] | None = None, pooled: Facts | None = None
) -> list[CandidateStep]:
    """Return the best step toward each of the nearest goals.

    Args:
        view: Of the agent.
        domain: The rules of its world.
        goals: Open goals to choose among; those that the agent knows of and can work on if None.
        pooled: What is known of goals that the agent does not know itself.
    """
    own = {goal.id: goal for goal in workable_goals(view)}
    wanted = own if goals is None else {name: own.get(name, goal) for name, goal in goals.items() if _fits(goal, view)}
    near = nearest_ticks(view.options)
    chosen = sorted(wanted, key=lambda name: near.get(name, 1 << 30))[:MAX_GOALS]
    steps = []
    for name in (name for name in wanted if name in chosen):
        if name in own or pooled is not None:
            step = find_step(wanted[name], view, domain, None if name in own else pooled)
            steps += [] if step is None else [step]
    return steps


def foresee_steps(
    agent: AgentId, kind: str, goals: Mapping[GoalId, Goal], domain: Domain, facts: Facts
) -> list[CandidateStep]:
    """Return the best step that somebody expects of another agent toward each of the goals nearest to it.

    Args:
        agent: The other agent.
        kind: What kind of agent it is.
        goals: Open goals to choose among.
        domain: The rules of the world.
        facts: What whoever asks knows; they tell where the agent is.

    Raises:
        ImpossibleFacts: They do not, or contradict each other.
    """
    near = nearest_ticks(domain.options(agent, facts))
    fit = [goal for goal in goals.values() if not goal.kinds or kind in goal.kinds]
    nearest = sorted(fit, key=lambda goal: near.get(goal.id, 1 << 30))[:MAX_GOALS]
    foreseen = (foresee_step(goal, agent, domain, facts) for goal in fit if goal in nearest)
    return [step for step in foreseen if step is not None]


def idle_step(view: View, domain: Domain, barred: Collection[Action] = ()) -> CandidateStep:
    """Return the step of an agent that no goal needs: out of the way, or looking around.

    Args:
        view: Of the agent.
        domain: The rules of its world.
        barred: Actions that cannot be taken, as somebody found.
    """
    for plan in domain.candidate_plans(None, view.agent, view.known):
        action = complete_action(dry_run(plan, view, domain).trimmed.actions[0], view)
        if action not in barred:
            return CandidateStep(action, None)
    return CandidateStep(WAIT, None)


def _fits(goal: Goal, view: View) -> bool:
    return not goal.kinds or view.kind in goal.kinds


def has_unknown_goal(goals: Mapping[GoalId, Goal], view: View) -> bool:
    """Return whether there is a goal for the agent's kind that it does not know to be workable."""
    own = {goal.id for goal in workable_goals(view)}
    return any(name not in own and _fits(goal, view) for name, goal in goals.items())


def nearest_ticks(options: Iterable[Option]) -> dict[GoalId, int]:
    """Return for each goal the ticks of the nearest of some options that serve it."""
    near: dict[GoalId, int] = {}
    for option in options:
        if option.goal is not None:
            near[option.goal] = min(option.steps, near.get(option.goal, option.steps))
    return near
