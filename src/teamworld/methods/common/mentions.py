"""What a text names that still matters: open goals, the things that they are about, things of a kind that they want."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from teamworld.language import Entity, Facts, plain, plain_names
from teamworld.planning.fetch import wanted_kind
from teamworld.worlds.contract import Goal, Option

_THING = re.compile(r"(?<!\w)(([a-z_]+)_\d+)(?!\w)")


def unknown_names(known: Facts, goals: Iterable[Goal]) -> Callable[[str], bool]:
    """Return a test of texts: whether one names a thing that an open goal is about or wants, and no fact is about.

    Args:
        known: What the reader has perceived.
        goals: As the reader knows them.
    """
    left = [goal for goal in goals if goal.state == "open"]
    kinds = {wanted_kind(goal) for goal in left} | {goal.thing.kind for goal in left if goal.thing is not None}
    met = {plain(term) for fact in known for term in (fact.subject, fact.value) if isinstance(term, Entity)}
    return lambda text: any(kind in kinds and name not in met for name, kind in _THING.findall(plain_names(text)))


def names_open(text: str, goals: Iterable[Goal], options: Iterable[Option] = ()) -> bool:
    """Return whether a text names something of a goal that is open, or what an option of the reader's is about.

    Args:
        text: In any words, with names of things plain or exact.
        goals: As the reader knows them.
        options: Of the reader: who searches tells where.
    """
    patterns = [re.escape(plain(arg)) for option in options for arg in option.action.args if isinstance(arg, Entity)]
    for goal in (goal for goal in goals if goal.state == "open"):
        kind = wanted_kind(goal)
        names = (goal.id, plain(goal.thing) if goal.thing is not None else "")
        patterns += [*map(re.escape, filter(None, names)), *([rf"{re.escape(kind)}_\d+"] if kind is not None else [])]
    return bool(patterns) and re.search(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", plain_names(text)) is not None
