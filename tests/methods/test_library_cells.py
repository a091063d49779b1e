"""The plan library's page: what is offered, without places of another map and without needless actions."""

from __future__ import annotations

import pytest

from teamworld.language import Binding, Plan, lift, parse_action, parse_plan
from teamworld.memory.contract import Library, PlanRecord
from teamworld.methods.common.plan_answers import candidate_texts
from teamworld.methods.drwell.library import Page, make_page, pooled_rate, rank_plans, trim_plan
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import Goal, View
from teamworld.worlds.wildfire.world import make


def record(text: str, attempts: int = 3, progress: float = 1.0, steps: float = 5.0) -> PlanRecord:
    successes = attempts if progress == 1 else 0
    return PlanRecord(text, attempts, successes, progress, steps, steps if successes else None, 1.0)


def offered(*texts: tuple[str, ...]) -> tuple[Page, tuple[tuple[str, ...], ...]]:
    """Return the page of a library with some plans on a fire, and the candidate plans."""
    world = make("suppress_fire_contain", 0, 100, {})
    view: View = world.view("firefighter_1")
    goal: Goal = view.goals[0]
    candidates = tuple(candidate_texts(goal, view, world.domain))
    binding = Binding(goal.thing, goal.units, goal.quorum)
    lifted = [
        str(lift(Plan(tuple(map(parse_action, text))), binding, world.domain.measures)) for text in texts or candidates
    ]
    return make_page(Library(9, (), tuple(map(record, lifted))), goal, view, world.domain), candidates


def test_plans_with_cells_of_elsewhere_are_left_out() -> None:
    found, _ = offered(("move_to((3, 4))", "cut_all()"), ("go_to(<fire>(0))",))
    assert [entry.actions for entry in found.entries] == [("go_to(<fire>(0))",)]


def test_plans_with_the_cells_of_candidate_plans_are_offered() -> None:
    found, candidates = offered()
    texts = {text for candidate in candidates for text in candidate}
    assert any("((" in text for text in texts)
    assert found.entries
    assert {text for entry in found.entries for text in entry.actions} <= texts


def test_what_only_waits_is_not_offered_whatever_it_went_with() -> None:
    found, _ = offered(("wait()", "wait()", "wait()"))
    assert found.entries == found.failed == ()


# ---- pages of CUBE


def cube(goal: str) -> tuple[Goal, View, object]:
    world = worlds.make("cube", "paper-n2", 0, 150, {})
    view = world.view("agent_0")
    return next(known for known in view.goals if known.id == goal), view, world.domain


ALIGN, PUSH = "move_to_block(?goal, left, 40)", "push_block(?goal, ?units, 0)"


def test_needless_actions_are_trimmed_and_plans_that_are_then_the_same_are_one() -> None:
    goal, view, domain = cube("block_2")
    plans = (record(f"plan {{ {ALIGN}; idle(4); {PUSH} }}", 2), record(f"plan {{ {ALIGN}; {PUSH} }}", 1, 0.5, 8.0))
    page = make_page(Library(3, (), plans), goal, view, domain)  # type: ignore[arg-type]
    (entry,) = page.entries
    assert entry.actions == ("move_to_block(<block>(2), left, 40)", "push_block(<block>(2), 11, 0)")
    assert (entry.record.attempts, entry.record.successes) == (3, 2)
    assert entry.record.progress == pytest.approx(2.5 / 3)
    assert entry.record.steps == 6


def test_what_waits_for_partners_is_needless_only_where_one_agent_suffices() -> None:
    alone, view, domain = cube("block_2")
    together, *_ = cube("block_0")
    for goal, length in ((alone, 2), (together, 3)):
        block = goal.thing
        text = f"move_to_block({block}, left); rendezvous({block}, left, {goal.quorum}); push_block({block}, 2)"
        plan = parse_plan(f"plan {{ {text} }}")
        assert len(trim_plan(plan, goal, view, domain).actions) == length  # type: ignore[arg-type]


def test_plans_that_did_nothing_are_listed_apart() -> None:
    goal, view, domain = cube("block_2")
    vain = record(f"plan {{ {ALIGN}; {PUSH} }}", 4, 0.0, 7.0)._replace(causes=(("face_gone", 4),))
    page = make_page(Library(4, (), (vain,)), goal, view, domain)  # type: ignore[arg-type]
    assert (page.entries, page.best) == ((), ())
    assert [entry.record.causes for entry in page.failed] == [(("face_gone", 4),)]
    best = rank_plans(goal, view, domain, page)[0]  # type: ignore[arg-type]
    assert best.actions != page.failed[0].actions


def test_kinds_of_plans_that_only_searched_are_left_out() -> None:
    goal, view, domain = cube("block_2")
    search, vain, done = record("explore", 2, 0.0), record("push_block", 1, 0.0), record("fetch > deliver", 1, 0.5)
    failed = vain._replace(causes=(("face_gone", 1),))
    page = make_page(Library(4, (done, failed, search), ()), goal, view, domain)  # type: ignore[arg-type]
    assert [kind.text for kind in page.kinds] == ["fetch > deliver", "push_block"]
    assert page.tells
    assert page.warns
    kept = make_page(Library(1, (done._replace(causes=(("goal_open", 1),)),), ()), goal, view, domain)  # type: ignore[arg-type]
    assert not kept.warns, "all its actions were done: it did not fail"
    page = make_page(Library(2, (search,), ()), goal, view, domain)  # type: ignore[arg-type]
    assert (page.attempts, page.kinds, page.tells, page.warns) == (2, (), False, False)


def test_kinds_that_are_not_shown_are_counted() -> None:
    goal, view, domain = cube("block_2")
    kinds = tuple(record(f"push_block > idle{n}", 1, 0.5) for n in range(5))
    page = make_page(Library(5, kinds, ()), goal, view, domain)  # type: ignore[arg-type]
    assert (len(page.kinds), page.more_kinds) == (3, 2)


def test_a_search_is_judged_by_its_estimate_alone_and_others_by_both() -> None:
    assert pooled_rate(0.0, 5, 9, 0.0, 5.0) == pooled_rate(0.0, 5, 0, 0.0, 0.0)
    assert pooled_rate(1.0, 20, 0, 0.0, 0.0) == 1 / 20
    assert pooled_rate(1.0, 20, 1, 0.5, 10.0) == 1.5 / 30
    assert pooled_rate(1.0, 20, 3, 0.0, 10.0) == 1 / 50
