"""What results of a level are told in first, and what its fire does when nobody acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from teamworld.worlds.contract import HeadlineMeasure
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.skills import STAY

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.levels import Level, WildfireInstance
    from teamworld.worlds.wildfire.state import ActionRules, FireMode, Incident

_COMPLETION = HeadlineMeasure("completion", "", "high", "weight of the goals done, of all")
_PREVENTED = "share of the points lost when nobody acts, same instance and seed, that was kept; summed over episodes"
_STEPS = HeadlineMeasure("steps", "steps", "low", "steps until all is done; the limit where it is not")


def headline_of(level: Level, score: str) -> tuple[HeadlineMeasure, ...]:
    """Return the headline of a level: its score; the damage prevented and the area burnt, or how much was done when.

    Args:
        level: The level.
        score: What the score of fire levels charges: ``reference`` or ``burnt``.
    """
    points = _describe_score(level, score)
    if not physics.fights_fire(level):
        return HeadlineMeasure("world_score", "points", "high", points), _COMPLETION, _STEPS
    return (
        HeadlineMeasure("world_score", "points", "high", points),
        HeadlineMeasure("damage_prevented", "", "high", _PREVENTED),
        HeadlineMeasure("area_burnt", "cells", "low", "cells that caught fire"),
    )


def _describe_score(level: Level, score: str) -> str:
    """Return what the points of a level are, as ``physics.score`` counts them."""
    if physics.fights_fire(level):
        trees = "tree burnt" if score == "burnt" else "tree burnt or cut"
        return (
            f"minus what is lost: {physics.TREE_COST} a {trees}, {physics.BUILDING_COST} a building, "
            f"{physics.FIREFIGHTER_COST} a firefighter or bulldozer, {physics.CIVILIAN_COST} a civilian"
        )
    best = f"best {physics.best_score(level):g}"
    return {
        "scout": f"drones and helicopters above the fire at once, {best}",
        "transport": f"firefighters at the target, {best}",
        "rescue": f"civilians brought to the target, {best}",
    }.get(level.task, f"trees cut on target cells, {best}")


def scores_of(incident: Incident, score: str) -> dict[str, float]:
    """Return the scores as they stand, and of fire levels what was lost."""
    points, counts = physics.score(incident), physics.counters(incident)
    scores = {"score": points.burnt if score == "burnt" else points.reference}
    scores |= {"score_reference": points.reference, "score_burnt": points.burnt}
    if physics.fights_fire(incident.level):
        scores |= {
            "trees_burnt": float(counts.trees_burnt),
            "trees_cut": float(counts.trees_cut),
            "buildings_lost": float(counts.buildings_destroyed),
            "civilians_lost": float(counts.civilians_destroyed),
            "agents_lost": float(counts.agents_destroyed),
            "area_burnt": float(incident.land.cells_caught),
        }
    return scores


def idle_scores(
    instance: WildfireInstance, seed: int, mode: FireMode, rules: ActionRules, steps: int, score: str
) -> Mapping[str, float]:
    """Return the scores of the same instance and seed after so many timesteps in which nobody acts.

    Args:
        instance: Where everything is at the start.
        seed: As for ``physics.begin_incident``.
        mode: How fire spreads.
        rules: Of the edition.
        steps: Timesteps at most.
        score: What the score of fire levels charges.
    """
    incident = physics.begin_incident(instance, seed, mode, rules)
    stay = np.tile(np.array(STAY, np.int64), (len(incident.units), 1))
    while incident.t < steps and not physics.is_over(incident):
        physics.step(incident, stay)
    scores = scores_of(incident, score)
    return {"reward": scores["score"], **scores}
