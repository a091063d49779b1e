"""One timestep of the wildfire world: 100 ticks of events, agents, fire and civilians (wildfire spec A1, A5-A7).

1. Scripted events happen.
2. What takes no time is done in the order of ids: picking up and putting down, refilling, boarding and dropping.
3. Tick by tick, agents move; at tick 50 those who cut or spray are done with it; fire and civilians step when their
   clocks say so, the fire first. Fire kills at once whoever it reaches and whoever walks into it.

The state after a step depends on the state before and the actions alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.wildfire import civilians, events, fire
from teamworld.worlds.wildfire.acting import follow, overrun, start, walk, work
from teamworld.worlds.wildfire.state import TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.tasks import look_round
from teamworld.worlds.wildfire.turn import EFFECT, FELLED, MOVED, PUT_OUT, REASON, REASONS, arrays, plan_for
from teamworld.worlds.wildfire.units import DEAD, FREE, SAFE

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.levels import Event

__all__ = ["REASONS", "WORK_TICKS", "Happened", "step"]

#: Ticks that cutting a tree and spraying take (A7).
WORK_TICKS = 50


class Happened(NamedTuple):
    """What came of one timestep; A agents, C civilians as they are after it."""

    effect: npt.NDArray[np.bool_]
    """(A,): the world changed through its action."""
    moved: npt.NDArray[np.bool_]
    """(A,): it went by itself; riders are moved by their helicopter."""
    reason: npt.NDArray[np.uint8]
    """(A,): why its action did nothing, or not all; index into ``REASONS``, 0 is none."""
    died: npt.NDArray[np.bool_]
    """(A,): gone in this timestep, by fire or by the script."""
    felled: npt.NDArray[np.int32]
    """(A,): trees that it cut."""
    put_out: npt.NDArray[np.int32]
    """(A,): ignited, burning or smouldering cells that its water put out."""
    rescued: npt.NDArray[np.bool_]
    """(C,): put down at the target in this timestep, and alive after it."""
    lost_civilians: npt.NDArray[np.bool_]
    """(C,): dead since this timestep."""
    events: tuple[Event, ...]
    """What the script did at its beginning."""
    fire_steps: int
    """Fire steps done, those of the script's growth not counted."""


def step(incident: Incident, actions: npt.NDArray[np.integer]) -> Happened:
    """Do one timestep.

    Args:
        incident: What to change.
        actions: (A, 3) whole numbers; row k is what agent k + 1 does: [type, x, y], types as in ``units``.
            [-1, 0, 0] and [0, 0, 0] do nothing, types that the agent's kind does not know do nothing, and a target
            outside the map leaves the agent where it is (B14, B15); ``Happened.reason`` tells.

    Raises:
        UserError: If the actions are not (A, 3) whole numbers.
    """
    given = _checked(actions, len(incident.units))
    alive = incident.units.alive.copy()
    before = incident.civilians.state.copy()
    plan = plan_for(len(alive))
    script = events.happen(incident, plan)
    crew, folk, ground, limits = arrays(incident)
    brought = np.full(len(folk.state) - len(before), FREE, np.uint8)
    before = np.concatenate([before, brought])
    going, workers = start(given, crew, folk, ground, limits, plan)
    overrun(crew, folk, ground, limits, plan)
    now = steps = 0
    while now < TICKS_PER_TIMESTEP:
        until = _next_stop(incident, now, workers > 0)
        if going:
            going = walk(until - now, going, crew, folk, ground, limits, plan)
        if until == WORK_TICKS and workers:
            work(crew, ground, limits, plan)
        if done := fire.advance(incident.land, until - now):
            overrun(crew, folk, ground, limits, plan)
            steps += done
        number, rest = divmod(incident.ticks + until, incident.level.civilian_every)
        if rest == 0:
            civilians.step(incident, number)
        now = until
    follow(crew, folk)
    incident.t += 1
    look_round(incident)
    died = alive & ~incident.units.alive
    return Happened(
        effect=plan.notes[:, EFFECT] != 0,
        moved=plan.notes[:, MOVED] != 0,
        reason=plan.notes[:, REASON].astype(np.uint8),
        died=died,
        felled=plan.notes[:, FELLED].copy(),
        put_out=plan.notes[:, PUT_OUT].copy(),
        rescued=(folk.state == SAFE) & (before != SAFE),
        lost_civilians=(folk.state == DEAD) & (before != DEAD),
        events=script,
        fire_steps=steps,
    )


def _checked(actions: npt.NDArray[np.integer], agents: int) -> npt.NDArray[np.int64]:
    given = np.asarray(actions)
    if given.shape != (agents, 3) or given.dtype.kind not in "iu":
        raise UserError(
            f"actions must be whole numbers of shape ({agents}, 3), [type, x, y] for each agent; got "
            f"{given.dtype} of shape {given.shape}"
        )
    return np.ascontiguousarray(given, np.int64)


def _next_stop(incident: Incident, now: int, working: bool) -> int:
    """Return the next tick of this timestep at which more happens than walking."""
    every = incident.level.civilian_every
    stops = [
        TICKS_PER_TIMESTEP,
        now + incident.land.ticks_to_fire,
        now + every - (incident.ticks + now) % every,
    ]
    if working and now < WORK_TICKS:
        stops.append(WORK_TICKS)
    return min(stops)
