"""One running macro-action, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from teamworld.language import Action, AgentId
from teamworld.worlds.contract import Constraint
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import TimeLimits, block_of, count_of
from teamworld.worlds.cube.symbolic_state import SymbolicState

if TYPE_CHECKING:
    from teamworld.worlds.cube.transition import StepEffects

STAY = "stay"


class Refusal(NamedTuple):
    """Why an action cannot start."""

    reason: str
    constraint: Constraint | None = None
    blocker: str | None = None


class Result(NamedTuple):
    """How a skill stands after a step."""

    status: Literal["running", "done", "failed"] = "running"
    reason: str = ""
    constraint: Constraint | None = None
    blocker: str | None = None
    ready: str | None = None


RUNNING, DONE = Result(), Result("done")


def failed(reason: str, constraint: Constraint | None, blocker: str | None = None) -> Result:
    """Return the result of a skill that gives up."""
    return Result("failed", reason, constraint, blocker)


@dataclass
class Skill:
    """One running macro-action of one agent; this one does nothing for ``steps`` ticks."""

    verb: ClassVar[str] = "idle"

    agent: AgentId
    action: Action
    """Complete: defaults filled in."""
    limits: TimeLimits
    spent: int = field(default=0, init=False)
    """Ticks since it started, the current one included."""

    #: Where it acts, fixed at the start; only of skills that need alignment.
    place = geometry.Place(-1, "")
    #: It pushes a block that has still to move.
    lacking = False

    @property
    def block(self) -> int | None:
        """The block that the action is about."""
        return block_of(self.action)

    def begin(self, state: SymbolicState) -> Refusal | None:
        """Check the preconditions against the truth and fix what is inferred at the start."""
        return None

    def primitive(self, known: SymbolicState) -> str:
        """Return the direction to try in this step, or ``stay``."""
        return STAY

    def watch(self, effects: StepEffects) -> None:
        """Count what the step did; called for all skills before any is asked for its result."""

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Return how the action stands after the step."""
        return DONE if self.spent >= count_of(self.action, 0) else RUNNING


@dataclass(frozen=True)
class TeamActivity:
    """Who does what in one step, once the orders are given."""

    skills: Mapping[AgentId, Skill]

    @cached_property
    def unfinished(self) -> frozenset[geometry.Place]:
        """Faces with a pusher whose block has still to move (the group session of CUBE spec A13).

        To be read after all have watched the step.
        """
        return frozenset(skill.place for skill in self.skills.values() if skill.lacking)

    @cached_property
    def longest(self) -> Mapping[geometry.Place, int]:
        """For each face with pushers, the largest number of steps that one of them wants."""
        found: dict[geometry.Place, int] = {}
        for skill in self.skills.values():
            if skill.verb == "push_block":
                found[skill.place] = max(found.get(skill.place, 0), count_of(skill.action, 1))
        return found

    @cached_property
    def engaged(self) -> Mapping[int, frozenset[AgentId]]:
        """For each block, the agents that push it or wait in a rendezvous there."""
        found: dict[int, set[AgentId]] = {}
        for agent, skill in self.skills.items():
            if skill.verb in ("push_block", "rendezvous"):
                found.setdefault(skill.place.block, set()).add(agent)
        return {block: frozenset(agents) for block, agents in found.items()}

    @cached_property
    def bound(self) -> Mapping[int, int]:
        """For each block, how many agents do anything that is about it."""
        found: dict[int, int] = {}
        for skill in self.skills.values():
            if skill.block is not None:
                found[skill.block] = found.get(skill.block, 0) + 1
        return found

    @cached_property
    def meeting(self) -> Mapping[geometry.Place, frozenset[AgentId]]:
        """For each face, the agents in the rendezvous state."""
        found: dict[geometry.Place, set[AgentId]] = {}
        for agent, skill in self.skills.items():
            if skill.verb == "rendezvous":
                found.setdefault(skill.place, set()).add(agent)
        return {place: frozenset(agents) for place, agents in found.items()}

    @cached_property
    def waiting(self) -> frozenset[AgentId]:
        """The agents that wait for team-mates, in a rendezvous or anywhere."""
        return frozenset(a for a, skill in self.skills.items() if skill.verb in ("rendezvous", "wait_agents"))

    @cached_property
    def busy(self) -> int:
        """How many agents do anything but wait for others to have nothing to do (CUBE spec B26)."""
        return sum(skill.verb != "wait_agents" for skill in self.skills.values())
