"""What the world model says of a task or a plan, in the words that prompts show and rules repeat."""

from __future__ import annotations

from collections.abc import Sequence

from teamworld.memory.contract import GuideEntry, PlanRecord
from teamworld.methods.drwell.library import LEFT_OPEN
from teamworld.reasoning.prompts import plural

#: What words of the loop mean; other causes are words of the world.
_CAUSES = {
    LEFT_OPEN: "all actions done, the task not",
    "horizon": "out of time",
    "all_done": "not needed any more",
    "gone": "agent lost",
}


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.3g} %"


def mean_steps(steps: float) -> str:
    """Return a mean number of steps."""
    return plural(float(f"{steps:.3g}"), "step")


def describe_causes(causes: Sequence[tuple[str, int]]) -> str:
    """Return why plans failed, in a few words."""
    return ", ".join(f"{_CAUSES.get(cause, cause).replace('_', ' ')} {count}x" for cause, count in causes)


def describe_ends(causes: Sequence[tuple[str, int]], attempts: int) -> str:
    """Return how attempts ended that did not finish a task, in a few words; empty where there is nothing to say.

    A plan whose actions were all done did not fail; of a single attempt that stands elsewhere.
    """
    failed = [entry for entry in causes if entry[0] != LEFT_OPEN]
    left = [entry for entry in causes if entry not in failed] if failed or attempts > 1 else []
    return "; ".join(filter(None, (describe_causes(left), f"failed: {describe_causes(failed)}" if failed else "")))


def describe_entry(entry: GuideEntry) -> str:
    """Return the guidebook's line on a task; empty where nobody has tried it."""
    if not entry.attempts or entry.progress is None or entry.steps is None:
        return ""
    details = []
    if entry.attempts == 1:
        text = f"{entry.verdict}: {_one_attempt(entry.causes)} {percent(entry.progress)} of the work"
        text += f" in {plural(entry.steps, 'step')}"
    else:
        text = f"{entry.verdict}: {_attempts(entry.attempts, entry.successes, entry.progress, entry.steps)}"
    if entry.mean_duration is not None:
        begun = f"begun at step {entry.earliest_start}"
        begun += f" to {entry.latest_start}" if entry.latest_start != entry.earliest_start else ""
        finished = "" if entry.successes == entry.attempts else f"finished in {entry.mean_duration:.3g}, "
        best = "" if entry.attempts == 1 else f"{finished}best {entry.shortest}, "
        details.append(best + begun)
    if len(entry.teams) > 1:
        by_team = (f"{team.team}: {percent(team.progress)} of {team.attempts}" for team in entry.teams)
        details.append(f"by team size {', '.join(by_team)}")
        if entry.smallest is not None:
            details.append(f"smallest that finished {entry.smallest}, best {entry.team}")
    else:
        details.append(f"team of {entry.teams[0].team}")
    return "; ".join(filter(None, [text, *details, describe_ends(entry.causes, entry.attempts)]))


def describe_record(record: PlanRecord) -> str:
    """Return the library's line on a plan or a kind of plans."""
    if record.attempts == 1:
        text = f"{_one_attempt(record.causes)} {percent(record.progress)} of the work in {plural(record.steps, 'step')}"
    else:
        text = _attempts(record.attempts, record.successes, record.progress, record.steps)
    return "; ".join(filter(None, (text, describe_ends(record.causes, record.attempts))))


def _attempts(attempts: int, successes: int, progress: float, steps: float) -> str:
    finished = {0: "none", attempts: "all"}.get(successes, str(successes))
    did = f"{attempts} attempts did {percent(progress)} of the work in {mean_steps(steps)} on average"
    return f"{did}, {finished} finished it"


def _one_attempt(causes: Sequence[tuple[str, int]]) -> str:
    return "1 attempt, all actions done, did" if [cause for cause, _ in causes] == [LEFT_OPEN] else "1 attempt did"
