"""Efficiency: what agents spent their steps on (metrics spec, sections 3 and 5). Shares are weighted by ticks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from teamworld.metrics.definition import NULL, Value, count, only, share
from teamworld.metrics.episode import CLASSES, NOBODY, Episode, Ints, Word
from teamworld.record import PlanStart


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure how agents spent their steps."""
    acts = episode.acts
    ticks = episode.ticks[acts.step]
    whole = float(ticks.sum())
    spent = np.bincount(acts.spent, weights=ticks, minlength=len(CLASSES))
    shares = {name: share(float(spent[code]), whole) for code, name in enumerate(CLASSES)}
    legal = float(acts.legal.sum())
    refused = len(episode.passed_over)
    in_vain = acts.legal & ~acts.effect & ~acts.moved & (acts.spent != CLASSES.index("sync"))
    return {
        "E1": count(episode.steps),
        "E1.solved": count(episode.steps) if episode.solved else NULL,
        "E1.ticks": count(int(episode.ticks.sum())),
        "E5": shares["work"],
        **{f"E6.{name}": value for name, value in shares.items()},
        "E7": shares["idle"],
        "E8": share(len(acts) - legal + refused, len(acts) + refused),
        "E9": share(float(in_vain.sum()), legal),
        "E10": share(float(ticks[duplicate(episode)].sum()), whole),
        "E11": only(None),
        "E12": share(float(acts.moved.sum()), episode.reached),
    }


def duplicate(episode: Episode) -> Ints:
    """Return the rows of ``acts`` that served a goal which was done, or enough others had committed to before (E10)."""
    acts = episode.acts
    serving = (acts.goal != NOBODY) & (acts.plan != NOBODY)
    done = np.full(len(episode.goals), episode.steps, np.int64)
    for goal, step in episode.done.items():
        done[episode.index[goal]] = step
    late = serving & (acts.step > np.append(done, episode.steps)[acts.goal])
    spare = np.zeros(len(acts), np.bool_)
    quorum = {plan.plan: plan.quorum for plan in episode.all(PlanStart)}
    known = np.array(sorted(quorum), np.int64)
    wanted = np.array([quorum[plan] for plan in known.tolist()], np.int64)
    words: dict[int, list[Word]] = {}
    for word in episode.words:
        words.setdefault(word.goal, []).append(word)
    for index, held in sorted(words.items()):
        rows = np.flatnonzero(serving & (acts.goal == index))
        own = np.full(len(rows), np.iinfo(np.int64).max)  # when the agent itself had committed; never
        others = np.zeros(len(rows), np.int64)
        spans = [np.searchsorted(acts.step[rows], (word.first, word.end)) for word in held]
        for word, (low, high) in zip(held, spans, strict=True):
            mine = acts.agent[rows[low:high]] == word.agent
            own[low:high][mine] = word.seq
        for word, (low, high) in zip(held, spans, strict=True):
            theirs = acts.agent[rows[low:high]] != word.agent
            others[low:high] += theirs & (word.seq < own[low:high])
        at = np.searchsorted(known, acts.plan[rows])
        found = np.append(known, NOBODY)[at] == acts.plan[rows]
        need = np.where(found, np.append(wanted, 0)[at], 0)
        spare[rows] = (need > 0) & (others >= need)
    return np.flatnonzero(late | spare)
