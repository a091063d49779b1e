from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction

import pytest

from teamworld.errors import UserError
from teamworld.language import Entity
from teamworld.worlds.contract import WAIT, Outcome, StepResult
from teamworld.worlds.cube import step_effects
from teamworld.worlds.cube.state import ForceScope
from teamworld.worlds.cube.text import observation
from teamworld.worlds.cube.world import CubeOptions, make
from tests.worlds.cube.team import act, give, play_greedy, run, world

W1 = (1, 4, 4)


# ---- orders


def test_the_completed_form_is_the_same_order_and_reports_keep_the_first_one() -> None:
    here = world(10, [(4, 0)], [W1])
    give(here, "move_to_block(0, left)")
    outcome = give(here, "move_to_block(0, left, 20)").outcomes["agent_0"]
    assert str(outcome.action) == "move_to_block(<block>(0), left)"
    assert outcome.start == 0


def test_a_finished_action_ordered_again_starts_again() -> None:
    here = world(10, [(4, 0)], [W1])
    assert give(here, "move(down)").outcomes["agent_0"].status == "done"
    assert give(here, "move(down)").outcomes["agent_0"].start == 1
    assert here.state.agents["agent_0"] == (6, 0)


def test_a_new_order_stops_what_ran() -> None:
    here = world(10, [(4, 0)], [W1])
    give(here, "move(down, 5)")
    outcome = give(here, "move(up)").outcomes["agent_0"]
    assert (outcome.action, outcome.status) == (act("move(up)"), "done")
    stopped, finished = here.view("agent_0").history
    assert (stopped.reason, stopped.primitives) == ("interrupted: another action was begun", ("DOWN",))
    assert finished.status == "done"


def test_outcomes_tell_where_an_agent_stood_and_what_cell_it_tried_to_enter() -> None:
    here = world(10, [(4, 0), (0, 0)], [W1])
    walks = give(here, "move(down)").outcomes
    assert [(walks[agent].place, walks[agent].aim) for agent in walks] == [((4, 0), (5, 0)), ((0, 0), None)]
    assert give(here, "move(left)").outcomes["agent_0"][-2:] == ((5, 0), (5, -1)), "a wall is aimed at too"
    refusal = give(here, "push_block(0, 1)").outcomes["agent_0"]
    assert (refusal.legal, refusal.place, refusal.aim) == (False, (5, 0), None)
    assert {outcome.place for outcome in here.view("agent_0").history} == {None}


def test_waiting_stops_what_ran_and_idle_agents_are_reported_too() -> None:
    here = world(10, [(4, 0), (0, 0)], [W1])
    give(here, "move(down, 5)")
    report = here.step({"agent_0": WAIT})
    assert report.outcomes["agent_0"] == Outcome(WAIT, "done", primitives=("STAY",), start=1, place=(5, 0))
    assert report.outcomes["agent_1"].action == WAIT
    assert here.state.agents["agent_0"] == (5, 0)
    assert here.view("agent_0").running == {}


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("fly(up)", "no action 'fly'"),
        ("move(north)", "direction of move is one of up, down, left, right; got north"),
        ("push_block(7, 1)", "unknown_block"),
        ("push_block(0, 0)", "steps of push_block is a number from 1"),
        ("rendezvous(0, left, 5)", "count of rendezvous is a number from 0 to 2"),
        ("move_to_block(0)", "needs face"),
        ("idle(1, 2)", "takes 1 arguments"),
    ],
)
def test_an_order_that_does_not_fit_is_refused_and_the_step_is_spent(order: str, words: str) -> None:
    here = world(10, [(4, 0), (0, 0)], [W1])
    outcome = give(here, order).outcomes["agent_0"]
    assert (outcome.status, outcome.legal) == ("failed", False)
    assert words in outcome.reason
    assert here.view("agent_0").t == 1
    assert not here.view("agent_0").check(act(order)).ok


def test_an_order_about_a_delivered_block_says_so() -> None:
    here = world(10, [(4, 7)], [(1, 4, 8), W1])
    run(here, "push_block(0, 1)")
    assert here.view("agent_0").check(act("push_block(0, 1)")).reason.startswith("block_gone")
    assert give(here, "push_block(0, 1)").outcomes["agent_0"].reason == "block_gone: block_0 has been delivered"


