"""A client in a process of its own: where a library crashes, that is a fault of one call and not the end of the run.

Requests and answers are lines of JSON. As a program, ``python -m teamworld.reasoning.llm.child_process MODULE:CLASS
ARGUMENT ...`` is the process itself.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from importlib import import_module
from typing import Any

import msgspec

from teamworld.reasoning.llm.contract import Client, Completion, Fault, ProviderError, Request

_LONGEST = 1 << 26  # bytes of a line
_PATIENCE = 10.0  # seconds to end in, before it is ended


class _Asked(msgspec.Struct):
    """What goes to the process: a request, or None to stop answering the one of this number."""

    number: int
    request: Request | None


class _Answered(msgspec.Struct):
    """What comes back."""

    number: int
    completion: Completion | None = None
    fault: Fault = Fault(kind="broken", text="an empty answer")


class ChildClient:
    """Passes requests on to a client in a process of its own, which starts with the first and again after a crash.

    Args:
        factory: ``MODULE:CLASS`` of the client.
        arguments: What it is made with.
    """

    def __init__(self, factory: str, *arguments: str) -> None:
        self._command = (sys.executable, "-m", __name__, factory, *arguments)
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[Completion | Fault]] = {}
        self._count = 0

    async def complete(self, request: Request) -> Completion:
        """Pass a request on.

        Raises:
            ProviderError: No completion came, or the process ended.
        """
        async with self._starting:
            if self._process is None:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LONGEST
                )
                self._reader = asyncio.create_task(self._read(self._process))
        self._count += 1
        number = self._count
        outcome: asyncio.Future[Completion | Fault] = asyncio.get_running_loop().create_future()
        self._waiting[number] = outcome
        self._send(_Asked(number, request))
        try:
            result = await outcome
        except asyncio.CancelledError:  # the time is over
            self._send(_Asked(number, None))
            raise
        finally:
            self._waiting.pop(number, None)
        if isinstance(result, Fault):
            raise ProviderError(result)
        return result

    async def close(self) -> None:
        """End the process."""
        process, reader = self._process, self._reader
        if process is None or process.stdin is None or reader is None:
            return
        process.stdin.close()  # at which it ends by itself
        try:
            await asyncio.wait_for(asyncio.shield(reader), _PATIENCE)
        except TimeoutError:
            process.kill()
            await reader

    def _send(self, asked: _Asked) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(msgspec.json.encode(asked) + b"\n")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hand answers to who waits for them, until the process ends; then all that wait have a fault."""
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                answered = msgspec.json.decode(line, type=_Answered)
                waiting = self._waiting.get(answered.number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answered.completion or answered.fault)
        except ValueError:  # a line that is none, or has no end
            process.kill()
        code = await process.wait()
        self._process = None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(Fault(kind="broken", text=f"the process of the model ended: {_describe_end(code)}"))


def _describe_end(code: int) -> str:
    """Return how a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"{signal.Signals(-code).name}, as after a fault in the library that runs it"
    except ValueError:
        return f"signal {-code}"


async def serve(client: Client) -> None:
    """Answer what comes on the standard input, until it ends."""
    loop = asyncio.get_running_loop()
    # What libraries print goes to the standard error: the standard output is for answers alone.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    lines = asyncio.StreamReader(limit=_LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    under_way: dict[int, asyncio.Task[None]] = {}

    async def answer(number: int, request: Request) -> None:
        try:
            answered = _Answered(number, await client.complete(request))
        except ProviderError as error:
            answered = _Answered(number, fault=error.fault)
        finally:
            under_way.pop(number, None)
        answers.write(msgspec.json.encode(answered) + b"\n")

    async for line in lines:
        asked = msgspec.json.decode(line, type=_Asked)
        if asked.request is not None:
            under_way[asked.number] = asyncio.create_task(answer(asked.number, asked.request))
        elif asked.number in under_way:
            under_way[asked.number].cancel()
    for task in list(under_way.values()):
        task.cancel()
    await asyncio.gather(*under_way.values(), return_exceptions=True)
    await client.close()


def main() -> None:
    """Be the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    module, _, name = sys.argv[1].partition(":")

    async def run() -> None:
        client: Any = getattr(import_module(module), name)(*sys.argv[2:])
        await serve(client)

    asyncio.run(run())


if __name__ == "__main__":
    main()
