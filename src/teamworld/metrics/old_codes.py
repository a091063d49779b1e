"""The letter codes that metrics once had: read in old files, and accepted where a user names metrics."""

from __future__ import annotations

from typing import Final

#: Code and name. Codes of metrics that are gone have no line.
_TABLE = """
O1 success, O2 completion, O4 anytime_completion, O5 joint_completion, O6 loss, O7.raw world_score,
O7 normalised_score, O8 reliability, O9 premature_end, O10 missed_end, E1 steps, E1.solved steps_solved,
E2.T step_improvement, E2.C completion_improvement, E3.speed speedup, E3.efficiency parallel_efficiency,
E4 plan_length_optimality, E5 work_share, E6.invalid invalid_share, E6.blocked blocked_share, E6.talk talk_share,
E6.sync waiting_share, E6.move move_share, E6.idle idle_share, E8 invalid_action_rate, E10 duplicate_work,
E13 trajectory_efficiency, E6.work work_share, E7 idle_share, M1 messages, M2 message_tokens,
M2b message_generation_tokens, M5 redundancy, M6 repetition, M7 uptake, M8 falsehood, M9 request_fulfilment,
M10 withheld_information, M14.C talk_value_completion, M14.T talk_value_steps, M15 talk_return, D1 joint_success,
D3.dependency unmet_dependency, D3.capability unmet_capability, D3.participation unmet_participation,
D3.spatial unmet_spatial, D3.temporal unmet_temporal, D3.none unmet_none, D5 attempt_coverage,
D10 assignment_conflict, D11 staffing_coherence, D12 spatial_conflict, D13.deadlock deadlock,
D13.oscillation oscillation, D13.positions position_oscillation, D13.plans plan_oscillation, D14 plan_validity,
D15.success plan_success, D16 replanning, D17.gini contribution_gini, D19 commitment_reliability,
D19.dropped commitments_dropped, D22.precision warning_precision, D22.recall warning_recall, D22.f1 warning_f1,
D22.success repair_success, D22.tokens repair_tokens, D22.steps repair_steps, D23 scaling_tax, D7 waiting_share,
B1 belief_f1, B1.precision belief_precision, B1.recall belief_recall, B2 belief_staleness,
B2.share stale_beliefs, B3 misled_failures, B4 belief_brier, B4.ece belief_calibration, B5 first_order_accuracy,
B6 intent_accuracy, B6.set intent_in_set, B7 belief_convergence, B8 receiver_sensitivity,
B8.lacking sent_to_lacking, B8.having sent_to_holding, B9.precision conflict_precision,
B9.recall conflict_recall, B11.C learning_completion, B11.T learning_steps, B11.tokens learning_tokens,
B11.joint learning_joint_success, B11.gain.C learning_gain_completion, B11.gain.T learning_gain_steps,
B11.area.C learning_over_frozen_completion, B11.area.T learning_over_frozen_steps, B12.reuse plan_reuse,
B12.lift reuse_lift, B13.rate memory_rate_error, B13.T memory_duration_error, B14.C transfer_completion,
B14.T transfer_steps, K1 calls, K2 tokens, K2.prompt prompt_tokens, K2.cached cached_tokens,
K2.output output_tokens, K2.reasoning reasoning_tokens, K3 cost_usd, K5.p50 latency_p50, K5.p95 latency_p95,
K8 unusable_answers, K10.cost frontier_cost, K10.T frontier_steps
"""

#: By code, the name of the metric.
CODES: Final = dict(pair.split() for pair in _TABLE.replace("\n", " ").split(",") if pair.strip())


def name_of(word: str) -> str:
    """Return the name of the metric that a word stands for: a code's name, any other word as it is."""
    return CODES.get(word, word)
