"""The plan library's page on a goal as it stands now, and how plans are ranked by estimate and record together."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.language import Binding, Entity, Plan, Term, ground, parse_action, parse_plan
from teamworld.memory.contract import Library, PlanRecord
from teamworld.methods.common.plan_answers import LONGEST
from teamworld.planning.candidates import MIN_SHARE, complete_action
from teamworld.planning.simulate import SimulatedPlan, share_in_time, simulate_plan
from teamworld.worlds.contract import Domain, Goal, View

#: The cause where every action of a plan was done and the task was not.
LEFT_OPEN = "goal_open"
#: Plans of a sort, and kinds of plans, that a page shows.
SHOWN, KINDS = 5, 3


class Entry(NamedTuple):
    """A plan of the library as it would be carried out now."""

    actions: tuple[str, ...]
    """Grounded on the goal as it stands, in written form, without what changes nothing."""
    steps: int
    """Estimated steps."""
    share: float
    """Share of the goal's work that it is expected to do in the steps left, from 0 to 1."""
    record: PlanRecord

    @property
    def rate(self) -> float:
        """Share of the work a step, by estimate and record, see ``pooled_rate``."""
        return pooled_rate(self.share, self.steps, self.record.attempts, self.record.progress, self.record.steps)


class Page(NamedTuple):
    """What the library offers for one goal."""

    attempts: int = 0
    """Plans that were carried out for the task so far."""
    kinds: tuple[PlanRecord, ...] = ()
    """The best prototypes, without what only searched or prepared."""
    more_kinds: int = 0
    """Prototypes that are not shown."""
    entries: tuple[Entry, ...] = ()
    """The best plans that did some of the work and can be carried out now, best first."""
    failed: tuple[Entry, ...] = ()
    """Plans that could be carried out now and did nothing so far, most tried first."""
    more: int = 0
    """Plans that are not shown."""

    @property
    def tells(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.kinds or self.entries or self.failed)

    @property
    def warns(self) -> bool:
        """Whether it shows anything that failed."""
        shown = (*self.kinds, *(entry.record for entry in self.entries))
        return bool(self.failed) or any(cause != LEFT_OPEN for record in shown for cause, _ in record.causes)

    @property
    def best(self) -> tuple[str, ...]:
        """The best known plan; empty where none did anything."""
        return self.entries[0].actions if self.entries else ()

    def find(self, actions: tuple[str, ...]) -> Entry | None:
        """Return the entry of a plan, if there is one."""
        return next((entry for entry in (*self.entries, *self.failed) if entry.actions == actions), None)


class RankedPlan(NamedTuple):
    """A plan that makes sense now."""

    actions: tuple[str, ...]
    rate: float
    """Share of the work a step; less than 0 for a plan that cannot be carried out."""
    reason: str = ""
    """Why it cannot be."""
    waits: bool = False
    """It changes nothing that can be foreseen."""


def pooled_rate(share: float, steps: float, attempts: int, progress: float, spent: float) -> float:
    """Return the share of a goal's work a step by estimate and record: the estimate counts as one attempt.

    A plan that is expected to do nothing by itself, a search, is judged by the estimate alone: that it did
    nothing so far says nothing against it.

    Args:
        share: Share of the work that it is expected to do, from 0 to 1.
        steps: Estimated steps, at least 1.
        attempts: Attempts on record.
        progress: Mean share of the work that they did.
        spent: Mean steps that they took.
    """
    if not share and not progress:
        return MIN_SHARE / steps
    return (max(share, MIN_SHARE) + attempts * progress) / (steps + attempts * spent)


def trim_plan(plan: Plan, goal: Goal, view: View, domain: Domain) -> SimulatedPlan:
    """Return the dry run of a plan without actions that change nothing.

    What waits for partners stays while the goal takes several agents at once: a dry run expects them to be there.
    """
    actions = [complete_action(action, view) for action in plan.actions]
    tried = simulate_plan(actions, view.agent, view.known, domain)
    if not tried.ok:
        return tried
    after = [*tried.before[1:], tried.then]
    kept = [
        action
        for action, before, then in zip(actions, tried.before, after, strict=True)
        if before.items != then.items or (goal.quorum > 1 and "quorum" in domain.measures.get(action.verb, ()))
    ]
    if len(kept) == len(actions):
        return tried
    shorter = simulate_plan(kept or actions[-1:], view.agent, view.known, domain)
    return shorter if shorter.ok and shorter.share(goal) >= tried.share(goal) else tried


