from __future__ import annotations

import pytest

from teamworld.worlds.contract import Outcome
from teamworld.worlds.cube.symbolic_state import SymbolicState
from teamworld.worlds.cube.world import CubeOptions
from tests.worlds.cube.team import Cell, ends, give, run, world

W1 = (1, 4, 4)  # a block of weight 1 at (4, 4)


def failure(outcome: Outcome) -> tuple[str, str, str | None, str | None]:
    return outcome.status, outcome.reason, outcome.constraint, outcome.blocker


def place(state: SymbolicState, agent: int = 0) -> Cell:
    return state.agents[f"agent_{agent}"]


# ---- move, idle, wait, talk


def test_move_goes_the_steps() -> None:
    here = world(10, [(4, 0)], [W1])
    reports = run(here, "move(down, 3)")
    assert len(reports) == 3
    assert ends(reports).status == "done"
    assert place(here.state) == (7, 0)


def test_move_tries_as_often_as_asked_and_then_says_who_was_in_the_way() -> None:
    here = world(10, [(4, 0), (6, 0)], [W1])
    reports = run(here, "move(down, 3)")
    assert len(reports) == 3
    assert failure(ends(reports)) == ("failed", "blocked", "spatial", "agent_1")
    assert place(here.state) == (5, 0)
    assert failure(ends(run(world(10, [(0, 0)], [W1]), "move(up)"))) == ("failed", "blocked", "spatial", "wall")


def test_a_move_that_fell_short_names_who_stopped_it_earlier() -> None:
    here = world(10, [(4, 0), (5, 0)], [W1])
    reports = run(here, "move(down, 3)", "move(right, 1)")
    assert failure(ends(reports)) == ("failed", "blocked", "spatial", "agent_1")
    assert place(here.state) == (6, 0)


def test_move_pushes_a_block_in_the_way() -> None:
    here = world(10, [(4, 2)], [W1])
    reports = run(here, "move(right, 3)")
    assert ends(reports).status == "done"
    assert here.state.blocks[0].col == 6
    assert [report.outcomes["agent_0"].effect for report in reports] == [False, True, True]


def test_a_block_too_heavy_is_named_as_what_stops_a_move() -> None:
    here = world(10, [(4, 3)], [(2, 4, 4)])
    assert failure(ends(run(here, "move(right, 2)"))) == ("failed", "blocked", "spatial", "<block>(0)")


@pytest.mark.parametrize(("order", "ticks"), [("idle", 1), ("idle(4)", 4), ("talk(3)", 3), ("wait", 1)])
def test_staying_takes_its_time(order: str, ticks: int) -> None:
    here = world(10, [(4, 0)], [W1])
    reports = run(here, order)
    assert len(reports) == ticks
    assert ends(reports).status == "done"
    assert place(here.state) == (4, 0)


# ---- move_to_block


def test_the_most_central_free_cell_is_taken_first() -> None:
    here = world(12, [(0, 0)], [(3, 4, 4)])
    assert ends(run(here, "move_to_block(0, left)")).status == "done"
    assert place(here.state) == (5, 3)


@pytest.mark.parametrize(("face", "cell"), [("left", (4, 3)), ("right", (4, 5)), ("up", (3, 4)), ("down", (5, 4))])
def test_every_face_can_be_reached(face: str, cell: Cell) -> None:
    here = world(10, [(4, 0)], [W1])
    reports = run(here, f"move_to_block(0, {face})")
    assert ends(reports).status == "done"
    assert place(here.state) == cell


def test_the_path_is_a_shortest_one_round_the_block() -> None:
    here = world(10, [(5, 3)], [(3, 4, 4)])
    assert len(run(here, "move_to_block(0, right)")) == 2 + 4 + 2  # past the lower edge, along it, and up again


def test_who_stands_in_line_already_is_done_in_one_step() -> None:
    here = world(10, [(4, 3), (4, 2)], [W1])
    reports = run(here, "move_to_block(0, left)", "move_to_block(0, left)")
    assert len(reports) == 1
    assert ends(reports, 1).status == "done"


