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
from tests.metrics.logs import Given, act, attempt, commit, labels, measured, of, plan, play
from tests.metrics.strategies import logs
from tests.metrics.test_belief import believes
from tests.metrics.test_communication import HERE, THERE, say, with_beliefs
from tests.metrics.test_failures import done
from tests.worlds.cube.team import act as action
from tests.worlds.cube.team import world

KNOWING = [name for name, label in LABELS.items() if label.needs_beliefs]


def failing(agent: str = "a", **given: Any) -> ActionStep:
    return act(agent, "g", verb="push", status="failed", reason="gone", args=("<block>(1)",), **given)


def found(*steps: list[Any], label: str, **given: Any) -> list[Tag]:
    return of(tags(with_beliefs(*steps, **given)), label)


# ---- false-belief


def false(*steps: list[Any]) -> list[Tag]:
    return found(*steps, label="false-belief")


def test_acting_on_what_was_never_so() -> None:
    (tag,) = false([Truth(true=(THERE,)), believes("a", HERE), plan("a", 0)], [failing(plan=0)])
    assert (tag.first, tag.last, tag.agents, tag.goal) == (1, 1, ("a",), "g")
    assert tag.text == "push(<block>(1)) failed (gone); a believed <block>(1) AT (0, 0) (never so)"
    assert false([Truth(true=(THERE,)), believes("a", HERE), failing(agent="b")]) == []
    assert false([Truth(true=(THERE,)), believes("a", HERE, probability=0.4), failing()]) == []
    assert false([Truth(true=(THERE,)), believes("a", HERE, about="b"), failing()]) == []
    assert false([Truth(true=(THERE,)), believes("a", HERE), act("a", status="done", args=("<block>(1)",))]) == []
    assert false([Truth(true=(THERE,)), believes("a", HERE), failing(spent=False)]) == []


def test_what_became_false_while_the_plan_ran_is_no_false_belief() -> None:
    sees, turns = [Truth(true=(HERE,)), believes("a", HERE)], Truth(true=(THERE,), false=(HERE,))
    (tag,) = false(sees, [turns], [plan("a", 0)], [failing(plan=0)])
    assert tag.text.endswith("(not so since step 1)")
    assert len(false(sees, [turns, plan("a", 0)], [failing(plan=0)])) == 1
    during = with_beliefs([*sees, plan("a", 0)], [turns], [failing(plan=0)])
    assert of(tags(during), "false-belief") == []
    assert measured(during)["misled_failures"] == (1, 1, 1), "misled_failures counts that too"


# ---- ignored-input

ROOM = "plan { move((5, 5)); take(<block>(1)) }"


def ignored(*steps: list[Any], **given: Any) -> list[Tag]:
    return found(*steps, label="ignored-input", **({"goals": {"g": 2, "h": 1}} | given))


def elsewhere(number: int, text: str, goal: str | None = None) -> PlanStart:
    return plan("b", number, goal, text)


#: b last saw the block at (5, 5); a tells that it is at (0, 0), as is true.
NEWS: list[Any] = [
    Truth(true=(THERE,)),
    Observe(agent="b", seen=(THERE,)),
    Observe(agent="b", unseen=(THERE,)),
    Truth(true=(HERE,), false=(THERE,)),
    *say("a", 0, facts=(HERE,)),
]


def test_a_plan_that_goes_by_what_was_known_before() -> None:
    (tag,) = ignored(NEWS, [], [elsewhere(0, ROOM)])
    assert (tag.first, tag.last, tag.agents, tag.goal) == (0, 2, ("b", "a"), None)
    assert tag.text == "a told b <block>(1) AT (0, 0); its plan of step 2 still goes by <block>(1) AT (5, 5)"
    assert ignored(NEWS, [elsewhere(0, "plan { move((5, 5)) }", "g")]), "the goal is about the block"
    assert ignored(NEWS, [commit("b"), elsewhere(0, ROOM)]), "a commitment is no plan"


@pytest.mark.parametrize(
    ("later", "why"),
    [
        ([elsewhere(0, "plan { move((0, 0)); take(<block>(1)) }")], "it heeds it"),
        ([elsewhere(0, "plan { move((5, 5)); move((0, 0)); take(<block>(1)) }")], "it goes there in the end"),
        ([elsewhere(0, "plan { take(<block>(1)); move((5, 5)) }")], "where it takes it to"),
        ([elsewhere(0, "plan { move((5, 5)); take(<block>(2)) }")], "about something else"),
        ([plan("a", 0, None, ROOM)], "somebody else's plan"),
        ([Observe(agent="b", seen=(HERE,)), elsewhere(0, ROOM)], "it had seen it by itself"),
        ([Truth(true=(THERE,), false=(HERE,)), elsewhere(0, ROOM)], "it is true no more"),
        ([*say("a", 1, facts=(THERE,)), elsewhere(0, ROOM)], "it was told otherwise since"),
        ([elsewhere(0, "plan { take(<block>(1)) }"), elsewhere(1, ROOM)], "not the next plan about it"),
    ],
)
def test_plans_that_ignore_nothing(later: list[Any], why: str) -> None:
    assert ignored(NEWS, [elsewhere(0, ROOM)], goals={})
    assert ignored(NEWS, later, goals={}) == [], why


def test_what_is_no_news_or_too_old_cannot_be_ignored() -> None:
    assert ignored(NEWS, *([] for _ in range(9)), [elsewhere(0, ROOM)])
    assert ignored(NEWS, *([] for _ in range(10)), [elsewhere(0, ROOM)]) == []
    assert ignored([*NEWS[:2], *say("a", 0, facts=(THERE,))], [elsewhere(0, ROOM)]) == []
    assert ignored([NEWS[0], NEWS[3], *NEWS[4:]], [elsewhere(0, ROOM)]) == [], "it knew nothing before"
    dropped = [msgspec.structs.replace(one, dropped=True) if hasattr(one, "dropped") else one for one in NEWS]
    assert ignored(dropped, [elsewhere(0, ROOM)]) == []


