"""Reads files of plain data that somebody else made: JSON, and pickles of which nothing is run.

A pickle may hold lists, mappings, sets, texts and numbers. Opcodes that could do more are found before anything is
read, and no name in a pickle is ever looked up: each stands for a function of ours, or the file is refused.
"""

from __future__ import annotations

import io
import json
import pickle
import pickletools
import struct
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from teamworld.errors import UserError, brief

_FAR = 1e6  # metres
_LARGEST = 256 * 2**20  # bytes of a file: fifty episodes are about 20 MB


class Part:
    """A value of a file and where it stands, to be read field by field; what does not fit is refused by name."""

    __slots__ = ("_above", "_name", "value")

    def __init__(self, value: object, name: str, above: Part | None = None) -> None:
        self.value, self._name, self._above = value, name, above

    @property
    def where(self) -> str:
        """The file and the fields that lead here."""
        return f"{self._above.where}: {self._name}" if self._above else self._name

    def refuse(self, reason: str) -> NoReturn:
        """Raise the error of a user for this place."""
        raise UserError(f"{self.where}: {reason}")

    def item(self, *names: str | int) -> Part:
        """Go down to a field, or by several to one deeper."""
        value = self
        for name in names:
            if not isinstance(value.value, dict):
                value.refuse(f"expected a mapping with {name!r}, found {brief(value.value)}")
            if name not in value.value:
                value.refuse(f"expected {name!r}, found only {brief(list(value.value))}")
            value = Part(value.value[name], str(name), value)
        return value

    def items(self) -> Iterator[Part]:
        """Go through a list."""
        if not isinstance(self.value, list | tuple | set | frozenset):
            self.refuse(f"expected a list, found {brief(self.value)}")
        return (Part(value, str(at), self) for at, value in enumerate(self.value))

    def fields(self) -> Iterator[tuple[str, Part]]:
        """Go through a mapping."""
        if not isinstance(self.value, dict):
            self.refuse(f"expected a mapping, found {brief(self.value)}")
        return ((str(name), Part(value, brief(name), self)) for name, value in self.value.items())

    def as_text(self) -> str:
        """Read a text that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.refuse(f"expected a text, found {brief(self.value)}")
        return self.value

    def as_whole(self) -> int:
        """Read a whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse(f"expected a whole number, found {brief(self.value)}")
        return self.value

    def as_numbers(self, length: int) -> tuple[float, ...]:
        """Read so many lengths in metres, all finite."""
        if not isinstance(self.value, list | tuple) or len(self.value) != length:
            self.refuse(f"expected {length} numbers, found {brief(self.value)}")
        for number in self.value:
            if (
                isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) < _FAR
            ):  # NaN is not below
                self.refuse(f"expected lengths in metres, found {brief(number)}")
        return tuple(float(number) for number in self.value)

    def as_pair(self) -> tuple[float, float]:
        """Read a place on the floor."""
        x, z = self.as_numbers(2)
        return x, z

    def text(self, name: str) -> str:
        """Read the text of a field."""
        return self.item(name).as_text()

    def whole(self, name: str) -> int:
        """Read the whole number of a field."""
        return self.item(name).as_whole()

    def flag(self, name: str) -> bool:
        """Read whether."""
        value = self.item(name)
        if not isinstance(value.value, bool):
            value.refuse(f"expected true or false, found {brief(value.value)}")
        return value.value

    def choice(self, name: str, known: Sequence[str]) -> str:
        """Read one of the known texts."""
        value = self.item(name)
        if value.value not in known:
            value.refuse(f"expected one of {', '.join(known)}, found {brief(value.value)}")
        return str(value.value)


