"""The rules that everybody knows: goals, options, plans, preconditions, effects, costs, beliefs; the script."""

from __future__ import annotations

import pytest

from teamworld.language import Action, Entity, Facts, parse_action, parse_fact
from teamworld.planning.simulate import dry_run, simulate_plan
from teamworld.worlds.contract import WAIT, Option, talk
from teamworld.worlds.transport import heuristic
from teamworld.worlds.transport.beliefs import DENSITIES, UNLIKELY
from teamworld.worlds.transport.domain import TransportDomain
from teamworld.worlds.transport.observe import BED
from teamworld.worlds.transport.physics import DROP_FRAMES
from teamworld.worlds.transport.scene import CONTAINERS, TARGETS
from teamworld.worlds.transport.skills import PULSE, TURNS
from teamworld.worlds.transport.walking_times import FRAMES_TO_BED, GRASP_FRAMES, TO_ANOTHER, WITHIN_ROOM, walk_frames
from tests.worlds.transport.houses import give, house, item, put_agent, world

LIVING, KITCHEN, BEDROOM = Entity("livingroom", 1000), Entity("kitchen", 2000), Entity("bedroom", 3000)
APPLE, BANANA, BREAD = Entity("apple", 11), Entity("banana", 12), Entity("bread", 13)
BOWL, PLATE = Entity("bowl", 14), Entity("plate", 15)
THINGS = (
    item(11, "apple", 2.0, 3.0), item(12, "banana", 2.6, 3.2), item(13, "bread", 6.0, 3.5), item(14, "bowl", 1.0, 3.0),
    item(15, "plate", 6.0, 0.5), item(16, "apple", 7.0, 3.5),
)  # fmt: skip
DOMAIN: TransportDomain = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (6.0, 1.0, 0.0)])).domain
HERE = ("Alice AT <livingroom>(1000)", "Alice POSITION (200, 100)")
SEEN = (
    *("<apple>(11) IN <livingroom>(1000)", "<apple>(11) POSITION (200, 300)"),
    *("<bowl>(14) IN <livingroom>(1000)", "<bowl>(14) POSITION (100, 300)"),
    *("<banana>(12) IN <kitchen>(2000)", "<banana>(12) POSITION (600, 300)"),
)
BED_SEEN = ("<bed>(0) IN <bedroom>(3000)", "<bed>(0) POSITION (1130, 200)")


def facts(*lines: str) -> Facts:
    return Facts(map(parse_fact, lines))


def offered(known: Facts, agent: str = "Alice") -> dict[str, str | None]:
    return {str(option.action): option.goal for option in DOMAIN.options(agent, known)}


def reason(action: str, known: Facts) -> str:
    return DOMAIN.check("Alice", parse_action(action), known).reason


def after(known: Facts, *actions: str) -> Facts:
    for action in actions:
        assert reason(action, known) == "", action
        known = DOMAIN.predict("Alice", parse_action(action), known)
    return known


# ---- goals


def test_goals_are_counts_of_kinds() -> None:
    goals = {goal.id: goal for goal in DOMAIN.goals(facts(*HERE))}
    assert list(goals) == ["deliver_apple", "deliver_banana", "deliver_bread"]
    apples = goals["deliver_apple"]
    assert (apples.units, apples.weight, apples.capacity, apples.thing, apples.state) == (2, 2.0, 2, BED, "open")
    assert dict(apples.features) == {"thing": "apple", "relation": "ON", "target": "bed"}
    brought = facts(*HERE, "<apple>(11) ON <bed>(0)", "<banana>(12) ON <bed>(0)", "Alice HOLD <bread>(13)")
    states = {goal.id: (goal.units, goal.state) for goal in DOMAIN.goals(brought)}
    assert states == {"deliver_apple": (1, "open"), "deliver_banana": (0, "done"), "deliver_bread": (1, "open")}


# ---- options


