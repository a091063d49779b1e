"""The moving part of the world, slowly: one agent at a time, sets and dictionaries, from the specification.

Written from docs/reference/worlds/wildfire-units.md, not from the kernels; the fire is ``reference_fire.SlowFire``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teamworld.worlds.wildfire.state import BURNT_OUT, EXTINGUISHING, IGNITED, ON_FIRE
from tests.worlds.wildfire.reference_fire import MASK, SlowFire, mixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teamworld.worlds.wildfire.state import Incident


GOLDEN = 0x9E3779B97F4A7C15
PACE = {"firefighter": 0.12, "bulldozer": 0.08, "drone": 0.2, "helicopter": 0.3}
ORDERS = {
    "firefighter": {0: "go", 1: "cut", 2: "lift", 3: "spray", 4: "fill"},
    "bulldozer": {0: "go", 1: "clear"},
    "drone": {0: "go"},
    "helicopter": {0: "go", 1: "board", 2: "fill", 3: "drop"},
}


@dataclass(eq=False)  # two may be alike in everything
class Agent:
    """One agent."""

    kind: str
    x: float
    y: float
    alive: bool = True
    water: int = 0
    aboard: Agent | None = None
    carries: Civilian | None = None
    order: str = ""
    aim: tuple[int, int] = (0, 0)
    unit: tuple[float, float] = (0.0, 0.0)
    left: float = 0.0
    why: str = ""
    did: bool = False
    felled: int = 0
    put_out: int = 0

    @property
    def cell(self) -> tuple[int, int]:
        return round(self.x), round(self.y)

    @property
    def on_foot(self) -> bool:
        return self.alive and self.aboard is None and self.kind in ("firefighter", "bulldozer")


@dataclass
class Civilian:
    """One civilian."""

    cell: tuple[int, int]
    state: str = "free"


@dataclass
class SlowWorld:
    """A world with the same start as an incident."""

    fire: SlowFire
    agents: list[Agent]
    civilians: list[Civilian]
    water: set[tuple[int, int]]
    target: tuple[int, int] | None
    key: int
    fire_every: int
    civilian_every: int
    pick_up: float
    refill: int
    reach: int
    deadly: set[int]
    tick: int = 0
    died: list[Agent] = field(default_factory=list)

    @classmethod
    def of(cls, incident: Incident) -> SlowWorld:
        instance, rules, level = incident.instance, incident.rules, incident.level
        kinds = [
            kind
            for kind, count in zip(
                PACE,
                (level.team.firefighters, level.team.bulldozers, level.team.drones, level.team.helicopters),
                strict=True,
            )
            for _ in range(count)
        ]
        fire = SlowFire(instance.terrain, level.rules(incident.land.rules.mode), incident.land.key)
        if instance.fire is not None:
            fire.ignite(*instance.fire)
        land = instance.terrain.land
        return cls(
            fire=fire,
            agents=[
                Agent(kind, float(instance.spawn.x), float(instance.spawn.y), water=int(water))
                for kind, water in zip(kinds, incident.units.water, strict=True)
            ],
            civilians=[Civilian((cell.x, cell.y)) for cell in instance.clusters for _ in range(level.per_cluster)],
            water={(x, y) for y in range(len(land)) for x in range(len(land)) if land[y, x] == 5},
            target=instance.target and (instance.target.x, instance.target.y),
            key=incident.key,
            fire_every=level.fire_every,
            civilian_every=level.civilian_every,
            pick_up=rules.pick_up,
            refill=rules.refill,
            reach=rules.rescue_reach,
            deadly={IGNITED, ON_FIRE, EXTINGUISHING} | ({BURNT_OUT} if rules.burnt_kills else set()),
        )

    def step(self, actions: list[list[int]]) -> None:
        """Do 100 ticks."""
        self.died = []
        for agent, action in zip(self.agents, actions, strict=True):
            self.read(agent, *action)
        for agent in self.agents:
            if agent.order in ("lift", "fill", "board", "drop"):
                agent.why = getattr(self, agent.order)(agent)
                agent.did = not agent.why
                agent.order = ""
        for agent in self.agents:
            self.set_out(agent)
        self.burn()
        for tick in range(1, 101):
            self.tick += 1
            for agent in self.agents:
                if agent.alive and agent.left > 0:
                    self.move(agent)
            if tick == 50:
                for agent in self.agents:
                    if agent.alive and agent.order in ("cut", "spray"):
                        agent.why = getattr(self, agent.order)(agent)
                        agent.did = not agent.why
            if self.tick % self.fire_every == 0:
                self.fire.step()
                self.burn()
            if self.tick % self.civilian_every == 0:
                for k, civilian in enumerate(self.civilians):
                    if civilian.state == "free":
                        self.wander(k, civilian)
        for agent in self.agents:
            if agent.aboard:
                agent.x, agent.y = agent.aboard.x, agent.aboard.y
        for agent in self.agents:
            if agent.carries:
                agent.carries.cell = agent.cell

    def read(self, agent: Agent, kind: int, x: int, y: int) -> None:
        """Note what an agent is told to do."""
        agent.order, agent.why, agent.did, agent.left, agent.felled, agent.put_out = "", "", False, 0.0, 0, 0
        agent.aim = (x, y)
        if kind == -1 or (kind, x, y) == (0, 0, 0):
            return
        order = "go" if kind == -2 else ORDERS[agent.kind].get(kind)
        if not agent.alive:
            agent.why = "gone"
        elif agent.aboard:
            agent.why = "aboard"
        elif order is None:
            agent.why = "unknown"
        else:
            agent.order = order

    def lift(self, agent: Agent) -> str:
        if agent.carries:
            civilian, agent.carries = agent.carries, None
            civilian.cell = agent.cell
            near = self.target and max(abs(a - b) for a, b in zip(agent.cell, self.target, strict=True)) <= self.reach
            civilian.state = "safe" if near else "free"
            return ""
        far = [
            ((c.cell[0] - agent.x) ** 2 + (c.cell[1] - agent.y) ** 2, k)
            for k, c in enumerate(self.civilians)
            if c.state == "free"
        ]
        if not far or min(far)[0] >= self.pick_up**2:
            return "nobody_near"
        agent.carries = self.civilians[min(far)[1]]
        agent.carries.state = "carried"
        return ""

    def riders(self, agent: Agent) -> list[Agent]:
        return [other for other in self.agents if other.aboard is agent]

    def fill(self, agent: Agent) -> str:
        if self.riders(agent):
            return "has_passengers"
        if agent.water == 5:
            return "full"
        if not any(math.dist(agent.cell, cell) <= self.refill for cell in self.water):
            return "not_at_water"
        agent.water = 5
        return ""

    def board(self, agent: Agent) -> str:
        if agent.water:
            return "has_water"
        seats = 5 - len(self.riders(agent))
        if not seats:
            return "full"
        near = [
            other
            for other in self.agents
            if other.kind == "firefighter"
            and other.alive
            and not other.aboard
            and (other.x - agent.x) ** 2 + (other.y - agent.y) ** 2 < 9
        ]
        for other in near[:seats]:
            other.aboard = agent
        return "" if near else "nobody_near"

    def drop(self, agent: Agent) -> str:
        riders = self.riders(agent)
        for other in riders:
            other.aboard, other.x, other.y = None, agent.x, agent.y
        if agent.water:
            agent.water -= 1
            self.pour(agent, [cell for cell in self.cells() if math.dist(cell, agent.cell) <= 4.5])
        elif not riders:
            return "empty"
        return ""

    def cells(self) -> Iterator[tuple[int, int]]:
        return ((x, y) for y in range(self.fire.size) for x in range(self.fire.size))

    def pour(self, agent: Agent, cells: list[tuple[int, int]]) -> None:
        before = self.fire.put_out
        for cell in cells:
            self.fire.douse(*cell)
        agent.put_out += self.fire.put_out - before

    def cut(self, agent: Agent) -> str:
        agent.felled = self.fire.cut(*agent.cell, 1)
        return "" if agent.felled else "no_tree"

    def spray(self, agent: Agent) -> str:
        if not agent.water:
            return "no_water"
        agent.water -= 1
        x, y = agent.cell
        aim = (agent.aim[0] - x, agent.aim[1] - y)
        wet = [(x, y)]
        for u, v in self.cells():
            way = (u - x, v - y)
            if way == (0, 0) or aim == (0, 0) or math.hypot(*way) > 3:
                continue
            cosine = (way[0] * aim[0] + way[1] * aim[1]) / math.hypot(*way) / math.hypot(*aim)
            if math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) <= 60 + 1e-9:
                wet.append((u, v))
        self.pour(agent, wet)
        return ""

    def set_out(self, agent: Agent) -> None:
        if agent.order and agent.aboard:
            agent.order, agent.why = "", "aboard"
        if agent.order in ("go", "clear", "spray") and not all(0 <= at < self.fire.size for at in agent.aim):
            agent.order, agent.why = "", "off_map"
        if agent.order in ("go", "clear"):
            right, down = agent.aim[0] - agent.x, agent.aim[1] - agent.y
            agent.left = math.sqrt(right * right + down * down)
            if agent.order == "clear":
                self.clear(agent)
            if agent.left:
                agent.unit = (right / agent.left, down / agent.left)
                agent.did = True
            else:
                agent.why = "" if agent.did else "arrived"

    def clear(self, agent: Agent) -> None:
        felled = self.fire.cut(*agent.cell, 3)
        agent.felled += felled
        agent.did |= felled > 0

    def move(self, agent: Agent) -> None:
        pace, before = PACE[agent.kind], agent.cell
        if agent.kind == "firefighter":
            pace = (0.12, 0.096, 0.072, 0.048)[self.fire.trees[agent.cell]]
        if agent.order == "clear":
            pace = 0.04
        if agent.left <= pace * (1 + 1e-9):
            agent.x, agent.y, agent.left = *map(float, agent.aim), 0.0
        else:
            agent.x += agent.unit[0] * pace
            agent.y += agent.unit[1] * pace
            agent.left -= pace
        if agent.cell != before:
            if agent.on_foot and self.fire.state[agent.cell] in self.deadly:
                self.die(agent)
            elif agent.order == "clear":
                self.clear(agent)

    def die(self, agent: Agent) -> None:
        agent.alive, agent.water, agent.why = False, 0, "died"
        self.died.append(agent)
        if agent.carries:
            agent.carries.state, agent.carries.cell, agent.carries = "dead", agent.cell, None

    def burn(self) -> None:
        for agent in self.agents:
            if agent.on_foot and self.fire.state[agent.cell] in self.deadly:
                self.die(agent)
        for civilian in self.civilians:
            if civilian.state in ("free", "safe") and self.fire.state[civilian.cell] in self.deadly:
                civilian.state = "dead"

    def wander(self, k: int, civilian: Civilian) -> None:
        x, y = civilian.cell
        last = self.fire.size - 2
        ways = [
            cell
            for cell in ((x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1))
            if 0 <= cell[0] <= last and 0 <= cell[1] <= last and self.fire.state[cell] < IGNITED
        ]
        if ways:
            number = self.tick // self.civilian_every
            drawn = mixed((mixed((self.key + number * GOLDEN) & MASK) + k * GOLDEN) & MASK)
            civilian.cell = ways[(drawn >> 32) * len(ways) >> 32]
