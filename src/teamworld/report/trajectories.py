"""Metrics of a comparison that take a second look at logs: trajectories (E13), and honesty of memories (B13)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from teamworld.experiment.config import ExperimentSpec, RunCell
from teamworld.experiment.folder import RunFolder
from teamworld.memory.store import MemoryStore
from teamworld.memory.tracker import delta
from teamworld.memory.world_model import WorldModel
from teamworld.metrics import runs
from teamworld.metrics.definition import NULL, Value, mean
from teamworld.record import ActionStep, Event, read_log

TRAJECTORY = "E13"
HONESTY = frozenset({"B13.rate", "B13.T"})


def actions(log: Iterable[Event]) -> dict[str, list[str]]:
    """Return for each agent the actions that it began, in order, in written form."""
    found: dict[str, list[str]] = {}
    running: dict[str, tuple[str, int | None]] = {}
    for event in log:
        if not isinstance(event, ActionStep) or not event.spent:
            continue
        action = f"{event.verb}({', '.join(event.args)})"
        if running.get(event.agent) != (action, event.plan):
            found.setdefault(event.agent, []).append(action)
        if event.status == "running":
            running[event.agent] = action, event.plan
        else:
            running.pop(event.agent, None)
    return found


def trajectory(log: Path, reference: Path) -> dict[str, Value]:
    """Measure E13: each agent's actions against the best fitting of the reference team's; the mean over agents.

    Null where the reference was not run.
    """
    if not reference.exists():
        return {TRAJECTORY: NULL}
    references = list(actions(read_log(reference)).values())
    values = [runs.trajectory(mine, references).value for mine in actions(read_log(log)).values()]
    return {TRAJECTORY: mean([value for value in values if value is not None])}


def honesty(folder: RunFolder, experiment: ExperimentSpec, cell: RunCell) -> dict[str, Value]:
    """Measure B13: what a memory that is frozen after some episodes reports, against the episodes that follow.

    Both sides are counted by the same code, as the guidebook counts. A cell whose memory is not frozen on its way has
    no value.
    """
    options = folder.experiment().options[cell.method]
    last = options.get("freeze_after")
    if not last or last >= experiment.episodes:
        return {}
    with MemoryStore(folder.memory_file, readonly=True) as store:
        reported = store.world_model(cell.name)
    found = WorldModel()
    for episode in range(last + 1, experiment.episodes + 1):
        held_out = delta(read_log(folder.log(cell, episode)), identity=options["task_identity"])
        for instance in held_out.instances:
            found.add(instance)
    rates, durations = [], []
    for task in sorted({row.key.task for row in found.rows()}):
        told, seen = reported.guide(task), found.guide(task)
        if told.attempts and seen.attempts:
            rates.append(abs(told.successes / told.attempts - seen.successes / seen.attempts))
        if told.mean_duration is not None and seen.mean_duration is not None:
            durations.append(abs(told.mean_duration - seen.mean_duration))
    return {"B13.rate": mean(rates), "B13.T": mean(durations)}
