"""What one step did to the goals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teamworld.language import GoalId
from teamworld.worlds.contract import GoalEvent
from teamworld.worlds.household.home import NodeId
from teamworld.worlds.household.observe import Names
from teamworld.worlds.household.physics import Happened


def events(
    names: Names,
    goals: Sequence[GoalId],
    first: Sequence[int],
    before: Sequence[int],
    after: Sequence[int],
    happened: Happened,
) -> Iterator[GoalEvent]:
    """Yield progress as shares of each goal, negative where something was taken away again, and what was done.

    Args:
        names: Of agents and things.
        goals: Of each predicate.
        first: Things that each predicate lacked at the start.
        before: What it lacked before the step, never below 0.
        after: The same after the step.
        happened: What agents did.
    """
    acts = {agent: done.act for agent, done in happened.done.items() if not done.reason}
    for goal, need, whole, was, now in zip(goals, names.episode.needs, first, before, after, strict=True):
        if was == now:
            continue
        verbs = ("putin", "putback") if now < was else ("grab",)
        who = tuple(
            names.name(agent)
            for agent, act in acts.items()
            if act.verb in verbs and act.onto in (0, need.target) and _is(names, act.target, need.name)
        )
        yield GoalEvent(goal, "progress", (was - now) / (whole or need.number), who)
        if now == 0:
            yield GoalEvent(goal, "done", 0.0, who)


def _is(names: Names, thing: NodeId, kind: str) -> bool:
    return names.episode.home.nodes[thing].name == kind
