"""RHP, the rule-based planner of TDW-MAT."""
