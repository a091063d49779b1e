"""The macro-actions of CUBE: names, parameters, defaults and preconditions.

The table in ``docs/reference/worlds/cube.md`` says when each is done and how it fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from teamworld.errors import UserError, suggest
from teamworld.language import Action, ActionSchema, AgentId, Entity, Measure, Measures, Param, Term
from teamworld.worlds.base.domain import COMMON_SCHEMAS
from teamworld.worlds.base.executor import Result
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import POSSIBLE, Constraint, Verdict
from teamworld.worlds.cube.geometry import (
    Place,
    blocked_by,
    cells_to_edge,
    distances,
    face_of,
    path_length,
    staging_cells,
)
from teamworld.worlds.cube.state import MIN_GRID
from teamworld.worlds.cube.symbolic_state import OPPOSITE, SIDES, SymbolicState, entity, goal_name, once_per_state

Timeouts: TypeAlias = Literal["spec", "paper"]
#: Futile steps in a row after which a push ends.
FUTILE_STEPS: Final = 3

#: How macro-actions fail: early and with a reason, or as those of the published controller.
Controller: TypeAlias = Literal["spec", "paper"]


class TimeLimits(NamedTuple):
    """Default time-outs of the actions, in steps."""

    move_to_block: int
    rendezvous: int
    push_block: int
    """0: twice the steps and ten more."""
    yield_block: int
    """0: twice the steps and ten more."""
    wait_agents: int

    def of_steps(self, limit: int, steps: int) -> int:
        """Return a time-out; 0 stands for twice the steps and ten more."""
        return limit or 2 * steps + 10


def time_limits(preset: Timeouts, side: int) -> TimeLimits:
    """Return the default time-outs in steps.

    ``spec`` scales with the grid side K: move_to_block 2K, rendezvous K/2 and at least 10, push_block and
    yield_block 2 steps + 10, wait_agents 20. ``paper`` is what the published
    controller used: 40, 10, 30, 30, and 20 for wait_agents, for which no number is known.
    """
    return TimeLimits(40, 10, 30, 30, 20) if preset == "paper" else TimeLimits(2 * side, max(10, side // 2), 0, 0, 20)


class ActionSchemas(dict[str, ActionSchema]):
    """The action schemas by verb, for some open blocks; remembers completed actions, as dry runs repeat them often."""

    def __init__(self, schemas: Iterable[ActionSchema]) -> None:
        super().__init__((schema.verb, schema) for schema in schemas)
        self._whole: dict[tuple[object, ...], Action] = {}

    def __hash__(self) -> int:  # type: ignore[override]  # a key of memos: made once, see ``CubeDomain.schemas``
        return id(self)

    def complete(self, action: Action) -> Action:
        """Return the action with left-out counts filled in.

        Raises:
            UserError: There is no such action, or its arguments do not fit.
        """
        key = (action.verb, action.args, *map(type, action.args))  # 2 and 2.0 are equal, but only one is a count
        whole = self._whole.get(key)
        if whole is None:
            schema = self.get(action.verb)
            if schema is None:
                raise UserError(f"there is no action '{action.verb}'{suggest(action.verb, list(self))}")
            whole = self._whole[key] = schema.complete(action)
        return whole


def schemas(timeouts: Timeouts, controller: Controller, blocks: Iterable[int], team: int, side: int) -> ActionSchemas:
    """Return the schemas of all actions of a team on a grid, with the blocks that can be acted on now."""
    limits = time_limits(timeouts, side)
    block = Param("block", "entity", tuple(map(entity, blocks)))
    face = Param("face", "choice", SIDES)

    def steps(default: int | None, measure: Measure | None = None) -> Param:
        return Param("steps", "count", low=1, default=default, measure=measure)

    def timeout(steps: int) -> Param:
        return Param("timeout", "count", low=0 if steps == 0 else 1, default=steps)

    is_spec = controller == "spec"
    ending = "If it fails the plan ends, unless the block is delivered; other failures end none."
    doubled = " (0: 2 x steps + 10)" if limits.push_block == 0 else ""
    futile = f" Fails after {FUTILE_STEPS} futile steps, unless enough agents push, meet or walk up there."
    every = (
        ActionSchema(
            "move",
            (Param("direction", "choice", SIDES), steps(1)),
            "Go that many cells, pushing a block ahead; fails if stopped.",
        ),
        ActionSchema(
            "move_to_block",
            (block, face, timeout(limits.move_to_block)),
            "Line up within timeout steps: go round blocks and agents to the free cell of the face "
            "nearest to its middle (of two as near the upper or left, even if farther, or the other if on the way; "
            "estimated to the nearer), or behind others. "
            + (ending if is_spec else "If an action fails, the next begins."),
            needs="a free cell at the face and a way to it; it waits for agents in the way.",
            example=Action("move_to_block", (entity(0), "left")),
        ),
        ActionSchema(
            "rendezvous",
            (
                block,
                face,
                Param("count", "count", low=0, high=team, default=0, measure="quorum"),
                timeout(limits.rendezvous),
            ),
            "Wait until count agents, you included, do this at the face (0: as many as a push takes). Pushers do not "
            "count: all wait or none. Needless before a push, which waits for those who walk up.",
            needs="you are lined up there" + (", else the plan ends." if is_spec else "."),
        ),
        ActionSchema(
            "push_block",
            (block, steps(1, "units"), timeout(limits.push_block)),
            "Push until the block has moved so many cells (the largest number if fellow pushers differ) or is "
            f"delivered, at most timeout steps{doubled}.{futile if is_spec else ''}",
            needs="you are lined up at a face (left, to push right).",
            example=Action("push_block", (entity(0), 5)),
        ),
        ActionSchema(
            "yield_block",
            (block, steps(2), timeout(limits.yield_block)),
            "Back away; fails at a wall or block.",
            needs="you are lined up at a face.",
        ),
        ActionSchema("idle", (steps(1),), "Stay."),
        ActionSchema(
            "wait_agents",
            (
                Param("count", "count", low=1, high=team, default=team),
                Param("timeout", "count", low=1, default=limits.wait_agents),
            ),
            "Stay until count agents, you included, do this or have no action.",
        ),
        *COMMON_SCHEMAS,
    )
    return ActionSchemas(every)


#: Which parameters count in which measure of a goal.
MEASURES: Final[Measures] = {
    schema.verb: tuple(param.measure for param in schema.params)
    for schema in schemas("spec", "spec", (), 0, MIN_GRID).values()
}


def block_of(action: Action) -> int | None:
    """Return the id of an action's block; None if it has no block."""
    first: Term | None = action.args[0] if action.args else None
    return first.id if isinstance(first, Entity) and first.kind == "block" else None