def test_options_with_empty_hands() -> None:
    assert offered(facts(*HERE, *SEEN)) == {
        "fetch(<apple>(11))": "deliver_apple",
        "fetch(<banana>(12))": "deliver_banana",
        "fetch(<bowl>(14))": "deliver_apple",
        "go(<kitchen>(2000))": None,
        "go(<bedroom>(3000))": None,
        "explore(<livingroom>(1000))": None,
        "search(anything)": None,
        "wait()": None,
    }


def test_options_with_full_hands() -> None:
    known = facts(*HERE, *SEEN[4:], *BED_SEEN, "Alice HOLD <apple>(11)", "Alice HOLD <bowl>(14)")
    shown = offered(known)
    assert shown["put(<apple>(11), <bowl>(14))"] == shown["deliver()"] == "deliver_apple"
    assert not any(action.startswith("fetch") for action in shown)


def test_who_holds_a_target_can_deliver_it_before_the_bed_is_seen() -> None:
    assert offered(facts(*HERE, "Alice HOLD <apple>(11)"))["deliver()"] == "deliver_apple"


def test_one_who_holds_a_container_is_offered_no_other() -> None:
    known = facts(*HERE, *SEEN, "<plate>(15) IN <livingroom>(1000)", "Alice HOLD <bowl>(14)")
    assert [action for action in offered(known) if action.startswith("fetch")] == [
        "fetch(<apple>(11))",
        "fetch(<banana>(12))",
    ]


def test_a_container_with_targets_in_it_is_offered_for_them() -> None:
    known = facts(*HERE, *SEEN[2:4], "<banana>(12) INSIDE <bowl>(14)")
    assert offered(known)["fetch(<bowl>(14))"] == "deliver_banana"


def test_an_empty_container_alone_is_not_delivered() -> None:
    assert "deliver()" not in offered(facts(*HERE, *BED_SEEN, "Alice HOLD <bowl>(14)"))


def test_what_teammates_in_sight_carry_is_not_fetched_twice() -> None:
    known = facts(*HERE, *SEEN, "Bob AT <livingroom>(1000)", "Bob HOLD <apple>(16)", "<banana>(99) INSIDE <plate>(15)",
                  "Bob HOLD <plate>(15)")  # fmt: skip
    assert "fetch(<apple>(11))" in offered(known), "one of two"
    assert "fetch(<banana>(12))" not in offered(known), "the only one"


def test_nothing_is_looked_for_once_all_is_found() -> None:
    rest = ("<bread>(13) IN <kitchen>(2000)", "<apple>(16) IN <kitchen>(2000)")
    assert "search(anything)" not in offered(facts(*HERE, *SEEN, *BED_SEEN, *rest))
    only_bed = offered(facts(*HERE, *SEEN, *rest))
    assert [action for action in only_bed if action.startswith(("go", "explore"))] == ["go(<bedroom>(3000))"]


def test_where_everything_was_explored_the_oldest_sight_is_renewed() -> None:
    lines = [*HERE, *(f"{room} EXPLORED all" for room in (LIVING, KITCHEN, BEDROOM))]
    known = facts(*lines)
    ticks = {fact: 50 if fact.subject == BEDROOM else 10 for fact in known if fact.subject in (KITCHEN, BEDROOM)}
    shown = offered(Facts(known.items, ticks))
    assert [action for action in shown if action.startswith(("go", "explore"))] == ["go(<kitchen>(2000))"]


# ---- preconditions


