"""Belief tables of one agent: of order zero (the world) and of order one (what each teammate holds).

What the agent perceives comes from its ``View``. A fact enters a teammate's table only if the teammate could perceive
it too, or if it was said between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from teamworld.language import AgentId, Entity, Fact, Facts, Schema
from teamworld.planning.fetch import goal_fact, wanted_kind
from teamworld.planning.goals import are_possible
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import View

Origin: TypeAlias = Literal["seen", "told", "predicted"]
#: From this probability on that a teammate perceived something it is taken to know it.
LIKELY: Final = 0.5
#: Probability that something was brought that a teammate was seen with and is seen without.
BROUGHT: Final = 0.9
#: From this probability on a fact would be seen if it were true.
CERTAIN: Final = 0.999


class BeliefEntry(NamedTuple):
    """A fact that a host holds."""

    fact: Fact
    weight: float = 1.0
    """Probability that it is so, or for a teammate that it holds it."""
    since: int = 0
    """Tick at which it was so: of the sight, or of the message."""
    origin: Origin = "seen"
    evidence: tuple[str, ...] = ()
    """``sight:TICK`` or ``message:ID``, each once."""


class BeliefTable:
    """What one host holds, oldest first; newer evidence takes the place of what it excludes."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.entries: dict[Fact, BeliefEntry] = {}
        self.version = 0
        """Counted up with each change."""

    def add(self, evidence: Iterable[BeliefEntry]) -> None:
        """Take in evidence of one moment. The same evidence again changes nothing."""
        new = {entry.fact: entry for entry in evidence if not self._is_counted(entry)}
        if not new:
            return
        self.drop(self._schema.displaced(self.entries, tuple(new)))
        for fact, entry in new.items():
            old = self.entries.pop(fact, None)
            if old is not None:  # confirmed: the better evidence counts, never both
                sources = tuple(dict.fromkeys((*old.evidence, *entry.evidence)))
                entry = entry._replace(weight=max(old.weight, entry.weight), evidence=sources)
                if old.origin == "seen" and entry.origin != "seen":
                    entry = entry._replace(origin="seen", since=old.since)
            self.entries[fact] = entry
        self.version += 1

    def _is_counted(self, entry: BeliefEntry) -> bool:
        old = self.entries.get(entry.fact)
        if old is None or entry.weight > old.weight:
            return False
        return set(entry.evidence) <= set(old.evidence) or (entry.origin == old.origin == "seen")

    def drop(self, facts: Iterable[Fact]) -> None:
        """Forget facts."""
        for fact in list(facts):
            if self.entries.pop(fact, None) is not None:
                self.version += 1


