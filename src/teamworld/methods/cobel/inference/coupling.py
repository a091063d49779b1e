"""Hard constraints between variables: joint values that keep them, and marginals where these are too many to list."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum, inf
from typing import Generic, TypeAlias, TypeVar

V = TypeVar("V", bound=Hashable)
#: For each variable, for each of its values: whether a limit counts it.
Counted: TypeAlias = Sequence[Sequence[bool]]

#: Joint values that are listed at most; an update of so many takes about a millisecond.
JOINT = 4096
#: Rounds of message passing between limits. One limit needs one round and is then exact.
ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Limit(Generic[V]):
    """How many variables may have one of some values: a capacity, exactly two of a kind, not both at one place."""

    values: frozenset[V]
    most: float = inf
    least: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most:
            raise ValueError(f"a limit holds from 0 to least to most, not least={self.least}, most={self.most}")

    def counted(self, domains: Sequence[Sequence[V]]) -> list[list[bool]]:
        """Return for each variable which of its values count."""
        return [[value in self.values for value in domain] for domain in domains]


def joint_values(domains: Sequence[Sequence[V]], limits: Sequence[Limit[V]]) -> list[tuple[int, ...]] | None:
    """Return all joint values that keep the limits, as positions in the domains, in order.

    None where there are more than ``JOINT`` on the way.
    """
    counted = [limit.counted(domains) for limit in limits]
    grown: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), (0,) * len(limits))]
    for k, domain in enumerate(domains):
        longer = []
        for state, counts in grown:
            for at in range(len(domain)):
                sums = tuple(count + one[k][at] for count, one in zip(counts, counted, strict=True))
                if all(count <= limit.most for count, limit in zip(sums, limits, strict=True)):
                    longer.append(((*state, at), sums))
            if len(longer) > JOINT:
                return None
        grown = longer
    return [
        state
        for state, counts in grown
        if all(count >= limit.least for count, limit in zip(counts, limits, strict=True))
    ]


def marginals(
    own: Sequence[Sequence[float]], domains: Sequence[Sequence[V]], limits: Sequence[Limit[V]]
) -> list[list[float]]:
    """Return each variable's weights given that the limits hold, as if the variables were independent otherwise.

    Belief propagation: each limit tells each variable how likely it can be kept if the variable is counted, and
    if it is not, given what the others believe. Exact for one limit; with several it neglects that they depend on
    one another. Where no value is left, a variable keeps its own weights.

    Args:
        own: Each variable's weights without the limits, in the order of its domain.
        domains: Each variable's values.
        limits: What holds between them.
    """
    counted = [limit.counted(domains) for limit in limits]
    # What limit l tells variable k: the chance that it can be kept if k is not counted, and if it is.
    told = [[(1.0, 1.0)] * len(own) for _ in limits]

    def weights(k: int, without: int | None = None) -> list[float]:
        product = list(own[k])
        for number, (one, tells) in enumerate(zip(counted, told, strict=True)):
            if number != without:
                product = [weight * tells[k][inside] for weight, inside in zip(product, one[k], strict=True)]
        total = fsum(product)
        if not total > 0:
            product, total = list(own[k]), fsum(own[k])
        return [weight / total for weight in product]

    for _ in range(ROUNDS if len(limits) > 1 else 1):
        for number, limit in enumerate(limits):
            chances = [
                min(1.0, fsum(w for w, inside in zip(weights(k, number), counted[number][k], strict=True) if inside))
                for k in range(len(own))
            ]
            told[number] = _kept(chances, limit.least, limit.most)
    return [weights(k) for k in range(len(own))]


def _kept(chances: Sequence[float], least: int, most: float) -> list[tuple[float, float]]:
    """Return for each variable how likely a limit is kept if it is not counted, and if it is.

    Args:
        chances: How likely each variable is counted, independent of the others.
        least: Counted variables at least.
        most: Counted variables at most.
    """
    size = len(chances)
    after = [[float(least <= count <= most) for count in range(size + 2)]]
    for chance in reversed(chances):
        last = after[-1]
        after.append([chance * last[c + 1] + (1 - chance) * last[c] for c in range(size + 1)] + [0.0])
    after.reverse()
    before = [1.0] + [0.0] * size
    kept = []
    for k, chance in enumerate(chances):
        later = after[k + 1]
        out, into = (fsum(before[c] * later[c + shift] for c in range(size + 1)) for shift in (0, 1))
        top = max(out, into)
        kept.append((out / top, into / top) if top > 0 else (1.0, 1.0))
        before = [(1 - chance) * before[c] + (chance * before[c - 1] if c else 0.0) for c in range(size + 1)]
    return kept
