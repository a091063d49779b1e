"""How a goal stands, in a line of words: what is missing, how many are of use, what it is worth, how far it is."""

from __future__ import annotations

from math import dist
from typing import TYPE_CHECKING, TypeAlias

from teamworld.language import Action, AgentId, Cell, Entity, plain, show
from teamworld.worlds.base.words import listed
from teamworld.worlds.wildfire.firebreaks import CUTTERS, Firebreak, enclosed_ground, firebreak
from teamworld.worlds.wildfire.skills import (
    approach_cell,
    cut_before,
    cut_together,
    cutting_left,
    estimate_ticks,
    line_ticks,
    travel_ticks,
    trees_at,
)
from teamworld.worlds.wildfire.symbolic_state import Mission, SymbolicState, number_of, zone_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from teamworld.worlds.contract import Goal

    Teller: TypeAlias = Callable[[Goal, AgentId, Mission, SymbolicState], Iterator[str]]


def goal_text(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> str:
    """Return how a goal stands for an agent."""
    if goal.state != "open":
        return goal.state
    tellers: dict[str, Teller] = {
        "cut": _cut, "search": _search, "scout": _scout, "suppress": _suppress, "transport": _transport,
        "rescue": _people, "guard": _people,
    }  # fmt: skip
    return "; ".join([*tellers[goal.kind](goal, agent, mission, state), *_obstacles(goal, agent, mission, state)])


def _hands(goal: Goal, mission: Mission) -> str:
    """Return how many agents a goal needs and how many are of use."""
    need = f"takes {goal.quorum} agents at once, " if goal.quorum > 1 else ""
    named = goal.kinds if set(mission.kinds.values()) - set(goal.kinds) else ()
    if goal.capacity > 1:
        return f"{need}up to {goal.capacity} {' or '.join(f'{kind}s' for kind in named) or 'agents'} are of use"
    return f"{need}one {' or '.join(named) or 'agent'} is enough"


def _obstacles(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    """Yield what keeps the agent from it now."""
    if goal.kinds and mission.kinds[agent] not in goal.kinds:
        yield f"not for a {mission.kinds[agent]}"
    elif agent in state.agents and (carrier := state.agents[agent].aboard) is not None:
        yield f"cannot be done now by you: you ride {carrier}"
    if goal.prerequisites:
        yield f"cannot be done now: {' and '.join(goal.prerequisites)} first"


def _way(agent: AgentId, aim: Entity | str, mission: Mission, state: SymbolicState) -> str:
    """Return how far it is to a thing for an agent: empty where nobody knows."""
    body = state.agents.get(agent)
    place = None if body is None else approach_cell(agent, aim, body.at, mission, state)
    if body is None or place is None:
        return ""
    steps = 0 if place == body.at else travel_ticks(mission.kinds[agent], body.at, place, state)
    return "you are there" if steps == 0 else f"{number_of(steps, 'step')} away for you"


def _cut(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    assert goal.thing is not None
    cells = [spot.at for spot in state.spots(goal.thing)]
    where = f"at {show(cells[0])}" if len(cells) == 1 else f"on the line from {show(cells[0])} to {show(cells[-1])}"
    left = f"on {number_of(len(state.uncut(goal.thing)), 'cell')}, " if len(cells) > 1 else ""
    yield f"{goal.units} of {number_of(goal.weight, 'tree')} left on {plain(goal.thing)}, {left}{where}"
    here = {name for cell in cells for name in state.standing.get(cell, ()) if name != agent}
    others = [name for name in state.agents if name in here] if here else []
    rest = cutting_left(goal.thing, mission, state)
    if others:
        left = f", {number_of(rest, 'step')} of cutting left" if rest else ""
        yield f"{' and '.join(others)} {'is' if len(others) == 1 else 'are'} there{left}"
    more = min(goal.units, len(mission.agents("firefighter")))
    late = agent in state.agents and cut_before(agent, goal.thing, mission, state)
    yield _hands(goal, mission) + (f", up to {more} are faster" if goal.capacity == 1 < more and not late else "")
    if late:
        yield "done no sooner with you"
    elif agent in state.agents and others and rest:
        yield f"done in {number_of(cut_together(agent, goal.thing, mission, state), 'step')} with you"
    elif agent in state.agents:
        steps = estimate_ticks(agent, Action("fell", (goal.thing,)), mission, state)
        yield f"{number_of(steps, 'step')} for you alone, the way included"


def _search(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    missing = []
    if mission.burns and not state.fires:
        missing.append("the fire")
    people = mission.clusters * mission.per_cluster
    if left := people - sum(number < people for number in state.people):
        known = {person.cluster for person in state.people.values()}
        part = "" if len(known) == mission.clusters else "some of them "
        near = [plain(Entity("cluster", n)) for n in sorted(known) if len(state.members(n)) < mission.per_cluster]
        missing.append(number_of(left, "civilian") + (f", {part}near those of {listed(near)}" if near else ""))
    yield f"not found yet: {' and '.join(missing) or 'nothing'}"
    yield _hands(goal, mission)
    hidden = [number for number in state.unseen if number in state.sectors]
    yield f"{number_of(len(hidden), 'sector')} not seen whole" if hidden else "all sectors were seen once"


def _scout(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    assert goal.thing is not None
    above = max(0, goal.quorum - goal.units)
    yield f"{above} of {goal.quorum} above {plain(goal.thing)}, at the same time"
    yield _hands(goal, mission)
    yield _way(agent, goal.thing, mission, state) or "nobody knows where it is now"


def _suppress(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    assert goal.thing is not None
    burning = len(state.fires[goal.thing.id].cells) if goal.thing.id in state.fires else 0
    way = _way(agent, goal.thing, mission, state)
    yield f"{number_of(burning, 'cell')} known to burn" if burning else "nothing of it was seen burning yet"
    yield "done when nothing of it burns"
    if enclosed_ground(mission, state, goal.thing.id) is not None:
        yield "it is enclosed: nothing that it can reach leads out of the ground that was cut, seen as it is"
        if not (mission.pours and state.water):
            yield "nobody is needed"
            return
        yield "water saves what it would still burn"
    yield _hands(goal, mission)
    yield way or "nobody knows where it is now"
    if set(goal.kinds) & set(CUTTERS):
        yield from _ring(goal.thing.id, agent, mission, state)


def _ring(fire: int, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    """Yield the ring that is proposed round a fire, until when it has to be closed, and what of it is left to cut."""
    ring = firebreak(mission, state, fire)
    if ring is None:
        return
    (x0, x1), (y0, y1) = ((min(along), max(along)) for along in zip(*ring.cells, strict=True))
    box = f"x {x0} to {x1}, y {y0} to {y1}, {number_of(len(ring.cells), 'cell')}"
    if ring.deadline is None:
        yield f"a ring round it is cut: {box}"
        return
    needs = number_of(round(ring.needs), "step")
    what = "the smallest ring that the team can close in time" if ring.in_time else "a ring, too late for all of it"
    until = f"{len(ring.uncut)} still to cut before step {ring.deadline}, {needs} for the team, the way included"
    yield f"{what}: {box}, {until if ring.needs < _LONG else 'which cannot be closed'}"
    pours = mission.pours and state.water and mission.kinds[agent] == "firefighter"
    if agent in state.agents and not pours and mission.kinds[agent] in CUTTERS:
        kinds = " / ".join(f"a {kind}" for kind in mission.of_team(*CUTTERS))
        sides = ", ".join(_sides(ring, agent, mission, state))
        yield f"to cut on it, else bare (steps of cutting for {kinds}; away for you): {sides}"


#: Steps that nobody has: a ring that takes as many cannot be closed.
_LONG = 500


def _sides(ring: Firebreak, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    """Yield what is left to cut on each side of a ring, the nearest first."""
    at, kinds = state.agents[agent].at, mission.of_team(*CUTTERS)
    rows = [cell for cell in ring.uncut if cell[1] in (ring.box.y0, ring.box.y1)]
    sides = [(0, [cell for cell in rows if cell[1] == y]) for y in (ring.box.y0, ring.box.y1)]
    sides += [
        (1, [cell for cell in ring.uncut if cell[0] == x and cell not in rows]) for x in (ring.box.x0, ring.box.x1)
    ]
    lines = []
    for axis, cells in ((axis, sorted(cells)) for axis, cells in sides if cells):
        near = min(cells[0], cells[-1], key=lambda cell: (dist(cell, at), cell))
        steps = travel_ticks(mission.kinds[agent], at, near, state)
        way = "here" if near == at else f"{steps} away"
        work = " / ".join(str(line_ticks(kind, cells[0], cells[-1], state)) for kind in kinds)
        place = f"{'yx'[axis]} {cells[0][1 - axis]}, {'xy'[axis]} {ranges([cell[axis] for cell in cells])}"
        lines.append((dist(near, at), f"{place}, {_trees(cells, state)} ({work}; {way})"))
    yield from (words for _, words in sorted(lines))


def _trees(cells: list[Cell], state: SymbolicState) -> str:
    """Return how many trees some cells hold, and how many of them nobody has seen."""
    known = [trees_at(state, cell) for cell in cells]
    trees, unseen = sum(count for count in known if count is not None), known.count(None)
    parts = [number_of(trees, "tree")] if trees or not unseen else []
    return " and ".join([*parts, *([f"{unseen} unseen"] if unseen else [])])


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers in short: ``0 to 3, 5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _transport(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    assert goal.thing is not None
    bodies = {name: body for name, body in state.agents.items() if mission.kinds[name] == "firefighter"}
    away = [
        name
        for name, body in bodies.items()
        if not (state.in_zone(body.at) and (body.aboard is None or mission.riders_count))
    ]
    yield f"not at {plain(goal.thing)} yet: {', '.join(away) or number_of(goal.units, 'firefighter')}"
    if goal.quorum > 1:
        yield "a helicopter and a firefighter together, or on foot"
    else:
        yield "each goes by itself"
    if way := _way(agent, goal.thing, mission, state):
        yield way


def _people(goal: Goal, agent: AgentId, mission: Mission, state: SymbolicState) -> Iterator[str]:
    assert goal.thing is not None
    free = [number for number, person in state.members(goal.thing.id).items() if person.state == "free"]
    held = [number for number, person in state.members(goal.thing.id).items() if person.state == "held"]
    what = "to bring to zone_0" if goal.kind == "rescue" else "to keep from the fire until it is out"
    is_rescue, body, zone = goal.kind == "rescue", state.agents.get(agent), state.zone
    left = goal.units - len(held)
    carried = (
        f", {len(held)} carried now, {left} to be picked up" if is_rescue and left else f", {len(held)} carried now"
    )
    yield f"{number_of(goal.units, 'civilian')} {what}" + (carried if held else "")
    if is_rescue:
        yield "one firefighter for each" if left else "nobody else is of use"
    else:
        yield _hands(goal, mission)
    if is_rescue and body is not None and zone is not None and body.holds in held:
        steps = travel_ticks(mission.kinds[agent], body.at, zone_cell(body.at, zone), state)
        way = "in" if state.in_zone(body.at) else f"{number_of(steps, 'step')} to"
        yield f"you carry one, {way} zone_0"
        return
    if mission.kinds[agent] not in goal.kinds:
        return
    if way := _way(agent, goal.thing, mission, state):
        yield "you are at the nearest" if way == "you are there" else f"the nearest {way}"
    elif free or not state.members(goal.thing.id):
        lost = [person.was for person in state.members(goal.thing.id).values() if person.was is not None]
        yield f"look for them near {show(lost[0])}, where one was last" if lost else "nobody knows where they are now"
    place = None if body is None else state.place(goal.thing, body.at)
    if is_rescue and zone is not None and place is not None:
        steps = travel_ticks(mission.kinds[agent], place, zone_cell(place, zone), state)
        yield f"from there {number_of(steps, 'step')} to zone_0"
    if goal.kind == "guard" and (place := state.place(goal.thing, (0, 0))) is not None and state.burning:
        yield f"the fire is {min(dist(place, cell) for cell in state.burning):.0f} cells from them"
