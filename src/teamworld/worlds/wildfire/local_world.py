"""Wildfire whose agents each have a clock: the capability ``locality``.

It is for tasks in which trees are cut, with maps of one's own and without helicopters. All that agents then change is
where they stand, and trees and water in reach of their hands. Let agent a stand at p after t_a steps and b at q after
t_b <= t_a steps. Until a has done one more step,

    b is within     v_b (t_a + 1 - t_b)   cells of q,
    a is within     v_a                   cells of p,

with v the speed of a kind in cells a step, which no ground exceeds (``kernels.agents.SPEEDS``). In a step an agent sees
what lies within its sight of its way, and reaches less far than it sees. So the step of a cannot have to do with b if

    |p - q| > v_b (t_a + 1 - t_b) + v_a + max(sight of a, sight of b) + 1.

One cell is for rounding places to cells, half a cell at either end. Distances are the greater one of those in x and in
y, as sight is a square. If each step that anybody takes keeps this, it holds between all pairs at all times: while b
catches up, the distance and the bound shrink by at most v_b each step.

Other tasks have no such bound: everybody is told at once that a fire is out and who died, helicopters carry others, and
a team that shares its map shares all that anybody sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from teamworld.language import Action, AgentId
from teamworld.worlds.contract import Neighbours, StepResult
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.kernels.agents import SPEEDS
from teamworld.worlds.wildfire.knowledge import living_agents
from teamworld.worlds.wildfire.skills import STAY
from teamworld.worlds.wildfire.state import FIRE_STEPS, HELICOPTER, SIGHTS, TICKS, TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.world import WildfireView, WildfireWorld

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.state import Incident

#: Cells that places lose when they are rounded to cells: half a cell at either end.
ROUNDING = 1.0
_SPEEDS = np.array(SPEEDS) * TICKS_PER_TIMESTEP
_SIGHTS = np.array([sight.reveals for sight in SIGHTS], np.float64)


def is_local(incident: Incident, *, shared_map: bool) -> bool:
    """Return whether what agents do in an instance is felt only near them."""
    level = incident.level
    only_cuts = level.task.startswith("cut") and incident.instance.fire is None and not level.events
    return only_cuts and not shared_map and not bool((incident.units.kind == HELICOPTER).any())


class LocalWildfire(WildfireWorld):
    """``contract.LocalWorld`` for wildfire; what an instance is made of is as for ``WildfireWorld``."""

    def reset(self, seed: int) -> None:
        """Start over, all clocks at 0."""
        super().reset(seed)
        kinds = self._incident.units.kind
        self._rows = {name: row for row, name in enumerate(self._names)}
        self._clocks = np.zeros(len(kinds), np.int64)
        self._speeds, self._reach = _SPEEDS[kinds], _SIGHTS[kinds]
        self._frames = dict.fromkeys(self._names, self._frame)
        self._targets = np.array([cell for line in self._instance.targets for cell in line], np.int64)
        self._last_cut = 0

    def view(self, agent: AgentId) -> WildfireView:
        """Return what an agent may know at its own step."""
        self._check_agent(agent)
        return WildfireView(agent, self._frames[agent], lambda: self._frames[agent])

    def neighbours(self, agent: AgentId) -> Neighbours:
        """Return who may have to do with the next step of an agent, by the bound of the module."""
        row, units = self._rows[agent], self._incident.units
        lag = self._clocks[row] - self._clocks
        apart = np.maximum(np.abs(units.x - units.x[row]), np.abs(units.y - units.y[row]))
        bound = self._speeds * (lag + 1) + self._speeds[row] + np.maximum(self._reach, self._reach[row]) + ROUNDING
        near = (lag >= 0) & (apart <= bound)
        near[row] = False
        return Neighbours(self._list(near & (lag == 0)), self._list(near & (lag > 0)))

    def goes_on_until(self) -> int:
        """Return a number of steps after which a tree of a target certainly stands.

        It stood at the times before it was cut. It stands still where nobody can have come to it and cut.
        """
        left = self._targets[self._trees(self._targets) > 0]
        units = self._incident.units
        places = np.stack([units.x, units.y], axis=1)
        apart = np.abs(left[:, None] - places[None]).max(axis=2, initial=0.0)
        cut = self._clocks + np.maximum(1, np.ceil((apart - ROUNDING) / self._speeds)).astype(np.int64)
        return max(self._last_cut, int(cut.min(axis=1).max(initial=0))) - 1

    def step(self, actions: Mapping[AgentId, Action]) -> StepResult:
        """Do the next step of some agents, who are at the same step.

        Raises:
            ValueError: They are not.
        """
        self._acting = sorted(self._rows[agent] for agent in actions)
        times = set(self._clocks[self._acting].tolist())
        if len(times) != 1:
            raise ValueError(f"agents take a step together that are at different ones: {sorted(times)}")
        (t,) = times
        incident, land = self._incident, self._incident.land
        incident.t, land.meters[TICKS] = t, t * TICKS_PER_TIMESTEP
        land.meters[FIRE_STEPS] = t * TICKS_PER_TIMESTEP // land.rules.every
        return super().step(actions)

    def _advance(self) -> StepResult:
        incident, acting = self._incident, self._acting
        commands = np.full((len(self._names), 3), STAY, np.int64)
        commands[acting] = [self._command(self._names[row]) for row in acting]
        start = incident.units.copy()
        start.alive[:] = False
        start.alive[acting] = True  # outcomes are of these
        left = self._count_trees()
        effects = physics.step(incident, commands)
        self._clocks[acting] += 1
        self._sightings.look(incident, acting)
        self._living = living_agents(incident, self._names, acting)  # nobody else is in sight
        for name in self._living.bodies:
            self._knowledge[name].look(incident, self._sightings, self._fires, self._living)
        if effects.felled.any() and self._count_trees() < left:
            self._last_cut = max(self._last_cut, incident.t)
        outcomes = self._outcomes(start, commands, effects)
        self._frames.update(dict.fromkeys(outcomes, self._make_frame()))
        return StepResult(1, outcomes, (), (), {}, {}, None, {})

    def _is_present(self, agent: AgentId) -> bool:
        return agent in self._rows

    def _trees(self, cells: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        trees: npt.NDArray[np.uint8] = self._incident.land.trees[cells[:, 1] + 1, cells[:, 0] + 1]
        return trees

    def _count_trees(self) -> int:
        return int(self._trees(self._targets).sum())

    def _list(self, mask: npt.NDArray[np.bool_]) -> Sequence[AgentId]:
        return [self._names[row] for row in np.flatnonzero(mask).tolist()]
