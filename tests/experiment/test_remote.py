"""Runs at a URL, on a real S3 server of this machine: uploaded, read in place, whole after faults and kills."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.store import remote
from teamworld.experiment.store.compaction import compact
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.remote import RemoteFolder, local_folder, url_of
from tests.experiment.object_store import ObjectStore, running

FIELDS: dict[str, Any] = {
    "level": "n1",
    "method": ["zero_shot", "drwell"],
    "max_steps": 6,
    "seed": [0, 1],
    "episodes": 3,
}
ARGUMENTS = [
    "cube",
    "--level",
    "n1",
    "--method",
    "zero_shot,drwell",
    "--max-steps",
    "6",
    "--seeds",
    "2",
    "--episodes",
    "3",
]
NUMBERS = count()
KEY, SECRET = "AKIAOFATEST", "a-secret-of-a-test"


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStore]:
    pytest.importorskip("s3fs", reason="needs teamworld[s3]")
    pytest.importorskip("moto.server", reason="needs moto[server]")
    with running() as store:
        yield store


@pytest.fixture
def bucket(server: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new bucket, the keys for it in the environment, and no copies yet."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": server.url,
        "TEAMWORLD_COPIES": str(tmp_path / "copies"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(remote, "_FIRST_WAIT", 0.01)
    server.reset()
    name = f"bucket-{next(NUMBERS)}"
    urllib.request.urlopen(urllib.request.Request(f"{server.url}/{name}", method="PUT")).close()
    return name


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("remote") / "run"
    teamworld.run(**FIELDS, out=out)
    return out


def logs(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("logs/*/*.zst")}


def elsewhere(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a URL as another machine sees it, with all its logs."""
    monkeypatch.setenv("TEAMWORLD_COPIES", str(tmp_path / "elsewhere"))
    folder = RunFolder(local_folder(url))
    for cell, row in folder.finished(folder.experiment()):
        assert folder.log(cell, row.episode).exists()
    return folder.path


