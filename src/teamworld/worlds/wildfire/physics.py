"""One timestep of the wildfire world, the fire, scripted events, and the score.

A timestep has 100 ticks:

1. Scripted events happen.
2. What takes no time is done in the order of ids: picking up and putting down, refilling, boarding and dropping.
3. Tick by tick, agents move; at tick 50 those who cut or spray are done with it; fire and civilians step when their
   clocks say so, the fire first. Fire kills at once whoever it reaches and whoever walks into it.

A fire step does the following, every decision taken from the state before it:

1. Smouldering cells that have smouldered for ten fire steps become burnt out, and cells that were on fire for one
   fire step become smouldering (*extinguishing*).
2. Ignited cells become on fire: their trees and building are destroyed and counted.
3. Every cell that is on fire and has not spread yet tries its eight neighbours, once in its life. A neighbour that is
   burnable and dry becomes ignited, or in the reference mode at once on fire; then it spreads in the next step, too.

A fire step visits only the cells that change. The two fire modes differ in what fire does to a neighbour
(``kernels.fire``). In the stochastic mode, chance is a hash of (key, fire step, cell, direction): it does not depend on
the order of cells, on threads, on the size of the map or on what burns elsewhere.

The state after a step depends on the state before and the actions alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.wildfire.kernels import agents, fire
from teamworld.worlds.wildfire.kernels.agents import (
    DOUSED,
    EFFECT,
    FELLED,
    MOVED,
    REASON,
    StepNotes,
    arrays,
    finish_work,
    fire_scouts,
    kill_on_fire,
    move_carried,
    move_units,
    note_seen,
    start_actions,
)
from teamworld.worlds.wildfire.kernels.fire import fuel_of, spread_of, walk_civilians
from teamworld.worlds.wildfire.state import (
    AT_FUEL,
    AT_NEIGHBOURS,
    AT_STATES,
    BULLDOZER,
    BURNABLE,
    DEAD,
    DRONE,
    FIREFIGHTER,
    FREE,
    HELICOPTER,
    MAX_TREES,
    METERS,
    NEIGHBOURS,
    NOBODY,
    NOT_BURNABLE,
    ON_FIRE,
    ROCKS,
    SAFE,
    TICKS,
    TICKS_PER_TIMESTEP,
    WATER,
    ActionRules,
    Civilians,
    FireMode,
    FireRules,
    Incident,
    Land,
    Terrain,
    civilians_at,
    rules_for,
    units_at,
)

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import Event, Level, WildfireInstance

    #: Indices into the framed arrays.
    Cells: TypeAlias = npt.NDArray[np.integer[Any]]
    I64: TypeAlias = npt.NDArray[np.int64]


def begin_incident(
    instance: WildfireInstance, seed: int, mode: FireMode = "reference", rules: ActionRules | None = None
) -> Incident:
    """Return an instance before its first step, its fire lit.

    Args:
        instance: The level on its map.
        seed: Of the chance in it; the map and the placement are the instance's.
        mode: How fire spreads.
        rules: What agents may do; those of the level's edition if None.
    """
    level = instance.level
    land = make_land(instance.terrain, level.rules(mode), seed=seed)
    if instance.fire is not None:
        ignite(land, *instance.fire)
    civilians = civilians_at(instance.clusters, level.per_cluster)
    incident = Incident(
        instance=instance,
        seed=seed,
        rules=rules or rules_for(level.edition),
        key=int(generator(seed, "wildfire", "civilians").integers(2**63)),
        land=land,
        units=units_at(instance.spawn, level.team),
        civilians=civilians,
        met=np.zeros(len(civilians), np.bool_),
        water_found=np.zeros(len(instance.water_cells), np.bool_),
    )
    note_scouted(incident)
    return incident


def step_civilians(incident: Incident, number: int) -> None:
    """Do a step of the civilians.

    Each free one picks among the cells beside its own, each with equal chance, that have not caught fire and lie on
    the map without its last row and column; it stays if there is none. The draw is a hash of the seed, the
    number of the step (1 for the first of an instance) and the civilian's, so what one does never changes what another
    draws.
    """
    civilians, land = incident.civilians, incident.land
    if len(civilians):
        walk_civilians(civilians.x, civilians.y, civilians.state, land.burn, incident.key, number)


def make_land(terrain: Terrain, rules: FireRules | None = None, *, seed: int = 0) -> Land:
    """Return the land of a new instance, nothing burning.

    Args:
        terrain: What it starts from.
        rules: How fire spreads; the reference mode if None.
        seed: Seed of the chance in the stochastic mode.
    """
    rules = rules or FireRules()
    burn = np.pad(terrain.burnable.astype(np.uint8) * BURNABLE, 1)
    if not rules.edge_burns:
        burn[1, :] = burn[-2, :] = burn[:, 1] = burn[:, -2] = NOT_BURNABLE
    meters = np.zeros(METERS, np.int64)
    meters[AT_STATES + BURNABLE] = np.count_nonzero(burn)
    meters[AT_STATES + NOT_BURNABLE] = terrain.size**2 - meters[AT_STATES + BURNABLE]
    meters[AT_NEIGHBOURS:] = [dy * (terrain.size + 2) + dx for dx, dy in NEIGHBOURS]
    return Land(
        terrain=terrain,
        rules=rules,
        key=int(generator(seed, "wildfire", "fire").integers(2**63)),
        burn=burn,
        trees=np.pad(terrain.trees, 1),
        land=np.pad(terrain.land, 1),
        building=np.pad(terrain.building, 1),
        wet_until=np.zeros(burn.shape, np.int32),
        caught=np.zeros(terrain.size**2 + 1, np.int32),
        meters=meters,
        spread=spread_of(terrain, rules),
        scratch=np.concatenate([np.zeros(AT_FUEL, np.uint64), fuel_of(rules)]),
    )


# One fire step --------------------------------------------------------------------------------------------------------


def step_fire(land: Land) -> None:
    """Do one fire step, whatever the clock says (see the module)."""
    arrays = (
        land.burn.reshape(-1),
        land.trees.reshape(-1),
        land.building.reshape(-1),
        land.wet_until.reshape(-1),
        land.caught,
        land.meters,
        land.spread,
    )
    if land.rules.mode == "reference":
        fire.step_by_rule(*arrays)
        return
    fire.step_by_chance(*arrays, land.key, land.stride, land.scratch)


def advance_fire(land: Land, ticks: int) -> int:
    """Let time pass: do each fire step that falls due.

    Args:
        land: What to change.
        ticks: Simulator ticks, 100 to a timestep of the agents. A fire step falls due whenever the clock reaches a
            multiple of ``rules.every``.

    Returns:
        How many fire steps were done.
    """
    every = land.rules.every
    due = (land.ticks + ticks) // every - land.ticks // every
    land.meters[TICKS] += ticks
    for _ in range(due):
        step_fire(land)
    return due


# What agents and events do to the land --------------------------------------------------------------------------------


def ignite(land: Land, x: int, y: int) -> bool:
    """Set a cell alight; it spreads in the next fire step.

    Returns:
        Whether it caught: not if it is not burnable, wet, or has burnt.

    Raises:
        UserError: If the cell lies outside the map.
    """
    return ignite_cells(land, np.array([land.cell(x, y)])) == 1


def ignite_cells(land: Land, cells: Cells) -> int:
    """Set cells alight (indices into the framed arrays); return how many caught.

    Raises:
        UserError: If they are not cells of the land; the kernel trusts them.
    """
    indices = np.asarray(cells)
    if indices.ndim != 1 or indices.dtype.kind not in "iu" or not ((indices >= 0) & (indices < land.burn.size)).all():
        raise UserError(f"cells must be a list of whole numbers from 0 to {land.burn.size - 1}, got {brief(indices)}")
    burn, wet_until = land.burn.reshape(-1), land.wet_until.reshape(-1)
    return agents.ignite_cells(indices.astype(np.int64), burn, wet_until, land.caught, land.meters)


def set_water(land: Land, x: int, y: int, present: bool = True) -> bool:
    """Make a cell a water cell, or dry land without trees again (scripted events).

    Returns:
        Whether anything changed: water is not put on a cell that has caught fire.

    Raises:
        UserError: If the cell lies outside the map.
    """
    cell = land.cell(x, y)
    kinds, burn = land.land.reshape(-1), land.burn.reshape(-1)
    if (kinds[cell] == WATER) == present or burn[cell] > BURNABLE:
        return False
    kinds[cell] = WATER if present else ROCKS
    if burn[cell] == BURNABLE:
        burn[cell] = NOT_BURNABLE
        land.meters[AT_STATES + BURNABLE] -= 1
        land.meters[AT_STATES + NOT_BURNABLE] += 1
    land.trees.reshape(-1)[cell] = 0
    land.building.reshape(-1)[cell] = False
    return True


def run_events(incident: Incident, notes: StepNotes) -> tuple[Event, ...]:
    """Run the events that are due, in the order of the script, and note the deaths of agents; return the events."""
    due = [(number, event) for number, event in enumerate(incident.level.events) if event.t == incident.t]
    for number, event in due:
        cells = incident.instance.event_cells[number]
        match event.kind:
            case "lose_drone" | "lose_helicopter":
                _lose_agents(incident, number, DRONE if event.kind == "lose_drone" else HELICOPTER, event.count)
            case "civilians":
                _add_civilians(incident, cells[0].x, cells[0].y, event.count)
            case "fire":
                for cell in cells:
                    ignite(incident.land, *cell)
            case "water":
                for cell in cells:
                    set_water(incident.land, *cell)
            case "growth":
                for _ in range(event.count):
                    step_fire(incident.land)
                    kill_on_fire(*arrays(incident), notes)
        kill_on_fire(*arrays(incident), notes)
    return tuple(event for _, event in due)


def _lose_agents(incident: Incident, number: int, kind: int, count: int) -> None:
    """Take agents of a kind out of service, drawn by the seed; a helicopter sets down whoever is aboard."""
    units = incident.units
    there = np.flatnonzero(units.alive & (units.kind == kind))
    for row in generator(incident.seed, "wildfire", "event", number).permutation(there)[:count]:
        units.alive[row] = False
        units.water[row] = 0
        units.aboard[units.aboard == row] = NOBODY


def _add_civilians(incident: Incident, x: int, y: int, count: int) -> None:
    """Add a cluster of civilians, after those that are there."""
    old = incident.civilians
    incident.civilians = Civilians(
        x=np.append(old.x, np.full(count, x, np.int32)),
        y=np.append(old.y, np.full(count, y, np.int32)),
        state=np.append(old.state, np.full(count, FREE, np.uint8)),
    )
    incident.met = np.append(incident.met, np.zeros(count, np.bool_))


#: Ticks that cutting a tree and spraying take.
WORK_TICKS = 50


class StepEffects(NamedTuple):
    """The effects of one timestep; A agents, C civilians as they are after it."""

    effect: npt.NDArray[np.bool_]
    """(A,): the world changed through its action."""
    moved: npt.NDArray[np.bool_]
    """(A,): it went by itself; riders are moved by their helicopter."""
    reason: npt.NDArray[np.uint8]
    """(A,): why its action did nothing, or not all; index into ``REASONS``, 0 is none."""
    died: npt.NDArray[np.bool_]
    """(A,): gone in this timestep, by fire or by the script."""
    felled: npt.NDArray[np.int32]
    """(A,): trees that it cut."""
    put_out: npt.NDArray[np.int32]
    """(A,): ignited, burning or smouldering cells that its water put out."""
    rescued: npt.NDArray[np.bool_]
    """(C,): put down at the target in this timestep, and alive after it."""
    lost_civilians: npt.NDArray[np.bool_]
    """(C,): dead since this timestep."""
    events: tuple[Event, ...]
    """What the script did at its beginning."""
    fire_steps: int
    """Fire steps done, those of the script's growth not counted."""


