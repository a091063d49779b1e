"""What an episode's results are told in first: the measures that its world declares for its level."""

from __future__ import annotations

from collections.abc import Sequence

from teamworld.record import EpisodeStart, HeadlineInfo
from teamworld.worlds.contract import GOALS_AND_STEPS

_USUAL = tuple(HeadlineInfo(**measure._asdict()) for measure in GOALS_AND_STEPS)


def of_episode(start: EpisodeStart) -> Sequence[HeadlineInfo]:
    """Return the headline of an episode's level."""
    return start.headline or _USUAL


def has_success(start: EpisodeStart) -> bool:
    """Return whether doing all goals was what the level asked."""
    return any(measure.metric == "completion" for measure in of_episode(start))
