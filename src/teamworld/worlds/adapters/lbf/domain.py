"""The describer of level-based foraging: rules, observations as facts, what the log says of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Facts, GoalId, Plan
from teamworld.worlds.adapters.describer import Describer, Look, MacroAction, Sight
from teamworld.worlds.adapters.lbf import draw, skills
from teamworld.worlds.adapters.lbf.beliefs import LoadConflicts
from teamworld.worlds.adapters.lbf.heuristic import assign_foods
from teamworld.worlds.adapters.lbf.state import RELATIONS, Field, Food, ForagingState, list_facts, read_state
from teamworld.worlds.adapters.lbf.text import describe, tell_goal
from teamworld.worlds.base import grid
from teamworld.worlds.base.executor import Result
from teamworld.worlds.contract import WAIT, Attempt, BeliefRules, Goal, Outcome, View


class LbfDomain(Describer[ForagingState]):
    """The rules of foraging.

    Args:
        field: The field.
        agents: The team.
    """

    relations, measures = RELATIONS, skills.MEASURES
    primitives, idle = skills.PRIMITIVES, "none"

    def __init__(self, field: Field, agents: Sequence[AgentId]) -> None:
        self.field, self.agents = field, tuple(agents)
        self._beliefs = LoadConflicts(self.goals, len(agents)) if field.is_observed else None

    @property
    def beliefs(self) -> BeliefRules | None:
        """What agents may know and believe; declared where everybody sees the whole field."""
        return self._beliefs

    # ---- facts and states

    def read(self, facts: Facts) -> ForagingState:
        """Return the state that facts tell of.

        Raises:
            ImpossibleFacts: They are about a cell outside the field.
        """
        return facts.derive(self._read)

    def _read(self, facts: Facts) -> ForagingState:
        return read_state(facts, self.field)

    def write(self, state: ForagingState) -> Facts:
        """Return all facts of a state."""
        return Facts(tuple(list_facts(state, self.field)))

    def truth(self, env: Any, before: ForagingState | None) -> ForagingState:  # noqa: ANN401  (an environment of any kind)
        """Return the state of the environment; food that was there before and is not any more was loaded."""
        game = env.env
        rows, columns = game.field.nonzero()
        cells = [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
        left = {cell: Food(int(game.field[cell])) for cell in cells}
        foods = left if before is None else {c: left.get(c, f._replace(loaded=True)) for c, f in before.foods.items()}
        players = dict(zip(self.agents, game.players, strict=True))
        at = {agent: (int(player.position[0]), int(player.position[1])) for agent, player in players.items()}
        return ForagingState(at, {agent: int(player.level) for agent, player in players.items()}, foods)

    def perceive(self, agent: AgentId, look: Look[ForagingState]) -> Sight:
        """Return what an observation shows: the food in its window and the foragers it holds, with their levels.

        A food that the agent knew of, whose cell is in sight and empty, was loaded.
        """
        numbers = [int(number) for number in look.observation]
        triples = [tuple(numbers[at : at + 3]) for at in range(0, len(numbers), 3)]
        players = triples[-len(self.agents) :]
        here: Cell = look.info.get("position", players[0][:2])
        others = look.info.get("seen", [other for other in self.agents if other != agent])
        sight = self.field.sight
        corner = here[0] - min(sight, here[0]), here[1] - min(sight, here[1])
        seen_players = dict(zip((agent, *others), players, strict=False))
        at = {name: grid.add(corner, seen_players[name][:2]) for name in self.agents if name in seen_players}
        levels = {name: seen_players[name][2] for name in at}
        window = dict.fromkeys(self.field.window(here), look.t)
        foods = {
            grid.add(corner, (row, column)): Food(level) for row, column, level in triples[: -len(players)] if level
        }
        foods |= {c: f._replace(loaded=True) for c, f in look.known.foods.items() if c in window and c not in foods}
        unseen = {} if self.field.is_observed else self.field.list_unseen({*look.seen, *window})
        return Sight(tuple(list_facts(ForagingState(at, levels, foods, unseen), self.field)), tuple(window))

    def snapshot(self, state: ForagingState) -> Mapping[str, Any]:
        """Return places and levels of foragers, and what food is left."""
        return draw.snapshot(state)

    # ---- goals and options

    def list_goals(self, state: ForagingState) -> tuple[Goal, ...]:
        """Return a goal for each known food."""
        return tuple(self._goal(cell, food, state) for cell, food in state.foods.items())

    def _goal(self, cell: Cell, food: Food, state: ForagingState) -> Goal:
        name, sides = self.field.food(cell), len([*grid.list_neighbours(cell, self.field.size)])
        quorum = min(self._quorum(food.level, state), sides)
        return Goal(
            f"load_{name.id}",
            "load",
            name,
            features=(("level", str(food.level)),),
            weight=float(food.level),
            quorum=quorum,
            capacity=max(quorum, min(sides, len(self.agents))) if quorum > 1 else 1,
            units=int(not food.loaded),
            constraints=("participation", "spatial", "temporal") if quorum > 1 else (),
            state="done" if food.loaded else "open",
        )

    def _quorum(self, level: int, state: ForagingState) -> int:
        """Return how many foragers it takes whichever they are: the weakest first, unknown ones count as level 1."""
        total = 0
        for number, strength in enumerate(sorted(state.levels.get(agent, 1) for agent in self.agents), 1):
            total += strength
            if total >= level:
                return number
        return len(self.agents)

    def abilities(self, agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what a forager can do."""
        state = self.read(facts)
        foods = tuple(self.field.food(cell) for cell in state.foods)
        return skills.list_schemas(
            self.field, foods, tuple(Entity("area", area) for area in state.unseen), len(self.agents)
        )

    def list_candidates(self, agent: AgentId, state: ForagingState) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield loading each food, searching each area, waiting."""
        for cell in state.foods:
            yield self._load(cell), f"load_{self.field.food(cell).id}"
        yield from ((Action("search", (Entity("area", area),)), None) for area in state.unseen)
        yield WAIT, None

    def _load(self, cell: Cell, patience: int = skills.PATIENCE) -> Action:
        return Action("load", (self.field.food(cell), patience))

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans to load a food with more and less patience; without a goal, to search the nearest area first."""
        state = self.read(facts)
        if goal is not None and goal.thing is not None and isinstance(goal.thing, Entity):
            cell = self.field.cell(goal.thing)
            waits = (skills.PATIENCE, 3 * skills.PATIENCE, 4) if goal.quorum > 1 else (skills.PATIENCE,)
            return [Plan((self._load(cell, patience),), goal.id) for patience in waits]
        at = state.at.get(agent, (0, 0))
        areas = sorted(state.unseen, key=lambda area: (grid.distance(at, state.unseen[area]), area))
        return [*(Plan((Action("search", (Entity("area", area),)),)) for area in areas), Plan((WAIT, WAIT, WAIT))]

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return plans of foragers who pool what they know and share out food, see ``heuristic``."""
        return assign_foods(self, views, running) if views else {}

    def refuse(self, agent: AgentId, action: Action, state: ForagingState) -> str:
        """Return why an action's preconditions do not hold."""
        if action.verb in ("wait", "talk"):
            return ""
        if agent not in state.at:
            return f"nowhere: nobody knows where {agent} is"
        if action.verb == "load":
            return "gone: it was loaded" if state.foods[self.field.cell(skills.thing_of(action))].loaded else ""
        if action.verb == "go" and action.args[0] in state.fields_of_food():
            return "no_way: there is food on that cell"
        return ""

    def apply(self, agent: AgentId, action: Action, state: ForagingState) -> ForagingState:
        """Return the state to expect after an action, if teammates load too."""
        if action.verb in ("wait", "talk"):
            return state
        foods, unseen = dict(state.foods), dict(state.unseen)
        end = self._nearest(agent, action, state)
        if action.verb == "load":
            cell = self.field.cell(skills.thing_of(action))
            foods[cell] = foods[cell]._replace(loaded=True)
        elif action.verb == "search":
            unseen.pop(skills.thing_of(action).id, None)
        return replace(state, at={**state.at, agent: end}, foods=foods, unseen=unseen)

    def _nearest(self, agent: AgentId, action: Action, state: ForagingState) -> Cell:
        """Return the place to which an action leads: the nearest of those that will do."""
        ends, at = skills.list_ends(agent, action, state, self.field), state.at[agent]
        return min(ends, key=lambda cell: (grid.distance(at, cell), cell), default=at)

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated steps of an action: the way, and one to load."""
        state, first = self.read(facts), action.args[0] if action.args else None
        if action.verb == "talk" and isinstance(first, int):
            return max(1, first)
        if action.verb in ("wait", "talk") or agent not in state.at or not self.check_form(agent, action, facts).ok:
            return 1
        way = grid.distance(state.at[agent], self._nearest(agent, action, state))
        return max(1, way + (action.verb == "load"))

    # ---- what agents do

    def unroll(self, agent: AgentId, skill: MacroAction, known: ForagingState) -> str:
        """Return the next move, or to load, or to stay."""
        turn = self.agents.index(agent)
        return skills.choose_primitive(agent, skill, known, self.field, turn, len(self.agents))

    def judge(self, agent: AgentId, skill: MacroAction, before: ForagingState, after: ForagingState) -> Result:
        """Return how an action stands."""
        return skills.judge(agent, skill, after, self.field, len(self.agents))

    def place(self, agent: AgentId, state: ForagingState) -> Cell:
        """Return where a forager is."""
        return state.at[agent]

    def outcome(self, agent: AgentId, primitive: str, before: ForagingState, after: ForagingState) -> Outcome:
        """Return what a step did; a load has an effect if the food beside the forager is gone."""
        outcome, at = super().outcome(agent, primitive, before, after), before.at[agent]
        aim = grid.add(at, skills.MOVES[primitive]) if primitive in skills.MOVES else None
        loaded = after.foods.keys() - after.fields_of_food() - (before.foods.keys() - before.fields_of_food())
        effect = primitive == "load" and any(grid.distance(at, cell) == 1 for cell in loaded)
        return outcome._replace(aim=aim, effect=effect)

    def participants(self, goal: Goal, tried: Mapping[AgentId, MacroAction]) -> Iterator[AgentId]:
        """Yield who loaded the food."""
        return (a for a in super().participants(goal, tried) if tried[a].primitive == "load")

    def attempts(
        self, tried: Mapping[AgentId, MacroAction], before: ForagingState, after: ForagingState
    ) -> Iterator[Attempt]:
        """Yield the loads of a step: levels of those who want it, of those beside it, of those who load now."""
        for goal in self.list_goals(before):
            if goal.thing is None or goal.state != "open":
                continue
            cell, level = self.field.cell(goal.thing), before.foods[self.field.cell(goal.thing)].level
            wanting = [*super().participants(goal, tried)]
            loading = [agent for agent in wanting if tried[agent].primitive == "load"]
            if not loading:
                continue
            levels = (
                sum(before.levels[agent] for agent in wanting),
                skills.level_beside(cell, before, wanting),
                skills.level_beside(cell, before, loading),
            )
            names = ("participation", "spatial", "temporal")
            have: Any = tuple(zip(names, (min(level, sum_) for sum_ in levels), strict=True))
            need: Any = tuple((name, level) for name in names)
            yield Attempt(goal.id, goal.quorum, have, need, tuple(loading), after.foods[cell].loaded)

    def describe(self, view: View) -> Iterator[str]:
        """Yield the lines of a situation in words."""
        known = view.known

        def steps(action: Action) -> int:
            return self.estimate_steps(view.agent, action, known)

        return describe(view, self.read(known), self.field, self.agents, steps)

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return what a food takes, and the steps to it for a forager."""
        state = self.read(facts)
        cell = self.field.cell(goal.thing) if isinstance(goal.thing, Entity) else (-1, -1)
        if cell not in state.foods:
            return super().describe_goal(goal, agent, facts)

        def steps() -> int:
            return self.estimate_steps(agent, self._load(cell), facts)

        return tell_goal(goal, state.foods[cell], agent, self.agents, state, steps)