def shown(path: Path | str, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert command([*words, str(path)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out.replace(str(local_folder(path)), "RUN")


@pytest.mark.heavy
def test_a_run_at_a_url_is_the_run_of_this_machine(
    server: ObjectStore,
    bucket: str,
    played: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = f"s3://{bucket}/results/first"
    server.reset(0.2, seed=7)
    assert command(["run", *ARGUMENTS, "--out", url]) == 0, capsys.readouterr().err
    assert f"{url} has its copy here" in capsys.readouterr().err
    there = elsewhere(url, tmp_path, monkeypatch)
    assert logs(there) == logs(played)
    assert server.failed > 0
    for words in (["report", "--json"], ["metrics", "--json"]):
        assert shown(url, capsys, *words) == shown(played, capsys, *words)
    server.reset(0.2, seed=8)
    assert teamworld.view(url, "drwell", 1, 2).html == teamworld.view(played, "drwell", 1, 2).html
    if find_spec("polars"):
        own, theirs = teamworld.load(url).episodes, teamworld.load(played).episodes
        assert own.drop("run", "seconds").equals(theirs.drop("run", "seconds"))


def test_what_was_uploaded_is_not_uploaded_again(server: ObjectStore, bucket: str, played: Path) -> None:
    folder = RemoteFolder(f"s3://{bucket}/runs/x")
    folder.refresh()
    shutil.copytree(played, folder.path, dirs_exist_ok=True)
    assert folder.push() == 3 + 12  # experiment.yaml and two databases, and the logs
    server.reset()
    assert RemoteFolder(folder.url).push() == 0
    RemoteFolder(folder.url).refresh()
    assert {method for method, _ in server.asked} <= {"GET", "HEAD"}
    puts = [path for _, path in server.asked if "logs" in path]
    assert not puts


@pytest.fixture
def compacted(bucket: str, played: Path) -> RemoteFolder:
    """A run at a URL with its Parquet tables."""
    pytest.importorskip("polars", reason="needs teamworld[tables]")
    folder = RemoteFolder(f"s3://{bucket}/runs/run")
    folder.refresh()
    shutil.copytree(played, folder.path, dirs_exist_ok=True)
    compact(RunFolder(folder.path))
    folder.push()
    return folder


@pytest.mark.heavy
def test_parquet_tables_are_read_in_place(
    server: ObjectStore,
    compacted: RemoteFolder,
    played: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = compacted.url
    monkeypatch.setenv("TEAMWORLD_COPIES", str(tmp_path / "elsewhere"))
    server.reset()
    own, theirs = teamworld.load(url).episodes, teamworld.load(played).episodes
    assert own.drop("run", "seconds").equals(theirs.drop("run", "seconds"))
    assert shown(url, capsys, "status") == shown(played, capsys, "status")
    assert RunFolder(local_folder(url)).tables() is not None
    assert not [path for _, path in server.asked if path.endswith((".zst", "results.sqlite"))]
    server.reset()
    local_folder(url)
    bucket = url.split("/")[2]
    assert set(server.asked) == {("GET", f"/{bucket}")}, "nothing but listings"
    assert shown(url, capsys, "report", "--json") == shown(played, capsys, "report", "--json")
    folder = RunFolder(local_folder(url))
    assert not folder.results_path.exists()
    monkeypatch.setattr(remote, "_LARGE", 1000)  # results that come in several requests
    server.reset(0.2, seed=3)
    assert folder.results_file.exists()
    assert folder.tables() is not None
    assert folder.finished(folder.experiment()) == RunFolder(played).finished(folder.experiment())
    server.reset()
    assert folder.results_file.exists()
    assert server.asked == []


@pytest.mark.heavy
def test_results_that_were_left_there_come_to_go_on(
    compacted: RemoteFolder, played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, copies = compacted.url, os.environ["TEAMWORLD_COPIES"]
    monkeypatch.setenv("TEAMWORLD_COPIES", str(tmp_path / "elsewhere"))
    assert not RunFolder(local_folder(url)).results_path.exists()
    rows = teamworld.run(**FIELDS | {"seed": [0, 1, 2]}, out=url)
    known = RunFolder(played).finished(RunFolder(played).experiment())
    assert [row.digest for row in rows if row.seed < 2] == [row.digest for _, row in known]
    monkeypatch.setenv("TEAMWORLD_COPIES", copies)
    folder = RunFolder(local_folder(url))
    assert folder.tables() is None, "they say less than the results"
    assert folder.count_finished(folder.experiment()) == 18


def test_both_sides_changed_is_refused(
    server: ObjectStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"s3://{bucket}/runs/x"
    folder = RemoteFolder(url)
    folder.refresh()
    folder.path.mkdir(parents=True)
    (folder.path / "a.txt").write_text("first")
    folder.push()
    monkeypatch.setenv("TEAMWORLD_COPIES", str(tmp_path / "other"))
    other = RemoteFolder(url)
    other.refresh()
    (other.path / "a.txt").write_text("theirs")
    other.push()
    folder.refresh()
    assert (folder.path / "a.txt").read_text() == "theirs"
    (other.path / "a.txt").write_text("theirs again")
    other.push()
    (folder.path / "a.txt").write_text("ours")
    with pytest.raises(UserError, match=r"a\.txt was changed there, and its copy"):
        folder.refresh()


@pytest.mark.heavy
@pytest.mark.parametrize("last", [1, 14])
def test_a_kill_during_an_upload_resumes(
    last: int,
    server: ObjectStore,
    bucket: str,
    played: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = f"s3://{bucket}/results/killed"
    words = ["run", *ARGUMENTS, "--processes", "1", "--out", url]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-m", "teamworld", *words], env=environment, stdout=subprocess.DEVNULL)
    puts = 0

    def watch(method: str, path: str) -> None:
        nonlocal puts
        puts += method == "PUT"
        if puts == last:
            os.kill(child.pid, signal.SIGKILL)

    server.watch = watch
    assert child.wait(timeout=200) == -signal.SIGKILL
    server.reset(0.2, seed=last)
    assert command(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    there = elsewhere(url, tmp_path, monkeypatch)
    assert logs(there) == logs(played)
    assert shown(url, capsys, "report", "--json") == shown(played, capsys, "report", "--json")


@pytest.mark.heavy
def test_keys_are_in_no_message(
    server: ObjectStore,
    bucket: str,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "_TRIES", 2)
    caplog.set_level(logging.DEBUG, "teamworld")
    server.reset(1.0)
    assert command(["report", f"s3://{bucket}/runs/x"]) == 2
    assert command(["report", f"s3://{KEY}:{SECRET}@{bucket}/runs/x"]) == 2
    server.reset()
    assert command(["report", f"s3://{bucket}/runs/none"]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 4
    assert "cannot be read" in said.err
    assert "put keys into the environment" in said.err
    assert "holds no run" in said.err
    for text in (said.out, said.err, caplog.text):
        assert KEY not in text
        assert SECRET not in text


@pytest.mark.parametrize("form", ["s3://{}", "s3:/{}"])
def test_a_url_is_known_in_the_form_that_a_path_gives_it(form: str) -> None:
    assert url_of(Path(form.format("b/a/c/"))) == "s3://b/a/c"


@pytest.mark.parametrize("text", ["runs/x", "/s3:/x", "http://b/x", "s3", "C:/runs/x"])
def test_other_paths_are_no_urls(text: str) -> None:
    assert url_of(text) is None


@pytest.mark.parametrize("text", ["s3://b", "s3://b/../x", "s3://b//x", "s3://k:s@b/x", "s3://b/x?versionId=1"])
def test_urls_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="expected"):
        url_of(text)


def test_the_package_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEAMWORLD_COPIES", str(tmp_path))
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert command(["report", "s3://bucket/run"]) == 2
    assert "pip install 'teamworld[s3]'" in capsys.readouterr().err
