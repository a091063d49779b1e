"""Levels of the wildfire world, by name (wildfire spec A12, B20, B28, B30, B31).

A ``Level`` says what kind of task is set: sizes, team, frequencies, step limit; ``placement`` puts it on a map. The 17
presets of the 12 published levels come in two editions: ``2025``, the parameters of July 2025, which is the default,
and ``2026`` (``full_game@2026``), those of later revisions. Step limits are those of 2026 in both, the only complete
list that was published (B28).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

import numpy as np

from teamworld.errors import UserError, brief, suggest
from teamworld.worlds.wildfire.state import MAX_TREES, FireMode, FireRules, check_size

Task = Literal["cut_sparse", "cut_lines", "scout", "transport", "contain", "rescue", "both"]
Edition = Literal["2025", "2026"]
#: Number of each task in the manager's row of an observation (wildfire spec A9, A12.1).
TASK_CODES: dict[Task, int] = {
    "cut_sparse": 0, "cut_lines": 0, "scout": 1, "transport": 2, "contain": 3, "rescue": 4, "both": 5,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Team:
    """How many agents of each kind; ids run from 1 in this order (wildfire spec A6)."""

    firefighters: int = 0
    bulldozers: int = 0
    drones: int = 0
    helicopters: int = 0

    @property
    def size(self) -> int:
        """All agents."""
        return self.firefighters + self.bulldozers + self.drones + self.helicopters


EventKind = Literal["lose_drone", "lose_helicopter", "civilians", "fire", "water", "growth"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a script does to a dynamic level (wildfire spec A4.5, A12.3)."""

    t: int
    """Timestep at whose beginning it happens."""
    kind: EventKind
    """What: an agent is lost, civilians appear, another fire starts, a water cell appears, the fire steps on."""
    count: int = 1
    """How many agents, civilians, fires, water cells or fire steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One task, without a map; checked when made. Change one with ``dataclasses.replace``.

    Raises:
        UserError: If a value cannot be used or the task lacks something it needs.
    """

    name: str
    task: Task
    size: int
    """N, cells on a side of the map."""
    team: Team
    max_steps: int
    """Timesteps after which the episode ends."""
    edition: Edition = "2025"
    vegetation_offset: float = 20.0
    """``vegetation_density_offset`` of the generator."""
    fire_every: int = 100
    """Ticks between fire steps."""
    civilian_every: int = 100
    """Ticks between steps of the civilians; the presets' own value, which the reference fails to pass on (B20)."""
    targets: int = 0
    """Cut: single cells, or lines."""
    trees_per_line: int = 1
    """Cut: cells of a line (B24)."""
    clusters: int = 0
    """Rescue, both: clusters of civilians."""
    per_cluster: int = 0
    """Rescue, both: civilians in each."""
    known: bool = True
    """Whether the team is told where the fire, the water and the civilians are."""
    water: int = 0
    """Water cells (B13)."""
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""
        check_size(self.size)
        for name, choices in (("task", get_args(Task)), ("edition", get_args(Edition))):
            value = getattr(self, name)
            if value not in choices:
                raise UserError(f"{name} must be one of {', '.join(choices)}, got {brief(value)}")
        for name, low, high in (
            ("max_steps", 1, 10**6), ("fire_every", 1, 10**6), ("civilian_every", 1, 10**6), ("targets", 0, 10**5),
            ("trees_per_line", 1, self.size), ("clusters", 0, 10**4), ("per_cluster", 0, 10**4), ("water", 0, 10**4),
        ):  # fmt: skip
            _count(getattr(self, name), name, low, high)
        for part in fields(self.team):
            _count(getattr(self.team, part.name), part.name, 0, 10**6)
        if self.team.size == 0:
            raise UserError(f"level {self.name} needs at least one agent, got an empty team")
        self._check_task()
        for event in self.events:
            if event.kind not in get_args(EventKind) or event.t < 0 or event.count < 1:
                raise UserError(f"an event needs a known kind, a step from 0 on and a count from 1 on, got {event}")

    def _check_task(self) -> None:
        if self.task in ("cut_sparse", "cut_lines") and self.targets == 0:
            raise UserError(f"level {self.name} needs at least one target to cut: set targets")
        if self.task in ("rescue", "both") and self.clusters * self.per_cluster == 0:
            raise UserError(f"level {self.name} needs civilians: set clusters and per_cluster")
        if self.task == "scout" and self.team.drones + self.team.helicopters == 0:
            raise UserError(f"level {self.name} needs a drone or a helicopter to stay above the fire, got {self.team}")
        hands = self.team.firefighters + (self.team.bulldozers if self.task.startswith("cut") else 0)
        if self.task in ("transport", "rescue", "cut_sparse", "cut_lines") and hands == 0:
            raise UserError(f"level {self.name} needs a firefighter, got {self.team}")

    @property
    def full_name(self) -> str:
        """The name that ``level_for`` knows it by: with ``@2026`` where the name alone means another edition."""
        preset = LEVELS.get(self.name)
        return self.name if preset is None or preset.edition == self.edition else f"{self.name}@{self.edition}"

    @property
    def has_fire(self) -> bool:
        """Whether something burns at the start."""
        return self.task in ("scout", "contain", "both")

    @property
    def civilians(self) -> int:
        """Civilians at the start."""
        return self.clusters * self.per_cluster

    @property
    def max_score(self) -> int:
        """Best possible score (wildfire spec A12.2)."""
        if self.task in ("cut_sparse", "cut_lines"):
            return self.targets * self.trees_per_line * MAX_TREES
        scores = {"scout": 2, "transport": self.team.firefighters, "rescue": self.civilians}
        return scores.get(self.task, 0)

    def rules(self, mode: FireMode = "reference") -> FireRules:
        """Return the fire rules of this level in a mode; the 2026 edition differs in two numbers (A4.1, A4.4)."""
        if self.edition == "2026":
            return FireRules(mode=mode, every=self.fire_every, wet_steps=25, jump_above=10.0)
        return FireRules(mode=mode, every=self.fire_every)


