"""Methods compared on the same instances and seeds: values, paired differences, and what may be claimed of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from operator import add
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from teamworld.metrics.definition import Metric, PooledValue, Value, metrics, pool
from teamworld.metrics.summary import Extract
from teamworld.report.controls import ControlUse
from teamworld.report.noise_floor import TwinDifference
from teamworld.report.statistics import Ratio, holm, noise_floor, paired, ratio_interval
from teamworld.report.talk_effects import TalkEffect

#: What a frontier sets against completion and steps: the first of these that was measured.
COSTS = ("cost_usd", "tokens", "messages")
#: The metrics that a comparison is made for: their differences are corrected for one another, all others among
#: themselves.
MAIN = ("completion", "anytime_completion", "steps")
#: A difference is supported if its corrected p is below.
LEVEL = 0.05


class Sample(NamedTuple):
    """One measured episode."""

    method: str
    instance: str
    """World, level, layout and seed: the unit, which pairs it with those of other methods and other settings."""
    stratum: str
    """World, level and, where all seeds meet the same, the layout: units are resampled within it."""
    episode: int
    values: Mapping[str, Value]
    extract: Extract = Extract(0, 0, {}, {})
    """What metrics across runs need beside them."""
    setting: str = ""
    """Name of what varies in the comparison; empty where nothing does."""
    others: str = ""
    """What varies beside the place, the size of the team and the memory that it begins with."""
    memory: str = ""
    """The run whose memory it began with; empty for none, and for methods that have none."""
    layout: str = ""
    """Digest of where it took place; empty if that is not known, and the instance stands for it."""
    play: str = ""
    """Digest of all that happened, seeds left out; likewise."""
    deeds: str = ""
    """Digest of what agents did but wait and talk, step by step."""
    tokens: tuple[int, int] | None = None
    """Tokens that its questions might take, and took; None where nothing limited them."""
    step_limit: float = math.inf
    """No interval of steps reaches beyond."""


class MetricRow(NamedTuple):
    """A metric of a method."""

    method: str
    metric: str
    value: float | None
    low: float | None
    """Of the 95 % interval; of a single instance the metric's range, or None where it has no bounds."""
    high: float | None
    n: int
    """Independent observations with a value, see ``Independence``."""
    nulls: int
    """Instances without one."""


class PairedDifference(NamedTuple):
    """A metric of one method minus that of another, on the instances that both met."""

    a: str
    b: str
    metric: str
    difference: float
    low: float | None
    """Of the 95 % interval; None of a single instance, as is the next."""
    high: float | None
    p: float
    p_corrected: float
    """For all differences of its family (Holm): the main metrics, or all others."""
    effect: float | None
    """Mean over standard deviation of the instances' differences; None where they do not vary."""
    n: int
    """Independent observations that count, see ``Independence``."""
    nulls: int = 0
    """Instances where one or both have no value; a mean leaves them out, which may be what makes the difference."""
    family: int = 1
    """Differences that the p is corrected for."""
    left_out: int = 0
    """Episodes that only one of both has, such as where the other ended in an error: neither counts them here."""
    floor: float | None = None
    """What 95 % of the differences stay below that noise alone makes, on so many instances; None without a twin."""

    @property
    def times_floor(self) -> float | None:
        """How many times the noise floor the difference is; None where there is no floor, or no noise."""
        return abs(self.difference) / self.floor if self.floor else None

    @property
    def within_floor(self) -> bool | None:
        """Whether noise alone makes differences as large; None where that is not known."""
        return None if self.floor is None else abs(self.difference) <= self.floor

    @property
    def supported(self) -> bool:
        """Whether the data support that there is a difference."""
        if self.low is None or self.high is None:
            return False
        return self.p_corrected < LEVEL and not self.low <= 0.0 <= self.high


class Independence(NamedTuple):
    """How many of a method's instances are independent of one another.

    Instances in one layout are repeats of one observation, where others have other layouts. In a single layout each
    play counts, copies of it do not, and what is found holds for that layout.
    """

    method: str
    instances: int
    layouts: int
    plays: int
    """That differ in more than their seeds."""


