"""What wildfire says of beliefs: what is not known, what is in sight, and who is in danger.

See CoBel-World spec B2 and B3.2. Where something may be that nobody was told of is believed by sectors of the map, each
named by its middle cell: where the fire began, where a cluster of civilians is. Facts may have been made up by whoever
told them: what cannot be counts as not told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, GoalId
from teamworld.worlds.base.beliefs import UNSEEN_TOO, at_least, is_cell, overlap, readable, round_about
from teamworld.worlds.contract import LatentVariable, Possible
from teamworld.worlds.wildfire.scene import Body, Brief, Person, Scene, believed, thing
from teamworld.worlds.wildfire.skills import PACE, WALKERS
from teamworld.worlds.wildfire.state import TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.units import KINDS, SIGHTS

#: How likely an agent has seen a cell out of its sight that was in sight from its way in the last timestep, if it came
#: that way: it may have come any way.
IN_PASSING: Final = 0.25
#: How likely a cell that burns sets one beside it on fire before it has burnt down: 0.53 to 0.63 of them do in a fire
#: step, in both modes, on the levels with fire (30 steps, seeds 0 to 5).
SPREADS: Final = 0.57
#: Cells from where somebody was last seen to where it is looked for, and what the place itself counts against each.
AWAY: Final = 6
NEAR: Final = 4.0


# ---- what is not known


def unknowns(brief: Brief, given: Facts) -> tuple[LatentVariable, ...]:
    """Return where the fire is, where each cluster of civilians is, and where civilians are that were lost from sight.

    What nobody was told of is as likely in one cell that nobody has seen as in any other: a sector counts by these,
    and by all its cells once everything was seen. Of each cluster of which some are known one more is looked for at a
    time, near those.
    """
    scene = readable(believed, given)
    if scene is None:
        return ()
    if "unknowns" not in scene.memo:
        scene.memo["unknowns"] = tuple(_unknowns(brief, scene))
    found: tuple[LatentVariable, ...] = scene.memo["unknowns"]
    return found


def _unknowns(brief: Brief, scene: Scene) -> Iterator[LatentVariable]:
    search: tuple[GoalId, ...] = () if brief.known else ("search",)
    if not brief.known and brief.task in ("scout", "contain", "both") and not scene.fires:
        yield LatentVariable("fire", tuple(_anywhere(brief, scene, thing("fire", 0))), search)
    rescue = {"rescue": "rescue", "both": "guard"}.get(brief.task)
    for number in range(brief.clusters if rescue is not None else 0):
        people = scene.members(number)
        known = [at for person in people.values() if (at := person.at or person.was) is not None]
        if not known and number not in scene.clusters:
            yield LatentVariable(f"cluster {number}", tuple(_anywhere(brief, scene, thing("cluster", number))), search)
        first = number * brief.per_cluster
        new = [civilian for civilian in range(first, first + brief.per_cluster) if civilian not in people]
        if known and new:
            yield LatentVariable(f"civilian {new[0]}", tuple(_around(brief, scene, new[0], known[0])), search)
    for civilian, person in scene.people.items():
        if _lost(person) and person.was is not None and rescue is not None:
            values = tuple(_around(brief, scene, civilian, person.was))
            yield LatentVariable(f"civilian {civilian}", values, (f"{rescue}_{person.cluster}",))


def _lost(person: Person) -> bool:
    return person.at is None and person.state == "free"


def _anywhere(brief: Brief, scene: Scene, what: Entity) -> Iterator[Possible]:
    hidden = {number: share for number in brief.middles if (share := unseen(scene, number)) > 0}
    for number, middle in brief.middles.items():
        share = hidden.get(number, 0.0) if hidden else 1.0
        if share > 0:
            yield Possible(Fact(what, "AT", middle), share * _cells(brief, number))


def _around(brief: Brief, scene: Scene, civilian: int, was: Cell) -> Iterator[Possible]:
    """Yield where somebody is who was last seen near a cell: there or a few cells away, but not where one looks now."""
    cells = dict.fromkeys([brief.inside(was), *(brief.inside(cell) for cell in round_about(was, AWAY))])
    ground = scene.ground
    open_to = [cell for cell in cells if ground is None or ground.date(cell) < ground.t] or list(cells)
    for cell in open_to:
        yield Possible(Fact(thing("civilian", civilian), "AT", cell), NEAR if cell == was else 1.0)


def unseen(scene: Scene, sector: int) -> float:
    """Return the share of a sector that nobody has seen."""
    return min(100, max(0, scene.unseen.get(sector, 0))) / 100


def _cells(brief: Brief, sector: int) -> int:
    x0, x1, y0, y1 = brief.sectors[sector]
    return (x1 - x0) * (y1 - y0)


# ---- what is in sight


def visible(brief: Brief, fact: Fact, agent: AgentId, given: Facts) -> float:
    """Return how likely an agent perceives a fact if it is true.

    1 for what was told to all, for what is its own, and for what is in the square that its kind reveals (wildfire spec
    A6); ``IN_PASSING`` for what was in sight from its way in the last timestep, perhaps. Of a sector the share in
    sight, less what was seen before; see ``parts.beliefs.at_least``. That a part of a sector was not seen is in
    nobody's sight: it is likely for whoever does not see all of it.
    """
    scene = readable(believed, given)
    body = scene.agents.get(agent) if scene is not None else None
    if scene is None or body is None or not is_cell(body.at):
        return 0.0
    if fact.subject == agent or _announced(brief, fact, scene):
        return 1.0
    subject = fact.subject
    if isinstance(subject, Entity) and fact.predicate == "UNSEEN":
        return UNSEEN_TOO if in_view(brief, subject.id, agent, body) < 1 else 0.0
    sector = _sector(brief, fact, scene)
    if sector is not None:
        return at_least(in_view(brief, sector, agent, body), unseen(scene, sector) or 1.0)
    return max((_sees(brief, agent, body, cell) for cell in _where(fact, scene)), default=0.0)


def _announced(brief: Brief, fact: Fact, scene: Scene) -> bool:
    """Whether all were told: where to work, and where fire, water and clusters are, unless these have to be found."""
    if isinstance(fact.subject, str):
        return False
    kind, told = fact.subject.kind, fact.predicate in ("AT", "IN", "STATE")
    if kind in ("target", "zone", "sector"):
        return told
    if kind == "civilian":
        return brief.known and fact.predicate == "IN"
    return brief.known and told and kind in ("cluster", "water", "fire")


def _sector(brief: Brief, fact: Fact, scene: Scene) -> int | None:
    """Return the sector that a fact means by its middle: where a fire or a cluster is of which nobody knows."""
    if brief.known or fact.predicate != "AT" or not isinstance(fact.subject, Entity):
        return None
    kind, number = fact.subject.kind, fact.subject.id
    if (kind == "fire" and number not in scene.fires) or (kind == "cluster" and number not in scene.clusters):
        return brief.by_middle.get(fact.value) if is_cell(fact.value) else None
    return None


def _where(fact: Fact, scene: Scene) -> list[Cell]:
    """Return the cells of which one has to be in sight to perceive a fact."""
    if fact.predicate in ("AT", "BURNS", "BURNT", "WAS"):
        return [fact.value] if is_cell(fact.value) else []
    subject = fact.subject
    if isinstance(subject, str):
        return [scene.agents[subject].at] if subject in scene.agents else []
    if subject.kind == "fire" and subject.id in scene.fires:
        front = scene.fires[subject.id]
        return [*front.cells, *front.scar]
    if subject.kind == "target" and subject.id in scene.targets:
        return [scene.targets[subject.id].at]
    if subject.kind == "civilian" and subject.id in scene.people:
        person = scene.people[subject.id]
        return [cell for cell in (person.at, person.was) if cell is not None]
    return []


def reach(brief: Brief, agent: AgentId) -> int:
    """Return how far an agent sees, in cells; 0 for one that nobody was told of."""
    return SIGHTS[KINDS.index(brief.kinds[agent])].reveals if agent in brief.kinds else 0


def _sees(brief: Brief, agent: AgentId, body: Body, cell: Cell) -> float:
    far = max(abs(cell[0] - body.at[0]), abs(cell[1] - body.at[1])) - reach(brief, agent)
    if far <= 0:
        return 1.0
    carrier = body.aboard if body.aboard in brief.kinds else agent
    return IN_PASSING if far <= PACE[brief.kinds.get(carrier or agent, "drone")] + 1 else 0.0


def in_view(brief: Brief, sector: int, agent: AgentId, body: Body) -> float:
    """Return the share of a sector that is in an agent's sight."""
    if not 0 <= sector < len(brief.sectors):
        return 0.0
    (x0, x1, y0, y1), far, (x, y) = brief.sectors[sector], reach(brief, agent), body.at
    return overlap(x0, x1, x - far, x + far) * overlap(y0, y1, y - far, y + far) / _cells(brief, sector)


