"""A planted sum of floats is found; sums of whole numbers and of what stands in words are not."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLANTED = '''"""Words: sum(0.1)."""

from dataclasses import dataclass


@dataclass
class Thing:
    weight: float
    size: int


def of(things: list[Thing], shares: dict[str, float]) -> tuple[object, ...]:
    whole = sum(thing.size for thing in things)
    count = sum(thing.weight > 0 for thing in things)
    part = sum(thing.weight for thing in things)
    both = (
        "ü", sum(shares.values()), sum(
            float(sum([thing.size])) for thing in things
        ),
    )
    return whole, count, part, both
'''


def test_a_planted_sum_of_floats_is_found(tmp_path: Path) -> None:
    float_sums: Callable[[Path], list[str]] = runpy.run_path(str(ROOT / "scripts" / "check_sums.py"))["float_sums"]
    (tmp_path / "planted.py").write_text(PLANTED, "utf-8")
    assert float_sums(tmp_path) == [f"{tmp_path}/planted.py:{line}" for line in (15, 17)]
