"""The scripted team: it pools what all know, and each does what is nearest and nobody else is doing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from teamworld.language import Action, AgentId, Entity, Fact, Facts, Plan
from teamworld.worlds.contract import WAIT, Option, View
from teamworld.worlds.household.observe import believed

if TYPE_CHECKING:
    from teamworld.worlds.household.domain import HouseholdDomain


def pooled(views: Mapping[AgentId, View]) -> Facts:
    """Return what agents know together: of each thing what was seen last."""
    latest: dict[Entity | str, tuple[int, list[Fact]]] = {}
    explored: dict[Fact, None] = {}
    for view in views.values():
        by_subject: dict[Entity | str, tuple[int, list[Fact]]] = {}
        seen = view.recall.seen
        for fact in view.known:
            if fact.predicate == "EXPLORED":
                explored[fact] = None
            elif fact.predicate != "NEAR" or fact.subject == view.agent:
                by_subject.setdefault(fact.subject, (seen.get(fact, view.t), []))[1].append(fact)
        latest |= {
            subject: sighting for subject, sighting in by_subject.items() if sighting[0] > latest.get(subject, (-1,))[0]
        }
    facts = [fact for _, told_of in latest.values() for fact in told_of]
    held = {fact.value for fact in facts if fact.predicate == "HOLD"}
    known = (fact for fact in facts if fact.subject not in held)
    whole = [fact.subject for fact in explored if fact.value == "all"]
    return Facts((*known, *(fact for fact in explored if fact.value == "all" or fact.subject not in whole)))


def plans(
    domain: HouseholdDomain, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]
) -> dict[AgentId, Plan]:
    """Return a plan for each agent that has none.

    Whoever holds two things, or one and knows of nothing else to bring, delivers. Else it fetches the nearest thing of
    use, looks into the nearest container or room, or waits; what somebody else is at is left to that one.
    """
    if not views:
        return {}
    facts = pooled(views)
    known = believed(facts)
    taken = [action for plan in running.values() for action in plan.actions]
    held = [thing.kind for things in known.hands.values() for thing in things]
    fetched = [action.args[0].kind for action in taken if action.verb == "fetch" and isinstance(action.args[0], Entity)]
    chosen: dict[AgentId, Plan] = {}
    for agent in (agent for agent in views if agent not in running):
        best = _best(domain, agent, facts, views[agent], taken, [*held, *fetched])
        chosen[agent] = Plan((best.action,), best.goal)
        taken.append(best.action)
        if best.action.verb == "fetch" and isinstance(best.action.args[0], Entity):
            fetched.append(best.action.args[0].kind)
    return chosen


def _best(
    domain: HouseholdDomain, agent: AgentId, facts: Facts, view: View, taken: list[Action], going: list[str]
) -> Option:
    known = believed(facts)
    missing = {
        wanted.id: domain.predicates.missing(known).get(wanted.id, 0) - going.count(wanted.kind)
        for wanted in domain.predicates.wanted
    }
    options = [option for option in domain.options(agent, facts) if view.check(option.action).ok]
    fresh = [option for option in options if option.action not in taken and option.action != WAIT]
    fetch = [o for o in fresh if o.action.verb == "fetch" and o.goal is not None and missing.get(o.goal, 0) > 0]
    deliver = [option for option in options if option.action.verb == "deliver"]
    if known.hands[agent] and not deliver:  # it has not seen the place for itself
        there = (
            Action("explore", (known.room[domain.predicates.target],))
            if domain.predicates.target in known.room
            else None
        )
        deliver = [option for option in options if option.action == there]
    lost = domain.predicates.target not in known.room  # where all that is missing is in hands, the place may be too
    verbs = ("check", "explore") if any(n > 0 for n in missing.values()) else ("explore",) if lost else ()
    search = [o for o in fresh if o.action.verb in verbs]
    near = [option for option in fetch if option.steps <= 8] if deliver else fetch
    for choices in (near, deliver, fetch, search):
        if choices:
            return min(choices, key=lambda option: (option.steps, str(option.action)))
    return Option(WAIT, None, 1)
