"""A folder as an endpoint: questions lie there as files until somebody has put files with the answers beside them.

For batch services, other agents, and people with time. A question's file is named for its place in the run, so a run
that was stopped finds the answers that came meanwhile, and asks nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from teamworld.errors import UserError
from teamworld.plain_files import read_file, write_file
from teamworld.reasoning.llm.contract import CallKey, Completion, Fault, Request, Usage
from teamworld.reasoning.llm.gateway import Sent

QUESTIONS, ANSWERS, NOTE = "questions", "answers", "README.txt"
#: Bytes of an answer's file at most, as of a server's.
LARGEST: Final = 16 * 2**20
#: Seconds between two looks at the answers, and after which an answer that cannot be read is told of.
LOOK, PATIENCE = 0.25, 10.0
_LONGEST = 150  # characters of a name
_TEXT = f"""Questions of a teamworld run, and their answers.

Each file {QUESTIONS}/NAME.json is a question: "messages" is what to read, "schema" the form of the answer; the other
fields are how the run would sample a language model. Those without an answer are open.

Answer with {ANSWERS}/NAME.txt, which holds the answer's text and nothing else, or with {ANSWERS}/NAME.json:
  {{"text": "the answer's text"}}, if you like with "model": "NAME" and "usage": {{"prompt": TOKENS, "output": TOKENS}}
  {{"error": "why there will be no answer"}}

Write under another ending, such as NAME.part, and rename when it is whole.
"""


class _Answer(msgspec.Struct, frozen=True):
    """What stands in ``NAME.json``."""

    text: str | None = None
    error: str | None = None
    model: str = ""
    usage: Usage = Usage()


class Mailbox:
    """The questions and answers of a run; lives in one event loop.

    Args:
        folder: Where they lie; made, with its two folders, for the first question.
        notice: Gets a line where somebody has to do something.
    """

    def __init__(self, folder: Path, notice: Callable[[str], None] = lambda line: None) -> None:
        self._folder, self._notice = folder, notice
        self._waiting: dict[str, asyncio.Future[Completion | Fault]] = {}
        self._seen: dict[str, tuple[tuple[int, int], float]] = {}  # by file: size and time, and since when it has them
        self._reader: asyncio.Task[None] | None = None
        self._end: UserError | None = None

    @property
    def flying(self) -> int:
        """Questions that wait for their answers."""
        return len(self._waiting)

    async def complete(self, cell: str, episode: int, key: CallKey, request: Request) -> Sent:
        """Put a question, unless it lies there already, and wait for its answer however long that takes.

        Args:
            cell: Name of the part of the run that asks.
            episode: Its episode.
            key: Which of its calls this is.
            request: The question.

        Raises:
            UserError: The folder cannot be used, holds another question of this name, or the run stops.
        """
        if self._end is not None:
            raise self._end
        name = _name(cell, str(episode), key.respondent, key.purpose, str(key.number), str(key.attempt))
        begun = time.perf_counter()
        self._put(name, request)
        if self._reader is None:
            self._notice(f"questions wait in {self._folder / QUESTIONS}: put answers into {self._folder / ANSWERS}")
            self._reader = asyncio.create_task(self._read_all())
        answer = self._waiting[name] = asyncio.get_running_loop().create_future()
        try:
            got = await answer
        finally:
            del self._waiting[name]
        seconds = time.perf_counter() - begun
        return Sent(None, (got,), seconds) if isinstance(got, Fault) else Sent(got, (), seconds)

    def stop(self, error: UserError) -> None:
        """Wait for no answer any more: each call raises the error. What lies in the folder stays."""
        self._end = self._end or error
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(self._end)

    async def close(self) -> None:
        """Look at the answers no more."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    def _put(self, name: str, request: Request) -> None:
        path = self._folder / QUESTIONS / f"{name}.json"
        try:
            if not path.parent.is_dir():
                for part in (QUESTIONS, ANSWERS):
                    (self._folder / part).mkdir(parents=True, exist_ok=True)
                write_file(self._folder / NOTE, _TEXT.encode())
            data = json.dumps(_plain(name, request), ensure_ascii=False, indent=1).encode("utf-8", "replace")
            if not path.exists():
                write_file(path, data)
            elif read_file(path, LARGEST) != data:
                raise UserError(f"{path} holds a question of another run: give each run a mailbox of its own")
        except OSError as error:
            raise UserError(f"the mailbox {self._folder} cannot be used: {path}: {error.strerror}") from None

    async def _read_all(self) -> None:
        while True:
            if self._waiting:
                try:
                    for name, got in await asyncio.to_thread(lambda: list(self._look(frozenset(self._waiting)))):
                        if name in self._waiting and not self._waiting[name].done():
                            self._waiting[name].set_result(got)
                except (OSError, UserError) as error:
                    self.stop(UserError(f"the mailbox {self._folder} cannot be used: {error}"))
            await asyncio.sleep(LOOK)

    def _look(self, waiting: frozenset[str]) -> Iterator[tuple[str, Completion | Fault]]:
        """Yield the answers that are there and whole."""
        with os.scandir(self._folder / ANSWERS) as entries:
            files = sorted((entry.name, entry) for entry in entries if entry.name.endswith((".txt", ".json")))
        for file, entry in files:
            name, _, ending = file.rpartition(".")
            if name not in waiting:
                continue
            stat = entry.stat()
            state, clock = (stat.st_size, stat.st_mtime_ns), time.monotonic()
            before, since = self._seen.get(file, (None, clock))
            if before != state:
                self._seen[file] = (state, clock)
                since = clock
            got = _read(read_file(Path(entry.path), LARGEST), ending, settled=before == state)
            if got is not None:
                yield name, got
            elif clock - since > PATIENCE:
                self._notice(f"{entry.path} is no answer as {NOTE} describes it, or not whole: mend it")
                self._seen[file] = (state, float("inf"))  # told once, until it changes


def _read(data: bytes, ending: str, *, settled: bool) -> Completion | Fault | None:
    """Return what a file says; None where it may not be whole.

    Args:
        data: The file's bytes.
        ending: Of its name.
        settled: Whether it is as it was when last looked at.
    """
    if ending == "txt":
        return Completion(text=data.decode("utf-8", "replace"), finish="stop", usage=Usage()) if settled else None
    try:
        answer = msgspec.json.decode(data, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if answer.text is not None:
        return Completion(text=answer.text, finish="stop", usage=answer.usage, served=answer.model[:200])
    if answer.error is not None:
        return Fault(kind="refused", text=" ".join(answer.error.split())[:300] or "no reason is given")
    return None


def _plain(name: str, request: Request) -> dict[str, Any]:
    """Return a question as it lies in the folder."""
    sampling = {field: getattr(request, field) for field in ("temperature", "top_p", "max_tokens", "seed")}
    messages = [{"role": turn.role, "content": turn.text} for turn in request.turns]
    return {"id": name, "messages": messages, "schema": request.schema, **sampling}


def _name(*parts: str) -> str:
    """Return a name for a file that tells places apart: names of agents may hold anything."""
    text = ".".join(parts)
    plain = re.sub(r"[^A-Za-z0-9_.@+-]", "_", text)[:_LONGEST]
    if plain == text and not plain.startswith("."):
        return plain
    return f"x{plain}-{hashlib.blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()}"
