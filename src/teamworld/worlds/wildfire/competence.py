"""Behavioural Competency Scores: which levels show which competency, and what a score is worth (wildfire spec A14).

Here are the values of single seeds. A competency's score is their mean over all seeds of all its levels; give it with
the number of seeds, the sample standard deviation and an interval (B38).

The names of the seven competencies are those that readers of the paper report; the defining text was not to be had. The
levels are those of the 2026 scripts, which know no objective prioritisation: its score here is of the full game alone,
the only level where goals compete, and is provisional (B36).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Competency: TypeAlias = Literal["TD", "AC", "SR", "OS", "RC", "PA", "OP"]

COMPETENCIES: Mapping[Competency, str] = {
    "TD": "task designation",
    "AC": "agent capitalization",
    "SR": "spatial reasoning",
    "OS": "observation sharing",
    "RC": "realtime coordination",
    "PA": "plan adaptation",
    "OP": "objective prioritization",
}
#: Not in the published scripts (B36).
PROVISIONAL: frozenset[Competency] = frozenset({"OP"})

_SHOWS: Mapping[str, tuple[Competency, ...]] = {
    "cut_trees_sparse": ("TD",),
    "cut_trees_lines": ("TD", "AC"),
    "scout_fire": ("TD", "SR", "OS"),
    "transport_firefighters": ("AC", "SR", "RC"),
    "rescue_civilians_known_location": ("TD", "SR", "PA"),
    "suppress_fire_contain": ("TD", "SR", "PA", "AC"),
    "suppress_fire_extinguish": ("TD", "SR", "PA"),
    "rescue_civilians_search_and_rescue": ("TD", "SR", "PA", "OS"),
    "suppress_fire_locate_and_suppress": ("TD", "SR", "PA", "AC", "OS"),
    "suppress_fire_locate_deploy_suppress": ("TD", "AC", "SR", "OS", "RC", "PA"),
    "rescue_civilians_search_rescue_transport": ("TD", "AC", "SR", "OS", "RC", "PA"),
    "full_game": ("TD", "AC", "SR", "OS", "RC", "PA", "OP"),
}


def shown_by(level: str) -> tuple[Competency, ...]:
    """Return the competencies that a level shows; none for levels outside the 17 presets.

    Args:
        level: Name of a level, with or without its edition.
    """
    name = level.partition("@")[0]
    return _SHOWS.get(name) or _SHOWS.get(name.removesuffix("_small").removesuffix("_large"), ())


class Worth(NamedTuple):
    """What the score of one seed is worth."""

    n: float
    """0 for doing nothing, 1 for the best possible score."""
    no_room: bool
    """Doing nothing was already the best possible score: n is 0 then, and says nothing (B37)."""


def worth(score: float, idle: float, best: float) -> Worth:
    """Return n of one seed: a score between that of doing nothing and the best possible one, clamped to 0 to 1.

    With r = (score - idle) / (best - idle), n = r; where the best score is 0, as on levels where a fire is fought,
    n = log2(1 + r).

    Args:
        score: Final score.
        idle: Final score of doing nothing on the same seed.
        best: Best possible score, ``tasks.best``.

    Raises:
        ValueError: If a value is not finite, or doing nothing beats the best possible score.
    """
    if not all(math.isfinite(value) for value in (score, idle, best)) or idle > best:
        raise ValueError(f"expected finite scores with idle up to best, got score {score}, idle {idle}, best {best}")
    if best == idle:
        return Worth(0.0, True)
    share = min(1.0, max(0.0, (score - idle) / (best - idle)))
    return Worth(math.log2(1.0 + share) if best == 0 else share, False)


class Seed(NamedTuple):
    """One episode of a method, beside doing nothing on the same seed."""

    level: str
    seed: int
    score: float
    idle: float | None
    """Final score of doing nothing; None if there is no such run."""
    best: float


def values(seeds: Iterable[Seed]) -> dict[Competency, list[Worth]]:
    """Return the values that each competency's score is the mean of, in the order given.

    Seeds without a run of doing nothing are left out, as in the published scripts. A competency that no seed shows has
    an empty list: it has no score, not one of 0.
    """
    found: dict[Competency, list[Worth]] = {name: [] for name in COMPETENCIES}
    for seed in seeds:
        if seed.idle is not None:
            value = worth(seed.score, seed.idle, seed.best)
            for name in shown_by(seed.level):
                found[name].append(value)
    return found
