"""The seconds of decisions: what an episode's log says was asked, with the calls on record that answered it.

The log holds no seconds; a call on record names the question that it answers by mind, kind and number.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from teamworld.metrics.bill import Made
from teamworld.metrics.episode import Episode
from teamworld.record import MessageSent, QuestionAsked


def seconds_of(episode: Episode, calls: Sequence[Made] | None) -> list[tuple[QuestionAsked, float]] | None:
    """Return each question with the seconds of its calls, re-asks included; 0 where no model was asked.

    Args:
        episode: The episode.
        calls: Its calls on record; None where there is no record.

    Returns:
        None without calls, or where some were answered by a cache of earlier runs: what it takes is not known then.
    """
    if not calls or any(call.cached for call in calls):
        return None
    took: defaultdict[tuple[str, str, int], float] = defaultdict(float)
    for call in calls:
        took[call.respondent, call.purpose, call.number] += call.seconds
    asked: Counter[tuple[str, str]] = Counter()
    found = []
    for question in episode.all(QuestionAsked):
        kind = question.agent, question.purpose
        asked[kind] += 1
        found.append((question, took.get((*kind, asked[kind]), 0.0)))
    return found


def paths(episode: Episode, seconds: Sequence[tuple[QuestionAsked, float]]) -> dict[int, float]:
    """Return the critical path of the decisions of each step in which something was asked, in seconds (K5).

    Questions between two messages run at the same time, unless one mind is asked several: a message has its turn,
    and what one mind is asked follows on what it answered.
    """
    found: defaultdict[int, float] = defaultdict(float)
    own: defaultdict[str, float] = defaultdict(float)
    events: list[tuple[int, int, str | None, float]] = [
        (message.seq, message.step, None, 0.0) for message in episode.all(MessageSent)
    ]
    events += [(question.seq, question.step, question.agent, time) for question, time in seconds]
    at = 0
    for _, step, mind, time in sorted(events, key=lambda event: event[0]):
        if mind is None or step != at:
            if own:
                found[at] += max(own.values())
            own.clear()
        at = step
        if mind is not None:
            own[mind] += time
    if own:
        found[at] += max(own.values())
    return dict(found)
