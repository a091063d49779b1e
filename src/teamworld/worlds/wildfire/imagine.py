"""What to expect after an action: the same scene, with what the action does if all goes well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import dist
from typing import Any

from teamworld.language import Action, AgentId, Cell, Entity
from teamworld.worlds.wildfire.goals import in_zone
from teamworld.worlds.wildfire.scene import BUILDING, DRY, IGNITED, WET, Body, Brief, Front, Scene, Spot
from teamworld.worlds.wildfire.skills import (
    BOARDING,
    DROP,
    ON_FOOT,
    PACE,
    SPRAY,
    WALKERS,
    cell_of,
    reached,
    thing_of,
)
from teamworld.worlds.wildfire.units import SEATS, TANK

#: A firefighter's pace where nobody knows the ground, in cells a timestep.
USUAL = 9.0


def trees_at(scene: Scene, cell: Cell) -> int | None:
    """Return the trees of a cell as far as is known."""
    spot = next((spot for spot in scene.targets.values() if spot.at == cell), None)
    if spot is not None:
        return spot.trees
    code = BUILDING if scene.ground is None else scene.ground.code(cell)
    return None if code in (0, BUILDING) or code >= IGNITED else code - (WET if code < DRY else DRY)


def way_ticks(kind: str, at: Cell, to: Cell, scene: Scene, pace: float | None = None) -> int:
    """Return the timesteps of a straight way, at least 1."""
    length = dist(at, to)
    if kind != "firefighter" or pace is not None:
        return max(1, -(-int(10 * length) // int(10 * (pace or PACE[kind]))))
    time, steps = 0.0, min(12, max(1, int(length)))
    for k in range(steps):
        share = (k + 0.5) / steps
        cell = round(at[0] + (to[0] - at[0]) * share), round(at[1] + (to[1] - at[1]) * share)
        trees = trees_at(scene, cell)
        time += length / steps / (USUAL if trees is None else ON_FOOT[trees])
    return max(1, int(time + 0.999))


def goal_of(agent: AgentId, action: Action, brief: Brief, scene: Scene) -> Cell | None:
    """Return the cell that an action takes its agent to; None where it stays or nobody knows."""
    at = scene.agents[agent].at
    if action.verb in ("move_to", "clear_to"):
        return cell_of(action)
    if action.verb == "step_toward":
        far, pace = cell_of(action), PACE[brief.kinds[agent]]
        share = min(1.0, pace / max(dist(at, far), 1e-9))
        return round(at[0] + (far[0] - at[0]) * share), round(at[1] + (far[1] - at[1]) * share)
    if action.verb == "go_to":
        return reached(agent, thing_of(action), at, brief, scene)
    if action.verb == "fell":
        aim = thing_of(action)
        return scene.spots(aim)[-1].at if isinstance(aim, Entity) and scene.spots(aim) else None
    return None


def ticks(agent: AgentId, action: Action, brief: Brief, scene: Scene) -> int:
    """Return the estimated timesteps of an action, at least 1."""
    body, kind = scene.agents.get(agent), brief.kinds[agent]
    if body is None or action.verb == "step_toward":
        return 1
    if action.verb == "talk":
        return action.args[0] if isinstance(action.args[0], int) else 1
    if action.verb == "cut":
        return action.args[0] if isinstance(action.args[0], int) else 1
    if action.verb == "cut_all":
        return max(1, 2 if body.trees is None else body.trees)
    if action.verb == "fell":
        aim = thing_of(action)
        spots = [spot for spot in scene.spots(aim) if spot.trees] if isinstance(aim, Entity) else []
        there = min((way_ticks(kind, body.at, spot.at, scene) for spot in spots if spot.at != body.at), default=0)
        there = 0 if any(spot.at == body.at for spot in spots) else there
        work = -(-len(spots) // 4) if kind == "bulldozer" else sum(spot.trees for spot in spots) + len(spots) - 1
        return max(1, there + work)
    place = goal_of(agent, action, brief, scene)
    if place is None:
        return 1
    return way_ticks(kind, body.at, place, scene, 4.0 if action.verb == "clear_to" else None)


def after(agent: AgentId, action: Action, brief: Brief, scene: Scene) -> Scene:
    """Return the scene to expect after an action that can be done, if it succeeds."""
    verb, body, kind = action.verb, scene.agents[agent], brief.kinds[agent]
    place = goal_of(agent, action, brief, scene)
    if verb == "go_to" and place is not None:
        scene = _found(thing_of(action), scene)
    if verb in ("fell", "cut", "cut_all", "clear_to"):
        scene = _cut(action, body, scene)
    if place is not None:
        return _moved(agent, place, kind, scene)
    body = scene.agents[agent]
    if verb in ("cut", "cut_all"):
        return _with(scene, agent, body._replace(trees=trees_at(scene, body.at) if _is_target(scene, body.at) else 0))
    if verb == "refill":
        return _with(scene, agent, body._replace(water=TANK))
    if verb in ("spray", "spray_at", "release"):
        return _doused(agent, body, SPRAY if kind == "firefighter" else DROP, scene)
    if verb in ("pick_up", "drop_off"):
        return _carry(agent, body, brief, scene)
    if verb in ("take_aboard", "set_down"):
        return _ride(agent, verb == "take_aboard", brief, scene)
    return scene


def _with(scene: Scene, agent: AgentId, body: Body, **changes: Any) -> Scene:
    return replace(scene, agents={**scene.agents, agent: body}, memo={}, **changes)


def _is_target(scene: Scene, at: Cell) -> bool:
    return any(spot.at == at for spot in scene.targets.values())


def _found(aim: Entity | str, scene: Scene) -> Scene:
    """Whoever goes to a sector sees it."""
    if isinstance(aim, Entity) and aim.kind == "sector":
        return replace(scene, unseen={k: v for k, v in scene.unseen.items() if k != aim.id}, memo={})
    return scene


def _moved(agent: AgentId, place: Cell, kind: str, scene: Scene) -> Scene:
    body = scene.agents[agent]
    agents = {**scene.agents, agent: body._replace(at=place, trees=trees_at(scene, place) if kind in WALKERS else None)}
    agents |= {mate: agents[mate]._replace(at=place) for mate in scene.riders(agent)}
    people = dict(scene.people)
    if body.holds is not None and body.holds in people:
        people[body.holds] = people[body.holds]._replace(at=place)
    return replace(scene, agents=agents, people=people, memo={})


def _cut(action: Action, body: Body, scene: Scene) -> Scene:
    gone: Mapping[Cell, int] = {body.at: 3}
    if action.verb == "cut":
        gone = {body.at: int(str(action.args[0]))}
    elif action.verb == "fell":
        aim = thing_of(action)
        gone = {spot.at: 3 for spot in scene.spots(aim)} if isinstance(aim, Entity) else {}
    elif action.verb == "clear_to":
        end = cell_of(action)
        steps = max(1, int(2 * dist(body.at, end)))
        gone = {
            (
                round(body.at[0] + (end[0] - body.at[0]) * k / steps),
                round(body.at[1] + (end[1] - body.at[1]) * k / steps),
            ): 3
            for k in range(steps + 1)
        }
    left: dict[int, Spot] = {
        number: spot._replace(trees=max(0, spot.trees - gone.get(spot.at, 0))) for number, spot in scene.targets.items()
    }
    return replace(scene, targets=left, memo={})


def _doused(agent: AgentId, body: Body, reach: float, scene: Scene) -> Scene:
    fires: dict[int, Front] = {}
    for number, front in scene.fires.items():
        left = tuple(cell for cell in front.cells if dist(cell, body.at) > reach)
        out = bool(front.cells) and not left
        fires[number] = front._replace(cells=left, out=front.out or out)
    return _with(scene, agent, body._replace(water=max(0, body.water - 1)), fires=fires)


def _carry(agent: AgentId, body: Body, brief: Brief, scene: Scene) -> Scene:
    people = dict(scene.people)
    if body.holds is None:
        number = scene.nearest_free(body.at, brief.lift_reach)
        if number is None:
            return scene
        people[number] = people[number]._replace(at=body.at, state="held")
        return _with(scene, agent, body._replace(holds=number), people=people)
    safe = scene.zone is not None and in_zone(body.at, scene.zone)
    if body.holds in people:
        people[body.holds] = people[body.holds]._replace(at=body.at, state="safe" if safe else "free")
    return _with(scene, agent, body._replace(holds=None), people=people)


def _ride(agent: AgentId, aboard: bool, brief: Brief, scene: Scene) -> Scene:
    agents, at = dict(scene.agents), scene.agents[agent].at
    if aboard:
        near = [
            mate
            for mate, body in agents.items()
            if brief.kinds[mate] == "firefighter" and body.aboard is None and dist(body.at, at) < BOARDING
        ]
        for mate in near[: SEATS - len(scene.riders(agent))]:
            agents[mate] = agents[mate]._replace(at=at, aboard=agent, trees=None)
    else:
        for mate in scene.riders(agent):
            agents[mate] = agents[mate]._replace(at=at, aboard=None, trees=trees_at(scene, at))
    return replace(scene, agents=agents, memo={})
