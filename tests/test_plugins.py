"""Worlds, methods and reasoners of others: by entry point, as ``MODULE:NAME``, or the class itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import teamworld
from teamworld import UserError, plugins
from teamworld.cli import run as command
from teamworld.experiment.spec import RunCell, build
from teamworld.methods import registry as methods
from teamworld.methods.zero_shot.method import ZeroShot
from teamworld.reasoning import registry as reasoners
from teamworld.reasoning.rules import RuleReasoner
from teamworld.testing import check_method, check_world
from teamworld.worlds import registry as worlds

#: A package of somebody else's; each module leaves a mark when it is imported.
MARK = "import pathlib\npathlib.Path('imported').touch()\n"
FILES = {
    "world": """
from teamworld.worlds.rooms import world as rooms
class Flat:
    LEVELS, OPTIONS, DEFAULT_LEVEL, SUMMARY = rooms.LEVELS, rooms.OPTIONS, "two", "one flat"
    make, step_limit = staticmethod(rooms.make), staticmethod(rooms.step_limit)
class Bare:
    LEVELS, SUMMARY = {}, "no more"
class Listed(Flat):
    LEVELS = ["two"]
class Loose(Flat):
    OPTIONS = dict
class Endless(Flat):
    step_limit = staticmethod(lambda *arguments: None)
class Empty(Flat):
    make = staticmethod(lambda *arguments: object())
""",
    "method": """
from teamworld.methods.contract import Method, Variant
from teamworld.methods.zero_shot.method import ZeroShot
class Solo(ZeroShot):
    name, summary, variants = "solo", "alone", {"same": Variant("the same", {})}
class Lazy(Method):
    name = "lazy"
class Free(Solo):
    options = dict
class Quiet(Method):
    name, summary = "quiet", "does nothing"
    async def decide(self, context):
        return {}
""",
    "reasoner": """
from teamworld.reasoning.rules import RuleReasoner
class Calm(RuleReasoner):
    def __init__(self, streams, mood="calm"):
        super().__init__(streams)
        self.mood = mood
        if mood == "angry":
            raise RuntimeError("no")
    name = property(lambda self: self.mood)
class Mute:
    def __init__(self, streams):
        self.name = "mute"
""",
    "broken": "import no_such_module_at_all\n",
    "script": "raise SystemExit(0)\n",
}
WORLD, METHOD, REASONER = "their_kit.world:Flat", "their_kit.method:Solo", "their_kit.reasoner:Calm"


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Be in a folder with the package, which nobody has imported, and forget it afterwards."""
    (tmp_path / "their_kit").mkdir()
    for name, code in {"__init__": "", **FILES}.items():
        (tmp_path / "their_kit" / f"{name}.py").write_text(MARK + code, "utf-8")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    forget()


def forget() -> None:
    """Be as a new process is."""
    plugins._loaded.clear()
    plugins._local.clear()
    for name in [name for name in sys.modules if name.startswith("their_kit")]:
        del sys.modules[name]
    Path("imported").unlink(missing_ok=True)


def run(*words: str, out: str = "runs/a") -> int:
    return command(["run", WORLD, "--method", f"{METHOD},greedy+{METHOD}:same", "--reasoner", REASONER,
                    "--out", out, "--max-steps", "60", *words])  # fmt: skip


@pytest.mark.parametrize(
    ("label", "found"),
    [("drwell", None), ("drwell:no_memory", None), ("drwell:2", None), ("greedy+a.b:C", None), ("a.b", "a.b"),
     ("a:B", "a:B"), ("a.b:c", "a.b:c"), ("a.b:C:small", "a.b:C"), ("a:B:small", "a:B"), ("../a.b:C", None),
     ("a.b:C/../d", None), ("a.b:ä", None), ("", None), ("a..b:C", None), ("a.b:", None)],
)  # fmt: skip
def test_references_are_told_from_labels(label: str, found: str | None) -> None:
    assert plugins.reference(label) == found


