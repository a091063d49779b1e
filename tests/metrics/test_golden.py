"""The golden example: every number of it, exact."""

from __future__ import annotations

from fractions import Fraction

import pytest

from teamworld.metrics.definition import metrics
from tests.metrics.golden import log
from tests.metrics.logs import measured

VALUES = measured(log())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("success", 1),
        ("completion", 1),
        ("joint_completion", 1),
        ("steps", 6),
        ("anytime_completion", Fraction(6, 10)),
        ("work_share", Fraction(4, 12)),
        ("move_share", Fraction(4, 12)),
        ("waiting_share", Fraction(3, 12)),
        ("blocked_share", Fraction(1, 12)),
        *((f"{name}_share", 0) for name in ("invalid", "talk", "idle")),
        ("invalid_action_rate", 0),
        ("joint_success", Fraction(1, 2)),
        ("attempt_coverage", 1),
        ("unmet_participation", 1),
        *((f"unmet_{name}", 0) for name in ("dependency", "capability", "spatial", "temporal", "none")),
        ("staffing_coherence", Fraction(3, 4)),
        ("plan_success", 1),
        ("contribution_gini", Fraction(1, 6)),
        ("messages", 1),
        ("message_tokens", 12),
        ("redundancy", Fraction(1, 2)),
        ("uptake", Fraction(1, 2)),
    ],
)
def test_a_number_of_the_golden_example(name: str, value: Fraction) -> None:
    assert VALUES[name].value == float(value)


@pytest.mark.parametrize(
    ("name", "num", "den"),
    [("joint_success", 1, 2), ("attempt_coverage", 1, 1), ("plan_success", 3, 3), ("staffing_coherence", 4.5, 6)],
)
def test_what_a_number_of_the_golden_example_is_made_of(name: str, num: float | None, den: float) -> None:
    assert VALUES[name][1:] == (num, den)


def test_every_metric_of_a_log_is_measured_and_defined() -> None:
    defined = [one.name for one in metrics().values() if one.basis == "log"]
    assert list(VALUES) == defined
