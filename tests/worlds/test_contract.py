"""What the contract itself does: parameters that are cells, and the goals an agent can work on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, Param, parse_action
from teamworld.methods.common.plan_answers import parameter_values, perturb_plan
from teamworld.planning.goals import workable_goals
from teamworld.worlds import registry

GO = ActionSchema("go", (Param("place", "cell", size=(5, 11)),), "Go there.")


def test_a_cell_is_any_pair_inside() -> None:
    assert GO.complete(Action("go", ((4, 10),))) == Action("go", ((4, 10),))
    wrong: list[Any] = [(5, 0), (0, 11), (-1, 3), "there", 3, (1.5, 2), (1.0, 2), (True, False), (1,), (1, 2, 3), ()]
    for place in (*wrong, (float("nan"), 1), ("1", "2"), None, True, [1, 2]):
        with pytest.raises(UserError) as refused:
            GO.complete(Action("go", (place,)))
        assert str(refused.value) == f"place of go is a cell from (0, 0) to (4, 10), got {place}"


def test_a_count_is_a_whole_number() -> None:
    rest = ActionSchema("rest", (Param("ticks", "count", low=0, high=9),), "Rest.")
    assert rest.complete(Action("rest", (9,))) == Action("rest", (9,))
    for ticks in (True, False, 1.0, -1, 10, "one"):
        with pytest.raises(UserError, match=rf"ticks of rest is a number from 0 to 9, got {ticks}$"):
            rest.complete(Action("rest", (ticks,)))


def test_cells_are_not_listed_among_the_values_and_slips_stay_inside() -> None:
    assert parameter_values((GO,)) == {}
    rng = np.random.default_rng(0)
    slips = {perturb_plan(("go((4, 10))",), (GO,), rng)[0] for _ in range(200)}
    assert len(slips) > 20
    for text in slips:
        GO.complete(parse_action(text))


def test_goals_are_for_their_kinds_and_wait_for_what_comes_first() -> None:
    here = registry.make("rooms", "three", 0, 50, {})
    goals = {kind: {goal.id for agent in here.spec.agents if here.spec.kinds[agent] == kind
                    for goal in workable_goals(here.view(agent))} for kind in ("carrier", "scout")}  # fmt: skip
    assert goals == {"carrier": set(), "scout": {"open_1"}}
    assert any(goal.kind == "deliver" for goal in here.view("agent_0").goals)
