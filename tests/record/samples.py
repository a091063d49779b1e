"""Events for tests."""

from __future__ import annotations

from typing import Any

from teamworld.record import EpisodeStart


def episode_start(**changes: Any) -> EpisodeStart:
    """Return the first record of an episode in a toy world."""
    fields: dict[str, Any] = {
        **{"schema": 2, "world": "toy", "level": "toy", "world_options": {}, "world_seed": 0, "seed": 0, "episode": 1},
        **{"team": ("a", "b", "c"), "kinds": {}, "goals": (), "measures": {}, "relations": (), "static": {}},
        **{"horizon": 100, "task": "", "method": "drwell", "method_options": {}, "reasoner": "rules"},
        **{"message_rule": {}, "topology": "complete", "log_level": "play"},
    }
    return EpisodeStart(**(fields | changes))
