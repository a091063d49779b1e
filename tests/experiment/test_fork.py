"""Forks: what is changed, what stays, what a fork is as a run, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.fork import ForkPlayer, Origin, find_episode, first_difference, fork
from teamworld.experiment.fork_spec import ForkChange
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.record import ActionStep, Deliver, Event, MessageSent, PlanStart, QuestionAsked, Release, read_log
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import Peer

STEPS = 40


class Recorded(NamedTuple):
    """A run to fork."""

    out: Path
    origin: Origin
    """Its second episode."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    out = tmp_path_factory.mktemp("fork") / "run"
    run(
        "cube",
        level="paper-n4",
        method=["drwell", "coela"],
        seed=[0, 1],
        reasoner="rules:noise=0.3",
        episodes=2,
        max_steps=STEPS,
        options={"messages": {"loss": 0.5}},
        talk="native",
        out=out,
    )
    return Recorded(out, find_episode(RunFolder(out), 2))


def changed(step: int, **change: Any) -> tuple[ForkChange, ...]:
    return (ForkChange.model_validate({"step": step, **change}),)


def until(log: Sequence[Event], step: int) -> list[Event]:
    return [event for event in log if event.step < step]


def of_kind(log: Sequence[Event], kind: type[Event], step: int) -> list[Any]:
    return [event for event in log if isinstance(event, kind) and event.step == step]


def sent(log: Sequence[Event]) -> list[MessageSent]:
    return [event for event in log if isinstance(event, MessageSent)]


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["drwell", "coela"])
def test_a_null_fork_has_the_same_bytes_with_what_the_method_knew_and_is_a_whole_run(
    recorded: Recorded, label: str, tmp_path: Path
) -> None:
    origin = find_episode(RunFolder(recorded.out), 2, label, seed=1)
    played = fork(origin, (), tmp_path / "fork")
    assert played.first_difference is None
    name = f"{label}-s1"
    path = Path("logs") / name / "0002.jsonl.zst"
    assert (tmp_path / "fork" / path).read_bytes() == (recorded.out / path).read_bytes()
    assert command(["replay", str(tmp_path / "fork")]) == 0
    again = find_episode(RunFolder(tmp_path / "fork"), 2)
    assert fork(again, (), tmp_path / "again").row.digest == origin.row.digest  # a fork of a fork


def test_a_message_says_something_else_or_nothing_and_all_before_and_all_other_losses_stay(
    recorded: Recorded, tmp_path: Path
) -> None:
    log = recorded.origin.log
    first = next(event for event in sent(log) if event.step > 0)
    player = ForkPlayer(recorded.origin, tmp_path)
    new = {"agent": first.agent, "text": "I do nothing.", "facts": ["block_0 HAS nothing"]}
    other = player.play(changed(first.step, message=new)).events
    assert until(other, first.step) == until(log, first.step)
    said = next(event for event in sent(other) if event.id == first.id)
    assert said.text.startswith("I do nothing.")
    assert said.facts == ("block_0 HAS nothing",)
    assert said.goal is None

    dropped = player.play(changed(first.step, message={"agent": first.agent, "drop": True})).events
    assert first.id not in [event.id for event in sent(dropped)]
    assert until(dropped, first.step) == until(log, first.step)
    # Losses are drawn by a message's number: those of the same step are lost for whom they were lost before.
    kept = {(e.message, e.agent): e.dropped for e in of_kind(log, Deliver, first.step) if e.message != first.id}
    after = {(e.message, e.agent): e.dropped for e in of_kind(dropped, Deliver, first.step)}
    assert {place: after[place] for place in kept if place in after} == {p: kept[p] for p in kept if p in after}

    nobody = player.play(changed(first.step, message={"agent": first.agent, "recipients": []})).events
    unheard = next(event for event in sent(nobody) if event.id == first.id)
    assert (unheard.text, unheard.recipients, unheard.ticks) == (first.text, (), first.ticks)


def test_an_answer_is_replaced_and_the_record_says_who_gave_it(recorded: Recorded, tmp_path: Path) -> None:
    log = recorded.origin.log
    asked = [e for e in log if isinstance(e, QuestionAsked) and e.purpose == "drwell.propose" and not e.errors]
    first = asked[-1]
    answer = {**first.answer, "reason": "Because."}
    change = {"agent": first.agent, "question": first.purpose, "answer": answer}
    other = ForkPlayer(recorded.origin, tmp_path).play(changed(first.step, answer=change)).events
    (given,) = [e for e in other if isinstance(e, QuestionAsked) and e.reasoner == "fork"]
    assert (given.step, given.agent, given.answer["reason"]) == (first.step, first.agent, "Because.")
    assert until(other, first.step) == until(log, first.step)


