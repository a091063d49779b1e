"""What a log says about one episode: completion, simulated seconds, commitments (DR. WELL spec B20, C4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from teamworld.record import Commit, EpisodeStart, Event, GoalChange, MessageSent, QuestionAsked, Release, StepDone
from teamworld.report.reproduce.published import Strip


class Told(NamedTuple):
    """One episode as the figures need it."""

    done: dict[str, int | None]
    """By goal, the steps after which it was done; None if it was not."""
    waited: dict[str, int | None]
    """By goal, the calls in the longest dependent chain up to then; None if it was not done."""
    strips: tuple[tuple[Strip, ...], ...]
    """By agent, its commitments; the number of a block is the goal's place in the log's first record."""
    calls: int
    """All calls of the episode."""
    chain: int
    """Calls in the longest dependent chain of the whole episode."""


def calls_of(question: QuestionAsked) -> int:
    """Return the calls that a question took: one, and one for each answer that was asked again.

    A question that ended in its fallback took as many calls as it had errors.
    """
    return len(question.errors) + (not question.fallback)


def longest_chain(turn: Sequence[Event]) -> int:
    """Return the number of calls in the longest dependent chain of the questions of one decision (DR. WELL spec B20).

    The rule: a question whose answer is spoken in a room, that is, whose asker's message in a room is the next
    thing of its own on record, is a protocol's turn: it waits for everything before it, and everything after it
    waits for it. All other questions are thought alone: those of one agent follow one another, those of
    different agents run at the same time.

    Args:
        turn: The records of one decision, in order; other kinds are passed over.
    """
    total = 0
    alone: dict[str, int] = {}
    for index, event in enumerate(turn):
        if not isinstance(event, QuestionAsked):
            continue
        if _spoken(event.agent, turn[index + 1 :]):
            total += max(alone.values(), default=0) + calls_of(event)
            alone.clear()
        else:
            alone[event.agent] = alone.get(event.agent, 0) + calls_of(event)
    return total + max(alone.values(), default=0)


def simulated_seconds(chain: int, steps: int, latency: float, step_time: float) -> float:
    """Return simulated seconds: calls of the dependent chain and steps, each at its assumed time (DR. WELL spec B20).

    Args:
        chain: Calls, one after another.
        steps: Steps of the environment.
        latency: Seconds a call.
        step_time: Seconds a step.
    """
    return chain * latency + steps * step_time


def tell(log: Iterable[Event]) -> Told:
    """Read one finished log.

    Raises:
        ValueError: The log has no start.
    """
    start: EpisodeStart | None = None
    done: dict[str, int | None] = {}
    waited: dict[str, int | None] = {}
    bound: dict[str, list[tuple[str, int, int]]] = {}
    since: dict[str, tuple[str, int]] = {}
    turn: list[Event] = []
    fresh: list[str] = []
    calls = chain = 0
    for event in log:
        match event:
            case EpisodeStart():
                start = event
                done, waited = dict.fromkeys(goals := [goal.id for goal in event.goals]), dict.fromkeys(goals)
                bound = {agent: [] for agent in event.team}
            case QuestionAsked():
                calls += calls_of(event)
                turn.append(event)
            case MessageSent():
                turn.append(event)
            case Commit():
                since[event.agent] = (event.goal, event.step)
            case Release() if event.agent in since:
                goal, begin = since.pop(event.agent)
                bound[event.agent].append((goal, begin, event.step))
            case GoalChange(event="done"):
                fresh.append(event.goal)
            case StepDone():
                chain += longest_chain(turn)
                turn.clear()
                for goal in fresh:
                    done[goal], waited[goal] = event.step + 1, chain
                fresh.clear()
            case _:
                pass
    if start is None:
        raise ValueError("the log has no start")
    number = {goal.id: place for place, goal in enumerate(start.goals)}
    strips = tuple(
        tuple(Strip(number[goal], begin, end) for goal, begin, end in some if end > begin) for some in bound.values()
    )
    return Told(done, waited, strips, calls, chain + longest_chain(turn))


def _spoken(agent: str, rest: Sequence[Event]) -> bool:
    own = next(
        (event for event in rest if isinstance(event, (QuestionAsked, MessageSent)) and event.agent == agent), None
    )
    return isinstance(own, MessageSent) and own.room is not None
