"""Macro-actions at work: each unrolls into one primitive a step until it is done or has failed.

A skill steers by what its team knows, recomputed at every step; whether it is done is judged by the truth
(CUBE spec A12, A13, with the choices B18-B27).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from teamworld.language import AgentId, Cell
from teamworld.worlds.contract import Constraint
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import count_of, word_of
from teamworld.worlds.cube.crew import DONE, RUNNING, STAY, Refusal, Result, Skill, TeamActivity, failed
from teamworld.worlds.cube.paths import distances, toward
from teamworld.worlds.cube.symbolic_state import DELTA, OPPOSITE, SymbolicState, entity, goal_name
from teamworld.worlds.cube.transition import WALL_WORD, StepEffects


class Idle(Skill):
    """Stay for a number of steps."""


class Talk(Skill):
    """Pay for talking."""

    verb = "talk"


class WaitAgents(Skill):
    """Stay until enough agents wait or have nothing to do."""

    verb = "wait_agents"

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Count all who wait in this step, this agent included."""
        count, timeout = count_of(self.action, 0), count_of(self.action, 1)
        if len(effects.after.agents) - activity.busy >= count:
            return DONE
        return failed("timeout", "participation") if self.spent >= timeout else RUNNING


class Move(Skill):
    """Try to go one way for a number of steps; done if it went that far (CUBE spec B18)."""

    verb = "move"
    went: int = 0
    last: str | None = None

    def primitive(self, known: SymbolicState) -> str:
        """Go on, whatever is in the way."""
        return word_of(self.action, 0)

    def watch(self, effects: StepEffects) -> None:
        """Count the cells gone."""
        self.went += self.agent in effects.moved
        self.last = effects.blocker(self.agent) or self.last

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Judge after the last attempt."""
        steps = count_of(self.action, 1)
        if self.spent < steps:
            return RUNNING
        return DONE if self.went == steps else failed("blocked", "spatial", self.last)


def face_gone(state: SymbolicState, block: int, face: str) -> Refusal | None:
    """Return why nobody can stand at a face, or None if somebody can."""
    if geometry.staging(state, block, face):
        return None
    causes = geometry.blocked_by(state, block, face)
    return Refusal("face_gone", "spatial", str(entity(causes.blocks[0])) if causes.blocks else WALL_WORD)


def gone(state: SymbolicState, block: int) -> Refusal | None:
    """Return why nothing can be done with a block, or None if it is there."""
    square = state.blocks.get(block)
    if square is None:
        return Refusal("unknown_block")
    return Refusal("block_gone") if square.delivered else None


def stand(state: SymbolicState, agent: AgentId, block: int | None, face: str | None = None) -> geometry.Place | Refusal:
    """Return the face at which the agent is aligned, or why it is not aligned there (anywhere if None)."""
    if block is None:
        return Refusal("unknown_block")
    if (refusal := gone(state, block)) is not None:
        return refusal
    found = geometry.face_of(state, agent, block)
    if found is None or (face is not None and found != face):
        return Refusal("not_aligned", "spatial")
    return geometry.Place(block, found)


def left_behind(state: SymbolicState, agent: AgentId, place: geometry.Place) -> Result | None:
    """Return the failure of an agent whose block is gone or no longer before it."""
    now = stand(state, agent, *place)
    return failed(*now) if isinstance(now, Refusal) else None


class MoveToBlock(Skill):
    """Walk to a face and line up: a free cell, most central first, else the shortest queue (CUBE spec B19, B20)."""

    verb = "move_to_block"
    lost: bool = False
    """There was no way in this step."""
    blocker: str | None = None

    def begin(self, state: SymbolicState) -> Refusal | None:
        """The block is there and somebody can stand at the face."""
        block = self.block
        if block is None:
            return Refusal("unknown_block")
        return gone(state, block) or face_gone(state, block, word_of(self.action, 1))

    def primitive(self, known: SymbolicState) -> str:
        """Take the next step of a shortest path, recomputed now."""
        block, face = self.block, word_of(self.action, 1)
        self.lost, self.blocker = False, None
        if block is None or gone(known, block) is not None:
            return STAY
        if (way := better_place(known, self.agent, block, face)) is not None:
            return way
        if geometry.face_of(known, self.agent, block) == face:
            return STAY
        at = known.agents[self.agent]
        self.lost = True
        near = toward(distances(known, geometry.staging(known, block, face), through_agents=True), at)
        if near is None:
            return STAY
        ahead = at[0] + DELTA[near[0]][0], at[1] + DELTA[near[0]][1]
        self.blocker = known.by_cell.get(ahead)
        return near[0] if self.blocker is None else STAY

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Aligned, gone, or out of time; a face that vanishes ends the action at once (DR. WELL spec B13)."""
        block, face, timeout = self.block, word_of(self.action, 1), count_of(self.action, 2)
        if block is None or (refusal := gone(effects.after, block)) is not None:
            return failed("block_gone", None)
        if geometry.face_of(effects.after, self.agent, block) == face:
            better = better_place(effects.known, self.agent, block, face) if block in effects.known.blocks else None
            if better is None or self.spent >= timeout:
                return DONE
        refusal = gone(effects.known, block) or face_gone(effects.known, block, face)
        if refusal is not None:
            return failed(*refusal)
        if self.spent >= timeout:
            return failed("unreachable" if self.lost else "timeout", "spatial", self.blocker)
        return Result(blocker=self.blocker)


