"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Exit codes: 0 done, 1 a check found a difference, 2 the input cannot be used (one line says why),
    130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character shows another
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    from cyclopts import CycloptsError

    from teamworld.cli.commands import app
    from teamworld.errors import UserError

    try:
        code = app(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")
    except UserError as error:
        return _refuse(str(error))
    except CycloptsError as error:
        return _refuse(f"{' '.join(str(error).split())} Try 'teamworld --help'.")
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has left; nothing to tell
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
