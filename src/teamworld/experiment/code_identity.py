"""What code plays a run: digests by which a change between a stop and a resume is noticed."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from teamworld import plugins
from teamworld.experiment.spec import ExperimentSpec
from teamworld.methods import registry as methods
from teamworld.reasoning import router
from teamworld.worlds import registry as worlds

#: Parts of this package that play nothing: what they say of a run can change.
_LOOKS_ON = frozenset({"cli", "papers", "report", "testing", "viewer"})
_SUFFIXES = frozenset({".py", ".j2", ".json", ".csv", ".yaml", ".lark", ".sql"})
_PACKAGE = "teamworld"
#: What a requirement begins with.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def code_of(experiment: ExperimentSpec, *labels: str) -> dict[str, str]:
    """Return a digest of each part of the code that plays a loaded experiment, or some methods of it, by name.

    This package without what only looks on, its dependencies by their versions, and every other package or module that
    a world, a method or a reasoner is from. What has no file, such as a class of a notebook, is left out.
    """
    modules = dict.fromkeys(name.partition(".")[0] for name in _modules(experiment, labels or experiment.methods))
    others = {name: digest for name in modules if name != _PACKAGE and (digest := _digest_of(name)) is not None}
    return {
        _PACKAGE: package_digest(),
        "dependencies": dependencies_digest(dependencies()),
        **dict(sorted(others.items())),
    }


def _modules(experiment: ExperimentSpec, labels: Iterable[str]) -> Iterator[str]:
    """Yield the names of the modules that a world, the methods and the reasoners are from."""
    yield _home(worlds.module(experiment.world))
    for label in (*labels, *(experiment.fork.methods if experiment.fork is not None else ())):
        for part in methods.parts_of(label):
            yield methods.method_class(part).__module__
    for route in (route for text in experiment.reasoners for route in router.parse_routes(text)):
        if plugins.is_loaded(route.name):
            yield _home(plugins.loaded(route.name))


def _home(thing: object) -> str:
    """Return the name of the module that something is from, or of the module that it is."""
    return str(getattr(thing, "__module__", None) or getattr(thing, "__name__", _PACKAGE))


@cache
def package_digest() -> str:
    """Return the digest of this package's files, those left out that only look on."""
    root = Path(__file__).parents[1]
    files = (path for path in root.rglob("*") if path.relative_to(root).parts[0] not in _LOOKS_ON)
    return _digest(root, files)


def _digest_of(name: str) -> str | None:
    """Return the digest of the code of another package or module; None if it has no file."""
    module = sys.modules.get(name)
    if module is None:
        return None
    if folders := list(getattr(module, "__path__", ())):
        root = Path(folders[0])
        return _digest(root, (path for path in root.rglob("*") if path.suffix in (".py", ".j2")))
    file = getattr(module, "__file__", None)
    return None if file is None or name == "__main__" else _digest(Path(file).parent, [Path(file)])


def _digest(root: Path, files: Iterable[Path]) -> str:
    total = hashlib.blake2b(digest_size=8)
    for path in sorted(files):
        if path.suffix in _SUFFIXES and path.is_file():
            total.update(f"{path.relative_to(root).as_posix()}\0".encode())
            total.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return total.hexdigest()


@cache
def dependencies() -> tuple[str, ...]:
    """Return the names and versions of what this package needs, as ``NAME==VERSION``."""
    try:
        needed = requires(_PACKAGE) or []
    except PackageNotFoundError:  # run from its source alone
        needed = []
    names = sorted({match[0] for line in needed if "extra ==" not in line and (match := _NAME.match(line))})
    return tuple(f"{name}=={version(name)}" for name in names)


def dependencies_digest(lines: Iterable[str]) -> str:
    """Return the digest of such names and versions, which stands in the record of a run as ``dependencies``."""
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
