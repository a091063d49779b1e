"""Belief rules: templates of the beliefs that are worth keeping, and how beliefs are read, matched and kept apart.

A rule is a belief with variables, of order zero (``?me BELIEVE ?apple IN ?room``) or one (``?me BELIEVE ?mate BELIEVE
?apple IN ?room``); several values stand side by side (``?me BELIEVE ?door STATE open|shut``). A variable named after a
kind of entity, or ``?agent``, ``?cell`` or ``?number``, stands for one of these; any other stands for whatever the
place allows; the same variable stands for the same throughout. What facts can state at all, and how many values of one
subject can hold at a time, is told by the world's relations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from teamworld.language.grammar import ParseError, parse_template
from teamworld.language.relations import Relation
from teamworld.language.terms import AgentId, Belief, Entity, Fact, Term, Variable, show

#: Orders of belief that are used: about the world, and about what a teammate believes of it.
ORDERS: Final = (0, 1)
#: Predicates that say where something is. A thing that has moved has left all the places that it had.
WHERE: Final = frozenset({"AT", "IN", "INSIDE", "ON", "POSITION"})
#: Two ways of being somewhere that exclude each other: in a room, or shut up in something.
_APART: Final = frozenset({"IN", "INSIDE"})
#: Predicates that say that somebody has a thing in hand: it lies nowhere.
IN_HAND: Final = frozenset({"HOLD", "CARRY"})
#: Characters of a line that are read.
LONGEST: Final = 300

_TOKEN = re.compile(
    r"""\s*(?:
      <\s*(?P<kind>[A-Za-z_][\w\ ]{0,60}?)\s*>(?:\s*\(\s*(?P<id>\d{1,9})\s*\))?
    | \(\s*(?P<row>-?\d{1,9})\s*,\s*(?P<column>-?\d{1,9})\s*\)
    | (?P<number>-?\d{1,9}(?:\.\d{1,9})?)(?![\w.]\w)
    | "(?P<quoted>[^"\\]{1,80})"
    | (?P<word>[A-Za-z_]\w{0,80})
    )""",
    re.VERBOSE,
)
_MARKS = " \t\r\n`*'.;,-•"
_LISTED = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.)](?!\d))\s+")


class Schema:
    """What facts of a world can state: its relations, by kind.

    Args:
        relations: Of the world.
        agents: Names of the agents.
    """

    def __init__(self, relations: Iterable[Relation], agents: Iterable[AgentId] = ()) -> None:
        self.relations = tuple(relations)
        self.agents = tuple(agents)
        self._of = {(relation.predicate, relation.subject): relation for relation in self.relations}
        things = self._things = {relation.subject for relation in self.relations} - {"agent"}
        words = {word for relation in self.relations for word in relation.values} - {"cell", "number", "agent"}
        self.kinds = frozenset(things | words)
        """Kinds of entities, and words that stand as values."""
        self.predicates = tuple(dict.fromkeys(relation.predicate for relation in self.relations))

    def of(self, fact: Fact) -> Relation | None:
        """Return the relation that a fact is one of, None where the world has no such relation."""
        return self._of.get((fact.predicate, fact.subject.kind if isinstance(fact.subject, Entity) else "agent"))

    def statable(self, fact: Fact) -> bool:
        """Return whether the world's relations can state a fact: subject, predicate and value go together."""
        relation = self.of(fact)
        if relation is None or (isinstance(fact.subject, str) and self.agents and fact.subject not in self.agents):
            return False
        value = fact.value
        if isinstance(value, Entity):
            return value.kind in relation.values
        if isinstance(value, tuple):
            return "cell" in relation.values
        if isinstance(value, int | float):
            return "number" in relation.values
        if isinstance(value, str):
            word = value in relation.values and value not in self._things
            return word or ("agent" in relation.values and value in self.agents)
        return False

    def displaced(self, held: Iterable[Fact], news: Sequence[Fact]) -> list[Fact]:
        """Return which of the facts that were held, oldest first, cannot stand beside newer ones.

        One value of an exclusive relation removes the others; of one with a capacity the oldest go. What has moved or
        is in a hand lies nowhere it was; what lies somewhere is in no hand. What is told at once stands together.
        """
        held, new = [fact for fact in held if fact not in set(news)], list(dict.fromkeys(news))
        out: dict[Fact, None] = {}
        for fact in new:
            relation = self.of(fact)
            most = relation.max_values if relation is not None else 1
            same = [old for old in held if old.subject == fact.subject and old.predicate == fact.predicate]
            beside = sum(old.subject == fact.subject and old.predicate == fact.predicate for old in new)
            out.update(dict.fromkeys(same[: max(0, len(same) + beside - most)]))
        places = [fact for fact in new if fact.predicate in WHERE]
        in_hand = {fact.value for fact in new if fact.predicate in IN_HAND}
        for old in held:
            if old.predicate in WHERE and (old.subject in in_hand or self._moved(old, places, held)):
                out[old] = None
            lies = old.predicate in IN_HAND and any(fact.subject == old.value for fact in places)
            if lies and old.value not in in_hand and not self._placed(old.value, held):
                out[old] = None
        return [fact for fact in held if fact in out]

    def _moved(self, old: Fact, places: Sequence[Fact], held: Sequence[Fact]) -> bool:
        """Return whether newer places of a thing contradict any that it had: then all that it had are gone."""
        new = [fact for fact in places if fact.subject == old.subject]
        had = [fact for fact in held if fact.subject == old.subject and fact.predicate in WHERE]
        for fact in new:
            for old_place in had:
                same = (
                    old_place.predicate == fact.predicate
                    and old_place.value != fact.value
                    and fact.predicate != "POSITION"
                )
                if same or {old_place.predicate, fact.predicate} == _APART:
                    return True
        return False

    @staticmethod
    def _placed(thing: Term, held: Sequence[Fact]) -> bool:
        return any(fact.subject == thing and fact.predicate in WHERE for fact in held)


