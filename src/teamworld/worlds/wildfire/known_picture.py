"""What one agent knows of a fire, as the replay draws it: the ground as it, or its team, last saw it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from teamworld.language import AgentId
from teamworld.worlds.base.known_picture import KnownPicture
from teamworld.worlds.contract import View

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.world import WildfireView

#: Numbers of what became of civilians, as in ``drawing_data.snapshot``.
_STATES: Final = {"free": 0, "held": 1, "safe": 2, "dead": 3}


def known_picture(view: View, team: Sequence[AgentId]) -> KnownPicture:
    """Return the map with the ground, agents and people that a view knows of."""
    own = cast("WildfireView", view)
    state, mission = own.state, own.mission
    codes = np.zeros((mission.size, mission.size), np.uint8) if state.ground is None else state.ground.codes
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[np.minimum(codes, 15)]
    bodies = [state.agents.get(agent) for agent in team]
    static = {
        "v": 1,
        "is_known": True,
        "size": len(codes),
        "land": [row.tobytes().decode() for row in digits],
        "kinds": [mission.kinds[agent] for agent in team],
        "targets": [list(spot.at) for spot in state.targets.values()],
        "target": None if state.zone is None else list(state.zone),
    }
    frame = {
        "v": 1,
        "t": view.t,
        "land": [],
        "agents": [None if body is None else list(body.at) for body in bodies],
        "aboard": [None if body is None or body.aboard is None else list(team).index(body.aboard) for body in bodies],
        "water": [0 if body is None else body.water for body in bodies],
        "civilians": [[*person.at, _STATES[person.state]] for person in state.people.values() if person.at is not None],
    }
    hidden = frozenset(agent for agent, body in zip(team, bodies, strict=True) if body is None)
    return KnownPicture(static, frame, hidden)
