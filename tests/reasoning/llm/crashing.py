"""A client that does what its requests say, crashes included: for the process that it runs in."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from teamworld.reasoning.llm.contract import Completion, Fault, ProviderError, Request, Usage


class CrashingClient:
    """Answers with its own process and what it was made with."""

    def __init__(self, greeting: str) -> None:
        self._greeting = greeting
        self._stopped = 0

    async def complete(self, request: Request) -> Completion:
        """Do what the last turn says."""
        said = request.turns[-1].text
        if said == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if said == "leave":
            os._exit(3)
        if said == "print":
            sys.stdout.write("what a library prints\n")
            os.write(1, b"and its compiled part\n")
        if said == "fault":
            raise ProviderError(Fault(kind="refused", text="too long"))
        if said == "wait":
            try:
                await asyncio.sleep(60)
            finally:
                self._stopped += 1
        text = said * 100_000 if said == "long" else f"{self._greeting} {os.getpid()} {self._stopped}"
        return Completion(text=text, finish="stop", usage=Usage(prompt=1, output=1))

    async def close(self) -> None:
        """Let go of nothing."""
