"""Bayes by listing: every joint history of small cases, and who witnessed what. Slow, and no line of the engine in it.

A case is a small world of variables with hard limits, changes at given times, and events: looks and claims, drawn
from one true history, that reach their witnesses at once or late.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

#: One value of every variable.
State = tuple[str, ...]
#: The state of each span between changes.
History = tuple[State, ...]
#: For each variable, how likely each of its values is.
Tables = list[dict[str, float]]

ME = "me"
MATES = ("bob", "carol")


@dataclass(frozen=True)
class Event:
    """A look or a claim about one variable."""

    kind: str
    """``seen``, ``missed`` or ``claim``."""
    variable: int
    at: int
    ids: tuple[str, ...]
    value: str = ""
    """What was seen or claimed."""
    chances: Mapping[str, float] = field(default_factory=dict)
    """Of a look: how likely each value would have been seen if true."""
    reliability: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    """Who witnessed it, and how likely."""

    def likelihood(self, value: str, domain: Sequence[str]) -> float:
        """How likely it is if the variable has the value."""
        if self.kind == "seen":
            return self.chances.get(self.value, 0.0) if value == self.value else 0.0
        if self.kind == "missed":
            return 1.0 - self.chances.get(value, 0.0)
        return self.reliability if value == self.value else (1.0 - self.reliability) / (len(domain) - 1)


@dataclass(frozen=True)
class Bound:
    """So many variables have one of the values: at least, at most."""

    values: frozenset[str]
    least: int
    most: int

    def holds(self, state: State) -> bool:
        return self.least <= sum(value in self.values for value in state) <= self.most


@dataclass(frozen=True)
class Case:
    """A small world and what happened in it."""

    priors: Tables
    bounds: tuple[Bound, ...]
    changes: tuple[tuple[int, tuple[Mapping[str, Mapping[str, float]], ...]], ...]
    """Times, and for each variable where its values go; a value that is not named stays."""
    script: tuple[Event | int, ...]
    """What happens, in order: an event reaches its witnesses, or the change with this number happens."""

    @property
    def events(self) -> list[Event]:
        return [one for one in self.script if isinstance(one, Event)]

    def possible(self, state: State) -> bool:
        return all(bound.holds(state) for bound in self.bounds)

    def histories(self) -> Iterator[tuple[History, float]]:
        """Every history that can be, with its weight before any evidence."""

        def grown(history: History, weight: float) -> Iterator[tuple[History, float]]:
            if len(history) > len(self.changes):
                yield history, weight
                return
            moves = self.changes[len(history) - 1][1]
            for state in product(*self.priors):
                chance = weight
                for was, now, move in zip(history[-1], state, moves, strict=True):
                    chance *= move[was].get(now, 0.0) if was in move else float(was == now)
                if chance > 0 and self.possible(state):
                    yield from grown((*history, state), chance)

        for state in product(*self.priors):
            weight = 1.0
            for value, prior in zip(state, self.priors, strict=True):
                weight *= prior[value]
            if weight > 0 and self.possible(state):
                yield from grown((state,), weight)

    def span(self, at: int) -> int:
        """Which span a time lies in."""
        return sum(time <= at for time, _ in self.changes)

    def chance(self, history: History, events: Iterable[Event]) -> float:
        """How likely events are in a history."""
        chance = 1.0
        for event in events:
            value = history[self.span(event.at)][event.variable]
            chance *= event.likelihood(value, tuple(self.priors[event.variable]))
        return chance

    def posterior(self, events: Sequence[Event]) -> Tables:
        """What is believed of the last state after some events."""
        tables: Tables = [dict.fromkeys(prior, 0.0) for prior in self.priors]
        total = 0.0
        for history, weight in self.histories():
            weight *= self.chance(history, events)
            total += weight
            for table, value in zip(tables, history[-1], strict=True):
                table[value] += weight
        assert total > 0
        return [{value: weight / total for value, weight in table.items()} for table in tables]

    def mixed(self, events: Sequence[tuple[Event, float]]) -> Tables:
        """The mean table of a mate that got each event with a chance: over all sets of events that it may have got."""
        tables: Tables = [dict.fromkeys(prior, 0.0) for prior in self.priors]
        for got in product((False, True), repeat=len(events)):
            chance = 1.0
            for (_, weight), flag in zip(events, got, strict=True):
                chance *= weight if flag else 1 - weight
            if chance > 0:
                some = self.posterior([event for (event, _), flag in zip(events, got, strict=True) if flag])
                for table, part in zip(tables, some, strict=True):
                    for value in table:
                        table[value] += chance * part[value]
        return tables


class WitnessGraph:
    """For each chain of believers, the events that it witnessed; beliefs are read by replaying them.

    The same observation counts once, however often it is heard of.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.witnessed: dict[tuple[str, ...], list[Event]] = {(ME,): [], **{(ME, mate): [] for mate in MATES}}
        for event in case.events:
            for chain, events in self.witnessed.items():
                known = {(seen.variable, one) for seen in events for one in seen.ids}
                if event.weights.get(chain[-1]) == 1 and not any((event.variable, one) in known for one in event.ids):
                    events.append(event)

    def tables(self, *chain: str) -> Tables:
        return self.case.posterior(self.witnessed[chain])


