"""What the symbolic world model holds, and what a method may ask of it (DR. WELL, symbolic world model)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

if TYPE_CHECKING:
    from teamworld.memory.guidebook import WorldModel

#: Key of a task over episodes: the goal's id, or its class where layouts change.
TaskKey: TypeAlias = str
Identity: TypeAlias = Literal["id", "class"]
#: Why a plan ended whose actions all went well and whose goal is open, in the loop's word.
OPEN = "goal_open"
#: How a team came to its commitments.
Communication: TypeAlias = Literal["negotiated", "chat", "none"]
#: How plans are ranked when only few samples are known, see ``teamworld.memory.guidebook``.
Ranking: TypeAlias = Literal["expected", "wilson", "rate"]
#: The guidebook's word for how much of the work an attempt does on average.
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
    """Whether the goal was done by the end of the plan, and its agent took part."""
    truncated: bool
    """Whether the end of the episode cut it off."""
    units: int
    """Work left at the start, in the world's own measure."""
    progress: int
    """Of it, done by the end."""
    team: int
    """Agents committed to the task when the plan was taken up."""
    communication: Communication
    cause: str = ""
    """Why it ended without success, in a word of the world or the loop; empty where it succeeded."""
    cut: bool = False
    """Another plan replaced it before it ended, or others did its goal: it says nothing of the plan and counts for
    nothing."""
    situation: str = ""
    """The goal's class when the plan was taken up: the starting situation in the world's features."""
    quorum: int = 1
    """Agents that the goal needed at once then."""
    credit: int = 0
    """What it did for other goals, in millionths of a goal: see ``Tracker``."""
    helped: tuple[str, ...] = ()
    """These goals."""
    done_by: int | None = None
    """The step by which the goal was done after all, where its agent went on with it in the episode; None where the
    plan did it itself, and of a preparation. Known when the episode is over."""

    @property
    def duration(self) -> int:
        """Steps from start to end."""
        return self.end - self.start

    @property
    def is_preparation(self) -> bool:
        """Whether all its actions went well and did nothing for any goal: a search, or a way."""
        return not self.success and self.cause == OPEN and not self.progress and not self.credit


class TaskOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a task ended in an episode, and at which tick it was done."""

    task: TaskKey
    goal: str
    success: bool
    end: int | None
    order: int | None
    """Rank among the tasks done, from 1."""


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent leaves for later episodes: a rule told to the team, a lesson, or the record of an episode."""

    agent: str
    tick: int
    text: str
    """DR. WELL: one short line, see ``teamworld.memory.notes``; else as the method writes it."""


class MemoryDelta(msgspec.Struct, frozen=True, kw_only=True):
    """What one episode adds to the world model: the ΔG of G_{k+1} = G_k ∪ ΔG_k."""

    episode: int
    completed: bool
    ticks: int
    tasks: tuple[TaskOutcome, ...]
    instances: tuple[PlanInstance, ...]
    reflections: tuple[Reflection, ...] = ()


class WorldModelStore(Protocol):
    """Where the world models of runs are kept: ``MemoryStore`` in a file, ``ServerStore`` on a server.

    G_{k+1} = G_k ∪ ΔG_k: a delta is stored under (run, episode), so storing it again changes nothing, and the order
    does not matter. All raise ``UserError`` where the place cannot be used.
    """

    def commit(self, run: str, delta: MemoryDelta) -> None:
        """Store what an episode adds, whole or not at all, in place of any earlier attempt of (run, episode)."""

    def discard(self, run: str, keep: Collection[int]) -> tuple[int, ...]:
        """Remove the deltas of a run's episodes that are not to be kept, and return which these were."""

    def runs(self) -> tuple[str, ...]:
        """Return the names of the runs that have a delta here, in order."""

    def episodes(self, run: str) -> tuple[int, ...]:
        """Return the numbers of a run's episodes that have a delta here, in order."""

    def deltas(self, run: str, up_to: int | None = None) -> tuple[MemoryDelta, ...]:
        """Return a run's deltas by episode, as they were committed, up to the one that is named."""

    def world_model(self, run: str, ranking: Ranking = "expected") -> WorldModel:
        """Return what a run has learned so far."""


class TeamRecord(NamedTuple):
    """How attempts at a task went with so many agents."""

    team: int
    attempts: int
    successes: int
    progress: float
    """Mean share of the work that an attempt did, from 0 to 1."""


class GuideEntry(NamedTuple):
    """The guidebook's line on one task.

    Agents that begin a joint task together make one attempt. Preparations and plans that were replaced are none.
    """

    attempts: int
    successes: int
    """Attempts by whose end the goal was done."""
    progress: float | None
    """Mean share of the work that an attempt did, from 0 to 1; None where there is none."""
    steps: float | None
    """Mean steps of all attempts."""
    mean_duration: float | None
    """Mean steps of the successes, as all that follows on times."""
    shortest: int | None
    team: int | None
    """Recommended team size."""
    smallest: int | None
    """Smallest team that succeeded."""
    teams: tuple[TeamRecord, ...]
    """By team size, ascending."""
    earliest_start: int | None
    latest_start: int | None
    causes: tuple[tuple[str, int], ...]
    """Why plans ended without success, in words of the world, with how often, most frequent first."""
    verdict: Verdict


class PlanRecord(NamedTuple):
    """The plan library's line on one plan or prototype."""

    text: str
    """A lifted plan in written form, or a prototype."""
    attempts: int
    successes: int
    progress: float
    """Mean share of the work that an attempt did, from 0 to 1."""
    steps: float
    """Mean steps of all attempts."""
    mean_duration: float | None
    """Mean steps of the successes."""
    mean_team: float
    causes: tuple[tuple[str, int], ...] = ()
    """As in ``GuideEntry``."""

    @property
    def only_prepared(self) -> bool:
        """Whether every attempt was a preparation: nothing was done, and nothing failed."""
        return not self.progress and not self.causes


class Library(NamedTuple):
    """The plan library's page for one task, best first."""

    attempts: int
    """Plans that were carried out, searches included."""
    prototypes: tuple[PlanRecord, ...]
    plans: tuple[PlanRecord, ...]
