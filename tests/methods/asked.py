"""What minds are shown when a method plays: prompts in order, from minds whose answers a test decides."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.experiment.spec import RunCell
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.methods.common.plan_answers import candidate_texts
from teamworld.methods.contract import Method
from teamworld.methods.drwell.questions import Chat, Draft, Negotiation
from teamworld.reasoning.contract import Answer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.prompts import Prompt, render
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import Event, LogWriter
from teamworld.seeding import Streams
from teamworld.worlds.contract import World

#: Changes an answer before it is given.
Twist = Callable[[Question[Any], BaseModel], BaseModel]
CELL = RunCell("drwell", 0)


class Asked(NamedTuple):
    """A question as it was put."""

    kind: str
    respondent: str
    t: int
    prompt: Prompt


class Plain:
    """Answers that no memory changes: the last open task, the first plan, the draft as it is."""

    name = "plain"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        if isinstance(question, Draft):
            actions = candidate_texts(question.goal, question.view, question.domain)[0]
            return Reply(question.answer.model_validate({"actions": actions}))  # type: ignore[arg-type]
        if isinstance(question, Chat):
            told = {"text": f"{question.respondent} speaks", "goal": question.goals[-1].id}
            return Reply(question.answer.model_validate(told))  # type: ignore[arg-type]
        if isinstance(question, Negotiation):
            said = {"reason": "It is the last."} if "reason" in question.answer.model_fields else {}
            return Reply(question.answer.model_validate({"goal": question.goals[-1].id, **said}))  # type: ignore[arg-type]
        return Reply(question.fallback())


class Listening:
    """Keeps the prompts of what is asked, and may change the answers."""

    def __init__(self, inner: Reasoner, twist: Twist = lambda question, answer: answer) -> None:
        self.inner, self.twist = inner, twist
        self.asked: list[Asked] = []

    @property
    def name(self) -> str:
        return self.inner.name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        self.asked.append(Asked(question.kind, question.respondent, question.view.t, render(question)))
        answer, _ = await self.inner.ask(question, tries)
        return Reply(self.twist(question, answer))  # type: ignore[arg-type]


def rules() -> RuleReasoner:
    return RuleReasoner(CELL.streams(1))


def play(
    world: World,
    mind: Reasoner,
    label: str = "drwell",
    memory: WorldModel | None = None,
    rule: MessageRule | None = None,
    log: Path | None = None,
    **options: Any,
) -> list[Event]:
    """Play an episode and return its log, which is also written to a file if one is given."""
    return play_method(world, mind, label, memory, rule, log, options=options)[0]


def play_method(
    world: World,
    mind: Reasoner,
    label: str = "drwell",
    memory: WorldModel | None = None,
    rule: MessageRule | None = None,
    log: Path | None = None,
    *,
    episode: int = 1,
    streams: Streams | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[list[Event], Method]:
    """Play an episode; return its log and the method."""
    filled = methods.resolve(label, {label: options or {}}).model_dump()
    setting = Setting(0, 0, episode, filled, rule or MessageRule())
    with tempfile.TemporaryDirectory() as scratch, LogWriter(log or Path(scratch) / "log.jsonl.zst") as writer:
        method = methods.make(label, filled)
        asyncio.run(
            Episode(world, method, mind, memory or WorldModel(), writer, streams or CELL.streams(1), setting).play()
        )
        writer.finish()
        return list(writer.events), method


def asked(
    world: World,
    label: str = "drwell",
    inner: Reasoner | None = None,
    twist: Twist = lambda question, answer: answer,
    memory: WorldModel | None = None,
    rule: MessageRule | None = None,
) -> list[Asked]:
    """Return all prompts of an episode."""
    mind = Listening(inner or rules(), twist)
    play(world, mind, label, memory, rule)
    return mind.asked