class Comparison(NamedTuple):
    """All of it."""

    rows: tuple[MetricRow, ...]
    paired: tuple[PairedDifference, ...]
    main: tuple[str, ...] = MAIN
    """What it was made for."""
    independence: tuple[Independence, ...] = ()
    """Of each method."""
    twins: tuple[TwinDifference, ...] = ()
    """Of each method that has a twin, in each metric."""
    talk_effects: tuple[TalkEffect, ...] = ()
    """Of each method that sent messages."""
    controls: tuple[ControlUse, ...] = ()
    """What each control took that had a limit."""


class _Origin(NamedTuple):
    """Of an instance of a method."""

    layouts: tuple[str, ...]
    plays: tuple[str, ...]


Origins: TypeAlias = Mapping[str, _Origin]
#: Per method: the value of each instance, over its episodes; and from which stratum it is.
Units = Mapping[str, PooledValue]


class _Measured(NamedTuple):
    """A metric of all methods."""

    metric: Metric
    units: Mapping[str, Units]
    strata: Mapping[str, str]
    """By instance."""
    origins: Mapping[str, Origins]
    """By method."""


def compare(
    samples: Iterable[Sample],
    names: Sequence[str],
    wanted: Sequence[tuple[str, str]] | None = None,
    main: Sequence[str] = MAIN,
    twins: Mapping[str, str] = MappingProxyType({}),
) -> Comparison:
    """Compare methods in some metrics.

    A unit is an instance: the episodes of one seed share a memory, and those of several settings a layout; they are one
    observation, not many. Nor are instances that share a layout, or copies of one play, see ``Independence``.

    Args:
        samples: Measured episodes of all methods.
        names: Metrics.
        wanted: The pairs of methods that are compared; all if None.
        main: The metrics that the comparison is made for.
        twins: By method the name of its twin: every difference is set beside the noise floor then.
    """
    measured = list(samples)
    strata = {sample.instance: sample.stratum for sample in measured}
    methods = list(dict.fromkeys(sample.method for sample in measured))
    by_method = {method: [sample for sample in measured if sample.method == method] for method in methods}
    origins = {method: _origins(own) for method, own in by_method.items()}
    limits = {method: max(sample.step_limit for sample in own) for method, own in by_method.items()}
    pairings = [_pairing(by_method, *pair) for pair in (combinations(methods, 2) if wanted is None else wanted)]
    doubled = [_pairing(by_method, method, twin) for method, twin in twins.items()]
    rows: list[MetricRow] = []
    pairs: list[PairedDifference] = []
    noise: list[TwinDifference] = []
    for name in names:
        metric = metrics()[name]
        units = {method: _units(metric, own) for method, own in by_method.items()}
        known = _Measured(metric, units, strata, origins)
        rows += [_row(known, method, limits[method]) for method in methods]
        own = [twin for pairing in doubled for twin in _twin_difference(known, pairing)]
        noise += own
        pairs += (_beside_floor(pair, own, twins) for pairing in pairings for pair in _difference(known, pairing))
    independence = (_independence(method, origins[method]) for method in methods)
    return Comparison(tuple(rows), tuple(_corrected(pairs, main)), tuple(main), tuple(independence), tuple(noise))


def _origins(samples: Sequence[Sample]) -> Origins:
    """Return where each instance of a method took place, and what was played there."""
    by_instance: dict[str, list[Sample]] = {}
    for sample in samples:
        by_instance.setdefault(sample.instance, []).append(sample)
    return {
        instance: _Origin(
            tuple(sorted({sample.layout for sample in own if sample.layout} or {instance})),
            tuple(sample.play for sample in own if sample.play) or (instance,),
        )
        for instance, own in by_instance.items()
    }


def _independence(method: str, origins: Origins) -> Independence:
    layouts, plays = ({origin[at] for origin in origins.values()} for at in (0, 1))
    return Independence(method, len(origins), len(layouts), len(plays))


def _observations(origins: Iterable[tuple[str, Sequence[_Origin]]]) -> dict[str, Hashable]:
    """Return by instance which observation it belongs to: that of its layout, in a single layout that of its play."""
    known = dict(origins)
    layouts = {instance: tuple(origin.layouts for origin in own) for instance, own in known.items()}
    if len(set(layouts.values())) > 1:
        return {**layouts}
    return {instance: tuple(origin.plays for origin in own) for instance, own in known.items()}


