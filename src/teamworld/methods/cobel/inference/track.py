"""A discrete Bayes filter over time that also takes evidence of the past, exactly.

A track follows one variable, or several that are coupled and therefore have one joint table. Its time is cut into
spans, within which nothing changes; a new span begins where a value may have changed by itself or by somebody's
act. Evidence is multiplied into the span of its time stamp and carried forward from there by the changes since and
the evidence since, so what comes late counts as if it had come in time.

All sums are exact sums (``fsum``): the same numbers on every machine and version of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import fsum, prod
from typing import Literal, NamedTuple, TypeAlias

Weights: TypeAlias = tuple[float, ...]
#: Where each value of a variable goes: pairs of the new value's position and a probability.
Change: TypeAlias = tuple[tuple[tuple[int, float], ...], ...]

#: Spans that are kept. Evidence older than the oldest counts as of that one.
SPANS = 32

#: Evidence that is less likely than this is impossible; below it the arithmetic of floats ends.
IMPOSSIBLE = 1e-300

Outcome: TypeAlias = Literal["used", "impossible"]


class Held(NamedTuple):
    """How far evidence is in a table already."""

    weight: float = 0.0
    """How likely the holder has it."""
    chance: float = 0.0
    """How likely it was when it was first taken in."""


class Space:
    """The joint values that are possible, as positions in the variables' domains."""

    def __init__(self, states: Sequence[tuple[int, ...]]) -> None:
        self.states = tuple(states)
        self.columns = tuple(zip(*self.states, strict=True))
        self.index = {state: at for at, state in enumerate(self.states)}

    def marginal(self, weights: Weights, variable: int, size: int) -> list[float]:
        """Return the weights of the values of one variable, which has ``size`` of them."""
        if len(self.columns) == 1:
            return list(weights)
        parts: list[list[float]] = [[] for _ in range(size)]
        for at, weight in zip(self.columns[variable], weights, strict=True):
            parts[at].append(weight)
        return [min(1.0, fsum(part)) for part in parts]

    def moved(self, weights: Weights, changes: Sequence[Change | None]) -> list[float]:
        """Return the weights after each variable has changed by itself; what the limits forbid is left out."""
        parts: list[list[float]] = [[] for _ in self.states]
        if len(changes) == 1 and changes[0]:
            for weight, row in zip(weights, changes[0], strict=True):
                for at, chance in row:
                    parts[at].append(weight * chance)
            return [fsum(part) for part in parts]
        for state, weight in zip(self.states, weights, strict=True):
            if weight > 0:
                rows = [
                    ((at, 1.0),) if change is None else change[at] for at, change in zip(state, changes, strict=True)
                ]
                for goes in product(*rows):
                    new = self.index.get(tuple(to for to, _ in goes))
                    if new is not None:
                        parts[new].append(weight * prod(chance for _, chance in goes))
        return [fsum(part) for part in parts]


class Span(NamedTuple):
    """A stretch of time in which nothing changes."""

    since: int
    changes: tuple[Change | None, ...]
    """How each variable changed at its beginning; None where it stayed."""
    factor: Weights
    """What the evidence of this span has multiplied the table by, up to a constant; not kept for the first span."""
    weights: Weights
    """The table after all evidence up to the end of this span."""


