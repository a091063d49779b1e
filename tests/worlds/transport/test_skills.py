"""The actions in a small house: what each does, how long it takes, and how it can fail."""

from __future__ import annotations

import pytest

from teamworld.language import Action, Entity
from teamworld.worlds.contract import WAIT, Outcome, talk
from teamworld.worlds.transport.observe import BED
from teamworld.worlds.transport.scene import Instance
from teamworld.worlds.transport.sight import NEVER
from teamworld.worlds.transport.skills import PULSE, SEARCH_STEPS, TURNS
from teamworld.worlds.transport.state import NOTHING
from teamworld.worlds.transport.world import TransportWorld
from tests.worlds.transport.houses import box, give, house, item, put_agent, world

LIVING, KITCHEN, BEDROOM = Entity("livingroom", 1000), Entity("kitchen", 2000), Entity("bedroom", 3000)
APPLE, BANANA, BREAD, BOWL = Entity("apple", 11), Entity("banana", 12), Entity("bread", 13), Entity("bowl", 14)
THINGS = (
    item(11, "apple", 2.0, 3.0), item(12, "banana", 2.6, 3.2), item(13, "bread", 6.0, 3.5), item(14, "bowl", 1.0, 3.0),
)  # fmt: skip
#: A target that nobody ever sees, in a cupboard: an episode without one is over.
HIDDEN, CUPBOARD = item(99, "burger", 7.6, 3.7), box("cupboard", 7.6, 3.7, 0.6, 0.5, 1.9)


def act(here: TransportWorld, action: Action, agent: str = "Alice", most: int = 400) -> Outcome:
    """Let an agent do an action to its end while others wait; return its last outcome."""
    actions = {agent: action}
    for _ in range(most):
        outcome = here.step(actions).outcomes[agent]
        if outcome.status != "running":
            return outcome
        actions = {}
    raise AssertionError(f"{action} does not end")


def there(start: tuple[float, float, float] = (2.0, 1.0, 0.0), instance: Instance | None = None) -> TransportWorld:
    return world(house(THINGS, starts=[start]) if instance is None else instance)


def go_home(here: TransportWorld) -> None:
    """Walk to the bedroom and look for the bed, if it was not seen on the way."""
    while room_of(here) != 2:
        act(here, Action("go", (BEDROOM,)))
    act(here, Action("explore", (BEDROOM,)))


def frames(here: TransportWorld) -> int:
    return int(here._moment.state.clock[0])


def held(here: TransportWorld, agent: int = 0) -> list[int]:
    numbers = here._moment.state.hands[agent].tolist()
    return [here.instance.items[number].id if number != NOTHING else NOTHING for number in numbers]


def room_of(here: TransportWorld, agent: int = 0) -> int:
    return int(here._moment.state.agents["room"][agent])


def test_fetch_walks_to_a_thing_and_takes_it_left_hand_first() -> None:
    here = there()
    outcome = act(here, Action("fetch", (APPLE,)))
    assert (outcome.status, held(here)) == ("done", [11, NOTHING])
    assert 20 < frames(here) < 60
    assert set(outcome.primitives) <= {"forward", "turn_left", "turn_right", "grasp"}
    act(here, Action("fetch", (BOWL,)))
    assert held(here) == [11, 14]


def test_put_and_deliver() -> None:
    here = there()
    for action in (Action("fetch", (APPLE,)), Action("fetch", (BOWL,))):
        act(here, action)
    before = frames(here)
    assert act(here, Action("put", (APPLE, BOWL))).status == "done"
    assert frames(here) - before == 146
    assert held(here) == [NOTHING, 14]
    assert here.truth().value(APPLE, "IN") == here.truth().value(BOWL, "IN") == LIVING
    go_home(here)
    assert act(here, Action("deliver")).status == "done"
    assert held(here) == [NOTHING, NOTHING]
    assert here._moment.state.items["released"].tolist() == [True, False, False, False]
    known = here.view("Alice").known
    assert (known.value(BOWL, "IN"), known.value(APPLE, "INSIDE")) == (BEDROOM, BOWL), "it fell before its feet, unseen"


