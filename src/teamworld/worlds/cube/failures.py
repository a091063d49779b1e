"""Failures that only CUBE can see in its snapshots: faces, cells, chains and ways.

``failures`` is the world's ``contract.FailureFinder``. Each rule is a function of the steps of an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import count, groupby
from typing import Any, Final, NamedTuple, TypeVar

from teamworld.language import Action, AgentId, Cell
from teamworld.worlds.base.failure_spans import FailureSpan, SkippedAction, Transition
from teamworld.worlds.contract import Attempt, Outcome
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import block_of
from teamworld.worlds.cube.geometry import Place
from teamworld.worlds.cube.symbolic_state import DELTA, NOWHERE, OPPOSITE, SIDES, Square, SymbolicState, goal_name

Item = TypeVar("Item")

#: Steps for which something has to last to be a failure and no passing by.
LASTING: Final = 3

#: Steps between the shutting of a way and the agent's coming to a stop, at most.
RECENT: Final = 10

_AT_FACE: Final = ("push_block", "rendezvous")


class BlockedWalk(NamedTuple):
    """An agent on its way to a face that found no path in a step, and stayed."""

    place: Place
    ahead: AgentId | None
    """The agent in its way; None where blocks close the path."""


@dataclass(frozen=True)
class EpisodeStep:
    """One step of an episode, with its states."""

    number: int
    before: SymbolicState
    after: SymbolicState
    outcomes: Mapping[AgentId, Outcome]
    attempts: Sequence[Attempt]
    passed: Sequence[SkippedAction]

    @cached_property
    def moved(self) -> Mapping[int, str]:
        """The blocks that moved and are still there, and which way."""
        ways = {delta: side for side, delta in DELTA.items()}
        return {
            block: ways.get((square.row - old.row, square.col - old.col), "away")
            for block, square in self.after.open_blocks
            if (old := self.before.blocks[block]) != square
        }

    @cached_property
    def teams(self) -> Mapping[Place, tuple[AgentId, ...]]:
        """The agents at work at each face of a block still there: on their way, waiting or pushing."""
        teams: dict[Place, list[AgentId]] = {}
        for agent, outcome in self.outcomes.items():
            place = self._place(agent, outcome.action)
            if place is not None and not self.before.blocks[place.block].delivered:
                teams.setdefault(place, []).append(agent)
        return {place: tuple(agents) for place, agents in teams.items()}

    def _place(self, agent: AgentId, action: Action) -> Place | None:
        block = block_of(action)
        if block is None or block not in self.before.blocks:
            return None
        if action.verb == "push_block":
            face: object = geometry.face_of(self.before, agent, block)
        else:
            face = action.args[1] if action.verb in ("move_to_block", "rendezvous") else None
        return Place(block, face) if isinstance(face, str) and face in SIDES else None

    @cached_property
    def lost(self) -> Mapping[AgentId, BlockedWalk]:
        """The agents that were on their way to a face and found no path."""
        lost = {}
        for place, agents in self.teams.items():
            for agent in agents:
                outcome = self.outcomes[agent]
                on_the_way = outcome.action.verb == "move_to_block" and outcome.status != "done" and outcome.legal
                stays = outcome.primitives == ("STAY",)
                if on_the_way and stays and geometry.face_of(self.before, agent, place.block) != place.face:
                    ahead = outcome.blocker if outcome.blocker in self.before.agents else None
                    lost[agent] = BlockedWalk(place, ahead)
        return lost


def episode_steps(
    static: Mapping[str, Any], team: Sequence[AgentId], transitions: Sequence[Transition]
) -> list[EpisodeStep]:
    """Return the steps of an episode with their states.

    Args:
        static: ``grid_size`` and the ``weights`` of the blocks by id.
        team: The agents, in the order of the snapshots.
        transitions: The steps from 0 on, none left out.
    """
    steps: list[EpisodeStep] = []
    for transition in transitions:
        before = steps[-1].after if steps else _scene(static, team, transition.before, None)
        after = _scene(static, team, transition.after, before)
        steps.append(
            EpisodeStep(transition.step, before, after, transition.outcomes, transition.attempts, transition.skipped)
        )
    return steps


def _scene(
    static: Mapping[str, Any], team: Sequence[AgentId], snapshot: Mapping[str, Any], before: SymbolicState | None
) -> SymbolicState:
    """Return the state of a snapshot; states with the same blocks share them, and what was computed from them."""
    agents = {agent: (row, col) for agent, (row, col) in zip(team, snapshot["agents"], strict=True)}
    blocks = {
        block: Square(weight, *NOWHERE, True) if at is None else Square(weight, at[0], at[1])
        for block, (weight, at) in enumerate(zip(static["weights"], snapshot["blocks"], strict=True))
    }
    same = before is not None and before.blocks == blocks
    return SymbolicState(static["grid_size"], agents, before.blocks if same and before is not None else blocks)


def chain_too_heavy(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find pushes that would move the block alone, but not what is in contact ahead of it."""
    for step in steps:
        for attempt in step.attempts:
            block, have = _block_id(attempt.goal), dict(attempt.have)
            alone = step.before.blocks[block].weight
            if not attempt.success and have["dependency"] and alone <= have["temporal"] < attempt.quorum:
                enough = f"force {have['temporal']} would move it alone (weight {alone})"
                text = f"{enough}, but with the blocks ahead {attempt.quorum} are needed"
                yield _single_step_span(step, "chain-too-heavy", attempt.participants, block, text)


