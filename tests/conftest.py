"""Settings that every test shares."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every run and machine; a slow machine is no failure.
settings.register_profile("deterministic", max_examples=50, derandomize=True, deadline=None, database=None)
settings.load_profile("deterministic")