def step(incident: Incident, actions: npt.NDArray[np.integer]) -> StepEffects:
    """Do one timestep.

    Args:
        incident: What to change.
        actions: (A, 3) whole numbers; row k is what agent k + 1 does: [type, x, y], types as in ``units``.
            [-1, 0, 0] and [0, 0, 0] do nothing, types that the agent's kind does not know do nothing, and a target
            outside the map leaves the agent where it is; ``StepEffects.reason`` tells.

    Raises:
        UserError: If the actions are not (A, 3) whole numbers.
    """
    primitives = _check_actions(actions, len(incident.units))
    alive = incident.units.alive.copy()
    before = incident.civilians.state.copy()
    notes = StepNotes(np.zeros((len(alive), 10), np.int32), np.zeros((len(alive), 3)))
    script = run_events(incident, notes)
    units, civilians, land, rules = arrays(incident)
    before = np.pad(before, (0, len(civilians.state) - len(before)), constant_values=FREE)
    going, workers = start_actions(primitives, units, civilians, land, rules, notes)
    kill_on_fire(units, civilians, land, rules, notes)
    tick = steps = 0
    while tick < TICKS_PER_TIMESTEP:
        until = _next_stop(incident, tick, workers > 0)
        if going:
            going = move_units(until - tick, going, units, civilians, land, rules, notes)
        if until == WORK_TICKS and workers:
            finish_work(units, land, rules, notes)
        if done := advance_fire(incident.land, until - tick):
            kill_on_fire(units, civilians, land, rules, notes)
            steps += done
        number, rest = divmod(incident.ticks + until, incident.level.civilian_every)
        if rest == 0:
            step_civilians(incident, number)
        tick = until
    move_carried(units, civilians)
    incident.t += 1
    note_scouted(incident)
    died = alive & ~incident.units.alive
    return StepEffects(
        effect=notes.table[:, EFFECT] != 0,
        moved=notes.table[:, MOVED] != 0,
        reason=notes.table[:, REASON].astype(np.uint8),
        died=died,
        felled=notes.table[:, FELLED].copy(),
        put_out=notes.table[:, DOUSED].copy(),
        rescued=(civilians.state == SAFE) & (before != SAFE),
        lost_civilians=(civilians.state == DEAD) & (before != DEAD),
        events=script,
        fire_steps=steps,
    )


