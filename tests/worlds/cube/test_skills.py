from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import pytest

from teamworld.worlds.contract import Outcome
from teamworld.worlds.cube.symbolic_state import SymbolicState
from teamworld.worlds.cube.world import CubeOptions
from tests.worlds.cube.team import Cell, act, ends, give, run, world

W1, W2 = (1, 4, 4), (2, 4, 4)  # blocks at (4, 4)
SHUT_IN = [W1, (1, 0, 1), (1, 1, 0)]  # walls round (0, 0)
PAPER = CubeOptions(timeouts="paper", controller="paper")

End: TypeAlias = tuple[str, str, str | None, str | None]
DONE: End = ("done", "", None, None)


def fail(reason: str, constraint: str | None = "spatial", blocker: str | None = None) -> End:
    return "failed", reason, constraint, blocker


def how_it_ended(outcome: Outcome) -> End:
    return outcome.status, outcome.word, outcome.constraint, outcome.blocker


def place(state: SymbolicState, agent: int = 0) -> Cell:
    return state.agents[f"agent_{agent}"]


class Case(NamedTuple):
    """Actions that begin in one step, and how they end."""

    agents: Sequence[Cell]
    blocks: Sequence[tuple[int, int, int]]
    orders: Sequence[str]
    steps: int | None
    """Until all are done; None for any number."""
    ends: Mapping[int, End]
    cells: Mapping[int, Cell] = {}
    """Where agents stand then."""
    corners: Mapping[int, Cell] = {}
    """Where blocks stand then."""
    side: int = 12
    limit: int = 200
    options: CubeOptions | None = None
    busy: Sequence[int] = ()
    """Agents whose actions still run then."""


def walk(face: str = "left", block: int = 0) -> str:
    return f"move_to_block({block}, {face})"