def test_deliver_drops_both_hands() -> None:
    here = there()
    for action in (Action("fetch", (APPLE,)), Action("fetch", (BANANA,))):
        act(here, action)
    go_home(here)
    before = frames(here)
    assert act(here, Action("deliver")).status == "done"
    assert frames(here) - before >= 2 * 33
    assert here._moment.state.items["released"].tolist() == [True, True, False, False]


def test_go_ends_in_the_room_or_at_something_new_of_use() -> None:
    here = there(instance=house([HIDDEN], [CUPBOARD], [(2.0, 2.0, 90.0)]))
    assert act(here, Action("go", (KITCHEN,))).status == "done"
    assert room_of(here) == 1
    here = there(instance=house([HIDDEN, item(13, "bread", 6.0, 3.7)], [CUPBOARD], [(1.5, 2.0, 90.0)]))
    assert act(here, Action("go", (KITCHEN,))).status == "done"
    assert here._moment.knowledge.things["seen"][0, 1] > 0
    assert room_of(here) == 0, "the bread came in sight through the opening"
    assert here.view("Alice").history[-1].ending == "ended early, bread_13 came in sight"
    assert act(here, Action("go", (KITCHEN,))).status == "done"
    assert room_of(here) == 1
    assert here.view("Alice").history[-1].ending == "done"


def test_what_a_teammate_carries_ends_no_walk() -> None:
    starts = [(1.5, 2.0, 90.0), (6.0, 3.4, 0.0)]
    here = there(instance=house([HIDDEN, item(13, "bread", 6.0, 3.7)], [CUPBOARD], starts))
    give(here._moment, 1, 0, 1)
    assert act(here, Action("go", (KITCHEN,))).status == "done"
    assert here._moment.knowledge.things["seen"][0, 1] > 0, "it was seen on the way"
    assert room_of(here) == 1


def test_a_second_container_is_of_no_use_to_who_holds_one() -> None:
    bowls = [item(14, "bowl", 1.0, 3.0), item(15, "bowl", 6.0, 3.7), HIDDEN]
    here = there(instance=house(bowls, [CUPBOARD], [(1.5, 2.0, 90.0)]))
    here._moment.state.hands[0, 0], here._moment.state.items["holder"][0] = 0, 0
    act(here, Action("go", (KITCHEN,)))
    assert room_of(here) == 1


def test_explore_looks_around_in_the_middle() -> None:
    here = there((0.5, 0.5, 0.0))
    assert act(here, Action("explore", (LIVING,))).status == "done"
    body = here._moment.state.agents[0]
    assert (body["x"] - 1.97) ** 2 + (body["z"] - 2.0) ** 2 <= 1.02**2
    assert here._moment.knowledge.rooms["looked"][0].tolist() == [True, False, False]
    assert here.view("Alice").known.value(LIVING, "EXPLORED") == "all"
    before = frames(here)
    assert act(here, Action("explore", (LIVING,))).primitives == ("turn_left",) * (2 * TURNS)
    assert frames(here) - before == 2 * TURNS


def test_search_goes_to_a_place_that_was_not_seen() -> None:
    here = there(instance=house([HIDDEN], [CUPBOARD], [(2.0, 2.0, 90.0)]))
    seen = int(here._moment.knowledge.rooms["cells"][0].sum())
    for _ in range(4):
        outcome = act(here, Action("search", ("anything",)))
        assert outcome.status == "done"
        assert len(outcome.primitives) <= 9 * SEARCH_STEPS
    assert here._moment.knowledge.rooms["cells"][0].sum() > seen + 300
    again = there(instance=house([HIDDEN], [CUPBOARD], [(2.0, 2.0, 90.0)]))
    for _ in range(4):
        act(again, Action("search", ("anything",)))
    assert again.snapshot() == here.snapshot()


def test_drop_lays_a_thing_down() -> None:
    here = there()
    act(here, Action("fetch", (APPLE,)))
    before = frames(here)
    assert act(here, Action("drop", (APPLE,))).status == "done"
    assert (held(here), frames(here) - before) == ([NOTHING, NOTHING], 33)


