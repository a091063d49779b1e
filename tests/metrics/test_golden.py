"""The golden example of the metrics specification, section 12: every number of it, exact."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from teamworld.metrics.definition import metrics
from teamworld.metrics.event_tables import gather
from teamworld.metrics.measure import measure
from tests.metrics.golden import log

VALUES = measure(gather(log()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("O1", 1),
        ("O2", 1),
        ("O5", 1),
        ("E1", 6),
        ("O4", Fraction(6, 10)),
        ("E6.work", Fraction(4, 12)),
        ("E6.move", Fraction(4, 12)),
        ("E6.sync", Fraction(3, 12)),
        ("E6.blocked", Fraction(1, 12)),
        *((f"E6.{name}", 0) for name in ("invalid", "talk", "think", "idle")),
        ("E8", 0),
        ("D1", Fraction(1, 2)),
        ("D5", 1),
        *((f"D2.{name}", Fraction(1, 4)) for name in ("participation", "spatial", "temporal")),
        ("D2.dependency", 0),
        ("D3.participation", 1),
        *((f"D3.{name}", 0) for name in ("dependency", "capability", "spatial", "temporal", "none")),
        ("D6", 5),
        ("D8", 4),
        ("D11", Fraction(3, 4)),
        ("D15.success", 1),
        ("D17.gini", Fraction(1, 6)),
        ("D17.minmax", Fraction(1, 2)),
        ("D17.utilisation", Fraction(3, 4)),
        ("M1", 1),
        ("M2", 12),
        ("M4", Fraction(1, 2)),
        ("M5", Fraction(1, 2)),
        ("M7", Fraction(1, 2)),
    ],
)
def test_a_number_of_the_golden_example(name: str, value: Fraction) -> None:
    assert VALUES[name].value == float(value)


def test_numbers_of_the_golden_example_that_are_no_fractions() -> None:
    assert VALUES["D17.entropy"].value == pytest.approx(math.log2(3) - 2 / 3)  # of shares 1/3 and 2/3: 0.918
    assert round(VALUES["D17.entropy"].value or 0, 3) == 0.918
    assert round(VALUES["D17.gini"].value or 0, 4) == 0.1667


@pytest.mark.parametrize(
    ("name", "num", "den"),
    [("D1", 1, 2), ("D5", 1, 1), ("D15.success", 3, 3), ("D11", 4.5, 6), ("D6", None, 1), ("D8", None, 1)],
)
def test_what_a_number_of_the_golden_example_is_made_of(name: str, num: float | None, den: float) -> None:
    assert VALUES[name][1:] == (num, den)


def test_every_metric_of_a_log_is_measured_and_defined() -> None:
    defined = [one.id for one in metrics().values() if one.basis == "log"]
    assert list(VALUES) == defined
