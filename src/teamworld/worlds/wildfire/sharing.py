"""Who searches which sector, and who carries which civilian: what all who know the same agree on without words.

Of the firefighters and the civilians to be carried those nearest to each other are paired first. Of the agents and the
sectors that nobody has seen whole it is those that show most unseen ground for each step; such a pair stays while the
agent gets nearer to where the search of its sector goes on, so that nobody on its way is sent elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import dist

from teamworld.language import AgentId, Entity
from teamworld.worlds.wildfire.state import KINDS, SIGHTS
from teamworld.worlds.wildfire.symbolic_state import PACE, WALKERS, AgentState, Mission, SymbolicState


def share_sectors(mission: Mission, state: SymbolicState) -> Mapping[AgentId, int]:
    """Return for each agent with free hands the sector that it searches.

    First the pairs that stay, then the others: those that show most unseen ground for each step of the way there and
    through the sector, at an agent's pace over bare ground; of equals by name. Whoever is left without a sector
    searches where it likes.
    """
    return state.derived("shared sectors", lambda: _share_sectors(mission, state))


def sharing_kept(
    mission: Mission, before: SymbolicState, agents: Mapping[AgentId, AgentState]
) -> Mapping[int, AgentId]:
    """Return who searches a sector and has come nearer to where its search goes on, by sector.

    Args:
        mission: The task.
        before: A step ago.
        agents: What is known of them now.
    """
    kept = {}
    for agent, number in share_sectors(mission, before).items():
        was = before.agents[agent].at
        place = before.place(Entity("sector", number), was)
        if agent in agents and place is not None and dist(agents[agent].at, place) < dist(was, place):
            kept[number] = agent
    return kept


def shown_a_step(agent: AgentId, sector: int, mission: Mission, state: SymbolicState) -> float:
    """Return the unseen cells of a sector for each step of an agent until it is seen whole, and one of its start."""
    kind, way = mission.kinds[agent], dist(state.search_place(sector), state.agents[agent].at)
    steps = 1 + (way + search_way(kind, sector, mission, state)) / PACE[kind]
    return state.unseen[sector] / 100 * mission.cells_in(sector) / steps


def search_way(kind: str, sector: int, mission: Mission, state: SymbolicState) -> float:
    """Return the cells that an agent goes on in a sector until all is seen: those left, by the width that it sees."""
    width = 2 * SIGHTS[KINDS.index(kind)].reveals + 1
    left = state.unseen.get(sector, 0) / 100 * mission.cells_in(sector)
    return max(0.0, left - width * width) / width


def share_civilians(mission: Mission, state: SymbolicState) -> Mapping[AgentId, int]:
    """Return for each firefighter with free hands the free civilian that it picks up: the nearest to each other first.

    Of equally near ones by name. Whoever is left without one is not needed.
    """
    return state.derived("shared civilians", lambda: _share_civilians(mission, state))


def _share_civilians(mission: Mission, state: SymbolicState) -> Mapping[AgentId, int]:
    pairs = sorted(
        (dist(body.at, person.at), agent, number)
        for agent, body in state.agents.items()
        if mission.kinds[agent] == "firefighter" and body.holds is None and body.aboard is None
        for number, person in state.people.items()
        if person.state == "free" and person.at is not None
    )
    return _pair(((agent, number) for _, agent, number in pairs), {})


def _share_sectors(mission: Mission, state: SymbolicState) -> Mapping[AgentId, int]:
    hidden = [number for number in state.unseen if number in state.sectors]
    if not hidden:  # asked at every step, of large teams with nothing to look for too
        return {}
    searchers = [
        agent
        for agent, body in state.agents.items()
        if body.holds is None and body.aboard is None
        if not mission.fights or mission.kinds[agent] not in WALKERS
    ]
    shared = {agent: number for number, agent in state.searchers.items() if number in hidden and agent in searchers}
    taken = frozenset(shared.values())
    pairs = sorted(
        (-shown_a_step(agent, number, mission, state), agent, number)
        for agent in searchers
        if agent not in shared
        for number in hidden
        if number not in taken
    )
    return _pair(((agent, number) for _, agent, number in pairs), shared)


def _pair(pairs: Iterable[tuple[AgentId, int]], kept: Mapping[AgentId, int]) -> Mapping[AgentId, int]:
    """Return the pairs that are kept, and of the others the first of each agent and each number."""
    paired, taken = dict(kept), set(kept.values())
    for agent, number in pairs:
        if agent not in paired and number not in taken:
            paired[agent] = number
            taken.add(number)
    return paired
