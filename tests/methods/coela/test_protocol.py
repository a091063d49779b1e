"""The laws of COELA (spec 8): what is heard when, what it costs, who is asked how often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from teamworld.episode.message_delivery import MessageRule
from teamworld.language import plain
from teamworld.methods import registry as methods
from teamworld.methods.coela.questions import ChooseAction, Decided, Picked, PickPlan, Proposal, ProposeMessage
from teamworld.methods.common.translation import Translate, Translation
from teamworld.reasoning.contract import Question, Reasoner
from teamworld.record import (
    ActionStep,
    DrawingState,
    EpisodeStart,
    Event,
    GoalChange,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    QuestionSkipped,
    Release,
    StepDone,
)
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import World
from tests.methods.asked import play, rules
from tests.methods.coela.minds import Scripted, always_sends, calls, never_sends, sent
from tests.methods.single_steps import Answers, Says, choose_answer
from tests.toy import ToyWorld

NATIVE = MessageRule(ticks=1, paid_by="speaker")
FREE = MessageRule()
PLACES = [("rooms", "two"), ("rooms", "two-hazard"), ("cube", "paper-n2")]


def made(world: str, level: str, horizon: int = 40) -> World:
    return worlds.make(world, level, 0, horizon, {"spread": 0.4} if level == "two-hazard" else {})


def states(events: Sequence[Event]) -> list[Any]:
    return [event.state for event in events if isinstance(event, DrawingState)]


#: Send a message at the start, then work.
SENDS_FIRST: Answers = {
    ProposeMessage: Proposal(message="hello"),
    ChooseAction: lambda question: Decided(action="work(<job>(0), 3)" if question.view.t else "SEND_MESSAGE"),
}


def never_speaks(question: Question[Any]) -> BaseModel:
    """Propose nothing, do nothing."""
    return Proposal(message="nothing") if isinstance(question, ProposeMessage) else Decided(action="wait")


# ---- 1 and 2: always, never


@pytest.mark.parametrize(("world", "level"), PLACES)
@pytest.mark.parametrize("rule", [NATIVE, FREE], ids=["paid", "free"])
def test_whoever_always_sends_does_nothing_else(world: str, level: str, rule: MessageRule) -> None:
    mind = Scripted(always_sends)
    events = play(made(world, level), mind, "coela", rule=rule)
    nothing = play(made(world, level), rules(), "do_nothing")
    assert states(events) == states(nothing)
    assert not any(event.moved for event in events if isinstance(event, ActionStep))
    assert [e.score for e in events if isinstance(e, StepDone)] == [e.score for e in nothing if isinstance(e, StepDone)]
    asked = Counter(event.step for event in events if isinstance(event, QuestionAsked))
    said = Counter(message.step for message in sent(events))
    alone = {event.step for event in events if isinstance(event, QuestionSkipped) and event.cause == "alone"}
    assert all(asked[step] == 2 * said[step] for step in asked.keys() - alone)  # each asked twice, each has sent
    if level != "two-hazard":  # nobody is overcome or dies: everybody sends in every step
        steps = sum(isinstance(event, StepDone) for event in events)
        assert list(said.values()) == [2] * steps
        last = mind.asked[-1]
        kept = min(30, 2 * steps - 1)  # all but its own of this step
        assert len(last.chat) == kept


@pytest.mark.parametrize(("world", "level"), PLACES)
def test_whoever_never_sends_hears_nothing_and_is_asked_twice_a_decision(world: str, level: str) -> None:
    mind = Scripted(never_sends)
    events = play(made(world, level), mind, "coela", rule=NATIVE, propose="always")
    assert sent(events) == []
    assert all(not q.chat for q in mind.asked)
    found = calls(events)
    assert found["coela.message"] == found["coela.action"] > 0
    assert set(found) == {"coela.message", "coela.action"}


@pytest.mark.parametrize(("world", "level"), PLACES)
def test_a_message_is_asked_for_if_something_is_new_and_what_is_done_stays_the_same(world: str, level: str) -> None:
    asked, skipped = Counter[str](), Counter[str]()
    logs = []
    for propose in ("always", "news"):
        events = play(made(world, level, 60), rules(), "coela", rule=NATIVE, propose=propose)
        logs.append((states(events), [message.text for message in sent(events)]))
        asked[propose] = calls(events)["coela.message"]
        skipped[propose] = sum(event.cause == "nothing new" for event in events if isinstance(event, QuestionSkipped))
    assert logs[0] == logs[1]
    assert skipped["always"] == 0 < skipped["news"] == asked["always"] - asked["news"]


def test_who_waits_and_learns_nothing_is_not_asked_for_a_message_again() -> None:
    events = play(ToyWorld(("a", "b"), ((3, 1),), horizon=5), Scripted(never_speaks), "coela", rule=NATIVE)
    assert calls(events) == {"coela.message": 2, "coela.action": 10}


@pytest.mark.parametrize(
    ("rule", "paid"),
    [(NATIVE, ["talk(1)"]), (FREE, ["wait()"]), (MessageRule(ticks=2, paid_by="speaker"), ["talk(2)", "talk(2)"])],
    ids=["paid", "free", "two steps"],
)
def test_the_cost_of_a_message_is_paid_once(rule: MessageRule, paid: list[str]) -> None:
    world = ToyWorld(("a", "b"), ((3, 1),))
    says = choose_answer(SENDS_FIRST)
    mind = Scripted(lambda question: says(question) if question.respondent == "a" else never_speaks(question))
    play(world, mind, "coela", rule=rule)
    assert [str(orders["a"]) for orders in world.orders] == [*paid, *["work(<job>(0), 3)"] * 3]


# ---- 3: who hears what when


@pytest.mark.parametrize(
    ("label", "heard"),
    [
        ("coela", {"a": [], "b": ["a at 0"], "c": ["a at 0", "b at 0"]}),
        ("coela:simultaneous", {"a": [], "b": [], "c": []}),
    ],
)
def test_a_message_is_read_by_those_who_decide_after_it(label: str, heard: dict[str, list[str]]) -> None:
    mind = Scripted(always_sends)
    play(ToyWorld(("a", "b", "c"), ((3, 2),), horizon=2), mind, label, rule=NATIVE)
    read = {(q.respondent, q.t): [line.text for line in q.chat] for q in mind.asked}
    for agent, texts in heard.items():
        assert read[agent, 0] == texts
        assert sorted(set(read[agent, 1]) - {f"{teammate} at 1" for teammate in "abc"}) == [
            "a at 0",
            "b at 0",
            "c at 0",
        ]
    assert ("b at 1" in read["a", 1]) is False  # agent 1 reads what agent 2 said at t only at t + 1


def test_read_in_the_next_step_where_the_run_says_so() -> None:
    mind = Scripted(always_sends)
    play(ToyWorld(horizon=2), mind, "coela", rule=MessageRule(ticks=1, paid_by="speaker", seen="next"))
    read = {(q.respondent, q.t): [m.text for m in q.chat] for q in mind.asked}
    assert read["b", 0] == []
    assert read["b", 1] == ["a at 0", "b at 0"]  # the same order for everybody
    assert read["a", 1] == ["a at 0", "b at 0"]


def test_messages_that_come_back_stand_once_in_the_history() -> None:
    mind = Scripted(always_sends)
    rule = MessageRule(ticks=1, paid_by="speaker", echo=True)
    play(ToyWorld(horizon=4), mind, "coela", rule=rule)
    texts = [message.text for message in mind.asked[-1].chat]
    assert len(texts) == len(set(texts)) == 7


# ---- 4: busy agents


def test_busy_agents_are_not_asked_and_decide_when_they_arrive() -> None:
    events = play(made("rooms", "three", 60), rules(), "coela", rule=NATIVE)
    busy: dict[str, bool] = defaultdict(bool)
    for event in events:
        if isinstance(event, PlanStart):
            busy[event.agent] = True
        elif isinstance(event, PlanEnd):
            busy[event.agent] = False
        elif isinstance(event, QuestionAsked):
            assert not busy[event.agent]
    asked = {(event.agent, event.step) for event in events if isinstance(event, QuestionAsked)}
    last = max(step for _, step in asked)
    for event in events:
        if isinstance(event, PlanEnd) and event.step < last:
            assert (event.agent, event.step) in asked or (event.agent, event.step + 1) in asked


# ---- 5: what is posted


def test_what_is_posted_is_the_proposal_to_the_character() -> None:
    text = "  Käse at «(3, 4)»\tand SEND_MESSAGE {{ 1 }} "

    sending = Decided(action='"send_message": all of you come here')
    mind = Scripted({ProposeMessage: Proposal(message=text), ChooseAction: sending})
    events = play(ToyWorld(horizon=1), mind, "coela", rule=NATIVE)
    assert [message.text for message in sent(events)] == [text, text]


def test_sending_what_was_not_proposed_is_doing_nothing_and_noted() -> None:
    mind = Scripted({ProposeMessage: Proposal(message=""), ChooseAction: Decided(action="SEND_MESSAGE")})
    events = play(ToyWorld(("a",), horizon=3), mind, "coela", rule=NATIVE)
    assert sent(events) == []
    assert mind.asked[-1].remark == "At step 1 you did nothing: there was no message to send."


# ---- 6: histories


@pytest.mark.parametrize(("kept", "left"), [(30, 30), (3, 3), (0, 64)])
def test_the_oldest_message_goes_first(kept: int, left: int) -> None:
    mind = Scripted(always_sends)
    world = ToyWorld(("a", "b"), horizon=33)
    options = methods.resolve("coela", {"coela": {"messages_kept": kept}})
    assert options.model_dump()["messages_kept"] == kept
    _play(world, mind, {"messages_kept": kept})
    texts = [line.text for line in mind.asked[-2].chat]
    assert texts == [f"{agent} at {t}" for t in range(32) for agent in "ab"][64 - left :]


def test_the_action_history_keeps_the_newest() -> None:
    def past(kept: int) -> list[int]:
        mind = Scripted(never_sends)
        _play(made("rooms", "two", 40), mind, {"actions_kept": kept})
        return [outcome.start for outcome in next(q for q in reversed(mind.asked) if q.respondent == "agent_0").past]

    whole = past(0)
    assert len(whole) > 3
    assert past(20) == whole[-20:]
    assert past(2) == whole[-2:]


def _play(world: World, mind: Reasoner, options: dict[str, Any], rule: MessageRule = NATIVE) -> list[Event]:
    """Play with options of the test's own."""
    return play(world, mind, "coela", rule=rule, **options)