def count_of(action: Action, index: int) -> int:
    """Return a count argument of a complete action."""
    value = action.args[index]
    if not isinstance(value, int):
        raise TypeError(f"argument {index} of {action} is not a number")
    return value


def word_of(action: Action, index: int) -> str:
    """Return a word argument of a complete action."""
    value = action.args[index]
    if not isinstance(value, str):
        raise TypeError(f"argument {index} of {action} is not a word")
    return value


# ---- preconditions


#: The word of the blocker that is neither agent nor block.
WALL_WORD: Final = "wall"

#: Agents or blocks that an explanation names; of more it gives the number.
MOST_NAMED: Final = 3


def fail(reason: str, constraint: Constraint | None = None, blocker: str | None = None) -> Result:
    """Return the result of an action that cannot start or gives up: a word, then perhaps a colon and why."""
    return Result("failed", reason, constraint, blocker)


def check_block(state: SymbolicState, block: int) -> Result | None:
    """Return why no action on a block can start; None if the block is on the grid."""
    square = state.blocks.get(block)
    if square is None:
        return fail(f"unknown_block: it is not known where {goal_name(block)} is")
    return fail(f"block_gone: {goal_name(block)} has been delivered") if square.delivered else None


def check_face(state: SymbolicState, block: int, face: str) -> Result | None:
    """Return why no agent can line up at a face; None if one can."""
    if staging_cells(state, block, face):
        return None
    causes = blocked_by(state, block, face)
    why = f"face_gone: no cell to stand on at the {face} face of {goal_name(block)}"
    if not causes.blocks:
        return fail(f"{why}, for the wall", "spatial", WALL_WORD)
    return fail(
        f"{why}, for {listed(list(map(goal_name, causes.blocks)), MOST_NAMED)}",
        "spatial",
        str(entity(causes.blocks[0])),
    )


