"""Metrics that take several runs, or a reference plan: an episode alone does not tell them (metrics spec, tier 3).

Each takes plain values of paired runs, on the same instances and seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, fsum

from teamworld.metrics.definition import NULL, Value, mean, only, share

#: Weight of the actions that were taken, beside those of the reference, in a trajectory's efficiency (TES).
BETA = 0.95


def normalised(score: float, random: float, reference: float) -> Value:
    """Return where a score lies between a random team's (0) and a reference team's (1), on the same instance."""
    return share(score - random, reference - random)


def reliability(successes: Sequence[int], repeats: int, k: int) -> Value:
    """Return how likely k repeats of an instance all succeed, averaged over instances.

    Args:
        successes: Of each instance, among its repeats.
        repeats: Of every instance.
        k: At most ``repeats``.
    """
    if not 1 <= k <= repeats:
        return NULL
    return share(sum(comb(found, k) for found in successes) / comb(repeats, k), len(successes))


def improvement(one: Sequence[float], team: Sequence[float], *, fewer_is_better: bool) -> Value:
    """Return how much better a team does than one agent, from -1 to 1; the mean, instances of two 0 left out."""
    gains = []
    for alone, together in zip(one, team, strict=True):
        if most := max(alone, together):
            gains.append((alone - together if fewer_is_better else together - alone) / most)
    return mean(gains)


def speed_up(one: Sequence[float | None], team: Sequence[float | None], agents: int) -> tuple[Value, Value]:
    """Return steps of one agent over those of the team, and that for each agent; over instances that both solved.

    Args:
        one: Steps of one agent; None where the instance was not solved.
        team: Steps of the team.
        agents: In the team.
    """
    ratios = [alone / together for alone, together in zip(one, team, strict=True) if alone and together]
    return mean(ratios), share(fsum(ratios) / agents, len(ratios))


def optimality(success: bool, steps: float, reference: float) -> Value:
    """Return success, weighted by the reference planner's steps over those taken (Anderson et al. 2018)."""
    return share(success * reference, max(steps, reference))


def trajectory(actions: Sequence[str], references: Sequence[Sequence[str]]) -> Value:
    """Return how much of a reference was done in order, against its length and that of what was done.

    ``(1 + β²) d / (|R| + β² |A|)`` with β = 0.95, where d is how many actions of the reference, from its first on,
    stand in the actions in this order; the best over references.
    """
    return max((_match(actions, reference) for reference in references if reference), default=NULL)


def _match(actions: Sequence[str], reference: Sequence[str]) -> Value:
    done = 0
    for action in actions:
        if done < len(reference) and action == reference[done]:
            done += 1
    square = BETA * BETA
    return share((1.0 + square) * done, len(reference) + square * len(actions))


def mean_difference(one: Sequence[float | None], other: Sequence[float | None]) -> Value:
    """Return the mean of paired values of one minus the other; pairs without both are left out."""
    known = [a - b for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return mean(known)


def talk_return(gain: float | None, tokens: float) -> Value:
    """Return completion gained for each 1,000 tokens of messages."""
    return NULL if gain is None else share(1000.0 * gain, tokens)


def scaling_tax(completion: float, smaller: Sequence[float]) -> Value:
    """Return what a team loses against the best smaller team on the same instances, as a share of it."""
    best = max(smaller, default=0.0)
    return share(best - completion, best)


def later_gain(values: Sequence[float]) -> Value:
    """Return the mean of the last third of a cell's episodes minus that of the first; null of fewer than three."""
    third = len(values) // 3
    if not third:
        return NULL
    return share(fsum(values[-third:]) - fsum(values[:third]), third)


def lift(reused: tuple[int, int], fresh: tuple[int, int]) -> Value:
    """Return success of plans that were reused minus that of fresh ones, each as (successes, plans)."""
    both = [won / plans for won, plans in (reused, fresh) if plans]
    return only(both[0] - both[1] if len(both) == 2 else None)


def undominated(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of (cost, gain) that no other beats: as cheap and better, or cheaper and as good."""
    return [
        (cost, gain)
        for cost, gain in points
        if not any((c <= cost and g >= gain) and (c < cost or g > gain) for c, g in points)
    ]
