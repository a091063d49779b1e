"""A page on this machine that lists the episodes of a folder and plays each: ``teamworld view DIR``.

It answers questions alone and changes nothing, unless it may play forks; ``local_server`` says whom it answers.
"""

from __future__ import annotations

import secrets
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from teamworld.experiment.run_options import RunOptions
from teamworld.viewer.forks import PageForks
from teamworld.viewer.html_export import overview_page
from teamworld.viewer.local_server import HTML, JSON, LocalServer, PageHandler, Refused, read_number
from teamworld.viewer.overview import EpisodeFolder, Overview
from teamworld.viewer.replay_page import EpisodeName, served_page, view_pair

#: Name of the other run, which no folder within the one that is shown can have.
AGAINST: Final = "/against"


class ViewServer(LocalServer):
    """The page of a folder; ``serve_forever`` answers until ``shutdown``.

    Args:
        folder: Of a run, a grid, a comparison or a page of evidence.
        port: 0 for any that is free.
        against: Another run whose episodes can stand beside those of the folder, under the name ``AGAINST``.
        forks: How forks are carried out that the page asks for; None: it may ask for none.

    Raises:
        UserError: The folder holds nothing to show, or the port is taken.
    """

    def __init__(
        self, folder: Path, port: int = 0, against: Path | None = None, forks: RunOptions | None = None
    ) -> None:
        self.episodes = EpisodeFolder(folder)
        self.forks = None if forks is None else PageForks(forks)
        self.against = against
        self.token = secrets.token_urlsafe(16)
        super().__init__(PageHandler, port)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self.address_at(self.token)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  (as its base has it)
        """Say nothing of a browser that has left before it was answered; report all else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def answer(self, target: str) -> tuple[str, bytes]:
        """Return the type and the body of what stands at an address.

        Raises:
            Refused: Nothing does.
            UserError: It cannot be shown.
        """
        page, asked = self._address(target)
        match page:
            case "":
                return HTML, overview_page().encode()
            case "forks":
                return JSON, msgspec.json.encode(self.forks is not None)
            case "episodes":
                return JSON, msgspec.json.encode(self._news(asked))
            case "tables":
                return JSON, msgspec.json.encode(self.episodes.tables())
            case "search":
                result = self.episodes.search(asked.get("words", "")[:200], read_number(asked, "begin"))
                return JSON, msgspec.json.encode(result)
            case "replay":
                return HTML, served_page(self._episode(asked, "")).encode()
            case "pair":
                return HTML, view_pair(self._episode(asked, ""), self._episode(asked, "2")).html.encode()
        raise Refused(HTTPStatus.NOT_FOUND, "not found")

    def take(self, target: str, body: bytes) -> bytes:
        """Play a fork of an episode and return what came of it.

        Raises:
            Refused: The page may not ask for it.
            UserError: It cannot be played.
        """
        page, asked = self._address(target)
        if page != "fork":
            raise Refused(HTTPStatus.NOT_FOUND, "not found")
        if self.forks is None:
            raise Refused(
                HTTPStatus.METHOD_NOT_ALLOWED, "this page changes nothing: start it with --forks to play forks"
            )
        return msgspec.json.encode(self.forks.play(self._episode(asked, ""), body))

    def _address(self, target: str) -> tuple[str, dict[str, str]]:
        """Return the page of an address and what it asks for; raises ``Refused`` without the token."""
        address = urlsplit(target)
        token, _, page = address.path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise Refused(HTTPStatus.NOT_FOUND, "not found")
        return page, {name: values[-1] for name, values in parse_qs(address.query, max_num_fields=10).items()}

    def _episode(self, asked: dict[str, str], suffix: str) -> EpisodeName:
        """Return which episode is asked for."""
        run = asked.get(f"run{suffix}", ".")
        path = self.against if run == AGAINST else None if self.forks is None else self.forks.folder(run)
        path = self.episodes.run(run) if path is None else path
        seed, episode = (read_number(asked, f"{name}{suffix}") for name in ("seed", "episode"))
        return EpisodeName(path, asked.get(f"method{suffix}"), seed, episode)

    def _news(self, asked: dict[str, str]) -> Overview | None:
        """Return all episodes; nothing where they are those of the version that is known already."""
        return None if asked.get("version") == self.episodes.version() else self.episodes.overview()
