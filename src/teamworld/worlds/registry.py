"""The worlds by name; each is loaded when first used.

A package adds a world of its own with an entry point of the group ``teamworld.worlds``: its name is the world's
name, its value a module or a class. Without an entry point the world is named by that value, ``MODULE`` or
``MODULE:NAME``, see ``teamworld.plugins``. It offers ``make(level, seed, horizon, options)``, ``LEVELS`` (name -> one
line, the smallest first), ``OPTIONS`` (a pydantic model), ``step_limit(level, options)``, ``DEFAULT_LEVEL`` and
``SUMMARY`` (one line). It may offer ``failures``, a ``contract.FailureFinder``, ``indistinguishable_pairs``, see
``base.indistinguishable_pair``, ``step_bound(level, seed, options)``, see ``base.bounds``, ``STYLE``, plain data for
the replay's drawing: colours, shapes, words, ``known_picture``, a ``base.known_picture.DrawKnown``, for the page of a
person in the team, and ``still_picture``, a ``base.picture.DrawStill``, for figures of moments.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from teamworld import plugins
from teamworld.errors import UserError, brief, suggest

if TYPE_CHECKING:
    from pydantic import BaseModel

    from teamworld.worlds.base.bounds import StepBound
    from teamworld.worlds.base.failure_spans import FailureFinder
    from teamworld.worlds.base.known_picture import DrawKnown
    from teamworld.worlds.base.picture import DrawStill
    from teamworld.worlds.contract import World

#: The worlds that ship with the package: name -> module.
WORLDS: Final[Mapping[str, str]] = {
    "cube": "teamworld.worlds.cube.world",
    "household": "teamworld.worlds.household.world",
    "lbf": "teamworld.worlds.adapters.lbf.world",
    "overcooked": "teamworld.worlds.adapters.overcooked.world",
    "rooms": "teamworld.worlds.rooms.world",
    "rware": "teamworld.worlds.adapters.rware.world",
    "transport": "teamworld.worlds.transport.world",
    "wildfire": "teamworld.worlds.wildfire.world",
}
GROUP: Final = "teamworld.worlds"
_FORMS: Final[tuple[tuple[str, str, Callable[[object], bool]], ...]] = (
    ("LEVELS", "a mapping of names to lines", lambda part: isinstance(part, Mapping)),
    ("OPTIONS", "a pydantic model", lambda part: hasattr(part, "model_validate")),
    ("DEFAULT_LEVEL", "a text", lambda part: isinstance(part, str)),
    ("SUMMARY", "a text", lambda part: isinstance(part, str)),
)


class WorldModule(Protocol):
    """What a world's module offers."""

    @property
    def LEVELS(self) -> Mapping[str, str]:  # noqa: N802  (a constant of the module)
        """The levels to list: name -> one line."""

    @property
    def OPTIONS(self) -> type[BaseModel]:  # noqa: N802  (a constant of the module)
        """What can be set."""

    @property
    def DEFAULT_LEVEL(self) -> str:  # noqa: N802  (a constant of the module)
        """The level that is played unless told otherwise."""

    @property
    def SUMMARY(self) -> str:  # noqa: N802  (a constant of the module)
        """What the world is about, in one line."""

    def step_limit(self, level: str, options: Mapping[str, object]) -> int:
        """Return the steps after which an episode of a level ends unless told otherwise: those of its benchmark."""

    def make(self, level: str, seed: int, horizon: int, options: Mapping[str, object]) -> World:
        """Return the instance of a level."""


def names() -> list[str]:
    """Return the names of all worlds, those of installed packages too, in alphabetical order."""
    return sorted({*WORLDS, *plugins.entry_names(GROUP)})


def load(world: str) -> WorldModule:
    """Return the module of a world, importing it also where it is named as ``MODULE:NAME``.

    Raises:
        UserError: There is no such world, or it cannot be loaded.
    """
    if (text := plugins.reference(world)) == world:
        plugins.load(text)
    return module(world)


