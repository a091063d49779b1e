"""The belief store of one agent: what it holds of the world, and of what each team-mate holds (CoBel-World spec A5).

What the agent itself perceives is the world's business (``View``); the store keeps what it was told beside it, and a
table for each team-mate of what that one has perceived or was told, as far as the agent can know: facts enter it only
if the team-mate could perceive them too, or if they were said between the two (spec B3.3, C12). The agent's own sights
never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from teamworld.language import AgentId, Entity, Fact, Facts, Schema
from teamworld.planning.fetch import HOLD
from teamworld.worlds.contract import Domain, View

Origin: TypeAlias = Literal["seen", "told", "predicted"]
#: From this probability on that a team-mate perceived something it is taken to know it.
LIKELY = 0.5
#: How likely something was brought that a team-mate was seen with and is seen without.
BROUGHT = 0.9
#: From this probability on a fact would be seen if it were true.
CERTAIN = 0.999


class Entry(NamedTuple):
    """A fact that a host holds."""

    fact: Fact
    weight: float = 1.0
    """Probability that it is so, or for a team-mate that it holds it."""
    since: int = 0
    """Tick at which it was so: of the sight, or of the message."""
    origin: Origin = "seen"
    evidence: tuple[str, ...] = ()
    """What it goes back to: ``sight:TICK`` or ``message:ID``, each once."""


class Table:
    """What one host holds, oldest first; newer evidence takes the place of what it excludes.

    Args:
        schema: What excludes what.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._entries: dict[Fact, Entry] = {}
        self.version = 0
        """Counted up with each change."""

    def __contains__(self, fact: object) -> bool:
        return fact in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All that is held."""
        return tuple(self._entries.values())

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts alone."""
        return tuple(self._entries)

    def take(self, news: Iterable[Entry]) -> None:
        """Take in evidence of one moment. The same evidence again changes nothing (spec A18, double counting)."""
        new = {one.fact: one for one in news if one.fact not in self or not self._used(one)}
        if not new:
            return
        self.drop(self._schema.displaced(self._entries, tuple(new)))
        for fact, one in new.items():
            old = self._entries.pop(fact, None)
            if old is not None:  # confirmed: the better evidence counts, never both
                sources = tuple(dict.fromkeys((*old.evidence, *one.evidence)))
                one = one._replace(weight=max(old.weight, one.weight), evidence=sources)
                if old.origin == "seen" and one.origin != "seen":
                    one = one._replace(origin="seen", since=old.since)
            self._entries[fact] = one
        self.version += 1

    def _used(self, one: Entry) -> bool:
        old = self._entries[one.fact]
        again = set(one.evidence) <= set(old.evidence) or (one.origin == old.origin == "seen")
        return again and one.weight <= old.weight

    def drop(self, facts: Iterable[Fact]) -> None:
        """Forget facts."""
        for fact in list(facts):
            if self._entries.pop(fact, None) is not None:
                self.version += 1


