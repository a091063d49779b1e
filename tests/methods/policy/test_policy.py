"""A trained network plays as a method and a teammate, is recorded by what it holds, and replays without its file."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teamworld.cli import run as main
from teamworld.errors import UserError
from teamworld.experiment.spec import build
from teamworld.methods import registry
from teamworld.methods.policy import network
from teamworld.methods.policy.naming import name_files
from teamworld.record import ActionStep, EpisodeStart, Event, read_log
from teamworld.worlds.cube import parallel_env
from teamworld.worlds.cube.levels import layout_for
from tests.methods.policy.onnx_bytes import linear, not_a_number

SIDE = layout_for("paper-n2", 0).grid_size
WEIGHTS = np.random.default_rng(4).normal(size=(SIDE * SIDE * 6, 5)).astype(np.float32)
BIAS = np.zeros(5, np.float32)
needs_runtime = pytest.mark.skipif(find_spec("onnxruntime") is None, reason="the extra [policy] is not installed")


class Session:
    """What ``onnxruntime.InferenceSession`` does with networks of ``linear``, for who has not installed it."""

    def __init__(self, data: bytes, *_: object, **__: object) -> None:
        assert data.startswith(b"\x08")

    def get_inputs(self) -> Sequence[Any]:
        return [type("Input", (), {"name": "seen", "type": "tensor(float)", "shape": ["n", SIDE, SIDE, 6]})]

    def get_outputs(self) -> Sequence[Any]:
        return [type("Output", (), {"name": "scores"})]

    def run(self, outputs: Iterable[str], given: dict[str, np.ndarray[Any, Any]]) -> list[Any]:
        return [given["seen"].reshape(1, -1) @ WEIGHTS + BIAS]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    network.open_network.cache_clear()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A network that onnxruntime runs, or a stand-in for it where it is not installed."""
    if find_spec("onnxruntime") is None:
        runtime: Any = type(sys)("onnxruntime")
        runtime.InferenceSession = Session
        config = {"add_session_config_entry": lambda *_: None}
        runtime.SessionOptions = type("SessionOptions", (), config)
        monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    path = tmp_path / "Push-2.onnx"
    path.write_bytes(linear(["n", SIDE, SIDE, 6], WEIGHTS, BIAS))
    return path


def play(out: Path, method: str, *more: str) -> int:
    return main(["run", "cube", "--method", method, "--max-steps", "25", "--out", str(out), *more])


def events(out: Path) -> list[Event]:
    [log] = out.glob("logs/*/*.zst")
    return list(read_log(log))


def test_it_plays_what_the_network_says(tmp_path: Path, file: Path) -> None:
    assert play(tmp_path / "run", f"policy:{file}") == 0
    env = parallel_env(layout=layout_for("paper-n2", 0), agent_indicator=True, max_steps=25)
    seen, _ = env.reset(seed=0)
    words = {0: "idle", 1: "up", 2: "down", 3: "left", 4: "right"}
    for step in range(25):
        done = [e for e in events(tmp_path / "run") if isinstance(e, ActionStep) and e.step == step]
        chosen = {agent: int((seen[agent].reshape(-1) @ WEIGHTS + BIAS).argmax()) for agent in env.agents}
        assert {e.agent: "idle" if e.verb == "idle" else e.args[0] for e in done} == {
            agent: words[number] for agent, number in chosen.items()
        }
        seen = env.step(chosen)[0]


def test_records_hold_what_the_file_holds_and_not_where_it_is(tmp_path: Path, file: Path) -> None:
    assert play(tmp_path / "run", f"policy:{file}", "--set", "policy.choose=sample") == 0
    start = events(tmp_path / "run")[0]
    assert isinstance(start, EpisodeStart)
    assert start.method_options == {"choose": "sample", "digest": network.digest_of(file.read_bytes())}
    assert [folder.name for folder in (tmp_path / "run" / "logs").iterdir()] == ["policy-push_2-s0"]


