"""The household in words: mission, rules of the instance, how a goal stands, and the situation of an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Final

from teamworld.language import AgentId, Cell, Entity, Facts, plain
from teamworld.worlds.base.ages import Ages, ago
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import Goal
from teamworld.worlds.household.beliefs import UNLIKELY, USUAL
from teamworld.worlds.household.goals import Predicates, Wanted
from teamworld.worlds.household.homes.furnishing import GOAL_ROOMS, TASKS
from teamworld.worlds.household.homes.home import REACH
from teamworld.worlds.household.observe import Known
from teamworld.worlds.household.placement_prior import shares
from teamworld.worlds.household.sightlines import HALF_VIEW
from teamworld.worlds.household.state import HANDS, Rules
from teamworld.worlds.household.ways import SHORT, TURNS

#: How good estimates of ways are.
_RIGHT: Final = {"room": "9 in 10 are right within a step", "cone": "9 in 10 are right within 2 steps"}
_IN: Final = {"ON": "on", "INSIDE": "in", "IN": "in"}


# The mission and the rules: known to all from the start.


def tell_task(predicates: Predicates, horizon: int) -> str:
    """Return the mission and what counts."""
    episode = predicates.names.episode
    title = TASKS[episode.task].title if episode.task in TASKS else episode.task
    things = listed([count(wanted.number, wanted.kind) for wanted in predicates.wanted])
    whole = sum(wanted.number for wanted in predicates.wanted)
    return (
        f"{title[0].upper()}{title[1:]}: put {things} {_IN[predicates.relation]} {plain(predicates.target)} within "
        f"{horizon} steps, and as soon as you can. Each of the {whole} counts 1 point once it lies there, whichever of "
        "its class it is, and is lost again if it is taken away; more than asked for counts nothing."
    )


def tell_rules(predicates: Predicates, rules: Rules) -> str:
    """Return how this instance works; all that the built-in rules estimate and expect by."""
    team, target = len(predicates.names.team) > 1, plain(predicates.target)
    parts = [
        f"A step is up to 1 m of walking, {'one turn by 30 degrees, ' if rules.sight == 'cone' else ''}or one thing in "
        f"reach (middle of one to edge of the other at most {REACH} m; your body is 0.8 m wide) taken, put down, "
        "opened or closed, with the last of the way, which may be over a metre, in the same step. An action lasts "
        "until it is done, you see that it cannot be, or you start another; what was planned next follows a failed one "
        "too. You have two hands, which may hold things of different tasks; taking and opening need a free one.",
    ]
    if rules.mode == "engine":
        parts.append("open, close, grab and put work from any distance; check, fetch and deliver walk there first.")
    if rules.strict_put:
        parts.append("Nothing can be put into what is closed.")
    elif predicates.relation == "INSIDE":
        unseen = ", where others do not see them" if team else ""
        parts.append(f"Things can be put into {target} while it is closed{unseen}; only deliver opens it first.")
    parts.append(_tell_sight(rules, team))
    if team:
        parts.append(
            "Agents are not in one another's way. If two handle one thing in the same step, one of them, drawn at "
            "random, does it and the other fails."
        )
    return "\n".join((" ".join(parts), _tell_ways(predicates, rules), *_tell_places(predicates, rules)))


def _tell_sight(rules: Rules, team: bool) -> str:
    others = ", with teammates and what they hold" if team else ""
    moved = (
        " What you saw earlier may have been moved since. You act only on what you saw yourself, not on what was told."
        if team
        else ""
    )
    closed = "Closed containers hide what is in them."
    if rules.sight == "room":
        return f"On entering a room, also to pass it, you see all of it{others}, and no other room. {closed}{moved}"
    hidden = ", unless tall furniture hides it" if rules.occlusion else ""
    return (
        f"You see what is ahead of you ({HALF_VIEW:.0f} degrees to either side, through doors too){others}{hidden}. "
        f"All of a room is seen by {TURNS} turns in its middle; explore goes there and makes them. {closed}{moved}"
    )


def _tell_ways(predicates: Predicates, rules: Rules) -> str:
    middles = ", ".join(f"{plain(room)} {_spot(middle)}" for room, middle in predicates.names.rooms.items())
    doors = ", ".join(f"{plain(room)} - {plain(other)} {_spot(at)}" for room, other, at in predicates.names.doors)
    return (
        f"Rooms by their middles (x, z) in centimetres: {middles}. {f'Doors: {doors}. ' if doors else ''}A "
        f"walk is estimated as the straight lines through the doors to {SHORT[rules.sight]} m before the middle of a "
        f"thing (then in reach) or to the door of a room, rounded up; {_RIGHT[rules.sight]}."
    )


def _tell_places(predicates: Predicates, rules: Rules) -> Iterator[str]:
    """Yield where things tend to be: what ``beliefs`` weighs places by."""
    kinds = {room.kind for room in predicates.names.rooms}
    classes = [wanted.kind for wanted in predicates.wanted]
    placement = predicates.names.episode.placement
    expected = {kind: shares(placement, predicates.target.kind, kind) for kind in classes}
    spots = dict.fromkeys(spot for table in expected.values() for spot in table if spot.room in kinds)
    if spots:
        by_room: dict[str, list[str]] = {}
        for spot in spots:
            share = "/".join(f"{100 * expected[kind].get(spot, 0.0):.0f}" for kind in classes)
            by_room.setdefault(spot.room, []).append(f"{_IN[spot.relation]} {spot.furniture} {share}")
        lines = (f"{room}: {', '.join(places)}" for room, places in by_room.items())
        rest = [plain(room) for room in predicates.names.rooms if room.kind not in by_room]
        other = f"each of {listed(rest)}" if len(rest) > 1 else "".join(rest)
        part = " Of a room that you have seen in part, half of this is left." if rules.sight == "cone" else ""
        yield (
            f"Where things tend to lie at the start, in per cent ({'/'.join(classes)}), counted in other homes: "
            f"{'; '.join(lines)}. A number is for all furniture of that kind in all rooms of that kind together: "
            f"share it evenly among these pieces. All other furniture of each of these rooms has {100 * UNLIKELY:.0f} "
            f"in all{f', and so has {other}' if other else ''}.{part}"
        )
    usual = GOAL_ROOMS.get(predicates.target.kind)
    if usual in kinds:
        yield f"{plain(predicates.target)} is {USUAL:g} times likelier in a {usual} than in a room of another kind."


# How a goal stands.


def tell_goal(
    goal: Goal, wanted: Wanted, known: Known, agent: AgentId, ways: Callable[[Entity], tuple[int, int | None] | None]
) -> str:
    """Return how a goal stands for an agent, in a line.

    Args:
        goal: The goal as it stands.
        wanted: Its predicate.
        known: What is known.
        agent: For whom.
        ways: Returns for a thing the estimated steps until the agent holds it, and from there until it is delivered,
            None where it is not known where to; None in all where the agent has no free hand for it.
    """
    if goal.state == "done":
        return "done"
    to = f"{_IN[wanted.relation]} {plain(wanted.target)}"
    use = f", {goal.capacity} are of use" if goal.capacity > 1 else ""
    parts = [f"{count(goal.units, f'more {wanted.kind}')} {to}; one agent is enough{use}"]
    held = {who: [thing for thing in things if thing.kind == wanted.kind] for who, things in known.hands.items()}
    for who, own in held.items():
        if own:
            verb = "you hold" if who == agent else f"{who} held" if who in known.last else f"{who} holds"
            them = "it" if len(own) == 1 else "them"
            brings = f" as last known and may bring {them}" if who in known.last else ""
            way = ways(own[0]) if who == agent else None
            if way is not None and way[1] is not None:
                brings = f", {count(way[1], 'step')} to bring {them}"
            parts.append(f"{verb} {listed([*map(plain, own)])}{brings}")
    lying = [
        thing
        for thing in sorted(known.places, key=attrgetter("id"))
        if thing.kind == wanted.kind and known.places[thing] != (wanted.relation, wanted.target)
    ]
    is_held = sum(len(own) for who, own in held.items() if who not in known.last) >= goal.units
    if is_held:
        parts.append("no more need be found")
    for thing in () if is_held else lying:
        relation, holder = known.places[thing]
        shut = " (closed)" if relation == "INSIDE" and not known.opened.get(holder, True) else ""
        there, way = f"{plain(thing)} {_IN[relation]} {plain(holder)}{shut}", ways(thing)
        if way is not None:  # whose steps they are stands there, as others read the line as well
            there += f": for you {count(way[0], 'step')} to take it"
            there += "" if way[1] is None else f", then {way[1]} to bring it"
        parts.append(there)
    hidden = goal.units - len(lying) - sum(map(len, held.values()))
    if hidden > 0:
        parts.append(f"{hidden} still to be found")
    return "; ".join(parts)


# The situation.


def describe(
    agent: AgentId,
    t: int,
    facts: Facts,
    known: Known,
    predicates: Predicates,
    walk: Callable[[Entity], int],
) -> Iterator[str]:
    """Yield the lines of a situation in words.

    Args:
        agent: Whose situation it is.
        t: Steps gone.
        facts: What the agent knows, with the step of last sight of what it does not perceive now.
        known: The same in the form of rules.
        predicates: The goal.
        walk: Returns the estimated steps until the agent is in a room, or has something in reach.
    """
    scene = _Scene(agent, t, facts, known, predicates, walk)
    target_known = predicates.target in known.room
    first = f": your hands are full, {'deliver' if target_known else f'find {plain(predicates.target)}'} first"
    full = first if len(known.hands.get(agent, ())) >= HANDS else ""
    yield f"You are {agent}{scene.where(agent)} and hold {scene.held(agent)}{full}."
    yield "After each place: the estimated steps of your walk there; taking, opening or putting is 1 more."
    for room in known.rooms:
        yield from scene.room(room)
    rest = [entity for entity in scene.entities if known.room_of(entity) not in known.rooms]
    if rest:
        yield f"Room not known: {', '.join(map(scene.entity, rest))}."
    if not target_known:
        yield f"{plain(predicates.target)}: not found yet."
    for teammate in predicates.names.team:
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
        predicates: Predicates,
        walk: Callable[[Entity], int],
    ) -> None:
        self._agent, self._known, self._walk = agent, known, walk
        self._target = predicates.target
        self._ages = Ages(facts, t)
        held = {thing for things in known.hands.values() for thing in things}
        subjects = {*known.points, *known.opened, *known.room, *known.places}
        self.entities = sorted(
            (
                entity
                for entity in subjects
                if isinstance(entity, Entity) and entity not in known.rooms and entity not in held
            ),
            key=attrgetter("id", "kind"),
        )

    def where(self, who: AgentId) -> str:
        """Return where an agent is, as far as is known."""
        room, point = self._known.at.get(who), self._known.points.get(who)
        at = "" if point is None else f" at {_spot(point)}"
        return f"{at}{'' if room is None else f' in {plain(room)}'}" or " in a place unknown"

    def held(self, who: AgentId) -> str:
        """Return what an agent holds."""
        things = self._known.hands.get(who, ())
        return listed([*map(plain, things)]) if things else "nothing"

    def teammate(self, who: AgentId) -> str:
        """Return what is known of a teammate, each with its age."""
        if who not in self._known.hands:
            return f"{who}: not seen yet."
        place, hold = self._ages.of(who, "AT", "POSITION"), self._ages.of(who, "HOLD")
        left = ", left since" if who in self._known.points and who not in self._known.at else ""
        apart = f" ({ago(hold)})" if self._known.hands[who] and hold != place else ""
        if not place:
            return f"{who}:{self.where(who)}, holding {self.held(who)}{apart}."
        hands = (
            f"held {self.held(who)} then{apart}" if self._known.hands[who] else "has nothing in hand that you know of"
        )
        return f"{who}, seen {ago(place)}:{self.where(who)}{left}; {hands}."

    def room(self, room: Entity) -> Iterator[str]:
        """Yield what is known of a room: how well it was looked at, its containers, what else is there."""
        known = self._known
        explored = {"all": "explored", "part": "explored in part"}.get(known.explored.get(room, ""), "not explored")
        here, age = known.at.get(self._agent) == room, self._ages.of(room, "EXPLORED")
        way = "you are here" if here else count(self._walk(room), "step")
        yield f"{plain(room)} ({way}): {explored}{f', last seen {ago(age)}' if age else ''}."
        inside = [entity for entity in self.entities if known.room_of(entity) == room]
        full = {holder for relation, holder in known.places.values() if relation == "INSIDE"}
        groups = {
            "closed containers": [entity for entity in inside if known.opened.get(entity) is False],
            "open": [entity for entity in inside if known.opened.get(entity) and entity in full],
            "open, nothing for the mission in it": [
                entity for entity in inside if known.opened.get(entity) and entity not in full
            ],
            "also there": [entity for entity in inside if entity not in known.opened],
        }
        for words, entities in groups.items():
            if entities:
                yield f"- {words}: {', '.join(self.entity(entity, age) for entity in entities)}."

    def entity(self, entity: Entity, age: int = 0) -> str:
        """Return what is known of something: where it lies, steps to it, its age if this is not ``age``."""
        known = self._known
        relation, holder = known.places.get(entity, ("IN", entity))
        shut = relation == "INSIDE" and not known.opened.get(holder, True)
        on = "" if relation == "IN" else f" {_IN[relation]} {plain(holder)}{' (closed)' if shut else ''}"
        at = f" {_spot(known.points[entity])}" if entity in known.points else ""
        way = " in reach" if entity in known.near.get(self._agent, ()) else f" {self._walk(entity)}"
        own = self._ages.of(entity, "IN", "INSIDE", "ON", "STATE")
        seen = f" (seen {ago(own)})" if own != age else ""
        goes = " (where things go)" if entity == self._target else ""
        return f"{plain(entity)}{goes}{on}{at}{'' if shut else way}{seen}"


def _spot(point: Cell) -> str:
    return f"({point[0]}, {point[1]})"
