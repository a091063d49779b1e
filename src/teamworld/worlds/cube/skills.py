"""Running macro-actions: each gives one primitive action a step until it is done or has failed.

A skill steers by what its team knows, recomputed at every step; whether it is done is judged by the truth.
Differences from the published controller, and their reasons, stand in ``docs/reference/worlds/cube.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from teamworld.language import Action, AgentId, plain, show
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import Constraint
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import (
    FUTILE_STEPS,
    MOST_NAMED,
    WALL_WORD,
    Controller,
    TimeLimits,
    block_of,
    check_block,
    check_face,
    count_of,
    fail,
    find_place,
    word_of,
)
from teamworld.worlds.cube.geometry import Rank, distances, first_step, targets
from teamworld.worlds.cube.right_of_way import RightOfWay
from teamworld.worlds.cube.step_effects import Push, StepEffects, explain_failed_push
from teamworld.worlds.cube.symbolic_state import DELTA, OPPOSITE, SymbolicState, entity, goal_name, once_per_state
from teamworld.worlds.cube.team_activity import TeamActivity

STAY = "stay"

#: The actions that take a known number of steps or cells, by verb, and which argument it is.
COUNTED: Mapping[str, int] = {"idle": 0, "talk": 0, "move": 1, "push_block": 1, "yield_block": 1}


@dataclass
class CubeSkill:
    """One running macro-action of one agent; this one waits for some steps."""

    agent: AgentId
    action: Action
    """The action as it was ordered, perhaps with counts left out."""
    whole: Action
    """The same with all its arguments."""
    limits: TimeLimits
    controller: Controller
    start: int
    """Step at which it began."""
    spent: int = field(default=0, init=False)
    """Steps since it started, the current one included."""

    #: Where it acts, fixed at the start; only of skills that need alignment.
    place = geometry.Place(-1, "")
    #: It pushes a block that has still to move.
    is_unfinished = False

    @property
    def verb(self) -> str:
        """The verb of the action."""
        return self.whole.verb

    @property
    def block(self) -> int | None:
        """The block that the action is about."""
        return block_of(self.whole)

    @property
    def cells_left(self) -> int:
        """Cells or steps of its count that are left, at least 1."""
        return max(1, count_of(self.whole, 0) - self.spent)

    @property
    def remainder(self) -> Action:
        """What is left of it, as an action."""
        if self.verb not in COUNTED:
            return self.whole
        args = list(self.whole.args)
        args[COUNTED[self.verb]] = self.cells_left
        return Action(self.verb, tuple(args))

    @property
    def late(self) -> str:
        """That time is up, in words."""
        return f"timeout: {count(self.spent, 'step')} went by"

    def begin(self, state: SymbolicState) -> Result | None:
        """Check the preconditions against the truth and fix what is inferred at the start."""
        return None

    def primitive(self, known: SymbolicState) -> str:
        """Return the direction to try in this step, or ``stay``."""
        return STAY

    def watch(self, effects: StepEffects) -> None:
        """Count what the step did; called for all skills before any is asked for its result."""

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Return how the action stands after the step."""
        return DONE if self.spent >= count_of(self.whole, 0) else RUNNING


def name_stopper(effects: StepEffects, stopper: str | None) -> str:
    """Return who or what stood in the way, and where, as the end of a sentence; empty if nothing is known of it."""
    if stopper is None:
        return ""
    at = f" at {show(effects.after.agents[stopper])}" if stopper in effects.after.agents else ""
    return f"; {'the wall' if stopper == WALL_WORD else plain(stopper)} was in the way{at}"


def check_still_aligned(state: SymbolicState, agent: AgentId, place: geometry.Place) -> Result | None:
    """Return the failure of an agent that is no longer aligned with the face; None if it is."""
    current = find_place(state, agent, *place)
    return current if isinstance(current, Result) else None


