"""Rooms as a world of the contract: takes one primitive from each running action, and judges them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import Action, AgentId, Facts
from teamworld.seeding import generator
from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.base.executor import Result
from teamworld.worlds.base.indistinguishable_pair import IndistinguishablePair
from teamworld.worlds.base.memory import FactMemory, Perception
from teamworld.worlds.base.options import read_options
from teamworld.worlds.base.world import FactsWorld, list_progress
from teamworld.worlds.contract import WAIT, Attempt, GoalEvent, Outcome, StepResult, WorldSpec
from teamworld.worlds.rooms import bounds, draw, physics
from teamworld.worlds.rooms.domain import RoomsDomain
from teamworld.worlds.rooms.facts import list_facts, read_state
from teamworld.worlds.rooms.known_picture import known_picture as known_picture
from teamworld.worlds.rooms.levels import LEVELS as LEVELS
from teamworld.worlds.rooms.levels import Instance, instance
from teamworld.worlds.rooms.skills import Skill
from teamworld.worlds.rooms.state import State, distances
from teamworld.worlds.rooms.text import tell_rules, tell_task

STEP_LIMIT, DEFAULT_LEVEL = 120, "two"
SUMMARY = "carry things through rooms to a table, alone or together, past a fire (the tutorial's world)"


class RoomsOptions(BaseModel):
    """What can be set for rooms."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    spread: float = Field(default=0.12, ge=0, le=1)
    """Probability that a cell beside fire catches fire in a step."""


OPTIONS = RoomsOptions


class Change(NamedTuple):
    """One step: the moment before, what each agent tried, and who did not live to see the next."""

    before: State
    tried: Mapping[AgentId, physics.Primitive]
    gone: Mapping[AgentId, str]


