"""The verdicts on what a reproduction should show: one record for the claims of every paper."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, TypeVar

from teamworld.report.statistics import Paired, paired

_Key = TypeVar("_Key", bound=Hashable)


class Check(NamedTuple):
    """The verdict on one claim, on one level and method where the claim is about each of them."""

    number: str
    claim: str
    numbers: str
    verdict: str
    level: str | None = None
    method: str | None = None

    @property
    def line(self) -> str:
        """The check as a line for a terminal."""
        subject = ", ".join(filter(None, (self.level, self.method)))
        return f"{self.number}  {subject}{': ' * bool(subject)}{self.claim}: {self.verdict} ({self.numbers})"

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data, without level and method where it has no level."""
        place = {} if self.level is None else {"method": self.method, "level": self.level}
        return {
            "number": self.number,
            "claim": self.claim,
            **place,
            "found": self.numbers,
            "verdict": self.verdict,
        }


def paired_difference(
    values: Mapping[_Key, float], others: Mapping[_Key, float], strata: Mapping[_Key, str] | None = None
) -> Paired | None:
    """Return the mean of value minus other value over the episodes that both have; None where there is none.

    Args:
        values: By episode.
        others: What is subtracted, by episode.
        strata: Which episodes belong together; None: all.
    """
    keys = [key for key in values if key in others]
    first, second = ([(side[key], 1.0) for key in keys] for side in (values, others))
    return paired(first, second, None if strata is None else [strata[key] for key in keys])
