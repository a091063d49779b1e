"""What starts a discussion: new targets that an agent sees, and sub-tasks that it finds done (CaPo, progress).

A target is a thing of a kind that an open goal wants, once it is seen, or what an open goal of another sort is about,
once the goal is known. Where things are to go is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from teamworld.language import AgentId, Entity, GoalId, plain
from teamworld.methods.capo.options import CapoOptions
from teamworld.planning.fetch import wanted_kind
from teamworld.planning.goals import open_goals
from teamworld.worlds.contract import Goal, View

#: What the reason is about that sub-tasks are done.
DONE: Final = "done"


class Reason(NamedTuple):
    """Why a discussion is to be held."""

    agent: AgentId
    """Who found it."""
    about: str
    """The target, or ``DONE``: what several agents find is one reason."""
    text: str
    """In words."""


class Target(NamedTuple):
    """What a goal is about, or one of the things that it wants."""

    name: str
    """In words."""
    thing: Entity | None


def find_targets(view: View, matching: Literal["exact", "part"] = "exact") -> Mapping[str, Target]:
    """Return the targets that an agent knows to be there: wanted things that it perceives now, and goals about others.

    Args:
        view: Of the agent.
        matching: ``part``: the name of a thing's kind only has to contain that of a wanted one.
    """
    goals = open_goals(view.goals)
    kinds = {kind for goal in goals if (kind := wanted_kind(goal)) is not None}

    def is_wanted(thing: Entity) -> bool:
        return thing.kind in kinds or (matching == "part" and any(kind in thing.kind for kind in kinds))

    in_sight = dict.fromkeys(
        thing for fact in view.facts for thing in (fact.subject, fact.value) if isinstance(thing, Entity)
    )
    wanted = {str(thing): Target(plain(thing), thing) for thing in in_sight if is_wanted(thing)}
    single = (goal for goal in goals if wanted_kind(goal) is None)
    return wanted | {
        goal.id: Target(f"{plain(goal.thing)}, of task {goal.id}" if goal.thing else f"task {goal.id}", goal.thing)
        for goal in single
    }


class Progress:
    """How far the team is, as one agent saw it: the most that was delivered of each goal.

    What is taken away again is no progress, and what is put back in its place is none either.
    """

    def __init__(self) -> None:
        self._wanted: dict[GoalId, int] = {}
        self._delivered: dict[GoalId, int] = {}

    def count(self, goals: Iterable[Goal]) -> int:
        """Return how many sub-tasks are done: goals about one thing, and things that others wanted.

        Args:
            goals: As the agent knows them, or was told.
        """
        for goal in goals:
            if wanted_kind(goal) is None:
                done = int(goal.state == "done")
            else:
                left = 0 if goal.state == "done" else goal.units
                done = self._wanted.setdefault(goal.id, max(goal.units, left)) - left
            self._delivered[goal.id] = max(done, self._delivered.get(goal.id, 0))
        return sum(self._delivered.values())


class TriggerWatch:
    """What one agent has seen that could start a discussion, and what of it was discussed.

    Args:
        agent: Whose it is.
        options: Of CaPo.
    """

    def __init__(self, agent: AgentId, options: CapoOptions) -> None:
        self._agent, self._options = agent, options
        self._met: set[str] = set()
        self._progress = Progress()
        self._done = 0

    def notice(self, view: View, reported: Iterable[Entity], is_busy: bool) -> Sequence[Reason]:
        """Return what is new to an agent since it was last asked, each reason once.

        Args:
            view: Of the agent.
            reported: Things that it was told of.
            is_busy: Whether an action of its own runs.
        """
        targets = find_targets(view, self._options.matching)
        known = set(reported) if self._options.told_counts else set[Entity]()
        new = [about for about, target in targets.items() if about not in self._met and target.thing not in known]
        self._met.update(targets)
        reasons = [Reason(self._agent, about, f"{self._agent} knows of {targets[about].name} now") for about in new]
        if not is_busy or self._options.deliveries == "each":
            done = self._progress.count(view.goals)
            if done > self._done:
                self._done = done
                reasons.append(Reason(self._agent, DONE, f"{done} of the sub-tasks done"))
        return reasons

    def settle(self, view: View, goals: Mapping[GoalId, Goal]) -> None:
        """Take all that the agent sees, and knows to be done, as discussed.

        Args:
            view: Of the agent.
            goals: As it knows them, and was told.
        """
        self._met.update(find_targets(view, self._options.matching))
        self._done = max(self._done, self._progress.count(view.goals), self._progress.count(goals.values()))
