"""Failure labels against episodes that were read and labelled by hand; the rules are tuned on all but the fresh."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.failure_labels import agreements

HOME = Path(__file__).parent / "labelled"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("half", "precision", "recall"), [("used", 0.95, 0.88), ("held_back", 0.93, 0.75), ("fresh", 0.95, 0.85)]
)
def test_labels_agree_with_readers_as_well_as_the_page_says(half: str, precision: float, recall: float) -> None:
    results = list(agreements(HOME / half, json.loads((HOME / f"{half}.json").read_text("utf-8"))))
    assert len(results) == 75
    right, wrong, found, missed = (
        sum(len(getattr(result, part)) for result in results) for part in ("right", "wrong", "found", "missed")
    )
    assert right / (right + wrong) > precision
    assert found / (found + missed) > recall
