"""What the package offers without importing it all."""

from __future__ import annotations

import subprocess
import sys

import pytest

import teamworld
import teamworld.worlds
from teamworld.cli import run as command


def test_a_fresh_interpreter_finds_every_part() -> None:
    names = [*teamworld.__all__, *(f"worlds.{world}" for world in teamworld.worlds.__all__)]
    code = f"""
import os, teamworld
for name in {names}:
    if not (child := os.fork()):  # as fresh as its parent
        exec(f"assert teamworld.{{name.partition('.')[0]}} is not None; teamworld.{{name}}")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dir_lists_what_there_is_and_nothing_else() -> None:
    assert set(dir(teamworld)) == {*teamworld.__all__, "__version__"}
    assert dir(teamworld.worlds) == sorted(teamworld.worlds.__all__)
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        getattr(teamworld, "unknown")  # noqa: B009
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        getattr(teamworld.worlds, "unknown")  # noqa: B009


def test_importing_the_package_imports_no_number_library() -> None:
    heavy = "{'numpy', 'numba', 'pydantic', 'rich', 'jinja2'}"
    code = f"import sys, teamworld; found = {heavy} & set(sys.modules); assert not found, found"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_none_is_taken_where_an_option_may_be_none_and_stays_a_word_where_it_is_one(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "cube", "--level", "n1", "--max-steps", "3", "--method", "drwell", "--json"]
    options = ["--set", "cube.view_radius=none", "--set", "drwell.memory=none", "--set", "messages.chars_per_tick=none"]
    assert command([*arguments, *options, "--out", str(tmp_path)]) == 0, capsys.readouterr().err
    assert command([*arguments, "--set", "cube.step_cost=none", "--out", f"{tmp_path}/other"]) == 2
    assert "step_cost" in capsys.readouterr().err
