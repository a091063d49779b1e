"""The engine of questions: the operations on beliefs are put to a mind, a language model or the built-in rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from teamworld.language import AgentId, Fact
from teamworld.methods.cobel.answers import Plans
from teamworld.methods.cobel.engine import (
    Assessment,
    Distribution,
    Grounded,
    Intent,
    Letter,
    Situation,
    Subplan,
    UpdateResult,
)
from teamworld.methods.cobel.questions import (
    Assess,
    Ground,
    MakePlan,
    PredictIntents,
    ReadDialogue,
    ReadMessage,
    RemakePlan,
    WriteMessage,
)
from teamworld.methods.contract import DecisionContext, Message

#: How likely it is that a thing is where a mind says it probably is; the rest is spread over its other values.
SAID: Final = 0.6


class Asking:
    """Asks in one moment. Nothing outlives it.

    Args:
        moment: Where minds can be asked.
    """

    def __init__(self, moment: DecisionContext) -> None:
        self._moment = moment
        self._plans: dict[AgentId, tuple[MakePlan, Plans]] = {}

    async def hear(self, now: Situation, message: Message) -> UpdateResult:
        """Ask what a message says of the world."""
        question = ReadMessage(now.me, {now.me: now.view}, now, message.sender, message)
        return question.read(await self._moment.ask(question))

    async def model_teammate(self, now: Situation, mate: AgentId) -> UpdateResult:
        """Ask what a team-mate knows after the dialogue."""
        question = ReadDialogue(now.me, {now.me: now.view}, now, mate)
        return question.read(await self._moment.ask(question))

    async def _planned(self, now: Situation) -> tuple[MakePlan, Plans]:
        """Ask for a plan; the prediction of the world is part of the same answer (spec A7)."""
        if now.me not in self._plans:
            question = MakePlan(now.me, {now.me: now.view}, now)
            self._plans[now.me] = question, await self._moment.ask(question)
        return self._plans[now.me]

    async def predict_world(self, now: Situation) -> Mapping[str, Distribution]:
        """Return what the mind takes to be likely, with a weight for having said so (A3.5)."""
        question, answer = await self._planned(now)
        said = set(question.guesses(answer))
        found: dict[str, Distribution] = {}
        for unknown in now.unknowns:
            values = [value.fact for value in unknown.values]
            found[unknown.name] = _leaning(values, [fact for fact in values if fact in said])
        return found

    async def plan(self, now: Situation) -> Subplan:
        """Ask what to do next."""
        question, answer = await self._planned(now)
        del self._plans[now.me]  # the next subplan takes a new question
        return question.read(answer)

    async def predict_intents(self, now: Situation, mate: AgentId, most: int) -> Sequence[Intent]:
        """Ask what one would do in a team-mate's place."""
        question = PredictIntents(now.me, {now.me: now.view}, now, mate)
        return question.read(await self._moment.ask(question))[:most]

    async def assess(self, now: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
        """Ask whether there is heavy miscoordination."""
        question = Assess(now.me, {now.me: now.view}, now, {mate: tuple(some) for mate, some in intents.items()})
        return question.read(await self._moment.ask(question))

    async def compose(self, now: Situation, found: Assessment) -> Letter:
        """Ask for the words of a message."""
        question = WriteMessage(now.me, {now.me: now.view}, now, found)
        answer = await self._moment.ask(question)
        plan = now.subplan if found.plan else None
        return Letter(answer.message.strip()[: now.options.length], question.facts, plan, None)

    async def replan(self, now: Situation) -> Subplan:
        """Ask what to do beside what was announced."""
        question = RemakePlan(now.me, {now.me: now.view}, now)
        return question.read(await self._moment.ask(question))

    async def ground(self, now: Situation) -> Grounded:
        """Ask for the subplan's next action."""
        question = Ground(now.me, {now.me: now.view}, now)
        return question.read(await self._moment.ask(question))


def _leaning(values: Sequence[Fact], said: Sequence[Fact]) -> Distribution:
    """Return probabilities of values some of which were said to be likely."""
    others = len(values) - len(said)
    if not said or not others:
        return tuple((fact, 1 / len(values)) for fact in values)
    return tuple((fact, SAID / len(said) if fact in said else (1 - SAID) / others) for fact in values)
