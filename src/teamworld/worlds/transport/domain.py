"""The rules that everybody knows: goals, options, candidate plans, preconditions, effects, costs, and what is open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Facts, GoalId, Plan, Relation, plain
from teamworld.worlds.base.domain import StateDomain
from teamworld.worlds.base.words import listed
from teamworld.worlds.contract import POSSIBLE, WAIT, Goal, Verdict, View
from teamworld.worlds.transport import heuristic
from teamworld.worlds.transport.beliefs import TransportBeliefs
from teamworld.worlds.transport.goals import Wants
from teamworld.worlds.transport.hauling import TransportHauling
from teamworld.worlds.transport.observe import BED, Known, Names, believed, facts_of
from teamworld.worlds.transport.physics import BED_RANGE, DROP_FRAMES, TURN_FRAMES
from teamworld.worlds.transport.skills import (
    ANYTHING,
    BED_NEAR,
    FETCH_NEAR,
    MEASURES,
    MIDDLE_NEAR,
    PULSE,
    SEARCH_STEPS,
    TURNS,
    first,
    list_schemas,
)
from teamworld.worlds.transport.state import CAPACITY, HANDS, Rules
from teamworld.worlds.transport.text import describe, tell_goal
from teamworld.worlds.transport.walking_times import FRAMES_TO_BED, GRASP_FRAMES, walk_frames

#: Things that plans name at most: the nearest ones.
NEAREST: Final = 4
#: Missing targets from which on a container is worth fetching.
WORTH_A_CONTAINER: Final = 2


class TransportDomain(StateDomain[Known]):
    """The domain of transport.

    Args:
        names: Of all that the task is about. Rules use of it what is known to all from the start: rooms and the task.
        rules: The rules of the instance.
    """

    measures = MEASURES

    def __init__(self, names: Names, rules: Rules) -> None:
        self.names, self.rules = names, rules
        self.wants = Wants(names)
        self._relations = names.relations
        self._beliefs = TransportBeliefs(self.wants, self.read)

    @property
    def relations(self) -> Sequence[Relation]:
        """What facts can state."""
        return self._relations

    @property
    def beliefs(self) -> TransportBeliefs:
        """What agents may know and believe."""
        return self._beliefs

    @property
    def hauling(self) -> TransportHauling:
        """What is carried to the bed."""
        return TransportHauling(self.wants, self._frames_until_it_counts)

    def read(self, facts: Facts) -> Known:
        """Return what facts tell of; everybody knows the rooms, whatever the facts leave out."""
        known = believed(facts)
        return known if known.rooms is self.names.rooms else facts.derive(self._with_rooms)

    def _with_rooms(self, facts: Facts) -> Known:
        return replace(believed(facts), rooms=self.names.rooms)

    def write(self, state: Known) -> Facts:
        """Return what is known as facts."""
        return Facts.later(lambda: facts_of(state), believed, state)

    def abilities(self, _agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what an agent can do."""
        return list_schemas(self.names, self.read(facts))

    def describe(self, view: View) -> Iterator[str]:
        """Yield the lines of a situation in words."""
        agent, known = view.agent, self.read(view.known)

        def bring(room: Entity) -> int:
            return self._walk_to_bed(agent, self._entered(agent, room, known, looks=False), BED_RANGE)

        ways = bring if self._can_deliver(known) else None
        return describe(
            agent, view.t, view.known, known, self.wants, lambda place: self._walk(agent, place, known), ways
        )

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return what a goal lacks, what is known of it, and the frames that this takes the agent."""
        known = self.read(facts)
        wanted = next((wanted for wanted in self.wants.wanted if wanted.id == goal.id), None)
        if wanted is None:
            return super().describe_goal(goal, agent, facts)

        def ways(thing: Entity) -> tuple[int, int | None] | None:
            if thing in known.load(agent):
                return 0, self._frames_until_it_counts(agent, known) if self._can_deliver(known) else None
            if len(known.hands.get(agent, ())) >= HANDS:
                return None
            take = self._frames(agent, Action("fetch", (thing,)), known)
            if not self._can_deliver(known):
                return take, None
            return take, self._frames_until_it_counts(agent, self._taken(agent, thing, known))

        return tell_goal(goal, wanted, known, agent, self.wants, ways)

    def list_goals(self, state: Known) -> Sequence[Goal]:
        """Return one goal for each kind of target."""
        return self.wants.goals(state)

    # ---- options, in the order in which CoELA lists plans (``LLM.py``)

    def list_candidates(self, agent: AgentId, state: Known) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield what makes sense: fetch, put in, deliver, look into rooms, wait."""
        yield from self._fetches(agent, state)
        yield from self._puts(agent, state)
        targets = self.wants.targets_of(agent, state)
        if targets and self._can_deliver(state):
            yield Action("deliver"), self.wants.goal_of(targets[0])
        yield from ((action, None) for action in self._looks(agent, state))
        yield WAIT, None

    def _can_deliver(self, known: Known) -> bool:
        """Whether the bed is known, or where to look for it on the way."""
        return BED in known.room or bool(self.names.bedrooms)

    def _fetches(self, agent: AgentId, known: Known) -> Iterator[tuple[Action, GoalId | None]]:
        hands = known.hands.get(agent, ())
        if len(hands) >= HANDS:
            return
        missing, carried = self.wants.missing(known), self.wants.carried(known)
        for thing, goal in self.wants.lying(known).items():
            if carried[goal] < missing[goal]:
                yield Action("fetch", (thing,)), goal
        if any(thing in self.names.containers for thing in hands):
            return
        most = max(missing, key=lambda goal: missing[goal] - carried[goal], default=None)
        left = sum(missing.values()) - sum(min(carried[goal], missing[goal]) for goal in missing)
        for container in self.wants.useful_containers(known):
            inside = (self.wants.goal_of(target) for target in known.contents(container))
            loaded = next((goal for goal in inside if goal is not None and goal in missing), None)
            if loaded is not None or (left >= WORTH_A_CONTAINER and self.wants.places(container, known)):
                yield Action("fetch", (container,)), loaded or most

    def _puts(self, agent: AgentId, known: Known) -> Iterator[tuple[Action, GoalId | None]]:
        hands = known.hands.get(agent, ())
        containers = [thing for thing in hands if thing in self.names.containers and self.wants.places(thing, known)]
        for target in hands:
            if target in self.names.targets:
                yield from ((Action("put", (target, box)), self.wants.goal_of(target)) for box in containers)

    def _looks(self, agent: AgentId, known: Known) -> Iterator[Action]:
        """Yield ways to look for what was not found: the other rooms, the own one, any place, the bedroom."""
        here, is_over = known.at.get(agent), self.wants.is_search_over(known)
        wanted = [room for room in known.rooms if known.explored.get(room) != "all"]
        if is_over:
            return
        if not wanted:  # something was moved or overlooked: where nobody has been for longest
            others = (room for room in known.rooms if room != here)
            wanted = sorted(others, key=lambda room: (known.last.get(room, 0), room.id))[:1]
        if not self.wants.unfound(known):  # only the bed is missing
            wanted = [room for room in wanted if room in self.names.bedrooms] or wanted
        yield from (Action("go", (room,)) for room in wanted if room != here)
        if here in wanted:
            yield Action("explore", (here,))
        yield Action("search", (ANYTHING,))

    # ---- plans

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans that deliver a target for the goal, or look for one; without a goal, what is useful at large."""
        known = self.read(facts)
        plans = list(self._standby(agent, known) if goal is None else self._bring(goal, agent, known))
        legal = [actions for actions in dict.fromkeys(plans) if actions]
        return [Plan(actions, None if goal is None else goal.id) for actions in legal]

    def _bring(self, goal: Goal, agent: AgentId, known: Known) -> Iterator[tuple[Action, ...]]:
        hands, load = known.hands.get(agent, ()), self.wants.targets_of(agent, known)
        deliver: tuple[Action, ...] = (Action("deliver"),) if self._can_deliver(known) else ()
        put = tuple(action for action, _ in self._puts(agent, known))[:1]
        mine = [thing for thing in load if self.wants.goal_of(thing) == goal.id]
        free = [thing for thing, serves in self.wants.lying(known).items() if serves == goal.id]
        others = [thing for thing, serves in self.wants.lying(known).items() if serves != goal.id]
        near = self._nearest(agent, free, known)
        if mine and deliver:
            yield deliver
        if len(hands) >= HANDS:
            if put:
                yield (*put, *deliver)
                yield from ((*put, *self._take(thing), *deliver) for thing in near)
            elif deliver:
                yield deliver  # something else first
        elif near:
            yield from ((*self._take(thing), *deliver) for thing in near)
            pair = [*near, *self._nearest(agent, others, known)][:HANDS]
            if deliver and not hands and len(pair) == HANDS:
                yield (*self._take(pair[0]), *self._take(pair[1]), *deliver)
            yield from self._with_container(near, self._nearest(agent, others, known), agent, known, deliver)
        if not (free or mine) or not deliver:
            yield from ((action,) for action in self._explores(agent, known))
            yield (Action("search", (ANYTHING,)),)
            yield (WAIT,)

    def _with_container(
        self, near: Sequence[Entity], others: Sequence[Entity], agent: AgentId, known: Known, end: tuple[Action, ...]
    ) -> Iterator[tuple[Action, ...]]:
        """Yield plans that fill a container, that at hand or the nearest, and take one thing more in the other hand."""
        hands = known.hands.get(agent, ())
        held = [thing for thing in hands if thing in self.names.containers]
        lying = self._nearest(agent, self.wants.useful_containers(known), known)
        for container in held or (lying[:2] if not hands else []):
            places, fill = self.wants.places(container, known), [*near, *others]
            load: tuple[Action, ...] = () if held else self._take(container)
            for place, thing in enumerate(fill[: places + 1]):
                load = (*load, *self._take(thing), *((Action("put", (thing, container)),) if place < places else ()))
                if place or held:
                    yield (*load, *end)

    def _standby(self, agent: AgentId, known: Known) -> Iterator[tuple[Action, ...]]:
        if self.wants.targets_of(agent, known) and self._can_deliver(known):
            yield (Action("deliver"),)
        looks = sorted(self._explores(agent, known), key=lambda look: (self._frames(agent, look, known), str(look)))
        yield from ((look,) for look in looks)
        yield (WAIT, WAIT, WAIT)

    def _explores(self, agent: AgentId, known: Known) -> Iterator[Action]:
        """Yield rooms to look around in; walking there is part of it."""
        for action in self._looks(agent, known):
            if action.verb != "search":
                yield Action("explore", action.args)

    def _nearest(self, agent: AgentId, things: Iterable[Entity], known: Known) -> list[Entity]:
        near = sorted(things, key=lambda thing: (self._metres(agent, thing, known), thing.id))
        return near[:NEAREST]

    @staticmethod
    def _take(thing: Entity) -> tuple[Action, ...]:
        return (Action("fetch", (thing,)),)

    # ---- preconditions and effects

    def complete_action(self, _agent: AgentId, action: Action, _facts: Facts) -> Action:
        """Return the action: nothing that is left out has a default."""
        return action

    def check_form(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether there is such an action, and what it names is known."""
        is_walk = action.verb in ("go", "explore") and len(action.args) == 1
        if is_walk and action.args[0] in self.names.room_numbers:
            return POSSIBLE  # the common case, without making all schemas
        return super().check_form(agent, action, facts)

    def refuse(self, agent: AgentId, action: Action, state: Known) -> str:
        """Return why an action's preconditions do not hold."""
        verb, hands = action.verb, state.hands.get(agent, ())
        if verb == "go":
            return f"there: you are in {plain(first(action))}" if state.at.get(agent) == first(action) else ""
        if verb == "fetch":
            return self._cannot_fetch(agent, first(action), state)
        if verb == "put":
            return self._cannot_put(action, hands, state)
        if verb == "deliver":
            return "" if hands else "empty_hand: you hold nothing"
        if verb == "drop" and first(action) not in hands:
            return f"empty_hand: {plain(first(action))} is not in your hands"
        return ""

    def _cannot_fetch(self, agent: AgentId, thing: Entity, known: Known) -> str:
        hands = known.hands.get(agent, ())
        if len(hands) >= HANDS:
            return f"hand_full: you hold {listed([*map(plain, hands)])}; deliver, put in or drop first"
        holder = known.holder(thing)
        if holder is not None:
            return f"held: {'you hold' if holder == agent else f'{holder} holds'} it"
        if thing in known.inside:
            return f"contained: it is in {plain(known.inside[thing])}, fetch that"
        return "" if thing in known.room else f"unseen: nobody knows where {plain(thing)} is"

    def _cannot_put(self, action: Action, hands: Sequence[Entity], known: Known) -> str:
        target, container = first(action), action.args[1]
        if target not in hands or not isinstance(container, Entity) or container not in hands:
            return "nothing_to_put: hold a container and a target"
        full = f"container_full: {CAPACITY} things are in {plain(container)}"
        return "" if self.wants.places(container, known) else full

    def apply(self, agent: AgentId, action: Action, state: Known) -> Known:
        """Return what to expect after an action that succeeds."""
        verb = action.verb
        if verb in ("go", "explore"):
            return self._entered(agent, first(action), state, looks=verb == "explore")
        if verb == "fetch":
            return self._taken(agent, first(action), state)
        if verb == "put" and isinstance(container := action.args[1], Entity):
            target = first(action)
            held = tuple(thing for thing in state.hands[agent] if thing != target)
            return replace(state, hands={**state.hands, agent: held}, inside={**state.inside, target: container})
        if verb == "deliver":
            return self._delivered(agent, state)
        if verb == "drop":
            return _laid(agent, (first(action),), state)
        return state

    def _entered(self, agent: AgentId, room: Entity, known: Known, *, looks: bool) -> Known:
        seen = known.explored.get(room) or "part"
        return replace(
            known,
            at={**known.at, agent: room},
            points={**known.points, agent: known.rooms[room]},
            explored={**known.explored, room: "all" if looks else seen},
            shares={**known.shares, room: 100} if looks else known.shares,
            last=_less(known.last, (room,)),
        )

    def _taken(self, agent: AgentId, thing: Entity, known: Known) -> Known:
        at = {**known.at, agent: known.room[thing]} if thing in known.room else known.at
        return replace(
            known,
            at=at,
            points=_less({**known.points, agent: self._point(thing, known) or (0, 0)}, (thing,)),
            hands={**known.hands, agent: (*known.hands.get(agent, ()), thing)},
            room=_less(known.room, (thing,)),
            last=_less(known.last, (thing,)),
        )

    def _delivered(self, agent: AgentId, known: Known) -> Known:
        room = known.room.get(BED, self.names.bedrooms[0])
        point = self._point(BED, known) or known.rooms[room]
        there = replace(known, at={**known.at, agent: room}, points={**known.points, agent: point})
        held = known.hands[agent]
        return replace(_laid(agent, held, there), delivered=known.delivered | set(known.load(agent)))

    # ---- costs

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated frames of an action, at least 1; ways are estimated from straight lines."""
        return self._frames(agent, action, self.read(facts))

    def _frames(self, agent: AgentId, action: Action, known: Known) -> int:
        verb, place = action.verb, action.args[0] if action.args else None
        if verb == "talk":
            return max(1, place) if isinstance(place, int) else 1
        if verb == "wait":
            return PULSE
        if verb == "search":
            return SEARCH_STEPS * TURN_FRAMES
        if verb == "put":
            return self.rules.put_frames
        if verb == "drop":
            return DROP_FRAMES
        if verb == "deliver":
            held = known.hands.get(agent, ())  # none while the last drop goes on
            return self._walk_to_bed(agent, known) + DROP_FRAMES * len(held) if held else DROP_FRAMES
        if not isinstance(place, Entity) or verb not in ("go", "explore", "fetch"):
            return 1
        if verb == "go":
            return max(1, self._walk(agent, place, known))
        if verb == "explore":
            return self._walk_to(agent, place, MIDDLE_NEAR, known) + TURNS * TURN_FRAMES
        return self._walk(agent, place, known) + GRASP_FRAMES

    def _walk(self, agent: AgentId, place: Entity, known: Known) -> int:
        """Return the estimated frames until an agent is in a room, or a thing or the bed is in reach."""
        if place in known.rooms:
            return 0 if known.at.get(agent) == place else self._walk_to(agent, place, self._half(place), known)
        return self._walk_to_bed(agent, known) if place == BED else self._walk_to(agent, place, FETCH_NEAR, known)

    def _walk_to_bed(self, agent: AgentId, known: Known, near: float = BED_NEAR) -> int:
        """Return the same for the bed, or the middle of the bedroom until it was seen."""
        place = BED if BED in known.room else self.names.bedrooms[0]
        is_there = known.at.get(agent) == known.room.get(BED, place)
        return self._walk_to(agent, place, near, known) + (0 if is_there else FRAMES_TO_BED)

    def _frames_until_it_counts(self, agent: AgentId, known: Known) -> int:
        """Return the estimated frames until what an agent holds is near the bed; a container takes a target first."""
        load = self.wants.targets_of(agent, known)
        walk = self._walk_to_bed(agent, known, BED_RANGE)
        return walk if load or not known.hands.get(agent) else walk + self.rules.put_frames

    def _walk_to(self, agent: AgentId, place: Entity, near: float, known: Known) -> int:
        """Return the estimated frames of a walk that ends so many metres before a place."""
        room = place if place in known.rooms else known.room.get(place)
        return walk_frames(
            self._metres(agent, place, known) - near, leaves_room=room is None or room != known.at.get(agent)
        )

    def _half(self, room: Entity) -> float:
        """Return how far the middle of a room is from its nearest side, metres."""
        box = self.names.instance.plan.rooms[self.names.room_numbers[room]].box
        return min(box.x1 - box.x0, box.z1 - box.z0) / 2

    def _metres(self, agent: AgentId, place: Entity, known: Known) -> float:
        """Return the estimated way of an agent to a place, metres."""
        start = known.points.get(agent) or _middle(known.at.get(agent), known)
        other = self._point(place, known)
        return 5.0 if start is None or other is None else math.dist(start, other) / 100

    @staticmethod
    def _point(place: Entity, known: Known) -> Cell | None:
        return known.rooms.get(place) or known.points.get(place) or _middle(known.room.get(place), known)

    # ---- the scripted team

    def pool(self, views: Mapping[AgentId, View]) -> Facts:
        """Return what the team knows together."""
        return heuristic.pool(views)

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return the scripted team's plans for the agents that have none; see ``heuristic``."""
        return heuristic.make_plans(self.wants, self.options, views, running)


Key = TypeVar("Key")
Value = TypeVar("Value")


def _middle(room: Entity | None, known: Known) -> Cell | None:
    return None if room is None else known.rooms.get(room)


def _laid(agent: AgentId, things: Sequence[Entity], known: Known) -> Known:
    """Return what is so once an agent has laid things down where it is."""
    room, point = known.at.get(agent), known.points.get(agent)
    return replace(
        known,
        hands={**known.hands, agent: tuple(thing for thing in known.hands[agent] if thing not in things)},
        room=known.room if room is None else {**known.room, **dict.fromkeys(things, room)},
        points=known.points if point is None else {**known.points, **dict.fromkeys(things, point)},
    )


def _less(table: Mapping[Key, Value], keys: Iterable[object]) -> dict[Key, Value]:
    return {key: value for key, value in table.items() if key not in set(keys)}