def _summed(
    units: Mapping[str, tuple[float, ...]], observations: Mapping[str, Hashable], strata: Mapping[str, str]
) -> dict[str, list[tuple[float, ...]]]:
    """Return the sums of the instances of each observation, by stratum."""
    sums: dict[Hashable, tuple[str, tuple[float, ...]]] = {}
    for instance, unit in units.items():
        stratum, earlier = sums.get(observations[instance], (strata[instance], (0.0,) * len(unit)))
        sums[observations[instance]] = stratum, tuple(map(add, earlier, unit))
    by_stratum: dict[str, list[tuple[float, ...]]] = {}
    for stratum, total in sums.values():
        by_stratum.setdefault(stratum, []).append(total)
    return by_stratum


def _units(metric: Metric, samples: Sequence[Sample]) -> Units:
    by_instance: dict[str, list[Value]] = {}
    for sample in samples:
        by_instance.setdefault(sample.instance, []).append(sample.values.get(metric.name, Value(None, None, None)))
    return {instance: pool(metric, values) for instance, values in by_instance.items()}


def _ratio(metric: Metric, unit: PooledValue) -> tuple[float, float]:
    """Return what a unit adds to a ratio of sums; of a mean, its value over one."""
    return (unit.num or 0.0, unit.den or 0.0) if _is_rate(metric) else (unit.value or 0.0, 1.0)


def _is_rate(metric: Metric) -> bool:
    """Whether it is a ratio of sums over all instances."""
    return metric.pooling == "micro"


def _row(measured: _Measured, method: str, step_limit: float) -> MetricRow:
    metric, units, origins = measured.metric, measured.units[method], measured.origins[method]
    known = {instance: unit for instance, unit in units.items() if unit.value is not None}
    counted = {instance: _ratio(metric, unit) for instance, unit in (units if _is_rate(metric) else known).items()}
    observations = _observations((instance, (origins[instance],)) for instance in units)
    interval = ratio_interval(_summed(counted, observations, measured.strata), binary=metric.is_binary)
    number, nulls = len({observations[instance] for instance in known}), len(units) - len(known)
    if interval is None:
        return MetricRow(method, metric.name, None, None, None, number, nulls)
    low, high = metric.within(interval.low, interval.high) if number > 1 else _all(metric)
    if metric.unit == "steps" and high is not None:
        high = min(high, step_limit)
    return MetricRow(method, metric.name, interval.mean, low, high, number, nulls)


def _all(metric: Metric) -> tuple[float | None, float | None]:
    """Return the whole range of a metric, which is all that one instance tells; None where it has no bounds."""
    return (None, None) if metric.low is None or metric.high is None else (metric.low, metric.high)


class _Pairing(NamedTuple):
    """Two methods, and the episodes that both have where these are not all."""

    first: str
    second: str
    shared: tuple[Sequence[Sample], ...] | None
    left_out: int


def _place(sample: Sample) -> tuple[str, str, int]:
    """Return where an episode took place: what methods share."""
    return sample.instance, sample.setting, sample.episode


def _pairing(by_method: Mapping[str, Sequence[Sample]], first: str, second: str) -> _Pairing:
    """Pair two methods: what only one of them has played counts for neither."""
    own, other = ({_place(sample) for sample in by_method[method]} for method in (first, second))
    if own == other:
        return _Pairing(first, second, None, 0)
    both = own & other
    shared = ([sample for sample in by_method[method] if _place(sample) in both] for method in (first, second))
    return _Pairing(first, second, tuple(shared), len(own ^ other))


class _Pairs(NamedTuple):
    """What two methods have of a metric, observation by observation."""

    first: list[Ratio]
    second: list[Ratio]
    strata: list[str]
    instances: int
    """With a value of both."""
    n: int
    """Observations among these."""
    nulls: int


