"""How agents get to a face: how far each has to go, who bars whose way, and who can make room.

The one source of these estimates: options, plans that are gone through in the head, and words all ask here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from teamworld.language import AgentId, Cell
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.geometry import distances, path_length, straight_runs, targets
from teamworld.worlds.cube.symbolic_state import DELTA, SymbolicState, once_per_state

if TYPE_CHECKING:
    from teamworld.worlds.cube.geometry import Distances


class Way(NamedTuple):
    """An agent's way to a face."""

    steps: int
    """Round teammates as they stand, 0 for who is lined up; past ``met`` where no way leads round them."""
    straight: int
    """To the same place if no teammate stood in the way."""
    met: tuple[AgentId, ...] = ()
    """The teammates on the straight way, nearest first, where it is the shorter one or the only one."""
    is_barred: bool = False
    """No way leads round the teammates as they stand."""


class Jam(NamedTuple):
    """Agents at a face shut out those whom a push still lacks, and one of them can let another in."""

    agent: AgentId
    """Who can make room."""
    way: tuple[tuple[str, int], ...]
    """How, as straight runs: to another free cell of the face."""
    cell: Cell
    """Where they lead."""
    comer: AgentId
    """Who can come then."""


def ways_to_face(state: SymbolicState, block: int, face: str) -> Mapping[AgentId, Way]:
    """Return the ways to a face of the agents that blocks do not shut out."""
    ways = ((agent, way_to_face(state, agent, block, face)) for agent in state.agents)
    return {agent: way for agent, way in ways if way is not None}


@once_per_state
def way_to_face(state: SymbolicState, agent: AgentId, block: int, face: str) -> Way | None:
    """Return an agent's way to a face; None where blocks leave none, or it is not known where the agent is."""
    if agent in geometry.aligned_agents(state, block, face):
        return Way(0, 0)
    at = state.agents.get(agent)
    to_face = distances(state, geometry.staging_cells(state, block, face), through_agents=True)
    if at is None or (least := path_length(to_face, at)) is None:
        return None
    way = next((way for cells in _goals(state, block, face) if (way := _find_way(state, at, cells)) is not None), None)
    return way or Way(least, least, tuple(_teammates_on_way(state, at, to_face)), is_barred=True)


@once_per_state
def _goals(state: SymbolicState, block: int, face: str) -> list[list[Cell]]:
    """Return the free cells to line up on, those of one rank together, the best first."""
    ranked = groupby(targets(state, block, face), key=lambda target: target[0])
    return [[cell for _, cell in places] for _, places in ranked]


def _find_way(state: SymbolicState, at: Cell, cells: list[Cell]) -> Way | None:
    """Return the way from a cell to the nearest of some, round teammates; None if there is none."""
    field = distances(state, cells, through_agents=True)
    straight = path_length(field, at)
    if straight is not None and geometry.is_way_free(state, field, at):
        return Way(straight, straight)
    steps = path_length(distances(state, cells), at)
    if steps is None:
        return None
    if straight is None or straight == steps:
        return Way(steps, steps)
    return Way(steps, straight, tuple(_teammates_on_way(state, at, field)))


def _teammates_on_way(state: SymbolicState, at: Cell, field: Distances) -> Iterator[AgentId]:
    """Yield who stands on a shortest way from a cell."""
    if field[at[0] + 1, at[1] + 1] < 0:  # a cell that is an obstacle
        if (way := geometry.first_step(field, at)) is None:
            return
        at = at[0] + DELTA[way[0]][0], at[1] + DELTA[way[0]][1]
        if at in state.by_cell:
            yield state.by_cell[at]
    yield from geometry.agents_on_way(state, field, at)


@once_per_state
def _comers(state: SymbolicState, block: int, face: str) -> Mapping[AgentId, int]:
    """Return the steps of all who can be lined up at a face as those lined up there stand.

    Teammates elsewhere are taken to walk on where they bar a way.
    """
    aligned = geometry.aligned_agents(state, block, face)
    ways = ways_to_face(state, block, face)
    return {agent: way.steps for agent, way in ways.items() if not (way.is_barred and aligned.intersection(way.met))}


def wait_for_others(state: SymbolicState, agent: AgentId, block: int, face: str, need: int) -> int | None:
    """Return the steps until so many agents, this one included, can be lined up at a face; None if they never can."""
    if need < 2:
        return 0
    steps = sorted(steps for other, steps in _comers(state, block, face).items() if other != agent)[: need - 1]
    if len(steps) < need - 1:
        return None
    return steps[-1]


@once_per_state
def find_jam(state: SymbolicState, block: int, face: str) -> Jam | None:
    """Return who should make room at a face for the nearest of those shut out, if without it too few can come."""
    need, aligned = geometry.chain_weight(state, block, face), geometry.aligned_agents(state, block, face)
    comers, ways = _comers(state, block, face), ways_to_face(state, block, face)
    if len(comers) >= need or len(ways) < need:
        return None
    shut_out = [agent for agent in ways if agent not in comers]
    free = [cell for (depth, _), cell in targets(state, block, face) if depth == 0]
    jams = list[tuple[int, int, Jam]]()
    for agent in (agent for agent in state.agents if agent in aligned):
        for cell in free:
            field = distances(state, (cell,))
            if (steps := path_length(field, state.agents[agent])) is None:
                continue
            then = _comers(state.with_agents({agent: cell}), block, face)
            runs = tuple(straight_runs(field, state.agents[agent]))
            jams += [(then[comer], steps, Jam(agent, runs, cell, comer)) for comer in shut_out if comer in then]
    return min(jams, key=lambda jam: jam[:2])[2] if jams else None
