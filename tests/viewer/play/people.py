"""Runs with people in them, for tests: pages are served and the run goes on in threads of their own."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from teamworld.cli import play_session
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.viewer.local_server import HOST
from teamworld.viewer.play.desk import PlayDesk
from teamworld.viewer.play.known_map import drawer
from teamworld.viewer.play.server import PlayServer

#: Seconds that something may take on a busy machine.
PATIENCE = 240.0


class Game:
    """A run under way."""

    def __init__(self, server: PlayServer, thread: threading.Thread, errors: list[Exception]) -> None:
        self.server, self.thread, self.errors = server, thread, errors

    def person(self, agent: str) -> Person:
        """Who plays an agent without a browser."""
        return Person(self.server.server_port, self.server.desk.seats[agent].token)

    def end(self) -> None:
        """Wait until the run is over; raises the error that ended it."""
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        if self.errors:
            raise self.errors[0]


@contextmanager
def game(
    out: Path, seats: str = "agent_0,agent_1", desk: Callable[..., PlayDesk] = PlayDesk, **fields: object
) -> Iterator[Game]:
    """Begin a run, or go on with it; at the end its pages are closed."""
    experiment = build({"world": "cube", "level": "paper-n2", "methods": ["drwell"], "max_steps": 30, **fields})
    session = play_session.prepare(experiment, seats.split(","))
    served = desk(session.seats, f"{experiment.world} {experiment.level}", drawer(experiment.world, session.team))
    errors: list[Exception] = []

    def go() -> None:
        try:
            run(session.experiment, out, watch=RunMonitor(desk=served))
        except Exception as error:  # noqa: BLE001  (the test looks at it)
            errors.append(error)
        served.finish("all is recorded")

    with PlayServer(served) as server:
        thread = threading.Thread(target=go, daemon=True)
        for begun in (threading.Thread(target=server.serve_forever, daemon=True), thread):
            begun.start()
        yield Game(server, thread, errors)
        server.shutdown()


class Person:
    """Speaks to the server as a page does."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.origin = f"http://{HOST}:{port}"

    def send(
        self, page: str, body: bytes | None = None, method: str = "", **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        """Return status, headers and body of an answer; a header that is None is left out."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE)
        named: dict[str, str | None] = (
            {} if body is None else {"Origin": self.origin, "Content-Type": "application/json"}
        )
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in named.items() if value is not None}
        try:
            verb = method or ("GET" if body is None else "POST")
            connection.request(verb, f"/{self.token}/{page}", body=body, headers=sent)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def state(self, version: int = 0) -> dict[str, Any]:
        """Return what the page is to show."""
        status, _, body = self.send(f"state?version={version}")
        assert status == 200, body
        state: dict[str, Any] = json.loads(body)
        return state

    def wait(self, *phases: str, behind: int = 0) -> dict[str, Any]:
        """Return the state once it is in one of some phases, and no longer at a question."""
        state = self.state()
        for _ in range(200):
            if state["phase"] in phases and (state["phase"] != "asked" or state["question"] != behind):
                return state
            state = self.state(state["version"])
        raise AssertionError(state)

    def post(self, page: str, question: int, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to what is sent."""
        status, _, body = self.send(page, json.dumps({"question": question, "values": values}).encode())
        assert status == 200, body
        answered: dict[str, Any] = json.loads(body)
        return answered

    def answer(self, question: int, values: Mapping[str, Any]) -> str | None:
        """Answer a question; return the complaint."""
        complaint: str | None = self.post("answer", question, values)["complaint"]
        return complaint

    def play(self, words: str = "as you like") -> int:
        """Take the first of all that is offered until the run is over; return how many questions that were."""
        asked = behind = 0
        while (state := self.wait("asked", "over", behind=behind))["phase"] == "asked":
            behind = state["question"]
            assert self.answer(behind, first_values(state["sheet"]["form"], words)) is None
            asked += 1
        return asked


def first_values(form: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """Return the first of all offers, and words where these are asked for."""
    values: dict[str, Any] = {}
    for field in form:
        if field["offers"]:
            values[field["name"]] = field["offers"][0]["value"]
        elif field["kind"] == "text":
            values[field["name"]] = words
    return values


def together(*works: Callable[[], Any]) -> list[Any]:
    """Do things at the same time; return what each returned."""
    done: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda k=k, work=work: done.__setitem__(k, work())) for k, work in enumerate(works)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [done[k] for k in range(len(works))]