@dataclass
class BeliefStore:
    """The belief tables of one agent; nobody else reads them."""

    agent: AgentId
    schema: Schema
    domain: BeliefDomain
    shared: bool
    """All agents know what one of them has seen (``WorldSpec.memory`` is "team")."""
    teammates: tuple[AgentId, ...]
    world: BeliefTable = field(init=False)
    """Order zero: what others told of the world."""
    ascribed: dict[AgentId, BeliefTable] = field(init=False)
    """Order one: what each teammate holds."""
    words: Vocabulary = field(init=False)
    last_met: dict[AgentId, int] = field(default_factory=dict)
    """When it saw each teammate last."""
    carried: dict[Entity, AgentId] = field(default_factory=dict)
    """What teammates were seen with last."""
    looked: dict[AgentId, set[Entity | str]] = field(default_factory=dict)
    """Places that each teammate was seen to look at: to it they are not unseen, whatever the agent has seen."""
    _cache: dict[AgentId, tuple[Hashable, Facts]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = Vocabulary(self.domain.relations)
        self.world = BeliefTable(self.schema)
        self.ascribed = {teammate: BeliefTable(self.schema) for teammate in self.teammates}

    def _cached(self, host: AgentId, key: Hashable, merge: Callable[[], Facts]) -> Facts:
        if host not in self._cache or self._cache[host][0] != key:
            self._cache[host] = key, merge()
        return self._cache[host][1]

    # ---- order zero: the world

    def facts(self, view: View) -> Facts:
        """Return what the agent has perceived, and what it was told since."""
        return self._cached(self.agent, (view.t, self.world.version), lambda: self._merge(view))

    def _merge(self, view: View) -> Facts:
        if not self.world.entries:
            return view.known
        seen, current = view.recall.seen, set(view.facts)
        kept: dict[Fact, int] = {}
        known = list(view.known)
        for entry in sorted(self.world.entries.values(), key=lambda entry: entry.since):
            if entry.fact in known:
                continue
            excluded = self.schema.displaced(known, (entry.fact,))
            outdated = any(fact in current or seen.get(fact, view.t) >= entry.since for fact in excluded)
            if outdated or self.domain.beliefs.observation_probability(entry.fact, self.agent, view.known) >= CERTAIN:
                continue  # sight beats hearsay: what it saw since, or would see now, is otherwise
            known = [fact for fact in known if fact not in set(excluded)]
            kept[entry.fact] = entry.since
        if not kept:
            return view.known
        seen_at = {fact: tick for fact, tick in seen.items() if fact in set(known)}
        facts = Facts((*known, *kept), {**seen_at, **kept})
        return facts if are_possible(facts, view, self.domain) else view.known

    def observe(self, view: View) -> None:
        """Take in what the agent perceives: who was in sight has seen what it could see."""
        placed = {fact.subject for fact in view.facts if fact.predicate == self.words.at}
        self.last_met |= {teammate: view.t for teammate in self.teammates if teammate in placed}
        if self.shared:
            return
        self._observe_hands(view)
        facts = self.facts(view)
        current = dict.fromkeys(view.facts)
        near = {fact.subject for fact in current if isinstance(fact.subject, str)}
        for teammate in self.teammates:
            if teammate in near:
                self._observe_look(teammate, facts)
            if teammate in near or view.t == 0:
                self._observe_witness(teammate, current, view, facts)

    def _observe_hands(self, view: View) -> None:
        """Take what a teammate was seen with, and is seen without, to be where goals want it."""
        words = self.words
        in_hand = {fact.value: fact.subject for fact in view.facts if fact.predicate == words.held}
        near = {fact.subject for fact in view.facts if fact.predicate == words.at}
        lying = {fact.subject for fact in view.known if fact.predicate in (words.room, words.container, words.surface)}
        wanted = {wanted_kind(goal): goal for goal in view.goals}
        news: list[BeliefEntry] = []
        for thing, teammate in list(self.carried.items()):
            is_seen = thing in in_hand or thing in lying
            if is_seen or teammate in near:
                del self.carried[thing]
            goal = wanted.get(thing.kind)
            brought = goal_fact(goal, thing) if goal is not None else None
            if brought is not None and teammate in near and not is_seen:
                entry = BeliefEntry(brought, BROUGHT, view.t, "predicted", (f"sight:{view.t}",))
                news.append(entry)
                self.ascribed[teammate].add((entry,))  # who brought it knows
        for held, holder in in_hand.items():
            if isinstance(held, Entity) and isinstance(holder, str) and holder in self.teammates:
                self.carried[held] = holder
        self.world.add(news)

    def _observe_look(self, teammate: AgentId, facts: Facts) -> None:
        """Note which places a teammate in sight sees itself: the map calls them unseen to it no longer."""
        table, looked = self.ascribed[teammate], self.looked.setdefault(teammate, set())
        mapped = [fact for fact in {**table.entries, **dict.fromkeys(facts)} if fact.predicate in self.words.mapped]
        perceives = self.domain.beliefs.observation_probability
        looked.update(fact.subject for fact in mapped if perceives(fact, teammate, facts) <= 0)
        table.drop(fact for fact in mapped if fact.subject in looked)

    def _observe_witness(self, teammate: AgentId, current: Collection[Fact], view: View, facts: Facts) -> None:
        """Note what a teammate in sight perceives as well, and what it sees to be otherwise."""
        table, news = self.ascribed[teammate], list[BeliefEntry]()
        perceives, looked = self.domain.beliefs.observation_probability, self.looked.get(teammate, set())
        for fact in current:
            if fact not in table.entries and not (fact.predicate in self.words.mapped and fact.subject in looked):
                weight = perceives(fact, teammate, facts)
                if weight >= LIKELY:
                    news.append(BeliefEntry(fact, weight, view.t, "seen", (f"sight:{view.t}",)))
        table.add(news)
        table.drop(
            fact
            for fact in table.entries
            if fact not in current
            and perceives(fact, teammate, facts) >= CERTAIN
            and perceives(fact, self.agent, facts) >= CERTAIN
        )

    def hear(self, entries: Iterable[BeliefEntry], view: View) -> None:
        """Take in what was told of the world; what the agent sees for itself now is left out."""
        current = set(view.facts)
        self.world.add(entry for entry in entries if entry.fact not in current and entry.fact.subject != self.agent)

    # ---- order one: teammates

    def facts_of(self, teammate: AgentId, view: View) -> Facts:
        """Return what a teammate holds of the world; of itself and what it has in hand all that the agent does."""
        if self.shared:
            return self.facts(view)
        table = self.ascribed[teammate]

        def merge() -> Facts:
            facts = self.facts(view)
            about = {teammate} | {f.value for f in facts if f.subject == teammate and f.predicate == self.words.held}
            own = [fact for fact in facts if fact.subject in about]
            gone = set(self.schema.displaced(table.entries, own))
            held = dict.fromkeys((*(fact for fact in table.entries if fact not in gone), *own))
            since = {entry.fact: entry.since for entry in table.entries.values() if entry.since < view.t}
            return Facts(tuple(held), {fact: tick for fact, tick in since.items() if fact in held})

        return self._cached(teammate, (view.t, self.world.version, table.version), merge)
