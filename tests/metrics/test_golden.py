"""The golden example: every number of it, exact."""

from __future__ import annotations

from teamworld.metrics.definition import logged_metrics
from tests.metrics.golden import log
from tests.metrics.logs import check, measured

EXPECTED = {
    **{"success": 1, "completion": 1, "steps": 6, "anytime_completion": 6 / 10},
    **{"work_share": 4 / 12, "waiting_share": 3 / 12, "idle_share": 0, "invalid_action_rate": 0},
    **{"joint_success": (1 / 2, 1, 2), "attempt_coverage": (1, 1, 1), "unmet_participation": 1},
    **{f"unmet_{name}": 0 for name in ("dependency", "capability", "spatial", "temporal")},
    **{"plan_success": (1, 3, 3), "contribution_gini": 1 / 6},
    **{"messages": 1, "message_tokens": 12, "redundancy": 1 / 2, "uptake": 1 / 2},
}


def test_the_numbers_of_the_golden_example() -> None:
    check(log(), EXPECTED)


def test_every_metric_of_a_log_is_measured_and_defined() -> None:
    assert list(measured(log())) == logged_metrics()
