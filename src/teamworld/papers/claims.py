"""The verdicts on what a reproduction should show: one record for the claims of every paper."""

from __future__ import annotations

from typing import Any, NamedTuple


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
