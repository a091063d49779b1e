"""Which reasoner answers: one for all, or one for each agent or kind of question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.reasoning.contract import Answer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.llm.keys import scrub

_WHO = re.compile(r"(?P<who>\*|[A-Za-z_][\w.-]*)?(?:@(?P<kinds>[A-Za-z_*][\w.*]*))?")


class Route(NamedTuple):
    """The questions that one reasoner answers."""

    respondent: str
    """An agent, a respondent without a body (such as ``planner``: those of all neighbourhoods), or ``*``."""
    kinds: str
    """Kinds of questions, with wildcards."""
    name: str
    """Of the reasoner."""

    @property
    def who(self) -> str:
        """As ``--reasoner`` names it."""
        return self.respondent if self.kinds == "*" else f"{self.respondent}@{self.kinds}"

    def covers(self, respondent: str, kind: str) -> bool:
        """Return whether it takes this respondent's questions of this kind; with wildcards, all of them."""
        return self.respondent in ("*", respondent, respondent.partition(".")[0]) and fnmatchcase(kind, self.kinds)


def parse_routes(text: str) -> tuple[Route, ...]:
    """Read what ``--reasoner`` takes: ``NAME``, or ``WHO=NAME,...`` where the first that fits answers.

    WHO is an agent, ``*``, or either with ``@KIND`` behind it: ``agent_1@drwell.propose``, ``@drwell.*``.

    Raises:
        UserError: It is not of this form.
    """
    parts = [part.strip() for part in text.split(",")]
    routes: list[Route] = []
    for part in parts:
        who, equals, name = part.partition("=")
        match = _WHO.fullmatch(who.strip()) if equals else None
        if match is None and len(parts) == 1:
            return (Route("*", "*", part),)
        if match is None or not who.strip() or not name.strip():
            comma = "; a path holds no comma here" if "gguf:" in text or "mailbox:" in text else ""
            raise UserError(
                f"expected WHO=REASONER,... such as 'agent_0=rules,*=openai:gpt-4o' or '@drwell.propose=rules,*=...', "
                f"got '{scrub(part)}'{comma}"
            )
        route = Route(match["who"] or "*", match["kinds"] or "*", name.strip())
        hiding = next((earlier for earlier in routes if earlier.covers(route.respondent, route.kinds)), None)
        if hiding is not None:
            raise UserError(
                f"'{scrub(text)}' leaves nothing to {route.who}={scrub(route.name)}, behind "
                f"{hiding.who}={scrub(hiding.name)}: the first that fits answers"
            )
        routes.append(route)
    if routes[-1].who != "*":
        raise UserError(f"'{scrub(text)}' leaves questions to nobody: end it with *=REASONER")
    return tuple(routes)


class ReasonerRouter:
    """Hands each question to the first reasoner that has a route for it."""

    def __init__(self, name: str, reasoners: Sequence[tuple[Route, Reasoner]]) -> None:
        self._name = name
        self._reasoners = tuple(reasoners)

    @property
    def name(self) -> str:
        """As the user wrote it."""
        return self._name

    def of(self, question: Question[Answer]) -> Reasoner:
        """Return which reasoner answers a question."""
        covering = (who for route, who in self._reasoners if route.covers(question.respondent, question.kind))
        return find_reasoner(next(covering), question)

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Pass the question on."""
        return await self.of(question).ask(question, tries)


def find_reasoner(reasoner: Reasoner, question: Question[Answer]) -> Reasoner:
    """Return which reasoner answers a question, where there may be several."""
    return reasoner.of(question) if isinstance(reasoner, ReasonerRouter) else reasoner
