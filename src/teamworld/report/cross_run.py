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
WHOLE = ("O8", "K10.cost", "K10.T")
#: What is learned (B11): metric -> id of its slope.
_LEARNED = {_COMPLETION: "B11.C", _STEPS: "B11.T", "M2": "B11.tokens", "D1": "B11.joint"}

Key: TypeAlias = tuple[str | int, ...]


class Partners(NamedTuple):
    """With what methods are paired."""

    silent: Mapping[str, str]
    """By method, what it is called when nobody hears a message."""
    frozen: Mapping[str, str]
    """By method, the one with the same options whose memory never learns."""


def of_episodes(found: Sequence[Sample], partners: Partners) -> Iterator[Sample]:
    """Yield each episode with those metrics across runs that it has: O7, E2, E3, E4, M14, M15, D23, B11.area, B14."""
    at = {(one.method, one.setting, one.instance, one.episode): one for one in found}
    sizes: dict[Key, list[Sample]] = {}
    untaught: dict[Key, Sample] = {}
    for one in found:
        sizes.setdefault(_same_but_team(one), []).append(one)
        if not one.memory:
            untaught[_same_but_memory(one)] = one
    best = _best_smaller(found, sizes)

    for one in found:
        random, greedy, silent, frozen = (
            at.get((name, one.setting, one.instance, one.episode))
            for name in (RANDOM, GREEDY, partners.silent.get(one.method, ""), partners.frozen.get(one.method, ""))
        )
        teams = {other.extract.team: other for other in sizes[_same_but_team(one)]}
        alone = teams.get(1) if one.extract.team > 1 else None
        values = {
            "O7": _normalised(one, random, greedy),
            "E4": _optimality(one, greedy),
            **_against_one(one, alone),
            **_differences(one, silent, "M14.C", "M14.T"),
            "M15": _talk_return(one, silent),
            "D23": _scaling_tax(one, teams.get(best.get(_family(one), 0))),
            **_differences(one, frozen, "B11.area.C", "B11.area.T"),
        }
        if one.memory:
            values |= _differences(one, untaught.get(_same_but_memory(one)), "B14.C", "B14.T")
        yield one._replace(values={**one.values, **values})


def _same_but_team(one: Sample) -> Key:
    return (one.method, one.instance, one.others, one.memory, one.episode)


def _same_but_memory(one: Sample) -> Key:
    return (one.method, one.instance, one.others, one.extract.team, one.episode)


def _family(one: Sample) -> Key:
    """What a team's size is judged over: all instances that teams of both sizes met."""
    return (one.method, one.others, one.memory, one.extract.team)


def of_units(found: Sequence[Sample]) -> Iterator[Sample]:
    """Yield one more sample for each seed of a method, with what its episodes in a row show: B11, B12."""
    rows: dict[tuple[str, str, str], list[Sample]] = {}
    for one in found:
        rows.setdefault((one.method, one.setting, one.instance), []).append(one)
    for episodes in rows.values():
        ordered = sorted(episodes, key=lambda one: one.episode)
        values = {name: _learned(ordered, metric) for metric, name in _LEARNED.items()}
        for metric, name in ((_COMPLETION, "B11.gain.C"), (_STEPS, "B11.gain.T")):
            values[name] = runs.later_gain([value for one in ordered if (value := _of(one, metric)) is not None])
        yield ordered[0]._replace(values={**values, "B12.lift": _lift(ordered)})


def of_methods(found: Sequence[Sample], costs: Sequence[str]) -> Iterator[Row]:
    """Yield what only a method as a whole has, without an interval: O8, and K10 by cost and by steps.

    Args:
        found: All episodes, nothing else.
        costs: Metrics; K10 sets completion against the first of which anybody has more than none.
    """
    methods = list(dict.fromkeys(one.method for one in found))
    for method in methods:
        yield _reliability(method, [one for one in found if one.method == method])
    rows = compare(found, (_COMPLETION, _STEPS, *costs), ()).rows
    values = {(row.method, row.metric): row.value for row in rows}
    cost = next((name for name in costs if any(values[method, name] for method in methods)), costs[-1])
    for name, metric in (("K10.cost", cost), ("K10.T", _STEPS)):
        points = {
            method: (price, gain)
            for method in methods
            if (price := values[method, metric]) is not None and (gain := values[method, _COMPLETION]) is not None
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


def _best_smaller(found: Sequence[Sample], sizes: Mapping[Key, Collection[Sample]]) -> dict[Key, int]:
    """Return for each size of a team which smaller one completed most, over all instances that both met."""
    sums: dict[Key, dict[int, list[float]]] = {}
    for one in found:
        for other in sizes[_same_but_team(one)]:
            done = _of(other, _COMPLETION)
            if other.extract.team < one.extract.team and done is not None:
                sums.setdefault(_family(one), {}).setdefault(other.extract.team, []).append(done)
    means = {
        family: {team: sum(values) / len(values) for team, values in teams.items()} for family, teams in sums.items()
    }
    return {family: min(teams, key=lambda team: (-teams[team], team)) for family, teams in means.items()}


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