CASES = {
    "move: the steps": Case([(4, 0)], [W1], ["move(down, 3)"], 3, {0: DONE}, {0: (7, 0)}),
    "move: as often as asked, then who was in the way": Case(
        [(4, 0), (6, 0)], [W1], ["move(down, 3)"], 3, {0: fail("blocked", blocker="agent_1")}, {0: (5, 0)}
    ),
    "move: into the wall": Case([(0, 0)], [W1], ["move(up)"], 1, {0: fail("blocked", blocker="wall")}),
    "move: who stopped it earlier is named": Case(
        [(4, 0), (5, 0)],
        [W1],
        ["move(down, 3)", "move(right, 1)"],
        3,
        {0: fail("blocked", blocker="agent_1")},
        {0: (6, 0)},
    ),
    "move: a block too heavy": Case([(4, 3)], [W2], ["move(right, 2)"], 2, {0: fail("blocked", blocker="<block>(0)")}),
    **{
        f"{order}: takes its time": Case([(4, 0)], [W1], [order], steps, {0: DONE}, {0: (4, 0)})
        for order, steps in (("idle", 1), ("idle(4)", 4), ("talk(3)", 3), ("wait", 1))
    },
    "walk: the most central free cell first": Case([(0, 0)], [(3, 4, 4)], [walk()], None, {0: DONE}, {0: (5, 3)}),
    **{
        f"walk: to the {face} face": Case([(4, 0)], [W1], [walk(face)], None, {0: DONE}, {0: cell})
        for face, cell in (("left", (4, 3)), ("right", (4, 5)), ("up", (3, 4)), ("down", (5, 4)))
    },
    # Past the lower edge, along it, and up again.
    "walk: a shortest path round the block": Case([(5, 3)], [(3, 4, 4)], [walk("right")], 2 + 4 + 2, {0: DONE}),
    "walk: who stands in line is done": Case([(4, 3), (4, 2)], [W1], [walk()] * 2, 1, {0: DONE, 1: DONE}),
    "walk: two who race for one cell": Case([(3, 0), (5, 0)], [W2], [walk()] * 2, None, {0: DONE, 1: DONE}),
    # Block 0 is pushed against block 1, whose left face then has no free cell.
    "walk: a face that vanishes": Case(
        [(4, 1), (9, 9)],
        [(1, 4, 2), W1],
        ["push_block(0, 1)", walk(block=1)],
        1,
        {1: fail("face_gone", blocker="<block>(0)")},
    ),
    "walk: a face that never was": Case([(9, 9)], [(2, 0, 0)], [walk()], 1, {0: fail("face_gone", blocker="wall")}),
    "walk: to a block that is delivered meanwhile": Case(
        [(4, 7), (0, 0)],
        [(1, 4, 8), W1],
        ["push_block(0, 1)", walk()],
        None,
        {0: DONE, 1: fail("block_gone", None)},
        side=10,
    ),
    "walk: who is shut in gives up": Case(
        [(0, 0)], SHUT_IN, ["move_to_block(0, left, 6)"], 6, {0: fail("unreachable")}
    ),
    "walk: the time-out grows with the grid": Case([(0, 0)], SHUT_IN, [walk()], 60, {}, side=30),
    "walk: the time-out of the paper": Case([(0, 0)], SHUT_IN, [walk()], 40, {}, side=30, options=PAPER),
    "rendezvous: only at that face": Case(
        [(4, 2), (3, 4)],
        [W1],
        ["rendezvous(0, left, 1)"] * 2,
        1,
        {0: fail("not_aligned"), 1: fail("not_aligned")},
    ),
    "rendezvous: surplus agents are released too": Case(
        [(4, 3), (5, 3), (4, 2)], [W2], ["rendezvous(0, left, 2)"] * 3, 1, {0: DONE, 1: DONE, 2: DONE}
    ),
    "rendezvous: all that each wants are there": Case(
        [(4, 3), (5, 3)], [W2], ["rendezvous(0, left, 2)", "rendezvous(0, left, 1)"], 1, {0: DONE, 1: DONE}
    ),
    **{
        # The partner does something else, is bound for the block but elsewhere, or is in place and does not wait.
        f"rendezvous: in vain, {constraint}": Case(
            [(4, 3), partner],
            [(3, 4, 4)],
            ["rendezvous(0, left, 2, 3)", other],
            None,
            {0: fail("timeout", constraint)},
        )
        for partner, other, constraint in (
            ((0, 0), "idle(9)", "participation"),
            ((0, 0), "move_to_block(0, right)", "spatial"),
            ((5, 3), "push_block(0, 4, 9)", "temporal"),
        )
    },
    "rendezvous: the block is pushed away": Case(
        [(4, 3), (5, 3), (5, 2)],
        [W2],
        ["rendezvous(0, left, 3)", "push_block(0, 1)", "push_block(0, 1)"],
        None,
        {0: fail("not_aligned")},
    ),
    "push: the steps": Case([(4, 3)], [W1], ["push_block(0, 3)"], 3, {0: DONE}, corners={0: (4, 7)}),
    **{
        f"push: {way}, whoever stands behind too": Case(
            agents, [W2], ["push_block(0, 2)"] * 2, 2, {0: DONE, 1: DONE}, corners={0: corner}
        )
        for way, agents, corner in (
            ("up", [(6, 4), (7, 4)], (2, 4)),
            ("down", [(3, 5), (2, 5)], (6, 4)),
            ("left", [(4, 6), (4, 7)], (4, 2)),
            ("right", [(5, 3), (5, 2)], (4, 6)),
        )
    },
    "push: only from a face": Case([(4, 1)], [W1], ["push_block(0, 1)"], 1, {0: fail("not_aligned")}),
    "push: ends with the delivery": Case([(4, 3)], [W1, (1, 8, 1)], ["push_block(0, 9)"], 5, {0: DONE}, side=10),
    "push: partners in place who do not push": Case(
        [(4, 3), (5, 3)],
        [W2],
        ["push_block(0, 1, 2)", "rendezvous(0, left, 2, 9)"],
        None,
        {0: fail("insufficient_force", "temporal", "<block>(0)")},
    ),
    "push: who asked for less stays with the group": Case(
        [(4, 1), (5, 1)], [(2, 4, 2)], ["push_block(0, 1)", "push_block(0, 16)"], 16, {0: DONE}, side=20
    ),
    "push: or leaves in time, and done": Case(
        [(4, 1), (5, 1)],
        [(2, 4, 2)],
        ["push_block(0, 1, 5)", "push_block(0, 16)"],
        5,
        {0: DONE},
        side=20,
        limit=5,
        busy=[1],
    ),
    "push: a line of agents and a chain of blocks": Case(
        [(3, 2), (4, 2), (4, 1)],
        [(2, 3, 3), (1, 3, 5)],
        ["push_block(0, 1)"] * 3,
        1,
        {0: DONE, 1: DONE, 2: DONE},
        corners={0: (3, 4), 1: (3, 6)},
    ),
    "push: the wall ends it at once": Case(
        [(2, 4)], [(1, 1, 4)], ["push_block(0, 3)"], 2, {0: fail("blocked_destination", "dependency", "wall")}
    ),
    # Agent 2 stands behind agent 1, who waits: the block moves on without them.
    "push: who is left behind fails": Case(
        [(4, 3), (5, 3), (5, 2), (4, 2)],
        [W2],
        ["push_block(0, 3)", "idle(9)", "push_block(0, 3)", "push_block(0, 3)"],
        1,
        {2: fail("not_aligned", blocker="agent_1")},
        limit=1,
    ),
    "push: the time-out of the paper": Case([(4, 3)], [W2], ["push_block(0, 1)"], 30, {}, options=PAPER),
    "yield: two steps": Case([(4, 3)], [W1], ["yield_block(0)"], 2, {0: DONE}, {0: (4, 1)}),
    "yield: upward": Case([(3, 4)], [W1], ["yield_block(0, 3)"], 3, {0: DONE}, {0: (0, 4)}),
    "yield: as far as the wall": Case(
        [(4, 3)], [W1], ["yield_block(0, 6)"], 4, {0: fail("blocked", blocker="wall")}, {0: (4, 0)}
    ),
    "yield: never pushes another block": Case(
        [(4, 3)],
        [W1, (1, 4, 1)],
        ["yield_block(0, 2)"],
        None,
        {0: fail("blocked", blocker="<block>(1)")},
        corners={1: (4, 1)},
    ),
    "yield: waits for a teammate to leave": Case(
        [(4, 3), (4, 2)],
        [W1],
        ["yield_block(0, 2)", "yield_block(0, 2)"],
        None,
        {0: DONE, 1: DONE},
        {0: (4, 1), 1: (4, 0)},
    ),
    "yield: but not for ever": Case(
        [(4, 3), (4, 2)], [W1], ["yield_block(0, 1, 5)"], 5, {0: fail("timeout", blocker="agent_1")}
    ),
    "yield: only from a face": Case([(4, 1)], [W1], ["yield_block(0)"], 1, {0: fail("not_aligned")}),
    # Two steps until agent 1 has nothing to do, and one in its company.
    "wait_agents: agents with nothing to do count": Case(
        [(4, 0), (5, 0), (6, 0)],
        [W1],
        ["wait_agents(3)", "move(right, 2)", "wait_agents(3)"],
        3,
        {0: DONE, 2: DONE},
    ),
    "wait_agents: busy ones do not": Case(
        [(4, 0), (5, 0)], [W1], ["wait_agents(2, 4)", "idle(9)"], None, {0: fail("timeout", "participation")}
    ),
    "wait_agents: a team of one": Case([(4, 0)], [W1], ["wait_agents"], 1, {0: DONE}),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_how_actions_end(case: Case) -> None:
    here = world(case.side, case.agents, case.blocks, options=case.options)
    reports = run(here, *case.orders, limit=case.limit)
    assert case.steps in (None, len(reports))
    assert {agent: how_it_ended(ends(reports, agent)) for agent in case.ends} == case.ends
    assert all(reports[-1].outcomes[f"agent_{agent}"].status == "running" for agent in case.busy)
    assert {agent: place(here.state, agent) for agent in case.cells} == case.cells
    blocks = here.state.blocks
    assert {block: (blocks[block].row, blocks[block].col) for block in case.corners} == case.corners


@pytest.mark.parametrize(
    ("agent", "blocks", "order"),
    [
        ((9, 9), [(2, 0, 0)], "move_to_block(0, left)"),
        ((4, 2), [W1], "rendezvous(0, left, 1)"),
        ((4, 1), [W1], "push_block(0, 1)"),
    ],
)
def test_what_cannot_start_is_not_legal(agent: Cell, blocks: Sequence[tuple[int, int, int]], order: str) -> None:
    assert not give(world(10, [agent], blocks), order).outcomes["agent_0"].legal


def test_move_pushes_a_block_in_the_way() -> None:
    here = world(10, [(4, 2)], [W1])
    reports = run(here, "move(right, 3)")
    assert ends(reports).status == "done"
    assert here.state.blocks[0].col == 6
    assert [report.outcomes["agent_0"].effect for report in reports] == [False, True, True]


def test_when_the_face_is_full_the_others_queue_behind_the_shortest_line() -> None:
    here = world(10, [(0, 3), (9, 3), (0, 1), (9, 1)], [W2])
    run(here, *["move_to_block(0, left)"] * 4)
    assert sorted(here.state.agents.values()) == [(4, 2), (4, 3), (5, 2), (5, 3)]


def test_nobody_shuts_the_middle_of_a_face() -> None:
    # Column 0 is the face; who comes along it must go on to the middle for the others to fit.
    here = world(20, [(13, 0), (14, 0), (11, 0), (8, 0)], [(3, 1, 1)])
    run(here, *["move_to_block(0, left)"] * 4, limit=30)
    assert set(here.state.agents.values()) >= {(1, 0), (2, 0), (3, 0)}


def test_a_team_mate_in_the_only_way_is_named_and_waited_for() -> None:
    here = world(10, [(0, 0), (1, 0)], [W1, (1, 0, 1), (1, 2, 1), (1, 1, 2)])
    first = give(here, "move_to_block(0, left)").outcomes["agent_0"]
    assert (first.status, first.blocker, first.primitives) == ("running", "agent_1", ("STAY",))
    assert ends(run(here, "", "move(down, 4)", limit=40), 0).status == "done"


def test_all_are_released_together_after_one_step_in_company() -> None:
    here = world(10, [(4, 3), (5, 3)], [W2])
    first = give(here, "rendezvous(0, left, 2)", "idle(2)").outcomes["agent_0"]
    assert (first.status, first.ready) == ("running", "block_0")
    give(here)
    last = give(here, "", "rendezvous(0, left, 2)")
    assert {agent: o.status for agent, o in last.outcomes.items()} == {"agent_0": "done", "agent_1": "done"}


def test_who_wants_more_company_goes_on_waiting() -> None:
    here = world(10, [(4, 3), (5, 3), (0, 0)], [W2])
    report = give(here, "rendezvous(0, left, 3)", "rendezvous(0, left, 2)")
    assert [report.outcomes[f"agent_{i}"].status for i in (0, 1)] == ["running", "done"]


def test_count_0_is_what_the_push_needs() -> None:
    here = world(10, [(4, 3), (4, 2)], [W1, (1, 4, 5)])  # a chain of weight 2
    assert give(here, "rendezvous(0, left)").outcomes["agent_0"].status == "running"
    assert give(here, "", "rendezvous(0, left)").outcomes["agent_0"].status == "done"


def test_histories_hold_the_primitives_of_actions_that_failed() -> None:
    for order, other in (("rendezvous(0, left, 2, 4)", ""), ("wait_agents(2, 4)", "idle(9)")):
        here = world(12, [(4, 3), (0, 0)], [(3, 4, 4)])
        run(here, order, other)
        assert here.view("agent_0").history[-1].primitives == ("STAY",) * 4


@pytest.mark.parametrize(("options", "steps"), [(None, 3), (CubeOptions(controller="paper"), 12), (PAPER, 30)])
def test_a_push_that_moves_nothing_ends_after_three_steps_or_with_its_time_out(
    options: CubeOptions | None, steps: int
) -> None:
    reports = run(world(10, [(4, 3), (0, 0)], [W2], options=options), "push_block(0, 1)")
    assert len(reports) == steps
    assert all(report.outcomes["agent_0"].primitives == ("RIGHT",) for report in reports)
    assert reports[0].outcomes["agent_0"].ready == "block_0"
    assert reports[0].outcomes["agent_0"].blocker == "<block>(0)"
    assert how_it_ended(ends(reports)) == fail("insufficient_force", "participation", "<block>(0)")


@pytest.mark.parametrize(
    ("agents", "orders", "text"),
    [
        (
            [(4, 3), (0, 0)],
            ["push_block(0)"],
            "stuck since step 0: 1 pushed, block_0 takes 2; no one else was at work on it",
        ),
        (
            [(4, 3), (0, 0)],
            ["push_block(0)", walk("right")],
            "stuck since step 0: 1 pushed, block_0 takes 2; agent_1 did not push",
        ),
        (
            [(4, 3), (4, 2)],
            ["idle(9)", "push_block(0)"],
            "stuck since step 0: agent_0, ahead in the line, did not push",
        ),
        (
            [(4, 3), (5, 3), (5, 6)],
            ["push_block(0)"] * 2,
            "stuck since step 0: agent_2 is in the way of block_0 at (5, 6)",
        ),
    ],
)
def test_an_agent_is_told_who_and_what_its_push_lacked(
    agents: Sequence[Cell], orders: Sequence[str], text: str
) -> None:
    here = world(10, agents, [W2])
    pusher = next(i for i, order in enumerate(orders) if order.startswith("push"))
    outcome = ends(run(here, *orders), pusher)
    assert outcome.reason == f"{outcome.word}: {text}"


def test_a_push_waits_for_partners_on_their_way_and_for_who_makes_way() -> None:
    here = world(12, [(4, 3), (0, 1)], [(2, 3, 4)])
    reports = run(here, "push_block(0)", walk())
    comes, given_up = (
        next(t for t, report in enumerate(reports) if report.outcomes[agent].status != "running")
        for agent in ("agent_1", "agent_0")
    )
    assert (comes, given_up) == (4, 7)
    crossing = world(12, [(5, 3), (6, 3), (7, 3), (2, 7)], [(3, 5, 4)])
    reports = run(crossing, *["push_block(0)"] * 3, "move(down, 7)")
    assert [ends(reports, i).status for i in range(3)] == ["done"] * 3


@pytest.mark.parametrize("row", [1, 5, 10])
@pytest.mark.parametrize("swap", [False, True])
def test_of_two_who_sidestep_in_step_the_first_goes_on_and_the_second_stands_still(row: int, swap: bool) -> None:
    blocks = [(1, row, 2), (1, row, 15)]
    orders = [walk("left", 1), walk("right", 0)]
    agents = [(row, 8), (row, 9)]
    if swap:
        agents, orders = agents[::-1], orders[::-1]
    endless = run(world(20, agents, blocks, options=PAPER), *orders)
    assert [ends(endless, i).word for i in (0, 1)] == ["timeout"] * 2
    here = world(20, agents, blocks)
    reports = run(here, *orders)
    assert [ends(reports, i).status for i in (0, 1)] == ["done"] * 2
    assert len(reports) <= 12
    stood = [
        report.outcomes["agent_1"].blocker for report in reports if report.outcomes["agent_1"].primitives == ("STAY",)
    ]
    assert "agent_0" in stood
    assert all(report.outcomes["agent_0"].primitives != ("STAY",) for report in reports[:6])


def test_a_late_partner_makes_the_push_succeed() -> None:
    here = world(10, [(4, 3), (5, 1)], [W2, (1, 8, 8)])
    give(here, "push_block(0, 2)", "move_to_block(0, left)")
    give(here)
    assert place(here.state, 1) == (5, 3)
    reports = run(here, "", "push_block(0, 2)")
    assert len(reports) == 2
    assert [ends(reports, i).status for i in (0, 1)] == ["done", "done"]
    assert here.state.blocks[0].col == 6


def test_partners_stop_together_at_the_largest_request() -> None:
    here = world(12, [(4, 3), (5, 3)], [W2])
    reports = run(here, "push_block(0, 2)", "push_block(0, 4)")
    assert [r.outcomes["agent_0"].status for r in reports] == ["running"] * 3 + ["done"]
    assert here.state.blocks[0].col == 8


def test_a_chain_too_heavy_stays() -> None:
    here = world(12, [(3, 2), (4, 2), (5, 2)], [(3, 3, 3), (1, 4, 6)])
    report = give(here, *["push_block(0, 2)"] * 3)
    assert {outcome.status for outcome in report.outcomes.values()} == {"running"}
    assert here.state.blocks[0].col == 3
    (attempt,) = report.attempts[:1]
    assert (attempt.quorum, dict(attempt.have)["temporal"], attempt.success) == (4, 3, False)


def test_an_agent_in_front_is_a_blocked_destination() -> None:
    reports = run(world(10, [(4, 3), (4, 5)], [W1]), "push_block(0, 1, 3)")
    assert len(reports) == 3
    assert how_it_ended(ends(reports)) == fail("blocked_destination", "dependency", "agent_1")
    assert reports[0].outcomes["agent_0"].ready is None  # it does not wait for force


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_who_was_missing_is_named_in_the_order_of_the_team(order: Sequence[int]) -> None:
    here = world(10, [(4, 3), (0, 0), (0, 1)], [(3, 4, 4)])
    orders = ["push_block(0)", walk("right"), walk("right")]
    began = here.step({f"agent_{i}": act(orders[i]) for i in order})
    outcome = ends([began, *(here.step({}) for _ in range(3))])
    assert outcome.reason.endswith("1 pushed, block_0 takes 3; agent_1 and agent_2 did not push")
