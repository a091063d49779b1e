"""Packages that environments come from: imported when first needed, and missed in one line."""

from __future__ import annotations

import importlib
from types import ModuleType

from teamworld.errors import UserError


def load(name: str) -> ModuleType:
    """Return a package that the extra ``adapters`` installs.

    Raises:
        UserError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(
            f"the package {name} is needed and not installed ({error}): run pip install 'teamworld[adapters]'"
        ) from None
