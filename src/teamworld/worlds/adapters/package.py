"""Packages that environments come from: imported when first needed, and missed in one line."""

from __future__ import annotations

import importlib
from types import ModuleType

from teamworld.errors import UserError, brief
from teamworld.worlds.base.array_interface import is_integer

_MOST_STEPS = 10**7


def load(name: str) -> ModuleType:
    """Return a package that the extra ``adapters`` installs.

    Raises:
        UserError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise UserError(
            f"the package {package} is needed and not installed ({error}): run pip install 'teamworld[adapters]'"
        ) from None


def check_limit(max_steps: int | None) -> None:
    """Check a step limit, which packages take as it comes: some never end an episode of 0 steps.

    Raises:
        UserError: It is no number of steps from 1.
    """
    if max_steps is not None and not is_integer(max_steps, 1, _MOST_STEPS):
        raise UserError(f"max_steps must be an integer from 1 to {_MOST_STEPS}, got {brief(max_steps)}")
