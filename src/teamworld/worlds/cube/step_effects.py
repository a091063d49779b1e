"""One step of a CUBE episode: its effects on agents and blocks, and feedback computed from them.

A feedback is a function of the effects of a step (``CubeWorld.effects``). The ones here give numbers by name;
``combine`` puts them and your own together::

    my_feedback = combine(progress, failed_pushes, lambda effects: {"crowd": float(len(effects.idle) > 2)})
    my_feedback(world.effects)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from teamworld.language import AgentId, Cell, plain, show
from teamworld.worlds.base.words import listed
from teamworld.worlds.contract import Attempt, Constraint, GoalEvent
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import MOST_NAMED, WALL_WORD
from teamworld.worlds.cube.physics import push_attempt
from teamworld.worlds.cube.state import PUSHED, STAYED, WALL
from teamworld.worlds.cube.symbolic_state import DELTA, OPPOSITE, PRIMITIVE, SIDES, SymbolicState, entity, goal_name

if TYPE_CHECKING:
    from teamworld.worlds.cube.state import CubeState


class Push(NamedTuple):
    """One push on one block in one direction, as it happened."""

    block: int
    direction: str
    pushers: tuple[AgentId, ...]
    """Agents in the lines that ended on this block."""
    moved: bool
    weight: int
    """Of the whole chain."""
    force: int
    """Of all lines that pushed the chain."""
    obstacle: str | None
    """Who or what stood on a destination cell: an agent, ``wall``, a block that had moved already."""

    @property
    def face(self) -> str:
        """The face that was pushed on."""
        return OPPOSITE[self.direction]


@dataclass(frozen=True)
class StepEffects:
    """The true effects of one step."""

    before: SymbolicState
    after: SymbolicState
    known: SymbolicState
    """What the team knows after the step."""
    tried: Mapping[AgentId, str]
    """The direction that each acting agent tried to go; agents that stayed are left out."""
    moved: frozenset[AgentId]
    pushed: frozenset[AgentId]
    """Those of ``moved`` who advanced behind a block."""
    shifts: Mapping[int, str]
    """The blocks that moved, and which way."""
    pushes: tuple[Push, ...]
    engaged: Mapping[int, frozenset[AgentId]]
    """For each block, the agents that push it or wait in a rendezvous there."""
    waiting: frozenset[AgentId] = frozenset()
    """Agents in a rendezvous or in ``wait_agents``."""
    idle: frozenset[AgentId] = frozenset()
    """Agents with no running action."""

    @cached_property
    def push_on(self) -> Mapping[tuple[int, str], Push]:
        """The pushes by block and direction."""
        return {(push.block, push.direction): push for push in self.pushes}

    @cached_property
    def _line_of(self) -> Mapping[AgentId, Push]:
        return {agent: push for push in self.pushes for agent in push.pushers}

    def aim(self, agent: AgentId) -> Cell | None:
        """Return the cell that the agent tried to enter, None if it stayed by itself."""
        direction = self.tried.get(agent)
        if direction is None:
            return None
        (row, col), (rows, cols) = self.before.agents[agent], DELTA[direction]
        return row + rows, col + cols

    def blocker(self, agent: AgentId) -> str | None:
        """Return who or what kept the agent from going where it tried to, None if it went or stayed."""
        cell = self.aim(agent)
        if cell is None or agent in self.moved:
            return None
        push = self._line_of.get(agent)
        if push is not None:
            return push.obstacle or str(entity(push.block))
        if not self.before.is_inside(cell):
            return WALL_WORD
        occupant = self.before.by_cell.get(cell) or self.after.by_cell.get(cell)
        if occupant is not None:
            return occupant
        block = self.before.block_at(cell)
        block = self.after.block_at(cell) if block is None else block
        return None if block is None else str(entity(block))

    def have(self, push: Push) -> dict[Constraint, int]:
        """Return how far a push met each constraint, not capped."""
        behind = geometry.aligned_agents(self.before, push.block, push.face)
        return {
            "dependency": int(push.obstacle is None),
            "participation": max(len(self.engaged.get(push.block, frozenset()).union(push.pushers)), push.force),
            "spatial": max(len(behind.union(push.pushers)), push.force),
            "temporal": push.force,
        }

    def unmet_constraint(self, push: Push) -> Constraint | None:
        """Return the first unmet constraint of a push."""
        have = self.have(push)
        return next((name for name in have if have[name] < (1 if name == "dependency" else push.weight)), None)

    def attempts(self) -> tuple[Attempt, ...]:
        """Return the pushes that need two or more agents, and the others whose destination was not free."""
        attempts = []
        for push in self.pushes:
            if push.weight < 2 and push.obstacle is None:
                continue
            have = self.have(push)
            need = {name: 1 if name == "dependency" else push.weight for name in have}
            attempts.append(
                Attempt(
                    goal_name(push.block),
                    push.weight,
                    tuple((name, min(have[name], need[name])) for name in have),
                    tuple(need.items()),
                    self._participants(push.block) if push.moved else push.pushers,
                    push.moved,
                )
            )
        return tuple(attempts)

    def goal_events(self, start: Mapping[int, int]) -> tuple[GoalEvent, ...]:
        """Return progress and deliveries, by block.

        A step that delivers gives a ``progress`` event with the last part of the way and a ``done`` event
        with delta 0, so that the deltas of a delivered block add up to 1.

        Args:
            start: Distance of each block to the goal at the start of the episode, in columns.
        """
        events = []
        for block in sorted(self.shifts):
            who = self._participants(block)
            columns = self.before.distance(block) - self.after.distance(block)
            if columns:
                events.append(GoalEvent(goal_name(block), "progress", columns / start[block], who))
            if self.after.blocks[block].delivered:
                events.append(GoalEvent(goal_name(block), "done", 0.0, who))
        return tuple(events)

    def _participants(self, block: int) -> tuple[AgentId, ...]:
        """Return the agents whose force moved a block: those of all lines behind the chain that it was part of."""
        direction = self.shifts[block]
        participants: set[AgentId] = set()
        for push in self.pushes:
            if push.moved and push.direction == direction and block in (chain := self._chain(push)):
                whole = push.force > len(push.pushers)  # lines behind other blocks of the chain counted too
                lines = (other for other in self.pushes if other.direction == direction and other.block in chain)
                participants.update(*(other.pushers for other in lines if whole or other is push))
        return tuple(agent for agent in self.before.agents if agent in participants)

    def _chain(self, push: Push) -> list[int]:
        """Return the blocks that a push moved; contacts ahead may have ended earlier in the step."""
        chain = geometry.chain(self.before, push.block, push.direction)
        weight = sum(self.before.blocks[block].weight for block in chain)
        return chain if weight == push.weight else [push.block]


def compute_effects(
    arrays: CubeState,
    before: SymbolicState,
    after: SymbolicState,
    known: SymbolicState,
    tried: Mapping[AgentId, str],
    engaged: Mapping[int, frozenset[AgentId]],
    waiting: frozenset[AgentId],
    idle: frozenset[AgentId],
) -> StepEffects:
    """Return the effects of the last step, read from the arrays."""
    step = arrays.steps[0]
    results = dict(zip(before.agents, arrays.agent_result[0].tolist(), strict=True))
    moved_at, moved_dir = arrays.moved_at[0], arrays.moved_dir[0]
    shifts = {int(b): SIDES[moved_dir[b] - 1] for b in (moved_at == step).nonzero()[0]}
    names = tuple(before.agents)
    lines = _lines(before, tried)
    pushes = []
    for (block, direction), pushers in lines.items():
        truth = push_attempt(arrays, 0, block, PRIMITIVE[direction])
        if truth is None:
            continue
        pushes.append(
            Push(
                block,
                direction,
                tuple(pushers),
                truth.moved,
                truth.weight,
                truth.force,
                _obstacle(truth.blocker, names) if truth.blockers or truth.already_moved else None,
            )
        )
    return StepEffects(
        before,
        after,
        known,
        tried,
        frozenset(agent for agent, result in results.items() if result != STAYED),
        frozenset(agent for agent, result in results.items() if result == PUSHED),
        shifts,
        tuple(pushes),
        engaged,
        waiting,
        idle,
    )


def explain_failed_push(push: Push, at_work: Sequence[AgentId], state: SymbolicState, stuck: str) -> str:
    """Return why a push moved nothing: the world's word, then who or what was missing.

    Args:
        push: What was tried.
        at_work: Agents with an action on the block, the pushers among them.
        state: Where everything stands.
        stuck: Since when, in words.
    """
    chain = listed(list(map(goal_name, geometry.chain(state, push.block, push.direction))), MOST_NAMED)
    if push.obstacle is not None:
        at = f" at {show(state.agents[push.obstacle])}" if push.obstacle in state.agents else ""
        return f"blocked_destination: {stuck}{plain(push.obstacle)} is in the way of {chain}{at}"
    missing = [agent for agent in at_work if agent not in push.pushers]
    who = f"{listed(missing, MOST_NAMED)} did not push" if missing else "no one else was at work on it"
    takes = f"{chain} {'take' if push.weight > state.blocks[push.block].weight else 'takes'} {push.weight}"
    return f"insufficient_force: {stuck}{push.force} pushed, {takes}; {who}"


def _lines(before: SymbolicState, tried: Mapping[AgentId, str]) -> dict[tuple[int, str], list[AgentId]]:
    """Return for each block and direction the agents whose line ends on it, in the order of the agents."""
    lines: dict[tuple[int, str], list[AgentId]] = {}
    for agent, direction in tried.items():
        rows, cols = DELTA[direction]
        row, col = before.agents[agent]
        while True:
            row, col = row + rows, col + cols
            ahead = before.by_cell.get((row, col))
            if ahead is None or tried.get(ahead) != direction:
                break
        if ahead is None and before.is_inside((row, col)) and (block := before.block_at((row, col))) is not None:
            lines.setdefault((block, direction), []).append(agent)
    return lines


def _obstacle(code: int, names: tuple[AgentId, ...]) -> str:
    if code == WALL:
        return WALL_WORD
    return names[-code - 1] if code < 0 else str(entity(code - 1))


# ---- feedback


Feedback: TypeAlias = Callable[[StepEffects], Mapping[str, float]]


class AgentFeedback(NamedTuple):
    """Feedback for one agent."""

    position: Cell
    moved: bool
    pushed: bool
    """A block moved through it."""
    blocker: str | None
    """Who or what kept it from going where it tried to."""
    places: tuple[geometry.Place, ...]
    """Faces at which it is aligned."""
    deficit: int | None
    """Agents still missing at the first of these, for the block's own weight; None where it is not aligned."""
    nearest: int | None
    """Distance in cells to the nearest open block; None if there is none."""


