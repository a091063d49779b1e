"""The data types of the language: frozen values that print as the text the grammar reads.

``str(value)`` of every type here is its one written form, and ``teamworld.language.grammar``
reads that form back to an equal value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias, TypeVar, cast

AgentId: TypeAlias = str
GoalId: TypeAlias = str
#: What an action that fails does to its plan; by default the world's rules say.
OnFailure: TypeAlias = Literal["default", "continue", "abort"]
Cell: TypeAlias = tuple[int, int]  # (row, column), or whatever pair of integers a world places things on

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PREDICATE = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)
#: Words with a meaning of their own in the grammar; as names they are written in quotes.
RESERVED = frozenset({"plan", "for", "on", "failure"})

Built = TypeVar("Built")


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing of the world, written ``<block>(3)``. Agents are written by their bare name instead."""

    kind: str
    id: int

    def __post_init__(self) -> None:
        if not _BARE.fullmatch(self.kind):
            raise ValueError(f"an entity kind is a bare name, not {self.kind!r}")
        if self.id < 0:
            raise ValueError(f"an entity id is a number from 0, not {self.id}")

    def __hash__(self) -> int:
        return self.id  # looked up all the time; things of different kinds seldom have the same number

    def __str__(self) -> str:
        return f"<{self.kind}>({self.id})"


@dataclass(frozen=True, slots=True)
class Variable:
    """A place in a plan or rule still to be filled, written ``?goal``."""

    name: str

    def __post_init__(self) -> None:
        if not _BARE.fullmatch(self.name):
            raise ValueError(f"a variable has a bare name, not {self.name!r}")

    def __str__(self) -> str:
        return f"?{self.name}"


#: Whatever can stand as an argument: a thing, a name (agents too), a number, a cell, a variable.
Term: TypeAlias = Entity | Variable | str | int | float | Cell


def show(term: Term) -> str:
    """Return the written form of a term."""
    if isinstance(term, str):
        return _show_name(term)
    if isinstance(term, tuple):
        return f"({term[0]}, {term[1]})"
    if isinstance(term, float) and not math.isfinite(term):
        raise ValueError(f"a number in the language is finite, not {term}")
    return str(term)


@lru_cache(maxsize=4096)  # the same few names are written at every step
def _show_name(name: str) -> str:
    bare = _BARE.fullmatch(name) and not _PREDICATE.fullmatch(name) and name not in RESERVED
    return name if bare else json.dumps(name)


@dataclass(frozen=True, slots=True)
class Fact:
    """One relation or attribute, written ``<block>(3) AT (1, 5)`` or ``agent_0 HOLD <apple>(2)``."""

    subject: Entity | str
    predicate: str
    value: Term

    def __post_init__(self) -> None:
        if not _PREDICATE.fullmatch(self.predicate) or self.predicate == "BELIEVE":
            raise ValueError(f"a predicate is a word in capitals other than BELIEVE, not {self.predicate!r}")

    def __str__(self) -> str:
        return f"{show(self.subject)} {self.predicate} {show(self.value)}"


@dataclass(frozen=True, slots=True)
class Belief:
    """A fact that somebody holds, to any depth: ``alice BELIEVE bob BELIEVE <apple>(12) IN <kitchen>(1)``."""

    holders: tuple[AgentId, ...]
    """Who believes, outermost first; one holder is a belief about the world, two one about a teammate."""
    fact: Fact
    probability: float = 1.0
    since: int = 0
    """Tick at which the belief was formed."""
    source: str = "own"
    """``own``, ``inferred``, or ``message:ID``."""

    def __post_init__(self) -> None:
        if not self.holders:
            raise ValueError("a belief has at least one holder")
        if self.since < 0:
            raise ValueError(f"a belief is formed at a tick from 0, not {self.since}")
        if not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"a probability lies between 0 and 1, not {self.probability}")

    def __str__(self) -> str:
        text = "".join(f"{show(holder)} BELIEVE " for holder in self.holders) + str(self.fact)
        if (self.probability, self.since, self.source) == (1.0, 0, "own"):
            return text
        return f"{text} [{show(float(self.probability))}, {self.since}, {show(self.source)}]"