# ---- 7: odd answers

ODD = [
    "",
    "   ",
    "fly to the moon",
    "<action>",
    "<action></action>",
    "<action>work(<job>(0), 1)</action><action>work(<job>(1), 1)</action>",
    "I think <action>option 1</action> is best",
    "SEND MESSAGE",
    "send_message",
    "1",
    "99",
    "-1",
    "work(<job>(7), 1)",
    "work(<job>(0), 100000)",
    "work((99999, 99999), 1)",
    "work(" * 200,
    "«»{{ 1 }}{% x %}\u202e",
    "\n".join(["work(<job>(0), 1)"] * 50),
]


@pytest.mark.parametrize("action", ODD)
def test_odd_answers_stop_nothing(action: str) -> None:
    odd_facts = ("<job>(0) LEFT", "}{", "<job>(0) AT (9, 9)", "a BELIEVE b")
    answers: Answers = {
        ProposeMessage: Proposal(message="hello", facts=odd_facts),
        ChooseAction: Decided(action=action, goal="no such task"),
    }

    def toy() -> World:
        return ToyWorld(horizon=6, dies={"a": 3}, unable={2: ["b"]})

    cases = [(toy(), label) for label in ("coela", "coela:reference", "coela:simultaneous")]
    for world, label in (*cases, (made("rooms", "two-hazard", 10), "coela")):
        events = play(world, Scripted(answers), label, rule=NATIVE)
        steps = sum(isinstance(event, StepDone) for event in events)
        assert steps > 0
        assert all(event.legal for event in events if isinstance(event, ActionStep))


