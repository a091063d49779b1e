"""Balance: how evenly agents share the work (metrics spec, D17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, localcontext
from math import fsum
from statistics import pstdev

from teamworld.metrics.definition import Value, only, share
from teamworld.metrics.episode import Episode
from teamworld.record import GoalChange


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure how evenly agents contribute; where nobody does, there is nothing to share."""
    given = contributions(episode)
    most = max(given, default=0.0)
    if most <= 0:
        nothing = share(0, 0)
        return {"D17.gini": nothing, "D17.minmax": nothing, "D17.utilisation": only(None, 0), "D17.entropy": nothing}
    return {
        "D17.gini": gini(given),
        "D17.minmax": share(min(given), most),
        "D17.utilisation": only(1.0 - pstdev([amount / most for amount in given]), len(given)),
        "D17.entropy": _entropy(given),
    }


def contributions(episode: Episode) -> list[float]:
    """Return each agent's contribution x_i: the weight of the progress that it took part in, shared equally.

    Progress that is undone counts against those who undo it; nobody is below 0.
    """
    parts: dict[str, list[float]] = {agent: [] for agent in episode.team}
    for change in episode.all(GoalChange):
        if change.event in ("progress", "done") and change.participants:
            part = float(episode.weights[episode.index[change.goal]]) * change.delta / len(change.participants)
            for agent in change.participants:
                parts[agent].append(part)
    return [max(0.0, fsum(some)) for some in parts.values()]


def gini(amounts: Sequence[float]) -> Value:
    """Return the Gini index of amounts from 0 on: 0 where all are equal, 1 - 1/N where one has everything."""
    number = len(amounts)
    # The sum over all ordered pairs: each amount less those below it, and those above it less it.
    differences = 2 * fsum((2 * at - number + 1) * amount for at, amount in enumerate(sorted(amounts)))
    return share(max(0.0, differences), 2 * number * fsum(amounts))


def _entropy(amounts: Sequence[float]) -> Value:
    """Return the entropy of shares, -Σ s ln s, over the most that it can be.

    In decimals: a logarithm of floats differs in its last digit from one processor to the next.
    """
    with localcontext(Context(prec=40)):
        some = [Decimal(amount) for amount in amounts if amount > 0]
        total = sum(some, Decimal(0))
        entropy = total.ln() - sum((amount * amount.ln() for amount in some), Decimal(0)) / total
        return share(max(0.0, float(entropy)), float(Decimal(len(amounts)).ln()))
