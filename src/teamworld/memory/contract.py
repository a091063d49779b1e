"""What the symbolic world model holds, and what a method may ask of it (DR. WELL, symbolic world model)."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

#: Key of a task over episodes: the goal's id, or its class where layouts change.
TaskKey: TypeAlias = str
Identity: TypeAlias = Literal["id", "class"]
#: How a team came to its commitments.
Communication: TypeAlias = Literal["negotiated", "chat", "none"]
#: How plans are ranked when only few samples are known, see ``teamworld.memory.guidebook``.
Ranking: TypeAlias = Literal["expected", "wilson", "rate"]
#: The guidebook's word for a success rate.
Verdict: TypeAlias = Literal["untested", "highly effective", "moderate", "challenging", "needs a new strategy"]


class PlanInstance(msgspec.Struct, frozen=True, kw_only=True):
    """One plan of one agent for one task, and what came of it: a leaf of the world model."""

    episode: int
    agent: str
    task: TaskKey
    goal: str
    plan: str
    """The plan as it was taken up, in written form."""
    lifted: str
    """The same with ``?goal``, ``?units`` and ``?quorum`` in place of what was particular to it."""
    prototype: str
    """The names of its actions."""
    origin: Literal["fresh", "revised", "reused"]
    start: int
    """Tick at which it was taken up."""
    end: int
    success: bool
    """Whether the goal was done by the end of the plan."""
    truncated: bool
    """Whether the end of the episode cut it off."""
    units: int
    """Work left at the start, in the world's own measure."""
    progress: int
    """Of it, done by the end."""
    team: int
    """Agents committed to the task when the plan was taken up."""
    communication: Communication

    @property
    def duration(self) -> int:
        """Ticks from start to end."""
        return self.end - self.start


class TaskOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a task ended in an episode, and at which tick it was done."""

    task: TaskKey
    goal: str
    success: bool
    end: int | None
    order: int | None
    """Rank among the tasks done, from 1."""


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent told the team when it revised a plan."""

    agent: str
    tick: int
    text: str
    """One short line, see ``teamworld.memory.notes``."""


class MemoryDelta(msgspec.Struct, frozen=True, kw_only=True):
    """What one episode adds to the world model: the ΔG of G_{k+1} = G_k ∪ ΔG_k."""

    episode: int
    completed: bool
    ticks: int
    tasks: tuple[TaskOutcome, ...]
    instances: tuple[PlanInstance, ...]
    reflections: tuple[Reflection, ...] = ()


class StartRecord(NamedTuple):
    """How a task went when begun about a certain time of the episode."""

    attempts: int
    successes: int


class GuideEntry(NamedTuple):
    """The guidebook's line on one task; durations and starts are ticks of the successes."""

    attempts: int
    successes: int
    mean_duration: float | None
    team: int | None
    """Recommended team size."""
    earliest_start: int | None
    latest_start: int | None
    verdict: Verdict
    about_now: StartRecord = StartRecord(0, 0)
    """Of the attempts begun in the same ten ticks of an episode."""


class PlanRecord(NamedTuple):
    """The plan library's line on one plan or prototype; durations are ticks of the successes."""

    text: str
    """A lifted plan in written form, or a prototype."""
    attempts: int
    successes: int
    mean_duration: float | None
    mean_team: float


class Library(NamedTuple):
    """The plan library's page for one task, best first."""

    attempts: int
    prototypes: tuple[PlanRecord, ...]
    plans: tuple[PlanRecord, ...]
