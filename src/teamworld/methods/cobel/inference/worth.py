"""What talking is worth: risk of a plan, gain of telling, choice of what to tell (CoBel-World spec B3.5).

Numbers only; costs and gains are in the unit of the caller, in practice ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import fsum, inf
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
#: Costs closer than this, relative to the greater, are equal: a mate may choose either.
TIE = 1e-9


def expected(chances: Mapping[K, float], costs: Mapping[K, float]) -> float:
    """Return the expected cost; what has no cost costs nothing."""
    return fsum(chance * costs[one] for one, chance in chances.items() if chance > 0 and one in costs)


def risk(intents: Sequence[Mapping[K, float]], clashes: Sequence[Mapping[K, float]]) -> float:
    """Return what a plan is expected to lose by clashes with team-mates.

    Args:
        intents: Each mate's intents with probabilities.
        clashes: For each mate, the loss if the plan meets that intent.
    """
    return fsum(expected(one, cost) for one, cost in zip(intents, clashes, strict=True))


def cost_of_choice(believed: Sequence[float], judged: Sequence[float]) -> float:
    """Return what it costs that somebody takes the option that seems best to it.

    Args:
        believed: Expected cost of each option under its beliefs, by which it chooses.
        judged: Expected cost of each option under mine.

    Returns:
        The judged cost of its best option; the mean where several are equally good to it.
    """
    least = min(believed)
    margin = TIE * max(1.0, abs(least))
    best = [cost for seems, cost in zip(believed, judged, strict=True) if seems == least or seems <= least + margin]
    return fsum(best) / len(best)


def gain_of_telling(before: Sequence[float], after: Sequence[float], judged: Sequence[float]) -> float:
    """Return what is saved if a mate is told something: its option before, and after, judged with what I believe.

    Args:
        before: Expected cost of each of its options under its beliefs as they are.
        after: The same under its beliefs once it is told.
        judged: The same under mine.
    """
    return cost_of_choice(before, judged) - cost_of_choice(after, judged)


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
