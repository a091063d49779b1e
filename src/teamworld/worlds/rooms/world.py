"""Rooms as a world of the contract: starts and stops actions, takes one primitive from each, and judges them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Facts
from teamworld.seeding import generator
from teamworld.worlds.base.executor import Executor, Result, complete_action, refusal
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.team_world import TeamWorld
from teamworld.worlds.contract import (
    WAIT,
    EndReason,
    Goal,
    IndistinguishablePair,
    Outcome,
    StepResult,
    WorldSpec,
)
from teamworld.worlds.rooms import effects, physics
from teamworld.worlds.rooms.domain import RoomsDomain
from teamworld.worlds.rooms.levels import LEVELS, Instance, instance
from teamworld.worlds.rooms.observe import RoomMemory, believed, facts
from teamworld.worlds.rooms.skills import Skill
from teamworld.worlds.rooms.state import State
from teamworld.worlds.rooms.views import Frame, RoomsView

DEFAULT_HORIZON, DEFAULT_LEVEL = 120, "two"
SUMMARY = "carry things through rooms to a table, alone or together, past a fire (the tutorial's world)"
_TASK = (
    "Bring all things to the table in the last room. A thing of weight 2 takes two carriers who lift it in the same "
    "tick and bring it together. Scouts are fast and open doors. You see your own room only; a board in each room "
    "shows what was delivered and which doors are shut. Fire spreads from cell to cell. It takes agents and things; "
    "its smoke overcomes whoever is near."
)


class RoomsOptions(BaseModel):
    """What can be set for rooms."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    spread: float = Field(default=0.12, ge=0, le=1)
    """Probability that a cell beside fire catches fire in a tick."""


OPTIONS = RoomsOptions
__all__ = [
    "DEFAULT_HORIZON",
    "DEFAULT_LEVEL",
    "LEVELS",
    "OPTIONS",
    "SUMMARY",
    "RoomsWorld",
    "indistinguishable_pairs",
    "make",
]


