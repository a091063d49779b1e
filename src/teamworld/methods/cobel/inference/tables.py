"""Beliefs over variables with finite domains, filtered by Bayes' rule (CoBel-World spec B3.2).

A variable is something of which exactly one value is true: where the cupcake is, whether a sector burns. Its table
of probabilities always adds up to 1. It changes by evidence (a look, a claim), by prediction (what changes by itself),
and by refinement (a value turns out to have parts). Evidence names the observations behind it, and no observation
counts twice, by however many mouths it comes.

Variables under common limits are listed jointly (exact), or, where these are too many, treated as independent but
for the limits; ``Beliefs.exact`` tells which. Nothing here knows a world, a method or a language model.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, prod
from typing import Generic, Literal, TypeAlias, TypeVar

from teamworld.language import Fact
from teamworld.methods.cobel.inference.coupling import Limit, joint_values, marginals
from teamworld.methods.cobel.inference.track import Change, Held, Outcome, Space, Track, normal
from teamworld.worlds.contract import LatentVariable

V = TypeVar("V", bound=Hashable)
#: Probabilities of all values of a variable, in the order of its domain.
Table: TypeAlias = Mapping[V, float]
#: Where each value goes, with probabilities that add up to 1; a value that is not named stays.
Transition: TypeAlias = Mapping[V, Mapping[V, float]]

#: Least probability of each label of the belief language (spec B3.2).
LABELS = (("certain", 0.99), ("high", 0.6), ("medium", 0.25), ("low", 0.0))

#: What nobody has witnessed yet, in the table of a variable by itself and in the joint one.
NEW = (Held(), Held())


def label(probability: float) -> str:
    """Return the word for a probability: certain, high, medium or low."""
    return next(word for word, least in LABELS if probability >= least)


@dataclass(frozen=True, slots=True)
class Sight(Generic[V]):
    """A look: one value was seen to be true, or none of those in view was."""

    variable: str
    ids: tuple[str, ...]
    """The observations behind it, at least one."""
    at: int
    """Tick of the look."""
    value: V | None = None
    """What was seen; None where the thing was not seen."""
    visible: Mapping[V, float] | None = None
    """Where nothing was seen: how likely each value would have been, if true; 0 for those not named. A look that was
    told of has these times the reliability of the teller."""

    def __post_init__(self) -> None:
        _shares("a chance to see", (self.visible or {}).values())

    def likelihood(self, domain: Sequence[V]) -> list[float] | None:
        """Return how likely the look is under each value; None where it says nothing of any."""
        if self.value is not None:
            return [float(value == self.value) for value in domain] if self.value in domain else None
        visible = self.visible or {}
        return [1 - visible.get(value, 0.0) for value in domain]


@dataclass(frozen=True, slots=True)
class Claim(Generic[V]):
    """What somebody said of a variable, right with a probability; if wrong, then any other value alike."""

    variable: str
    ids: tuple[str, ...]
    """The observations behind it, not the message: they stay the same when it is passed on."""
    at: int
    """Tick at which the value was true, as said."""
    values: tuple[V, ...]
    """The value; or all the parts of a coarse value, which then count as one."""
    reliability: float = 0.95

    def __post_init__(self) -> None:
        _shares("a reliability", (self.reliability,))

    def likelihood(self, domain: Sequence[V]) -> list[float] | None:
        """Return how likely the claim is under each value; None where it says nothing of any."""
        claimed = [value in self.values for value in domain]
        others = len(domain) - sum(claimed)
        if others in (0, len(domain)):
            return None
        wrong = (1 - self.reliability) / others
        return [self.reliability if hit else wrong for hit in claimed]


Evidence: TypeAlias = Sight[V] | Claim[V]


@dataclass(frozen=True)
class Group(Generic[V]):
    """Variables under common limits, or a single one."""

    domains: tuple[tuple[V, ...], ...]
    limits: tuple[Limit[V], ...]
    own: tuple[Track, ...]
    """Each variable's table if there were no limits."""
    joint: Track | None = None
    """The joint table; None for a single variable, and where joint values are too many."""

    @property
    def exact(self) -> bool:
        """Whether the tables are the posterior."""
        return self.joint.exact if self.joint else not self.limits and all(track.exact for track in self.own)

    @cached_property
    def tables(self) -> tuple[dict[V, float], ...]:
        """The table of each variable."""
        weights: Sequence[Sequence[float]] = [track.weights for track in self.own]
        if self.joint:
            space, joint = self.joint.space, self.joint.weights
            weights = [space.marginal(joint, k, len(domain)) for k, domain in enumerate(self.domains)]
        elif self.limits:
            weights = marginals(weights, self.domains, self.limits)
        return tuple(dict(zip(domain, some, strict=True)) for domain, some in zip(self.domains, weights, strict=True))

    def after(
        self, k: int, likelihood: Sequence[float], at: int, weight: float, held: Sequence[Held]
    ) -> tuple[Group[V], Outcome, tuple[Held, Held]]:
        """Take in evidence about variable ``k``; ``held`` tells how far it is in the own and the joint table."""
        track, outcome, alone = self.own[k].after(0, likelihood, at, weight, held[0])
        joint, together = self.joint, alone
        if joint:
            joint, outcome, together = joint.after(k, likelihood, at, weight, held[1])
        own = (*self.own[:k], track, *self.own[k + 1 :])
        return Group(self.domains, self.limits, own, joint), outcome, (alone, together)

    def step(self, changes: tuple[Change | None, ...], now: int) -> Group[V]:
        """Let variables change; None where one stays."""
        own = tuple(
            track.step((change,), now) if change else track for track, change in zip(self.own, changes, strict=True)
        )
        return replace(self, own=own, joint=self.joint and self.joint.step(changes, now))

    def split(self, k: int, shares: Mapping[V, Mapping[V, float]]) -> Group[V]:
        """Put finer values of variable ``k`` in place of coarser ones."""
        finer: list[V] = []
        parts: list[list[tuple[int, float]]] = []
        for value in self.domains[k]:
            some = shares.get(value, {value: 1.0})
            parts.append([(len(finer) + n, share) for n, share in enumerate(some.values())])
            finer += some
        domains = (*self.domains[:k], _domain(finer), *self.domains[k + 1 :])
        limits = tuple(
            replace(limit, values=limit.values.union(*(shares[value] for value in shares if value in limit.values)))
            for limit in self.limits
        )
        track = self.own[k].split(Space([(at,) for at in range(len(finer))]), 0, parts)
        joint, states = self.joint, joint_values(domains, limits) if self.joint else None
        joint = joint.split(Space(states), k, parts) if joint and states else None
        return Group(domains, limits, (*self.own[:k], track, *self.own[k + 1 :]), joint)