class WaitAgents(CubeSkill):
    """Stay until enough agents wait or are idle."""

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Count all who wait in this step, this agent included."""
        wanted, timeout = count_of(self.whole, 0), count_of(self.whole, 1)
        waiting = len(effects.after.agents) - activity.busy
        if waiting >= wanted:
            return DONE
        if self.spent < timeout:
            return RUNNING
        busy = listed([agent for agent, skill in activity.skills.items() if skill.verb != self.verb], MOST_NAMED)
        return fail(f"{self.late}, {waiting} of {wanted} waited, not {busy}", "participation")


class Move(CubeSkill):
    """Try to go one way for a number of steps; done if it went that far."""

    went: int = 0
    last: str | None = None

    @property
    def cells_left(self) -> int:
        """Steps that are left."""
        return max(1, count_of(self.whole, 1) - self.spent)

    def primitive(self, known: SymbolicState) -> str:
        """Return the direction, whatever is in the way."""
        return word_of(self.whole, 0)

    def watch(self, effects: StepEffects) -> None:
        """Count the cells moved."""
        self.went += self.agent in effects.moved
        self.last = effects.blocker(self.agent) or self.last

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Judge after the last attempt."""
        steps = count_of(self.whole, 1)
        if self.spent < steps:
            return RUNNING
        if self.went == steps:
            return DONE
        went = f"went {self.went} of {count(steps, 'cell')} {word_of(self.whole, 0)}"
        return fail(f"blocked: {went}{name_stopper(effects, self.last)}", "spatial", self.last)


class MoveToBlock(CubeSkill):
    """Walk to a face and line up: a free cell, most central first, else the shortest queue."""

    lost: bool = False
    """There was no path in this step."""
    blocker: str | None = None

    @cached_property
    def right_of_way(self) -> RightOfWay | None:
        """The rule by which it lets teammates pass; None where it lets nobody pass."""
        return None if self.controller == "paper" else RightOfWay(self.agent)

    def begin(self, state: SymbolicState) -> Result | None:
        """The block is there and somebody can stand at the face."""
        block = self.block
        if block is None:
            return fail("unknown_block: no block is named")
        return check_block(state, block) or check_face(state, block, word_of(self.whole, 1))

    def primitive(self, known: SymbolicState) -> str:
        """Take the next step of a shortest path, recomputed now, unless a teammate has the right of way."""
        self.lost, self.blocker = False, None
        step = self._next_step(known)
        senior = None if self.right_of_way is None else self.right_of_way.find_senior(known.agents)
        if step == STAY or senior is None:
            return step
        self.blocker = senior
        return STAY

    def _next_step(self, known: SymbolicState) -> str:
        block, face = self.block, word_of(self.whole, 1)
        if block is None or check_block(known, block) is not None:
            return STAY
        if (way := better_place(known, self.agent, block, face)) is not None:
            return way
        if geometry.face_of(known, self.agent, block) == face:
            return STAY
        at = known.agents[self.agent]
        self.lost = True
        near = first_step(distances(known, geometry.staging_cells(known, block, face), through_agents=True), at)
        if near is None:
            return STAY
        ahead = at[0] + DELTA[near[0]][0], at[1] + DELTA[near[0]][1]
        self.blocker = known.by_cell.get(ahead)
        return near[0] if self.blocker is None else STAY

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Aligned, gone, or out of time; a face that vanishes ends the action at once."""
        block, face, timeout = self.block, word_of(self.whole, 1), count_of(self.whole, 2)
        if block is None:
            return fail("unknown_block: no block is named")
        if (gone := check_block(effects.after, block)) is not None:
            return gone
        if geometry.face_of(effects.after, self.agent, block) == face:
            better = better_place(effects.known, self.agent, block, face) if block in effects.known.blocks else None
            if better is None or self.spent >= timeout:
                return DONE
        refusal = check_block(effects.known, block) or check_face(effects.known, block, face)
        if refusal is not None:
            return refusal
        if self.spent >= timeout:
            goal = f"the {face} face of {goal_name(block)}{name_stopper(effects, self.blocker)}"
            lost = f"unreachable: {count(self.spent, 'step')} went by without a free way to {goal}"
            return fail(lost if self.lost else f"{self.late} on the way to {goal}", "spatial", self.blocker)
        return Result(blocker=self.blocker)


@once_per_state
def ranks(state: SymbolicState, block: int, face: str) -> Mapping[AgentId, Rank]:
    """Return the rank of each aligned agent's cell, as ``targets`` ranks free cells."""
    ends = geometry.lines(state, block, face)
    return {agent: (place, line.offset) for line in ends for place, agent in enumerate(line.agents)}


