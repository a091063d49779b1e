"""Transport in words: mission, rules of the instance, how a goal stands, and the situation of an agent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Final

from teamworld.language import AgentId, Cell, Entity, Facts, plain
from teamworld.worlds.base.ages import Ages, ago
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import Goal
from teamworld.worlds.transport.beliefs import DENSITIES, GLANCE, UNLIKELY, TransportBeliefs
from teamworld.worlds.transport.goals import Wanted, Wants
from teamworld.worlds.transport.observe import BED, Known
from teamworld.worlds.transport.physics import BED_RANGE, DROP_FRAMES, GRASP_RANGE, TURN, TURN_FRAMES
from teamworld.worlds.transport.sight import FARTHEST, Eyes
from teamworld.worlds.transport.skills import (
    BED_NEAR,
    CHARACTERS_PER_FRAME,
    FETCH_NEAR,
    LONGEST_MESSAGE,
    MIDDLE_NEAR,
    PULSE,
    SEARCH_STEPS,
    STUCK_SPAN,
    STUCK_STEPS,
    TURNS,
)
from teamworld.worlds.transport.state import CAPACITY, Rules
from teamworld.worlds.transport.walking_times import FRAMES_TO_BED, GRASP_FRAMES, TO_ANOTHER, WITHIN_ROOM

#: Share of a room from which on it counts as explored, and in part, as rules say it.
_WHOLE, _PART = "90 %", "10 %"


# The mission and the rules: known to all from the start.


def tell_task(wants: Wants, horizon: int) -> str:
    """Return the mission and what counts."""
    things = listed([count(wanted.number, wanted.kind) for wanted in wants.wanted])
    whole = sum(wanted.number for wanted in wants.wanted)
    return (
        f"Bring {things} to {plain(BED)} within {horizon} steps, and as soon as you can. Each of the {whole} counts 1 "
        f"point, at once and for good, when it comes within {BED_RANGE:g} m of the bed in the bedroom: lying, in hands "
        "or in a container. Containers help to carry; they count nothing. The episode ends when all are delivered."
    )


def tell_rules(wants: Wants, rules: Rules, eyes: Eyes, beliefs: TransportBeliefs) -> str:
    """Return how this instance works; all that the built-in rules estimate and expect by."""
    names = wants.names
    team = len(names.team) > 1
    steal = " It can be taken out of another agent's hands." if rules.can_steal else ""
    spill = f"; with probability {rules.put_failure:g} it falls beside it" if rules.put_failure else ""
    parts = [
        "Time counts in steps, which are frames of the simulator. A turn by "
        f"{TURN:g} degrees takes {TURN_FRAMES}, a move forward of up to 0.44 m 2 to 9: a walk gets stuck at furniture "
        "and goes on in bits. An action lasts until it is done or fails, unless you start another one; after a failed "
        "one comes the next of your plan, if any.",
        f"You have two hands, for one target or container each. Fetching walks to {FETCH_NEAR:g} m and grasps, at any "
        f"height; from up to {GRASP_RANGE:g} m where no way leads nearer.{steal} Putting a target into the container "
        f"in your other hand takes {rules.put_frames} steps{spill}. A container holds {CAPACITY} targets, of any "
        "tasks; fetching a container is listed with the task "
        f"that lacks most. Dropping takes {DROP_FRAMES} steps a hand: the thing lies after the first step, and "
        "another action may be begun then. What is in a container stays in it; the container fills a hand itself, so "
        f"it pays from three targets on (two puts and a hand). Deliver drops at {BED_NEAR:g} m from the bed; "
        "what you still hold there counts already and for good, but tasks list it until it lies, as if it did not.",
        _tell_sight(eyes, team),
    ]
    if team:
        parts.append(
            "Agents are in one another's way, so doors can be blocked. The one who grasps first has a thing. Where "
            f"messages take time, one takes a step for every {CHARACTERS_PER_FRAME} characters begun; the longest has "
            f"{LONGEST_MESSAGE:,}."
        )
    return "\n".join((" ".join(parts), _tell_ways(wants), *_tell_places(wants, beliefs)))


def _tell_sight(eyes: Eyes, team: bool) -> str:
    others = ", teammates with what they hold" if team else ""
    noise = f" In each look a thing in sight goes unnoticed with probability {eyes.miss:g}." if eyes.miss > 0 else ""
    moved = (
        " What you saw earlier may have been moved since. You act only on what you saw yourself, not on what was told."
        if team
        else ""
    )
    far = f"{eyes.thing_range:g} m ahead" if eyes.thing_range < FARTHEST else f"{FARTHEST:g} m ahead, small ones less"
    return (
        "You see what is ahead of you within 45 degrees to either side and is not hidden by walls or furniture: "
        f"things up to {far}{others}. You look after every move, turn and grasp of anybody; floor nearer than 1.35 m "
        f"is below your picture, so what lies there is missed. explore makes {TURNS} turns within {MIDDLE_NEAR:g} m of "
        f"the middle of a room, or where you get stuck. A room counts as explored after that, or once {_WHOLE} of it "
        f"was seen, and as explored in part from {_PART} on or once you have been there; shares seen are told in steps "
        f"of 10 %. Take it that coming into a room shows a thing there with probability {GLANCE:g} and exploring it "
        f"shows the rest, though corners may stay hidden.{noise}{moved}"
    )


def _tell_ways(wants: Wants) -> str:
    middles = ", ".join(f"{plain(room)} {_spot(middle)}" for room, middle in wants.names.rooms.items())
    return (
        f"Places are (x, z) in centimetres; middles of the rooms: {middles}. A place in a corridor belongs to the "
        "nearest room, and what is estimated from there, as within it, may be far too low. A walk is estimated by its "
        f"straight line: {_per_metre(WITHIN_ROOM)} within a room, {_per_metre(TO_ANOTHER)} to another, "
        f"{FRAMES_TO_BED} more to the bed from another room. The line "
        f"ends {FETCH_NEAR:g} m before a thing, {BED_NEAR:g} m before the bed (or the middle of its room, until you "
        f"have seen it), {MIDDLE_NEAR:g} m before the middle to explore and half a room's width before it to go there. "
        "Nobody is told of doors, so a walk may first lead away; four in five take half to twice their estimate, "
        f"which may grow on the way. A walk that is stopped tries on, and fails after {STUCK_STEPS} moves that led "
        f"less than {STUCK_SPAN:g} m. "
        f"A grasp is {GRASP_FRAMES} more, looking around {TURNS * TURN_FRAMES}, a "
        f"search {SEARCH_STEPS * TURN_FRAMES}, a wait {PULSE} at most. You are asked again when your action "
        "ends; where all are asked together, also as soon as anybody sees something new, were it a tenth of a room."
    )


def _per_metre(estimate: tuple[int, int]) -> str:
    return f"{count(estimate[0], 'step')} and {estimate[1]} a metre"


def _tell_places(wants: Wants, beliefs: TransportBeliefs) -> Iterator[str]:
    """Yield where things tend to be: what ``beliefs`` weighs places by."""
    names = wants.names
    kinds = {*(wanted.kind for wanted in wants.wanted), *names.container_kinds}
    lines = []
    for group, by_room in DENSITIES:
        own = [kind for kind in group if kind in kinds]
        if own:
            lines.append(f"{', '.join(own)}: {', '.join(f'{room} {weight:g}' for room, weight in by_room.items())}")
    areas = ", ".join(f"{plain(room)} {area:.0f}" for room, area in beliefs.areas.items())
    yield (
        f"How densely things lie at the start in rooms of a kind, against each other: {'; '.join(lines)}; elsewhere "
        f"{UNLIKELY:g}. A room weighs its density times its square metres ({areas}) times its unseen share, explored "
        "rooms nothing unless all are explored. Bedrooms have nothing but the bed. "
        f"The bed is in {listed([*map(plain, names.bedrooms)])}. There are more things in the house that are of no use."
    )


# How a goal stands.


def tell_goal(
    goal: Goal,
    wanted: Wanted,
    known: Known,
    agent: AgentId,
    wants: Wants,
    ways: Callable[[Entity], tuple[int, int | None] | None],
) -> str:
    """Return how a goal stands for an agent, in a line.

    Args:
        goal: The goal as it stands.
        wanted: What is wanted.
        known: What is known.
        agent: For whom.
        wants: All that is wanted.
        ways: Returns for a target the estimated steps until the agent holds it, and from there until it counts, None
            where nobody knows where to look for the bed; None in all where the agent has no free hand for it.
    """
    if goal.state == "done":
        return "done"
    use = f", {goal.capacity} are of use" if goal.capacity > 1 else ""
    parts = [f"{count(goal.units, f'more {wanted.kind}')} to {plain(BED)}; one agent is enough{use}"]
    for who in known.hands:
        own = [thing for thing in known.load(who) if wants.goal_of(thing) == goal.id]
        if own:
            carry = "carried" if who in known.last else "carry" if who == agent else "carries"
            age = " as last known" if who in known.last else ""
            age += f", which {'counts' if len(own) == 1 else 'count'} already" if _is_by_bed(who, known) else ""
            way = ways(own[0]) if who == agent and not age else None
            if way is not None and way[1] is not None:
                age = f", {count(way[1], 'step')} until {'it counts' if len(own) == 1 else 'they count'}"
            parts.append(f"{'you' if who == agent else who} {carry} {listed([*map(plain, own)])}{age}")
    for thing, serves in wants.lying(known).items():
        if serves == goal.id:
            there, way = f"{plain(thing)} in {plain(known.room[thing])}", ways(thing)
            if way is not None:  # whose steps they are stands there, as others read the line as well
                there += f": for you about {count(way[0], 'step')} to take it"
                there += "" if way[1] is None else f", then {way[1]} until it counts"
            parts.append(there)
    stored = [t for t, box in known.inside.items() if wants.goal_of(t) == goal.id and box in known.room]
    parts += [f"{plain(t)} in {plain(known.inside[t])}" for t in stored if t not in known.delivered]
    hidden = wants.unfound(known).get(goal.id, 0)
    if hidden:
        parts.append(f"{hidden} still to be found")
    return "; ".join(parts)


def _is_by_bed(who: AgentId, known: Known) -> bool:
    """Return whether what an agent holds counts as brought, as far as is known."""
    at, bed = known.points.get(who), known.points.get(BED)
    is_there = known.at.get(who) == known.room.get(BED) is not None
    return is_there and at is not None and bed is not None and math.dist(at, bed) < 100 * BED_RANGE


# The situation.


def describe(
    agent: AgentId,
    t: int,
    facts: Facts,
    known: Known,
    wants: Wants,
    walk: Callable[[Entity], int],
    bring: Callable[[Entity], int] | None,
) -> Iterator[str]:
    """Yield the lines of a situation in words.

    Args:
        agent: Whose situation it is.
        t: Steps gone.
        facts: What the agent knows, with the step of last sight of what it does not perceive now.
        known: The same in the form of rules.
        wants: What is to be delivered.
        walk: Returns the estimated steps until the agent is in a room, or has something in reach.
        bring: Returns the estimated steps from the middle of a room until what one brings counts; None where nobody
            knows where to bring it.
    """
    scene = _Scene(agent, t, facts, known, wants, walk, bring)
    yield f"You are {agent}{scene.where(agent)}. {scene.held(agent)}."
    whole, missing = sum(wanted.number for wanted in wants.wanted), sum(wants.missing(known).values())
    yield f"As far as you know {whole - missing} of {whole} are delivered."
    then = "; of rooms then those from the middle to the bed" if bring is not None else ""
    yield f"After each place: the estimated steps of your walk there{then}."
    for room in known.rooms:
        yield from scene.room(room)
    if rest := [entity for entity in scene.entities if scene.room_of(entity) not in known.rooms]:
        yield f"Room not known: {', '.join(map(scene.entity, rest))}."
    if BED not in known.room:
        yield f"{plain(BED)}: not found yet."
    for teammate in wants.names.team:
        if teammate != agent:
            yield scene.teammate(teammate)


class _Scene:
    """The words for what an agent knows, see ``describe``."""

    def __init__(
        self,
        agent: AgentId,
        t: int,
        facts: Facts,
        known: Known,
        wants: Wants,
        walk: Callable[[Entity], int],
        bring: Callable[[Entity], int] | None,
    ) -> None:
        self._agent, self._known, self._wants, self._walk, self._bring = agent, known, wants, walk, bring
        self._ages = Ages(facts, t)
        held = {thing for things in known.hands.values() for thing in things}
        subjects = {*known.room, *(thing for thing, box in known.inside.items() if box not in held)} - held
        self.entities = sorted(subjects, key=attrgetter("id", "kind"))

    def room_of(self, entity: Entity) -> Entity | None:
        """Return the room that something lies in, as far as is known."""
        return self._known.room.get(self._known.inside.get(entity, entity))

    def where(self, who: AgentId) -> str:
        """Return where an agent is, as far as is known."""
        room, point = self._known.at.get(who), self._known.points.get(who)
        at = "" if point is None else f" at {_spot(point)}"
        return f"{at}{'' if room is None else f' in {plain(room)}'}" or " in a place unknown"

    def held(self, who: AgentId) -> str:
        """Return what an agent holds, with what is in it."""
        things = self._known.hands.get(who, ())
        return f"{'You hold' if who == self._agent else 'Holds'} {self._list(things) or 'nothing'}"

    def _list(self, things: tuple[Entity, ...]) -> str:
        return listed([self._with_contents(thing) for thing in things])

    def _with_contents(self, thing: Entity) -> str:
        if thing not in self._wants.names.containers:
            return plain(thing)
        contents = [*map(plain, self._known.contents(thing))]
        return f"{plain(thing)} ({f'with {listed(contents)}' if contents else 'empty'})"

    def teammate(self, who: AgentId) -> str:
        """Return what is known of a teammate, with its age."""
        if who not in self._known.hands:
            return f"{who}: not seen yet."
        age, held = self._ages.of(who, "AT", "POSITION"), self._list(self._known.hands[who]) or "nothing"
        if not age:
            return f"{who}:{self.where(who)}, holding {held}."
        return f"{who}, seen {ago(age)}:{self.where(who)}; held {held} then."

    def room(self, room: Entity) -> Iterator[str]:
        """Yield what is known of a room: how well it was looked at, what is there."""
        known = self._known
        explored = {"all": "explored", "part": "explored in part"}.get(known.explored.get(room, ""), "not explored")
        share = f", {known.shares[room]} % seen" if 0 < known.shares.get(room, 0) < 100 else ""
        here = known.at.get(self._agent) == room
        way = "you are here" if here else count(self._walk(room), "step")
        bring = "" if self._bring is None else f"; then {self._bring(room)}"
        yield f"{plain(room)} ({way}{bring}): {explored}{share}."
        there = [entity for entity in self.entities if self.room_of(entity) == room]
        inside = [entity for entity in there if known.inside.get(entity) not in there]  # the rest is told as contents
        for words, is_own in _GROUPS.items():
            entities = [entity for entity in inside if is_own(entity, known, self._wants)]
            if entities:
                yield f"- {words}: {', '.join(map(self.entity, entities))}."

    def entity(self, entity: Entity) -> str:
        """Return what is known of something: where it lies, steps to it, its age."""
        known = self._known
        if entity in known.inside:
            return f"{plain(entity)} in {plain(known.inside[entity])}"
        at = f" {_spot(known.points[entity])}" if entity in known.points else ""
        age = self._ages.of(entity, "IN", "POSITION")
        seen = f" (seen {ago(age)})" if age else ""
        return f"{self._with_contents(entity)}{at} {self._walk(entity)}{seen}"


_Test = Callable[[Entity, Known, Wants], bool]
#: What there is in a room, in groups.
_GROUPS: Final[Mapping[str, _Test]] = {
    "where things go": lambda entity, _known, _wants: entity == BED,
    "delivered": lambda entity, known, _wants: entity in known.delivered,
    "targets": lambda entity, known, wants: entity in wants.names.targets and entity not in known.delivered,
    "containers": lambda entity, known, wants: entity in wants.names.containers and entity not in known.delivered,
}


def _spot(point: Cell) -> str:
    return f"({point[0]}, {point[1]})"
