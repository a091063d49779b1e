"""Reads files of plain data that somebody else made: JSON, and pickles of which nothing is run.

A pickle may hold lists, mappings, sets, texts and numbers. No name in a pickle is ever looked up: each stands for a
function of ours, or the file is refused.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from teamworld.errors import UserError, brief
from teamworld.worlds.base import data_files

_EXPECTED: Final = "C-WAH data, as a folder with index.json, .json or .pik"
#: Values in values; what is read has fewer than ten.
_DEEPEST: Final = 100
#: What the readers raise on damage.
_DAMAGE: Final = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


def read_json(path: Path) -> object:
    """Read a JSON file.

    Raises:
        UserError: If it is not there, too large or damaged.
    """
    return data_files.read_json(path, _EXPECTED)


def read_pickle(path: Path) -> object:
    """Read a pickle of plain data; nothing in it is run or imported.

    Raises:
        UserError: If it is not there, too large, damaged, or holds anything else.
    """
    data = data_files.read_bytes(path, _EXPECTED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on what reads odd
            _check_commands(data)
            return _PlainUnpickler(io.BytesIO(data), encoding="latin1").load()
    except pickle.UnpicklingError as error:
        reason = brief(str(error)).strip("'\"")
    except _DAMAGE as error:
        reason = f"damage: {brief(str(error))}"
    raise UserError(f"{path}: expected a pickle of lists, mappings, texts and numbers, found {reason}; nothing was run")


def _check_commands(data: bytes) -> None:
    """See that the reader survives what a pickle has it do.

    It makes room for an index, which may be a lie; and it takes the hash of keys however deeply they are nested, which
    ends the process. What is nested through an index is not followed: keys cannot be changed once they have one.

    Raises:
        UnpicklingError: An index is false, or values are nested too deeply.
    """
    stack: list[int | None] = []  # the depth of each value; None for a mark
    memo: dict[object, int | None] = {}
    for opcode, argument, _ in pickletools.genops(data):
        if "PUT" in opcode.name or opcode.name == "MEMOIZE":
            if isinstance(argument, int) and not 0 <= argument <= len(data):
                raise pickle.UnpicklingError("a false index")
            memo[len(memo) if argument is None else argument] = stack[-1]
            continue
        if opcode.name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
            continue
        taken = list(opcode.stack_before)
        inside = [0]
        if pickletools.markobject in taken:
            while (depth := stack.pop()) is not None:
                inside.append(depth)
            taken = taken[: taken.index(pickletools.markobject)]
        inside += [stack.pop() or 0 for _ in taken]
        for made in opcode.stack_after:
            stack.append(None if made is pickletools.markobject else max(inside) + bool(taken or len(inside) > 1))
        if max(inside) > _DEEPEST:
            raise pickle.UnpicklingError(f"values nested more than {_DEEPEST} deep")


class _Function:
    """A function of ours where a pickle names one of somebody else's."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., object]) -> None:
        self._make = make

    def __call__(self, *arguments: object) -> object:
        return self._make(*arguments)

    def __setstate__(self, state: object) -> NoReturn:
        raise pickle.UnpicklingError("a change to a function")  # else a pickle could set what it likes


class _NumberKind:
    """Stands for a type of NumPy, by which one number is read: NumPy itself would unpickle objects."""

    __slots__ = ("_dtype",)

    def __init__(self, name: object, *_: object) -> None:
        if not isinstance(name, str) or name not in (
            "b1",
            "i1",
            "i2",
            "i4",
            "i8",
            "u1",
            "u2",
            "u4",
            "u8",
            "f2",
            "f4",
            "f8",
        ):
            raise pickle.UnpicklingError(f"numbers of the kind {brief(str(name))}")
        self._dtype = np.dtype(f"<{name}")

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple) and len(state) > 1 and state[1] == ">":
            self._dtype = self._dtype.newbyteorder(">")

    def read(self, data: object) -> object:
        """Return the number of some bytes."""
        raw = data.encode("latin1") if isinstance(data, str) else data
        if not isinstance(raw, bytes) or len(raw) != self._dtype.itemsize:
            raise pickle.UnpicklingError("a number without its bytes")
        return np.frombuffer(raw, self._dtype)[0].item()


def _read_number(kind: object, data: object) -> object:
    if not isinstance(kind, _NumberKind):
        raise pickle.UnpicklingError("a number without its kind")
    return kind.read(data)


def _encode(text: object, encoding: object = "latin1") -> bytes:
    """Read bytes as old pickles write them."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("bytes that are none")
    return text.encode("latin1")


#: Names that pickles of plain data use, and what stands for each. Mappings are filled after they are made.
_FUNCTIONS: Final[dict[str, Callable[..., object]]] = {
    "collections.OrderedDict": lambda *_: {},
    "collections.defaultdict": lambda *_: {},
    "_codecs.encode": _encode,
    "numpy.dtype": _NumberKind,
    "numpy.core.multiarray.scalar": _read_number,
    "numpy._core.multiarray.scalar": _read_number,
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    # What a mapping makes by itself; never called here.
    "builtins.int": lambda: None,
    "builtins.long": lambda: None,
    "builtins.list": lambda: None,
}


class _PlainUnpickler(pickle.Unpickler):
    """Reads plain data."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as its base says
        """Return what stands for a name; nothing is imported."""
        path = f"{module.replace('__builtin__', 'builtins')}.{name}"
        if path not in _FUNCTIONS:
            raise pickle.UnpicklingError(f"the class or function {module}.{name}")
        return _Function(_FUNCTIONS[path])
