"""The rules that everybody knows: goals, options, candidate plans, preconditions, expected effects, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, Cell, Facts, GoalId, Plan, plain
from teamworld.worlds.base.beliefs import is_cell
from teamworld.worlds.base.domain import StateDomain
from teamworld.worlds.base.scripted_team import pool_facts
from teamworld.worlds.contract import WAIT, Goal, ImpossibleFacts, Option, View
from teamworld.worlds.rooms.beliefs import RoomsBeliefs
from teamworld.worlds.rooms.facts import RELATIONS, door, item, list_facts, read_state
from teamworld.worlds.rooms.skills import MEASURES, PATIENCE, cell_of, list_schemas, number_of
from teamworld.worlds.rooms.state import SPEED, House, Item, State, distances
from teamworld.worlds.rooms.text import describe, tell_goal

#: Whoever has nothing to do keeps this far from fire, in steps.
SAFE = 3
_NO_WAY = "no_way: fire, a wall or a shut door"


class RoomsDomain(StateDomain[State]):
    """The domain of rooms.

    Args:
        house: The floor plan.
        kinds: The kind of each agent.
        doors: Doors that are shut at the start; opening each is a goal.
    """

    relations, measures = RELATIONS, MEASURES

    def __init__(self, house: House, kinds: Mapping[AgentId, str], doors: Sequence[int]) -> None:
        self.house, self.kinds, self._doors = house, kinds, tuple(doors)
        self._beliefs = RoomsBeliefs(house)

    @property
    def beliefs(self) -> RoomsBeliefs:
        """What agents may know and believe."""
        return self._beliefs

    def read(self, facts: Facts) -> State:
        """Return the state that facts tell of.

        Raises:
            ImpossibleFacts: There is no such door, or something is in a wall or outside the house.
        """
        return facts.derive(self._read)

    def _read(self, facts: Facts) -> State:
        state, house = read_state(facts), self.house
        if any(number >= len(house.doors) for number in state.shut):
            raise ImpossibleFacts(f"there are {len(house.doors)} doors, got shut: {sorted(state.shut)}")
        items = [thing.cell for thing in state.items.values() if thing.cell is not None]
        for cell in (*state.agents.values(), *items, *state.fire):
            if not (is_cell(cell) and house.rooms_at(cell)):
                raise ImpossibleFacts(f"a place is a cell of a room or a door, got {cell}")
        return state

    def write(self, state: State) -> Facts:
        """Return all facts of a state."""
        return Facts(tuple(list_facts(state, self.house, range(self.house.rooms))))

    def abilities(self, agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what an agent's kind can do."""
        return list_schemas(self.kinds[agent], self.house, tuple(self.read(facts).items))

    def describe(self, view: View) -> Iterator[str]:
        """Yield the lines of a situation in words."""
        return describe(view, self.read(view.known), self.house, self.kinds)

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return what a goal lacks, and the steps that it takes the agent."""
        return tell_goal(goal, agent, self.kinds[agent], self.read(facts), self.house)

    # ---- goals and options

    def list_goals(self, state: State) -> tuple[Goal, ...]:
        """Return one goal for each door shut at the start, and one for each known item."""
        doors = (self._opening(number, number in state.shut) for number in self._doors)
        return (*doors, *(self._delivery(number, thing, state) for number, thing in state.items.items()))

    def _opening(self, number: int, is_shut: bool) -> Goal:
        return Goal(
            f"open_{number}",
            "open",
            door(number),
            kinds=("scout",),
            units=int(is_shut),
            state="open" if is_shut else "done",
        )

    def _delivery(self, number: int, thing: Item, state: State) -> Goal:
        steps = distances(self.house, self.house.table, frozenset())
        units = 0 if thing.state in ("delivered", "lost") else steps.get(thing.cell or (-1, -1), self.house.size[1])
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

    def list_candidates(self, agent: AgentId, state: State) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield work at hand, ways to work, ways to look around, waiting."""
        held, at = state.held(agent), state.place(agent)
        if self.kinds[agent] == "scout":
            for number in sorted(state.shut):
                side = self._side(number, state, at)
                yield (_go(side) if at != side else Action("open", (door(number),))), f"open_{number}"
        elif held is not None:
            yield Action("bring", (item(held), PATIENCE)), f"deliver_{held}"
            yield Action("drop"), f"deliver_{held}" if at == self.house.table else None
        else:
            for number, thing in state.items.items():
                if thing.state == "free" and thing.cell is not None:
                    lift = Action("lift", (item(number), PATIENCE))
                    yield (lift if at == thing.cell else _go(thing.cell)), f"deliver_{number}"
        middles = (self.house.middle(room) for room in range(self.house.rooms))
        yield from ((_go(middle), None) for middle in middles if at != middle)
        yield WAIT, None

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return the candidate actions that are legal; who stands where a thing lies has no way to go to lift it."""
        return [option._replace(is_work=option.action.verb == "lift") for option in super().options(agent, facts)]

    # ---- plans

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans that make sense for a goal, at least one for each of use; without one, plans to keep clear.

        Raises:
            UserError: The agent's kind cannot work on the goal.
        """
        state = self.read(facts)
        if goal is not None and self.kinds[agent] not in goal.kinds:
            raise UserError(f"{goal.id} is for {' or '.join(goal.kinds)}, and {agent} is a {self.kinds[agent]}")
        action_lists = [] if goal is None or goal.thing is None else list(self._work(goal.thing.id, agent, state))
        plans = dict.fromkeys(action_lists or self._standby(agent, state))
        return [Plan(actions, None if goal is None else goal.id) for actions in plans]

    def _work(self, number: int, agent: AgentId, state: State) -> Iterator[tuple[Action, ...]]:
        """Yield ways to work on a goal; none where it is in other hands, or nobody knows where it is."""
        at, held = state.place(agent), state.held(agent)
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
        at, house, held = state.place(agent), self.house, state.held(agent)
        if held is not None and state.items[held].weight == 1 and self._can_go(agent, house.table, state):
            yield (Action("bring", (item(held), PATIENCE)),)
        fires = [distances(house, cell, frozenset()) for cell in state.fire]
        if min((steps.get(at, SAFE) for steps in fires), default=SAFE) < SAFE:
            cells = (cell for room in range(house.rooms) for cell in house.cells(room))
            reachable = [cell for cell in cells if self._can_go(agent, cell, state)]
            far = max(reachable, key=lambda cell: min(steps[cell] for steps in fires), default=at)
            if far != at:
                yield (_go(far),)
        steps = distances(house, at, state.closed(house))
        middles = {room: house.middle(room) for room in range(house.rooms)}
        rooms = sorted(middles, key=lambda room: (steps.get(middles[room], 0), room))
        ahead = [room for room in rooms if middles[room] != at and self._can_go(agent, middles[room], state)]
        yield from ((_go(middles[room]),) for room in ahead if room in state.unseen)
        yield (WAIT, WAIT, WAIT)
        yield from ((_go(middles[room]), WAIT) for room in ahead if room not in state.unseen)

    def pool(self, views: Mapping[AgentId, View]) -> Facts:
        """Return what the team knows: of each thing what was seen last; a room is unseen if nobody saw it."""
        unseen = set.intersection(*(set(view.facts.about("UNSEEN")) for view in views.values()))
        return Facts(tuple(fact for fact in pool_facts(views) if fact.predicate != "UNSEEN" or fact in unseen))

    def is_urgent(self, plan: Plan) -> bool:
        """Return whether a plan brings what the agent holds."""
        return plan.actions[0].verb == "bring"

    # ---- preconditions, effects and costs

    def refuse(self, agent: AgentId, action: Action, state: State) -> str:
        """Return why an action's preconditions do not hold."""
        verb, number, held, at = action.verb, number_of(action), state.held(agent), state.place(agent)
        if agent in state.overcome and action != WAIT:
            return "overcome: smoke, for a few steps"
        if verb == "go" and not self._can_go(agent, cell_of(action), state):
            return _NO_WAY
        if verb == "open" and (number not in state.shut or at not in self.house.beside(self.house.doors[number])):
            return "not_beside: stand beside a door that is shut"
        if verb == "drop" and held is None:
            return "empty_hands: you hold nothing"
        if verb == "bring" and held != number:
            return f"not_held: lift {plain(item(number or 0))} first"
        if verb == "bring" and not self._can_go(agent, self.house.table, state):
            return _NO_WAY
        if verb != "lift" or number is None:
            return ""
        if held is not None:
            return f"full_hands: you hold {plain(item(held))}"
        thing = state.items[number]
        if thing.state != "free" or thing.cell is None:
            return f"gone: {thing.state if thing.state != 'free' else 'nobody knows where it is'}"
        return "" if thing.cell == at else f"not_there: it is at {thing.cell}"

    def apply(self, agent: AgentId, action: Action, state: State) -> State:
        """Return the state to expect after an action that succeeds, if teammates play their part."""
        agents, items, number, held = dict(state.agents), dict(state.items), number_of(action), state.held(agent)
        puts_on_table = action.verb == "drop" and agents[agent] == self.house.table
        if action.verb == "open" and number is not None:
            return replace(state, shut=state.shut - {number})
        if action.verb == "lift" and number is not None:
            items[number] = items[number]._replace(holders=(agent,), state="held")
        elif action.verb == "go":
            agents[agent] = cell_of(action)
            if held is not None:
                items[held] = items[held]._replace(cell=cell_of(action))
        elif held is not None and (action.verb == "bring" or puts_on_table):
            agents[agent] = self.house.table
            items[held] = Item(items[held].weight, None, (), "delivered")
        elif held is not None and action.verb == "drop":
            items[held] = Item(items[held].weight, agents[agent])
        else:
            return state
        return replace(state, agents=agents, items=items)

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated steps of an action, at least 1; 1 where its arguments do not fit its schema."""
        at, first = self.read(facts).place(agent), action.args[0] if action.args else None
        if action.verb == "go" and isinstance(first, tuple):
            return max(1, -(-distances(self.house, first, frozenset()).get(at, 1) // SPEED[self.kinds[agent]]))
        if action.verb == "bring":
            return distances(self.house, self.house.table, frozenset())[at] + 1
        return max(1, first) if action.verb == "talk" and isinstance(first, int) else 1

    def _side(self, number: int, state: State, at: Cell) -> Cell:
        """Return the cell from which to open a door: the nearest beside it."""
        steps = distances(self.house, at, state.closed(self.house))
        return min(self.house.beside(self.house.doors[number]), key=lambda cell: (steps.get(cell, 10**6), cell))

    def _can_go(self, agent: AgentId, place: Cell, state: State) -> bool:
        closed = state.closed(self.house)
        return place not in closed and state.place(agent) in distances(self.house, place, closed)


def _go(place: Cell) -> Action:
    return Action("go", (place,))
