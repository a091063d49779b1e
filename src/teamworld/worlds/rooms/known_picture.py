"""What one agent knows of the rooms, as the replay draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from teamworld.language import AgentId
from teamworld.worlds.base.known_picture import KnownPicture
from teamworld.worlds.base.views import TeamView
from teamworld.worlds.contract import View
from teamworld.worlds.rooms import draw
from teamworld.worlds.rooms.domain import RoomsDomain


def known_picture(view: View, team: Sequence[AgentId]) -> KnownPicture:
    """Return the floor plan, which everybody knows, with what the facts of a view tell of; unseen rooms are grey."""
    domain = cast("RoomsDomain", cast("TeamView", view).domain)
    state = domain.read(view.known)
    kinds = {agent: domain.kinds[agent] for agent in team}
    hidden = frozenset(agent for agent in team if agent not in state.agents)
    static = draw.static(domain.house, kinds, state)
    return KnownPicture(static, draw.snapshot(state, domain.house, kinds), hidden)
