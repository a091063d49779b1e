"""Agreement: whether commitments hold, what they cost, how often they change (metrics spec, D19 to D21)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from teamworld.metrics.definition import NULL, Value, count, share
from teamworld.metrics.episode import Episode, Word
from teamworld.metrics.words import tokens
from teamworld.record import Commit, MessageSent, PlanStart, Release

#: How a commitment was broken (D19): the causes of a release, a goal left for another without release, and the rest.
Breach: TypeAlias = Literal["failed", "reassigned", "interrupted", "gone", "ended", "dropped", "other"]
_BREACHES: tuple[Breach, ...] = get_args(Breach)
#: Steps without a change that make an assignment stable (D20).
STABLE = 5


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure commitments; where a method makes none, there is nothing to measure."""
    words = _lasting(episode)
    return {**_reliability(words), **_cost(episode), "D21": _churn(episode, words)}


def _lasting(episode: Episode) -> list[tuple[Word, str]]:
    """Return the commitments with how each ended: ``kept`` (the goal was done, or the release agreed) or a ``Breach``.

    One made again to the same goal is one with that before.
    """
    taken_up: dict[int, list[tuple[int, int]]] = {}
    events: list[Commit | PlanStart] = [*episode.all(Commit), *episode.all(PlanStart)]
    for event in events:
        if event.goal is not None:
            taken_up.setdefault(episode.who[event.agent], []).append((event.seq, episode.index[event.goal]))
    latest = {(word.agent, word.goal): word for word in episode.words}
    since: dict[tuple[int, int], int] = {}
    found = []
    for word in episode.words:
        key = word.agent, word.goal
        first = since.setdefault(key, word.first)
        whole = word if first == word.first else word._replace(first=first)
        if word.cause is None and word is not latest[key]:
            continue  # made again
        del since[key]
        found.append((whole, _ending(episode, whole, taken_up[word.agent])))
    return found


def _ending(episode: Episode, word: Word, taken_up: Sequence[tuple[int, int]]) -> str:
    done = episode.done.get(episode.goals[word.goal])
    if word.cause in ("done", "agreed") or (done is not None and word.first <= done < word.end):
        return "kept"
    if word.cause is None:  # never released
        left = any(seq > word.seq and goal != word.goal for seq, goal in taken_up)
        return "dropped" if left else "ended"
    return word.cause if word.cause in _BREACHES else "other"


def _reliability(words: Sequence[tuple[Word, str]]) -> dict[str, Value]:
    ways = Counter(how for _, how in words)
    return {
        "D19": share(ways["kept"], ways.total()),
        **{f"D19.{breach}": share(ways[breach], ways.total()) for breach in _BREACHES},
    }


def _cost(episode: Episode) -> dict[str, Value]:
    """Return what it took from the first proposal until the assignment stood for some steps (D20).

    A round is over when everybody has spoken: there were as many as the one who spoke most often spoke.
    """
    nothing = dict.fromkeys(("D20.rounds", "D20.messages", "D20.tokens", "D20.steps"), NULL)
    messages: list[MessageSent] = episode.all(MessageSent)
    proposal = next((message for message in messages if message.act == "propose"), None)
    if proposal is None:
        return nothing
    first = next((event.seq for event in episode.all(Commit) if event.seq > proposal.seq), None)
    if first is None:
        return nothing
    events: list[Commit | Release] = [*episode.all(Commit), *episode.all(Release)]
    changes = sorted((event.seq, event.step) for event in events if event.seq >= first and event.step < episode.steps)
    until = pairwise([*changes, (-1, episode.steps)])
    stable = (change for change, (_, following) in until if following - change[1] >= STABLE)
    agreed, step = next(stable, (None, 0))
    if agreed is None:
        return nothing
    said = [message for message in messages if proposal.seq <= message.seq < agreed]
    return {
        "D20.rounds": count(max(Counter(message.agent for message in said).values())),
        "D20.messages": count(len(said)),
        "D20.tokens": count(sum(len(tokens(message.text)) for message in said)),
        "D20.steps": count(step - proposal.step),
    }


def _churn(episode: Episode, words: Sequence[tuple[Word, str]]) -> Value:
    """Return how often an agent was taken off a goal that was still to be done, for each goal with commitments."""
    done = {episode.index[goal]: step for goal, step in episode.done.items()}
    off = [
        word
        for word, how in words
        if how not in ("kept", "gone", "ended") and word.first <= done.get(word.goal, episode.steps)
    ]
    return share(len(off), len({word.goal for word, _ in words}))
