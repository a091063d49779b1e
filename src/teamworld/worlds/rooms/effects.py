"""What one step did to the goals: joint acts with what each had and needed, and progress along the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from teamworld.language import AgentId
from teamworld.worlds.contract import Attempt, GoalEvent
from teamworld.worlds.rooms.levels import Instance
from teamworld.worlds.rooms.physics import Primitive, lifters
from teamworld.worlds.rooms.state import State, ways


def attempts(before: State, tried: Mapping[AgentId, Primitive], kinds: Mapping[AgentId, str]) -> Iterator[Attempt]:
    """Yield the joint lifts of the step and what each had: those who want, are there, act now."""
    for number, thing in before.items.items():
        lifting = lifters(before, tried, number)
        if thing.weight < 2 or thing.state != "free" or not lifting:
            continue
        there = {agent for agent, cell in before.agents.items() if cell == thing.cell and kinds[agent] == "carrier"}
        have = {"dependency": 1, "participation": len(there), "spatial": len(there), "temporal": len(lifting)}
        need = {name: 1 if name == "dependency" else thing.weight for name in have}
        capped: Any = tuple((name, min(have[name], need[name])) for name in have)
        wanted: Any = tuple(need.items())
        yield Attempt(f"deliver_{number}", thing.weight, capped, wanted, lifting, len(lifting) >= thing.weight)


def events(before: State, after: State, start: Instance, tried: Mapping[AgentId, Primitive]) -> tuple[GoalEvent, ...]:
    """Return progress, as shares of the whole way that add up to 1; what was done, and what was lost."""
    goal_events, field = [], ways(start.house, start.house.table, frozenset())
    for number in sorted(before.shut - after.shut):
        who = tuple(agent for agent, act in tried.items() if act.verb == "open" and act.target == number)
        goal_events += [
            GoalEvent(f"open_{number}", "progress", 1.0, who),
            GoalEvent(f"open_{number}", "done", 0.0, who),
        ]
    for number, thing in after.items.items():
        was, first = before.items[number], start.state.items[number].cell
        goal, who = f"deliver_{number}", was.holders or thing.holders
        if was.cell is not None and thing.cell is not None and first is not None and was.cell != thing.cell:
            goal_events.append(GoalEvent(goal, "progress", (field[was.cell] - field[thing.cell]) / field[first], who))
        if thing.state != was.state and thing.state in ("delivered", "lost"):
            goal_events.append(GoalEvent(goal, "done" if thing.state == "delivered" else "lost", 0.0, who))
    return tuple(goal_events)
