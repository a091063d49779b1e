"""What a message is worth, by hand; what an agent believes of what it is told; what it does next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.language import Action, Entity, Fact, Facts, Plan, Relation, parse_action, parse_fact
from teamworld.methods.coela.message_value import take_up_probability, value_message
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.questions import ChooseAction, Decided, Proposal, ProposeMessage, read_facts
from teamworld.methods.coela.rules import find_news
from teamworld.methods.coela.situation import Situation
from teamworld.methods.common.knowledge import Line
from teamworld.methods.common.own_step import choose_step
from teamworld.methods.common.told_facts import believed, read_fact, read_told
from teamworld.methods.contract import Message
from teamworld.planning.candidates import CandidateStep
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import WAIT, Goal, ImpossibleFacts, Option, World
from tests.methods.coela.house import situate
from tests.toy import ToyWorld, work

SEARCH = 4


class Board(ToyWorld):
    """Jobs at known distances, which options tell."""

    __hash__ = object.__hash__
    ways: tuple[int, ...] = (5, 2, 8)

    def options(self, agent: str, given: Facts) -> Sequence[Option]:
        open_jobs = [job for job, left in enumerate(self.left) if left]
        around = [Option(Action("wait", ()), None, SEARCH)]
        return [Option(work(job), f"job_{job}", self.ways[job]) for job in open_jobs] + around

    def estimate_steps(self, agent: str, action: Action, given: Facts) -> int:
        thing = action.args[0] if action.args else None
        return self.ways[thing.id] if isinstance(thing, Entity) else 1


def board(*quorums: int, agents: str = "abc", horizon: int = 50) -> Board:
    world = Board(tuple(agents), tuple((3, quorum) for quorum in quorums), horizon)
    world.relations = (Relation("LEFT", "job", ("number",)),)
    world.reset(0)
    return world


def make_situation(world: ToyWorld, *chat: Message, shared: bool = True, **more: Any) -> Situation:
    kinds = dict.fromkeys(world.agents, "worker")
    return situate(world.view("a"), world, kinds, shared=shared, chat=chat, **more)


def in_rooms(world: World, *chat: Message) -> Situation:
    return situate(world.view("agent_0"), world.domain, world.spec.kinds, shared=False, chat=chat)


def takes(agent: str, goal: str, t: int = 0) -> Message:
    return Message(agent, "commit", "", goal, t=t)


def test_how_likely_a_mate_is_to_take_a_goal_falls_with_its_distance() -> None:
    situation = make_situation(board(1, 1))
    assert take_up_probability(situation, "b", situation.all_goals["job_0"]) == pytest.approx((1 / 5) / (1 / 5 + 1 / 2))
    assert take_up_probability(situation, "b", situation.all_goals["job_1"]) == pytest.approx((1 / 2) / (1 / 5 + 1 / 2))


def test_the_agent_that_fills_a_goal_saves_others_the_way() -> None:
    # job_1, two ticks away, takes one: each of b and c would have gone there with p = 5/7.
    value = value_message(make_situation(board(1, 1)), "job_1", ())
    assert value.saved == pytest.approx(2 * (5 / 7) * 2)
    assert value.cost == 1
    assert value.pays
    assert not value_message(make_situation(board(1, 1, agents="a")), "job_1", ()).pays


def test_calling_for_hands_saves_the_wait_of_as_many_as_are_lacking() -> None:
    # job_0 takes two: one of b and c is lacking, with p = 2/7 it would have come by itself.
    value = value_message(make_situation(board(2, 1)), "job_0", ())
    assert value.saved == pytest.approx((1 - 2 / 7) * (5 + SEARCH))
    both = value_message(make_situation(board(3, 1)), "job_0", ())
    assert both.saved == pytest.approx(2 * (1 - 2 / 7) * (5 + SEARCH))


def test_what_was_said_before_is_worth_nothing_and_a_waiting_mate_makes_it_dearer() -> None:
    world = board(2, 1)
    assert value_message(make_situation(world, takes("a", "job_0")), "job_0", ()).saved == 0
    assert value_message(make_situation(world, takes("b", "job_0")), "job_0", ()).cost == 2
    assert value_message(make_situation(world), None, ()).saved == 0
    assert value_message(make_situation(world), "job_9", ()).saved == 0


def test_mates_that_are_at_another_goal_do_not_count() -> None:
    world = board(1, 1, 1)
    free = value_message(make_situation(world), "job_1", ())
    busy = value_message(make_situation(world, takes("b", "job_0"), takes("c", "job_2")), "job_1", ())
    assert free.saved > busy.saved == 0


def test_facts_are_worth_the_search_of_those_who_do_not_know_as_far_as_there_is_room() -> None:
    world = board(1, 1)
    job = Entity("job", 0)
    fact = Fact(job, "LEFT", 3)
    alone = make_situation(world, shared=False)
    # Neither b nor c knows of any job; there is room for one of them.
    assert value_message(alone, None, (fact,)).saved == pytest.approx(1 * SEARCH)
    assert value_message(make_situation(world), None, (fact,)).saved == 0  # all know what one has seen
    assert (
        value_message(
            make_situation(world, Message("a", "inform", "", facts=(fact,)), shared=False), None, (fact,)
        ).saved
        == 0
    )
    both = make_situation(world, shared=False, witnessed={"b": [job], "c": [job]})
    assert value_message(both, None, (fact,)).saved == 0
    one = make_situation(world, shared=False, witnessed={"b": [job]})
    assert value_message(one, None, (fact,)).saved == pytest.approx(SEARCH)
    assert value_message(make_situation(world, takes("b", "job_0"), shared=False), None, (fact,)).saved == 0  # no room


def test_nothing_saves_more_than_the_time_left() -> None:
    assert value_message(make_situation(board(2, 1, horizon=3)), "job_0", ()).saved == pytest.approx((1 - 2 / 7) * 2)
    assert value_message(make_situation(board(2, 1, horizon=1)), "job_0", ()).saved == 0


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(1, 5), st.integers(1, 30), st.booleans())
@settings(max_examples=60)
def test_worth_is_never_negative_and_bounded(quorums: list[int], team: int, horizon: int, shared: bool) -> None:
    situation = make_situation(board(*quorums, agents="abcde"[:team], horizon=horizon), shared=shared)
    facts = tuple(Fact(Entity("job", job), "LEFT", 3) for job in range(len(quorums)))
    value = value_message(situation, "job_0", facts)
    bound = (horizon - 1) * (team - 1) * (len(quorums) + 1)
    assert 0 <= value.saved <= bound + 1e-9
    assert value.cost >= 1


# ---- the rule of the question


def choice(situation: Situation, message: Message | None) -> ChooseAction:
    return ChooseAction("a", {"a": situation.view}, situation, CoelaOptions(), message)


def test_the_rule_sends_what_pays_and_else_acts() -> None:
    situation = make_situation(board(1, 1))
    told = find_news(situation)
    assert told.goal == "job_1"
    assert told.text == "I take job_1, about 2 steps from here."
    question = choice(situation, Message("a", "commit", told.text, told.goal))
    assert question.sends(question.rule(None))  # type: ignore[arg-type]
    idle = choice(situation, Message("a", "inform", "hello"))
    assert idle.rule(None) == Decided(action="work(job_1, 3)", goal="job_1")  # type: ignore[arg-type]
    assert choice(situation, None).rule(None) == idle.rule(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "sends"),
    [
        ("SEND_MESSAGE", True),
        ("send_message", True),
        (' "SEND_MESSAGE" ', True),
        ("SEND_MESSAGE: come to me", True),
        ("<action>Send message</action>", True),
        ("1. SEND_MESSAGE", True),
        ("1", True),
        ("I choose to SEND_MESSAGE now", True),  # no action can be read in it
        ("work(<job>(0), 1), not SEND_MESSAGE", False),
        ("2", False),
        ("resend_messages", False),
        ("wait", False),
        ("", False),
    ],
)
def test_the_keyword_is_found_and_not_found_in_an_action(text: str, sends: bool) -> None:
    question = choice(make_situation(board(1, 1)), Message("a", "inform", "hello"))
    assert question.sends(Decided(action=text)) is sends


def test_an_answer_that_cannot_start_is_asked_again_with_the_reason() -> None:
    world = board(1, 1)
    world.left[0] = 0
    question = choice(make_situation(world), None)
    assert question.check(Decided(action="work(<job>(0), 1)")) == (
        "work(job_0, 1) cannot start now: job_gone; answer the number of an option, or an action that can start "
        "such as work(job_1, 1)"
    )
    assert question.check(Decided(action="mumble")) is None
    empty = question.check(Decided(action=" "))
    assert empty is not None
    assert empty.startswith("no action is named")
    assert question.check(question.fallback()) is None


# ---- what to do next


def test_agents_take_the_nearest_goal_that_nobody_has_and_help_where_hands_are_lacking() -> None:
    world = board(1, 1, 1)
    assert choose_step(make_situation(world)).goal == "job_1"
    assert choose_step(make_situation(world, takes("b", "job_1"))).goal == "job_0"
    assert choose_step(make_situation(world, takes("b", "job_1"), takes("c", "job_0"))).goal == "job_2"
    joint = board(1, 1, 2)
    assert choose_step(make_situation(joint)).goal == "job_1"
    assert choose_step(make_situation(joint, takes("b", "job_2"))).goal == "job_2"
    assert choose_step(make_situation(joint, takes("b", "job_2"), takes("c", "job_2"))).goal == "job_1"


def test_goals_are_looked_at_closely_only_while_none_that_comes_before_them_can_be_worked_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, looked = board(1, 1, 2), list[str | None]()
    plans = world.candidate_plans

    def count(goal: Goal | None, agent: str, given: Facts) -> Sequence[Plan]:
        looked.append(None if goal is None else goal.id)
        return plans(goal, agent, given)

    monkeypatch.setattr(world, "candidate_plans", count)
    choose_step(make_situation(world))
    assert sorted(map(str, looked)) == ["job_0", "job_1", "job_2"]
    looked.clear()
    choose_step(make_situation(world, takes("b", "job_2")))
    assert looked == ["job_2"], "it waits for hands"


def test_a_goal_that_cannot_get_its_hands_is_left_alone() -> None:
    assert choose_step(make_situation(board(4))) == CandidateStep(WAIT, None)
    assert choose_step(make_situation(board(2, agents="ab"), takes("b", "job_0"))).goal == "job_0"


def test_of_two_who_said_the_same_at_once_the_first_in_order_keeps_it() -> None:
    world = board(1, 1)
    first = make_situation(world, takes("a", "job_1"), takes("b", "job_1"))
    assert choose_step(first).goal == "job_1"
    later = make_situation(world, takes("a", "job_1", t=0), takes("b", "job_1", t=-1))
    assert choose_step(later).goal == "job_0"


def test_an_old_claim_is_not_believed_for_ever() -> None:
    world = board(1, 1)
    # The longest option takes 5 ticks, and 3 units of work are left: 2 * (5 + 3) ticks.
    assert make_situation(world, takes("b", "job_1", t=-16)).intents == {"b": "job_1"}
    assert make_situation(world, takes("b", "job_1", t=-17)).intents == {}


def test_ticks_spent_in_vain_make_a_goal_further() -> None:
    world = board(1, 1)
    assert choose_step(make_situation(world, vain={"job_1": 30})).goal == "job_0"


# ---- what is told


def rooms() -> World:
    return worlds.make("rooms", "two", 0, 60, {})


def told(*texts: str, sender: str = "agent_1", t: int = 0) -> Message:
    return Message(sender, "inform", "", facts=tuple(map(parse_fact, texts)), t=t)


def lines(*chat: Message) -> list[Line]:
    return [Line(message.t, message.sender, None, message.whole) for message in chat]


ITEM = ("<item>(1) AT (2, 9)", "<item>(1) WEIGHT 1", "<item>(1) STATE free")


def test_what_was_told_of_an_unseen_thing_makes_its_goal_known() -> None:
    world = rooms()
    view = world.view("agent_0")
    assert "deliver_1" not in {goal.id for goal in view.goals}
    given = believed(view, world.domain, lines(told(*ITEM)))
    assert "deliver_1" in {goal.id for goal in world.domain.goals(given)}
    assert given.seen[parse_fact(ITEM[0])] == 0
    situation = in_rooms(world, told(*ITEM))
    assert "deliver_1" in situation.trips
    assert all(view.check(option.action).ok for option in situation.options)


def test_what_is_seen_now_is_not_overruled_and_own_words_are_no_news() -> None:
    world = rooms()
    view = world.view("agent_0")
    seen = next(fact for fact in view.facts if isinstance(fact.subject, Entity) and fact.predicate == "AT")
    assert believed(view, world.domain, lines(told(f"{seen.subject} AT (2, 9)", t=5))) is view.known
    assert believed(view, world.domain, lines(told(*ITEM, sender="agent_0"))) is view.known


@pytest.mark.parametrize(
    "lie",
    [
        ("<item>(1) AT (0, 5)", "<item>(1) WEIGHT 1"),  # in the wall
        ("<item>(1) AT (999, 999)", "<item>(1) WEIGHT 1"),
        (f"<item>(1) AT ({10**400}, 5)", "<item>(1) WEIGHT 1"),
        ("<item>(1) AT (2, 9)", f"<item>(1) WEIGHT {10**400}"),
        ("<item>(9) AT (2, 9)", "<item>(9) WEIGHT 99999"),
        ("<item>(1) WEIGHT 1",),
        ("<ghost>(1) AT (2, 9)",),
        ("<item>(1) HUNGRY yes",),
        ("<door>(7) STATE shut",),
        ("<fire>(3) AT (0, 5)",),
        ("agent_1 AT (0, 5)",),
    ],
)
def test_lies_stop_nobody(lie: tuple[str, ...]) -> None:
    world = rooms()
    situation = in_rooms(world, told(*lie), told(*ITEM))
    assert choose_step(situation).action is not None
    assert isinstance(find_news(situation).text, str)
    if lie[0].startswith("<item>(1)"):  # what was said last of a thing stands, and it is true
        assert "deliver_1" in situation.trips


@pytest.mark.parametrize("far", [10**6, -1, 10**30, 10**400], ids=["far", "negative", "huge", "no-float"])
@pytest.mark.parametrize("level", ["suppress_fire_contain", "rescue_civilians_known_location_small"])
def test_places_and_numbers_that_cannot_be_stop_nobody_in_wildfire(level: str, far: int) -> None:
    world = worlds.make("wildfire", level, 3, 30, {"shared_map": False})
    about = {"water": "AT", "fire": "BURNS", "civilian": "AT", "cluster": "AT", "sector": "AT", "zone": "AT"}
    lies = [Fact(Entity(kind, 0), predicate, (far, 3)) for kind, predicate in about.items()]
    lies += [Fact(Entity("fire", 7), "AT", (far, far)), Fact(Entity("sector", 0), "UNSEEN", far)]
    liar = world.spec.agents[-1]
    for lie in lies:
        chat = (Message(liar, "inform", "", facts=(lie,), t=0),)
        view = world.view(world.spec.agents[0])
        situation = situate(view, world.domain, world.spec.kinds, shared=False, chat=chat)
        assert view.check(choose_step(situation).action).ok
        assert isinstance(find_news(situation).text, str)


@pytest.mark.parametrize("error", [ImpossibleFacts("no state"), KeyError("a bug")], ids=["impossible", "bug"])
def test_impossible_facts_are_passed_over_and_a_bug_raises(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    world, lie = rooms(), told(*ITEM)
    view = world.view("agent_0")
    assert believed(view, world.domain, lines(lie)) is not view.known

    def options(self: object, agent: str, given: Facts) -> Sequence[Option]:
        raise error

    monkeypatch.setattr(type(world.domain), "options", options)
    if isinstance(error, ImpossibleFacts):
        assert believed(view, world.domain, lines(lie)) is view.known
    else:
        with pytest.raises(KeyError, match="a bug"):
            believed(view, world.domain, lines(lie))


def test_only_what_the_world_can_state_is_taken_from_a_proposal() -> None:
    world = rooms()
    texts = (*ITEM, ITEM[0], "nonsense", "<item>(1) AT here", "agent_1 AT (1, 1)", "<ghost>(1) AT (2, 2)")
    assert read_facts(Proposal(message="x", facts=texts), world.domain) == tuple(map(parse_fact, ITEM))


def test_the_rule_tells_what_the_others_have_not_seen() -> None:
    world = rooms()
    actions = {"agent_0": parse_action("go((2, 8))")}
    for _ in range(12):
        world.step(actions)
    view = world.view("agent_0")
    situation = in_rooms(world)
    facts = find_news(situation).facts
    assert Entity("item", 1) in {fact.subject for fact in facts}
    assert set(facts) <= set(view.known)


@pytest.mark.parametrize(
    "text",
    ["item_1 AT (2, 9)", "<item>(1) AT (2, 9)", "`item_1 at (2, 9)`", '"item_1" At (2,9).', "  <item>(1) at (2, 9);"],
)
def test_facts_are_read_tolerantly(text: str) -> None:
    assert read_fact(text, rooms().domain) == parse_fact(ITEM[0])


@pytest.mark.parametrize("text", ["the item is far", "agent_9 AT (1, 1)", "ghost_1 AT (2, 2)", "item_1 AT here", ""])
def test_what_is_no_fact_is_refused_with_what_was_expected(text: str) -> None:
    me = in_rooms(rooms())
    question = ProposeMessage("agent_0", {"agent_0": me.view}, me, CoelaOptions())
    complaint = question.check(Proposal(message="hello", facts=(text,)))
    assert complaint is not None
    assert f"'{text}' in facts is no fact: write the name of one thing or agent and one property" in complaint
    assert "such as item_" in complaint
    assert "AT cell" in complaint
    kept = question.salvage(Proposal(message="hello", facts=(text, *ITEM)))
    assert kept is not None
    assert (kept.message, kept.facts) == ("hello", ITEM)  # the message is not lost with it
    assert question.salvage(Proposal(message="hello", goal="no such task")) is None
    assert question.check(Proposal(message="nothing", facts=(text,))) is None  # there is no message
    assert question.check(Proposal(message="hello", facts=ITEM)) is None


def test_a_refusal_names_what_can_be_said_of_its_subject() -> None:
    me = in_rooms(rooms())
    question = ProposeMessage("agent_0", {"agent_0": me.view}, me, CoelaOptions())
    complaint = question.check(Proposal(message="hello", facts=("agent_1 HEAVY yes",)))
    assert complaint is not None
    assert "one property of it, AT cell or STATE able/overcome" in complaint
    assert question.check(Proposal(message="hello", facts=("agent_1 AT (1, 1)",))) is None


def test_what_a_message_tells_is_read_from_its_text() -> None:
    world, facts = rooms(), tuple(map(parse_fact, ITEM))
    for message in (
        Message("agent_1", "inform", "come here", facts=facts),
        Message("agent_1", "inform", f"I take deliver_1. I know: {'; '.join(ITEM)}."),
        Message("agent_1", "inform", "I know: item_1 AT (2, 9). Facts: item_1 WEIGHT 1; item_1 STATE free."),
    ):
        assert set(read_told(message.whole, world.domain)) == set(facts)
    for text in ("item_1 AT (2, 9)", "I know: item_1 AT (2, 9", "I know: agent_1 AT (1, 1).", "I know: nothing."):
        assert read_told(text, world.domain) == ()


def test_what_was_told_of_one_aspect_stands_beside_what_was_seen_of_another() -> None:
    world = rooms()
    view = world.view("agent_0")
    seen = next(fact for fact in view.facts if isinstance(fact.subject, Entity) and fact.predicate == "AT")
    facts = believed(view, world.domain, lines(told(f"{seen.subject} AT (2, 9)", *ITEM)))
    assert seen in facts
    assert parse_fact(ITEM[1]) in facts


def test_what_others_have_taken_is_done_where_it_is_at_hand() -> None:
    world = board(1, 1)
    taken = takes("b", "job_1"), takes("c", "job_0")
    assert choose_step(make_situation(world, *taken)).goal is None
    world.ways = (5, 1, 8)
    assert choose_step(make_situation(world, *taken)).goal == "job_1"
