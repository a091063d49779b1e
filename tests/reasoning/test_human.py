"""A person as a reasoner: what is shown, what may be typed, and that answers stand on record like a model's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from teamworld.errors import UserError
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.drwell.questions import Chat, Draft, Propose, Revise
from teamworld.methods.zero_shot.questions import ZeroShotPlan
from teamworld.reasoning.contract import Question, Rejected
from teamworld.reasoning.human import HUMAN, PersonReasoner, TerminalDesk
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Request
from teamworld.reasoning.prompts import render
from teamworld.reasoning.router import ReasonerRouter, Route
from teamworld.record import EpisodeEnd, Event, LlmCall, QuestionAsked
from teamworld.worlds import registry as worlds
from teamworld.worlds.cube.state import Block
from tests.methods.asked import play, rules
from tests.methods.test_prompts import with_words, world


class Typing:
    """A terminal at which somebody types given lines, then hangs up."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self.lines: Iterator[str] = iter(lines)
        self.shown: list[str] = []
        self.typed = 0
        self.lock = asyncio.Lock()

    def turn(self) -> AbstractAsyncContextManager[object]:
        return self.lock

    def show(self, text: str) -> None:
        assert self.lock.locked()
        self.shown.append(text)

    async def read(self, prompt: str) -> str:
        assert self.lock.locked()
        self.shown.append(prompt)
        await asyncio.sleep(0)  # somebody else may be asked meanwhile
        line = next(self.lines, None)
        if line is None:
            raise EOFError
        self.typed += 1
        return line

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


class Kept:
    """Calls on record."""

    def __init__(self) -> None:
        self.records: dict[CallKey, CallRecord] = {}
        self.looked_up: list[Request] = []

    def find(self, key: CallKey, request: Request) -> CallRecord | None:
        self.looked_up.append(request)
        return self.records.get(key)

    def add(self, key: CallKey, record: CallRecord) -> None:
        assert key not in self.records
        self.records[key] = record


def question(kind: str = "drwell.propose") -> Question[Any]:
    return with_words(kind, "I go left.", world(Block(1, 20, 3)))


def answer(asked: Question[Any], *lines: str, tries: tuple[Rejected, ...] = ()) -> tuple[Any, Typing]:
    terminal = Typing(lines)
    reply = asyncio.run(PersonReasoner(TerminalDesk(terminal), Kept()).ask(asked, tries))
    assert reply.call is None  # never an LLM's
    assert next(terminal.lines, None) is None
    return reply.answer, terminal


def test_a_task_is_chosen_by_its_number_or_its_name() -> None:
    by_number, terminal = answer(question(), "2", "It is near.")
    by_name, _ = answer(question(), " block_1 ", "It is near.")
    assert by_number == by_name
    assert (by_number.goal, by_number.reason) == ("block_1", "It is near.")
    assert render(question()).user in terminal.text
    assert "1  block_0" in terminal.text
    assert "agent_0 is asked: drwell.propose" in terminal.text


def test_waiting_is_an_option_where_it_is_one() -> None:
    reply, terminal = answer(question("drwell.commit"), "3")
    assert reply.goal is None
    assert "3  none of these" in terminal.text
    proposal, terminal = answer(question("drwell.propose"), "4", "3", "Nobody needs me.")
    assert (proposal.goal, proposal.reason) == (None, "Nobody needs me.")
    assert "the options are 1 to 3, not 4" in terminal.text


@pytest.mark.parametrize("typed", ["", "0", "4", "-1", "1.0", "block_9", "block", "²", "None", "1 2"])
def test_what_is_no_option_is_asked_again_with_the_complaint(typed: str) -> None:
    reply, terminal = answer(question(), typed, "1", "")
    assert reply.goal == "block_0"
    assert terminal.text.count("This cannot be: ") == 1


def test_the_rules_are_shown_on_demand() -> None:
    reply, terminal = answer(question("drwell.draft"), "?", "1", "")
    assert render(question("drwell.draft"), reasoning=False).system in terminal.text
    assert reply.actions
    assert "What you can do" not in answer(question("drwell.draft"), "1", "")[1].text


def test_a_plan_is_one_of_the_options_or_ones_own() -> None:
    asked = question("drwell.draft")
    assert isinstance(asked, Draft)
    offers = asked.offers("actions", {})
    assert answer(asked, "2", "")[0].actions == offers[1]
    own = "move_to_block(<block>(0), left); push_block(<block>(0), 3);"
    assert answer(asked, own, "")[0].actions == ("move_to_block(<block>(0), left)", "push_block(<block>(0), 3)")
    wrong = ("fly(up)", "", "push_block(<block>(0)", "push_block(<block>(7), 1)")
    reply, terminal = answer(asked, *(line for plan in (*wrong, own) for line in (plan, "")))  # a plan, and no reason
    assert reply.actions[0] == "move_to_block(<block>(0), left)"
    complaints = [line for line in terminal.shown if line.startswith("This cannot be")]
    assert "there is no action fly" in complaints[0]
    assert "there is no plan" in complaints[1]
    assert len(complaints) == 4


