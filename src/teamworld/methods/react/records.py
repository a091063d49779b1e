"""What an episode leaves behind for each agent: a record of what it did, and the lesson that it drew before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from teamworld.language import AgentId, plain_names
from teamworld.memory.contract import MemoryDelta, Reflection
from teamworld.methods.react.questions import Reflect, Step
from teamworld.record import ActionStep, EpisodeEnd, EpisodeStart, Event, GoalChange, QuestionAsked

#: Actions that a record tells of, the last ones.
ACTIONS = 30
#: Longest thought in a record in characters.
THOUGHT = 160
_RECORD, _LESSON = "record: ", "lesson: "


def record_episode(log: Sequence[Event]) -> MemoryDelta:
    """Return the records of an episode's agents, and the lessons that they drew at its start."""
    start = next(event for event in log if isinstance(event, EpisodeStart))
    end = next((event for event in log if isinstance(event, EpisodeEnd)), None)
    steps = max((event.step + 1 for event in log if isinstance(event, ActionStep)), default=0)
    done = len({event.goal for event in log if isinstance(event, GoalChange) and event.event == "done"})
    whole = end is not None and end.reason == "all_done"
    head = f"Episode {start.episode}: " + (
        f"all was done after {steps} of {start.horizon} steps."
        if whole
        else f"not all was done after {steps} steps; tasks done: {done}."
    )
    lines, thoughts = defaultdict[AgentId, list[str]](list), dict[AgentId, str]()
    reports: list[Reflection] = []
    for event in log:
        if isinstance(event, QuestionAsked) and event.purpose == Step.kind:
            thoughts[event.agent] = str(event.answer.get("reasoning", ""))[:THOUGHT]
        elif isinstance(event, QuestionAsked) and event.purpose == Reflect.kind:
            reports.append(Reflection(agent=event.agent, tick=event.tick, text=_LESSON + str(event.answer["lesson"])))
        elif isinstance(event, ActionStep) and event.status != "running":
            action, thought = f"{event.verb}({', '.join(event.args)})", thoughts.pop(event.agent, "")
            why = f", {event.reason}" if event.reason else ""
            words = f"{thought} " if thought else ""
            lines[event.agent].append(f"- to step {event.step + 1}: {words}`{action}` {event.status}{why}")
    for agent in start.team:
        text = plain_names("\n".join((head, *lines[agent][-ACTIONS:])))
        reports.append(Reflection(agent=agent, tick=steps, text=_RECORD + text))
    return MemoryDelta(
        episode=start.episode, completed=whole, ticks=steps, tasks=(), instances=(), reflections=tuple(reports)
    )


def last_record(reports: Iterable[Reflection], agent: AgentId) -> str:
    """Return the newest record of an agent; empty where there is none."""
    return next(iter(reversed(_texts(reports, agent, _RECORD))), "")


def list_lessons(reports: Iterable[Reflection], agent: AgentId) -> list[str]:
    """Return the lessons that an agent drew, oldest first."""
    return _texts(reports, agent, _LESSON)


def _texts(reports: Iterable[Reflection], agent: AgentId, kind: str) -> list[str]:
    return [
        report.text.removeprefix(kind) for report in reports if report.agent == agent and report.text.startswith(kind)
    ]
