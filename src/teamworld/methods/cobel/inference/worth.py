"""What to tell, and whether it pays (CoBel-World spec B3.5).

Numbers only; costs and gains are in the unit of the caller, in practice ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Message(NamedTuple, Generic[T]):
    """What is worth telling."""

    items: tuple[T, ...]
    gain: float
    """Of all items together."""
    price: float
    """Of all items together."""

    def pays(self, threshold: float, price: float = 0.0) -> bool:
        """Whether to send it: if the gain, less the items' price, exceeds the threshold and the price of sending."""
        return self.gain - self.price > threshold + price


def choose(
    items: Sequence[T],
    gain: Callable[[Sequence[T]], float],
    price: Callable[[T], float],
    room: float = inf,
) -> Message[T]:
    """Choose what to tell, one item after another, each time the one that gains most for its price.

    An item is only taken while what it adds exceeds its price. Gains need not add up: each is what the
    item adds to those already taken, so the second of two items that say the same is worth nothing.

    Args:
        items: What could be told, in an order that settles ties.
        gain: What telling some items gains, in the order in which they were taken.
        price: What telling an item costs, above 0 or 0.
        room: The most that all items may cost together.
    """
    taken: list[T] = []
    open_items = list(items)
    total, spent = 0.0, 0.0
    while open_items:
        prices = [price(item) for item in open_items]
        adds = [gain([*taken, item]) - total for item in open_items]
        pay = [n for n, cost in enumerate(prices) if adds[n] > cost and spent + cost <= room]
        if not pay:
            break
        best = max(pay, key=lambda n: (adds[n] / prices[n] if prices[n] > 0 else inf, adds[n], -n))
        taken.append(open_items.pop(best))
        total, spent = total + adds[best], spent + prices[best]
    return Message(tuple(taken), total, spent)