@pytest.mark.parametrize(
    ("action", "more", "word"),
    [
        ("go(<livingroom>(1000))", (), "there"),
        ("go(<kitchen>(2000))", (), ""),
        ("explore(<livingroom>(1000))", (), ""),
        ("fetch(<apple>(11))", (), ""),
        ("fetch(<bread>(13))", (), "illegal"),
        ("fetch(<apple>(11))", ("Alice HOLD <plate>(15)", "Alice HOLD <bread>(13)"), "hand_full"),
        ("fetch(<bread>(13))", ("Bob HOLD <bread>(13)",), "held"),
        ("fetch(<bread>(13))", ("<bread>(13) INSIDE <bowl>(14)",), "contained"),
        ("put(<apple>(11), <bowl>(14))", (), "nothing_to_put"),
        ("put(<bread>(13), <plate>(15))", ("Alice HOLD <bread>(13)", "Alice HOLD <plate>(15)"), ""),
        ("deliver()", (), "empty_hand"),
        ("deliver()", ("Alice HOLD <bread>(13)",), ""),
        ("deliver()", ("Alice HOLD <bread>(13)", *BED_SEEN), ""),
        ("drop(<apple>(11))", (), "empty_hand"),
        ("drop(<bread>(13))", ("Alice HOLD <bread>(13)",), ""),
        ("search(anything)", (), ""),
        ("fly(<kitchen>(2000))", (), "illegal"),
        ("go(<attic>(1))", (), "illegal"),
    ],
)
def test_preconditions(action: str, more: tuple[str, ...], word: str) -> None:
    assert reason(action, facts(*HERE, *SEEN, *more)).partition(":")[0] == word


def test_a_full_container_takes_no_more() -> None:
    inside = [f"<apple>({k}) INSIDE <plate>(15)" for k in (1, 2, 3)]
    known = facts(*HERE, "Alice HOLD <bread>(13)", "Alice HOLD <plate>(15)", *inside)
    assert reason("put(<bread>(13), <plate>(15))", known) == "container_full: 3 things are in plate_15"
    assert "put(<bread>(13), <plate>(15))" not in offered(known)


# ---- expected effects


def test_a_whole_delivery() -> None:
    known = after(
        facts(*HERE, *SEEN, *BED_SEEN), "fetch(<bowl>(14))", "fetch(<apple>(11))", "put(<apple>(11), <bowl>(14))"
    )
    state = DOMAIN.read(known)
    assert (state.hands["Alice"], state.inside) == ((BOWL,), {APPLE: BOWL})
    state = DOMAIN.read(after(known, "fetch(<banana>(12))", "deliver()"))
    assert state.delivered == {BOWL, APPLE, BANANA}
    assert (state.hands["Alice"], state.at["Alice"], state.room[BANANA]) == ((), BEDROOM, BEDROOM)


def test_exploring_and_dropping() -> None:
    known = after(facts(*HERE, *SEEN), "explore(<kitchen>(2000))")
    assert (known.value(KITCHEN, "EXPLORED"), known.value(KITCHEN, "SEEN"), known.value("Alice", "AT")) == (
        "all",
        100,
        KITCHEN,
    )
    known = after(facts(*HERE, *SEEN), "go(<kitchen>(2000))")
    assert known.value(KITCHEN, "EXPLORED") == "part"
    known = after(known, "fetch(<banana>(12))", "go(<livingroom>(1000))", "drop(<banana>(12))")
    assert known.value(BANANA, "IN") == LIVING


# ---- plans


def test_plans_for_a_goal_end_at_the_bed() -> None:
    known = facts(*HERE, *SEEN, *BED_SEEN)
    goal = DOMAIN.goals(known)[0]
    plans = [plan.actions for plan in DOMAIN.candidate_plans(goal, "Alice", known)]
    assert plans[0] == (Action("fetch", (APPLE,)), Action("deliver"))
    load = "fetch(<bowl>(14)) fetch(<apple>(11)) put(<apple>(11),<bowl>(14)) fetch(<banana>(12))"
    whole = tuple(map(parse_action, [*load.split(), "put(<banana>(12), <bowl>(14))", "deliver()"]))
    assert whole in plans
    both = tuple(map(parse_action, ["fetch(<apple>(11))", "fetch(<banana>(12))", "deliver()"]))
    assert both in plans, "two hands take two things, the second for another goal"
    for actions in plans:
        run = simulate_plan(actions, "Alice", known, DOMAIN)
        assert run.ok, run.reason
        assert run.share(goal) == 0.5


