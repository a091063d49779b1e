"""What an agent on rules does next, and what it would tell: no plan of the team, only its own situation.

Agents with one hand take the goal that they should work on and do what comes next for it. Agents with several hands
fetch several things before they bring them, and look for things that nobody has found. A look is rated by its steps
over the number of things that it is expected to find. What a teammate in sight is nearer to counts twice, for that one
is likely to do it. An agent brings what it holds once its hands are full, when nothing else is of use, or when that is
nearer than anything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from teamworld.language import Action, Entity, Fact, GoalId, Term
from teamworld.methods.coela.message_value import value_message
from teamworld.methods.coela.situation import Situation
from teamworld.planning.candidates import CandidateStep, complete_action, idle_step
from teamworld.planning.fetch import MIN_FINDS, find_chances, wanted_kind
from teamworld.planning.simulate import SimulatedPlan, simulate_plan
from teamworld.worlds.contract import WAIT, Goal, Option

#: Facts that one message tells, at most.
MAX_FACTS = 12
#: Goals that are simulated for one decision, at most.
MAX_GOALS = 6


def choose_step(situation: Situation, omit: Collection[str] = ()) -> CandidateStep:
    """Return what to do now: the next action for the preferred goal, else out of the way, else wait for a step.

    Args:
        situation: Of the agent.
        omit: Verbs that it does not know of.
    """
    choose = choose_fetch if situation.words.hands > 1 else choose_for_goal
    step = choose(situation, omit) or idle_step(situation.view, situation.domain)
    possible = step.action.verb not in omit and situation.view.check(step.action).ok
    return step if possible else CandidateStep(WAIT, None)


def nearest_plan(situation: Situation, step: CandidateStep, plans: Sequence[Action]) -> Action:
    """Return what comes next to a step among plans: itself, else what serves its goal, else its verb; then the way.

    Args:
        situation: Of the agent.
        step: What the agent would do if it were free to.
        plans: What it has to choose from; at least one.
    """
    if step.action in plans:
        return step.action
    ways = {option.action: option.steps for option in reversed(situation.options)}
    serving = {option.action for option in situation.options if option.goal is not None and option.goal == step.goal}
    whole = complete_action(step.action, situation.view)

    def order(plan: Action) -> tuple[bool, bool, bool, int]:
        other = complete_action(plan, situation.view) != whole
        return other, plan not in serving, plan.verb != step.action.verb, ways.get(plan, situation.view.steps_left)

    return min(plans, key=order)


# ---- with one hand: one goal after the other


def choose_for_goal(situation: Situation, omit: Collection[str] = ()) -> CandidateStep | None:
    """Return the next action for the goal that the agent should work on; None where no goal can use it.

    First what it has announced; then what others have begun and cannot do without more hands; then goals that it can
    bring to an end; then by agent-steps: the plan to the end and the steps that it has spent there in vain, as much
    again for each agent that is still missing. Only the nearest few of its options' goals are simulated.
    """
    usable = [goal for goal in situation.workable if goal.id in situation.trips and _can_use(situation, goal)]
    ranked: list[tuple[tuple[bool, bool, bool, int, GoalId], CandidateStep]] = []
    order = sorted(usable, key=lambda goal: (*_urgency(situation, goal), situation.trips[goal.id], goal.id))
    for goal in order[:MAX_GOALS]:
        plan = _best_plan(situation, goal, omit)
        if plan is not None:
            missing = max(0, goal.quorum - situation.staffed[goal.id] - 1)
            ticks = (plan.ticks + situation.vain.get(goal.id, 0)) * (1 + missing)
            rank = (*_urgency(situation, goal), plan.share(goal) < 1, ticks, goal.id)
            ranked.append((rank, CandidateStep(plan.actions[0], goal.id)))
    return min(ranked)[1] if ranked else None


def _urgency(situation: Situation, goal: Goal) -> tuple[bool, bool]:
    """Rank what the agent has announced first, then what waits for it."""
    kept = situation.announced == goal.id and not situation.vain.get(goal.id, 0)
    return not kept, not 0 < situation.staffed[goal.id] < goal.quorum


def _can_use(situation: Situation, goal: Goal) -> bool:
    """Return whether a goal has room for the agent and can get all the agents that it takes."""
    return situation.ahead(goal) < goal.capacity and len(situation.helpers(goal)) + 1 >= goal.quorum


def _best_plan(situation: Situation, goal: Goal, omit: Collection[str]) -> SimulatedPlan | None:
    """Return the best plan: one that can go on before one begun anew, then most done, no wait first, fewest steps."""
    me, known, domain = situation.me, situation.known, situation.domain
    candidates = domain.candidate_plans(goal, me, known)
    plans = [plan.actions for plan in candidates if not any(action.verb in omit for action in plan.actions)]
    for listed in ([rest for actions in plans if (rest := _rest(situation, actions))], plans):
        possible = (actions for actions in listed if situation.view.check(actions[0]).ok)
        sound = (plan for actions in possible if (plan := simulate_plan(actions, me, known, domain)).ok)
        best = min(sound, key=lambda plan: (-plan.share(goal), plan.actions[0] == WAIT, plan.ticks), default=None)
        if best is not None:
            return best
    return None


def _rest(situation: Situation, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return what of a plan is still to do: what follows the action that the agent has just done, if it is in it."""
    outcomes = reversed(situation.view.history)
    last = next((outcome for outcome in outcomes if outcome.action.verb not in ("talk", "wait")), None)
    if last is None or last.status != "done" or len(actions) == 1:
        return actions
    at = [index for index, action in enumerate(actions) if complete_action(action, situation.view) == last.action]
    return actions[at[0] + 1 :] if len(at) == 1 else actions  # what is done twice says nothing of how far it got


