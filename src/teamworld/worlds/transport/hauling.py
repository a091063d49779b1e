"""What an agent carries and knows to lie about: the capability ``hauling``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from teamworld.language import Action, AgentId, Entity, Facts
from teamworld.worlds.contract import Haul, Sought
from teamworld.worlds.transport.goals import Wants
from teamworld.worlds.transport.observe import BED, Known, believed
from teamworld.worlds.transport.state import HANDS

_SOUGHT: dict[Sought, str] = {"target": "target", "container": "container", "place": "bed"}


class TransportHauling:
    """The rules of transport for who carries things to the bed.

    Args:
        wants: What is to be delivered.
        count_steps: Returns the estimated frames until an agent is as near to the bed as counts.
    """

    def __init__(self, wants: Wants, count_steps: Callable[[AgentId, Known], int]) -> None:
        self._wants, self._count_steps = wants, count_steps

    def survey(self, agent: AgentId, facts: Facts) -> Haul:
        """Return what an agent carries and knows to lie about if the facts hold."""
        known, wants = believed(facts), self._wants
        held = known.hands.get(agent, ())
        container = next((thing for thing in held if thing in wants.names.containers), None)
        load = Counter(wants.goal_of(thing) for thing in wants.targets_of(agent, known))
        missing = {goal: units - load[goal] for goal, units in wants.missing(known).items()}
        return Haul(
            held,
            container,
            places=0 if container is None else wants.places(container, known),
            hands_left=max(0, HANDS - len(held)),
            targets=tuple(thing for thing in held if thing in wants.names.targets),
            wanted=tuple(thing for thing, goal in wants.lying(known).items() if missing.get(goal, 0) > 0),
            containers=tuple(wants.useful_containers(known)),
            knows_place=BED in known.room,
            is_enough=all(units <= 0 for units in missing.values()),
        )

    def search(self, what: Sought) -> Action:
        """Return the action that walks about until such a thing comes in sight."""
        return Action("search", (_SOUGHT[what],))

    def fetch(self, thing: Entity) -> Action:
        """Return the action that fetches a thing."""
        return Action("fetch", (thing,))

    def put(self, target: Entity, container: Entity) -> Action:
        """Return the action that puts a target into a container."""
        return Action("put", (target, container))

    def deliver(self) -> Action:
        """Return the action that brings all that is held to the bed."""
        return Action("deliver")

    def steps_until_it_counts(self, agent: AgentId, facts: Facts) -> int | None:
        """Return the estimated frames until what an agent holds is as near to the bed as counts; None of nothing."""
        known = believed(facts)
        return self._count_steps(agent, known) if known.hands.get(agent) else None