def test_when_the_face_is_full_the_others_queue_behind_the_shortest_line() -> None:
    agents = [(0, 3), (9, 3), (0, 1), (9, 1)]
    here = world(10, agents, [(2, 4, 4)])
    run(here, *["move_to_block(0, left)"] * 4)
    assert sorted(here.state.agents.values()) == [(4, 2), (4, 3), (5, 2), (5, 3)]


def test_nobody_shuts_the_middle_of_a_face() -> None:
    # Column 0 is the face; who comes along it must go on to the middle for the others to fit.
    here = world(20, [(13, 0), (14, 0), (11, 0), (8, 0)], [(3, 1, 1)])
    run(here, *["move_to_block(0, left)"] * 4, limit=30)
    held = set(here.state.agents.values())
    assert held >= {(1, 0), (2, 0), (3, 0)}


def test_two_agents_racing_for_one_cell_both_end_lined_up() -> None:
    here = world(10, [(3, 0), (5, 0)], [(2, 4, 4)])
    reports = run(here, "move_to_block(0, left)", "move_to_block(0, left)")
    assert [ends(reports, i).status for i in (0, 1)] == ["done", "done"]


def test_a_face_that_vanishes_ends_the_action_at_once() -> None:
    # Block 0 is pushed against block 1, whose left face then has no free cell.
    here = world(10, [(4, 1), (9, 9)], [(1, 4, 2), (1, 4, 4)])
    reports = run(here, "push_block(0, 1)", "move_to_block(1, left)")
    assert len(reports) == 1
    assert failure(ends(reports, 1)) == ("failed", "face_gone", "spatial", "<block>(0)")


def test_a_face_that_never_was_is_refused() -> None:
    here = world(10, [(9, 9)], [(2, 0, 0)])
    outcome = give(here, "move_to_block(0, left)").outcomes["agent_0"]
    assert failure(outcome) == ("failed", "face_gone", "spatial", "wall")
    assert not outcome.legal


def test_a_block_delivered_on_the_way_ends_the_walk() -> None:
    here = world(10, [(4, 7), (0, 0)], [(1, 4, 8), W1])
    reports = run(here, "push_block(0, 1)", "move_to_block(0, left)")
    assert ends(reports, 0).status == "done"
    assert failure(ends(reports, 1)) == ("failed", "block_gone", None, None)


def test_who_is_walled_in_gives_up_after_the_time_out() -> None:
    here = world(10, [(0, 0)], [W1, (1, 0, 1), (1, 1, 0)])
    reports = run(here, "move_to_block(0, left, 6)")
    assert len(reports) == 6
    assert failure(ends(reports)) == ("failed", "unreachable", "spatial", None)


def test_a_team_mate_in_the_only_way_is_named_and_waited_for() -> None:
    walls = [(1, 0, 1), (1, 2, 1), (1, 1, 2)]
    here = world(10, [(0, 0), (1, 0)], [W1, *walls])
    first = give(here, "move_to_block(0, left)").outcomes["agent_0"]
    assert (first.status, first.blocker, first.primitives) == ("running", "agent_1", ("STAY",))
    reports = run(here, "", "move(down, 4)", limit=40)
    assert ends(reports, 0).status == "done"


def test_default_time_out_grows_with_the_grid() -> None:
    shut_in = [W1, (1, 0, 1), (1, 1, 0)]
    assert len(run(world(30, [(0, 0)], shut_in), "move_to_block(0, left)")) == 60
    paper = world(30, [(0, 0)], shut_in, options=CubeOptions(timeouts="paper"))
    assert len(run(paper, "move_to_block(0, left)")) == 40


# ---- rendezvous


def test_rendezvous_needs_alignment_on_that_face() -> None:
    here = world(10, [(4, 2), (3, 4)], [W1])
    report = give(here, "rendezvous(0, left, 1)", "rendezvous(0, left, 1)")
    for outcome in report.outcomes.values():
        assert failure(outcome) == ("failed", "not_aligned", "spatial", None)
        assert not outcome.legal