class RoomsWorld(TeamWorld[Skill]):
    """One instance of rooms; implements ``contract.World``.

    Args:
        placed: Where everything is at the start.
        level: The name of the level, for the record.
        horizon: Ticks after which the episode ends.
        options: See ``RoomsOptions``.
    """

    def __init__(self, placed: Instance, level: str, horizon: int, options: RoomsOptions) -> None:
        if horizon < 1:
            raise UserError(f"the horizon is a number of ticks from 1, got {horizon}")
        self._placed, self._options = placed, options
        self._domain = RoomsDomain(placed.house, placed.kinds, placed.doors)
        house = placed.house
        static = {"size": list(house.size), "doors": [list(cell) for cell in house.doors], "table": list(house.table)}
        static |= {"rooms": house.rooms, "weights": [thing.weight for thing in placed.state.items.values()]}
        self._spec = WorldSpec(
            world="rooms",
            level=level,
            agents=tuple(placed.kinds),
            kinds=placed.kinds,
            horizon=horizon,
            task=_TASK,
            memory="agent",
            options=options.model_dump(),
            static=static,
        )
        self.reset(0)

    @property
    def domain(self) -> RoomsDomain:
        """The rules that everybody knows."""
        return self._domain

    def reset(self, seed: int) -> None:
        """Start over; the seed decides how the fire spreads."""
        self._rng = generator(seed, "rooms", "fire")
        self._state, self._t = self._placed.state, 0
        self._over: EndReason | None = None
        self._delivered = 0.0
        self._executor = Executor[Skill](self._spec.agents)
        self._memories = {agent: RoomMemory(self._placed.house) for agent in self._spec.agents}
        self._look()

    def view(self, agent: AgentId) -> RoomsView:
        """Return what a living agent may know now.

        Raises:
            UserError: There is no such agent, or it is gone.
        """
        self._check_agent(agent)
        return RoomsView(agent, self._frame, lambda: self._frame)

    def _advance(self) -> StepResult:
        before, house = self._state, self._placed.house
        tried = {agent: s.primitive(believed(self._known(agent)), house) for agent, s in self._executor.running.items()}
        draws = self._rng.random(house.size)
        catches = [c for room in range(house.rooms) for c in house.cells(room) if draws[c] < self._options.spread]
        catches += [c for c in house.doors if draws[c] < self._options.spread]
        self._state, gone = physics.step(before, house, tried, catches)
        outcomes = {agent: self._judge(agent, before, tried) for agent in before.agents}
        attempts = tuple(effects.attempts(before, tried, self._placed.kinds))
        for agent in self._state.overcome.keys() | gone:
            self._executor.running.pop(agent, None)
        self._t += 1
        events, goals = effects.events(before, self._state, self._placed, tried), self.goals()
        done = all(goal.state != "open" for goal in goals if goal.kind == "deliver")
        end = self._end_reason(done, self._t)
        self._look()
        delivered = self._delivered
        self._delivered = sum((goal.weight for goal in goals if goal.state == "done" and goal.kind == "deliver"), 0.0)
        score = {"reward": self._delivered - delivered, "delivered": self._delivered}
        return StepResult(1, outcomes, events, attempts, gone, score, end)

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other living agents at most ``reach`` steps away, walls or not, in the order of the agents."""
        self._check_agent(sender)
        (row, col), agents = self._state.agents[sender], self._state.agents
        near = {teammate for teammate, cell in agents.items() if abs(cell[0] - row) + abs(cell[1] - col) <= reach}
        return tuple(teammate for teammate in agents if teammate != sender and (math.isinf(reach) or teammate in near))

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they stand, items that nobody found too."""
        return self._domain.goals_in(self._state)

    def truth(self) -> Facts:
        """Return all that is true now."""
        return Facts(tuple(facts(self._state, self._placed.house, range(self._placed.house.rooms))))

    def snapshot(self) -> Mapping[str, Any]:
        """Return places: agents (null: gone) in the team's order, items with their state, fire, ash, shut doors."""
        state = self._state
        return {
            "v": 1,
            "agents": [list(state.agents[a]) if a in state.agents else None for a in self._spec.agents],
            "items": [[None if i.cell is None else list(i.cell), i.state] for i in state.items.values()],
            "fire": [list(cell) for cell in sorted(state.fire)],
            "ash": [list(cell) for cell in sorted(state.ash)],
            "shut": sorted(state.shut),
        }

    # ---- one step

    def _is_present(self, agent: AgentId) -> bool:
        return agent in self._state.agents

    def _known(self, agent: AgentId) -> Facts:
        return self._frame.parts(agent)[2]

    def _look(self) -> None:
        for agent in self._state.agents:
            self._memories[agent].look(self._state, agent, self._t)
        parts = {agent: self._memories[agent].parts for agent in self._state.agents}
        dazed = frozenset(self._state.overcome)
        histories = self._executor.copy_histories()
        self._frame = Frame(self._t, self._spec.horizon, self._domain, histories, parts.__getitem__, overcome=dazed)

    def _complete(self, agent: AgentId, action: Action) -> Action:
        return complete_action(action, self._domain.abilities(agent, self._known(agent)))

    def _make_skill(self, agent: AgentId, action: Action) -> Skill | Result:
        verdict = self._domain.check(agent, action, self._known(agent))
        return Skill(agent, action, self._placed.kinds[agent], self._t) if verdict.ok else refusal(verdict)

    def _judge(self, agent: AgentId, before: State, tried: Mapping[AgentId, physics.Primitive]) -> Outcome:
        act, place, after = tried.get(agent, physics.STAY), before.agents[agent], self._state
        aim = act.path[-1] if act.path else None
        outcome = Outcome(WAIT, "done", primitives=(act.verb,), start=self._t, place=place, aim=aim)
        if agent in tried and agent in after.agents:
            moved, held = after.agents[agent] != place, before.held(agent)
            opened = act.verb == "open" and act.target in before.shut - after.shut
            outcome = outcome._replace(
                moved=moved,
                effect=opened or held != after.held(agent) or (moved and held is not None),
                ready=f"deliver_{act.target}" if act.verb == "lift" and after.held(agent) is None else None,
            )

        def judge_skill(skill: Skill) -> Result:
            if agent not in after.agents:
                return Result("failed", "burnt")
            result = skill.result(before, after)
            is_overcome = result.status == "running" and agent in after.overcome
            return Result("failed", "overcome") if is_overcome else result

        return self._executor.judge(agent, outcome, judge_skill)


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> RoomsWorld:
    """Return the instance of a level.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    chosen = read_options(RoomsOptions, options, "rooms")
    return RoomsWorld(instance(level, seed), level, horizon, chosen)


def indistinguishable_pairs(level: str, seed: int) -> Iterator[IndistinguishablePair]:
    """Yield pairs of instances that an agent cannot tell apart: in a room out of its sight, an item lies elsewhere."""
    placed = instance(level, seed)
    house, state = placed.house, placed.state
    for agent, at in state.agents.items():
        for number, thing in state.items.items():
            if thing.cell is None or set(house.rooms_at(thing.cell)) & set(house.rooms_at(at)):
                continue
            cells = house.cells(house.rooms_at(thing.cell)[0])
            cell = cells[(cells.index(thing.cell) + 1) % len(cells)]
            other = placed._replace(
                state=State(state.agents, {**state.items, number: thing._replace(cell=cell)}, state.shut, state.fire)
            )
            first, second = (RoomsWorld(start, level, DEFAULT_HORIZON, RoomsOptions()) for start in (placed, other))
            yield IndistinguishablePair(first, second, agent)
            break
