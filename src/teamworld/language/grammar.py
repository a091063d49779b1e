"""Read the written form of the language; the inverse of ``str``.

Errors are ``ParseError`` with the line and column and what could have stood there.
"""

from __future__ import annotations

import json
import math
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError

from teamworld.errors import UserError
from teamworld.language.terms import Action, Belief, Entity, Fact, OnFailure, Plan, Term, Variable

_STARTS = ["entity", "term", "fact", "belief", "rule", "action", "plan"]
_LONGEST = 20_000  # characters; longer texts are refused before the parser sees them
_ON_FAILURE: dict[str, OnFailure] = {"abort": "abort", "proceed": "continue"}
_READABLE = {
    "NAME": "a name",
    "STRING": "a quoted name",
    "PREDICATE": "a predicate in capitals",
    "_BELIEVE": "BELIEVE",
    "INT": "a number",
    "SIGNED_INT": "a number",
    "SIGNED_FLOAT": "a number",
    "VARIABLE": "a variable (?name)",
    "LPAR": "'('",
    "RPAR": "')'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LSQB": "'['",
    "RSQB": "']'",
    "LESSTHAN": "'<'",
    "MORETHAN": "'>'",
    "COMMA": "','",
    "SEMICOLON": "';'",
    "VBAR": "'|'",
    "$END": "the end",
}


class ParseError(UserError):
    """Text that is not in the language.

    Attributes:
        line: Line of the first character that does not fit, from 1.
        column: Its column, from 1.
        expected: What could have stood there, in words.
    """

    def __init__(self, what: str, line: int, column: int, came: str, expected: tuple[str, ...]) -> None:
        self.line, self.column, self.expected = line, column, expected
        wanted = f"expected {' or '.join(expected)}, " if expected else ""
        super().__init__(f"{what}, line {line}, column {column}: {wanted}found {came}")


class _Build(Transformer[Token, Any]):
    """Turns the parse tree into the frozen types."""

    def entity(self, parts: list[Token]) -> Entity:
        return Entity(str(parts[0]), int(parts[1]))

    def variable(self, parts: list[Token]) -> Variable:
        return Variable(str(parts[0])[1:])

    def cell(self, parts: list[Token]) -> tuple[int, int]:
        return int(parts[0]), int(parts[1])

    def name(self, parts: list[Token]) -> str:
        return str(json.loads(parts[0])) if parts[0].type == "STRING" else str(parts[0])

    def integer(self, parts: list[Token]) -> int:
        return int(parts[0])

    def real(self, parts: list[Token]) -> float:
        value = float(parts[0])
        if not math.isfinite(value):
            raise ValueError("a number that is finite")
        return value

    def fact(self, parts: list[Any]) -> Fact:
        return Fact(parts[0], str(parts[1]), parts[2])

    def holder(self, parts: list[str]) -> tuple[str]:
        return (parts[0],)

    def evidence(self, parts: list[Any]) -> tuple[float, int, str]:
        return float(parts[0]), int(parts[1]), parts[2]

    def belief(self, parts: list[Any]) -> Belief:
        *holders, fact, evidence = parts
        return Belief(tuple(holder for (holder,) in holders), fact, *(evidence or ()))

    def rule_holder(self, parts: list[Any]) -> tuple[Any]:
        return (parts[0],)

    def rule_subject(self, parts: list[Any]) -> Any:  # noqa: ANN401  (a thing, a name or a variable)
        return parts[0]

    def rule(self, parts: list[Any]) -> tuple[tuple[Any, ...], Any, str, tuple[Any, ...]]:
        holders = [part for part in parts if isinstance(part, tuple) and len(part) == 1]
        subject, predicate, *values = parts[len(holders) :]
        return tuple(holder for (holder,) in holders), subject, str(predicate), tuple(values)

    def action(self, parts: list[Any]) -> Action:
        return Action(str(parts[0]), tuple(part for part in parts[1:] if part is not None))

    def goal(self, parts: list[str]) -> tuple[str]:
        return (parts[0],)

    def plan(self, parts: list[Any]) -> Plan:
        goal = next((part[0] for part in parts if isinstance(part, tuple)), None)
        actions = tuple(part for part in parts if isinstance(part, Action))
        ending = next((str(part.data) for part in parts if isinstance(part, Tree)), "")
        return Plan(actions, goal, _ON_FAILURE.get(ending, "default"))


@cache
def _parser() -> Lark:
    grammar = (files("teamworld.language") / "grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", start=_STARTS, maybe_placeholders=True, propagate_positions=True)


def _expected(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted({_READABLE.get(name, f"'{name.lower()}'") for name in names}))


def _parse(start: str, text: str) -> Any:  # noqa: ANN401  (each public reader fixes the type)
    if len(text) > _LONGEST:
        raise ParseError(start, 1, _LONGEST + 1, f"a text of {len(text)} characters", (f"at most {_LONGEST}",))
    try:
        return _Build().transform(_parser().parse(text, start=start))
    except UnexpectedToken as error:
        text_found = "the end" if error.token.type == "$END" else repr(str(error.token))
        at_end = error.token.type == "$END"
        line = text.count("\n") + 1 if at_end else error.line
        column = len(text) - text.rfind("\n") if at_end else error.column
        raise ParseError(start, line, column, text_found, _expected(set(error.accepts or error.expected))) from None
    except UnexpectedInput as error:
        allowed = getattr(error, "allowed", None) or set()
        text_found = repr(text[error.pos_in_stream or 0 :][:1])
        raise ParseError(start, error.line, error.column, text_found, _expected(set(allowed))) from None
    except VisitError as error:
        meta = error.obj.meta if isinstance(error.obj, Tree) else error.obj
        line, column = getattr(meta, "line", None) or 1, getattr(meta, "column", None) or 1
        raise ParseError(start, line, column, "a value that cannot be", (str(error.orig_exc),)) from None


def parse_entity(text: str) -> Entity:
    """Read ``<block>(3)``; raises ``ParseError``."""
    entity: Entity = _parse("entity", text)
    return entity


def parse_term(text: str) -> Term:
    """Read any argument: an entity, a name, a number, a cell or a variable; raises ``ParseError``."""
    term: Term = _parse("term", text)
    return term


def parse_fact(text: str) -> Fact:
    """Read ``<block>(3) AT (1, 5)``; raises ``ParseError``."""
    fact: Fact = _parse("fact", text)
    return fact


def parse_belief(text: str) -> Belief:
    """Read ``alice BELIEVE bob AT <kitchen>(1)``; raises ``ParseError``."""
    belief: Belief = _parse("belief", text)
    return belief


def parse_template(text: str) -> tuple[tuple[Any, ...], Any, str, tuple[Any, ...]]:
    """Read ``?me BELIEVE ?door STATE open|shut``: holders, subject, predicate and values; raises ``ParseError``."""
    template: tuple[tuple[Any, ...], Any, str, tuple[Any, ...]] = _parse("rule", text)
    return template


@lru_cache(maxsize=4096)  # plans and their actions are read again and again, and never change
def parse_action(text: str) -> Action:
    """Read ``push_block(<block>(1), 5)``; raises ``ParseError``."""
    action: Action = _parse("action", text)
    return action


@lru_cache(maxsize=4096)
def parse_plan(text: str) -> Plan:
    """Read ``plan for block_1 { move_to_block(<block>(1), left); idle(2) }``; raises ``ParseError``."""
    plan: Plan = _parse("plan", text)
    return plan
