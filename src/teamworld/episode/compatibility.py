"""Which methods can play in which worlds: what a method needs of a world beyond views and rules."""

from __future__ import annotations

from teamworld.errors import UserError
from teamworld.language import Entity
from teamworld.methods.contract import Method
from teamworld.worlds.contract import World, roster


class DoesNotApply(UserError):
    """A method declares that it cannot play in a world."""


def roster_for(method: Method | type[Method], world: World) -> tuple[Entity, ...]:
    """Return what a method is told of the world's roster: nothing unless it declares that it takes it.

    Raises:
        DoesNotApply: It does, and the world has none.
    """
    if not method.roster:
        return ()
    named = roster(world)
    if named is None:
        raise DoesNotApply(
            f"method '{method.name}' does not apply to world '{world.spec.world}': it needs a roster, the ids and "
            "classes of all that the task is about, which this world does not tell; take another world or method"
        )
    return named


def applies(method: Method | type[Method], world: World) -> bool:
    """Return whether a method can play in a world."""
    try:
        roster_for(method, world)
    except DoesNotApply:
        return False
    return True
