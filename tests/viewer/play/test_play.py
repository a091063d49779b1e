"""People in a team: what their pages are told, what is refused, and that nothing is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from teamworld.cli import play_session
from teamworld.errors import UserError
from teamworld.experiment.replay import replay
from teamworld.experiment.spec import build
from teamworld.experiment.store.folder import RunFolder
from teamworld.language import AgentId
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.zero_shot.questions import ZeroShotPlan
from teamworld.reasoning.contract import Question
from teamworld.reasoning.prompts import Prompt, render
from teamworld.record import QuestionAsked, read_log
from teamworld.viewer.play.desk import PlayDesk, Seat
from teamworld.viewer.play.known_map import drawer
from teamworld.viewer.play.sheet import make_sheet
from teamworld.viewer.replay_page import view
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import World
from tests.experiment.ledger import logs
from tests.viewer.play.people import Person, first_values, game, together

HOSTILE = "<img src=x onerror=alert(1)>"


def is_replayed(out: Path, scratch: Path) -> bool:
    scratch.mkdir()
    folder = RunFolder(out)
    return [episode.difference for episode in replay(folder, folder.experiment(), scratch)] == [None]


def test_two_people_play_an_episode_that_is_a_run_like_any_other(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with game(out) as played:
        asked = together(*(played.person(agent).play for agent in ("agent_0", "agent_1")))
        played.end()
        over = played.person("agent_0").wait("over")
    assert (over["note"], len(over["past"])) == ("all is recorded", asked[0])
    [log] = [path for path in out.glob("logs/*/*") if path.is_file()]
    questions = [event for event in read_log(log) if isinstance(event, QuestionAsked)]
    assert len(questions) == sum(asked)
    assert {question.reasoner for question in questions} == {"human"}
    assert is_replayed(out, tmp_path / "scratch")
    assert "agent_0: a person, no language model" in view(out).html


def test_a_wrong_answer_is_refused_in_words_and_asked_again(tmp_path: Path) -> None:
    with game(tmp_path / "run", "agent_0") as played:
        person = played.person("agent_0")
        state = person.wait("asked")
        number, good = state["question"], first_values(state["sheet"]["form"], "near")
        wrong: list[tuple[dict[str, Any], str]] = [
            ({}, "Field required"),
            ({**good, "goal": "block_9"}, "block_9"),
            ({**good, "goal": 7}, "valid string"),
            ({**good, "reason": "x" * 5000}, "at most"),
            ({**good, "more": 1}, "Extra inputs"),
            ({**good, "goal": [[[]]]}, "valid string"),
        ]
        for values, says in wrong:
            assert says in (person.answer(number, values) or ""), values
            assert person.state()["question"] == number
        assert person.answer(number, {**good, "reason": f"a\x1b[2J\n{HOSTILE}"}) is None
        assert person.wait("asked", behind=number)["past"][0]["values"]["reason"] == f"a [2J {HOSTILE}"
        status, _, body = person.send("answer", json.dumps({"question": number, "values": good}).encode())
        assert (status, body) == (409, "this question is no longer open")


def test_offers_follow_the_choices_before_them(tmp_path: Path) -> None:
    with game(tmp_path / "run", "agent_0", methods=["zero_shot"]) as played:
        person = played.person("agent_0")
        state = person.wait("asked")
        goals, plans = state["sheet"]["form"]
        assert (goals["kind"], plans["kind"]) == ("choice", "lines")
        shown = []
        for offer in goals["offers"]:
            _, fresh = person.post("form", state["question"], {"goal": offer["value"]})["form"]
            shown.append(fresh["offers"])
        assert len({json.dumps(offers) for offers in shown}) == len(shown)


def test_actions_are_chosen_among_options_and_single_moves_or_written(tmp_path: Path) -> None:
    with game(tmp_path / "run", "agent_1", methods=["greedy+react"]) as played:
        person = played.person("agent_1")
        state = person.wait("asked")
        [action] = [field for field in state["sheet"]["form"] if field["name"] == "action"]
        notes = {offer["words"]: offer["note"] for offer in action["offers"]}
        assert action["is_open"]
        assert notes["move(down, 1)"] == "single move"
        assert any(note.startswith("about ") for note in notes.values())
        assert "fly" in (person.answer(state["question"], {"action": "fly(up)"}) or "")
        assert person.answer(state["question"], {"action": "move(down, 2)"}) is None
        assert person.wait("asked", behind=state["question"])["map"]["frame"]["agents"][1] == [3, 0]


def test_a_planner_fills_in_a_row_for_each_agent(tmp_path: Path) -> None:
    with game(tmp_path / "run", "planner", methods=["cmas"]) as played:
        person = played.person("planner")
        state = person.wait("asked")
        [rows] = state["sheet"]["form"]
        assert (rows["kind"], state["map"]) == ("rows", None)
        offers = {part["name"]: [offer["value"] for offer in part["offers"]] for part in rows["fields"]}
        assert offers["agent"] == ["agent_0", "agent_1"]
        assert offers["goal"] == ["block_0", "block_1", "block_2"]
        assert "move_to_block(block_1, left)" in offers["action"]
        row = {"goal": None, "action": "idle(1)"}
        assert "valid string" in (person.answer(state["question"], {"actions": [{"agent": 1, **row}]}) or "")
        both = [{"agent": agent, **row} for agent in offers["agent"]]
        assert person.answer(state["question"], {"actions": both}) is None


class ShortPatience(PlayDesk):
    """A desk at which the run is stopped when so many questions were answered, as if its process had ended."""

    left = 2

    async def answer(self, question: Question[Any], prompt: Prompt, complaints: Sequence[str]) -> str:
        if not self.left:
            raise UserError("stopped")
        self.left -= 1
        return await super().answer(question, prompt, complaints)


def test_a_run_that_was_stopped_goes_on_after_the_last_answer(tmp_path: Path) -> None:
    with game(tmp_path / "whole", "agent_1") as played:
        whole = played.person("agent_1").play()
        played.end()
    out = tmp_path / "run"
    with game(out, "agent_1", ShortPatience) as played:
        assert played.person("agent_1").play() == 2
        with pytest.raises(UserError, match="stopped"):
            played.end()
    with game(out, "agent_1") as played:
        assert played.person("agent_1").play() == whole - 2 > 0
        played.end()
    assert logs(out) == logs(tmp_path / "whole")


def test_people_who_are_asked_at_once_do_not_wait_for_one_another(tmp_path: Path) -> None:
    with game(tmp_path / "run", methods=["zero_shot"]) as played:
        people = [played.person(agent) for agent in ("agent_0", "agent_1")]
        states = [person.wait("asked") for person in people]
        goal = {"goal": None, "actions": ["idle(1)"]}
        for person, state in reversed(list(zip(people, states, strict=True))):  # the second first
            assert person.answer(state["question"], goal) is None
        for person, state in zip(people, states, strict=True):
            assert person.wait("asked", behind=state["question"])["map"]["t"] == 1


# ---- who gets what


def seen_page(world: World, agent: AgentId) -> bytes:
    """Return all that the page of an agent is sent at a question."""
    world.reset(3)
    view, team = world.view(agent), {name: world.spec.kinds[name] for name in world.spec.agents}
    question = ZeroShotPlan(agent, {agent: view}, AgentKnowledge(view, world.domain, world.spec.public))

    async def ask() -> bytes:
        seat = Seat(agent, "a run")
        sheet = make_sheet(question, render(question, reasoning=False), ())
        asking = asyncio.create_task(seat.answer(question, sheet, drawer(world.spec.world, team)(question)))
        await asyncio.sleep(0)
        state = msgspec.json.encode(seat.state())
        asking.cancel()
        return state

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("world", "level"),
    [("household", "dev"), ("transport", "dev"), ("rooms", "two"), ("wildfire", "scout_fire_small")],
)
def test_two_worlds_that_an_agent_cannot_tell_apart_give_one_page(world: str, level: str) -> None:
    pairs = list(islice(worlds.module(world).indistinguishable_pairs(level, 3), 1))  # type: ignore[attr-defined]
    for first, second, agent in pairs:
        assert first.spec.static != second.spec.static or first.snapshot() != second.snapshot()
        assert seen_page(first, agent) == seen_page(second, agent)
    assert pairs


def test_a_page_holds_nothing_of_another_agent(tmp_path: Path) -> None:
    with game(tmp_path / "run", "Alice,Bob", world="household", level="dev", methods=["zero_shot"]) as played:
        alice, bob = (played.person(agent).wait("asked") for agent in ("Alice", "Bob"))
        tokens = [seat.token for seat in played.server.desk.seats.values()]
    assert all(token not in json.dumps([alice, bob]) for token in tokens)
    assert alice["map"]["me"] == 0
    assert alice["map"]["team"][1]["is_hidden"]
    rooms = [state["map"]["frame"]["agents"][place][:2] for state, place in ((alice, 0), (bob, 1))]
    assert all(str(room) not in json.dumps(other["map"]) for room, other in zip(rooms, (bob, alice), strict=True))


def test_whoever_is_not_the_page_is_refused(tmp_path: Path) -> None:
    with game(tmp_path / "run") as played:
        person = played.person("agent_0")
        state = person.wait("asked")
        body = json.dumps({"question": state["question"], "values": first_values(state["sheet"]["form"], "x")}).encode()
        refused = {
            403: [
                person.send("answer", body, Origin="http://evil.example"),
                person.send("answer", body, Origin="null"),
                person.send("answer", body, Origin=None),
                person.send("answer", body, Host="evil.example"),
                person.send("answer", body, Sec_Fetch_Site="cross-site"),
                person.send("state", Host=f"evil.example:{played.server.server_port}"),
            ],
            415: [person.send("answer", body, Content_Type="text/plain")],
            413: [person.send("answer", b"{" + b" " * 70_000 + b"}")],
            400: [person.send("answer", sent) for sent in (b"", b"{", b"[]", b"1", b"[" * 60_000, b'{"question": 1}')]
            + [person.send("state?version=x")],
            404: [
                person.send("other"),
                person.send("answer"),
                person.send("other", body),
                Person(played.server.server_port, "x").send(""),
                Person(played.server.server_port, "").send(""),
            ],
            501: [person.send("", method="PUT"), person.send("", method="DELETE")],
        }
        for status, answers in refused.items():
            assert [answer[0] for answer in answers] == [status] * len(answers), answers
        assert person.state()["question"] == state["question"]
        _, headers, page = person.send("")
        assert "default-src 'none'" in page
        assert (headers["X-Frame-Options"], headers["Cache-Control"]) == ("DENY", "no-store")


@pytest.mark.parametrize(
    ("fields", "seats", "says"),
    [
        ({"methods": ["greedy"]}, (), "greedy asks its agents nothing, so who plays agent_0"),
        ({"methods": ["react+greedy"]}, ("agent_1",), "greedy asks its agents nothing, so who plays agent_1"),
        ({}, ("agent_9",), "--as takes who is asked in this team (agent_0, agent_1), got 'agent_9'"),
        ({"reasoner": "human"}, (), "leave human out of --reasoner"),
    ],
)
def test_seats_that_cannot_be_are_refused(fields: dict[str, Any], seats: tuple[str, ...], says: str) -> None:
    with pytest.raises(UserError) as refused:
        play_session.prepare(build({"world": "cube", "level": "n2", **fields}), seats)
    assert says in str(refused.value)


def test_the_others_keep_their_reasoners() -> None:
    def reasoner(text: str, *seats: str) -> str:
        return play_session.prepare(
            build({"world": "cube", "level": "n2", "reasoner": text}), seats
        ).experiment.reasoner

    assert reasoner("rules") == "agent_0=human,*=rules"
    assert reasoner("@drwell.propose=rules:noise=0.2,*=rules", "agent_1") == (
        "agent_1=human,@drwell.propose=rules:noise=0.2,*=rules"
    )
