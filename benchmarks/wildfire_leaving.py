"""No score is gained by leaving: a team that walks into the fire, one that waits, and the scripted one, on fire levels.

``python benchmarks/wildfire_leaving.py``, with ``--levels A,B`` (the five fire levels of the paper in the editions 2025
and published, and smaller further ones), ``--seeds N`` (20) and ``--fire stochastic``, prints a row for each level:
mean scores (cut trees as lost), in how many seeds suicide and the scripted team score more than waiting, and the mean
number of agents that each team loses. Suicide: who walks or drives goes straight to the nearest burning cell, which it
is told of; flyers wait.

With ``--idle`` only the team that waits plays, and a row tells more of it: score and damage by fire with standard
deviations, the smallest damage, the share of seeds in which a building and in which a civilian is lost.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import NamedTuple

import numpy as np

from teamworld.record import StepDone
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.levels import LEVELS, PRESETS, level_for
from teamworld.worlds.wildfire.physics import begin_incident, fights_fire
from teamworld.worlds.wildfire.state import DRONE, GO_ANYWHERE, IGNITED, ON_FIRE, STOP, FireMode, Incident
from teamworld.worlds.wildfire.world import make

WAITING = np.array([STOP, 0, 0])
#: Too large for twenty episodes of the scripted team.
HUGE = ("darpa_500", "stress_5k", "stress_100k")


class Result(NamedTuple):
    """The end of an episode."""

    score: float
    lost: float
    """Agents that died."""
    damage: float = 0.0
    """Points of trees, buildings and civilians."""
    buildings: int = 0
    civilians: int = 0


def suicides(incident: Incident) -> np.ndarray:
    """Return the actions of a team that walks into the fire."""
    units, land = incident.units, incident.land
    actions = np.tile(WAITING, (len(units), 1))
    burning = np.argwhere(np.isin(land.inner(land.burn), (IGNITED, ON_FIRE)))
    for row in np.flatnonzero(units.alive & (units.kind < DRONE)) if len(burning) else ():
        y, x = burning[((burning - np.array(units.place(int(row)))[::-1]) ** 2).sum(axis=1).argmin()]
        actions[row] = GO_ANYWHERE, x, y
    return actions


def stepped(level: str, seed: int, fire: FireMode, *, leave: bool) -> Result:
    """Return the end of an episode in which the team waits, or leaves."""
    limit = level_for(level).max_steps
    incident = begin_incident(make(level, seed, limit, {"fire": fire}).incident.instance, seed, fire)
    while incident.t < limit and not physics.is_over(incident):
        physics.step(incident, suicides(incident) if leave else np.tile(WAITING, (len(incident.units), 1)))
    counts = physics.counters(incident)
    buildings, civilians = counts.buildings_destroyed, counts.civilians_destroyed
    damage = counts.trees_burnt + physics.BUILDING_COST * buildings + physics.CIVILIAN_COST * civilians
    return Result(physics.score(incident).reference, counts.agents_destroyed, damage, buildings, civilians)


def scripted(level: str, seed: int, fire: FireMode) -> Result:
    """Return the end of an episode of the scripted team."""
    scenario = Scenario("wildfire", level, seed, level_for(level).max_steps, {"fire": fire})
    score = [event for event in play("greedy", scenario, {}).events if isinstance(event, StepDone)][-1].score
    return Result(score["score_reference"], score["agents_lost"])


def compare(level: str, seeds: int, fire: FireMode) -> str:
    """Return the row of a level: suicide, idling, scripted."""
    rows = [[stepped(level, seed, fire, leave=leave) for seed in range(seeds)] for leave in (True, False)]
    rows.append([scripted(level, seed, fire) for seed in range(seeds)])
    means = " | ".join(f"{np.mean([result.score for result in row]):.0f}" for row in rows)
    above = [sum(a.score > b.score for a, b in zip(row, rows[1], strict=True)) for row in (rows[0], rows[2])]
    lost = ", ".join(f"{np.mean([result.lost for result in row]):.1f}" for row in rows)
    return f"| `{level}` | {means} | {above[0]}/{seeds} | {above[1]}/{seeds} | {lost} |"


def idle(level: str, seeds: int, fire: FireMode) -> str:
    """Return the row of a level: what is lost if nobody acts."""
    results = [stepped(level, seed, fire, leave=False) for seed in range(seeds)]
    score, damage = ([getattr(result, name) for result in results] for name in ("score", "damage"))
    spreads = " | ".join(f"{np.mean(values):.0f} ± {np.std(values, ddof=1):.0f}" for values in (score, damage))
    shares = (np.mean([bool(getattr(result, name)) for result in results]) for name in ("buildings", "civilians"))
    lost = " | ".join(f"{100 * share:.0f} %" for share in shares)
    return f"| `{level}` | {level_for(level).max_steps} | {spreads} | {min(damage):.0f} | {lost} |"


def main() -> None:
    """Play and print."""
    fires = [name for name in PRESETS if fights_fire(level_for(name))]
    further = [name for name, level in LEVELS.items() if name not in (*fires, *HUGE) and fights_fire(level)]
    usual = [*fires, *(f"{name}@published" for name in fires), *further]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", default=",".join(usual))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--fire", choices=("reference", "stochastic"), default="reference")
    parser.add_argument("--idle", action="store_true")
    given = parser.parse_args()
    heads = (
        "level | steps | score | damage by fire | smallest | buildings lost | civilians lost"
        if given.idle
        else "level | suicide | idling | scripted | suicide above idling | scripted above idling | agents lost"
    )
    print(f"| {heads} |\n|{' --- |' * 7}", flush=True)
    for level in given.levels.split(","):
        began = time.process_time()
        print((idle if given.idle else compare)(level, given.seeds, given.fire), flush=True)
        print(f"{level}: {time.process_time() - began:.0f} s of CPU", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