def blocked_destination(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find pushes whose destination was occupied."""
    for step in steps:
        for attempt in step.attempts:
            if attempt.success or dict(attempt.have)["dependency"]:
                continue
            block = _block_id(attempt.goal)
            obstacle = next((step.outcomes[agent].blocker for agent in attempt.participants), None) or "something"
            if _describe_blocker(obstacle) == attempt.goal:
                continue  # it went another way in the same step: nothing stood before it
            others = (obstacle,) if obstacle in step.before.agents else ()
            face = geometry.face_of(step.before, attempt.participants[0], block)
            toward = f" {OPPOSITE[face]}ward" if face is not None else ""
            text = f"pushed{toward}, but {_describe_blocker(obstacle)} is in the way"
            yield _single_step_span(step, "blocked-destination", attempt.participants + others, block, text)


def misalignment(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find pushes and meetings that were given up because the agent was not at the face."""
    for step in steps:
        tried = [(agent, outcome.action, outcome.word) for agent, outcome in step.outcomes.items()]
        skipped = [(action.agent, action.action, action.reason) for action in step.passed]
        for agent, action, reason in (*skipped, *tried):
            block = block_of(action)
            if reason != "not_aligned" or action.verb not in _AT_FACE or block is None:
                continue
            square = step.before.blocks[block]
            row, col = step.before.agents[agent]
            off = "" if square.delivered else f", {geometry.get_distance(step.before, agent, block)} cells away"
            text = f"{action} given up: {agent} was at ({row}, {col}){off}, not lined up at the face"
            yield _single_step_span(step, "misalignment", (agent,), block, text)


def occlusion(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find free cells of a face that agents shut off, and cells held by an agent that is not of the team there."""
    for agent, place, first, last in _lost_for_long(steps, lambda step, at: bool(_free_cells(step, at))):
        blockers = _blockers_ahead(steps, agent, first, last)
        if blockers:
            text = f"no way to the {place.face} face, though it had a free cell: {_join_names(blockers)} stood in it"
            yield FailureSpan("occlusion", first, last, (agent, *blockers), goal_name(place.block), text)
    held: dict[tuple[Place, AgentId, Cell], list[EpisodeStep]] = {}
    for step in steps:
        for place, team in step.teams.items():
            for agent, cell in _outsiders(step, place, team):
                held.setdefault((place, agent, cell), []).append(step)
    for (place, agent, cell), holding in held.items():
        for span in _runs(holding, [step.number for step in holding]):
            if len(span) < LASTING:
                continue
            team = span[-1].teams[place]
            text = (
                f"{agent}, not at work there, stood on {cell} of the {place.face} face for {len(span)} steps; "
                f"the team there: {_join_names(team)}"
            )
            yield FailureSpan(
                "occlusion", span[0].number, span[-1].number, (*team, agent), goal_name(place.block), text
            )


def _outsiders(step: EpisodeStep, place: Place, team: Sequence[AgentId]) -> list[tuple[AgentId, Cell]]:
    """Return the agents, with their cells, that occupy cells of a face that the team there needs.

    A team whose block moves, or that is all still on its way, is not held up.
    """
    moving = place.block in step.moved or step.after.blocks[place.block].delivered
    if moving or all(step.outcomes[agent].moved for agent in team):
        return []
    staging = geometry.staging_cells(step.before, place.block, place.face)
    on_it = {step.before.by_cell[cell]: cell for cell in staging if cell in step.before.by_cell}
    others = [
        (agent, cell)
        for agent, cell in on_it.items()
        if agent not in team
        and step.after.agents[agent] == cell
        and (agent not in step.outcomes or block_of(step.outcomes[agent].action) != place.block)
    ]
    return others if len(team) > len(staging) - len(others) else []


def staging_congestion(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find agents that cannot line up because others hold every cell of the face."""
    for agent, place, first, last in _lost_for_long(
        steps, lambda step, at: not _free_cells(step, at) and _is_short_of_agents(step, at)
    ):
        step = steps[last]
        holders = [step.before.by_cell[cell] for cell in geometry.staging_cells(step.before, place.block, place.face)]
        if holders:
            held = f"all {len(holders)} cells of the {place.face} face were held"
            text = f"{held}, and no queue behind them could be reached"
            yield FailureSpan("staging-congestion", first, last, (agent, *holders), goal_name(place.block), text)


def dynamic_blocking(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find agents whose path to cells that stayed free was closed by an agent or block that moved in."""
    for agent, place, first, last in _lost_for_long(steps, lambda step, at: True):
        state = steps[first].before
        targets = {line.next for line in geometry.lines(state, place.block, place.face)} - {None}
        cut = None if _has_path(state, agent, targets) else _find_closing_step(steps, agent, first, targets)
        if cut is None:
            continue
        came = [
            other
            for other, cell in cut.before.agents.items()
            if other != agent
            and cut.after.agents[other] != cell
            and _has_path(cut.after.with_agents({other: cell}), agent, targets)
        ]
        causes = came or [goal_name(block) for block in cut.moved]
        if causes:
            text = f"{_join_names(causes)} moved in and left {agent} no way to the {place.face} face until step {last}"
            yield FailureSpan("dynamic-blocking", cut.number + 1, last, (agent, *came), goal_name(place.block), text)


def _find_closing_step(
    steps: Sequence[EpisodeStep], agent: AgentId, first: int, targets: Set[Cell | None]
) -> EpisodeStep | None:
    """Return the step of an agent's walk in which its path to some cells was closed; None if it never had one."""
    action = steps[first].outcomes[agent].action
    for step in reversed(steps[max(0, first - RECENT) : first]):
        outcome = step.outcomes.get(agent)
        if outcome is None or outcome.action != action or outcome.status != "running":
            return None
        if _has_path(step.before, agent, targets):
            kept = {cell for cell in targets if cell is not None and step.after.is_free(cell)}
            return step if _has_path(step.before, agent, kept) else None  # else one of them was merely taken
    return None


def _has_path(state: SymbolicState, agent: AgentId, targets: Set[Cell | None]) -> bool:
    """Return whether an agent has a path, around the others, to one of some cells."""
    at, cells = state.agents[agent], sorted(cell for cell in targets if cell is not None)
    return at in targets or geometry.path_length(geometry.distances(state, cells), at) is not None


def _lost_for_long(
    steps: Sequence[EpisodeStep], which: Callable[[EpisodeStep, Place], bool]
) -> Iterator[tuple[AgentId, Place, int, int]]:
    """Yield agents that found no path to a face for some steps in a row in which a condition held, and the steps."""
    lost_steps: dict[tuple[AgentId, Place], list[EpisodeStep]] = {}
    for step in steps:
        for agent, lost in step.lost.items():
            if which(step, lost.place):
                lost_steps.setdefault((agent, lost.place), []).append(step)
    for (agent, place), those in lost_steps.items():
        for span in _runs(those, [step.number for step in those]):
            if len(span) >= LASTING:
                yield agent, place, span[0].number, span[-1].number


def _runs(items: Sequence[Item], numbers: Sequence[int]) -> Iterator[list[Item]]:
    """Yield the runs of items with consecutive numbers."""
    for _, run in groupby(zip(items, numbers, count(), strict=False), key=lambda item: item[1] - item[2]):
        yield [item for item, _, _ in run]


def _free_cells(step: EpisodeStep, place: Place) -> list[Cell]:
    """Return the free cells of a face."""
    return [
        cell for cell in geometry.staging_cells(step.before, place.block, place.face) if cell not in step.before.by_cell
    ]


def _is_short_of_agents(step: EpisodeStep, place: Place) -> bool:
    """Return whether the team at a face is not yet strong enough for the push."""
    aligned = geometry.aligned_agents(step.before, place.block, place.face)
    strong = len(aligned.intersection(step.teams[place]))
    return strong < geometry.chain_weight(step.before, place.block, place.face)


def _blockers_ahead(steps: Sequence[EpisodeStep], agent: AgentId, first: int, last: int) -> tuple[AgentId, ...]:
    ahead_of = (steps[number].lost[agent].ahead for number in range(first, last + 1))
    return tuple(dict.fromkeys(ahead for ahead in ahead_of if ahead is not None))


def vanishing_face(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find faces that agents go to, or plan for, and that lost their last cell because a block moved."""
    for step in steps:
        for place, team in step.teams.items():
            if _has_vanished(step.before, step.after, place):
                why = _why_gone(step, place)
                text = f"the {place.face} face that {_join_names(team)} went for has no cell left: {why}"
                yield _single_step_span(step, "vanishing-face", team, place.block, text)
        for skipped in step.passed:
            block = block_of(skipped.action)
            face = skipped.action.args[1] if len(skipped.action.args) > 1 else None
            if skipped.reason != "face_gone" or block is None or not isinstance(face, str):
                continue
            then = steps[skipped.since].before
            if _has_vanished(then, step.before, Place(block, face)):
                text = f"the {face} face that {skipped.agent} planned for in step {skipped.since} has no cell left"
                yield _single_step_span(step, "vanishing-face", (skipped.agent,), block, text)


def _has_vanished(before: SymbolicState, after: SymbolicState, place: Place) -> bool:
    block, face = place
    if before.blocks[block].delivered or after.blocks[block].delivered:
        return False
    return bool(geometry.staging_cells(before, block, face)) and not geometry.staging_cells(after, block, face)


def _why_gone(step: EpisodeStep, place: Place) -> str:
    beside = geometry.blocked_by(step.after, *place).blocks
    came = [block for block in beside if block in step.moved]
    if came:
        return f"{_join_names([goal_name(block) for block in came])} moved against it"
    against = _join_names([goal_name(block) for block in beside]) or "the wall"
    return f"{goal_name(place.block)} moved against {against}"


def stuck_object(steps: Sequence[EpisodeStep]) -> Iterator[FailureSpan]:
    """Find blocks that no agent can bring to the goal in the present state."""
    spans: dict[tuple[int, str], list[int]] = {}
    stuck: dict[int, str] = {}
    last: Mapping[int, Square] | None = None
    for step in steps:
        if step.after.blocks != last:  # agents cannot leave the ground that blocks enclose: nothing changes else
            last = step.after.blocks
            stuck = dict(_stuck_blocks(step.after))
        for block, why in stuck.items():
            spans.setdefault((block, why), []).append(step.number)
    for (block, why), numbers in spans.items():
        for span in _runs(numbers, numbers):
            who = _pushers(steps[span[0]], block)
            yield FailureSpan("stuck-object", span[0], span[-1], who, goal_name(block), why)


def _stuck_blocks(state: SymbolicState) -> Iterator[tuple[int, str]]:
    reached = geometry.distances(state, state.agents.values(), through_agents=True)
    for block, square in state.open_blocks:
        cells = [cell for side in SIDES for cell in geometry.staging_cells(state, block, side)]
        if square.col == 0:
            yield block, "it stands at the left wall: nobody can get behind it to push it to the goal"
        elif not cells:
            yield block, "walls and blocks cover all four faces"
        elif all(reached[row + 1, col + 1] < 0 for row, col in cells):
            yield block, f"blocks shut off the {len(cells)} cells at its faces: no agent can get there"


def _pushers(step: EpisodeStep, block: int) -> tuple[AgentId, ...]:
    """Return who pushed a block into its place in a step."""
    way = (step.moved.get(block, "").upper(),)
    return tuple(agent for agent, outcome in step.outcomes.items() if outcome.effect and outcome.primitives == way)


RULES: Final[Sequence[Callable[[Sequence[EpisodeStep]], Iterator[FailureSpan]]]] = (
    chain_too_heavy,
    blocked_destination,
    misalignment,
    occlusion,
    staging_congestion,
    dynamic_blocking,
    vanishing_face,
    stuck_object,
)


def failures(
    static: Mapping[str, Any], team: Sequence[AgentId], transitions: Sequence[Transition]
) -> list[FailureSpan]:
    """Return the failures that the transitions of a CUBE episode show; implements ``contract.FailureFinder``.

    Args:
        static: ``grid_size`` and the ``weights`` of the blocks by id.
        team: The agents, in the order of the snapshots.
        transitions: The steps from 0 on, none left out.
    """
    steps = episode_steps(static, team, transitions)
    return [finding for rule in RULES for finding in rule(steps)]


def _single_step_span(step: EpisodeStep, label: str, agents: tuple[AgentId, ...], block: int, text: str) -> FailureSpan:
    return FailureSpan(label, step.number, step.number, agents, goal_name(block), text)


def _block_id(goal: str) -> int:
    return int(goal.removeprefix("block_"))


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _describe_blocker(obstacle: str) -> str:
    """Return a blocker in words: the log writes blocks as ``<block>(3)``."""
    return goal_name(int(obstacle[8:-1])) if obstacle.startswith("<block>(") else obstacle
