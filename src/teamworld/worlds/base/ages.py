"""How old what an agent knows is, in words."""

from __future__ import annotations

from teamworld.language import AgentId, Entity, Facts
from teamworld.worlds.base.words import count


class Ages:
    """How many steps ago facts were perceived.

    Args:
        facts: What an agent knows, with the step of last sight of what it does not perceive now.
        t: Steps gone.
    """

    def __init__(self, facts: Facts, t: int) -> None:
        self._ages = {(fact.subject, fact.predicate): t - tick for fact, tick in facts.seen.items()}

    def of(self, subject: Entity | AgentId, *predicates: str) -> int:
        """Return how many steps ago facts about something were perceived, the oldest of them; 0 if now."""
        return max((self._ages.get((subject, predicate), 0) for predicate in predicates), default=0)

    def seen(self, subject: Entity | AgentId, *predicates: str) -> str:
        """Return the same in words, in brackets: `` (seen 3 steps ago)``; empty if now."""
        age = self.of(subject, *predicates)
        return f" (seen {ago(age)})" if age else ""


def ago(age: int) -> str:
    """Return an age in words: ``1 step ago``; ``now`` for 0."""
    return f"{count(age, 'step')} ago" if age else "now"
