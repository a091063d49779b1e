"""The terminal in front of a person who answers questions."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager, suppress
from threading import Thread

from rich.console import Console

_CHUNK = 65536


class Keyboard:
    """Shows on standard error and reads lines of standard input; implements ``teamworld.reasoning.human.Terminal``.

    A line is waited for in a thread: other reasoners go on meanwhile, and an interrupt ends the run at once. The thread
    reads the file descriptor, not ``sys.stdin``, whose lock it would take along when the process ends.

    Args:
        source: File descriptor to read.
    """

    def __init__(self, source: int = 0) -> None:
        self._source = source
        self._console = Console(stderr=True)
        self._rest = b""
        self._turn: asyncio.Lock | None = None

    def turn(self) -> AbstractAsyncContextManager[object]:
        """Held while one question is put."""
        if self._turn is None:
            self._turn = asyncio.Lock()
        return self._turn

    def show(self, text: str) -> None:
        """Show a text as it is."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    async def read(self, prompt: str) -> str:
        """Return a line without its end; raises ``EOFError``."""
        self._console.print(prompt, end="", markup=False, highlight=False, soft_wrap=True)
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[bytes | None] = loop.create_future()
        Thread(target=self._fetch, args=(loop, waiting), daemon=True).start()
        line = await waiting
        if line is None:
            raise EOFError
        return line.decode("utf-8", "replace").rstrip("\r")

    def _fetch(self, loop: asyncio.AbstractEventLoop, waiting: asyncio.Future[bytes | None]) -> None:
        line = self._line()

        def tell() -> None:
            if not waiting.done():
                waiting.set_result(line)

        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
            loop.call_soon_threadsafe(tell)

    def _line(self) -> bytes | None:
        """Return the next line; None at the end of the input."""
        while b"\n" not in self._rest:
            try:
                more = os.read(self._source, _CHUNK)
            except OSError:  # no standard input, or a terminal that hung up
                more = b""
            if not more:
                line, self._rest = self._rest, b""
                return line or None
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line