def test_all_are_released_together_after_one_step_in_company() -> None:
    here = world(10, [(4, 3), (5, 3)], [(2, 4, 4)])
    first = give(here, "rendezvous(0, left, 2)", "idle(2)")
    assert first.outcomes["agent_0"].status == "running"
    assert first.outcomes["agent_0"].ready == "block_0"
    give(here)
    last = give(here, "", "rendezvous(0, left, 2)")
    assert {agent: o.status for agent, o in last.outcomes.items()} == {"agent_0": "done", "agent_1": "done"}


def test_surplus_agents_are_released_too() -> None:
    here = world(10, [(4, 3), (5, 3), (4, 2)], [(2, 4, 4)])
    report = give(here, *["rendezvous(0, left, 2)"] * 3)
    assert {outcome.status for outcome in report.outcomes.values()} == {"done"}


def test_who_wants_more_company_goes_on_waiting() -> None:
    here = world(10, [(4, 3), (5, 3)], [(2, 4, 4)])
    report = give(here, "rendezvous(0, left, 2)", "rendezvous(0, left, 1)")
    assert {outcome.status for outcome in report.outcomes.values()} == {"done"}
    here = world(10, [(4, 3), (5, 3), (0, 0)], [(2, 4, 4)])
    report = give(here, "rendezvous(0, left, 3)", "rendezvous(0, left, 2)")
    assert [report.outcomes[f"agent_{i}"].status for i in (0, 1)] == ["running", "done"]


def test_count_0_is_what_the_push_needs() -> None:
    here = world(10, [(4, 3), (4, 2)], [W1, (1, 4, 5)])  # a chain of weight 2
    assert give(here, "rendezvous(0, left)").outcomes["agent_0"].status == "running"
    assert give(here, "", "rendezvous(0, left)").outcomes["agent_0"].status == "done"


@pytest.mark.parametrize(
    ("partner", "other", "constraint"),
    [
        ((0, 0), "idle(9)", "participation"),
        ((0, 0), "move_to_block(0, right)", "spatial"),
        ((5, 3), "push_block(0, 4, 9)", "temporal"),
    ],
)
def test_rendezvous_times_out_and_says_what_was_missing(partner: Cell, other: str, constraint: str) -> None:
    # The partner does something else, is bound for the block but elsewhere, or is in place and does not wait.
    here = world(12, [(4, 3), partner], [(3, 4, 4)])
    reports = run(here, "rendezvous(0, left, 2, 4)", other)
    assert failure(ends(reports, 0)) == ("failed", "timeout", constraint, None)
    assert len(here.view("agent_0").history[-1].primitives) == 4


def test_rendezvous_ends_when_the_block_is_pushed_away() -> None:
    here = world(10, [(4, 3), (5, 3), (5, 2)], [(2, 4, 4)])
    reports = run(here, "rendezvous(0, left, 3)", "push_block(0, 1)", "push_block(0, 1)")
    assert failure(ends(reports, 0)) == ("failed", "not_aligned", "spatial", None)


# ---- push_block


def test_push_moves_the_steps() -> None:
    here = world(10, [(4, 3)], [W1])
    reports = run(here, "push_block(0, 3)")
    assert len(reports) == 3
    assert ends(reports).status == "done"
    assert here.state.blocks[0].col == 7


@pytest.mark.parametrize(
    ("agents", "shift"),
    [([(6, 4), (7, 4)], (-1, 0)), ([(3, 5), (2, 5)], (1, 0)), ([(4, 6), (4, 7)], (0, -1)), ([(5, 3), (5, 2)], (0, 1))],
)
def test_the_face_gives_the_direction_also_for_who_stands_behind(agents: list[Cell], shift: Cell) -> None:
    here = world(12, agents, [(2, 4, 4)])
    reports = run(here, "push_block(0, 2)", "push_block(0, 2)")
    assert [ends(reports, i).status for i in (0, 1)] == ["done", "done"]
    block = here.state.blocks[0]
    assert (block.row - 4, block.col - 4) == (2 * shift[0], 2 * shift[1])


