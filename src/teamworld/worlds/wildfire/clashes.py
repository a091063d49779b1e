"""What two agents of wildfire should not both do, in timesteps that are lost (CoBel-World spec B2).

========================= ================================================= ================================
kind                      test                                              timesteps lost
========================= ================================================= ================================
duplicate scouting        both look at one sector                           the shorter way
duplicate suppression     both pour on a fire that one can put out at once, the shorter way
..                        or cut one cell, or the last of a line
double rescue             both make for one civilian, or for the last one   the shorter way
                          of a cluster
double ferry              two helicopters for one firefighter, or more      the shorter way
                          seats than people wait
unmatched ferry           one makes for the only helicopter, which pours    the shorter way
broken line               two clear ground to one end                       the shorter way
drop on friends           a helicopter pours within reach of one who works  ``SAFETY``
danger                    a walker goes where it burns, or will by then     ``SAFETY``
========================= ================================================= ================================

A gap in a line that nobody means to close, what a team-mate does not know of a danger, and a front that has moved are
matters of knowledge. Nothing is lost where two take water at one place, or land at one: no source runs dry, and there
is room on a cell for all. An option does not say whose it is; where that matters its verb and goal tell the kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import dist
from typing import Final

from teamworld.language import Cell, Entity, GoalId
from teamworld.worlds.base.beliefs import SAFETY, is_cell
from teamworld.worlds.contract import Goal, Option
from teamworld.worlds.wildfire.beliefs import burns_by
from teamworld.worlds.wildfire.goals import in_zone
from teamworld.worlds.wildfire.scene import Brief, Scene
from teamworld.worlds.wildfire.skills import DROP, WALKERS
from teamworld.worlds.wildfire.units import SEATS

#: Burning cells that one agent puts out alone.
ONE_POUR: Final = 9
#: What only walkers do, and goals that only walkers go for.
_WORK: Final = frozenset({"cut", "cut_all", "fell", "clear_to", "spray", "spray_at", "pick_up", "drop_off"})
_ON_FOOT: Final = frozenset({"move_to", "clear_to", "fell"})
_WALKED: Final = frozenset({"cut", "rescue", "guard"})
_POURS: Final = frozenset({"spray", "spray_at", "release"})


def clash(brief: Brief, one: Option, other: Option, scene: Scene, goals: Mapping[GoalId, Goal]) -> float:
    """Return the timesteps that are lost if two agents do both; the most, where several tests apply.

    Args:
        brief: What everybody was told.
        one: What one does.
        other: What the other does.
        scene: What is known.
        goals: As they then stand, by id.
    """
    if any(into_fire(brief, option, scene, goals) for option in (one, other)):
        return SAFETY
    if any(_on_friends(brief, *pair, scene) for pair in ((one, other), (other, one))):
        return SAFETY
    short = float(min(one.ticks, other.ticks))
    if {one.action.verb, other.action.verb} & {"wait", "talk"}:
        return 0.0
    twice = _same(brief, one, other, scene, goals) or any(
        _unmatched(brief, *pair) for pair in ((one, other), (other, one))
    )
    return short if twice else 0.0


def _aim(option: Option) -> object:
    return option.action.args[0] if option.action.args else None


def _place(option: Option, scene: Scene) -> Cell | None:
    """Return where an option leads, as far as that does not depend on whose it is."""
    aim = _aim(option)
    if is_cell(aim):
        return aim
    if isinstance(aim, Entity) and aim.kind in ("zone", "water", "sector", "civilian"):
        return scene.place(aim, (0, 0))
    return None


def into_fire(brief: Brief, option: Option, scene: Scene, goals: Mapping[GoalId, Goal]) -> bool:
    """Whether a walker would go where it burns, or where fire may be by the time it is there."""
    goal = goals.get(option.goal) if option.goal is not None else None
    walks = option.action.verb in _ON_FOOT or (goal is not None and goal.kind in _WALKED)
    if not walks or option.action.verb not in (*_ON_FOOT, "go_to"):
        return False
    place = _place(option, scene)
    if place is None:
        return False
    return scene.dangerous(place) or burns_by(brief, scene, place, option.ticks)


def _on_friends(brief: Brief, pours: Option, works: Option, scene: Scene) -> bool:
    """Whether a helicopter that pours now is over somebody who works, or over the cell that is worked at."""
    if pours.action.verb != "release" or works.action.verb not in _WORK:
        return False
    above = [body.at for agent, body in scene.agents.items() if brief.kinds.get(agent) == "helicopter" and body.water]
    below = [body.at for agent, body in scene.agents.items() if brief.kinds.get(agent) in WALKERS and not body.aboard]
    place = _place(works, scene)
    cells = below if place is None else [place]
    return any(dist(here, cell) <= DROP for here in above for cell in cells)


def _same(brief: Brief, one: Option, other: Option, scene: Scene, goals: Mapping[GoalId, Goal]) -> bool:
    """Whether both do what one suffices for."""
    goal = goals.get(one.goal) if one.goal is not None and one.goal == other.goal else None
    verbs, aims = {one.action.verb, other.action.verb}, (_aim(one), _aim(other))
    same = aims[0] is not None and aims[0] == aims[1]
    if goal is not None and goal.kind in ("cut", "rescue"):
        left = len([spot for spot in scene.spots(goal.thing) if spot.trees]) if goal.thing is not None else 0
        if goal.places < 2 or (goal.kind == "cut" and left == 1) or (goal.kind == "rescue" and goal.units == 1):
            return True
    if goal is not None and goal.kind == "suppress" and verbs <= _POURS:
        return goal.units <= ONE_POUR
    if verbs == {"take_aboard"}:
        return _waiting(brief, scene) <= SEATS
    if not same or len(verbs) > 1:
        return False
    if verbs & {"move_to", "clear_to"}:
        return True
    aim = aims[0]
    if isinstance(aim, str):
        return brief.kinds.get(aim) == "firefighter"
    return isinstance(aim, Entity) and aim.kind in ("sector", "civilian")


def _waiting(brief: Brief, scene: Scene) -> int:
    """Return how many firefighters are still to be brought to the zone."""
    return sum(
        brief.kinds.get(agent) == "firefighter"
        and body.aboard is None
        and not (scene.zone is not None and in_zone(body.at, scene.zone))
        for agent, body in scene.agents.items()
    )


def _unmatched(brief: Brief, waits: Option, flies: Option) -> bool:
    """Whether one makes for the only helicopter, and that fights the fire: with water it takes nobody aboard."""
    only = brief.agents("helicopter") == [_aim(waits)]
    return only and waits.action.verb == "go_to" and flies.action.verb == "release"
