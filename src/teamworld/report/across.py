"""Metrics across the runs of a comparison: what one episode alone cannot tell (metrics spec, tier 3).

Everything is paired: with the reference teams, the silent run, a smaller team or an untaught one on the same instance,
seed and episode. What has no partner is null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from teamworld.metrics import runs
from teamworld.metrics.definition import NULL, Value, only, share
from teamworld.metrics.extract import Tally
from teamworld.report.compare import Row, Sample, compare
from teamworld.report.statistics import slope

RANDOM, GREEDY = "random", "greedy"
#: Repeats that have to succeed together for O8.
REPEATS = 3
_COMPLETION, _STEPS = "O2", "E1"
#: Of these only the whole of a method has a value, and no interval.
WHOLE = ("O8", "K10.C", "K10.T")
#: What is learned (B11): metric -> id of its slope.
_LEARNED = {_COMPLETION: "B11.C", _STEPS: "B11.T", "M2": "B11.tokens", "D1": "B11.joint"}

Place: TypeAlias = tuple[str, str, int]
"""Method, instance and episode."""


class Partners(NamedTuple):
    """With what methods are paired."""

    silent: Mapping[str, str]
    """By method, what it is called when nobody hears a message."""
    frozen: Mapping[str, str]
    """By method, the one with the same options whose memory never learns."""


def of_episodes(found: Sequence[Sample], partners: Partners) -> Iterator[Sample]:
    """Yield each episode with those metrics across runs that it has: O7, E2, E3, E4, M14, M15, D23, B11.area, B14."""
    at = {(one.method, one.instance, one.episode): one for one in found}
    twins: dict[Place, list[Sample]] = {}
    for one in found:
        twins.setdefault((one.method, one.twin, one.episode), []).append(one)
    best = _best_smaller(found, twins)
    for one in found:
        random, greedy = (at.get((name, one.instance, one.episode)) for name in (RANDOM, GREEDY))
        silent = at.get((partners.silent.get(one.method, ""), one.instance, one.episode))
        frozen = at.get((partners.frozen.get(one.method, ""), one.instance, one.episode))
        same = twins[one.method, one.twin, one.episode]
        alone = next((other for other in same if other.extract.team == 1 < one.extract.team), None)
        smaller = next((other for other in same if other.extract.team == best.get((one.method, one.instance))), None)
        untaught = next((other for other in same if one.taught and not other.taught), None)
        yield one._replace(
            values={
                **one.values,
                "O7": _normalised(one, random, greedy),
                "E4": _optimality(one, greedy),
                **_against_one(one, alone),
                **_differences(one, silent, "M14.C", "M14.T"),
                "M15": _talk_return(one, silent),
                "D23": _scaling_tax(one, smaller),
                **_differences(one, frozen, "B11.area.C", "B11.area.T"),
                **_differences(one, untaught, "B14.C", "B14.T"),
            }
        )


def of_units(found: Sequence[Sample]) -> Iterator[Sample]:
    """Yield one more sample for each seed of a method, with what its episodes in a row show: B11, B12."""
    rows: dict[tuple[str, str], list[Sample]] = {}
    for one in found:
        rows.setdefault((one.method, one.instance), []).append(one)
    for episodes in rows.values():
        ordered = sorted(episodes, key=lambda one: one.episode)
        values = {name: _learned(ordered, metric) for metric, name in _LEARNED.items()}
        for metric, name in ((_COMPLETION, "B11.gain.C"), (_STEPS, "B11.gain.T")):
            values[name] = runs.later_gain([value for one in ordered if (value := _of(one, metric)) is not None])
        yield ordered[0]._replace(values={**values, "B12.lift": _lift(ordered)})


def of_methods(found: Sequence[Sample], costs: Sequence[str]) -> Iterator[Row]:
    """Yield what only a method as a whole has, without an interval: O8, and K10 in completion and in steps.

    Args:
        found: All episodes.
        costs: Metrics; K10 sets the first that was measured against completion and steps.
    """
    methods = list(dict.fromkeys(one.method for one in found))
    for method in methods:
        yield _reliability(method, [one for one in found if one.method == method])
    rows = compare(found, (_COMPLETION, _STEPS, *costs), ()).rows
    values = {(row.method, row.metric): row.value for row in rows}
    cost = next((name for name in costs if any(values[method, name] for method in methods)), costs[-1])
    for name, metric, sign in (("K10.C", _COMPLETION, 1.0), ("K10.T", _STEPS, -1.0)):
        points = {
            method: (price, sign * gain)
            for method in methods
            if (price := values.get((method, cost))) is not None and (gain := values.get((method, metric))) is not None
        }
        best = runs.undominated(list(points.values()))
        for method in methods:
            value = float(points[method] in best) if method in points else None
            yield Row(method, name, value, None, None, int(value is not None), int(value is None))


def _of(one: Sample, metric: str) -> float | None:
    return one.values[metric].value if metric in one.values else None


def _normalised(one: Sample, random: Sample | None, greedy: Sample | None) -> Value:
    """O7; null where the scripted team is no better than the random one, for then there is no scale."""
    score, low, high = (None if sample is None else _of(sample, "O7.raw") for sample in (one, random, greedy))
    if score is None or low is None or high is None or high <= low:
        return NULL
    return runs.normalised(score, low, high)


def _optimality(one: Sample, greedy: Sample | None) -> Value:
    """E4, with the scripted team's steps as those of the reference planner, where it gets all done."""
    steps, reference = _of(one, _STEPS), None if greedy is None or not _of(greedy, "O1") else _of(greedy, _STEPS)
    return NULL if steps is None or reference is None else runs.optimality(bool(_of(one, "O1")), steps, reference)