def _check_actions(actions: npt.NDArray[np.integer], agents: int) -> npt.NDArray[np.int64]:
    array = np.asarray(actions)
    if array.shape != (agents, 3) or array.dtype.kind not in "iu":
        raise UserError(
            f"actions must be whole numbers of shape ({agents}, 3), [type, x, y] for each agent; got "
            f"{array.dtype} of shape {array.shape}"
        )
    return np.ascontiguousarray(array, np.int64)


def _next_stop(incident: Incident, tick: int, working: bool) -> int:
    """Return the next tick of this timestep at which more happens than walking."""
    every = incident.level.civilian_every
    end = WORK_TICKS if working and tick < WORK_TICKS else TICKS_PER_TIMESTEP
    return min(end, tick + incident.land.ticks_to_fire, tick + every - (incident.ticks + tick) % every)


#: Which score counts where a fire is fought: cut trees as lost (as in the reference code), or only what burnt.
ScoreName: TypeAlias = Literal["reference", "burnt"]

#: Points that each thing costs that is lost where a fire is fought.
TREE_COST, BUILDING_COST, CIVILIAN_COST, FIREFIGHTER_COST, BULLDOZER_COST = 1, 10, 100, 20, 20

#: Scouts that a fire needs, and cells from the target, in x and in y, at which a firefighter has arrived.
SCOUTS, TRANSPORT_REACH = 2, 3