def _pairs(measured: _Measured, pairing: _Pairing, *, apart: bool = False) -> _Pairs:
    """Return the pairs of two methods in a metric: of each observation, or of each instance apart."""
    metric, origins, first, second = measured.metric, measured.origins, pairing.first, pairing.second
    units = (
        measured.units
        if pairing.shared is None
        else dict(zip((first, second), (_units(metric, own) for own in pairing.shared), strict=True))
    )
    both = {
        instance: (unit, units[second][instance])
        for instance, unit in units[first].items()
        if instance in units[second]
    }
    known = {
        instance: pair for instance, pair in both.items() if pair[0].value is not None and pair[1].value is not None
    }
    observations: Mapping[str, Hashable] = {instance: instance for instance in both}
    if not apart:
        origin = {instance: (origins[first][instance], origins[second][instance]) for instance in both}
        observations = _observations(origin.items())
    counted = {
        instance: (*_ratio(metric, pair[0]), *_ratio(metric, pair[1]))
        for instance, pair in (both if _is_rate(metric) and known else known).items()
    }
    sums = _summed(counted, observations, measured.strata)
    return _Pairs(
        [total[:2] for totals in sums.values() for total in totals],
        [total[2:] for totals in sums.values() for total in totals],
        [stratum for stratum, totals in sums.items() for _ in totals],
        len(known),
        len({observations[instance] for instance in known}),
        len(both) - len(known),
    )


def _difference(measured: _Measured, pairing: _Pairing) -> Iterator[_Counted]:
    """Yield the difference of two methods in a metric, if there is one, and of how many instances it is."""
    metric, pairs = measured.metric, _pairs(measured, pairing)
    result = paired(pairs.first, pairs.second, pairs.strata, binary=metric.is_binary)
    if result is None:
        return
    low, high = (result.low, result.high) if pairs.n > 1 else (None, None)
    tested = (result.difference, low, high, result.p, result.p, result.effect)
    counts, left_out = (pairs.n, pairs.nulls), pairing.left_out
    pair = PairedDifference(pairing.first, pairing.second, metric.name, *tested, *counts, left_out=left_out)
    yield _Counted(pair, pairs.instances)


class _Counted(NamedTuple):
    """A difference, and of how many instances it is."""

    pair: PairedDifference
    instances: int


def _twin_difference(measured: _Measured, pairing: _Pairing) -> Iterator[TwinDifference]:
    """Yield the difference of a method and its twin, if there is one.

    Noise is drawn anew in each instance, so instances that share a layout are pairs of their own here.
    """
    metric, pairs = measured.metric, _pairs(measured, pairing, apart=True)
    result = paired(pairs.first, pairs.second, pairs.strata, binary=metric.is_binary)
    if result is None:
        return
    method, twin = measured.origins[pairing.first], measured.origins[pairing.second]
    both = [instance for instance in method if instance in twin]
    equal = sum(method[instance].plays == twin[instance].plays for instance in both)
    floor = noise_floor(pairs.first, pairs.second)
    values = (result.difference, floor, pairs.instances, equal, len(both))
    yield TwinDifference(pairing.first, metric.name, *values)


def _beside_floor(counted: _Counted, noise: Sequence[TwinDifference], twins: Mapping[str, str]) -> PairedDifference:
    """Return a difference with its noise floor: that of its methods' twins, or where neither has one, of all twins.

    Of several it is the root of their mean square: noise of two methods adds up so. Fewer instances have more noise.
    """
    pair, instances = counted
    own = [method for method in twins if method in (pair.a, pair.b)] or list(twins)
    known = [twin for twin in noise if twin.method in own and twin.floor is not None]
    if not known or not instances:
        return pair
    squares = [twin.floor**2 * twin.instances / instances for twin in known if twin.floor is not None]
    return pair._replace(floor=float(f"{math.sqrt(math.fsum(squares) / len(squares)):.12g}"))


def _corrected(pairs: Sequence[PairedDifference], main: Sequence[str]) -> Iterator[PairedDifference]:
    """Yield the pairs with their p values corrected within their family."""
    corrected: dict[int, tuple[float, int]] = {}
    for is_main in (True, False):
        family = [at for at, pair in enumerate(pairs) if (pair.metric in main) == is_main]
        ps = holm([pairs[at].p for at in family])
        corrected |= {at: (p, len(family)) for at, p in zip(family, ps, strict=True)}
    for at, pair in enumerate(pairs):
        p, size = corrected[at]
        yield pair._replace(p_corrected=p, family=size)
