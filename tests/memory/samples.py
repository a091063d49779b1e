"""Instances, deltas and logs for the tests of the world model."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from teamworld.memory.contract import MemoryDelta, PlanInstance, Reflection, TaskOutcome
from teamworld.record import EpisodeEnd, Event, GoalInfo, PlanEnd, PlanStart
from tests.record.samples import episode_start

MEASURES: dict[str, tuple[str | None, ...]] = {"push": (None, "units"), "meet": (None, "quorum"), "wait": (None,)}


def instance(**changes: Any) -> PlanInstance:
    fields: dict[str, Any] = {
        "episode": 1,
        "agent": "a",
        "task": "block_1",
        "goal": "block_1",
        "plan": "plan for block_1 { push(<block>(1), 4) }",
        "lifted": "plan { push(?goal, ?units) }",
        "prototype": "push",
        "origin": "fresh",
        "start": 0,
        "end": 10,
        "success": True,
        "truncated": False,
        "units": 4,
        "progress": 4,
        "team": 1,
        "communication": "negotiated",
    }
    return PlanInstance(**{**fields, **changes})


def delta(episode: int, *instances: PlanInstance, **changes: Any) -> MemoryDelta:
    fields: dict[str, Any] = {"completed": False, "ticks": 100, "tasks": (), "instances": instances}
    return MemoryDelta(episode=episode, **{**fields, **changes})


def goal(number: int, label: str = "deliver(weight=1)") -> GoalInfo:
    return GoalInfo(
        id=f"block_{number}",
        kind="deliver",
        thing=f"<block>({number})",
        label=label,
        weight=1.0,
        quorum=2,
        places=2,
        exclusive=True,
        units=5,
    )


def began(plan: int, agent: str = "a", tick: int = 0, **changes: Any) -> PlanStart:
    fields: dict[str, Any] = {
        "goal": "block_1",
        "thing": "<block>(1)",
        "label": "deliver(weight=1)",
        "units": 5,
        "quorum": 2,
        "text": "plan for block_1 { meet(<block>(1), 2); push(<block>(1), 5) }",
        "origin": "fresh",
        "cause": "idle",
        "parsed": True,
        "first_action_legal": True,
        "dry_run_ok": True,
        "predicted_steps": 9,
    }
    return PlanStart(agent=agent, plan=plan, tick=tick, **{**fields, **changes})


def ended(plan: int, agent: str = "a", tick: int = 10, **changes: Any) -> PlanEnd:
    fields: dict[str, Any] = {
        "goal": "block_1",
        "status": "success",
        "cause": "",
        "actions_done": 2,
        "goal_done": True,
        "units_left": 0,
    }
    return PlanEnd(agent=agent, plan=plan, tick=tick, **{**fields, **changes})


def log(*events: Event, goals: tuple[GoalInfo, ...] = (goal(0), goal(1)), reason: Any = "horizon") -> list[Event]:  # noqa: ANN401
    return [episode_start(goals=goals, measures=MEASURES), *events, EpisodeEnd(reason=reason)]


TASKS = ("block_0", "block_1", "deliver(weight=2, far=yes)", "a/b%")
AGENTS = ("a", "b")
NOTES = ("Meet first.", "meet FIRST", "Stay out of lanes", "x")
PROTOTYPES = ("push", "meet > push", "wait")


@st.composite
def instances(draw: st.DrawFn, episode: int) -> PlanInstance:
    begin = draw(st.integers(0, 40))
    units = draw(st.integers(0, 7))
    prototype = draw(st.sampled_from(PROTOTYPES))
    task = draw(st.sampled_from(TASKS))
    return instance(
        episode=episode,
        agent=draw(st.sampled_from(AGENTS)),
        task=task,
        goal=draw(st.sampled_from((task, "block_0"))),
        plan=f"plan {{ {prototype}({draw(st.integers(0, 3))}) }}",
        lifted=f"plan {{ {prototype}({draw(st.sampled_from(('?units', '2')))}) }}",
        prototype=prototype,
        origin=draw(st.sampled_from(("fresh", "revised", "reused"))),
        start=begin,
        end=begin + draw(st.integers(0, 30)),
        success=draw(st.booleans()),
        truncated=draw(st.booleans()),
        units=units,
        progress=draw(st.integers(0, units)),
        team=draw(st.integers(1, 3)),
        communication=draw(st.sampled_from(("negotiated", "none"))),
        cause=draw(st.sampled_from(("", "goal_open", "stuck"))),
        cut=draw(st.integers(0, 4)) == 0,
        situation=draw(st.sampled_from(("", "deliver(weight=1)"))),
        quorum=draw(st.integers(1, 2)),
        credit=draw(st.sampled_from((0, 0, 250_000, 1_000_000))),
        helped=draw(st.sampled_from(((), ("block_0",), ("a/b%", "block_0")))),
        done_by=draw(st.sampled_from((None, None, begin + 35))),
    )


@st.composite
def deltas(draw: st.DrawFn, episode: int) -> MemoryDelta:
    goals = draw(st.lists(st.sampled_from(TASKS), unique=True, max_size=3))
    done = draw(st.integers(0, len(goals)))
    return delta(
        episode,
        *draw(st.lists(instances(episode), max_size=6)),
        completed=done == len(goals),
        ticks=draw(st.integers(0, 200)),
        tasks=tuple(
            TaskOutcome(
                task=task,
                goal=task,
                success=rank < done,
                end=10 * rank if rank < done else None,
                order=rank + 1 if rank < done else None,
            )
            for rank, task in enumerate(goals)
        ),
        reflections=tuple(
            Reflection(agent=draw(st.sampled_from(AGENTS)), tick=tick, text=text)
            for tick, text in enumerate(draw(st.lists(st.sampled_from(NOTES), unique=True, max_size=3)))
        ),
    )


def runs(most: int = 3) -> st.SearchStrategy[list[MemoryDelta]]:
    """Deltas of episodes 0, 1, 2, ..."""
    return st.integers(0, most).flatmap(lambda count: st.tuples(*map(deltas, range(count)))).map(list)