def test_the_draft_comes_first_among_the_plans_to_revise_it() -> None:
    asked = question("drwell.revise")
    assert isinstance(asked, Revise)
    offers = asked.offers("actions", {})
    assert offers[0] == asked.draft
    assert len(set(offers)) == len(offers)
    assert answer(asked, "1", "")[0].actions == asked.draft
    reply, _ = answer(question("drwell.reflect"), "1", "", "meet first")
    assert reply.reflection == "meet first"


def test_the_task_is_asked_before_the_plan_that_depends_on_it() -> None:
    place = world(Block(1, 20, 3))
    view = place.view("agent_0")
    asked = ZeroShotPlan("agent_0", {"agent_0": view}, AgentKnowledge(view, place.domain, place.spec))
    reply, _ = answer(asked, "2", "1")
    assert reply.goal == "block_1"
    assert all("<block>(1)" in action or "<block>" not in action for action in reply.actions)
    nothing, _ = answer(asked, "3", "1")
    assert nothing.goal is None
    assert nothing.actions


def test_words_that_are_too_long_are_asked_again_alone() -> None:
    reply, terminal = answer(question(), "1", "x" * 601, "short")
    assert (reply.goal, reply.reason) == ("block_0", "short")
    assert "at most 600 characters" in terminal.text
    chat, _ = answer(question("drwell.chat"), "3", "I wait.")
    assert isinstance(question("drwell.chat"), Chat)
    assert (chat.text, chat.goal) == ("I wait.", None)


def test_what_the_loop_refused_is_shown() -> None:
    _, terminal = answer(question(), "1", "", tries=(Rejected("{}", "intent", "that one is gone"),))
    assert "This cannot be: that one is gone" in terminal.text


def test_the_words_of_others_cannot_command_the_terminal() -> None:
    hostile = with_words("drwell.chat", "\x1b]0;owned\x07\x1b[2J\u202e[red]", world(Block(1, 20, 3)))
    _, terminal = answer(hostile, "1", "")
    assert "\x1b" not in terminal.text
    assert "\u202e" not in terminal.text


def test_keys_that_are_no_characters_do_not_get_into_an_answer() -> None:
    reply, _ = answer(question(), "1", "no\x1b[Dw \udcff\x00")
    assert reply.reason == "no [Dw"


def test_the_end_of_the_input_stops_the_run_with_one_line() -> None:
    for lines in ((), ("1",), ("9", "?")):
        with pytest.raises(UserError, match="nobody answers for agent_0 any more .*: the same command goes on"):
            asyncio.run(PersonReasoner(TerminalDesk(Typing(lines)), Kept()).ask(question(), ()))


def test_an_interrupt_is_not_held_up() -> None:
    class Interrupted(Typing):
        async def read(self, prompt: str) -> str:
            raise KeyboardInterrupt

    calls = Kept()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(PersonReasoner(TerminalDesk(Interrupted()), calls).ask(question(), ()))
    assert calls.records == {}


def test_two_who_are_asked_at_once_are_asked_one_after_the_other() -> None:
    terminal = Typing(["1", "first", "2"])
    person = PersonReasoner(TerminalDesk(terminal), Kept())

    async def both() -> list[Any]:
        return list(
            await asyncio.gather(*(person.ask(question(kind), ()) for kind in ("drwell.propose", "drwell.commit")))
        )

    replies = asyncio.run(both())
    assert [reply.answer.goal for reply in replies] == ["block_0", "block_1"]
    assert replies[0].answer.reason == "first"
    assert terminal.text.index("drwell.commit") > terminal.text.index("reason")


# ---- on record