Rank: TypeAlias = tuple[int, int]


def targets(state: SymbolicState, block: int, face: str) -> list[tuple[Rank, Cell]]:
    """Return the free cells to line up on, best first, each with its rank.

    The rank is the distance from the face, then from the middle of the face (CUBE spec A13, B19, B20): free cells
    of the face come first, then the ends of the queues behind it.
    """
    key = ("targets", block, face)
    if key not in state.memo:
        ends = geometry.lines(state, block, face)
        free = [((len(line.agents), line.offset), line.next) for line in ends if line.next is not None]
        state.memo[key] = sorted(free, key=lambda one: one[0])
    found: list[tuple[Rank, Cell]] = state.memo[key]
    return found


def ranks(state: SymbolicState, block: int, face: str) -> Mapping[AgentId, Rank]:
    """Return for each aligned agent how good its cell is, as ``targets`` ranks free ones."""
    key = ("ranks", block, face)
    if key not in state.memo:
        ends = geometry.lines(state, block, face)
        state.memo[key] = {agent: (place, line.offset) for line in ends for place, agent in enumerate(line.agents)}
    found: Mapping[AgentId, Rank] = state.memo[key]
    return found


def better_place(state: SymbolicState, agent: AgentId, block: int, face: str) -> str | None:
    """Return the first step to a free cell that is better than where the agent stands; None if it should stay.

    An agent on the way in steps on toward the middle, so that it does not shut others out (CUBE spec A13);
    each such step leads to a better cell, so nobody dithers (B19).
    """
    own = ranks(state, block, face).get(agent)
    for rank, cell in targets(state, block, face):
        if own is not None and rank >= own:
            return None
        if (way := toward(distances(state, (cell,)), state.agents[agent])) is not None:
            return way[0]
    return None