def test_what_cannot_be_read_is_translated_and_else_nothing_is_done() -> None:
    spoken, action = Decided(action="get the first of the jobs over with"), Translation(action="work(<job>(0), 3)")
    world = ToyWorld(("a",), ((3, 1),))
    events = play(world, Scripted({ChooseAction: spoken, Translate: action}), "coela", rule=NATIVE)
    assert calls(events) == {"coela.action": 1, "translation": 1}  # nobody would hear it
    assert {str(orders["a"]) for orders in world.orders} == {"work(<job>(0), 3)"}
    mind = Scripted({ChooseAction: Decided(action="mumble")})
    world = ToyWorld(("a",), ((3, 1),), horizon=3)
    play(world, mind, "coela", rule=NATIVE)
    assert {str(orders["a"]) for orders in world.orders} == {"wait()"}
    assert mind.asked[-1].remark == "At step 1 you did nothing: no action could be read in your answer."


# ---- 8: the end; calls


def test_the_world_is_over_before_anybody_is_asked_again() -> None:
    events = play(made("rooms", "one", 120), rules(), "coela", rule=NATIVE)
    done = [event.step for event in events if isinstance(event, GoalChange) and event.event == "done"]
    asked = [event.step for event in events if isinstance(event, QuestionAsked)]
    assert len(done) == 2
    assert max(asked) <= max(done)


