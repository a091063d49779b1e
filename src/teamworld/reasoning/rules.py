"""The built-in mind: each question's own rule, and a stand-in that errs like a weak model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from teamworld.reasoning.contract import Answer, BadAnswer, Question, Rejected, Reply
from teamworld.seeding import Streams


class Rules:
    """Answers every question by its rule; needs no key and no network.

    Args:
        streams: Makes the generators, named by question kind, mind and how often that mind was
            asked, so that answers do not depend on the order in which minds are asked.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._asked: Counter[tuple[str, str]] = Counter()

    @property
    def name(self) -> str:
        """``rules``."""
        return "rules"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer by the question's rule."""
        return Reply(question.rule(self._stream("rules", question, len(tries))))

    def _stream(self, purpose: str, question: Question[Answer], attempt: int) -> np.random.Generator:
        key = (question.kind, question.mind)
        if attempt == 0 and purpose == "rules":
            self._asked[key] += 1
        return self._streams(purpose, *key, self._asked[key], attempt)


class Slips(Rules):
    """A stand-in that errs like a weak model: the rules with slips, at a given rate an answer.

    A slip is a malformed answer, or whatever ``Question.slips`` does to a sound one (wrong task,
    missing or misordered step, wrong argument). It stands for no particular language model, and
    results with it are never a language model's.

    Args:
        streams: As for ``Rules``.
        rate: Probability that an answer has a slip, from 0 to 1.
    """

    def __init__(self, streams: Streams, rate: float) -> None:
        super().__init__(streams)
        self._rate = rate

    @property
    def name(self) -> str:
        """``rules:slips=RATE``."""
        return f"rules:slips={self._rate:g}"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer by the rule, then perhaps slip.

        Raises:
            BadAnswer: The slip was a malformed answer.
        """
        answer, _ = await super().ask(question, tries)
        rng = self._stream("slips", question, len(tries))
        if rng.random() >= self._rate:
            return Reply(answer)
        if rng.random() < 0.25:  # one in four: the other kinds are the question's own
            raise BadAnswer(f"the answer is no {question.answer.__name__}: the text broke off", "json")
        return Reply(question.slips(answer, rng))
