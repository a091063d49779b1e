"""The command that writes a small package with a world or a method of one's own."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final, Literal

from teamworld.errors import UserError, brief

#: What is written, by what the template is called; ``$name`` and ``$title`` stand for the name of the package.
_FILES: Final = {
    "world": {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        "module": "$name/world.py",
        "test": "tests/test_$name.py",
    },
    "method": {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        "module": "$name/method.py",
        "prompt": "$name/prompts/choose.md.j2",
        "test": "tests/test_$name.py",
    },
}


def new(kind: Literal["world", "method"], name: str, *, out: Path | None = None) -> int:
    """Write a package with a world or a method of your own: it plays and its tests pass, and you change it.

    teamworld new world warehouse

    Parameters
    ----------
    kind:
        What it holds: a world on a grid, or a method that asks each agent for a task and a plan.
    name:
        Of the package: small letters, digits and '_'.
    out:
        Folder to write to; not there yet, or empty. [default: ./NAME]
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or keyword.iskeyword(name):
        raise UserError(f"expected a name of small letters, digits and '_', such as my_{kind}; got {brief(name)}")
    if find_spec(name) is not None and not Path(name).exists():
        raise UserError(f"there is a module named {name} already: choose another name")
    folder = Path(name) if out is None else out
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UserError(f"{folder} is there already: choose another name, or another folder with --out")
    words = {"name": name, "title": "".join(part.capitalize() for part in name.split("_"))}
    for template, place in _FILES[kind].items():
        path = folder / Template(place).substitute(words)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (Path(__file__).parent / "new" / kind / f"{template}.txt").read_text("utf-8")
        path.write_text(Template(text).substitute(words), "utf-8")
    (folder / name / "__init__.py").write_text(f'"""The {kind} {name}."""\n', "utf-8")
    label = f"{name}.world:World" if kind == "world" else f"{name}.method:{words['title']}"
    play = f"run {label} --method greedy" if kind == "world" else f"run cube --method {label}"
    print(f"{folder} holds the {kind} {name}. Next, in that folder:\n  teamworld {play} --out runs/first\n  pytest")
    return 0
