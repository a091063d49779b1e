"""The stronger baseline: two hands, ways in metres, and looking next where it is worth it."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, cast

import pytest

from teamworld.language import Action, Cell, Entity, Fact
from teamworld.methods.mhp.belief import Belief, NearestBelief
from teamworld.methods.mhp.carrying import CarryModel, Subgoal
from teamworld.methods.mhp.search import SearchSettings, search
from teamworld.methods.mhp.trips import DELIVER, SCALE, TripModel
from teamworld.record import ActionStep, EpisodeEnd
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.contract import Domain, LatentVariable, Possible
from tests.methods.mhp import home as h

HOME, COLD = h.home(), h.home(h.IN_FRIDGE)
KITCHEN, BEDROOM, FRIDGE, CUPBOARD, CABINET, TABLE, APPLE, OTHER, CAKE = range(9)
SETTINGS = SearchSettings(depth=10, whole=True, c_init=1.0)
#: Both apples lie in the kitchen, the cake and the table are 10 m away in the bedroom.
AT: dict[int, Cell] = {KITCHEN: (0, 0), BEDROOM: (1000, 0), APPLE: (100, 0), OTHER: (200, 0), CAKE: (1000, 0)}
AT |= {TABLE: (1200, 0), FRIDGE: (-300, 0)}
LIE = {**h.PLACES, h.APPLE: h.KITCHEN, h.OTHER: h.KITCHEN}
SHOWS: dict[Any, Any] = {("Alice", "POSITION"): (0, 0), (h.APPLE, "IN"): h.KITCHEN, (h.OTHER, "IN"): h.KITCHEN}


def errands(shows: dict[Any, Any] = SHOWS, belief: Belief | None = None, **given: Any) -> TripModel:
    belief = belief or h.believed(HOME, LIE)
    seen = h.seen(belief.inventory, shows)
    how = {"hands": 2, "costs": "metres", "taken": (), "positions": AT, **given}
    return TripModel(CarryModel(belief, seen), belief, seen, **how)


def test_two_things_are_carried_on_one_way() -> None:
    found = errands()
    for number in range(10):
        chosen = search(found, found.root, SETTINGS, h.rng("two", number))
        assert {chosen[0], chosen[1]} == {Subgoal(APPLE, 0), Subgoal(OTHER, 0)}
        assert chosen[2] == DELIVER
    alone = errands(hands=1)
    assert search(alone, alone.root, SETTINGS, h.rng("one"))[1] == DELIVER


def test_full_hands_can_only_deliver() -> None:
    held = {("Alice", "POSITION"): (0, 0), ("Alice", "HOLD"): h.APPLE}
    found = errands(held)
    assert found.subgoals(found.root)[0] == DELIVER
    full = found.carry_out(Subgoal(OTHER, 0), found.root).state
    assert list(found.subgoals(full)) == [DELIVER]
    assert found.units(full) == 0
    done = found.carry_out(DELIVER, full).state
    assert found.units(done) == 2
    assert list(found.subgoals(done)) == [Subgoal(CAKE, 1)]
    last = found.carry_out(DELIVER, found.carry_out(Subgoal(CAKE, 1), done).state).state
    assert found.units(last) == 3
    assert list(found.subgoals(last)) == []


def test_ways_cost_their_steps() -> None:
    found = errands()
    near = found.carry_out(Subgoal(OTHER, 0), found.root)
    assert near.cost == pytest.approx((0.7 + 1) / SCALE)  # 2 m less 1.3 m of reach, and taking it
    far = found.carry_out(DELIVER, near.state)
    assert far.cost == pytest.approx((10.0 * 1.25 - 1.3 + 1) / SCALE)  # 10 m through a door, and putting it down
    legs = errands(costs="legs")
    assert legs.carry_out(Subgoal(OTHER, 0), legs.root).cost == pytest.approx(1.05)
    assert legs.carry_out(DELIVER, legs.carry_out(Subgoal(OTHER, 0), legs.root).state).cost == pytest.approx(1.55)


def test_a_closed_target_is_opened_by_a_free_hand_only() -> None:
    belief = h.believed(COLD, LIE)
    found = errands(SHOWS, belief, costs="legs")
    one = found.carry_out(Subgoal(APPLE, 0), found.root).state
    two = found.carry_out(Subgoal(OTHER, 0), one).state
    assert found.carry_out(DELIVER, one).cost == pytest.approx(1 + 0.05 + 0.05)  # walk, open, put
    assert found.carry_out(DELIVER, two).cost == pytest.approx(1 + 0.05 + 0.05)  # walk, put, put


def test_what_others_carry_is_left_to_them_unless_nothing_else_is_left() -> None:
    found = errands(taken=(APPLE,))
    assert list(found.subgoals(found.root)) == [Subgoal(OTHER, 0), Subgoal(CAKE, 1)]
    found = errands(taken=(APPLE, OTHER, CAKE))
    assert len(found.subgoals(found.root)) == 3
    taken = {**SHOWS, ("Bob", "HOLD"): h.CAKE, ("Bob", "AT"): h.KITCHEN}
    found = errands(taken, taken=(CAKE,))
    assert Subgoal(CAKE, 1) not in found.subgoals(found.root)


class Rules:
    """What is likely where, and how far away."""

    @property
    def beliefs(self) -> Rules:
        return self

    def latent_variables(self, given: object) -> list[LatentVariable]:
        apple, inside = Entity("apple", 1), Fact(Entity("apple", 1), "INSIDE", h.CUPBOARD)
        values = (Possible(Fact(apple, "IN", h.BEDROOM), 3.0), Possible(inside, 1.0))
        return [LatentVariable("apple 1", values)]

    def estimate_steps(self, agent: str, action: Action, given: object) -> int:
        return {"explore": 12, "check": 2}[action.verb]


def test_it_looks_where_the_chance_for_a_tick_is_best() -> None:
    belief = NearestBelief(HOME, h.rng("near"), cast("Domain", Rules()))
    belief.look_from(h.eyes(h.facts()))
    belief.update(h.seen(HOME, h.STANDS))
    belief.guess_all()
    assert belief.place[APPLE] == CUPBOARD  # 1 / 4 in 2 ticks against 3 / 4 in 12
    assert belief.place[OTHER] == CUPBOARD
    belief.rule_out(APPLE, CUPBOARD)
    assert belief.place[APPLE] == BEDROOM
    belief.update(h.seen(HOME, room=h.BEDROOM))
    assert belief.place[APPLE] != BEDROOM  # the rules name no other place, so it is drawn


@pytest.mark.parametrize("strict", [False, True])
def test_a_hand_is_left_free_where_nothing_can_be_put_into_what_is_closed(strict: bool) -> None:
    world = {"agents": 1, "strict_put": strict}
    found = play("mhp:plus", Scenario("household", "dev-groceries-1", 0, 250, world), {})
    assert isinstance(found.events[-1], EpisodeEnd)
    assert found.events[-1].reason == "all_done"
    held = list(accumulate(_hands(event) for event in found.events if isinstance(event, ActionStep)))
    assert max(held) == (1 if strict else 2)


def _hands(event: ActionStep) -> int:
    return {"grab": 1, "put": -1}.get(event.verb, 0) if event.effect else 0