def steps_to_go(here: TransportWorld, action: Action) -> list[tuple[int, int | None]]:
    """Let Alice act while Bob waits; return her frames and the frames that are told to be left after each step."""
    told, begun, actions = list[tuple[int, int | None]](), frames(here), {"Alice": action}
    while here.step(actions).outcomes["Alice"].status == "running":
        told.append((frames(here) - begun, here.view("Alice").steps_to_go))
        actions = {}
    return [*told, (frames(here) - begun, here.view("Alice").steps_to_go)]


def test_what_takes_its_time_whatever_happens_is_counted_down() -> None:
    here = there(instance=house(THINGS, starts=[(2.0, 1.0, 0.0), (7.0, 1.0, 0.0)]))
    act(here, Action("fetch", (APPLE,)))
    act(here, Action("fetch", (BOWL,)))
    put = steps_to_go(here, Action("put", (APPLE, BOWL)))
    assert len(put) > 10
    assert all(left == 146 - spent for spent, left in put[:-1])
    assert put[-1] == (146, None)
    act(here, Action("fetch", (BANANA,)))
    drop = steps_to_go(here, Action("drop", (BANANA,)))
    assert [left for _, left in drop] == [23, 13, 3, None]
    act(here, Action("fetch", (BANANA,)))
    go_home(here)
    *deliver, (end, _) = steps_to_go(here, Action("deliver"))
    known = [(spent, left) for spent, left in deliver if left is not None]
    assert len(known) >= 6
    assert all(spent + left == end for spent, left in known), "both hands are counted"
    *look, (end, _) = steps_to_go(here, Action("explore", (BEDROOM,)))
    known = [(spent, left) for spent, left in look if left is not None]
    assert known
    assert all(spent + left == end for spent, left in known)


def test_wait_and_talk_take_their_frames() -> None:
    here = there()
    assert here.step({"Alice": WAIT}).ticks == PULSE
    assert act(here, talk(3)).status == "done"
    assert frames(here) == PULSE + 3


def test_what_is_gone_is_not_fetched() -> None:
    here = there()
    here._moment.state.items["x"][0] = 6.0
    here._moment.state.items["z"][0] = 0.5
    outcome = act(here, Action("fetch", (APPLE,)))
    assert (outcome.status, outcome.reason) == ("failed", "gone: apple_11 is not where it was")
    assert outcome.constraint == "spatial"


def test_who_was_told_of_the_bed_looks_for_it_and_delivers() -> None:
    here = there()
    act(here, Action("fetch", (APPLE,)))
    assert here.view("Alice").known.value(BED, "IN") is None
    assert act(here, Action("deliver"), most=2000).status == "done"
    assert here.truth().value(APPLE, "ON") == BED


def test_a_bed_that_cannot_be_seen_is_looked_for_once_around() -> None:
    here = there()
    act(here, Action("fetch", (APPLE,)))
    here._moment.knowledge.own["bed"][0] = NEVER
    here._eyes = here._eyes._replace(thing_range=0.0)
    outcome = act(here, Action("deliver"), most=2000)
    assert (outcome.status, outcome.word, held(here)) == ("failed", "no_bed", [11, NOTHING])


def test_who_grasps_where_nothing_lies_takes_the_thing_to_be_gone() -> None:
    here = there(start=(2.0, 1.0, 0.0))
    here._moment.state.items["x"][0] = 7.0  # away from there, while it is nearer than the picture begins
    put_agent(here._moment, 0, 2.0, 2.5)
    outcome = act(here, Action("fetch", (APPLE,)))
    assert (outcome.status, outcome.reason) == ("failed", "gone: apple_11 is not where it was")
    assert here.view("Alice").known.value(APPLE, "POSITION") is None
    assert not here.view("Alice").check(Action("fetch", (APPLE,))).ok, "it would try again, a frame each"


def test_what_another_has_taken_is_not_fetched() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (2.5, 3.6, 180.0)]))
    here.step({"Alice": Action("fetch", (APPLE,))})
    here._moment.state.items["holder"][0], here._moment.state.hands[1, 0] = 1, 0
    outcome = act(here, Action("fetch", (APPLE,)))
    assert (outcome.status, outcome.reason) == ("failed", "held: Bob holds apple_11")


