"""What an agent on rules does next: no plan of the team, only its own situation.

Agents with one hand take the goal that they should work on and do what comes next for it. Agents with several hands
fetch several things before they bring them, and look for things that nobody has found. A look is rated by its steps
over the number of things that it is expected to find. What a teammate in sight is nearer to counts twice, for that one
is likely to do it. An agent brings what it holds once its hands are full, when nothing else is of use, or when that is
nearer than anything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import groupby

from teamworld.language import Action, Entity, GoalId, Term
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.planning.candidates import CandidateStep, find_step, idle_step
from teamworld.planning.fetch import MIN_FINDS, find_chances
from teamworld.worlds.contract import WAIT, Goal, Option

#: Goals that are simulated for one decision, at most.
MAX_GOALS = 6


def choose_step(me: DialogueKnowledge, barred: Collection[Action] = ()) -> CandidateStep:
    """Return what to do now: the next action for the preferred goal, else out of the way, else wait for a step.

    Args:
        me: What the agent knows.
        barred: Actions that it leaves to teammates.
    """
    chosen = choose_fetch(me, barred) if me.words.hands > 1 else choose_for_goal(me)
    step = chosen or idle_step(me.view, me.domain, barred)
    possible = step.action.verb not in me.omit and me.view.check(step.action).ok
    return step if possible else CandidateStep(WAIT, None)


# ---- with one hand: one goal after the other


def choose_for_goal(me: DialogueKnowledge) -> CandidateStep | None:
    """Return the next action for the goal that the agent should work on; None where no goal can use it.

    First what it has announced; then what others have begun and cannot do without more hands; then goals that it can
    bring to an end; then by agent-steps: the plan to the end and the steps that it has spent there in vain, as much
    again for each agent that is still missing. Only the nearest few of its options' goals are looked at closely. Where
    others have taken all of them, what is at hand is done all the same: it costs nobody a way.
    """
    near = [goal for goal in me.workable if goal.id in me.trips]
    usable = [goal for goal in near if _can_use(me, goal)]
    usable = usable or [goal for goal in near if me.trips[goal.id] == 1 and goal.quorum == 1]
    order = sorted(usable, key=lambda goal: (*_urgency(me, goal), me.trips[goal.id], goal.id))
    for _, goals in groupby(order[:MAX_GOALS], key=partial(_urgency, me)):
        steps = ((goal, find_step(goal, me.view, me.domain, me.known)) for goal in goals)
        ranked = [(_rank(me, goal, step), step) for goal, step in steps if step and step.action.verb not in me.omit]
        if ranked:
            return min(ranked, key=lambda entry: entry[0])[1]
    return None


def _rank(me: DialogueKnowledge, goal: Goal, step: CandidateStep) -> tuple[bool, int, GoalId]:
    """Rank what ends a goal first, then by the agent-steps that it takes."""
    missing = max(0, goal.quorum - me.staffed[goal.id] - 1)
    return step.share < 1, (step.ticks + me.vain.get(goal.id, 0)) * (1 + missing), goal.id


def _urgency(me: DialogueKnowledge, goal: Goal) -> tuple[bool, bool]:
    """Rank what the agent has announced first, then what waits for it."""
    kept = me.commitment == goal.id and not me.vain.get(goal.id, 0)
    return not kept, not 0 < me.staffed[goal.id] < goal.quorum


def _can_use(me: DialogueKnowledge, goal: Goal) -> bool:
    """Return whether a goal has room for the agent and can get all the agents that it takes."""
    return me.ahead(goal) < goal.capacity and len(me.helpers(goal)) + 1 >= goal.quorum


# ---- with several hands: fetch, look, bring


def choose_fetch(me: DialogueKnowledge, barred: Collection[Action] = ()) -> CandidateStep | None:
    """Return what to fetch, where to look or what to bring; None where there is nothing to do.

    Args:
        me: What the agent knows.
        barred: Actions that it leaves to teammates.
    """
    has = len(me.held(me.agent))
    options = [option for option in me.options if option.action != WAIT and option.action not in barred]
    after = {option: me.kept_after(option) for option in options}
    bring = min((option for option in options if after[option] < has), key=lambda option: option.steps, default=None)
    missing = me.missing
    ratings: dict[Option, float] = {
        option: option.steps * _rivalry(me, option)
        for option in options
        if after[option] > has and option.goal in missing
    }
    in_reach = {option.goal for option in ratings}
    rest = [option for option in options if after[option] == has]
    ratings |= _rate_looks(me, [option for option in rest if option.goal is None or option.goal not in in_reach])
    best = min(ratings, key=lambda option: (ratings[option], str(option.action)), default=None)
    if bring is not None and (best is None or has >= me.words.hands or bring.steps <= best.steps):
        best = bring
    return None if best is None else CandidateStep(best.action, best.goal)


def _rate_looks(me: DialogueKnowledge, options: Iterable[Option]) -> Mapping[Option, float]:
    """Return options that may find something that is missing, with the steps for each thing that they may find."""
    missing, empty = me.missing, not me.held(me.agent)
    targets = () if empty and missing else me.targets
    chances = find_chances(me.domain, me.known, missing, targets)
    ratings: dict[Option, float] = {}
    for option in options:
        place: Term | None = option.action.args[0] if option.action.args else None
        if not isinstance(place, Entity):
            continue
        chance = 1.0 if option.goal in missing else min(1.0, chances.get(place, 0.0))  # 1: somebody told of a thing
        if option.goal is None and me.known.value(place, me.words.search) == me.words.seen:
            chance *= _staleness(me, place) if empty else 0.0
        if chance > 0:
            ratings[option] = option.steps * _rivalry(me, option) / max(MIN_FINDS, chance)
    return ratings


def _staleness(me: DialogueKnowledge, place: Entity) -> float:
    """Return how long ago the agent went to a place, as a share of the episode so far: things may be there since."""
    done = (past.start for past in reversed(me.past) if past.status == "done" and past.action.args == (place,))
    return (me.step - next(done, 0)) / max(1, me.step)


def _rivalry(me: DialogueKnowledge, option: Option) -> int:
    """Return 2 where a teammate in sight is nearer to what an option is about, else 1."""
    return 1 if me.nearer(option) is None else 2
