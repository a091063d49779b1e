"""A server of pages for this machine: who may ask, and with what headers it answers.

Only this machine reaches it, and only who knows the token in an address: it listens on the loopback interface, answers
no other name than its own (so that no page of elsewhere reaches it by a name of its own, "DNS rebinding"), and answers
no other page. What it sends may load nothing from elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from teamworld.errors import UserError

HOST: Final = "127.0.0.1"
_LONGEST: Final = 2000  # characters of an address
_LARGEST: Final = 64 * 1024  # bytes of what a page sends
HTML: Final = "text/html; charset=utf-8"
JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Refused(Exception):
    """A request that is not answered, with the status that says so."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class LocalServer(ThreadingHTTPServer, ABC):
    """A server that listens on the loopback interface and knows by what names it may be called.

    Args:
        handler: Answers one request.
        port: 0 for any that is free.

    Raises:
        UserError: The port is taken.
    """

    daemon_threads = True

    def __init__(self, handler: type[PageHandler], port: int) -> None:
        try:
            super().__init__((HOST, port), handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise UserError(f"port {port} cannot be listened on ({why}): choose another --port, or none") from None
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in (HOST, "localhost"))

    def address_at(self, token: str) -> str:
        """Return what to open in a browser."""
        return f"http://{HOST}:{self.server_port}/{token}/"

    @abstractmethod
    def answer(self, target: str) -> tuple[str, bytes]:
        """Return the type and the body of what stands at an address.

        Raises:
            Refused: Nothing does.
            UserError: It cannot be shown.
        """

    def take(self, target: str, body: bytes) -> bytes:
        """Return the answer, as JSON, to what the page itself sends; a server takes nothing unless it says otherwise.

        Raises:
            Refused: It cannot be taken.
            UserError: What it asks for cannot be done.
        """
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "this page changes nothing")


def read_number(asked: Mapping[str, str], name: str) -> int:
    """Return a number of an address, 0 where it has none; raises ``Refused``."""
    text = asked.get(name, "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise Refused(HTTPStatus.BAD_REQUEST, f"expected a number as {name}")
    return int(text)


class PageHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: LocalServer
    server_version, sys_version = "teamworld", ""
    timeout = 30
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a question."""
        try:
            self.check_sender()
            kind, body = self.server.answer(self.path)
        except Refused as refused:
            self.send_refused(refused)
        except (UserError, ValueError) as error:
            self.send_page(HTTPStatus.UNPROCESSABLE_ENTITY, TEXT, str(error).encode("utf-8", "replace"))
        else:
            self.send_page(HTTPStatus.OK, kind, body)

    def do_POST(self) -> None:
        """Take what the page itself sends."""
        try:
            body = self._body()
            self.check_sender()
            if self.headers.get("Origin") is None:
                raise Refused(HTTPStatus.FORBIDDEN, "only the page itself may send")
            if self.headers.get_content_type() != "application/json":
                raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected JSON")
            answer = self.server.take(self.path, body)
        except Refused as refused:
            self.send_refused(refused)
        except UserError as error:
            self.send_page(HTTPStatus.UNPROCESSABLE_ENTITY, TEXT, str(error).encode("utf-8", "replace"))
        else:
            self.send_page(HTTPStatus.OK, JSON, answer)

    def _body(self) -> bytes:
        """Read what was sent, also where it is then refused: to close before takes the answer along."""
        self.close_connection = True
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdecimal() and len(size) < 10):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "expected a length")
        body = self.rfile.read(min(int(size), 16 * _LARGEST))
        if int(size) > _LARGEST:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {_LARGEST} bytes, got {size}")
        return body

    def check_sender(self) -> None:
        """Refuse whoever is not the page itself, or somebody who typed its address."""
        origins = {None, *(f"http://{host}" for host in self.server.hosts)}
        if self.headers.get("Host") not in self.server.hosts or self.headers.get("Origin") not in origins:
            raise Refused(HTTPStatus.FORBIDDEN, "this page is for this machine only")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(HTTPStatus.FORBIDDEN, "no other page may ask")
        if len(self.path) > _LONGEST:
            raise Refused(HTTPStatus.REQUEST_URI_TOO_LONG, f"expected at most {_LONGEST} characters, got more")

    def send_refused(self, refused: Refused) -> None:
        """Say why a request is not answered."""
        self.send_page(refused.status, TEXT, str(refused).encode())

    def send_page(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        """Send a body, with the headers of every page."""
        with suppress(ConnectionError):  # the page was closed meanwhile
            self.send_response(status)
            for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: addresses hold the token."""