class Score(NamedTuple):
    """Both scores of an instance; they differ only where a fire is fought."""

    reference: float
    """Trees that agents cut count as lost, as in the reference code."""
    burnt: float
    """Only what the fire destroyed counts."""


def fights_fire(level: Level) -> bool:
    """Return whether the score is damage, at best 0: the tasks contain and both."""
    return level.task in ("contain", "both")


def score(incident: Incident) -> Score:
    """Return the score as it stands.

    - Cut: trees gone from the target cells.
    - Scout: most drones and helicopters at once above cells on fire, smouldering or burnt out, at most 2.
    - Transport: living firefighters within 3 cells of the target in x and in y, on the ground.
    - Rescue: civilians that were put down at the target.
    - Contain, both: -(trees + 10 buildings + 100 civilians + 20 firefighters + 20 bulldozers) that are lost.
    """
    level = incident.level
    if fights_fire(level):
        return _damage(incident)
    if level.task == "scout":
        points = min(SCOUTS, incident.scouts)
    elif level.task == "transport":
        points = count_transported(incident)
    elif level.task == "rescue":
        points = int(np.count_nonzero(incident.civilians.state == SAFE))
    else:
        points = count_correct_cuts(incident)
    return Score(float(points), float(points))


def _damage(incident: Incident) -> Score:
    land, units = incident.land, incident.units
    gone = units.kind[~units.alive]
    burnt = (
        TREE_COST * land.trees_burnt
        + BUILDING_COST * land.buildings_lost
        + CIVILIAN_COST * int(np.count_nonzero(incident.civilians.state == DEAD))
        + FIREFIGHTER_COST * int(np.count_nonzero(gone == FIREFIGHTER))
        + BULLDOZER_COST * int(np.count_nonzero(gone == BULLDOZER))
    )
    # 0.0 - n, not -n: nothing lost is 0, not minus zero
    return Score(0.0 - (burnt + TREE_COST * land.trees_cut), 0.0 - burnt)


