"""The symbolic language that every world, method and mind speaks: facts, beliefs, actions, plans."""

from teamworld.language.grammar import (
    ParseError,
    parse_action,
    parse_belief,
    parse_entity,
    parse_fact,
    parse_plan,
    parse_term,
)
from teamworld.language.lifting import Binding, Measure, Measures, ground, lift, prototype
from teamworld.language.terms import (
    Action,
    AgentId,
    Belief,
    Cell,
    Entity,
    Fact,
    Facts,
    GoalId,
    Plan,
    Term,
    Variable,
    show,
)

__all__ = [
    "Action",
    "AgentId",
    "Belief",
    "Binding",
    "Cell",
    "Entity",
    "Fact",
    "Facts",
    "GoalId",
    "Measure",
    "Measures",
    "ParseError",
    "Plan",
    "Term",
    "Variable",
    "ground",
    "lift",
    "parse_action",
    "parse_belief",
    "parse_entity",
    "parse_fact",
    "parse_plan",
    "parse_term",
    "prototype",
    "show",
]
