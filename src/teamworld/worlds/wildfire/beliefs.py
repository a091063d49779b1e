"""What wildfire says of beliefs: latent variables, observation probabilities, danger and conflict costs.

Where something may be that nobody was told of is believed by sectors of the map, each named by its middle cell: where
the fire began, where a cluster of civilians is. Facts may have been made up by whoever told them: what cannot be counts
as not told.

Conflict costs, in timesteps that are lost if two agents do both:

========================= ================================================= ================================
kind                      test                                              timesteps lost
========================= ================================================= ================================
duplicate scouting        both look at one sector                           the shorter way
duplicate suppression     both pour on a fire that one can put out at once, the shorter way
..                        or cut one cell, or the last of a line
double rescue             both make for one civilian, or for the last one   the shorter way
                          of a cluster
double ferry              two helicopters for one firefighter, or more      the shorter way
                          seats than people wait
unmatched ferry           one makes for the only helicopter, which pours    the shorter way
broken line               two clear ground to one end                       the shorter way
========================= ================================================= ================================

Nothing is lost where two take water at one place, or land at one, nor where water drops on who works: it does no harm.
What leads one of them into danger is no conflict of the two: see ``harm_probability``. An option does not say whose it
is; where that matters its verb and goal tell the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from teamworld.language import AgentId, Cell, Entity, Fact, Facts, GoalId
from teamworld.worlds.base.beliefs import UNSEEN_TOO, at_least, is_cell, overlap, readable, round_about
from teamworld.worlds.contract import Goal, LatentVariable, Option, Possible
from teamworld.worlds.wildfire.state import KINDS, SEATS, SIGHTS, TICKS_PER_TIMESTEP
from teamworld.worlds.wildfire.symbolic_state import (
    PACE,
    WALKERS,
    AgentState,
    Mission,
    SymbolicState,
    state_of,
)

#: How likely an agent has seen a cell out of its sight that was in sight from its way in the last timestep, if it came
#: that way: it may have come any way.
IN_PASSING: Final = 0.25

#: How likely a cell that burns sets one beside it on fire before it has burnt down: 0.53 to 0.63 of them do in a fire
#: step, in both modes, on the levels with fire (30 steps, seeds 0 to 5).
SPREADS: Final = 0.57

#: Cells from where somebody was last seen to where it is looked for, and what the place itself counts against each.
AWAY: Final = 6
NEAR: Final = 4.0

#: Burning cells that one agent puts out alone.
ONE_POUR: Final = 9

#: What brings water on what burns.
_POURS: Final = frozenset({"spray", "spray_at", "release"})


class WildfireBeliefs:
    """The capabilities ``beliefs`` and ``danger`` of wildfire.

    Args:
        mission: What everybody was told.
        goals_by_id: Returns the goals as they stand if facts hold.
    """

    def __init__(self, mission: Mission, goals_by_id: Callable[[Facts], Mapping[GoalId, Goal]]) -> None:
        self._mission, self._goals_by_id = mission, goals_by_id

    # ---- what is not known

    def latent_variables(self, facts: Facts) -> tuple[LatentVariable, ...]:
        """Return where the fire is, where each cluster of civilians is, and where civilians are that were lost.

        What nobody was told of is as likely in one cell that nobody has seen as in any other: a sector counts by
        these, and by all its cells once everything was seen. Of each cluster of which some are known one more is
        looked for at a time, near those.
        """
        state = readable(state_of, facts)
        return () if state is None else state.derived("latent", lambda: tuple(self._latent_variables(state)))

    def _latent_variables(self, state: SymbolicState) -> Iterator[LatentVariable]:
        mission = self._mission
        search: tuple[GoalId, ...] = () if mission.known else ("search",)
        if not mission.known and mission.task in ("scout", "contain", "both") and not state.fires:
            yield LatentVariable("fire", tuple(self._anywhere(state, Entity("fire", 0))), search)
        rescue = {"rescue": "rescue", "both": "guard"}.get(mission.task)
        if rescue is None:
            return
        for number in range(mission.clusters):
            people = state.members(number)
            known = [at for person in people.values() if (at := person.at or person.was) is not None]
            if not known and number not in state.clusters:
                values = tuple(self._anywhere(state, Entity("cluster", number)))
                yield LatentVariable(f"cluster {number}", values, search)
            first = number * mission.per_cluster
            new = [civilian for civilian in range(first, first + mission.per_cluster) if civilian not in people]
            if known and new:
                yield LatentVariable(f"civilian {new[0]}", tuple(self._around(state, new[0], known[0])), search)
        for civilian, person in state.people.items():
            if person.at is None and person.state == "free" and person.was is not None:
                values = tuple(self._around(state, civilian, person.was))
                yield LatentVariable(f"civilian {civilian}", values, (f"{rescue}_{person.cluster}",))

    def _anywhere(self, state: SymbolicState, thing: Entity) -> Iterator[Possible]:
        shares = {number: _unseen(state, number) for number in self._mission.middles}
        for number, middle in self._mission.middles.items():
            share = shares[number] if any(shares.values()) else 1.0
            if share > 0:
                yield Possible(Fact(thing, "AT", middle), share * self._mission.cells_in(number))

    def _around(self, state: SymbolicState, civilian: int, was: Cell) -> Iterator[Possible]:
        """Yield where somebody last seen near a cell may be: there or a few cells away, but not where one looks now."""
        cells = dict.fromkeys(map(self._mission.inside, (was, *round_about(was, AWAY))))
        ground = state.ground
        open_to = [cell for cell in cells if ground is None or ground.date(cell) < ground.t] or list(cells)
        for cell in open_to:
            yield Possible(Fact(Entity("civilian", civilian), "AT", cell), NEAR if cell == was else 1.0)

    # ---- what is in sight

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return the probability that an agent perceives a fact if it is true.

        1 for what was announced to all, for what is its own, and for what is in the square that its kind reveals;
        ``IN_PASSING`` for what may have been in sight from its way in the last timestep. Of a sector the share in
        sight, less what was seen before; see ``base.beliefs.at_least``. That a part of a sector was not seen is in
        nobody's sight: it is likely for whoever does not see all of it.
        """
        state = readable(state_of, facts)
        body = state.agents.get(agent) if state is not None else None
        if state is None or body is None or not is_cell(body.at):
            return 0.0
        subject = fact.subject
        if subject == agent or self._is_announced(fact):
            return 1.0
        if isinstance(subject, Entity) and fact.predicate in ("UNSEEN", "FOR"):
            return UNSEEN_TOO if self._in_view(subject.id, agent, body) < 1 else 0.0
        sector = self._sector(fact, state)
        if sector is not None and sector not in state.unseen and state.unseen:
            return 1.0  # who searches it sees all of it
        if sector is not None:
            return at_least(self._in_view(sector, agent, body), _unseen(state, sector) or 1.0)
        return max((self._sees(agent, body, cell) for cell in _where(fact, state)), default=0.0)

    def _is_announced(self, fact: Fact) -> bool:
        """Return whether a fact is announced: places of work; fire, water and clusters unless they are to be found."""
        if isinstance(fact.subject, str):
            return False
        kind, is_place = fact.subject.kind, fact.predicate in ("AT", "IN", "STATE")
        if kind in ("target", "zone", "sector"):
            return is_place
        if kind == "civilian":
            return self._mission.known and fact.predicate == "IN"
        return self._mission.known and is_place and kind in ("cluster", "water", "fire")

    def _sector(self, fact: Fact, state: SymbolicState) -> int | None:
        """Return the sector that a fact means by its middle: where a fire or a cluster is of which nobody knows."""
        if self._mission.known or fact.predicate != "AT" or not isinstance(fact.subject, Entity):
            return None
        kind, number = fact.subject.kind, fact.subject.id
        if (kind == "fire" and number not in state.fires) or (kind == "cluster" and number not in state.clusters):
            return self._mission.by_middle.get(fact.value) if is_cell(fact.value) else None
        return None

    def _reach(self, agent: AgentId) -> int:
        """Return how far an agent sees, in cells; 0 for one that nobody was told of."""
        kinds = self._mission.kinds
        return SIGHTS[KINDS.index(kinds[agent])].reveals if agent in kinds else 0

    def _sees(self, agent: AgentId, body: AgentState, cell: Cell) -> float:
        far = max(abs(cell[0] - body.at[0]), abs(cell[1] - body.at[1])) - self._reach(agent)
        if far <= 0:
            return 1.0
        carrier = body.aboard if body.aboard in self._mission.kinds else agent
        return IN_PASSING if far <= PACE[self._mission.kinds.get(carrier or agent, "drone")] + 1 else 0.0

    def _in_view(self, sector: int, agent: AgentId, body: AgentState) -> float:
        """Return the share of a sector that is in an agent's sight."""
        if not 0 <= sector < len(self._mission.sectors):
            return 0.0
        (x0, x1, y0, y1), far, (x, y) = self._mission.sectors[sector], self._reach(agent), body.at
        cells = overlap(x0, x1, x - far, x + far) * overlap(y0, y1, y - far, y + far)
        return cells / self._mission.cells_in(sector)

    # ---- danger

    def harm_probability(self, agent: AgentId, steps: int, facts: Facts) -> float:
        """Return the probability that fire reaches an agent where it is within so many timesteps; 0 for flyers.

        1 where it burns beside the agent, ``SPREADS`` where the front is no further away than it goes in that time.
        """
        state = readable(state_of, facts)
        body = state.agents.get(agent) if state is not None else None
        if state is None or body is None or body.aboard is not None or self._mission.kinds.get(agent) not in WALKERS:
            return 0.0
        if state.dangerous(body.at):
            return 1.0
        return SPREADS if self._may_burn(state, body.at, steps) else 0.0

    def _may_burn(self, state: SymbolicState, at: Cell, steps: int) -> bool:
        """Return whether fire may reach a cell in that time: the front moves a cell a fire step, to eight neighbours.

        Walkers keep a cell away from fire that they know of, where they are careful.
        """
        fire_steps = max(0, steps) * TICKS_PER_TIMESTEP / self._mission.fire_every
        far = int(fire_steps) + int(self._mission.careful)
        hot = (cell for front in state.fires.values() if not front.out for cell in front.cells)
        return any(max(abs(x - at[0]), abs(y - at[1])) <= far for x, y in hot)

    # ---- conflicts

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the timesteps that are lost if two agents do both: never more than the shorter option takes."""
        goals = readable(self._goals_by_id, facts)
        if goals is None:
            return 0.0
        state, pairs = state_of(facts), ((first, second), (second, first))
        if {first.action.verb, second.action.verb} & {"wait", "idle", "talk"}:
            return 0.0
        twice = self._is_duplicate(first, second, state, goals) or any(self._is_unmatched(*pair) for pair in pairs)
        return float(min(first.steps, second.steps)) if twice else 0.0

    def _is_duplicate(self, first: Option, second: Option, state: SymbolicState, goals: Mapping[GoalId, Goal]) -> bool:
        """Return whether both do what one suffices for."""
        goal = goals.get(first.goal) if first.goal is not None and first.goal == second.goal else None
        verbs, aim = {first.action.verb, second.action.verb}, _aim(first)
        if goal is not None and goal.kind in ("cut", "rescue"):
            left = len([spot for spot in state.spots(goal.thing) if spot.trees]) if goal.thing is not None else 0
            if goal.capacity < 2 or (goal.kind == "cut" and left == 1) or (goal.kind == "rescue" and goal.units == 1):
                return True
        if goal is not None and goal.kind == "suppress" and verbs <= _POURS:
            return goal.units <= ONE_POUR
        if verbs == {"take_aboard"}:
            return self._waiting(state) <= SEATS
        if aim is None or aim != _aim(second) or len(verbs) > 1:
            return False
        if verbs & {"move_to", "cut_line"}:
            return True
        if isinstance(aim, str):
            return self._mission.kinds.get(aim) == "firefighter"
        return isinstance(aim, Entity) and aim.kind in ("sector", "civilian")

    def _waiting(self, state: SymbolicState) -> int:
        """Return how many firefighters are still to be brought to the zone."""
        return sum(
            self._mission.kinds.get(agent) == "firefighter" and body.aboard is None and not state.in_zone(body.at)
            for agent, body in state.agents.items()
        )

    def _is_unmatched(self, waits: Option, flies: Option) -> bool:
        """Return whether one makes for the only helicopter, and that fights the fire: with water it takes nobody."""
        only = self._mission.agents("helicopter") == [_aim(waits)]
        return only and waits.action.verb == "go_to" and flies.action.verb == "release"


def _unseen(state: SymbolicState, sector: int) -> float:
    """Return the share of a sector that nobody has seen."""
    return min(100, max(0, state.unseen.get(sector, 0))) / 100


def _where(fact: Fact, state: SymbolicState) -> list[Cell]:
    """Return the cells of which one has to be in sight to perceive a fact."""
    if fact.predicate in ("AT", "BURNS", "BURNT", "WAS"):
        return [fact.value] if is_cell(fact.value) else []
    subject = fact.subject
    if isinstance(subject, str):
        return [state.agents[subject].at] if subject in state.agents else []
    if subject.kind == "fire" and subject.id in state.fires:
        front = state.fires[subject.id]
        return [*front.cells, *front.scar]
    if subject.kind == "target" and subject.id in state.targets:
        return [state.targets[subject.id].at]
    if subject.kind == "civilian" and subject.id in state.people:
        person = state.people[subject.id]
        return [cell for cell in (person.at, person.was) if cell is not None]
    return []


def _aim(option: Option) -> object:
    return option.action.args[0] if option.action.args else None
