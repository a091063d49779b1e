"""Lifting a plan from the goal it was made for, so that it can be tried on another one.

A lifted plan has variables where the plan named its own goal: ``?goal`` for the thing, ``?units``
for the work that was left, ``?quorum`` for the agents it took. Which parameter counts in which
measure is said by the world's action schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from teamworld.language.terms import Action, Entity, Plan, Term, Variable

Measure: TypeAlias = Literal["units", "quorum"]
#: verb -> for each parameter, the measure of the goal that it counts in, or None.
Measures: TypeAlias = Mapping[str, tuple[Measure | None, ...]]


class Binding(NamedTuple):
    """What the variables of a lifted plan stand for."""

    goal: Entity | None
    """The thing that the goal is about, where it is about one."""
    units: int
    """Work left, in the world's own measure."""
    quorum: int
    """Agents needed at once."""


def lift(plan: Plan, binding: Binding, measures: Measures) -> Plan:
    """Return the plan with variables in place of its goal, the work left and the quorum."""

    def lifted(action: Action) -> Action:
        if binding.goal is None or binding.goal not in action.args:
            return action
        kinds = measures.get(action.verb, ())
        args: list[Term] = []
        for index, arg in enumerate(action.args):
            measure = kinds[index] if index < len(kinds) else None
            if arg == binding.goal:
                args.append(Variable("goal"))
            elif measure is not None and arg == getattr(binding, measure):
                args.append(Variable(measure))
            else:
                args.append(arg)
        return Action(action.verb, tuple(args))

    return Plan(tuple(map(lifted, plan.actions)), None, plan.on_failure)


def ground(plan: Plan, goal_id: str | None, binding: Binding) -> Plan:
    """Return the lifted plan with its variables filled; the inverse of ``lift`` for the same binding.

    Raises:
        KeyError: A variable has no value under the binding.
    """
    values: dict[str, Term] = {"units": binding.units, "quorum": binding.quorum}
    if binding.goal is not None:
        values["goal"] = binding.goal

    def filled(arg: Term) -> Term:
        return values[arg.name] if isinstance(arg, Variable) else arg

    actions = tuple(Action(action.verb, tuple(map(filled, action.args))) for action in plan.actions)
    return Plan(actions, goal_id, plan.on_failure)


def prototype(plan: Plan) -> str:
    """Return the plan's prototype: the names of its actions without arguments."""
    return " > ".join(action.verb for action in plan.actions) or "nothing"
