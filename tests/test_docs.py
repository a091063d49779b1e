"""What the README and the pages show is run: Python blocks and ``teamworld`` commands, in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from teamworld.cli import run

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "docs/worlds/cube.md",
    "docs/methods/drwell.md",
    "docs/methods/baselines.md",
    "docs/failures.md",
    "docs/replay.md",
    "docs/reproduce.md",
    "docs/prompts.md",
    "docs/records.md",
]


def blocks(text: str) -> list[tuple[str, str]]:
    """Return the code blocks of a page with their language."""
    return re.findall(r"^```(python|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    found = blocks((ROOT / page).read_text("utf-8"))
    assert found
    for language, code in found:
        if language == "python":
            exec(compile(code, page, "exec"), names)
            continue
        for line in code.splitlines():
            # Loops of a shell are for people; twenty seeds take too long here, two show the same.
            if line.startswith("teamworld ") and "$" not in line:
                command = shlex.split(line.split("#")[0].replace("--seeds 20", "--seeds 2"))
                assert run(command[1:]) == 0, capsys.readouterr().err


def test_links_and_pictures_exist() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md"]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_example_has_twenty_lines_or_so() -> None:
    code = next(code for language, code in blocks((ROOT / "README.md").read_text("utf-8")) if language == "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 25
