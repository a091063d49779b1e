"""Looking for blocks that nobody has found: who goes to which unseen area, and what comes into view on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from teamworld.language import Action, AgentId, Cell, Plan
from teamworld.worlds.cube.geometry import aligned_agents, distances, path_length, straight_runs
from teamworld.worlds.cube.symbolic_state import DELTA, SymbolicState, area_side, once_per_state

#: Straight runs of one search.
LEGS = 4

#: Plans to search that an agent has at most.
PLANS = 6

#: Searches that its options and its situation name.
SEARCHES = 2


class Search(NamedTuple):
    """An agent's way to an unseen area, from which it sees all of it."""

    steps: int
    area: Cell
    """Its top-left cell."""
    runs: tuple[tuple[str, int], ...]
    """The first straight runs: (direction, cells)."""
    owner: AgentId | None
    """The agent to whom the area falls where free agents share the areas out."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """The runs as actions."""
        return tuple(Action("move", run) for run in self.runs)


def shared_searches(state: SymbolicState, agent: AgentId, radius: int) -> Sequence[Search]:
    """Return the best of an agent's ways to unseen areas: to the one that falls to it, to the nearest, to others'.

    None for who is lined up to push.
    """

    def rank(search: Search) -> int:
        return 0 if search.owner == agent else 1 if search.owner is None else 2

    if agent in _pushers(state):
        return ()
    return sorted(_searches(state, radius)[agent], key=rank)[:SEARCHES]


@once_per_state
def _pushers(state: SymbolicState) -> frozenset[AgentId]:
    """Return who is lined up to push a block to the right."""
    return frozenset[AgentId]().union(*(aligned_agents(state, block, "left") for block, _ in state.open_blocks))


@once_per_state
def _searches(state: SymbolicState, radius: int) -> Mapping[AgentId, Sequence[Search]]:
    """Return the ways of all agents to unseen areas, nearest first."""
    span = range(area_side(radius))
    fields = {}
    for row, col in sorted(set(state.unseen.values())):
        cells = [cell for i in span for j in span if state.is_passable(cell := (row + i, col + j))]
        fields[row, col] = distances(state, cells, through_agents=True)
    ways = {
        agent: {area: steps for area, field in fields.items() if (steps := path_length(field, at)) is not None}
        for agent, at in state.agents.items()
    }
    owners = _share_out(state, ways)
    by_agent: dict[AgentId, Sequence[Search]] = {}
    for agent, steps_to in ways.items():
        near = sorted((steps, area) for area, steps in steps_to.items())
        runs = {area: tuple(straight_runs(fields[area], state.agents[agent]))[:LEGS] for _, area in near}
        by_agent[agent] = [Search(steps, area, runs[area], owners.get(area)) for steps, area in near if runs[area]]
    return by_agent


def _share_out(state: SymbolicState, ways: Mapping[AgentId, Mapping[Cell, int]]) -> Mapping[Cell, AgentId]:
    """Return the areas that fall to free agents, one to each, the nearest pair first; who can push has other work."""
    free = [agent for agent in state.agents if agent not in _pushers(state)]
    pairs = sorted((steps, at, area) for at, agent in enumerate(free) for area, steps in ways[agent].items())
    owners: dict[Cell, AgentId] = {}
    for _, at, area in pairs:
        if area not in owners and free[at] not in owners.values():
            owners[area] = free[at]
    return owners


def exploration_plans(state: SymbolicState, agent: AgentId, radius: int) -> list[Plan]:
    """Return plans to walk to the nearest unseen areas, nearest first."""
    return [Plan(search.actions) for search in _searches(state, radius)[agent][:PLANS]]


def cells_shown(start: Cell, runs: Iterable[tuple[str, int]], unseen: Iterable[Cell], radius: int) -> list[Cell]:
    """Return which of some cells come into view on straight runs from a cell."""
    row, col = start
    left, shown = set(unseen), set[Cell]()
    for side, cells in runs:
        rows, cols = DELTA[side]
        end = row + rows * cells, col + cols * cells
        top, bottom = min(row, end[0]) - radius, max(row, end[0]) + radius
        first, last = min(col, end[1]) - radius, max(col, end[1]) + radius
        shown |= {cell for cell in left - shown if top <= cell[0] <= bottom and first <= cell[1] <= last}
        row, col = end
    return sorted(shown)
