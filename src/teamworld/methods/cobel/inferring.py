"""The exact engine: the operations on beliefs worked out from the world's rules, nobody being asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from teamworld.language import AgentId
from teamworld.methods.cobel import exact, telling
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
from teamworld.methods.contract import Message


class Exact:
    """The engine that asks nobody."""

    async def hear(self, now: Situation, message: Message) -> UpdateResult:
        """Return the formal part of a message."""
        return exact.heard(now, message)

    async def model_teammate(self, now: Situation, mate: AgentId) -> UpdateResult:
        """Return what was said between the two."""
        return exact.modelled(now, mate)

    async def predict_world(self, now: Situation) -> Mapping[str, Distribution]:
        """Return the normalised weights of what is unknown."""
        return exact.predicted(now)

    async def plan(self, now: Situation) -> Subplan:
        """Return the best subplan, what team-mates may be up to counted in."""
        most = 8
        found = [one for mate in now.mates for one in exact.intents(now, mate, most)] if now.options.foresee else []
        return exact.best(now, [(one.agent, one.option, one.weight) for one in found])

    async def predict_intents(self, now: Situation, mate: AgentId, most: int) -> Sequence[Intent]:
        """Return the likeliest of the posterior."""
        return exact.intents(now, mate, most)

    async def assess(self, now: Situation, intents: Mapping[AgentId, Sequence[Intent]]) -> Assessment:
        """Return what a message would save, and of what."""
        return telling.assessed(now, intents)

    async def compose(self, now: Situation, found: Assessment) -> Letter:
        """Return the message by a form."""
        return telling.letter(now, found)

    async def replan(self, now: Situation) -> Subplan:
        """Return the best subplan beside what was announced."""
        found = [one for mate in now.mates if mate not in now.announced for one in exact.intents(now, mate, 8)]
        return exact.passive(now, [(one.agent, one.option, one.weight) for one in found] if now.options.foresee else [])

    async def ground(self, now: Situation) -> Grounded:
        """Return the next action of the subplan that can start."""
        return exact.grounded(now)