def better_place(state: SymbolicState, agent: AgentId, block: int, face: str) -> str | None:
    """Return the first step to a free cell that is better than where the agent stands; None if it should stay.

    An agent on the way in steps on toward the middle, so that it does not shut others out;
    each such step leads to a better cell, so no agent goes to and fro.
    """
    own = ranks(state, block, face).get(agent)
    for rank, cell in targets(state, block, face):
        if own is not None and rank >= own:
            return None
        if (way := first_step(distances(state, (cell,)), state.agents[agent])) is not None:
            return way[0]
    return None


class Rendezvous(CubeSkill):
    """Wait on the face until enough agents wait there; all present are released together."""

    need: int = 0

    def begin(self, state: SymbolicState) -> Result | None:
        """The agent is aligned on the face; a count of 0 becomes what a push needs now."""
        place = find_place(state, self.agent, self.block, word_of(self.whole, 1))
        if isinstance(place, Result):
            return place
        self.place = place
        self.need = count_of(self.whole, 2) or min(len(state.agents), geometry.chain_weight(state, *place))
        return None

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Released at the end of the step in which the last one waits."""
        block, face = self.place
        if (behind := check_still_aligned(effects.after, self.agent, self.place)) is not None:
            return behind
        goal = goal_name(block)
        aligned = geometry.aligned_agents(effects.after, block, face)
        present = activity.agents_in_rendezvous[self.place] & aligned
        if len(present) >= self.need:
            return Result("done", ready=goal)
        if self.spent < count_of(self.whole, 3):
            return Result(ready=goal)
        late: Constraint = "spatial" if len(aligned) < self.need else "temporal"
        constraint = "participation" if activity.agent_counts[block] < self.need else late
        others = [agent for agent in effects.after.agents if agent in aligned and agent not in present]
        who = f"; {listed(others, MOST_NAMED)} stood there without waiting" if others else ""
        why = f"{self.late}, {len(present)} of {self.need} waited at the {face} face of {goal}{who}"
        return Result("failed", why, constraint, None, goal)


class PushBlock(CubeSkill):
    """Push until the block has moved the steps that any of the group on this face wants."""

    steps: int = 0
    went: int = 0
    futile: int = 0
    """Steps in a row in which nothing moved, nor was about to."""

    @property
    def cells_left(self) -> int:
        """Cells that the block has still to move."""
        return max(1, self.steps - self.went)

    def begin(self, state: SymbolicState) -> Result | None:
        """The agent is aligned on some face, which gives the direction."""
        place = find_place(state, self.agent, self.block)
        if isinstance(place, Result):
            return place
        self.place, self.steps = place, count_of(self.whole, 1)
        return None

    def primitive(self, known: SymbolicState) -> str:
        """Push toward the block, whatever the force: physics decides."""
        return OPPOSITE[self.place.face]

    def watch(self, effects: StepEffects) -> None:
        """Count the steps in which the block moved the way it is pushed."""
        self.went += effects.shifts.get(self.place.block) == OPPOSITE[self.place.face]
        self.is_unfinished = self.went < self.steps

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Done together with the group, or when the block is delivered."""
        block, face = self.place
        if effects.after.blocks[block].delivered or self.place not in activity.unfinished_pushes:
            return DONE
        push = effects.push_on.get((block, OPPOSITE[face]))
        self.futile = self.futile + 1 if self._is_futile(push, effects, activity) else 0
        given_up = self._given_up(push, effects, activity)
        if given_up is not None:
            return given_up if self.is_unfinished else DONE
        lacks_force = push is not None and not push.moved and push.obstacle is None
        return Result(ready=goal_name(block)) if lacks_force else RUNNING

    def _is_futile(self, push: Push | None, effects: StepEffects, activity: TeamActivity) -> bool:
        """Return whether the step moved nothing, and nobody is seen to be about to change that.

        A teammate who walks past in front of the block makes way by itself; teammates on their way to the face, or
        waiting there for partners, will push.
        """
        if push is None or push.moved or push.obstacle is not None:
            return push is None or not (push.moved or push.obstacle in effects.moved)
        coming = activity.comers(self.place, effects.moved).difference(push.pushers)
        return push.force + len(coming) < push.weight

    def _given_up(self, push: Push | None, effects: StepEffects, activity: TeamActivity) -> Result | None:
        """Return why the agent cannot or will not go on, or None."""
        if (behind := check_still_aligned(effects.after, self.agent, self.place)) is not None:
            return behind
        late = self.spent >= self.limits.of_steps(count_of(self.whole, 2), activity.longest_push[self.place])
        gives_up = self.controller == "spec" and self.futile >= FUTILE_STEPS
        if push is None and gives_up:
            ahead = effects.blocker(self.agent)
            name = plain(ahead or "who")
            return fail(f"insufficient_force: {self._stuck}{name}, ahead in the line, did not push", "temporal", ahead)
        if push is None or push.moved:
            went = f"{goal_name(self.place.block)} moved {self.went} of {count(self.steps, 'cell')}"
            return fail(f"{self.late}, {went}", "temporal") if late else None
        if not (late or gives_up) and push.obstacle != WALL_WORD:
            return None
        at_work = [agent for agent, skill in activity.skills.items() if skill.block == push.block]
        blocker = push.obstacle or str(entity(push.block))
        why = explain_failed_push(push, at_work, effects.before, self._stuck)
        return fail(why, effects.unmet_constraint(push), blocker)

    @property
    def _stuck(self) -> str:
        return f"stuck since step {self.start + self.spent - self.futile}: " if self.futile else ""