def test_push_needs_alignment() -> None:
    here = world(10, [(4, 1)], [W1])
    assert failure(give(here, "push_block(0, 1)").outcomes["agent_0"]) == ("failed", "not_aligned", "spatial", None)


def test_delivery_ends_the_push_even_if_more_was_asked() -> None:
    here = world(10, [(4, 3)], [W1, (1, 8, 1)])
    reports = run(here, "push_block(0, 9)")
    assert len(reports) == 5
    assert ends(reports).status == "done"


def test_too_little_force_is_tried_until_the_time_out() -> None:
    here = world(10, [(4, 3), (0, 0)], [(2, 4, 4)])
    reports = run(here, "push_block(0, 1)")
    assert len(reports) == 12  # 2 steps + 10
    assert all(report.outcomes["agent_0"].primitives == ("RIGHT",) for report in reports)
    assert reports[0].outcomes["agent_0"].ready == "block_0"
    assert reports[0].outcomes["agent_0"].blocker == "<block>(0)"
    assert failure(ends(reports)) == ("failed", "insufficient_force", "participation", "<block>(0)")
    assert len(run(here, "push_block(0, 1, 3)")) == 3


def test_partners_in_place_who_do_not_push_are_a_matter_of_time() -> None:
    here = world(10, [(4, 3), (5, 3)], [(2, 4, 4)])
    reports = run(here, "push_block(0, 1, 2)", "rendezvous(0, left, 2, 9)")
    assert ends(reports, 0).constraint == "temporal"


def test_a_late_partner_makes_the_push_succeed() -> None:
    here = world(10, [(4, 3), (5, 1)], [(2, 4, 4), (1, 8, 8)])
    give(here, "push_block(0, 2)", "move_to_block(0, left)")
    give(here)
    assert place(here.state, 1) == (5, 3)
    reports = run(here, "", "push_block(0, 2)")
    assert len(reports) == 2
    assert [ends(reports, i).status for i in (0, 1)] == ["done", "done"]
    assert here.state.blocks[0].col == 6


def test_partners_stop_together_at_the_largest_request() -> None:
    here = world(12, [(4, 3), (5, 3)], [(2, 4, 4)])
    reports = run(here, "push_block(0, 2)", "push_block(0, 4)")
    assert len(reports) == 4
    assert [r.outcomes["agent_0"].status for r in reports] == ["running"] * 3 + ["done"]
    assert here.state.blocks[0].col == 8


def test_who_asked_for_less_stays_with_the_group_or_leaves_in_time_and_done() -> None:
    here = world(20, [(4, 1), (5, 1)], [(2, 4, 2)])
    reports = run(here, "push_block(0, 1)", "push_block(0, 16)")
    assert (len(reports), ends(reports, 0).status) == (16, "done")
    here = world(20, [(4, 1), (5, 1)], [(2, 4, 2)])
    reports = run(here, "push_block(0, 1, 5)", "push_block(0, 16)", limit=5)
    assert ends(reports, 0).status == "done"
    assert reports[-1].outcomes["agent_1"].status == "running"


def test_a_chain_too_heavy_stays() -> None:
    here = world(12, [(3, 2), (4, 2), (5, 2)], [(3, 3, 3), (1, 4, 6)])
    report = give(here, *["push_block(0, 2)"] * 3)
    assert {outcome.status for outcome in report.outcomes.values()} == {"running"}
    assert here.state.blocks[0].col == 3
    (attempt,) = report.attempts[:1]
    assert (attempt.quorum, dict(attempt.have)["temporal"], attempt.success) == (4, 3, False)


def test_a_line_of_agents_and_a_chain_of_blocks_move_together() -> None:
    here = world(12, [(3, 2), (4, 2), (4, 1)], [(2, 3, 3), (1, 3, 5)])
    report = give(here, *["push_block(0, 1)"] * 3)
    assert {outcome.status for outcome in report.outcomes.values()} == {"done"}
    assert [square.col for square in here.state.blocks.values()] == [4, 6]


