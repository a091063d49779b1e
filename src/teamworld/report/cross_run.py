"""Metrics that take several runs of a comparison: one episode alone does not tell them.

Everything is paired: with the reference teams, the silent run, a smaller team or an untaught one on the same instance,
seed and episode. What has no partner is null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import fsum
from typing import Final, NamedTuple, TypeAlias

from teamworld.experiment.comparison_runs import GREEDY, RANDOM
from teamworld.metrics.definition import NULL, Value, mean, only, share
from teamworld.metrics.summary import PlanTally
from teamworld.report.comparison import Sample
from teamworld.report.statistics import slope

#: What is learned: metric -> name of its slope.
_LEARNED: Final = {
    "completion": "learning_completion",
    "steps": "learning_steps",
    "message_tokens": "learning_tokens",
    "joint_success": "learning_joint_success",
}

Key: TypeAlias = tuple[str | int, ...]


class Partners(NamedTuple):
    """With what methods are paired."""

    silent: Mapping[str, str]
    """By method, what it is called when no agent hears a message."""
    frozen: Mapping[str, str]
    """By method, the one with the same options whose memory never learns."""


def of_episodes(samples: Sequence[Sample], partners: Partners) -> Iterator[Sample]:
    """Yield each episode with those metrics across runs that it has."""
    at = {(known.method, known.setting, known.instance, known.episode): known for known in samples}
    sizes: dict[Key, list[Sample]] = {}
    untaught: dict[Key, Sample] = {}
    for sample in samples:
        sizes.setdefault(_same_but_team(sample), []).append(sample)
        if not sample.memory:
            untaught[_same_but_memory(sample)] = sample
    best = _best_smaller(samples, sizes)

    for sample in samples:
        random, greedy, silent, frozen = (
            at.get((name, sample.setting, sample.instance, sample.episode))
            for name in (RANDOM, GREEDY, partners.silent.get(sample.method, ""), partners.frozen.get(sample.method, ""))
        )
        teams = {other.extract.team: other for other in sizes[_same_but_team(sample)]}
        alone = teams.get(1) if sample.extract.team > 1 else None
        values = {
            "normalised_score": _normalised_score(sample, random, greedy),
            "speedup": _speedup(sample, alone),
            **_differences(sample, silent, "talk_value"),
            "scaling_tax": _scaling_tax(sample, teams.get(best.get(_family(sample), 0))),
            **_differences(sample, frozen, "learning_over_frozen"),
        }
        if sample.memory:
            values |= _differences(sample, untaught.get(_same_but_memory(sample)), "transfer")
        yield sample._replace(values={**sample.values, **values})


def _same_but_team(sample: Sample) -> Key:
    return (sample.method, sample.instance, sample.others, sample.memory, sample.episode)


def _same_but_memory(sample: Sample) -> Key:
    return (sample.method, sample.instance, sample.others, sample.extract.team, sample.episode)


def _family(sample: Sample) -> Key:
    """Return what a team's size is judged over: all instances that teams of both sizes met."""
    return (sample.method, sample.others, sample.memory, sample.extract.team)


def of_units(samples: Sequence[Sample]) -> Iterator[Sample]:
    """Yield one more sample for each seed of a method, with what its episodes in a row show."""
    rows: dict[tuple[str, str, str], list[Sample]] = {}
    for sample in samples:
        rows.setdefault((sample.method, sample.setting, sample.instance), []).append(sample)
    for episodes in rows.values():
        ordered = sorted(episodes, key=lambda sample: sample.episode)
        values = {name: _learned(ordered, metric) for metric, name in _LEARNED.items()}
        for metric in ("completion", "steps"):
            known = [value for sample in ordered if (value := _of(sample, metric)) is not None]
            values[f"learning_gain_{metric}"] = later_gain(known)
        yield ordered[0]._replace(values={**values, "reuse_lift": _lift(ordered)})


def _of(sample: Sample | None, metric: str) -> float | None:
    return sample.values[metric].value if sample is not None and metric in sample.values else None


