"""The noise floor of a comparison: how far a method and its twin differ, though nothing separates them but chance.

After Kaliyev and Maryanskyy (2026, arXiv 2606.20695): a difference of two methods says nothing as long as one method
played twice, with the same requests, differs as much from itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from teamworld.report.comparison import PairedDifference


class TwinDifference(NamedTuple):
    """A metric of a method minus that of its twin, and how large such differences are."""

    method: str
    metric: str
    difference: float
    floor: float | None
    """What 95 % of such differences stay below; None of one instance."""
    instances: int
    """That both have a value for: noise is drawn anew in each, whether or not they share a layout."""
    equal: int
    """Instances that both played in the same way, step by step."""
    met: int
    """Instances that both met."""


def beside_floor(pair: PairedDifference) -> str:
    """Return how a difference stands to its noise floor, in words; empty without a twin."""
    if pair.floor is None:
        return ""
    if pair.floor == 0.0:
        return "noise floor 0"
    if pair.within_floor or pair.times_floor is None:
        return f"within the noise floor of {pair.floor:.3g}"
    return f"{pair.times_floor:.2g} x the noise floor of {pair.floor:.3g}"


def twin_sentences(twins: Sequence[TwinDifference]) -> Iterator[str]:
    """Yield a sentence on each method that has a twin: whether chance changes anything in what it does."""
    for method, twin in {twin.method: twin for twin in reversed(twins)}.items():
        where = f"{twin.met} instance{'s'[: twin.met - 1]}"
        if twin.equal == twin.met:
            yield (
                f"the twin of {method} plays the same in {'all ' if twin.met > 1 else ''}{where}: nothing that it does "
                "here is left to chance, and its noise floor is 0"
            )
            continue
        yield (
            f"the twin of {method} plays otherwise in {twin.met - twin.equal} of {where}: 95 % of the differences that "
            "chance makes between a method and itself lie within the noise floor"
        )
        if any(other.floor is None for other in twins if other.method == method):
            yield f"the noise floor of {method} takes two instances or more: take more --seeds"