def _against_one(one: Sample, alone: Sample | None) -> dict[str, Value]:
    """E2 and E3: a team against one agent on the same instance."""
    if alone is None:
        return {}
    team_steps, steps, team_done, done = (_of(x, m) for m in (_STEPS, _COMPLETION) for x in (one, alone))
    if team_steps is None or steps is None or team_done is None or done is None:
        return {}
    solved = bool(_of(one, "O1")), bool(_of(alone, "O1"))
    speed, efficiency = runs.speed_up(
        [steps if solved[1] else None], [team_steps if solved[0] else None], one.extract.team
    )
    return {
        "E2.T": runs.improvement([steps], [team_steps], fewer_is_better=True),
        "E2.C": runs.improvement([done], [team_done], fewer_is_better=False),
        "E3.speed": speed,
        "E3.efficiency": efficiency,
    }


def _differences(one: Sample, other: Sample | None, completion: str, steps: str) -> dict[str, Value]:
    if other is None:
        return {}
    return {
        name: runs.mean_difference([_of(one, metric)], [_of(other, metric)])
        for name, metric in ((completion, _COMPLETION), (steps, _STEPS))
    }


def _talk_return(one: Sample, silent: Sample | None) -> Value:
    tokens = _of(one, "M2")
    if silent is None or tokens is None:
        return NULL
    return runs.talk_return(runs.mean_difference([_of(one, _COMPLETION)], [_of(silent, _COMPLETION)]).value, tokens)


def _best_smaller(found: Sequence[Sample], twins: Mapping[Place, Collection[Sample]]) -> dict[tuple[str, str], int]:
    """Return for each method and unit which smaller team completed most, over all instances that both met."""
    sums: dict[tuple[str, str, int, int], list[float]] = {}
    for one in found:
        for other in twins[one.method, one.twin, one.episode]:
            done = _of(other, _COMPLETION)
            if other.extract.team < one.extract.team and done is not None:
                sums.setdefault((one.method, one.setting, one.extract.team, other.extract.team), []).append(done)
    means = {place: sum(values) / len(values) for place, values in sums.items()}
    best: dict[tuple[str, str], int] = {}
    for one in found:
        mine = {
            smaller: mean
            for (method, setting, team, smaller), mean in means.items()
            if (method, setting, team) == (one.method, one.setting, one.extract.team)
        }
        if mine:
            best[one.method, one.instance] = min(mine, key=lambda smaller: (-mine[smaller], smaller))
    return best


def _scaling_tax(one: Sample, smaller: Sample | None) -> Value:
    completion, before = _of(one, _COMPLETION), None if smaller is None else _of(smaller, _COMPLETION)
    return NULL if completion is None or before is None else runs.scaling_tax(completion, [before])


def _learned(ordered: Sequence[Sample], metric: str) -> Value:
    known = [(one.episode, value) for one in ordered if (value := _of(one, metric)) is not None]
    if len(known) < 2:
        return NULL
    return only(slope([value for _, value in known], [float(episode) for episode, _ in known]), len(known))


def _lift(ordered: Sequence[Sample]) -> Value:
    """B12: per goal, and then over goals by their reused plans."""
    weighted = plans = 0.0
    for goal in dict.fromkeys(goal for one in ordered for goal in one.extract.reused):
        reused = _summed([one.extract.reused.get(goal) for one in ordered])
        lift = runs.lift(reused, _summed([one.extract.fresh.get(goal) for one in ordered])).value
        if lift is not None:
            weighted, plans = weighted + lift * reused.plans, plans + reused.plans
    return share(weighted, plans)


def _summed(tallies: Sequence[Tally | None]) -> Tally:
    known = [tally for tally in tallies if tally is not None]
    return Tally(sum(tally.won for tally in known), sum(tally.plans for tally in known))


def _reliability(method: str, found: Sequence[Sample]) -> Row:
    """O8: repeats are seeds that met the same instance in the same episode, of equal number everywhere."""
    repeats: dict[tuple[str, int, int], list[bool]] = {}
    for one in found:
        repeats.setdefault((one.setting, one.extract.world_seed, one.episode), []).append(bool(_of(one, "O1")))
    least = min(map(len, repeats.values()), default=0)
    value = runs.reliability([sum(won) for won in repeats.values()], least, REPEATS).value
    same = all(len(won) == least for won in repeats.values())
    number = len(repeats) if same and value is not None else 0
    return Row(method, "O8", value if number else None, None, None, number, len(repeats) - number)