def test_an_agent_in_front_is_a_blocked_destination() -> None:
    here = world(10, [(4, 3), (4, 5)], [W1])
    reports = run(here, "push_block(0, 1, 3)")
    assert len(reports) == 3
    assert failure(ends(reports)) == ("failed", "blocked_destination", "dependency", "agent_1")
    assert reports[0].outcomes["agent_0"].ready is None  # it does not wait for force


def test_the_wall_ends_a_push_at_once() -> None:
    here = world(10, [(2, 4)], [(1, 1, 4)])
    reports = run(here, "push_block(0, 3)")
    assert failure(ends(reports)) == ("failed", "blocked_destination", "dependency", "wall")
    assert len(reports) == 2


def test_who_is_left_behind_fails() -> None:
    # Agent 2 stands behind agent 1, who waits: the block moves on without them.
    here = world(12, [(4, 3), (5, 3), (5, 2), (4, 2)], [(2, 4, 4)])
    reports = run(here, "push_block(0, 3)", "idle(9)", "push_block(0, 3)", "push_block(0, 3)", limit=1)
    assert failure(ends(reports, 2)) == ("failed", "not_aligned", "spatial", "agent_1")


def test_the_paper_preset_changes_the_time_out_of_a_push() -> None:
    here = world(10, [(4, 3)], [(2, 4, 4)], options=CubeOptions(timeouts="paper"))
    assert len(run(here, "push_block(0, 1)")) == 30


# ---- yield_block


def test_yield_backs_away_from_the_face() -> None:
    here = world(10, [(4, 3)], [W1])
    assert ends(run(here, "yield_block(0)")).status == "done"
    assert place(here.state) == (4, 1)
    here = world(10, [(3, 4)], [W1])
    run(here, "yield_block(0, 3)")
    assert place(here.state) == (0, 4)


def test_yield_stops_early_at_a_wall() -> None:
    here = world(10, [(4, 3)], [W1])
    reports = run(here, "yield_block(0, 6)")
    assert failure(ends(reports)) == ("failed", "blocked", "spatial", "wall")
    assert place(here.state) == (4, 0)
    assert len(reports) == 4


def test_yield_never_pushes_another_block() -> None:
    here = world(10, [(4, 3)], [W1, (1, 4, 1)])
    reports = run(here, "yield_block(0, 2)")
    assert failure(ends(reports)) == ("failed", "blocked", "spatial", "<block>(1)")
    assert here.state.blocks[1].col == 1


def test_yield_waits_for_a_team_mate_to_leave() -> None:
    here = world(10, [(4, 3), (4, 2)], [W1])
    reports = run(here, "yield_block(0, 2)", "yield_block(0, 2)")
    assert [ends(reports, i).status for i in (0, 1)] == ["done", "done"]
    assert here.state.agents == {"agent_0": (4, 1), "agent_1": (4, 0)}
    here = world(10, [(4, 3), (4, 2)], [W1])
    assert failure(ends(run(here, "yield_block(0, 1, 5)"))) == ("failed", "timeout", "spatial", "agent_1")


def test_yield_needs_alignment() -> None:
    here = world(10, [(4, 1)], [W1])
    assert ends(run(here, "yield_block(0)")).reason == "not_aligned"


# ---- wait_agents


def test_agents_with_nothing_to_do_count_and_so_does_the_waiting_one() -> None:
    here = world(10, [(4, 0), (5, 0), (6, 0)], [W1])
    reports = run(here, "wait_agents(3)", "move(right, 2)", "wait_agents(3)")
    assert len(reports) == 3  # two steps until agent 1 has nothing to do, and one in its company
    assert ends(reports, 0).status == ends(reports, 2).status == "done"


def test_busy_agents_do_not_count() -> None:
    here = world(10, [(4, 0), (5, 0)], [W1])
    reports = run(here, "wait_agents(2, 4)", "idle(9)")
    assert failure(ends(reports, 0)) == ("failed", "timeout", "participation", None)
    assert len(here.view("agent_0").history[0].primitives) == 4


def test_a_team_of_one_waits_one_step() -> None:
    assert len(run(world(10, [(4, 0)], [W1]), "wait_agents")) == 1