def test_a_plan_for_where_a_thing_is_said_to_be_is_not_about_that_thing() -> None:
    bin_, box = "<block>(2) IN bin", "<block>(2) IN <block>(1)"
    begin = [Truth(true=(box,)), Observe(agent="b", seen=(bin_,)), Observe(agent="b", unseen=(bin_,))]
    told = [*begin, *say("a", 0, facts=(box,))]
    assert ignored(told, [elsewhere(0, "plan { move(bin) }", "g")]) == []
    assert ignored(told, [elsewhere(0, "plan { move(bin); take(<block>(2)) }")])


def test_a_plan_for_a_goal_that_the_fact_says_is_done() -> None:
    state = "<block>(1) STATE delivered"
    over: list[list[Any]] = [[Truth(true=(HERE,)), done("g")], [Truth(true=(state,)), *say("a", 0, facts=(state,))]]
    (tag,) = ignored(*over, [plan("b", 0)])
    assert (tag.first, tag.last, tag.agents, tag.goal) == (1, 2, ("b", "a"), "g")
    assert tag.text.endswith("its plan of step 2 is for g, done in step 0")
    assert ignored(*over, [plan("b", 0, "h", "plan { go() }")]) == []
    other = "<block>(2) STATE delivered"
    apart: list[list[Any]] = [over[0], [Truth(true=(other,)), *say("a", 0, facts=(other,))]]
    assert ignored(*apart, [plan("b", 0, "g", "plan { go(<block>(2)) }")]) == [], "it tells of another thing"
    before: list[list[Any]] = [[Truth(true=(HERE, state))], [done("g")], say("a", 0, facts=(state,)), [plan("b", 0)]]
    assert ignored(*before) == [], "that was so before the goal was done, and does not tell of it"
    assert ignored([Truth(true=(state,)), *say("a", 0, facts=(state,)), plan("b", 0)], [done("g")]) == []


# ---- withheld

#: a sees where the block is; b last saw it elsewhere.
APART: list[Any] = [
    Truth(true=(THERE,)),
    Observe(agent="a", seen=(THERE,)),
    Observe(agent="b", seen=(HERE,)),
    Observe(agent="b", unseen=(HERE,)),
]


def test_a_fact_that_a_team_mate_kept_to_itself() -> None:
    (tag,) = found(APART, [failing("b")], label="withheld")
    assert (tag.first, tag.last, tag.agents, tag.goal) == (1, 1, ("b", "a"), "g")
    assert tag.text == (
        "push(<block>(1)) failed (gone); the last that b saw or heard was <block>(1) AT (0, 0); "
        "never told by a: <block>(1) AT (5, 5)"
    )
    (tag,) = found(APART, [attempt(participation=1, spatial=1, temporal=1)], label="withheld")
    assert tag.text.startswith("a joint act failed")
    assert found([*APART, *say("a", 0, facts=(THERE,))], [failing("b")], label="withheld") == []
    assert found(APART, [failing("a")], label="withheld") == []
    assert found(APART, [act("b", args=("<block>(1)",))], label="withheld") == []
    assert found(APART[:3], [Truth(true=(HERE,), false=(THERE,)), failing("b")], label="withheld") == []


def test_of_many_who_knew_a_text_names_some() -> None:
    team = "abcdef"
    all_see = [Observe(agent=agent, seen=(THERE,)) for agent in team if agent != "b"]
    (tag,) = found([*APART, *all_see], [failing("b")], label="withheld", team=team)
    assert tag.agents == ("b", "a", "c", "d", "e", "f")
    assert "never told by a, c, d and 2 more:" in tag.text


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
    assert set(blind(with_beliefs(APART))) == {"false-belief"}
    assert set(blind(with_beliefs([believes("a", HERE, about="b")]))) == {"false-belief"}
    assert blind(with_beliefs([believes("a", HERE)])) == {}
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


def test_real_episodes_show_false_beliefs_and_what_was_withheld(tmp_path: Path) -> None:
    wrong, kept = cube(tmp_path / "near.zst", 2)
    assert (wrong.label, wrong.agents) == ("false-belief", ("agent_1",))
    assert wrong.text == (
        "move_to_block(<block>(0), left) failed (block_gone); "
        "agent_1 believed <block>(0) AT (4, 2) (not so since step 1)"
    )
    assert (kept.label, kept.agents) == ("withheld", ("agent_1", "agent_0"))
    assert kept.text == (
        "move_to_block(<block>(0), left) failed (block_gone); the last that agent_1 saw or heard was "
        "<block>(0) AT (4, 2); never told by agent_0: <block>(0) AT (4, 7)"
    )
    assert wrong.first == kept.first
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


def test_a_built_in_method_shows_what_was_withheld(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r"
    run(level="n4", method="greedy", options={"cube": {"view_radius": 2}}, log_level="beliefs", out=out)
    log = list(read_log(out / "logs" / "greedy-s0" / "0001.jsonl.zst"))
    kept = of(tags(log), "withheld")
    assert len(kept) == measured(log)["withheld_information"].num == 4, "one for each of those left behind"
    assert blind(log) == {"false-belief": "a method that says what it believes"}
    assert command(["report", str(out), "--failures"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "not looked for: false-belief (takes a method that says what it believes)" in text
    assert ": withheld [block_1; agent_1, agent_3] move_to_block(<block>(1), left) failed (block_gone);" in text
