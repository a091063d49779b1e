"""The posterior over a teammate's options: a Boltzmann prior, updated by its acts and by its word.

Hypotheses are whatever the caller can name an option by; tables keep the order of the prior. A table is a value:
each function returns the next one. See docs/methods/cobel.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import exp, fsum, inf
from typing import TypeVar

H = TypeVar("H", bound=Hashable)


def prior(utilities: Mapping[H, float], tau: float) -> dict[H, float]:
    """Return how likely each option is to be chosen: P(h) in proportion to exp(U(h) / tau).

    Args:
        utilities: Value less cost of each option, under the mate's beliefs; ``-inf`` where it cannot be done.
        tau: Above 0; the utility that makes an option e times as likely.

    Returns:
        Probabilities that add up to 1; empty where nothing can be done.
    """
    best = max(utilities.values(), default=-inf)
    if best == -inf:
        return {}
    return _normal({one: exp((utility - best) / tau) for one, utility in utilities.items()}, {})


def after_step(intents: Mapping[H, float], regrets: Mapping[H, float], beta: float) -> dict[H, float]:
    """Return the posterior once the mate was seen to act: P(h) times exp(-beta * regret).

    Args:
        intents: The table before.
        regrets: For each intent, cost-to-go after the act less the best cost-to-go: what the act loses if that were
            the intent. An intent that is not named loses nothing; ``inf`` rules one out.
        beta: Weight of a lost tick, at least 0.
    """
    losses = {one: max(0.0, regrets.get(one, 0.0)) for one in intents}
    least = min((loss for one, loss in losses.items() if intents[one] > 0), default=0.0)
    if least == inf or beta == 0:  # nothing explains the act, or nothing is to be read from it
        return dict(intents)
    return _normal(
        {one: chance * exp(-beta * max(0.0, losses[one] - least)) for one, chance in intents.items()}, intents
    )


def after_word(intents: Mapping[H, float], announced: H, trust: float) -> dict[H, float]:
    """Return the posterior once the mate has announced a plan, which it carries out with the chance ``trust``.

    Otherwise it does any of the others alike. A plan that nobody had thought of gets the chance ``trust``.
    """
    if announced not in intents:
        return {one: chance * (1 - trust) for one, chance in intents.items()} | {announced: trust if intents else 1.0}
    if len(intents) == 1:
        return dict(intents)
    wrong = (1 - trust) / (len(intents) - 1)
    return _normal({one: chance * (trust if one == announced else wrong) for one, chance in intents.items()}, intents)


def likeliest(intents: Mapping[H, float], most: int) -> tuple[tuple[H, float], ...]:
    """Return the likeliest intents, likeliest first and in the table's order where equal."""
    return tuple(sorted(intents.items(), key=lambda entry: -entry[1])[:most])


def _normal(weights: dict[H, float], otherwise: Mapping[H, float]) -> dict[H, float]:
    """Return weights that add up to 1, or the other table where all are 0."""
    total = fsum(weights.values())
    return {one: weight / total for one, weight in weights.items()} if total > 0 else dict(otherwise)
