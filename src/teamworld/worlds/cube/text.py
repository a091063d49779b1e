"""What one agent may know now; every part is made when first read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from teamworld.errors import UserError, suggest
from teamworld.language import Action, AgentId, Facts, show
from teamworld.worlds.base.views import FrameView
from teamworld.worlds.contract import ActionSchema, Goal, Option, Outcome, Verdict
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.domain import CubeDomain, goals
from teamworld.worlds.cube.sight import TeamKnowledge, split
from teamworld.worlds.cube.symbolic_state import SymbolicState, entity

#: Actions of the history that ``text`` shows.
TAIL = 5
#: The one kind of agent.
KIND = "pusher"


@dataclass(frozen=True)
class Frame:
    """One moment of the world, shared by all views of it."""

    t: int
    horizon: int
    domain: CubeDomain
    knowledge: TeamKnowledge
    radius: int | None
    doing: Mapping[AgentId, Action]
    """What each busy agent is doing."""
    histories: Mapping[AgentId, Sequence[Outcome]]

    @property
    def state(self) -> SymbolicState:
        """What the team knows; the truth if agents see everything."""
        return self.knowledge.state

    @cached_property
    def facts(self) -> Facts:
        """The state as facts, the same for all agents if they see everything."""
        return self.state.facts

    def parts(self, agent: AgentId) -> tuple[Facts, Facts, Facts]:
        """Return an agent's facts, recall, and both together."""
        if self.radius is None:
            return self.facts, _NOTHING, self.facts
        return split(self.knowledge, agent, self.radius, self.t)


_NOTHING = Facts()


class CubeView(FrameView[Frame]):
    """``contract.View`` for CUBE; reading it after the world's next step raises ``StaleView``."""

    @property
    def kind(self) -> str:
        """``pusher``: all are."""
        return KIND

    @property
    def able(self) -> bool:
        """Always true: nothing keeps an agent from acting."""
        _ = self._now
        return True

    @property
    def state(self) -> SymbolicState:
        """All that the agent knows of places, as a state."""
        return self._now.state

    @property
    def doing(self) -> Mapping[AgentId, Action]:
        """The running action of each busy agent, for the team tells one another (CUBE spec B16)."""
        return self._now.doing

    @cached_property
    def _made(self) -> tuple[Facts, Facts, Facts]:
        return self._frame.parts(self._agent)

    @property
    def _parts(self) -> tuple[Facts, Facts, Facts]:
        _ = self._now
        return self._made

    @property
    def facts(self) -> Facts:
        """Perceived now."""
        return self._parts[0]

    @property
    def recall(self) -> Facts:
        """Perceived before by anyone of the team and not now by this agent, with the tick of last sight."""
        return self._parts[1]

    @property
    def known(self) -> Facts:
        """Both."""
        return self._parts[2]

    @property
    def goals(self) -> Sequence[Goal]:
        """The blocks discovered so far, by id; delivered ones are ``done``."""
        return goals(self._now.state)

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """All actions, with the blocks that can be acted on."""
        return tuple(self._now.domain.abilities(self._now.state).values())

    @property
    def options(self) -> Sequence[Option]:
        """Actions that make sense as far as the agent knows."""
        _ = self._now
        return self._made_options

    @cached_property
    def _made_options(self) -> Sequence[Option]:
        return self._frame.domain.options_in(self._frame.state, self._agent)

    @property
    def history(self) -> Sequence[Outcome]:
        """Its finished actions, oldest first; ``primitives`` holds the whole expansion, one a tick from ``start``."""
        return tuple(self._now.histories[self._agent])

    def check(self, action: Action) -> Verdict:
        """Whether the action's preconditions hold, by what the agent knows."""
        return self._now.domain.check_in(self._now.state, self._agent, action, planning=False)

    def text(self, form: str = "plain") -> str:
        """Return the view in words.

        Raises:
            UserError: There is no such form.
        """
        if form != "plain":
            raise UserError(f"a CUBE view has no text form '{form}'{suggest(form, ['plain'])}")
        return plain(self)


def plain(view: CubeView) -> str:
    """Return a view in words that are the same on every machine."""
    state, agent = view.state, view.agent
    goal = state.side - 1
    rows = [
        f"Step {view.t} of {view.t + view.left}. The grid has {state.side} x {state.side} cells, (row, column) from "
        f"(0, 0) at the top left; blocks are delivered to column {goal}, the right edge.",
        f"You are {agent} at {show(state.agents[agent])}.",
    ]
    for mate, cell in state.agents.items():
        if mate != agent:
            rows.append(f"{mate} is at {show(cell)}{f', doing {view.doing[mate]}' if mate in view.doing else ''}.")
    rows += [_block_line(view, block) for block in state.blocks]
    if not state.blocks:
        rows.append("No block has been seen yet.")
    tail = view.history[-TAIL:]
    rows += [f"You did {_history_line(outcome)}." for outcome in tail]
    return "\n".join(rows)


def _block_line(view: CubeView, block: int) -> str:
    state = view.state
    square = state.blocks[block]
    name = f"{entity(block)}, weight {square.weight},"
    if square.delivered:
        return f"{name} has been delivered."
    text = f"{name} is at {show((square.row, square.col))}, {state.distance(block)} columns from the goal"
    chain = [other for other in geometry.chain(state, block, "right") if other != block]
    if chain:
        others, need = ", ".join(str(entity(other)) for other in chain), geometry.chain_weight(state, block, "left")
        text += f"; pushed right it moves {others} too, which takes {need} agents"
    facts = view.recall.about("AT")
    seen = next((view.recall.seen[fact] for fact in facts if fact.subject == entity(block)), None)
    return f"{text}{f' (last seen at step {seen})' if seen is not None and seen < view.t else ''}."


def _history_line(outcome: Outcome) -> str:
    causes = ", ".join(filter(None, (outcome.reason, outcome.constraint, outcome.blocker)))
    last = outcome.start + len(outcome.primitives) - 1
    return f"{outcome.action} in steps {outcome.start} to {last}: {outcome.status}{f' ({causes})' if causes else ''}"


def observation(view: CubeView) -> dict[str, Any]:
    """Return the structured observation of the paper: plain data, with the keys of CUBE spec B16.

    ``history`` holds the finished actions of the agent with their primitive expansion.
    """
    state = view.state
    blocks = {
        f"B{block}": {
            "weight": square.weight,
            "size": square.weight,
            "location": None if square.delivered else (square.row, square.col),
            "goal_dist": state.distance(block),
            "delivered": square.delivered,
            "chain": [] if square.delivered else [b for b in geometry.chain(state, block, "right") if b != block],
        }
        for block, square in state.blocks.items()
    }
    history = [
        {
            "agent": view.agent,
            "action": outcome.action.verb,
            "args": [show(arg) for arg in outcome.action.args],
            "start": outcome.start,
            "end": outcome.start + len(outcome.primitives),
            "status": outcome.status,
            "reason": outcome.reason,
            "primitives": list(outcome.primitives),
        }
        for outcome in view.history
    ]
    return {
        "grid_size": state.side,
        "goal_column": state.side - 1,
        "step": view.t,
        "agent_positions": dict(state.agents),
        "blocks": blocks,
        "history": history,
        "team": [agent for agent in state.agents if agent != view.agent],
    }
