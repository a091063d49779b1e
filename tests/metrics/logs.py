"""Short logs for tests of the failure labels: written by hand, or played in a small world."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
import numpy as np
import pytest
from pydantic import BaseModel

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.language import AgentId, Plan
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.contract import WAIT, Choice, Decision, DecisionContext, Method, StrictModel
from teamworld.metrics.all_metrics import measure
from teamworld.metrics.definition import Value, metrics
from teamworld.metrics.event_table import CallRow
from teamworld.metrics.failures import Tag
from teamworld.metrics.log_reader import tabulate
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import (
    SCHEMA,
    ActionStep,
    AttemptMade,
    Believe,
    Commit,
    Deliver,
    DrawingState,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    GoalInfo,
    HeldBelief,
    LlmCall,
    LogLevel,
    LogWriter,
    MessageSent,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    RelationInfo,
    Release,
    StageEntered,
    StepDone,
)
from teamworld.seeding import generator
from teamworld.worlds.contract import World

Reason = Literal["all_done", "horizon", "quit"]
Status = Literal["success", "failed", "interrupted", "superseded", "expired", "unfinished"]


def goal_info(name: str, k: int = 1, weight: float = 1.0, **given: Any) -> GoalInfo:
    """Return a goal of a quorum, with as many places."""
    fields: dict[str, Any] = {"kind": "job", "thing": None, "label": name, "places": k, "exclusive": True, "units": 1}
    return GoalInfo(id=name, weight=weight, quorum=k, **(fields | given))


def episode_start(goals: Iterable[GoalInfo], team: Sequence[str] = ("a", "b"), **given: Any) -> EpisodeStart:
    """Return the first record of a log."""
    fields: dict[str, Any] = {
        **{"schema": SCHEMA, "world": "toy", "level": "one", "world_options": {}, "world_seed": 0, "seed": 0},
        **{"episode": 1, "kinds": {}, "measures": {}, "relations": (), "static": {}, "horizon": 100, "task": "work"},
        **{"method": "none", "method_options": {}, "reasoner": "rules", "message_rule": {}},
        **{"topology": "complete", "log_level": "play"},
    }
    return EpisodeStart(team=tuple(team), goals=tuple(goals), **(fields | given))


def log(
    *steps: Sequence[Any],
    goals: Mapping[str, int] | None = None,
    team: Sequence[str] = ("a", "b"),
    reason: Reason = "horizon",
    horizon: int = 100,
    searches: tuple[str, ...] = (),
    **of_goals: Any,
) -> list[Event]:
    """Return a finished log: the events of each step, in order; goals by id with their quorum."""
    infos = [goal_info(goal, k, **of_goals) for goal, k in ({"g": 2} if goals is None else goals).items()]
    start = episode_start(infos, team, horizon=horizon, searches=searches)
    events: list[Event] = [start, DrawingState(state={})]
    for step, happening in enumerate(steps):
        done = StepDone(ticks=1, score={})
        events += [msgspec.structs.replace(event, step=step, tick=step) for event in (*happening, done)]
        events.append(DrawingState(state={}, step=step + 1, tick=step + 1))
    events.append(EpisodeEnd(reason=reason, step=len(steps), tick=len(steps)))
    return [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events)]


def belief_log(*steps: Sequence[Any], level: LogLevel = "beliefs", **given: Any) -> list[Event]:
    """Return a finished log of the level ``beliefs`` in which goals are about the first block."""
    start, *events = log(*steps, **({"thing": "<block>(1)"} | given))
    relations = (RelationInfo(predicate="HOLD", subject="agent", values=("block",)),)
    return [msgspec.structs.replace(start, log_level=level, relations=relations), *events]


def act(agent: str, goal: str | None = None, **given: Any) -> ActionStep:
    """Return what an agent did in a step: it stands, unless told otherwise."""
    fields = {"verb": "work", "args": (), "plan": None, "status": "running", "legal": True}
    return ActionStep(**({"agent": agent, "goal": goal, "effect": False, "moved": False} | fields | given))


def attempt(success: bool = False, k: int = 2, **have: int) -> AttemptMade:
    """Return a joint act on ``g`` that needed k of everything but the dependency, and had what is given."""
    need = {"dependency": 1, "participation": k, "spatial": k, "temporal": k}
    return AttemptMade(goal="g", k=k, have=need | have, need=need, participants=("a", "b"), success=success)


def plan(agent: str, number: int, goal: str | None = "g", text: str = "", **given: Any) -> PlanStart:
    """Return an agent's taking up of a plan; it passed its dry run unless told otherwise."""
    fields: dict[str, Any] = {
        **{"agent": agent, "plan": number, "goal": goal, "text": text or f"plan {number}", "thing": None},
        **{"label": None, "units": 1, "origin": "fresh", "cause": "idle", "parsed": True, "quorum": 2},
        **{"first_action_legal": True, "dry_run_ok": True, "predicted_steps": 1},
    }
    return PlanStart(**(fields | given))


def ended(agent: str, number: int, status: Status = "failed", goal: str | None = "g", **given: Any) -> PlanEnd:
    """Return the end of a plan."""
    fields: dict[str, Any] = {"cause": "why", "actions_done": 0, "goal_done": status == "success", "units_left": 1}
    return PlanEnd(agent=agent, plan=number, goal=goal, status=status, **(fields | given))


def commit(agent: str, goal: str = "g") -> Commit:
    """Return a commitment."""
    return Commit(agent=agent, goal=goal)


