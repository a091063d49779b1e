"""``rules:noise`` changes whatever decides something, in every method alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from teamworld.methods import registry as methods
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.rules import RuleReasoner
from teamworld.seeding import Streams, generator
from teamworld.testing.episodes import Scenario, play

#: What is answered in words alone, or states what is believed: it names no task, action, plan, teammate, yes or no.
WORDS = frozenset(
    {
        *("coela.message", "coela.tell", "coela.think", "embodied.talk", "perception", "translation", "react.reflect"),
        *("cobel.zero_order", "cobel.first_order", "cobel.intents", "cobel.message", "capo.present"),
    }
)
DRAWS = 8


class PerturbingMonitor:
    """The rules; whether errors change answers is counted for each kind."""

    name = "rules"

    def __init__(self, streams: Streams) -> None:
        self._rules = RuleReasoner(streams)
        self.changed: dict[str, list[bool]] = defaultdict(list)

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer by the rules, and see whether an error would change the answer."""
        reply = await self._rules.ask(question, tries)
        erred = [question.perturb(reply.answer, generator(draw, "test", "noise")) for draw in range(DRAWS)]
        self.changed[question.kind].append(any(other != reply.answer for other in erred))
        return reply


@pytest.fixture(scope="module")
def changed() -> dict[str, list[bool]]:
    """Whether errors change the answers to every kind of question."""
    seen: dict[str, list[bool]] = defaultdict(list)
    monitors: list[PerturbingMonitor] = []

    def make(streams: Streams) -> PerturbingMonitor:
        monitors.append(PerturbingMonitor(streams))
        return monitors[-1]

    labels: list[Any] = [*methods.names(), "embodied:elected", "coela:cwah", "cobel:always"]
    for label in labels:
        if methods.method_class(label.partition(":")[0]).questions:
            play(label, Scenario("rooms", "two", 0, 25), {}, make)
    play("cobel", Scenario("cube", "paper-n2", 0, 30), {}, make)
    for monitor in monitors:
        for kind, found in monitor.changed.items():
            seen[kind] += found
    return seen


@pytest.mark.heavy
def test_every_decision_can_be_wrong(changed: dict[str, list[bool]]) -> None:
    decisions = {kind: found for kind, found in changed.items() if kind not in WORDS}
    assert {"dmas.turn", "hmas1.turn", "cobel.assess", "embodied.vote", "drwell.commit"} <= decisions.keys()
    spared = {kind: f"{sum(found)} of {len(found)}" for kind, found in decisions.items() if not any(found)}
    assert not spared


@pytest.mark.heavy
def test_an_agent_that_only_agrees_can_err_too(changed: dict[str, list[bool]]) -> None:
    turns = changed["hmas1.turn"]
    assert turns
    assert sum(turns) >= 0.8 * len(turns)
