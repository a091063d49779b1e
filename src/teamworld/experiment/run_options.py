"""How a run is carried out: one definition for the command line and Python. Light to import."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError

_RANGES = {
    "processes": (1, 1_000),
    "calls": (1, 10_000),
    "jobs": (1, 10_000),
    "timeout": (1, 86_400),
    "patience": (0, 604_800),
    "tolerate": (0, 1),
}

#: Engines.
LOCAL, RAY = "local", "ray"
#: Schedules.
LOCK_STEP, CAUSAL = "lock-step", "causal"
_MOST_SHARDS = 100_000


class Shard(NamedTuple):
    """One of the parts that an experiment is run in."""

    number: int
    """From 1 to ``total``."""
    total: int

    def __str__(self) -> str:
        """Return it as the option takes it."""
        return f"{self.number}/{self.total}"


def parse_shard(text: str) -> Shard:
    """Return the shard of a text such as 3/16; raises ``UserError``."""
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text, re.ASCII)
    shard = Shard(*map(int, match.groups())) if match else Shard(0, 0)
    if not 1 <= shard.number <= shard.total <= _MOST_SHARDS:
        raise UserError(
            f"--shard takes I/N, the I-th of N parts with I from 1 to N, such as 3/16, and at most {_MOST_SHARDS:,} "
            f"parts; got '{text[:50]}'"
        )
    return shard


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is carried out; nothing here changes what comes out of it.

    Args:
        key_env: Name of the environment variable that holds the key (never the key itself).
        budget: Most that calls of language models may cost, such as 5usd, 2Mtok or 5usd,2Mtok. The run stops there,
            and the same command with a larger one goes on.
        episode_budget: Most that the calls of one episode may cost, in the same form.
        cache: File with answers of earlier runs, or a PostgreSQL server with those of several machines
            (postgresql://USER@HOST/DATABASE, extra: postgres): the same request at the same place is not paid again.
        prices: YAML file with prices of models; they win over the published ones.
        processes: Processes that run methods and seeds side by side, where no model or person answers; left out: one
            for each processor if the run is long enough, else one.
        calls: Calls in flight at most, for each model.
        jobs: Episodes at the same time, where language models answer.
        timeout: Seconds to wait for one answer.
        patience: Seconds to wait for a server that no longer answers, before the run stops.
        tolerate: Share of the episodes that may end in an error, because no try of a call got through, before the run
            stops. They have no score, and comparisons leave them out.
        repeat_errors: Play again the episodes that ended in an error.
        shard: Run one part of the episodes, as I/N: 3/16 is the third of 16. Each shard has a folder of its own;
            teamworld merge joins them. A budget is that of the shard.
        engine: What plays the episodes: local, this machine; ray, a Ray cluster on this machine or the one that
            RAY_ADDRESS names; ray:ADDRESS, the one there, such as ray:auto or ray:10.0.0.5:6379 (extra: ray).
        schedule: Whom an agent waits for: lock-step, everybody's answer at each step; causal, only agents near enough
            to matter for its next step. The logs are the same. Causal is for methods whose agents decide alone (react,
            zero_shot) and for worlds that say how near that is (wildfire: levels of cutting trees, with
            --set wildfire.shared_map=false).
        accept_changes: Go on with a run though the code that plays it has changed since it began; the run says so.

    Raises:
        UserError: A number is out of its range.
    """

    key_env: str | None = None
    budget: str | None = None
    episode_budget: str | None = None
    cache: str | Path | None = None
    prices: Path | None = None
    processes: int | None = None
    calls: int = 128
    jobs: int = 64
    timeout: float = 180.0
    patience: float = 300.0
    tolerate: float = 0.1
    repeat_errors: bool = False
    shard: str | None = None
    engine: str = LOCAL
    schedule: str = LOCK_STEP
    accept_changes: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if value is None:
                continue
            if not least <= value <= most:
                raise UserError(f"--{name} is a number from {least:,} to {most:,}, got {value:g}")
        _ = self.part
        if self.engine != LOCAL and self.engine.partition(":")[0] != RAY:
            raise UserError(f"--engine is local, ray or ray:ADDRESS, got '{self.engine[:50]}'")
        if self.schedule not in (LOCK_STEP, CAUSAL):
            raise UserError(f"--schedule is {LOCK_STEP} or {CAUSAL}, got '{self.schedule[:50]}'")
        if self.schedule == CAUSAL and self.engine != LOCAL:
            raise UserError("--schedule causal is for the local engine: leave out --engine")

    @property
    def ray_address(self) -> str | None:
        """Where the Ray cluster is; None where that is not said."""
        return self.engine.partition(":")[2] or None

    @property
    def part(self) -> Shard | None:
        """The part of the episodes that is run; None: all."""
        return None if self.shard is None else parse_shard(self.shard)

    def refuse_shard(self) -> None:
        """Raise ``UserError`` where a shard is asked for of what is played in one piece."""
        if self.shard is not None:
            raise UserError("--shard divides runs of many episodes; this command plays in one piece: leave it out")
