"""How far the meta-plan is done, as one agent knows, and what comes next of its own part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from teamworld.language import Action, AgentId, Entity, Facts, GoalId, ParseError, parse_action, written_names
from teamworld.methods.capo.meta_plan import MetaPlan, PlanItem, by_step, items_of
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.own_step import choose_step
from teamworld.methods.common.single_action import read_act
from teamworld.planning.candidates import CandidateStep, complete_action, find_step, foresee_step
from teamworld.worlds.contract import WAIT, Goal, ImpossibleFacts

#: An item is passed over while its next action failed so many times of late and never worked.
VAIN = 2
#: Options that are looked at, the nearest, for the way to what an agent was only told of.
MAX_WAYS = 12


def read_item(item: PlanItem, me: DialogueKnowledge) -> Action | None:
    """Return the action that an item means to an agent; None where it only names a task, or cannot be read.

    An action in written form may be about things that the agent was only told of.
    """
    if not item.action:
        return None
    action = read_act(item.action, me, listed=False)
    if action is not None:
        return action
    kinds = {fact.subject.kind for fact in me.known if isinstance(fact.subject, Entity)}
    try:
        written = parse_action(written_names(item.action, kinds))
    except ParseError:
        return None
    return written if any(schema.verb == written.verb for schema in me.abilities) else None


def is_open(item: PlanItem, me: DialogueKnowledge) -> bool:
    """Return whether an item, of whomever, is still to be done as far as an agent knows.

    It is over with its task, once the place that it is to look into is searched, and once the thing that it is to take
    is in a hand or where a goal wants it. To wait is nothing to do.
    """
    goal = _goal(item, me)
    if goal is not None and goal.state != "open":
        return False
    action = read_item(item, me)
    if action is None or action == WAIT:
        return goal is not None and action is None
    return not is_settled(action, me, me.known)


def _goal(item: PlanItem, me: DialogueKnowledge) -> Goal | None:
    return None if item.goal is None else me.all_goals.get(item.goal)


def is_settled(action: Action, me: DialogueKnowledge, facts: Facts) -> bool:
    """Return whether an action would be in vain: its place is searched, its thing taken up or delivered.

    Args:
        action: What somebody is to do.
        me: What the agent knows that judges it.
        facts: What is believed to be so when it begins.
    """
    words, things = me.words, [arg for arg in action.args if isinstance(arg, Entity)]
    if action.verb == words.explore:
        return any(facts.value(thing, words.search) == words.seen for thing in things)
    if action.verb in (words.check, words.open):
        return any(facts.value(thing, words.access) == words.opened for thing in things)
    over = {*(fact.value for fact in facts.about(words.held)), *me.delivered} - {*me.targets}
    return any(thing in over for thing in things)


def commitments(plan: MetaPlan, me: DialogueKnowledge) -> dict[AgentId, GoalId]:
    """Return the task that each agent is at by the meta-plan: that of its first item that is open and serves one."""
    first: dict[AgentId, GoalId] = {}
    for item in _as_shown(plan):
        if item.goal is not None and item.goal in me.all_goals and is_open(item, me):
            first.setdefault(item.agent, item.goal)
    return first


def _as_shown(plan: MetaPlan) -> Iterator[PlanItem]:
    """Yield the items in the order in which prompts show them, so that no other order decides anything."""
    for agents in by_step(plan).values():
        for items in agents.values():
            yield from items


# ---- what comes next


def follow_plan(me: DialogueKnowledge, plan: MetaPlan, since: int = 0) -> CandidateStep | None:
    """Return what comes next of an agent's own part: of its first step with something to do what takes least.

    Items whose next action failed ``VAIN`` times since the meta-plan came are passed over, and looks that were done.

    Args:
        me: What the agent knows.
        plan: The meta-plan as it has it.
        since: The step at which it came.
    """
    for items in by_step(items_of(plan, me.agent)).values():
        able = [step for item in items[me.agent] if (step := next_action(item, me)) is not None]
        able = [step for step in able if not _is_vain(step.action, me, since) and not _is_looked(step, me, since)]
        if able:
            return min(able, key=lambda step: (step.ticks + me.vain.get(step.goal or "", 0), str(step.action)))
    return None


def next_action(item: PlanItem, me: DialogueKnowledge) -> CandidateStep | None:
    """Return what an agent does now for an item of its own; None where it is over, or cannot be done now."""
    if not is_open(item, me):
        return None
    goal, action = _goal(item, me), read_item(item, me)
    if action is None:
        if goal is None or goal not in me.workable:
            return None
        return find_step(goal, me.view, me.domain, me.known) or _approach(goal, None, me)
    own = next((o for o in me.options if complete_action(o.action, me.view) == action), None)
    if own is None:
        return _approach(goal, action, me)
    named = own.goal or item.goal
    return CandidateStep(action, named if named in me.all_goals else None, max(1, own.steps))


def _approach(goal: Goal | None, action: Action | None, me: DialogueKnowledge) -> CandidateStep | None:
    """Return the way to something that an agent was only told of and has to see first; None where there is none.

    It is the option after which the rest is expected to take least.

    Args:
        goal: The task that it is for, if any.
        action: What is to be done there; None: what the task takes.
        me: What the agent knows.
    """
    about = action.args if action is not None else () if goal is None else (goal.thing,)
    if me.unseen.isdisjoint(thing for thing in about if isinstance(thing, Entity)):
        return None
    ways: list[CandidateStep] = []
    for option in sorted(me.options, key=lambda option: option.steps)[:MAX_WAYS]:
        if option.action != WAIT:
            with suppress(ImpossibleFacts):
                rest = _rest(goal, action, me, me.domain.predict(me.agent, option.action, me.known))
                if rest is not None:
                    way = complete_action(option.action, me.view)
                    ways.append(CandidateStep(way, None if goal is None else goal.id, max(1, option.steps + rest)))
    return min(ways, key=lambda way: (way.ticks, str(way.action)), default=None)


def _rest(goal: Goal | None, action: Action | None, me: DialogueKnowledge, facts: Facts) -> int | None:
    """Return the steps that an action, or what a task takes, is expected to take if some facts hold."""
    if action is not None:
        can = me.domain.check(me.agent, action, facts).ok
        return me.domain.estimate_steps(me.agent, action, facts) if can else None
    step = None if goal is None else foresee_step(goal, me.agent, me.domain, facts)
    return None if step is None else step.ticks


def _is_looked(step: CandidateStep, me: DialogueKnowledge, since: int) -> bool:
    """Return whether a step serves no task and was done since: a second look shows nothing new."""
    done = (past for past in me.past if past.status == "done" and past.start >= since)
    return step.goal is None and any(past.action == step.action for past in done)


def _is_vain(action: Action, me: DialogueKnowledge, since: int) -> bool:
    tried = [done for done in me.past if done.action == action and done.start >= since]
    return len(tried) >= VAIN and all(done.status == "failed" for done in tried[-VAIN:])


def choose_beside(me: DialogueKnowledge, plan: MetaPlan) -> CandidateStep:
    """Return what an agent does of its own choice that has nothing to do by the meta-plan.

    It leaves to its teammates what the meta-plan has for them, as long as there is something else to do.

    Args:
        me: What the agent knows.
        plan: The meta-plan as it has it.
    """
    step = choose_left_out(me, plan)
    return step if is_useful(step, me) else choose_step(me)


def choose_left_out(me: DialogueKnowledge, plan: MetaPlan) -> CandidateStep:
    """Return what an agent would do that leaves to its teammates what the meta-plan has for them; perhaps nothing."""
    return choose_step(me, tuple(_left_to_teammates(me, plan)))


def is_useful(step: CandidateStep, me: DialogueKnowledge) -> bool:
    """Return whether a step serves a task, or looks around; to wait or to keep out of the way does neither."""
    return step.goal is not None or any(option.action == step.action and option.steps > 1 for option in me.options)


def _left_to_teammates(me: DialogueKnowledge, plan: MetaPlan) -> Sequence[Action]:
    actions = (read_item(item, me) for item in _as_shown(plan) if item.agent != me.agent and is_open(item, me))
    return [action for action in dict.fromkeys(actions) if action is not None and not _brings(action, me)]


def _brings(action: Action, me: DialogueKnowledge) -> bool:
    """Return whether an action is about where things are to go: several agents may bring things there."""
    return any(arg in me.targets for arg in action.args)
