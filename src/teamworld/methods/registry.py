"""Methods by name: the built-in ones and those that other packages register."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from pydantic import BaseModel, ValidationError

from teamworld.errors import UserError, suggest
from teamworld.methods.contract import Method

_BUILT_IN = {
    "drwell": "teamworld.methods.drwell.method:DrWell",
    "greedy": "teamworld.methods.greedy.method:Greedy",
    "random": "teamworld.methods.random_team.method:RandomTeam",
    "zero_shot": "teamworld.methods.zero_shot.method:ZeroShot",
}
#: Packages register their methods under this group of entry points.
GROUP = "teamworld.methods"


def names() -> list[str]:
    """Return the names of all methods."""
    return sorted({*_BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def method_class(name: str) -> type[Method]:
    """Return the class of a method.

    Raises:
        UserError: No such method.
    """
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        found: type[Method] = getattr(importlib.import_module(module), attribute)
        return found
    for point in entry_points(group=GROUP, name=name):
        try:
            loaded: type[Method] = point.load()
        except (ImportError, AttributeError) as error:
            raise UserError(f"the method '{name}' of {point.value} cannot be loaded: {error}") from error
        return loaded
    raise UserError(f"unknown method '{name}'{suggest(name, names())}")


def resolve(name: str, given: Mapping[str, Any]) -> BaseModel:
    """Return a method's options with the given values set.

    Raises:
        UserError: No such method or option, or a value that does not fit.
    """
    model = method_class(name).options
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        raise UserError(option_error(f"method '{name}'", model, error)) from None


def make(name: str, given: Mapping[str, Any]) -> Method:
    """Return a new method with the given options, for one episode."""
    return method_class(name)(resolve(name, given))


def option_error(owner: str, model: type[BaseModel], error: ValidationError) -> str:
    """Return one line on the first thing wrong with some options."""
    first = error.errors()[0]
    option = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return f"unknown option '{option}' of {owner}{suggest(option, list(model.model_fields))}"
    says = first["msg"].removeprefix("Value error, ").replace("a valid tuple", "a list")
    if not option:
        return f"options of {owner}: {says}"
    return f"option '{option}' of {owner}: {says}, got {first['input']!r}"
