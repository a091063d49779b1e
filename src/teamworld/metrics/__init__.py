"""Measures of an episode: pure functions over its log."""