@dataclass(frozen=True, slots=True)
class BeliefRule:
    """A template of beliefs. ``str`` is its written form, ``parse_rule`` the way back."""

    holders: tuple[AgentId | Variable, ...]
    subject: Entity | str | Variable
    predicate: str
    values: tuple[Term, ...]
    """One of them holds."""

    @property
    def order(self) -> int:
        """0 for a belief about the world, 1 for one about what a teammate believes."""
        return len(self.holders) - 1

    def __str__(self) -> str:
        holders = "".join(f"{show(holder)} BELIEVE " for holder in self.holders)
        return f"{holders}{show(self.subject)} {self.predicate} {'|'.join(map(show, self.values))}"

    def binding(self, belief: Belief, kinds: Collection[str] = ()) -> Mapping[str, Term] | None:
        """Return what the variables stand for in a belief; None where the belief is none of this rule.

        Args:
            belief: Without variables.
            kinds: Kinds of entities that there are: a variable named after one stands for that kind alone.
        """
        fact = belief.fact
        if len(belief.holders) != len(self.holders) or fact.predicate != self.predicate:
            return None
        bound: dict[str, Term] = {}
        pairs: list[tuple[Term, Term]] = [*zip(self.holders, belief.holders, strict=True), (self.subject, fact.subject)]
        if not all(_bind(pattern, term, bound, kinds) for pattern, term in pairs):
            return None
        for value in self.values:
            tried = dict(bound)
            if _bind(value, fact.value, tried, kinds):
                return tried
        return None


def _bind(pattern: Term, term: Term, bound: dict[str, Term], kinds: Collection[str]) -> bool:
    if not isinstance(pattern, Variable):
        return pattern == term
    name = pattern.name
    if name in bound:
        return bound[name] == term
    named = {"agent": isinstance(term, str), "cell": isinstance(term, tuple), "number": isinstance(term, int | float)}
    if name in named and not named[name]:
        return False
    if name in kinds and name not in named and not (isinstance(term, Entity) and term.kind == name):
        return False
    bound[name] = term
    return True


def parse_rule(text: str, orders: Collection[int] = ORDERS) -> BeliefRule:
    """Read ``?me BELIEVE ?mate BELIEVE ?apple IN ?kitchen``.

    Args:
        text: The written form; a blank may stand between a name and its number.
        orders: Orders that are allowed.

    Raises:
        ParseError: It is none, or of another order.
    """
    rule = BeliefRule(*parse_template(text))
    if rule.order not in orders:
        raise ParseError("rule", 1, 1, f"one of order {rule.order}", (f"a rule of order {_either(orders)}",))
    return rule


def _either(orders: Collection[int]) -> str:
    return " or ".join(map(str, sorted(orders)))


