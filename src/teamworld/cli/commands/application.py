"""The application, and the types of options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path  # noqa: F401  # named by a field of Running, whose types are looked up in this module
from typing import Annotated

from cyclopts import App, Parameter, Token

from teamworld import __version__
from teamworld.experiment.running import Running

_EPILOGUE = """
Start with:  teamworld run cube --method drwell --episodes 10 --out runs/first
Then:        teamworld report runs/first --figures
"""

app = App(
    name="teamworld",
    version=__version__,
    help="Teams of agents in embodied worlds: run them, compare them, see why they fail.",
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,  # told by main, with what to do
)


def _whole(_: object, tokens: Sequence[Token]) -> int:
    """Read a whole number; nothing is rounded."""
    text = tokens[0].value
    if not re.fullmatch(r"-?[0-9]{1,30}", text, re.ASCII):
        raise ValueError(f"expected a whole number, got '{text}'")
    return int(text)


Int = Annotated[int | None, Parameter(converter=_whole)]
Names = Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())]


@dataclass(frozen=True, kw_only=True)
class _Carrying(Running):
    __doc__ = Running.__doc__
    processes: Int = Running.processes
    calls: Annotated[int, Parameter(converter=_whole)] = Running.calls
    jobs: Annotated[int, Parameter(converter=_whole)] = Running.jobs


RunningOptions = Annotated[_Carrying, Parameter(name="*")]
#: Everything as it is if nothing is said.
DEFAULTS = _Carrying()