@pytest.mark.heavy
def test_reference_asks_a_plus_two_d_plus_x_in_every_step() -> None:
    for world, level in PLACES:
        events = play(made(world, level, 60), rules(), "coela:reference", rule=NATIVE)
        kinds: dict[int, Counter[str]] = defaultdict(Counter)
        for event in events:
            if isinstance(event, QuestionAsked):
                kinds[event.step][event.purpose] += 1
        messages = Counter(message.step for message in sent(events))
        able: Counter[int] = Counter()
        for event in events:
            if isinstance(event, ActionStep) and event.reason != "passed":
                able[event.step] += 1
        steps = [event.step for event in events if isinstance(event, StepDone)]
        for step in steps:
            found = kinds[step]
            deciding = found["coela.action"]
            assert found["coela.message"] == deciding
            assert found["translation"] == deciding - messages[step]
            if level != "two-hazard":  # there some are overcome and cannot be asked
                assert found["perception"] == 2
            total = found["perception"] + 2 * deciding + (deciding - messages[step])
            assert sum(found.values()) == total


def test_the_defaults_ask_two_d_plus_what_the_parser_could_not_read() -> None:
    unread = 0

    def says(question: Question[Any]) -> BaseModel | None:
        nonlocal unread
        if isinstance(question, ChooseAction) and question.view.t % 3 == 0:
            unread += 1
            return Decided(action="whatever you think best")
        return None

    events = play(made("rooms", "two", 60), Scripted(says), "coela", rule=NATIVE, propose="always")
    found = calls(events)
    assert found["translation"] == unread > 0
    assert found["coela.message"] == found["coela.action"]
    assert set(found) == {"coela.message", "coela.action", "translation"}


def test_perception_of_those_who_decide_is_asked_once_a_decision() -> None:
    mind = Scripted(lambda question: None)
    events = _play(made("rooms", "two", 60), mind, {"perceive": "deciding", "propose": "always"})
    found = calls(events)
    assert found["perception"] == found["coela.action"] == found["coela.message"]
    assert all(q.perception is not None for q in mind.asked)


# ---- options


