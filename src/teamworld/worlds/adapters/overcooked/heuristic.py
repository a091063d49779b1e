"""The scripted team of cooks: what is furthest comes first, and nobody fetches what another is fetching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from teamworld.language import Action, AgentId, Entity, Plan
from teamworld.worlds.adapters.overcooked.candidates import Cook, Steps, rest
from teamworld.worlds.adapters.overcooked.state import FULL, NOTHING, ONION, PLATE, SOUP, KitchenState
from teamworld.worlds.contract import View


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
        taken = [a.args[0] for a in planned if a.verb == "get" and _is_counter(a)]
        placed = [a.args[0] for a in planned if a.verb == "place" and _is_counter(a)]
        cook = Cook(
            agent, state, domain.kitchen, [station for station in (*taken, *placed) if isinstance(station, Entity)]
        )
        steps = next((steps for steps in _list_steps(cook, planned, domain.soups) if steps), None)
        goal = f"soup_{min(domain.soups, state.delivered + 1)}"
        plans[agent] = Plan(rest(cook)) if steps is None else Plan(steps, goal)
    return plans


def _is_counter(action: Action) -> bool:
    station = action.args[0]
    return isinstance(station, Entity) and station.kind == "counter"


def _list_steps(cook: Cook, planned: Sequence[Action], soups: int) -> Iterator[Steps]:
    """Yield what a cook could do, what is furthest first."""
    state = cook.state
    if cook.held == SOUP:
        yield cook.serve()
    full = [
        n for n, pot in enumerate(state.pots) if pot.is_full and Action("plate", (Entity("pot", n),)) not in planned
    ]
    full.sort(key=lambda number: state.pots[number].left)
    coming = sum(pot.is_full for pot in state.pots) + state.soups + state.delivered
    wanted = sorted((n for n, pot in enumerate(state.pots) if not pot.is_full), key=lambda n: -state.pots[n].onions)
    wanted = wanted[: max(0, soups - coming)]
    short = [
        n
        for n in wanted
        for _ in range(FULL - state.pots[n].onions - planned.count(Action("add", (Entity("pot", n),))))
    ]
    lying = [*state.counters.values()]
    if cook.held == NOTHING and cook.nearest(cook.kitchen.list("window")) is not None:
        soup = cook.find_source(SOUP)
        if soup is not None:
            yield (Action("get", (soup,)), *cook.serve())
    for number in full:
        pot = Entity("pot", number)
        is_soon = not short or state.pots[number].left <= 12
        handed = lying.count(PLATE) + sum(held == PLATE for other, held in state.hands.items() if other != cook.agent)
        is_time = (is_soon or cook.held == PLATE) if cook.reaches(pot) else handed < len(full)
        if is_time and cook.held in (NOTHING, PLATE):
            yield cook.bring(PLATE, pot)
    on_way = lying.count(ONION) + sum(held == ONION for other, held in state.hands.items() if other != cook.agent)
    for place, number in enumerate(short):
        pot = Entity("pot", number)
        if cook.held in (NOTHING, ONION) and (cook.reaches(pot) or place >= on_way):
            yield cook.bring(ONION, pot)
    if cook.held in (ONION, PLATE) and not (cook.held == PLATE and full):
        yield cook.clear_hands()
