"""A server on loopback that speaks the OpenAI chat protocol and misbehaves as it is told: for tests and benchmarks.

As a process of its own: ``python -m tests.reasoning.llm.server --port 0`` prints its port. From Python::

    with running() as server:  # a child process; ends with this one, even if killed
        server.set(seconds=0.2, faults={"error": 0.1, "drop": 0.1}, seed=7)
        server.set("small", forms=["text"])  # for one model only
        ...  # call f"{server.url}#anything"
        assert server.stats()["peak"] == 8

What it does is said by ``Behaviour``, for all models or for one, by ``set`` or ``POST /control``. Two kinds of model
name need no control: ``always-KIND`` has that fault every time, ``once-KIND`` the first time that a request comes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import http.client
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from tests.reasoning.llm.behaviour import (
    FAULTS,
    PASSING,
    Behaviour,
    Reply,
    Seen,
    Server,
    error_body,
    load,
    prompt_digest,
)

__all__ = ["FAULTS", "PASSING", "Behaviour", "Peer", "Server", "running"]

ROOT = Path(__file__).resolve().parents[3]


class Connection(asyncio.Protocol):
    """One connection: requests with a content-length, one after the other."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = bytearray()
        self._transport: asyncio.Transport
        self._busy = False
        self._counted: Seen | None = None
        self._owed: tuple[str, str, str, int] | None = None  # digests of request and prompt, fault, tokens

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        seen = self._server.seen
        seen.connections += 1
        seen.peak_connections = max(seen.peak_connections, seen.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.seen.connections -= 1
        self._end("abandoned")
        self._landed()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy:
            self._next()

    def _next(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *rest = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        stop = end + 4 + int(headers.get("content-length", 0))
        if len(self._buffer) < stop:
            return
        body = bytes(self._buffer[end + 4 : stop])
        del self._buffer[:stop]
        self._busy = True
        method, path, _ = first.split(" ", 2)
        try:
            self._handle(method, path.partition("?")[0], headers, body)
        except Exception as error:  # noqa: BLE001  a bug of a brain must not look like a drop
            self._send(Reply(599, error_body(f"test server: {type(error).__name__}: {error}", None)))

    def _handle(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        server, auth = self._server, headers.get("authorization", "")
        if path == "/v1/chat/completions" and method == "POST":
            seen = server.seen
            seen.auth[auth] += 1
            seen.headers = headers
            request = msgspec.json.decode(body)
            wait, digest, fault, reply = server.answer(request, body, auth)
            if fault != "ok":
                seen.faults[fault] += 1
            self._counted = seen
            prompt = prompt_digest((turn["role"], turn.get("content")) for turn in request.get("messages", ()))
            self._owed = digest, prompt, fault, reply.tokens
            seen.arrived()
            if wait == math.inf:
                server.held.append(partial(self._finish, reply))
            elif wait > 0:
                asyncio.get_running_loop().call_later(wait, self._finish, reply)
            else:
                self._finish(reply)
        elif path == "/v1/models":
            server.seen.auth[auth] += 1
            self._send(server.wants_key(auth) or Reply(200, server.models()))
        elif path == "/control" and method == "POST":
            changes = msgspec.json.decode(body)
            server.set(changes.pop("model", "*"), changes)
            self._send(Reply(200, b"{}"))
        elif path == "/control/release":
            server.release()
            self._send(Reply(200, b"{}"))
        elif path == "/control/reset":
            server.reset()
            self._send(Reply(200, b"{}"))
        elif path == "/control/stats":
            self._send(Reply(200, msgspec.json.encode(server.seen.stats())))
        else:
            self._send(Reply(404, error_body(f"no such path: {path}", None)))

    def _landed(self) -> None:
        if self._counted is not None:
            self._counted.in_flight -= 1
            self._counted = None

    def _end(self, outcome: str = "") -> None:
        """Count how the request ended: as it was told to, or otherwise."""
        if self._counted is not None and self._owed is not None:
            digest, prompt, fault, tokens = self._owed
            self._counted.ended(digest, prompt, outcome or fault, tokens)
        self._owed = None

    def _finish(self, reply: Reply) -> None:
        """Send the reply in its manner."""
        if self._transport.is_closing():
            return
        data, transport = reply.wire(), self._transport
        half = len(data) - len(reply.body) // 2
        if reply.manner != "drip":
            self._end()
        if reply.manner == "whole":
            self._send(reply)
        elif reply.manner == "drop":
            transport.abort()
        elif reply.manner == "drop-body":
            transport.write(data[:half])
            transport.abort()
        elif reply.manner == "cut":
            transport.write(data[:half])
            transport.close()
        elif reply.manner == "stall-body":
            transport.write(data[:half])
        elif reply.manner == "drip":
            self._dripping = asyncio.get_running_loop().create_task(self._drip(data, reply.seconds))

    async def _drip(self, data: bytes, seconds: float) -> None:
        pieces = 20
        size = -(-len(data) // pieces)
        for at in range(0, len(data), size):
            await asyncio.sleep(seconds / pieces)
            if self._transport.is_closing():
                return
            self._transport.write(data[at : at + size])
        self._end()
        self._done()

    def _send(self, reply: Reply) -> None:
        self._transport.write(reply.wire())
        self._done()

    def _done(self) -> None:
        self._landed()
        self._busy = False
        if self._buffer:
            self._next()


async def serve(server: Server, port: int, announce: Callable[[int], None]) -> None:
    """Serve until cancelled; tells the port once it listens."""
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(lambda: Connection(server), "127.0.0.1", port, backlog=4096)
    announce(listener.sockets[0].getsockname()[1])
    async with listener:
        await listener.serve_forever()


class Peer:
    """A server process, seen from outside."""

    def __init__(self, brain: str | None = None, port: int = 0) -> None:
        self._brain = brain
        self.port = port
        self._process: subprocess.Popen[str] | None = None
        self.start()

    @property
    def host(self) -> str:
        """Address without a path: ``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL that a client takes."""
        return f"{self.host}/v1"

    def name(self, model: str = "test-model") -> str:
        """Return the name that a user types for a model here."""
        return f"{self.url}#{model}"

    def start(self) -> None:
        """Start the process, after a stop on the port it had; it knows nothing of before."""
        command = [sys.executable, "-m", "tests.reasoning.llm.server", "--port", str(self.port), "--until-stdin-closes"]
        if self._brain:
            command += ["--brain", self._brain]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def stop(self) -> None:
        """End the process: nobody listens any more."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def set(self, model: str = "*", **changes: Any) -> None:
        """Set the behaviour for a model, or for all others with '*': see ``Behaviour``."""
        self._request("POST", "/control", {"model": model, **changes})

    def reset(self) -> None:
        """Forget behaviours and counters."""
        self._request("POST", "/control/reset", {})

    def release(self) -> None:
        """Send the answers that are held, and hold nothing more."""
        self._request("POST", "/control/release", {})

    def stats(self) -> dict[str, Any]:
        """Return the counters: see ``Seen.stats``."""
        return self._request("GET", "/control/stats", None)

    @property
    def pid(self) -> int:
        """Of the process, for measuring what it takes."""
        assert self._process is not None
        return self._process.pid

    def _request(self, method: str, path: str, body: object) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        if response.status != 200:
            raise ValueError(answer["error"]["message"])
        return answer


@contextlib.contextmanager
def running(brain: str | None = None) -> Iterator[Peer]:
    """Run a server process; ``brain`` is ``module:function`` for answers other than the least instance."""
    peer = Peer(brain)
    try:
        yield peer
    finally:
        peer.stop()


def main() -> None:
    """Run the server from a command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--brain", help="module:function")
    parser.add_argument("--until-stdin-closes", action="store_true")
    options = parser.parse_args()
    server = Server(load(options.brain)) if options.brain else Server()

    def announce(port: int) -> None:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()

    async def run() -> None:
        serving = asyncio.create_task(serve(server, options.port, announce))
        if options.until_stdin_closes:
            # A read in a thread: stdin may be a pipe or a file.
            await asyncio.to_thread(sys.stdin.read)
            serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving

    gc.freeze()
    asyncio.run(run())


if __name__ == "__main__":
    main()
