"""The rules that everybody knows: goals, options, candidate plans, preconditions, expected effects, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import dist

from teamworld.errors import UserError, suggest
from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Facts, GoalId, Measures, Plan, Relation
from teamworld.worlds.contract import POSSIBLE, WAIT, Domain, Goal, ImpossibleFacts, Option, Verdict, View
from teamworld.worlds.wildfire import heuristic
from teamworld.worlds.wildfire.beliefs import WildfireBeliefs, WildfireDanger
from teamworld.worlds.wildfire.candidate_plans import candidate_plans
from teamworld.worlds.wildfire.goals import goals_in
from teamworld.worlds.wildfire.skills import (
    MEASURES,
    cell_of,
    estimate_ticks,
    expected_state,
    is_near,
    schemas,
    thing_of,
)
from teamworld.worlds.wildfire.state import SEATS, TANK
from teamworld.worlds.wildfire.symbolic_state import (
    BOARDING_REACH,
    RELATIONS,
    SPRAY_REACH,
    WALKERS,
    AgentState,
    Mission,
    SymbolicState,
    expected_facts,
    state_of,
)

#: Options name at most so many things of a sort, the nearest.
FEW = 12
NO_FIRE_NEAR = "not_near: no fire within three cells"


class WildfireDomain(Domain):
    """``contract.Domain`` for wildfire; pure, everything is computed from the facts and the mission.

    With the facts of a view comes what was seen of the ground, cell by cell: ways are estimated and firebreaks laid
    by it. Facts of other origin do without.

    Args:
        mission: The task and the rules of reach.
    """

    def __init__(self, mission: Mission) -> None:
        self.mission = mission
        self._beliefs = WildfireBeliefs(mission, self._by_id)
        self._danger = WildfireDanger(mission)

    @property
    def relations(self) -> Sequence[Relation]:
        """What facts can state."""
        return RELATIONS

    @property
    def measures(self) -> Measures:
        """No parameter counts in a measure of a goal."""
        return MEASURES

    @property
    def beliefs(self) -> WildfireBeliefs:
        """What agents may know and believe."""
        return self._beliefs

    @property
    def danger(self) -> WildfireDanger:
        """When fire harms agents."""
        return self._danger

    def _state(self, facts: Facts) -> SymbolicState:
        """Return the state that facts describe, if it can be one of this mission.

        Raises:
            ImpossibleFacts: There is no such agent or sector, or a number of trees or of water is not whole.
        """
        state = state_of(facts)
        if not state.agents.keys() <= self.mission.kinds.keys():
            raise ImpossibleFacts(f"agents are {', '.join(self.mission.kinds)}, got {', '.join(state.agents)}")
        if not state.unseen.keys() <= state.sectors.keys():
            raise ImpossibleFacts("the facts do not tell where each sector is of which a part was not seen")
        return state

    def abilities(self, agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what an agent's kind can do."""
        state, kind = self._state(facts), self.mission.kinds[agent]
        return state.derived(("abilities", kind), lambda: schemas(kind, self.mission, state))

    def goals(self, facts: Facts) -> Sequence[Goal]:
        """Return the goals of the task, those to be discovered once they are known."""
        state = self._state(facts)
        return state.derived("goals", lambda: goals_in(self.mission, state))

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return what makes sense now: work at hand, ways to work, ways to look around, waiting."""
        state = self._state(facts)
        if agent not in state.agents:
            return [Option(WAIT, None, 1)]
        kind = self.mission.kinds[agent]
        proposals = {"firefighter": self._on_foot, "bulldozer": self._driving}.get(kind, self._flying)(
            agent, state, facts
        )
        options: dict[Action, GoalId | None] = {}
        for action, goal in (*proposals, *self._ways(agent, state, facts), (WAIT, None)):
            if action not in options and self.check_now(agent, action, facts).ok:
                options[action] = goal
        return [Option(act, goal, estimate_ticks(agent, act, self.mission, state)) for act, goal in options.items()]

    def _open(self, facts: Facts, *kinds: str) -> list[Goal]:
        return [goal for goal in self.goals(facts) if goal.state == "open" and goal.kind in kinds and goal.thing]

    def _on_foot(self, agent: AgentId, state: SymbolicState, facts: Facts) -> Iterator[tuple[Action, GoalId | None]]:
        body = state.agents[agent]
        cuts = self._open(facts, "cut")
        for goal in self._nearest(cuts, body.at, state):
            if goal.thing is not None and any(spot.at == body.at for spot in state.spots(goal.thing)):
                yield Action("cut_all"), goal.id
                yield from ((Action("cut", (count,)), goal.id) for count in range(1, (body.trees or 1)))
            if goal.thing is not None:
                yield Action("go_to", (goal.thing,)), goal.id
        for goal in self._open(facts, "rescue", "guard"):
            members = state.members(goal.thing.id if goal.thing else 0)
            mine = body.holds in members
            if mine:
                yield Action("drop_off"), goal.id
            if mine and state.zone is not None:
                yield Action("go_to", (Entity("zone", 0),)), goal.id
            if body.holds is None and goal.thing is not None:
                near = state.nearest_free(body.at, self.mission.lift_reach)
                if near in members:
                    yield Action("pick_up"), goal.id
                yield Action("go_to", (goal.thing,)), goal.id
        for goal in self._open(facts, "transport"):
            yield Action("go_to", (Entity("zone", 0),)), goal.id
            helicopters = [teammate for teammate in state.agents if self.mission.kinds[teammate] == "helicopter"]
            yield from ((Action("go_to", (teammate,)), goal.id) for teammate in helicopters)
        yield from self._fighting(agent, state, facts, "spray_at")
        fires = self._open(facts, "suppress")
        if fires and body.trees:
            yield Action("cut_all"), fires[0].id
        for goal in fires:
            for plan in candidate_plans(self.mission, state, agent, goal):
                first = next((act for act in plan if act.verb == "move_to"), None)
                if first is not None:
                    yield first, goal.id

    def _driving(self, agent: AgentId, state: SymbolicState, facts: Facts) -> Iterator[tuple[Action, GoalId | None]]:
        at = state.agents[agent].at
        for goal in self._nearest(self._open(facts, "cut"), at, state):
            if goal.thing is None:
                continue
            yield Action("go_to", (goal.thing,)), goal.id
            left = [spot.at for spot in state.spots(goal.thing) if spot.trees]
            if left and at in (spot.at for spot in state.spots(goal.thing)):
                yield Action("clear_to", (max(left, key=lambda cell: (dist(cell, at), cell)),)), goal.id
        for goal in self._open(facts, "suppress"):
            for plan in candidate_plans(self.mission, state, agent, goal):
                yield from ((act, goal.id) for act in plan if act.verb in ("move_to", "clear_to"))

    def _flying(self, agent: AgentId, state: SymbolicState, facts: Facts) -> Iterator[tuple[Action, GoalId | None]]:
        for goal in self._open(facts, "scout"):
            if goal.thing is not None:
                yield Action("go_to", (goal.thing,)), goal.id
                if is_near(agent, goal.thing, self.mission, state):
                    yield WAIT, goal.id
        if self.mission.kinds[agent] != "helicopter":
            return
        transports = self._open(facts, "transport", "suppress")
        goal_id = transports[0].id if transports else None
        yield Action("set_down"), goal_id
        yield Action("take_aboard"), goal_id
        for goal in self._open(facts, "transport"):
            yield Action("go_to", (Entity("zone", 0),)), goal.id
            firefighters = [teammate for teammate in state.agents if self.mission.kinds[teammate] == "firefighter"]
            yield from ((Action("go_to", (teammate,)), goal.id) for teammate in firefighters[:FEW])
        yield from self._fighting(agent, state, facts, "release")

    def _fighting(
        self, agent: AgentId, state: SymbolicState, facts: Facts, pour: str
    ) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield what water is good for."""
        for goal in self._open(facts, "suppress"):
            if goal.thing is None:
                continue
            yield Action(pour, () if pour == "release" else (goal.thing,)), goal.id
            yield Action("refill"), goal.id
            if state.agents[agent].water < TANK:
                yield from ((Action("go_to", (Entity("water", number),)), goal.id) for number in state.water)
            yield Action("go_to", (goal.thing,)), goal.id

    def _ways(self, agent: AgentId, state: SymbolicState, facts: Facts) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield ways to look around and ways out."""
        at = state.agents[agent].at
        search = "search" if self._open(facts, "search") else None
        for number in sorted(state.unseen, key=lambda n: (dist(state.sectors[n], at), n))[:FEW]:
            yield Action("go_to", (Entity("sector", number),)), search
        for plan in list(candidate_plans(self.mission, state, agent, None))[:1]:
            yield from ((act, None) for act in plan if act.verb == "move_to")

    def _nearest(self, goals: list[Goal], at: Cell, state: SymbolicState) -> list[Goal]:
        def far(goal: Goal) -> tuple[float, str]:
            place = state.place(goal.thing, at) if goal.thing is not None else None
            return (1e9 if place is None else dist(place, at), goal.id)

        return sorted(goals, key=far)[:FEW]

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans that make sense for a goal, at least one for each of use; without one, plans to keep clear.

        Raises:
            UserError: The agent's kind cannot work on the goal.
        """
        if goal is not None and goal.kinds and self.mission.kinds[agent] not in goal.kinds:
            kind = self.mission.kinds[agent]
            raise UserError(f"{goal.id} is for {' or '.join(goal.kinds)}, and {agent} is a {kind}")
        state = self._state(facts)
        if agent not in state.agents:
            return [Plan((WAIT,), None if goal is None else goal.id)]
        plans = dict.fromkeys(candidate_plans(self.mission, state, agent, goal))
        return [Plan(actions, None if goal is None else goal.id) for actions in plans]

    def check(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether an action's preconditions hold, for a step of a plan.

        Generous: where an agent will stand and what it will see there nobody knows; see ``check_now``.
        """
        state, verbs = self._state(facts), {schema.verb: schema for schema in self.abilities(agent, facts)}
        if action.verb not in verbs:
            return Verdict(False, f"illegal: there is no action '{action.verb}'{suggest(action.verb, list(verbs))}")
        try:
            whole = verbs[action.verb].complete(action)
        except UserError as error:
            return Verdict(False, f"illegal: {error}")
        body = state.agents.get(agent)
        if whole.verb in ("wait", "talk") or body is None:
            return POSSIBLE
        if body.aboard is not None:
            return Verdict(False, f"aboard: {agent} rides {body.aboard}")
        if whole.verb in ("move_to", "step_toward", "clear_to", "go_to", "fell"):
            return self._check_way(agent, whole, state)
        return self._check_act(agent, whole, state)

    def check_now(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether an action can be done now: what is of no use is refused, too, which costs nothing."""
        verdict, state = self.check(agent, action, facts), self._state(facts)
        body = state.agents.get(agent)
        if body is None or not (verdict.ok or verdict.word == "fire"):
            return verdict
        verb = action.verb
        if verb in ("move_to", "step_toward", "clear_to") and cell_of(action) == body.at:
            return verdict if verb == "clear_to" and body.trees else Verdict(False, "already_there")
        if verb == "go_to" and is_near(agent, thing_of(action), self.mission, state):
            return Verdict(False, "already_there")
        if verb in ("cut", "cut_all") and self.mission.careful and state.dangerous(body.at):
            return Verdict(False, "fire: it burns beside you")
        if verb == "spray_at":
            place = state.place(thing_of(action), body.at)
            if place is not None and dist(place, body.at) > SPRAY_REACH:
                return Verdict(False, NO_FIRE_NEAR)
        return verdict

    def _check_way(self, agent: AgentId, action: Action, state: SymbolicState) -> Verdict:
        at, kind = state.agents[agent].at, self.mission.kinds[agent]
        if action.verb == "fell":
            aim = thing_of(action)
            left = isinstance(aim, Entity) and any(spot.trees for spot in state.spots(aim))
            return POSSIBLE if left else Verdict(False, "no_tree: all is cut")
        if action.verb == "go_to":
            aim = thing_of(action)
            if state.place(aim, at) is None:
                return Verdict(False, "unknown_place: nobody knows where it is")
            return POSSIBLE
        place = cell_of(action)
        if kind in WALKERS and self.mission.careful and state.dangerous(place) and action.verb != "step_toward":
            return Verdict(False, "fire: it burns there, or beside it")
        return POSSIBLE

    def _check_act(self, agent: AgentId, action: Action, state: SymbolicState) -> Verdict:
        body, verb = state.agents[agent], action.verb
        if verb in ("cut", "cut_all"):
            if body.trees == 0:
                return Verdict(False, "no_tree: there is none on your cell")
            return POSSIBLE
        if verb == "pick_up":
            if body.holds is not None:
                return Verdict(False, "full_hands")
            near = state.nearest_free(body.at, self.mission.lift_reach) is not None
            return POSSIBLE if near else Verdict(False, "nobody_near")
        if verb == "drop_off":
            return POSSIBLE if body.holds is not None else Verdict(False, "empty_hands")
        if verb in ("spray", "spray_at", "release"):
            return self._check_pouring(body, action, state)
        if verb == "refill":
            return self._check_refill(agent, state)
        if verb == "take_aboard":
            return self._check_boarding(agent, state)
        return POSSIBLE if state.riders(agent) else Verdict(False, "empty: nobody is aboard")

    def _check_pouring(self, body: AgentState, action: Action, state: SymbolicState) -> Verdict:
        if not body.water:
            return Verdict(False, "no_water")
        if action.verb == "spray_at":
            fire = thing_of(action)
            if isinstance(fire, Entity) and state.fires[fire.id].out:
                return Verdict(False, "no_fire: it is out")
            if state.place(fire, body.at) is None:
                return Verdict(False, NO_FIRE_NEAR)
        return POSSIBLE

    def _check_refill(self, agent: AgentId, state: SymbolicState) -> Verdict:
        body, reach = state.agents[agent], self.mission.fill_reach
        if body.water == TANK:
            return Verdict(False, "full")
        if state.riders(agent):
            return Verdict(False, "has_passengers")
        near = any(dist(cell, body.at) <= reach for cell in state.water.values())
        return POSSIBLE if near else Verdict(False, "not_at_water")

    def _check_boarding(self, agent: AgentId, state: SymbolicState) -> Verdict:
        body, riders = state.agents[agent], len(state.riders(agent))
        if body.water:
            return Verdict(False, "has_water")
        if riders >= SEATS:
            return Verdict(False, "full")
        near = any(
            self.mission.kinds[teammate] == "firefighter"
            and body_beside.aboard is None
            and dist(body_beside.at, body.at) < BOARDING_REACH
            for teammate, body_beside in state.agents.items()
        )
        return POSSIBLE if near else Verdict(False, "nobody_near")

    def predict(self, agent: AgentId, action: Action, facts: Facts) -> Facts:
        """Return what to expect after an action that succeeds, teammates playing their part."""
        state = self._state(facts)
        if action.verb in ("wait", "talk") or agent not in state.agents or not self.check(agent, action, facts).ok:
            return facts
        whole = next(s for s in self.abilities(agent, facts) if s.verb == action.verb).complete(action)
        return expected_facts(expected_state(agent, whole, self.mission, state))

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated timesteps of an action, at least 1."""
        return estimate_ticks(agent, action, self.mission, self._state(facts))

    def _by_id(self, facts: Facts) -> Mapping[GoalId, Goal]:
        return self._state(facts).derived("by id", lambda: {goal.id: goal for goal in self.goals(facts)})

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return the scripted team's plans for the agents that are able and have none; see ``heuristic``."""
        return heuristic.scripted_plans(self.mission, views, running)
