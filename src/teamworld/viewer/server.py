"""A page on this machine that lists the episodes of a folder and plays each: ``teamworld view DIR``.

Only this machine reaches it, and only who knows the token in its address: it listens on the loopback interface, answers
no other name than its own (so that no page of elsewhere reaches it by a name of its own, "DNS rebinding"), answers
questions alone and changes nothing. What it sends may load nothing from elsewhere.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from teamworld.errors import UserError
from teamworld.viewer.html_export import overview_page
from teamworld.viewer.overview import EpisodeFolder, Overview
from teamworld.viewer.replay_page import view

HOST: Final = "127.0.0.1"
_LONGEST: Final = 2000  # characters of an address
_HTML, _JSON, _TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
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


class ViewServer(ThreadingHTTPServer):
    """The page of a folder; ``serve_forever`` answers until ``shutdown``.

    Args:
        folder: Of a run, a grid, a comparison or a page of evidence.
        port: 0 for any that is free.

    Raises:
        UserError: The folder holds nothing to show, or the port is taken.
    """

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.episodes = EpisodeFolder(folder)
        self.token = secrets.token_urlsafe(16)
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise UserError(f"port {port} cannot be listened on ({why}): choose another --port, or none") from None
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in (HOST, "localhost"))

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def answer(self, target: str) -> tuple[str, bytes]:
        """Return the type and the body of what stands at an address.

        Raises:
            Refused: Nothing does.
            UserError: It cannot be shown.
        """
        address = urlsplit(target)
        token, _, page = address.path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise Refused(HTTPStatus.NOT_FOUND, "not found")
        asked = {name: values[-1] for name, values in parse_qs(address.query, max_num_fields=10).items()}
        match page:
            case "":
                return _HTML, overview_page().encode()
            case "episodes":
                return _JSON, msgspec.json.encode(self._news(asked))
            case "tables":
                return _JSON, msgspec.json.encode(self.episodes.tables())
            case "search":
                result = self.episodes.search(asked.get("words", "")[:200], _number(asked, "begin"))
                return _JSON, msgspec.json.encode(result)
            case "replay":
                made = view(
                    self.episodes.run(asked.get("run", ".")),
                    asked.get("method"),
                    _number(asked, "seed"),
                    _number(asked, "episode"),
                )
                return _HTML, made.html.encode()
        raise Refused(HTTPStatus.NOT_FOUND, "not found")

    def _news(self, asked: dict[str, str]) -> Overview | None:
        """Return all episodes; nothing where they are those of the version that is known already."""
        return None if asked.get("version") == self.episodes.version() else self.episodes.overview()


def _number(asked: dict[str, str], name: str) -> int:
    text = asked.get(name, "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise Refused(HTTPStatus.BAD_REQUEST, f"expected a number as {name}")
    return int(text)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: ViewServer
    server_version, sys_version = "teamworld", ""
    timeout = 30
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a question."""
        try:
            self._check_sender()
            kind, body = self.server.answer(self.path)
        except Refused as refused:
            self._send(refused.status, _TEXT, str(refused).encode())
        except (UserError, ValueError) as error:
            self._send(HTTPStatus.UNPROCESSABLE_ENTITY, _TEXT, str(error).encode("utf-8", "replace"))
        else:
            self._send(HTTPStatus.OK, kind, body)

    def _check_sender(self) -> None:
        """Refuse whoever is not the page itself, or somebody who typed its address."""
        origins = {None, *(f"http://{host}" for host in self.server.hosts)}
        if self.headers.get("Host") not in self.server.hosts or self.headers.get("Origin") not in origins:
            raise Refused(HTTPStatus.FORBIDDEN, "this page is for this machine only")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(HTTPStatus.FORBIDDEN, "no other page may ask")
        if len(self.path) > _LONGEST:
            raise Refused(HTTPStatus.REQUEST_URI_TOO_LONG, f"expected at most {_LONGEST} characters, got more")

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: addresses hold the token."""
