"""An event loop whose clock jumps to the next timer instead of waiting: hours of sleeping take no time.

Where nothing is left that could ever happen, it raises instead of hanging. What is computed takes no time either, but
where a function says how long it took.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


class Deadlock(Exception):
    """Everybody waits and nothing is left to happen."""


class _Selector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise Deadlock
            self.now += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, computed: Callable[[], float] = lambda: 0.0) -> None:
        self._clock, self._computed = _Selector(), computed
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now + self._computed()


def run(main: Coroutine[Any, Any, Result], computed: Callable[[], float] = lambda: 0.0) -> Result:
    """Run a coroutine in virtual time; none of its tasks may be left over, nor may one have failed unseen.

    ``computed`` returns the seconds that computing took so far: the clock goes on by them.
    """
    unseen: list[str] = []

    async def watched() -> Result:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unseen.append(context["message"]))
        result = await main
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return result

    with asyncio.Runner(loop_factory=partial(VirtualLoop, computed)) as runner:
        result = runner.run(watched())
    assert not unseen, unseen
    return result
