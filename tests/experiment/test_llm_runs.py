"""Runs with language models, on a real server on loopback: records, resuming, replaying, budgets, faults, keys."""

from __future__ import annotations

import gc
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

pytest.importorskip("pydantic_ai")

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.replay import replay
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import Results
from teamworld.metrics.event_table import CallRow
from teamworld.reasoning.llm.budget import OutOfBudget
from teamworld.reasoning.llm.contract import CallKey
from teamworld.reasoning.prompts import template_versions
from teamworld.record import LlmCall, QuestionAsked, read_log
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import Peer, running

BRAIN = "tests.reasoning.llm.player:plays"
STEPS = 30


def plain(server: Peer, **changes: Any) -> ExperimentSpec:
    """Return a small experiment with the server's model as the mind."""
    return build({"reasoner": server.name(), "methods": ["drwell"], "max_steps": STEPS} | changes)


def calls(out: Path) -> list[CallRow]:
    """Return the calls on record."""
    with CallStore(out / "results.sqlite", readonly=True) as store:
        return store.rows()


def test_every_call_is_on_record_and_in_the_log(server: Peer, tmp_path: Path) -> None:
    (row,) = run(plain(server), tmp_path / "a")
    events = list(read_log(next((tmp_path / "a").glob("logs/*/*.zst"))))
    logged = [event for event in events if isinstance(event, LlmCall)]
    asked = [event for event in events if isinstance(event, QuestionAsked)]
    kept = calls(tmp_path / "a")
    assert len(kept) == len(logged) == server.stats()["completions"] > 10
    assert len(logged) == sum(len(event.errors) + (not event.fallback) for event in asked)
    assert sum(event.prompt_tokens or 0 for event in logged) == sum(call.prompt_tokens or 0 for call in kept) > 1000
    assert {event.reasoner for event in asked} == {server.name()}
    assert sum(event.fallback for event in asked) < 0.3 * len(asked)
    assert row.summary.steps == STEPS


@pytest.mark.heavy
def test_two_runs_are_equal_whatever_the_order_of_answers(server: Peer, tmp_path: Path) -> None:
    experiment = plain(server, level="n4", seeds=[0, 1])
    run(experiment, tmp_path / "a")
    server.set(seconds=0.001, jitter=0.02, seed=3)
    run(experiment, tmp_path / "b", running=RunOptions(calls=3, jobs=1))
    assert logs(tmp_path / "a") == logs(tmp_path / "b")


