"""The symbolic world model of an episode's method: as earlier episodes had left it, and with what this one added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.contract import GuideEntry, MemoryDelta, PlanInstance, PlanRecord
from teamworld.memory.guidebook import WorldModel
from teamworld.memory.notes import recent_notes
from teamworld.memory.store import MemoryStore
from teamworld.viewer.replay_types import AddedNote, AddedPlan, EpisodeMemory, GuideLine, PlanLine, TaskMemory


def read_memory(folder: RunFolder, cell: RunCell, episode: int) -> EpisodeMemory | None:
    """Return what was learned before an episode of a run and in it; None where nothing was stored.

    Raises:
        UserError: The file of the world model is damaged.
    """
    if not folder.memory_file.exists():
        return None
    with MemoryStore(folder.memory_file, readonly=True) as store:
        deltas = store.deltas(cell.name, up_to=episode)
    if not deltas or deltas[-1].episode != episode:
        return None
    return compare_memory(deltas[:-1], deltas[-1])


def compare_memory(earlier: Sequence[MemoryDelta], added: MemoryDelta) -> EpisodeMemory:
    """Return what earlier episodes had learned beside what is known with what another one added, task by task."""
    deltas = (*earlier, added)
    before, after = _model(earlier), _model(deltas)
    outcomes = {outcome.task for delta in deltas for outcome in delta.tasks}
    tasks = sorted(outcomes | {instance.task for delta in deltas for instance in delta.instances})
    return EpisodeMemory(
        episodes=len(earlier),
        tasks=[
            TaskMemory(
                task=task,
                before=_guide(before.guide(task)),
                after=_guide(after.guide(task)),
                plans_before=[_plan(record) for record in before.library(task).plans],
                plans_after=[_plan(record) for record in after.library(task).plans],
                added=[_added(instance) for instance in added.instances if instance.task == task],
            )
            for task in tasks
        ],
        notes=list(recent_notes(note.text for delta in earlier for note in delta.reflections)),
        added=[AddedNote(agent=note.agent, text=note.text) for note in added.reflections],
    )


def _model(deltas: Iterable[MemoryDelta]) -> WorldModel:
    model = WorldModel()
    for delta in deltas:
        for instance in delta.instances:
            model.add(instance)
    return model


def _guide(entry: GuideEntry) -> GuideLine:
    return GuideLine(
        attempts=entry.attempts,
        successes=entry.successes,
        progress=entry.progress,
        steps=entry.steps,
        team=entry.team,
        verdict=entry.verdict,
    )


def _plan(record: PlanRecord) -> PlanLine:
    return PlanLine(
        text=record.text,
        attempts=record.attempts,
        successes=record.successes,
        progress=record.progress,
        steps=record.steps,
    )


def _added(instance: PlanInstance) -> AddedPlan:
    return AddedPlan(
        agent=instance.agent,
        goal=instance.goal,
        plan=instance.plan,
        origin=instance.origin,
        start=instance.start,
        end=instance.end,
        success=instance.success,
        cause="replaced" if instance.cut else instance.cause,
    )
