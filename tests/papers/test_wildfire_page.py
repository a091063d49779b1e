"""The page of ``teamworld reproduce wildfire``, from end to end on a tiny plan."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from teamworld.cli import run
from teamworld.papers import wildfire
from teamworld.papers.reproduction import reproduce, title
from teamworld.papers.wildfire import METHODS, WildfirePlan
from teamworld.report import dot_plot

pytestmark = pytest.mark.heavy

CUT, FIRE = "cut_trees_sparse_small", "suppress_fire_contain"
#: Headings, commands and heads of tables of the page of the tiny plan, in order.
GOLDEN = """\
# Wildfire: our runs and the published scores
teamworld reproduce wildfire
## What holds
|  | claim | holds | does not hold | not decided | same | one seed |
1. Doing nothing scores 0.
| level | ours |
2. The scripted team reaches the maximum.
| level | ours |
3. A method reaches at least half of the scripted team's score: its score less half of the scripted team's, paired by seed.
| level | CAMON | COELA | Embodied | HMAS-2 |
4a. The scripted team lets less be destroyed than doing nothing, own agents not counted: points of trees, buildings and civilians saved, paired by seed.
| level | ours |
4b. The scripted team scores more than doing nothing, cut trees counted as lost: difference of score_reference, paired by seed.
| level | ours |
5. A method lets less burn than doing nothing (score_burnt): difference of score_burnt, paired by seed.
| level | CAMON | COELA | Embodied | HMAS-2 |
## Scores
![Scores as shares of the best](figures/scores.png)
## Doing nothing
| level | steps | ours: damage by fire | sd | ours: agents lost | published: score | agents lost in it | published: damage by fire |
## Competencies
![Behavioural Competency Scores](figures/competencies.png)
| competency | scripted | random | COELA | CAMON | HMAS-2 | Embodied | zero-shot |
| mean competency score | ours, rules | n | published, GPT-4o |
teamworld reproduce wildfire
## Levels
### cut_trees_sparse_small
teamworld reproduce wildfire --level cut_trees_sparse_small --seeds 2 --method zero_shot --quick
| method | score | sd | n | steps | messages | questions | published, GPT-4o (2026) | earlier (2025) | − do nothing | − scripted | comparable with the published |
### suppress_fire_contain
teamworld reproduce wildfire --level suppress_fire_contain --seeds 2 --method zero_shot --quick
| method | score_reference | damage by fire | trees cut | agents lost | sd | n | steps | messages | questions | published, GPT-4o (2026) | − do nothing | − scripted | comparable with the published |
"""  # noqa: E501  (lines of the page)


def skeleton(page: str) -> str:
    """Return what a page consists of, without its numbers."""
    lines, kept = page.splitlines(), []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        heading = line.startswith(("#", "![", "teamworld")) or re.match(r"\d[ab]?\. ", line)
        if heading or after.startswith("| ---"):
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def tables(page: str, level: str) -> dict[str, list[str]]:
    """Return the rows of a level's table by method."""
    part = page.split(f"### {level}\n")[1].split("\n### ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return {row[0]: row for row in rows}


def test_a_tiny_plan_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    out, seen = tmp_path / "out", list[str]()
    plan = WildfirePlan(seeds=2, levels=(CUT, FIRE), others=("zero_shot",), cap=12)
    result = reproduce(plan, out, "teamworld reproduce wildfire", seen.append)
    report = out / "report.md"
    page = report.read_text("utf-8")
    assert skeleton(page) == GOLDEN
    assert len(seen) == plan.size == 32
    assert str(tmp_path) not in page
    assert "Ours are rules, theirs a language model" in page
    assert "coela: 1 tick a message, paid by the speaker" in page
    assert page.count("<details markdown") == page.count("</details>") == 3
    assert "Step limit used: 12 (the level's own limit is 100)" in page
    for picture in result.figures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.with_suffix(".svg").read_text("utf-8").lstrip().startswith("<?xml")
    _check_numbers(page, result.numbers)
    # Again: nothing is run anew, and the page is the same to the byte; without what was beside, runs stay of use.
    monkeypatch.setattr(dot_plot, "save", lambda drawn, stem: stem.with_suffix(".png"))
    logs = {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")}
    assert len(logs) == 32
    assert reproduce(plan, out, "teamworld reproduce wildfire").numbers == result.numbers
    assert report.read_text("utf-8") == page
    reproduce(replace(plan, others=(), levels=(CUT,)), out, "teamworld reproduce wildfire")
    assert "zero-shot" not in report.read_text("utf-8")
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")} == logs


def _check_numbers(page: str, numbers: dict[str, object]) -> None:
    plain = json.loads(json.dumps(numbers, allow_nan=False))
    cut, fire = plain["levels"][CUT], plain["levels"][FIRE]
    assert len(cut["episodes"]) == 16
    assert cut["ours"]["do_nothing"]["score_reference"]["mean"] == 0
    assert cut["published"]["scores"]["camon"] == {"mean": 18.0, "sd": 0.0}
    assert plain["mind"] == "built-in rules, no language model"
    assert plain["seeds"] == [42, 43]
    rows = tables(page, CUT)
    assert rows["COELA"][7:9] == ["14 ± 4.18", "17 ± 5"]
    assert rows["scripted"][7] == "–"  # nothing is published of it: no 0
    assert rows["do nothing"][1].startswith("0 (2/2)")
    own = [score["reference"] for score in cut["episodes"] if score["method"] == "greedy"]
    assert float(rows["scripted"][1].split()[0]) == sum(own) / 2
    burning = tables(page, FIRE)
    assert burning["do nothing"][10] == "-780.67 ± 184.5"
    assert rows["do nothing"][-1] == "yes: 0 by the rules of the score"
    assert burning["CAMON"][-1] == "no: rules against GPT-4o, on other maps"
    for method, row in burning.items():
        if method in ("do nothing", "scripted"):  # the columns are the parts of the score
            score, damage, cut, lost = (float(cell.split()[0]) for cell in row[1:5])
            assert score == pytest.approx(-damage - cut - 20 * lost, abs=0.5)
    assert len(fire["episodes"]) == 16
    for score in fire["episodes"]:
        assert score["reference"] <= score["burnt"] <= 0


def test_the_command_prints_what_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(dot_plot, "save", lambda drawn, stem: stem.with_suffix(".png"))
    monkeypatch.setattr(wildfire, "METHODS", (METHODS[0], "greedy"))
    brief = ["reproduce", "wildfire", "--quick", "--level", f"{CUT},{FIRE}", "--references", f"{CUT},{FIRE}"]
    assert run([*brief, "--seeds", "1", "--out", str(tmp_path / "brief")]) == 0
    assert "only the reference teams were run" in (tmp_path / "brief" / "report.md").read_text("utf-8")
    capsys.readouterr()
    command = ["reproduce", "wildfire", "--quick", "--level", CUT, "--seeds", "1", "--out", str(tmp_path / "out")]
    assert run(command) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"1  {CUT}: doing nothing scores 0: holds (1 of 1 seeds)")
    page = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert page.startswith(title("wildfire"))
    assert f"teamworld reproduce wildfire --seeds 1 --level {CUT} --quick" in page
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["paper"] == "wildfire"
    # With more seeds in the same folder: the runs grow, and the page is made anew.
    assert run([word if word != "1" else "2" for word in command]) == 0
    assert capsys.readouterr().out.startswith(f"1  {CUT}: doing nothing scores 0: holds (2 of 2 seeds)")
    assert "--seeds 2" in (tmp_path / "out" / "report.md").read_text("utf-8")
