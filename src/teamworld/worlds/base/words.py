"""Small words that all worlds put in texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

#: Kinds of work that a sum names in a region, the most frequent.
MOST_WORKS = 3
#: Things that are not many by an s.
_PLURALS = {"mouse": "mice"}


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 step``, ``2 steps``, ``2 mice``."""
    return f"{number} {noun}" if number == 1 else f"{number} {_PLURALS.get(noun, f'{noun}s')}"


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Return names as a list in words: ``a``, ``a and b``, ``a, b and c``; of more than ``most`` how many are left."""
    parts = list(names if most is None else names[:most])
    if len(parts) < len(names):
        parts.append(f"{len(names) - len(parts)} more")
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def summed_up(regions: Mapping[str, str], works: Mapping[str, str]) -> list[str]:
    """Return how many there are in each region, and how many of them do what: ``60 in the north (12 at block_3)``.

    Args:
        regions: In which region each of them is, in words; regions stand in the order in which they are met first.
        works: What some of them work at, in words; empty where it has no name.
    """
    by_region = Counter(regions.values())
    parts = []
    for region, number in by_region.items():
        busy = Counter(works[name] for name, where in regions.items() if where == region and works.get(name))
        most = sorted(busy.items(), key=lambda entry: (-entry[1], entry[0]))
        rest = sum(workers for _, workers in most[MOST_WORKS:])
        named = [f"{workers} at {work}" for work, workers in most[:MOST_WORKS]]
        named += [f"{rest} at other work"] if rest else []
        parts.append(f"{number} {region}{f' ({listed(named)})' if named else ''}")
    return parts
