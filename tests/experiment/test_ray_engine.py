"""Runs on a Ray cluster: the bytes of the local engine, whatever is killed, and one process that makes all calls."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.results import EpisodeRow
from teamworld.papers import PaperOptions, prepare
from tests.experiment.test_shards import WHOLE, state
from tests.reasoning.llm.server import Peer

WITHOUT_RAY = pytest.mark.skipif(
    "__import__('importlib.util').util.find_spec('ray') is not None", reason="Ray is there"
)
RAY = RunOptions(engine="ray", processes=2)


@pytest.fixture(scope="module")
def cluster() -> Iterator[ModuleType]:
    """A cluster of two workers on this machine."""
    ray = pytest.importorskip("ray")
    yield ray
    ray.shutdown()


@pytest.mark.parametrize("text", ["", "rays", "dask", "Ray"])
def test_what_is_no_engine_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--engine is local, ray or ray:ADDRESS"):
        RunOptions(engine=text)


@WITHOUT_RAY
def test_without_ray_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"needs the extra ray: pip install 'teamworld\[ray\]'"):
        run(build(WHOLE), tmp_path / "run", running=RAY)


@pytest.mark.heavy
def test_a_run_on_ray_has_the_bytes_of_a_local_one(cluster: ModuleType, tmp_path: Path) -> None:
    seen: list[EpisodeRow] = []
    rows = run(build(WHOLE), tmp_path / "ray", seen.append, RAY)
    run(build(WHOLE), tmp_path / "one", running=RunOptions(processes=1))
    assert state(tmp_path / "ray") == state(tmp_path / "one")
    assert sorted(row[:2] for row in seen) == sorted(row[:2] for row in rows)
    assert len(rows) == 36


@pytest.mark.heavy
def test_the_same_call_goes_on_after_an_interrupt(cluster: ModuleType, tmp_path: Path) -> None:
    seen: list[EpisodeRow] = []

    def stop(row: EpisodeRow) -> None:
        seen.append(row)
        if len(seen) == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(build(WHOLE), tmp_path / "ray", stop, RAY)
    run(build(WHOLE), tmp_path / "ray", running=RAY)
    run(build(WHOLE), tmp_path / "one", running=RunOptions(processes=1))
    assert state(tmp_path / "ray") == state(tmp_path / "one")


def workers() -> list[int]:
    """Return the process ids of Ray's workers that play episodes."""
    psutil = pytest.importorskip("psutil")
    own = psutil.Process().children(recursive=True)
    return [child.pid for child in own if child.name().startswith("ray::play_batch")]


@pytest.fixture
def killing(cluster: ModuleType) -> Iterator[Callable[[int], list[int]]]:
    """Kill workers at random while a test runs, up to a number."""
    stop, killed, threads = threading.Event(), list[int](), list[threading.Thread]()

    def kill(most: int) -> list[int]:
        draws = random.Random(0)

        def work() -> None:
            while len(killed) < most and not stop.wait(draws.uniform(0.2, 0.8)):
                if alive := workers():
                    killed.append(draws.choice(alive))
                    os.kill(killed[-1], signal.SIGKILL)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return killed

    yield kill
    stop.set()
    for thread in threads:
        thread.join()


@pytest.mark.heavy
def test_killed_workers_lose_nothing_and_play_nothing_twice(
    cluster: ModuleType, killing: Callable[[int], list[int]], tmp_path: Path
) -> None:
    fields = WHOLE | {"episodes": 30, "methods": ["drwell", "random"]}
    killed, seen = killing(5), list[EpisodeRow]()
    rows = run(build(fields), tmp_path / "ray", seen.append, RAY)
    assert killed
    assert len(seen) == len(rows) == 240
    run(build(fields), tmp_path / "one", running=RunOptions(processes=1))
    assert state(tmp_path / "ray") == state(tmp_path / "one")


# ---- language models


def asking(server: Peer, **changes: Any) -> ExperimentSpec:
    fields = {"reasoner": server.name(), "methods": ["drwell"], "level": "n1", "max_steps": 12, "seeds": [0, 1, 2]}
    return build(fields | {"episodes": 2} | changes)


@pytest.mark.heavy
def test_one_process_makes_the_calls_of_all_workers(cluster: ModuleType, server: Peer, tmp_path: Path) -> None:
    run(asking(server), tmp_path / "one")
    paid = server.stats()["completions"]
    run(asking(server), tmp_path / "ray", running=RAY)
    assert server.stats()["completions"] == 2 * paid > 0
    ours, theirs = state(tmp_path / "ray"), state(tmp_path / "one")
    assert ours == theirs


@pytest.mark.heavy
def test_a_budget_holds_for_all_workers_and_the_run_goes_on(cluster: ModuleType, server: Peer, tmp_path: Path) -> None:
    few = RunOptions(engine="ray", processes=2, budget="1ktok")
    with pytest.raises(UserError, match="give the same command with a larger --budget"):
        run(asking(server), tmp_path / "ray", running=few)
    paid = server.stats()["completions"]
    assert paid > 0
    run(asking(server), tmp_path / "ray", running=RAY)
    total = server.stats()["completions"]
    run(asking(server), tmp_path / "one")
    assert server.stats()["completions"] == 2 * total, "no call is made twice"
    assert state(tmp_path / "ray")["logs"] == state(tmp_path / "one")["logs"]


@pytest.mark.heavy
def test_killed_workers_pay_no_call_twice(
    cluster: ModuleType, killing: Callable[[int], list[int]], server: Peer, tmp_path: Path
) -> None:
    run(asking(server), tmp_path / "one")
    paid = server.stats()["completions"]
    server.set(seconds=0.05)
    killed = killing(3)
    run(asking(server), tmp_path / "ray", running=RAY)
    assert killed
    assert server.stats()["completions"] == 2 * paid
    assert state(tmp_path / "ray")["logs"] == state(tmp_path / "one")["logs"]


@pytest.mark.heavy
def test_the_worth_of_messages_on_ray_is_that_of_this_process(
    cluster: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    shown: list[str] = []
    fields: dict[str, Any] = {"world": "cube", "level": "n2", "methods": ["drwell"], "max_steps": 8, "episodes": 2}
    run(build(fields), out)
    for engine in ("local", "ray"):
        assert command(["worth", str(out), "--episode", "2", "--processes", "1", "--engine", engine, "--json"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert command(["worth", str(out), "--engine", "dask"]) == 2


@pytest.mark.heavy
def test_a_reproduction_on_ray_has_the_numbers_of_this_machine(cluster: ModuleType, tmp_path: Path) -> None:
    numbers = []
    for engine in (None, "ray"):
        options = PaperOptions(episodes="dev:2", method=["greedy"], engine=engine)
        made = prepare("cwah", options, tmp_path / str(engine)).run(lambda text: None)
        assert made is not None
        numbers.append({name: value for name, value in made.numbers.items() if name != "page"})
        assert "--engine" not in (tmp_path / str(engine) / "report.md").read_text()
    assert numbers[0] == numbers[1]


def test_times_of_one_machine_are_not_measured_on_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="measures times, which belong to one machine: leave out --shard and --engine"):
        prepare("cube", PaperOptions(quick=True, engine="ray"), tmp_path / "cube").run(lambda text: None)
