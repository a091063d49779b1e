"""The command line: parse, call, print. A command's module is imported when the command is used."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cyclopts import App

#: Where each command stands, and the first line of its docstring, which lists it without importing it.
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "run": ("experiments", "Run episodes, or continue a run that was stopped."),
    "resume": ("experiments", "Continue a run that was stopped."),
    "status": ("experiments", "Show how far a run, or each run of a grid, is; also while it goes on."),
    "replay": ("experiments", "Run every finished episode again and compare its log byte for byte."),
    "compare": (
        "comparisons",
        "Compare methods on the same instances and seeds, beside random, scripted and silent teams.",
    ),
    "evidence": (
        "comparisons",
        "Make a page of evidence: several comparisons in one file, with tables, figures and what they support.",
    ),
    "reproduce": (
        "papers",
        "Make a paper's figures from own runs, beside the published values, with a page that says what holds.",
    ),
    "report": ("reports", "Print the table of a run."),
    "metrics": ("reports", "List the metrics and what they mean, or measure a log or a run."),
    "prompts": ("reports", "List the prompts with their versions and hashes, or print one as a reasoner was shown it."),
    "memory": ("reports", "Export the world model that a method had learned after an episode."),
    "view": ("reports", "Write an episode as one web page that plays it: no server, no network, it can be mailed."),
    "worlds": ("catalog", "List the worlds and their options, and those of the messages."),
    "levels": ("catalog", "List the levels of a world."),
    "methods": (
        "catalog",
        "List the coordination methods, their options, their own rules for messages and their variants.",
    ),
    "doctor": (
        "catalog",
        "Check that a reasoner works: name, packages, key, server, model, forms of answers, a round trip.",
    ),
}
_EPILOGUE = """
- Start with: `teamworld run cube --method drwell --episodes 10 --out runs/first`
- Then: `teamworld report runs/first --figures`
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Exit codes: 0 done, 1 a check found a difference, 2 the input cannot be used (one line says why),
    130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character shows another
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def application(command: str | None = None) -> App:
    """Return the application.

    Args:
        command: The command that is going to be used: its own docstring is its help.
    """
    from cyclopts import App

    from teamworld import __version__

    app = App(
        name="teamworld",
        version=__version__,
        help="Teams of agents in embodied worlds: run them, compare them, see why they fail.",
        help_epilogue=_EPILOGUE,
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # ``run`` says what to do
    )
    for name, (module, line) in COMMANDS.items():
        help_line = None if name == command else line
        app.command(f"teamworld.cli.{module}:{name}", name=name, help=help_line)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    from cyclopts import CycloptsError

    from teamworld.errors import UserError

    app = application(arguments[0] if arguments else None)
    try:
        code = app(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")
    except UserError as error:
        return _refuse(str(error))
    except CycloptsError as error:
        return _refuse(f"{' '.join(str(error).split())} Try 'teamworld --help'.")
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has left
        return 0
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        return _refuse(f"{error.strerror or error}{place}: make room or choose another place; nothing finished is lost")
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    print(f"teamworld: {message}", file=sys.stderr)
    return 2
