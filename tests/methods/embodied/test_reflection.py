"""Criticise and reflect: records of costs, a critic that proposes, a coordinator that chooses, over episodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from teamworld import run
from teamworld.methods.embodied.organisations import organise
from teamworld.methods.embodied.reflection import (
    Coordinate,
    Coordination,
    Criticise,
    Criticism,
    EpisodeRecord,
    Proposal,
    read_records,
    record_episode,
)
from teamworld.reasoning.prompts import render
from teamworld.record import MessageSent, QuestionAsked, read_log
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario
from tests.methods.single_steps import of, played

STAGE = Scenario("rooms", "two", 0, 30)


def record(episode: int, text: str, steps: int, done: int = 4) -> EpisodeRecord:
    return EpisodeRecord(episode, text, (), done, 4, steps, 100, ())


def test_an_episode_leaves_its_costs_behind() -> None:
    episode, _ = played("embodied:reflect", stage=STAGE)
    (found,) = read_records(record_episode(episode.events, "none", 1).reflections)
    sent = list(of(episode.events, MessageSent))
    assert found.messages == len(sent)
    assert found.characters == sum(len(event.text) for event in sent)
    assert found.text == organise("none", ("agent_0", "agent_1")).text
    assert found.done <= found.goals
    assert found.cost >= found.steps


def test_an_unfinished_episode_costs_more() -> None:
    assert record(1, "a", 60).cost == 60
    assert record(1, "a", 100, done=2).cost == 150


def test_rules_try_each_form_once_and_then_keep_the_cheapest() -> None:
    place, rng = Scenario("cube", "n3", 0, 6).make().spec, generator(0, "test")
    forms = [organise(form, place.agents).text for form in ("none", "leader", "two_leaders")]
    assert len(set(forms)) == 3
    steps, records = (50, 40, 60), list[EpisodeRecord]()
    for episode in range(1, 6):
        if records:
            criticism = Criticise("critic", {}, place, tuple(records)).rule(rng)
            question = Coordinate("coordinator", {}, place, tuple(records), criticism)
            text = question.rule(rng).text
            assert question.check(question.rule(rng)) is None
        else:
            text = forms[0]
        assert text == forms[min(episode - 1, 2) if episode < 4 else 1]
        records.append(record(episode, text, steps[forms.index(text)]))


def test_prompts_show_costs_and_the_words_of_the_critic_as_a_quotation() -> None:
    place = Scenario("cube", "n3", 0, 6).make().spec
    records = (record(1, "All shout.", 60), record(2, "All shout.", 40))
    criticism = Criticism(problems="They shout.", proposals=(Proposal(text="Whisper.", leaders=("agent_1",)),))
    question = Coordinate("coordinator", {}, place, records, criticism)
    shown = render(question).text
    assert place.task.splitlines()[0] in shown
    for part in ("«They shout.»", "- Leaders: agent_1. «Whisper.»", "cost 60", "- 50.0: «All shout.»"):
        assert part in shown
    assert question.fallback().text == "All shout."
    assert "there is no agent boss" in (question.check(Coordination(text="x", leaders=("boss",))) or "")
    assert question.check(Coordination(text=" ")) == "the text of an organisation is empty"


@pytest.mark.heavy
def test_over_a_run_the_organisation_changes_and_all_read_it(tmp_path: Path) -> None:
    run("cube", level="n3", method="embodied:reflect", seed=[0], episodes=3, max_steps=8, out=tmp_path / "run")
    texts: list[str] = []
    for path in sorted(tmp_path.rglob("*.jsonl.zst")):
        events = list(read_log(path))
        asked = [e.purpose for e in of(events, QuestionAsked) if e.agent in ("critic", "coordinator")]
        assert asked == (["embodied.criticise", "embodied.coordinate"] if texts else [])
        (found,) = read_records(record_episode(events, "none", 1).reflections)
        texts.append(found.text)
    assert texts == [organise(form, found_team()).text for form in ("none", "leader", "two_leaders")]


def found_team() -> tuple[str, ...]:
    return Scenario("cube", "n3", 0, 6).make().spec.agents
