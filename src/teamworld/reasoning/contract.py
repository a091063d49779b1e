"""What a method asks of a mind, and what answers it.

A ``Question`` is typed: it carries the views it was made from, names a prompt template, the
answer's model, and the rule that answers it without a language model, from the same context
that the prompt shows. A ``Reasoner`` answers questions: a language model, the rules, a
recording, a person.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel

from teamworld.language import AgentId
from teamworld.worlds.contract import View

#: Who answers: an agent, or a mind without a body such as a central planner.
MindId: TypeAlias = str
Answer = TypeVar("Answer", bound=BaseModel)


class Sampling(NamedTuple):
    """How a language model is sampled for a kind of question; the published values are the defaults."""

    temperature: float
    max_tokens: int


class Question(ABC, Generic[Answer]):
    """One thing asked of one mind.

    Subclasses are frozen dataclasses whose fields are the whole context of the prompt.
    """

    kind: ClassVar[str]
    """``method.name``, for example ``drwell.propose``."""
    template: ClassVar[str]
    """Resource of the prompt template, ``package:path`` under ``teamworld.methods``."""
    answer: ClassVar[type[BaseModel]]
    sampling: ClassVar[Sampling]

    mind: MindId
    views: Mapping[AgentId, View]
    """All that the context was made from."""

    @property
    def view(self) -> View:
        """The view of the mind that is asked, where it is an agent."""
        return self.views[self.mind]

    @abstractmethod
    def context(self) -> dict[str, Any]:
        """Return what the template may show: nothing beyond the views, the talk and the memory."""

    @abstractmethod
    def rule(self, rng: np.random.Generator) -> Answer:
        """Answer without a language model, from the same context that the prompt shows."""

    @abstractmethod
    def check(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer, against the views, or None; the text goes into the re-ask."""

    @abstractmethod
    def fallback(self) -> Answer:
        """The documented answer when nothing usable came."""

    def slips(self, answer: Answer, rng: np.random.Generator) -> Answer:
        """Return the answer with one slip of a weak mind in it: a wrong task, a step lost or misordered.

        Only the stand-in ``rules:slips`` calls it. Answers that hold neither a task nor a plan stay.
        """
        return answer


class BadAnswer(Exception):
    """An answer that does not parse or fit its model; the text goes into the re-ask."""


class Reasoner(Protocol):
    """Whatever answers questions."""

    @property
    def name(self) -> str:
        """As shown in tables and logs; a stand-in says that it is one."""

    async def ask(self, question: Question[Answer], attempt: int, complaint: str | None) -> Answer:
        """Answer a question.

        Args:
            question: What is asked.
            attempt: 0 for the first time, counting re-asks.
            complaint: What was wrong with the previous answer, on a re-ask.

        Raises:
            BadAnswer: The answer does not parse or does not fit the answer's model.
        """
