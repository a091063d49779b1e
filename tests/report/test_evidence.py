"""Pages of evidence: one file, its runs, its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.spec import load
from teamworld.metrics.definition import metrics
from teamworld.report import evidence
from teamworld.report.comparison import PairedDifference

pytestmark = pytest.mark.heavy

PAGE: dict[str, Any] = {
    "title": "A page",
    "about": "What it is about.",
    "common": {"world": "cube", "max_steps": 25, "seeds": [0, 1, 2, 3, 4]},
    "sections": [
        {
            "name": "parts",
            "title": "Parts",
            "experiment": {
                "methods": ["drwell", "drwell:no_memory"],
                "grid": {"reasoner": ["rules", "rules:noise=0.2"], "level": ["n1", "n2"]},
            },
            "references": True,
            "silent": ["drwell"],
            "by": ["reasoner", "level"],
            "metrics": ["completion", "steps"],
            "against": "drwell",
            "parts": {"drwell:no_memory": "the world model", "silent": "hearing"},
            "figure": "level",
        },
        {
            "name": "learning",
            "title": "Learning",
            "experiment": {
                "methods": ["drwell", "drwell:frozen", "drwell:half"],
                "options": {"drwell:half": {"freeze_after": 2}},
                "episodes": 4,
                "level": "n2",
            },
            "metrics": [
                "completion",
                "steps",
                "learning_steps",
                "learning_over_frozen_steps",
                "memory_rate_error",
                "memory_duration_error",
            ],
            "figure": "learning",
        },
        {
            "name": "transfer",
            "title": "Transfer",
            "experiment": {
                "methods": ["drwell"],
                "options": {"drwell": {"freeze_after": 0}},
                "grid": {"memory": [None, "learning/run"], "level": ["n2", "n4"]},
            },
            "by": ["level"],
            "metrics": ["transfer_completion", "transfer_steps"],
        },
    ],
}


def with_section(number: int, **fields: Any) -> dict[str, Any]:
    sections = [dict(section) for section in PAGE["sections"]]
    sections[number] |= fields
    return PAGE | {"sections": sections}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("evidence")
    (folder / "page.yaml").write_text(yaml.safe_dump(PAGE))
    assert command(["evidence", str(folder / "page.yaml"), "--out", str(folder / "runs")]) == 0
    return folder


def test_a_page_holds_every_section_with_its_tables_figures_and_verdicts(made: Path) -> None:
    text = (made / "runs" / "evidence.md").read_text("utf-8")
    assert text.startswith("# A page\n\n`teamworld evidence ")
    assert "writes this page; every number" in text
    assert text.count("<details") == text.count("</details>") > 0
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Parts", "## Learning", "## Transfer"]
    assert "`drwell:no_memory` (without the world model): " in text
    assert "**No difference can be supported by 5 pairs in each place: there are 32 of them.**" in text
    assert "corrected for all 32 differences of this section" in text  # 4 methods, 4 places, 2 metrics
    assert "stand-in rules:noise=0.2: rules that err, no language model" in text
    honest = next(line for line in text.splitlines() if line.startswith("| memory_rate_error "))
    assert honest.split("|")[2:4] == [" none ", " none "]
    assert "none" not in honest.split("|")[4]
    assert "**transfer_steps; n4**" in text
    linked = [part.split(")")[0] for part in text.split("](")[1:] if part.startswith("images/")]
    assert len(linked) == 3
    assert all((made / "runs" / name).stat().st_size > 1000 for name in linked)


def test_the_same_file_makes_the_same_page_from_the_same_runs(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, logs = made / "runs" / "evidence.md", sorted((made / "runs").rglob("*.zst"))
    before, times = page.read_bytes(), [path.stat().st_mtime_ns for path in logs]
    assert command(["evidence", str(made / "page.yaml"), "--out", str(made / "runs"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["page"], len(printed["figures"])) == (str(page), 3)
    assert page.read_bytes() == before
    assert [path.stat().st_mtime_ns for path in logs] == times


def test_the_folder_of_a_page_is_read_like_any_other(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("polars")
    assert len(teamworld.load(made / "runs").episodes) == 4 * 5 * 5 + 3 * 5 * 4 + 4 * 5
    assert command(["status", str(made / "runs"), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert all(run["done"] == run["wanted"] for run in runs)
    assert str(made / "runs" / "learning" / "run") in [run["run"] for run in runs]


def test_what_is_not_begun_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evidence.yaml").write_text(yaml.safe_dump(PAGE))
    assert command(["status", str(tmp_path)]) == 0
    assert "0 of 180 episodes are finished" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ({}, "title"),
        ({**PAGE, "sections": []}, "sections"),
        ({**PAGE, "wrong": 1}, "wrong"),
        (with_section(0, by=["levels"]), "section parts: nothing varies in 'levels'; did you mean 'level'"),
        (with_section(0, figure="instances"), "nothing varies in 'instances'"),
        (with_section(0, against="zero_shot"), "'zero_shot' is not run"),
        (with_section(0, parts={"drwell:no_memori": "x"}), "did you mean 'drwell:no_memory'"),
        (with_section(0, metrics=["O99"]), "there is no metric 'O99'"),
        (with_section(0, metrics=["all"]), "there is no metric 'all'"),
        (with_section(0, metrics=["O2,E1"]), "there is no metric 'O2,E1'"),
        (with_section(0, metrics=["completion", "completion"]), "a metric is named twice"),
        (with_section(0, silent=["greedy"]), "'greedy' is not run"),
        (
            with_section(2, experiment={"methods": ["drwell"], "memory": "learnin/run", "level": "n2"}, by=[]),
            "no earlier section runs in 'learnin/run'; did you mean",
        ),
        (
            with_section(2, experiment={"methods": ["drwell"], "memory": "/etc", "level": "n2"}, by=[]),
            "no earlier section",
        ),
        (
            with_section(2, experiment={"methods": ["drwell"], "memory": "../../x", "level": "n2"}, by=[]),
            "no earlier section",
        ),
        (with_section(0, experiment={"methods": ["drwell"], "levl": "n1"}), "section parts: .*levl"),
        (with_section(0, experiment={"methods": ["drwel"], "grid": {"reasoner": ["rules"], "level": ["n1"]}}), "drwel"),
        (with_section(1, name="parts"), "names its sections apart"),
        (with_section(1, name="../up"), "name"),
    ],
)
def test_what_is_no_page_is_told_in_one_line(page: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says) as error:
        evidence.parsed(page)
    assert "\n" not in str(error.value)


def test_a_page_is_a_markdown_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.yaml").write_text(yaml.safe_dump(PAGE))
    wrong = str(tmp_path / "page.html")
    assert command(["evidence", str(tmp_path / "page.yaml"), "--page", wrong, "--out", str(tmp_path / "o")]) == 2
    assert "--page is a Markdown file" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def found(where: str, by: float, p: float, metric: str = "steps") -> evidence._Tested:
    pair = PairedDifference("a", "b", metric, by, by - 1, by + 1, p, p, 1.0, 20)
    return evidence._Tested(tuple(where.split()), pair)


def test_a_verdict_says_where_a_part_is_worth_something_and_where_nothing() -> None:
    steps = metrics()["steps"]
    sentence = evidence._worth(
        steps, "memory", [found("n1", 0.5, 0.9), found("n2", 12.0, 0.01), found("n4", 8.0, 0.01)]
    )
    assert sentence == (
        "`a` (without memory): **worse** by 8 to 12 steps in 2 of 3 places (n2; n4); no supported difference in the "
        "other; intervals there reach 1.5 steps at most."
    )
    better = evidence._worth(metrics()["completion"], "", [found("n2", 2.0, 0.01, "completion")])
    assert better == "`a`: **better** by 2 in the one place."  # of completion, more is better
    neither = evidence._worth(metrics()["messages"], "", [found("n2", 5.0, 0.01, "messages")])
    assert neither == "`a`: **more** by 5 messages in the one place."
    single = found("n1", -12.0, 1.0)
    unsure = evidence._worth(steps, "", [single._replace(pair=single.pair._replace(low=None, high=None))])
    assert unsure == "`a`: no supported difference in any place."  # one seed: how far it may reach is not known
    nothing = evidence._worth(steps, "", [found("n1", 0.25, 0.9)])
    assert nothing == "`a`: no supported difference in any place; intervals there reach 1.25 steps at most."


def test_places_are_told_as_shortly_as_they_can() -> None:
    steps = metrics()["steps"]
    places = [f"{mind} {level}" for mind in ("rules", "slips") for level in ("n1", "n2", "n4")]
    worse = {"rules n2", "slips n2", "slips n4"}
    told = evidence._worth(steps, "", [found(one, 2.0 if one in worse else 0.0, 0.01) for one in places])
    assert told == (
        "`a`: **worse** by 2 steps in 3 of 6 places (n2; n4 with slips); no supported difference in the other 3; "
        "intervals there reach 1 steps at most."
    )
    every = evidence._worth(steps, "", [found(one, -2.0, 0.01) for one in places])
    assert every == "`a`: **better** by 2 steps in every place."


@pytest.mark.parametrize(
    ("name", "sections", "episodes"),
    [
        ("evidence", ["parts", "learning", "transfer"], 8_720),
        ("methods", ["cube", "sight", "rooms", "household", "wildfire", "lbf"], 3_320),
    ],
)
def test_the_pages_in_the_repository_can_be_made(name: str, sections: list[str], episodes: int) -> None:
    page = evidence.parsed(load(Path(__file__).parents[2] / "experiments" / f"{name}.yaml"))
    assert [section.name for section in page.sections] == sections
    assert len(page.common["seeds"]) == 20
    assert evidence.episodes(page) == episodes