def test_silent_asks_once_a_decision_and_says_nothing() -> None:
    events = play(made("rooms", "three", 60), rules(), "coela:silent", rule=NATIVE)
    assert sent(events) == []
    assert set(calls(events)) == {"coela.action"}


def test_with_a_pause_no_message_is_proposed_right_after_one() -> None:
    mind = Scripted(lambda q: Proposal(message="hi") if isinstance(q, ProposeMessage) else always_sends(q))
    events = _play(ToyWorld(("a", "b"), horizon=6), mind, {"pause": True})
    assert [message.tick for message in sent(events) if message.agent == "a"] == [0, 2, 4]


def test_the_order_can_be_drawn_by_the_seed() -> None:
    def orders(options: dict[str, Any]) -> list[tuple[str, ...]]:
        mind = Scripted(always_sends)
        _play(ToyWorld(tuple("abcd"), horizon=12), mind, options)
        found: dict[int, list[str]] = defaultdict(list)
        for question in mind.asked:
            found[question.t].append(question.respondent)
        return [tuple(agents) for agents in found.values()]

    assert set(orders({})) == {("a", "b", "c", "d")}
    drawn = orders({"order": "shuffle"})
    assert len(set(drawn)) > 1
    assert all(sorted(order) == list("abcd") for order in drawn)
    assert drawn == orders({"order": "shuffle"})


def test_a_blocked_agent_decides_anew_only_where_that_is_asked_for() -> None:
    def decided(interrupt: bool) -> list[int]:
        mind = Scripted({ChooseAction: Decided(action="work(<job>(0), 9)")})
        _play(ToyWorld(("a",), ((3, 1), (3, 1)), horizon=6), mind, {"interrupt": interrupt})
        return [question.t for question in mind.asked]

    # At tick 3 the job is done, and the agent goes on with it.
    assert decided(False) == [0]
    assert decided(True)[:2] == [0, 3]


def test_verbs_left_out_are_not_shown_and_not_chosen_by_the_rules() -> None:
    mind = Scripted(lambda question: None)
    events = _play(made("rooms", "one", 40), mind, {"omit": ("bring",)})
    assert all(action.verb != "bring" for q in mind.asked for action in q.numbered)
    assert all(q.verbs.isdisjoint({"bring", "talk"}) for q in mind.asked)
    verbs = {event.verb for event in events if isinstance(event, ActionStep)}
    assert "bring" not in verbs
    assert "lift" in verbs


@pytest.mark.heavy
def test_what_an_agent_said_it_takes_is_a_commitment_until_it_is_over() -> None:
    events = play(made("rooms", "three", 120), rules(), "coela", rule=NATIVE)
    said = [message.goal for message in sent(events) if message.goal is not None]
    start = next(event for event in events if isinstance(event, EpisodeStart))
    assert said
    assert set(said) <= {goal.id for goal in start.goals}
    released = [event for event in events if isinstance(event, Release)]
    assert {event.cause for event in released} <= {"done", "failed", "reassigned"}
    assert any(event.cause == "done" for event in released)


# ---- the original form


def _proposes(question: Question[Any]) -> BaseModel | None:
    """Propose always, send every third time, else act by the rules."""
    if isinstance(question, ProposeMessage):
        return Proposal(message=f"{question.respondent} at {question.view.t}")
    if isinstance(question, PickPlan) and question.message and question.view.t % 3:
        return Picked(plan=plain(question.numbered[1]))
    return always_sends(question) if isinstance(question, PickPlan) else None


