"""The plan library's page on a goal as it stands now, and how a rule chooses from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.language import Action, Binding, Measures, Plan, ground, lift, parse_action, parse_plan
from teamworld.memory.contract import Library, PlanRecord
from teamworld.memory.plan_statistics import smoothed
from teamworld.methods.common.plan_answers import action_texts, candidate_texts, plan_error
from teamworld.worlds.contract import Domain, Goal, View

#: The smoothed rate of a plan never tried: whatever is not better than that gives way to it.
_UNTRIED = smoothed(0, 0)


class Entry(NamedTuple):
    """A plan of the library that can be tried now."""

    actions: tuple[str, ...]
    """Grounded on the goal as it stands, in written form."""
    record: PlanRecord


class Page(NamedTuple):
    """What the library offers for one goal, best first."""

    entries: tuple[Entry, ...]
    attempts: int
    """Attempts at the task so far, all plans together."""
    binding: Binding
    measures: Measures
    tried: frozenset[str]
    """All lifted plans that were ever tried for the task."""
    explore: int
    """A task with fewer attempts is new: untried plans come first."""
    convention: int | None
    """A number that partners who must act at once agreed on; None for a task of one agent."""
    turn: int
    """What tells one try of partners from the next: the attempts so far; the tick where these are not counted."""

    def lifted(self, actions: tuple[str, ...]) -> str:
        """Return a plan's lifted form, under which the library keeps it."""
        parsed: tuple[Action, ...] = tuple(map(parse_action, actions))
        return str(lift(Plan(parsed), self.binding, self.measures))

    def choose(
        self, draft: tuple[str, ...], options: Sequence[tuple[str, ...]], rng: np.random.Generator
    ) -> tuple[str, ...]:
        """Choose between the draft, the library's best plan, and one never tried.

        While the task is new, an untried draft stands. After that the best plan of the library stands
        while its smoothed rate (s + 1) / (n + 2) is better than that of a plan never tried, one half;
        what went well no more often than not gives way to an untried plan, which is drawn.

        Plans are never exchanged, so partners who must act at once follow a convention: their drafts do
        not count, and while the task is new, or nothing is proven, all of them take the same untried
        plan, the one that comes first in an order agreed on for this turn.
        """
        untried = [option for option in options if self.lifted(option) not in self.tried]
        new = self.attempts < self.explore
        if draft and self.convention is None and new and self.lifted(draft) not in self.tried:
            return draft
        best = self.entries[0] if self.entries else None
        proven = best is not None and smoothed(best.record.successes, best.record.attempts) > _UNTRIED
        exploring = new and self.convention is not None and untried
        if best is not None and proven and not exploring:
            return best.actions
        if untried:
            alone = self.convention is None
            return untried[int(rng.integers(len(untried)))] if alone else min(untried, key=self._agreed)
        return best.actions if best is not None else draft

    def _agreed(self, actions: tuple[str, ...]) -> bytes:
        """The place of a plan in the order that partners agreed on, whatever else each of them could do."""
        text = f"{self.convention}:{self.turn}:{self.lifted(actions)}"
        return hashlib.blake2b(text.encode(), digest_size=16).digest()


def page(
    library: Library, goal: Goal, view: View, domain: Domain, explore: int, convention: int | None, turn: int
) -> Page:
    """Ground the library's plans on a goal as it stands, leaving out what cannot be done now.

    Cells are of the place and the moment, which lifting does not reach: a plan that names some is of use only where
    the world's candidate plans name the same ones now.
    """
    binding = Binding(goal.thing, goal.units, goal.quorum)
    entries = []
    candidates: set[tuple[str, ...]] | None = None
    for record in library.plans:
        try:
            actions = action_texts(ground(parse_plan(record.text), goal.id, binding))
        except (UserError, KeyError):
            continue
        if any(isinstance(arg, tuple) for text in actions for arg in parse_action(text).args):
            candidates = set(candidate_texts(goal, view, domain)) if candidates is None else candidates
            if actions not in candidates:
                continue
        if plan_error(actions, view, domain) is None:
            entries.append(Entry(actions, record))
    tried = frozenset(record.text for record in library.plans)
    return Page(tuple(entries), library.attempts, binding, domain.measures, tried, explore, convention, turn)
