"""A budget of tokens against servers that count in every odd way: what they count is held to it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from teamworld.errors import UserError
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.gateway import Patience
from teamworld.report import bills
from tests.reasoning.llm.brains import minimal

TOGETHER = 2  # calls in flight
TIMEOUT = 0.15
SAID = 120  # characters of an answer


def usage(prompt: object, output: object) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": output}}


def answer(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


#: What a server sends that has counted so many tokens of prompt and output, at its so-many-th request: status and body.
Way = Callable[[int, int, int, str], tuple[int, dict[str, Any] | str]]
WAYS: dict[str, Way] = {
    "honest": lambda p, o, n, text: (200, answer(text) | usage(p, o)),
    "no choices": lambda p, o, n, text: (200, answer(text) | usage(p, o) | {"choices": []}),
    "every other without choices": lambda p, o, n, text: (
        200,
        answer(text) | usage(p, o) | ({"choices": []} if n % 2 else {}),
    ),
    "an error beside the usage": lambda p, o, n, text: (200, usage(p, o) | {"error": {"message": "odd"}}),
    "a failure that names the usage": lambda p, o, n, text: (500, usage(p, o) | {"error": {"message": "odd"}}),
    "zeros": lambda p, o, n, text: (200, answer(text) | usage(0, 0)),
    "ones": lambda p, o, n, text: (200, answer(text) | usage(1, 1)),
    "nothing": lambda p, o, n, text: (200, answer(text)),
    "nulls": lambda p, o, n, text: (200, answer(text) | usage(None, None)),
    "words": lambda p, o, n, text: (200, answer(text) | usage("some", "more")),
    "no JSON": lambda p, o, n, text: (200, "<html>" + text),
    "half a body": lambda p, o, n, text: (200, "HALF" + json.dumps(answer(text) | usage(p, o))),
    "late": lambda p, o, n, text: (0, answer(text) | usage(p, o)),
    "every other late": lambda p, o, n, text: (200 * (n % 2), answer(text) | usage(p, o)),
}


class Counting(ThreadingHTTPServer):
    """A server that counts a token for every four characters, and sends what a way makes of it."""

    daemon_threads = True

    def __init__(self, way: Way) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.way = way
        self.counted = self.most = self.requests = 0
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counting

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = minimal(body).ljust(SAID)
        prompt = sum(len(turn["content"]) for turn in body["messages"]) // 4
        with self.server.lock:
            self.server.requests += 1
            number = self.server.requests
            self.server.counted += prompt + SAID // 4
            self.server.most = max(self.server.most, prompt + SAID // 4)
        status, said = self.server.way(prompt, SAID // 4, number, text)
        if status == 0:
            time.sleep(2 * TIMEOUT)
        sent = (said.removeprefix("HALF") if isinstance(said, str) else json.dumps(said)).encode()
        self.send_response(status or 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent[: len(sent) // 2] if isinstance(said, str) and said.startswith("HALF") else sent)
        self.close_connection = status == 0 or isinstance(said, str)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(way: Way) -> Iterator[Counting]:
    server = Counting(way)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "limit"),
    [*((name, limit) for name in WAYS for limit in (2_000, 8_000)), ("honest", 30_000), ("every other late", 30_000)],
)
def test_what_a_server_counts_is_held_to_the_budget(
    name: str, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = Patience(tries=3, per_try=TIMEOUT, total=2.0, first_wait=0.001, longest_wait=0.002, outage=0.5)
    monkeypatch.setattr(Patience, "lasting", lambda *_: quick)
    with serving(WAYS[name]) as server:
        host = f"http://127.0.0.1:{server.server_address[1]}/v1#m"
        spec = build({"reasoner": host, "methods": ["drwell"], "max_steps": 400, "answers": "text"})
        running = RunOptions(budget=f"{limit}tok", calls=TOGETHER)
        for _ in range(2):  # the same command again: what was spent before counts
            with pytest.raises(UserError):
                run(spec, tmp_path / "run", running=running)
        assert server.counted <= limit + TOGETHER * server.most, (server.counted, server.requests)
    with CallStore(RunFolder(tmp_path / "run").results_file, readonly=True) as store:
        spent = store.spent(lambda *_: None).tokens
        known = store.count()
    if known:
        table = next(bills.of_run(RunFolder(tmp_path / "run")))
        row = dict(zip(table.columns, table.rows[0], strict=True))
        told = "at least" in row["prompt"] or row["prompt"] == "unknown" or "did not come to their end" in table.caption
        assert told or not spent.estimated, row


#: Plays a run and kills it when so many tries came to nothing.
KILLED = """
import os, signal, sys
from pathlib import Path
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.experiment.store.recorded_calls import EpisodeCalls
from teamworld.reasoning.llm.gateway import Patience
out, host, limit, after = sys.argv[1:]
quick = Patience(tries=100, per_try=5.0, total=60.0, first_wait=0.001, longest_wait=0.002, outage=60.0)
Patience.lasting = lambda *_: quick
lose, lost = EpisodeCalls.lose, []
def kill(*arguments):
    row = lose(*arguments)
    lost.append(row)
    if len(lost) == int(after):
        os.kill(os.getpid(), signal.SIGKILL)
    return row
EpisodeCalls.lose = kill
spec = build({"reasoner": host, "methods": ["drwell"], "max_steps": 400, "answers": "text"})
run(spec, Path(out), running=RunOptions(budget=limit, calls=2))
"""


@pytest.mark.heavy
def test_a_kill_forgets_no_try_that_was_paid(tmp_path: Path) -> None:
    lives, limit = 8, 20_000
    with serving(WAYS["no choices"]) as server:
        host = f"http://127.0.0.1:{server.server_address[1]}/v1#m"
        arguments = [sys.executable, "-c", KILLED, str(tmp_path / "run"), host, f"{limit}tok", "8"]
        codes: list[int] = []
        while len(codes) < lives and 1 not in codes:
            codes.append(subprocess.run(arguments, check=False, capture_output=True).returncode)
        assert codes[0] == -signal.SIGKILL
        assert codes[-1] == 1, "the budget is spent, and the run stops by itself"
        killed = codes.count(-signal.SIGKILL)
        assert server.counted <= limit + (killed + 1) * TOGETHER * server.most, (server.counted, server.requests)
