"""Counting the tokens that questions take as they are answered, by language models and by rules alike."""

from __future__ import annotations

from collections.abc import Sequence

from teamworld.metrics.messages import tokenize
from teamworld.reasoning.allowance import TokenAllowance
from teamworld.reasoning.contract import Answer, BadAnswer, Call, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.router import ReasonerRouter, find_reasoner


class MeteredReasoner(ReasonerRouter):
    """Passes all questions on, and counts the tokens that they take.

    A call counts as its provider counted it. A question that rules answer counts as it would have been sent: the words
    and other characters of its prompt, of the answers that could not be used and of the answer, as metrics count
    messages.

    Args:
        inner: Who answers.
        allowance: Takes the counts.
        reasoning: Whether answers of language models begin with their reasoning, which prompts say.
    """

    def __init__(self, inner: Reasoner, allowance: TokenAllowance, *, reasoning: bool = True) -> None:
        super().__init__(inner.name, ())
        self._inner, self._allowance, self._reasoning = inner, allowance, reasoning

    def of(self, question: Question[Answer]) -> Reasoner:
        """Return which reasoner answers a question."""
        return find_reasoner(self._inner, question)

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Pass the question on, and count it."""
        try:
            reply = await self._inner.ask(question, tries)
        except BadAnswer as bad:
            self._count(question, tries, bad.rejected.text, bad.rejected.call)
            raise
        self._count(question, tries, reply.answer.model_dump_json(), reply.call)
        return reply

    def _count(self, question: Question[Answer], tries: Sequence[Rejected], said: str, call: Call | None) -> None:
        if call is not None and call.prompt_tokens is not None and call.output_tokens is not None:
            self._allowance.take(call.prompt_tokens + call.output_tokens)
            return
        sent = [render(question, self._reasoning).text, *(part for bad in tries for part in (bad.text, bad.complaint))]
        self._allowance.take(sum(len(tokenize(text)) for text in (*sent, said)))
