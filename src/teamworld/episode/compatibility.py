"""Which methods can play in which worlds: the capabilities that a method requires and a world declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from teamworld.errors import UserError
from teamworld.language import Entity
from teamworld.methods.contract import Method
from teamworld.worlds.contract import Capability, World

#: What a world must tell to have a capability.
_MEANING: Final[Mapping[Capability, str]] = {
    "arrays": "arrays (what an agent observes and does, in numbers)",
    "beliefs": "beliefs (what is hidden, who perceives it and which actions conflict)",
    "danger": "danger (when agents are harmed)",
    "entities": "entities (the ids and classes of all that the task is about)",
    "hauling": "hauling (things are brought to one place, in hands and in containers)",
}


class DoesNotApply(UserError):
    """A method requires a capability that a world does not declare."""


def entities_for(method: Method | type[Method], world: World) -> tuple[Entity, ...]:
    """Return the world's entities, as far as a method is told them: nothing unless it requires ``entities``.

    Raises:
        DoesNotApply: The method requires a capability that the world does not declare.
    """
    missing = method.requires - _capabilities(world)
    if missing:
        needs = " and ".join(_MEANING[capability] for capability in sorted(missing))
        raise DoesNotApply(
            f"method '{method.name}' does not apply to world '{world.spec.world}': it needs {needs}, which this world "
            "does not declare; take another world or method"
        )
    return tuple(world.entities or ()) if "entities" in method.requires else ()


def _capabilities(world: World) -> frozenset[Capability]:
    """Return the optional capabilities that a world declares."""
    declared: dict[Capability, object] = {
        "arrays": world.domain.arrays,
        "beliefs": world.domain.beliefs,
        "danger": world.domain.danger,
        "entities": world.entities,
        "hauling": world.domain.hauling,
    }
    return frozenset(capability for capability, rules in declared.items() if rules is not None)


def applies(method: Method | type[Method], world: World) -> bool:
    """Return whether a method can play in a world."""
    try:
        entities_for(method, world)
    except DoesNotApply:
        return False
    return True
