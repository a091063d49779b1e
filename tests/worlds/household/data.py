"""Where the recorded runs are, for tests that need them."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from teamworld.worlds.household.homes import official_episodes
from teamworld.worlds.household.homes.home import Episode

#: The data folder of the benchmark; it stands beside the repository, not in it, since its licence is another one.
FOLDER: Final = Path(
    os.environ.get("TEAMWORLD_CWAH") or Path(__file__).resolve().parents[3].parent / "shared" / "data" / "cwah"
)
needs_data = pytest.mark.skipif(
    not (FOLDER / "index.json").is_file(),
    reason=f"the C-WAH data is not at {FOLDER}; set TEAMWORLD_CWAH to its folder",
)


def traces(pattern: str) -> list[Path]:
    """Return the recorded runs whose file names fit, none where there is no data."""
    return sorted((FOLDER / "traces").glob(pattern))


@cache
def episodes() -> dict[int, Episode]:
    """Return the episodes by the number of their task in the original set."""
    listed = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))["episodes"]
    return {
        entry["task_id"]: episode for entry, episode in zip(listed, official_episodes.episodes(FOLDER), strict=True)
    }
