"""The describer of the robotic warehouse: rules, observations as facts, what the log says of a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Facts, GoalId, Plan, plain
from teamworld.worlds.adapters.describer import Describer, Look, MacroAction, Sight
from teamworld.worlds.adapters.rware import draw, skills
from teamworld.worlds.adapters.rware.heuristic import assign_orders
from teamworld.worlds.adapters.rware.state import (
    FACINGS,
    RELATIONS,
    FloorPlan,
    Order,
    WarehouseState,
    list_facts,
    read_state,
)
from teamworld.worlds.adapters.rware.text import STALE_PER_RACK, TURNS, describe, tell_goal
from teamworld.worlds.base import grid
from teamworld.worlds.base.executor import Result
from teamworld.worlds.contract import WAIT, Goal, Outcome, View


class RwareDomain(Describer[WarehouseState]):
    """The rules of the warehouse.

    Args:
        floor: The floor plan.
        agents: The team.
    """

    relations, measures = RELATIONS, skills.MEASURES
    primitives, idle = skills.PRIMITIVES, "noop"

    def __init__(self, floor: FloorPlan, agents: Sequence[AgentId]) -> None:
        self.floor, self.agents = floor, tuple(agents)

    # ---- facts and states

    def read(self, facts: Facts) -> WarehouseState:
        """Return the state that facts tell of.

        Raises:
            ImpossibleFacts: They are about a cell or shelf that there is not.
        """
        return facts.derive(self._read)

    def _read(self, facts: Facts) -> WarehouseState:
        return read_state(facts, self.floor)

    def write(self, state: WarehouseState) -> Facts:
        """Return all facts of a state."""
        return Facts(tuple(list_facts(state, self.floor)))

    def truth(self, env: Any, before: WarehouseState | None) -> WarehouseState:  # noqa: ANN401  (an environment of any kind)
        """Return the state of the environment; orders that are not made yet are pending."""
        robots = dict(zip(self.agents, env.env.agents, strict=True))
        held = {
            agent: env.slots[robot.carrying_shelf.id]
            for agent, robot in robots.items()
            if robot.carrying_shelf is not None
        }
        orders: dict[int, Order] = {}
        for number in range(self.floor.orders):
            if number >= len(env.orders):
                orders[number] = Order(None, "pending")
                continue
            shelf, delivered = env.env.shelfs[env.orders[number] - 1], number not in env.waiting
            slot = env.slots[shelf.id]
            is_taken = delivered or (shelf.y, shelf.x) != slot
            orders[number] = Order(slot, "fetched" if is_taken else "open", delivered)
        at = {agent: (int(robot.y), int(robot.x)) for agent, robot in robots.items()}
        return WarehouseState(at, {agent: FACINGS[robot.dir.value] for agent, robot in robots.items()}, held, orders)

    def perceive(self, agent: AgentId, look: Look[WarehouseState]) -> Sight:
        """Return what the sensor shows: robots, and the orders on shelves in its window.

        Of an order that the robot knew of, it sees that the shelf was taken if its slot is empty, and that it was
        delivered if the shelf carries another order or none.
        """
        numbers = [int(number) for number in look.observation]
        here = numbers[1], numbers[0]
        window, known = self.floor.window(here), look.known
        sensors = [numbers[at : at + 7] for at in range(8, len(numbers), 7)]
        robots = [(cell, sensor) for cell, sensor in zip(window, sensors, strict=True) if sensor[0]]
        seen = {
            name: (cell, FACINGS[sensor[1:5].index(1)])
            for name, (cell, sensor) in zip(look.info["seen"], robots, strict=True)
        }
        shelves = {cell for cell, sensor in zip(window, sensors, strict=True) if sensor[5]}
        held: dict[AgentId, Cell] = {}
        if numbers[2]:
            held[agent] = known.held.get(agent, here)
        labels: Mapping[Cell, tuple[int, Cell]] = look.info["orders"]
        held |= {
            n: labels[c][1] for n, (c, _) in seen.items() if n != agent and c in labels and c not in self.floor.slots
        }
        orders = dict(self._see_orders(labels, held, shelves, window, known))
        inside = [cell for cell in window if grid.is_inside(cell, self.floor.size)]
        recent = {place for place, t in look.seen.items() if look.t - t < STALE_PER_RACK * len(self.floor.racks)}
        state = WarehouseState(
            {name: seen[name][0] for name in self.agents if name in seen},
            {name: facing for name, (_, facing) in seen.items()},
            held,
            orders,
            self.floor.list_unseen({*recent, *inside}, here),
        )
        return Sight(tuple(list_facts(state, self.floor)), tuple(inside))

    def _see_orders(
        self,
        labels: Mapping[Cell, tuple[int, Cell]],
        held: Mapping[AgentId, Cell],
        shelves: Iterable[Cell],
        window: Iterable[Cell],
        known: WarehouseState,
    ) -> Iterator[tuple[int, Order]]:
        """Yield the orders that are seen, and known ones of which is seen what became of them."""
        seen = {number: (slot, cell) for cell, (number, slot) in labels.items() if number < self.floor.orders}
        for number, (slot, cell) in seen.items():
            yield number, Order(slot, "open" if cell == slot else "fetched")
        for number, order in known.orders.items():
            if number in seen or order.delivered or order.slot is None:
                continue
            if order.slot in held.values() or order.slot in shelves:
                yield number, Order(order.slot, "fetched", delivered=True)
            elif order.slot in window:
                yield number, Order(order.slot, "fetched")

    def snapshot(self, state: WarehouseState) -> Mapping[str, Any]:
        """Return where robots and shelves are, and what is ordered."""
        return draw.snapshot(state, self.floor)

    # ---- goals and options

    def list_goals(self, state: WarehouseState) -> tuple[Goal, ...]:
        """Return a goal for each known order. One that somebody unknown took is taken for done."""
        return tuple(self._goal(number, order, state) for number, order in state.orders.items())

    def _goal(self, number: int, order: Order, state: WarehouseState) -> Goal:
        is_done = order.delivered or (order.state == "fetched" and order.slot not in state.held.values())
        slot = order.slot
        far = min(grid.distance(slot, goal) for goal in self.floor.goals) if slot else 0
        return Goal(
            f"deliver_{number}",
            "deliver",
            None if slot is None else self.floor.shelf(slot),
            features=(("way", "short" if far <= sum(self.floor.size) // 3 else "long"),),
            units=int(not is_done),
            state="done" if is_done else "open",
        )

    def abilities(self, agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what a robot can do."""
        state = self.read(facts)
        shelves = dict.fromkeys(self.floor.shelf(order.slot) for order in state.orders.values() if order.slot)
        return skills.list_schemas(self.floor, tuple(shelves), tuple(Entity("rack", rack) for rack in state.unseen))

    def list_candidates(self, agent: AgentId, state: WarehouseState) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield what to do with the shelf in hand; else to fetch ordered ones, or to look for them; waiting."""
        if agent in state.held:
            number = state.order_of(state.held[agent])
            yield Action("deliver"), None if number is None else f"deliver_{number}"
            yield Action("put_back"), None
        else:
            for number, order in state.orders.items():
                if order.slot is not None:
                    yield self._fetch(order.slot), f"deliver_{number}"
            yield from ((Action("search", (Entity("rack", rack),)), None) for rack in state.unseen)
        yield WAIT, None

    def _fetch(self, slot: Cell) -> Action:
        return Action("fetch", (self.floor.shelf(slot),))

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans to bring an ordered shelf, and back; without a goal, to put back and to search."""
        state = self.read(facts)
        holds = state.held.get(agent)
        back = (Action("put_back"),) if holds is not None else ()
        order = None if goal is None else state.orders.get(int(goal.id.removeprefix("deliver_")))
        if goal is not None and order is not None and order.slot is not None:
            bring = (Action("deliver"), Action("put_back"))
            if holds == order.slot:
                return [Plan(bring, goal.id), Plan(bring[:1], goal.id)]
            if order.state == "open":
                can_leave = state.order_of(holds) is None
                first = (*back, self._fetch(order.slot)) if can_leave else (*bring, self._fetch(order.slot))
                return [Plan((*first, *bring), goal.id), Plan((*first, *bring[:1]), goal.id)]
        name = None if goal is None else goal.id
        if holds is not None:
            must_deliver = state.order_of(holds) is not None
            return [Plan((Action("deliver"), *back) if must_deliver else back, name)]
        at = state.at.get(agent, (0, 0))
        racks = sorted(state.unseen, key=lambda rack: (min(grid.distance(at, end) for end in state.unseen[rack]), rack))
        return [
            *(Plan((Action("search", (Entity("rack", rack),)),), name) for rack in racks),
            Plan((WAIT, WAIT, WAIT), name),
        ]

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return plans of robots that pool what they know and share out orders, see ``heuristic``."""
        return assign_orders(self, views, running) if views else {}

    def refuse(self, agent: AgentId, action: Action, state: WarehouseState) -> str:
        """Return why an action's preconditions do not hold."""
        holds = state.held.get(agent)
        if action.verb in ("wait", "talk"):
            return ""
        if agent not in state.at:
            return f"nowhere: nobody knows where {agent} is"
        if action.verb in ("deliver", "put_back"):
            number = state.order_of(holds)
            if holds is None:
                return "no_shelf: you carry nothing"
            if action.verb == "deliver":
                return "" if number is not None else "not_ordered: its order is delivered, put it back"
            return "" if number is None else "ordered: deliver it first"
        if action.verb == "fetch":
            number = state.order_of(self.floor.slot(skills.thing_of(action)))
            if holds is not None:
                return f"full: you carry {plain(self.floor.shelf(holds))}, put it back first"
            return (
                ""
                if number is not None and state.orders[number].state == "open"
                else "gone: a robot took the shelf, or it is not ordered"
            )
        is_shelf_in_way = action.verb == "go" and holds is not None and action.args[0] in self.floor.slots - {holds}
        return "no_way: there is a shelf, and you carry one" if is_shelf_in_way else ""

    def apply(self, agent: AgentId, action: Action, state: WarehouseState) -> WarehouseState:
        """Return the state to expect after an action."""
        if action.verb in ("wait", "talk"):
            return state
        end, held, orders, unseen = (
            self._end(agent, action, state),
            dict(state.held),
            dict(state.orders),
            dict(state.unseen),
        )
        number = state.order_of(state.held.get(agent))
        if action.verb == "fetch":
            held[agent] = end
            number = state.order_of(end)
            if number is not None:
                orders[number] = orders[number]._replace(state="fetched")
        elif action.verb == "deliver" and number is not None:
            orders[number] = orders[number]._replace(delivered=True)
        elif action.verb == "put_back":
            held.pop(agent, None)
        elif action.verb == "search":
            unseen.pop(skills.thing_of(action).id, None)
        return replace(state, at={**state.at, agent: end}, held=held, orders=orders, unseen=unseen)

    def _end(self, agent: AgentId, action: Action, state: WarehouseState) -> Cell:
        """Return the place to which an action leads: the nearest of those that will do."""
        ends, at = skills.list_ends(agent, action, state, self.floor), state.at[agent]
        return min(ends, key=lambda cell: (grid.distance(at, cell), cell), default=at)

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated steps of an action: the way and a few turns."""
        state, first = self.read(facts), action.args[0] if action.args else None
        if action.verb == "talk" and isinstance(first, int):
            return max(1, first)
        if action.verb in ("wait", "talk") or agent not in state.at or not self.check_form(agent, action, facts).ok:
            return 1
        end = self._end(agent, action, state)
        on = 0
        if action.verb == "search":
            ends = state.unseen.get(skills.thing_of(action).id, ())
            on = max((grid.distance(end, other) for other in ends), default=0)
        return grid.distance(state.at[agent], end) + on + TURNS

    # ---- what agents do

    def unroll(self, agent: AgentId, skill: MacroAction, known: WarehouseState) -> str:
        """Return the next turn or step, or to lift or put down."""
        skill.notes["order"] = known.order_of(known.held.get(agent))
        return skills.choose_primitive(agent, skill, known, self.floor, self.agents.index(agent))

    def judge(self, agent: AgentId, skill: MacroAction, before: WarehouseState, after: WarehouseState) -> Result:
        """Return how an action stands."""
        return skills.judge(agent, skill, before, after, self.floor)

    def place(self, agent: AgentId, state: WarehouseState) -> Cell:
        """Return where a robot is."""
        return state.at[agent]

    def outcome(self, agent: AgentId, primitive: str, before: WarehouseState, after: WarehouseState) -> Outcome:
        """Return what a step did; lifting, putting down, and carrying on have an effect."""
        outcome = super().outcome(agent, primitive, before, after)
        at = before.at[agent]
        aim = grid.add(at, skills.STEPS[before.facing[agent]]) if primitive == "forward" else None
        loads = before.held.get(agent) != after.held.get(agent)
        return outcome._replace(aim=aim, effect=loads or (outcome.moved and agent in after.held))

    def participants(self, goal: Goal, tried: Mapping[AgentId, MacroAction]) -> Iterator[AgentId]:
        """Yield who delivered the shelf."""
        order = int(goal.id.removeprefix("deliver_"))
        return (a for a, skill in tried.items() if skill.action.verb == "deliver" and skill.notes.get("order") == order)

    def describe(self, view: View) -> Iterator[str]:
        """Yield the lines of a situation in words."""
        known = view.known

        def steps(action: Action) -> int:
            return self.estimate_steps(view.agent, action, known)

        return describe(view, self.read(known), self.floor, self.agents, steps)

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return where the shelf of an order is, and the steps that it takes a robot."""
        state = self.read(facts)
        return tell_goal(goal, state.orders.get(int(goal.id.removeprefix("deliver_"))), agent, state, self.floor)
