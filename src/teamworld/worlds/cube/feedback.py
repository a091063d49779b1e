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
from teamworld.worlds.cube import concepts
from teamworld.worlds.cube.effects import Effects

Feedback: TypeAlias = Callable[[Effects], Mapping[str, float]]


class AgentFeedback(NamedTuple):
    """What a step meant for one agent."""

    position: Cell
    moved: bool
    pushed: bool
    """A block moved through it."""
    blocker: str | None
    """Who or what kept it from going where it tried to."""
    places: tuple[concepts.Place, ...]
    """Faces at which it is aligned."""
    deficit: int | None
    """Agents still missing at the first of these, for the block's own weight; None where it is not aligned."""
    nearest: int | None
    """Distance in cells to the nearest open block; None if there is none."""


def of_agent(effects: Effects, agent: AgentId) -> AgentFeedback:
    """Return the feedback of one agent."""
    scene = effects.after
    places = tuple(concepts.places(scene, agent))
    blocks = [concepts.get_distance(scene, agent, block) for block, _ in scene.open]
    return AgentFeedback(
        scene.agents[agent],
        agent in effects.moved,
        agent in effects.pushed,
        effects.blocker(agent),
        places,
        concepts.quorum_deficit(scene, *places[0]) if places else None,
        min(blocks, default=None),
    )


def combine(*parts: Feedback) -> Feedback:
    """Return the feedback that gives what all parts give; of equal names the last one counts."""

    def combined(effects: Effects) -> Mapping[str, float]:
        return {name: value for part in parts for name, value in part(effects).items()}

    return combined


def delivered(effects: Effects) -> Mapping[str, float]:
    """Return how many blocks, and how much weight, have been delivered so far."""
    weights = [square.weight for square in effects.after.blocks.values() if square.delivered]
    return {"delivered": float(len(weights)), "delivered_weight": float(sum(weights))}


def progress(effects: Effects) -> Mapping[str, float]:
    """Return the columns that the open blocks have still to travel, and those travelled in this step."""
    before, after = (sum(map(scene.distance, scene.blocks)) for scene in (effects.before, effects.after))
    return {"distance": float(after), "progress": float(before - after)}


def quorum(effects: Effects) -> Mapping[str, float]:
    """Return the agents that are missing on the left face of each open block, for its own weight."""
    scene = effects.after
    return {f"deficit_block_{block}": float(concepts.quorum_deficit(scene, block, "left")) for block, _ in scene.open}


def activity(effects: Effects) -> Mapping[str, float]:
    """Return how many agents had nothing to do, and how many waited for others."""
    return {"idle": float(len(effects.idle)), "waiting": float(len(effects.waiting))}


def congestion(effects: Effects) -> Mapping[str, float]:
    """Return how many agents were kept from going by a team-mate."""
    return {"congestion": float(sum(effects.blocker(agent) in effects.before.agents for agent in effects.tried))}


def failed_pushes(effects: Effects) -> Mapping[str, float]:
    """Return how many pushes moved nothing."""
    return {"failed_pushes": float(sum(not push.moved for push in effects.pushes))}


#: All of the above: the collective feedback of CUBE spec B33.
of_team: Feedback = combine(delivered, progress, quorum, activity, congestion, failed_pushes)