def module(world: str) -> WorldModule:
    """Return the module of a world that ships, that a package registers, or that ``load`` was called for.

    Raises:
        UserError: There is no such world, or another package's world cannot be loaded.
    """
    if world in WORLDS:
        return cast("WorldModule", importlib.import_module(WORLDS[world]))
    offered = plugins.loaded(world) if plugins.reference(world) == world else plugins.load_entry(GROUP, world)
    if offered is None:
        raise UserError(f"there is no world '{world}'{suggest(world, names())}")
    _check_parts(offered, WorldModule, f"'{world}' is no world")
    for name, form, has_form in _FORMS:
        if not has_form(part := getattr(offered, name)):
            raise UserError(f"'{world}' is no world: {name} is {form}, got {brief(part)}")
    return cast("WorldModule", offered)


def _check_parts(offered: object, contract: type, problem: str) -> None:
    """Check that what somebody else offers has all parts of a contract; raises ``UserError``."""
    missing = [name for name in vars(contract) if not name.startswith("_") and not hasattr(offered, name)]
    if missing:
        raise UserError(f"{problem}: it lacks {', '.join(missing)}")


def make(world: str, level: str, seed: int, horizon: int | None, options: Mapping[str, object]) -> World:
    """Return an instance of a world.

    Args:
        world: Name of the world.
        level: Name of the level.
        seed: Decides what is random in the instance.
        horizon: Steps after which the episode ends; the level's own limit if None.
        options: The world's options.

    Raises:
        UserError: There is no such world, level or option, or a value cannot be used.
    """
    steps = step_limit(world, level, options) if horizon is None else horizon
    made = module(world).make(level, seed, steps, options)
    if world not in WORLDS:
        from teamworld.worlds.contract import World  # only here: commands that show help load the registry too

        _check_parts(made, World, f"'{world}': make returns a {type(made).__name__}, which is no World")
    return made


def step_limit(world: str, level: str, options: Mapping[str, object]) -> int:
    """Return the steps after which an episode of a level ends unless told otherwise.

    Raises:
        UserError: There is no such world, level or option, or a value cannot be used.
    """
    steps = module(world).step_limit(level, options)
    if not isinstance(steps, int) or steps < 1:
        raise UserError(f"'{world}': step_limit returns a number of steps from 1, got {brief(steps)}")
    return steps


def summary(world: str) -> str:
    """Return what a world is about, in one line."""
    return module(world).SUMMARY


def levels(world: str) -> Mapping[str, str]:
    """Return the levels of a world: name -> one line."""
    return module(world).LEVELS


def option_model(world: str) -> type[BaseModel]:
    """Return the model of a world's options."""
    return module(world).OPTIONS


def step_bound(world: str, level: str, seed: int, options: Mapping[str, object]) -> StepBound | None:
    """Return what is proven of the fewest steps in which all goals of an instance can be done, whoever plans.

    None of worlds and instances of which nothing is proven, and of worlds that are not there.

    Raises:
        UserError: There is no such level or option, or a value cannot be used.
    """
    prove = getattr(module(world), "step_bound", None) if is_there(world) else None
    return None if prove is None else cast("StepBound | None", prove(level, seed, options))


def is_there(world: str) -> bool:
    """Return whether a world can be read of: a log outlives the package of its world, and imports no MODULE:NAME."""
    try:
        module(world)
    except UserError:
        return False
    return True


def finder(world: str) -> FailureFinder | None:
    """Return what finds a world's own failures in a log; None if the world offers nothing, or is not there."""
    return cast("FailureFinder | None", getattr(module(world), "failures", None)) if is_there(world) else None


def style(world: str) -> Mapping[str, Any]:
    """Return what the replay's drawing of a world reads; nothing if the world offers none, or is not there."""
    return cast("Mapping[str, Any]", getattr(module(world), "STYLE", {})) if is_there(world) else {}


def known_picture(world: str) -> DrawKnown | None:
    """Return what draws what one agent of a world knows; None if the world offers nothing, or is not there."""
    return cast("DrawKnown | None", getattr(module(world), "known_picture", None)) if is_there(world) else None


def still_picture(world: str) -> DrawStill | None:
    """Return what draws moments of a world's logs as pixels; None if the world offers nothing, or is not there."""
    return cast("DrawStill | None", getattr(module(world), "still_picture", None)) if is_there(world) else None


def talk_price(world: str) -> Mapping[str, Any]:
    """Return fields of the message rule that a world sets where talk is paid for, as ``TALK`` of its module says.

    Nothing if the world sets none, or is not there.
    """
    return cast("Mapping[str, Any]", getattr(module(world), "TALK", {})) if is_there(world) else {}
