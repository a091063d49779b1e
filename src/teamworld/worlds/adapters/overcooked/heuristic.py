"""The scripted team of cooks: what is furthest comes first, and nobody fetches what another is fetching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from teamworld.language import Action, AgentId, Entity, GoalId, Plan
from teamworld.worlds.adapters.overcooked.candidates import Cook, Steps, list_batches, rest
from teamworld.worlds.adapters.overcooked.skills import station_of
from teamworld.worlds.adapters.overcooked.state import FULL, NOTHING, ONION, PLATE, SOUP, KitchenState
from teamworld.worlds.contract import View

#: Steps before a soup is cooked from which a plate goes before more onions: about the way to the plates and back.
SOON: Final = 12


def assign_cooks(domain: Any, views: Mapping[AgentId, View], running: Mapping[AgentId, Plan]) -> dict[AgentId, Plan]:  # noqa: ANN401
    """Return a plan for each cook that has none.

    Args:
        domain: The rules.
        views: Of the team; everybody sees all.
        running: The plans that run.
    """
    state: KitchenState = domain.read(next(iter(views.values())).known)
    plans: dict[AgentId, Plan] = {}
    for agent in views:
        if agent in running:
            continue
        planned = [a for other, plan in {**running, **plans}.items() if other != agent for a in plan.actions]
        used = [station_of(action) for action in planned if action.verb in ("get", "place")]
        taken = [station for station in used if station.kind == "counter"]
        cook = Cook(agent, state, domain.kitchen, taken)
        steps = next(filter(None, _list_steps(cook, planned, domain.soups)), None)
        plans[agent] = Plan(steps, _find_goal(steps, state, domain.soups)) if steps else Plan(rest(cook))
    return plans


def _find_goal(steps: Steps, state: KitchenState, soups: int) -> GoalId:
    """Return the soup that a plan is for: that of its pot, else the first that is open."""
    pots = [station_of(action).id for action in steps if action.verb in ("add", "plate")]
    place = [batch.pot for batch in list_batches(state)].index(pots[0]) if pots else 0
    return f"soup_{min(soups, state.delivered + 1 + place)}"


def _list_steps(cook: Cook, planned: Sequence[Action], soups: int) -> Iterator[Steps]:
    """Yield what a cook could do, what is furthest first; empty where it cannot."""
    if cook.held == SOUP:
        yield cook.serve()
    if cook.held == NOTHING and cook.nearest(cook.kitchen.list("window")) is not None:
        soup = cook.find_source(SOUP)
        yield () if soup is None else (Action("get", (soup,)), *cook.serve())
    full, short = _list_full(cook.state, planned), _list_short(cook.state, planned, soups)
    for pot in full if cook.held in (NOTHING, PLATE) else ():
        is_soon = not short or cook.held == PLATE or cook.state.pots[pot.id].left <= SOON
        if is_soon if cook.reaches(pot) else cook.count_on_way(PLATE) < len(full):
            yield cook.bring(PLATE, pot)
    for place, pot in enumerate(short if cook.held in (NOTHING, ONION) else ()):
        if cook.reaches(pot) or place >= cook.count_on_way(ONION):
            yield cook.bring(ONION, pot)
    if not (cook.held == PLATE and full):
        yield cook.clear_hands()


def _list_full(state: KitchenState, planned: Sequence[Action]) -> list[Entity]:
    """Return the full pots that nobody brings a plate to, the one that is cooked first in front."""
    pots = [number for number, pot in enumerate(state.pots) if pot.is_full]
    pots.sort(key=lambda number: state.pots[number].left)
    return [pot for pot in (Entity("pot", number) for number in pots) if Action("plate", (pot,)) not in planned]


def _list_short(state: KitchenState, planned: Sequence[Action], soups: int) -> list[Entity]:
    """Return for each onion that is missing and not brought its pot; only as many pots as soups are still missing."""
    pots = [number for number, pot in enumerate(state.pots) if not pot.is_full]
    pots.sort(key=lambda number: -state.pots[number].onions)
    missing = soups - state.delivered - state.soups - (len(state.pots) - len(pots))
    wanted = [Entity("pot", number) for number in pots[: max(0, missing)]]
    return [p for p in wanted for _ in range(FULL - state.pots[p.id].onions - planned.count(Action("add", (p,))))]
