"""The public rules of CUBE: goals, options, candidate plans, preconditions, effects, costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, Cell, Facts, GoalId, Measures, Plan, Relation
from teamworld.worlds.contract import WAIT, Domain, Goal, ImpossibleFacts, Option, Verdict, View, describe_goal
from teamworld.worlds.cube import actions, candidate_plans, geometry, heuristic, text
from teamworld.worlds.cube.actions import (
    MEASURES,
    ActionSchemas,
    Controller,
    Timeouts,
    block_of,
    count_of,
    schemas,
    word_of,
)
from teamworld.worlds.cube.approach import find_jam, wait_for_others, way_to_face
from teamworld.worlds.cube.array_rules import CubeArrays
from teamworld.worlds.cube.beliefs import CubeBeliefs, possible_state
from teamworld.worlds.cube.candidate_plans import ASIDE
from teamworld.worlds.cube.exploration import exploration_plans, shared_searches
from teamworld.worlds.cube.push_path import can_be_delivered, meetings, obstruction, pushers_of, reach
from teamworld.worlds.cube.symbolic_state import (
    DELTA,
    OPPOSITE,
    SIDES,
    SymbolicState,
    entity,
    goal_name,
    once_per_blocks,
    once_per_state,
    read_state,
)

#: What facts of CUBE can state.
RELATIONS = (
    Relation("SIDE", "grid", ("number",), role="map"),
    Relation("AT", "agent", ("cell",), role="at"),
    Relation("AT", "block", ("cell",)),
    Relation("WEIGHT", "block", ("number",)),
    Relation("STATE", "block", ("free", "delivered")),
    Relation("UNSEEN", "area", ("cell",), role="map"),
)


class CubeDomain(Domain):
    """``contract.Domain`` for CUBE; pure, everything is computed from facts.

    Args:
        timeouts: Which default time-outs hold.
        view_radius: How far agents see, in cells; None if they see everything.
        weights: Of all blocks, by id, which everybody was told; empty if nobody was.
        side: Of the grid, which everybody was told; None if nobody was.
        controller: Whether a failed line-up ends a plan.
    """

    def __init__(
        self,
        timeouts: Timeouts = "spec",
        view_radius: int | None = None,
        weights: Sequence[int] = (),
        side: int | None = None,
        controller: Controller = "spec",
    ) -> None:
        self.radius = view_radius
        """How far agents see, in rows and columns; None if they see everything."""
        self._timeouts: Timeouts = timeouts
        self._controller: Controller = controller
        self._beliefs = CubeBeliefs(tuple(weights), side, view_radius)
        self._schemas = cache(partial(schemas, timeouts, controller))
        self._arrays = None if side is None else CubeArrays(side, view_radius)

    @property
    def relations(self) -> Sequence[Relation]:
        """Places, weights and states; ground not yet seen where sight is limited."""
        return RELATIONS

    @property
    def measures(self) -> Measures:
        """``push_block``'s steps count in units, ``rendezvous``' count in the quorum."""
        return MEASURES

    @property
    def arrays(self) -> CubeArrays | None:
        """What agents observe and do, in numbers."""
        return self._arrays

    @property
    def beliefs(self) -> CubeBeliefs:
        """What agents may know and believe."""
        return self._beliefs

    def _state(self, facts: Facts) -> SymbolicState:
        """Return the state that facts describe.

        Raises:
            ImpossibleFacts: They describe none, or something is outside the grid.
        """
        return facts.derive(_whole_state)

    def _state_of(self, agent: AgentId, facts: Facts) -> SymbolicState:
        """Return the state, in which the agent stands somewhere.

        Raises:
            ImpossibleFacts: The facts describe no state, or do not tell where the agent is.
        """
        state = self._state(facts)
        if agent not in state.agents:
            raise ImpossibleFacts(f"the facts do not tell where {agent} is")
        return state

    def abilities(self, agent: AgentId, facts: Facts) -> Sequence[ActionSchema]:
        """Return all actions, with the blocks that can be acted on."""
        return tuple(self.schemas(self._state(facts)).values())

    def schemas(self, state: SymbolicState) -> ActionSchemas:
        """Return the schemas by verb, with the blocks that can be acted on in a state."""
        return self._schemas(state.block_map.open_ids, state.team, state.side)

    def goals(self, facts: Facts) -> Sequence[Goal]:
        """Return one goal for each known block, by id."""
        return make_goals(self._state(facts))

    def options(self, agent: AgentId, facts: Facts) -> Sequence[Option]:
        """Return actions that make sense: lining up at a face, making room there, pushing, meeting; then others.

        Blocks that something on their way stops come last. The others: looking for what nobody has found, moving out
        of the way, waiting.

        Raises:
            ImpossibleFacts: The facts do not tell where the agent is.
        """
        state, radius = self._state_of(agent, facts), self.radius
        looks = radius is not None and self._beliefs.is_searching(state)
        return _options(state, agent, self.schemas(state), radius if looks else None)

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans for a goal, or for an agent that is not needed; see ``candidate_plans``.

        Raises:
            UserError: The goal is not about a known, open block.
        """
        state = self._state_of(agent, facts)
        if goal is None:
            return candidate_plans.standby_plans(state, agent, self.radius)
        block = goal.thing.id if goal.thing is not None else -1
        if block not in state.blocks or state.blocks[block].delivered:
            raise UserError(f"plans are made for blocks that are known and not delivered, not for {goal.id}")
        return candidate_plans.delivery_plans(state, block, agent, self.schemas(state))

    def check(self, agent: AgentId, action: Action, facts: Facts, *, planning: bool = True) -> Verdict:
        """Return whether an action's preconditions hold; see ``actions.check_action``."""
        state = self._state_of(agent, facts)
        return actions.check_action(state, agent, action, self.schemas(state), planning=planning)

    def predict(self, agent: AgentId, action: Action, facts: Facts) -> Facts:
        """Return what to expect after an action that succeeds, teammates playing their part.

        An action that does not fit its schema changes nothing.
        """
        state = self._state_of(agent, facts)
        try:
            whole = self.schemas(state).complete(action)
        except UserError:
            return facts
        then = candidate_plans.expected_state(state, agent, whole)
        return facts if then is state else then.facts

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated steps of an action, at least 1."""
        state = self._state(facts)
        return _estimate_steps(state, agent, action, self.schemas(state))

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return how a block's delivery stands for an agent, in a line of words; see ``text.describe_goal``."""
        state = self._state_of(agent, facts)
        block = goal.thing.id if goal.thing is not None else -1
        if block not in state.blocks or state.blocks[block].delivered:
            return describe_goal(goal)
        return text.describe_goal(state, block, agent)

    def ends_plan(self, action: Action, reason: str) -> bool:
        """Return whether an agent is not lined up as its plan has it, so that a push would go another way.

        A block that is gone needs no line-up: the plan may go on with another one. Who waited in vain for partners
        stands where it should.
        """
        failed_line_up = action.verb == "move_to_block" and reason != "block_gone"
        is_elsewhere = action.verb == "rendezvous" and reason == "not_aligned"
        return self._controller == "spec" and (failed_line_up or is_elsewhere)

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return the greedy team's plans when all have finished, which they have when the block is gone.

        All get the same plan for the block nearest to the goal. Without a known block, agents that do
        not see everything go and look.
        """
        if not views or running:
            return {}
        view = next(iter(views.values()))
        state = self._state(view.known)
        plan = heuristic.greedy_plan(state)
        if plan is not None:
            return dict.fromkeys(views, plan)
        if self.radius is None:
            return {}
        looks = {agent: exploration_plans(state, agent, self.radius) for agent in views}
        return {agent: plans[i % len(plans)] for i, (agent, plans) in enumerate(looks.items()) if plans}


def _whole_state(facts: Facts) -> SymbolicState:
    state = read_state(facts)
    if possible_state(facts) is not state:
        raise ImpossibleFacts(f"agents, blocks and areas are to be inside a grid of side {state.side}")
    return state


@once_per_state
def _options(state: SymbolicState, agent: AgentId, known: ActionSchemas, radius: int | None) -> tuple[Option, ...]:
    """Return the options of an agent; with a radius also the nearest searches of one that sees so far."""
    chosen: dict[Action, GoalId | None] = {}
    team = state.team
    blocks = [block for block, _ in state.open_blocks]
    for block in sorted(blocks, key=lambda block: obstruction(state, block, "right", team) is not None):
        for action, goal in _on_block(state, agent, block):
            chosen.setdefault(_with_time(state, agent, action, known), goal)
    if radius is not None:
        for search in shared_searches(state, agent, radius):
            chosen.setdefault(search.actions[0], None)
    at = state.agents[agent]
    is_lined_up = any(action.verb in ("push_block", "rendezvous") for action in chosen)
    in_the_way = candidate_plans.lanes(state) if is_lined_up else candidate_plans.busy_cells(state)
    for side, cells in _ways_out(state, at, in_the_way).items():
        chosen.setdefault(Action("move", (side, cells)), None)
    chosen[Action("idle", (1,))] = None
    return tuple(
        Option(
            action,
            goal,
            _estimate_option(state, agent, action, known),
            is_work=action.verb in ("push_block", "rendezvous"),
            purpose="to be out of the way" if goal is None and action.verb == "move" else "",
        )
        for action, goal in chosen.items()
    )


def _on_block(state: SymbolicState, agent: AgentId, block: int) -> Iterator[tuple[Action, GoalId]]:
    """Yield the actions of an agent on a block that get a block nearer to its delivery, each with that block's goal.

    Who shuts out those whom a push lacks makes room before it waits for them. Nobody is to be waited for where
    something stops the block that nobody is about to push on.
    """
    thing, aligned_face = entity(block), geometry.face_of(state, agent, block)
    for face, (cells, goal) in _useful_pushes(state, block).items():
        if face != aligned_face:
            if geometry.staging_cells(state, block, face) and actions.can_reach_face(state, agent, block, face):
                yield Action("move_to_block", (thing, face)), goal
            yield from ((action, goal) for action in _line_ups(state, agent, block, face))
            continue
        jam, need = find_jam(state, block, face), geometry.chain_weight(state, block, face)
        if jam is None:
            there = len(geometry.aligned_agents(state, block, face))
            heavier = (met.after for met in meetings(state, block, OPPOSITE[face]) if met.need > max(need, there))
            yield Action("push_block", (thing, min(cells, next(filter(None, heavier), cells)))), goal
        elif jam.agent == agent:
            yield Action("move", jam.way[0]), goal
        stop = obstruction(state, block, "right", state.team) if face == "left" else None
        if need > 1 and (stop is None or pushers_of(state, stop.block)):
            yield Action("rendezvous", (thing, face, need)), goal


def _line_ups(state: SymbolicState, agent: AgentId, block: int, face: str) -> Iterator[Action]:
    """Yield straight walks to the ends of lines behind a face whose push lacks agents."""
    if len(geometry.aligned_agents(state, block, face)) >= geometry.chain_weight(state, block, face):
        return
    row, col = state.agents[agent]
    for line in geometry.lines(state, block, face):
        if not line.agents or line.next is None:
            continue
        rows, cols = line.next[0] - row, line.next[1] - col
        side = next((side for side, way in DELTA.items() if way == (_sign(rows), _sign(cols))), None)
        if side is not None and all(map(state.is_free, _cells_along((row, col), side, abs(rows + cols)))):
            yield Action("move", (side, abs(rows + cols)))


def _ways_out(state: SymbolicState, at: Cell, in_the_way: Collection[Cell]) -> Mapping[str, int]:
    """Return for each side how many cells that way an agent is out of the way; one cell to all sides if for none."""
    if at not in in_the_way:
        return {}
    free = {side: list(takewhile(state.is_free, _cells_along(at, side, state.side))) for side in SIDES}
    quiet = (
        (side, next((n for n, cell in enumerate(run, 1) if cell not in in_the_way), 0)) for side, run in free.items()
    )
    return {side: cells for side, cells in quiet if cells} or {side: 1 for side, run in free.items() if run}


def _cells_along(at: Cell, side: str, count: int) -> Iterator[Cell]:
    rows, cols = DELTA[side]
    return ((at[0] + n * rows, at[1] + n * cols) for n in range(1, count + 1))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _with_time(state: SymbolicState, agent: AgentId, action: Action, known: ActionSchemas) -> Action:
    """Return an action; a rendezvous for partners who need longer than its default time-out with one that lasts."""
    block = block_of(action)
    if action.verb != "rendezvous" or block is None:
        return action
    wait = wait_for_others(state, agent, block, word_of(action, 1), count_of(action, 2))
    if wait is None or wait < count_of(known.complete(action), 3):
        return action
    return Action(action.verb, (*action.args, wait + 1))


@once_per_state
def _useful_pushes(state: SymbolicState, block: int) -> Mapping[str, tuple[int, GoalId]]:
    """Return the faces at which pushing a block serves a goal: how many cells far, and which goal.

    To the right as far as the team can push it; room is left behind a block that stops it. Aside where that block
    cannot be delivered first, or nobody can stand behind this one. Back where it touches a block ahead and is too heavy
    with it: behind that one there is then room.
    """
    team, goal = state.team, goal_name(block)
    stop = obstruction(state, block, "right", team)
    pushes = {"left": (reach(state, block, "right", team) - (stop is not None), goal)}
    if not can_be_delivered(state, block, team):
        for face in ("up", "down"):
            pushes[face] = min(ASIDE, reach(state, block, OPPOSITE[face], team)), goal
    if stop is not None and stop.after == 0:
        pushes["right"] = min(ASIDE, reach(state, block, "left", team)), goal_name(stop.block)
    return {face: push for face, push in pushes.items() if push[0] > 0}


def _estimate_option(state: SymbolicState, agent: AgentId, action: Action, known: ActionSchemas) -> int:
    """Return the estimated steps of an option: for a push, with the wait for those who push too.

    Plans are simulated without that wait, for by then teammates stand elsewhere.
    """
    steps, block = _estimate_steps(state, agent, action, known), block_of(action)
    face = None if block is None else geometry.face_of(state, agent, block)
    if action.verb == "push_block" and block is not None and face is not None:
        return steps + (wait_for_others(state, agent, block, face, geometry.chain_weight(state, block, face)) or 0)
    return steps


def _estimate_steps(state: SymbolicState, agent: AgentId, action: Action, known: ActionSchemas) -> int:
    """Return the estimated steps of an action as teammates stand; who is waited for in vain takes the time-out."""
    try:
        action = known.complete(action)
    except UserError:
        return 1
    if action.verb in ("move", "yield_block"):
        return count_of(action, 1)
    if action.verb in ("idle", "talk"):
        return count_of(action, 0)
    block = block_of(action)
    if action == WAIT or block is None:
        return 1
    if action.verb == "push_block":
        return _estimate_push(state, agent, block, count_of(action, 1))
    face = word_of(action, 1)
    if action.verb == "move_to_block":
        way = way_to_face(state, agent, block, face)
        return count_of(action, 2) if way is None else max(1, way.steps)
    need = count_of(action, 2) or min(state.team, geometry.chain_weight(state, block, face))
    wait, limit = wait_for_others(state, agent, block, face, need), count_of(action, 3)
    return limit if wait is None else max(1, min(wait + 1, limit))


def _estimate_push(state: SymbolicState, agent: AgentId, block: int, steps: int) -> int:
    """Return the steps of a push by enough agents: one for each cell, at most up to the wall or the goal."""
    face = geometry.face_of(state, agent, block) if agent in state.agents else None
    return steps if face is None else max(1, min(steps, geometry.cells_to_edge(state, block, OPPOSITE[face])))


@once_per_blocks
def make_goals(state: SymbolicState) -> tuple[Goal, ...]:
    """Return one goal for each block of a state, by id, delivered ones included; the same object at each call."""
    return tuple(_goal(state, block) for block in sorted(state.blocks))


def _goal(state: SymbolicState, block: int) -> Goal:
    square = state.blocks[block]
    units = state.distance(block)
    quorum = square.weight if square.delivered else geometry.chain_weight(state, block, "left")
    bucket = ("near", "middle", "far")[min(2, 3 * units // state.side)]
    return Goal(
        goal_name(block),
        "deliver",
        entity(block),
        features=(("weight", str(square.weight)), ("distance", bucket)),
        weight=float(square.weight),
        quorum=quorum,
        capacity=quorum,
        units=units,
        constraints=("dependency", "participation", "spatial", "temporal"),
        state="done" if square.delivered else "open",
    )
