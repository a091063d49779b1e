"""Messages: how much is said, what repeats, and whether requests are answered. What they tell: ``message_content``."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from teamworld.metrics.definition import NULL, Value, count, metric, share
from teamworld.metrics.message_text import repetitions, tokenize
from teamworld.metrics.tables.event_table import EventTable, primitive
from teamworld.record import Commit, LlmCall, MessageSent, PlanStart, QuestionAsked

#: Steps within which a request is answered and a fact is taken up.
WITHIN: Final = 10

#: What an answer to a request can be.
Answer: TypeAlias = MessageSent | Commit | PlanStart


@metric
def messages(table: EventTable) -> Value:
    """Return how many messages were sent."""
    return count(len(table.all(MessageSent)))


@metric
def message_tokens(table: EventTable) -> Value:
    """Return the tokens of all messages."""
    texts = Counter(message.text for message in table.all(MessageSent))
    return count(sum(len(tokenize(text)) * times for text, times in texts.items()))


@metric
def message_generation_tokens(table: EventTable) -> Value:
    """Return the output tokens of the kinds of question that write messages.

    A kind of question does if whoever was asked ever sends a message before its next question or plan.
    """
    asked: dict[str, str] = {}
    writing: set[str] = set()
    events: list[QuestionAsked | PlanStart | MessageSent] = table.all(QuestionAsked, PlanStart, MessageSent)
    for event in events:
        if isinstance(event, QuestionAsked):
            asked[event.agent] = event.purpose
        elif isinstance(event, PlanStart):
            asked.pop(event.agent, None)
        elif event.agent in asked:
            writing.add(asked[event.agent])
    spent = [call.output_tokens for call in table.all(LlmCall) if call.purpose in writing]
    counted = [tokens for tokens in spent if tokens is not None]
    return count(sum(counted)) if spent and len(counted) == len(spent) else NULL


@metric
def repetition(table: EventTable) -> Value:
    """Return the share of messages that repeat an earlier one of the same sender to a common recipient."""
    sent = table.all(MessageSent)
    repeated = repetitions([(message.agent, message.text, message.recipients) for message in sent])
    return share(sum(repeated), len(sent))


@metric
def request_fulfilment(table: EventTable) -> Value:
    """Return the share of requests that are answered."""
    requests = [message for message in table.all(MessageSent) if message.act == "request"]
    return share(sum(is_answered(table, request) for request in requests), len(requests))


def is_answered(table: EventTable, request: MessageSent) -> bool:
    """Return whether an agent that was asked replies in time, or takes up the goal by commitment or plan."""
    asked = set(request.recipients) - {request.agent}
    answers = _replies(table).get(request.id, []), _taken_up(table).get(request.goal, [])
    return any(event.agent in asked for events in answers for event in _soon_after(events, request))


def _soon_after(events: Sequence[Answer], request: MessageSent) -> Iterator[Answer]:
    """Yield those of some events, in the order of the log, that come after a request and soon enough."""
    for at in range(bisect_left(events, request.seq, key=lambda event: event.seq), len(events)):
        if events[at].step > request.step + WITHIN:
            return
        yield events[at]


@primitive
def _replies(table: EventTable) -> dict[int, list[Answer]]:
    """Return the replies to each message."""
    replies: dict[int, list[Answer]] = {}
    for message in table.all(MessageSent):
        if message.reply_to is not None:
            replies.setdefault(message.reply_to, []).append(message)
    return replies


@primitive
def _taken_up(table: EventTable) -> dict[str | None, list[Answer]]:
    """Return the commitments and plans by goal."""
    taken_up: dict[str | None, list[Answer]] = {}
    events: list[Commit | PlanStart] = table.all(Commit, PlanStart)
    for event in events:
        if event.goal is not None:
            taken_up.setdefault(event.goal, []).append(event)
    return taken_up
