"""The gateway to one endpoint, shared by all calls of a run: concurrency, retries, rate limits, outages.

It lives in one event loop and uses that loop's clock. What a call waits for, and how long, never changes an answer
and stands in no log.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import msgspec

from teamworld.errors import UserError
from teamworld.reasoning.llm.contract import (
    HOPELESS,
    PASSING,
    Client,
    Completion,
    Fault,
    ProviderError,
    Request,
    Usage,
    lines,
)
from teamworld.reasoning.llm.expense import turn_characters
from teamworld.seeding import generator

#: Calls in flight at first, and again after an outage: a team of ordinary size need not wait, a small server is not
#: flooded.
START = 32
#: Calls in flight at most, unless told otherwise.
MOST = 128
#: What stands in the record of a call for whose sake a request was sent that was answered before.
ANSWERED_AGAIN = "a request that was answered before is answered again"
#: What a rate limit takes from the tries of a call: the endpoint lives and says to come again. So an endpoint that
#: knows nothing but rate limits is given up as a whole before a call of its own is.
BUSY = 1 / 8


class Unreachable(UserError):
    """An endpoint did not answer for longer than the patience lasts; what was paid for is on record."""


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how long to try; times in seconds.

    A call's own time is that of its tries and of its waits between them. The time in which it waits for others, for
    the end of a rate limit or for a dead endpoint is not counted.
    """

    tries: int = 6
    """Of one call; as many faults in a row, over all calls, and the endpoint counts as dead."""
    per_try: float = 180.0
    total: float = 900.0
    """Longest time of a call's own."""
    first_wait: float = 0.5
    """Longest wait before the second try, doubling from try to try."""
    longest_wait: float = 30.0
    """Where the doubling ends."""
    outage: float = 300.0
    """How long nothing but faults may come before the run stops, never less than ``per_try``; also the longest wait
    that a provider may ask for."""

    @classmethod
    def lasting(cls, per_try: float, outage: float) -> Patience:
        """Return one with these times, in seconds: a call of its has time for five tries, and never less than else."""
        return cls(per_try=per_try, total=max(cls().total, 5 * per_try), outage=outage)


class Sent(NamedTuple):
    """What came of a call."""

    completion: Completion | None
    faults: tuple[Fault, ...]
    """Of every try that got no completion, oldest first."""
    seconds: float
    """From the first sending to the end, all waits included."""


