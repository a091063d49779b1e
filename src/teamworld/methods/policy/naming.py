"""``policy:FILE`` in names of methods: the file becomes an option, and a short name of its own stays in the label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

NAME: Final = "policy"
_VARIANT: Final = re.compile(r"[a-z0-9_]{1,40}")


class NamedPolicies(NamedTuple):
    """The methods and options of an experiment, with no file in a label."""

    methods: list[Any]
    options: dict[str, Any]


def name_files(methods: Iterable[Any], options: Mapping[str, Any]) -> NamedPolicies:
    """Return methods and options in which each file of a policy is an option of a variant that is called after it.

    ``policy:nets/Pushers-2.onnx`` becomes ``policy:pushers_2`` with the option ``file``: labels name folders and rows,
    which hold no path.

    Raises:
        ValueError: Two files would get the same name.
    """
    filled = dict(options)
    return NamedPolicies([_renamed(label, filled) if isinstance(label, str) else label for label in methods], filled)


def _renamed(label: str, options: dict[str, Any]) -> str:
    return "+".join(_renamed_part(part, options) for part in label.split("+"))


def _renamed_part(part: str, options: dict[str, Any]) -> str:
    name, _, file = part.partition(":")
    if name != NAME or not file or _VARIANT.fullmatch(file):
        return part
    path = Path(file).as_posix()
    label = f"{NAME}:{re.sub(r'[^a-z0-9]+', '_', Path(file).stem.lower()).strip('_')[:40] or 'file'}"
    own = options.get(label)
    own = dict(own) if isinstance(own, Mapping) else {}
    if own.setdefault("file", path) != path:
        raise ValueError(f"{own['file']} and {path} would both be called {label}: rename one of the files")
    options[label] = own
    return label