def draw(
    rng: random.Random,
    sizes: Sequence[int],
    changes: int = 0,
    events: int = 6,
    bounds: Sequence[Bound] = (),
    hard: bool = False,
    weights: Sequence[float] = (0.0, 1.0),
    again: float = 0.25,
) -> Case:
    """Draw a case whose events fit one true history, so that all are possible together.

    Args:
        rng: Source of chance.
        sizes: Number of values of each variable; they share the names ``v0``, ``v1``, ...
        changes: How often variables change.
        events: Looks and claims; some are told again, some late.
        bounds: Limits between the variables.
        hard: Whether all looks and claims are certain.
        weights: How likely a mate may witness an event.
        again: How likely an event is one before it, from another mouth.
    """
    priors = [{f"v{n}": rng.uniform(0.05, 1) for n in range(size)} for size in sizes]
    assert any(Case(priors, tuple(bounds), (), ()).histories())
    histories: list[tuple[History, float]] = []
    while not histories:  # the changes may lead to nothing that the limits allow
        moves = tuple((10 * (n + 1), tuple(_moves(rng, tuple(prior)) for prior in priors)) for n in range(changes))
        bare = Case(priors, tuple(bounds), moves, ())
        histories = list(bare.histories())
    truth = rng.choices([history for history, _ in histories], [weight for _, weight in histories])[0]
    drawn: list[Event] = []
    for number in range(events):
        if drawn and rng.random() < again:  # the same observation, from another mouth
            told = {**vars(rng.choice(drawn)), "weights": _witnesses(rng, weights)}
            if told["kind"] == "seen" and not hard:
                told |= {"kind": "claim", "reliability": 0.9}
            drawn.append(Event(**told))
            continue
        at = rng.randrange(10 * changes + 10)
        variable = rng.randrange(len(sizes))
        drawn.append(
            _event(rng, variable, at, truth[bare.span(at)][variable], tuple(priors[variable]), number, hard, weights)
        )
    # An event arrives in its own span or later.
    arrivals = sorted((rng.randint(bare.span(event.at), changes), rng.random(), n) for n, event in enumerate(drawn))
    script: list[Event | int] = []
    for number in range(changes + 1):
        script += [number - 1] if number else []
        script += [drawn[n] for span, _, n in arrivals if span == number]
    return Case(priors, tuple(bounds), moves, tuple(script))


def _moves(rng: random.Random, domain: Sequence[str]) -> dict[str, dict[str, float]]:
    """Where some values of a variable go."""
    moves = {}
    for value in domain:
        if rng.random() < 0.6:
            goes = rng.sample(domain, rng.randint(1, len(domain)))
            parts = [rng.uniform(0.05, 1) for _ in goes]
            moves[value] = {to: part / sum(parts) for to, part in zip(goes, parts, strict=True)}
    return moves


def _witnesses(rng: random.Random, weights: Sequence[float]) -> dict[str, float]:
    return {ME: float(rng.random() < 0.7), **{mate: rng.choice(weights) for mate in MATES}}


def _event(
    rng: random.Random,
    variable: int,
    at: int,
    true: str,
    domain: Sequence[str],
    number: int,
    hard: bool,
    weights: Sequence[float],
) -> Event:
    """Look at, or say something of, a variable whose value is known to the one who draws."""
    ids, by = (f"o{number}",), _witnesses(rng, weights)
    if rng.random() < 0.6:
        inside = rng.sample(domain, rng.randint(1, len(domain)))
        chances = {value: 1.0 if hard else rng.choice((1.0, 0.9, 0.4)) for value in inside}
        if rng.random() < chances.get(true, 0.0):
            return Event("seen", variable, at, ids, true, chances, weights=by)
        return Event("missed", variable, at, ids, "", chances, weights=by)
    reliability = 1.0 if hard else rng.choice((0.95, 0.7, 0.5))
    right = rng.random() < reliability
    value = true if right else rng.choice([other for other in domain if other != true])
    return Event("claim", variable, at, ids, value, reliability=reliability, weights=by)


def distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Total variation between two tables."""
    return sum(abs(one.get(value, 0.0) - other.get(value, 0.0)) for value in {*one, *other}) / 2
