"""Named sets of instances, and what coordination could save on each level; the tables are made by ``benchmarks``."""
