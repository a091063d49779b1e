"""Guessing where it is worth looking next, for the stronger baseline: likely places that are near come first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from teamworld.language import Action, Entity
from teamworld.methods.mhp.belief import OPEN, Belief
from teamworld.methods.mhp.stock import Number, Stock
from teamworld.worlds.contract import Domain, LatentVariable, View


class NearBelief(Belief):
    """A belief whose guesses are where the chance to find something missing is largest for the ticks that it takes.

    Chances are those of the rules that everybody knows (``Domain.latent_variables``), and so are ticks.

    Args:
        stock: What there is.
        rng: Draws guesses where the rules tell nothing.
        domain: The rules.
        ahead: See ``Belief``.
    """

    def __init__(self, stock: Stock, rng: np.random.Generator, domain: Domain, *, ahead: bool = False) -> None:
        self._domain = domain
        self._view: View | None = None
        self._chances: dict[str, dict[Number, float]] | None = None
        super().__init__(stock, rng, ahead=ahead)

    def look_from(self, view: View) -> None:
        """Guess by what the agent knows now, from where it is now."""
        self._view, self._chances = view, None

    def again(self) -> None:
        """Guess anew where everything is that was not seen."""
        for one in self.rooms:
            if one not in self.seen:
                self.guess(one)

    def _draw(self, one: Number) -> Number:
        chances = self._worth().get(self.stock.entities[one].kind, {})
        allowed = {
            place: chance
            for place, chance in chances.items()
            if (place in self.rooms[one] and OPEN in self.boxes.get(one, {OPEN})) or place in self.boxes.get(one, ())
        }
        if not allowed:
            return super()._draw(one)
        best = max(allowed.values())
        return self._pick([place for place, chance in allowed.items() if chance == best])

    def _worth(self) -> dict[str, dict[Number, float]]:
        """Return by class what looking into each place is worth: chances to find anything missing, by tick."""
        if self._view is None:
            return {}
        if self._chances is None:
            view, found = self._view, defaultdict[str, dict[Number, float]](dict)
            unknowns = list(self._domain.latent_variables(view.known))
            anything: defaultdict[Number, float] = defaultdict(float)
            for unknown in unknowns:
                for _, place, chance in self._values(unknown):
                    anything[place] += chance
            ticks = {place: self._ticks(place, view) for place in anything}
            for unknown in unknowns:
                for kind, place, _ in self._values(unknown):
                    found[kind][place] = anything[place] / ticks[place]
            self._chances = dict(found)
        return self._chances

    def _values(self, unknown: LatentVariable) -> Iterator[tuple[str, Number, float]]:
        whole = sum(value.weight for value in unknown.values)
        for value in unknown.values:
            subject, place = value.fact.subject, value.fact.value
            if isinstance(subject, Entity) and isinstance(place, Entity) and place in self.stock.numbers:
                yield subject.kind, self.stock.numbers[place], value.weight / whole

    def _ticks(self, place: Number, view: View) -> int:
        verb = "explore" if place in self.stock.rooms else "check"
        return max(1, self._domain.ticks(view.agent, Action(verb, (self.stock.entities[place],)), view.known))
