"""The scripted team: it pools what all know, and each does what is nearest and nobody else is doing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from teamworld.language import Action, AgentId, Entity, Fact, Facts, Plan
from teamworld.worlds.base.scripted_team import pool_facts
from teamworld.worlds.contract import WAIT, Option, View
from teamworld.worlds.household.goals import Predicates
from teamworld.worlds.household.observe import Known, believed


def pool(views: Mapping[AgentId, View]) -> Facts:
    """Return what agents know together: of each thing what was seen last; a room is explored if somebody did."""
    explored = dict.fromkeys(fact for view in views.values() for fact in view.known.about("EXPLORED"))
    whole = [fact.subject for fact in explored if fact.value == "all"]
    facts = list(pool_facts(views, _is_shared))
    held = {fact.value for fact in facts if fact.predicate == "HOLD"}
    known = (fact for fact in facts if fact.subject not in held)
    return Facts((*known, *(fact for fact in explored if fact.value == "all" or fact.subject not in whole)))


def _is_shared(view: View, fact: Fact) -> bool:
    return fact.predicate != "EXPLORED" and (fact.predicate != "NEAR" or fact.subject == view.agent)


def make_plans(
    predicates: Predicates,
    list_options: Callable[[AgentId, Facts], Sequence[Option]],
    views: Mapping[AgentId, View],
    running: Mapping[AgentId, Plan],
) -> dict[AgentId, Plan]:
    """Return a plan for each agent that has none.

    Whoever holds two things, or one and knows of nothing else to bring, delivers. Else it fetches the nearest thing of
    use, looks into the nearest container or room, or waits; what somebody else is at is left to that one.
    """
    if not views:
        return {}
    facts = pool(views)
    known = believed(facts)
    taken = [action for plan in running.values() for action in plan.actions]
    going = [thing.kind for things in known.hands.values() for thing in things]
    going += [kind for action in taken if (kind := _fetched(action))]
    chosen: dict[AgentId, Plan] = {}
    for agent in (agent for agent in views if agent not in running):
        options = [option for option in list_options(agent, facts) if views[agent].check(option.action).ok]
        best = _best(agent, options, predicates, known, taken, going)
        chosen[agent] = Plan((best.action,), best.goal)
        taken.append(best.action)
        if kind := _fetched(best.action):
            going.append(kind)
    return chosen


def _fetched(action: Action) -> str:
    """Return the class of the thing that an action fetches; an empty string if it fetches none."""
    thing = action.args[0] if action.verb == "fetch" else None
    return thing.kind if isinstance(thing, Entity) else ""


def _best(
    agent: AgentId,
    options: Sequence[Option],
    predicates: Predicates,
    known: Known,
    taken: list[Action],
    going: list[str],
) -> Option:
    lacking, target = predicates.missing(known), predicates.target
    missing = {wanted.id: lacking.get(wanted.id, 0) - going.count(wanted.kind) for wanted in predicates.wanted}
    fresh = [option for option in options if option.action not in taken and option.action != WAIT]
    fetch = [o for o in fresh if o.action.verb == "fetch" and o.goal is not None and missing.get(o.goal, 0) > 0]
    deliver = [option for option in options if option.action.verb == "deliver"]
    lost = target not in known.room
    if known.hands[agent] and not deliver and not lost:  # it has not seen the place for itself
        deliver = [option for option in options if option.action == Action("explore", (known.room[target],))]
    # Where all that is missing is in hands, the place may be missing too.
    verbs = ("check", "explore") if any(n > 0 for n in missing.values()) else ("explore",) if lost else ()
    search = [o for o in fresh if o.action.verb in verbs]
    near = [option for option in fetch if option.steps <= 8] if deliver else fetch
    for choices in (near, deliver, fetch, search):
        if choices:
            return min(choices, key=lambda option: (option.steps, str(option.action)))
    return Option(WAIT, None, 1)