def test_agents_that_are_not_told_why_learn_only_that_it_failed() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0)]), feedback=False)
    here._moment.state.items["x"][0] = 6.0
    assert act(here, Action("fetch", (APPLE,))).reason.startswith("gone")
    assert here.view("Alice").history[-1].reason == "failed"


@pytest.mark.parametrize("verb", ["fetch", "go", "explore"])
def test_a_walk_that_does_not_get_on_fails(verb: str) -> None:
    """A sofa stands across the room: the body does not fit past it."""
    sofa = box("sofa", 3.0, 2.0, 0.8, 3.9, 0.4)
    here = world(house([item(13, "bread", 6.0, 2.0)], [sofa], [(1.0, 2.0, 90.0)]))
    assert here.view("Alice").known.value(BREAD, "IN") == KITCHEN
    here.step({"Alice": WAIT})
    here._moment.knowledge.own["bed"][0] = 0  # what is new would end a walk, too
    outcome = act(here, Action(verb, (BREAD if verb == "fetch" else KITCHEN,)))
    assert (outcome.status, outcome.word) == ("failed", "no_way")


def test_who_cannot_get_to_the_middle_looks_around_where_it_is() -> None:
    sofa = box("sofa", 2.0, 2.0, 2.6, 2.6, 0.4)
    here = world(house([HIDDEN], [CUPBOARD, sofa], [(0.35, 0.35, 0.0)]))
    assert act(here, Action("explore", (LIVING,))).status == "done"
    assert here._moment.knowledge.rooms["looked"][0, 0]


def test_another_action_stops_what_runs_where_it_is() -> None:
    here = world(house(THINGS, starts=[(1.0, 2.0, 90.0), (6.0, 1.0, 0.0)]))
    here.step({"Alice": Action("go", (KITCHEN,)), "Bob": talk(5)})
    assert here._moment.state.agents["verb"][0] != 0
    here.step({"Alice": WAIT, "Bob": talk(5)})
    assert here._moment.state.agents["verb"][0] == 0
    assert [(o.action.verb, o.word) for o in here.view("Alice").history] == [("go", "interrupted")]


@pytest.mark.parametrize("order", [Action("deliver"), Action("drop", (APPLE,))])
def test_what_is_stopped_once_the_thing_lies_is_done(order: Action) -> None:
    here = world(house(THINGS, starts=[(6.0, 1.0, 0.0), (1.0, 2.0, 90.0)]))
    give(here._moment, 0, 0, 0)
    before = len(here.view("Alice").history)
    while held(here) != [NOTHING, NOTHING]:
        here.step({"Alice": order})  # the other waits, so a step is short
    assert len(here.view("Alice").history) == before, "the hand is not ready yet"
    here.step({"Alice": WAIT})
    last = here.view("Alice").history[-1]
    assert (last.action.verb, last.status, last.reason) == (order.verb, "done", "")


def test_who_is_near_enough_is_not_sent_away() -> None:
    here = there((2.0, 2.2, 0.0))
    put_agent(here._moment, 0, 2.0, 1.5)
    here.step({"Alice": WAIT})
    act(here, Action("fetch", (APPLE,)))
    assert here._moment.state.agents["z"][0] < 2.5


def test_what_is_carried_counts_before_it_lies_and_a_container_takes_a_target_first() -> None:
    here = there()
    hauling, domain = here.domain.hauling, here.domain

    def counts() -> int | None:
        return hauling.steps_until_it_counts("Alice", here.view("Alice").known)

    assert counts() is None
    act(here, Action("fetch", (BOWL,)))
    empty = counts()
    act(here, Action("fetch", (APPLE,)))
    full, deliver = counts(), domain.estimate_steps("Alice", Action("deliver"), here.view("Alice").known)
    assert empty is not None
    assert full is not None
    assert empty > full + 100, "a put takes 146 frames"
    assert deliver > full + 2 * 33, "two drops, and the last 1.5 m"
    go_home(here)
    act(here, Action("deliver"))
    assert counts() is None