def make_page(library: Library, goal: Goal, view: View, domain: Domain) -> Page:
    """Ground the library's plans on a goal as it stands, leaving out what cannot be done now.

    Cells, and things beside the goal's own, are of the place and the moment, which lifting does not reach: a plan that
    names some is of use only where the world's candidate plans name the same ones now. Plans that are the same without
    needless actions are one.
    """
    by_actions: dict[tuple[str, ...], Entry] = {}
    for record in library.plans:
        tried = _ground(record.text, goal, view, domain)
        if tried is not None and len(tried.actions) <= LONGEST and not _waits(tried):
            actions = tuple(map(str, tried.actions))
            known = by_actions.get(actions)
            both = record if known is None else _merge(known.record, record)
            by_actions[actions] = Entry(actions, max(1, tried.ticks), share_in_time(tried, goal, view.steps_left), both)
    entries = sorted((entry for entry in by_actions.values() if entry.record.progress), key=lambda entry: -entry.rate)
    failed = sorted(
        (entry for entry in by_actions.values() if not entry.record.progress and entry.share),
        key=lambda entry: -entry.record.attempts,
    )
    kinds = [record for record in library.prototypes if not record.only_prepared]
    return Page(
        attempts=library.attempts,
        kinds=tuple(kinds[:KINDS]),
        more_kinds=max(0, len(kinds) - KINDS),
        entries=tuple(entries[:SHOWN]),
        failed=tuple(failed[:SHOWN]),
        more=max(0, len(entries) - SHOWN) + max(0, len(failed) - SHOWN),
    )


def rank_plans(
    goal: Goal, view: View, domain: Domain, page: Page, others: Iterable[tuple[str, ...]] = ()
) -> list[RankedPlan]:
    """Return plans that make sense for a goal, best first by estimate and record; equals keep the world's order.

    Args:
        goal: An open goal that the agent's kind can work on.
        view: Of the agent.
        domain: The rules of its world.
        page: What the library knows of the goal.
        others: Plans that are considered beside those of the library and of the world.
    """
    ranked: dict[tuple[str, ...], RankedPlan] = {}
    offered = (Plan(tuple(map(parse_action, texts))) for texts in others)
    for plan in (*offered, *domain.candidate_plans(goal, view.agent, view.known)):
        tried = trim_plan(plan, goal, view, domain)
        actions = tuple(map(str, tried.actions))
        known = page.find(actions)
        record = (0, 0.0, 0.0) if known is None else (known.record.attempts, known.record.progress, known.record.steps)
        share = share_in_time(tried, goal, view.steps_left)
        rate = pooled_rate(share, max(1, tried.ticks), *record) if tried.ok else -1.0
        waits = _waits(tried)
        ranked.setdefault(actions, RankedPlan(actions, rate * MIN_SHARE if waits else rate, tried.reason, waits))
    for entry in page.entries:
        ranked.setdefault(entry.actions, RankedPlan(entry.actions, entry.rate))
    return sorted(ranked.values(), key=lambda plan: -plan.rate)


def _ground(text: str, goal: Goal, view: View, domain: Domain) -> SimulatedPlan | None:
    """Return the dry run of a lifted plan for a goal, without needless actions; None where it cannot be done now."""
    try:
        plan = ground(parse_plan(text), goal.id, Binding(goal.thing, goal.units, goal.quorum))
    except (UserError, KeyError):
        return None
    names = _names(plan, goal)
    if names:
        candidates = list(domain.candidate_plans(goal, view.agent, view.known))
        if not names <= {name for candidate in candidates for name in _names(candidate, goal)}:
            return None
    try:
        tried = trim_plan(plan, goal, view, domain)
    except UserError:
        return None
    return tried if tried.ok else None


def _waits(tried: SimulatedPlan) -> bool:
    """Return whether a plan changes nothing that can be foreseen."""
    return tried.ok and tried.still and len(tried.actions) == 1


def _names(plan: Plan, goal: Goal) -> set[Term]:
    """Return the cells and things that a plan names beside the goal's own."""
    args = (arg for action in plan.actions for arg in action.args)
    return {arg for arg in args if isinstance(arg, tuple | Entity) and arg != goal.thing}


def _merge(better: PlanRecord, other: PlanRecord) -> PlanRecord:
    """Return the record of two plans that are the same without needless actions, under the better one's text."""
    attempts, successes = better.attempts + other.attempts, better.successes + other.successes

    def mean(first: float, second: float) -> float:
        return (first * better.attempts + second * other.attempts) / attempts

    durations = [(record.mean_duration or 0.0) * record.successes for record in (better, other)]
    causes = dict(better.causes)
    for cause, count in other.causes:
        causes[cause] = causes.get(cause, 0) + count
    return PlanRecord(
        text=better.text,
        attempts=attempts,
        successes=successes,
        progress=mean(better.progress, other.progress),
        steps=mean(better.steps, other.steps),
        mean_duration=fsum(durations) / successes if successes else None,
        mean_team=mean(better.mean_team, other.mean_team),
        causes=tuple(sorted(causes.items(), key=lambda item: (-item[1], item[0]))),
    )
