"""What one agent knows of an environment on cells, as the replay draws it: the state that its facts tell of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from teamworld.language import AgentId
from teamworld.worlds.adapters.describer import Describer
from teamworld.worlds.base.known_picture import AWAY, DrawKnown, KnownPicture
from teamworld.worlds.base.views import TeamView
from teamworld.worlds.contract import View


def of_facts(static: Callable[[Any], Mapping[str, Any]]) -> DrawKnown:
    """Return what draws a view by its describer's own drawing.

    Args:
        static: Returns, for the describer, what a drawing needs once; all of it is known to everybody.
    """

    def known_picture(view: View, team: Sequence[AgentId]) -> KnownPicture:
        describer = cast("Describer[Any]", cast("TeamView", view).domain)
        state = describer.read(view.known)
        frame = describer.snapshot(state)
        seen = dict(zip(state.at, frame["agents"], strict=True))
        agents = [seen.get(agent, [*AWAY, "", "", ""]) for agent in team]
        hidden = frozenset(agent for agent in team if agent not in seen)
        return KnownPicture(static(describer), {**frame, "agents": agents}, hidden)

    return known_picture