@dataclass(frozen=True, slots=True)
class Track:
    """Weights of the states of a space, now and for some time back."""

    space: Space
    prior: Weights
    """The table now if there had been no evidence."""
    spans: tuple[Span, ...]
    latest: int
    """Time stamp of the newest evidence."""
    exact: bool = True
    """False once evidence had a weight between 0 and 1, was impossible, or was older than all spans that are kept."""

    @classmethod
    def start(cls, space: Space, weights: Sequence[float], now: int) -> Track:
        """Begin with prior weights.

        Raises:
            ValueError: A weight is below 0, or none is above.
        """
        prior = normal(weights)
        if prior is None or min(prior) < 0:
            raise ValueError("expected weights of at least 0, and at least one possible value above 0")
        return cls(space, prior, (Span(now, (), (1.0,) * len(prior), prior),), now)

    @property
    def weights(self) -> Weights:
        """The table now."""
        return self.spans[-1].weights

    def after(
        self, variable: int, likelihood: Sequence[float], at: int, weight: float, held: Held
    ) -> tuple[Track, Outcome, Held]:
        """Take in evidence about one variable.

        Evidence that is impossible, since all that it allows is ruled out, overrides the table if nothing newer is
        known: then the table goes back to the prior of what the evidence allows. Otherwise it is left out.

        Args:
            variable: Its position in the group.
            likelihood: Of the evidence, for each value of the variable.
            at: Time stamp of the evidence.
            weight: How likely the holder got the evidence; the table becomes a mixture (spec B3.3).
            held: How likely it had got it before; the mixture is replaced by that of either, not updated again.
        """
        factor = [likelihood[value] for value in self.space.columns[variable]]
        number = len(self.spans) - 1
        while number and self.spans[number].since > at:
            number -= 1
        chance = held.chance
        if not held.weight:
            chance = fsum([p * f for p, f in zip(self.spans[number].weights, factor, strict=True)])
        now = Held(1 - (1 - held.weight) * (1 - weight), chance)
        spans: tuple[Span, ...] | None = None
        if chance > IMPOSSIBLE:
            by = factor if now.weight == 1 else [now.weight * f / chance + (1 - now.weight) for f in factor]
            if held.weight:
                by = [new / (held.weight * f / chance + (1 - held.weight)) for new, f in zip(by, factor, strict=True)]
            spans = self._replayed(number, by)
        if spans is None:
            return self._overridden(factor, at, weight), "impossible", now
        oldest = spans[0]
        exact = self.exact and weight == 1 and not (at < oldest.since and oldest.changes)
        return Track(self.space, self.prior, spans, max(self.latest, at), exact), "used", now

    def step(self, changes: tuple[Change | None, ...], now: int) -> Track:
        """Begin a new span in which each variable has changed as told."""
        prior = normal(self.space.moved(self.prior, changes))
        weights = normal(self.space.moved(self.weights, changes))
        if prior is None or weights is None:
            return replace(self, exact=False)  # the limits allow no change of this kind: it did not happen
        span = Span(now, changes, (1.0,) * len(weights), weights)
        return replace(self, prior=prior, spans=(*self.spans, span)[-SPANS:])

    def split(self, space: Space, variable: int, parts: Sequence[Sequence[tuple[int, float]]]) -> Track:
        """Put finer values of one variable in place of coarser ones, in all spans.

        Args:
            space: The new space.
            variable: Its position in the group.
            parts: For each old value the positions of its parts and their shares, which add up to 1. What stays in an
                old value stays in the same part; what comes to an old value is spread by the shares.
        """
        origin = {new: (old, share) for old, some in enumerate(parts) for new, share in some}
        came = [origin[at] for at in space.columns[variable]]
        before = [
            self.space.index[(*state[:variable], old, *state[variable + 1 :])]
            for state, (old, _) in zip(space.states, came, strict=True)
        ]

        def spread(weights: Weights) -> Weights:
            fine = [weights[at] * share for at, (_, share) in zip(before, came, strict=True)]
            return normal(fine) or (1 / len(fine),) * len(fine)

        def finer(change: Change | None) -> Change | None:
            return change and tuple(
                tuple(
                    (to, chance * share)
                    for old, chance in change[origin[new][0]]
                    for to, share in ([(new, 1.0)] if old == origin[new][0] else parts[old])
                )
                for new in sorted(origin)
            )

        spans = [
            Span(
                span.since,
                tuple(finer(change) if k == variable else change for k, change in enumerate(span.changes)),
                tuple(span.factor[at] for at in before),
                spread(span.weights),
            )
            for span in self.spans
        ]
        track = Track(space, spread(self.prior), tuple(spans), self.latest, self.exact)
        again = track._replayed(0, [1.0] * len(before))
        return replace(track, spans=again) if again else replace(track, exact=False)

    def _replayed(self, number: int, by: Sequence[float]) -> tuple[Span, ...] | None:
        """Return the spans with one of them multiplied, and what follows from it; None if that is impossible."""
        spans = list(self.spans)
        span = spans[number]
        weights = normal([p * f for p, f in zip(span.weights, by, strict=True)])
        if weights is None:
            return None
        factor = _times(span.factor, by) if number else span.factor  # what came before the first span is not replayed
        spans[number] = Span(span.since, span.changes, factor, weights)
        for n in range(number + 1, len(spans)):
            span = spans[n]
            moved = self.space.moved(spans[n - 1].weights, span.changes)
            weights = normal([p * f for p, f in zip(moved, span.factor, strict=True)])
            if weights is None:
                return None
            spans[n] = span._replace(weights=weights)
        return tuple(spans)

    def _overridden(self, factor: Sequence[float], at: int, weight: float) -> Track:
        """Return the track that begins anew with what the evidence allows of the prior, if nothing newer is known."""
        if at < self.latest:
            return replace(self, exact=False)
        allowed = normal([p * f for p, f in zip(self.prior, factor, strict=True)]) or self.prior
        weights = tuple(weight * new + (1 - weight) * old for new, old in zip(allowed, self.weights, strict=True))
        return replace(Track.start(self.space, weights, at), prior=self.prior, exact=False)


def normal(weights: Sequence[float]) -> Weights | None:
    """Return weights that add up to 1; None where all are 0."""
    total = fsum(weights)
    return tuple([weight / total for weight in weights]) if total > IMPOSSIBLE else None


def _times(factor: Weights, by: Sequence[float]) -> Weights:
    """Return the product, scaled so that its greatest entry is 1: many small factors must not vanish."""
    product = [one * other for one, other in zip(factor, by, strict=True)]
    top = max(product)
    return tuple([one / top for one in product]) if top > 0 else tuple(product)