def release(agent: str, goal: str = "g") -> Release:
    """Return the end of a commitment."""
    return Release(agent=agent, goal=goal, cause="agreed")


def change(
    goal: str = "g", event: Literal["opened", "progress", "done", "lost"] = "done", delta: float = 0.0, who: str = "a"
) -> GoalChange:
    """Return a change of a goal by agents of one letter each."""
    return GoalChange(goal=goal, event=event, delta=delta, participants=tuple(who))


def say(agent: str, number: int, to: Sequence[str] = ("b",), text: str = "", **given: Any) -> list[Event]:
    """Return a message that reaches all whom it is for."""
    fields: dict[str, Any] = {"act": "inform", "goal": None} | given
    message = MessageSent(agent=agent, id=number, recipients=tuple(to), text=text, **fields)
    return [message, *(Deliver(agent=recipient, message=number) for recipient in to)]


def asked(agent: str, purpose: str = "plan", *, calls: int = 1, **given: int | None) -> list[Event]:
    """Return a question to a language model, with its calls."""
    tokens: dict[str, Any] = {"prompt_tokens": 100, "cached_tokens": 40, "output_tokens": 10, "reasoning_tokens": 0}
    tries = [
        LlmCall(agent=agent, purpose=purpose, model="m", usable=at == calls - 1, attempt=at, **(tokens | given))
        for at in range(calls)
    ]
    return [*tries, QuestionAsked(agent=agent, purpose=purpose, reasoner="m", answer={})]


def decides(agent: str) -> list[Event]:
    """Return an agent's decision."""
    return [StageEntered(agent=agent, stage="R"), StageEntered(agent=agent, stage="W")]


def believes(agent: str, *facts: str, probability: float = 1.0, about: str | None = None) -> Believe:
    """Return what an agent believes from now on."""
    held = tuple(HeldBelief(fact=fact, probability=probability) for fact in facts)
    return Believe(agent=agent, about=about, held=held)


def labels(tags: Sequence[Tag]) -> list[str]:
    """Return the labels of tags, in order."""
    return [tag.label for tag in tags]


def of(tags: Sequence[Tag], label: str) -> list[Tag]:
    """Return the tags with a label."""
    return [tag for tag in tags if tag.label == label]


def call_row(**given: Any) -> CallRow:
    """Return a call on record."""
    fields: dict[str, Any] = {
        **{"cell": "drwell-s0", "episode": 1, "respondent": "a", "purpose": "m.plan", "number": 1, "attempt": 0},
        **{"model": "m", "served": None, "finish": "stop", "prompt_tokens": 1, "cached_tokens": 0, "written_tokens": 0},
        **{"output_tokens": 1, "reasoning_tokens": 0, "seconds": 1.0, "usd": 0.5, "faults": 0, "cached": False},
    }
    return CallRow(**(fields | given))


def check_tags(tags: Sequence[Tag], expected: Sequence[str]) -> None:
    """Check the tags of a log: label, steps, agents and goal of each, and as much of its text as is expected."""
    found = [
        f"{tag.label} {tag.first}-{tag.last} {''.join(tag.agents)}{f' {tag.goal}' if tag.goal else ''}: {tag.text}"
        for tag in tags
    ]
    assert len(found) == len(expected), found
    for text, beginning in zip(found, expected, strict=True):
        assert text.startswith(beginning)


class Given(Method):
    """Gives each agent its plans one after another, then lets it wait."""

    name: ClassVar[str] = "given"
    summary: ClassVar[str] = "for tests"
    options: ClassVar[type[BaseModel]] = StrictModel

    def __init__(self, plans: Mapping[AgentId, Sequence[Plan]]) -> None:
        self._left = {agent: list(some) for agent, some in plans.items()}

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        return {agent: Choice(left.pop(0)) if (left := self._left.get(agent)) else WAIT for agent in moment.free}


def play(path: Path, world: World, method: Method, log_level: LogLevel = "play") -> list[Event]:
    """Play an episode into a log file and return its events."""

    def streams(*names: str | int) -> np.random.Generator:
        return generator(0, *names)

    with LogWriter(path) as writer:
        setting = Setting(0, 0, 1, {}, MessageRule(), log_level=log_level)
        asyncio.run(Episode(world, method, RuleReasoner(streams), WorldModel(), writer, streams, setting).play())
        writer.finish()
        return writer.events


def measured(events: Sequence[Event], calls: Sequence[CallRow] | None = None) -> dict[str, Value]:
    """Return the metrics of a log."""
    return measure(tabulate(events, calls))


#: What it is about, the log, and by metric its value with numerator and denominator, or its value alone.
Case: TypeAlias = tuple[str, list[Event], dict[str, Any]]


def of_cases(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """Return the parameters of a test of ``events`` and what is ``expected`` of them."""
    parameters = [case[1:] for case in cases]
    return pytest.mark.parametrize(("events", "expected"), parameters, ids=[case[0] for case in cases])


def check(events: list[Event], expected: dict[str, Any]) -> None:
    """Check the metrics of a log."""
    assert expected
    values = measured(events)
    found = {name: values[name] if isinstance(known, tuple) else values[name].value for name, known in expected.items()}
    assert found == expected


def check_ranges(values: Mapping[str, Value]) -> None:
    """Check that all metrics are finite and within their bounds."""
    assert values
    for name, parts in values.items():
        value, low, high = parts.value, metrics()[name].low, metrics()[name].high
        assert all(part is None or (type(part) is float and math.isfinite(part)) for part in parts), name
        assert value is None or ((low is None or value >= low) and (high is None or value <= high)), name
