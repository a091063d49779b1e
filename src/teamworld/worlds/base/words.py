"""Small words that all worlds put in texts."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 step``, ``2 steps``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Return names as a list in words: ``a``, ``a and b``, ``a, b and c``; of more than ``most`` how many are left."""
    parts = list(names if most is None else names[:most])
    if len(parts) < len(names):
        parts.append(f"{len(names) - len(parts)} more")
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
