"""Answers to questions that two copies of an episode ask, each put once, by whoever comes to it first."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from teamworld.errors import UserError
from teamworld.reasoning.contract import Answer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.llm.contract import CallKey
from teamworld.reasoning.prompts import render
from teamworld.reasoning.router import ReasonerRouter, find_reasoner


class AskedOtherwise(UserError):
    """A question was not asked as it had been asked ahead: the world's bounds promise too much."""


@dataclass
class _Asked:
    text: str
    """All that the reasoner is shown."""
    reply: asyncio.Task[Reply[Any]]
    readers: set[AnswerReader] = field(default_factory=set)
    """Who has asked for it."""


class AnswersAhead:
    """Puts each question once, and keeps its answer until both copies of the episode have read it.

    Args:
        inner: Answers.
    """

    def __init__(self, inner: Reasoner) -> None:
        self.inner = inner
        self.in_turn = AnswerReader(self, Counter())
        """The reasoner of the episode itself."""
        self._ahead: AnswerReader | None = None
        self._asked: dict[CallKey, _Asked] = {}
        self._flying: set[asyncio.Task[Reply[Any]]] = set()

    def run_ahead(self) -> AnswerReader:
        """Return the reasoner of a copy that begins where the episode is now."""
        self._ahead = AnswerReader(self, self.in_turn.counts.copy())
        return self._ahead

    def stop(self) -> None:
        """Keep no more answers for the copy, which goes no further."""
        self._ahead = None
        self._asked = {key: asked for key, asked in self._asked.items() if not self._is_read(asked)}

    @property
    def unused(self) -> int:
        """Questions that were asked ahead and for which the episode itself has not asked."""
        return sum(self.in_turn not in asked.readers for asked in self._asked.values())

    async def read(
        self, key: CallKey, question: Question[Answer], tries: Sequence[Rejected], reader: AnswerReader
    ) -> Reply[Answer]:
        """Return the reply to a question, which is put if it was not.

        Raises:
            AskedOtherwise: It was put in other words; its answer is not used.
        """
        text = "\n".join((render(question).text, *(part for bad in tries for part in (bad.text, bad.complaint))))
        if key not in self._asked:
            self._asked[key] = _Asked(text, self._put(question, tries))
        asked = self._asked[key]
        if asked.text != text:
            raise AskedOtherwise(
                f"{key.respondent} was asked {key.purpose} {key.number} ahead of its turn, and otherwise in it: the "
                "bounds of this world are wrong, which is a defect; play with another --out and without --schedule"
            )
        asked.readers.add(reader)
        if self._is_read(asked):
            del self._asked[key]
        reply: Reply[Answer] = await asyncio.shield(asked.reply)
        return reply

    def _put(self, question: Question[Answer], tries: Sequence[Rejected]) -> asyncio.Task[Reply[Answer]]:
        reply = asyncio.create_task(self.inner.ask(question, tries))
        self._flying.add(reply)
        reply.add_done_callback(self._landed)
        return reply

    def _landed(self, reply: asyncio.Task[Reply[Any]]) -> None:
        self._flying.discard(reply)
        if not reply.cancelled():
            reply.exception()  # where the episode was stopped, nobody else looks at it

    def _is_read(self, asked: _Asked) -> bool:
        """Return whether nobody else will ask for an answer."""
        return self.in_turn in asked.readers and (self._ahead is None or self._ahead in asked.readers)

    async def close(self) -> None:
        """Give up what is under way."""
        flying = list(self._flying)
        for reply in flying:
            reply.cancel()
        await asyncio.gather(*flying, return_exceptions=True)


class AnswerReader(ReasonerRouter):
    """The reasoner of one of the two copies.

    Args:
        answers: Shared by both.
        counts: How often it was asked, by respondent and kind of question.
    """

    def __init__(self, answers: AnswersAhead, counts: Counter[tuple[str, str]]) -> None:
        super().__init__(answers.inner.name, ())
        self._answers = answers
        self.counts = counts

    def of(self, question: Question[Answer]) -> Reasoner:
        """Return which reasoner answers a question."""
        return find_reasoner(self._answers.inner, question)

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Return the answer as soon as it is there."""
        who = question.respondent, question.kind
        self.counts[who] += not tries
        return await self._answers.read(CallKey(*who, self.counts[who], len(tries)), question, tries, self)