@dataclass
class Store:
    """The tables of one agent; nobody else reads them."""

    agent: AgentId
    schema: Schema
    domain: Domain
    shared: bool
    """All know what one of them has seen (``WorldSpec.memory`` is "team")."""
    mates: tuple[AgentId, ...]
    told: Table = field(init=False)
    """What others told of the world."""
    of: dict[AgentId, Table] = field(init=False)
    """First-order: what each team-mate holds."""
    met: dict[AgentId, int] = field(default_factory=dict)
    """When it saw each team-mate last."""
    carried: dict[Entity, AgentId] = field(default_factory=dict)
    """What team-mates were seen with last."""
    guesses: tuple[Entry, ...] = ()
    """What is predicted of the world, until the next observation (spec C15)."""
    _given: tuple[tuple[int, int], Facts] | None = None
    _minds: dict[AgentId, tuple[tuple[int, int, int], Facts]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.told = Table(self.schema)
        self.of = {mate: Table(self.schema) for mate in self.mates}

    # ---- the world

    def given(self, view: View) -> Facts:
        """Return what the agent holds of the world: what it has perceived, and what it was told since."""
        key = view.t, self.told.version
        if self._given is None or self._given[0] != key:
            self._given = key, self._merged(view)
        return self._given[1]

    def _merged(self, view: View) -> Facts:
        if not len(self.told):
            return view.known
        seen, current = view.recall.seen, set(view.facts)
        kept: list[Entry] = []
        known = list(view.known)
        for one in sorted(self.told.entries, key=lambda one: one.since):
            if one.fact in known:
                continue
            against = self.schema.displaced(known, (one.fact,))
            later = any(fact in current or seen.get(fact, view.t) >= one.since for fact in against)
            if later or self.domain.observation_probability(one.fact, self.agent, view.known) >= CERTAIN:
                continue  # sight beats hearsay: what it saw since, or would see now, is otherwise
            known = [fact for fact in known if fact not in set(against)]
            kept.append(one)
        if not kept:
            return view.known
        ticks = {fact: tick for fact, tick in seen.items() if fact in set(known)}
        given = Facts((*known, *(one.fact for one in kept)), {**ticks, **{one.fact: one.since for one in kept}})
        return given if sensible(self.agent, self.domain, given) else view.known

    def see(self, view: View) -> None:
        """Take in what the agent perceives: guesses go, and who was in sight has seen what it could see (A6.1)."""
        self.guesses = ()
        placed = {fact.subject for fact in view.facts if fact.predicate == "AT"}
        self.met |= {mate: view.t for mate in self.mates if mate in placed}
        if self.shared:
            return
        self._seen_without(view)
        given = self.given(view)
        current = dict.fromkeys(view.facts)
        near = {fact.subject for fact in current if isinstance(fact.subject, str)}
        for mate in self.mates:
            if mate in near or view.t == 0:
                self._witness(mate, current, view, given)

    def _seen_without(self, view: View) -> None:
        """Take what a team-mate was seen with, and is seen without, to be where goals want it."""
        holds = {fact.value for fact in view.facts if fact.predicate == HOLD}
        near = {fact.subject for fact in view.facts if fact.predicate == "AT"}
        lying = {fact.subject for fact in view.known if fact.predicate in ("IN", "INSIDE", "ON")}
        wanted = {dict(goal.features).get("thing"): goal for goal in view.goals if goal.thing is not None}
        news: list[Entry] = []
        for thing, mate in list(self.carried.items()):
            goal = wanted.get(thing.kind)
            if thing in holds or thing in lying or mate in near:
                del self.carried[thing]
            relation = dict(goal.features).get("relation") if goal is not None else None
            if relation and goal and goal.thing is not None and mate in near and thing not in {*holds, *lying}:
                entry = Entry(Fact(thing, relation, goal.thing), BROUGHT, view.t, "predicted", (f"sight:{view.t}",))
                news.append(entry)
                self.of[mate].take((entry,))  # who brought it knows
        self.carried |= {
            fact.value: fact.subject
            for fact in view.facts
            if fact.predicate == HOLD and fact.subject in self.mates
            if isinstance(fact.value, Entity) and isinstance(fact.subject, str)
        }
        self.told.take(news)

    def _witness(self, mate: AgentId, current: Mapping[Fact, None], view: View, given: Facts) -> None:
        table, news = self.of[mate], list[Entry]()
        source = f"sight:{view.t}"
        for fact in current:
            if fact not in table:
                weight = self.domain.observation_probability(fact, mate, given)
                if weight >= LIKELY:
                    news.append(Entry(fact, weight, view.t, "seen", (source,)))
        table.take(news)
        both = self.domain.observation_probability
        table.drop(
            fact
            for fact in table.facts
            if fact not in current and both(fact, mate, given) >= CERTAIN and both(fact, self.agent, given) >= CERTAIN
        )

    @property
    def guessed(self) -> frozenset[Fact]:
        """What it takes to be so without having seen it or been told."""
        return frozenset(one.fact for one in self.told.entries if one.origin == "predicted")

    # ---- team-mates

    def held_by(self, mate: AgentId, view: View) -> Facts:
        """Return what a team-mate holds of the world, as far as the agent knows: the agent's first-order beliefs.

        What the agent believes of the team-mate itself, where it is and what it has in hand, that one knows.
        """
        if self.shared:
            return self.given(view)
        key = view.t, self.told.version, self.of[mate].version
        if mate not in self._minds or self._minds[mate][0] != key:
            self._minds[mate] = key, self._mind(mate, view)
        return self._minds[mate][1]

    def _mind(self, mate: AgentId, view: View) -> Facts:
        own = [fact for fact in self.given(view) if fact.subject == mate]
        held = self.of[mate].facts
        gone = set(self.schema.displaced(held, own))
        facts = tuple(dict.fromkeys((*(fact for fact in held if fact not in gone), *own)))
        ticks = {one.fact: one.since for one in self.of[mate].entries if one.since < view.t and one.fact in set(facts)}
        return Facts(facts, ticks)

    def hear(self, entries: Iterable[Entry], view: View) -> None:
        """Take in what was told of the world; what the agent sees for itself now is left out."""
        current = set(view.facts)
        self.told.take(one for one in entries if one.fact not in current and one.fact.subject != self.agent)

    def tell(self, mate: AgentId, entries: Iterable[Entry]) -> None:
        """Note that a team-mate holds what was said between the two, or what it is told (D4)."""
        if mate in self.of:
            self.of[mate].take(entries)

    def expect(self, mate: AgentId, facts: Facts, t: int) -> None:
        """Note what a team-mate will have found out by doing what it announced: places that it has looked into."""
        table = self.of.get(mate)
        if table is not None and not self.shared:
            before = set(table.facts)
            news = [fact for fact in facts if fact not in before and isinstance(fact.value, str)]
            table.take(Entry(fact, 0.7, t, "predicted") for fact in news)


def sensible(agent: AgentId, domain: Domain, given: Facts) -> bool:
    """Return whether the rules of the world can work with what is believed: whoever told it may have made it up."""
    try:
        for goal in domain.goals(given):
            if goal.state == "open":
                domain.candidate_plans(goal, agent, given)
        domain.options(agent, given)
        domain.latent_variables(given)
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return False
    return True


def things(given: Iterable[Fact]) -> Sequence[Entity]:
    """Return the entities that some facts name, in order."""
    found: dict[Entity, None] = {}
    for fact in given:
        for term in (fact.subject, fact.value):
            if isinstance(term, Entity):
                found[term] = None
    return tuple(found)
