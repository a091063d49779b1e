"""What an agent on rules does next, and what it would tell: no plan of the team, only its own situation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from teamworld.language import Action, Fact, GoalId
from teamworld.methods.coela.errands import errand
from teamworld.methods.coela.situation import Situation
from teamworld.methods.coela.worth import worth
from teamworld.planning.candidates import CandidateStep, complete_action, idle_step
from teamworld.planning.fetch import carrying_capacity, wanted_kind
from teamworld.planning.simulate import SimulatedPlan, simulate_plan
from teamworld.worlds.contract import WAIT, Goal

#: Facts that one message tells, at most.
MOST = 12
#: Goals that are thought through for one decision, at most.
LOOKED = 6


def next_step(now: Situation, omit: Collection[str] = ()) -> CandidateStep:
    """Return what to do now: the next action for the preferred goal, else out of the way, else wait for a step.

    Args:
        now: The agent's situation.
        omit: Verbs that it does not know of.
    """
    found = errand(now, omit) if carrying_capacity(now.domain) > 1 else preferred(now, omit)
    found = found or idle_step(now.view, now.domain)
    possible = found.action.verb not in omit and now.view.check(found.action).ok
    return found if possible else CandidateStep(WAIT, None)


def nearest(now: Situation, step: CandidateStep, plans: Sequence[Action]) -> Action:
    """Return what comes next to a step among plans: itself, else what serves its goal, else its verb; then the way.

    Args:
        now: The agent's situation.
        step: What the agent would do if it were free to.
        plans: What it has to choose from; at least one.
    """
    if step.action in plans:
        return step.action
    ways = {option.action: option.ticks for option in reversed(now.options)}
    serving = {option.action for option in now.options if option.goal is not None and option.goal == step.goal}

    def order(plan: Action) -> tuple[bool, bool, bool, int]:
        whole = complete_action(plan, now.view) != complete_action(step.action, now.view)
        return whole, plan not in serving, plan.verb != step.action.verb, ways.get(plan, now.view.left)

    return min(plans, key=order)


def preferred(now: Situation, omit: Collection[str] = ()) -> CandidateStep | None:
    """Return the next action for the goal that the agent should work on; None where no goal can use it.

    First what it has announced; then what others have begun and cannot do without more hands; then goals that it can
    bring to an end; then by agent-ticks: the plan to the end and the ticks that it has spent there in vain, as much
    again for each agent that is still lacking. Only the nearest few of its options' goals are thought through.
    """
    usable = [goal for goal in now.workable if goal.id in now.trips and _can_use(now, goal)]
    found: list[tuple[tuple[bool, bool, bool, int, GoalId], CandidateStep]] = []
    for goal in sorted(usable, key=lambda goal: (*_pressing(now, goal), now.trips[goal.id], goal.id))[:LOOKED]:
        plan = _best(now, goal, omit)
        if plan is not None:
            lacking = max(0, goal.quorum - now.staffed[goal.id] - 1)
            ticks = (plan.ticks + now.vain.get(goal.id, 0)) * (1 + lacking)
            rank = (*_pressing(now, goal), plan.share(goal) < 1, ticks, goal.id)
            found.append((rank, CandidateStep(plan.actions[0], goal.id)))
    return min(found)[1] if found else None


def _pressing(now: Situation, goal: Goal) -> tuple[bool, bool]:
    """Rank what the agent has announced first, then what waits for it."""
    kept = now.announced == goal.id and not now.vain.get(goal.id, 0)
    return not kept, not 0 < now.staffed[goal.id] < goal.quorum


def _can_use(now: Situation, goal: Goal) -> bool:
    """Return whether a goal has room for the agent and can get all the agents that it takes."""
    return now.ahead(goal) < goal.places and len(now.hands(goal)) + 1 >= goal.quorum


def _best(now: Situation, goal: Goal, omit: Collection[str]) -> SimulatedPlan | None:
    """Return the best plan: one that can go on before one begun anew, then most done, no wait first, fewest ticks."""
    recipes = now.domain.candidate_plans(goal, now.me, now.given)
    known = [plan.actions for plan in recipes if not any(action.verb in omit for action in plan.actions)]
    for ahead in ([rest for actions in known if (rest := _rest(now, actions))], known):
        plans = (actions for actions in ahead if now.view.check(actions[0]).ok)
        sound = (plan for actions in plans if (plan := simulate_plan(actions, now.me, now.given, now.domain)).ok)
        best = min(sound, key=lambda plan: (-plan.share(goal), plan.actions[0] == WAIT, plan.ticks), default=None)
        if best is not None:
            return best
    return None


def _rest(now: Situation, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return what of a plan is still to do: what follows the action that the agent has just done, if it is in it."""
    last = next((o for o in reversed(now.view.history) if o.action.verb not in ("talk", "wait")), None)
    if last is None or last.status != "done" or len(actions) == 1:
        return actions
    at = [index for index, action in enumerate(actions) if complete_action(action, now.view) == last.action]
    return actions[at[0] + 1 :] if len(at) == 1 else actions  # what is done twice says nothing of how far it got


class News(NamedTuple):
    """What an agent would tell."""

    goal: GoalId | None
    """What it takes, if that is news."""
    facts: tuple[Fact, ...]
    text: str
    """Empty where there is nothing to tell."""


def news(now: Situation, omit: Collection[str] = ()) -> News:
    """Return what the others may not know and could use: what the agent takes, and things that goals are about."""
    step = next_step(now, omit)
    goal = step.goal if step.goal != now.announced else None
    told: list[Fact] = []
    for known in sorted(now.goals.values(), key=lambda known: (known.id != step.goal, known.id)):
        facts = [fact for fact in now.given if fact.subject == known.thing] if known.thing is not None else []
        again = wanted_kind(known) is not None and any(fact in told for fact in facts)  # one place of several goals
        if facts and not again and len(told) + len(facts) <= MOST and worth(now, None, facts).saved > 0:
            told += facts
    if goal is not None and worth(now, goal, ()).saved <= 0:
        goal = None
    return News(goal, tuple(told), _words(now, goal, told))


def _words(now: Situation, goal: GoalId | None, facts: list[Fact]) -> str:
    words = []
    if goal is not None:
        taken = now.goals[goal]
        lacking = taken.quorum - now.staffed[goal] - 1
        help_ = f"; it takes {taken.quorum} at once, {lacking} more must come" if lacking > 0 else ""
        words.append(f"I take {goal}, about {now.trips.get(goal, 1)} steps from here{help_}.")
    if facts:
        words.append(f"I know: {'; '.join(map(str, facts))}.")
    return " ".join(words)
