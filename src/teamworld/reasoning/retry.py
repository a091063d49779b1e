"""Ask a reasoner until the answer is usable: retry with the complaint, then fall back."""

from __future__ import annotations

from typing import Generic, NamedTuple

from teamworld.reasoning.contract import Answer, BadAnswer, Call, LostCall, Question, Reasoner, Rejected


class FinalAnswer(NamedTuple, Generic[Answer]):
    """A usable answer and what it took."""

    answer: Answer
    tries: tuple[Rejected, ...]
    """The answers before it that could not be used."""
    fallback: bool
    """No answer was usable; this one is what was usable of one, or the question's fallback."""
    call: Call | None
    """The call of a language model that the answer took; those of the others stand with them."""


async def ask_until_usable(reasoner: Reasoner, question: Question[Answer], retries: int) -> FinalAnswer[Answer]:
    """Ask ``question`` until an answer passes its check, with at most ``retries`` retries, or fewer by the question.

    Raises:
        LostCall: None did, and at least one call brought no answer at all.
    """
    retries = retries if question.retries is None else min(retries, question.retries)
    tries: list[Rejected] = []
    rest: Answer | None = None
    for _ in range(retries + 1):
        try:
            answer, call = await reasoner.ask(question, tuple(tries))
        except BadAnswer as bad:
            tries.append(bad.rejected)
            continue
        complaint = question.check(answer)
        if complaint is None:
            return FinalAnswer(answer, tuple(tries), False, call)
        tries.append(Rejected(answer.model_dump_json(), "intent", complaint, call))
        rest = question.salvage(answer) or rest
    if lost := next((bad for bad in tries if bad.flaw == "lost"), None):
        raise LostCall(f"{question.respondent} got no answer to {question.kind}: {lost.complaint}")
    return FinalAnswer(question.fallback() if rest is None else rest, tuple(tries), True, None)
