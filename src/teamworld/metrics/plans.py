"""Plans: whether they could be carried out, how they ended, why agents planned anew (metrics spec, D14 to D16, B12)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias, get_args

import numpy as np

from teamworld.metrics.definition import Value, share
from teamworld.metrics.episode import NOBODY, STAGES, Episode
from teamworld.record import PlanEnd, PlanStart

Status: TypeAlias = Literal["success", "failed", "interrupted", "superseded", "expired", "unfinished"]
#: What a plan was revised for (D16).
Cause: TypeAlias = Literal["message", "precondition", "failure", "world", "timer", "repair", "goal_done", "other"]
#: Words of methods that name the cause; any other tells how the agent's last plan ended.
_WORDS: Mapping[str, Cause] = {
    "message": "message",
    "resync": "message",
    "world": "world",
    "timer": "timer",
    "repair": "repair",
}


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure plans."""
    plans, endings = episode.all(PlanStart), episode.all(PlanEnd)
    ways = Counter(ending.status for ending in endings)
    length = {plan.plan: plan.length for plan in plans if plan.length is not None}
    lasted = [ending for ending in endings if ending.plan in length]
    resumed = list(_resumed(episode))
    return {
        "D14": share(sum(plan.parsed and plan.first_action_legal for plan in plans), len(plans)),
        "D14.strict": share(sum(plan.dry_run_ok for plan in plans), len(plans)),
        **{f"D15.{status}": share(ways[status], len(endings)) for status in get_args(Status)},
        "D15.survival": share(
            sum(ending.actions_done for ending in lasted), sum(length[ending.plan] for ending in lasted)
        ),
        **_replanning(episode),
        "D16.resume": share(sum(resumed), len(resumed)),
        "B12.reuse": share(sum(plan.origin == "reused" for plan in plans), len(plans)),
    }


def _replanning(episode: Episode) -> dict[str, Value]:
    """Return revised plans per agent and 100 steps, and by cause."""
    causes: Counter[Cause] = Counter()
    failures = _last_failures(episode)
    before: dict[str, PlanEnd] = {}
    events: list[PlanStart | PlanEnd] = [*episode.all(PlanStart), *episode.all(PlanEnd)]
    for event in sorted(events, key=lambda event: event.seq):
        if isinstance(event, PlanEnd):
            before[event.agent] = event
        elif event.origin == "revised":
            causes[_cause(event, before.get(event.agent), failures)] += 1
    agent_steps = len(episode.acts)
    return {
        "D16": share(100 * causes.total(), agent_steps),
        **{f"D16.{cause}": share(100 * causes[cause], agent_steps) for cause in get_args(Cause)},
    }


def _cause(plan: PlanStart, before: PlanEnd | None, failures: Mapping[int, bool]) -> Cause:
    """Return why a plan was revised: by the method's word, else by how the agent's last plan ended."""
    if plan.cause in _WORDS:
        return _WORDS[plan.cause]
    if before is None:
        return "other"
    if before.goal_done:
        return "goal_done"
    if before.status != "failed":
        return "other"
    return "failure" if failures.get(before.plan, True) else "precondition"


def _last_failures(episode: Episode) -> dict[int, bool]:
    """Return for each plan with a failed action whether the last of these had been able to start."""
    acts = episode.acts
    rows = np.flatnonzero(acts.failed & (acts.plan != NOBODY))
    # An action that was passed over in a step came before what was done in the step.
    tried = zip(acts.plan[rows].tolist(), acts.step[rows].tolist(), acts.legal[rows].tolist(), strict=True)
    last = {plan: (step, legal) for plan, step, legal in tried}
    for act in episode.passed_over:
        if act.plan is not None and act.step > last.get(act.plan, (-1, True))[0]:
            last[act.plan] = act.step, False
    return {plan: legal for plan, (_, legal) in last.items()}


def _resumed(episode: Episode) -> Iterator[bool]:
    """Yield for each interruption that is followed by a plan whether it is the plan that ran before.

    An agent is interrupted where it enters stage I or its plan ends as interrupted; a plan that was let run on is the
    same plan.
    """
    ended = {ending.plan: ending for ending in episode.all(PlanEnd)}
    mine: dict[str, list[PlanStart]] = {}
    for plan in episode.all(PlanStart):
        mine.setdefault(plan.agent, []).append(plan)
    stays = episode.stays
    halts = stays.stage == STAGES.index("I")
    for agent, plans in mine.items():
        steps = stays.step[halts & (stays.agent == episode.who[agent])].tolist()
        for plan, following in zip(plans, (*plans[1:], None), strict=True):
            ending = ended.get(plan.plan)
            end = episode.steps if ending is None else ending.step
            yield from [True] * (bisect_left(steps, end) - bisect_right(steps, plan.step))
            if ending is not None and ending.status == "interrupted" and following is not None:
                yield following.text == plan.text