def _count(value: object, name: str, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise UserError(f"{name} must be an integer from {low:,} to {high:,}, got {brief(value)}")


_PRESETS = (
    Level(name="cut_trees_sparse_small", task="cut_sparse", size=30, team=Team(3), targets=6, max_steps=30),
    Level(name="cut_trees_sparse_large", task="cut_sparse", size=60, team=Team(10), targets=25, max_steps=50),
    Level(
        name="cut_trees_lines_small", task="cut_lines", size=30, team=Team(2, 1), targets=2, trees_per_line=5,
        vegetation_offset=30, max_steps=30,
    ),
    Level(
        name="cut_trees_lines_large", task="cut_lines", size=60, team=Team(4, 3), targets=5, trees_per_line=7,
        vegetation_offset=30, max_steps=30,
    ),
    Level(
        name="scout_fire_small", task="scout", size=100, team=Team(drones=3), fire_every=100, known=False,
        max_steps=30,
    ),
    Level(
        name="scout_fire_large", task="scout", size=250, team=Team(drones=5), fire_every=300, known=False,
        max_steps=30,
    ),
    Level(
        name="transport_firefighters_small", task="transport", size=100, team=Team(6, helicopters=1), max_steps=15,
    ),
    Level(
        name="transport_firefighters_large", task="transport", size=250, team=Team(12, helicopters=2), max_steps=35,
    ),
    Level(
        name="rescue_civilians_known_location_small", task="rescue", size=40, team=Team(3), clusters=1, per_cluster=3,
        civilian_every=300, max_steps=25,
    ),
    Level(
        name="rescue_civilians_known_location_large", task="rescue", size=80, team=Team(5), clusters=3, per_cluster=3,
        civilian_every=300, max_steps=35,
    ),
    Level(
        name="suppress_fire_contain", task="contain", size=60, team=Team(5, 1), fire_every=500, vegetation_offset=30,
        max_steps=100,
    ),
    Level(
        name="suppress_fire_extinguish", task="contain", size=60, team=Team(8), fire_every=500, vegetation_offset=30,
        water=1, max_steps=100,
    ),
    Level(
        name="rescue_civilians_search_and_rescue", task="rescue", size=100, team=Team(5, drones=2), clusters=1,
        per_cluster=5, civilian_every=300, known=False, max_steps=40,
    ),
    Level(
        name="suppress_fire_locate_and_suppress", task="contain", size=100, team=Team(5, 1, 2), fire_every=500,
        vegetation_offset=30, known=False, max_steps=100,
    ),
    Level(
        name="suppress_fire_locate_deploy_suppress", task="contain", size=150, team=Team(10, 0, 2, 2), fire_every=500,
        vegetation_offset=30, known=False, max_steps=120,
    ),
    Level(
        name="rescue_civilians_search_rescue_transport", task="rescue", size=150, team=Team(10, 0, 2, 2), clusters=2,
        per_cluster=5, civilian_every=300, known=False, max_steps=60,
    ),
    Level(
        name="full_game", task="both", size=200, team=Team(10, 1, 2, 2), fire_every=500, vegetation_offset=30,
        clusters=1, per_cluster=5, civilian_every=300, known=False, max_steps=120,
    ),
)  # fmt: skip

#: What the 2026 edition changes (wildfire spec A12.2). Civilian frequencies are given there as 500 to 600: here 500 up
#: to maps of 100, 600 beyond.
_CHANGES_2026: dict[str, dict[str, object]] = {
    "rescue_civilians_known_location_small": {"civilian_every": 500},
    "rescue_civilians_known_location_large": {"civilian_every": 500},
    "suppress_fire_contain": {"team": Team(5, 2), "vegetation_offset": 40},
    "suppress_fire_extinguish": {"vegetation_offset": 40},
    "rescue_civilians_search_and_rescue": {"civilian_every": 500},
    "suppress_fire_locate_and_suppress": {"size": 120, "water": 1, "fire_every": 600},
    "suppress_fire_locate_deploy_suppress": {"water": 1, "fire_every": 600},
    "rescue_civilians_search_rescue_transport": {"civilian_every": 600},
    "full_game": {"size": 220, "water": 1, "fire_every": 450, "civilian_every": 600},
}

#: The 17 published configurations, in the order of the paper's levels.
PRESETS: tuple[str, ...] = tuple(level.name for level in _PRESETS)
_PRESETS_2026 = {
    level.name: replace(level, edition="2026", **_CHANGES_2026.get(level.name, {}))  # type: ignore[arg-type]
    for level in _PRESETS
}


def _based(preset: str, name: str, *events: Event) -> Level:
    """Return a dynamic level: a preset of 2026 with a script."""
    return replace(_PRESETS_2026[preset], name=name, events=events)


# Of the further levels the sources give names, teams and a few numbers; the rest, and the presets that the dynamic
# levels build on, are our choice.
_FURTHER = (
    Level(
        name="scale_complex", edition="2026", task="both", size=200, team=Team(25, 5, 10, 10), fire_every=450,
        vegetation_offset=30, clusters=2, per_cluster=5, civilian_every=600, known=False, water=1, max_steps=200,
    ),
    Level(
        name="scale_simple", edition="2026", task="cut_sparse", size=200, team=Team(50), targets=100, max_steps=100,
    ),
    Level(
        name="darpa_500", edition="2026", task="contain", size=1000, team=Team(500), fire_every=500,
        vegetation_offset=30, water=10, max_steps=200,
    ),
    Level(
        name="stress_5k", edition="2026", task="contain", size=1000, team=Team(5_000), fire_every=500,
        vegetation_offset=30, water=10, max_steps=200,
    ),
    Level(
        name="stress_100k", edition="2026", task="contain", size=1500, team=Team(100_000), fire_every=500,
        vegetation_offset=30, water=10, max_steps=200,
    ),
    Level(
        name="perception", edition="2026", task="both", size=20, team=Team(1), fire_every=300, vegetation_offset=30,
        clusters=1, per_cluster=3, civilian_every=500, known=False, max_steps=30,
    ),
    _based("rescue_civilians_search_and_rescue", "dynamic_drone_lost", Event(4, "lose_drone")),
    _based("transport_firefighters_large", "dynamic_helicopter_lost", Event(4, "lose_helicopter")),
    _based("rescue_civilians_search_and_rescue", "dynamic_more_civilians", Event(9, "civilians", 5)),
    _based("suppress_fire_locate_and_suppress", "dynamic_second_fire", Event(18, "fire")),
    _based("suppress_fire_contain", "dynamic_water_appears", Event(10, "water")),
    _based("suppress_fire_contain", "dynamic_sudden_growth", Event(15, "growth", 5)),
)  # fmt: skip

#: Every level by the name that alone means it.
LEVELS: dict[str, Level] = {level.name: level for level in (*_PRESETS, *_FURTHER)}


def level_for(name: str) -> Level:
    """Return the level named ``name``: a preset, ``preset@2025``, ``preset@2026``, or a further level.

    Raises:
        UserError: If there is no such level or edition.
    """
    base, at, edition = name.partition("@")
    if base not in LEVELS:
        raise UserError(f"there is no wildfire level '{base}'{suggest(base, list(LEVELS))}")
    level = LEVELS[base]
    if not at or edition == level.edition:
        return level
    if edition == "2026":  # only presets have another edition
        return _PRESETS_2026[base]
    known = "2025, 2026" if base in PRESETS else level.edition
    raise UserError(f"there is no edition '{edition}' of {base}{suggest(edition, known.split(', '))}")


def with_firefighters(level: Level, number: int) -> Level:
    """Return the level with another number of firefighters; the rest of the team, the map and the places stay.

    Raises:
        UserError: The level has no firefighters, so what it sets is no task for them, or the number cannot be used.
    """
    if level.team.firefighters == 0:
        has = ", ".join(name for name in ("bulldozers", "drones", "helicopters") if getattr(level.team, name))
        raise UserError(
            f"level {level.full_name} has no firefighters, only {has}: leave option 'firefighters' of wildfire out"
        )
    return replace(level, team=replace(level.team, firefighters=number))


def describe(level: Level) -> str:
    """Return one line about a level, for lists."""
    counts = {part.name: getattr(level.team, part.name) for part in fields(Team)}
    team = ", ".join(f"{n} {name.removesuffix('s') if n == 1 else name}" for name, n in counts.items() if n)
    return f"{level.task}, {level.size} x {level.size} cells, {team}, {level.max_steps} steps"