def test_what_is_known_is_brought_before_the_bed_was_seen() -> None:
    known = facts(*HERE, *SEEN)
    plan = DOMAIN.candidate_plans(DOMAIN.goals(known)[0], "Alice", known)[0]
    assert list(map(str, plan.actions)) == ["fetch(<apple>(11))", "deliver()"]


def test_plans_without_a_bed_or_a_target_look_for_them() -> None:
    known = facts(*HERE)
    plans = [str(plan.actions[0]) for plan in DOMAIN.candidate_plans(DOMAIN.goals(known)[0], "Alice", known)]
    assert plans == [
        "explore(<kitchen>(2000))",
        "explore(<bedroom>(3000))",
        "explore(<livingroom>(1000))",
        "search(anything)",
        "wait()",
    ]


def test_who_is_not_needed_looks_around_nearest_first() -> None:
    plans = [str(plan.actions[0]) for plan in DOMAIN.candidate_plans(None, "Alice", facts(*HERE))]
    assert plans == ["explore(<livingroom>(1000))", "explore(<kitchen>(2000))", "explore(<bedroom>(3000))", "wait()"]
    plans = [
        str(plan.actions[0])
        for plan in DOMAIN.candidate_plans(None, "Alice", facts(*HERE, *BED_SEEN, "Alice HOLD <apple>(11)"))
    ]
    assert plans[0] == "deliver()"


def test_the_first_plan_of_views_can_begin() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (6.0, 1.0, 0.0)]))
    for agent in here.spec.agents:
        view = here.view(agent)
        for goal in view.goals:
            assert any(
                dry_run(plan, view, here.domain).ok for plan in here.domain.candidate_plans(goal, agent, view.known)
            )


# ---- costs


def test_estimated_steps() -> None:
    known = facts(*HERE, *SEEN, *BED_SEEN, "Alice HOLD <bread>(13)")

    def steps(action: str) -> int:
        return DOMAIN.estimate_steps("Alice", parse_action(action), known)

    assert steps("fetch(<apple>(11))") == walk_frames(1.0, leaves_room=False) + GRASP_FRAMES
    to_bed = walk_frames(((11.3 - 2) ** 2 + 1) ** 0.5 - 1.5, leaves_room=True) + FRAMES_TO_BED
    assert steps("deliver()") == to_bed + DROP_FRAMES
    assert steps("explore(<livingroom>(1000))") == walk_frames(0.0004 + 1.0 - 1.02, leaves_room=False) + 2 * TURNS
    assert (steps("put(<bread>(13), <bowl>(14))"), steps("drop(<bread>(13))"), steps("wait()")) == (
        146,
        DROP_FRAMES,
        PULSE,
    )
    assert (steps("talk(7)"), steps("no_such_verb()"), steps("go(<livingroom>(1000))")) == (7, 1, 1)
    assert walk_frames(2.0, leaves_room=False) == WITHIN_ROOM[0] + 2 * WITHIN_ROOM[1]
    assert walk_frames(2.0, leaves_room=True) == TO_ANOTHER[0] + 2 * TO_ANOTHER[1]
    assert walk_frames(-1.0, leaves_room=True) == 0


# ---- beliefs


def test_every_kind_has_a_place_where_it_tends_to_lie() -> None:
    kinds = [kind for group, _ in DENSITIES for kind in group]
    assert sorted(kinds) == sorted({*sum(TARGETS.values(), ()), *sum(CONTAINERS.values(), ())})
    assert all(weight > UNLIKELY for _, by_room in DENSITIES for weight in by_room.values())
    assert not any("bedroom" in by_room for _, by_room in DENSITIES)


