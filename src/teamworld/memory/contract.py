"""What the symbolic world model holds, and what a method may ask of it (DR. WELL spec A7-A9)."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, TypeAlias

import msgspec

#: Key of a task over episodes: the goal's id, or its class where layouts change (DR. WELL spec B8).
TaskKey: TypeAlias = str
Identity: TypeAlias = Literal["id", "class"]
#: How a team came to its commitments.
Communication: TypeAlias = Literal["negotiated", "chat", "none"]
#: How plans are ranked when only few samples are known, see ``teamworld.memory.experience``.
Ranking: TypeAlias = Literal["expected", "wilson", "rate"]


class Instance(msgspec.Struct, frozen=True, kw_only=True):
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
    """The goal was done by the end of the plan (DR. WELL spec B4)."""
    truncated: bool
    """Cut off by the end of the episode (DR. WELL spec B5)."""
    units: int
    """Work left at the start, in the world's own measure."""
    progress: int
    """Of it, done by the end."""
    team: int
    """Agents committed to the task when the plan was taken up (DR. WELL spec B7)."""
    communication: Communication

    @property
    def duration(self) -> int:
        """Ticks from start to end."""
        return self.end - self.start


class TaskOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a task in an episode."""

    task: TaskKey
    goal: str
    success: bool
    end: int | None
    """Tick at which it was done."""
    order: int | None
    """Rank among the tasks done, from 1."""


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent told the team when it revised a plan (DR. WELL spec B18)."""

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
    instances: tuple[Instance, ...]
    reflections: tuple[Reflection, ...] = ()


class TeamRecord(NamedTuple):
    """How a task went with one team size."""

    team: int
    attempts: int
    successes: int
    mean_duration: float | None
    """Of the successes."""


class StartRecord(NamedTuple):
    """How a task went when begun about a certain time of the episode."""

    attempts: int
    successes: int


class GuideEntry(NamedTuple):
    """The guidebook's line on one task (DR. WELL spec A8)."""

    task: TaskKey
    attempts: int
    successes: int
    mean_duration: float | None
    shortest: int | None
    smallest_team: int | None
    """Smallest team that succeeded."""
    team: int | None
    """Recommended team size."""
    mean_start: float | None
    """Tick at which successes were begun, as are the next two."""
    earliest_start: int | None
    latest_start: int | None
    verdict: Literal["untested", "highly effective", "moderate", "challenging", "needs a new strategy"]
    teams: tuple[TeamRecord, ...]
    """By team size, ascending."""
    about_now: StartRecord = StartRecord(0, 0)
    """Of the attempts begun in the same ten ticks of an episode (DR. WELL spec A7, derived views)."""

    @property
    def rate(self) -> float | None:
        """Successes over attempts; None where never tried."""
        return self.successes / self.attempts if self.attempts else None


class PlanRecord(NamedTuple):
    """The library's line on one plan or prototype (DR. WELL spec A9)."""

    text: str
    """A lifted plan in written form, or a prototype."""
    attempts: int
    successes: int
    mean_duration: float | None
    """Of the successes."""
    mean_team: float
    mean_progress: float
    """Mean share of the work left that was done."""


class Library(NamedTuple):
    """What is known about plans for one task, best first."""

    task: TaskKey
    attempts: int
    prototypes: tuple[PlanRecord, ...]
    plans: tuple[PlanRecord, ...]


class Memory(Protocol):
    """What a method may ask of the world model during an episode."""

    def guide(self, task: TaskKey, now: int = 0) -> GuideEntry:
        """The guidebook's entry at a tick of the episode; an untested one for an unknown task."""

    def library(self, task: TaskKey) -> Library:
        """The plan library's page for a task; empty for an unknown one."""

    def best(self) -> TaskKey | None:
        """The task that went best so far."""

    def ranked(self, by: Ranking) -> Memory:
        """The same memory, ranking plans, tasks and team sizes another way."""

    def add(self, instance: Instance) -> None:
        """Take in an instance while the episode runs (DR. WELL spec B3)."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What agents told the team so far, oldest first, each once (DR. WELL spec B18)."""

    def remember(self, text: str) -> None:
        """Take in what an agent tells the team while the episode runs."""