@dataclass(frozen=True, slots=True)
class Action:
    """A symbolic macro-action with its arguments in the schema's order: ``push_block(<block>(1), 5)``."""

    verb: str
    args: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        if not _BARE.fullmatch(self.verb) or self.verb in RESERVED:
            raise ValueError(f"a verb is a bare name, not {self.verb!r}")

    def __str__(self) -> str:
        return f"{self.verb}({', '.join(map(show, self.args))})"


@dataclass(frozen=True, slots=True)
class Plan:
    """A short list of actions of one agent for one goal, written ``plan for block_1 { a(); b(2) }``."""

    actions: tuple[Action, ...]
    goal: GoalId | None = None
    on_failure: OnFailure = "default"
    """Whether an action that fails is followed by the next one or ends the plan; by default the world's rules say."""

    def __str__(self) -> str:
        target = f"for {show(self.goal)} " if self.goal is not None else ""
        ending = "" if self.on_failure == "default" else f" on failure {self.on_failure}"
        return f"plan {target}{{ {'; '.join(map(str, self.actions))} }}{ending}"

    def _repr_markdown_(self) -> str:
        return f"```\n{self}\n```"


class Facts:
    """An ordered collection of facts with fast look-up, and when each was last seen; it never changes.

    Iteration follows the order the world gave. Values derived from the whole collection
    (a map, a scene) can be kept with it, see ``derive``.

    Args:
        items: The facts.
        seen: Tick of last sight; empty where all of them are seen now.
    """

    def __init__(self, items: Iterable[Fact] = (), seen: Mapping[Fact, int] | None = None) -> None:
        self.seen: Mapping[Fact, int] = {} if seen is None else seen
        self._make: Callable[[], Iterable[Fact]] = lambda: items
        self._derived: dict[object, object] = {}
        self._source: tuple[object, object] | None = None

    @classmethod
    def later(
        cls,
        make: Callable[[], Iterable[Fact]],
        build: Callable[[Facts], Built],
        built: Built,
        seen: Mapping[Fact, int] | None = None,
        *,
        is_exact: bool = False,
    ) -> Facts:
        """Return facts that are made when somebody reads one, and from which ``build`` would build ``built``.

        With ``is_exact`` the same facts, in whatever order, would build an equal value.
        """
        facts = cls(seen=seen)
        facts._make = make
        facts._derived[build] = built
        facts._source = (build, built) if is_exact else None
        return facts

    def holds_the_same(self, other: Facts) -> bool:
        """Return whether both hold the same facts, in whatever order; where they differ, often without making them."""
        if self is other:
            return True
        own, others = self._source, other._source
        if own is not None and others is not None and own[0] is others[0] and own[1] != others[1]:
            return False
        return self.items == other.items or set(self.items) == set(other.items)

    @cached_property
    def items(self) -> tuple[Fact, ...]:
        """The facts, in order."""
        return tuple(self._make())

    @cached_property
    def _index(self) -> Mapping[tuple[Entity | str, str], Fact]:
        index: dict[tuple[Entity | str, str], Fact] = {}
        for fact in self.items:
            index.setdefault((fact.subject, fact.predicate), fact)
        return index

    def __repr__(self) -> str:
        return f"Facts({self.items!r}, {dict(self.seen)!r})"

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, fact: object) -> bool:
        return isinstance(fact, Fact) and (
            self._index.get((fact.subject, fact.predicate)) == fact or fact in self.items
        )

    def value(self, subject: Entity | str, predicate: str) -> Term | None:
        """Return the first value of an attribute, or None when nothing is known."""
        fact = self._index.get((subject, predicate))
        return fact.value if fact is not None else None

    def about(self, predicate: str) -> Iterator[Fact]:
        """Yield the facts with a predicate, in order."""
        return (fact for fact in self.items if fact.predicate == predicate)

    def derive(self, build: Callable[[Facts], Built]) -> Built:
        """Return ``build(self)``, computed once for this collection."""
        cache = cast("dict[Any, Built]", self._derived)
        try:
            value = cache[build]
        except KeyError:
            value = cache[build] = build(self)
        return value
