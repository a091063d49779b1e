"""Outcome: what was reached, how soon, and how it ended (metrics spec, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

import numpy as np

from teamworld.metrics.definition import NULL, Value, count, only, share
from teamworld.metrics.episode import Episode
from teamworld.record import GoalChange


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure the outcome; without goals there is none."""
    weights, done = episode.weights, _done(episode)
    total = episode.total
    joint = episode.quorum >= 2
    everything = episode.solved
    success = NULL if everything is None else share(everything, 1)
    quit_early = NULL if everything is None else share(episode.end.reason == "quit" and not everything, 1)
    return {
        "O1": success,
        "O2": share(episode.reached, total),
        "O3": share(fsum(weights * _best_progress(episode)), total),
        "O4": _anytime(episode, total),
        "O5": share(fsum(weights[done & joint]), fsum(weights[joint])),
        "O6": _loss(episode),
        "O7.raw": NULL if episode.reward is None else count(episode.reward),
        "O9": quit_early,
        "O10": _missed(episode),
    }


def _done(episode: Episode) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([goal in episode.done for goal in episode.goals], np.bool_)


def _best_progress(episode: Episode) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the most of each goal that was reached at any time, from 0 to 1."""
    now = np.zeros(len(episode.goals))
    best = np.zeros(len(episode.goals))
    for change in episode.all(GoalChange):
        at = episode.index[change.goal]
        now[at] = 1.0 if change.event == "done" else now[at] + change.delta
        best[at] = max(best[at], now[at])
    return np.clip(best, 0.0, 1.0)


def _anytime(episode: Episode, total: float) -> Value:
    """C after each tick, averaged over the horizon: what a step brings about holds from its last tick on."""
    if not total:
        return share(0, 0)
    clock, horizon = episode.clock, episode.horizon
    area = fsum(
        episode.weights[episode.index[goal]] * max(0, horizon - int(clock[step + 1]) + 1)
        for goal, step in episode.done.items()
    )
    return share(area / total, horizon)


def _loss(episode: Episode) -> Value:
    """O6; null where a goal was lost that the log does not call one that can be: nor does it tell which others can."""
    lost = {change.goal for change in episode.all(GoalChange) if change.event == "lost"}
    can = [goal for goal in episode.start.goals if goal.losable or goal.deadline is not None]
    if lost & {goal.id for goal in episode.start.goals} - {goal.id for goal in can}:
        return NULL
    return share(fsum(goal.weight for goal in can if goal.id in lost), fsum(goal.weight for goal in can))


def _missed(episode: Episode) -> Value:
    if not episode.done:
        return only(None)
    return share(episode.steps - 1 - max(episode.done.values()), episode.steps)
