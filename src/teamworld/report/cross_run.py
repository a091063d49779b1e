"""Metrics that take several runs of a comparison: one episode alone does not tell them.

Everything is paired: with the reference teams, the silent run, a smaller team or an untaught one on the same instance,
seed and episode. What has no partner is null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import comb, fsum
from typing import Final, NamedTuple, TypeAlias

from teamworld.experiment.comparison_runs import GREEDY, RANDOM
from teamworld.metrics.definition import NULL, Value, mean, only, share
from teamworld.metrics.summary import PlanTally
from teamworld.report.comparison import MetricRow, Sample, compare
from teamworld.report.statistics import slope

#: Repeats that have to succeed together for ``reliability``.
REPEATS: Final = 3
#: Weight of the actions that were taken, beside those of the reference, in a trajectory's efficiency.
BETA: Final = 0.95
#: Of these only the whole of a method has a value, and no interval.
WHOLE: Final = ("reliability", "frontier_cost", "frontier_steps")
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
            "plan_length_optimality": _optimality(sample, greedy),
            **_against_one(sample, alone),
            **_differences(sample, silent, "talk_value"),
            "talk_return": _talk_return(sample, silent),
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


def of_methods(samples: Sequence[Sample], costs: Sequence[str]) -> Iterator[MetricRow]:
    """Yield what only a method as a whole has, without an interval: its reliability and its place on the frontiers.

    Args:
        samples: All episodes, nothing else.
        costs: Metrics; the frontier sets completion against the first of which any method has more than none.
    """
    methods = list(dict.fromkeys(sample.method for sample in samples))
    for method in methods:
        yield _reliability(method, [sample for sample in samples if sample.method == method])
    rows = compare(samples, ("completion", "steps", *costs), ()).rows
    values = {(row.method, row.metric): row.value for row in rows}
    cost = next((name for name in costs if any(values[method, name] for method in methods)), costs[-1])
    for name, metric in (("frontier_cost", cost), ("frontier_steps", "steps")):
        points = {
            method: (price, gain)
            for method in methods
            if (price := values[method, metric]) is not None and (gain := values[method, "completion"]) is not None
        }
        best = undominated(list(points.values()))
        for method in methods:
            value = float(points[method] in best) if method in points else None
            yield MetricRow(method, name, value, None, None, int(value is not None), int(value is None))


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


def _optimality(sample: Sample, greedy: Sample | None) -> Value:
    """Return success, weighted by the reference planner's steps over those taken (Anderson et al. 2018).

    The reference is the scripted team, where it gets all done.
    """
    steps, reference = _of(sample, "steps"), _of(greedy, "steps") if _of(greedy, "success") else None
    if steps is None or reference is None:
        return NULL
    return share(bool(_of(sample, "success")) * reference, max(steps, reference))


def _against_one(sample: Sample, alone: Sample | None) -> dict[str, Value]:
    """Return how a team compares with one agent on the same instance."""
    team_steps, steps = _of(sample, "steps"), _of(alone, "steps")
    team_completion, completion = _of(sample, "completion"), _of(alone, "completion")
    if team_steps is None or steps is None or team_completion is None or completion is None:
        return {}
    both_solved = bool(_of(sample, "success") and _of(alone, "success") and steps and team_steps)
    speedups = [steps / team_steps] if both_solved else []
    return {
        "step_improvement": _improvement(steps - team_steps, steps, team_steps),
        "completion_improvement": _improvement(team_completion - completion, completion, team_completion),
        "speedup": mean(speedups),
        "parallel_efficiency": share(fsum(speedups) / sample.extract.team, len(speedups)),
    }


def _improvement(gain: float, first: float, second: float) -> Value:
    """Return a gain as a share of the larger of two values; nothing of two 0."""
    most = max(first, second)
    return mean([gain / most] if most else [])


def _differences(sample: Sample, other: Sample | None, stem: str) -> dict[str, Value]:
    """Return completion and steps minus those of a partner."""
    if other is None:
        return {}
    return {f"{stem}_{metric}": _difference(sample, other, metric) for metric in ("completion", "steps")}


def _difference(sample: Sample, other: Sample | None, metric: str) -> Value:
    value, before = _of(sample, metric), _of(other, metric)
    return mean([] if value is None or before is None else [value - before])


def _talk_return(sample: Sample, silent: Sample | None) -> Value:
    """Return completion gained for each 1,000 tokens of messages."""
    tokens, gain = _of(sample, "message_tokens"), _difference(sample, silent, "completion").value
    return NULL if tokens is None or gain is None else share(1000.0 * gain, tokens)


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


def _reliability(method: str, samples: Sequence[Sample]) -> MetricRow:
    """Return a method's reliability.

    Repeats are seeds that met the same instance in the same episode, of equal number everywhere.
    """
    repeats: dict[tuple[str, int, int], list[bool]] = {}
    for sample in samples:
        repeats.setdefault((sample.setting, sample.extract.world_seed, sample.episode), []).append(
            bool(_of(sample, "success"))
        )
    least = min(map(len, repeats.values()), default=0)
    value = reliability([sum(won) for won in repeats.values()], least, REPEATS).value
    same = all(len(won) == least for won in repeats.values())
    number = len(repeats) if same and value is not None else 0
    return MetricRow(method, "reliability", value if number else None, None, None, number, len(repeats) - number)


def reliability(successes: Sequence[int], repeats: int, k: int) -> Value:
    """Return how likely k repeats of an instance all succeed (pass^k), averaged over instances.

    Args:
        successes: Of each instance, among its repeats.
        repeats: Of every instance.
        k: At most ``repeats``.
    """
    if not 1 <= k <= repeats:
        return NULL
    return share(sum(comb(won, k) for won in successes) / comb(repeats, k), len(successes))


def trajectory(actions: Sequence[str], references: Sequence[Sequence[str]]) -> Value:
    """Return how much of a reference was done in order, against its length and that of what was done.

    ``(1 + β²) d / (|R| + β² |A|)`` with β = 0.95, where d is how many actions of the reference, from its first on,
    stand in the actions in this order; the best over references (Collab-Overcooked).
    """
    return max((_match(actions, reference) for reference in references if reference), default=NULL)


def _match(actions: Sequence[str], reference: Sequence[str]) -> Value:
    done = 0
    for action in actions:
        if done < len(reference) and action == reference[done]:
            done += 1
    square = BETA * BETA
    return share((1.0 + square) * done, len(reference) + square * len(actions))


def undominated(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of (cost, gain) that no other beats: as cheap and better, or cheaper and as good."""
    return [
        (cost, gain)
        for cost, gain in points
        if not any((c <= cost and g >= gain) and (c < cost or g > gain) for c, g in points)
    ]
