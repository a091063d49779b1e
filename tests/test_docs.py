"""What the README and the pages show is run: Python blocks and ``teamworld`` commands, in a folder with their files."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from teamworld import plugins
from teamworld.cli import run
from teamworld.reasoning.llm.model_names import HOSTED
from tests.reasoning.llm.server import Peer, running
from tests.reasoning.llm.test_mailbox import least, someone

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "docs/reference/worlds/cube.md",
    "docs/reference/worlds/rooms.md",
    "docs/reference/worlds/overcooked.md",
    "docs/reference/worlds/household.md",
    "docs/reference/worlds/transport.md",
    "docs/reference/worlds/lbf.md",
    "docs/reference/worlds/rware.md",
    "docs/reference/worlds/wildfire.md",
    "docs/reference/worlds/wildfire-land.md",
    "docs/reference/worlds/wildfire-units.md",
    "docs/reference/worlds/wildfire-observations.md",
    "docs/reference/methods/coela.md",
    "docs/reference/methods/cobel.md",
    "docs/reference/methods/camon.md",
    "docs/reference/methods/hmas.md",
    "docs/reference/methods/embodied.md",
    "docs/reference/methods/mhp.md",
    "docs/reference/methods/drwell.md",
    "docs/reference/methods/baselines.md",
    "docs/reference/failures.md",
    "docs/how-to/replay.md",
    "docs/how-to/fork.md",
    "docs/how-to/capsules.md",
    "docs/how-to/reproduce.md",
    "docs/reference/prompts.md",
    "docs/how-to/records.md",
    "docs/how-to/clusters.md",
    "docs/how-to/scale.md",
    "docs/how-to/models.md",
    "docs/how-to/learning.md",
    "docs/reference/metrics.md",
    "docs/how-to/compare.md",
    "docs/how-to/bounds.md",
    "docs/how-to/messages.md",
    "docs/how-to/environments.md",
    "docs/tutorial/first_run.md",
    "docs/tutorial/grid_world.md",
    "docs/tutorial/your_world_play.md",
    "docs/tutorial/your_method.md",
]
#: A page that continues another, with the page before it.
PARTS = {"docs/tutorial/your_world_play.md": ("docs/tutorial/your_world.md",)}
#: Where pages have a server of their reader's own; the tests put one of theirs there, and at OpenAI's address.
SERVER = "http://localhost:8000/v1"
#: And a database.
DATABASE = "postgresql://ada@db.example.org/teams"
#: What repeats itself takes too long here; so many rounds, and steps of an episode, show the same.
ROUNDS = {"--seeds": 2, "--episodes": 3, "--max-steps": 30}
#: Options by a word of the command: fewer runs of a paper, and fewer steps where a model is asked for each answer.
FEWER = {"--quick": ("--seeds", "1"), "--reasoner": ("--max-steps", "10"), "embodied:reflect": ("--max-steps", "30")}
USAGE = ("prompt_tokens", "completion_tokens")
LLAMA = find_spec("llama_cpp") is not None and find_spec("gguf") is not None


@pytest.fixture(scope="module")
def server() -> Iterator[Peer]:
    with running("tests.reasoning.llm.player:plays") as peer:
        yield peer


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Return the code blocks of a page: language, name of the file that it belongs to or nothing, and code."""
    return re.findall(r'^```(python|console|jinja|yaml)(?: title="(.*?)")?\n(.*?)^```', text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Be in an empty folder, and forget the modules that were imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    plugins._loaded.clear()
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__spec__", "")):
            del sys.modules[name]


@pytest.mark.heavy
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(
    page: str,
    server: Peer,
    folder: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(HOSTED, "openai", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    names: dict[str, object] = {}
    found = [block for part in (*PARTS.get(page, ()), page) for block in blocks((ROOT / part).read_text("utf-8"))]
    assert found
    database = request.getfixturevalue("postgres").database() if any(DATABASE in code for *_, code in found) else ""
    for language, title, code in found:
        if title:
            (folder / title).parent.mkdir(parents=True, exist_ok=True)
            with (folder / title).open("a", encoding="utf-8") as file:
                file.write(f"{code}\n\n")
            continue
        if language == "python":
            exec(compile(code, page, "exec"), names)
            continue
        for line in code.splitlines():
            # Loops of a shell are for people.
            if not line.startswith("teamworld ") or "$" in line or ("gguf:" in line and not LLAMA):
                continue
            if match := re.search(r"gguf:([^ ]+)", line):
                _model_file(Path(match[1]))
            line = line.replace(SERVER, f"http://localhost:{server.port}/v1").replace(DATABASE, database)
            command = shlex.split(re.sub(r" +# .*", "", line))
            with someone(Path("box"), least) if "mailbox:box" in line else nullcontext():
                assert run(fewer(command[1:])) == 0, capsys.readouterr().err


def test_the_batch_of_the_page_on_models_brings_its_answers(folder: Path) -> None:
    [code] = [
        code for _, title, code in blocks((ROOT / "docs/how-to/models.md").read_text("utf-8")) if title == "batch.py"
    ]
    names: dict[str, Any] = {}
    exec(code, names)
    for place, number in (("questions", 1), ("questions", 2), ("questions", 3), ("answers", 3)):
        (folder / place).mkdir(exist_ok=True)
        (folder / place / f"q.{number}.json").write_text('{"messages": [{"role": "user", "content": "?"}]}')
    requests = [json.loads(line) for line in names["collect"](folder, "m").splitlines()]
    assert [request["custom_id"] for request in requests] == ["q.1", "q.2"]
    body = {"model": "m-1", "choices": [{"message": {"content": "4"}}], "usage": dict.fromkeys(USAGE, 5)}
    results = [{"custom_id": "q.1", "response": {"body": body}}, {"custom_id": "q.2", "error": {"message": "no"}}]
    names["distribute"](folder, "\n".join(map(json.dumps, results)))
    answers = {path.name: json.loads(path.read_text()) for path in (folder / "answers").glob("q.[12].json")}
    assert answers["q.1.json"] == {"text": "4", "model": "m-1", "usage": {"prompt": 5, "output": 5}}
    assert set(answers["q.2.json"]) == {"error"}


@pytest.mark.heavy
def test_the_sql_of_the_page_on_scale_runs(folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
    text = (ROOT / "docs/how-to/scale.md").read_text("utf-8")
    for line in re.findall(r"^teamworld .*", text, re.MULTILINE)[:2]:
        assert run(fewer(shlex.split(line)[1:])) == 0
    (code,) = re.findall(r"^```sql\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    queries = [query for query in code.split(";") if query.strip()]
    assert len(queries) == 2
    for query in queries:
        rows = duckdb.sql(query).fetchall()
        assert {row[0] for row in rows} <= {"drwell", "zero_shot"}
        assert rows


def fewer(command: list[str]) -> list[str]:
    """Return the command with fewer rounds."""
    options = [option for word, option in FEWER.items() if word in command and option[0] not in command]
    words = [*command, *(word for option in options for word in option if command[0] in ("run", "reproduce"))]
    pairs = zip(["", *words], words, strict=False)
    return [str(min(int(word), ROUNDS[name])) if name in ROUNDS and word.isdigit() else word for name, word in pairs]


def _model_file(path: Path) -> None:
    from tests.reasoning.llm import tiny

    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        tiny.make(path)


#: Pages that ``make site`` writes, which then checks all links and anchors.
WRITTEN = {ROOT / "docs" / "reference" / name for name in ("levels.md", "commands.md")}


def test_links_and_pictures_exist() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page not in WRITTEN]
    assert pages
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            place = (page.parent / target).resolve()
            assert "://" in target or place in WRITTEN or place.exists(), f"{page.name}: {target}"


#: What a page shows when it is asked to; its first line is HTML, in which Markdown has no effect.
FOLD = re.compile(
    r'^<details markdown="1"><summary>[^`\n]+</summary>\n\n.*?\n\n</details>$\n?', re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize(
    "page", sorted(page.relative_to(ROOT) for page in {*(ROOT / "docs").rglob("*.md")} - WRITTEN), ids=str
)
def test_a_page_has_at_most_200_lines_outside_its_folds(page: Path) -> None:
    text = (ROOT / page).read_text("utf-8")
    shown, folds = FOLD.subn("", text)
    assert folds == text.count("<details") == text.count("</details"), (
        "a fold in another, without blank lines or with a `"
    )
    assert len(shown.splitlines()) <= 200


def test_the_readme_example_has_twenty_lines_or_so() -> None:
    code = next(code for language, _, code in blocks((ROOT / "README.md").read_text("utf-8")) if language == "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 25
