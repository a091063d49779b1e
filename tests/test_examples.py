"""Examples run as they are told to."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.heavy
def test_two_minds_are_compared(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "compare_models.py"), "rules", "rules:noise=0.2", "--seeds", "2"]
    done = subprocess.run(
        [*command, "--episodes", "1", "--out", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "rules:noise=0.2" in done.stdout
    assert done.stdout.count("not supported") == 2  # by two seeds nothing can be


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "packages", "options"),
    [
        ("rl_ippo", ("torch", "gymnasium"), ("--steps", "4000", "--envs", "4", "--max-steps", "20")),
        ("rl_sb3", ("stable_baselines3", "pettingzoo"), ("--steps", "512", "--envs", "2", "--episodes", "2")),
        ("rl_rllib", ("ray", "torch", "pettingzoo"), ("--iterations", "1", "--episodes", "2")),
    ],
)
def test_learners_learn(name: str, packages: tuple[str, ...], options: tuple[str, ...], tmp_path: Path) -> None:
    if missing := [package for package in packages if find_spec(package) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    network = tmp_path / "pushers.onnx"
    saved = ("--out", str(network)) if name != "rl_rllib" and find_spec("onnxscript") is not None else ()
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *options, *saved],
        capture_output=True, text=True, timeout=290, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if "+-" in line]
    assert lines[0][0].rstrip(",") == "before"
    assert all(isfinite(float(line[-3])) for line in lines)
    if saved:
        assert network.read_bytes().startswith(b"\x08")
        assert not list(tmp_path.glob("*.data")), "all is in one file"


@pytest.mark.heavy
def test_the_pictures_of_the_reference_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = [sys.executable, str(EXAMPLES / "pictures.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=290, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"episode.png", "wildfire.png", "world_model.png"}