@dataclass(frozen=True)
class RuleSet:
    """The rules that a team has agreed on, and the schema that they are about."""

    rules: tuple[BeliefRule, ...]
    schema: Schema

    @classmethod
    def of(cls, schema: Schema, orders: Sequence[int] = ORDERS) -> RuleSet:
        """Return the rules that a world's relations make: one for each relation and order, like ones together."""
        groups: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}
        for relation in schema.relations:
            groups.setdefault((relation.predicate, relation.subject == "agent", relation.values), []).append(
                relation.subject
            )
        rules = []
        for order in orders:
            holders = tuple(Variable(name) for name in ("me", "mate")[: order + 1])
            for (predicate, _, values), subjects in groups.items():
                subject = Variable(subjects[0] if len(subjects) == 1 else "thing")
                rules.append(BeliefRule(holders, subject, predicate, tuple(_values(values, schema))))
        return cls(tuple(dict.fromkeys(rules)), schema)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The rules in written form."""
        return tuple(map(str, self.rules))

    def of_order(self, order: int) -> tuple[BeliefRule, ...]:
        """Return the rules of one order."""
        return tuple(rule for rule in self.rules if rule.order == order)

    def admits(self, belief: Belief) -> bool:
        """Return whether a belief is one that the rules keep, and that the world can state."""
        kinds = self.schema.kinds
        fits = any(rule.binding(belief, kinds) is not None for rule in self.rules)
        return fits and self.schema.statable(belief.fact)

    def sound(self, rule: BeliefRule) -> bool:
        """Return whether the world has a relation that a rule can be about: the type check of a proposed rule."""
        subject = rule.subject
        for relation in self.schema.relations:
            if relation.predicate != rule.predicate:
                continue
            if isinstance(subject, Variable):
                fits = subject.name in (relation.subject, "thing", "object", "entity") or subject.name not in (
                    self.schema.kinds | {"agent", "cell", "number"}
                )
            else:
                fits = relation.subject == (subject.kind if isinstance(subject, Entity) else "agent")
            if fits:
                return True
        return False


def _values(values: Sequence[str], schema: Schema) -> Iterator[Term]:
    """Yield what stands in the place of the value: a variable for a kind, one for many kinds, a word as it is."""
    things = [value for value in values if value in {"cell", "number", "agent"} or schema_kind(value, schema)]
    yield from (value for value in values if value not in things)
    if things:
        yield Variable(things[0] if len(things) == 1 else "place" if set(things) & schema.kinds else "value")


def schema_kind(word: str, schema: Schema) -> bool:
    """Return whether a word is a kind of entity: facts can have it as a subject, or it is no value on its own."""
    return any(relation.subject == word for relation in schema.relations)


def read_belief(line: str, schema: Schema, things: Iterable[Entity] = (), orders: Collection[int] = ORDERS) -> Belief:
    """Read a line that a reasoner wrote as a belief: case, blanks and marks of lists do not matter.

    Args:
        line: ``Alice believe <apple> (12) in kitchen``. A kind alone stands for the one thing of it that is known.
        schema: What facts can state.
        things: Entities that are known.
        orders: Orders that are allowed; a line of another is refused.

    Raises:
        ParseError: It is no such belief; nothing but a belief can come of any text.
    """
    text = _LISTED.sub("", line[:LONGEST]).strip(_MARKS)
    tokens, at = list[re.Match[str]](), 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise _refusal(repr(text[at : at + 12]), "a name, a thing, a cell or a number", at + 1)
        tokens.append(token)
        at = token.end()
    holders: list[AgentId] = []
    names = {name.casefold(): name for name in schema.agents}
    while len(tokens) >= 2 and (tokens[1]["word"] or "").casefold() in ("believe", "believes"):
        name = names.get((tokens[0]["word"] or tokens[0]["quoted"] or "").casefold())
        if name is None:
            raise _refusal(repr(tokens[0][0].strip()), "the name of an agent")
        holders.append(name)
        tokens = tokens[2:]
    if len(holders) - 1 not in orders or len(tokens) != 3:
        came = f"order {len(holders) - 1} and {len(tokens)} words"
        raise _refusal(came, f"order {_either(orders)}, then subject, predicate and value")
    predicates = {word.casefold(): word for word in schema.predicates}
    predicate = predicates.get((tokens[1]["word"] or "").casefold())
    if predicate is None:
        raise _refusal(repr(tokens[1][0].strip()), f"one of {', '.join(schema.predicates)}")
    known = tuple(things)
    subject, value = (_term(token, schema, known) for token in (tokens[0], tokens[2]))
    if not isinstance(subject, Entity | str):
        raise _refusal(repr(tokens[0][0].strip()), "a thing or an agent")
    fact = Fact(subject, predicate, value)
    if not schema.statable(fact):
        raise _refusal(f"'{fact}'"[:120], "what the world's relations can state")
    return Belief(tuple(holders), fact)


def _refusal(came: str, expected: str, column: int = 1) -> ParseError:
    return ParseError("belief", 1, column, came, (expected,))


def _term(token: re.Match[str], schema: Schema, things: Sequence[Entity]) -> Term:
    """Return what a token stands for."""
    if token["row"] is not None:
        return int(token["row"]), int(token["column"])
    if token["number"] is not None:
        return float(token["number"]) if "." in token["number"] else int(token["number"])
    kinds = {kind.casefold(): kind for kind in schema.kinds}
    if token["kind"] is not None:
        kind = kinds.get(re.sub(r"\s+", "", token["kind"]).casefold()) or kinds.get(token["kind"].casefold())
        if kind is None:
            raise _refusal(f"<{token['kind']}>", "a kind of thing that the world has")
        return Entity(kind, int(token["id"])) if token["id"] is not None else _only(kind, things)
    word = (token["word"] or token["quoted"] or "").strip()
    agents = {name.casefold(): name for name in schema.agents}
    if word.casefold() in agents:
        return agents[word.casefold()]
    kind = kinds.get(word.casefold())
    if kind is not None and any(thing.kind == kind for thing in things):
        return _only(kind, things)
    return kind if kind is not None else word


def _only(kind: str, things: Sequence[Entity]) -> Entity:
    ids = sorted({thing.id for thing in things if thing.kind == kind})
    if len(ids) != 1:
        raise _refusal(f"{len(ids)} known things", f"<{kind}> with its number")
    return Entity(kind, ids[0])