def test_wrong_calls_are_refused() -> None:
    here = world(10, [(4, 3)], [W1], horizon=1)
    with pytest.raises(UserError, match="did you mean 'agent_0'"):
        here.step({"agent0": WAIT})
    with pytest.raises(UserError, match="there is none"):
        here.view("bob")
    give(here)
    with pytest.raises(UserError, match="over"):
        here.step({})


# ---- ends, rewards, events


def test_delivery_on_the_last_step_is_success() -> None:
    here = world(10, [(4, 7)], [(1, 4, 8)], horizon=1)
    assert give(here, "push_block(0, 1)").end_reason == "all_done"
    assert give(world(10, [(4, 7)], [(1, 4, 8)], horizon=1)).end_reason == "horizon"


def test_rewards_are_those_of_the_paper() -> None:
    here = world(10, [(4, 6), (5, 6)], [(2, 4, 7), W1])
    assert give(here).score == {"reward": -0.01}
    assert give(here, "push_block(0, 1)", "push_block(0, 1)").score == {"reward": pytest.approx(-0.01 + 1.0)}
    free = world(10, [(4, 7)], [(1, 4, 8), W1], options=CubeOptions(step_cost=0.5, deliver_reward=3))
    assert give(free, "push_block(0, 1)").score == {"reward": 2.5}


def test_progress_adds_up_to_one_and_names_who_pushed() -> None:
    here = world(10, [(4, 3), (4, 2), (0, 0)], [W1, (1, 4, 6), (1, 8, 4)])
    reports = run(here, "push_block(0, 5)", "push_block(0, 5)", limit=6)
    events = [event for report in reports for event in report.goals]
    for goal in ("block_0", "block_1"):
        mine = [event for event in events if event.goal == goal]
        assert sum(event.delta for event in mine) == pytest.approx(1)
        assert [event.event for event in mine] == ["progress"] * (len(mine) - 1) + ["done"]
        assert {event.participants for event in mine} == {("agent_0", "agent_1")}
    assert [goal.state for goal in here.goals()] == ["done", "done", "open"]


def test_pushing_away_from_the_goal_is_negative_progress_and_sideways_is_none() -> None:
    here = world(10, [(4, 5), (9, 9)], [W1])
    (event,) = give(here, "push_block(0, 1)").goals
    assert event.event == "progress"
    assert event.delta == pytest.approx(-1 / 5)
    assert give(world(10, [(3, 4)], [W1]), "push_block(0, 1)").goals == ()


def test_participants_of_a_chain_are_those_whose_force_reached_the_block() -> None:
    # Block 0 is pushed into block 1 by agent 0; agent 1 pushes block 1 on its own.
    here = world(12, [(4, 3), (8, 3)], [W1, (1, 8, 4)])
    report = give(here, "push_block(0, 1)", "push_block(1, 1)")
    assert {event.goal: event.participants for event in report.goals} == {
        "block_0": ("agent_0",),
        "block_1": ("agent_1",),
    }


def test_blocks_in_contact_that_move_on_their_own_have_their_own_participants() -> None:
    # The front block goes first, so the rear one has no longer to push it.
    here = world(12, [(4, 3), (5, 4), (5, 3)], [W1, (2, 4, 5)])
    report = give(here, "push_block(0, 1)", "push_block(1, 1)", "push_block(1, 1)")
    assert {event.goal: event.participants for event in report.goals} == {
        "block_0": ("agent_0",),
        "block_1": ("agent_1", "agent_2"),
    }


def test_attempts_count_what_there_was_of_each_constraint() -> None:
    here = world(12, [(4, 3), (5, 3), (6, 3), (0, 0)], [(3, 4, 4)])
    (attempt,) = give(here, "push_block(0, 2)", "rendezvous(0, left, 3)").attempts
    assert (attempt.goal, attempt.quorum, attempt.success) == ("block_0", 3, False)
    assert attempt.have == (("dependency", 1), ("participation", 2), ("spatial", 3), ("temporal", 1))
    assert attempt.need == (("dependency", 1), ("participation", 3), ("spatial", 3), ("temporal", 3))
    assert attempt.participants == ("agent_0",)
    (attempt,) = give(here, *["push_block(0, 2)"] * 3).attempts
    assert attempt.success
    assert attempt.have == attempt.need
    assert attempt.participants == ("agent_0", "agent_1", "agent_2")


