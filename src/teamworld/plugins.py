"""What other packages offer: by the name of an entry point, or as ``MODULE:NAME`` without one.

``MODULE:NAME`` names a class or another part of a module; ``MODULE`` alone, with a dot in it, the module itself. It is
told apart from other names with a colon, such as ``METHOD:VARIANT``, by a dot in MODULE or a capital letter at the
beginning of NAME.

Such a name imports code. So ``load`` is called where something is run, replayed or checked, and everything else looks
at what was loaded: who reads the record of a run that somebody else made executes nothing.
"""

from __future__ import annotations

import importlib
import re
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from teamworld.errors import UserError, brief

_IDENTIFIER: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_LABEL: Final = re.compile(
    rf"(?P<module>{_IDENTIFIER}(?:\.{_IDENTIFIER})*)(?::(?P<name>{_IDENTIFIER})(?P<rest>:.*)?)?", re.DOTALL
)
_loaded: dict[str, object] = {}
_local: set[str] = set()
_registered: dict[str, str] = {}


def reference(label: str) -> str | None:
    """Return the ``MODULE:NAME`` or ``MODULE`` that a label begins with; None where it names nothing of this kind."""
    match = _LABEL.fullmatch(label)
    if match is None or ("." not in match["module"] and not (match["name"] or "a")[0].isupper()):
        return None
    return match["module"] if match["name"] is None else f"{match['module']}:{match['name']}"


def load(text: str) -> object:
    """Import what a text names, unless that was done; the current directory is searched after Python's own path.

    Args:
        text: ``MODULE:NAME`` or ``MODULE``, as ``reference`` returns it.

    Raises:
        UserError: There is no such module or name, or importing it fails.
    """
    if text not in _loaded:
        module, _, name = text.partition(":")
        imported = _import(module, text)
        if name and not hasattr(imported, name):
            raise UserError(f"'{text}': the module {module} has no '{name}'")
        _loaded[text] = getattr(imported, name) if name else imported
    return _loaded[text]


def _import(module: str, text: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last, so that no file here stands in for an installed module; processes inherit it
        importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module == missing or module.startswith(f"{missing}."):
            raise UserError(
                f"'{text}': there is no module '{missing}': install its package, put its folder on PYTHONPATH, or call "
                f"from the folder that holds it"
            ) from None
        raise UserError(f"'{text}' cannot be loaded: {error}") from error
    except (Exception, SystemExit) as error:  # a script may end itself when it is imported
        raise UserError(f"'{text}' cannot be loaded: {type(error).__name__}: {error}") from error


def loaded(text: str) -> object:
    """Return what a text names, if it was loaded; nothing is imported.

    Raises:
        UserError: It was not.
    """
    if text not in _loaded:
        raise UserError(f"'{text}' is code that is not loaded: only what runs, replays or checks something imports it")
    return _loaded[text]


def is_loaded(text: str) -> bool:
    """Return whether ``loaded`` would return something."""
    return text in _loaded


def is_local(text: str) -> bool:
    """Return whether only this process has it: a class of a script, a notebook or a function."""
    return text in _local


def name_of(thing: object) -> str:
    """Return the text that names a class, function or module from now on; texts stay, but for registered names.

    Raises:
        UserError: It has no name of its own.
    """
    if isinstance(thing, str):
        short, colon, rest = thing.partition(":")
        return f"{_registered[short]}{colon}{rest}" if short in _registered else thing
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", None)
    text = str(name) if isinstance(thing, ModuleType) else f"{module}:{name}"
    if name is None or reference(text) != text:
        raise UserError(
            f"expected a name, a class with a capital letter, or a module with a dot in its name; got {brief(thing)}"
        )
    _loaded[text] = thing
    home = sys.modules.get(str(module))
    if isinstance(thing, ModuleType) or (module != "__main__" and getattr(home, str(name), None) is thing):
        _local.discard(text)
    else:
        _local.add(text)
    return text


def register(name: str, text: str) -> None:
    """Let a short name stand for the text of a class or module in ``name_of``.

    Raises:
        UserError: It is no such name, or stands for something else.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise UserError(f"expected a name of lower-case letters, digits and _, got {brief(name)}")
    if _registered.setdefault(name, text) != text:
        raise UserError(f"'{name}' is registered for {_registered[name]}: choose another name")


def entry_names(group: str) -> list[str]:
    """Return the names that installed packages register in a group of entry points."""
    return [point.name for point in entry_points(group=group)]


def load_entry(group: str, name: str) -> object | None:
    """Return what an installed package registers by a name, loading it; None if nobody does.

    Raises:
        UserError: It cannot be loaded.
    """
    for point in entry_points(group=group):
        if point.name == name:
            try:
                loaded_entry: object = point.load()
            except (Exception, SystemExit) as error:
                raise UserError(f"'{name}' of {point.value} cannot be loaded: {error}") from error
            return loaded_entry
    return None
