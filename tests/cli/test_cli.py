"""The command line: what it prints, and one clear line with exit code 2 for whatever cannot be used."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from teamworld.cli import COMMANDS, run
from teamworld.record import Observe, encode, read_log

FAST = ["--max-steps", "12"]


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--calls", "1.5"], "--calls: expected a whole number, got '1.5'"),
        (["--jobs", "1e1"], "--jobs: expected a whole number, got '1e1'"),
        (["--sampling", "drwell.draft.sed=1"], "--sampling drwell.draft.sed: unknown 'sed'; did you mean 'seed'?"),
        (["--answers", "xml"], "option 'answers' of an experiment: expected 'auto', 'schema'"),
        (["--estimate", "--budget", "5eur"], "a budget is an amount such as 5usd"),
        (
            ["--cache", "nowhere/cache.sqlite"],
            "--cache nowhere/cache.sqlite: there is no folder nowhere; make it first",
        ),
        (["--cache", "."], "cannot be used as cache of answers"),
    ],
)
def test_what_a_run_with_models_cannot_use_is_refused_before_anything_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], says: str
) -> None:
    pytest.importorskip("pydantic_ai")
    mind = ["--reasoner", "http://127.0.0.1:9/v1#m", "--out", str(tmp_path / "run")]
    code, out, err = call(capsys, "run", "cube", *mind, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err
    assert not (tmp_path / "run").exists()


def test_prices_of_a_report_belong_to_its_bill(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = call(capsys, "report", str(tmp_path), "--prices", "mine.yaml")
    assert (code, err) == (2, "teamworld: --prices belongs to --bill: add --bill\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "nowhere"],
        ["run", "cube", "--level", "paper-n3"],
        ["run", "cube", "--level", "n0"],
        ["run", "cube", "--method", "drwel"],
        ["run", "cube", "--method", ""],
        ["run", "cube", "--method", "drwell,drwell"],
        ["run", "cube", "--reasoner", "gpt"],
        ["run", "cube", "--reasoner", "rules:noise=2"],
        ["run", "cube", "--reasoner", "agent_9=rules,*=rules"],
        ["run", "cube", "--reasoner", "@drwell.propos=rules,*=rules"],
        ["run", "cube", "--reasoner", "*=rules,agent_0=rules:noise=0.2"],
        ["run", "cube", "--reasoner", "agent_0=rules"],
        ["run", "cube", "--reasoner", "agent_0=rules,agent_0=rules:noise=0.1,*=rules"],
        ["run", "cube", "--method", "greedy", "--reasoner", "@drwell.*=rules,*=rules"],
        ["run", "cube", "--method", "zero_shot", "--sampling", "drwell.draft.seed=1", "--estimate"],
        ["run", "cube", "--sampling", "drwel.draft.seed=1"],
        ["run", "cube", "--sampling", "temprature=1"],
        ["run", "cube", "--episodes", "-1"],
        ["run", "cube", "--episodes", "0"],
        ["run", "cube", "--episodes", "many"],
        ["run", "cube", "--episodes", "1.5"],
        ["run", "cube", "--max-steps", "20.9"],
        ["run", "cube", "--seed", "1e3"],
        ["run", "cube", "--set", "drwell.explore=1", "--set", "drwell.explore=2"],
        ["run", "cube", "--max-steps", "0"],
        ["run", "cube", "--log-level", "belief"],
        ["run", "cube", "--seed", "-1"],
        ["run", "cube", "--seeds", "0"],
        ["run", "cube", "--set", "drwell.task_identity"],
        ["run", "cube", "--set", "drwell.task_identity=colour"],
        ["run", "cube", "--set", "drwell.speed=1"],
        ["run", "cube", "--set", "zero_shot.speed=1"],
        ["run", "cube", "--set", "cube.view_radius=-1"],
        ["run", "cube", "--set", "cube.view_radius=far"],
        ["run", "cube", "--set", "messages.loss=2"],
        ["run", "cube", "--set", "messages.loss=[1"],
        ["run", "cube", "--set", "messages.ticks=2"],
        ["run", "cube", "--set", "messages.reach=.inf"],
        ["run", "cube", "--set", "cube.view_radius=2023-13-45"],
        ["run", "cube", "--set", "cube.step_cost=1e308"],
        ["run", "cube", "--set", "cube.step_cost=.nan"],
        ["run", "cube", "--set", "cube.view_radius=" + "[" * 3000],
        ["run", "cube", "--seed", "9223372036854775808"],
        ["run", "cube", "--seeds", "1000000000000"],
        ["memory", "missing", "--out", "x.json"],
        ["run", "cube", "--speed", "3"],
        ["run"],
        ["walk", "cube"],
        ["run", "missing.yaml"],
        ["report", "missing"],
        ["replay", "missing"],
        ["resume", "missing"],
        ["levels", "nowhere"],
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run", "run needs WORLD. Try 'teamworld run --help'."),
        ("run cube --out", "--out needs a value. Try 'teamworld run --help'."),
        ("run cube --episodes many", "expected a whole number, got 'many'. Try 'teamworld run --help'."),
        ("run cube --episodes 0", "option 'episodes' of an experiment: expected at least 1, got 0"),
        ("run cube --set cube.view_radius=far", "'view_radius' of world cube: expected a whole number, got 'far'"),
        ("run cube --set cube.view_radiu=5", "unknown option 'view_radiu' of world cube; did you mean 'view_radius'?"),
    ],
)
def test_bad_input_is_told_in_our_words(capsys: pytest.CaptureFixture[str], arguments: str, says: str) -> None:
    code, _, err = call(capsys, *arguments.split())
    assert code == 2
    assert err.strip().endswith(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("world: [cube", "not valid YAML"),
        ("world: 2023-13-45", "not valid YAML"),
        ("world: cube\nmethods: drwell", "a list"),
        ("- cube", "mapping"),
        ("", "mapping"),
        ("world: cube\nspeed: 3", "unknown option 'speed'"),
        ("world: cube\nepisodes: -2", "episodes"),
        ("world: cube\nbudget: 5usd", "'budget' says how a run is carried out"),
        ("world: cube\nspeed: 3\nepisode-budget: 5usd", "give --episode-budget on the command line"),
        ("world: cube\nkey_env: MY_KEY", "give --key-env on the command line"),
        ("world: cube\nprices: prices.yaml", "give --prices on the command line"),
        ("world: cube\nmethods: []", "methods"),
        ("world: !!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
)
def test_an_experiment_file_that_does_not_parse_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text(text)
    code, out, err = call(capsys, "run", str(path), "--out", str(tmp_path / "run"))
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_an_experiment_file_and_flags_do_not_mix(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text("world: cube\nmethods: [random]\nmax_steps: 5\n")
    code, _, err = call(capsys, "run", str(path), "--episodes", "2", "--out", str(tmp_path / "run"))
    assert code == 2
    assert "episodes" in err
    assert call(capsys, "run", str(path), "--out", str(tmp_path / "run"))[0] == 0


def test_json_is_one_object_with_every_episode_and_nothing_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = str(tmp_path / "run")
    arguments = ["run", "cube", "--method", "greedy", "--episodes", "2", *FAST, "--out", folder, "--json"]
    code, out, _ = call(capsys, *arguments)
    first = json.loads(out)
    assert code == 0
    assert [row["episode"] for row in first["episodes"]] == [1, 2]
    assert all(row["steps"] == 12 and 0 <= row["completion"] <= 1 for row in first["episodes"])
    assert json.loads(call(capsys, *arguments)[1]) == first  # finished episodes are in it too


def test_defaults_are_the_documented_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = call(capsys, "run", "cube", "--method", "do_nothing", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["run"] == "runs/cube-paper-n2-do_nothing-rules-s0"
    assert len(document["episodes"]) == 1
    assert document["episodes"][0]["steps"] == 500  # the limit of the published environment


def test_options_are_recorded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    arguments = ["--set", "drwell.task_identity=class", "--set", "cube.view_radius=5", "--out", str(folder)]
    assert call(capsys, "run", "cube", *FAST, *arguments)[0] == 0
    text = (folder / "experiment.yaml").read_text()
    assert "task_identity: class" in text
    assert "view_radius: 5" in text


def test_report_prints_the_table_and_draws_the_figures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    assert call(capsys, "run", "cube", "--method", "drwell", *FAST, "--out", folder)[0] == 0
    code, out, _ = call(capsys, "report", folder, "--figures")
    assert code == 0
    assert "no language model" in out
    assert {path.name for path in (tmp_path / "run" / "figures").iterdir()} == {
        "learning_curve.png",
        "world_model_drwell-s0.png",
    }
    tables = json.loads(call(capsys, "report", folder, "--json")[1])["tables"]
    assert tables[1]["rows"][0]["method"] == "drwell"


def test_lists_name_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    worlds = call(capsys, "worlds")[1]
    assert all(option in worlds for option in ("cube.view_radius=null", "messages.paid_by=nobody"))
    methods = call(capsys, "methods")[1]
    assert all(name in methods for name in ("drwell", "drwell:no_memory", "zero_shot", "greedy", "random"))
    assert "drwell.task_identity=id" in methods
    assert "--set drwell.freeze_after=null" in methods
    assert "paper-n32" in call(capsys, "levels")[1]


def test_a_folder_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("mine")
    code, _, err = call(capsys, "run", "cube", *FAST, "--out", str(blocker / "run"))
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert blocker.read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_while_printing_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "teamworld", "levels"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.heavy
def test_a_full_disk_while_running_is_told_and_the_run_goes_on_later(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The size of files is limited in a process of its own, which fails like a full disk does."""
    folder = tmp_path / "run"
    command = ["run", "cube", "--episodes", "2", "--max-steps", "60", "--out", str(folder)]
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (%d, %d));"
        f"from teamworld.cli import main; main({command!r})"
    )
    for size in (2_000, 20_000, 40_000):
        done = subprocess.run(
            [sys.executable, "-c", limited % (size, size)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    code, _, err = call(capsys, *command)
    assert code == 0, err


#: What takes a quarter of a second or more to import, and is not needed to show a command's help.
HEAVY = {"numba", "numpy", "lark", "matplotlib", "pettingzoo", "networkx", "teamworld.experiment.runner"}


@pytest.mark.parametrize("command", ["", *(name for names in COMMANDS.values() for name in names)])
def test_starting_is_quick_because_nothing_heavy_is_imported(command: str) -> None:
    code = (
        "import sys, teamworld; before = set(sys.modules); from teamworld.cli import run; run(sys.argv[1:]);"
        "print(*before, file=sys.stderr); print(*sys.modules, file=sys.stderr)"
    )
    arguments = [*filter(None, [command]), "--help"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    package, shown = (set(line.split()) for line in done.stderr.splitlines())
    assert "teamworld.cli" in shown
    assert not (HEAVY | {"pydantic"}) & package
    assert not (HEAVY if command else HEAVY | {"pydantic"}) & shown
    assert f"teamworld {command or 'COMMAND'}" in done.stdout


def test_a_world_model_is_exported_after_any_episode(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    assert call(capsys, "run", "cube", "--episodes", "2", "--max-steps", "40", "--out", folder)[0] == 0
    sizes = []
    for episode in ("1", "2"):
        out = tmp_path / f"{episode}.json"
        assert call(capsys, "memory", folder, "--episode", episode, "--out", str(out))[0] == 0
        sizes.append(len(json.loads(out.read_text())["nodes"]))
    assert 0 < sizes[0] < sizes[1]
    for episode in ("0", "-1", "99"):
        assert call(capsys, "memory", folder, "--episode", episode, "--out", str(tmp_path / "x.json"))[0] == 2
    for name in ("model.graphml", "model.png"):
        assert call(capsys, "memory", folder, "--out", str(tmp_path / name))[0] == 0
        assert (tmp_path / name).stat().st_size > 500
    assert call(capsys, "memory", folder, "--method", "greedy", "--out", str(tmp_path / "x.json"))[0] == 2
    assert call(capsys, "memory", folder, "--out", str(tmp_path / "x.doc"))[0] == 2


def test_paths_are_printed_as_they_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "[bold] ünï ✓[/x]")
    code, out, _ = call(capsys, "run", "cube", "--method", "random", *FAST, "--out", folder)
    assert code == 0
    assert folder in out


def test_a_runs_own_file_can_be_run_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert call(capsys, "run", "cube", "--method", "random", *FAST, "--out", str(one))[0] == 0
    assert call(capsys, "run", str(one / "experiment.yaml"), "--out", str(other))[0] == 0
    log = "logs/random-s0/0001.jsonl.zst"
    assert (one / log).read_bytes() == (other / log).read_bytes()


def test_an_interrupt_is_told(tmp_path: Path) -> None:
    code = (
        "import teamworld.experiment.runner as runner\n"
        "def stop(*_, **__): raise KeyboardInterrupt\n"
        "runner.finish = stop\n"
        "from teamworld.cli import main; main(['run', 'cube', '--out', %r])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code % str(tmp_path / "run")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert "the same command goes on" in done.stderr


@pytest.mark.heavy
def test_a_plain_terminal_can_show_everything(tmp_path: Path) -> None:
    plain = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    code = (
        "import sys; from teamworld.cli import main\n"
        "try: main([*sys.argv[1:], '--json'])\n"
        "except SystemExit as ended: assert not ended.code\n"
        "main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "run", "cube", "--method", "random", *FAST, "--out", str(tmp_path / "ünï")]
    done = subprocess.run(command, capture_output=True, env=plain, check=False)
    assert done.returncode == 0, done.stderr


def test_a_run_that_logs_beliefs_can_be_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert call(capsys, "run", "cube", "--log-level", "beliefs", "--out", out, *FAST)[0] == 0
    (log,) = (tmp_path / "out").rglob("*.jsonl.zst")
    assert any(isinstance(event, Observe) for event in read_log(log))
    assert call(capsys, "replay", out)[0] == 0
    code, _, said = call(capsys, "run", "cube", "--out", out, *FAST)
    assert code == 2
    assert "log_level is beliefs, not play" in said


def test_help_lists_every_command_with_the_first_line_of_its_docstring(capsys: pytest.CaptureFixture[str]) -> None:
    shown = " ".join(call(capsys, "--help")[1].replace("│", " ").split())
    for module, names in COMMANDS.items():
        for name in names:
            command = getattr(import_module(f"teamworld.cli.{module}"), name)
            assert (inspect.getdoc(command) or "").splitlines()[0] in shown


def test_a_key_that_names_no_host_goes_to_none_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TEAMWORLD_API_KEY", "secret-of-one-host")
    names = ["http://one.invalid/v1#m", "http://two.invalid/v1#m"]
    assert run(["doctor", "--reasoner", f"agent_0={names[0]},agent_1=rules,*={names[1]}", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert list(document) == [names[0], "rules", names[1]]
    for name in names:
        assert document[name][-1]["name"] == "key"
        assert "could go to" in document[name][-1]["todo"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command_in_a_script_that_its_shell_reads(
    shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for names in COMMANDS.values() for name in names)
    assert "--max-steps" in script or "max-steps" in script
    if path := shutil.which(shell):
        (tmp_path / "script").write_text(script)
        assert subprocess.run([path, "-n", str(tmp_path / "script")], check=False).returncode == 0


def test_the_schema_describes_every_record_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert run(["schema"]) == 0
    validator = jsonschema.Draft202012Validator(json.loads(capsys.readouterr().out))
    words = ["run", "rooms", "--level", "two", "--max-steps", "20", "--log-level", "beliefs", "--method", "cobel"]
    assert run([*words, "--out", str(tmp_path / "run")]) == 0
    lines = [encode(event) for event in read_log(tmp_path / "run/logs/cobel-s0/0001.jsonl.zst")]
    assert len(lines) > 50
    for line in lines:
        validator.validate(json.loads(line))
    broken = json.loads(lines[0]) | {"seed": "twelve"}
    assert not validator.is_valid(broken)
