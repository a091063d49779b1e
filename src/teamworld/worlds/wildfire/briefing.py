"""What everybody is told before the first step: the mission with its price list, and how this instance works.

Only what the instance has is spoken of: no water where there is none, no civilians, no kind of agent that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from teamworld.language import show
from teamworld.worlds.wildfire.physics import (
    BUILDING_COST,
    BULLDOZER_COST,
    CIVILIAN_COST,
    FIREFIGHTER_COST,
    TREE_COST,
    ScoreName,
    best_score,
    fights_fire,
)
from teamworld.worlds.wildfire.state import KINDS, SEATS, SIGHTS, TANK, TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.symbolic_state import (
    BOARDING_REACH,
    CLEARING,
    DROP_REACH,
    ON_FOOT,
    PACE,
    SPRAY_REACH,
    USUAL_PACE,
    USUAL_TREES,
    Mission,
    number_of,
)

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.levels import Level, WildfireInstance
    from teamworld.worlds.wildfire.state import ActionRules


def task_text(level: Level, instance: WildfireInstance, score: ScoreName = "reference", horizon: int = 0) -> str:
    """Return the mission in words: what is wanted, what each thing counts, when it is done and when it ends.

    Args:
        level: The level.
        instance: The level on its map.
        score: What the score of fire levels charges.
        horizon: Steps after which the episode ends; the level's own limit if 0.
    """
    zone = "" if instance.target is None else f"zone_0 at {show((instance.target.x, instance.target.y))}"
    people = f"{level.clusters} cluster{'s' * (level.clusters != 1)} of {number_of(level.per_cluster, 'civilian')}"
    hidden = "" if level.known else " Nobody knows where: look for it first."
    counts = {"drones": level.team.drones, "helicopters": level.team.helicopters}
    flyers = " or ".join(kind for kind, count in counts.items() if count)
    best = f"the most is {best_score(level):g}"
    words = {
        "cut_sparse": f"Cut all trees of the {level.targets} target cells. Each tree cut there counts 1; {best}.",
        "cut_lines": f"Cut all trees of the {level.targets} lines of {number_of(level.trees_per_line, 'cell')}. Each "
        f"tree cut there counts 1; {best}.",
        "scout": f"Find the fire; two {flyers} must be directly above it at the same time. Each of them "
        f"above it at once counts 1; {best}.",
        "transport": f"Bring all firefighters to {zone}, on the ground, at most 3 cells from it in x and in y. Each of "
        f"them there counts 1; {best}.",
        "contain": f"Put the fire out or keep it from spreading.{hidden}",
        "rescue": f"Bring {people} to {zone}, at most 3 cells from it in x and in y.{hidden} Each civilian put down "
        f"there counts 1; {best}.",
        "both": f"Keep the fire from spreading and {people} from it.{hidden}",
    }
    parts = [words[level.task]]
    if fights_fire(level):
        parts += [_prices(level, instance, score), "Done when nothing burns any more."]
    ends = f"after {number_of(horizon or level.max_steps, 'step')}"
    if fights_fire(level):
        parts.append(f"The episode ends {ends} at the latest.")
    else:
        parts.append(f"Be as quick as you can: the episode ends when that is done, or {ends}.")
    return " ".join(parts)


def _prices(level: Level, instance: WildfireInstance, score: ScoreName) -> str:
    """Return what each loss costs where a fire is fought."""
    prices = [f"a tree that burns {TREE_COST}", f"a tree that you cut {TREE_COST if score == 'reference' else 0}"]
    if instance.terrain.building.any():
        prices.append(f"a building {BUILDING_COST}")
    if level.civilians:
        prices.append(f"a civilian {CIVILIAN_COST}")
    if level.team.firefighters:
        prices.append(f"a firefighter {FIREFIGHTER_COST}")
    if level.team.bulldozers:
        prices.append(f"a bulldozer {BULLDOZER_COST}")
    return (
        f"What is lost costs points: {', '.join(prices)}; nothing lost is 0, the best. The fire burns on to the step "
        "limit even if the whole team is lost, and all that it destroys counts."
    )


def rules_text(
    instance: WildfireInstance, mission: Mission, rules: ActionRules, *, shared_map: bool, weather: bool
) -> str:
    """Return how an instance works.

    Args:
        instance: The level on its map.
        mission: What everybody was told.
        rules: Of the edition.
        shared_map: Whether the team shares what it sees.
        weather: Whether agents feel wind and slope where they are.
    """
    lines = [
        *_map_and_team(instance, mission, shared_map),
        *(_cutting(mission) if mission.cuts else ()),
        *(_fire(instance, mission, rules, weather) if mission.burns else ()),
        *(_water(instance, mission) if mission.pours else ()),
        *(_people(instance, mission) if mission.has_people else ()),
        *(_riding(mission) if mission.agents("helicopter") and mission.agents("firefighter") else ()),
        *(() if mission.known else _search(mission)),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _map_and_team(instance: WildfireInstance, mission: Mission, shared_map: bool) -> Iterator[str]:
    kinds, spawn = mission.of_team(*KINDS), (instance.spawn.x, instance.spawn.y)
    yield (
        f"Cells are (x, y), x to the east and y to the south, each from 0 to {mission.size - 1}. All start at "
        f"{show(spawn)}. Ways are straight lines; a diagonal cell counts 1.4. Nothing blocks them, and a cell "
        "holds any number of agents."
    )
    bare, *wooded = ON_FOOT
    paces = {
        "firefighter": f"firefighter {bare:g}, but {', '.join(f'{pace:g}' for pace in wooded)} across cells with 1, 2, "
        f"3 trees ({USUAL_PACE:g} is usual)",
        "bulldozer": f"bulldozer {PACE['bulldozer']:g}" + (f", {CLEARING:g} while it cuts" if mission.cuts else ""),
        "drone": f"drone {PACE['drone']:g}",
        "helicopter": f"helicopter {PACE['helicopter']:g}",
    }
    sights = ", ".join(f"{kind} {SIGHTS[KINDS.index(kind)].reveals}" for kind in kinds)
    team = "All know at once what anybody sees, and where everybody is."
    alone = "Each agent knows only what it has seen itself, and where teammates are that it sees or last saw."
    yield (
        f"Cells a step: {'; '.join(paces[kind] for kind in kinds)}. Sight in cells to each side: {sights}. "
        f"{team if shared_map else alone}"
    )


def _cutting(mission: Mission) -> Iterator[str]:
    words = []
    if mission.agents("firefighter"):
        words.append("Each firefighter on a cell cuts 1 of its trees a step; in a step it either walks or cuts.")
    if mission.agents("bulldozer"):
        words.append(
            "A bulldozer that cuts a line takes all trees of the cells on it; on other ways it drives over trees."
        )
    usual = f"A cell holds 0 to 3 trees, {USUAL_TREES:g} on average, which unseen ground is taken for."
    yield f"{usual} {' '.join(words)}"


def _fire(instance: WildfireInstance, mission: Mission, rules: ActionRules, weather: bool) -> Iterator[str]:
    every = mission.fire_every / TICKS_PER_TIMESTEP
    often = "every step" if every == 1 else f"every {number_of(every, 'step')}, the first time after {every:g},"
    houses = ", buildings, and bare ground within 2 cells of them," if instance.terrain.building.any() else ""
    hidden = "" if weather else ", which nobody is told"
    yield (
        f"After the actions {often} a burning cell may set any of its 8 neighbours with trees{houses} on fire, corners "
        f"included; more than half do, by wind and slope{hidden}. A cell burns for up to "
        f"{number_of(2 * every, 'step')}, smoulders for {number_of(10 * every, 'step')}, then is burnt out for good."
    )
    if mission.fights:
        water = " So does water on all that burns." if mission.pours else ""
        yield (
            "A closed ring of cells without trees stops it: side by side, for fire crosses corners; burnt-out ground "
            f"and the map's edge count.{water} Cut ahead of it: beside a fire to cut is refused."
        )
    if mission.agents("firefighter", "bulldozer"):
        kinds = " and ".join(f"{kind}s" for kind in mission.of_team("firefighter", "bulldozer"))
        burnt = "and on burnt-out ground" if rules.burnt_kills else "not on burnt-out ground"
        care = "; they go round the fire that they know of" if mission.careful else ""
        yield f"{kinds.capitalize()} die where it burns or smoulders, {burnt}{care}."
    if mission.task == "scout":
        yield "Above the fire is over a cell that is on fire, smoulders or is burnt out."


def _water(instance: WildfireInstance, mission: Mission) -> Iterator[str]:
    near = f"at most {mission.fill_reach} cells from water" if mission.fill_reach else "on a cell with water"
    carriers = mission.of_team("firefighter", "helicopter")
    water_known = mission.known and bool(instance.water)
    what = {
        "firefighter": f"a spray reaches {SPRAY_REACH:g} cells toward the aim",
        "helicopter": f"a drop {DROP_REACH:g} cells on all sides",
    }
    who = " and ".join(f"{kind}s" for kind in carriers).capitalize()
    wet = instance.level.rules().wet_steps * mission.fire_every / TICKS_PER_TIMESTEP
    yield (
        f"{who} carry {TANK} units of water, filled {near}, which never runs dry. 1 unit at a time: "
        f"{' and '.join(what[kind] for kind in carriers)}; what burns there goes out, and the rest cannot burn for "
        f"{number_of(wet, 'step')}.{'' if water_known else ' Nobody was told where water is: look for it.'}"
    )


def _people(instance: WildfireInstance, mission: Mission) -> Iterator[str]:
    every = instance.level.civilian_every / TICKS_PER_TIMESTEP
    die = ", and die in fire" if mission.burns else ""
    yield (
        "The civilians of a cluster start on one cell; each walks at random, 1 cell to a side "
        f"every {number_of(every, 'step')}{die}. A firefighter carries 1, picked up less than "
        f"{mission.lift_reach:g} cells away."
        + (" One that is put down outside the zone walks on." if mission.has_zone else " Put down, it walks on.")
        + " Of free-handed firefighters and free civilians those nearest to each other are paired first, so that each "
        "is for a different one; the situation says which, and nobody is bound by it. One out of sight is told where "
        "it was last seen. An action ends where it leads to civilians and none is free there."
    )


def _riding(mission: Mission) -> Iterator[str]:
    empty = " and cannot carry water meanwhile" if mission.pours else ""
    yield (
        f"A helicopter carries {SEATS} firefighters{empty}; it takes those on foot aboard that are less than "
        f"{BOARDING_REACH:g} cells away. Riders are safe and cannot act until they are set down."
    )


def _search(mission: Mission) -> Iterator[str]:
    side = mission.tiles
    what = "Each cluster" if mission.task == "rescue" else "The fire"
    if mission.task == "both":
        what = "The fire, and each cluster,"
    sectors = f"{side} x {side} sectors, sector_0 to sector_{side * side - 1}, row by row from the north-west"
    divided = f"the map is divided into {sectors}" if side > 1 else "the whole map is sector_0"
    likely = f"{what} is as likely to be in one cell that nobody has seen as in any other."
    yield f"{likely} For the search {divided}; where a cell stands for a sector, it is its middle."
    if searchers := mission.of_team("drone", "helicopter") if mission.fights else ("free-handed agent",):
        carriers = "; who is to carry may do better near civilians" if mission.task == "rescue" else ""
        yield (
            "Nobody need say who searches where: the situation says which sector is for whom. Of "
            f"{' and '.join(f'{kind}s' for kind in searchers)} and sectors not seen whole those are paired first in "
            "which the agent shows most unseen ground of that sector for each step, its way there included and steps "
            "not rounded. A pair stays as long as the agent gets nearer to where its sector's search goes on; all "
            f"others are paired anew at each step. Nobody is bound by it{carriers}."
        )