# ---- danger


def fire_steps(brief: Brief, ticks: int) -> float:
    """Return how many fire steps so many timesteps are."""
    return max(0, ticks) * TICKS_PER_TIMESTEP / brief.fire_every


def burns_by(brief: Brief, scene: Scene, at: Cell, ticks: int) -> bool:
    """Whether the front is no further from a cell than it goes in that time: a cell a fire step, to eight neighbours.

    Walkers keep a cell away from fire that they know of, where they are careful.
    """
    far = int(fire_steps(brief, ticks)) + int(brief.careful)
    hot = (cell for front in scene.fires.values() if not front.out for cell in front.cells)
    return any(max(abs(x - at[0]), abs(y - at[1])) <= far for x, y in hot)


def danger(brief: Brief, agent: AgentId, ticks: int, given: Facts) -> float:
    """Return how likely fire reaches an agent where it is within so many timesteps; 0 for whoever flies.

    1 where it burns beside the agent, ``SPREADS`` where the front is no further away than it goes in that time.
    """
    scene = readable(believed, given)
    body = scene.agents.get(agent) if scene is not None else None
    if scene is None or body is None or body.aboard is not None or brief.kinds.get(agent) not in WALKERS:
        return 0.0
    if scene.dangerous(body.at):
        return 1.0
    return SPREADS if burns_by(brief, scene, body.at, ticks) else 0.0
