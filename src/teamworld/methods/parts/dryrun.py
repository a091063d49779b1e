"""Dry run: going through a plan in the head, on what the agent knows and if team-mates do their part."""

from __future__ import annotations

from typing import NamedTuple

from teamworld.language import Plan
from teamworld.worlds.contract import Domain, View


class DryRun(NamedTuple):
    """How far a plan gets in a dry run."""

    ok: bool
    """All actions could start, one after the other."""
    first_legal: bool
    """The first one can start now."""
    ticks: int
    """Estimated ticks of the actions that could start."""
    failed: int | None = None
    """Index of the first action that could not start."""
    reason: str = ""


def dry_run(plan: Plan, view: View, domain: Domain) -> DryRun:
    """Go through the plan with the domain's preconditions and expected effects."""
    given, ticks = view.known, 0
    for index, action in enumerate(plan.actions):
        verdict = domain.check(view.agent, action, given)
        if not verdict.ok:
            return DryRun(False, index > 0, ticks, index, f"step {index + 1}, {action}: {verdict.reason}")
        ticks += domain.ticks(view.agent, action, given)
        if index + 1 < len(plan.actions):  # what follows the last one is of no account
            given = domain.after(view.agent, action, given)
    return DryRun(True, True, ticks)
