"""Plans as answers: reading them, validating them the same way for every method, and perturbing them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, GoalId, OnFailure, Plan, Term, parse_action
from teamworld.methods.common.answers import Reasoned
from teamworld.planning.action_parser import read_written
from teamworld.planning.simulate import dry_run
from teamworld.worlds.contract import Domain, Goal, View

#: Longer plans are refused: a plan is a short list, and a runaway answer must not fill an episode.
LONGEST = 12


class PlanAnswer(Reasoned):
    """A plan as an answer."""

    actions: tuple[str, ...] = Field(description="the actions in order, such as those in the prompt")


def action_texts(plan: Plan) -> tuple[str, ...]:
    """Return the plan's actions in written form."""
    return tuple(map(str, plan.actions))


def normalize_texts(texts: Sequence[str], abilities: Sequence[ActionSchema]) -> tuple[str, ...]:
    """Return actions of a plan that passed ``plan_error`` in the exact form, as far as they say."""
    return tuple(map(str, read_actions(texts, abilities)))


def read_actions(texts: Sequence[str], abilities: Sequence[ActionSchema]) -> tuple[Action, ...]:
    """Read actions in written form and complete them with their defaults, see ``action_parser.read_written``.

    Raises:
        UserError: A text is not in the language, or no agent of this kind can do it.
    """
    schemas = {schema.verb: schema for schema in abilities if schema.verb != "talk"}  # which no prompt offers
    return tuple(read_written(text, schemas) for text in texts)


def plan_error(texts: Sequence[str], view: View, domain: Domain) -> str | None:
    """Validate a plan: its length, each action's form, and a dry run.

    Returns:
        What is wrong, for the re-ask; None if nothing is.
    """
    if not 1 <= len(texts) <= LONGEST:
        return f"a plan has 1 to {LONGEST} actions, got {len(texts)}"
    try:
        actions = read_actions(texts, view.abilities)
    except UserError as error:
        return str(error)
    tried = dry_run(Plan(actions), view, domain)
    return None if tried.ok else tried.reason


def make_plan(texts: Sequence[str], view: View, goal: GoalId | None, on_failure: OnFailure = "default") -> Plan:
    """Return the plan of actions that passed ``plan_error``."""
    return Plan(read_actions(texts, view.abilities), goal, on_failure)


def parameter_values(abilities: Sequence[ActionSchema]) -> dict[str, tuple[Term, ...]]:
    """Return what the parameters of actions may be that take one of some values, each list once.

    By the parameter's name; by ``verb.name`` where another action has other values under that name.
    """
    values: dict[str, tuple[Term, ...]] = {}
    for schema in abilities:
        for param in schema.params:
            if param.kind in ("entity", "choice"):
                known = values.setdefault(param.name, param.choices)
                if known != param.choices:
                    values[f"{schema.verb}.{param.name}"] = param.choices
    return values


def candidate_texts(goal: Goal | None, view: View, domain: Domain) -> list[tuple[str, ...]]:
    """Return the plans that make sense for a goal (for nothing to do: out of the way), in written form."""
    return [action_texts(recipe) for recipe in domain.candidate_plans(goal, view.agent, view.known)]


def standby_plan(domain: Domain, view: View) -> Plan:
    """Return the plan of an agent that has nothing to do: out of the way, or looking around."""
    return domain.candidate_plans(None, view.agent, view.known)[0]


def perturb_plan(texts: Sequence[str], abilities: Sequence[ActionSchema], rng: np.random.Generator) -> tuple[str, ...]:
    """Return the plan with one error in it: a step lost, two steps swapped, or an argument wrong."""
    texts = list(texts)
    error = rng.integers(3)
    if error == 0 and len(texts) > 1:
        del texts[int(rng.integers(len(texts)))]
    elif error == 1 and len(texts) > 1:
        first = int(rng.integers(len(texts) - 1))
        texts[first], texts[first + 1] = texts[first + 1], texts[first]
    else:
        index = int(rng.integers(len(texts)))
        texts[index] = _wrong_argument(texts[index], abilities, rng)
    return tuple(texts)


def _wrong_argument(text: str, abilities: Sequence[ActionSchema], rng: np.random.Generator) -> str:
    """Return the action with one argument changed: another choice or cell, or a count off by up to three."""
    action = parse_action(text)
    schema = next(schema for schema in abilities if schema.verb == action.verb)
    if not action.args:
        return text
    index = int(rng.integers(len(action.args)))
    param, args = schema.params[index], list(action.args)
    if param.kind == "count":
        off = int(rng.integers(1, 4)) * (1 if rng.random() < 0.5 else -1)
        args[index] = max(param.low, int(str(args[index])) + off)
    elif param.kind == "cell":
        row, column = (int(rng.integers(top)) for top in param.size)
        args[index] = (row, column)
    else:
        others = [choice for choice in param.choices if choice != args[index]]
        if others:
            args[index] = others[int(rng.integers(len(others)))]
    return str(Action(action.verb, tuple(args)))
