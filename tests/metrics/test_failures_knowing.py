"""The labels that go by what agents know: logs that must show each and logs that must not, and real episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import given

from teamworld.cli import run as command
from teamworld.experiment.api import run
from teamworld.language import AgentId, Plan
from teamworld.methods.contract import Decision, DecisionContext, Message
from teamworld.metrics.failures import LABELS, Tag, blind, tags
from teamworld.record import (
    ActionStep,
    Believe,
    Deliver,
    EpisodeStart,
    Event,
    HeldBelief,
    MessageSent,
    Observe,
    PlanStart,
    Truth,
    read_log,
)
from teamworld.worlds.cube.world import CubeOptions
from teamworld.worlds.registry import finder
from tests.metrics.beliefs import belief_logs
from tests.metrics.logs import (
    Given,
    act,
    attempt,
    belief_log,
    believes,
    change,
    check_tags,
    commit,
    labels,
    measured,
    of,
    plan,
    play,
    say,
)
from tests.metrics.strategies import logs
from tests.metrics.test_belief import HERE, THERE
from tests.worlds.cube.team import act as action
from tests.worlds.cube.team import world

KNOWING = [name for name, label in LABELS.items() if label.needs_beliefs]


def failing(agent: str = "a", **given: Any) -> ActionStep:
    return act(agent, "g", verb="push", status="failed", reason="gone", args=("<block>(1)",), **given)


# ---- false-belief

NEVER = [Truth(true=(THERE,)), believes("a", HERE)]
BEFORE, TURNS = [Truth(true=(HERE,)), believes("a", HERE)], Truth(true=(THERE,), false=(HERE,))
SUCCEEDS = act("a", status="done", args=("<block>(1)",))
WHILE_IT_RAN = belief_log([*BEFORE, plan("a", 0)], [TURNS], [failing(plan=0)])
NEVER_SO = "false-belief 1-1 a g: push(<block>(1)) failed (gone); a believed <block>(1) AT (0, 0) (never so)"
NO_MORE = "push(<block>(1)) failed (gone); a believed <block>(1) AT (0, 0) (not so since step 1)"
FALSE = [
    ("what was never so", belief_log([*NEVER, plan("a", 0)], [failing(plan=0)]), [NEVER_SO]),
    ("another agent", belief_log([*NEVER, failing("b")]), []),
    ("hardly believed", belief_log([NEVER[0], believes("a", HERE, probability=0.4), failing()]), []),
    ("of a teammate", belief_log([NEVER[0], believes("a", HERE, about="b"), failing()]), []),
    ("no failure", belief_log([*NEVER, SUCCEEDS]), []),
    ("passed over", belief_log([*NEVER, failing(spent=False)]), []),
    (
        "before the plan",
        belief_log(BEFORE, [TURNS], [plan("a", 0)], [failing(plan=0)]),
        [f"false-belief 3-3 a g: {NO_MORE}"],
    ),
    (
        "as the plan was made",
        belief_log(BEFORE, [TURNS, plan("a", 0)], [failing(plan=0)]),
        [f"false-belief 2-2 a g: {NO_MORE}"],
    ),
    ("while the plan ran", WHILE_IT_RAN, []),
]

# ---- ignored-input

#: b last saw the block at (5, 5); a tells that it is at (0, 0), as is true.
NEWS: list[Any] = [
    Truth(true=(THERE,)),
    Observe(agent="b", seen=(THERE,)),
    Observe(agent="b", unseen=(THERE,)),
    Truth(true=(HERE,), false=(THERE,)),
    *say("a", 0, facts=(HERE,)),
]
UNHEARD = [msgspec.structs.replace(event, dropped=True) if isinstance(event, Deliver) else event for event in NEWS]
ROOM = "plan { move((5, 5)); take(<block>(1)) }"
GOALS = {"g": 2, "h": 1}
BIN, BOX = "<block>(2) IN bin", "<block>(2) IN <block>(1)"
BOXED: list[Any] = [Truth(true=(BOX,)), Observe(agent="b", seen=(BIN,)), Observe(agent="b", unseen=(BIN,))]
STATE, OTHER_STATE = "<block>(1) STATE delivered", "<block>(2) STATE delivered"
TOLD_STATE = [Truth(true=(STATE,)), *say("a", 0, facts=(STATE,))]
TOLD_OTHER = [Truth(true=(OTHER_STATE,)), *say("a", 0, facts=(OTHER_STATE,))]
DONE = [Truth(true=(HERE,)), change()]


def planning(actions: str = ROOM, number: int = 0, goal: str | None = None) -> PlanStart:
    return plan("b", number, goal, actions)


def ignoring(*later: Any) -> list[Event]:
    return belief_log(NEWS, list(later), goals={})


STILL = "ignored-input 0-{} ba{}: a told b <block>(1) AT (0, 0); its plan of step {} still goes by <block>(1) AT (5, 5)"
IGNORED = [
    ("by what was known", belief_log(NEWS, [], [planning()], goals=GOALS), [STILL.format(2, "", 2)]),
    (
        "for a goal about the block",
        belief_log(NEWS, [planning("plan { move((5, 5)) }", goal="g")], goals=GOALS),
        [STILL.format(1, " g", 1)],
    ),
    (
        "a commitment is no plan",
        belief_log(NEWS, [commit("b"), planning()], goals=GOALS),
        [STILL.format(1, "", 1)],
    ),
    ("for no goal", ignoring(planning()), [STILL.format(1, "", 1)]),
    ("it heeds it", ignoring(planning("plan { move((0, 0)); take(<block>(1)) }")), []),
    ("it goes there in the end", ignoring(planning("plan { move((5, 5)); move((0, 0)); take(<block>(1)) }")), []),
    ("where it takes it to", ignoring(planning("plan { take(<block>(1)); move((5, 5)) }")), []),
    ("about something else", ignoring(planning("plan { move((5, 5)); take(<block>(2)) }")), []),
    ("somebody else's plan", ignoring(plan("a", 0, None, ROOM)), []),
    ("it had seen it by itself", ignoring(Observe(agent="b", seen=(HERE,)), planning()), []),
    ("true no more", ignoring(Truth(true=(THERE,), false=(HERE,)), planning()), []),
    ("told otherwise since", ignoring(*say("a", 1, facts=(THERE,)), planning()), []),
    ("not the next plan about it", ignoring(planning("plan { take(<block>(1)) }"), planning(number=1)), []),
    ("just in time", belief_log(NEWS, *[[]] * 9, [planning()], goals={}), [STILL.format(10, "", 10)]),
    ("too old", belief_log(NEWS, *[[]] * 10, [planning()], goals={}), []),
    ("no news", belief_log([*NEWS[:2], *say("a", 0, facts=(THERE,))], [planning()], goals={}), []),
    ("nothing was known before", belief_log([NEWS[0], *NEWS[3:]], [planning()], goals={}), []),
    ("unheard", belief_log(UNHEARD, [planning()], goals={}), []),
    (
        "a plan about where the thing is said to be is not about the thing",
        belief_log([*BOXED, *say("a", 0, facts=(BOX,))], [planning("plan { move(bin) }", goal="g")]),
        [],
    ),
    (
        "a plan about the thing",
        belief_log([*BOXED, *say("a", 0, facts=(BOX,))], [planning("plan { move(bin); take(<block>(2)) }")]),
        ["ignored-input 0-1 ba"],
    ),
    (
        "a plan for a goal that the fact says is done",
        belief_log(DONE, TOLD_STATE, [plan("b", 0)], goals=GOALS),
        ["ignored-input 1-2 ba g: a told b <block>(1) STATE delivered; its plan of step 2 is for g, done in step 0"],
    ),
    ("a plan for another goal", belief_log(DONE, TOLD_STATE, [planning("plan { go() }", goal="h")], goals=GOALS), []),
    (
        "it tells of another thing",
        belief_log(DONE, TOLD_OTHER, [planning("plan { go(<block>(2)) }", goal="g")], goals=GOALS),
        [],
    ),
    (
        "so before the goal was done",
        belief_log([Truth(true=(HERE, STATE))], [change()], say("a", 0, facts=(STATE,)), [plan("b", 0)], goals=GOALS),
        [],
    ),
    ("a plan before the goal was done", belief_log([*TOLD_STATE, plan("b", 0)], [change()], goals=GOALS), []),
]

# ---- withheld

#: a sees where the block is; b last saw it elsewhere.
APART: list[Any] = [
    Truth(true=(THERE,)),
    Observe(agent="a", seen=(THERE,)),
    Observe(agent="b", seen=(HERE,)),
    Observe(agent="b", unseen=(HERE,)),
]
KEPT = "the last that b saw or heard was <block>(1) AT (0, 0); never told by a"
MANY = [*APART, *(Observe(agent=agent, seen=(THERE,)) for agent in "acdef")]
WITHHELD = [
    (
        "a fact that a teammate kept to itself",
        belief_log(APART, [failing("b")]),
        [f"withheld 1-1 ba g: push(<block>(1)) failed (gone); {KEPT}: <block>(1) AT (5, 5)"],
    ),
    (
        "a joint act",
        belief_log(APART, [attempt(participation=1, spatial=1, temporal=1)]),
        [f"withheld 1-1 ba g: a joint act failed; {KEPT}"],
    ),
    ("it was told", belief_log([*APART, *say("a", 0, facts=(THERE,))], [failing("b")]), []),
    ("it knew", belief_log(APART, [failing("a")]), []),
    ("no failure", belief_log(APART, [act("b", args=("<block>(1)",))]), []),
    ("nobody knew", belief_log(APART[:3], [Truth(true=(HERE,), false=(THERE,)), failing("b")]), []),
    (
        "of many who knew it some are named",
        belief_log(MANY, [failing("b")], team="abcdef"),
        [f"withheld 1-1 bacdef g: push(<block>(1)) failed (gone); {KEPT}, c, d and 2 more: <block>(1) AT (5, 5)"],
    ),
]

CASES = [*FALSE, *IGNORED, *WITHHELD]


@pytest.mark.parametrize(("events", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_log_shows_what_goes_by_knowledge(events: list[Event], expected: list[str]) -> None:
    check_tags([tag for tag in tags(events) if tag.label in KNOWING], expected)


def test_what_became_false_while_the_plan_ran_counts_as_misled() -> None:
    assert measured(WHILE_IT_RAN)["misled_failures"] == (1, 1, 1)


# ---- beside the metrics


@pytest.mark.heavy
@given(belief_logs)
def test_failures_with_these_labels_are_those_that_the_metrics_count(log: list[Event]) -> None:
    values = measured(log)
    result = tags(log)
    for label, metric in (
        ("false-belief", "misled_failures"),
        ("ignored-input", "uptake"),
        ("withheld", "withheld_information"),
    ):
        assert not of(result, label) or values[metric].num, "at most a part of what the metric counts"
    assert bool(of(result, "withheld")) == bool(values["withheld_information"].num)


@pytest.mark.heavy
@given(belief_logs)
def test_the_same_log_at_the_level_of_play_shows_none_of_them(log: list[Event]) -> None:
    start = log[0]
    assert isinstance(start, EpisodeStart)
    plain = [msgspec.structs.replace(start, log_level="play"), *log[1:]]
    assert not set(labels(tags(plain))) & set(KNOWING)
    assert [tag for tag in tags(log) if tag.label not in KNOWING] == tags(plain), "nothing else changes"


@given(logs)
def test_logs_of_the_level_play_say_what_they_cannot_show(log: list[Event]) -> None:
    assert not set(labels(tags(log))) & set(KNOWING)
    assert blind(log) == dict.fromkeys(KNOWING, "--log-level beliefs")


def test_whoever_believes_nothing_cannot_believe_falsely() -> None:
    assert set(blind(belief_log(APART))) == {"false-belief"}
    assert set(blind(belief_log([believes("a", HERE, about="b")]))) == {"false-belief"}
    assert blind(belief_log([believes("a", HERE)])) == {}
    assert set(blind([])) == set(KNOWING)


# ---- real episodes of CUBE


class Telling(Given):
    """Gives plans; agents say that they believe what they saw last, and tell one another of a block delivered."""

    name: ClassVar[str] = "telling"

    def __init__(self, plans: Mapping[AgentId, Sequence[Plan]]) -> None:
        super().__init__(plans)
        self._last: dict[AgentId, dict[tuple[str, str], str]] = {}

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        for agent in moment.free:
            seen = moment.views[agent].facts
            before = self._last.get(agent, {})
            now = self._last[agent] = before | {(str(fact.subject), fact.predicate): str(fact) for fact in seen}
            dropped = tuple(fact for fact in before.values() if fact not in now.values())
            moment.note(
                Believe(agent=agent, held=tuple(HeldBelief(fact=fact) for fact in now.values()), dropped=dropped)
            )
            over = tuple(fact for fact in seen if fact.value == "delivered")
            if over:
                moment.post(Message(agent, "inform", "it is done", facts=over))
        return await super().decide(moment)


def cube(path: Path, radius: int | None) -> list[Tag]:
    """One of two agents delivers a block; the other sets out for it when it is out of its sight, and again after."""
    here = world(9, [(4, 1), (2, 0)], [(1, 4, 2), (2, 0, 1)], 20, CubeOptions(view_radius=radius))
    plans = {
        "agent_0": [["push_block(0, 8)"], ["idle(9)"]],
        "agent_1": [["idle(4)"], ["move_to_block(0, left)"], ["move_to_block(0, left)"]],
    }
    made = {agent: [Plan(tuple(map(action, some)), "block_0") for some in given] for agent, given in plans.items()}
    play(path, here, Telling(made), "beliefs")
    return [tag for tag in tags(read_log(path), finder("cube")) if tag.label in KNOWING]


def test_real_episodes_show_false_beliefs(tmp_path: Path) -> None:
    (wrong,) = cube(tmp_path / "near.zst", 2)  # that the block is delivered is known to all, so nobody withheld it
    assert (wrong.label, wrong.agents) == ("false-belief", ("agent_1",))
    assert wrong.text == (
        "move_to_block(<block>(0), left) failed (block_gone); "
        "agent_1 believed <block>(0) AT (4, 2) (not so since step 1)"
    )
    assert cube(tmp_path / "far.zst", None) == [], "with all in sight neither is there"


def test_nobody_can_ignore_news_in_cube(tmp_path: Path) -> None:
    """Told of a delivery it plans for that block again; but the world tells everybody, so it was no news."""
    assert "ignored-input" not in labels(cube(tmp_path / "log.zst", 2))
    log = list(read_log(tmp_path / "log.zst"))
    said = [event for event in log if isinstance(event, MessageSent) and event.agent == "agent_0"]
    assert said
    later = [event for event in log if isinstance(event, PlanStart) and event.seq > said[0].seq]
    assert [(plan.agent, plan.goal) for plan in later] == [("agent_0", "block_0"), ("agent_1", "block_0")]
    assert measured(log)["redundancy"].value == 1


def test_what_is_done_is_withheld_from_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r"
    run(level="n4", method="greedy", options={"cube": {"view_radius": 2}}, log_level="beliefs", out=out)
    log = list(read_log(out / "logs" / "greedy-s0" / "0001.jsonl.zst"))
    kept = of(tags(log), "withheld")
    assert measured(log)["withheld_information"].num == 4, "one for each of those left behind"
    assert kept == [], "that the block is gone is known to all"
    assert blind(log) == {"false-belief": "a method that says what it believes"}
    assert command(["report", str(out), "--failures"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "not looked for: false-belief (takes a method that says what it believes)" in text