# ---- with several hands: fetch, look, bring


def choose_fetch(situation: Situation, omit: Collection[str] = ()) -> CandidateStep | None:
    """Return what to fetch, where to look or what to bring; None where there is nothing to do.

    Args:
        situation: Of the agent.
        omit: Verbs that it does not know of.
    """
    has = len(situation.held(situation.me))
    options = [option for option in situation.options if option.action.verb not in omit and option.action != WAIT]
    after = {option: situation.kept(option) for option in options}
    bring = min((option for option in options if after[option] < has), key=lambda option: option.steps, default=None)
    missing = situation.missing
    ratings: dict[Option, float] = {
        option: option.steps * _rivalry(situation, option)
        for option in options
        if after[option] > has and option.goal in missing
    }
    in_reach = {option.goal for option in ratings}
    rest = [option for option in options if after[option] == has]
    ratings |= _rate_looks(situation, [option for option in rest if option.goal is None or option.goal not in in_reach])
    best = min(ratings, key=lambda option: (ratings[option], str(option.action)), default=None)
    if bring is not None and (best is None or has >= situation.words.hands or bring.steps <= best.steps):
        best = bring
    return None if best is None else CandidateStep(best.action, best.goal)


def _rate_looks(situation: Situation, options: Iterable[Option]) -> Mapping[Option, float]:
    """Return options that may find something that is missing, with the steps for each thing that they may find."""
    missing, empty = situation.missing, not situation.held(situation.me)
    targets = () if empty and missing else situation.targets
    chances = find_chances(situation.domain, situation.known, missing, targets)
    ratings: dict[Option, float] = {}
    for option in options:
        place: Term | None = option.action.args[0] if option.action.args else None
        if not isinstance(place, Entity):
            continue
        chance = 1.0 if option.goal in missing else min(1.0, chances.get(place, 0.0))  # 1: somebody told of a thing
        if option.goal is None and situation.known.value(place, situation.words.search) == situation.words.seen:
            chance *= _staleness(situation, place) if empty else 0.0
        if chance > 0:
            ratings[option] = option.steps * _rivalry(situation, option) / max(MIN_FINDS, chance)
    return ratings


def _staleness(situation: Situation, place: Entity) -> float:
    """Return how long ago the agent went to a place, as a share of the episode so far: things may be there since."""
    view = situation.view
    last = (past.start for past in reversed(view.history) if past.status == "done" and past.action.args == (place,))
    return (view.t - next(last, 0)) / max(1, view.t)


def _rivalry(situation: Situation, option: Option) -> int:
    """Return 2 where a teammate in sight is nearer to what an option is about, else 1; of equals the first is."""
    order = {agent: place for place, agent in enumerate(situation.team)}
    own, facts = (option.steps, order[situation.me]), situation.view.facts
    for teammate in situation.teammates:
        if facts.value(teammate, situation.words.at) is not None:
            steps = situation.domain.estimate_steps(teammate, option.action, situation.known)
            if (steps, order[teammate]) < own:
                return 2
    return 1


# ---- what it would tell


class News(NamedTuple):
    """What an agent would tell."""

    goal: GoalId | None
    """What it takes, if that is news."""
    facts: tuple[Fact, ...]
    text: str
    """Empty where there is nothing to tell."""


def find_news(situation: Situation, omit: Collection[str] = ()) -> News:
    """Return what the others may not know and could use: what the agent takes, and things that goals are about."""
    step = choose_step(situation, omit)
    goal = step.goal if step.goal != situation.announced else None
    facts: list[Fact] = []
    for known in sorted(situation.goals.values(), key=lambda known: (known.id != step.goal, known.id)):
        about = [fact for fact in situation.known if fact.subject == known.thing] if known.thing is not None else []
        repeated = wanted_kind(known) is not None and any(fact in facts for fact in about)  # one place of several goals
        fits = about and not repeated and len(facts) + len(about) <= MAX_FACTS
        if fits and value_message(situation, None, about).saved > 0:
            facts += about
    if goal is not None and value_message(situation, goal, ()).saved <= 0:
        goal = None
    return News(goal, tuple(facts), _word_news(situation, goal, facts))


def _word_news(situation: Situation, goal_id: GoalId | None, facts: list[Fact]) -> str:
    sentences = []
    if goal_id is not None:
        goal = situation.goals[goal_id]
        missing = goal.quorum - situation.staffed[goal_id] - 1
        request = f"; it takes {goal.quorum} at once, {missing} more must come" if missing > 0 else ""
        sentences.append(f"I take {goal_id}, about {situation.trips.get(goal_id, 1)} steps from here{request}.")
    if facts:
        sentences.append(f"I know: {'; '.join(map(str, facts))}.")
    return " ".join(sentences)
