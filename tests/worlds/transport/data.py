"""Where the published episodes are, for tests that need them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from teamworld.worlds.transport import official
from teamworld.worlds.transport.scene import Instance

#: The data folder of the benchmark; it stands beside the repository, not in it.
FOLDER: Final = Path(
    os.environ.get("TEAMWORLD_TDWMAT") or Path(__file__).resolve().parents[3].parent / "shared" / "data" / "tdwmat"
)
needs_data = pytest.mark.skipif(
    not (FOLDER / "episodes.json").is_file(),
    reason=f"the TDW-MAT data is not at {FOLDER}; set TEAMWORLD_TDWMAT to its folder",
)


@cache
def instances() -> tuple[Instance, ...]:
    """Return all published episodes: 24 of the test set, then 24 of the training set."""
    splits: tuple[official.Split, ...] = ("test", "train")
    return tuple(
        official.read_instance(FOLDER, split, number) for split in splits for number in range(official.EPISODES)
    )
