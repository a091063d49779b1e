"""The server of the pages on which people play: one for each agent, at an address of its own.

As every ``LocalServer`` it is reached from this machine alone, by who knows an address. Who knows that of an agent gets
what this agent may know, and nothing of another's. Answers are taken from the page itself only: a request of another
page, or in another form than JSON, is refused.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from teamworld.viewer.html_export import play_page
from teamworld.viewer.local_server import HTML, JSON, LocalServer, PageHandler, Refused, read_number
from teamworld.viewer.play.desk import NEWS_SECONDS, Gone, PlayDesk, Seat


class PlayServer(LocalServer):
    """The pages of a desk; ``serve_forever`` answers until ``shutdown``.

    Args:
        desk: Where people sit.
        port: 0 for any that is free.

    Raises:
        UserError: The port is taken.
    """

    def __init__(self, desk: PlayDesk, port: int = 0) -> None:
        self.desk = desk
        self._open: set[str] = set()
        """Agents whose page has asked for news, and was not sent yet that the run is over."""
        self._ending: set[str] = set()
        """Those whose page is being sent that."""
        super().__init__(_Handler, port)

    def address_of(self, agent: str) -> str:
        """Return what the person who plays an agent opens in a browser."""
        return self.address_at(self.desk.seats[agent].token)

    def answer(self, target: str) -> tuple[str, bytes]:
        """Return the type and the body of what stands at an address; raises ``Refused``."""
        seat, page, asked = self._seat(target)
        match page:
            case "":
                return HTML, play_page().encode()
            case "state":
                self._open.add(seat.agent)
                state = seat.state(read_number(asked, "version"), NEWS_SECONDS)
                if state.phase == "over":
                    self._ending.add(seat.agent)
                return JSON, msgspec.json.encode(state)
        raise Refused(HTTPStatus.NOT_FOUND, "not found")

    def take(self, target: str, body: bytes) -> bytes:
        """Return the answer to what a page sends; raises ``Refused``."""
        seat, page, _ = self._seat(target)
        number, values = _read(body)
        try:
            match page:
                case "answer":
                    return msgspec.json.encode({"complaint": seat.submit(number, values)})
                case "form":
                    return msgspec.json.encode({"form": seat.form(number, values)})
        except Gone as gone:
            raise Refused(HTTPStatus.CONFLICT, str(gone)) from None
        raise Refused(HTTPStatus.NOT_FOUND, "not found")

    def sent(self) -> None:
        """Take note that an answer was sent."""
        self._open -= self._ending

    def wait_for_pages(self, seconds: float) -> None:
        """Return once every page that was opened was sent that the run is over, or after some seconds."""
        end = time.monotonic() + seconds
        while self._open and time.monotonic() < end:
            time.sleep(0.05)

    def _seat(self, target: str) -> tuple[Seat, str, Mapping[str, str]]:
        address = urlsplit(target)
        token, _, page = address.path.removeprefix("/").partition("/")
        matching = [
            seat for seat in self.desk.seats.values() if secrets.compare_digest(token.encode(), seat.token.encode())
        ]
        if not matching:
            raise Refused(HTTPStatus.NOT_FOUND, "not found")
        asked = {name: values[-1] for name, values in parse_qs(address.query, max_num_fields=10).items()}
        return matching[0], page, asked


def _read(body: bytes) -> tuple[int, dict[str, Any]]:
    """Return the number of a question and the values of its fields."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(HTTPStatus.BAD_REQUEST, "expected JSON") from None
    number, values = (sent.get("question"), sent.get("values")) if isinstance(sent, dict) else (None, None)
    if not (isinstance(number, int) and isinstance(values, dict)):
        raise Refused(HTTPStatus.BAD_REQUEST, "expected a question's number and the values of its fields")
    return number, values


class _Handler(PageHandler):
    """Answers one request."""

    server: PlayServer

    def do_GET(self) -> None:  # noqa: N802  (the base class calls it so)
        """Answer a question, and say that it was sent."""
        super().do_GET()
        self.server.sent()