def test_a_lone_push_is_an_attempt_only_if_its_way_is_not_clear() -> None:
    assert give(world(10, [(4, 3)], [W1]), "push_block(0, 1)").attempts == ()
    (attempt,) = give(world(10, [(4, 3), (4, 5)], [W1]), "push_block(0, 1)").attempts
    assert attempt.quorum == 1
    assert dict(attempt.have) == {"dependency": 0, "participation": 1, "spatial": 1, "temporal": 1}


def test_attempts_have_no_more_than_they_need_and_succeed_only_with_all() -> None:
    attempts = [attempt for report in play_greedy(make("paper-n4", 0, 200, {})) for attempt in report.attempts]
    assert attempts
    for attempt in attempts:
        have, need = dict(attempt.have), dict(attempt.need)
        assert list(have) == list(need)
        assert all(have[name] <= need[name] for name in have)
        assert attempt.success <= (have == need)


def classes(reports: list[StepResult], agents: int) -> Counter[str]:
    """Class every agent-step by what it was spent on, first match first."""
    counts: Counter[str] = Counter()
    for report in reports:
        assert len(report.outcomes) == agents
        for outcome in report.outcomes.values():
            if not outcome.legal:
                counts["invalid"] += 1
            elif not outcome.effect and outcome.blocker is not None:
                counts["blocked"] += 1
            elif outcome.effect:
                counts["work"] += 1
            elif outcome.ready is not None:
                counts["sync"] += 1
            else:
                counts["move" if outcome.moved else "idle"] += 1
    return counts


def test_the_golden_example_is_accounted_for() -> None:
    # On a grid agent_1 needs three moves from one block to the other.
    here = world(7, [(2, 2), (4, 2)], [(1, 4, 4), (2, 2, 4)])
    script = [
        ("move_to_block(1, left)", "move_to_block(0, left)"),
        ("wait", "push_block(0, 2)"),
        ("push_block(1, 1)", ""),
        ("wait", "move_to_block(1, left)"),
        ("wait", ""),
        ("wait", ""),
        ("push_block(1, 1)", "push_block(1, 1)"),
    ]
    reports = [give(here, *orders) for orders in script]
    assert reports[-1].end_reason == "all_done"
    assert classes(reports, 2) == {"work": 4, "move": 5, "sync": 4, "blocked": 1}
    attempts = [attempt for report in reports for attempt in report.attempts]
    assert [attempt.success for attempt in attempts] == [False, True]
    assert attempts[0].have == (("dependency", 1), ("participation", 1), ("spatial", 1), ("temporal", 1))
    worth: dict[str, Fraction] = dict.fromkeys(here.spec.agents, Fraction(0))
    weights = {goal.id: goal.weight for goal in here.goals()}
    for event in (event for report in reports for event in report.goals):
        for agent in event.participants:
            worth[agent] += Fraction(weights[event.goal] * event.delta / len(event.participants))
    assert worth == {"agent_0": 1, "agent_1": 2}


# ---- views


def test_parts_are_made_once_and_shared_by_the_team() -> None:
    here = world(10, [(4, 0), (5, 0)], [W1])
    first, second = here.view("agent_0"), here.view("agent_1")
    assert first.known is second.known is first.facts
    assert first.goals is second.goals
    assert len(first.recall) == 0


def test_the_history_holds_the_primitive_expansion() -> None:
    here = world(10, [(4, 2)], [W1])
    run(here, "move_to_block(0, left)")
    run(here, "push_block(0, 2)")
    walk, push = here.view("agent_0").history
    assert (walk.start, walk.primitives, walk.moved, walk.effect) == (0, ("RIGHT",), True, False)
    assert (push.start, push.primitives, push.effect) == (1, ("RIGHT", "RIGHT"), True)


def test_the_text_is_plain_and_tells_all() -> None:
    here = world(10, [(4, 3), (0, 0)], [W1, (1, 4, 5), (1, 8, 8), (2, 7, 1)])
    give(here, "push_block(0, 1, 1)", "move(down, 2)")
    text = here.view("agent_0").text()
    assert text.splitlines() == [
        "You are agent_0 at (4, 3). Goal: column 9.",
        "Others: agent_1 (1, 0), doing move(down, 2).",
        "block_0 (weight 1) is at (4, 4); open faces: up, down, left; "
        "agent_0 lined up left. Pushed right it takes along block_1 from the start (2 agents).",
        "block_1 (weight 1) is at (4, 5); open faces: up, down, right.",
        "block_2 (weight 1) is at (8, 8).",
        "block_3 (weight 2) fills rows 7-8, columns 1-2. "
        "Pushed right it takes along block_2 after 5 columns (3 agents).",
    ]
    assert here.view("agent_0").history[-1].reason == (
        "insufficient_force: stuck since step 0: 1 pushed, block_0 and block_1 take 2; no one else was at work on it"
    )
    with pytest.raises(UserError, match="plain"):
        here.view("agent_0").text("grid")


