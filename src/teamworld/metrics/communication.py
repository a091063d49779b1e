"""Communication: how much is said, by whom, to whom, and what comes of it (metrics spec, section 6).

What messages tell (M4, M5, M7, M8, M10) stands in ``telling``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median, pstdev
from typing import TypeAlias

import numpy as np

from teamworld.metrics import message_content
from teamworld.metrics.balance import gini
from teamworld.metrics.bill import Made
from teamworld.metrics.decisions import seconds_of
from teamworld.metrics.definition import NULL, Value, count, only, share
from teamworld.metrics.episode import STAGES, Episode
from teamworld.metrics.words import repeats, tokens
from teamworld.record import Commit, LlmCall, MessageSent, PlanEnd, PlanStart, QuestionAsked

#: Steps within which a request is answered and a fact is taken up (metrics spec M7, M9).
WITHIN = 10

#: What an answer to a request can be.
Taken: TypeAlias = MessageSent | Commit | PlanStart


def measure(episode: Episode, calls: Sequence[Made] | None = None) -> Mapping[str, Value]:
    """Measure how a team talks.

    Args:
        episode: The episode.
        calls: Its calls of language models on record, for the seconds of M11; None where there is no record.
    """
    messages = episode.all(MessageSent)
    texts = Counter(message.text for message in messages)
    said = count(sum(len(tokens(text)) * times for text, times in texts.items()))
    again = repeats([(message.agent, message.text, message.recipients) for message in messages])
    by_agent = _by_agent(episode)
    return {
        "M1": count(len(messages)),
        "M1.rate": share(100 * len(messages), len(episode.team) * episode.steps),
        "M2": said,
        "M2.unit": share(said.num or 0.0, episode.reached),
        "M2b": _published(episode),
        "M3": only(pstdev(by_agent), len(by_agent)) if by_agent else NULL,
        "M3.gini": gini(by_agent),
        "M6": share(sum(again), len(messages)),
        **_requests(episode),
        **_interruptions(episode, calls),
        **_topology(episode),
        "M13": _orphans(episode),
        **message_content.measure(episode, WITHIN),
    }


def _by_agent(episode: Episode) -> list[int]:
    sent = Counter(message.agent for message in episode.all(MessageSent))
    return [sent[agent] for agent in episode.team]


def _published(episode: Episode) -> Value:
    """M2b: a kind of question writes messages if its mind ever sends one before its next question or plan."""
    asked: dict[str, str] = {}
    writing: set[str] = set()
    events: list[QuestionAsked | PlanStart | MessageSent] = [
        *episode.all(QuestionAsked),
        *episode.all(PlanStart),
        *episode.all(MessageSent),
    ]
    for event in sorted(events, key=lambda event: event.seq):
        if isinstance(event, QuestionAsked):
            asked[event.agent] = event.purpose
        elif isinstance(event, PlanStart):
            asked.pop(event.agent, None)
        elif event.agent in asked:
            writing.add(asked[event.agent])
    spent = [call.output_tokens for call in episode.all(LlmCall) if call.purpose in writing]
    counted = [tokens for tokens in spent if tokens is not None]
    return count(sum(counted)) if spent and len(counted) == len(spent) else NULL


def _requests(episode: Episode) -> dict[str, Value]:
    """M9: by a reply of one who was asked, or by its commitment to the goal or plan for it."""
    requests = [message for message in episode.all(MessageSent) if message.act == "request"]
    replies, taken = _replies(episode), _taken_up(episode)
    delays = []
    for request in requests:
        asked = set(request.recipients) - {request.agent}
        answers = [taken[request.goal], replies[request.id]] if request.goal is not None else [replies[request.id]]
        steps = [
            event.step - request.step for events in answers for event in _soon(events, request) if event.agent in asked
        ]
        if steps:
            delays.append(min(steps))
    return {
        "M9": share(len(delays), len(requests)),
        "M9.delay": only(float(median(delays)), len(delays)) if delays else NULL,
    }


def _soon(events: Sequence[Taken], request: MessageSent) -> Iterator[Taken]:
    """Yield those of some events, in the order of the log, that come after a request and soon enough."""
    for at in range(bisect_left(events, request.seq, key=lambda event: event.seq), len(events)):
        if events[at].step > request.step + WITHIN:
            return
        yield events[at]


def _replies(episode: Episode) -> defaultdict[int, list[Taken]]:
    found: defaultdict[int, list[Taken]] = defaultdict(list)
    for message in episode.all(MessageSent):
        if message.reply_to is not None:
            found[message.reply_to].append(message)
    return found


def _taken_up(episode: Episode) -> defaultdict[str, list[Taken]]:
    """Return the commitments and plans by goal, in the order of the log."""
    found: defaultdict[str, list[Taken]] = defaultdict(list)
    events: list[Commit | PlanStart] = [*episode.all(Commit), *episode.all(PlanStart)]
    for event in sorted(events, key=lambda event: event.seq):
        if event.goal is not None:
            found[event.goal].append(event)
    return found


def _orphans(episode: Episode) -> Value:
    """M13: nobody replies, and neither speaker nor those whom it reached take up the goal afterwards."""
    asking = [message for message in episode.all(MessageSent) if message.act in ("request", "propose", "commit")]
    replies, taken = _replies(episode), _taken_up(episode)
    last: dict[tuple[str, str], int] = {}
    for goal, events in taken.items():
        for event in events:
            last[goal, event.agent] = max(event.seq, last.get((goal, event.agent), -1))
    reached: defaultdict[int, list[str]] = defaultdict(list)
    for message, agent in zip(episode.deliveries.message.tolist(), episode.deliveries.agent.tolist(), strict=True):
        reached[message].append(episode.team[agent])
    orphans = 0
    for message in asking:
        replied = any(reply.agent != message.agent and reply.seq > message.seq for reply in replies[message.id])
        circle = (message.agent, *reached[message.id])
        used = message.goal is not None and any(last.get((message.goal, one), -1) > message.seq for one in circle)
        orphans += not (replied or used)
    return share(orphans, len(asking))


def _interruptions(episode: Episode, calls: Sequence[Made] | None) -> dict[str, Value]:
    """M11: from an entry into I to the agent's next into W or X; those that the episode's end cut off are left out."""
    stays = episode.stays
    seconds = seconds_of(episode, calls)
    spans = []
    for who in range(len(episode.team)):
        stops = np.flatnonzero((stays.agent == who) & (stays.stage == STAGES.index("I")))
        ready = np.flatnonzero((stays.agent == who) & np.isin(stays.stage, (STAGES.index("W"), STAGES.index("X"))))
        after = np.searchsorted(ready, stops)
        # Of stops without being ready in between the first counts.
        last, first = np.unique(after[after < len(ready)], return_index=True)
        spans += [(who, int(row), int(end)) for row, end in zip(stops[first], ready[last], strict=True)]
    steps = sum(int(stays.step[end] - stays.step[begin]) for _, begin, end in spans)
    running, same = _running(episode), 0
    for agent, begin, end in spans:
        places, plans = running[episode.team[agent]]
        before, then = (bisect_left(places, int(stays.seq[row])) for row in (begin, end))
        same += before > 0 and plans[before - 1] is not None and plans[before - 1] == plans[then - 1]
    asked: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for question, time in seconds or ():
        asked[question.agent].append((question.seq, time))
    waited = None
    if seconds is not None:
        waited = 0.0
        for agent, begin, end in spans:
            own = asked[episode.team[agent]]
            low, high = (bisect_left(own, int(stays.seq[row]), key=lambda one: one[0]) for row in (begin, end))
            waited += sum(time for _, time in own[low:high])
    return {
        "M11": share(steps, len(spans)),
        "M11.total": count(steps) if len(stays.agent) else NULL,
        "M11.same": share(same, len(spans)),
        "M11.seconds": NULL if waited is None else share(waited, len(spans)),
    }


def _running(episode: Episode) -> dict[str, tuple[list[int], list[str | None]]]:
    """Return for each agent the places in the log where its plan changes, and the plan from there on."""
    found: dict[str, tuple[list[int], list[str | None]]] = {agent: ([], []) for agent in episode.team}
    events: list[PlanStart | PlanEnd] = [*episode.all(PlanStart), *episode.all(PlanEnd)]
    for event in sorted(events, key=lambda event: event.seq):
        places, plans = found[event.agent]
        places.append(event.seq)
        plans.append(event.text if isinstance(event, PlanStart) else None)
    return found


def _topology(episode: Episode) -> dict[str, Value]:
    """M12: a directed pair is used if a message from one reaches the other; out_i counts those that i reaches."""
    team, told = len(episode.team), episode.deliveries
    senders = {message.id: episode.who.get(message.agent) for message in episode.all(MessageSent)}
    pairs = {
        (senders.get(message), agent)
        for message, agent in zip(told.message.tolist(), told.agent.tolist(), strict=True)
        if senders.get(message) not in (None, agent)
    }
    out = np.bincount(np.array([sender for sender, _ in pairs], np.int64), minlength=team)
    most = int(out.max()) if team else 0
    return {
        "M12.density": share(len(pairs), team * (team - 1)),
        "M12.centralisation": share(float((most - out).sum()), (team - 1) * most),
    }
