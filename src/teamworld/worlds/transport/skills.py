"""The actions: parameters in words, and how each becomes one primitive action after another until it is over.

Ways, ends and limits are those of the agents of TDW-MAT (``h_agent.py``, ``lm_agent.py``): a fetch goes to within 1 m,
a delivery to within 1.5 m of the bed, exploring to within 1.02 m of the middle of the room, then 16 turns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

import numpy as np

from teamworld.language import Action, ActionSchema, Entity, Measures, Param, plain
from teamworld.worlds.base.domain import COMMON_SCHEMAS
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.base.words import listed
from teamworld.worlds.contract import WAIT
from teamworld.worlds.transport import navigation, sight
from teamworld.worlds.transport.navigation import Way
from teamworld.worlds.transport.observe import BED, Known, Names
from teamworld.worlds.transport.physics import BED_RANGE, DROP_FRAMES, GRASP_RANGE, TURN_FRAMES
from teamworld.worlds.transport.sight import CHART, CHART_CELL, CHART_X, CHART_Z, FREE, NEVER, UNKNOWN, WHOLE, Moment
from teamworld.worlds.transport.state import (
    DROP,
    FAILURE,
    GRASP,
    LEFT,
    NOBODY,
    NONE,
    NOTHING,
    PUT,
    REASONS,
    STAY,
    Primitive,
    Rules,
)

MEASURES: Final[Measures] = {
    **{"go": (None,), "explore": (None,), "search": (None,), "fetch": (None,), "put": (None, None), "deliver": ()},
    **{"drop": (None,), "wait": (), "talk": (None,)},
}
#: Metres within which a walk ends: to a thing, to the bed, to the middle of a room, to a place to search.
FETCH_NEAR, BED_NEAR, MIDDLE_NEAR, SEARCH_NEAR = 1.0, 1.5, 1.02, 2.0
#: What can be searched for.
ANYTHING: Final = "anything"
SOUGHT: Final = (ANYTHING, "target", "container", "bed")
#: Turns of a look around: with the picture's 90 degrees they show all directions but for 30 degrees (``lm_agent.py``).
TURNS: Final = 16
#: Steps of a search at most (``h_agent.py``), and of any other walk.
SEARCH_STEPS, MOST_STEPS = 80, 300
#: A walk that has not led half a metre away for so many steps is stuck.
STUCK_STEPS, STUCK_SPAN = 60, 0.5
#: Frames of waiting, at most: as long as a move forward.
PULSE: Final = 10
#: A message takes a frame for every so many characters begun, and has at most so many (``tdw_gym.py``, action 6).
CHARACTERS_PER_FRAME, LONGEST_MESSAGE = 500, 1000
#: Why an action failed, and what that means of a thing.
EXPLANATIONS: Final[Mapping[str, str]] = {
    "gone": "{thing} is not where it was",
    "held": "{holder} holds {thing}",
    "contained": "{thing} is in a container: fetch that",
    "no_way": "the way is blocked",
    "nothing_to_put": "hold a container and a target",
    "container_full": "the container is full",
    "spilled": "{thing} fell beside the container",
    "empty_hand": "{thing} is not in your hands",
    "hand_full": "no hand is free",
    "no_bed": "the bed is not in sight from here",
    "too_far": "{thing} is more than 2 m away",
}
#: Why a grasp failed where the thing is not as it was seen.
MOVED: Final = ("too_far", "contained", "held")


def list_schemas(names: Names, known: Known) -> tuple[ActionSchema, ...]:
    """Return what an agent can do, with what it knows of as arguments."""
    rooms = tuple(names.rooms)
    held = {thing for things in known.hands.values() for thing in things}
    things = sorted((thing for thing in {*known.room, *known.inside, *held} if thing != BED), key=attrgetter("id"))
    targets = tuple(thing for thing in things if thing in names.targets)
    containers = tuple(thing for thing in things if thing in names.containers)
    room, thing = Param("room", "entity", rooms), Param("thing", "entity", tuple(things))
    target, container = Param("target", "entity", targets), Param("container", "entity", containers)
    ending = (
        "With a free hand it is also done, a move later, where a target, a container you could use or the bed comes in "
        "sight that you did not know of, in nobody's hands."
    )
    return (
        ActionSchema(
            "go", (room,), f"Walk towards the middle of a room until you are in it, if only just. {ending}",
            "You are not in it.", Action("go", (rooms[0],)),
        ),
        ActionSchema(
            "explore", (room,),
            f"Walk to the middle of a room and look around: {TURNS} turns of 15 degrees, which leave 30 degrees "
            "unseen; not ended by what comes in sight.",
            "", Action("explore", (rooms[0],)),
        ),
        ActionSchema(
            "search", (Param("what", "choice", SOUGHT),),
            f"Walk to a place drawn at random among those that you have not seen, for at most {SEARCH_STEPS} moves. It "
            "also ends where such a thing comes in sight that you did not know of; anything: any of those of go.", "",
            Action("search", (ANYTHING,)),
        ),
        ActionSchema(
            "fetch", (thing,), "Walk to a target or container and grasp it, with the left hand if that is free; what "
            "is in a container comes along.",
            "You have seen where it lies: in nobody's hands, in no container. A hand of yours is free.",
        ),
        ActionSchema(
            "put", (target, container), "Put a target from one hand into the container in the other, which holds 3.",
            "You hold both, and the container has room.",
        ),
        ActionSchema(
            "deliver", (), "Carry all that you hold to the bed and drop it there, first the left hand, then the right. "
            "If you have not seen the bed you look for it in the bedroom first.", "You hold something.",
            Action("deliver"),
        ),
        ActionSchema("drop", (thing,), "Drop a thing half a metre ahead of you.", "You hold it."),
        ActionSchema("wait", (), f"Do nothing for up to {PULSE} steps: until anybody's action ends.", example=WAIT),
        *(schema for schema in COMMON_SCHEMAS if schema.verb == "talk"),
    )  # fmt: skip


def first(action: Action) -> Entity:
    """Return what an action names first."""
    thing = action.args[0]
    if not isinstance(thing, Entity):
        raise TypeError(f"{action} names nothing")
    return thing


@dataclass
class TransportSkill:
    """A running action.

    Args:
        number: Of the agent.
        action: With all arguments.
        start: Frame at which it began.
        names: Of everything.
        way: The agent's way; it is given up.
        rng: For the places to search.
    """

    number: int
    action: Action
    start: int
    names: Names
    way: Way
    rng: np.random.Generator
    result: Result = RUNNING
    """How it stands."""
    _steps: int = 0
    """Primitive actions of walking."""
    _since: int = 0
    """The same, since the agent was elsewhere."""
    _anchor: tuple[float, float] = (math.inf, math.inf)
    _turned: int = 0
    _looked: int = 0
    """Turns that look for the bed."""
    _known: frozenset[Entity] | None = None
    """Things of use that the agent knew of at its last step; None before the first."""
    _place: tuple[float, float] | None = None
    """Where it searches."""

    def __post_init__(self) -> None:
        navigation.forget_way(self.way)

    def next(self, moment: Moment) -> Primitive | Result:
        """Return the primitive action that comes next, or how the action has ended."""
        verb = self.action.verb
        if verb == "go":
            return self._go(moment)
        if verb == "explore":
            return self._explore(moment)
        if verb == "search":
            return self._search(moment)
        if verb == "fetch":
            return self._fetch(moment)
        if verb == "deliver":
            return self._deliver(moment)
        if verb == "drop":
            return self._let_go(moment, self._item())
        if verb == "put":
            return Primitive(PUT)
        return Primitive(STAY, frames=int(str(self.action.args[0])))

    def steps_to_go(self, moment: Moment, rules: Rules) -> int | None:
        """Return the frames that it still takes, where no way and no luck decides on them; None elsewhere."""
        body, verb = moment.state.agents[self.number], self.action.verb
        spent, runs = int(body["spent"]), int(body["verb"])
        if runs == PUT:
            return rules.put_frames - spent
        if runs == DROP:
            held = int((moment.state.hands[self.number] != NOTHING).sum()) if verb == "deliver" else 0
            return DROP_FRAMES * (held + 1) - spent
        if verb == "explore" and self._turned:
            return TURN_FRAMES * (TURNS - self._turned + 1) - spent
        return None

    def take(self, moment: Moment) -> None:
        """Take in how its primitive action has ended."""
        body = moment.state.agents[self.number]
        last, is_failed = int(body["last"]), body["status"] == FAILURE
        if last in (GRASP, PUT, DROP) and is_failed:
            reason = REASONS[int(body["reason"])]
            if last == GRASP and reason in MOVED and not moment.knowledge.things[self.number, self._item()]["visible"]:
                # The floor before its feet is out of the picture: nothing else would tell it, and it would try again.
                sight.forget(moment.knowledge, self.number, self._item())
                reason = "gone"
            self.result = Result("failed", reason)
        elif last in (GRASP, PUT, STAY) or (last == DROP and self.action.verb == "drop"):
            self.result = DONE
        elif last == LEFT and self._turned == TURNS:
            visit = moment.knowledge.rooms[self.number, self.names.room_numbers[first(self.action)]]
            visit["looked"], visit["explored"] = True, WHOLE
            self.result = DONE

    # ---- walks

    def _go(self, moment: Moment) -> Primitive | Result:
        room = self.names.room_numbers[first(self.action)]
        box, body = self.names.instance.plan.rooms[room].box, moment.state.agents[self.number]
        if body["room"] == room and box.contains(float(body["x"]), float(body["z"])):
            return DONE
        has_hand = bool((moment.state.hands[self.number] == NOTHING).any())
        sighted = self._sight(moment, ANYTHING)
        if sighted and has_hand:
            return _ended_by(sighted)
        return self._walk(moment, *box.center, 0.0) or DONE

    def _explore(self, moment: Moment) -> Primitive | Result:
        room = self.names.room_numbers[first(self.action)]
        if not self._turned:
            walk = self._walk(moment, *self.names.instance.plan.rooms[room].box.center, MIDDLE_NEAR)
            is_there = moment.state.agents[self.number]["room"] == room
            if isinstance(walk, Primitive) or (isinstance(walk, Result) and not is_there):
                return walk  # who cannot get to the middle looks around where it is
        self._turned += 1
        return Primitive(LEFT)

    def _search(self, moment: Moment) -> Primitive | Result:
        if sighted := self._sight(moment, str(self.action.args[0])):
            return _ended_by(sighted)
        if self._steps >= SEARCH_STEPS:
            return DONE
        if self._place is None:
            self._place = self._draw_place(moment)
        walk = self._walk(moment, *self._place, SEARCH_NEAR)
        return walk if isinstance(walk, Primitive) else DONE  # what cannot be reached is searched as far as one gets

    def _draw_place(self, moment: Moment) -> tuple[float, float]:
        """Return a place that the agent has not seen, in a room or corridor; where there is none, a free one."""
        chart, is_inside = moment.knowledge.chart[self.number], moment.field.room >= 0
        cells = np.flatnonzero((chart == UNKNOWN) & is_inside)
        cells = cells if len(cells) else np.flatnonzero((chart == FREE) & is_inside)
        cell = int(cells[self.rng.integers(len(cells))])
        return CHART_X + CHART_CELL * (cell // CHART[1]), CHART_Z + CHART_CELL * (cell % CHART[1])

    def _fetch(self, moment: Moment) -> Primitive | Result:
        item = self._item()
        sighting, hands = moment.knowledge.things[self.number, item], moment.state.hands[self.number]
        if sighting["seen"] == NEVER:
            return Result("failed", "gone")
        if sighting["holder"] != NOBODY:
            return Result("failed", "held")
        if sighting["inside"] != NOTHING:
            return Result("failed", "contained")
        if NOTHING not in hands.tolist():
            return Result("failed", "hand_full")
        x, z = float(sighting["x"]), float(sighting["z"])
        walk = self._walk(moment, x, z, FETCH_NEAR)
        if isinstance(walk, Primitive) or (walk is not None and self._metres(moment, x, z) > GRASP_RANGE):
            return walk
        return Primitive(GRASP, item, 0 if hands[0] == NOTHING else 1)

    def _deliver(self, moment: Moment) -> Primitive | Result:
        hands, bed = moment.state.hands[self.number].tolist(), self.names.instance.bed
        held = [item for item in hands if item != NOTHING]
        if not held:
            return DONE
        if moment.knowledge.own["bed"][self.number] == NEVER:
            return self._find_bed(moment)
        is_there = moment.state.agents[self.number]["room"] == bed.room
        walk = None
        if not self._turned:  # the first drop decides: a way that is then too far is not walked again
            walk = self._walk(moment, bed.x, bed.z, BED_NEAR if is_there else 0.0)
        if isinstance(walk, Primitive):
            return walk
        if walk is not None and not (is_there and self._metres(moment, bed.x, bed.z) < BED_RANGE):
            return walk
        self._turned = 1
        return self._let_go(moment, held[0])

    def _find_bed(self, moment: Moment) -> Primitive | Result:
        """Walk to the middle of the bedroom, or as far as it gets in it, and look around until the bed is in sight."""
        room = self.names.room_numbers[self.names.bedrooms[0]]
        if not self._looked:
            walk = self._walk(moment, *self.names.instance.plan.rooms[room].box.center, MIDDLE_NEAR)
            if walk is not None and (isinstance(walk, Primitive) or moment.state.agents[self.number]["room"] != room):
                return walk
        self._looked += 1
        return Primitive(LEFT) if self._looked <= 2 * TURNS else Result("failed", "no_bed", "spatial")

    def _let_go(self, moment: Moment, item: int) -> Primitive | Result:
        hands = moment.state.hands[self.number].tolist()
        return Primitive(DROP, hand=hands.index(item)) if item in hands else Result("failed", "empty_hand")

    def _walk(self, moment: Moment, x: float, z: float, near: float) -> Primitive | Result | None:
        """Return the next step of a walk, or why there is none; None at its end."""
        body = moment.state.agents[self.number]
        at = float(body["x"]), float(body["z"])
        if math.dist(at, (x, z)) <= near:
            return None
        self._steps += 1
        self._since += 1
        if math.dist(at, self._anchor) > STUCK_SPAN:
            self._anchor, self._since = at, 0
        knowledge = moment.knowledge
        chart, nearness = knowledge.chart[self.number], knowledge.near[self.number]
        verb = navigation.choose_move(self.way, chart, nearness, moment.state, self.number, x, z)
        if verb == NONE or self._since > STUCK_STEPS or self._steps > MOST_STEPS:
            return Result("failed", "no_way", "spatial")
        return Primitive(verb)

    # ---- what it goes by

    def _item(self) -> int:
        return self.names.item_numbers[first(self.action)]

    def _metres(self, moment: Moment, x: float, z: float) -> float:
        body = moment.state.agents[self.number]
        return math.dist((float(body["x"]), float(body["z"])), (x, z))

    def _sight(self, moment: Moment, what: str) -> list[Entity]:
        """Return the things of such a kind that have come in sight since the last step and were not known before.

        What somebody carries is not there to be taken.
        """
        things = moment.knowledge.things[self.number]
        holder = np.where(things["inside"] == NOTHING, things["holder"], things["holder"][things["inside"]])
        is_seen = ((things["seen"] != NEVER) & (holder == NOBODY)).tolist()
        holds_one = any(int(item) in self.names.container_numbers for item in moment.state.hands[self.number])
        sought = list(self.names.target_numbers) if what in (ANYTHING, "target") else []
        if what == "container" or (what == ANYTHING and not holds_one):
            sought += self.names.container_numbers
        known = {self.names.things[number] for number in sought if is_seen[number]}
        if what in (ANYTHING, "bed") and moment.knowledge.own["bed"][self.number] != NEVER:
            known.add(BED)
        before, self._known = self._known, frozenset(known)
        return [] if before is None else sorted(known - before, key=attrgetter("id", "kind"))


def _ended_by(sighted: Sequence[Entity]) -> Result:
    """Return how a walk ends for what came in sight."""
    return Result("done", f"sighted: {listed([*map(plain, sighted)])} came in sight")