class RoomsWorld(FactsWorld[RoomsDomain, Skill, Change]):
    """One instance of rooms.

    Args:
        placed: Where everything is at the start.
        level: The name of the level, for the record.
        horizon: Steps after which the episode ends.
        options: See ``RoomsOptions``.
    """

    def __init__(self, placed: Instance, level: str, horizon: int, options: RoomsOptions) -> None:
        self._placed, self._house, self._options = placed, placed.house, options
        house = placed.house
        spec = WorldSpec(
            world="rooms",
            level=level,
            agents=tuple(placed.kinds),
            kinds=placed.kinds,
            horizon=horizon,
            task=tell_task(placed.state, placed.doors, horizon),
            rules=tell_rules(house, placed.kinds, placed.state, placed.doors, options.spread),
            memory="agent",
            options=options.model_dump(),
            static=draw.static(house, placed.kinds, placed.state),
        )
        super().__init__(spec, RoomsDomain(house, placed.kinds, placed.doors))

    def begin(self, seed: int) -> None:
        """Start over; the seed decides how the fire spreads."""
        self._rng = generator(seed, "rooms", "fire")
        self._state, self._delivered = self._placed.state, 0.0
        self._memories = {agent: FactMemory(transient=("UNSEEN",)) for agent in self._spec.agents}
        self._visited: dict[AgentId, frozenset[int]] = dict.fromkeys(self._spec.agents, frozenset())
        self._look()

    def _is_present(self, agent: AgentId) -> bool:
        return agent in self._state.agents

    @property
    def unable(self) -> frozenset[AgentId]:
        """The agents that the smoke has overcome."""
        return frozenset(self._state.overcome)

    def make_skill(self, agent: AgentId, action: Action) -> Skill:
        """Return a running action."""
        return Skill(agent, action, self._placed.kinds[agent], self._t)

    def advance(self, running: Mapping[AgentId, Skill]) -> Change:
        """Do one step of the physics."""
        before, house = self._state, self._house
        tried = {agent: skill.primitive(read_state(self.known(agent)), house) for agent, skill in running.items()}
        catches = physics.draw_catches(self._rng, house, self._options.spread)
        self._state, gone = physics.step(before, house, tried, catches)
        return Change(before, tried, gone)

    def observe(self, agent: AgentId, change: Change) -> Outcome:
        """Return what the step did to an agent and through it."""
        before, after = change.before, self._state
        act, place = change.tried.get(agent, physics.STAY), before.agents[agent]
        aim = act.path[-1] if act.path else None
        outcome = Outcome(WAIT, "done", primitives=(act.verb,), start=self._t, place=place, aim=aim)
        if agent not in change.tried or agent in change.gone:
            return outcome
        moved, held = after.agents[agent] != place, before.held(agent)
        opened = act.verb == "open" and act.target in before.shut - after.shut
        return outcome._replace(
            moved=moved,
            effect=opened or held != after.held(agent) or (moved and held is not None),
            ready=f"deliver_{act.target}" if act.verb == "lift" and after.held(agent) is None else None,
        )

    def judge(self, agent: AgentId, skill: Skill, change: Change) -> Result:
        """Return how a running action stands after the step."""
        if agent in change.gone:
            return Result("failed", f"{change.gone[agent]}: it stood in fire")
        result = skill.result(change.before, self._state)
        is_overcome = result.status == "running" and agent in self._state.overcome
        return Result("failed", "overcome: smoke, for a few steps") if is_overcome else result

    def conclude(self, change: Change) -> StepResult:
        """Return what the step did to the goals; let agents look."""
        self._look()
        delivered = self._delivered
        things = self._state.items.values()
        self._delivered = float(sum(thing.weight for thing in things if thing.state == "delivered"))
        score = {"reward": self._delivered - delivered, "delivered": self._delivered}
        return StepResult(1, {}, tuple(self._list_events(change)), tuple(self._list_lifts(change)), change.gone, score)

    def is_complete(self) -> bool:
        """Return whether no thing is left to deliver."""
        return all(thing.state in ("delivered", "lost") for thing in self._state.items.values())

    def perceive(self, agent: AgentId) -> Perception:
        """Return what an agent sees in its room, and what it remembers."""
        return self._memories[agent].perception

    def in_range(self, sender: AgentId, reach: float) -> Collection[AgentId]:
        """Return the other living agents at most ``reach`` steps away, walls or not, in the order of the agents."""
        self._check_agent(sender)
        (row, col), agents = self._state.agents[sender], self._state.agents
        steps = {agent: abs(cell[0] - row) + abs(cell[1] - col) for agent, cell in agents.items() if agent != sender}
        return tuple(agent for agent, distance in steps.items() if distance <= reach)

    def truth(self) -> Facts:
        """Return all that is true now."""
        return self._domain.write(self._state)

    def snapshot(self) -> Mapping[str, Any]:
        """Return what a drawing of this moment needs, see ``draw``."""
        return draw.snapshot(self._state, self._house, self._placed.kinds)

    def _look(self) -> None:
        house = self._house
        for agent, cell in self._state.agents.items():
            here = frozenset(house.rooms_at(cell))
            self._visited[agent] |= here
            unseen = frozenset(range(house.rooms)) - self._visited[agent]
            perceived = list_facts(replace(self._state, unseen=unseen), house, here)
            places = {place for place in house.floor if here.intersection(house.rooms_at(place))}
            self._memories[agent].look(perceived, self._t, places)

    def _list_lifts(self, change: Change) -> Iterator[Attempt]:
        """Yield the joint lifts of the step and what each had: those who want, are there, act now."""
        before, kinds = change.before, self._placed.kinds
        for number, thing in before.items.items():
            lifting = physics.lifters(before, change.tried, number)
            if thing.weight < 2 or thing.state != "free" or not lifting:
                continue
            there = sum(cell == thing.cell and kinds[agent] == "carrier" for agent, cell in before.agents.items())
            have = {"dependency": 1, "participation": there, "spatial": there, "temporal": len(lifting)}
            need = dict.fromkeys(have, thing.weight) | {"dependency": 1}
            capped: Any = tuple((name, min(have[name], need[name])) for name in have)
            wanted: Any = tuple(need.items())
            yield Attempt(f"deliver_{number}", thing.weight, capped, wanted, lifting, len(lifting) >= thing.weight)

    def _list_events(self, change: Change) -> Iterator[GoalEvent]:
        """Yield progress, as shares of the whole way that add up to 1; what was done, and what was lost."""
        before, after, start = change.before, self._state, self._placed.state
        steps = distances(self._house, self._house.table, frozenset())
        for number in sorted(before.shut - after.shut):
            acts = change.tried.items()
            who = tuple(agent for agent, act in acts if act.verb == "open" and act.target == number)
            yield from list_progress(f"open_{number}", 1, 0, 1, who)
        for number, thing in after.items.items():
            was, first = before.items[number], start.items[number].cell
            goal, who = f"deliver_{number}", was.holders or thing.holders
            if was.cell is not None and thing.cell is not None and first is not None and was.cell != thing.cell:
                yield GoalEvent(goal, "progress", (steps[was.cell] - steps[thing.cell]) / steps[first], who)
            if thing.state != was.state and thing.state in ("delivered", "lost"):
                yield GoalEvent(goal, "done" if thing.state == "delivered" else "lost", 0.0, who)


def step_limit(level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends unless told otherwise: the same on all."""
    return STEP_LIMIT


def make(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> RoomsWorld:
    """Return the instance of a level.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    return RoomsWorld(instance(level, seed), level, horizon, read_options(RoomsOptions, options, "rooms"))


def step_bound(level: str, seed: int, options: Mapping[str, object]) -> StepBound:
    """Return what is proven of the fewest steps of an instance of a level, see ``bounds``.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    chosen = read_options(RoomsOptions, options, "rooms")
    return bounds.bound(instance(level, seed), generator(seed, "rooms", "fire"), chosen.spread)


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
            items = {**state.items, number: thing._replace(cell=cell)}
            starts = placed, placed._replace(state=replace(state, items=items))
            first, second = (RoomsWorld(start, level, STEP_LIMIT, RoomsOptions()) for start in starts)
            yield IndistinguishablePair(first, second, agent)
            break
