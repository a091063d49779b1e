"""What one agent knows of the grid, as the replay draws it."""

from __future__ import annotations

from collections.abc import Sequence

from teamworld.language import AgentId
from teamworld.worlds.base.known_picture import AWAY, KnownPicture
from teamworld.worlds.contract import View
from teamworld.worlds.cube.symbolic_state import read_state


def known_picture(view: View, team: Sequence[AgentId]) -> KnownPicture:
    """Return the grid with the agents and blocks that the facts of a view tell of."""
    state = read_state(view.known)
    size = max(state.blocks, default=-1) + 1
    blocks = [state.blocks.get(block) for block in range(size)]
    places = [None if block is None or block.delivered else [block.row, block.col] for block in blocks]
    static = {"grid_size": state.side, "weights": [0 if block is None else block.weight for block in blocks]}
    agents = [list(state.agents[agent]) if agent in state.agents else list(AWAY) for agent in team]
    hidden = frozenset(agent for agent in team if agent not in state.agents)
    return KnownPicture(static, {"v": 1, "agents": agents, "blocks": places}, hidden)