@pytest.mark.heavy
@pytest.mark.parametrize(("world", "level"), PLACES)
@pytest.mark.parametrize("says", [lambda question: None, _proposes], ids=["rules", "proposes"])
def test_the_original_form_asks_thrice_a_decision_and_twice_after_a_message(world: str, level: str, says: Says) -> None:
    events = play(made(world, level, 60), Scripted(says), "coela:cwah", rule=NATIVE)
    last: dict[str, bool] = defaultdict(bool)  # whether an agent's last decision was to send
    said = {(message.agent, message.step) for message in sent(events)}
    kinds: dict[tuple[str, int], list[str]] = defaultdict(list)
    for event in events:
        if isinstance(event, QuestionAsked):
            kinds[event.agent, event.step].append(event.purpose)
    assert kinds
    unheard = {(event.agent, event.step) for event in events if isinstance(event, QuestionSkipped)}
    for (agent, step), found in sorted(kinds.items(), key=lambda item: item[0][1]):
        told = [] if last[agent] or (agent, step) in unheard else ["coela.tell"]
        assert sorted(found) == sorted([*told, "coela.think", "coela.plan"])
        last[agent] = (agent, step) in said
    if says is _proposes:
        assert said


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({"listed": "plans"}, {"coela.tell", "coela.plan"}),
        ({"thinking": "before"}, {"coela.think", "coela.action", "coela.message"}),
    ],
)
def test_short_form_and_thinking_are_switches_of_their_own(options: dict[str, Any], kinds: set[str]) -> None:
    number_asked = calls(_play(made("rooms", "two", 40), rules(), {"propose": "always", **options}))
    assert set(number_asked) == kinds
    assert len(set(number_asked.values())) == 1


@pytest.mark.heavy
def test_a_plan_that_is_drawn_is_on_record_and_drawn_by_the_seed() -> None:
    mumbles: Answers = {ProposeMessage: Proposal(message="hello"), PickPlan: Picked(plan="hm")}
    first, again = (play(made("rooms", "two", 40), Scripted(mumbles), "coela:cwah", rule=NATIVE) for _ in range(2))
    asked = {(event.agent, event.step) for event in first if isinstance(event, QuestionAsked)}
    plans = [event for event in first if isinstance(event, PlanStart) and (event.agent, event.step) in asked]
    assert plans
    assert not any(plan.parsed for plan in plans)
    assert len({plan.text for plan in plans}) > 1
    assert sent(first) == []  # what nobody chose to say is not said
    texts = [[event.text for event in log if isinstance(event, PlanStart)] for log in (first, again)]
    assert texts[0] == texts[1]
    sound = play(made("rooms", "two", 40), rules(), "coela:cwah", rule=NATIVE)
    assert all(plan.parsed for plan in sound if isinstance(plan, PlanStart))
    strict = _play(made("rooms", "two", 10), Scripted(mumbles), {"listed": "plans"})
    assert not [event for event in strict if isinstance(event, PlanStart)]
    assert {event.fallback for event in strict if isinstance(event, QuestionAsked) and "plan" in event.purpose} == {
        True
    }


@pytest.mark.heavy
def test_full_hands_deliver_unasked() -> None:
    def carried(options: dict[str, Any]) -> tuple[list[str], int]:
        events = _play(made("rooms", "two", 60), Scripted(lambda question: None), options)
        asked = {(event.agent, event.step) for event in events if isinstance(event, QuestionAsked)}
        plans = [event for event in events if isinstance(event, PlanStart)]
        unasked = [plan.text for plan in plans if (plan.agent, plan.step) not in asked]
        return unasked, sum(isinstance(event, StepDone) for event in events)

    assert carried({})[0] == []
    unasked, steps = carried({"full_hands": "deliver"})
    assert unasked
    assert all("bring" in text for text in unasked)
    assert steps < 60  # what is only laid down again would never be done


def test_whoever_has_no_plan_waits_and_is_not_asked() -> None:
    world = ToyWorld(("a", "b"), ((3, 2),), horizon=4)
    world.options = lambda agent, given: ()  # type: ignore[method-assign]
    events = play(world, rules(), "coela:cwah", rule=NATIVE)
    assert not calls(events)
    skipped = [(event.purpose, event.cause) for event in events if isinstance(event, QuestionSkipped)]
    assert set(skipped) == {("coela.plan", "one option")}
    assert {str(orders[agent]) for orders in world.orders for agent in orders} == {"wait()"}
