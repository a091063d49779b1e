"""How a team agrees on belief rules before it begins: one agent proposes, others review."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from teamworld.language import AgentId, BeliefRule, ParseError, RuleSet, Schema, parse_rule
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.contract import DecisionContext
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import View, WorldSpec

Said = TypeVar("Said", bound=BaseModel)
_LISTED: Final = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.)])\s+")
_MARKS: Final = " \t\r\n`*'\".;,-•"


class ProposedRules(Reasoned):
    """Belief rules for a world."""

    zero_order: tuple[str, ...] = Field(description="rules such as ?me BELIEVE ?apple IN ?room", max_length=40)
    first_order: tuple[str, ...] = Field(
        description="the same of a teammate: ?me BELIEVE ?mate BELIEVE ?apple IN ?room", max_length=40
    )


class ReviewedRules(Reasoned):
    """What is missing or wrong in proposed rules."""

    suggestions: str = Field(default="", description="what to add, change or leave out", max_length=2000)
    satisfied: bool = Field(description="true if nothing needs to be changed")


@dataclass(frozen=True)
class _RuleQuestion(Question[Said]):
    respondent: AgentId
    views: Mapping[AgentId, View]
    spec: WorldSpec
    schema: Schema
    rules: ProposedRules | None = None
    """The rules so far."""
    suggestions: str = ""
    """What the reviewer said of them."""
    sampling: ClassVar[Sampling] = Sampling(temperature=0.0, max_tokens=2000)

    departures: ClassVar[Mapping[str, str]] = MappingProxyType(
        dict.fromkeys(
            ("world_rules", "abilities", "who", "situation", "team", "tasks", "own", "said", "options"),
            "the rules are agreed on before the first step, of the task alone (figures 5 and 6)",
        )
    )

    def context(self) -> dict[str, Any]:
        """The question, of which the shared blocks read what the world is."""
        return {"q": self, "me": self}

    @property
    def relations(self) -> Sequence[str]:
        """What facts can state; kinds of which the same can be stated stand together."""
        alike: dict[str, list[str]] = {}
        for rel in self.schema.relations:
            most = f" (up to {rel.max_values})" if rel.max_values > 1 else ""
            alike.setdefault(f"{rel.predicate} {'|'.join(rel.values)}{most}", []).append(rel.subject)
        return [f"{', '.join(subjects)} {stated}" for stated, subjects in alike.items()]

    @property
    def before(self) -> Sequence[str]:
        """The rules so far."""
        return [] if self.rules is None else [*self.rules.zero_order, *self.rules.first_order]


@dataclass(frozen=True)
class ProposeRules(_RuleQuestion[ProposedRules]):
    """Which beliefs are worth keeping?"""

    kind: ClassVar[str] = "cobel.propose_rules"
    template: ClassVar[str] = "cobel/prompts/propose_rules.md.j2"
    answer: ClassVar[type[BaseModel]] = ProposedRules

    def rule(self, rng: np.random.Generator) -> ProposedRules:
        """Propose one rule for each of the world's relations, of both orders."""
        zero, first = (tuple(map(str, RuleSet.of(self.schema).of_order(order)))[:40] for order in (0, 1))
        return ProposedRules(zero_order=zero, first_order=first)

    def check(self, answer: ProposedRules) -> str | None:
        """Refuse rules none of which can be read and states a relation of the world."""
        if not read_rules(answer, self.schema):
            return "no rule could be read: write each as ?me BELIEVE ?apple IN ?room, with a relation of the list"
        return None

    def fallback(self) -> ProposedRules:
        """Propose what the rule does, which draws nothing."""
        return self.rule(np.random.default_rng(0))


@dataclass(frozen=True)
class ReviewRules(_RuleQuestion[ReviewedRules]):
    """What is missing or wrong in these rules?"""

    kind: ClassVar[str] = "cobel.review_rules"
    template: ClassVar[str] = "cobel/prompts/review_rules.md.j2"
    answer: ClassVar[type[BaseModel]] = ReviewedRules

    def rule(self, rng: np.random.Generator) -> ReviewedRules:
        """Be satisfied if each relation of the world has a rule."""
        ruled = {rule.predicate for rule in read_rules(self.rules, self.schema)}
        missing = dict.fromkeys(rel.predicate for rel in self.schema.relations if rel.predicate not in ruled)
        words = f"There is no rule for {', '.join(missing)}." if missing else ""
        return ReviewedRules(suggestions=words[:2000], satisfied=not missing)

    def check(self, answer: ReviewedRules) -> str | None:
        """Refuse dissatisfaction without a suggestion."""
        is_helpful = answer.satisfied or answer.suggestions.strip()
        return None if is_helpful else "say what to change, or be satisfied"

    def fallback(self) -> ReviewedRules:
        """Let the rules stand."""
        return ReviewedRules(satisfied=True)


def read_rules(answer: ProposedRules | None, schema: Schema) -> tuple[BeliefRule, ...]:
    """Return the rules that can be read and that the world has relations for."""
    empty, rules = RuleSet((), schema), list[BeliefRule]()
    for order, lines in enumerate((answer.zero_order, answer.first_order) if answer is not None else ()):
        for line in lines:
            try:
                rule = parse_rule(_tidy(line, schema), (order,))
            except (ParseError, ValueError):
                continue
            if empty.sound(rule):
                rules.append(rule)
    return tuple(dict.fromkeys(rules))


def _tidy(line: str, schema: Schema) -> str:
    """Return a line without marks of lists and quotes, its key words and relations in capitals as they are written."""
    line = _LISTED.sub("", line).strip(_MARKS)
    line = re.sub(r"\bbelieves?\b", "BELIEVE", line, flags=re.IGNORECASE)
    for predicate in schema.predicates:
        line = re.sub(rf"(?<=\s){re.escape(predicate)}(?=\s)", predicate, line, flags=re.IGNORECASE)
    return line


async def agree_on_rules(moment: DecisionContext, spec: WorldSpec, schema: Schema, rounds: int) -> RuleSet:
    """Return the rules that the first agent proposes and a reviewer is satisfied with, or the last proposal.

    Prompts hold nothing of the instance, so in later episodes a run's store of answers gives the same rules.
    """
    author, *reviewers = moment.views
    own = {author: moment.views[author]}
    proposed: ProposedRules | None = None
    suggestions = ""
    for number in range(rounds):
        proposed = await moment.ask(ProposeRules(author, own, spec, schema, proposed, suggestions))
        if not reviewers:
            break
        reviewer = reviewers[number % len(reviewers)]
        review = await moment.ask(ReviewRules(reviewer, {reviewer: moment.views[reviewer]}, spec, schema, proposed))
        if review.satisfied:
            break
        suggestions = review.suggestions
    rules = read_rules(proposed, schema)
    return RuleSet(rules, schema) if rules else RuleSet.of(schema)
