"""A page on this machine that lists the episodes of a folder and plays each: ``teamworld view DIR``.

It answers questions alone and changes nothing; ``local_server`` says whom it answers.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec

from teamworld.viewer.html_export import overview_page
from teamworld.viewer.local_server import HTML, JSON, LocalServer, PageHandler, Refused, read_number
from teamworld.viewer.overview import EpisodeFolder, Overview
from teamworld.viewer.replay_page import view


class ViewServer(LocalServer):
    """The page of a folder; ``serve_forever`` answers until ``shutdown``.

    Args:
        folder: Of a run, a grid, a comparison or a page of evidence.
        port: 0 for any that is free.

    Raises:
        UserError: The folder holds nothing to show, or the port is taken.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.episodes = EpisodeFolder(folder)
        self.token = secrets.token_urlsafe(16)
        super().__init__(PageHandler, port)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self.address_at(self.token)

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
                return HTML, overview_page().encode()
            case "episodes":
                return JSON, msgspec.json.encode(self._news(asked))
            case "tables":
                return JSON, msgspec.json.encode(self.episodes.tables())
            case "search":
                result = self.episodes.search(asked.get("words", "")[:200], read_number(asked, "begin"))
                return JSON, msgspec.json.encode(result)
            case "replay":
                made = view(
                    self.episodes.run(asked.get("run", ".")),
                    asked.get("method"),
                    read_number(asked, "seed"),
                    read_number(asked, "episode"),
                )
                return HTML, made.html.encode()
        raise Refused(HTTPStatus.NOT_FOUND, "not found")

    def _news(self, asked: dict[str, str]) -> Overview | None:
        """Return all episodes; nothing where they are those of the version that is known already."""
        return None if asked.get("version") == self.episodes.version() else self.episodes.overview()
