"""The page of ``teamworld view DIR``: what it lists, what it finds, and whom it does not answer."""

from __future__ import annotations

import http.client
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from teamworld.errors import UserError
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import MessageSent, read_log
from teamworld.viewer import overview
from teamworld.viewer.local_server import HOST
from teamworld.viewer.replay_page import view
from teamworld.viewer.server import ViewServer

FIELDS: dict[str, Any] = {
    "world": "cube",
    "level": "n2",
    "methods": ["random", "drwell"],
    "seeds": [3, 4],
    "max_steps": 30,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    run(build(FIELDS | {"episodes": 2}), out)
    return out


def serve(folder: Path, forks: RunOptions | None = None) -> Iterator[ViewServer]:
    with ViewServer(folder, forks=forks) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(folder: Path) -> Iterator[ViewServer]:
    yield from serve(folder)


def fetch(
    server: ViewServer, page: str = "", method: str = "GET", token: str | None = None, **headers: str
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=20)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/{server.token if token is None else token}/{page}", headers=named)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def send(server: ViewServer, page: str, sent: object, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=60)
    own = {"Origin": f"http://{HOST}:{server.server_port}", "Content-Type": "application/json"}
    try:
        connection.request("POST", f"/{server.token}/{page}", json.dumps(sent), own | headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def data(server: ViewServer, page: str, **asked: object) -> Any:  # noqa: ANN401  (whatever JSON there is)
    status, _, body = fetch(server, f"{page}?{urlencode(asked)}")
    assert status == 200, body
    return json.loads(body)


def test_all_finished_episodes_are_listed_with_their_measures(server: ViewServer) -> None:
    listed = data(server, "episodes")
    assert (listed["name"], listed["kind"], listed["wanted"], listed["failed"]) == ("run", "run", 8, 0)
    places = [tuple(row[:5]) for row in listed["episodes"]]
    assert places == [(".", "cube n2", m, s, e) for m in ("random", "drwell") for s in (3, 4) for e in (1, 2)]
    assert all(len(row[6]) == len(listed["measures"]) == len(listed["units"]) for row in listed["episodes"])
    assert listed["episodes"][0][6][listed["measures"].index("steps")] == 30
    assert data(server, "episodes", version=listed["version"]) is None


def test_it_grows_with_the_run(tmp_path: Path) -> None:
    run(build(FIELDS | {"episodes": 1, "methods": ["random"]}), tmp_path / "a")
    for server in serve(tmp_path / "a"):
        before = data(server, "episodes")
        assert len(before["episodes"]) == 2
        run(build(FIELDS | {"episodes": 2, "methods": ["random"]}), tmp_path / "a")
        after = data(server, "episodes", version=before["version"])
        assert len(after["episodes"]) == 4


def test_a_comparison_lists_the_episodes_of_its_runs(tmp_path: Path) -> None:
    from teamworld.cli import run as command

    place = ["--world", "cube", "--level", "n1", "--max-steps", "6", "--seeds", "2", "--out", str(tmp_path / "c")]
    assert command(["compare", "drwell", "zero_shot", *place]) == 0
    for server in serve(tmp_path / "c"):
        listed = data(server, "episodes")
        assert listed["kind"] == "comparison"
        assert {row[0] for row in listed["episodes"]} == {"run", "silent"}
        first = listed["episodes"][0]
        asked = dict(zip(("run", "level", "method", "seed", "episode"), first, strict=False))
        assert fetch(server, f"replay?{urlencode(asked)}")[0] == 200
        assert [table["title"].partition(":")[0] for table in data(server, "tables")] == ["run", "silent"]


def test_the_replay_is_that_of_the_episode(server: ViewServer, folder: Path) -> None:
    status, headers, body = fetch(server, "replay?run=.&method=drwell&seed=4&episode=1")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<title>cube n2: drwell, seed 4, episode 1</title>" in body
    exported = view(folder, "drwell", 4, 1).html
    assert ["connect-src 'self'" in text and "data-served>" in text for text in (body, exported)] == [True, False]
    assert "connect-src" not in exported


def test_two_episodes_of_one_seed_stand_side_by_side(server: ViewServer, folder: Path) -> None:
    pair = "pair?run=.&method=drwell&seed=4&episode=1&run2=.&method2=random&seed2=4&episode2=2"
    status, headers, body = fetch(server, pair)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<title>cube n2: drwell, seed 4, episode 1; random, seed 4, episode 2</title>" in body
    assert "://" not in body
    with ViewServer(folder, against=folder) as beside:
        text = beside.answer(f"/{beside.token}/{pair.replace('run2=.', 'run2=/against')}")[1].decode()
    assert text == body


def test_a_fork_that_the_page_asks_for_is_played_and_stands_beside_its_episode(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(folder, out)
    episode = "run=.&method=drwell&seed=4&episode=1"
    log = read_log(out / "logs" / "drwell-s4" / "0001.jsonl.zst")
    message = next(event for event in log if isinstance(event, MessageSent))
    drop = {"step": message.step, "change": {"message": {"agent": message.agent, "drop": True}}}
    for server in serve(out, RunOptions()):
        assert data(server, "forks") is True
        status, body = send(server, f"fork?{episode}", drop)
        assert status == 200, body
        played = json.loads(body)
        assert (played["run"], played["method"], played["seed"], played["episode"]) == ("/fork-1", "drwell", 4, 1)
        assert played["first_difference"] == message.step
        assert RunFolder(Path(played["folder"])).is_begun
        assert fetch(server, f"pair?{episode}&run2=/fork-1&method2=drwell&seed2=4&episode2=1")[0] == 200
        assert fetch(server, "replay?run=/fork-2&method=drwell&seed=4&episode=1")[0] == 422
        for sent, says in (
            ({"step": 0, "change": {}}, "expected one of message, answer, plan, hand_over"),
            ({"step": 9_999} | {"change": drop["change"]}, "has steps 0 to"),
            ({"step": 0, "change": {"message": {"agent": "nobody", "drop": True}}}, "no agent 'nobody'"),
            ({"step": 0, "change": {"hand_over": {"agents": ["agent_0"], "reasoner": "openai:gpt"}}}, "--budget"),
            ({"step": 0, "change": {"hand_over": {"agents": ["agent_0"], "reasoner": "human"}}}, "(teamworld fork)"),
            (["drop"], "expected a step and a change"),
        ):
            status, body = send(server, f"fork?{episode}", sent)
            assert (status, says in body) == (422, True), body
        assert send(server, f"fork?{episode}", drop, Origin="http://evil.example")[0] == 403
        assert send(server, f"fork?{episode}", drop, **{"Content-Type": "text/plain"})[0] == 415
        assert send(server, "replay", drop)[0] == 404


def test_a_page_that_may_play_no_forks_changes_nothing(server: ViewServer) -> None:
    assert data(server, "forks") is False
    status, body = send(server, "fork?run=.&method=drwell&seed=4&episode=1", {"step": 0, "change": {}})
    assert (status, "start it with --forks" in body) == (405, True)


def test_what_was_said_is_found_bit_by_bit(server: ViewServer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = data(server, "search", words="BLOCK", begin=0)
    assert whole["next"] == 8
    assert whole["matches"]
    assert all(place >= 4 for place, _, _ in whole["matches"])  # random teams say nothing
    assert all("block" in text.lower() for _, hits, _ in whole["matches"] for _, _, text in hits)
    monkeypatch.setattr(overview, "SEARCH_SECONDS", -1.0)
    begin, pieces = 0, list[Any]()
    while begin < 8:
        piece = data(server, "search", words="block", begin=begin)
        assert piece["next"] == begin + 1
        begin, pieces = piece["next"], [*pieces, *piece["matches"]]
    assert pieces == whole["matches"]
    assert data(server, "search", words="no such words", begin=7)["matches"] == []
    assert data(server, "search", words="", begin=0) == {"matches": [], "next": 8}


def test_a_hit_names_the_moment_of_the_replay_where_steps_take_several_ticks(tmp_path: Path) -> None:
    fields = {"world": "transport", "level": "dev-1", "methods": ["capo"], "seeds": [0], "max_steps": 400}
    run(build(fields), tmp_path / "a")
    folder = RunFolder(tmp_path / "a")
    ((cell, row),) = folder.finished(folder.experiment())
    said = [event for event in read_log(folder.log(cell, row.episode)) if isinstance(event, MessageSent)]
    assert any(event.step != event.tick for event in said), "all were sent at the start: take another level"
    for server in serve(tmp_path / "a"):
        ((_, hits, count),) = data(server, "search", words="plan", begin=0)["matches"]
        wanted = [event.step for event in said if "plan" in event.text.casefold()]
        assert (count, [hit[0] for hit in hits]) == (len(wanted), wanted[:20])


def test_failures_are_found_by_their_label(server: ViewServer) -> None:
    from teamworld.metrics.failures import LABELS

    found = {label: data(server, "search", words=label, begin=0)["matches"] for label in LABELS}
    assert any(found.values()), "no episode has any failure: take another level"
    assert all(hit[1] == label for label, matches in found.items() for _, hits, _ in matches for hit in hits)


@pytest.mark.parametrize(
    ("page", "status", "words"),
    [
        ("nothing", 404, "not found"),
        ("../experiment.yaml", 404, "not found"),
        ("replay?run=../../etc&method=drwell&seed=3&episode=1", 422, "no run of that name"),
        ("replay?run=.&method=..%2F..%2Fetc&seed=3&episode=1", 422, "no method"),
        ("replay?run=.&method=drwell&seed=3&episode=9", 422, "it has 1 to 2"),
        ("replay?run=.&method=drwell&seed=-1&episode=1", 400, "a number as seed"),
        ("pair?run=.&method=drwell&seed=4&episode=1&method2=drwell&seed2=3&episode2=1", 422, "the seed is 4, and 3"),
        ("pair?run=.&method=drwell&seed=4&episode=1&method2=drwell&seed2=x&episode2=1", 400, "a number as seed2"),
        ("pair?run=.&method=drwell&seed=4&episode=1&run2=/against", 422, "no run of that name"),
        ("search?words=a&begin=" + "9" * 30, 400, "a number as begin"),
        ("search?words=" + "a" * 3000, 414, "2000 characters"),
        ("episodes?" + "&".join(f"a{n}=1" for n in range(20)), 422, ""),
    ],
)
def test_what_cannot_be_answered_is_told_in_one_line(server: ViewServer, page: str, status: int, words: str) -> None:
    got, headers, body = fetch(server, page)
    assert (got, headers["Content-Type"]) == (status, "text/plain; charset=utf-8")
    assert words in body
    assert "\n" not in body.strip()


def test_nobody_else_is_answered(server: ViewServer) -> None:
    port = server.server_port
    assert fetch(server, token="x")[0] == 404
    assert fetch(server, token="")[0] == 404
    for headers in (
        {"Host": f"evil.example:{port}"},
        {"Host": HOST},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ):
        assert fetch(server, "episodes", **headers)[0] == 403, headers
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "HEAD"):
        assert fetch(server, method=method)[0] == 501, method
    assert (
        fetch(server, Origin=f"http://localhost:{port}", Host=f"localhost:{port}", Sec_Fetch_Site="same-origin")[0]
        == 200
    )
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_may_load_nothing_from_elsewhere(server: ViewServer) -> None:
    _, headers, body = fetch(server)
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in body
    assert "connect-src 'self'" in body
    assert "http" not in body.replace("http-equiv", "")


def test_a_browser_that_leaves_is_no_error(server: ViewServer, capsys: pytest.CaptureFixture[str]) -> None:
    for error, is_told in ((BrokenPipeError(), False), (KeyError("odd"), True)):
        try:
            raise error
        except (OSError, KeyError):
            server.handle_error(None, ("127.0.0.1", 1))
        assert ("Traceback" in capsys.readouterr().err) == is_told


def test_damaged_results_are_told(tmp_path: Path) -> None:
    run(build(FIELDS | {"episodes": 1, "methods": ["random"]}), tmp_path / "a")
    for server in serve(tmp_path / "a"):
        (tmp_path / "a" / "results.sqlite").write_bytes(b"no database")
        status, _, body = fetch(server, "episodes")
        assert (status, "is not a results file" in body) == (422, True)


def test_a_port_that_is_taken_and_a_folder_with_nothing(folder: Path, tmp_path: Path) -> None:
    with ViewServer(folder) as server, pytest.raises(UserError, match="choose another --port"):
        ViewServer(folder, server.server_port)
    with pytest.raises(UserError, match="choose another --port"):
        ViewServer(folder, 70_000)
    with pytest.raises(UserError, match="holds no"):
        ViewServer(tmp_path)