def agent_feedback(effects: StepEffects, agent: AgentId) -> AgentFeedback:
    """Return the feedback of one agent."""
    state = effects.after
    places = tuple(geometry.aligned_faces(state, agent))
    blocks = [geometry.get_distance(state, agent, block) for block, _ in state.open_blocks]
    return AgentFeedback(
        state.agents[agent],
        agent in effects.moved,
        agent in effects.pushed,
        effects.blocker(agent),
        places,
        geometry.quorum_deficit(state, *places[0]) if places else None,
        min(blocks, default=None),
    )


def combine(*parts: Feedback) -> Feedback:
    """Return the feedback that gives what all parts give; of equal names the last one counts."""

    def combined(effects: StepEffects) -> Mapping[str, float]:
        return {name: value for part in parts for name, value in part(effects).items()}

    return combined


def delivered(effects: StepEffects) -> Mapping[str, float]:
    """Return how many blocks, and how much weight, have been delivered so far."""
    weights = [square.weight for square in effects.after.blocks.values() if square.delivered]
    return {"delivered": float(len(weights)), "delivered_weight": float(sum(weights))}


def progress(effects: StepEffects) -> Mapping[str, float]:
    """Return the columns that the open blocks have still to travel, and those travelled in this step."""
    before, after = (sum(map(state.distance, state.blocks)) for state in (effects.before, effects.after))
    return {"distance": float(after), "progress": float(before - after)}


def quorum(effects: StepEffects) -> Mapping[str, float]:
    """Return the agents that are missing on the left face of each open block, for its own weight."""
    state = effects.after
    return {
        f"deficit_block_{block}": float(geometry.quorum_deficit(state, block, "left")) for block, _ in state.open_blocks
    }


def activity(effects: StepEffects) -> Mapping[str, float]:
    """Return how many agents had nothing to do, and how many waited for others."""
    return {"idle": float(len(effects.idle)), "waiting": float(len(effects.waiting))}


def congestion(effects: StepEffects) -> Mapping[str, float]:
    """Return how many agents were kept from going by a teammate."""
    return {"congestion": float(sum(effects.blocker(agent) in effects.before.agents for agent in effects.tried))}


def failed_pushes(effects: StepEffects) -> Mapping[str, float]:
    """Return how many pushes moved nothing."""
    return {"failed_pushes": float(sum(not push.moved for push in effects.pushes))}


#: All of the above.
team_feedback: Feedback = combine(delivered, progress, quorum, activity, congestion, failed_pushes)