def test_a_replay_opens_no_socket(server: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = plain(server, episodes=2)
    run(experiment, tmp_path / "a")

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    checked = list(replay(RunFolder(tmp_path / "a"), RunFolder(tmp_path / "a").experiment(), scratch))
    assert [episode.difference for episode in checked] == [None, None]


def test_a_replay_names_a_prompt_that_changed(server: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(plain(server), tmp_path / "a")
    monkeypatch.setattr("teamworld.worlds.cube.world.CubeView.text", lambda self, form="plain": "It is dark.")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(UserError, match=r"call drwell.propose 1 of agent_0.*was another request.*prompt"):
        list(replay(RunFolder(tmp_path / "a"), RunFolder(tmp_path / "a").experiment(), scratch))


def test_a_run_stops_at_its_budget_and_goes_on_with_a_larger_one(server: Peer, tmp_path: Path) -> None:
    experiment = plain(server)
    run(experiment, tmp_path / "whole")
    whole = sum((call.prompt_tokens or 0) + (call.output_tokens or 0) for call in calls(tmp_path / "whole"))
    server.reset()
    out = tmp_path / "a"
    with pytest.raises(OutOfBudget, match=r"the run has spent .* tokens.*--budget"):
        run(experiment, out, running=RunOptions(budget=f"{whole // 2}tok"))
    taken = [(call.prompt_tokens or 0) + (call.output_tokens or 0) for call in calls(out)]
    assert whole // 4 < sum(taken) <= whole // 2 + max(taken)  # a call is expected to take the mean
    run(experiment, out, running=RunOptions(budget=f"{2 * whole}tok"))
    assert logs(out) == logs(tmp_path / "whole")
    assert server.stats()["completions"] == len(calls(out))  # nothing was asked twice


def test_calls_that_wait_for_their_turn_are_not_sent_once_a_budget_is_spent(
    server: Peer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """All of them were let through while nobody knew what a call takes."""
    experiment = plain(server, methods=["zero_shot"], level="n4", episodes=16, max_steps=3)
    server.set(seconds=0.02)
    with pytest.raises(OutOfBudget, match=r"the run has spent .* tokens.*--budget"):
        run(experiment, tmp_path / "a", running=RunOptions(budget="500tok", calls=2))
    assert 0 < len(calls(tmp_path / "a")) == sum(server.stats()["came"].values()) <= 2
    gc.collect()
    assert not caplog.records  # a call that nobody waits for any more is not said to have failed unseen
    run(experiment, tmp_path / "a")
    assert len(calls(tmp_path / "a")) == sum(server.stats()["came"].values()) >= 64


def test_a_run_does_not_go_on_with_other_prompts(server: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no question of an unfinished episode is on record yet, which would tell."""
    experiment, out = plain(server, methods=["zero_shot"], episodes=2), tmp_path / "a"
    with pytest.raises(OutOfBudget):
        run(experiment, out, running=RunOptions(budget="1tok"))
    now = template_versions()
    changed = {"zero_shot/prompts/plan.md.j2", "drwell/prompts/propose.md.j2"}
    assert changed <= set(now)
    monkeypatch.setattr(
        "teamworld.experiment.store.folder.template_info",
        lambda name: now[name]._replace(hash="0") if name in changed else now[name],
    )
    asked = server.stats()["requests"]
    with pytest.raises(UserError, match=r"^zero_shot/prompts/plan.md.j2 has changed since the run in .* began"):
        run(experiment, out)
    assert server.stats()["requests"] == asked
    run(plain(server, methods=["drwell"], max_steps=2), tmp_path / "b")  # a new run has the new ones


def test_a_mixed_team(server: Peer, tmp_path: Path) -> None:
    name = server.name()
    run(plain(server, reasoner=f"agent_0=rules,@drwell.commit=rules,*={name}"), tmp_path / "a")
    events = list(read_log(next((tmp_path / "a").glob("logs/*/*.zst"))))
    asked = {(e.agent, e.purpose, e.reasoner) for e in events if isinstance(e, QuestionAsked)}
    assert {reasoner for agent, _, reasoner in asked if agent == "agent_0"} == {"rules"}
    assert ("agent_1", "drwell.commit", "rules") in asked
    assert ("agent_1", "drwell.propose", name) in asked


@pytest.mark.heavy
def test_answers_that_cannot_be_used_are_counted_apart(server: Peer, tmp_path: Path) -> None:
    server.set(brain="tests.reasoning.llm.brains:minimal")
    run(plain(server, max_steps=40), tmp_path / "a")
    events = list(read_log(next((tmp_path / "a").glob("logs/*/*.zst"))))
    flaws = {error.flaw for event in events if isinstance(event, QuestionAsked) for error in event.errors}
    assert flaws == {"intent"}  # sound in form, but no such task
    named = [e for e in events if isinstance(e, QuestionAsked) and "goal" in e.answer]
    assert len(named) > 1
    assert all(event.fallback and len(event.errors) == 3 for event in named)  # no plan hands a task back: an answer


@pytest.mark.heavy
def test_a_key_stands_in_no_file(server: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-test-0123456789abcdefghij"
    server.set(key=key, faults={"error": 0.2}, seed=1)
    monkeypatch.setenv("TEAMWORLD_API_KEY", key)
    run(plain(server, max_steps=10), tmp_path / "a", running=RunOptions(cache=tmp_path / "cache.sqlite"))
    monkeypatch.setenv("TEAMWORLD_API_KEY", f"{key}-wrong")
    with pytest.raises(UserError, match="--key-env") as error:
        run(plain(server, max_steps=10), tmp_path / "b")
    assert key not in str(error.value)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert not any(key.encode() in path.read_bytes() for path in files)
    assert not any(key in repr(event) for path in tmp_path.rglob("*.zst") for event in read_log(path, whole=False))


def test_a_cache_answers_a_second_run(server: Peer, tmp_path: Path) -> None:
    experiment, cache = plain(server), tmp_path / "cache.sqlite"
    run(experiment, tmp_path / "a", running=RunOptions(cache=cache))
    first = server.stats()["completions"]
    run(experiment, tmp_path / "b", running=RunOptions(cache=cache))
    assert server.stats()["completions"] == first
    assert logs(tmp_path / "a") == logs(tmp_path / "b")
    assert all(call.cached for call in calls(tmp_path / "b"))


RUN = """
import os, signal, sys
from pathlib import Path
from teamworld.experiment.store.recorded_calls import EpisodeCalls
from teamworld.experiment.spec import build
from teamworld.experiment.runner import run
add, added = EpisodeCalls.add, []
def kill(*arguments):
    add(*arguments)
    added.append(arguments)
    if len(added) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
EpisodeCalls.add = kill
given = {"reasoner": sys.argv[1], "methods": ["drwell"], "level": "n4", "max_steps": 30, "episodes": 1}
run(build(given), Path(sys.argv[2]))
"""


@pytest.mark.heavy
def test_a_killed_run_asks_only_what_is_not_answered(server: Peer, tmp_path: Path) -> None:
    server.set(seconds=0.02)
    experiment = plain(server, level="n4", episodes=1)
    run(experiment, tmp_path / "whole")
    asked = server.stats()["completions"]
    server.reset()
    server.set(seconds=0.02)
    out = tmp_path / "a"
    for share in (0.25, 0.35):  # of all answers, the second on top of the first
        command = [sys.executable, "-c", RUN, server.name(), str(out), str(max(1, round(share * asked)))]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    run(experiment, out)
    assert logs(out) == logs(tmp_path / "whole")
    with (
        Results(out / "results.sqlite", readonly=True) as results,
        Results(tmp_path / "whole" / "results.sqlite", readonly=True) as others,
    ):
        assert [row.digest for row in results.rows()] == [row.digest for row in others.rows()]
    came = server.stats()["came"].values()
    assert sum(came) - len(calls(out)) <= 4 * 2  # at most the calls in flight, one for each agent, at each kill


def test_what_cannot_be_used_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TEAMWORLD_API_KEY", "OPENAI_API_KEY", "TEAMWORLD_KEYS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(UserError, match="openai:gpt-4o needs a key"):
        run(build({"reasoner": "openai:gpt-4o"}), tmp_path / "a")
    with pytest.raises(UserError, match="a budget in usd needs a price"):
        run(build({"reasoner": "http://127.0.0.1:9/v1#m"}), tmp_path / "a", running=RunOptions(budget="5usd"))
    with pytest.raises(UserError, match="a person answers at a terminal"):
        run(build({"reasoner": "agent_0=human,*=rules"}), tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_finished_run_needs_neither_server_nor_key(tmp_path: Path) -> None:
    with running(BRAIN) as peer:
        experiment = plain(peer, max_steps=5)
        rows = run(experiment, tmp_path / "a")
    assert run(experiment, tmp_path / "a") == rows


def test_a_change_of_sampling_is_the_same_once_it_was_written(server: Peer, tmp_path: Path) -> None:
    experiment = plain(server, max_steps=5, sampling={"drwell.*": {"temperature": None, "seed": 1}})
    run(experiment, tmp_path / "a")
    held = RunFolder(tmp_path / "a").experiment()
    assert held.overrides() == experiment.overrides()
    (tmp_path / "scratch").mkdir()
    assert [episode.difference for episode in replay(RunFolder(tmp_path / "a"), held, tmp_path / "scratch")] == [None]


def test_calls_on_their_way_when_a_run_stops_come_back(server: Peer, tmp_path: Path) -> None:
    server.set("slow", held=True)
    reasoner = f"agent_0={server.name('slow')},*={server.name('quick')}"
    experiment = plain(server, reasoner=reasoner, methods=["zero_shot"], level="n4", seeds=[0, 1, 2, 3])
    notices: list[str] = []

    def release(line: str) -> None:
        notices.append(line)
        server.release()

    with pytest.raises(OutOfBudget):
        run(experiment, tmp_path / "a", running=RunOptions(budget="500tok", calls=2), watch=RunMonitor(notice=release))
    on_record = calls(tmp_path / "a")
    assert len(on_record) == sum(server.stats()["came"].values())
    assert sum(call.model.endswith("slow") for call in on_record) == 2
    assert [line for line in notices if "on their way" in line]


def test_a_cache_gets_what_a_kill_kept_from_it(server: Peer, tmp_path: Path) -> None:
    experiment, cache = plain(server, max_steps=10), tmp_path / "cache.sqlite"
    run(experiment, tmp_path / "a")
    change = sqlite3.connect(tmp_path / "a" / "results.sqlite")
    with change:
        change.execute("DELETE FROM episodes")  # as if the process had been killed after its last call
    change.close()
    run(experiment, tmp_path / "a", running=RunOptions(cache=cache))
    first = server.stats()["completions"]
    run(experiment, tmp_path / "b", running=RunOptions(cache=cache))
    assert server.stats()["completions"] == first


def test_a_price_that_is_given_later_holds_for_earlier_calls(server: Peer, tmp_path: Path) -> None:
    experiment, prices = plain(server), tmp_path / "prices.yaml"
    with pytest.raises(OutOfBudget):
        run(experiment, tmp_path / "a", running=RunOptions(budget="9ktok"))
    spent = sum((call.prompt_tokens or 0) + (call.output_tokens or 0) for call in calls(tmp_path / "a"))
    costs = "{prompt: 1, cached: 1, output: 1}"
    prices.write_text(f'date: 2026-01-01\nsource: a test\nmodels:\n  "{server.name()}": {costs}\n')
    with pytest.raises(OutOfBudget, match=f"has spent {spent / 1e6:.6f}".rstrip("0")):
        run(experiment, tmp_path / "a", running=RunOptions(budget="0.000001usd", prices=prices))
    run(experiment, tmp_path / "a", running=RunOptions(budget="5usd", prices=prices))


@pytest.mark.heavy
def test_a_prompt_is_shown_as_it_was_sent_and_sent_again(
    server: Peer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a"
    run(plain(server, reasoner=server.name("once-prose"), max_steps=40), out)
    asked = ["prompts", "drwell.propose", "--run", str(out), "--agent", "agent_1"]
    with CallStore(out / "results.sqlite", readonly=True) as store:
        for attempt in (0, 1):
            record = store.of(build({}).cells()[0], 1).find(CallKey("agent_1", "drwell.propose", 1, attempt))
            assert record is not None
            assert command([*asked, "--attempt", str(attempt)]) == 0
            told = "".join(f"==== {turn.role} ====\n{turn.text}\n" for turn in record.request.turns)
            assert capsys.readouterr().out == told
    assert "This answer cannot be used: " in told
    assert "Answer with one JSON object" in told  # the form that this server's model is told
    assert command([*asked, "--attempt", "3"]) == 2
    assert "was not asked drwell.propose number 1 again 3 times" in capsys.readouterr().err
