"""What a method asks of a reasoner, and what answers it.

A ``Question`` is typed: it carries all that is known when it is asked, names a prompt template, the answer's model, and
the rule that answers it without a language model. The template shows the question, and the rule reads the same
question: whatever an answer of the rule depends on stands in the prompt (``testing.parity`` hunts for exceptions). A
``Reasoner`` answers questions: a language model, the rules, a recording, a person.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel

from teamworld.errors import UserError
from teamworld.language import AgentId
from teamworld.worlds.contract import View

#: Who is asked: an agent, or a respondent without a body such as a central planner.
RespondentId: TypeAlias = str
Answer = TypeVar("Answer", bound=BaseModel)

#: What can be wrong with an answer; each is counted separately.
#: ``none``: the provider gave no answer to this request; ``lost``: no try got through to it; ``empty``;
#: ``refused``; ``cut``: it hit the token limit; ``json``: no JSON in it;
#: ``schema``: JSON of another form; ``intent``: sound in form, but not possible for this agent at this time.
Flaw: TypeAlias = Literal["none", "lost", "empty", "refused", "cut", "json", "schema", "intent"]


class Sampling(NamedTuple):
    """How a language model is sampled for a kind of question; the published values are the defaults."""

    temperature: float | None
    """None: the provider's default."""
    max_tokens: int
    """Longest answer, reasoning included where the provider counts it so."""
    top_p: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Question(ABC, Generic[Answer]):
    """One thing asked of one respondent; subclasses are frozen dataclasses whose fields are the whole context."""

    kind: ClassVar[str]
    """``method.name``, for example ``drwell.propose``."""
    template: ClassVar[str]
    """The prompt template: a path under ``teamworld.methods``, or ``package:path`` in another package."""
    answer: ClassVar[type[BaseModel]]
    sampling: ClassVar[Sampling]
    departures: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The shared blocks that its prompt leaves out, each with the reason that its protocol gives (paper, section)."""
    retries: ClassVar[int | None] = None
    """How often a bad answer is asked again at most, where its protocol says so; None: as often as the run allows."""

    respondent: RespondentId
    views: Mapping[AgentId, View]
    """All views that the context was made from."""

    @property
    def view(self) -> View:
        """The view of the respondent, where it is an agent."""
        return self.views[self.respondent]

    def context(self) -> dict[str, Any]:
        """Return the names under which the template reads the question: ``q``, and short names for parts of it."""
        return {"q": self}

    @abstractmethod
    def rule(self, rng: np.random.Generator) -> Answer:
        """Answer without a language model, by what the prompt shows of the question."""

    @abstractmethod
    def check(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer, against the views, or None; the text goes into the retry."""

    @abstractmethod
    def fallback(self) -> Answer:
        """Return the documented answer for when nothing usable came."""

    def salvage(self, answer: Answer) -> Answer | None:
        """Return what is usable of an answer that failed its check, for when no try was better; None for nothing."""
        return None

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Return values of a field for a person to choose from, given the fields before it; empty for any value.

        Of a field that holds several values, such as a plan, they are those that make sense, and others are possible.
        """
        return ()

    def perturb(self, answer: Answer, rng: np.random.Generator) -> Answer:
        """Return the answer with one error of a weak model in it: a wrong task, a step lost or misordered.

        Only the stand-in ``rules:noise`` calls it. Answers in words alone, which decide nothing, stay.
        """
        return answer


class Call(NamedTuple):
    """What one call of a language model took, as its provider counted; None where it did not."""

    model: str
    prompt_tokens: int | None
    cached_tokens: int | None
    """Of the prompt's."""
    output_tokens: int | None
    """Reasoning included."""
    reasoning_tokens: int | None


class Reply(NamedTuple, Generic[Answer]):
    """An answer, and the call of a language model that it took, if any."""

    answer: Answer
    call: Call | None = None


class Rejected(NamedTuple):
    """An answer that could not be used, as the next try shows it to the reasoner."""

    text: str
    """As it came; empty where nothing did."""
    flaw: Flaw
    complaint: str
    """What was wrong, in words that help to do better."""
    call: Call | None = None


class BadAnswer(Exception):
    """An answer that does not parse or fit its model; the arguments are those of ``Rejected``."""

    def __init__(self, complaint: str, flaw: Flaw = "schema", text: str = "", call: Call | None = None) -> None:
        super().__init__(complaint)
        self.rejected = Rejected(text, flaw, complaint, call)


class LostCall(UserError):
    """A question has no answer because no try of a call got through: that is no failure of the team that asked."""


class Reasoner(Protocol):
    """Whatever answers questions."""

    @property
    def name(self) -> str:
        """As shown in tables and logs; a stand-in says that it is one."""

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer a question, given the unusable answers so far, oldest first; raises ``BadAnswer``."""
