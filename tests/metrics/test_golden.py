"""The golden example of the metrics specification, section 12: every number of it, exact."""

from __future__ import annotations

from fractions import Fraction

import pytest

from teamworld.metrics.definition import metrics
from teamworld.metrics.episode import gather
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
    ],
)
def test_a_number_of_the_golden_example(name: str, value: Fraction) -> None:
    assert VALUES[name].value == float(value)


def test_every_metric_of_a_log_is_measured_and_defined() -> None:
    defined = [one.id for one in metrics().values() if one.basis == "log"]
    assert list(VALUES) == defined
