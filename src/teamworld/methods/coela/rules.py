"""What an agent on rules does next, and what it would tell: no plan of the team, only its own situation.

Agents with one hand take the goal that they should work on and do what comes next for it. Agents with several hands
fetch several things before they bring them, and look for things that nobody has found. A look is rated by its steps
over the number of things that it is expected to find. What a teammate in sight is nearer to counts twice, for that one
is likely to do it. An agent brings what it holds once its hands are full, when nothing else is of use, or when that is
nearer than anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from teamworld.language import Action, Entity, Fact, GoalId, Term, plain
from teamworld.methods.coela.message_value import value_message
from teamworld.methods.coela.situation import Situation
from teamworld.planning.candidates import CandidateStep, complete_action, find_step, idle_step
from teamworld.planning.fetch import MIN_FINDS, find_chances, wanted_kind
from teamworld.reasoning.prompts import plural
from teamworld.worlds.contract import WAIT, Goal, Option

#: Facts that one message tells, at most.
MAX_FACTS = 12
#: Goals that are simulated for one decision, at most.
MAX_GOALS = 6


def choose_step(situation: Situation) -> CandidateStep:
    """Return what to do now: the next action for the preferred goal, else out of the way, else wait for a step."""
    choose = choose_fetch if situation.words.hands > 1 else choose_for_goal
    step = choose(situation) or idle_step(situation.view, situation.domain)
    possible = step.action.verb not in situation.omit and situation.view.check(step.action).ok
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
        return other, plan not in serving, plan.verb != step.action.verb, ways.get(plan, situation.steps_left)

    return min(plans, key=order)


# ---- with one hand: one goal after the other


def choose_for_goal(situation: Situation) -> CandidateStep | None:
    """Return the next action for the goal that the agent should work on; None where no goal can use it.

    First what it has announced; then what others have begun and cannot do without more hands; then goals that it can
    bring to an end; then by agent-steps: the plan to the end and the steps that it has spent there in vain, as much
    again for each agent that is still missing. Only the nearest few of its options' goals are looked at closely. Where
    others have taken all of them, what is at hand is done all the same: it costs nobody a way.
    """
    near = [goal for goal in situation.workable if goal.id in situation.trips]
    usable = [goal for goal in near if _can_use(situation, goal)]
    usable = usable or [goal for goal in near if situation.trips[goal.id] == 1 and goal.quorum == 1]
    ranked: list[tuple[tuple[bool, bool, bool, int, GoalId], CandidateStep]] = []
    order = sorted(usable, key=lambda goal: (*_urgency(situation, goal), situation.trips[goal.id], goal.id))
    for goal in order[:MAX_GOALS]:
        step = find_step(goal, situation.view, situation.domain, situation.known)
        if step is not None and step.action.verb not in situation.omit:
            missing = max(0, goal.quorum - situation.staffed[goal.id] - 1)
            steps = (step.ticks + situation.vain.get(goal.id, 0)) * (1 + missing)
            ranked.append(((*_urgency(situation, goal), step.share < 1, steps, goal.id), step))
    return min(ranked, key=lambda entry: entry[0])[1] if ranked else None


def _urgency(situation: Situation, goal: Goal) -> tuple[bool, bool]:
    """Rank what the agent has announced first, then what waits for it."""
    kept = situation.commitment == goal.id and not situation.vain.get(goal.id, 0)
    return not kept, not 0 < situation.staffed[goal.id] < goal.quorum


def _can_use(situation: Situation, goal: Goal) -> bool:
    """Return whether a goal has room for the agent and can get all the agents that it takes."""
    return situation.ahead(goal) < goal.capacity and len(situation.helpers(goal)) + 1 >= goal.quorum


# ---- with several hands: fetch, look, bring


def choose_fetch(situation: Situation) -> CandidateStep | None:
    """Return what to fetch, where to look or what to bring; None where there is nothing to do."""
    has = len(situation.held(situation.agent))
    options = [option for option in situation.options if option.action != WAIT]
    after = {option: situation.kept_after(option) for option in options}
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
    missing, empty = situation.missing, not situation.held(situation.agent)
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
    done = (past.start for past in reversed(situation.past) if past.status == "done" and past.action.args == (place,))
    return (situation.step - next(done, 0)) / max(1, situation.step)


def _rivalry(situation: Situation, option: Option) -> int:
    """Return 2 where a teammate in sight is nearer to what an option is about, else 1."""
    return 1 if situation.nearer(option) is None else 2


# ---- what it would tell


class News(NamedTuple):
    """What an agent would tell."""

    goal: GoalId | None
    """What it takes, if that is news."""
    facts: tuple[Fact, ...]
    text: str
    """Empty where there is nothing to tell."""


def find_news(situation: Situation) -> News:
    """Return what the others may not know and could use: what the agent takes, and things that goals are about."""
    step = choose_step(situation)
    goal = step.goal if step.goal != situation.commitment else None
    facts: list[Fact] = []
    for known in sorted(situation.all_goals.values(), key=lambda known: (known.id != step.goal, known.id)):
        about = sorted((fact for fact in situation.known if fact.subject == known.thing), key=str)
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
        goal = situation.all_goals[goal_id]
        missing = goal.quorum - situation.staffed[goal_id] - 1
        request = f"; it takes {goal.quorum} at once, {missing} more must come" if missing > 0 else ""
        away = plural(situation.trips.get(goal_id, 1), "step")
        sentences.append(f"I take {goal_id}, about {away} from here{request}.")
    if facts:
        sentences.append(f"I know: {'; '.join(map(plain, facts))}.")
    return " ".join(sentences)
