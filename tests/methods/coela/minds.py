"""Minds whose answers a test decides, and what a log tells of a COELA episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from teamworld.language import Action, plain
from teamworld.methods.coela.questions import ChooseAction, Decided, Picked, PickPlan, Proposal, ProposeMessage
from teamworld.methods.common.knowledge import Line
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import Event, MessageSent, QuestionAsked
from teamworld.seeding import Streams
from teamworld.worlds.contract import Outcome
from tests.methods.asked import CELL
from tests.methods.single_steps import Answers, Says, choose_answer


class Asked(NamedTuple):
    """A question of COELA as it was put, for views cannot be read later."""

    kind: str
    respondent: str
    t: int
    chat: tuple[Line, ...]
    past: tuple[Outcome, ...]
    remark: str
    perception: str | None
    numbered: tuple[Action, ...]
    verbs: frozenset[str]
    """What the agent was told that it can do."""


class Scripted(RuleReasoner):
    """The rules, but for questions that a test answers; keeps what was asked."""

    name = "scripted"

    def __init__(self, says: Says | Answers, streams: Streams | None = None) -> None:
        super().__init__(streams or CELL.streams(1))
        self._says = choose_answer(says) if isinstance(says, Mapping) else says
        self.asked: list[Asked] = []
        """The choices between message and action."""

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        if isinstance(question, ChooseAction | PickPlan):
            me, verbs = question.me, frozenset(schema.verb for schema in question.me.abilities)
            asked = (question.kind, question.respondent, question.view.t, me.lines, tuple(me.past), me.remark)
            self.asked.append(Asked(*asked, me.scene, question.numbered, verbs))
        said = self._says(question)
        return await super().ask(question, tries) if said is None else Reply(said)  # type: ignore[arg-type]


def always_sends(question: Question[Any]) -> BaseModel | None:
    """Propose a message with the asker's name and the time in it, and send it."""
    if isinstance(question, ProposeMessage):
        return Proposal(message=f"{question.respondent} at {question.view.t}")
    if isinstance(question, PickPlan) and question.message:
        return Picked(plan="SEND_MESSAGE")
    return Decided(action="SEND_MESSAGE") if isinstance(question, ChooseAction) else None


def never_sends(question: Question[Any]) -> BaseModel | None:
    """Propose a message always, and send none."""
    if isinstance(question, ProposeMessage):
        return Proposal(message="hello")
    if isinstance(question, ChooseAction) and (rule := question.rule(CELL.streams(1)("test"))).action == "SEND_MESSAGE":
        return Decided(action=plain(question.numbered[1]), goal=rule.goal)
    return None


def calls(events: Sequence[Event]) -> Counter[str]:
    """Return how often each kind of question was asked."""
    return Counter(event.purpose for event in events if isinstance(event, QuestionAsked))


def sent(events: Sequence[Event]) -> list[MessageSent]:
    """Return the messages of an episode."""
    return [event for event in events if isinstance(event, MessageSent)]
