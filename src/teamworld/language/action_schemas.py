"""What an agent can do: macro-actions with their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeGuard

from teamworld.errors import UserError
from teamworld.language.lifting import Measure
from teamworld.language.plain import plain
from teamworld.language.terms import Action, Cell, Term, show


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of an action."""

    name: str
    kind: Literal["entity", "choice", "count", "cell"]
    choices: tuple[Term, ...] = ()
    """The values it may take now, for ``entity`` and ``choice``."""
    size: Cell = (0, 0)
    """Rows and columns, for ``cell``: any pair from (0, 0) to below it. Options name a few, they cannot name all."""
    low: int = 0
    high: int | None = None
    """Bounds of a ``count``; None where there is no upper bound."""
    default: int | None = None
    """Value of a ``count`` that is left out; None where it must be given."""
    measure: Measure | None = None
    """The measure of a goal that a ``count`` counts in, see ``teamworld.language.lifting``."""


@dataclass(frozen=True, slots=True)
class ActionSchema:
    """A macro-action: its parameters and what it is good for, in words a newcomer understands."""

    verb: str
    params: tuple[Param, ...]
    doc: str
    """What it does and how it ends."""
    needs: str = ""
    """What must hold for it to start; empty where it can always start."""
    example: Action | None = None
    """One that could stand in a plan in this world."""

    def complete(self, action: Action) -> Action:
        """Return the action with left-out counts filled by their defaults.

        Raises:
            UserError: An argument is missing, surplus, of the wrong kind or out of range.
        """
        if action.verb != self.verb:
            raise UserError(f"expected {self.verb}, got {action.verb}")
        if len(action.args) > len(self.params):
            raise UserError(
                f"{self.signature()} takes {len(self.params)} arguments, got {len(action.args)}: {plain(action)}"
            )
        args = list(action.args)
        for param in self.params[len(args) :]:
            if param.default is None:
                raise UserError(f"{self.signature()} needs {param.name}, got {plain(action)}")
            args.append(param.default)
        for param, arg in zip(self.params, args, strict=True):
            if param.kind == "count":
                top = "" if param.high is None else f" to {param.high}"
                if not (_whole(arg) and arg >= param.low and (param.high is None or arg <= param.high)):
                    raise UserError(f"{param.name} of {self.verb} is a number from {param.low}{top}, got {arg}")
            elif param.kind == "cell":
                if not _inside(arg, param.size):
                    rows, columns = param.size
                    last = show((rows - 1, columns - 1))
                    raise UserError(f"{param.name} of {self.verb} is a cell from (0, 0) to {last}, got {arg}")
            elif arg not in param.choices:
                known = ", ".join(map(plain, param.choices[:12]))
                more = f" and {len(param.choices) - 12} more" if len(param.choices) > 12 else ""
                such = f"one of {known}{more}" if known else "what the agent has found itself, which is nothing yet"
                raise UserError(f"{param.name} of {self.verb} is {such}; got {plain(arg)}")
        return Action(action.verb, tuple(args))

    def signature(self) -> str:
        """Return the action's form, for example ``push_block(block, steps)``."""
        return f"{self.verb}({', '.join(param.name for param in self.params)})"


def _whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _inside(value: object, size: Cell) -> bool:
    """Return whether a value is a cell from (0, 0) to below ``size``."""
    if not (isinstance(value, tuple) and len(value) == len(size)):
        return False
    return all(_whole(at) and 0 <= at < top for at, top in zip(value, size, strict=True))
