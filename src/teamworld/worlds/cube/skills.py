"""Macro-actions at work: each unrolls into one primitive a step until it is done or has failed.

A skill steers by what its team knows, recomputed at every step; whether it is done is judged by the truth
(CUBE spec A12, A13, with the choices B18-B27).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from teamworld.language import Action, AgentId, Cell
from teamworld.worlds.contract import Constraint
from teamworld.worlds.cube import concepts
from teamworld.worlds.cube.effects import WALL_WORD, Effects
from teamworld.worlds.cube.paths import distances, toward
from teamworld.worlds.cube.scene import DELTA, OPPOSITE, Scene, entity, goal_name
from teamworld.worlds.cube.schemas import TimeLimits, block_of, count_of, word_of

STAY = "stay"


class Refused(NamedTuple):
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


@dataclass(frozen=True)
class Crew:
    """Who does what in one step, once the orders are given."""

    skills: Mapping[AgentId, Skill]

    @cached_property
    def unfinished(self) -> frozenset[concepts.Place]:
        """Faces with a pusher whose block has still to move (the group session of CUBE spec A13).

        To be read after all have watched the step.
        """
        return frozenset(s.place for s in self._pushers() if s.went < s.steps)

    @cached_property
    def engaged(self) -> Mapping[int, frozenset[AgentId]]:
        """For each block, the agents that push it or wait in a rendezvous there."""
        found: dict[int, set[AgentId]] = {}
        for agent, skill in self.skills.items():
            if isinstance(skill, PushBlock | Rendezvous):
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
    def meeting(self) -> Mapping[concepts.Place, frozenset[AgentId]]:
        """For each face, the agents in the rendezvous state."""
        found: dict[concepts.Place, set[AgentId]] = {}
        for agent, skill in self.skills.items():
            if isinstance(skill, Rendezvous):
                found.setdefault(skill.place, set()).add(agent)
        return {place: frozenset(agents) for place, agents in found.items()}

    def waiting(self, team: int) -> int:
        """Return how many of the team wait for agents or have nothing to do (CUBE spec B26)."""
        return team - sum(not isinstance(skill, WaitAgents) for skill in self.skills.values())

    def _pushers(self) -> Iterator[PushBlock]:
        return (skill for skill in self.skills.values() if isinstance(skill, PushBlock))


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

    @property
    def block(self) -> int | None:
        """The block that the action is about."""
        return block_of(self.action)

    def begin(self, scene: Scene) -> Refused | None:
        """Check the preconditions against the truth and fix what is inferred at the start."""
        return None

    def primitive(self, known: Scene) -> str:
        """Return the direction to try in this step, or ``stay``."""
        return STAY

    def watch(self, effects: Effects) -> None:
        """Count what the step did; called for all skills before any is asked for its result."""

    def result(self, effects: Effects, crew: Crew) -> Result:
        """Return how the action stands after the step."""
        return DONE if self.spent >= count_of(self.action, 0) else RUNNING


class Idle(Skill):
    """Stay for a number of steps."""


class Talk(Skill):
    """Pay for talking."""

    verb = "talk"


class WaitAgents(Skill):
    """Stay until enough agents wait or have nothing to do."""

    verb = "wait_agents"

    def result(self, effects: Effects, crew: Crew) -> Result:
        """Count all who wait in this step, this agent included."""
        count, timeout = count_of(self.action, 0), count_of(self.action, 1)
        if crew.waiting(len(effects.after.agents)) >= count:
            return DONE
        return failed("timeout", "participation") if self.spent >= timeout else RUNNING


class Move(Skill):
    """Try to go one way for a number of steps; done if it went that far (CUBE spec B18)."""

    verb = "move"
    went: int = 0
    last: str | None = None

    def primitive(self, known: Scene) -> str:
        """Go on, whatever is in the way."""
        return word_of(self.action, 0)

    def watch(self, effects: Effects) -> None:
        """Count the cells gone."""
        self.went += self.agent in effects.moved
        self.last = effects.blocker(self.agent) or self.last

    def result(self, effects: Effects, crew: Crew) -> Result:
        """Judge after the last attempt."""
        steps = count_of(self.action, 1)
        if self.spent < steps:
            return RUNNING
        return DONE if self.went == steps else failed("blocked", "spatial", self.last)


def face_gone(scene: Scene, block: int, face: str) -> Refused | None:
    """Return why nobody can stand at a face, or None if somebody can."""
    if concepts.staging(scene, block, face):
        return None
    causes = concepts.blocked_by(scene, block, face)
    return Refused("face_gone", "spatial", str(entity(causes.blocks[0])) if causes.blocks else WALL_WORD)


def gone(scene: Scene, block: int) -> Refused | None:
    """Return why nothing can be done with a block, or None if it is there."""
    square = scene.blocks.get(block)
    if square is None:
        return Refused("unknown_block")
    return Refused("block_gone") if square.delivered else None


def stand(scene: Scene, agent: AgentId, block: int | None, face: str | None = None) -> concepts.Place | Refused:
    """Return the face at which the agent is aligned, or why it is not aligned there (anywhere if None)."""
    if block is None:
        return Refused("unknown_block")
    if (refused := gone(scene, block)) is not None:
        return refused
    found = concepts.face_of(scene, agent, block)
    if found is None or (face is not None and found != face):
        return Refused("not_aligned", "spatial")
    return concepts.Place(block, found)


def left_behind(scene: Scene, agent: AgentId, place: concepts.Place) -> Result | None:
    """Return the failure of an agent whose block is gone or no longer before it."""
    now = stand(scene, agent, *place)
    return failed(*now) if isinstance(now, Refused) else None


class MoveToBlock(Skill):
    """Walk to a face and line up: a free cell, most central first, else the shortest queue (CUBE spec B19, B20)."""

    verb = "move_to_block"
    lost: bool = False
    """There was no way in this step."""
    blocker: str | None = None

    def begin(self, scene: Scene) -> Refused | None:
        """The block is there and somebody can stand at the face."""
        block = self.block
        if block is None:
            return Refused("unknown_block")
        return gone(scene, block) or face_gone(scene, block, word_of(self.action, 1))

    def primitive(self, known: Scene) -> str:
        """Take the next step of a shortest path, recomputed now."""
        block, face = self.block, word_of(self.action, 1)
        self.lost, self.blocker = False, None
        if block is None or gone(known, block) is not None:
            return STAY
        if (way := better_place(known, self.agent, block, face)) is not None:
            return way
        if concepts.face_of(known, self.agent, block) == face:
            return STAY
        at = known.agents[self.agent]
        self.lost = True
        near = toward(distances(known, concepts.staging(known, block, face), through_agents=True), at)
        if near is None:
            return STAY
        ahead = at[0] + DELTA[near[0]][0], at[1] + DELTA[near[0]][1]
        self.blocker = known.by_cell.get(ahead)
        return near[0] if self.blocker is None else STAY

    def result(self, effects: Effects, crew: Crew) -> Result:
        """Aligned, gone, or out of time; a face that vanishes ends the action at once (DR. WELL spec B13)."""
        block, face, timeout = self.block, word_of(self.action, 1), count_of(self.action, 2)
        if block is None or (refused := gone(effects.after, block)) is not None:
            return failed("block_gone", None)
        if concepts.face_of(effects.after, self.agent, block) == face:
            better = better_place(effects.known, self.agent, block, face) if block in effects.known.blocks else None
            if better is None or self.spent >= timeout:
                return DONE
        refused = gone(effects.known, block) or face_gone(effects.known, block, face)
        if refused is not None:
            return failed(*refused)
        if self.spent >= timeout:
            return failed("unreachable" if self.lost else "timeout", "spatial", self.blocker)
        return Result(blocker=self.blocker)


def targets(scene: Scene, block: int, face: str) -> list[tuple[tuple[int, int], Cell]]:
    """Return the free cells to line up on, best first, each with its rank.

    The rank is the distance from the face, then the distance from its middle (CUBE spec A13, B19, B20): free cells
    of the face come first, then the ends of the queues behind it.
    """
    middle = outside_middle(scene, block, face)
    found = [
        ((len(line.agents), abs(line.next[0] + line.next[1] - middle)), line.next) for line in lines
    ]
    return found


class Rendezvous(Skill):
    """Wait on the face until enough agents wait there; all present are released together (CUBE spec A13, B21)."""

    verb = "rendezvous"
    place: concepts.Place
    need: int = 0

    def begin(self, scene: Scene) -> Refused | None:
        """The agent is aligned on the face; a count of 0 becomes what a push needs now."""
        place = stand(scene, self.agent, self.block, word_of(self.action, 1))
        if isinstance(place, Refused):
            return place
        self.place = place
        self.need = count_of(self.action, 2) or min(len(scene.agents), concepts.chain_weight(scene, *place))
        return None

    def result(self, effects: Effects, crew: Crew) -> Result:
        """Released at the end of the step in which the last one waits."""
        block, face = self.place
        if (behind := left_behind(effects.after, self.agent, self.place)) is not None:
            return behind
        goal = goal_name(block)
        aligned = concepts.aligned_agents(effects.after, block, face)
        present = crew.meeting[self.place] & aligned
        if len(present) >= self.need:
            return Result("done", ready=goal)
        if self.spent < count_of(self.action, 3):
            return Result(ready=goal)
        late: Constraint = "spatial" if len(aligned) < self.need else "temporal"
        constraint = "participation" if crew.bound[block] < self.need else late
        return Result("failed", "timeout", constraint, None, goal)


class PushBlock(Skill):
    """Push until the block has moved the steps that any of the group on this face wants (CUBE spec A13, B23)."""

    verb = "push_block"
    place: concepts.Place
    steps: int = 0
    went: int = 0

    def begin(self, scene: Scene) -> Refused | None:
        """The agent is aligned on some face, which gives the direction (CUBE spec B24)."""
        place = stand(scene, self.agent, self.block)
        if isinstance(place, Refused):
            return place
        self.place, self.steps = place, count_of(self.action, 1)
        return None

    def primitive(self, known: Scene) -> str:
        """Push toward the block, whatever the force: physics decides (DR. WELL spec B16)."""
        return OPPOSITE[self.place.face]

    def watch(self, effects: Effects) -> None:
        """Count the steps in which the block moved the way it is pushed."""
        self.went += effects.shifts.get(self.place.block) == OPPOSITE[self.place.face]

    def result(self, effects: Effects, crew: Crew) -> Result:
        """Done together with the group, or when the block is delivered."""
        block, face = self.place
        if effects.after.blocks[block].delivered or self.place not in crew.unfinished:
            return DONE
        if (behind := left_behind(effects.after, self.agent, self.place)) is not None:
            return behind
        push = effects.push_on.get((block, OPPOSITE[face]))
        waits = push is not None and not push.moved
        limit = self.limits.of_steps(count_of(self.action, 2), self.steps)
        if push is not None and waits and (push.obstacle == WALL_WORD or self.spent >= limit):
            reason = "insufficient_force" if push.obstacle is None else "blocked_destination"
            return failed(reason, effects.unmet(push), push.obstacle or str(entity(block)))
        if self.spent >= limit:
            return failed("timeout", "temporal")
        return Result(ready=goal_name(block)) if waits else RUNNING


class YieldBlock(Skill):
    """Back away from the block; a wall or a block in the way ends it early, an agent is waited for (B25)."""

    verb = "yield_block"
    place: concepts.Place
    went: int = 0
    stuck: str | None = None

    def begin(self, scene: Scene) -> Refused | None:
        """The agent is aligned on some face; away from it is where it goes."""
        place = stand(scene, self.agent, self.block)
        if isinstance(place, Refused):
            return place
        self.place = place
        return None

    def primitive(self, known: Scene) -> str:
        """Go outward, but never into a block: backing away must not push."""
        face = self.place.face
        at = known.agents[self.agent]
        cell = at[0] + DELTA[face][0], at[1] + DELTA[face][1]
        if known.usable(cell):
            return face
        block = known.block_at(cell) if known.inside(cell) else None
        self.stuck = WALL_WORD if block is None else str(entity(block))
        return STAY

    def watch(self, effects: Effects) -> None:
        """Count the cells gone."""
        self.went += self.agent in effects.moved

    def result(self, effects: Effects, crew: Crew) -> Result:
        """Judge the cells gone."""
        steps = count_of(self.action, 1)
        if self.went >= steps:
            return DONE
        if self.stuck is not None:
            return failed("blocked", "spatial", self.stuck)
        if self.spent >= self.limits.of_steps(count_of(self.action, 2), steps):
            return failed("timeout", "spatial", effects.blocker(self.agent))
        return RUNNING


SKILLS: Mapping[str, type[Skill]] = {
    skill.verb: skill
    for skill in (Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents, Talk)
}
