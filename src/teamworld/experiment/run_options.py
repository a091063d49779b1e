"""How a run is carried out: one definition for the command line and Python. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teamworld.errors import UserError

_RANGES = {
    "processes": (1, 1_000),
    "calls": (1, 10_000),
    "jobs": (1, 10_000),
    "timeout": (1, 86_400),
    "patience": (0, 604_800),
    "tolerate": (0, 1),
}


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is carried out; nothing here changes what comes out of it.

    Args:
        key_env: Name of the environment variable that holds the key (never the key itself).
        budget: Most that calls of language models may cost, such as 5usd, 2Mtok or 5usd,2Mtok. The run stops there,
            and the same command with a larger one goes on.
        episode_budget: Most that the calls of one episode may cost, in the same form.
        cache: File with answers of earlier runs: the same request at the same place is not paid again.
        prices: YAML file with prices of models; they win over the published ones.
        processes: Processes that run methods and seeds side by side, where nobody is asked; left out: as many as there
            are processors where the run is long enough, else one.
        calls: Calls in flight at most, for each model.
        jobs: Episodes at the same time, where language models answer.
        timeout: Seconds to wait for one answer.
        patience: Seconds to wait for a server that answers no more, before the run stops.
        tolerate: Share of the episodes that may end in an error, because no try of a call got through, before the run
            stops. They have no score, and comparisons leave them out.
        repeat_errors: Play the episodes again that ended in an error.
        accept_changes: Go on with a run though the code that plays it has changed since it began; the run says so.

    Raises:
        UserError: A number is out of its range.
    """

    key_env: str | None = None
    budget: str | None = None
    episode_budget: str | None = None
    cache: Path | None = None
    prices: Path | None = None
    processes: int | None = None
    calls: int = 128
    jobs: int = 64
    timeout: float = 180.0
    patience: float = 300.0
    tolerate: float = 0.1
    repeat_errors: bool = False
    accept_changes: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if value is None:
                continue
            if not least <= value <= most:
                raise UserError(f"--{name} is a number from {least:,} to {most:,}, got {value:g}")
