"""What may be said of a comparison, and what limits it, in sentences with their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teamworld.metrics.definition import metrics
from teamworld.report.comparison import LEVEL, Comparison, Independence
from teamworld.report.controls import control_sentences
from teamworld.report.noise_floor import beside_floor, twin_sentences
from teamworld.report.statistics import FLOOR, least
from teamworld.report.talk_effects import talk_sentences


def enough(family: int) -> int | None:
    """Return how many pairs it takes that one of so many differences can be supported: all with one sign.

    None where no number does: then there are too many differences for the draws of the test.
    """
    return next((pairs for pairs in range(1, 64) if family * least(pairs) < LEVEL), None)


def doubts(comparison: Comparison) -> Iterator[str]:
    """Yield what limits a comparison: copies, shared layouts, noise, talk without effect, and what cannot be supported.

    Nothing is said of noise where no method has a twin.
    """
    yield from _copies(comparison.independence)
    yield from twin_sentences(comparison.twins)
    yield from talk_sentences(comparison.talk_effects)
    yield from control_sentences(comparison.controls)
    *most_named, last = (name.replace("_", " ") for name in comparison.main)
    named = f"{', '.join(most_named)} and {last}" if most_named else last
    for what, is_main in ((named, True), ("the other metrics", False)):
        pairs = [pair for pair in comparison.paired if (pair.metric in comparison.main) == is_main]
        if not pairs:
            continue
        most, wanted = max(pair.n for pair in pairs), enough(len(pairs))
        if wanted is None:
            yield f"{len(pairs)} differences in {what} are too many to support any: name fewer --metrics"
        elif most < wanted:
            observed = f"{most} independent observation{'' if most == 1 else 's'}"
            yield (
                f"with {observed} {_none_of(len(pairs))} in {what} can be supported, whatever it is: take {wanted} or "
                "more, or fewer methods and --metrics"
            )


def _none_of(number: int) -> str:
    return "no difference" if number == 1 else f"none of the {number} differences"


def _copies(counts: Sequence[Independence]) -> Iterator[str]:
    """Yield which instances are no observations of their own."""
    by_counts: dict[tuple[int, int], list[str]] = {}
    for count in counts:
        if count.plays < count.instances:
            by_counts.setdefault((count.instances, count.plays), []).append(count.method)
    for (instances, plays), methods in by_counts.items():
        yield (
            f"copies count once: the {instances} seeds of {', '.join(methods)} are "
            f"{plays} play{'' if plays == 1 else 's'}, the rest differ in nothing but the seed"
        )
    fewest = min((count.layouts for count in counts if count.layouts < count.instances), default=0)
    if fewest == 1:
        yield (
            "all seeds play in one layout: what is supported holds for it alone; take a level that draws one for each "
            "seed to say more"
        )
    elif fewest:
        yield f"seeds share {fewest} layouts: those in one layout count as one observation"


def claims(comparison: Comparison, names: Sequence[str] | None = None) -> Iterator[str]:
    """Yield what may be said of the differences, one sentence each, with its numbers.

    Args:
        comparison: What was compared.
        names: Metrics of which differences that are not supported are told too; of all if None.
    """
    for pair in comparison.paired:
        if not (pair.supported or names is None or pair.metric in names):
            continue
        metric = metrics()[pair.metric]
        what = metric.title.lower() if metric.symbol is None else f"{metric.title.lower()} ({metric.symbol})"
        unit = f" {metric.unit}" if metric.unit else ""
        bounds = "no interval of one observation"
        if pair.low is not None and pair.high is not None:
            bounds = f"95 % interval of the difference {_number(pair.low)} to {_number(pair.high)}"
        corrected = f" corrected for {pair.family} comparisons" if pair.family > 1 else ""
        numbers = f"{bounds}, p {'<' if pair.p <= FLOOR else '='} {_number(pair.p_corrected)}{corrected}"
        numbers += f", {beside}" if (beside := beside_floor(pair)) else ""
        left = f", {pair.nulls} more without a value of one or both" if pair.nulls else ""
        left += (
            f", {pair.left_out} episode{'s'[: pair.left_out - 1]} left out that only one has" if pair.left_out else ""
        )
        over = f"over {pair.n} paired observation{'' if pair.n == 1 else 's'}{left}"
        if pair.supported:
            more = "higher" if pair.difference > 0 else "lower"
            by = f"{_number(abs(pair.difference))}{unit} {more} than of {pair.b}"
            yield f"{over} the {what} of {pair.a} is {by}, {numbers}"
        else:
            yield (
                f"not supported: a difference in {what} between {pair.a} and {pair.b} "
                f"({over} {_number(pair.difference)}{unit}, {numbers})"
            )


def _number(value: float) -> str:
    return f"{value:.3g}"
