"""An S3 server on this machine, some of whose requests fail."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class ObjectStore:
    """The server of moto with faults before it.

    Args:
        application: WSGI application of the server.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._lock = threading.Lock()
        self.reset()
        self.url = ""

    def reset(self, share: float = 0.0, seed: int = 0) -> None:
        """Let a share of the requests fail from now on, and forget what was asked."""
        self.share, self._draws = share, random.Random(seed)
        self.asked: list[tuple[str, str]] = []
        self.failed = 0
        self.watch: Callable[[str, str], None] = lambda method, path: None

    def __call__(self, environ: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
        """Answer a request, or fail."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        with self._lock:
            self.asked.append((method, path))
            fails = self._draws.random() < self.share
            self.failed += fails
            self.watch(method, path)
        if not fails:
            return self._application(environ, start)
        length = int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"].read(length)
        start("503 Slow Down", [("Content-Type", "application/xml")])
        return [b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"]


@contextmanager
def running() -> Iterator[ObjectStore]:
    """Start a server; it ends with the block."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    store = ObjectStore(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, store, threaded=True)
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
