"""What a fork is: a recorded episode, and what is changed in it. Light to import."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

#: What can be changed: the fields of ``ForkChange`` of which one is given.
KINDS: Final = ("message", "answer", "plan", "hand_over")


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_serializer(mode="wrap")
    def _what_is_said(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what stands at its default."""
        fields: dict[str, Any] = plain(self)
        known = type(self).model_fields
        return {name: fields[name] for name in known if getattr(self, name) != known[name].default}


class MessageChange(_Data):
    """Another message in the place of one that was sent, or none."""

    agent: str
    """Who sends it."""
    number: int = Field(default=1, ge=1)
    """Which of those that the agent sends in the step, from 1."""
    text: str | None = Field(default=None, min_length=1)
    """What it says instead; task and facts beside it are gone unless they are given too."""
    goal: str | None = None
    facts: tuple[str, ...] = ()
    """Facts that it tells, in written form."""
    recipients: tuple[str, ...] | None = None
    """Whom it is for instead; of an empty list nobody, while it is sent and paid for."""
    drop: bool = False
    """It is not sent, and nobody pays for it."""

    @model_validator(mode="after")
    def _says_something(self) -> MessageChange:
        if self.text is None and (self.goal is not None or self.facts):
            raise ValueError("goal and facts stand beside a new text: give text too")
        if self.drop == (self.text is not None or self.recipients is not None):
            raise ValueError("expected either drop: true, or a new text or recipients")
        return self


class AnswerChange(_Data):
    """Another answer in the place of one that a respondent gave."""

    agent: str
    """The respondent."""
    question: str
    """The kind of question, such as ``drwell.propose``."""
    number: int = Field(default=1, ge=1)
    """Which of the respondent's questions of this kind in the step, from 1."""
    answer: dict[str, Any]
    """As it stands in the log."""


class PlanChange(_Data):
    """Another plan in the place of one that an agent took up. Its method does not know of it."""

    agent: str
    plan: str
    """In written form."""


class Heir(NamedTuple):
    """A reasoner that takes over."""

    reasoner: str
    """As ``--reasoner`` takes it."""
    seed: int | None = None
    """See ``HandOver.seed``."""


class HandOver(_Data):
    """From the step on, agents are played by another method, or another reasoner answers their questions."""

    agents: tuple[str, ...] = Field(min_length=1)
    method: str | None = None
    """Label of the method; None for the one that played them."""
    reasoner: str | None = None
    """As ``--reasoner`` takes it; None for the one that answered."""
    seed: int | None = Field(default=None, ge=0, lt=2**31)
    """Gives a reasoner that draws random numbers others than in the record; None for those of its place and count."""

    @model_validator(mode="after")
    def _hands_over(self) -> HandOver:
        if self.method is None and self.reasoner is None:
            raise ValueError("expected a method, a reasoner, or both")
        if self.seed is not None and self.reasoner is None:
            raise ValueError("a seed is for a reasoner: give reasoner too")
        return self


class ForkChange(_Data):
    """One thing that happens otherwise in a fork: one of the four."""

    step: int = Field(ge=0)
    """Steps of the world before it."""
    message: MessageChange | None = None
    answer: AnswerChange | None = None
    plan: PlanChange | None = None
    hand_over: HandOver | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> ForkChange:
        if sum(getattr(self, kind) is not None for kind in KINDS) != 1:
            raise ValueError(f"expected one of {', '.join(KINDS)}")
        return self

    @property
    def kind(self) -> str:
        """Which of ``KINDS`` it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)


class Fork(_Data):
    """Where an episode was forked from, and what is changed in it."""

    run: str
    """Folder of the run."""
    episode: int = Field(ge=1)
    """Number of the episode; the fork has the same."""
    digest: str
    """Of the episode's log, see ``record.log.digest``."""
    registered: str = ""
    """Digest of what the run had set out to play, as the log's first record names it: the fork's log names the same."""
    calls: int = Field(default=0, ge=0)
    """Calls on record before the first change: these are answered from the record alone."""
    changes: tuple[ForkChange, ...] = ()
    """In the order of their steps; none of a null fork."""

    def in_words(self) -> str:
        """Return what the caption of a fork's table says of it."""
        parts = [f"{change.kind.replace('_', ' ')} in step {change.step}" for change in self.changes[:3]]
        parts += ["..."] if len(self.changes) > 3 else []
        what = f"changed: {', '.join(parts)}" if parts else "nothing changed"
        return f"fork of episode {self.episode} of {self.run}, {what}"

    @property
    def hand_overs(self) -> tuple[HandOver, ...]:
        """Those among the changes."""
        return tuple(change.hand_over for change in self.changes if change.hand_over is not None)

    @property
    def methods(self) -> tuple[str, ...]:
        """Labels of the methods that agents are handed to."""
        return tuple(dict.fromkeys(hand.method for hand in self.hand_overs if hand.method is not None))

    @property
    def heirs(self) -> tuple[Heir, ...]:
        """The reasoners that agents are handed to, each with each seed."""
        named = (Heir(hand.reasoner, hand.seed) for hand in self.hand_overs if hand.reasoner is not None)
        return tuple(dict.fromkeys(named))

    @property
    def reasoners(self) -> tuple[str, ...]:
        """Names of the reasoners that agents are handed to."""
        return tuple(dict.fromkeys(heir.reasoner for heir in self.heirs))
