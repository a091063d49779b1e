"""Logs at the log level ``beliefs``: what is true, perceived, believed and predicted, put at random into other logs."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from teamworld.record import (
    FORMATS,
    ActionStep,
    Believe,
    Commit,
    EpisodeStart,
    Event,
    HeldBelief,
    MessageSent,
    Observe,
    PlanStart,
    Predict,
    StageEntered,
    StepDone,
    Truth,
)
from tests.metrics.strategies import logs, made

#: Some of one subject and predicate, so that one takes another's place; the last is of a kind that is never true.
FACTS = (
    "<block>(1) AT (0, 1)",
    "<block>(1) AT (2, 2)",
    "<block>(1) WEIGHT 2",
    "<block>(2) AT (0, 1)",
    "ann AT (1, 0)",
    "ann HOLD <block>(2)",
    "ben AT (1, 0)",
    "ann MOOD merry",
)


class _Changer:
    """Turns what holds now into what held before and changes."""

    def __init__(self, rng: Random, facts: Sequence[str]) -> None:
        self._rng, self._facts = rng, facts
        self._now: set[str] = set()

    def change(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        flips = [fact for fact in self._facts if self._rng.random() < 0.25]
        on = tuple(fact for fact in flips if fact not in self._now)
        off = tuple(fact for fact in flips if fact in self._now)
        self._now = (self._now - set(off)) | set(on)
        return on, off


def enriched(log: Sequence[Event], rng: Random) -> list[Event]:
    """Return the log with records of beliefs in it, and with things that goals, messages and actions are about."""
    start = log[0]
    assert isinstance(start, EpisodeStart)
    goals = tuple(
        msgspec.structs.replace(goal, thing=f"<block>({at % 3})" if at else None) for at, goal in enumerate(start.goals)
    )
    begin = msgspec.structs.replace(start, goals=goals, log_level="beliefs", schema=FORMATS["beliefs"])
    truth = _Changer(rng, FACTS[:-1])
    eyes = {agent: _Changer(rng, FACTS) for agent in start.team}
    events: list[Any] = [begin, Truth(true=truth.change()[0])]
    for event in log[1:]:
        if isinstance(event, MessageSent):
            event = msgspec.structs.replace(event, facts=tuple(rng.sample(FACTS, rng.randint(0, 3))))
        elif isinstance(event, ActionStep):
            event = msgspec.structs.replace(
                event, args=tuple(rng.sample(("<block>(1)", "ann", "2"), rng.randint(0, 2)))
            )
        elif isinstance(event, PlanStart) and rng.random() < 0.5:
            event = msgspec.structs.replace(event, text="plan { push(<block>(1), 2); move((1, 0)) }")
        if isinstance(event, StageEntered) and event.stage == "R" and rng.random() < 0.7:
            seen, unseen = eyes[event.agent].change()
            events.append(Observe(agent=event.agent, seen=seen, unseen=unseen, step=event.step, tick=event.tick))
            if goals and rng.random() < 0.3:
                events.append(_foreseen(rng, rng.choice(goals).id, event))
        if isinstance(event, StageEntered) and event.stage == "W" and rng.random() < 0.7:
            events.append(_belief(rng, start, event))
        if isinstance(event, Commit) and rng.random() < 0.5:
            events.append(_prediction(rng, start, event))
        events.append(event)
        if isinstance(event, StepDone):
            on, off = truth.change()
            events.append(Truth(true=on, false=off, step=event.step + 1, tick=event.tick + event.ticks))
    return [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events)]


def _belief(rng: Random, start: EpisodeStart, event: StageEntered) -> Believe:
    others = [agent for agent in start.team if agent != event.agent]
    held = tuple(HeldBelief(fact=fact, probability=rng.choice((0.0, 0.3, 0.5, 1.0))) for fact in rng.sample(FACTS, 2))
    about = rng.choice([None, None, *others])
    return Believe(
        agent=event.agent, about=about, held=held, dropped=(rng.choice(FACTS),), step=event.step, tick=event.tick
    )


def _prediction(rng: Random, start: EpisodeStart, event: Commit) -> Predict:
    goals = [goal.id for goal in start.goals]
    where: dict[str, Any] = {"agent": rng.choice(start.team), "step": event.step, "tick": event.tick}
    if rng.random() < 0.5:
        value = tuple(rng.sample(goals, rng.randint(0, len(goals))))
        return Predict(subject="partner_goal", about=event.agent, value=value, **where)
    return Predict(
        subject="conflict", about=rng.choice([*start.team, *goals]), value=rng.choice([None, *goals]), **where
    )


def _foreseen(rng: Random, goal: str, event: StageEntered) -> Predict:
    unmet = rng.choice((None, "participation", "temporal"))
    return Predict(agent=event.agent, subject="constraint", about=goal, value=unmet, step=event.step, tick=event.tick)


#: Short logs.
belief_logs: st.SearchStrategy[list[Event]] = st.builds(enriched, logs, st.integers(0, 10**9).map(Random))


def belief_log(rng: Random, steps: int) -> list[Event]:
    """Return a log of some length."""
    return enriched(made(rng, steps=steps), rng)