class YieldBlock(CubeSkill):
    """Back away from the block; a wall or a block in the way ends it early, an agent is waited for."""

    went: int = 0
    stuck: str | None = None

    @property
    def cells_left(self) -> int:
        """Cells to back away that are left."""
        return max(1, count_of(self.whole, 1) - self.went)

    def begin(self, state: SymbolicState) -> Result | None:
        """The agent is aligned on some face; away from it is where it goes."""
        place = find_place(state, self.agent, self.block)
        if isinstance(place, Result):
            return place
        self.place = place
        return None

    def primitive(self, known: SymbolicState) -> str:
        """Go outward, but never into a block: backing away must not push."""
        face = self.place.face
        at = known.agents[self.agent]
        cell = at[0] + DELTA[face][0], at[1] + DELTA[face][1]
        if known.is_passable(cell):
            return face
        block = known.block_at(cell) if known.is_inside(cell) else None
        self.stuck = WALL_WORD if block is None else str(entity(block))
        return STAY

    def watch(self, effects: StepEffects) -> None:
        """Count the cells moved."""
        self.went += self.agent in effects.moved

    def result(self, effects: StepEffects, activity: TeamActivity) -> Result:
        """Judge the cells moved."""
        steps = count_of(self.whole, 1)
        if self.went >= steps:
            return DONE
        if self.stuck is not None:
            return fail(f"blocked: {self._went}{name_stopper(effects, self.stuck)}", "spatial", self.stuck)
        if self.spent >= self.limits.of_steps(count_of(self.whole, 2), steps):
            ahead = effects.blocker(self.agent)
            return fail(f"{self.late}, {self._went}{name_stopper(effects, ahead)}", "spatial", ahead)
        return RUNNING

    @property
    def _went(self) -> str:
        return f"backed away {self.went} of {count(count_of(self.whole, 1), 'cell')}"


#: The actions that are more than waiting for some steps, by verb.
SKILLS: Mapping[str, type[CubeSkill]] = {
    "move": Move,
    "move_to_block": MoveToBlock,
    "rendezvous": Rendezvous,
    "push_block": PushBlock,
    "yield_block": YieldBlock,
    "wait_agents": WaitAgents,
}
