"""What an evaluator has against a meta-plan, by what it knows itself: the rule of evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from teamworld.language import AgentId, plain
from teamworld.methods.capo.division import place_all
from teamworld.methods.capo.following import choose_beside, follow_plan, is_settled, read_item
from teamworld.methods.capo.meta_plan import MetaPlan, PlanItem, items_of
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.planning.candidates import CandidateStep, find_step, foresee_step
from teamworld.planning.fetch import fetch_options, missing_things
from teamworld.reasoning.prompts import plural
from teamworld.worlds.contract import WAIT, ImpossibleFacts

#: An evaluator objects where the other division takes so many times fewer steps ...
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

    It objects where it can do nothing of its own part though there is something to do, where it had better change
    places with a teammate of its kind by the steps that a dry run of both parts takes, and where something that the
    meta-plan leaves out is worth ``CLEARLY`` times as much a step as what it is to do first.

    Args:
        me: What the agent knows.
        plan: The meta-plan.
        members: The agents that it is for.
        since: The step at which it came.
    """
    planned, rather = follow_plan(me, plan, since), choose_beside(me, plan)
    is_useful = rather.goal is not None or _is_look(rather, me)
    if planned is None:
        why = "There is nothing for me in it that I can do." if items_of(plan, me.agent) else "I have nothing to do."
        return Objection(why, (_item(rather, me),)) if is_useful else None
    swap = _find_swap(me, plan, members)
    if swap is not None:
        return swap
    if not is_useful or rather.action == planned.action or _is_joint(planned, me):
        return None
    if _worth(rather, me) >= CLEARLY * _worth(planned, me):
        what = plain(rather.action)
        return Objection(f"{what} is clearly worth more: about {plural(rather.ticks, 'step')}.", (_item(rather, me),))
    return None


def _item(step: CandidateStep, me: DialogueKnowledge) -> PlanItem:
    """Return what an agent would do first: where things are fetched the action, else the task or the look."""
    action = plain(step.action) if me.words.hands > 1 or step.goal is None else ""
    return PlanItem(step=1, agent=me.agent, goal=step.goal, action=action)


def _is_look(step: CandidateStep, me: DialogueKnowledge) -> bool:
    return any(option.action == step.action and option.steps > 1 for option in me.options)


def _is_joint(step: CandidateStep, me: DialogueKnowledge) -> bool:
    """Return whether the task of a step takes several at once: the others count on the agent."""
    goal = me.all_goals.get(step.goal or "")
    return goal is not None and goal.quorum > 1


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


def _find_swap(me: DialogueKnowledge, plan: MetaPlan, members: Sequence[AgentId]) -> Objection | None:
    """Return the objection that the agent and a teammate had better do one another's parts; None where none saves.

    Only with teammates of its own kind of whom it knows where they are.
    """
    mine, best = items_of(plan, me.agent), None
    for teammate in members:
        theirs = items_of(plan, teammate)
        alike = teammate != me.agent and me.spec.kinds[teammate] == me.kind
        if not alike or not theirs or me.known.value(teammate, me.words.at) is None:
            continue
        now = _add(expected_steps(me, me.agent, mine), expected_steps(me, teammate, theirs))
        then = _add(expected_steps(me, me.agent, theirs), expected_steps(me, teammate, mine))
        if now is None or then is None or now < MARGIN * then or now - then <= ROUND_OF_TALK:
            continue
        if best is None or now - then > best[0]:
            changes = (*_given_to(me.agent, theirs), *_given_to(teammate, mine))
            best = (
                now - then,
                Objection(f"{teammate} and I had better change places: {then} steps, not {now}.", changes),
            )
    return None if best is None else best[1]


def _given_to(agent: AgentId, items: MetaPlan) -> MetaPlan:
    return tuple(item.model_copy(update={"agent": agent}) for item in items)


def _add(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def expected_steps(me: DialogueKnowledge, agent: AgentId, items: MetaPlan) -> int | None:
    """Return the steps that an agent is expected to take for items, one after the other; None where that is not known.

    A task counts from where the agent is now; what an action changes counts for those after it. What is over counts
    nothing.
    """
    facts, total = place_all(me, (agent,)), 0
    try:
        for item in items:
            action, goal = read_item(item, me), me.all_goals.get(item.goal or "")
            if action is None and goal is not None:
                step = (
                    foresee_step(goal, agent, me.domain, facts)
                    if goal.state == "open"
                    else CandidateStep(WAIT, None, 0)
                )
                if step is None:
                    return None
                total += step.ticks
            elif action is None or not me.domain.check(agent, action, facts).ok:
                return None
            elif action != WAIT and not is_settled(action, me, facts):
                total += me.domain.estimate_steps(agent, action, facts)
                facts = me.domain.predict(agent, action, facts)
    except ImpossibleFacts:
        return None
    return total