def test_a_plan_is_replaced(recorded: Recorded, tmp_path: Path) -> None:
    log = recorded.origin.log
    last = [event for event in log if isinstance(event, PlanStart) and 0 < event.step < STEPS - 5][-1]
    other = ForkPlayer(recorded.origin, tmp_path).play(
        changed(last.step, plan={"agent": last.agent, "plan": "plan { wait() }"})
    )
    (plan,) = [event for event in of_kind(other.events, PlanStart, last.step) if event.agent == last.agent]
    assert (plan.text, plan.goal, plan.cause) == ("plan { wait() }", None, last.cause)
    assert first_difference(log, other.events) == last.step


def test_an_agent_is_handed_over_with_its_plan_ended_and_its_commitment_gone(
    recorded: Recorded, tmp_path: Path
) -> None:
    player = ForkPlayer(recorded.origin, tmp_path)
    other = player.play(changed(12, hand_over={"agents": ["agent_1"], "method": "do_nothing"})).events
    assert first_difference(recorded.origin.log, other) == 12
    verbs = {
        event.verb for event in other if isinstance(event, ActionStep) and event.agent == "agent_1" and event.step > 12
    }
    assert verbs == {"wait"}
    assert not any(isinstance(e, QuestionAsked) and e.agent == "agent_1" and e.step > 12 for e in other)
    released = [e.cause for e in other if isinstance(e, Release) and e.agent == "agent_1" and e.step == 12]
    assert released[:1] == ["reassigned"]
    assert any(isinstance(e, QuestionAsked) and e.step > 12 for e in other)  # the others play on


def test_another_reasoner_goes_on_counting_so_that_the_same_reasoner_changes_nothing(
    recorded: Recorded, tmp_path: Path
) -> None:
    player, team = ForkPlayer(recorded.origin, tmp_path), recorded.origin.start.team
    same = player.play(changed(10, hand_over={"agents": team, "reasoner": "rules:noise=0.3"}))
    assert same.digest == recorded.origin.row.digest
    sober = player.play(changed(10, hand_over={"agents": team, "reasoner": "rules"})).events
    assert {e.reasoner for e in sober if isinstance(e, QuestionAsked) and e.step >= 10} == {"rules"}
    assert (first_difference(recorded.origin.log, sober) or 0) >= 10


