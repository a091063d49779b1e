"""Failures that only wildfire can see in its snapshots: deaths by fire, breaks begun too late, flights for nothing.

``failures`` is the world's ``contract.FailureFinder``. Each rule is a function of the steps of an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from teamworld.language import AgentId, Cell, Entity
from teamworld.worlds.contract import FailureSpan, Transition
from teamworld.worlds.wildfire.draw import codes_of
from teamworld.worlds.wildfire.goals import in_zone
from teamworld.worlds.wildfire.sightings import SEEN_EXTINGUISHING, SEEN_IGNITED

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WALKERS: Final = ("firefighter", "bulldozer")


class Death(NamedTuple):
    """A walker that was lost in a step."""

    passage: Transition
    agent: AgentId
    at: Cell
    """Where it stood when the step began."""
    stayed_safe: bool
    """Whether that cell did not burn when the step was over."""


def walked_into_fire(
    static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]
) -> Iterator[FailureSpan]:
    """Find walkers that died on the move, while the cell that they left did not burn."""
    for death in _deaths(static, team, steps):
        outcome = death.passage.outcomes.get(death.agent)
        if outcome is not None and outcome.moved and death.stayed_safe:
            text = f"{outcome.action} from {death.at} led into fire; where it had stood nothing burnt"
            yield _at(death.passage, "walked-into-fire", (death.agent,), text)


def overrun(static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]) -> Iterator[FailureSpan]:
    """Find walkers that the fire reached where they stood, though it burnt beside them as the step began."""
    for death in _deaths(static, team, steps):
        if death.stayed_safe:
            continue
        codes, (x, y) = codes_of(static, death.passage.before), death.at
        hot = _hot(codes[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2])
        if hot.any():
            text = f"the fire came to {death.at}; {int(hot.sum())} cells beside it burnt as the step began"
            yield _at(death.passage, "overrun", (death.agent,), text)


def break_too_late(
    static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]
) -> Iterator[FailureSpan]:
    """Find cuts that were given up because the fire was there first."""
    for passage in steps:
        for agent, outcome in passage.outcomes.items():
            late = outcome.status == "failed" and outcome.reason == "fire"
            if late and outcome.action.verb in ("cut", "cut_all"):
                text = f"{outcome.action} given up: fire beside {agent} before the trees were cut"
                yield _at(passage, "break-too-late", (agent,), text)


def empty_flight(
    static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]
) -> Iterator[FailureSpan]:
    """Find helicopters that came to the zone with nobody aboard, while firefighters were still to be brought there."""
    if static["target"] is None:
        return
    zone = (static["target"][0], static["target"][1])
    for passage in steps:
        if passage.before["civilians"]:
            continue  # a rescue: nobody can ride but those who rescue
        after = passage.after
        left = [
            team[row]
            for row, (kind, place) in enumerate(zip(static["kinds"], after["agents"], strict=True))
            if kind == "firefighter" and place is not None and not in_zone((place[0], place[1]), zone)
        ]
        for agent, outcome in passage.outcomes.items():
            thing = outcome.action.args[0] if outcome.action.args else None
            to_zone = outcome.action.verb == "go_to" and isinstance(thing, Entity) and thing.kind == "zone"
            row = team.index(agent)
            flew = to_zone and outcome.status == "done" and outcome.moved and static["kinds"][row] == "helicopter"
            if flew and left and row not in after["aboard"]:
                text = f"came to the zone with nobody aboard; {len(left)} firefighters were not there"
                yield _at(passage, "empty-flight", (agent,), text)


#: The rules, in the order of their labels.
RULES: Final[
    Sequence[Callable[[Mapping[str, Any], Sequence[AgentId], Sequence[Transition]], Iterator[FailureSpan]]]
] = (
    walked_into_fire,
    overrun,
    break_too_late,
    empty_flight,
)


def failures(static: Mapping[str, Any], team: Sequence[AgentId], passages: Sequence[Transition]) -> list[FailureSpan]:
    """Return the failures that the passages of a wildfire episode show; implements ``contract.FailureFinder``.

    Args:
        static: As ``draw.static`` has it.
        team: The agents, in the order of the snapshots.
        passages: The steps from 0 on, none left out.
    """
    return [finding for rule in RULES for finding in rule(static, team, passages)]


def _deaths(static: Mapping[str, Any], team: Sequence[AgentId], steps: Sequence[Transition]) -> Iterator[Death]:
    for passage in steps:
        places = zip(passage.before["agents"], passage.after["agents"], strict=True)
        lost = [row for row, (old, new) in enumerate(places) if old is not None and new is None]
        walkers = [row for row in lost if static["kinds"][row] in WALKERS and passage.before["aboard"][row] is None]
        if walkers:
            codes = codes_of(static, passage.after)
            for row in walkers:
                x, y = passage.before["agents"][row]
                yield Death(passage, team[row], (x, y), not bool(_hot(codes[y : y + 1, x : x + 1]).any()))


def _hot(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    hot: npt.NDArray[np.bool_] = (codes >= SEEN_IGNITED) & (codes <= SEEN_EXTINGUISHING)
    return hot


def _at(passage: Transition, label: str, agents: tuple[AgentId, ...], text: str) -> FailureSpan:
    return FailureSpan(label, passage.step, passage.step, agents, None, text)
