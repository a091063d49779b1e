"""Where people who take agents of a team are asked: a seat for each, which its page looks at from other threads.

Questions live in the event loop of the run; all that is read of them is read there. A page gets what ``Sheet`` and
``PlayMap`` hold, both of which are made from the question alone: from what its agent may know.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import msgspec

from teamworld.errors import UserError
from teamworld.reasoning.contract import Question
from teamworld.reasoning.human import check_values
from teamworld.reasoning.prompts import Prompt
from teamworld.viewer.play.known_map import PlayMap
from teamworld.viewer.play.sheet import FormField, Sheet, make_form, make_sheet, read_values

#: Seconds that a page waits for news before it asks again.
NEWS_SECONDS = 15.0
#: Seconds that the run may take to look at an answer: another reasoner may be thinking.
_LOOK_SECONDS = 60.0
#: Own answers that are shown.
_PAST = 40
_STOPPED = "the run has stopped: the command that began it goes on from here"
Result = TypeVar("Result")


class GivenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the person answered."""

    kind: str
    ask: str
    values: dict[str, Any]


class SeatState(msgspec.Struct, frozen=True, kw_only=True):
    """All that a page shows."""

    version: int
    agent: str
    run: str
    """World, level and method in words."""
    phase: Literal["asked", "waiting", "over"]
    note: str
    """How the run ended; empty while it goes on."""
    question: int
    """Number of the question that is open; 0 for none."""
    sheet: Sheet | None
    map: PlayMap | None
    """The last one, also while nothing is asked."""
    past: tuple[GivenAnswer, ...]
    """Newest first."""


class _Pending:
    """A question that waits for its answer."""

    def __init__(self, number: int, question: Question[Any], sheet: Sheet, map: PlayMap | None) -> None:
        self.number, self.question, self.sheet, self.map = number, question, sheet, map
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[str] = self.loop.create_future()


class Gone(Exception):
    """The question of an answer is no longer open, or the run has stopped; the text says which."""


class Seat:
    """The place of one person.

    Args:
        agent: Whom the person plays.
        run: What is played, in words.
    """

    def __init__(self, agent: str, run: str) -> None:
        self.agent = agent
        self.token = secrets.token_urlsafe(16)
        self._run = run
        self._changed = threading.Condition()
        self._version = 1
        self._asked = 0
        self._pending: list[_Pending] = []
        self._map: PlayMap | None = None
        self._past: deque[GivenAnswer] = deque(maxlen=_PAST)
        self._over: str | None = None

    # ---- in the event loop of the run

    async def answer(self, question: Question[Any], sheet: Sheet, map: PlayMap | None) -> str:
        """Show a question, behind those that are open, and return the answer to it as JSON."""
        self._asked += 1
        pending = _Pending(self._asked, question, sheet, map)
        with self._changing():
            self._pending.append(pending)
        try:
            return await pending.answer
        finally:
            with self._changing():
                self._pending.remove(pending)
                self._map = pending.map or self._map

    async def _take(self, pending: _Pending, values: Mapping[str, Any]) -> str | None:
        if pending.answer.done():
            raise Gone("this question has been answered")
        try:
            answer = check_values(pending.question, values)
        except ValueError as error:
            return str(error)
        shown = {name: value for name, value in answer.model_dump(mode="json").items() if name != "reasoning"}
        with self._changing():
            self._past.appendleft(GivenAnswer(kind=pending.sheet.kind, ask=pending.sheet.ask, values=shown))
        pending.answer.set_result(answer.model_dump_json())
        return None

    # ---- from the threads of the server

    def submit(self, number: int, values: Mapping[str, Any]) -> str | None:
        """Answer a question; return what is wrong with the answer, or None.

        Raises:
            Gone: It is no longer open, or the run has stopped.
        """
        pending = self._open(number)
        return self._in_loop(pending, self._take(pending, read_values(values)))

    def form(self, number: int, answered: Mapping[str, Any]) -> tuple[FormField, ...]:
        """Return the form of a question after some of its fields; raises ``Gone``."""
        pending = self._open(number)

        async def make() -> tuple[FormField, ...]:
            return make_form(pending.question, read_values(answered))

        return self._in_loop(pending, make())

    def state(self, known: int = 0, wait: float = 0.0) -> SeatState:
        """Return what is to be shown, once it is of another version than the known one, or after some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != known, wait)
            first = self._pending[0] if self._pending and self._over is None else None
            return SeatState(
                version=self._version,
                agent=self.agent,
                run=self._run,
                phase="over" if self._over is not None else "waiting" if first is None else "asked",
                note=self._over or "",
                question=0 if first is None else first.number,
                sheet=None if first is None else first.sheet,
                map=(first.map if first is not None else None) or self._map,
                past=tuple(self._past),
            )

    def finish(self, note: str) -> None:
        """Tell the page that the run is over, and how."""
        with self._changing():
            self._over = note

    def _open(self, number: int) -> _Pending:
        with self._changed:
            for pending in self._pending:
                if pending.number == number and self._over is None:
                    return pending
        raise Gone("this question is no longer open")

    def _in_loop(self, pending: _Pending, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            looked = asyncio.run_coroutine_threadsafe(work, pending.loop)
        except RuntimeError:  # the loop is closed
            work.close()
            raise Gone(_STOPPED) from None
        try:
            return looked.result(_LOOK_SECONDS)
        except (CancelledError, FutureTimeout):
            looked.cancel()
            raise Gone(_STOPPED) from None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change something of which the page is told."""
        with self._changed:
            yield
            self._version += 1
            self._changed.notify_all()


class PlayDesk:
    """Asks each person on the page of their agent; implements ``teamworld.reasoning.human.Desk``.

    Args:
        agents: Who is played by a person.
        run: What is played, in words.
        draw: Makes the map of a question from what its respondent knows; None where there is none.
    """

    def __init__(self, agents: Iterable[str], run: str, draw: Callable[[Question[Any]], PlayMap | None]) -> None:
        self.seats = {agent: Seat(agent, run) for agent in agents}
        self._draw = draw

    async def answer(self, question: Question[Any], prompt: Prompt, complaints: Sequence[str]) -> str:
        """Return the answer of a person as JSON; raises ``UserError`` where nobody has this seat."""
        seat = self.seats.get(question.respondent)
        if seat is None:
            raise UserError(f"a person is to answer for {question.respondent}, and nobody has that seat")
        return await seat.answer(question, make_sheet(question, prompt, complaints), self._draw(question))

    def finish(self, note: str) -> None:
        """Tell every page that the run is over, and how."""
        for seat in self.seats.values():
            seat.finish(note)
