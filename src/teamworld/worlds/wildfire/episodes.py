"""One incident after another, with what is seen of it: what both environments play."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.wildfire import incident as incidents
from teamworld.worlds.wildfire import physics, sightings, tasks
from teamworld.worlds.wildfire.levels import Level, level_for
from teamworld.worlds.wildfire.placement import Instance, instance_for
from teamworld.worlds.wildfire.state import FireMode
from teamworld.worlds.wildfire.units import STOP

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident, Rules
    from teamworld.worlds.wildfire.physics import Happened
    from teamworld.worlds.wildfire.sightings import Sightings

#: Whose change is the reward: cut trees count as lost (as in the reference code), or only what burnt (B22).
ScoreName = Literal["reference", "burnt"]
#: Types of actions that each kind knows, from 0 on (A7).
TYPES = (5, 2, 1, 4)
#: Seeds of later episodes are drawn from 0 up to this.
SEEDS = 2**31


class Setting(NamedTuple):
    """What is played, and how; checked when made by ``setting_for``."""

    level: Level
    instance: Instance | None
    """Where everything is at the start of every episode; None to place each anew."""
    mode: FireMode
    rules: Rules | None
    score: ScoreName
    shared_map: bool


class Turn(NamedTuple):
    """What came of one step."""

    reward: float
    """The change of the score."""
    happened: Happened
    over: bool
    """Nothing is left to be done, or nobody to do it."""
    truncated: bool
    """The step limit came first."""


def setting_for(
    level: str | Level | Instance,
    *,
    mode: FireMode,
    rules: Rules | None,
    score: str,
    shared_map: bool,
    max_steps: int | None,
) -> Setting:
    """Return the setting; an instance instead of a level is played again and again.

    Raises:
        UserError: If there is no such level, or a value cannot be used.
    """
    if score not in get_args(ScoreName):
        raise UserError(f"score must be one of {', '.join(get_args(ScoreName))}, got {brief(score)}")
    if not isinstance(shared_map, bool):
        raise UserError(f"shared_map must be True or False, got {brief(shared_map)}")
    if not isinstance(level, (str, Level, Instance)):
        raise UserError(f"a level is a name, a Level or an Instance, got {brief(level)}")
    instance = level if isinstance(level, Instance) else None
    chosen = instance.level if instance else level_for(level) if isinstance(level, str) else level
    assert isinstance(chosen, Level)
    if max_steps is not None:
        chosen = replace(chosen, max_steps=max_steps)
        instance = instance and replace(instance, level=chosen)
    chosen.rules(mode)  # a wrong mode is told now, not at the first reset
    return Setting(chosen, instance, mode, rules, "burnt" if score == "burnt" else "reference", shared_map)


class Episodes:
    """Episodes of one setting. The first after ``seed(s)`` has the seed s, later ones what the stream of s gives."""

    incident: Incident
    sightings: Sightings

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._seed, self._number = 0, 0
        self._score = 0.0

    def seed(self, seed: int) -> None:
        """Begin the stream of a seed; ``restart`` takes the first of it."""
        self._seed, self._number = seed, 0

    def restart(self) -> None:
        """Begin the next episode.

        Raises:
            UserError: If the level finds no place on its map.
        """
        seed = self._seed
        if self._number:
            seed = int(generator(self._seed, "wildfire", "episode", self._number).integers(SEEDS))
        self._number += 1
        level, instance, mode, rules, _, shared_map = self.setting
        self.incident = incidents.begin(instance or instance_for(level, seed), seed, mode, rules)
        self.sightings = sightings.begin(self.incident, shared_map=shared_map)
        self._score = self._score_now()

    def step(self, actions: npt.NDArray[np.integer]) -> Turn:
        """Let all act, (A, 3) whole numbers; those of agents that are lost are not read."""
        incident = self.incident
        alive = incident.units.alive
        happened = physics.step(incident, np.where(alive[:, None], actions, STOP))
        self.sightings.look(incident)
        before, self._score = self._score, self._score_now()
        over = tasks.over(incident) or not incident.units.alive.any()
        truncated = not over and incident.t >= self.setting.level.max_steps
        return Turn(self._score - before, happened, over, truncated)

    def _score_now(self) -> float:
        score = tasks.score(self.incident)
        return score.burnt if self.setting.score == "burnt" else score.reference


def whole_seed(seed: object) -> int:
    """Return a seed as an int.

    Raises:
        UserError: If it is not an integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise UserError(f"seed must be an integer or None, got {brief(seed)}")
    return int(seed)
