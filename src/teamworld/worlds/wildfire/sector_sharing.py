"""Who searches which sector: what all who know the same agree on without words.

Of the agents and the sectors that nobody has seen whole those are paired first that show most unseen ground for each
step. A pair stays while the agent gets nearer to where the search of its sector goes on, so that nobody on its way is
sent elsewhere; who does something else is paired anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import dist

from teamworld.language import AgentId, Entity
from teamworld.worlds.wildfire.skills import search_way
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


def _share_sectors(mission: Mission, state: SymbolicState) -> Mapping[AgentId, int]:
    searchers = [
        agent
        for agent, body in state.agents.items()
        if body.holds is None and body.aboard is None
        if not mission.fights or mission.kinds[agent] not in WALKERS
    ]
    hidden = [number for number in state.unseen if number in state.sectors]
    shared = {agent: number for number, agent in state.searchers.items() if number in hidden and agent in searchers}
    taken = set(shared.values())
    pairs = sorted(
        (-shown_a_step(agent, number, mission, state), agent, number)
        for agent in searchers
        if agent not in shared
        for number in hidden
        if number not in taken
    )
    for _, agent, number in pairs:
        if agent not in shared and number not in taken:
            shared[agent] = number
            taken.add(number)
    return shared
