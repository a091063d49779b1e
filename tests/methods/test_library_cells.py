"""The plan library and cells: a plan that names places of another map is not offered."""

from __future__ import annotations

import pytest

from teamworld.language import Binding, Plan, lift, parse_action
from teamworld.memory.contract import Library, PlanRecord
from teamworld.methods.common.plan_answers import candidate_texts
from teamworld.methods.drwell.library import Page, page
from teamworld.worlds.contract import Goal, View
from teamworld.worlds.wildfire.world import make


def offered(*texts: tuple[str, ...]) -> tuple[Page, tuple[tuple[str, ...], ...]]:
    """Return the page of a library with some plans on a fire, and the recipes."""
    world = make("suppress_fire_contain", 0, 100, {})
    view: View = world.view("firefighter_1")
    goal: Goal = view.goals[0]
    recipes = tuple(candidate_texts(goal, view, world.domain))
    binding = Binding(goal.thing, goal.units, goal.quorum)
    lifted = [
        str(lift(Plan(tuple(map(parse_action, text))), binding, world.domain.measures)) for text in texts or recipes
    ]
    records = tuple(PlanRecord(text, 3, 3, 5.0, 1.0) for text in lifted)
    return page(Library(9, (), records), goal, view, world.domain, 6, None, 0), recipes


def test_plans_with_cells_of_elsewhere_are_left_out() -> None:
    found, _ = offered(("move_to((3, 4))", "cut_all()"), ("wait()", "wait()"))
    assert [entry.actions for entry in found.entries] == [("wait()", "wait()")]
    assert len(found.tried) == 2


def test_plans_with_the_cells_of_recipes_are_offered() -> None:
    found, recipes = offered()
    assert any("move_to" in text for recipe in recipes for text in recipe)
    assert {entry.actions for entry in found.entries} == set(recipes)


@pytest.mark.parametrize("text", ["go_to(<fire>(0))", "wait()"])
def test_plans_without_cells_are_as_before(text: str) -> None:
    found, _ = offered((text,))
    assert [entry.actions for entry in found.entries] == [(text,)]