@pytest.mark.heavy
def test_the_command_makes_a_run_that_other_commands_take(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "change.yaml", tmp_path / "out"
    file.write_text(
        "- hand_over: {agents: [agent_1], method: greedy}\n- hand_over: {agents: [agent_2], reasoner: rules}\n"
    )
    arguments = [
        "fork",
        str(recorded.out),
        "--episode",
        "2",
        "--step",
        "9",
        "--change",
        str(file),
        "--output",
        str(out),
    ]
    assert command([*arguments, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["first_difference"] >= 9
    assert shown["fork"]["episode"] == 2
    held = yaml.safe_load((out / "experiment.yaml").read_text("utf-8"))["fork"]
    assert (held["run"], held["episode"], held["digest"]) == (str(recorded.out), 2, recorded.origin.row.digest)
    assert held["changes"] == [
        {"step": 9, "hand_over": {"agents": ["agent_1"], "method": "greedy"}},
        {"step": 9, "hand_over": {"agents": ["agent_2"], "reasoner": "rules"}},
    ]
    before = logs(out)
    page = str(tmp_path / "page.html")
    for words in (["report", str(out)], ["replay", str(out)], ["view", str(out), "--export", page], arguments):
        assert command(words) == 0
    assert "changed: hand over in step 9, hand over in step 9" in " ".join(capsys.readouterr().out.split())
    assert logs(out) == before
    file.write_text("hand_over: {agents: [agent_1], method: random}")
    assert command(arguments) == 2  # the folder holds another fork
    assert "its fork is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "holds no change"),
        ("message: 3\nplan: 4", "expected a change such as"),
        ("weather: sunny", "one of message, answer, plan, hand_over, got {'weather'"),
        ("message: {agent: agent_0}", "expected either drop: true, or a new text or recipients"),
        ("message: {agent: agent_0, drop: true, txt: x}", "unknown option 'message.txt'"),
        ("message: {agent: agent_9, drop: true}", "has no agent 'agent_9'; did you mean"),
        (
            "message: {agent: agent_0, drop: true, number: 99}",
            "agent_0 sends no 99. message in step 0; steps with one: none",
        ),
        ("message: {agent: agent_0, text: hi, facts: ['((']}", "a fact of the changed message cannot be read"),
        ("message: {agent: agent_0, text: hi, recipients: [bob]}", "is for 'bob', who is not in the team"),
        ("answer: {agent: agent_0, question: drwell.propos, answer: {}}", "did you mean 'drwell.propose'"),
        ("answer: {agent: agent_0, question: drwell.propose, answer: {goal: 3}}", "an answer to drwell.propose"),
        (
            "answer: {agent: agent_0, question: drwell.propose, answer: {goal: nowhere, reason: x}}",
            "changed answer of agent_0 to",
        ),
        ("plan: {agent: agent_0, plan: 'plan {'}", "the changed plan cannot be read"),
        ("plan: {agent: agent_0, plan: 'plan { fly() }'}", "the changed plan of agent_0 cannot be"),
        ("plan: {agent: agent_0, plan: 'plan for moon { wait() }'}", "for 'moon', which is no goal here"),
        ("hand_over: {agents: [agent_0]}", "expected a method, a reasoner, or both"),
        ("hand_over: {agents: [agent_0], method: dr_well}", "unknown method 'dr_well'; did you mean 'drwell'"),
        ("hand_over: {agents: [agent_0], reasoner: 'rules:x=1'}", "unknown option 'x' of reasoner 'rules'"),
        ("hand_over: {agents: [agent_0], method: cobel:nothing}", "has no variant"),
    ],
)
def test_a_change_that_cannot_be_is_refused_in_a_line_and_nothing_is_left(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    file, out = tmp_path / "change.yaml", tmp_path / "out"
    file.write_text(text)
    words = ["fork", str(recorded.out), "--episode", "2", "--step", "0", "--change", str(file), "--out", str(out)]
    assert command(words) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--episode", "7"], "has no finished episode 7 of drwell with seed 0: it has 1 to 2"),
        (["--method", "drwel"], "has no method 'drwel'; did you mean 'drwell'"),
        (["--seed", "9"], "has no seed 9; it has: 0, 1"),
        (["--step", "3"], "give both, or neither"),
    ],
)
def test_an_episode_that_is_not_there_is_refused(
    recorded: Recorded, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert command(["fork", str(recorded.out), *words]) == 2
    assert says in capsys.readouterr().err


def test_steps_beyond_the_episode_are_refused(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "change.yaml"
    file.write_text("message: {agent: agent_0, drop: true}")
    assert command(["fork", str(recorded.out), "--step", "1000", "--change", str(file)]) == 2
    assert f"has steps 0 to {STEPS - 1}, got 1000" in capsys.readouterr().err


@pytest.mark.heavy
def test_only_what_is_asked_otherwise_is_paid_for(server: Peer, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(reasoner=server.name(), max_steps=30, out=out)
    origin = find_episode(RunFolder(out), 1)
    server.reset()
    assert fork(origin, (), tmp_path / "null").row.digest == origin.row.digest
    assert server.stats()["completions"] == 0

    plan = next(event for event in origin.log if isinstance(event, PlanStart))
    change = changed(plan.step, plan={"agent": plan.agent, "plan": "plan { wait() }"})
    played = fork(origin, change, tmp_path / "plan")
    assert played.first_difference == plan.step
    with CallStore(tmp_path / "plan" / "results.sqlite", readonly=True) as calls:
        rows = calls.rows()
    paid = sum(not row.cached for row in rows)
    assert paid == server.stats()["completions"]
    assert 0 < paid < len(rows)
    shutil.rmtree(out)  # a fork is whole by itself
    assert command(["replay", str(tmp_path / "plan")]) == 0


@pytest.mark.heavy
def test_nothing_is_asked_before_the_change_where_the_record_is_gone(server: Peer, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(reasoner=server.name(), max_steps=30, out=out)
    origin = find_episode(RunFolder(out), 1)
    server.reset()
    (out / "results.sqlite").rename(out / "kept")
    with pytest.raises(UserError, match="is before the change, and not on record"):
        fork(origin, changed(20, hand_over={"agents": ["agent_0"], "method": "greedy"}), tmp_path / "fork")
    assert server.stats()["completions"] == 0


def test_the_log_of_a_fork_can_be_read_like_any_other(recorded: Recorded, tmp_path: Path) -> None:
    played = ForkPlayer(recorded.origin, tmp_path).play(
        changed(3, hand_over={"agents": ["agent_0"], "method": "greedy"})
    )
    assert list(read_log(tmp_path / "log")) == played.events
