"""Messages: how much is said, and for failure labels what repeats and what is answered.

Texts are counted in tokens: a token is a word (letters, digits and underscores in a row, of any script) or one other
sign that is no space. That is no provider's count: it counts the texts of all methods and reasoners alike.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import fsum
from typing import Final, TypeAlias

from teamworld.metrics.definition import Value, count, count_known, metric
from teamworld.metrics.event_table import EventTable, primitive
from teamworld.record import Commit, LlmCall, MessageSent, PlanStart, QuestionAsked

#: Steps within which a request is answered and a fact is taken up.
WITHIN: Final = 10
_TOKEN = re.compile(r"\w+|[^\w\s]")
#: Tokens in a row that are compared.
_RUN = 3
#: The likeness of a text that repeats another, 0.8, as a fraction: whole numbers compare exactly.
_NUM, _DEN = 4, 5

#: Runs of tokens in a text.
Grams: TypeAlias = frozenset[tuple[str, ...]]
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
    return count(fsum(len(tokenize(text)) * times for text, times in texts.items()))


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
    return count_known(call.output_tokens for call in table.all(LlmCall) if call.purpose in writing)


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


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text."""
    return _TOKEN.findall(text)


def grams(text: str) -> Grams:
    """Return the runs of three tokens of a text, in small letters; of a shorter one, all its tokens as one run."""
    words = tokenize(text.casefold())
    return frozenset(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))


def is_alike(first: Grams, second: Grams) -> bool:
    """Whether the Jaccard likeness of two texts' ``grams`` is at least 0.8."""
    return _DEN * len(first & second) >= _NUM * len(first | second)


def repetitions(sent: Sequence[tuple[Hashable, str, Iterable[Hashable]]]) -> list[bool]:
    """Return of each text whether it repeats an earlier one of the same speaker to a common hearer.

    One repeats another if the Jaccard likeness of their ``grams`` is at least 0.8. Only texts that share one of
    their rarest runs are compared: two sets so alike have a common element among the ``n - ceil(0.8 n) + 1`` rarest
    of each.

    Args:
        sent: Speaker, text and hearers, in order.
    """
    texts = {text: grams(text) for text in dict.fromkeys(text for _, text, _ in sent)}
    common = Counter(gram for own in texts.values() for gram in own)
    rarest = {
        own: sorted(own, key=lambda gram: (common[gram], gram))[: len(own) - _enough(len(own)) + 1]
        for own in texts.values()
    }
    heard: defaultdict[tuple[Hashable, Grams], set[Hashable]] = defaultdict(set)
    rare: defaultdict[tuple[Hashable, tuple[str, ...]], list[Grams]] = defaultdict(list)
    repeated = []
    for speaker, text, to in sent:
        own, hearers = texts[text], set(to)
        if not hearers:
            repeated.append(False)
            continue
        mine = heard[speaker, own]
        is_repeated = bool(mine & hearers) or any(
            is_alike(own, other) and heard[speaker, other] & hearers
            for gram in rarest[own]
            for other in rare[speaker, gram]
        )
        repeated.append(is_repeated)
        if not mine:
            for gram in rarest[own]:
                rare[speaker, gram].append(own)
        mine |= hearers
    return repeated


def _enough(size: int) -> int:
    """Return the smallest overlap that a set of this size can have with one that is like it."""
    return -(-size * _NUM // _DEN)
