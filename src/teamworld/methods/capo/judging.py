"""What an evaluator has against a meta-plan, by what it knows itself: the rule of evaluators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from teamworld.language import Action, AgentId, Facts, GoalId, plain
from teamworld.methods.capo.division import place_all
from teamworld.methods.capo.following import choose_left_out, follow_plan, is_settled, is_useful, read_item
from teamworld.methods.capo.meta_plan import MetaPlan, PlanItem, items_of
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.planning.candidates import CandidateStep, find_step, foresee_step
from teamworld.planning.fetch import fetch_options, missing_things
from teamworld.reasoning.prompts import plural
from teamworld.worlds.contract import WAIT, Goal, ImpossibleFacts

#: An evaluator objects where another division takes so many times fewer steps ...
MARGIN: Final = 1.25
#: ... and saves more steps than a round of talk takes two agents: a meta-plan, a message and an opinion.
ROUND_OF_TALK: Final = 3
#: It objects where something that the meta-plan leaves out is worth so many times as much a step.
CLEARLY: Final = 2.0


class Objection(NamedTuple):
    """What an agent has against a meta-plan, and how it would change it."""

    reason: str
    changes: MetaPlan


def find_objection(
    me: DialogueKnowledge, plan: MetaPlan, members: Sequence[AgentId], since: int = 0
) -> Objection | None:
    """Return what an agent has against a meta-plan; None if it is satisfied.

    It objects where it can do nothing of its own part though something is left out that it could do; where it and a
    teammate of its kind had better divide their parts otherwise, by the steps that dry runs of these take; and where
    something that is left out is worth ``CLEARLY`` times as much a step as what it is to do first.

    Args:
        me: What the agent knows.
        plan: The meta-plan.
        members: The agents that it is for.
        since: The step at which it came.
    """
    planned, rather = follow_plan(me, plan, since), choose_left_out(me, plan)
    can_help = is_useful(rather, me)
    if planned is None:
        why = "There is nothing for me in it that I can do." if items_of(plan, me.agent) else "I have nothing to do."
        return Objection(why, (_item(rather, me),)) if can_help else None
    better = _find_better(me, plan, members)
    if better is not None:
        return better
    if not can_help or rather.action == planned.action or _is_joint(planned.goal, me):
        return None
    if _worth(rather, me) >= CLEARLY * _worth(planned, me):
        steps = next((option.steps for option in me.options if option.action == rather.action), rather.ticks)
        reason = f"{plain(rather.action)} is clearly worth more: about {plural(max(1, steps), 'step')}."
        return Objection(reason, (_item(rather, me),))
    return None


def _item(step: CandidateStep, me: DialogueKnowledge) -> PlanItem:
    """Return what an agent would do first: where things are fetched the action, else the task or the look."""
    action = plain(step.action) if me.words.hands > 1 or step.goal is None else ""
    return PlanItem(step=1, agent=me.agent, goal=step.goal, action=action)


def _is_joint(goal: GoalId | None, me: DialogueKnowledge) -> bool:
    """Return whether a task takes several at once: they count on one another."""
    known = me.all_goals.get(goal or "")
    return known is not None and known.quorum > 1


def _worth(step: CandidateStep, me: DialogueKnowledge) -> float:
    """Return what a step is worth a step of the world: things that it is expected to get, or the share of its task."""
    if me.words.hands > 1:
        wanted = missing_things(me.workable, me.known, {}, me.words.held)
        rated = fetch_options(me.agent, me.domain, me.known, me.options, wanted, me.targets)
        return next((offer.rate for offer in rated if offer.option.action == step.action), 0.0)
    goal = me.all_goals.get(step.goal or "")
    if goal is None:
        return 0.0
    best = find_step(goal, me.view, me.domain, me.known)
    return 0.0 if best is None else goal.weight * best.rate / max(1, goal.quorum)


# ---- another division


def _find_better(me: DialogueKnowledge, plan: MetaPlan, members: Sequence[AgentId]) -> Objection | None:
    """Return the objection that the agent and a teammate had better divide their parts otherwise; None if not.

    What counts is when the last of the two is done. Only teammates of its kind of whom it knows where they are.
    """
    mine, best = items_of(plan, me.agent), None
    for teammate in members:
        theirs = items_of(plan, teammate)
        is_alike = teammate != me.agent and me.kind_of(teammate) == me.kind
        if not is_alike or not theirs or me.known.value(teammate, me.words.at) is None:
            continue
        finish = _until_done(me, teammate, mine, theirs)
        for own, other in _divisions(mine, theirs, me) if finish is not None else ():
            then = _until_done(me, teammate, own, other)
            if finish is None or then is None or finish < MARGIN * then or finish - then <= ROUND_OF_TALK:
                continue
            if best is None or finish - then > best[0]:
                reason = f"{teammate} and I are done in {then} steps, not {finish}, if we divide it otherwise."
                changes = (*_given_to(me.agent, own), *_given_to(teammate, other))
                best = finish - then, Objection(reason, changes)
    return None if best is None else best[1]


def _divisions(mine: MetaPlan, theirs: MetaPlan, me: DialogueKnowledge) -> Iterator[tuple[MetaPlan, MetaPlan]]:
    """Yield other divisions of two parts: each has the other's, or one item changes hands, but for joint tasks."""
    yield theirs, mine
    for item in mine:
        if len(mine) > 1 and not _is_joint(item.goal, me):
            yield tuple(own for own in mine if own is not item), _with_item(theirs, item)
    for item in theirs:
        if len(theirs) > 1 and not _is_joint(item.goal, me):
            yield _with_item(mine, item), tuple(own for own in theirs if own is not item)


def _with_item(part: MetaPlan, item: PlanItem) -> MetaPlan:
    return tuple(sorted((*part, item), key=lambda own: own.step))


def _until_done(me: DialogueKnowledge, teammate: AgentId, mine: MetaPlan, theirs: MetaPlan) -> int | None:
    """Return the steps until the last of two agents has done its part; None where that is not known."""
    own, other = expected_steps(me, me.agent, mine), expected_steps(me, teammate, theirs)
    return None if own is None or other is None else max(own, other)


def _given_to(agent: AgentId, items: MetaPlan) -> MetaPlan:
    return tuple(item.model_copy(update={"agent": agent}) for item in items)


def expected_steps(me: DialogueKnowledge, agent: AgentId, items: MetaPlan) -> int | None:
    """Return the steps that an agent is expected to take for items, one after the other; None where that is not known.

    A task counts from where the agent is now; what an action changes counts for those after it. What is over counts
    nothing.
    """
    facts, total = place_all(me, (agent,)), 0
    try:
        for item in items:
            action, goal = read_item(item, me), me.all_goals.get(item.goal or "")
            if _is_over(action, goal, me, facts):
                continue
            if action is None:
                step = None if goal is None else foresee_step(goal, agent, me.domain, facts)
                if step is None:
                    return None
                total += step.ticks
            elif me.domain.check(agent, action, facts).ok:
                total += me.domain.estimate_steps(agent, action, facts)
                facts = me.domain.predict(agent, action, facts)
            else:
                return None
    except ImpossibleFacts:
        return None
    return total


def _is_over(action: Action | None, goal: Goal | None, me: DialogueKnowledge, facts: Facts) -> bool:
    """Return whether there is nothing to do for an item: its task is over, it waits, or it would be in vain."""
    if goal is not None and goal.state != "open":
        return True
    return action is not None and (action == WAIT or is_settled(action, me, facts))