def test_what_is_open() -> None:
    rules = DOMAIN.beliefs
    latents = {latent.name: latent for latent in rules.latent_variables(facts(*HERE, *SEEN[:2]))}
    assert list(latents) == ["apple 1", "banana 1", "bread 1", "container", "<bed>(0)"]
    weights = {str(value.fact.value): value.weight for value in latents["bread 1"].values}
    assert weights[str(KITCHEN)] == pytest.approx(6.0 * 3.88 * 4.0)
    assert weights[str(LIVING)] == pytest.approx(1.0 * 3.94 * 4.0)
    assert weights[str(BEDROOM)] == pytest.approx(UNLIKELY * 3.94 * 4.0)
    assert [value.fact for value in latents["<bed>(0)"].values] == [parse_fact("<bed>(0) IN <bedroom>(3000)")]


def test_what_was_seen_of_a_room_weighs_less() -> None:
    seen = facts(*HERE, "<kitchen>(2000) SEEN 70", "<livingroom>(1000) EXPLORED all")
    bread = next(latent for latent in DOMAIN.beliefs.latent_variables(seen) if latent.name == "bread 1")
    assert {str(value.fact.value): value.weight for value in bread.values} == {
        str(KITCHEN): pytest.approx(0.3 * 6.0 * 3.88 * 4.0),
        str(BEDROOM): pytest.approx(UNLIKELY * 3.94 * 4.0),
    }
    all_seen = facts(*HERE, *(f"{room} EXPLORED all" for room in (LIVING, KITCHEN, BEDROOM)))
    bread = next(latent for latent in DOMAIN.beliefs.latent_variables(all_seen) if latent.name == "bread 1")
    assert len(bread.values) == 3, "it was overlooked somewhere"


def test_a_known_container_leaves_none_open() -> None:
    for line in ("<bowl>(14) IN <kitchen>(2000)", "Bob HOLD <bowl>(14)"):
        assert "container" not in [latent.name for latent in DOMAIN.beliefs.latent_variables(facts(*HERE, line))]


def test_what_would_be_seen() -> None:
    rules = DOMAIN.beliefs
    known = facts(
        *HERE,
        "Bob AT <kitchen>(2000)",
        "<kitchen>(2000) EXPLORED all",
        "<banana>(12) INSIDE <bowl>(14)",
        "Bob HOLD <bowl>(14)",
    )

    def chance(line: str, agent: str) -> float:
        return rules.observation_probability(parse_fact(line), agent, known)

    assert chance("<apple>(1) IN <livingroom>(1000)", "Alice") == 0.5
    assert chance("<apple>(1) IN <kitchen>(2000)", "Alice") == 0.0
    assert chance("<apple>(1) IN <kitchen>(2000)", "Bob") == 1.0
    assert chance("<banana>(12) INSIDE <bowl>(14)", "Bob") == 1.0
    assert chance("<banana>(12) INSIDE <bowl>(14)", "Alice") == 0.0
    assert chance("Bob HOLD <bowl>(14)", "Alice") == 0.0
    assert chance("Alice HOLD <apple>(11)", "Alice") == 1.0
    assert chance("<kitchen>(2000) POSITION (600, 200)", "Alice") == 1.0
    assert chance("<apple>(1) IN <kitchen>(2000)", "Carol") == 0.0


def test_conflicts() -> None:
    known = facts(*HERE, *SEEN, "<banana>(77) IN <kitchen>(2000)")

    def lost(first: str, goal: str | None, second: str, other: str | None) -> float:
        options = Option(parse_action(first), goal, 30), Option(parse_action(second), other, 20)
        costs = {DOMAIN.beliefs.conflict_cost(*pair, known) for pair in (options, options[::-1])}
        assert len(costs) == 1
        return costs.pop()

    assert lost("go(<kitchen>(2000))", None, "explore(<kitchen>(2000))", None) == 20
    assert lost("fetch(<banana>(12))", "deliver_banana", "fetch(<banana>(77))", "deliver_banana") == 20, "one is enough"
    assert lost("fetch(<apple>(11))", "deliver_apple", "fetch(<apple>(16))", "deliver_apple") == 0, "both are wanted"
    assert lost("fetch(<bowl>(14))", "deliver_banana", "fetch(<banana>(77))", "deliver_banana") == 0
    assert lost("go(<kitchen>(2000))", None, "wait()", None) == 0
    assert lost("deliver()", "deliver_apple", "deliver()", "deliver_apple") == 0
    assert lost("go(<kitchen>(2000))", None, "go(<bedroom>(3000))", None) == 0


