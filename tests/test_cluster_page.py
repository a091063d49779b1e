"""The job scripts of the page on clusters: a shell takes them, and each task plays its own shard."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from teamworld.cli import main
from teamworld.experiment.run_options import Shard, parse_shard
from teamworld.experiment.spec import build, load
from teamworld.experiment.store.folder import RunFolder, write_yaml

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "clusters.md").read_text("utf-8")
SHELL = shutil.which("bash")
pytestmark = pytest.mark.skipif(SHELL is None, reason="the scripts of the page are for bash")
#: Stands in the place of the command and writes down what it was called with.
STAND_IN = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word" >> "$CALLED"; done
"""


def section(title: str) -> str:
    """Return a section of the page."""
    return PAGE.split(f"\n### {title}\n")[1].split("\n### ")[0]


def shell_blocks(text: str, language: str = "sh") -> list[str]:
    """Return the code blocks of a section."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def call(script: str, folder: Path, **environment: str) -> list[str]:
    """Run a script as its task would, and return what it calls ``teamworld`` with."""
    assert SHELL is not None
    command = folder / "bin" / "teamworld"
    command.parent.mkdir(exist_ok=True)
    command.write_text(STAND_IN, "utf-8")
    command.chmod(0o755)
    called = folder / "called"
    called.write_text("", "utf-8")
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        [SHELL, "-eu", "-c", script], env={"PATH": path, "CALLED": str(called)} | environment, check=True, cwd=folder
    )
    return called.read_text("utf-8").splitlines()


def play(words: list[str]) -> int:
    """Run the command itself."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


def option(words: list[str], name: str) -> str:
    """Return the value of an option."""
    return words[words.index(name) + 1]


@pytest.mark.heavy
def test_the_tasks_of_the_slurm_array_play_the_whole_experiment(tmp_path: Path) -> None:
    script, submit = shell_blocks(section("Slurm"))
    for text in (script, submit):
        subprocess.run([str(SHELL), "-n", "-c", text], check=True)
    first, last = map(int, re.findall(r"#SBATCH --array=(\d+)-(\d+)", script)[0])
    assert first == 1
    fields: dict[str, Any] = {"level": "n1", "methods": ["greedy", "random"], "seeds": list(range(5)), "episodes": 2}
    write_yaml(tmp_path / "experiment.yaml", {**fields, "max_steps": 3})
    names = {"SLURM_ARRAY_TASK_COUNT": str(last), "SCRATCH": str(tmp_path)}
    for number in range(first, last + 1):
        words = call(script, tmp_path, SLURM_ARRAY_TASK_ID=str(number), **names)
        assert parse_shard(option(words, "--shard")) == Shard(number, last)
        words[words.index("experiment.yaml")] = str(tmp_path / "experiment.yaml")
        assert play([*words, "--json"]) == 0
    merge = re.findall(r'--wrap "teamworld (.*?)"', submit)[0]
    words = call(f"teamworld {merge}", tmp_path, SCRATCH=str(tmp_path))
    words[words.index("--out") + 1] = str(tmp_path / "joined")
    assert play(words) == 0
    joined, experiment = RunFolder(tmp_path / "joined"), build(load(tmp_path / "experiment.yaml"))
    assert joined.count_finished(joined.experiment()) == experiment.episode_count == 20


def test_the_indices_of_the_kubernetes_job_are_its_shards(tmp_path: Path) -> None:
    (text,) = shell_blocks(section("Kubernetes"), "yaml")
    job = yaml.safe_load(text)
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    spec = job["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["parallelism"] <= spec["completions"]
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # as limits by index ask for
    (container,) = pod["containers"]
    assert container["command"] == ["/bin/sh", "-c"]
    assert {mount["name"] for mount in container["volumeMounts"]} <= {volume["name"] for volume in pod["volumes"]}
    folders = set()
    for index in range(spec["completions"]):
        words = call(container["args"][0], tmp_path, JOB_COMPLETION_INDEX=str(index))
        assert parse_shard(option(words, "--shard")) == Shard(index + 1, spec["completions"])
        folders.add(option(words, "--out"))
    assert len(folders) == spec["completions"]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert all(any(folder.startswith(f"{mount}/") for mount in mounts) for folder in folders)
