"""Rules on what agents know: they need the log level ``beliefs``, and find nothing below it.

They stand on what the metrics ``withheld_information``, ``misled_failures`` and ``uptake`` count: withheld lists it,
the other two a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from teamworld.metrics.beliefs import tracked_beliefs
from teamworld.metrics.event_table import NOBODY, EventTable
from teamworld.metrics.knowledge import knowledge_of, names, split_fact
from teamworld.metrics.message_content import taken_up
from teamworld.metrics.message_content import withheld as withheld_facts
from teamworld.record import ActionStep, AttemptMade, Deliver, MessageSent, PlanStart, Truth
from teamworld.worlds.base.failure_spans import FailureSpan

#: Names or facts of a long list that a text gives.
_SHOWN = 3


def false_beliefs(table: EventTable) -> Iterator[FailureSpan]:
    """Find failures of agents that were wrong about what the action named when its plan was made."""
    tracker = tracked_beliefs(table)
    for act, false in tracker.misled if tracker is not None else ():
        plan = table.plans.get(act.plan)
        made = act.step if plan is None else plan.step
        wrong = [
            f"{fact} ({'never so' if ended is None else f'not so since step {ended}'})"
            for fact, ended in false.items()
            if ended is None or ended <= made
        ]
        if wrong:
            text = f"{_failed(act)}; {act.agent} believed {_some(wrong)}"
            yield FailureSpan("false-belief", act.step, act.step, (act.agent,), act.goal, text)


def ignored_inputs(table: EventTable) -> Iterator[FailureSpan]:
    """Find news that the recipient's next plan about it goes against."""
    if not table.has_beliefs:
        return
    knowledge = knowledge_of(table)
    delivers = {deliver.seq: deliver for deliver in table.all(Deliver)}
    plans = {plan.seq: plan for plan in table.all(PlanStart)}
    senders = {message.id: message.agent for message in table.all(MessageSent)}
    for agent, number, delivered, used in taken_up(table, by=(PlanStart,)):
        deliver, plan, fact = delivers[delivered], plans[used], knowledge.facts[number]
        who, what, heard, then = (np.array([value], np.int64) for value in (agent, number, delivered, used))
        if not (knowledge.holds(who, what, then)[0] and knowledge.true(what, then)[0]):
            continue  # it has since learned otherwise, or was right not to go by it
        before = int(knowledge.instead(who, what, heard)[0])
        how = _for_what_is_done(table, plan, fact)
        if how is None and before != NOBODY:
            how = _by_what_was_known(table, plan, fact, knowledge.facts[before])
        if how is not None:
            sender, first = senders[deliver.message], min(deliver.step, table.last)
            text = f"{sender} told {deliver.agent} {fact}; its plan of step {plan.step} {how}"
            agents = (deliver.agent, sender)
            yield FailureSpan("ignored-input", first, min(plan.step, table.last), agents, plan.goal, text)


def _for_what_is_done(table: EventTable, plan: PlanStart, fact: str) -> str | None:
    """Return that a plan is for a goal done before, if the fact is about its thing and came true with the goal."""
    done = table.done.get(plan.goal or "")
    if done is None or split_fact(fact)[0] != table.things.get(plan.goal):
        return None
    since = [event.step for event in table.all(Truth) if event.seq < plan.seq and fact in event.true][-1]
    return f"is for {plan.goal}, done in step {done}" if since == done + 1 else None


def _by_what_was_known(table: EventTable, plan: PlanStart, fact: str, known: str) -> str | None:
    """Return that a plan about a thing goes by what was known of it, if it names this first and the news nowhere."""
    thing, _, value = split_fact(fact)
    old = split_fact(known)[2]
    actions = [names(action) for action in plan.text.partition("{")[2].split(";")]
    never = len(actions)

    def first(name: str) -> int:
        return next((at for at, named in enumerate(actions) if name in named), never)

    about = thing in (plan.thing, table.things.get(plan.goal)) or first(thing) < never
    if about and first(value) == never and first(old) < never and first(old) <= first(thing):
        return f"still goes by {known}"
    return None


def withheld(table: EventTable) -> Iterator[FailureSpan]:
    """Find failures of agents that were wrong about something which a teammate knew and never told them."""
    if not table.has_beliefs:
        return
    team, facts = table.team, knowledge_of(table).facts
    for failure, agent, fact, assumed, holders_at in withheld_facts(table):
        event, holders = failure.event, [team[agent_at] for agent_at in holders_at]
        if event.goal in table.done and table.done[event.goal] <= event.step:
            continue  # that the goal is done is known to all
        text = (
            f"{_failed(event)}; the last that {team[agent]} saw or heard was {facts[assumed]}; "
            f"never told by {_some(holders)}: {facts[fact]}"
        )
        yield FailureSpan("withheld", event.step, event.step, (team[agent], *holders), event.goal, text)


def _failed(event: ActionStep | AttemptMade) -> str:
    if isinstance(event, AttemptMade):
        return "a joint act failed"
    word = event.reason.partition(":")[0]  # what follows is for the agent
    return f"{event.verb}({', '.join(event.args)}) failed" + (f" ({word})" if word else "")


def _some(items: Sequence[str]) -> str:
    more = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
