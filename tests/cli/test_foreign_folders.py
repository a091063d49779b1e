"""Folders and files that somebody else made: nothing in them leads out, is obeyed, or passes as what it is not."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
import yaml
import zstandard

from teamworld.cli import run as command
from teamworld.experiment.store.folder import RunFolder
from teamworld.reasoning.llm.model_names import parse_endpoint
from teamworld.record.log import LogWriter, read_log
from tests.cli.reading import READING

pytestmark = pytest.mark.heavy

#: A call in the results, but for why it ended, the tokens of its prompt and its price.
CALL = (
    "INSERT INTO calls (cell, episode, mind, purpose, number, attempt, model, digest, request, seconds, faults, cached,"
    " finish, prompt_tokens, usd) VALUES ('c', 0, 'agent_1', 'plan', 0, 0, 'm', 'd', '{}', 1, '[]', 0"
)
ESCAPE = "\x1b[2J\x1b]0;owned\x07"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("original") / "run"
    fields = ["--method", "drwell,zero_shot", "--level", "n1", "--max-steps", "12", "--episodes", "2"]
    assert command(["run", "cube", *fields, "--out", str(out)]) == 0
    return out


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "theirs"))


def first_log(folder: Path) -> Path:
    return sorted(folder.glob("logs/*/*.zst"))[0]


#: Every command that reads a folder, and that which goes on with one.
COMMANDS = READING | {"resume": lambda folder, out: ["resume", str(folder)]}
#: What can be put in place of something in the folder.
PLACES = ["experiment.yaml", "results.sqlite", "memory.sqlite", "logs", "figures", "experiment.yaml.tmp", ".lock"]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("place", PLACES)
def test_a_link_out_of_the_folder_is_followed_by_nobody(
    name: str, place: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = folder / place
    mine = tmp_path / "mine" / place
    mine.parent.mkdir()
    if own.exists():
        shutil.move(own, mine)
    elif place == "figures":
        mine.mkdir()
    else:
        mine.write_bytes(b"precious")
    own.symlink_to(mine)
    before = {path: path.read_bytes() for path in sorted(tmp_path.glob("mine/**/*")) if path.is_file()}
    assert command(COMMANDS[name](folder, tmp_path)) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "is a link out of" in shown.err
    assert before == {path: path.read_bytes() for path in sorted(tmp_path.glob("mine/**/*")) if path.is_file()}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_holds_up_nobody(name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = first_log(folder)
    log.unlink()
    os.mkfifo(log)
    assert command(COMMANDS[name](folder, tmp_path)) == 2
    assert "is neither a file nor a folder" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["failures", "metrics", "compare", "prompts", "view"])
def test_an_altered_log_is_no_longer_that_of_its_episode(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in folder.glob("logs/*/*.zst"):
        events = list(read_log(path))
        with LogWriter(path) as log:
            for event in events[:5] + events[6:]:
                log.write(event, event.step, event.tick)
            log.finish()
    assert command(COMMANDS[name](folder, tmp_path)) == 2
    assert "was altered since its episode was played" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("field", ["level", "reasoner", "method", "results"])
def test_no_terminal_obeys_what_a_folder_says(
    name: str, field: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "experiment.yaml"
    data = yaml.safe_load(file.read_text())
    if field == "results":
        with contextlib.closing(sqlite3.connect(folder / "results.sqlite")) as db, db:
            db.execute("UPDATE episodes SET summary = replace(summary, 'goals', ?), method = ?", (ESCAPE, ESCAPE))
    elif field == "method":
        data["methods"] = [f"drwell:{ESCAPE}", *data["methods"]]
        data["options"][f"drwell:{ESCAPE}"] = data["options"]["drwell"]
    else:
        data[field] = f"{data[field]}{ESCAPE}"
    file.write_text(yaml.safe_dump(data, allow_unicode=True))
    command(COMMANDS[name](folder, tmp_path))
    shown = capsys.readouterr()
    assert not any(char in shown.out + shown.err for char in ("\x1b", "\x07", "\x9b")), (shown.out, shown.err)


#: Commands that read no row of an episode: what is wrong with one cannot mislead them.
ROWLESS = ("bill", "view", "status", "prompts")


@pytest.mark.parametrize("name", [name for name in READING if name != "memory"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE episodes SET summary = json_set(summary, '$.headline[0][0]', 'charm')", "'charm', which is no metric"),
        ("UPDATE episodes SET summary = json_set(summary, '$.reward', 1e308)", "reward"),
        ("UPDATE episodes SET summary = json_set(summary, '$.steps', 9e18)", "steps"),
        ("UPDATE episodes SET seconds = 9e999", "table episodes holds numbers that cannot be"),
        (f"{CALL}, 'stop', 1, 9e999)", "table calls holds numbers that cannot be"),
        (f"{CALL}, 'stop', 1, -9e999)", "table calls holds numbers that cannot be"),
        (f"{CALL}, 'stop', -5, 1)", "table calls holds numbers that cannot be"),
    ],
)
def test_numbers_and_measures_that_cannot_be_end_in_a_line(
    name: str, change: str, said: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.closing(sqlite3.connect(folder / "results.sqlite")) as db, db:
        db.execute(change)
    result = command(COMMANDS[name](folder, tmp_path))
    err = capsys.readouterr().err
    assert "Traceback" not in err
    if "summary" in change and name in ROWLESS:
        assert result in (0, 2), err
    else:
        assert (result, said in err) == (2, True), err


def test_a_host_that_only_the_folder_names_gets_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEAMWORLD_API_KEY", "a-key-of-mine-123")
    file = folder / "experiment.yaml"
    server = "http://gpu.example.org:8000/v1#m"
    file.write_text(file.read_text().replace("reasoner: rules", f"reasoner: {server}"))
    assert command(["resume", str(folder)]) == 2
    assert f"to gpu.example.org:8000: if that is what you want, add --reasoner '{server}'" in capsys.readouterr().err
    assert command(["resume", str(folder), "--reasoner", "http://other.example.org/v1#m"]) == 2
    assert "not 'http://other.example.org/v1#m'" in capsys.readouterr().err
    keys = tmp_path / "keys.toml"
    keys.write_text('"gpu.example.org:8000" = "a-key-of-theirs-1"')
    keys.chmod(0o600)
    monkeypatch.delenv("TEAMWORLD_API_KEY")
    monkeypatch.setenv("TEAMWORLD_KEYS", str(keys))
    assert command(["resume", str(folder)]) == 0  # all is finished: nobody is asked


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "127.3.2.1", "localhost", "a.localhost", "[::1]", "0x7f000001"])
def test_this_machine_is_known_by_its_address(host: str) -> None:
    assert parse_endpoint(f"http://{host}:8000/v1#m").local


@pytest.mark.parametrize("host", ["10.0.0.1", "128.0.0.1", "localhost.example.org", "[::2]", "[::ffff:10.0.0.1]"])
def test_other_machines_are_not_this_one(host: str) -> None:
    assert not parse_endpoint(f"http://{host}:8000/v1#m").local


def test_links_within_the_folder_and_to_it_are_taken(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    shutil.move(folder / "results.sqlite", folder / "kept.sqlite")
    (folder / "results.sqlite").symlink_to("kept.sqlite")
    assert command(["report", str(tmp_path / "link")]) == 0
    assert RunFolder(tmp_path / "link").finished(RunFolder(folder).experiment())


@pytest.mark.timeout(60)  # each takes a second at most; were it not linear, it would be minutes
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    "lines",
    [
        "code: 7",
        "code: [x, {from: [1]}]",
        "price_tables: 5",
        "prompts: [1]",
        "versions: {python: [3]}",
        "max_steps: 0x" + "f" * 5000,
        "seeds: [0x" + "f" * 5000 + "]",
        "retries: " + ":".join(["59"] * 1_000_000),
        "retries: !!float " + ":".join(["59"] * 1_000),
        "7: x",
        "? [1, 2]\n: x",
    ],
    ids=lambda lines: lines[:24],
)
def test_what_an_experiment_file_may_not_say_is_one_line(
    name: str, lines: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "experiment.yaml"
    field = lines.split(":")[0]
    data = {name: value for name, value in yaml.safe_load(file.read_text()).items() if name != field}
    file.write_text(f"{yaml.safe_dump(data)}{lines}\n")
    code = command(COMMANDS[name](folder, tmp_path))
    shown = capsys.readouterr()
    assert code in ((0, 2) if field in ("code", "price_tables", "prompts", "versions") else (2,)), shown.err
    assert "Traceback" not in shown.err
    assert code == 0 or shown.err.count("\n") == 1


#: Files of several runs, and what they may not say.
KINDS = ("grid", "comparison", "evidence")
WRONG: tuple[dict[str, object], ...] = ({"methods": 5}, {"episodes": "x"}, {"grid": 1}, {"options": [1]}, {})
#: Pairwise: of the three kinds of file each command reads with each wrong content, one by turns.
PAIRWISE = [
    (KINDS[(i + j) % len(KINDS)], data, name) for i, data in enumerate(WRONG) for j, name in enumerate(COMMANDS)
]


@pytest.mark.parametrize(("kind", "data", "name"), PAIRWISE)
def test_what_the_file_of_several_runs_may_not_say_is_one_line(
    kind: str, data: dict[str, object], name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / f"{kind}.yaml").write_text(yaml.safe_dump(data))
    code = command(COMMANDS[name](folder, tmp_path))
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if data and kind != "evidence" and name in ("report", "metrics", "compare", "status"):  # others read the run itself
        assert code == 2, shown.out
    assert code == 0 or shown.err.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_folders_in_folders_without_end_are_one_line(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(2_500):
            os.mkdir("d", dir_fd=begin)
            deeper = os.open("d", os.O_RDONLY, dir_fd=begin)
            os.close(begin)
            begin = deeper
    finally:
        os.close(begin)
    try:
        assert command(COMMANDS[name](folder, tmp_path)) == 2
        shown = capsys.readouterr()
        assert shown.err.count("\n") == 1
        assert "cannot be read" in shown.err
    finally:
        subprocess.run(["rm", "-rf", str(folder / "d")], check=True)


@pytest.mark.timeout(60)  # each takes seconds
@pytest.mark.parametrize("name", ["failures", "metrics", "compare", "resume"])
def test_a_log_of_empty_lines_is_damaged(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = first_log(folder)
    line = zstandard.ZstdDecompressor().stream_reader(log.read_bytes()).read().split(b"\n")[0]
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    empty = b"\n" * 2**20
    log.write_bytes(
        b"".join([packer.compress(line + b"\n"), *(packer.compress(empty) for _ in range(3_000)), packer.flush()])
    )
    assert command(COMMANDS[name](folder, tmp_path)) == (0 if name == "resume" else 2)  # it reads no finished log
    assert name == "resume" or "record 1 is not an event" in capsys.readouterr().err


def test_the_name_of_a_folder_is_shown_as_it_is(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marked = Path(shutil.copytree(original, tmp_path / "[red]x[bold]"))
    assert command(["status", str(marked)]) == 0
    assert "[red]x[bold]" in capsys.readouterr().out
    odd = tmp_path / "run\x1b[2J\x07"
    assert command(["run", "cube", "--level", "n1", "--max-steps", "3", "--out", str(odd)]) == 0
    shown = capsys.readouterr()
    assert not any(char in shown.out + shown.err for char in ("\x1b", "\x07")), (shown.out, shown.err)


def test_values_of_a_grid_that_cannot_be_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "grid")
    for vary in (f"max_steps=1{'0' * 400}", "max_steps=.inf,-.inf", "max_steps=[1],[1]", "level={a: 1}"):
        assert command(["run", "cube", "--vary", vary, "--out", out]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    for text in ("grid: {1.5: [1, 2]}", f"grid: {{max_steps: [0x{'f' * 400}]}}", "grid: {[1]: [2]}", "grid: {~: [2]}"):
        file = tmp_path / "grid.yaml"
        file.write_text(text)
        assert command(["run", str(file), "--out", out]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("episodes", ["2.0", "'2'"])
def test_a_number_of_episodes_in_another_form_goes_on(episodes: str, tmp_path: Path) -> None:
    file, out = tmp_path / "e.yaml", str(tmp_path / "grid")
    fields = "world: cube\nmethods: [random]\nmax_steps: 3\ngrid: {level: [n1, n2]}"
    file.write_text(f"{fields}\nepisodes: {episodes}\n")
    for arguments in (["run", str(file), "--out", out], ["run", str(file), "--out", out], ["status", out]):
        assert command(arguments) == 0