def best_score(level: Level) -> float:
    """Return the best possible score, civilians that a script brings included."""
    later = sum(event.count for event in level.events if event.kind == "civilians")
    return float(level.max_score + (later if level.task == "rescue" else 0))


def is_over(incident: Incident) -> bool:
    """Return whether nothing is left to be done; the step limit is ``level.max_steps`` and not looked at here.

    A task with a best score ends when it is reached. Contain and both end when nothing is ignited or on fire
    and the script has no more fire to bring.
    """
    if fights_fire(incident.level):
        to_come = any(event.kind == "fire" and event.t >= incident.t for event in incident.level.events)
        return incident.land.cells_burning == 0 and not to_come
    return score(incident).reference >= best_score(incident.level)


def count_correct_cuts(incident: Incident) -> int:
    """Return how many trees are gone from the target cells, of 3 on each."""
    trees = incident.land.inner(incident.land.trees)
    return sum(MAX_TREES - int(trees[y, x]) for line in incident.instance.targets for x, y in line)


def count_transported(incident: Incident) -> int:
    """Return how many firefighters are at the target now."""
    target, units = incident.instance.target, incident.units
    if target is None:
        return 0
    places = units.places()
    there = (abs(places - (target.x, target.y)) <= TRANSPORT_REACH).all(axis=1)
    there &= units.alive & (units.kind == FIREFIGHTER)
    if not incident.rules.riders_count:
        there &= units.aboard == NOBODY
    return int(np.count_nonzero(there))


# What was seen -------------------------------------------------------------------------------------------------------


def note_scouted(incident: Incident) -> None:
    """Note after a step which civilians and which water agents have in sight, and how many are above the fire."""
    units, civilians, land = incident.units, incident.civilians, incident.land
    if len(civilians):
        note_seen(
            units.kind, units.x, units.y, units.alive, civilians.x, civilians.y, civilians.state != DEAD, incident.met
        )
    if len(incident.water_found):
        cells = np.array(incident.instance.water_cells, np.int32)
        filled = land.inner(land.land)[cells[:, 1], cells[:, 0]] == WATER
        note_seen(units.kind, units.x, units.y, units.alive, cells[:, 0], cells[:, 1], filled, incident.water_found)
    if incident.level.task == "scout":
        incident.scouts = max(incident.scouts, len(rows_over_fire(incident)))


def rows_over_fire(incident: Incident) -> list[int]:
    """Return the rows of the flyers above what is on fire, smoulders or is burnt out."""
    units, burn, places = incident.units, incident.land.burn, incident.units.places()
    over = burn[places[:, 1] + 1, places[:, 0] + 1] >= ON_FIRE
    return [int(row) for row in np.flatnonzero(units.alive & (units.kind >= DRONE) & over)]


class Counters(NamedTuple):
    """The thirteen counters of the 2026 edition."""

    explored: int | None
    """Cells that an agent has seen; None if the caller does not say."""
    trees_burnt: int
    trees_cut: int
    fires_extinguished: int
    """Ignited, burning or smouldering cells that water put out."""
    correct_cuts: int
    """Trees gone from target cells."""
    civilians_rescued: int
    firefighters_transported: int
    """At the target now."""
    civilians_scouted: int
    """That an agent has had in sight."""
    fire_scouts: int
    """Living agents that have an ignited, burning or smouldering cell in sight now."""
    water_scouted: int
    """Water cells of the level and its script that an agent has had in sight."""
    agents_destroyed: int
    civilians_destroyed: int
    buildings_destroyed: int


def counters(incident: Incident, explored: int | None = None) -> Counters:
    """Return the counters; ``explored`` are the cells seen by the team, from its ``Sightings``."""
    land, units, civilians = incident.land, incident.units, incident.civilians
    return Counters(
        explored=explored,
        trees_burnt=land.trees_burnt,
        trees_cut=land.trees_cut,
        fires_extinguished=land.cells_put_out,
        correct_cuts=count_correct_cuts(incident),
        civilians_rescued=int(np.count_nonzero(civilians.state == SAFE)),
        firefighters_transported=count_transported(incident),
        civilians_scouted=int(np.count_nonzero(incident.met)),
        fire_scouts=fire_scouts(units.kind, units.x, units.y, units.alive, land.burn),
        water_scouted=int(np.count_nonzero(incident.water_found)),
        agents_destroyed=int(np.count_nonzero(~units.alive)),
        civilians_destroyed=int(np.count_nonzero(civilians.state == DEAD)),
        buildings_destroyed=land.buildings_lost,
    )