def _normalised_score(sample: Sample, random: Sample | None, greedy: Sample | None) -> Value:
    """Return where a score lies between the random team's (0) and the scripted team's (1).

    Null where the scripted team is no better than the random one, for then there is no scale.
    """
    score, low, high = (_of(team, "world_score") for team in (sample, random, greedy))
    if score is None or low is None or high is None or high <= low:
        return NULL
    return share(score - low, high - low)


def _speedup(sample: Sample, alone: Sample | None) -> Value:
    """Return how many times the steps of one agent a team saves, where both got all done."""
    team_steps, steps = _of(sample, "steps"), _of(alone, "steps")
    both_solved = _of(sample, "success") and _of(alone, "success") and steps and team_steps
    return mean([steps / team_steps] if both_solved and steps and team_steps else [])


def _differences(sample: Sample, other: Sample | None, stem: str) -> dict[str, Value]:
    """Return completion and steps minus those of a partner."""
    if other is None:
        return {}
    return {f"{stem}_{metric}": _difference(sample, other, metric) for metric in ("completion", "steps")}


def _difference(sample: Sample, other: Sample | None, metric: str) -> Value:
    value, before = _of(sample, metric), _of(other, metric)
    return mean([] if value is None or before is None else [value - before])


def _best_smaller(samples: Sequence[Sample], sizes: Mapping[Key, Collection[Sample]]) -> dict[Key, int]:
    """Return for each size of a team which smaller one completed most, over all instances that both met."""
    completions: dict[Key, dict[int, list[float]]] = {}
    for sample in samples:
        for other in sizes[_same_but_team(sample)]:
            value = _of(other, "completion")
            if other.extract.team < sample.extract.team and value is not None:
                completions.setdefault(_family(sample), {}).setdefault(other.extract.team, []).append(value)
    means = {
        family: {team: fsum(values) / len(values) for team, values in teams.items()}
        for family, teams in completions.items()
    }
    return {family: min(teams, key=lambda team: (-teams[team], team)) for family, teams in means.items()}


def _scaling_tax(sample: Sample, smaller: Sample | None) -> Value:
    """Return what a team loses against the best smaller team on the same instance, as a share of it."""
    completion, before = _of(sample, "completion"), _of(smaller, "completion")
    return NULL if completion is None or before is None else share(before - completion, before)


def _learned(ordered: Sequence[Sample], metric: str) -> Value:
    known = [(sample.episode, value) for sample in ordered if (value := _of(sample, metric)) is not None]
    if len(known) < 2:
        return NULL
    return only(slope([value for _, value in known], [float(episode) for episode, _ in known]), len(known))


def later_gain(values: Sequence[float]) -> Value:
    """Return the mean of the last third of a cell's episodes minus that of the first; null of fewer than three."""
    third = len(values) // 3
    if not third:
        return NULL
    return share(fsum(values[-third:]) - fsum(values[:third]), third)


def _lift(ordered: Sequence[Sample]) -> Value:
    """Return the success of reused plans minus that of fresh ones: per goal, then over goals by their reused plans."""
    weighted = plans = 0.0
    for goal in dict.fromkeys(goal for sample in ordered for goal in sample.extract.reused):
        reused = _summed([sample.extract.reused.get(goal) for sample in ordered])
        fresh = _summed([sample.extract.fresh.get(goal) for sample in ordered])
        if reused.plans and fresh.plans:
            lift = reused.won / reused.plans - fresh.won / fresh.plans
            weighted, plans = weighted + lift * reused.plans, plans + reused.plans
    return share(weighted, plans)


def _summed(tallies: Sequence[PlanTally | None]) -> PlanTally:
    known = [tally for tally in tallies if tally is not None]
    return PlanTally(sum(tally.won for tally in known), sum(tally.plans for tally in known))


def undominated(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of (cost, gain) that no other beats: as cheap and better, or cheaper and as good."""
    return [
        (cost, gain)
        for cost, gain in points
        if not any((c <= cost and g >= gain) and (c < cost or g > gain) for c, g in points)
    ]
