"""The steps of a CUBE episode, laid out from its passages for the failure rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from teamworld.language import Action, AgentId
from teamworld.worlds.contract import Attempt, Outcome, SkippedAction, Transition
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.actions import block_of
from teamworld.worlds.cube.geometry import Place
from teamworld.worlds.cube.symbolic_state import DELTA, NOWHERE, SIDES, Square, SymbolicState


class BlockedWalk(NamedTuple):
    """An agent on its way to a face that saw no way in a step, and stayed."""

    place: Place
    ahead: AgentId | None
    """The agent in its way; None where blocks shut it."""


@dataclass(frozen=True)
class Step:
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
            block: ways.get((now.row - old.row, now.col - old.col), "away")
            for block, now in self.after.open
            if (old := self.before.blocks[block]) != now
        }

    @cached_property
    def teams(self) -> Mapping[Place, tuple[AgentId, ...]]:
        """The agents at work at each face of a block still there: on their way, waiting or pushing."""
        found: dict[Place, list[AgentId]] = {}
        for agent, outcome in self.outcomes.items():
            place = self._place(agent, outcome.action)
            if place is not None and not self.before.blocks[place.block].delivered:
                found.setdefault(place, []).append(agent)
        return {place: tuple(agents) for place, agents in found.items()}

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
        """The agents that were on their way to a face and saw no way."""
        found = {}
        for place, agents in self.teams.items():
            for agent in agents:
                outcome = self.outcomes[agent]
                on_the_way = outcome.action.verb == "move_to_block" and outcome.status != "done" and outcome.legal
                stays = outcome.primitives == ("STAY",)
                if on_the_way and stays and geometry.face_of(self.before, agent, place.block) != place.face:
                    ahead = outcome.blocker if outcome.blocker in self.before.agents else None
                    found[agent] = BlockedWalk(place, ahead)
        return found


def trace(static: Mapping[str, Any], team: Sequence[AgentId], passages: Sequence[Transition]) -> list[Step]:
    """Return the steps of an episode with their states.

    Args:
        static: ``grid_size`` and the ``weights`` of the blocks by id.
        team: The agents, in the order of the snapshots.
        passages: The steps from 0 on, none left out.
    """
    steps: list[Step] = []
    for passage in passages:
        before = steps[-1].after if steps else _scene(static, team, passage.before, None)
        after = _scene(static, team, passage.after, before)
        steps.append(Step(passage.step, before, after, passage.outcomes, passage.attempts, passage.passed))
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
