"""The rules that read the log alone: each with logs that must show the label and logs that must not."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

from teamworld.metrics.event_table import consecutive_runs, spent_on
from teamworld.metrics.failures import LABELS, merged, tags
from teamworld.record import (
    AnswerError,
    Deliver,
    Event,
    GoalChange,
    MessageSent,
    QuestionAsked,
    StepDone,
    decode,
    encode,
)
from teamworld.worlds.contract import FailureSpan
from tests.metrics.logs import act, attempt, commit, ended, labels, log, of, plan, release

Steps: TypeAlias = list[list[Any]]


def done(goal: str = "g", *who: str) -> GoalChange:
    return GoalChange(goal=goal, event="done", delta=1.0, participants=who or ("a",))


def message(number: int, agent: str = "a", text: str = "I go left now", **given: object) -> list[Event]:
    fields = {"recipients": ("b",) if agent == "a" else ("a",), "act": "inform", "goal": None} | given
    sent = MessageSent(agent=agent, id=number, text=text, **fields)  # type: ignore[arg-type]
    return [sent, *(Deliver(agent=who, message=number) for who in sent.recipients)]


# ---- joint acts


@pytest.mark.parametrize(
    ("have", "label"),
    [
        ({"participation": 1, "spatial": 1, "temporal": 1}, "understaffed"),
        ({"spatial": 1, "temporal": 1}, "scattered"),
        ({"temporal": 1}, "out-of-step"),
        ({"dependency": 0}, "missing-prerequisite"),
        ({"dependency": 0, "participation": 1}, "missing-prerequisite"),
    ],
)
def test_a_failed_joint_act_is_named_by_its_first_unmet_constraint(have: dict[str, int], label: str) -> None:
    (tag,) = tags(log([attempt(success=False, **have)]))
    assert (tag.label, tag.first, tag.last, tag.agents, tag.goal) == (label, 0, 0, ("a", "b"), "g")
    assert label == "missing-prerequisite" or "1 of 2" in tag.text
    assert tags(log([attempt(success=True)])) == []


def test_touching_spans_of_like_tags_are_one() -> None:
    short = attempt(participation=1, spatial=1, temporal=1)
    found = tags(log([short], [short], [], [short]))
    assert [(tag.first, tag.last) for tag in found] == [(0, 1), (3, 3)]


def test_a_span_within_another_does_not_shorten_it() -> None:
    spans = [FailureSpan("deadlock", first, last, ("a",), None, "x") for first, last in ((0, 9), (2, 5))]
    assert [(tag.first, tag.last) for tag in merged(spans)] == [(0, 9)]


def test_a_span_in_which_the_numbers_changed_says_so() -> None:
    spans = [
        FailureSpan("deadlock", step, step, ("a",), None, text) for step, text in enumerate(["1 of 3", "2 of 3", "x"])
    ]
    (tag,) = merged(spans)
    assert (tag.first, tag.last, tag.text) == (0, 2, "1 of 3 (at first)")
    assert len(merged([*spans, FailureSpan("deadlock", 1, 1, ("b",), None, "other agents")])) == 2


# ---- plans


def test_a_plan_that_became_stale() -> None:
    refused = act("a", "g", plan=0, status="failed", legal=False, reason="gone", spent=False)
    works = act("a", "g", plan=0, effect=True)
    (tag,) = tags(log([plan("a", 0), works], [], [refused]))
    assert (tag.label, tag.first, tag.last, tag.agents) == ("stale-plan", 2, 2, ("a",))
    assert "gone" in tag.text
    assert tags(log([plan("a", 0, dry_run_ok=False), works], [], [refused])) == []  # it was never sound
    assert tags(log([plan("a", 0), refused])) == []  # nothing can have changed yet
    earlier = act("a", "g", plan=0, status="failed", reason="timeout")
    assert tags(log([plan("a", 0), works], [earlier], [refused])) == []  # it failed of something else first
    assert "stale-plan" not in labels(tags(log([plan("a", 0), works], [works, done("g", "a")], [refused])))
    assert "stale-plan" in labels(tags(log([plan("a", 0), works], [done("g", "b")], [refused])))


def test_intents_that_missed_each_other() -> None:
    waits, gives_up = act("a", "g", ready="g"), act("a", "g", ready="g", status="failed", reason="timeout")
    walks, comes = act("b", "g", moved=True), act("b", "g", ready="g")
    here: Steps = [[waits, walks], [gives_up, walks], [act("a"), walks], [act("a"), comes]]
    (tag,) = tags(log(*here))
    assert (tag.label, tag.first, tag.last, tag.agents, tag.goal) == ("misaligned-intent", 1, 3, ("a", "b"), "g")
    assert tags(log(*here, goals={"g": 1})) == []  # nobody else was needed
    elsewhere: Steps = [[waits, act("b", "h", moved=True)], *here[1:]]
    assert tags(log(*elsewhere)) == []  # the partner had something else in mind
    together: Steps = [[waits, comes], [gives_up, comes], [act("a"), comes], [act("a"), comes]]
    assert tags(log(*together)) == []
    late: Steps = [*here[:3], *[[act("a"), walks]] * 12, here[3]]
    assert "misaligned-intent" not in labels(tags(log(*late)))
    just, too_late = ([*here[:2], *[[act("a"), walks]] * n, here[3]] for n in (9, 10))
    assert [(tag.first, tag.last) for tag in of(tags(log(*just)), "misaligned-intent")] == [(1, 11)]
    assert "misaligned-intent" not in labels(tags(log(*too_late)))
    stands: Steps = [[event, act("b", "g")] for event, _ in here[:3]]
    assert tags(log(*stands, here[3])) == []  # the partner was there, and only then fit to act
    moved = GoalChange(goal="g", event="progress", delta=0.1, participants=("b",))
    assert tags(log(*here[:2], [moved, *here[2]], here[3])) == []


def test_work_that_enough_others_do() -> None:
    steps: Steps = [[act("b", "g", plan=1, moved=True)]] * 6
    begin = [commit("a"), plan("b", 1, quorum=1)]
    (tag,) = tags(log([*begin, *steps[0]], *steps[1:]))
    assert (tag.label, tag.first, tag.last, tag.agents) == ("duplicate-work", 0, 5, ("b",))
    assert "6 steps" in tag.text
    assert tags(log([*begin, *steps[0]], *steps[1:5])) == []  # five are not yet a failure
    assert tags(log([commit("a"), plan("b", 1, quorum=2), *steps[0]], *steps[1:])) == []  # it takes two
    assert tags(log([commit("b"), *begin, *steps[0]], *steps[1:])) == []  # b was first
    assert tags(log([*begin, *steps[0]], [release("a"), *steps[1]], *steps[2:])) == []


def test_work_on_what_is_done() -> None:
    steps: Steps = [[act("b", "g", plan=1, moved=True)]] * 6
    found = of(tags(log([plan("b", 1), done("g")], *steps)), "duplicate-work")
    assert [(tag.first, tag.last) for tag in found] == [(1, 6)]
    assert not of(tags(log([plan("b", 1)], *steps, [done("g")])), "duplicate-work")
    in_it = log([plan("b", 1), done("g"), *steps[0]], *steps[:5])
    assert not of(tags(in_it), "duplicate-work")  # the step that did it is no waste: five are left


def test_words_that_were_broken() -> None:
    goals = {"g": 1, "h": 1}
    (tag,) = tags(log([commit("a")], [plan("a", 0, "h")], goals=goals))
    assert (tag.label, tag.first, tag.last, tag.agents, tag.goal) == ("broken-word", 0, 1, ("a",), "g")
    assert labels(tags(log([commit("a")], [commit("a", "h")], goals=goals))) == ["broken-word"]
    assert tags(log([commit("a")], [release("a"), commit("a", "h"), plan("a", 0, "h")], goals=goals)) == []
    assert tags(log([commit("a")], [plan("a", 0, "g")], [plan("a", 1, None)], goals=goals)) == []


def test_thrash() -> None:
    def change(number: int) -> list[Event]:
        return [ended("a", number - 1), plan("a", number), act("a", "g", plan=number)]

    quick: Steps = [[plan("a", 0)], change(1), [], change(2), [], change(3)]
    (tag,) = tags(log(*quick))
    assert (tag.label, tag.first, tag.last, tag.agents) == ("thrash", 1, 5, ("a",))
    worked: Steps = [*quick[:2], [act("a", "g", plan=1, effect=True)], *quick[3:]]
    assert tags(log(*worked)) == []
    slow: Steps = [quick[0], change(1), *[[act("b", moved=True)]] * 8, change(2), [], change(3)]
    assert tags(log(*slow)) == []
    ten, eleven = ([quick[0], change(1), *[[]] * n, change(2), change(3)] for n in (7, 8))
    assert labels(tags(log(*ten))).count("thrash") == 1
    assert "thrash" not in labels(tags(log(*eleven)))
    fine: Steps = [[plan("a", 0)], *([ended("a", n - 1, "success"), plan("a", n)] for n in (1, 2, 3))]
    assert tags(log(*fine)) == []


def test_plans_that_swing() -> None:
    four: Steps = [[plan("a", n, goal, goal)] for n, goal in enumerate("ghgh")]
    (tag,) = of(tags(log(*four, goals={"g": 1, "h": 1})), "oscillation")
    assert (tag.first, tag.last, tag.agents) == (0, 3, ("a",))
    other: Steps = [[plan("a", n, goal, goal)] for n, goal in enumerate("ghhg")]
    assert not of(tags(log(*other)), "oscillation")
    good: Steps = [*four[:2], [ended("a", 1, "success", "h"), *four[2]], four[3]]
    assert not of(tags(log(*good)), "oscillation")
    in_the_end: Steps = [*four, [ended("a", 3, "success", "h")]]
    assert not of(tags(log(*in_the_end, goals={"g": 1, "h": 1})), "oscillation")


# ---- conduct


def test_free_riders() -> None:
    gain = GoalChange(goal="g", event="progress", delta=0.5, participants=("a",))
    steps: Steps = [[act("a", "g", effect=True), act("b", moved=step % 2 == 0), gain] for step in range(2)]
    steps += [[act("a", moved=True), act("b", moved=True)] for _ in range(8)]
    (tag,) = tags(log(*steps))
    assert (tag.label, tag.first, tag.last, tag.agents) == ("free-rider", 0, 9, ("b",))
    assert "10 of 10" in tag.text
    waits: Steps = [[act("a", "g", effect=True), act("b", "g", ready="g"), gain], *steps[1:3]]
    assert tags(log(*waits)) == []  # a third of the time it waited in place
    a_little = [GoalChange(goal="g", event="progress", delta=0.08, participants=("b",)), *steps[0]]
    assert tags(log(a_little, *steps[1:])) == []  # 15 % of the mean
    four_fifths: Steps = [*steps[:8], *[[act("a", moved=True), act("b", "g", ready="g")]] * 2]
    assert tags(log(*four_fifths)) == []
    shared: Steps = [[with_both(event) for event in step] for step in steps]
    assert tags(log(*shared)) == []
    assert tags(log(*[[act("a", moved=True), act("b", moved=True)]] * 5)) == []  # nobody gave anything


def with_both(event: Event) -> Event:
    if isinstance(event, GoalChange):
        return GoalChange(goal=event.goal, event="progress", delta=event.delta, participants=("a", "b"))
    return event


def test_deadlock() -> None:
    still: Steps = [[act("a", blocker="b"), act("b", ready="g")]] * 8
    (tag,) = tags(log(*still))
    assert (tag.label, tag.first, tag.last, tag.agents) == ("deadlock", 0, 7, ("a", "b"))
    assert "8 steps" in tag.text
    assert tags(log(*still[:7])) == []
    assert tags(log(*still[:4], [act("a", moved=True), act("b")], *still[:4])) == []
    assert "deadlock" not in labels(tags(log([done("g")], *still)))
    spread = GoalChange(goal="g", event="progress", delta=0.1, participants=())
    assert tags(log(*still[:4], [*still[0], spread], *still[:4])) == []  # the goal itself changed


def test_agents_in_one_anothers_way() -> None:
    head_on: Steps = [[act("a", blocker="b"), act("b", blocker="a")]] * 3
    (tag,) = tags(log(*head_on))
    assert (tag.label, tag.first, tag.last, tag.agents) == ("mutual-blocking", 0, 2, ("a", "b"))
    assert tags(log(*head_on[:2])) == []
    passing: Steps = [[act("a", blocker="b", moved=True), act("b", blocker="a", moved=True)]] * 3
    assert tags(log(*passing)) == []  # they went round each other
    assert tags(log(*[[act("a", blocker="b"), act("b", blocker="wall")]] * 3)) == []
    ring: Steps = [[act("a", blocker="c"), act("b", blocker="a"), act("c", blocker="b"), act("d", blocker="a")]] * 3
    (tag,) = tags(log(*ring, team="abcd"))
    assert tag.agents == ("a", "c", "b")


def test_ends_too_early_or_too_late() -> None:
    walk: list[Event] = [act("a", moved=True)]
    assert labels(tags(log(walk, walk, reason="quit"))) == ["quit-early"]
    assert labels(tags(log(walk, walk, reason="horizon"))) == []
    assert tags(log(walk, [*walk, done("g")], reason="all_done")) == []
    (tag,) = tags(log([done("g")], walk, walk))
    assert (tag.label, tag.first, tag.last) == ("no-stop", 1, 2)


def test_answers_that_could_not_be_used() -> None:
    def asked(fallback: bool, agent: str = "a") -> QuestionAsked:
        errors = tuple(AnswerError(flaw="json", text=text) for text in ("no such goal", "not JSON"))
        return QuestionAsked(
            agent=agent,
            purpose="plan",
            reasoner="r",
            answer={},
            errors=errors,
            fallback=fallback,
        )

    (tag,) = tags(log([], [asked(True)]))
    assert (tag.label, tag.first, tag.agents) == ("bad-format", 1, ("a",))
    assert "not JSON" in tag.text
    assert tags(log([asked(False)])) == []
    assert tags(log([asked(True, "planner")]))[0].agents == ()  # a mind without a body


def test_requests_nobody_answered() -> None:
    ask = message(0, act="request", goal="g")
    wait: list[Event] = [act("a", moved=True)]
    (tag,) = tags(log(ask, *[wait] * 10))
    assert (tag.label, tag.first, tag.last, tag.agents, tag.goal) == ("unanswered", 0, 10, ("a", "b"), "g")
    assert tags(log(ask, *[wait] * 9)) == []  # the episode ended first
    assert tags(log(ask, message(1, "b", "no", reply_to=0), *[wait] * 10)) == []
    assert tags(log(ask, [plan("b", 0, "g")], *[wait] * 10)) == []
    assert tags(log(ask, [plan("a", 0, "g")], *[wait] * 10)) != []  # the asker itself does not count
    assert tags(log(ask, *[wait] * 10, message(1, "b", "late", reply_to=0))) != []
    assert tags(log(ask, *[wait] * 9, message(1, "b", "just in time", reply_to=0), wait)) == []
    assert tags(log(ask, message(1, "c", "not asked", reply_to=0), *[wait] * 10, team="abc")) != []
    assert tags(log(message(0), *[wait] * 10)) == []


def test_chatter() -> None:
    (tag,) = tags(log(message(0), message(1), message(2), message(3)))
    assert (tag.label, tag.first, tag.last, tag.agents) == ("chatter", 1, 3, ("a", "b"))
    assert tags(log(message(0), message(1), message(2))) == []  # the first was new
    assert tags(log(message(0), message(1), message(2), message(3, text="quite another thing"))) == []
    assert tags(log(message(0), message(1), message(2), message(3, "b", "I go left now"))) == []  # b says it first
    words = "one two three four five six seven eight nine"
    alike: Steps = [message(0, text=f"{words} ten x"), *(message(n, text=f"{words} ten {n}") for n in (1, 2, 3))]
    assert labels(tags(log(*alike))) == ["chatter"]  # 8 of 10 are the same
    apart: Steps = [message(0, text=f"{words} x"), *(message(n, text=f"{words} {n}") for n in (1, 2, 3))]
    assert tags(log(*apart)) == []  # 7 of 9
    binding: Steps = [message(number, act="commit", goal="g") for number in range(5)]
    assert tags(log(*binding)) == []
    told: Steps = [message(number, text=f"news {number}", facts=("door OPEN yes",)) for number in range(4)]
    assert labels(tags(log(*told))) == ["chatter"]
    fresh: Steps = [message(number, facts=(f"door OPEN {number}",)) for number in range(4)]
    assert tags(log(*fresh)) == []


# ---- the engine


def test_steps_have_one_class_each() -> None:
    assert spent_on(act("a", legal=False, moved=True)) == "invalid"
    assert spent_on(act("a", blocker="b", ready="g")) == "blocked"
    assert spent_on(act("a", blocker="b", moved=True)) == "move"
    assert spent_on(act("a", verb="talk")) == "talk"
    assert spent_on(act("a", effect=True, moved=True)) == "work"
    assert spent_on(act("a", "g", ready="g")) == "sync"
    assert spent_on(act("a", "other", ready="g", moved=True)) == "move", "it only passes by"
    assert spent_on(act("a", ready="g")) == "idle", "it works on nothing"
    assert spent_on(act("a")) == "idle"


def test_runs() -> None:
    assert list(consecutive_runs([])) == []
    assert list(consecutive_runs([3])) == [(3, 3)]
    assert list(consecutive_runs([0, 1, 2, 5, 7, 8])) == [(0, 2), (5, 5), (7, 8)]


@pytest.mark.parametrize("cut", [slice(0, 0), slice(0, -1), slice(1, None)], ids=["empty", "no end", "no start"])
def test_an_unfinished_log_has_no_labels(cut: slice) -> None:
    whole = log([attempt()])
    with pytest.raises(ValueError, match="unfinished"):
        tags(whole[cut])


def test_an_episode_of_no_steps() -> None:
    assert labels(tags(log(reason="quit"))) == ["quit-early"]
    assert tags(log(reason="quit"))[0].first == 0
    assert tags(log(goals={})) == []


def test_a_world_says_what_only_it_can_see() -> None:
    whole = log([act("a", args=("<block>(1)", "left"), verb="go")], [])
    seen = []

    def finder(static: object, team: object, passages: object) -> list[FailureSpan]:
        seen.append((static, team, passages))
        return [FailureSpan("stuck-object", 0, 1, (), "g", "in a corner")]

    (tag,) = tags(whole, finder)
    assert (tag.label, tag.source) == ("stuck-object", LABELS["stuck-object"].source)
    ((_, team, passages),) = seen
    assert team == ("a", "b")
    assert [(passage.step, list(passage.outcomes)) for passage in passages] == [(0, ["a"]), (1, [])]  # type: ignore[attr-defined]
    assert str(passages[0].outcomes["a"].action) == "go(<block>(1), left)"  # type: ignore[index]
    with pytest.raises(ValueError, match="sulking"):
        tags(whole, lambda static, team, passages: [FailureSpan("sulking", 0, 0, (), None, "")])


def test_reading_a_log_again_gives_the_same_tags() -> None:
    whole = log([attempt(participation=1)], *[[act("a"), act("b")]] * 9, reason="quit")
    assert tags(whole) == tags([decode(encode(event)) for event in whole])
    assert len(of(tags(whole), "deadlock")) == 1
    assert sum(isinstance(event, StepDone) for event in whole) == 10


def test_labels_are_defined_once_and_refine_ones_that_exist() -> None:
    for name, label in LABELS.items():
        assert label.name == name
        assert label.rule
        assert label.diagnoses
        assert label.source
        assert label.refines is None or label.refines in LABELS