@pytest.mark.parametrize("method", ["policy:{}", "coela+policy:{}", "policy:{}+coela"])
@pytest.mark.parametrize("choose", ["argmax", "sample"])
def test_a_replay_needs_neither_file_nor_package(
    tmp_path: Path,
    file: Path,
    method: str,
    choose: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert play(tmp_path / "run", method.format(file), "--set", f"policy.choose={choose}") == 0
    file.unlink()
    network.open_network.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert main(["replay", str(tmp_path / "run")]) == 0
    assert "byte for byte" in capsys.readouterr().out


def test_a_replay_of_an_altered_record_says_so(tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(tmp_path / "run", f"policy:{file}", "--seeds", "2") == 0
    first, second = sorted((tmp_path / "run").glob("logs/*"))
    shutil.copy(next(first.iterdir()), next(second.iterdir()))
    assert main(["replay", str(tmp_path / "run")]) == 1
    assert "seed" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["policy:{}", "coela+policy:{}"])
def test_an_agent_of_a_team_may_be_a_policy(tmp_path: Path, file: Path, method: str) -> None:
    assert play(tmp_path / "run", method.format(file)) == 0
    verbs = {e.verb for e in events(tmp_path / "run") if isinstance(e, ActionStep) and e.agent == "agent_0"}
    assert (verbs <= {"move", "idle"}) == method.startswith("policy")
    others = {e.verb for e in events(tmp_path / "run") if isinstance(e, ActionStep) and e.agent == "agent_1"}
    assert others <= {"move", "idle"}


def test_draws_are_named_by_seed_and_agent(tmp_path: Path, file: Path) -> None:
    played = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert play(tmp_path / name, f"policy:{file}", "--set", "policy.choose=sample", "--seed", seed) == 0
        played.append([(e.agent, e.verb, e.args) for e in events(tmp_path / name) if isinstance(e, ActionStep)])
    assert played[0] == played[1] != played[2]


def test_a_run_goes_on_with_the_same_file_alone(tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, data = tmp_path / "run", file.read_bytes()
    assert play(out, f"policy:{file}") == 0
    file.write_bytes(linear(["n", SIDE, SIDE, 6], WEIGHTS + 1, BIAS))
    network.open_network.cache_clear()
    assert play(out, f"policy:{file}", "--seeds", "2") == 2  # the same words, another network
    assert "policy:push_2.digest is sha256:" in capsys.readouterr().err
    shutil.rmtree(out / "logs")
    (out / "results.sqlite").unlink()
    assert main(["resume", str(out)]) == 2
    assert "is another than the run was begun with" in capsys.readouterr().err
    file.write_bytes(data)
    assert main(["resume", str(out)]) == 0


def refusal(capsys: pytest.CaptureFixture[str], out: Path, method: str, *more: str) -> str:
    assert play(out, method, *more) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert not out.exists(), "nothing is written before the file is known to fit"
    return str(line)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"PK\x03\x04rest", "is a pickle, which can run any code"),
        (b"\x80\x04\x95rest", "is a pickle, which can run any code"),
        (b"hello", "is no ONNX file; export the network: torch.onnx.export("),
        (b"", "is no ONNX file"),
    ],
)
def test_bad_files_end_in_a_line(
    tmp_path: Path, data: bytes | None, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.onnx"
    if data is not None:
        path.write_bytes(data)
    assert says in refusal(capsys, tmp_path / "run", f"policy:{path}")


def test_a_folder_and_a_missing_package_end_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "cannot be read (Is a directory)" in refusal(capsys, tmp_path / "run", f"policy:{tmp_path}/")
    path = tmp_path / "net.onnx"
    path.write_bytes(linear(["n", SIDE, SIDE, 6], WEIGHTS, BIAS))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "pip install 'teamworld[policy]'" in refusal(capsys, tmp_path / "run", f"policy:{path}")


@needs_runtime
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x08\x08rest", "cannot be opened as an ONNX file"),
        (linear(["n", 9, 9, 6], WEIGHTS[: 9 * 9 * 6], BIAS), "got (9, 9, 6)"),
        (linear([2, SIDE, SIDE, 6], WEIGHTS, BIAS), "with a batch of 1 or any size"),
        (linear(["n", SIDE, SIDE, 6], WEIGHTS[:, :4], BIAS[:4]), "for each of the 5 actions, shape (1, 5); got (1, 4)"),
        (linear(["n", SIDE, SIDE, 6], WEIGHTS, BIAS, inputs=2), "this has 2: seen, more_0"),
        (linear(["n", SIDE, SIDE, 6], WEIGHTS, BIAS, outside=True), "its weights stand in another file"),
        (linear(["n", SIDE, SIDE, 6], WEIGHTS, BIAS + not_a_number()), "a score of an action is not finite"),
    ],
)
def test_networks_that_do_not_fit_end_in_a_line(
    tmp_path: Path, data: bytes, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "net.onnx").write_bytes(data)
    assert says in refusal(capsys, tmp_path / "run", f"policy:{tmp_path}/net.onnx")


@needs_runtime
def test_windows_are_taken_as_bytes(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).normal(size=(49, 5)).astype(np.float32)
    (tmp_path / "net.onnx").write_bytes(linear(["n", 7, 7], weights, BIAS, kind=2))
    assert play(tmp_path / "run", f"policy:{tmp_path}/net.onnx", "--level", "paper-n4") == 0


@needs_runtime
def test_what_becomes_infinite_while_it_plays_ends_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Zeros, on which it is tried before the run, give finite scores."""
    (tmp_path / "net.onnx").write_bytes(linear(["n", SIDE, SIDE, 6], np.full_like(WEIGHTS, 3e38), BIAS))
    assert play(tmp_path / "run", f"policy:{tmp_path}/net.onnx") == 2
    assert "a score of an action is not finite" in capsys.readouterr().err


def test_a_world_without_arrays_is_refused(tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rooms", "--method", f"policy:{file}", "--out", str(tmp_path / "run")]) == 2
    assert "it needs arrays (what an agent observes and does, in numbers)" in capsys.readouterr().err


def test_labels_hold_no_path(tmp_path: Path) -> None:
    named = name_files(["drwell", "coela+policy:nets/My Net-3.onnx", "policy:team"], {"drwell": {}})
    assert named.methods == ["drwell", "coela+policy:my_net_3", "policy:team"]
    assert named.options == {"drwell": {}, "policy:my_net_3": {"file": "nets/My Net-3.onnx"}}
    assert name_files(named.methods, named.options) == named
    with pytest.raises(UserError, match=r"a/net.onnx and b/net.onnx would both be called policy:net: rename one"):
        build({"methods": ["policy:a/net.onnx", "policy:b/net.onnx"]})


def test_a_policy_without_a_file_says_how_to_name_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "name a file: policy:FILE.onnx" in refusal(capsys, tmp_path / "run", "policy")
    assert "policy" not in registry.ready_names()
    assert main(["methods", "policy"]) == 0
    listed = capsys.readouterr().out
    assert "--set policy.choose=argmax" in listed
    assert "Undefined" not in listed


def test_importing_the_package_does_not_import_the_runtime() -> None:
    importlib.import_module("teamworld.methods.policy.method")
    assert "onnxruntime" not in sys.modules or find_spec("onnxruntime") is not None