class Beliefs(Generic[V]):
    """Tables of variables, and which observations they already hold."""

    def __init__(self) -> None:
        self._groups: dict[int, Group[V]] = {}
        self._home: dict[str, tuple[int, int]] = {}
        self._used: dict[tuple[str, str], tuple[Held, Held]] = {}
        self._next = 0
        self.impossible = 0
        """Pieces of evidence that all that was believed spoke against."""

    def copy(self) -> Beliefs[V]:
        """Return the same beliefs, to go on from independently: what is imagined, or ascribed to a mate."""
        twin: Beliefs[V] = Beliefs()
        twin._groups, twin._home, twin._used = dict(self._groups), dict(self._home), dict(self._used)
        twin._next, twin.impossible = self._next, self.impossible
        return twin

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order in which they were added."""
        return tuple(self._home)

    def table(self, name: str) -> dict[V, float]:
        """Return the probabilities of all values of a variable, in the order of its domain."""
        home, k = self._home[name]
        return dict(self._groups[home].tables[k])

    def since(self, name: str) -> int:
        """Return the time stamp of the newest evidence of a variable; before any, the tick when it was added."""
        home, k = self._home[name]
        return self._groups[home].own[k].latest

    def exact(self, name: str) -> bool:
        """Whether a table is the posterior, and no approximation of it."""
        return self._groups[self._home[name][0]].exact

    def add(self, name: str, weights: Table[V], now: int = 0) -> None:
        """Add a variable with the weights of its values before anything is seen; they need not add up to 1.

        Raises:
            ValueError: The name stands already, or no weight is above 0.
        """
        if name in self._home:
            raise ValueError(f"expected a new variable, got {name} again")
        track = Track.start(Space([(at,) for at in range(len(weights))]), tuple(weights.values()), now)
        self._keep([name], Group((tuple(weights),), (), (track,)))

    def couple(self, names: Sequence[str], limits: Sequence[Limit[V]]) -> None:
        """Bind variables by limits that always hold.

        What was learned before is kept. Only evidence from now on is carried forward from its time stamp through
        earlier changes together; so couple variables when they are added.

        Raises:
            ValueError: A variable is bound already, or nothing is possible under the limits.
        """
        homes = [self._home[name] for name in names]
        if len({home for home, _ in homes}) < len(names) or any(len(self._groups[home].own) > 1 for home, _ in homes):
            raise ValueError(f"expected variables that are not coupled yet, got {', '.join(names)}")
        domains = tuple(self._groups[home].domains[0] for home, _ in homes)
        own = tuple(self._groups[home].own[0] for home, _ in homes)
        states, joint = joint_values(domains, limits), None
        if states is not None:
            joint = _joined(states, own)
        for home, _ in homes:
            del self._groups[home]
        self._keep(names, Group(domains, tuple(limits), own, joint))

    def drop(self, name: str) -> None:
        """Forget a variable; what it is coupled to keeps what it has learned from it."""
        home, _ = self._home.pop(name)
        if all(other != home for other, _ in self._home.values()):
            del self._groups[home]
        self._used = {key: held for key, held in self._used.items() if key[0] != name}

    def apply(self, evidence: Evidence[V], weight: float = 1.0) -> Outcome | Literal["known", "foreign"]:
        """Take in evidence that the holder got with the given probability.

        Returns:
            ``used``; ``known``: one of its observations is in the table already, or the weight is 0; ``foreign``: it
            speaks of no variable or value that there is; ``impossible``: what was believed ruled it out. Then the table
            went back to the prior of what the evidence allows, or, if something newer is known, it was left out.

        Raises:
            ValueError: It names no observation, or a weight is not from 0 to 1.
        """
        keys = [(evidence.variable, observation) for observation in evidence.ids]
        if not keys or not 0 <= weight <= 1:
            raise ValueError(f"expected observations and a weight from 0 to 1, got {evidence.ids} and {weight}")
        home, k = self._home.get(evidence.variable, (-1, 0))
        likelihood = evidence.likelihood(self._groups[home].domains[k]) if home >= 0 else None
        if likelihood is None:
            return "foreign"
        held = max((self._used.get(key, NEW) for key in keys), key=lambda some: some[0].weight)
        if weight == 0 or held[0].weight == 1:
            return "known"
        self._groups[home], outcome, held = self._groups[home].after(k, likelihood, evidence.at, weight, held)
        self._used |= dict.fromkeys(keys, held)
        self.impossible += outcome == "impossible"
        return outcome

    def predict(self, now: int, changes: Mapping[str, Transition[V]]) -> None:
        """Let variables change from now on as the transitions say; the others stay.

        Raises:
            ValueError: A transition leads to a value that is not in the domain, or does not add up to 1.
        """
        steps: dict[int, list[Change | None]] = {}
        for name, transition in changes.items():
            home, k = self._home[name]
            group = self._groups[home]
            steps.setdefault(home, [None] * len(group.own))[k] = _change(group.domains[k], transition)
        for home, some in steps.items():
            if any(some):
                self._groups[home] = self._groups[home].step(tuple(some), now)

    def refine(self, name: str, shares: Mapping[V, Mapping[V, float]]) -> None:
        """Split coarse values into finer ones, each with its share of the probability; limits hold for all parts.

        Raises:
            ValueError: Shares do not add up to 1, or a part is a value already.
        """
        home, k = self._home[name]
        some = {value: _ones(shares[value]) for value in self._groups[home].domains[k] if value in shares}
        if some:
            self._groups[home] = self._groups[home].split(k, some)

    def _keep(self, names: Iterable[str], group: Group[V]) -> None:
        self._groups[self._next] = group
        self._home |= {name: (self._next, k) for k, name in enumerate(names)}
        self._next += 1


def refinement(unknown: LatentVariable, table: Table[Fact]) -> dict[Fact, dict[Fact, float]]:
    """Return the shares for ``Beliefs.refine``: of values in a table, by the weights of the parts that became known.

    A value that is listed beside its parts (lying open in a room, beside the room's containers) is one of them.
    """
    within = {possible.fact: possible.within for possible in unknown.values}
    parts: dict[Fact, dict[Fact, float]] = {}
    for possible in unknown.values:
        coarse: Fact | None = possible.fact
        while coarse is not None and coarse not in table:
            coarse = within.get(coarse)
        if coarse is not None:
            parts.setdefault(coarse, {})[possible.fact] = possible.weight
    return {
        coarse: {fact: weight / fsum(some.values()) for fact, weight in some.items()}
        for coarse, some in parts.items()
        if list(some) != [coarse]
    }


def _joined(states: Sequence[tuple[int, ...]], own: Sequence[Track]) -> Track:
    """Return the joint track of variables that were independent until now."""

    def times(tables: Sequence[Sequence[float]]) -> list[float]:
        return [prod(table[at] for table, at in zip(tables, state, strict=True)) for state in states]

    since = max(track.spans[-1].since for track in own)
    joint = Track.start(Space(states), times([track.weights for track in own]), since)
    exact = all(track.exact and len(track.spans) == 1 for track in own)
    prior = normal(times([track.prior for track in own])) or joint.prior
    return replace(joint, prior=prior, latest=max(track.latest for track in own), exact=exact)


def _change(domain: Sequence[V], transition: Transition[V]) -> Change | None:
    """Return a transition by positions; None where all stays."""
    at = {value: n for n, value in enumerate(domain)}
    rows = []
    for value in domain:
        goes = _ones(transition[value]) if value in transition else {value: 1.0}
        if foreign := [new for new in goes if new not in at]:
            raise ValueError(f"expected a change to a value of the domain, got {value} to {foreign[0]}")
        rows.append(tuple((at[new], chance) for new, chance in goes.items()))
    return None if all(row == ((n, 1.0),) for n, row in enumerate(rows)) else tuple(rows)


def _ones(chances: Mapping[V, float]) -> dict[V, float]:
    """Return the chances above 0, which must add up to 1."""
    if not (abs(fsum(chances.values()) - 1) <= 1e-9 and min(chances.values()) >= 0):
        raise ValueError(f"expected probabilities that add up to 1, got {dict(chances)}")
    return {value: chance for value, chance in chances.items() if chance > 0}


def _shares(what: str, numbers: Iterable[float]) -> None:
    for number in numbers:
        if not 0 <= number <= 1:
            raise ValueError(f"expected {what} from 0 to 1, got {number}")


def _domain(values: Sequence[V]) -> tuple[V, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"expected parts that are no values yet, got one twice in {', '.join(map(str, values))}")
    return tuple(values)
