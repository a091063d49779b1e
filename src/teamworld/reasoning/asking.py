"""Asking a mind until the answer is usable: re-ask with the complaint, then fall back."""

from __future__ import annotations

from typing import Generic, NamedTuple

from teamworld.reasoning.contract import Answer, BadAnswer, Question, Reasoner

#: How often a bad answer is asked again before the question's fallback stands.
RETRIES = 2


class Reply(NamedTuple, Generic[Answer]):
    """A usable answer and what it took."""

    answer: Answer
    errors: tuple[str, ...]
    """What was wrong with the answers before it."""
    fallback: bool
    """No answer was usable; this one is the question's fallback."""


async def ask(reasoner: Reasoner, question: Question[Answer], retries: int = RETRIES) -> Reply[Answer]:
    """Ask ``question`` until an answer passes its check, at most ``retries`` times again."""
    errors: list[str] = []
    for attempt in range(retries + 1):
        try:
            answer = await reasoner.ask(question, attempt, errors[-1] if errors else None)
        except BadAnswer as bad:
            errors.append(str(bad))
            continue
        complaint = question.check(answer)
        if complaint is None:
            return Reply(answer, tuple(errors), False)
        errors.append(complaint)
    return Reply(question.fallback(), tuple(errors), True)
