"""ReAct and Reflexion: nobody talks, each knows its own history, and lessons go from episode to episode."""

from __future__ import annotations

from pathlib import Path

import pytest

from teamworld import run
from teamworld.memory.guidebook import WorldModel
from teamworld.memory.store import MemoryStore
from teamworld.methods.common.single_action import Act
from teamworld.methods.react.questions import Lesson, Reflect, Step
from teamworld.methods.react.records import last_record, list_lessons, record_episode
from teamworld.record import MessageSent, PlanStart, QuestionAsked, ViewsShared, read_log
from teamworld.testing.episodes import Scenario
from tests.methods.single_steps import of, played, prompts

STAGE = Scenario("rooms", "two", 0, 30)


def test_nobody_talks_and_nobody_is_asked_while_it_acts() -> None:
    episode, asked = played("react", stage=STAGE)
    assert not list(of(episode.events, MessageSent))
    assert not list(of(episode.events, ViewsShared))
    assert {heard.kind for heard in asked} == {"react.act"}
    starts = {(start.agent, start.step) for start in of(episode.events, PlanStart)}
    assert {(heard.respondent, heard.t) for heard in asked} == starts


def test_an_agent_reads_its_own_thoughts_and_what_came_of_them() -> None:
    def says(question: Step) -> Act | None:
        if question.respondent != "agent_0" or question.view.t:
            return None
        return Act(reasoning="The far corner first.", action="go((0, 3))")

    _, asked = played("react", {Step: says}, STAGE)
    own = prompts(asked, "react.act", respondent="agent_0")
    assert "You have done nothing yet." in own[0]
    assert "> The far corner first.\n- Step 0: `go((0, 3))`: done" in own[1]
    assert not any("far corner" in prompt for prompt in prompts(asked, "react.act", respondent="agent_1"))


def test_a_lesson_is_drawn_from_the_last_episode_and_shown_in_the_next_to_its_agent_alone() -> None:
    episode, asked = played("react:reflexion", stage=STAGE)
    assert not prompts(asked, "react.reflect"), "there is nothing to reflect on yet"
    delta = record_episode(episode.events)
    assert {report.agent for report in delta.reflections} == {"agent_0", "agent_1"}
    record = last_record(delta.reflections, "agent_0")
    assert record.startswith("Episode 1: ")
    assert "`go(" in record
    assert "<item>" not in record
    assert list_lessons(delta.reflections, "agent_0") == []


def test_records_pass_through_the_store_and_merging(tmp_path: Path) -> None:
    episode, _ = played("react:reflexion", stage=STAGE)
    delta = record_episode(episode.events)
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        store.commit("cell", delta)
        model = store.world_model("cell")
    assert model.reports == delta.reflections
    assert WorldModel().reports == ()


@pytest.mark.heavy
def test_lessons_pile_up_over_a_run(tmp_path: Path) -> None:
    run("rooms", level="two", method="react:reflexion", seed=[0], episodes=3, max_steps=20, out=tmp_path / "run")
    logs = sorted(tmp_path.rglob("*.jsonl.zst"))
    counts = []
    for path in logs:
        events = list(read_log(path))
        counts.append(sum(event.purpose == "react.reflect" for event in of(events, QuestionAsked)))
    assert counts == [0, 2, 2]


def test_rules_say_how_far_the_team_came() -> None:
    question = Reflect("agent_0", {}, None, "Episode 1: all was done after 9 of 30 steps.\n- x", ())  # type: ignore[arg-type]
    assert question.fallback() == Lesson(lesson="Episode 1: all was done after 9 of 30 steps.")
    assert question.check(Lesson(lesson=" ")) == "the lesson is empty"
