"""Building blocks for custom feedback, for each agent and for the team (CUBE spec A14, B33).

A feedback is a function of the effects of a step (``CubeWorld.effects``). The ones here give numbers by name;
``combine`` puts them and your own together::

    my_feedback = combine(progress, failed_pushes, lambda effects: {"crowd": float(len(effects.idle) > 2)})
    my_feedback(world.effects)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from teamworld.language import AgentId, Cell
from teamworld.worlds.cube import geometry
from teamworld.worlds.cube.transition import StepEffects

Feedback: TypeAlias = Callable[[StepEffects], Mapping[str, float]]


class AgentFeedback(NamedTuple):
    """What a step meant for one agent."""

    position: Cell
    moved: bool
    pushed: bool
    """A block moved through it."""
    blocker: str | None
    """Who or what kept it from going where it tried to."""
    places: tuple[geometry.Place, ...]
    """Faces at which it is aligned."""
    deficit: int | None
    """Agents still missing at the first of these, for the block's own weight; None where it is not aligned."""
    nearest: int | None
    """Distance in cells to the nearest open block; None if there is none."""


def of_agent(effects: StepEffects, agent: AgentId) -> AgentFeedback:
    """Return the feedback of one agent."""
    state = effects.after
    places = tuple(geometry.places(state, agent))
    blocks = [geometry.get_distance(state, agent, block) for block, _ in state.open]
    return AgentFeedback(
        state.agents[agent],
        agent in effects.moved,
        agent in effects.pushed,
        effects.blocker(agent),
        places,
        geometry.quorum_deficit(state, *places[0]) if places else None,
        min(blocks, default=None),
    )


def combine(*parts: Feedback) -> Feedback:
    """Return the feedback that gives what all parts give; of equal names the last one counts."""

    def combined(effects: StepEffects) -> Mapping[str, float]:
        return {name: value for part in parts for name, value in part(effects).items()}

    return combined


def delivered(effects: StepEffects) -> Mapping[str, float]:
    """Return how many blocks, and how much weight, have been delivered so far."""
    weights = [square.weight for square in effects.after.blocks.values() if square.delivered]
    return {"delivered": float(len(weights)), "delivered_weight": float(sum(weights))}


def progress(effects: StepEffects) -> Mapping[str, float]:
    """Return the columns that the open blocks have still to travel, and those travelled in this step."""
    before, after = (sum(map(state.distance, state.blocks)) for state in (effects.before, effects.after))
    return {"distance": float(after), "progress": float(before - after)}


def quorum(effects: StepEffects) -> Mapping[str, float]:
    """Return the agents that are missing on the left face of each open block, for its own weight."""
    state = effects.after
    return {f"deficit_block_{block}": float(geometry.quorum_deficit(state, block, "left")) for block, _ in state.open}


def activity(effects: StepEffects) -> Mapping[str, float]:
    """Return how many agents had nothing to do, and how many waited for others."""
    return {"idle": float(len(effects.idle)), "waiting": float(len(effects.waiting))}


def congestion(effects: StepEffects) -> Mapping[str, float]:
    """Return how many agents were kept from going by a team-mate."""
    return {"congestion": float(sum(effects.blocker(agent) in effects.before.agents for agent in effects.tried))}


def failed_pushes(effects: StepEffects) -> Mapping[str, float]:
    """Return how many pushes moved nothing."""
    return {"failed_pushes": float(sum(not push.moved for push in effects.pushes))}


#: All of the above: the collective feedback of CUBE spec B33.
of_team: Feedback = combine(delivered, progress, quorum, activity, congestion, failed_pushes)