@pytest.mark.heavy
def test_a_run_by_names_replays_and_resumes_from_elsewhere(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert {path.name for path in (kit / "runs/a/logs").iterdir()} == {
        "their_kit.method-Solo-s0", "greedy+their_kit.method-Solo-same-s0"}  # fmt: skip
    assert command(["replay", "runs/a"]) == 0
    elsewhere = kit / "elsewhere"
    elsewhere.mkdir()
    environment = {**os.environ, "PYTHONPATH": f"{Path(teamworld.__file__).parents[1]}"}
    words = [sys.executable, "-m", "teamworld", "resume", str(kit / "runs/a")]
    failed = subprocess.run(words, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stderr.count("\n")) == (2, 1), failed.stderr
    assert "there is no module 'their_kit': install its package" in failed.stderr
    environment["PYTHONPATH"] += os.pathsep + str(kit)
    assert subprocess.run(words, cwd=elsewhere, env=environment, capture_output=True, check=False).returncode == 0


@pytest.mark.heavy
def test_workers_import_what_a_run_names(kit: Path) -> None:
    assert run("--seeds", "2", "--processes", "2") == 0
    assert run("--seeds", "2", out="runs/b") == 0
    for path in sorted((kit / "runs/a/logs").rglob("*.zst")):
        assert path.read_bytes() == (kit / "runs/b" / path.relative_to(kit / "runs/a")).read_bytes()


@pytest.mark.heavy
def test_reading_a_run_imports_nothing(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert command(["compare", METHOD, "--world", WORLD, "--out", "runs/c", "--max-steps", "5"]) == 0
    (kit / "bare.yaml").write_text(f"world: {WORLD}\ngrid: {{instances: [1, 2]}}\nmax_steps: 5\n", "utf-8")
    assert command(["run", "bare.yaml", "--out", "runs/g"]) == 0
    sections = f"[{{name: a, title: a, experiment: {{world: '{WORLD}', methods: ['{METHOD}']}}}}]"
    (kit / "runs/e").mkdir()
    (kit / "runs/e/evidence.yaml").write_text(f"title: a page\nsections: {sections}\n", "utf-8")
    forget()
    for words in (
        ["report", "runs/a"], ["report", "runs/a", "--failures"], ["report", "runs/a", "--bill"], ["metrics", "runs/a"],
        ["view", "runs/a", "--export", "a.html"], ["prompts"], ["status", "runs/a"], ["status", "runs/c"],
        ["status", "runs/g"], ["status", "runs/e"], ["methods"], ["worlds"],
    ):  # fmt: skip
        assert command(words) == 0, capsys.readouterr().err
    for folder in ("runs/a", "runs/c", "runs/g"):
        assert len(teamworld.load(folder).episodes) > 0
    assert not (kit / "imported").exists()
    with pytest.raises(UserError, match="is code that is not loaded"):
        worlds.make(WORLD, "two", 0, 10, {})
    assert command(["replay", "runs/a"]) == 0
    assert (kit / "imported").exists()


def test_classes_go_where_names_go(tmp_path: Path) -> None:
    class Mine(ZeroShot):
        name = "mine"

    class Own(RuleReasoner):
        name = "own"

    rows = teamworld.run(
        "rooms", level="one", method=[Mine, "greedy"], reasoner=Own, max_steps=20, out=tmp_path / "run"
    )
    assert [row.method for row in rows] == ["tests.test_plugins:Mine", "greedy"]
    assert plugins.is_local("tests.test_plugins:Mine")
    check_method(Mine, levels=[("rooms", "one")], skip=["deaths"])
    with pytest.raises(UserError, match="expected a name, a class"):
        teamworld.run(object(), out=tmp_path / "other")


def test_suites_take_names(kit: Path) -> None:
    check_world(WORLD, seeds=[0], steps=5)
    check_method(METHOD, levels=[(WORLD, "one")], skip=["deaths"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "no_kit.world:Flat"], "there is no module 'no_kit'"),
        (["run", "their_kit.worlds:Flat"], "there is no module 'their_kit.worlds'"),
        (["run", "their_kit.world:Flats"], "the module their_kit.world has no 'Flats'"),
        (["run", "their_kit.world:Bare"], "lacks OPTIONS, DEFAULT_LEVEL, step_limit, make"),
        (["run", "their_kit.world:Empty"], "make returns a object, which is no World: it lacks spec, domain"),
        (["levels", "their_kit.world:Listed"], "is no world: LEVELS is a mapping of names to lines, got ['two']"),
        (["run", "their_kit.world:Loose"], "is no world: OPTIONS is a pydantic model, got"),
        (["run", "their_kit.world:Endless"], "step_limit returns a number of steps from 1, got None"),
        (["levels", "their_kit.world:Endless"], "step_limit returns a number of steps from 1, got None"),
        (["run", "rooms", "--method", "their_kit.method:Free"], "is no method: it lacks options, a pydantic model"),
        (["run", "their_kit.broken"], "No module named 'no_such_module_at_all'"),
        (["run", "their_kit.script"], "cannot be loaded: SystemExit: 0"),
        (["run", "rooms", "--method", "their_kit.method:Method"], "is no method: it lacks name, summary, decide"),
        (["run", "rooms", "--method", "their_kit.method:Lazy"], "is no method: it lacks summary, decide"),
        (["run", "rooms", "--method", "their_kit.world:Flat"], "expected a class that derives from teamworld.m"),
        (
            ["run", "rooms", "--method", "their_kit.method:Quiet:other"],
            "has no options, so no variants: leave out ':other'",
        ),
        (["run", "rooms", "--reasoner", "their_kit.reasoner:Mute"], "lacks async ask(question, tries)"),
        (["run", "rooms", "--reasoner", f"{REASONER}:angry"], "cannot be made: RuntimeError: no"),
        (["levels", "their_kit.world:Flats"], "has no 'Flats'"),
    ],
)
def test_errors_are_one_line(kit: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert command([*words, *(["--out", "runs/x"] if words[0] == "run" else [])]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not (kit / "runs").exists()


def test_listing_commands_take_names(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, says in (
        (["levels", WORLD], "one "), (["worlds", WORLD], "one flat"), (["methods", METHOD], f"{METHOD}:same"),
        (["doctor", "--reasoner", f"{REASONER}:merry"], "ok  reasoner"),
    ):  # fmt: skip
        assert command(words) == 0
        assert says in capsys.readouterr().out


def test_entry_points_bring_all_three(
    kit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = {
        worlds.GROUP: [EntryPoint("flat", WORLD, worlds.GROUP)],
        methods.GROUP: [EntryPoint("solo", METHOD, methods.GROUP)],
        reasoners.GROUP: [EntryPoint("calm", REASONER, reasoners.GROUP)],
    }
    monkeypatch.setattr(plugins, "entry_points", lambda group: points.get(group, []))
    monkeypatch.syspath_prepend(str(kit))
    assert command(["run", "flat", "--method", "solo:same", "--reasoner", "calm:merry", "--out", "a"]) == 0
    assert command(["metrics", "a"]) == 0
    assert command(["run", "flat", "--reasoner", "calms", "--out", "b"]) == 2
    points.clear()  # the record outlives the package
    for words in (
        ["report", "a"],
        ["view", "a", "--export", "a.html"],
        ["metrics", "a"],
        ["report", "a", "--failures"],
    ):
        assert command(words) == 0
    assert "what only the world's own rules find" in " ".join(capsys.readouterr().out.split())


def test_folder_names_stay_short() -> None:
    names = {RunCell(f"{'deep.' * 60}m:{name}", 0).name for name in ("One", "Two")}
    assert len(names) == 2
    assert max(map(len, names)) < 120


def test_options_go_by_the_whole_name(kit: Path) -> None:
    assert run("--set", f"{WORLD}.spread=0.3") == 0
    held = build({"world": WORLD, "options": {WORLD: {"spread": 0.3}}}).resolved()
    assert held.options[WORLD] == {"spread": 0.3}


def test_keys_in_a_mistyped_reasoner_are_not_shown(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["run", "rooms", "--reasoner", f"http.{'sk-' + 'a1' * 20}:X", "--out", "a"]) == 2
    assert "a1a1" not in capsys.readouterr().err


def test_a_short_name_stands_for_a_class_and_records_hold_where_it_is_defined(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_registered", {})
    solo, flat = plugins.load(METHOD), plugins.load(WORLD)
    for _ in range(2):  # the second time is nothing new
        teamworld.register("solo_team", solo)
        teamworld.register("flat", flat)
    rows = teamworld.run("flat", method=["solo_team", "solo_team:same"], max_steps=3, out="runs/r")
    assert [row.method for row in rows] == [METHOD, f"{METHOD}:same"]
    compared = teamworld.compare("solo_team", "greedy", world="flat", max_steps=3, out="runs/c")
    assert METHOD in str(compared)
    forget()
    assert command(["replay", "runs/r"]) == 0  # as another process would
    with pytest.raises(UserError, match="'flat' is registered for"):
        teamworld.register("flat", plugins.load(METHOD))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("drwell", METHOD, "'drwell' is a name of"),
        ("rules", METHOD, "'rules' is a name of"),
        ("Mine", METHOD, "expected a name of lower-case letters"),
        ("lazy", "their_kit.method:Lazy", "is no method: it lacks"),
        ("listed", "their_kit.world:Listed", "is no world: LEVELS"),
    ],
)
def test_what_cannot_be_registered(name: str, text: str, said: str, kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_registered", {})
    with pytest.raises(UserError, match=said):
        teamworld.register(name, plugins.load(text))
