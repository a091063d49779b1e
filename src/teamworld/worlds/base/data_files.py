"""Reads files of data that somebody else made; what cannot be used is an error of one line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from teamworld.errors import UserError, brief

_LARGEST: Final = 256 * 2**20  # bytes of a file: fifty episodes of the largest benchmark are about 20 MB


def read_bytes(path: Path, expected: str) -> bytes:
    """Read a file.

    Args:
        path: Where it should be.
        expected: What it should be, for what errors say.

    Raises:
        UserError: If it is not there, no file, too large or not readable.
    """
    try:
        if not path.exists():
            raise UserError(f"{path}: no such file; expected {expected}")
        if not path.is_file():  # a pipe would never end
            raise UserError(f"{path}: cannot be read: expected a file with {expected}, found something else")
        if path.stat().st_size > _LARGEST:
            raise UserError(f"{path}: expected at most {_LARGEST >> 20} MB, found {path.stat().st_size >> 20} MB")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def read_json(path: Path, expected: str) -> object:
    """Read a JSON file.

    Args:
        path: Where it should be.
        expected: What it should be, for what errors say.

    Raises:
        UserError: If it is not there, no file, too large or damaged.
    """
    data = read_bytes(path, expected)
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: expected JSON, found damage: {brief(str(error))}") from None
