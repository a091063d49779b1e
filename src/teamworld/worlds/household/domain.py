"""The rules that everybody knows: goals, options, candidate plans, preconditions, effects, costs, and what is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Facts, GoalId, Plan, Relation, plain
from teamworld.worlds.base.domain import StateDomain
from teamworld.worlds.base.words import listed
from teamworld.worlds.contract import POSSIBLE, WAIT, Goal, Verdict, View
from teamworld.worlds.household import heuristic
from teamworld.worlds.household.beliefs import HouseholdBeliefs
from teamworld.worlds.household.goals import Predicates
from teamworld.worlds.household.observe import Known, Names, Place, believed, facts_of
from teamworld.worlds.household.skills import MEASURES, ONCE, PASSED, first, schemas
from teamworld.worlds.household.state import HANDS, Rules
from teamworld.worlds.household.text import describe, tell_goal
from teamworld.worlds.household.ways import TURNS, Ways


class HouseholdDomain(StateDomain[Known]):
    """The domain of the household.

    Args:
        names: Of all that the task is about. Rules use of it what is known to all from the start: rooms, the goal.
        rules: The rules of the instance.
        primitives: Whether single actions of the engine are left to the physics to judge.
    """

    measures = MEASURES

    def __init__(self, names: Names, rules: Rules, primitives: bool = False) -> None:
        self.names, self.rules = names, rules
        self._passed = frozenset((*ONCE, *PASSED)) if primitives else frozenset()
        self.predicates = Predicates(names)
        self._relations = names.relations
        self._beliefs = HouseholdBeliefs(self.predicates, self.read)
        self.ways = Ways(names, rules.sight)

    @property
    def relations(self) -> Sequence[Relation]:
        """What facts can state."""
        return self._relations

    @property
    def beliefs(self) -> HouseholdBeliefs:
        """What agents may know and believe."""
        return self._beliefs

    def read(self, facts: Facts) -> Known:
        """Return what facts tell of; everybody knows the rooms, whatever the facts leave out."""
        known = believed(facts)
        return known if known.rooms is self.names.rooms else facts.derive(self._with_rooms)

    def _with_rooms(self, facts: Facts) -> Known:
        known = believed(facts)
        points = dict[Entity | AgentId, Cell]([*known.points.items(), *self.names.rooms.items()])
        return replace(known, rooms=self.names.rooms, points=points)

    def write(self, state: Known) -> Facts:
        """Return what is known as facts."""
        return Facts(facts_of(state))

    def abilities(self, _agent: AgentId, facts: Facts) -> tuple[ActionSchema, ...]:
        """Return what an agent can do."""
        return schemas(
            self.names,
            self.read(facts),
            turns=self.rules.sight == "cone",
            strict=self.rules.strict_put,
            primitives=bool(self._passed),
        )

    def describe(self, view: View) -> Iterator[str]:
        """Yield the lines of a situation in words."""
        agent, known = view.agent, self.read(view.known)
        facts = view.known
        walk = partial(self.ways.steps, agent, known=known)
        return describe(agent, view.t, facts, known, self.predicates, walk)

    def describe_goal(self, goal: Goal, agent: AgentId, facts: Facts) -> str:
        """Return what a goal lacks, what is known of it, and the steps that this takes the agent."""
        known = self.read(facts)
        wanted = next((wanted for wanted in self.predicates.wanted if wanted.id == goal.id), None)
        if wanted is None:
            return super().describe_goal(goal, agent, facts)

        def ways(thing: Entity) -> tuple[int, int | None] | None:
            if thing in known.hands.get(agent, ()):
                is_known = wanted.target in known.room
                return 0, self._ticks(agent, Action("deliver"), known) if is_known else None
            if len(known.hands.get(agent, ())) >= HANDS:
                return None
            take = self.ways.steps(agent, thing, known) + len(self._take(thing, known))
            if wanted.target not in known.room:
                return take, None
            return take, self._ticks(agent, Action("deliver"), _taken(agent, thing, self._moved(agent, thing, known)))

        return tell_goal(goal, wanted, known, agent, ways)

    def list_goals(self, state: Known) -> Sequence[Goal]:
        """Return one goal for each predicate."""
        return self.predicates.goals(state)

    def list_candidates(self, agent: AgentId, state: Known) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield what makes sense: deliver, fetch, look for what is missing, fetch what others may bring, wait."""
        hands, here, room = state.hands.get(agent, ()), state.at.get(agent), state.room.get(self.predicates.target)
        carried, brought = self.predicates.carried(state), self.predicates.carried(state, unseen=True)
        useful = self.predicates.useful(state) if len(hands) < self._load(state) else {}
        if hands:
            serves = (wanted.id for wanted in self.predicates.wanted if wanted.kind == hands[0].kind)
            yield Action("deliver"), next(serves, None)
        yield from _fetch({thing: goal for thing, goal in useful.items() if goal not in brought}, here, state)
        if hands and room is not None and room != here:
            yield Action("explore", (room,)), None
        if not self.predicates.is_search_over(state):
            yield from self._search(agent, state, things=not self.predicates.has_all(state))
        yield from _fetch({thing: goal for thing, goal in useful.items() if goal in brought - carried}, here, state)
        yield WAIT, None

    def _search(self, agent: AgentId, known: Known, *, things: bool) -> Iterator[tuple[Action, GoalId | None]]:
        """Yield where to look: for things also into containers, for the furniture of the goal into rooms alone."""
        if things and len(known.hands.get(agent, ())) < HANDS:
            yield from ((Action("check", (box,)), None) for box in self.predicates.unchecked(known))
        new = [room for room in known.rooms if known.explored.get(room) != "all"]
        lost = self.predicates.target not in known.room
        if not new and (lost or not (self.predicates.unchecked(known) or self.predicates.useful(known))):
            # Something was moved, or not told: look where nobody has been for longest, so that nobody walks to and fro.
            others = (room for room in known.rooms if room != known.at.get(agent))
            new = sorted(others, key=lambda room: (known.last.get(room, 0), room.id))[:1]
        yield from ((Action("explore", (room,)), None) for room in new)

    def candidate_plans(self, goal: Goal | None, agent: AgentId, facts: Facts) -> Sequence[Plan]:
        """Return plans that bring a thing for the goal, or look for one; without a goal, what is useful at large."""
        known = self.read(facts)
        plans = list(self._standby(agent, known) if goal is None else self._bring(goal, agent, known))
        legal = [actions for actions in dict.fromkeys(plans) if actions]
        return [Plan(actions, None if goal is None else goal.id) for actions in legal]

    def _bring(self, goal: Goal, agent: AgentId, known: Known) -> Iterator[tuple[Action, ...]]:
        wanted = next((predicate for predicate in self.predicates.wanted if predicate.id == goal.id), None)
        if wanted is None:
            return
        hands, here = known.hands.get(agent, ()), known.at.get(agent)
        room = known.room.get(self.predicates.target)
        deliver: tuple[Action, ...] = () if room is None else (Action("deliver"),)
        there: tuple[Action, ...] = () if room is None or room == here else (Action("explore", (room,)),)
        mine = [thing for thing in hands if thing.kind == wanted.kind]
        free = [thing for thing, goal_id in self.predicates.useful(known).items() if goal_id == goal.id]
        free.sort(key=lambda thing: (self.ways.metres(agent, thing, known), thing.id))
        if mine and deliver:
            yield deliver
            yield (*there, *deliver)
        if len(hands) >= self._load(known) and deliver:
            yield deliver  # something else first
        if len(hands) < self._load(known):
            for thing in free:
                take = self._take(thing, known)
                yield (*take, *deliver)
                at = known.room_of(thing)
                if at is not None and at != here:
                    yield (Action("explore", (at,)), *take, *deliver)
            if not hands and goal.units > 1 and len(free) > 1 and self._load(known) > 1:
                yield (*self._take(free[0], known), *self._take(free[1], known), *deliver)
        if not (free or mine) or not deliver:
            yield from ((action,) for action, _ in self._search(agent, known, things=not (free or mine)))
            yield (WAIT,)

    def _load(self, known: Known) -> int:
        """Return how many things it makes sense to carry: one hand must open what has to be open."""
        opens = self.rules.strict_put and self.predicates.relation == "INSIDE"
        return 1 if opens and not known.opened.get(self.predicates.target) else HANDS

    def _take(self, thing: Entity, known: Known) -> tuple[Action, ...]:
        relation, holder = known.places[thing]
        shut = relation == "INSIDE" and not known.opened.get(holder, True)
        return (*((Action("check", (holder,)),) if shut else ()), Action("fetch", (thing,)))

    def _standby(self, agent: AgentId, known: Known) -> Iterator[tuple[Action, ...]]:
        if known.hands.get(agent) and self.predicates.target in known.room:
            yield (Action("deliver"),)
        things, is_over = not self.predicates.has_all(known), self.predicates.is_search_over(known)
        look = [] if is_over else [action for action, _ in self._search(agent, known, things=things)]
        look.sort(key=lambda action: (self._ticks(agent, action, known), str(action)))
        yield from ((action,) for action in look)
        yield (WAIT, WAIT, WAIT)

    # Preconditions and effects.

    def complete_action(self, _agent: AgentId, action: Action, _facts: Facts) -> Action:
        """Return the action: nothing that is left out has a default."""
        return action

    def refuse(self, agent: AgentId, action: Action, state: Known) -> str:
        """Return why an action's preconditions do not hold."""
        verb, hands = action.verb, state.hands.get(agent, ())
        if verb in ("wait", "idle", "talk", "turn") or verb in self._passed:
            return ""
        if verb == "deliver":
            unseen = f"unseen: {plain(self.predicates.target)} has not been found"
            nothing = "empty_hands: you hold nothing"
            return nothing if not hands else "" if self.predicates.target in state.room else unseen
        thing = first(action)
        if verb in ("check", "open", "fetch", "grab") and len(hands) >= HANDS:
            return f"hands_full: you hold {listed([*map(plain, hands)])}; put one of them down first"
        if verb in ("check", "open", "close") and state.opened.get(thing) is not (verb == "close"):
            return f"{'already_closed' if verb == 'close' else 'already_open'}: {plain(thing)}"
        if verb in ("fetch", "grab") and (reason := self._cannot_take(agent, thing, state)):
            return reason
        if verb in ("explore", "go"):
            return self._cannot_go(agent, thing, state, verb)
        if verb == "put":
            return self._cannot_put(agent, action, state)
        if verb in ("open", "close", "grab") and not self._near(agent, thing, state):
            return f"not_close: go to {plain(thing)} first"
        return ""

    def check_form(self, agent: AgentId, action: Action, facts: Facts) -> Verdict:
        """Return whether there is such an action, and what it names is known."""
        if action.verb in self._passed:
            size = 2 if action.verb in ("putin", "putback") else 1
            if len(action.args) == size and all(isinstance(named, Entity) for named in action.args):
                return POSSIBLE
        if action.verb in ("explore", "check", "fetch", "open", "close", "grab", "go") and len(action.args) == 1:
            named = action.args[0]
            if isinstance(named, Entity) and self._named(action.verb, named, self.read(facts)):
                return POSSIBLE  # the common case, without making all schemas
        return super().check_form(agent, action, facts)

    def _named(self, verb: str, named: Entity, known: Known) -> bool:
        if verb == "explore":
            return named in self.names.rooms
        if verb in ("check", "open", "close"):
            return named in known.opened
        if verb in ("fetch", "grab"):
            return named in self.names.things and named in known.points
        return named in self.names.rooms or named in known.points

    def _cannot_take(self, agent: AgentId, thing: Entity, known: Known) -> str:
        holder = known.holder(thing)
        if holder is not None:
            return f"held: {'you hold' if holder == agent else f'{holder} holds'} it"
        return _shut(thing, known) if thing in known.places else f"unseen: nobody knows where {plain(thing)} is"

    def _cannot_go(self, agent: AgentId, place: Entity, known: Known, verb: str) -> str:
        if place in self.names.rooms:
            there = known.at.get(agent) == place and (verb == "go" or known.explored.get(place) == "all")
            return f"there: you are in {plain(place)}" if there else ""
        if place not in known.points:
            return f"unseen: nobody knows where {plain(place)} is"
        is_near = place in known.near.get(
            agent, ()
        )  # in every mode: walking is what one does where handling needs none
        return f"there: you are near {plain(place)}" if is_near else _shut(place, known)

    def _cannot_put(self, agent: AgentId, action: Action, known: Known) -> str:
        thing, place = first(action), action.args[1]
        if thing not in known.hands.get(agent, ()):
            return f"not_held: {plain(thing)} is not in your hands"
        if not isinstance(place, Entity) or not self._near(agent, place, known):
            return f"not_close: go to {plain(place)} first"
        node = self.names.episode.home.nodes.get(place.id)
        if node is None or not (node.surface or (node.container and node.opens)):
            return f"no_surface: nothing can be put on {plain(place)}"
        if self.rules.strict_put and self._relation(place) == "INSIDE" and not known.opened.get(place):
            return f"closed: {plain(place)} must be open"
        return ""

    def _relation(self, place: Entity) -> str:
        """Return how things are put there."""
        for wanted in self.predicates.wanted:
            if wanted.target == place:
                return wanted.relation
        return "INSIDE" if place in self.names.containers else "ON"

    def _near(self, agent: AgentId, thing: Entity, known: Known) -> bool:
        return self.rules.mode == "engine" or thing in known.near.get(agent, ())

    def apply(self, agent: AgentId, action: Action, state: Known) -> Known:
        """Return what to expect after an action that succeeds."""
        verb = action.verb
        if verb in ("wait", "idle", "talk", "turn") or verb in self._passed:
            return state
        if verb == "deliver":
            return self._delivered(agent, state)
        thing = first(action)
        if verb in ("explore", "go") and thing in state.rooms:
            return replace(
                state,
                at={**state.at, agent: thing},
                points={**state.points, agent: self._stand(agent, verb, thing, state)},
                explored={**state.explored, thing: "all"},
                near={**state.near, agent: frozenset()},
                last=_less(state.last, (thing,)),
            )
        there = state if verb in ("open", "close", "grab", "put") else self._moved(agent, thing, state)
        if verb in ("fetch", "grab"):
            return _taken(agent, thing, there)
        if verb in ("check", "open", "close"):
            return replace(there, opened={**there.opened, thing: verb != "close"})
        if verb == "put" and isinstance(place := action.args[1], Entity):
            return _laid(agent, (thing,), (self._relation(place), place), there)
        return there

    def _stand(self, agent: AgentId, verb: str, room: Entity, known: Known) -> Cell:
        """Return where an agent is after it went to a room: in its last door, or where all of it is seen."""
        doors = self.ways.doors(known.at.get(agent), room)
        is_door = doors and (verb == "go" or self.rules.sight == "room")
        return doors[-1] if is_door else known.rooms[room]

    def _moved(self, agent: AgentId, thing: Entity, known: Known) -> Known:
        room, point = known.room_of(thing), known.points[thing]
        at = known.at if room is None else {**known.at, agent: room}
        return replace(
            known, at=at, points={**known.points, agent: point}, near={**known.near, agent: frozenset((thing,))}
        )

    def _delivered(self, agent: AgentId, known: Known) -> Known:
        there, held = self._moved(agent, self.predicates.target, known), known.hands[agent]
        relation = self.predicates.relation
        if relation == "INSIDE":  # full hands put one thing into it, then open it
            there = replace(there, opened={**there.opened, self.predicates.target: True})
        return _laid(agent, held, (relation, self.predicates.target), there)

    # Costs.

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts) -> int:
        """Return the estimated steps of an action, at least 1; see ``ways``."""
        return self._ticks(agent, action, self.read(facts))

    def _ticks(self, agent: AgentId, action: Action, known: Known) -> int:
        if action.verb in ("idle", "talk"):
            return max(1, action.args[0]) if action.args and isinstance(action.args[0], int) else 1
        if action.verb == "deliver":
            held = known.hands.get(agent, ())
            shut = self.predicates.relation == "INSIDE" and known.opened.get(self.predicates.target) is False
            return max(1, self.ways.steps(agent, self.predicates.target, known) + len(held) + shut)
        place = action.args[0] if action.args else None
        if action.verb not in ("explore", "check", "fetch", "go") or not isinstance(place, Entity):
            return 1
        if action.verb == "explore" and self.rules.sight == "cone":
            return self.ways.steps_to_middle(agent, place, known) + TURNS
        return max(1, self.ways.steps(agent, place, known) + (action.verb in ("check", "fetch")))

    # What is open, and what others may do.

    def plan_scripted_team(
        self, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
    ) -> Mapping[AgentId, Plan]:
        """Return the scripted team's plans for the agents that have none; see ``heuristic``."""
        return heuristic.make_plans(self.predicates, self.options, views, running)