def find_place(state: SymbolicState, agent: AgentId, block: int | None, face: str | None = None) -> Place | Result:
    """Return the place where the agent is aligned with a face (any face if None), or why it is not."""
    if block is None:
        return fail("unknown_block: no block is named")
    if (refusal := check_block(state, block)) is not None:
        return refusal
    aligned_face = face_of(state, agent, block)
    if aligned_face is None or (face is not None and aligned_face != face):
        there = "any face" if face is None else f"the {face} face"
        other = "" if aligned_face is None else f", but at the {aligned_face} face"
        return fail(f"not_aligned: {agent} is not lined up at {there} of {goal_name(block)}{other}", "spatial")
    return Place(block, aligned_face)


def check_action(
    state: SymbolicState, agent: AgentId, action: Action, known: ActionSchemas, *, planning: bool = True
) -> Verdict:
    """Return whether an action's preconditions hold in a state.

    A plan that pushes a block further than to a wall is unsound (``planning``); when the push is to
    start it is none the worse for a teammate having moved the block meanwhile. A push to the right ends at the goal.

    The reason starts with one of the world's words, for example ``not_aligned: ...``. Teammates are not
    obstacles here: they move on.
    """
    block = block_of(action)
    try:
        action = known.complete(action)
    except UserError as error:
        refusal = None if block is None or block not in state.blocks else check_block(state, block)
        return Verdict(False, f"illegal: {error}" if refusal is None else refusal.reason)
    return POSSIBLE if block is None else _check_on_block(state, agent, block, action, planning)


@once_per_state
def _check_on_block(state: SymbolicState, agent: AgentId, block: int, action: Action, planning: bool) -> Verdict:
    if (refusal := check_block(state, block)) is not None:
        return Verdict(False, refusal.reason)
    if action.verb == "move_to_block":
        return _check_face(state, agent, block, word_of(action, 1))
    place = find_place(state, agent, block, word_of(action, 1) if action.verb == "rendezvous" else None)
    if isinstance(place, Result):
        return Verdict(False, place.reason)
    if planning and action.verb == "push_block":
        way, steps = OPPOSITE[place.face], count_of(action, 1)
        if way != "right" and steps > (most := cells_to_edge(state, block, way)):
            return Verdict(False, f"too_far: {goal_name(block)} can be pushed {way} {count(most, 'cell')}, not {steps}")
    return POSSIBLE


def _check_face(state: SymbolicState, agent: AgentId, block: int, face: str) -> Verdict:
    if (refusal := check_face(state, block, face)) is not None:
        return Verdict(False, refusal.reason)
    if not can_reach_face(state, agent, block, face):
        return Verdict(False, f"unreachable: no way leads {agent} to the {face} face of {goal_name(block)}")
    return POSSIBLE


def can_reach_face(state: SymbolicState, agent: AgentId, block: int, face: str) -> bool:
    """Return whether the agent can reach a face if no teammate is in the way."""
    field = distances(state, staging_cells(state, block, face), through_agents=True)
    return path_length(field, state.agents[agent]) is not None
