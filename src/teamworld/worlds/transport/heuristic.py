"""The scripted team: it pools what all know, fills containers on the way, and each does what nobody else is doing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from teamworld.language import Action, AgentId, Entity, Fact, Facts, Plan
from teamworld.worlds.base.scripted_team import pool_facts
from teamworld.worlds.contract import WAIT, Option, View
from teamworld.worlds.transport.goals import Wants
from teamworld.worlds.transport.observe import Known, believed
from teamworld.worlds.transport.state import CAPACITY, HANDS

#: Frames of a way to a container beyond which an agent carries things in its hands.
FAR_CONTAINER: Final = 400
#: Frames that are kept for the way to the bed beyond the estimate.
SPARE: Final = 150


def pool(views: Mapping[AgentId, View]) -> Facts:
    """Return what agents know together: of each thing what was seen last; a room is as seen as it is to anybody."""
    rooms: dict[tuple[Entity | str, str], Fact] = {}
    for view in views.values():
        for fact in view.known:
            if fact.predicate in ("EXPLORED", "SEEN"):
                key = fact.subject, fact.predicate
                rooms[key] = max(rooms.get(key, fact), fact, key=_rank)
    facts = list(pool_facts(views, lambda _view, fact: fact.predicate not in ("EXPLORED", "SEEN")))
    held = {fact.value for fact in facts if fact.predicate == "HOLD"}
    return Facts((*(fact for fact in facts if fact.subject not in held), *rooms.values()))


def _rank(fact: Fact) -> int:
    return fact.value if isinstance(fact.value, int) else int(fact.value == "all")


def make_plans(
    wants: Wants,
    list_options: Callable[[AgentId, Facts], Sequence[Option]],
    views: Mapping[AgentId, View],
    running: Mapping[AgentId, Plan],
) -> dict[AgentId, Plan]:
    """Return a plan of one action for each agent that has none."""
    if not views:
        return {}
    facts = pool(views)
    known = believed(facts)
    taken = [action for plan in running.values() for action in plan.actions]
    going = [thing.kind for agent in known.hands for thing in known.load(agent)]
    going += [kind for action in taken if (kind := _fetched(action))]
    chosen: dict[AgentId, Plan] = {}
    for agent in (agent for agent in views if agent not in running):
        view = views[agent]
        options = [option for option in list_options(agent, facts) if view.check(option.action).ok]
        best = choose(agent, options, wants, known, taken, going, view.steps_left)
        chosen[agent] = Plan((best.action,), best.goal)
        taken.append(best.action)
        if kind := _fetched(best.action):
            going.append(kind)
    return chosen


def _fetched(action: Action) -> str:
    """Return the kind of the thing that an action fetches; an empty string if it fetches none."""
    thing = action.args[0] if action.verb == "fetch" else None
    return thing.kind if isinstance(thing, Entity) else ""


def choose(
    agent: AgentId,
    options: Sequence[Option],
    wants: Wants,
    known: Known,
    taken: Sequence[Action],
    going: Sequence[str],
    steps_left: int,
) -> Option:
    """Return what to do: put in, deliver what is full or late, take a container first, then targets, then look."""
    by_verb: dict[str, list[Option]] = {}
    for option in options:
        if option.action not in taken or option.action.verb in ("deliver", "search"):
            by_verb.setdefault(option.action.verb, []).append(option)
    hands, load = known.hands.get(agent, ()), wants.targets_of(agent, known)
    lacking = {goal: units - going.count(goal.removeprefix("deliver_")) for goal, units in wants.missing(known).items()}
    fetch, deliver = by_verb.get("fetch", []), by_verb.get("deliver", [])
    targets = [o for o in fetch if o.action.args[0] in wants.names.targets and lacking.get(o.goal or "", 0) > 0]
    boxes = [o for o in fetch if o.action.args[0] in wants.names.containers and o.steps <= FAR_CONTAINER]
    is_late = bool(deliver) and steps_left <= deliver[0].steps + SPARE
    is_full = bool(load) and (len(hands) >= HANDS or len(load) > CAPACITY)
    looks = [*by_verb.get("explore", []), *by_verb.get("go", [])] if any(n > 0 for n in lacking.values()) else []
    for choices in (
        deliver if is_late else [],
        by_verb.get("put", []),
        deliver if is_full else [],
        boxes if not hands else [],
        targets,
        looks,
        deliver,
        by_verb.get("search", []),
    ):
        if choices:
            return min(choices, key=lambda option: (option.steps, str(option.action)))
    return Option(WAIT, None, 1)