class ConcurrencyLimit:
    """How many calls may be in flight: doubles from round trip to round trip, halves on congestion.

    After a halving it feels its way up again: by 1 in the first round trip, and what it has gained more than doubles in
    each further one. So a limit that stays is overrun by little, and one that has passed soon forgotten.

    Args:
        most: Never more than this.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._value = float(min(START, most))
        self._low = 1.0
        self._halved = 0

    @property
    def value(self) -> int:
        """Calls that may be in flight now, at least 1."""
        return int(self._value)

    def grow(self, number: int) -> None:
        """Learn that try ``number`` succeeded while the limit held others back."""
        if number > self._halved:
            self._value = min(self._most, self._value + (self._value - self._low + 1.0) / self._value)

    def halve(self, number: int, last: int) -> bool:
        """Learn that try ``number`` of ``last`` met congestion.

        Returns:
            Whether that was news: tries sent before the last halving tell of the same congestion.
        """
        if number <= self._halved:
            return False
        self._value = self._low = max(1.0, self._value / 2.0)
        self._halved = last
        return True

    def restart(self) -> None:
        """Start again after an outage."""
        self._value, self._low = min(self._value, float(START)), 1.0


class Gateway:
    """Sends the calls of a run to one endpoint; the oldest call goes first.

    Args:
        client: Sends a request once and tries nothing again by itself.
        name: Of the endpoint, for the lines that a user reads.
        patience: How often and how long to try.
        most: Calls in flight at most.
        notice: Gets one line when the endpoint is waited for, and one when it answers again.
        jitter: Draws from [0, 1); spreads the waits.
        witness: A request that the endpoint has answered, in an earlier process of this run. Where nothing but faults
            comes, it is sent again before the run stops: if it is answered, the requests that fail are what fails.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        patience: Patience | None = None,
        most: int = MOST,
        notice: Callable[[str], None] = lambda line: None,
        jitter: Callable[[], float] | None = None,
        *,
        witness: Request | None = None,
    ) -> None:
        self._client, self._name, self._notice = client, name, notice
        self._patience = patience or Patience()
        self._jitter = jitter or generator(0, "gateway", name).random
        self._limit = ConcurrencyLimit(most)
        self._calls = self._tries = 0  # numbers given out so far
        self._flying = 0
        self._turns: set[asyncio.Future[int]] = set()  # of all calls that wait, for a place or for their next try
        self._queue: list[
            tuple[int, asyncio.Future[int]]
        ] = []  # heap of those that want a place, by number of the call
        self._alarm: asyncio.TimerHandle | None = None
        self._held_until = 0.0  # nothing is sent before this time
        self._busy = 0  # rate limits in a row, those of one round trip counted once
        self._row = 0  # faults in a row without a sign of life
        self._newest = 0  # of the tries that brought a sign of life
        self._since = math.inf  # time of the first fault after the last answer
        self._fault: Fault | None = None  # the latest
        self._dead = False
        self._witness = witness  # the shortest one that was answered
        self._shortest = math.inf if witness is None else turn_characters(witness)
        self._witnessing = False  # it is on its way
        self._failing: set[str] = set()  # digests of the requests that failed since the last sign of life
        self._given_up: set[str] = set()  # of those that failed while others were answered, again and again
        self._probe = 0  # the try that is out to see whether a dead endpoint is back; 0: none is
        self._end: UserError | None = None

    @property
    def flying(self) -> int:
        """Calls in flight."""
        return self._flying

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return self._limit.value

    async def complete(
        self,
        request: Request,
        permit: Callable[[], None] = lambda: None,
        lose: Callable[[Fault], None] = lambda fault: None,
    ) -> Sent:
        """Send a request until a completion comes, it is refused, or the patience with this call is over.

        Args:
            request: What is asked.
            permit: Called whenever it is about to be sent, which may be long after it was given; it may raise.
            lose: Told of every try that brought no completion, as soon as it is over.

        Raises:
            Unreachable: The endpoint does not answer, or asks for more patience than there is.
            UserError: No request will succeed until somebody does something about it.
        """
        loop, patience = asyncio.get_running_loop(), self._patience
        place = self._next_place()
        began: float | None = None
        faults: list[Fault] = []
        tries = own = wait = 0.0
        while True:
            number = await self._wait_turn(place, wait)
            start = loop.time()
            began = start if began is None else began
            probe = number == self._probe
            outcome = await self._send(request, number, min(patience.per_try, patience.total - own), permit)
            if isinstance(outcome, Completion):
                return Sent(outcome, tuple(faults), loop.time() - began)
            faults.append(outcome)
            lose(outcome)
            self._check()
            if outcome.kind == "refused":
                return Sent(None, tuple(faults), loop.time() - began)
            if probe or self._busy > 1:  # nobody gets through, and it may be for this request: let another find out
                place = self._next_place()
            wait = 0.0
            if self._dead and loop.time() >= self._deadline():
                faults.append(await self._ask_witness(permit))
                lose(faults[-1])
            if request.digest() in self._given_up:
                return Sent(None, tuple(faults), loop.time() - began)
            if self._dead:
                continue
            tries += BUSY if outcome.kind == "busy" else 1
            if outcome.kind != "busy":  # which holds the whole endpoint instead
                wait = self._wait(int(tries))
            own += loop.time() - start + wait
            if tries >= patience.tries or own >= patience.total:
                return Sent(None, tuple(faults), loop.time() - began)

    async def close(self) -> None:
        """Let go of the endpoint, once no call waits any more."""
        await self._client.close()

    def _next_place(self) -> int:
        self._calls += 1
        return self._calls

    def _wait(self, times: int) -> float:
        """Return how long to wait after something failed so many times in a row: exponential, with full jitter."""
        patience = self._patience
        return min(patience.longest_wait, patience.first_wait * 2.0 ** min(times - 1, 64)) * self._jitter()

    def _stop_unreachable(self) -> NoReturn:
        end = Unreachable(self._explain_silence(asyncio.get_running_loop().time()))
        self.stop(end)
        self._check()
        raise end

    def _check(self) -> None:
        if self._end is not None:
            raise type(self._end)(str(self._end))  # each call its own: a traceback grows with every raise

    async def _wait_turn(self, place: int, wait: float) -> int:
        """Return the number of the try that may go out now, ``wait`` seconds later at the earliest."""
        self._check()
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[int] = loop.create_future()
        self._turns.add(turn)
        timer = loop.call_later(wait, self._enqueue, place, turn) if wait else None
        if timer is None:
            self._enqueue(place, turn)
        try:
            number = await turn
        except asyncio.CancelledError:
            if not turn.cancelled() and turn.done():  # the place was given in the same moment
                self._free_place(turn.result())
            raise
        finally:
            self._turns.discard(turn)
            if timer is not None:
                timer.cancel()
        if self._end is not None:
            self._free_place(number)
            self._check()
        return number

    def _enqueue(self, place: int, turn: asyncio.Future[int]) -> None:
        heapq.heappush(self._queue, (place, turn))
        self._release_waiting()

    async def _send(
        self, request: Request, number: int, seconds: float, permit: Callable[[], None]
    ) -> Completion | Fault:
        """Send once and learn from what comes of it; whatever happens, the place is free afterwards."""
        try:
            permit()
            outcome: Completion | Fault
            try:
                async with asyncio.timeout(seconds):
                    outcome = await self._client.complete(request)
            except ProviderError as error:
                outcome = error.fault
            except TimeoutError:
                # Its model may have worked all that time: whoever runs it is paid, and nobody counted.
                outcome = Fault(kind="late", text=f"no answer within {seconds:g} s", usage=Usage())
            self._learn_outcome(number, outcome, request)
            return outcome
        finally:
            self._free_place(number)

    def _free_place(self, number: int) -> None:
        """Free the place of a try; 0 had none."""
        if number:
            self._flying -= 1
            self._probe = 0 if number == self._probe else self._probe
            self._release_waiting()

    def _release_waiting(self) -> None:
        """Let go whoever may, and wake up again where only time will let others go."""
        loop = asyncio.get_running_loop()
        time_now = loop.time()
        if self._dead and time_now >= self._deadline() and self._witness is None:
            self.stop(Unreachable(self._explain_silence(time_now)))
        while self._queue and time_now >= self._held_until and self._has_room():
            turn = heapq.heappop(self._queue)[1]
            if not turn.done():
                self._tries += 1
                self._flying += 1
                self._probe = self._tries if self._dead else 0
                turn.set_result(self._tries)
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._queue and (self._dead or time_now < self._held_until):
            times = [self._held_until] if time_now < self._held_until else []
            times += [self._deadline()] if self._dead and time_now < self._deadline() else []
            if times:
                self._alarm = loop.call_at(min(times), self._release_waiting)

    async def _ask_witness(self, permit: Callable[[], None]) -> Fault:
        """Send what was answered before; if it is again, give up what fails, else stop.

        Returns:
            What it took, to be charged to the call that made it necessary.

        Raises:
            Unreachable: It is not answered either.
        """
        if self._witness is None:  # the patience ended since the last look at the clock
            self._stop_unreachable()
        self._witnessing = True
        try:
            permit()
            async with asyncio.timeout(self._patience.per_try):
                usage = (await self._client.complete(self._witness)).usage
            self._given_up |= self._failing
            self._since, self._busy = math.inf, 0
            self._count_answer(self._tries)
        except (ProviderError, TimeoutError):
            self._stop_unreachable()
        finally:
            self._witnessing = False
            self._release_waiting()
        return Fault(kind="broken", text=ANSWERED_AGAIN, usage=usage)

    def _has_room(self) -> bool:
        if self._witnessing:
            return False
        return not self._probe if self._dead else self._flying < self._limit.value

    def _deadline(self) -> float:
        """Return when the patience with an endpoint is over that brings nothing but faults.

        Not before whatever was in flight at the first of them has ended too.
        """
        return self._since + max(self._patience.outage, self._patience.per_try)

    def _learn_outcome(self, number: int, outcome: Completion | Fault, request: Request) -> None:
        """Take from the end of a try what it says of the endpoint."""
        if isinstance(outcome, Fault) and outcome.kind in HOPELESS:
            self.stop(UserError(self._explain_hopeless(outcome, request)))
        elif isinstance(outcome, Fault) and outcome.kind in PASSING:
            self._failing.add(request.digest())
            self._learn_fault(number, outcome)
        else:
            if self._flying >= self._limit.value:
                self._limit.grow(number)
            self._count_answer(number)
            self._since, self._busy = math.inf, 0
            if isinstance(outcome, Completion) and (length := turn_characters(request)) < self._shortest:
                self._witness, self._shortest = request, length

    def _learn_fault(self, number: int, fault: Fault) -> None:
        time_now, patience = asyncio.get_running_loop().time(), self._patience
        self._fault = fault
        self._since = min(self._since, time_now)
        # A late one alone, between others that are answered, is an accident of its own.
        crowded = fault.kind == "busy" or (fault.kind == "late" and number > self._newest)
        crowded = crowded and self._limit.halve(number, self._tries)
        wait = asked = fault.retry_after or 0.0
        if fault.kind == "busy":
            self._count_answer(number)
            if crowded:
                self._busy += 1
                wait = max(wait, self._wait(self._busy))
        elif self._count_fault(number):
            wait = max(wait, self._wait(self._row - patience.tries + 1))
        if asked > patience.outage:
            self.stop(
                Unreachable(
                    f"{self._name} asks to wait {asked:.0f} s, longer than the patience of {patience.outage:.0f} s "
                    f"({fault.text}): after that the same command goes on where it stopped"
                )
            )
        if asked > patience.longest_wait and time_now >= self._held_until:
            self._notice(f"{self._name} asks to wait {asked:.0f} s ({fault.text}); the run waits")
        self._held_until = max(self._held_until, time_now + wait)
        if time_now >= self._deadline() and self._witness is None:
            self.stop(Unreachable(self._explain_silence(time_now)))

    def _count_fault(self, number: int) -> bool:
        """Count a fault that is no sign of life; return whether the endpoint now, or still, counts as dead."""
        if number != self._probe if self._dead else number < self._newest:
            return False  # sent before the outage, or before a try that was answered: says nothing new
        self._row += 1
        if self._row < self._patience.tries:
            return False
        self._dead = True
        if self._row == self._patience.tries + 1:  # the first probe failed as well: that was no chance
            self._limit.restart()
            self._notice(
                f"{self._name} does not answer ({self._show_fault()}); the run waits for it, "
                f"{self._patience.outage:.0f} s at most"
            )
        return True

    def _count_answer(self, number: int) -> None:
        self._failing.clear()
        if self._dead:
            time_now = asyncio.get_running_loop().time()
            self._dead, self._held_until = False, time_now
            if self._row > self._patience.tries:
                self._notice(f"{self._name} answers again after {time_now - self._since:.0f} s; the run goes on")
        self._row, self._newest = 0, max(self._newest, number)

    def stop(self, error: UserError) -> None:
        """Let every call that waits end with an error, and every later one; what was sent comes back first."""
        self._end = self._end or error
        self._queue.clear()
        for turn in self._turns:
            if not turn.done():
                turn.set_result(0)

    def _explain_silence(self, time_now: float) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - (time_now - self._since)))
        return (
            f"{self._name} has answered nothing since {since} ({self._show_fault()}): "
            "when it does, the same command goes on where it stopped"
        )

    def _show_fault(self) -> str:
        return lines([self._fault] if self._fault else [])

    def _explain_hopeless(self, fault: Fault, request: Request) -> str:
        todo = {
            "denied": "put a valid key into TEAMWORLD_API_KEY, or name the variable that holds one with --key-env",
            "unknown": f"name a model that it has instead of {request.model!r} with --reasoner",
            "unfit": f"choose another form of the answers than {request.form!r} with --answers, or another sampling",
        }
        return f"{self._name}: {fault.text}; {todo[fault.kind]}; all answers so far are kept"
