"""The rules that everybody knows: goals, options, candidate plans, preconditions, expected effects, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import dist
from typing import TypeAlias

from teamworld.errors import UserError
from teamworld.language import (
    Action,
    ActionSchema,
    AgentId,
    Entity,
    Facts,
    GoalId,
    Measures,
    Plan,
    Relation,
    plain,
    show,
)
from teamworld.worlds.base.domain import check_form
from teamworld.worlds.base.executor import complete_action
from teamworld.worlds.contract import POSSIBLE, WAIT, Domain, Goal, ImpossibleFacts, Option, Verdict, View
from teamworld.worlds.wildfire import heuristic
from teamworld.worlds.wildfire.beliefs import WildfireBeliefs
from teamworld.worlds.wildfire.candidate_plans import candidate_plans, go_to, is_search_over
from teamworld.worlds.wildfire.firebreaks import enclosed_ground, firebreak
from teamworld.worlds.wildfire.goal_text import goal_text
from teamworld.worlds.wildfire.goals import goals_in
from teamworld.worlds.wildfire.skills import (
    IDLE,
    MEASURES,
    cell_of,
    cut_before,
    estimate_ticks,
    expected_state,
    explain,
    is_near,
    schemas,
    thing_of,
    whereabouts,
)
from teamworld.worlds.wildfire.state import SEATS, TANK
from teamworld.worlds.wildfire.symbolic_state import (
    BOARDING_REACH,
    DROP_REACH,
    RELATIONS,
    SPRAY_REACH,
    WALKERS,
    AgentState,
    Mission,
    SymbolicState,
    expected_facts,
    state_of,
)

#: An action for a goal.
Proposal: TypeAlias = tuple[Action, GoalId | None]

ZONE = Entity("zone", 0)

#: Options name at most so many things of a sort, the nearest.
FEW = 12


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
    def danger(self) -> WildfireBeliefs:
        """When fire harms agents."""
        return self._beliefs

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
        return state.derived(("options", agent), lambda: self._options(agent, state, facts))

    def _options(self, agent: AgentId, state: SymbolicState, facts: Facts) -> Sequence[Option]:
        if agent not in state.agents:
            return [Option(WAIT, None, 1)]
        proposers = {"firefighter": self._on_foot, "bulldozer": self._driving}
        proposals = proposers.get(self.mission.kinds[agent], self._flying)(agent, state)
        options: dict[Action, GoalId | None] = {}
        for action, goal in (*proposals, *self._searching(agent, state), (WAIT, None)):
            if action not in options and self.check_now(agent, action, facts).ok:
                options[action] = goal
        listed = [Option(act, goal, estimate_ticks(agent, act, self.mission, state)) for act, goal in options.items()]
        return sorted(listed, key=lambda option: (option.action == WAIT, option.goal is None, option.steps))

    def _open(self, state: SymbolicState, *kinds: str) -> list[tuple[Goal, Entity]]:
        """Return the open goals of some kinds, with what they are about."""
        goals = state.derived("goals", lambda: goals_in(self.mission, state))
        return [(goal, goal.thing) for goal in goals if goal.state == "open" and goal.kind in kinds and goal.thing]

    def _on_foot(self, agent: AgentId, state: SymbolicState) -> Iterator[Proposal]:
        body = state.agents[agent]
        for goal, thing in self._nearest_cuts(agent, state):
            yield Action("fell", (thing,)), goal.id
            if len(state.spots(thing)) > 1 and any(spot.at == body.at for spot in state.spots(thing)):
                yield Action("cut_all"), goal.id
        for goal, cluster in self._open(state, "rescue", "guard"):
            members = state.members(cluster.id)
            if body.holds in members:
                if goal.kind == "guard" or state.in_zone(body.at):  # elsewhere it would be free again
                    yield Action("drop_off"), goal.id
                if state.zone is not None:
                    yield go_to(ZONE), goal.id
            if body.holds is None:
                if state.nearest_free(body.at, self.mission.lift_reach) in members:
                    yield Action("pick_up"), goal.id
                yield go_to(cluster), goal.id
                free = [
                    (dist(body.at, person.at), number)
                    for number, person in members.items()
                    if person.state == "free" and person.at is not None
                ]
                yield from ((go_to(Entity("civilian", number)), goal.id) for _, number in sorted(free)[1:FEW])
            if state.place(cluster, body.at) is None:
                for plan in candidate_plans(self.mission, state, agent, goal):
                    yield from ((act, goal.id) for act in plan[:1] if act.verb == "move_to")
        for goal, zone in self._open(state, "transport"):
            yield go_to(zone), goal.id
            yield from ((go_to(helicopter), goal.id) for helicopter in self.mission.present(state, "helicopter"))
        if self.mission.pours:
            yield from self._fighting(agent, state, "spray_at")
        yield from self._ring(agent, state)

    def _driving(self, agent: AgentId, state: SymbolicState) -> Iterator[Proposal]:
        at = state.agents[agent].at
        for goal, thing in self._nearest_cuts(agent, state):
            yield Action("fell", (thing,)), goal.id
            left = state.uncut(thing)
            if len(left) > 1 and at in (spot.at for spot in state.spots(thing)):
                yield Action("cut_line", (max(left, key=lambda cell: (dist(cell, at), cell)),)), goal.id
        yield from self._ring(agent, state)

    def _ring(self, agent: AgentId, state: SymbolicState) -> Iterator[Proposal]:
        """Yield where an agent could begin to cut a ring round a fire, and what it could cut from where it stands."""
        at = state.agents[agent].at
        for goal, fire in self._open(state, "suppress"):
            for plan in candidate_plans(self.mission, state, agent, goal):
                yield from ((act, goal.id) for act in plan[:1] if act.verb in ("move_to", "cut_line", "idle"))
            ring = firebreak(self.mission, state, fire.id)
            if ring is not None and any(abs(x - at[0]) <= 1 and abs(y - at[1]) <= 1 for x, y in ring.cells):
                yield Action("cut_all"), goal.id

    def _flying(self, agent: AgentId, state: SymbolicState) -> Iterator[Proposal]:
        for goal, fire in self._open(state, "scout"):
            yield go_to(fire), goal.id
            if is_near(agent, fire, self.mission, state):
                yield WAIT, goal.id
        if self.mission.kinds[agent] != "helicopter":
            return
        flights = self._open(state, "transport", "suppress")
        goal_id = flights[0][0].id if flights else None
        if self.mission.agents("firefighter"):
            yield Action("set_down"), goal_id
            yield Action("take_aboard"), goal_id
        for goal, zone in self._open(state, "transport"):
            yield go_to(zone), goal.id
            yield from ((go_to(name), goal.id) for name in self.mission.present(state, "firefighter")[:FEW])
        if self.mission.pours:
            yield from self._fighting(agent, state, "release")

    def _fighting(self, agent: AgentId, state: SymbolicState, pour: str) -> Iterator[Proposal]:
        """Yield what water is good for."""
        for goal, fire in self._open(state, "suppress"):
            if not state.water and enclosed_ground(self.mission, state, fire.id) is not None:
                continue
            if pour == "spray_at":
                yield Action(pour, (fire,)), goal.id
            elif any(dist(cell, state.agents[agent].at) <= DROP_REACH for cell in state.fires[fire.id].cells):
                yield Action(pour), goal.id
            yield Action("refill"), goal.id
            if state.agents[agent].water < TANK:
                yield from ((go_to(Entity("water", number)), goal.id) for number in state.water)
            yield go_to(fire), goal.id

    def _searching(self, agent: AgentId, state: SymbolicState) -> Iterator[Proposal]:
        """Yield ways to look around and ways out."""
        at = state.agents[agent].at
        search = "search" if self._open(state, "search") else None
        unseen = () if is_search_over(self.mission, state) else state.unseen
        for number in sorted(unseen, key=lambda n: (dist(state.search_place(n), at), n))[:FEW]:
            yield go_to(Entity("sector", number)), search
        for plan in islice(candidate_plans(self.mission, state, agent, None), 1):
            yield from ((act, None) for act in plan if act.verb == "move_to")

    def _nearest_cuts(self, agent: AgentId, state: SymbolicState) -> list[tuple[Goal, Entity]]:
        at = state.agents[agent].at

        def rank(pair: tuple[Goal, Entity]) -> tuple[float, str]:
            place = state.place(pair[1], at)
            return (1e9 if place is None else dist(place, at), pair[0].id)

        left = (pair for pair in self._open(state, "cut") if not cut_before(agent, pair[1], self.mission, state))
        return sorted(left, key=rank)[:FEW]

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return how a goal stands for an agent, in a line of words."""
        return goal_text(goal, agent, self.mission, self._state(facts))

    def ends_plan(self, action: Action, reason: str) -> bool:
        """Return whether nobody was there to be picked up: what follows would carry nobody."""
        aim = action.args[0] if action.args else None
        is_there = isinstance(aim, Entity) and aim.kind in ("civilian", "cluster")
        return action.verb == "pick_up" or (action.verb == "go_to" and is_there)

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
        state, schemas = self._state(facts), self.abilities(agent, facts)
        verdict = check_form(action, schemas)
        if not verdict.ok:
            return verdict
        whole = complete_action(action, schemas)
        body = state.agents.get(agent)
        if whole.verb in IDLE or body is None:
            return POSSIBLE
        if body.aboard is not None:
            return Verdict(False, f"aboard: {agent} rides {body.aboard}")
        obstacle = self._obstacle(agent, body, whole, state)
        return Verdict(False, obstacle) if obstacle else POSSIBLE

    def check_now(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether an action can be done now: what is of no use is refused, too, which costs nothing."""
        verdict, state = self.check(agent, action, facts), self._state(facts)
        body = state.agents.get(agent)
        if body is None or not (verdict.ok or verdict.word == "fire"):
            return verdict
        verb = action.verb
        if verb in ("move_to", "step_toward", "cut_line") and cell_of(action) == body.at:
            return verdict if verb == "cut_line" and body.trees else Verdict(False, explain("already_there"))
        if verb == "go_to" and is_near(agent, thing_of(action), self.mission, state):
            return Verdict(False, explain("already_there"))
        if verb in ("cut", "cut_all") and self.mission.careful and state.dangerous(body.at):
            return Verdict(False, explain("fire"))
        if verb == "spray_at":
            place = state.place(thing_of(action), body.at)
            if place is not None and dist(place, body.at) > SPRAY_REACH:
                return Verdict(False, explain("not_near"))
        return verdict

    def _obstacle(self, agent: AgentId, body: AgentState, action: Action, state: SymbolicState) -> str:
        """Return what makes an action impossible, in one of the world's words; empty if nothing does."""
        match action.verb:
            case "fell":
                return "" if state.uncut(thing_of(action)) else f"no_tree: all of {plain(thing_of(action))} is cut"
            case "go_to":
                place = state.place(thing_of(action), body.at)
                return f"unknown_place: {whereabouts(thing_of(action), state)}" if place is None else ""
            case "move_to" | "cut_line":
                walks = self.mission.kinds[agent] in WALKERS and self.mission.careful
                hot = walks and state.dangerous(cell_of(action))
                return f"fire: it burns at {show(cell_of(action))} or beside it" if hot else ""
        word = self._obstacle_here(agent, body, action, state)
        return explain(word, action.verb) if word else ""

    def _obstacle_here(self, agent: AgentId, body: AgentState, action: Action, state: SymbolicState) -> str:
        """Return the word for what makes an action impossible that is done where the agent stands."""
        match action.verb:
            case "cut" | "cut_all":
                return "no_tree" if body.trees == 0 else ""
            case "pick_up":
                if body.holds is not None:
                    return "full_hands"
                return "nobody_near" if state.nearest_free(body.at, self.mission.lift_reach) is None else ""
            case "drop_off":
                return "empty_hands" if body.holds is None else ""
            case "spray" | "spray_at" | "release":
                return self._pouring_obstacle(body, action, state)
            case "refill":
                if body.water == TANK or state.riders(agent):
                    return "full" if body.water == TANK else "has_passengers"
                near = any(dist(cell, body.at) <= self.mission.fill_reach for cell in state.water.values())
                return "" if near else "not_at_water"
            case "take_aboard":
                if body.water or len(state.riders(agent)) >= SEATS:
                    return "has_water" if body.water else "full"
                on_foot = [state.agents[name] for name in self.mission.present(state, "firefighter")]
                near = any(other.aboard is None and dist(other.at, body.at) < BOARDING_REACH for other in on_foot)
                return "" if near else "nobody_near"
            case "set_down":
                return "" if state.riders(agent) else "empty"
        return ""

    def _pouring_obstacle(self, body: AgentState, action: Action, state: SymbolicState) -> str:
        if not body.water:
            return "no_water"
        if action.verb == "spray_at":
            fire = thing_of(action)
            if isinstance(fire, Entity) and state.fires[fire.id].out:
                return "no_fire"
            if state.place(fire, body.at) is None:
                return "not_near"
        return ""

    def predict(self, agent: AgentId, action: Action, facts: Facts) -> Facts:
        """Return what to expect after an action that succeeds, teammates playing their part."""
        state = self._state(facts)
        if action.verb in IDLE or agent not in state.agents or not self.check(agent, action, facts).ok:
            return facts
        whole = complete_action(action, self.abilities(agent, facts))
        return expected_facts(expected_state(agent, whole, self.mission, state))

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated steps of an action, at least 1; 1 where its arguments do not fit its schema."""
        state = self._state(facts)
        try:
            return estimate_ticks(agent, action, self.mission, state)
        except UserError:
            return 1

    def _by_id(self, facts: Facts) -> Mapping[GoalId, Goal]:
        return self._state(facts).derived("by id", lambda: {goal.id: goal for goal in self.goals(facts)})

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return the scripted team's plans for the agents that are able and have none; see ``heuristic``."""
        return heuristic.scripted_plans(self.mission, views, running)
