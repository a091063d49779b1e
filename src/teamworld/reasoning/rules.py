"""The built-in rules as a reasoner, and a noise model that errs at a given rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from teamworld.reasoning.contract import Answer, BadAnswer, Question, Rejected, Reply
from teamworld.seeding import Streams

#: Errors that are drawn at most until one changes the answer.
ERRORS = 10


class RuleReasoner:
    """Answers every question by its rule; needs no key and no network.

    Args:
        streams: Makes the generators, named by question kind, respondent and how often that respondent was
            asked, so that answers do not depend on the order in which respondents are asked.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self.counts: Counter[tuple[str, str]] = Counter()
        """How often it was asked, by respondent and kind of question; reasoners that take turns share theirs."""

    @property
    def name(self) -> str:
        """``rules``."""
        return "rules"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer by the question's rule."""
        self.counts[question.respondent, question.kind] += not tries
        return Reply(question.rule(self._generator("rules", question, len(tries))))

    def _generator(self, purpose: str, question: Question[Answer], attempt: int) -> np.random.Generator:
        number = self.counts[question.respondent, question.kind]
        return self._streams(purpose, question.kind, question.respondent, number, attempt)


class NoisyRules(RuleReasoner):
    """A stand-in that errs like a weak model: the rules with noise, at a given rate per answer.

    An error is a malformed answer, or whatever ``Question.perturb`` does to a sound one (wrong task,
    missing or misordered step, wrong argument). It stands for no particular language model, and
    results with it are never a language model's.

    Args:
        streams: As for ``RuleReasoner``.
        rate: Probability that an answer has an error, from 0 to 1.
        option: As the rate is called in the reasoner's name: ``noise``, or ``slips`` in runs of earlier versions,
            whose records say so.
    """

    def __init__(self, streams: Streams, rate: float, option: str = "noise") -> None:
        super().__init__(streams)
        self._rate = rate
        self._option = option

    @property
    def name(self) -> str:
        """``rules:noise=RATE``."""
        return f"rules:{self._option}={self._rate:g}"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer by the rule, then perturb the answer at the given rate.

        Raises:
            BadAnswer: The error is a malformed answer.
        """
        answer, _ = await super().ask(question, tries)
        rng = self._generator("slips", question, len(tries))
        if rng.random() >= self._rate:
            return Reply(answer)
        if rng.random() < 0.25:  # one in four: the other kinds are the question's own
            raise BadAnswer(f"the answer is no {question.answer.__name__}: the text broke off", "json")
        for _ in range(ERRORS):  # an error that changes nothing is none: the rate is that of changed answers
            erred = question.perturb(answer, rng)
            if erred != answer:
                break
        return Reply(erred)
