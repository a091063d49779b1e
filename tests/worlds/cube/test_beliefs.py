"""What CUBE says of beliefs: unknown blocks, sight, and the table of what two agents should not both do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Entity, Fact, Facts
from teamworld.worlds.contract import Option
from teamworld.worlds.cube.beliefs import LARGEST
from teamworld.worlds.cube.domain import CubeDomain
from teamworld.worlds.cube.symbolic_state import GRID, SymbolicState, is_within
from teamworld.worlds.cube.world import CubeOptions, make
from tests.worlds.cube.team import act, give, state, world

DOMAIN = CubeDomain()


def option(text: str, ticks: int = 4) -> Option:
    return Option(act(text), None, ticks)


def clash(here: SymbolicState, first_text: str, second_text: str, ticks: tuple[int, int] = (4, 7)) -> float:
    """Return what is lost, which is the same the other way round."""
    first, second = option(first_text, ticks[0]), option(second_text, ticks[1])
    lost = DOMAIN.beliefs.conflict_cost(first, second, here.facts)
    assert lost == DOMAIN.beliefs.conflict_cost(second, first, here.facts)
    return lost


# ---- the table of conflict costs, row by row


def test_over_commitment_loses_the_way_of_who_is_too_many() -> None:
    here = state(20, [(0, 0), (9, 0), (12, 0)], [(1, 4, 4), (2, 12, 9)])
    assert clash(here, "move_to_block(0, left)", "move_to_block(0, left)") == 4  # one is enough for weight 1
    assert clash(here, "move_to_block(1, left)", "move_to_block(1, left)") == 0  # weight 2 takes both
    there = here.with_agents({"agent_0": (12, 8), "agent_1": (13, 8)})  # both places at block 1 are taken
    assert clash(there, "move_to_block(1, left)", "move_to_block(1, left)") == 4 + 7
    half = here.with_agents({"agent_0": (12, 8)})
    assert clash(half, "move_to_block(1, left)", "move_to_block(1, left)") == 4


def test_over_commitment_costs_nothing_where_no_other_block_lacks_agents() -> None:
    alone = state(20, [(0, 0), (9, 0)], [(1, 4, 4)])
    assert clash(alone, "move_to_block(0, left)", "move_to_block(0, left)") == 0


def test_at_a_weight_2_block_two_choose_the_same_face_and_a_third_goes_elsewhere() -> None:
    here = state(20, [(12, 8), (9, 0), (12, 0)], [(1, 4, 4), (2, 12, 9)])
    (quorum,) = [goal.quorum for goal in DOMAIN.goals(here.facts) if goal.id == "block_1"]
    assert quorum == 2
    same, across = "move_to_block(1, left)", "move_to_block(1, right)"
    assert clash(here, "rendezvous(1, left, 2)", same) == 0
    assert clash(here, "rendezvous(1, left, 2)", across) == 4 + 7
    third = here.with_agents({"agent_1": (13, 8)})
    assert clash(third, same, same) > 0
    assert clash(third, same, "move_to_block(0, left)") == 0


def test_counter_push_loses_both_ways() -> None:
    here = state(20, [(5, 3), (5, 6)], [(1, 5, 4), (1, 5, 5)])  # in contact: one chain
    assert clash(here, "move_to_block(0, left)", "move_to_block(0, right)") == 11
    assert clash(here, "move_to_block(0, up)", "move_to_block(0, down)") == 11
    assert clash(here, "move_to_block(0, left)", "move_to_block(1, right)") == 11
    apart = state(20, [(5, 3), (5, 6)], [(1, 5, 4), (1, 15, 5)])
    assert clash(apart, "move_to_block(0, left)", "move_to_block(1, right)") == 0


def test_other_faces_of_one_block_are_an_order_clash() -> None:
    here = state(20, [(0, 0), (9, 0)], [(2, 5, 4)])
    assert clash(here, "move_to_block(0, left)", "move_to_block(0, up)") == 4


def test_a_block_ahead_is_waited_for_until_it_is_under_way() -> None:
    here = state(20, [(0, 0), (9, 0)], [(1, 5, 4), (1, 5, 8)])  # three cells between
    behind, ahead = "move_to_block(0, left)", "move_to_block(1, left)"
    assert clash(here, behind, ahead, (2, 9)) == 9 - 2 - 3
    assert clash(here, behind, ahead, (2, 5)) == 0  # it has left when the other comes


def test_crossing_lanes_cost_the_shorter_way() -> None:
    here = state(20, [(0, 0), (9, 0)], [(1, 5, 4), (1, 4, 9)])
    assert clash(here, "move_to_block(0, left)", "move_to_block(1, up)") == 4  # pushed down into the lane
    assert clash(here, "move_to_block(0, left)", "move_to_block(1, down)") == 4  # the pusher stands in the lane
    low = state(20, [(0, 0), (9, 0)], [(1, 5, 4), (1, 10, 9)])
    assert clash(low, "move_to_block(0, left)", "move_to_block(1, up)") == 0


def test_blocking_costs_the_share_of_the_places_that_lie_in_the_lane() -> None:
    here = state(20, [(0, 0), (9, 0)], [(1, 5, 4), (2, 6, 9)])
    assert clash(here, "move_to_block(0, left)", "move_to_block(1, left)") == 0
    assert clash(here, "move_to_block(0, left)", "move_to_block(1, up)") == 4  # on row 5, in the lane
    half = state(20, [(0, 0), (9, 0)], [(1, 9, 5), (2, 6, 6)])  # pushed up over (8, 5) and (7, 5)
    assert clash(half, "move_to_block(0, down)", "move_to_block(1, left)") == 4 / 2  # lined up on (6, 5) or (7, 5)


def test_chain_surprise_loses_the_steps_after_the_contact() -> None:
    here = state(20, [(5, 3), (9, 0)], [(1, 5, 4), (2, 5, 8)])
    assert clash(here, "push_block(0, 8)", "push_block(0, 8)") == 8 - 3
    strong = state(20, [(5, 3), (5, 2), (5, 1)], [(1, 5, 4), (2, 5, 8)])
    assert clash(strong, "push_block(0, 8)", "push_block(0, 8)") == 0
    assert clash(here, "push_block(0, 3)", "push_block(0, 3)") == 0
    assert clash(here, "push_block(0, 8)", "move_to_block(1, up)") == 4  # it stands in the way, and is pushed aside


def test_desynchronised_start_loses_the_shorter_way() -> None:
    here = state(20, [(5, 3), (6, 3)], [(2, 5, 4)])
    assert clash(here, "push_block(0, 3)", "rendezvous(0, left, 2)") == 4
    three = state(20, [(5, 3), (6, 3), (6, 2)], [(2, 5, 4)])
    assert clash(three, "push_block(0, 3)", "rendezvous(0, left, 2)") == 0  # two push, whoever waits


def test_what_is_about_no_block_clashes_with_nothing() -> None:
    here = state(20, [(5, 3), (6, 3)], [(2, 5, 4)])
    for other in ("idle(3)", "wait_agents(2)", "move(up, 2)", "talk(2)", "move_to_block(7, left)"):
        assert clash(here, "move_to_block(0, left)", other) == 0


# ---- what is not known


def test_unseen_blocks_are_as_likely_in_any_unseen_cell() -> None:
    here = world(20, [(0, 0), (1, 0)], [(1, 2, 2), (2, 15, 15)], options=CubeOptions(view_radius=3))
    view = here.view("agent_0")
    (unknown,) = here.domain.beliefs.latent_variables(view.known)
    assert unknown.name == "block_1"
    assert unknown.goals == ()
    areas = {fact.value for fact in view.known.about("UNSEEN")}
    assert {value.fact.value for value in unknown.values} == areas  # 25 areas of 4 x 4, of which one was seen whole
    assert {value.weight for value in unknown.values} == {16.0}
    assert (0, 0) not in areas
    assert len(areas) == 24


def test_all_were_told_how_many_blocks_there_are_and_nobody_else_guesses() -> None:
    here = state(20, [(0, 0)], [(1, 2, 2)])
    assert CubeDomain(view_radius=3).beliefs.latent_variables(here.facts) == ()
    assert [u.name for u in CubeDomain("spec", 3, (1, 2, 2), 20).beliefs.latent_variables(here.facts)] == [
        "block_1",
        "block_2",
    ]
    assert (
        CubeDomain("spec", 3, (1, 2), 19).beliefs.latent_variables(here.facts) == ()
    )  # a grid of another side was made up


def test_there_are_a_few_dozen_values_however_large_the_grid() -> None:
    here = SymbolicState(256, {"agent_0": (0, 0)}, {}, {k: (k // 128 * 2, k % 128 * 2) for k in range(128 * 128)})
    (unknown,) = CubeDomain("spec", 1, (3,), 256).beliefs.latent_variables(here.facts)
    assert len(unknown.values) <= 36
    assert math.fsum(value.weight for value in unknown.values) == 256 * 256


def test_where_everything_was_seen_a_lost_block_may_be_anywhere() -> None:
    (unknown,) = CubeDomain("spec", 3, (1,), 20).beliefs.latent_variables(
        SymbolicState(20, {"agent_0": (0, 0)}, {}).facts
    )
    assert math.fsum(value.weight for value in unknown.values) == 400


def test_where_all_is_seen_nothing_is_open() -> None:
    here = make("n4", 0, 20, {})
    assert here.domain.beliefs.latent_variables(here.view("agent_0").known) == ()


# ---- what is in sight


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 500), st.integers(1, 4), st.lists(st.sampled_from(["up", "down", "left", "right"]), max_size=6))
def test_visible_is_what_a_view_shows(seed: int, radius: int, ways: list[str]) -> None:
    here = make("n4", seed, 60, {"view_radius": radius})
    for way in ways:
        give(here, *[f"move({way}, 1)"] * 4)
    cells = here.state.agents
    for agent in here.spec.agents:
        view = here.view(agent)
        for fact in view.facts:
            assert here.domain.beliefs.observation_probability(fact, agent, view.known) > 0
        for fact in here.truth():
            chance = here.domain.beliefs.observation_probability(fact, agent, here.truth())
            if isinstance(fact.subject, Entity) and fact.subject.kind == "block" and fact.value != "delivered":
                seen = is_within(cells[agent], here.state.blocks[fact.subject.id], radius)
                assert chance == (1.0 if seen else 0.0)
                assert (fact in view.facts) == (seen or here.state.blocks[fact.subject.id].delivered)


def test_a_sector_is_promised_only_where_all_of_it_will_be_in_view() -> None:
    here = world(20, [(0, 0), (1, 0)], [(1, 2, 2), (2, 15, 15)], options=CubeOptions(view_radius=3))
    known = here.view("agent_0").known
    (unknown,) = here.domain.beliefs.latent_variables(known)
    assert not any(
        here.domain.beliefs.observation_probability(value.fact, "agent_0", known) for value in unknown.values
    )  # seen already
    there = here.view("agent_0").state.with_agents({"agent_0": (13, 13)}).facts
    seen = {
        value.fact.value
        for value in unknown.values
        if here.domain.beliefs.observation_probability(value.fact, "agent_0", there)
    }
    assert seen == {(12, 12)}
    assert (
        here.domain.beliefs.observation_probability(Fact(Entity("area", 0), "UNSEEN", (12, 12)), "agent_0", there) == 0
    )
    assert (
        here.domain.beliefs.observation_probability(Fact(Entity("area", 0), "UNSEEN", (0, 0)), "agent_0", there) == 0.9
    )


def test_without_a_limit_all_is_seen() -> None:
    here = state(20, [(0, 0)], [(1, 15, 15)])
    assert all(DOMAIN.beliefs.observation_probability(fact, "agent_0", here.facts) == 1 for fact in here.facts)


# ---- what cannot be


@pytest.mark.parametrize(
    "odd",
    [
        Fact(Entity("block", 0), "AT", (10**9, -4)),
        Fact(Entity("block", 0), "WEIGHT", 10**9),
        Fact(Entity("block", 5), "WEIGHT", -3),
        Fact("agent_1", "AT", (-1, 10**8)),
        Fact("agent_1", "AT", "nowhere"),
        Fact(Entity("area", 10**9), "UNSEEN", (10**9, 0)),
        Fact(Entity("area", 1), "UNSEEN", 5),
        Fact(GRID, "SIDE", 10**9),
        Fact(GRID, "SIDE", "wide"),
    ],
)
@pytest.mark.parametrize("radius", [None, 3])
def test_odd_facts_are_no_trouble(odd: Fact, radius: int | None) -> None:
    here = state(20, [(0, 0), (3, 3)], [(2, 5, 5), (1, 9, 9)])
    kept = [fact for fact in here.facts if (fact.subject, fact.predicate) != (odd.subject, odd.predicate)]
    for facts in (Facts((*kept, odd)), Facts((odd,)), Facts()):
        for domain in (CubeDomain("spec", radius, (2, 1, 4), 20), CubeDomain("spec", radius)):
            list(domain.beliefs.latent_variables(facts))
            for fact in (*kept, odd):
                assert 0 <= domain.beliefs.observation_probability(fact, "agent_0", facts) <= 1
            for other in ("move_to_block(1, left)", "push_block(1, 900)", "rendezvous(5, up)"):
                assert domain.beliefs.conflict_cost(option("push_block(0, 999999999)"), option(other), facts) >= 0
    assert LARGEST < 10**9
