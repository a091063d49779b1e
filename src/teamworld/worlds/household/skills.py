"""The actions: parameters in words, and how each becomes one act of an agent a step until it is done or has failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from teamworld.language import Action, ActionSchema, AgentId, Entity, Measures, Param, plain
from teamworld.worlds.base.domain import COMMON_SCHEMAS
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.household.homes.home import NodeId
from teamworld.worlds.household.observe import HEADINGS, Known, Names, SightMemory
from teamworld.worlds.household.physics import REASONS, WAIT, Done, PrimitiveAction, Verb
from teamworld.worlds.household.state import State

MEASURES: Final[Measures] = {
    **{"explore": (None,), "check": (None,), "fetch": (None,), "deliver": (), "go": (None,)},
    **{"open": (None,), "close": (None,), "grab": (None,), "put": (None, None), "turn": (None,)},
    **{"walktowards": (None,), "putin": (None, None), "putback": (None, None)},
    **{"wait": (), "idle": (None,), "talk": (None,)},
}
#: What is done within one step: the act for each.
ONCE: Final[dict[str, Verb]] = {"open": "open", "close": "close", "grab": "grab"}
#: What else is a single action of the engine, where agents may do those.
PASSED: Final[dict[str, Verb]] = {"walktowards": "walktowards", "putin": "putin", "putback": "putback"}

#: Why an action failed, and what that means of a thing.
EXPLANATIONS: Final[Mapping[str, str]] = {**REASONS, "gone": "{thing} is not where it was"}


def schemas(
    names: Names, known: Known, *, turns: bool, strict: bool, primitives: bool = False
) -> tuple[ActionSchema, ...]:
    """Return what an agent can do, with what it knows of as arguments.

    Args:
        names: Of everything.
        known: What the agent knows.
        turns: Whether agents turn, for they see only what is ahead of them.
        strict: Whether nothing can be put into what is closed.
        primitives: Whether they can do single actions of the engine.
    """
    rooms = tuple(names.rooms)
    held = (thing for things in known.hands.values() for thing in things)
    targets = (names.watched[need.target] for need in names.episode.needs)
    subjects = [subject for subject in {*known.points, *held, *targets} if isinstance(subject, Entity)]
    entities = sorted((subject for subject in subjects if subject not in names.rooms), key=attrgetter("id"))
    containers = tuple(subject for subject in entities if subject in names.containers)
    things = tuple(subject for subject in entities if subject in names.things)
    fixed = tuple(subject for subject in entities if subject not in names.things)
    room, container = Param("room", "entity", rooms), Param("container", "entity", containers)
    thing, place = Param("thing", "entity", things), Param("place", "entity", (*rooms, *entities))
    target, relation = names.watched[names.episode.needs[0].target], names.episode.needs[0].relation
    turn = ActionSchema("turn", (Param("side", "choice", ("left", "right")),), "Turn by 30 degrees.")
    look = "Walk to the room" + (", to its middle, and turn round there." if turns else ".")
    elsewhere = "You are elsewhere" + (", or have not seen all of it." if turns else ".")
    open_first = " Closed, it is opened once a hand is free (a step)." if relation == "INSIDE" else ""
    even_shut = "" if strict else " (also a closed one)"
    or_on = f" or on {plain(target)}" if relation == "ON" else ""  # no other furniture is ever named to an agent
    known_thing = "You have seen it yourself, in nothing closed and in nobody's hands; a free hand."
    listed = (
        ActionSchema("explore", (room,), look, elsewhere, Action("explore", (rooms[0],))),
        ActionSchema(
            "check", (container,), "Walk to the container and open it, to see what is in it.",
            "It is closed; a free hand.",
        ),
        ActionSchema("fetch", (thing,), "Walk to the thing and take it.", known_thing),
        ActionSchema(
            "deliver", (), f"Carry all that you hold to {plain(target)} and put it there, a step each.{open_first}",
            f"You hold something then; you have seen {plain(target)} yourself, before you plan this.",
        ),
        ActionSchema(
            "go", (place,), "Walk to a room, or until a thing is in reach.",
            "It is a room or you have seen it yourself; you are not there.",
        ),
        ActionSchema("open", (container,), "Open a container.", "It is closed and in reach; a free hand."),
        ActionSchema("close", (container,), "Close a container.", "It is open and in reach."),
        ActionSchema("grab", (thing,), "Take a thing.", "As for fetch, and it is in reach."),
        ActionSchema(
            "put", (thing, Param("place", "entity", fixed)), f"Put a thing into a container{even_shut}{or_on}.",
            f"You hold it; the place is in reach{', and open if it is a container' if strict else ''}.",
        ),
        ActionSchema("idle", (Param("steps", "count", low=1),), "Do nothing for so many steps."),
        *((turn,) if turns else ()),
        *(_passed(thing, place) if primitives else ()),
    )  # fmt: skip
    return (*listed, *COMMON_SCHEMAS)


def _passed(thing: Param, place: Param) -> tuple[ActionSchema, ...]:
    return (
        ActionSchema("walktowards", (place,), "Walk one step towards a thing, or the middle of a room."),
        ActionSchema("putin", (thing, place), "Put a thing that you hold into a container."),
        ActionSchema("putback", (thing, place), "Put a thing that you hold on something."),
    )


def first(action: Action) -> Entity:
    """Return what an action names first."""
    thing = action.args[0]
    if not isinstance(thing, Entity):
        raise TypeError(f"{action} names nothing")
    return thing


@dataclass
class Skill:
    """A running action."""

    agent: AgentId
    action: Action
    """With all arguments."""
    start: int
    names: Names
    spent: int = 0
    turned: int = 0

    def act(self, state: State, memory: SightMemory) -> PrimitiveAction:
        """Return what to do in this step."""
        number, verb = self.names.number(self.agent), self.action.verb
        if verb in ("wait", "idle", "talk"):
            return PrimitiveAction("send_message") if verb == "talk" else WAIT
        if verb == "turn":
            return PrimitiveAction("turnleft" if self.action.args[0] == "left" else "turnright")
        if verb == "deliver":
            return self._deliver(state, memory, number)
        target = first(self.action).id
        if verb == "explore":
            return self._explore(state, number, target)
        if verb == "go":
            return PrimitiveAction("walktowards", target)
        if verb in PASSED:
            onto = self.action.args[-1]
            return PrimitiveAction(
                PASSED[verb], target, onto.id if isinstance(onto, Entity) and verb != "walktowards" else 0
            )
        if verb == "put":
            return put(self.names, target, self.action.args[1])
        if verb in ONCE or self._within_reach(state, memory, number, target):
            return PrimitiveAction({"check": "open", "fetch": "grab"}.get(verb, verb), target)  # type: ignore[arg-type]
        return PrimitiveAction("walktowards", target)

    def _within_reach(self, state: State, memory: SightMemory, number: NodeId, target: NodeId) -> bool:
        return target in memory.visible and state.close(number, target)

    def _explore(self, state: State, number: NodeId, room: NodeId) -> PrimitiveAction:
        if state.rules.sight == "cone" and state.rooms[number] == room:
            middle = state.floor.end(room)
            if state.points[number] == middle or self.turned:
                self.turned += 1
                return PrimitiveAction("turnleft")
        return PrimitiveAction("walktowards", room)

    def _deliver(self, state: State, memory: SightMemory, number: NodeId) -> PrimitiveAction:
        need, hands = self.names.episode.needs[0], state.hands[number]
        if not self._within_reach(state, memory, number, need.target):
            return PrimitiveAction("walktowards", need.target)
        if need.relation == "INSIDE" and need.target not in state.opened and hands.free:
            return PrimitiveAction("open", need.target)
        return put(self.names, hands.things[0], self.names.watched[need.target])

    def result(self, done: Done, state: State, memory: SightMemory) -> Result:
        """Judge the step that has just gone by."""
        self.spent += 1
        number, verb = self.names.number(self.agent), self.action.verb
        if verb in ("idle", "talk"):
            return DONE if self.spent >= int(str(self.action.args[0])) else RUNNING
        if done.reason:
            # whether there is something that an agent was never told of is nobody's business
            return Result("failed", "unseen" if done.reason == "unknown" else done.reason)
        if verb in ONCE or verb in PASSED or verb in ("put", "turn"):
            return DONE
        if verb == "deliver":
            return RUNNING if state.hands[number].things else DONE
        target = first(self.action).id
        if verb == "explore":
            return self._explored(state, number, target)
        if verb == "go" and target in state.home.rooms:
            return DONE if state.rooms[number] == target else RUNNING
        if verb == "check" and target in memory.visible and target in state.opened:
            return DONE
        if verb == "fetch" and target in state.hands[number].things:
            return DONE
        if target not in memory.records:
            held = {thing.id for teammate in memory.met.values() for thing in teammate.held}
            return Result("failed", "held" if target in held else "gone")
        if verb in ("fetch", "go") and memory.shut(target):
            return Result("failed", "closed")
        return DONE if verb == "go" and self._within_reach(state, memory, number, target) else RUNNING

    def _explored(self, state: State, number: NodeId, room: NodeId) -> Result:
        if state.rules.sight == "cone":
            return DONE if self.turned >= HEADINGS - 1 else RUNNING
        return DONE if state.rooms[number] == room else RUNNING


def put(names: Names, thing: NodeId, place: object) -> PrimitiveAction:
    """Return the act of putting a thing into a container or on something."""
    if not isinstance(place, Entity):
        raise TypeError(f"{place} is no place")
    inside = place in names.containers and not _lays(names, place)
    return PrimitiveAction("putin" if inside else "putback", thing, place.id)


def _lays(names: Names, place: Entity) -> bool:
    """Whether things are put on a container: the goal says so, or nothing can be put into it."""
    needs: Sequence[tuple[str, NodeId]] = [(need.relation, need.target) for need in names.episode.needs]
    return ("ON", place.id) in needs or not names.episode.home.nodes[place.id].container
