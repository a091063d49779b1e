"""The rules that read the log alone: logs that must show a label and logs that must not."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
import pytest

from teamworld.metrics.event_table import consecutive_runs, spent_on
from teamworld.metrics.failures import LABELS, merged, tags
from teamworld.record import (
    ActionStep,
    AgentLeft,
    AnswerError,
    Event,
    GoalChange,
    QuestionAsked,
    RelationInfo,
    StepDone,
    decode,
    encode,
)
from teamworld.worlds.base.failure_spans import FailureSpan
from tests.metrics.logs import (
    Status,
    act,
    attempt,
    change,
    check_tags,
    commit,
    ended,
    labels,
    log,
    of,
    plan,
    release,
    say,
)

Steps: TypeAlias = list[list[Any]]


def told(number: int, agent: str = "a", text: str = "I go left now", **given: Any) -> list[Event]:
    return say(agent, number, "b" if agent == "a" else "a", text, **given)


def gain(delta: float, who: str) -> GoalChange:
    return change("g", "progress", delta, who)


# ---- joint acts

SHORT = attempt(participation=1, spatial=1, temporal=1)
WAITS, GIVES_UP = act("a", "g", ready="g"), act("a", "g", ready="g", status="failed", reason="timeout")
WALKS, COMES, STOPS = act("b", "g", moved=True), act("b", "g", ready="g"), act("a")
MISSED: Steps = [[WAITS, WALKS], [GIVES_UP, WALKS], [STOPS, WALKS], [STOPS, COMES]]


def missed_after(steps: int) -> list[Event]:
    return log(*MISSED[:2], *[[STOPS, WALKS]] * steps, MISSED[3])


JOINT_ACTS = [
    ("understaffed", log([SHORT]), ["understaffed 0-0 ab g: 1 of 2 needed took part"]),
    ("scattered", log([attempt(spatial=1, temporal=1)]), ["scattered 0-0 ab g: 1 of 2 needed were in place"]),
    ("out of step", log([attempt(temporal=1)]), ["out-of-step 0-0 ab g: 1 of 2 needed acted at once"]),
    (
        "no prerequisite",
        log([attempt(dependency=0)]),
        ["missing-prerequisite 0-0 ab g: what must hold before it did not (dependency 0 of 1)"],
    ),
    ("neither", log([attempt(dependency=0, participation=1)]), ["missing-prerequisite 0-0 ab g"]),
    (
        "it was taken meanwhile",
        log([act("a", "g", status="failed", reason="gone: b has it", constraint="dependency")]),
        ["missing-prerequisite 0-0 a g: work() failed (gone)"],
    ),
    ("success", log([attempt(success=True)]), []),
    ("touching spans are one", log([SHORT], [SHORT], [], [SHORT]), ["understaffed 0-1 ab g", "understaffed 3-3 ab g"]),
    ("intents that missed each other", log(*MISSED), ["misaligned-intent 1-3 ab g"]),
    ("nobody else was needed", log(*MISSED, goals={"g": 1}), []),
    ("the partner was bound for another goal", log([WAITS, act("b", "h", moved=True)], *MISSED[1:]), []),
    ("the partner was in place", log(*([event, COMES] for event, _ in MISSED)), []),
    ("the partner stood there", log(*([event, act("b", "g")] for event, _ in MISSED[:3]), MISSED[3]), []),
    ("the goal changed", log(*MISSED[:2], [gain(0.1, "b"), *MISSED[2]], MISSED[3]), []),
    ("just in time", missed_after(9), ["misaligned-intent 1-11 ab g"]),
    ("too late", missed_after(10), []),
]

# ---- plans and commitments

REFUSED = act("a", "g", plan=0, status="failed", legal=False, reason="gone", spent=False)
THERE = act("a", "g", plan=0, status="failed", legal=False, reason="there: you are in hall", spent=False)
WORKS = act("a", "g", plan=0, effect=True)
EARLIER = act("a", "g", plan=0, status="failed", reason="timeout")
AFTER = [act("b", "g", plan=1, moved=True)]
SPARE = [commit("a"), plan("b", 1, quorum=1)]
TWO_GOALS = {"g": 1, "h": 1}
SEES = ("look",)
AGAIN = "duplicate-search 1-6 b: 6 steps of searching hall, which another was searching or the team had searched"


ASIDE = act("b", plan=1, moved=True)
NAMING = plan("b", 1, None, "plan { go(<block>(1)) }", quorum=1)
FETCHING: Steps = [[plan("a", 0, quorum=1, units=2), plan("b", 1, quorum=1, units=2)], *[[WORKS, *AFTER]] * 6]
FETCHED: Steps = [[plan("a", 0, quorum=1, units=1), plan("b", 1, quorum=1, units=1)], *[[WORKS, *AFTER]] * 6]


def seek(agent: str, **given: Any) -> ActionStep:
    return act(agent, verb="search", args=("hall",), **given)


def fading(*steps: list[Any], **given: Any) -> list[Event]:
    """Return a log of a world in which what was seen can be unseen again."""
    start, *events = log(*steps, **given)
    relations = (RelationInfo(predicate="UNSEEN", subject="room", values=("cell",)),)
    return [msgspec.structs.replace(start, relations=relations), *events]


def look(agent: str, place: str = "hall", **given: Any) -> ActionStep:
    return act(agent, verb="look", args=(place,), **given)


def new_plan(number: int) -> list[Event]:
    return [ended("a", number - 1), plan("a", number), act("a", "g", plan=number)]


def carrying_out(places: str) -> Steps:
    """Return steps of plans that are each carried out, at these places."""
    return [
        [*([ended("a", n - 1, "success")] if n else []), plan("a", n), act("a", "g", plan=n, place=place)]
        for n, place in enumerate(places)
    ]


def cycling(texts: str, status: Status = "success", *, wait: bool = False) -> Steps:
    """Return steps of plans of two steps each, all but the last ended; perhaps with a plan to wait after each."""
    steps: Steps = []
    for n, text in enumerate(texts):
        walk = act("a", text, plan=2 * n, moved=True)
        steps += [[*([ended("a", 2 * n - 2, status)] if n else []), plan("a", 2 * n, text, text), walk], [walk]]
        if wait:
            steps.append([plan("a", 2 * n + 1, None, "plan { wait() }"), act("a", plan=2 * n + 1)])
    return steps


def cycle(texts: str, *more: list[Any], status: Status = "success") -> list[Event]:
    return log(*cycling(texts, status), *more, goals=TWO_GOALS)


STALE = "stale-plan 2-2 a g: work() could not start (gone), 2 steps after its plan was made"
ALONE = {"g": 1}
DUPLICATE = "duplicate-work 0-5 b g: 6 steps under a plan for g, which takes 1 and had enough committed to it: a"
QUICK: Steps = [[plan("a", 0)], new_plan(1), [], new_plan(2), new_plan(3)]
PLANS = [
    ("a plan that became stale", log([plan("a", 0), WORKS], [], [REFUSED]), [STALE]),
    ("it was never sound", log([plan("a", 0, dry_run_ok=False), WORKS], [], [REFUSED]), []),
    ("nothing can have changed yet", log([plan("a", 0), REFUSED]), []),
    ("it is there already", log([plan("a", 0), WORKS], [], [THERE]), []),
    ("it failed of something else first", log([plan("a", 0), WORKS], [EARLIER], [REFUSED]), []),
    ("its agent had done the goal", log([plan("a", 0), WORKS], [change(), WORKS], [REFUSED]), ["no-stop 2-2 ab"]),
    ("another had done it", log([plan("a", 0), WORKS], [change("g", who="b")], [REFUSED]), [STALE, "no-stop 2-2 ab"]),
    ("work that enough others do", log([*SPARE, *AFTER], *[AFTER] * 5, goals=ALONE), [DUPLICATE]),
    ("there is a place for both", log([*SPARE, *AFTER], *[AFTER] * 5), []),
    ("the one too many does it", log([*SPARE, *AFTER], *[AFTER] * 4, [*AFTER, change(who="b")], goals=ALONE), []),
    ("five steps are not yet a failure", log([*SPARE, *AFTER], *[AFTER] * 4, goals=ALONE), []),
    ("it takes two", log([commit("a"), plan("b", 1, quorum=2), *AFTER], *[AFTER] * 5), []),
    ("it was first", log([commit("b"), *SPARE, *AFTER], *[AFTER] * 5, goals=ALONE), []),
    ("the other gave up", log([*SPARE, *AFTER], [release("a"), *AFTER], *[AFTER] * 4, goals=ALONE), []),
    (
        "work on what is done",
        log([plan("b", 1), change()], *[AFTER] * 6),
        ["duplicate-work 1-6 b g: 6 steps under a plan for g, which was done already", "no-stop 1-6 ab"],
    ),
    ("what follows from its own doing", log([plan("b", 1), *AFTER, change(who="b")], *[AFTER] * 7), ["no-stop 1-7 ab"]),
    ("one looks after the other has", log([look("a", status="done")], *[[look("b")]] * 6, searches=("look",)), [AGAIN]),
    ("both look at once", log(*[[look("a"), look("b")]] * 6, searches=("look",)), [AGAIN.replace("1-6", "0-5")]),
    (
        "it comes to deliver",
        log(
            [look("a", status="done")], *[[look("b")]] * 6, [act("b", "g", effect=True), gain(0.5, "b")], searches=SEES
        ),
        [],
    ),
    (
        "it takes something first",
        log([look("a", status="done")], *[[look("b")]] * 6, [act("b", effect=True)], [gain(0.5, "b")], searches=SEES),
        [AGAIN],
    ),
    ("each looks elsewhere", log(*[[look("a"), look("b", "den")]] * 6, searches=("look",)), []),
    ("the first look broke off", log([look("a")], *[[look("b")]] * 6, searches=("look",)), []),
    ("a search is one where none is declared", log([seek("a", status="done")], *[[seek("b")]] * 6), [AGAIN]),
    ("seen, and not to be seen again", fading([seek("a", status="done")], *[[seek("b")]] * 6), [AGAIN]),
    (
        "what is wanted next may be there",
        fading([seek("a", status="done")], [change("h")], *[[seek("b")]] * 6, goals=TWO_GOALS),
        [],
    ),
    (
        "a plan without a goal is for that whose thing it names",
        log([plan("a", 0, quorum=1), NAMING], *[[WORKS, ASIDE]] * 7, goals=ALONE, thing="<block>(1)"),
        ["duplicate-work 1-7 b g: 7 steps under a plan for g, which takes 1 and had enough at work on it: a"],
    ),
    ("two units for two", log(*FETCHING, goals=ALONE, places=2, units=2), []),
    (
        "one unit is left for two",
        log(*FETCHED, goals=ALONE, places=2, units=2),
        ["duplicate-work 1-6 b g: 6 steps under a plan for g, which takes 1 and had enough at work on it: a"],
    ),
    ("units that are no places", log(*FETCHED, goals=ALONE, places=2, units=9), []),
    ("no world of searches", log([look("a", status="done")], *[[look("b")]] * 6), []),
    ("done in the end", log([plan("b", 1)], *[AFTER] * 6, [change()]), []),
    ("the step that did it is no waste", log([plan("b", 1), change(), *AFTER], *[AFTER] * 5), ["no-stop 1-5 ab"]),
    ("a plan for another goal", log([commit("a")], [plan("a", 0, "h")], goals=TWO_GOALS), ["broken-word 1-1 a g"]),
    ("a second commitment", log([commit("a")], [commit("a", "h")], goals=TWO_GOALS), ["broken-word 1-1 a g"]),
    (
        "after a release",
        log([commit("a")], [release("a"), commit("a", "h"), plan("a", 0, "h")], goals=TWO_GOALS),
        [],
    ),
    ("no other goal", log([commit("a")], [plan("a", 0, "g")], [plan("a", 1, None)], goals=TWO_GOALS), []),
    ("plan after plan", log(*QUICK), ["thrash 1-4 a"]),
    ("the same plan again", log(*([plan("a", n, text="work")] for n in range(5))), []),
    ("waits between", log(*([plan("a", n, text="plan { wait() }")] for n in range(5))), []),
    ("with a step of work", log(*QUICK[:2], [act("a", "g", plan=1, effect=True)], *QUICK[3:]), []),
    ("slowly", log(*QUICK[:2], *[[act("b", moved=True)]] * 8, new_plan(2), [], new_plan(3)), []),
    ("within six steps", log(*QUICK[:2], [], [], new_plan(2), new_plan(3)), ["thrash 1-5 a"]),
    ("three carried out", log(QUICK[0], *([ended("a", n - 1, "success"), plan("a", n)] for n in (1, 2, 3))), []),
    ("four carried out, nowhere", log(*carrying_out("AAABA")), ["thrash 1-4 a"]),
    ("four carried out, on the way", log(*carrying_out("ABCDE")), []),
    (
        "plans carried out that leave their goal open",
        log(QUICK[0], *([ended("a", n - 1, cause="goal_open"), plan("a", n)] for n in (1, 2, 3))),
        [],
    ),
    ("plans that swing", cycle("ghgh"), ["oscillation 0-6 a: went from g to h, back, and again"]),
    ("plans that do not", cycle("ghhg"), []),
    ("for no goal", log(*cycling("ghgh"), goals={}), ["oscillation 0-6 a"]),
    ("with waits between", log(*cycling("ghgh", wait=True), goals=TWO_GOALS), ["oscillation 0-9 a"]),
    ("plans that are given up", cycle("ghgh", status="interrupted"), ["thrash 2-6 a"]),
    ("it gets on", cycle("ghgh", [gain(0.1, "a")]), []),
    ("another gets on with one of the goals", cycle("ghgh", [gain(0.1, "b")]), []),
    ("another gets on with a third", cycle("ghgh", [change("i", "progress", 0.1, "b")]), ["oscillation 0-6 a"]),
    ("it got on before", log([gain(0.1, "a")], *cycling("ghgh"), goals=TWO_GOALS), ["oscillation 1-7 a"]),
]

# ---- conduct

WALK: list[Any] = [act("a", moved=True)]
WALK_BOTH: list[Any] = [act("a", moved=True), act("b", moved=True)]
BESIDE: Steps = [[act("a", "g", effect=True), act("b", moved=True)]]
FREE: Steps = [[*BESIDE[0], gain(0.5, "a")], *BESIDE * 19]
WAITING: Steps = [[act("a", "g", effect=True), act("b", "g", ready="g")]]
PASSES = [act("a", place="(0, 1)", aim="(0, 0)", moved=True)]
WORKS_THERE = [act("a", place="(0, 1)", effect=True)]
STILL: Steps = [[act("a", blocker="b"), act("b", ready="g")]] * 8
HEAD_ON: Steps = [[act("a", blocker="b"), act("b", blocker="a")]] * 3
FACING = [act("a", place="(0, 0)", aim="(0, 1)"), act("b", place="(0, 1)", aim="(0, 0)")]
RACE = [act("a", place="(0, 0)", aim="(0, 1)", moved=True), act("b", place="(0, 2)", aim="(0, 1)")]
TAKES = act("a", verb="take", args=("<cup>(1)",), status="done", effect=True)
RING: Steps = [[act("a", blocker="c"), act("b", blocker="a"), act("c", blocker="b"), act("d", blocker="a")]] * 3
FAILED_ANSWERS = tuple(AnswerError(flaw="json", text=text) for text in ("no such goal", "not JSON"))
REQUEST = told(0, act="request", goal="g")
NINE_WORDS = "one two three four five six seven eight nine"


def walk_along(places: str, verbs: str = "", **given: Any) -> list[Event]:
    """Return a log of a walk, each step by an action of this verb."""
    steps = zip(places, places[1:], verbs or "w" * len(places), strict=False)
    return log(*([act("a", verb=verb, place=at, aim=to, moved=True, **given)] for at, to, verb in steps))


def of_kinds(kinds: dict[str, str], events: list[Event]) -> list[Event]:
    return [msgspec.structs.replace(events[0], kinds=kinds), *events[1:]]


def late(agent: str, *, thing: str = "<cup>(1)", legal: bool = True) -> ActionStep:
    return act(agent, verb="take", args=(thing,), status="failed", constraint="spatial", legal=legal)


LATE = late("b")


def asked(agent: str = "a", *, fallback: bool = True) -> Event:
    return QuestionAsked(agent=agent, purpose="plan", reasoner="r", answer={}, errors=FAILED_ANSWERS, fallback=fallback)


def alike(words: str) -> list[Event]:
    return log(told(0, text=f"{words} x"), *(told(n, text=f"{words} {n}") for n in (1, 2, 3)))


CONDUCT = [
    ("a free rider", log(*FREE), ["free-rider 0-19 b: did nothing that had an effect in 20 steps, and tried in 0"]),
    ("it waits once for others", log(*FREE, *WAITING, goals={"g": 1}), ["free-rider 0-20 b: did nothing that had an"]),
    ("it waits twice", log(*FREE, *WAITING * 2), []),
    ("it pushes twice in vain", log(*FREE, *[[act("b", blocker="wall")]] * 2), []),
    ("it searches", log(*FREE, *[[seek("b")]] * 2), []),
    ("it has done something", log(*FREE[:-1], [act("b", effect=True)]), []),
    ("it gives a little", log([gain(0.01, "b"), *FREE[0]], *FREE[1:]), []),
    ("a short life", log(*FREE[:-1]), []),
    ("nobody of its kind gives anything", of_kinds({"a": "carrier", "b": "scout"}, log(*FREE)), []),
    ("another of its kind gives", of_kinds({"a": "carrier", "b": "carrier"}, log(*FREE)), ["free-rider 0-19 b"]),
    ("nobody gives anything", log(*[WALK_BOTH] * 20), []),
    (
        "a deadlock",
        log(*STILL),
        ["deadlock 0-7 ab: nobody moved for 8 steps; at the end 1 waited in place, 1 were blocked"],
    ),
    ("seven steps", log(*STILL[:7]), []),
    ("all wait by choice", log(*[[act("a"), act("b")]] * 8), []),
    ("one moves", log(*STILL[:4], [act("a", moved=True), act("b")], *STILL[:4]), []),
    ("all is done", log([change()], *STILL), ["no-stop 1-8 ab"]),
    ("the goal itself changes", log(*STILL[:4], [*STILL[0], change("g", "progress", 0.1, "")], *STILL[:4]), []),
    ("head on", log(*HEAD_ON), ["mutual-blocking 0-2 ab"]),
    ("head on by places", log(FACING, FACING), ["mutual-blocking 0-1 ab"]),
    ("with a step between", log(FACING, WALK, FACING), ["mutual-blocking 0-2 ab"]),
    ("a meeting", log(*HEAD_ON[:1]), []),
    ("a race", log(RACE), ["cell-race 0-0 ba: 2 agents went for (0, 1); a entered"]),
    ("the winner goes on", log(RACE, PASSES), ["cell-race 0-0 ba: 2 agents went for (0, 1); a entered"]),
    ("the winner works there", log(RACE, WORKS_THERE), []),
    ("the cell is held", log([*RACE, act("c", place="(0, 1)")], team="abc"), []),
    ("nobody wins", log([RACE[1], act("a", place="(0, 0)", aim="(0, 1)")]), []),
    ("one thing for two", log([TAKES, LATE]), ["thing-race 0-0 ba: 2 agents went for cup_1; a was first"]),
    ("one for three", log([TAKES, LATE, late("c")], team="abc"), ["thing-race 0-0 bca: 3 agents went for cup_1"]),
    ("nobody gets it", log([LATE, late("a")]), []),
    ("a step later", log([TAKES], [LATE]), []),
    ("another thing", log([TAKES, late("b", thing="<cup>(2)")]), []),
    ("what the goal is about", log([TAKES, LATE], thing="<cup>(1)"), []),
    ("it could not start", log([TAKES, late("b", legal=False)]), []),
    ("passing", log(*[[act("a", blocker="b", moved=True), act("b", blocker="a", moved=True)]] * 3), []),
    ("a wall", log(*[[act("a", blocker="b"), act("b", blocker="wall")]] * 3), []),
    ("a ring", log(*RING, team="abcd"), ["mutual-blocking 0-2 acb"]),
    ("one action to and fro", walk_along("ABAB"), ["oscillation 0-2 a: went to and fro: A, B"]),
    ("and on", walk_along("CABABD"), ["oscillation 1-3 a"]),
    ("there and back", walk_along("CABAD"), []),
    ("three actions", walk_along("ABAB", "uvu"), []),
    ("then another action", walk_along("ABABA", "uuuv"), ["oscillation 0-2 a"]),
    ("with a load", walk_along("ABAB", effect=True), []),
    ("quit early", log(WALK, WALK, reason="quit"), ["quit-early 1-1 ab"]),
    (
        "all are lost",
        log([*WALK, *(AgentLeft(agent=agent, why="burnt") for agent in "ab")], [], []),
        ["team-lost 0-0 ab"],
    ),
    ("one is lost", log([*WALK, AgentLeft(agent="a", why="burnt")], [], []), []),
    ("out of time", log(WALK, WALK), []),
    ("done at the end", log(WALK, [*WALK, change()], reason="all_done"), []),
    ("no stop", log([change()], WALK, WALK), ["no-stop 1-2 ab"]),
    ("no steps", log(reason="quit"), ["quit-early 0-0 ab"]),
    ("no goals", log(goals={}), []),
    (
        "answers that could not be used",
        log([], [asked()]),
        ["bad-format 1-1 a: plan: 2 answers could not be used; last: not JSON"],
    ),
    ("a better answer in the end", log([asked(fallback=False)]), []),
    ("a respondent without a body", log([asked("planner")]), ["bad-format 0-0 "]),
    ("a request that nobody answers", log(REQUEST, *[WALK] * 10), ["unanswered 0-10 ab g"]),
    ("the episode ends first", log(REQUEST, *[WALK] * 9), []),
    ("an answer", log(REQUEST, told(1, "b", "no", reply_to=0), *[WALK] * 10), []),
    ("a plan of the asked", log(REQUEST, [plan("b", 0, "g")], *[WALK] * 10), []),
    ("a plan of the asker", log(REQUEST, [plan("a", 0, "g")], *[WALK] * 10), ["unanswered 0-10 ab g"]),
    ("late", log(REQUEST, *[WALK] * 10, told(1, "b", "late", reply_to=0)), ["unanswered 0-10 ab g"]),
    ("just in time", log(REQUEST, *[WALK] * 9, told(1, "b", "now", reply_to=0), WALK), []),
    ("not asked", log(REQUEST, told(1, "c", "x", reply_to=0), *[WALK] * 10, team="abc"), ["unanswered 0-10 ab g"]),
    ("for no goal", log(told(0, act="request"), *[WALK] * 10), []),
    ("no request", log(told(0), *[WALK] * 10), []),
    ("chatter", log(*map(told, range(4))), ["chatter 1-3 ab"]),
    ("the first was new", log(*map(told, range(3))), []),
    ("another thing", log(*map(told, range(3)), told(3, text="quite another thing")), []),
    ("about a goal", log(*(told(number, goal="g") for number in range(4))), []),
    ("another speaker", log(*map(told, range(3)), told(3, "b")), []),
    ("8 of 10 runs are the same", alike(f"{NINE_WORDS} ten"), ["chatter 1-3 ab"]),
    ("7 of 9", alike(NINE_WORDS), []),
    ("binding words", log(*(told(number, act="commit", goal="g") for number in range(5))), []),
    (
        "facts that were told",
        log(*(told(number, text=f"news {number}", facts=("door OPEN yes",)) for number in range(4))),
        ["chatter 1-3 ab"],
    ),
    ("new facts", log(*(told(number, facts=(f"door OPEN {number}",)) for number in range(4))), []),
]

CASES = [*JOINT_ACTS, *PLANS, *CONDUCT]


@pytest.mark.parametrize(("events", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_log_shows_these_failures_and_no_others(events: list[Event], expected: list[str]) -> None:
    check_tags(tags(events), expected)


# ---- the engine


def span(first: int, last: int, text: str = "x", agent: str = "a") -> FailureSpan:
    return FailureSpan("deadlock", first, last, (agent,), None, text)


def test_a_span_within_another_does_not_shorten_it() -> None:
    assert [(tag.first, tag.last) for tag in merged([span(0, 9), span(2, 5)])] == [(0, 9)]


def test_a_span_in_which_the_numbers_changed_says_so() -> None:
    spans = [span(step, step, text) for step, text in enumerate(["1 of 3", "2 of 3", "x"])]
    (tag,) = merged(spans)
    assert (tag.first, tag.last, tag.text) == (0, 2, "1 of 3 (at first)")
    assert len(merged([*spans, span(1, 1, "other agents", "b")])) == 2


@pytest.mark.parametrize(
    ("step", "spent"),
    [
        (act("a", legal=False, moved=True), "invalid"),
        (act("a", blocker="b", ready="g"), "blocked"),
        (act("a", blocker="b", moved=True), "move"),
        (act("a", verb="talk"), "talk"),
        (act("a", effect=True, moved=True), "work"),
        (act("a", "g", ready="g"), "sync"),
        (act("a", "other", ready="g", moved=True), "move"),  # it only passes by
        (act("a", ready="g"), "idle"),  # it works on nothing
        (act("a"), "idle"),
    ],
)
def test_steps_have_one_class_each(step: ActionStep, spent: str) -> None:
    assert spent_on(step) == spent


def test_runs() -> None:
    assert consecutive_runs([]) == []
    assert consecutive_runs([3]) == [(3, 3)]
    assert consecutive_runs([0, 1, 2, 5, 7, 8]) == [(0, 2), (5, 5), (7, 8)]


@pytest.mark.parametrize("cut", [slice(0, 0), slice(0, -1), slice(1, None)], ids=["empty", "no end", "no start"])
def test_an_unfinished_log_has_no_labels(cut: slice) -> None:
    whole = log([attempt()])
    with pytest.raises(ValueError, match="unfinished"):
        tags(whole[cut])


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
    whole = log([attempt(participation=1)], *[STILL[0]] * 9, reason="quit")
    assert tags(whole) == tags([decode(encode(event)) for event in whole])
    assert len(of(tags(whole), "deadlock")) == 1
    assert sum(isinstance(event, StepDone) for event in whole) == 10
    assert labels(tags(whole))[0] == "understaffed"


def test_labels_are_defined_once_and_refine_ones_that_exist() -> None:
    for name, label in LABELS.items():
        assert label.name == name
        assert label.rule
        assert label.diagnoses
        assert label.source
        assert label.refines is None or label.refines in LABELS