def _content(path: Path) -> bytes:
    if not path.exists():
        raise UserError(f"{path}: no such file; expected C-WAH data, as a folder with index.json, .json or .pik")
    try:
        if path.stat().st_size > _LARGEST:
            raise UserError(f"{path}: expected at most {_LARGEST >> 20} MB, found {path.stat().st_size >> 20} MB")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def parsed(path: Path) -> Part:
    """Read a JSON file.

    Raises:
        UserError: If it is not there, too large or damaged.
    """
    try:
        return Part(json.loads(_content(path)), str(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path}: expected JSON, found damage: {brief(str(error))}") from None


#: Opcodes of pickles that plain data never need: persistent ids, objects made by class, extensions, buffers.
_ACTING: Final = frozenset(("PERSID", "BINPERSID", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4")) | {
    "NEXT_BUFFER",
    "READONLY_BUFFER",
    "BYTEARRAY8",
}
#: How the library that unpacks bytes names the kinds of numbers of numpy.
_CODES: Final = {"b1": "?"} | dict(
    zip(("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"), "bhiqBHIQefd", strict=True)
)
_DAMAGE: Final = (ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError, Warning, struct.error)


class _Kind:
    """Stands for a type of numpy, by which one number is read."""

    __slots__ = ("code", "order")

    def __init__(self, name: object) -> None:
        if str(name) not in _CODES:
            raise pickle.UnpicklingError(f"numbers of the kind {brief(str(name))}")
        self.code, self.order = _CODES[str(name)], "<"

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple) and len(state) > 1 and state[1] == ">":
            self.order = ">"


class _Standin:
    """A function of ours where a pickle names one of somebody else's."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., object]) -> None:
        self._make = make

    def __call__(self, *arguments: object) -> object:
        return self._make(*arguments)

    def __setstate__(self, state: object) -> NoReturn:
        raise pickle.UnpicklingError("a change to a function")  # else a pickle could set what it likes


def _number(kind: object = None, data: object = None) -> object:
    """Read a number of numpy without numpy."""
    if not isinstance(kind, _Kind):
        raise pickle.UnpicklingError("a number without its kind")
    raw = data.encode("latin1") if isinstance(data, str) else data
    if not isinstance(raw, bytes):
        raise pickle.UnpicklingError("a number without its bytes")
    (value,) = struct.unpack(kind.order + kind.code, raw)
    return value


def _encoded(text: object = None, encoding: object = "latin1") -> bytes:
    """Read bytes as old pickles write them."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("bytes that are none")
    return text.encode("latin1")


def _collection(make: Callable[[list[object] | tuple[object, ...]], object]) -> _Standin:
    return _Standin(lambda items=(): make(items if isinstance(items, list | tuple) else ()))


#: Names that pickles of plain data use, and what stands for each. Mappings are filled after they are made.
_STANDINS: Final[dict[str, _Standin]] = {
    "collections.OrderedDict": _Standin(lambda *_: {}),
    "collections.defaultdict": _Standin(lambda *_: {}),
    "_codecs.encode": _Standin(_encoded),
    "numpy.dtype": _Standin(lambda name=None, *_: _Kind(name)),
    **{f"numpy.{core}.multiarray.scalar": _Standin(_number) for core in ("core", "_core")},
    **{f"{module}.set": _collection(set) for module in ("builtins", "__builtin__")},
    **{f"{module}.frozenset": _collection(frozenset) for module in ("builtins", "__builtin__")},
    # What a mapping makes by itself; never called here.
    **{
        f"{module}.{name}": _Standin(lambda: None)
        for module in ("builtins", "__builtin__")
        for name in ("int", "long", "list")
    },
}


class _Plain(pickle.Unpickler):
    """Reads plain data."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as its base says
        """Return what stands for a name; nothing is imported."""
        if f"{module}.{name}" not in _STANDINS:
            raise pickle.UnpicklingError(f"the class or function {module}.{name}")
        return _STANDINS[f"{module}.{name}"]


def _look_through(data: bytes) -> None:
    """Refuse what plain data never need, before anything is made of it."""
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in _ACTING:
            raise pickle.UnpicklingError(f"the opcode {opcode.name}")
        # The reader makes room for the number that stands here, which may be a lie.
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and not 0 <= int(argument or 0) <= len(data):
            raise pickle.UnpicklingError("a false index")


def unpickled(path: Path) -> Part:
    """Read a pickle of plain data; nothing in it is run or imported.

    Raises:
        UserError: If it is not there, too large, damaged, or holds anything else.
    """
    data = _content(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what reads odd, is damage
            _look_through(data)
            return Part(_Plain(io.BytesIO(data), encoding="latin1").load(), str(path))
    except pickle.UnpicklingError as error:
        reason = brief(str(error)).strip("'\"")
    except _DAMAGE as error:
        reason = f"damage: {brief(str(error))}"
    except (RecursionError, MemoryError):
        reason = "something too large"
    raise UserError(f"{path}: expected a pickle of lists, mappings, texts and numbers, found {reason}; nothing was run")
