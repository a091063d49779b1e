"""The describer of Overcooked: rules, observations as facts, what the log says of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Facts, GoalId, Plan, plain
from teamworld.worlds.adapters.describer import Describer, Look, MacroAction, Sight
from teamworld.worlds.adapters.overcooked import candidates, draw, skills
from teamworld.worlds.adapters.overcooked.candidates import ACTS, Batch, Cook
from teamworld.worlds.adapters.overcooked.heuristic import assign_cooks
from teamworld.worlds.adapters.overcooked.observe import read_observation
from teamworld.worlds.adapters.overcooked.state import (
    FACINGS,
    FULL,
    NOTHING,
    ONION,
    PLATE,
    RELATIONS,
    SOUP,
    Kitchen,
    KitchenState,
    Pot,
    list_facts,
    read_state,
)
from teamworld.worlds.adapters.overcooked.text import describe, tell_goal
from teamworld.worlds.base import grid
from teamworld.worlds.base.beliefs import FullyObserved
from teamworld.worlds.base.executor import Result
from teamworld.worlds.base.words import count
from teamworld.worlds.contract import WAIT, BeliefRules, Goal, Outcome, View

_STACKS = {"onion_stack": ONION, "plate_stack": PLATE}


class OvercookedDomain(Describer[KitchenState]):
    """The rules of the kitchen.

    Args:
        kitchen: The layout.
        agents: The team.
        soups: How many are to be delivered.
    """

    relations, measures = RELATIONS, skills.MEASURES
    primitives, idle = skills.PRIMITIVES, "stay"

    def __init__(self, kitchen: Kitchen, agents: Sequence[AgentId], soups: int) -> None:
        self.kitchen, self.agents, self.soups = kitchen, tuple(agents), soups
        self._beliefs = FullyObserved(self.goals)

    @property
    def beliefs(self) -> BeliefRules:
        """What agents may know and believe: all of it."""
        return self._beliefs

    # ---- facts and states

    def read(self, facts: Facts) -> KitchenState:
        """Return the state that facts tell of.

        Raises:
            ImpossibleFacts: They are about what is not in this kitchen.
        """
        return facts.derive(self._read)

    def _read(self, facts: Facts) -> KitchenState:
        return read_state(facts, self.kitchen)

    def write(self, state: KitchenState) -> Facts:
        """Return all facts of a state."""
        return Facts(tuple(list_facts(state, self.kitchen, self.soups)))

    def truth(self, env: Any, before: KitchenState | None) -> KitchenState:  # noqa: ANN401  (an environment of any kind)
        """Return the state of the environment."""
        arrays = env.env._env_state
        name_of = env.name_thing
        at = {
            agent: (int(row), int(column)) for agent, (row, column) in zip(self.agents, arrays.agent_pos, strict=True)
        }
        faces = {agent: FACINGS[int(facing)] for agent, facing in zip(self.agents, arrays.agent_dir, strict=True)}
        hands = {agent: name_of(int(held[0])) for agent, held in zip(self.agents, arrays.agent_inv, strict=True)}
        contents, timers = (arrays.extra_state[f"overcooked.pot_{part}"] for part in ("contents", "timer"))
        onions = [int((held != -1).sum()) for held in contents]
        pots = tuple(Pot(n, int(timer) if n >= FULL else 0) for n, timer in zip(onions, timers, strict=True))
        cells = {counter.id: self.kitchen.cell(counter) for counter in self.kitchen.list("counter")}
        lying = {number: name_of(int(arrays.object_state_map[cell])) for number, cell in cells.items()}
        counters = {number: thing for number, thing in lying.items() if thing != NOTHING}
        state = KitchenState(at, faces, hands, pots, counters)
        return state if before is None else state.after(before)

    def perceive(self, agent: AgentId, look: Look[KitchenState]) -> Sight:
        """Return what an observation shows, and how many soups were delivered since the last one."""
        state = read_observation(look.observation, self.agents, agent, self.kitchen)
        state = state.after(look.known) if look.t else state
        return Sight(tuple(list_facts(state, self.kitchen, self.soups)))

    def snapshot(self, state: KitchenState) -> Mapping[str, Any]:
        """Return what a drawing needs."""
        return draw.snapshot(state, self.kitchen)

    # ---- goals and options

    def list_goals(self, state: KitchenState) -> tuple[Goal, ...]:
        """Return a goal for each soup; the first open one is the soup that is furthest."""
        return tuple(self._goal(number, state) for number in range(1, self.soups + 1))

    def _goal(self, number: int, state: KitchenState) -> Goal:
        batches, place = candidates.list_batches(state), number - state.delivered - 1
        is_done = place < 0
        waits = place >= len(batches)
        return Goal(
            f"soup_{number}",
            "serve",
            Entity("soup", number),
            capacity=len(self.agents),
            units=0 if is_done else ACTS if waits else batches[place].acts,
            prerequisites=(f"soup_{number - len(state.pots)}",) if waits else (),
            state="done" if is_done else "open",
        )

    def _batch(self, goal: Goal, state: KitchenState) -> Batch | None:
        """Return what a goal stands for now; None for one that is done or has to wait."""
        place = (goal.thing.id if isinstance(goal.thing, Entity) else 0) - state.delivered - 1
        batches = candidates.list_batches(state)
        return batches[place] if 0 <= place < len(batches) else None

    def abilities(self, agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what a cook can do."""
        at = self.read(facts).at.get(agent, next(iter(sorted(self.kitchen.floor))))
        return skills.list_schemas(self.kitchen, at)

    def list_candidates(self, agent: AgentId, state: KitchenState) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield what the open soups need first, then all else that can be used, then waiting."""
        if agent not in state.at:
            return
        needed = {
            plan[0]: goal.id for goal in self.list_goals(state)[::-1] for plan in self._list_plans(goal, agent, state)
        }
        yield from sorted(needed.items(), key=lambda item: (item[1], str(item[0])))
        used: dict[str, tuple[str, ...]] = {"add": ("pot",), "plate": ("pot",), "deliver": ("window",)}
        used |= {"place": ("counter",), "get": (*_STACKS, "counter")}
        actions = [Action(v, (s,)) for v, kinds in used.items() for kind in kinds for s in self.kitchen.list(kind)]
        refuge = Action("go", (candidates.find_refuge(Cook(agent, state, self.kitchen)),))
        yield from ((action, None) for action in (*actions, refuge, WAIT) if action not in needed)

    def _list_plans(self, goal: Goal, agent: AgentId, state: KitchenState) -> Iterator[tuple[Action, ...]]:
        batch = self._batch(goal, state)
        if batch is not None and agent in state.at:
            yield from candidates.list_plans(batch, Cook(agent, state, self.kitchen))

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans for the next thing that a soup needs and for all of it; without one, to be out of the way."""
        state, name = self.read(facts), None if goal is None else goal.id
        plans = [] if goal is None else [Plan(steps, goal.id) for steps in self._list_plans(goal, agent, state)]
        if plans or agent not in state.at:
            return plans or [Plan((WAIT,), name)]
        return [
            Plan(candidates.rest(Cook(agent, state, self.kitchen)), name),
            Plan((WAIT,), name),
        ]

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return plans of cooks who share out what the soups need, see ``heuristic``."""
        return assign_cooks(self, views, running) if views else {}

    def refuse(self, agent: AgentId, action: Action, state: KitchenState) -> str:
        """Return why an action's preconditions do not hold."""
        if action.verb in ("wait", "talk"):
            return ""
        if agent not in state.at:
            return f"nowhere: nobody knows where {agent} is"
        held = state.hands.get(agent, NOTHING)
        if action.verb == "go":
            way = self.kitchen.distance(state.at[agent], skills.list_ends(action, self.kitchen))
            return "no_way: no way leads there" if way is None else ""
        station = skills.station_of(action)
        if action.verb == "get" and held != NOTHING:
            return f"hands_full: you hold {held}"
        if action.verb == "get":
            is_bare = station.kind == "counter" and station.id not in state.counters
            return "empty: nothing lies there" if is_bare else ""
        if action.verb == "place" and held == NOTHING:
            return "hands_empty: you hold nothing"
        if action.verb == "place":
            return "full: something lies there" if station.id in state.counters else ""
        needed = {"add": ONION, "plate": PLATE, "deliver": SOUP}[action.verb]
        if held != needed:
            return f"no_{needed}: you hold {held}"
        if action.verb == "deliver":
            return ""
        pot = state.pots[station.id]
        if pot.is_full == (action.verb == "plate"):
            return ""
        holds = f"with your actions up to then {plain(station)} has {pot.onions} of {FULL} onions"
        return f"full: {holds}" if pot.is_full else f"not_full: {holds}"

    def apply(self, agent: AgentId, action: Action, state: KitchenState) -> KitchenState:
        """Return the state to expect after an action."""
        if action.verb in ("wait", "talk"):
            return state
        at = self._nearest(agent, action, state)
        state = replace(state, at={**state.at, agent: at})
        if action.verb == "go":
            return state
        station, held = skills.station_of(action), state.hands.get(agent, NOTHING)
        facing = skills.find_move(at, self.kitchen.cell(station))
        counters, pots, delivered = dict(state.counters), list(state.pots), state.delivered
        taken = NOTHING
        if action.verb == "get":
            taken = _STACKS.get(station.kind) or counters.pop(station.id)
        elif action.verb == "add":
            onions = pots[station.id].onions + 1
            pots[station.id] = Pot(onions, self.kitchen.cook_time if onions >= FULL else 0)
        elif action.verb == "plate":
            pots[station.id], taken = Pot(), SOUP
        elif action.verb == "place":
            counters[station.id] = held
        else:
            delivered += 1
        faces, hands = {**state.faces, agent: facing}, {**state.hands, agent: taken}
        return KitchenState(state.at, faces, hands, tuple(pots), dict(sorted(counters.items())), delivered)

    def _nearest(self, agent: AgentId, action: Action, state: KitchenState) -> Cell:
        """Return the place to which an action leads: the nearest of those that will do."""
        at = state.at[agent]
        ways = {end: self.kitchen.distance(at, (end,)) for end in skills.list_ends(action, self.kitchen)}
        reached = {end: way for end, way in ways.items() if way is not None}
        return min(reached, key=lambda end: (reached[end], end), default=at)

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated steps of an action: the way, a turn, a use, and what is left of the cooking."""
        state, first = self.read(facts), action.args[0] if action.args else None
        if action.verb == "talk" and isinstance(first, int):
            return max(1, first)
        if action.verb in ("wait", "talk") or agent not in state.at or not self.check_form(agent, action, facts).ok:
            return 1
        end = self._nearest(agent, action, state)
        way = self.kitchen.distance(state.at[agent], (end,)) or 0
        if action.verb == "go":
            return max(1, way)
        station = skills.station_of(action)
        turn = state.faces.get(agent) != skills.find_move(end, self.kitchen.cell(station)) or way > 0
        left = state.pots[station.id].left if action.verb == "plate" else 0
        return max(way + turn, left) + 1

    # ---- what agents do

    def unroll(self, agent: AgentId, skill: MacroAction, known: KitchenState) -> str:
        """Return the next move, or to use what is in front, or to stay."""
        return skills.choose_primitive(agent, skill, known, self.kitchen, self.agents.index(agent))

    def judge(self, agent: AgentId, skill: MacroAction, before: KitchenState, after: KitchenState) -> Result:
        """Return how an action stands."""
        return skills.judge(agent, skill, before, after, self.kitchen)

    def place(self, agent: AgentId, state: KitchenState) -> Cell:
        """Return where a cook is."""
        return state.at[agent]

    def outcome(self, agent: AgentId, primitive: str, before: KitchenState, after: KitchenState) -> Outcome:
        """Return what a step did; whoever's hands changed had an effect."""
        outcome, at = super().outcome(agent, primitive, before, after), before.at[agent]
        aim = grid.add(at, skills.MOVES[primitive]) if primitive in skills.MOVES else None
        effect = before.hands[agent] != after.hands[agent]
        return outcome._replace(aim=aim if aim in self.kitchen.floor else None, effect=effect)

    def participants(self, goal: Goal, tried: Mapping[AgentId, MacroAction]) -> Iterator[AgentId]:
        """Yield who used something in the step: every act but placing brings a soup on."""
        acts = ("add", "plate", "deliver")
        return (agent for agent, skill in tried.items() if skill.primitive == "use" and skill.action.verb in acts)

    def describe(self, view: View) -> Iterator[str]:
        """Yield the lines of a situation in words."""
        return describe(view.agent, view.kind, self.read(view.known), self.kitchen, self.agents, self.soups)

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return what a soup still takes, and the steps to the next thing that this cook can do for it."""
        state = self.read(facts)
        batch = self._batch(goal, state)
        words = tell_goal(goal, batch, state, self.kitchen)
        if batch is None:
            return words
        supplier = candidates.find_supplier(batch, state, self.kitchen)
        if supplier not in (None, agent):
            thing = state.hands[supplier]
            holds = f"{supplier} holds {'it' if thing == SOUP else f'the {thing} for it'}"
            return f"{words}; {holds}{', a plate is next' if thing == ONION else ': nothing for you'}"
        first = next((plan[0] for plan in self._list_plans(goal, agent, state)), None)
        if first is None:
            return f"{words}; nothing for you to do for it now"
        return f"{words}; next for you: {plain(first)}, {count(self.estimate_steps(agent, first, facts), 'step')}"