# ---- the scripted team


def scripted(*lines: str, left: int = 3000) -> str:
    """Return what the script lets Alice do if the team knows all this."""
    known = DOMAIN.read(facts(*lines))
    going = [thing.kind for agent in known.hands for thing in known.load(agent)]
    options = DOMAIN.options("Alice", facts(*lines))
    return str(heuristic.choose("Alice", options, DOMAIN.wants, known, [], going, left).action)


def test_the_script_takes_a_container_first_and_fills_it() -> None:
    assert scripted(*HERE, *SEEN, *BED_SEEN) == "fetch(<bowl>(14))"
    held = "Alice HOLD <bowl>(14)"
    assert scripted(*HERE, *SEEN[:2], *SEEN[4:], *BED_SEEN, held) == "fetch(<apple>(11))"
    assert scripted(*HERE, *SEEN[4:], *BED_SEEN, held, "Alice HOLD <apple>(11)") == "put(<apple>(11), <bowl>(14))"


def test_the_script_delivers_what_is_full_or_late_and_goes_to_look_for_the_bed() -> None:
    full = ("Alice HOLD <apple>(11)", "Alice HOLD <banana>(12)")
    assert scripted(*HERE, *BED_SEEN, *full) == "deliver()"
    assert scripted(*HERE, *full) == "deliver()", "it looks for the bed in the bedroom"
    assert scripted(*HERE, *SEEN[4:], *BED_SEEN, full[0]) == "fetch(<banana>(12))"
    assert scripted(*HERE, *SEEN[4:], *BED_SEEN, full[0], left=400) == "deliver()"


def test_the_script_looks_for_what_is_missing() -> None:
    assert scripted(*HERE) == "explore(<livingroom>(1000))"
    assert scripted(*HERE, "<livingroom>(1000) EXPLORED all") == "go(<kitchen>(2000))"


def test_agents_of_the_script_share_what_they_know_and_the_work() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (6.0, 1.5, 180.0)]))
    views = {agent: here.view(agent) for agent in here.spec.agents}
    pooled = here.domain.read(here.domain.pool(views))
    assert {APPLE, BOWL, PLATE} <= set(pooled.room) | {PLATE}
    assert pooled.explored.keys() == {LIVING, KITCHEN}
    plans = here.domain.plan_scripted_team(views, {})
    assert len({plan.actions for plan in plans.values()}) == 2
    assert set(here.domain.plan_scripted_team(views, {"Alice": plans["Alice"]})) == {"Bob"}
    assert here.domain.plan_scripted_team({}, {}) == {}


def test_what_somebody_holds_lies_nowhere_for_the_team() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (1.0, 1.0, 0.0)]))
    put_agent(here._moment, 1, 6.0, 2.0, 90.0)
    here.step({})
    put_agent(here._moment, 0, 2.0, 1.0, 180.0)
    give(here._moment, 1, 0, 0)
    here.step({})
    assert APPLE in here.domain.read(here.view("Alice").known).room, "Alice has not seen that it is gone"
    pooled = here.domain.read(here.domain.pool({agent: here.view(agent) for agent in here.spec.agents}))
    assert (pooled.hands["Bob"], APPLE in pooled.room) == ((APPLE,), False)


def test_waiting_and_talking_are_always_possible() -> None:
    assert WAIT in {option.action for option in DOMAIN.options("Alice", facts(*HERE))}
    assert DOMAIN.check("Alice", talk(2), facts(*HERE)).ok
