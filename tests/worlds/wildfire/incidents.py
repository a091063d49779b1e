"""Small worlds for tests: a map, a team, and where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teamworld.worlds.wildfire.levels import Level, Team, WildfireInstance
from teamworld.worlds.wildfire.physics import begin_incident
from teamworld.worlds.wildfire.state import NOBODY, STOP, Cell, Incident, Terrain
from tests.worlds.wildfire.maps import flat

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import ActionRules, FireMode


def scene(
    *,
    team: Team,
    terrain: Terrain | None = None,
    task: str = "rescue",
    target: tuple[int, int] | None = None,
    fire: tuple[int, int] | None = None,
    water: tuple[tuple[int, int], ...] = (),
    clusters: tuple[tuple[int, int], ...] = (),
    spawn: tuple[int, int] = (10, 10),
    seed: int = 0,
    mode: FireMode = "reference",
    rules: ActionRules | None = None,
    lines: tuple[tuple[Cell, ...], ...] = (),
    event_cells: tuple[tuple[Cell, ...], ...] = (),
    **parts: Any,
) -> Incident:
    """Return an incident on a flat map without trees, 40 cells on a side, or on the map given."""
    terrain = flat(40, trees=0) if terrain is None else terrain
    needs: dict[str, Any] = {"max_steps": 100, "clusters": max(1, len(clusters)), "per_cluster": 1, "targets": 1}
    level = Level(name="scene", task=task, size=terrain.size, team=team, **{**needs, **parts})  # type: ignore[arg-type]
    instance = WildfireInstance(
        level=level,
        seed=seed,
        terrain=terrain.with_water(water),
        spawn=Cell(*spawn),
        targets=lines,
        target=None if target is None else Cell(*target),
        fire=None if fire is None else Cell(*fire),
        water=tuple(Cell(*cell) for cell in water),
        clusters=tuple(Cell(*cell) for cell in clusters),
        event_cells=event_cells or tuple(() for _ in level.events),
    )
    return begin_incident(instance, seed, mode, rules)


def forest_fire(**parts: Any) -> Incident:
    """Return a firefighter in a flat forest that is to be kept from a fire; ``scene`` with other defaults."""
    return scene(**{"team": Team(1), "terrain": flat(40), "task": "both", "fire_every": 10**5, **parts})


def do(incident: Incident, **orders: tuple[int, int, int]) -> npt.NDArray[np.int32]:
    """Return actions: ``a3=(0, 5, 5)`` for agent 3, nothing for the rest."""
    actions = np.full((len(incident.units), 3), (STOP, 0, 0), np.int32)
    for name, order in orders.items():
        actions[int(name[1:]) - 1] = order
    return actions


def state(incident: Incident) -> list[npt.NDArray[Any]]:
    """Return every array that a step may change."""
    units, folk, land = incident.units, incident.civilians, incident.land
    return [
        *(getattr(units, name) for name in ("x", "y", "alive", "water", "aboard", "carries")),
        *(folk.x, folk.y, folk.state, incident.met, incident.water_found),
        *(land.burn, land.trees, land.land, land.building, land.wet_until, land.meters),
        land.caught[: land.cells_caught],
        np.array([incident.t, incident.scouts]),
    ]


def same(first: Incident, second: Incident) -> bool:
    """Return whether two incidents stand alike."""
    return all(np.array_equal(a, b) for a, b in zip(state(first), state(second), strict=True))


def check(incident: Incident) -> None:
    """Fail if something holds that never may."""
    units, folk, size = incident.units, incident.civilians, incident.land.size
    places = units.places()
    assert ((places >= 0) & (places < size)).all()
    assert ((folk.x >= 0) & (folk.x < size) & (folk.y >= 0) & (folk.y < size)).all()
    assert ((units.water >= 0) & (units.water <= 5)).all()
    assert units.alive[units.kind >= 2].all() or incident.level.events
    for row in range(len(units)):
        if units.aboard[row] != NOBODY:
            assert units.kind[row] == 0
            assert units.kind[units.aboard[row]] == 3
            assert units.alive[units.aboard[row]]
            assert units.water[units.aboard[row]] == 0
    riders = units.aboard[units.aboard != NOBODY]
    assert len(riders) == 0 or np.bincount(riders).max() <= 5
    held = units.carries[units.carries != NOBODY]
    assert sorted(held) == sorted(np.flatnonzero(folk.state == 1))  # each carried one has one carrier