def test_the_structured_observation_has_the_keys_of_the_paper() -> None:
    here = world(10, [(4, 7), (0, 0)], [(1, 4, 8), W1])
    run(here, "push_block(0, 1)")
    seen = observation(here.view("agent_0"))
    assert list(seen) == ["grid_size", "goal_column", "step", "agent_positions", "blocks", "history", "team"]
    assert seen["blocks"]["B0"] == {
        "weight": 1, "size": 1, "location": None, "goal_dist": 0, "delivered": True, "chain": [],
    }  # fmt: skip
    assert seen["history"] == [
        {
            "agent": "agent_0", "action": "push_block", "args": ["<block>(0)", "1"], "start": 0, "end": 1,
            "status": "done", "reason": "", "primitives": ["RIGHT"],
        }
    ]  # fmt: skip
    assert seen["agent_positions"] == {"agent_0": (4, 8), "agent_1": (0, 0)}


def test_whoever_stands_at_a_face_with_too_few_waits_for_the_quorum() -> None:
    here = world(10, [(4, 3), (0, 0)], [(2, 4, 4)])
    for order in ("", "wait", "idle(1)", "wait_agents(1)", "rendezvous(0, left, 2)", "talk(1)"):
        assert give(here, order).outcomes["agent_0"].ready == "block_0"
    assert give(here, "move(left)").outcomes["agent_0"].ready is None
    assert give(here).outcomes["agent_0"].ready is None
    enough = world(10, [(4, 3), (5, 3)], [(2, 4, 4)])
    assert give(enough).outcomes["agent_0"].ready is None


# ---- partial views


def test_a_view_radius_hides_what_nobody_has_seen() -> None:
    here = world(20, [(4, 0), (5, 0)], [W1, (1, 15, 15)], options=CubeOptions(view_radius=4))
    view = here.view("agent_0")
    assert [goal.id for goal in view.goals] == ["block_0"]
    assert view.known.value(Entity("block", 1), "AT") is None
    assert not view.check(act("move_to_block(1, left)")).ok
    assert "block_1" not in view.text().replace("Not found: block_1 (weight 1).", "")
    assert [goal.id for goal in here.goals()] == ["block_0", "block_1"]


def test_what_was_seen_is_recalled_with_its_tick_by_the_whole_team() -> None:
    here = world(20, [(4, 1), (18, 0)], [W1, (1, 15, 15)], options=CubeOptions(view_radius=3))
    assert here.view("agent_0").facts.value(Entity("block", 0), "AT") == (4, 4)
    far = here.view("agent_1")
    assert far.facts.value(Entity("block", 0), "AT") is None
    assert far.recall.value(Entity("block", 0), "AT") == (4, 4)
    run(here, "move(left)")
    run(here, "move(up, 4)")
    recall = here.view("agent_0").recall
    fact = next(fact for fact in recall.about("AT") if fact.subject == Entity("block", 0))
    assert recall.seen[fact] == 0
    assert re.search(
        r"^block_0 \(weight 1\) is at \(4, 4\) \(seen [1-9] steps? ago\)", here.view("agent_0").text(), re.M
    )
    assert "Unseen: row 0: columns 4-19; rows 1-7: columns 5-19" in here.view("agent_0").text()
    assert here.view("agent_0").check(act("move_to_block(0, left)")).ok


def test_a_block_that_is_not_where_it_was_seen_is_forgotten() -> None:
    # A long chain carries block 1 out of sight of the pusher, and agent 1 comes to look for it.
    blocks = [(1, 4, 3), (1, 4, 4), (1, 4, 5)]
    here = world(20, [(4, 2), (4, 1), (4, 0), (7, 5)], blocks, options=CubeOptions(view_radius=2))
    assert [goal.id for goal in here.view("agent_0").goals] == ["block_0", "block_1"]
    give(here, "", "", "", "move(up, 1)")
    assert [goal.id for goal in here.view("agent_0").goals] == ["block_0", "block_1", "block_2"]
    give(here, "", "", "", "move(down, 3)")
    give(here)
    give(here)
    push = "push_block(0, 6)"
    for _ in range(5):
        give(here, push, push, push)
    known = here.view("agent_0").known
    assert known.value(Entity("block", 1), "AT") == (4, 9)
    assert known.value(Entity("block", 2), "AT") is None


