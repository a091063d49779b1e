"""Reading what was chosen: the options of a world, and its level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from teamworld.errors import UserError, expectation, suggest
from teamworld.yaml_io import read_none

Options = TypeVar("Options", bound=BaseModel)
Level = TypeVar("Level")


def read_options(model: type[Options], values: Mapping[str, object], world: str) -> Options:
    """Return the options of a world.

    Args:
        model: What can be set.
        values: What is set.
        world: Name of the world, for what errors say.

    Raises:
        UserError: There is no such option, or a value cannot be used.
    """
    try:
        return model.model_validate(read_none(model, values))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise UserError(
                f"unknown option '{name}' of world {world}{suggest(name, list(model.model_fields))}"
            ) from None
        says = expectation(first["msg"])
        raise UserError(f"option '{name}' of world {world}: {says}, got {first['input']!r}") from None


def find_level(levels: Mapping[str, Level], name: str, world: str) -> Level:
    """Return a level by name.

    Raises:
        UserError: There is no such level.
    """
    if name not in levels:
        raise UserError(f"{world} has no level '{name}'{suggest(name, list(levels))}")
    return levels[name]
