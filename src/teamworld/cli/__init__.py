"""The command line: parse, call, print. A command's module is imported when the command is used."""

from __future__ import annotations

import ast
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

#: The commands of each module, as help lists them.
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "experiments": ("run", "resume", "status", "replay", "merge"),
    "play": ("play",),
    "forks": ("fork", "worth"),
    "comparisons": ("compare", "evidence", "forecast"),
    "papers": ("reproduce",),
    "reports": ("report", "metrics", "prompts", "memory", "view"),
    "bounds": ("bounds",),
    "storage": ("compact",),
    "capsules": ("capsule", "verify", "leaderboard"),
    "scaffold": ("new",),
    "catalog": ("worlds", "levels", "methods", "doctor", "schema", "completion"),
}
#: Set to anything, an error that no one thought of ends in its traceback.
TRACEBACK: Final = "TEAMWORLD_TRACEBACK"
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

    known = {name for names in COMMANDS.values() for name in names}
    app = App(
        name="teamworld",
        version=__version__,
        help="Teams of agents in embodied worlds: run them, compare them, see why they fail.",
        help_epilogue=None if command in known else _EPILOGUE,
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # ``run`` says what to do
    )
    for module, names in COMMANDS.items():
        lines = _summaries(module)
        for name in names:
            help_line = None if name == command else lines[name]
            app.command(f"teamworld.cli.{module}:{name}", name=name, help=help_line)
    return app


def _summaries(module: str) -> dict[str, str]:
    """Return the first line of each docstring of a module by function; the module is not imported."""
    tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: (ast.get_docstring(node) or "").partition("\n")[0] for node in functions}


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    from cyclopts import CycloptsError

    from teamworld.errors import UserError

    app = application(arguments[0] if arguments else None)
    try:
        with _copied(arguments) as local:
            code = app(local, exit_on_error=False, print_error=False, result_action="return_value")
    except UserError as error:
        return _refuse(str(error))
    except CycloptsError as error:
        command = next(
            (f"{word} " for words in COMMANDS.values() for word in words if [word] == list(arguments[:1])), ""
        )
        return _refuse(f"{_explain(error, command)} Try 'teamworld {command}--help'.")
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has left
        return 0
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        return _refuse(f"{error.strerror or error}{place}: make room or choose another place; nothing finished is lost")
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        what = " ".join(str(error).split())[:300]
        return _refuse(
            f"{type(error).__name__}: {what}: a file that is damaged in a way that was not thought of, or a fault of "
            f"teamworld; {TRACEBACK}=1 shows where"
        )
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return code if isinstance(code, int) else 0


@contextmanager
def _copied(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Give the arguments with the copy of each URL in its place, and upload what the command changes there."""
    if not any("s3:/" in word or "gs:/" in word for word in arguments):
        yield list(arguments)
        return
    from teamworld.experiment.store.remote import RemoteFolder, url_of

    words, remotes = [], []
    for word in arguments:
        option, equals, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
        if (url := url_of(value)) is not None:
            remotes.append(remote := RemoteFolder(url))
            remote.refresh()
            print(f"{remote.url} has its copy here in {remote.path}", file=sys.stderr)
            value = str(remote.path)
        words.append(f"{option}{equals}{value}")
    yield words
    for remote in remotes:
        remote.push()


def _explain(error: CycloptsError, command: str) -> str:
    """Return what is wrong with a command's words, as sentences."""
    from cyclopts import MissingArgumentError

    argument = error.argument
    if isinstance(error, MissingArgumentError) and error.keyword is not None:
        return f"{error.keyword} needs a value."
    if isinstance(error, MissingArgumentError) and argument is not None:
        name = argument.name if argument.index is None else argument.name.lstrip("-").upper()
        return f"{command}needs {name}."
    says = " ".join(str(error).split())
    return says if says[-1] in ".?!" else f"{says}."


def _refuse(message: str) -> int:
    from teamworld.errors import printable

    print(f"teamworld: {printable(message)}", file=sys.stderr)
    return 2