Key = TypeVar("Key")
Value = TypeVar("Value")


def _fetch(useful: dict[Entity, GoalId], here: Entity | None, known: Known) -> Iterator[tuple[Action, GoalId | None]]:
    """Yield how to get some things, each with the goal that it serves."""
    yield from ((Action("fetch", (thing,)), goal) for thing, goal in useful.items())
    rooms = {known.room_of(thing): goal for thing, goal in reversed(useful.items())}  # of each the first thing's goal
    for room, goal in reversed(rooms.items()):  # where one was only told of a thing one has to look first
        if room is not None and room != here:
            yield Action("explore", (room,)), goal


def _shut(thing: Entity, known: Known) -> str:
    """Return why an agent cannot get at a thing: it lies in something that is known to be closed."""
    relation, place = known.places.get(thing, ("", thing))
    shut = relation == "INSIDE" and not known.opened.get(place, True)
    return f"closed: {plain(place)} must be open" if shut else ""


def _taken(agent: AgentId, thing: Entity, known: Known) -> Known:
    return replace(
        known,
        hands={**known.hands, agent: (*known.hands.get(agent, ()), thing)},
        places=_less(known.places, (thing,)),
        room=_less(known.room, (thing,)),
        points=_less(known.points, (thing,)),
    )


def _laid(agent: AgentId, things: Sequence[Entity], place: Place, known: Known) -> Known:
    relation, holder = place
    room, point = known.room.get(holder), known.points[holder]
    return replace(
        known,
        hands={**known.hands, agent: tuple(thing for thing in known.hands[agent] if thing not in things)},
        places={**known.places, **dict.fromkeys(things, place)},
        room=known.room if relation == "INSIDE" or room is None else {**known.room, **dict.fromkeys(things, room)},
        points={**known.points, **dict.fromkeys(things, point)},
    )


def _less(table: Mapping[Key, Value], keys: Iterable[object]) -> dict[Key, Value]:
    return {key: value for key, value in table.items() if key not in set(keys)}
