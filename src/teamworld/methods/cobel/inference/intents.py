"""What a team-mate is up to: a posterior over its options (CoBel-World spec B3.4).

Hypotheses are whatever the caller can name an option by; tables keep the order of the prior. A table is a value:
each function returns the next one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, inf
from typing import Generic, NamedTuple, TypeVar

H = TypeVar("H", bound=Hashable)
#: Intents that are reported of each mate.
TOP = 3
#: Joint profiles that are looked at.
PROFILES = 64


@dataclass(frozen=True, slots=True)
class Manner:
    """How predictable a mate is, with what it did against what was predicted of it.

    A mate that does what was given little chance surprises. If that happens more often than the predictions
    themselves allow for, its steps (``beta``) tell less of its intent; if it does not what it announced, its
    announcements (``trust``) do.
    """

    steps: float = 1.0
    """Weight of a lost tick in a step, for a mate as predictable as expected."""
    word: float = 0.9
    """Chance that an announced plan is carried out, before any was seen."""
    strength: float = 4.0
    """Observations that the two numbers above are worth."""
    found: float = 0.0
    """Sum of the chances that had been given to what the mate then did."""
    expected: float = 0.0
    """What that sum would be if the predictions were right."""
    kept: int = 0
    """Announced plans that were carried out."""
    broken: int = 0

    @property
    def beta(self) -> float:
        """Weight of a lost tick now: never above ``steps``."""
        return self.steps * min(1.0, (self.strength + self.found) / (self.strength + self.expected))

    @property
    def trust(self) -> float:
        """Chance that an announced plan is carried out."""
        return (self.strength * self.word + self.kept) / (self.strength + self.kept + self.broken)

    def after(self, predicted: Mapping[H, float], done: H) -> Manner:
        """Compare a prediction with what the mate did.

        Predictions that are right give, on average, the sum of their squared chances to what happens.
        """
        hoped = fsum(chance * chance for chance in predicted.values())
        return replace(self, found=self.found + predicted.get(done, 0.0), expected=self.expected + hoped)

    def promised(self, kept: bool) -> Manner:
        """Compare an announced plan with what the mate did."""
        return replace(self, kept=self.kept + kept, broken=self.broken + (not kept))


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


def later(intents: Mapping[H, float], fresh: Mapping[H, float], change: float) -> dict[H, float]:
    """Return the table a step later: the mate stays with its intent, or draws anew.

    Args:
        intents: The table before.
        fresh: The prior now, whose options may be others than before: an intent that is no option any more, because
            it is done or cannot be done, is drawn anew.
        change: Chance that the mate changes its mind without a cause; 1 once it was seen to be done with its plan.
    """
    stays = {one: (1 - change) * intents.get(one, 0.0) for one in fresh}
    redrawn = max(0.0, 1 - fsum(stays.values()))
    return _normal({one: stays[one] + redrawn * chance for one, chance in fresh.items()}, fresh)


class Ranked(NamedTuple, Generic[H]):
    """The likeliest intents, and what is left."""

    best: tuple[tuple[H, float], ...]
    rest: float


def ranked(intents: Mapping[H, float], top: int = TOP) -> Ranked[H]:
    """Return the likeliest intents, likeliest first and in the table's order where equal, and the remaining chance."""
    order = sorted(intents.items(), key=lambda one: -one[1])
    return Ranked(tuple(order[:top]), fsum(chance for _, chance in order[top:]))


def profiles(
    mates: Sequence[Mapping[H, float]], top: int = TOP, most: int = PROFILES
) -> list[tuple[tuple[H, ...], float]]:
    """Return the likeliest joint intents of several mates with their probabilities, likeliest first.

    Mates are independent, and each has its ``top`` likeliest intents. The cut to ``most`` after each mate loses none
    of the likeliest: what extends one of them extends a likeliest one.
    """
    joint: list[tuple[tuple[H, ...], float]] = [((), 1.0)]
    for intents in mates:
        longer = [((*some, one), p * chance) for some, p in joint for one, chance in ranked(intents, top).best]
        joint = sorted(longer, key=lambda profile: -profile[1])[:most]
    return joint


def _normal(weights: dict[H, float], otherwise: Mapping[H, float]) -> dict[H, float]:
    """Return weights that add up to 1, or the other table where all are 0."""
    total = fsum(weights.values())
    return {one: weight / total for one, weight in weights.items()} if total > 0 else dict(otherwise)