def test_a_scripted_team_that_sees_little_goes_and_looks() -> None:
    here = make("n2", 5, 400, {"view_radius": 3})
    assert here.view("agent_0").state.unseen
    assert play_greedy(here)[-1].end_reason == "all_done"


# ---- the world as a whole


def test_snapshots_are_plain_and_small() -> None:
    here = world(10, [(4, 7)], [(1, 4, 8), W1])
    run(here, "push_block(0, 1)")
    snapshot = here.snapshot()
    assert snapshot == {"v": 1, "agents": [[4, 8]], "blocks": [None, [4, 4]]}
    assert json.loads(json.dumps(snapshot)) == snapshot
    assert here.spec.static["weights"] == [1, 1]
    assert here.spec.static["grid_size"] == 10
    assert json.loads(json.dumps(dict(here.spec.options))) == here.spec.options


def test_hearing_is_a_matter_of_distance() -> None:
    here = world(10, [(4, 0), (4, 3), (9, 9)], [W1])
    assert here.in_range("agent_0", 3) == ("agent_1",)
    assert here.in_range("agent_0", float("inf")) == ("agent_1", "agent_2")
    assert here.in_range("agent_0", 0) == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"view_radus": 3}, "did you mean 'view_radius'"),
        ({"view_radius": 0}, "expected at least 1, got 0"),
        ({"timeouts": "short"}, "'spec' or 'paper'"),
    ],
)
def test_wrong_options_say_what_is_expected(options: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        make("n2", 0, 100, options)


@pytest.mark.parametrize(("scope", "moves"), [("chain", True), ("rear", False)])
def test_the_force_scope_reaches_the_physics(scope: ForceScope, moves: bool) -> None:
    # Two agents push block 0, which touches block 1, on which one more pushes: 3 against 3, or 2 against 3.
    agents, blocks = [(4, 3), (4, 2), (5, 4)], [W1, (2, 4, 5)]
    here = world(12, agents, blocks, options=CubeOptions(force_scope=scope))
    report = give(here, "push_block(0, 1)", "push_block(0, 1)", "push_block(1, 1)")
    assert here.state.blocks[0].col == 4 + moves
    assert {attempt.goal: attempt.success for attempt in report.attempts}["block_0"] is moves
    assert {event.participants for event in report.goals} == ({("agent_0", "agent_1", "agent_2")} if moves else set())


# ---- feedback


def test_feedback_is_composed_by_the_user() -> None:
    here = world(10, [(4, 3), (4, 5), (0, 0)], [W1, (2, 7, 1)])
    give(here, "push_block(0, 1)", "", "move(up)")
    effects = here.effects
    assert effects is not None
    mine = step_effects.combine(
        step_effects.failed_pushes, step_effects.congestion, lambda e: {"half_idle": len(e.idle) / 2}
    )
    assert mine(effects) == {"failed_pushes": 1, "congestion": 1, "half_idle": 0.5}
    team = step_effects.team_feedback(effects)
    assert team["distance"] == 5 + 7
    assert team["deficit_block_0"] == 0
    assert team["deficit_block_1"] == 2
    own = step_effects.agent_feedback(effects, "agent_0")
    assert (own.position, own.blocker, own.deficit, own.nearest) == ((4, 3), "agent_1", 0, 1)
    assert step_effects.agent_feedback(effects, "agent_2").places == ()


def test_feedback_counts_progress_and_deliveries() -> None:
    here = world(10, [(4, 7), (9, 9)], [(1, 4, 8), (2, 7, 1)])
    give(here, "push_block(0, 1)", "wait_agents(2)")
    assert here.effects is not None
    team = step_effects.team_feedback(here.effects)
    assert {name: team[name] for name in ("progress", "distance", "delivered", "delivered_weight")} == {
        "progress": 1, "distance": 7, "delivered": 1, "delivered_weight": 1,
    }  # fmt: skip
    assert (team["idle"], team["waiting"]) == (0, 1)