def test_an_answer_on_record_is_not_asked_for_again() -> None:
    calls = Kept()
    first = asyncio.run(PersonReasoner(TerminalDesk(Typing(["1", "near"])), calls).ask(question(), ()))
    key, record = next(iter(calls.records.items()))
    assert key == CallKey("agent_0", "drwell.propose", 1, 0)
    assert record.request.model == HUMAN
    assert record.request.turns[1].text == render(question()).user
    assert record.completion is not None
    assert (record.usd, record.completion.usage.prompt, record.completion.usage.output) == (None, None, None)
    again = asyncio.run(PersonReasoner(TerminalDesk(Typing()), calls).ask(question(), ()))
    assert again == first
    assert calls.looked_up == [record.request] * 2  # the record refuses one of another question


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (None, "Invalid JSON"),
        ("", "Invalid JSON"),
        ("x" * 1000, "Invalid JSON"),
        ("null", "an object"),
        ('{"goal": 7, "reason": ""}', "valid string"),
        ('{"goal": "block_9", "reason": ""}', "block_9"),  # sound in form, and never accepted
    ],
)
def test_a_damaged_answer_on_record_is_told_in_one_line(change: str | None, says: str) -> None:
    calls = Kept()
    asyncio.run(PersonReasoner(TerminalDesk(Typing(["1", "near"])), calls).ask(question(), ()))
    key, record = next(iter(calls.records.items()))
    assert record.completion is not None
    answered = None if change is None else msgspec.structs.replace(record.completion, text=change)
    calls.records[key] = msgspec.structs.replace(record, completion=answered)
    with pytest.raises(UserError, match=r"agent_0 answered at drwell\.propose number 1 is damaged on record") as caught:
        asyncio.run(PersonReasoner(TerminalDesk(Typing()), calls).ask(question(), ()))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


class Sitting(Typing):
    """Somebody who reads what is asked: takes the given option, says nothing, and hangs up after so many lines."""

    def __init__(self, option: Callable[[int], int], patience: int = 1000) -> None:
        super().__init__()
        self.option, self.patience = option, patience

    async def read(self, prompt: str) -> str:
        self.shown.append(prompt)
        if self.typed == self.patience:
            raise EOFError
        self.typed += 1
        return str(self.option(self.typed)) if "a number" in prompt else ""


def episode(terminal: Typing, calls: Kept, log: Path) -> list[Event]:
    """Play DR. WELL with a person as agent_1 and the rules for the rest."""
    team = ReasonerRouter(
        "agent_1=human,*=rules",
        [
            (Route("agent_1", "*", HUMAN), PersonReasoner(TerminalDesk(terminal), calls)),
            (Route("*", "*", "rules"), rules()),
        ],
    )
    return play(worlds.make("cube", "paper-n2", 0, 150, {}), team, log=log)


def test_a_person_plays_a_whole_episode_and_it_replays_without_anybody(tmp_path: Path) -> None:
    terminal, calls = Sitting(lambda typed: 1), Kept()
    events = episode(terminal, calls, tmp_path / "one.zst")
    assert isinstance(events[-1], EpisodeEnd)
    asked = [event for event in events if isinstance(event, QuestionAsked)]
    mine = [event for event in asked if event.agent == "agent_1"]
    assert len(mine) == len(calls.records) > 4
    assert {event.reasoner for event in mine} == {HUMAN}
    assert {event.reasoner for event in asked if event.agent == "agent_0"} == {"rules"}
    assert not any(event.fallback or event.errors for event in mine)
    assert not any(isinstance(event, LlmCall) for event in events)
    assert {event.purpose for event in mine} == {"drwell.propose", "drwell.commit", "drwell.draft"}
    assert all(record.request.turns[1].text in terminal.text for record in calls.records.values())
    again = Sitting(lambda typed: 1, patience=0)
    episode(again, calls, tmp_path / "two.zst")
    assert again.typed == 0
    assert (tmp_path / "one.zst").read_bytes() == (tmp_path / "two.zst").read_bytes()


@pytest.mark.parametrize("patience", [0, 1, 4, 7])
def test_a_run_that_was_left_goes_on_after_the_last_answer(tmp_path: Path, patience: int) -> None:
    episode(Sitting(lambda typed: 1), Kept(), tmp_path / "whole.zst")
    calls = Kept()
    with pytest.raises(UserError, match="nobody answers for agent_1"):
        episode(Sitting(lambda typed: 1, patience), calls, tmp_path / "left.zst")
    given = len(calls.records)
    terminal = Sitting(lambda typed: 1)
    episode(terminal, calls, tmp_path / "rest.zst")
    assert (tmp_path / "rest.zst").read_bytes() == (tmp_path / "whole.zst").read_bytes()
    assert terminal.text.count(" is asked: ") == len(calls.records) - given


def test_proposals_of_a_person_are_heard_by_the_others(tmp_path: Path) -> None:
    events = episode(Sitting(lambda typed: 2 if typed == 1 else 1), Kept(), tmp_path / "log.zst")
    first = next(event for event in events if isinstance(event, QuestionAsked) and event.agent == "agent_1")
    assert first.purpose == Propose.kind
    assert first.answer["goal"] == "block_1"