class Rendezvous(Skill):
    """Wait on the face until enough agents wait there; all present are released together (CUBE spec A13, B21)."""

    verb = "rendezvous"
    need: int = 0

    def begin(self, state: SymbolicState) -> Refusal | None:
        """The agent is aligned on the face; a count of 0 becomes what a push needs now."""
        place = stand(state, self.agent, self.block, word_of(self.action, 1))
        if isinstance(place, Refusal):
            return place
        self.place = place
        self.need = count_of(self.action, 2) or min(len(state.agents), geometry.chain_weight(state, *place))
        return None

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Released at the end of the step in which the last one waits."""
        block, face = self.place
        if (behind := left_behind(effects.after, self.agent, self.place)) is not None:
            return behind
        goal = goal_name(block)
        aligned = geometry.aligned_agents(effects.after, block, face)
        present = activity.meeting[self.place] & aligned
        if len(present) >= self.need:
            return Result("done", ready=goal)
        if self.spent < count_of(self.action, 3):
            return Result(ready=goal)
        late: Constraint = "spatial" if len(aligned) < self.need else "temporal"
        constraint = "participation" if activity.bound[block] < self.need else late
        return Result("failed", "timeout", constraint, None, goal)


class PushBlock(Skill):
    """Push until the block has moved the steps that any of the group on this face wants (CUBE spec A13, B23)."""

    verb = "push_block"
    steps: int = 0
    went: int = 0

    def begin(self, state: SymbolicState) -> Refusal | None:
        """The agent is aligned on some face, which gives the direction (CUBE spec B24)."""
        place = stand(state, self.agent, self.block)
        if isinstance(place, Refusal):
            return place
        self.place, self.steps = place, count_of(self.action, 1)
        return None

    def primitive(self, known: SymbolicState) -> str:
        """Push toward the block, whatever the force: physics decides (DR. WELL spec B16)."""
        return OPPOSITE[self.place.face]

    def watch(self, effects: StepEffects) -> None:
        """Count the steps in which the block moved the way it is pushed."""
        self.went += effects.shifts.get(self.place.block) == OPPOSITE[self.place.face]
        self.lacking = self.went < self.steps

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Done together with the group, or when the block is delivered."""
        block, face = self.place
        if effects.after.blocks[block].delivered or self.place not in activity.unfinished:
            return DONE
        given_up = self._given_up(effects, activity)
        if given_up is not None:
            return given_up if self.lacking else DONE
        push = effects.push_on.get((block, OPPOSITE[face]))
        lacks_force = push is not None and not push.moved and push.obstacle is None
        return Result(ready=goal_name(block)) if lacks_force else RUNNING

    def _given_up(self, effects: StepEffects, activity: TeamActivity) -> Result | None:
        """Return why the agent cannot or will not go on, or None."""
        if (behind := left_behind(effects.after, self.agent, self.place)) is not None:
            return behind
        block, face = self.place
        late = self.spent >= self.limits.of_steps(count_of(self.action, 2), activity.longest[self.place])
        push = effects.push_on.get((block, OPPOSITE[face]))
        if push is None or push.moved:
            return failed("timeout", "temporal") if late else None
        if not late and push.obstacle != WALL_WORD:
            return None
        reason = "insufficient_force" if push.obstacle is None else "blocked_destination"
        return failed(reason, effects.unmet(push), push.obstacle or str(entity(block)))


class YieldBlock(Skill):
    """Back away from the block; a wall or a block in the way ends it early, an agent is waited for (B25)."""

    verb = "yield_block"
    went: int = 0
    stuck: str | None = None

    def begin(self, state: SymbolicState) -> Refusal | None:
        """The agent is aligned on some face; away from it is where it goes."""
        place = stand(state, self.agent, self.block)
        if isinstance(place, Refusal):
            return place
        self.place = place
        return None

    def primitive(self, known: SymbolicState) -> str:
        """Go outward, but never into a block: backing away must not push."""
        face = self.place.face
        at = known.agents[self.agent]
        cell = at[0] + DELTA[face][0], at[1] + DELTA[face][1]
        if known.usable(cell):
            return face
        block = known.block_at(cell) if known.inside(cell) else None
        self.stuck = WALL_WORD if block is None else str(entity(block))
        return STAY

    def watch(self, effects: StepEffects) -> None:
        """Count the cells gone."""
        self.went += self.agent in effects.moved

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
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
    skill.verb: skill for skill in (Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents, Talk)
}
