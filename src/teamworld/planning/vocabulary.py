"""The words of a world in which things are fetched: its predicates, their values and its verbs, by their roles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from teamworld.language import Relation, Role

#: Stands in for a relation that a world does not have: no fact has an empty predicate.
_ABSENT: Final = Relation("", "", ("", ""), max_values=0, verbs=("", "", ""))


class Vocabulary:
    """What a world calls what matters to an agent that fetches things; an empty word where it has no such thing.

    Args:
        relations: What facts of the world can state, with roles.
    """

    def __init__(self, relations: Iterable[Relation]) -> None:
        relations = tuple(relations)
        by_role = {relation.role: relation for relation in reversed(relations)}

        def find(role: Role) -> Relation:
            return by_role.get(role, _ABSENT)

        def verbs(role: Role) -> tuple[str, ...]:
            return find(role).verbs or _ABSENT.verbs

        self.at = find("at").predicate
        self.held, self.hands = find("held").predicate, find("held").max_values
        self.near, self.position = find("near").predicate, find("position").predicate
        self.room, self.container, self.surface = (find(role).predicate for role in ("room", "container", "surface"))
        self.access, (self.opened, self.closed) = find("access").predicate, find("access").values
        self.search, (self.seen_in_part, self.seen) = find("search").predicate, find("search").values
        self.go, self.grab, self.put = verbs("near")[0], verbs("held")[0], verbs("surface")[0]
        self.open, self.close, self.check = verbs("access")
        self.explore = verbs("search")[0]
        #: Predicates of a map: its size, what of it nobody has seen.
        self.mapped = frozenset(relation.predicate for relation in relations if relation.role == "map")
        #: Predicates that say more exactly what others say, or what a map shows: no paragraph of words needs them.
        self.details = frozenset((self.position, self.near, *self.mapped)) - {""}
        #: Kinds of entities that can be searched, and that can be opened.
        self.rooms = frozenset(relation.subject for relation in relations if relation.role == "search")
        self.containers = frozenset(relation.subject for relation in relations if relation.role == "access")
