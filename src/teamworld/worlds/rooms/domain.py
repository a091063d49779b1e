"""The rules that everybody knows: goals, options, candidate plans, preconditions, expected effects, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from teamworld.errors import UserError, suggest
from teamworld.language import Action, AgentId, Cell, Facts, GoalId, Measures, Plan
from teamworld.worlds.base.beliefs import is_cell
from teamworld.worlds.contract import (
    POSSIBLE,
    WAIT,
    ActionSchema,
    Domain,
    Goal,
    ImpossibleFacts,
    Option,
    Relation,
    Verdict,
    View,
)
from teamworld.worlds.rooms import heuristic
from teamworld.worlds.rooms.beliefs import RoomsBeliefs
from teamworld.worlds.rooms.observe import RELATIONS, believed, door, facts, item
from teamworld.worlds.rooms.skills import MEASURES, PATIENCE, cell_of, number_of, schemas
from teamworld.worlds.rooms.state import SPEED, House, Item, State, ways

#: Whoever has nothing to do keeps this far from fire, in steps.
SAFE = 3


class RoomsDomain(Domain):
    """``contract.Domain`` for rooms; pure, everything is computed from the facts given.

    Args:
        house: The floor plan.
        kinds: The kind of each agent.
        doors: Doors that are shut at the start; opening each is a goal.
    """

    def __init__(self, house: House, kinds: Mapping[AgentId, str], doors: Sequence[int]) -> None:
        self.house, self.kinds, self._doors = house, kinds, tuple(doors)
        self._beliefs = RoomsBeliefs(house)

    @property
    def relations(self) -> Sequence[Relation]:
        """What facts can state."""
        return RELATIONS

    @property
    def measures(self) -> Measures:
        """No parameter counts in a measure of a goal."""
        return MEASURES

    @property
    def beliefs(self) -> RoomsBeliefs:
        """What agents may know and believe."""
        return self._beliefs

    def _state(self, facts: Facts) -> State:
        """Return the moment that facts tell of, if it can be one of this house.

        Raises:
            ImpossibleFacts: There is no such door, or something is in a wall or outside the house.
        """
        return facts.derive(self._possible)

    def _possible(self, facts: Facts) -> State:
        state, house = believed(facts), self.house
        if any(number >= len(house.doors) for number in state.shut):
            raise ImpossibleFacts(f"there are {len(house.doors)} doors, got shut: {sorted(state.shut)}")
        items = [thing.cell for thing in state.items.values() if thing.cell is not None]
        for cell in (*state.agents.values(), *items, *state.fire):
            if not (is_cell(cell) and house.rooms_at(cell)):
                raise ImpossibleFacts(f"a place is a cell of a room or a door, got {cell}")
        return state

    def abilities(self, agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what an agent's kind can do."""
        return schemas(self.kinds[agent], self.house, self._state(facts))

    def goals(self, facts: Facts) -> Sequence[Goal]:
        """Return one goal for each door shut at the start, and one for each known item."""
        return self.goals_in(self._state(facts))

    def goals_in(self, state: State) -> tuple[Goal, ...]:
        """Return the goals of a moment."""
        doors = tuple(
            Goal(
                f"open_{number}",
                "open",
                door(number),
                kinds=("scout",),
                units=int(number in state.shut),
                state="open" if number in state.shut else "done",
            )
            for number in self._doors
        )
        return (*doors, *(self._delivery(number, thing, state) for number, thing in state.items.items()))

    def _delivery(self, number: int, thing: Item, state: State) -> Goal:
        field = ways(self.house, self.house.table, frozenset())
        units = 0 if thing.state in ("delivered", "lost") else field.get(thing.cell or (-1, -1), self.house.size[1])
        room = 0 if thing.cell is None else self.house.rooms_at(thing.cell)[0]
        return Goal(
            f"deliver_{number}",
            "deliver",
            item(number),
            features=(("weight", str(thing.weight)),),
            weight=float(thing.weight),
            quorum=thing.weight,
            capacity=thing.weight,
            kinds=("carrier",),
            units=units,
            constraints=("dependency", "participation", "spatial", "temporal") if thing.weight > 1 else (),
            prerequisites=tuple(f"open_{shut}" for shut in sorted(state.shut) if shut >= room and units),
            can_be_lost=True,
            state={"delivered": "done", "lost": "lost"}.get(thing.state, "open"),  # type: ignore[arg-type]
        )

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return what makes sense now: work at hand, ways to work, ways to look around, waiting."""
        state = self._state(facts)
        candidates: list[tuple[Action, GoalId | None]] = []
        held, at = state.held(agent), _place(agent, state)
        if self.kinds[agent] == "scout":
            for number in sorted(state.shut):
                side = self._side(number, state, at)
                candidates.append((_go(side) if at != side else Action("open", (door(number),)), f"open_{number}"))
        elif held is not None:
            hold = Action("bring", (item(held), PATIENCE)), Action("drop")
            candidates += [(action, f"deliver_{held}") for action in hold]
        else:
            for number, thing in state.items.items():
                if thing.state == "free" and thing.cell is not None:
                    act = Action("lift", (item(number), PATIENCE)) if at == thing.cell else _go(thing.cell)
                    candidates.append((act, f"deliver_{number}"))
        candidates += [
            (_go(self.house.middle(room)), None) for room in range(self.house.rooms) if at != self.house.middle(room)
        ]
        candidates.append((WAIT, None))
        legal = (pair for pair in candidates if self.check(agent, pair[0], facts).ok)
        return [Option(action, goal, self.estimate_steps(agent, action, facts)) for action, goal in legal]

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans that make sense for a goal, at least one for each of use; without one, plans to keep clear.

        Raises:
            UserError: The agent's kind cannot work on the goal.
        """
        state = self._state(facts)
        if goal is not None and self.kinds[agent] not in goal.kinds:
            raise UserError(f"{goal.id} is for {' or '.join(goal.kinds)}, and {agent} is a {self.kinds[agent]}")
        action_lists = [] if goal is None or goal.thing is None else list(self._work(goal.thing.id, agent, state))
        plans = dict.fromkeys(action_lists or self._standby(agent, state))
        return [Plan(actions, None if goal is None else goal.id) for actions in plans]

    def _work(self, number: int, agent: AgentId, state: State) -> Iterator[tuple[Action, ...]]:
        """Yield ways to work on a goal; none where it is in other hands, or nobody knows where it is."""
        at, held = _place(agent, state), state.held(agent)
        if self.kinds[agent] == "scout":
            side = self._side(number, state, at)
            there: tuple[Action, ...] = () if at == side else (_go(side),)
            if self._can_go(agent, side, state):
                yield (*there, Action("open", (door(number),)))
                yield (*there, WAIT, Action("open", (door(number),)))
            return
        thing = state.items[number]
        if not self._can_go(agent, self.house.table, state):
            return
        bring, table = Action("bring", (item(number), PATIENCE)), (_go(self.house.table), Action("drop"))
        if held == number:
            yield (bring,)
            yield table[at == self.house.table :]
        elif thing.state == "free" and thing.cell is not None and self._can_go(agent, thing.cell, state):
            there = (Action("drop"),) * (held is not None) + (_go(thing.cell),) * (at != thing.cell)
            for patience in (PATIENCE, 2) if thing.weight == 1 else (PATIENCE, 3 * PATIENCE, 2):
                lift = Action("lift", (item(number), patience))
                yield (*there, lift, bring)
                yield (*there, lift, *table)

    def _standby(self, agent: AgentId, state: State) -> Iterator[tuple[Action, ...]]:
        """Yield plans for an agent that is not needed: bring what it holds, flee, look around, wait."""
        at, house = _place(agent, state), self.house
        held = state.held(agent)
        if held is not None and state.items[held].weight == 1 and self._can_go(agent, house.table, state):
            yield (Action("bring", (item(held), PATIENCE)),)
        near = [ways(house, cell, frozenset()).get(at, SAFE) for cell in state.fire]
        if near and min(near) < SAFE:
            cells = [
                cell for room in range(house.rooms) for cell in house.cells(room) if self._can_go(agent, cell, state)
            ]
            far = max(cells, key=lambda cell: min(ways(house, fire, frozenset())[cell] for fire in state.fire))
            if far != at:
                yield (_go(far),)
        field = ways(house, at, state.closed(house))
        rooms = sorted(
            (room not in state.unseen, field.get(house.middle(room), 0), room) for room in range(house.rooms)
        )
        ahead = [
            room for _, _, room in rooms if house.middle(room) != at and self._can_go(agent, house.middle(room), state)
        ]
        yield from ((_go(house.middle(room)),) for room in ahead if room in state.unseen)
        yield (WAIT, WAIT, WAIT)
        yield from ((_go(house.middle(room)), WAIT) for room in ahead if room not in state.unseen)

    def _side(self, number: int, state: State, at: Cell) -> Cell:
        """Return the cell from which to open a door: the nearest beside it."""
        beside = self.house.beside(self.house.doors[number])
        field = ways(self.house, at, state.closed(self.house))
        return min(beside, key=lambda cell: (field.get(cell, 10**6), cell))

    def _can_go(self, agent: AgentId, place: Cell, state: State) -> bool:
        closed = state.closed(self.house)
        return place not in closed and _place(agent, state) in ways(self.house, place, closed)

    def check(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether an action's preconditions hold."""
        state, verbs = self._state(facts), {schema.verb: schema for schema in self.abilities(agent, facts)}
        if action.verb not in verbs:
            return Verdict(False, f"illegal: there is no action '{action.verb}'{suggest(action.verb, list(verbs))}")
        try:
            whole = verbs[action.verb].complete(action)
        except UserError as error:
            return Verdict(False, f"illegal: {error}")
        number, held, at = number_of(whole), state.held(agent), _place(agent, state)
        if agent in state.overcome and whole != WAIT:
            return Verdict(False, "overcome: the smoke")
        if whole.verb == "go" and not self._can_go(agent, cell_of(whole), state):
            return Verdict(False, "no_way: fire, a wall or a shut door")
        if whole.verb == "open" and (number not in state.shut or at not in self.house.beside(self.house.doors[number])):
            return Verdict(False, "not_beside: stand beside a door that is shut")
        if whole.verb == "drop" and held is None:
            return Verdict(False, "empty_hands")
        if whole.verb == "bring" and held != number:
            return Verdict(False, "not_held")
        if whole.verb == "bring" and not self._can_go(agent, self.house.table, state):
            return Verdict(False, "no_way: fire, a wall or a shut door")
        if whole.verb == "lift":
            return self._check_lift(state.items[number if number is not None else -1], held, at)
        return POSSIBLE

    def _check_lift(self, thing: Item, held: int | None, at: Cell) -> Verdict:
        if held is not None:
            return Verdict(False, "full_hands")
        if thing.state != "free" or thing.cell is None:
            return Verdict(False, f"gone: {thing.state if thing.state != 'free' else 'nobody knows where it is'}")
        return POSSIBLE if thing.cell == at else Verdict(False, f"not_there: it is at {thing.cell}")

    def predict(self, agent: AgentId, action: Action, known_facts: Facts) -> Facts:
        """Return what to expect after an action that succeeds, if teammates play their part."""
        if not self.check(agent, action, known_facts).ok:
            return known_facts
        state, number = self._state(known_facts), number_of(action)
        held, agents, items, shut = state.held(agent), dict(state.agents), dict(state.items), state.shut
        if action.verb == "go":
            agents[agent] = cell_of(action)
            if held is not None:
                items[held] = items[held]._replace(cell=cell_of(action))
        elif action.verb == "lift" and number is not None:
            items[number] = items[number]._replace(holders=(agent,), state="held")
        elif action.verb == "bring" or (action.verb == "drop" and agents[agent] == self.house.table):
            agents[agent] = self.house.table
            items[held or 0] = Item(items[held or 0].weight, None, (), "delivered")
        elif action.verb == "drop" and held is not None:
            items[held] = Item(items[held].weight, agents[agent])
        elif action.verb == "open" and number is not None:
            shut = shut - {number}
        else:
            return known_facts
        then = replace(state, agents=agents, items=items, shut=shut)
        return Facts(tuple(facts(then, self.house, range(self.house.rooms))))

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated ticks of an action, at least 1."""
        state = self._state(facts)
        at = _place(agent, state)
        if action.verb == "go" and isinstance(place := action.args[0], tuple):
            speed = SPEED[self.kinds[agent]]
            return max(1, -(-ways(self.house, place, frozenset()).get(at, 1) // speed))
        if action.verb == "bring":
            return ways(self.house, self.house.table, frozenset())[at] + 1
        return action.args[0] if action.verb == "talk" and isinstance(action.args[0], int) else 1

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return the scripted team's plans for the agents that are able and have none; see ``heuristic``."""
        return heuristic.plans(self, views, running)


def _place(agent: AgentId, state: State) -> Cell:
    """Return where an agent is.

    Raises:
        ImpossibleFacts: Nobody knows.
    """
    if agent not in state.agents:
        raise ImpossibleFacts(f"the facts do not tell where {agent} is")
    return state.agents[agent]


def _go(place: Cell) -> Action:
    return Action("go", (place,))
