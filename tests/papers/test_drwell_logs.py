"""The dependent chain of calls, commitments and completion, on logs written by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.papers.drwell import Timeline, count_calls, longest_chain, runs_of, timeline
from teamworld.papers.drwell.figures import Strip
from teamworld.record import (
    SCHEMA,
    AnswerError,
    Commit,
    EpisodeStart,
    Event,
    GoalChange,
    GoalInfo,
    MessageSent,
    QuestionAsked,
    Release,
    StepDone,
)


def ask(agent: str, step: int = 0, *, errors: int = 0, fallback: bool = False) -> QuestionAsked:
    return QuestionAsked(
        agent=agent,
        step=step,
        purpose="p",
        reasoner="rules",
        answer={},
        errors=(AnswerError(flaw="json", text="bad"),) * errors,
        fallback=fallback,
    )


def say(agent: str, room: int | None = 0) -> MessageSent:
    return MessageSent(agent=agent, id=0, recipients=(), act="propose", text="", goal=None, room=room)


NEGOTIATION = [event for agent in "abab" for event in (ask(agent), say(agent))]


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        pytest.param(NEGOTIATION, 4, id="turns of a room follow one another"),
        pytest.param([ask(agent) for agent in "aabbc"], 2, id="agents that plan alone think at the same time"),
        pytest.param(
            [*map(ask, "abbc"), say("c"), *map(ask, "ab")], 2 + 1 + 1, id="a turn waits for what was thought before it"
        ),
        pytest.param([*NEGOTIATION, *map(ask, "aabb")], 6, id="a negotiation with planning is both"),
        pytest.param([ask("a"), say("a", None), ask("b"), say("b", None)], 1, id="a post outside a room is no turn"),
        pytest.param([ask("a", errors=2), ask("b")], 3, id="calls that were asked again count"),
        pytest.param([], 0, id="nothing at all"),
        pytest.param([say("a")], 0, id="nothing asked"),
    ],
)
def test_the_longest_chain_of_dependent_calls(events: Sequence[Event], calls: int) -> None:
    assert longest_chain(events) == calls


def test_a_question_counts_its_retries() -> None:
    assert count_calls(ask("a")) == 1
    assert count_calls(ask("a", errors=2)) == 3
    assert count_calls(ask("a", errors=3, fallback=True)) == 3  # the fallback itself is no call


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans())))
def test_the_chain_lies_between_the_busiest_agent_and_all_calls(turns: Sequence[tuple[str, bool]]) -> None:
    events: list[Event] = []
    for agent, spoken in turns:
        events += [ask(agent), *([say(agent)] if spoken else [])]
    counts = [sum(agent == name for agent, _ in turns) for name in "abc"]
    assert max(counts) <= longest_chain(events) <= len(turns)
    if all(spoken for _, spoken in turns):
        assert longest_chain(events) == len(turns)
    if not any(spoken for _, spoken in turns):
        assert longest_chain(events) == max(counts)


def test_the_arrays_of_runs() -> None:
    first = Timeline({"x": 10, "y": None}, {"x": 3, "y": None}, ((Strip(0, 0, 10),), ()), 4, 3)
    second = Timeline({"x": 5, "y": 7}, {"x": 1, "y": 2}, ((), ()), 2, 2)
    runs = runs_of([[first, second]], latency=2.0, step_time=0.5)
    assert runs.completed.tolist() == [[[True, True], [False, True]]]
    assert runs.steps.tolist() == [[[10, 5], [np.inf, 7]]]
    assert runs.seconds.tolist() == [[[3 * 2 + 5, 1 * 2 + 2.5], [np.inf, 2 * 2 + 3.5]]]


def start(*goals: str) -> EpisodeStart:
    return EpisodeStart(
        schema=SCHEMA,
        world="w",
        level="l",
        world_options={},
        world_seed=0,
        seed=0,
        episode=1,
        team=("a", "b"),
        kinds={},
        goals=tuple(
            GoalInfo(id=goal, kind="k", thing=None, label=goal, weight=1, quorum=1, places=1, exclusive=True, units=1)
            for goal in goals
        ),
        measures={},
        relations=(),
        static={},
        horizon=10,
        task="t",
        method="m",
        method_options={},
        reasoner="rules",
        message_rule={},
        topology="complete",
        log_level="play",
    )


def done(goal: str, step: int) -> GoalChange:
    return GoalChange(goal=goal, event="done", delta=1, participants=(), step=step)


def step(number: int) -> StepDone:
    return StepDone(ticks=1, score={}, step=number)


def test_a_log_tells_completion_calls_and_commitments() -> None:
    log: list[Event] = [
        start("x", "y", "z"),
        ask("a", 0),
        ask("b", 0),
        Commit(agent="a", goal="y", step=0),
        Commit(agent="b", goal="y", step=0),
        step(0),
        step(1),
        done("y", 2),
        step(2),
        Release(agent="a", goal="y", cause="done", step=3),
        Release(agent="b", goal="y", cause="done", step=3),
        ask("a", 3),
        say("a"),
        ask("b", 3),
        say("b"),
        Commit(agent="a", goal="x", step=3),
        done("x", 3),
        step(3),
        Release(agent="a", goal="x", cause="ended", step=4),
    ]
    assert timeline(log) == Timeline(
        done={"x": 4, "y": 3, "z": None},
        calls_before={"x": 3, "y": 1, "z": None},
        strips=((Strip(1, 0, 3), Strip(0, 3, 4)), (Strip(1, 0, 3),)),
        calls=4,
        chain=3,
    )


def test_a_commitment_given_up_in_its_step_is_no_strip() -> None:
    log: list[Event] = [
        start("x"),
        Commit(agent="a", goal="x", step=2),
        Release(agent="a", goal="x", cause="failed", step=2),
    ]
    assert timeline(log).strips == ((), ())


def test_questions_after_the_last_step_belong_to_the_episode() -> None:
    episode = timeline([start("x"), step(0), ask("a", 1)])
    assert (episode.calls, episode.chain, episode.done) == (1, 1, {"x": None})


def test_a_log_without_a_start_is_refused() -> None:
    with pytest.raises(ValueError, match="no start"):
        timeline([step(0)])
