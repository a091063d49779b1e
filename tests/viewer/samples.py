"""Logs for the tests of the replay: played ones, and one written by hand that holds what these lack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import msgspec

from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Completion, Fault, Request, Turn, Usage
from teamworld.record import (
    ActionStep,
    AgentLeft,
    AnswerError,
    AttemptMade,
    Commit,
    Deliver,
    DrawingState,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    GoalInfo,
    MessageSent,
    Observe,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    QuestionSkipped,
    Release,
    StepDone,
    read_log,
)
from teamworld.viewer.questions import PricedCall
from teamworld.worlds.base import picture
from tests.metrics.logs import Status, ended, episode_start, goal_info
from tests.metrics.logs import act as some_act
from tests.metrics.logs import plan as some_plan

#: Role and text of a turn.
Said: TypeAlias = tuple[Literal["system", "user", "assistant"], str]
HOSTILE = (
    "</script><script>document.title='broken'</script><!-- <img src=x onerror=\"document.title='broken'\"> \u2028 &amp;"
)


@cache
def played(
    method: str = "drwell", level: str = "paper-n2", steps: int = 150, world: str = "cube", log_level: str = "play"
) -> tuple[Event, ...]:
    """Return the log of an episode."""
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "run"
        made = {"world": world, "level": level, "methods": [method], "max_steps": steps, "log_level": log_level}
        run(build(made), out)
        return tuple(read_log(out / "logs" / f"{method}-s0" / "0001.jsonl.zst"))


def hostile() -> list[Event]:
    """Return a played log in which every text that somebody could have made up is an attack on the page."""
    changed: list[Event] = []
    for event in played():
        match event:
            case MessageSent():
                changed.append(msgspec.structs.replace(event, text=HOSTILE, act=HOSTILE))
            case ActionStep():
                changed.append(msgspec.structs.replace(event, reason=HOSTILE, blocker=HOSTILE))
            case PlanEnd():
                changed.append(msgspec.structs.replace(event, cause=HOSTILE))
            case EpisodeStart():
                head = {"task": HOSTILE, "method": HOSTILE, "reasoner": HOSTILE, "level": "long" * 100}
                changed.append(msgspec.structs.replace(event, **head))
            case _:
                changed.append(event)
    return changed


def drawn(words: str, kind: str = "box", label: str = "0") -> list[Event]:
    """Return the log by hand of a world on cells, whose drawing says these words."""
    kinds: dict[str, picture.Kind] = {kind: ("square", "#c98a3c", words), "wall": ("tile", "#8b8f97", "wall")}
    changed: list[Event] = []
    for event in by_hand():
        match event:
            case EpisodeStart():
                static = picture.static((3, 4), kinds, [((0, column), "wall") for column in range(4)])
                changed.append(msgspec.structs.replace(event, static=static))
            case DrawingState(step=step):
                team = [((2, step), "a", "east", ""), ((2, step), "b", "", kind), ((1, 3), "c", "", "")]
                state = picture.snapshot(team, [((1, 1), kind, label)])
                changed.append(msgspec.structs.replace(event, state=state))
            case _:
                changed.append(event)
    return changed


def undrawable() -> list[Event]:
    """Return the same with a thing of a kind that the world did not declare, in a state whose names are attacks."""
    log = drawn("a box")
    state = {"agents": [[1, 1, "a", "", ""]] * 3, "things": [[1, 1, HOSTILE, "0"]], HOSTILE: {HOSTILE: HOSTILE}}
    return [msgspec.structs.replace(event, state=state) if isinstance(event, DrawingState) else event for event in log]


def start(team: tuple[str, ...] = ("a", "b", "c"), goals: tuple[GoalInfo, ...] = ()) -> EpisodeStart:
    kinds = dict.fromkeys(team, "worker")
    return episode_start(goals, team, kinds=kinds, horizon=9, method="by hand", reasoner="rules:noise=0.5")


def act(agent: str, verb: str, status: str = "running", goal: str | None = None, **given: object) -> ActionStep:
    return some_act(agent, goal, verb=verb, status=status, **given)


def attempt(who: tuple[str, ...], have: int, *, clear: bool = True) -> AttemptMade:
    return AttemptMade(
        goal="g",
        k=2,
        have={"dependency": int(clear), "temporal": have},
        need={"dependency": 1, "temporal": 2},
        participants=who,
        success=clear and have >= 2,
    )


def plan(agent: str, number: int, text: str, target: str | None = "g") -> PlanStart:
    return some_plan(agent, number, target, text, cause="start")


def plan_end(agent: str, number: int, status: Status = "failed", cause: str = "stuck") -> PlanEnd:
    return msgspec.structs.replace(ended(agent, number, status), cause=cause)


def by_hand() -> list[Event]:
    """Return a log of three steps of two ticks with a lost message, an agent that leaves and a plan that skips."""
    steps: list[list[Event]] = [
        [
            MessageSent(agent="a", id=0, recipients=("b", "c"), act="ask", text="help", goal="g", room=0),
            Deliver(agent="b", message=0),
            Deliver(agent="c", message=0, dropped=True),
            MessageSent(agent="b", id=1, recipients=(), act="tell", text="alone", goal=None),
            Commit(agent="a", goal="g", cause="agreed"),
            Commit(agent="b", goal="g", cause="agreed"),
            plan("a", 0, "plan for g { go(); go(); work(2) }"),
            act("a", "go", "done", plan=0, goal="g", moved=True, primitives=("N", "N")),
            act("b", "wait", "done"),
            act("c", "wait", "done"),
            attempt(("a",), 1),
            StepDone(ticks=2, score={}),
        ],
        [
            act("a", "go", "failed", plan=0, goal="g", reason="no way", legal=False, spent=False),
            act("a", "work", plan=0, goal="g", args=("2",), effect=True),
            act("b", "wait", "done"),
            act("c", "talk", "done", args=("1",)),
            attempt(("a",), 1),
            GoalChange(goal="g", event="progress", delta=0.25, participants=("a",)),
            AgentLeft(agent="c", why="fell"),
            StepDone(ticks=2, score={}),
        ],
        [
            Release(agent="b", goal="g", cause="reassigned"),
            Commit(agent="b", goal="h", cause="agreed"),
            act("a", "work", plan=0, goal="g", args=("2",), ready="g", blocker="wall"),
            act("b", "wait", "done"),
            attempt(("a", "b"), 2, clear=False),
            GoalChange(goal="h", event="done", delta=0.0, participants=("b",)),
            StepDone(ticks=2, score={}),
        ],
    ]
    return laid_out(steps, plan_end("a", 0, "unfinished", "horizon"))


def laid_out(steps: Sequence[Sequence[Event]], *last: Event) -> list[Event]:
    """Return a log of what happened in each step and at the end; frames, steps of two ticks and numbers are added."""
    events: list[Event] = [
        start(goals=(goal_info("g", 2, 3.0, kind="do"), goal_info("h", 2, kind="do"))),
        DrawingState(state={"at": 0}),
    ]
    clocks = [(0, 0), (0, 0)]
    for number, step in enumerate(steps):
        events += [*step, DrawingState(state={"at": number + 1})]
        clocks += [(number, 2 * number)] * len(step) + [(number + 1, 2 * number + 2)]
    events += [*last, EpisodeEnd(reason="horizon")]
    clocks += [(len(steps), 2 * len(steps))] * (len(last) + 1)
    placed = enumerate(zip(events, clocks, strict=True))
    return [msgspec.structs.replace(event, seq=seq, step=step, tick=tick) for seq, (event, (step, tick)) in placed]


def question(agent: str, kind: str, errors: int = 0, *, fallback: bool = False, **answer: object) -> QuestionAsked:
    flaws = tuple(AnswerError(flaw="schema", text=f"{HOSTILE} {number}") for number in range(errors))
    return QuestionAsked(agent=agent, purpose=kind, reasoner=HOSTILE, answer=answer, errors=flaws, fallback=fallback)


def call(answer: str | None, *turns: Said, usd: float | None) -> PricedCall:
    usage = Usage(prompt=1200, cached=200, output=30, reasoning=10)
    request = Request(
        model="a#b",
        turns=tuple(Turn(role, text) for role, text in turns),
        answer="Answer",
        schema={},
        form="json",
        max_tokens=99,
    )
    done = None if answer is None else Completion(text=answer, finish="stop", usage=usage, served=HOSTILE)
    faults = (Fault(kind="late", text=HOSTILE),)
    return PricedCall(CallRecord(request=request, completion=done, faults=faults, seconds=1.234, usd=usd), usd)


def asked() -> tuple[list[Event], dict[CallKey, PricedCall]]:
    """Return a log of three steps in which a model was asked, with its calls; every text in it is an attack."""
    shared = f"You are an agent.\n{HOSTILE}\n\n"
    steps: list[list[Event]] = [
        [
            QuestionSkipped(agent="b", purpose="toy.plan", cause=HOSTILE),
            question("a", "toy.plan", 1, say=HOSTILE, steps=["go", "stay"], none=None),
            question("planner", "toy.assign", 2, fallback=True),
            StepDone(ticks=2, score={}),
        ],
        [question("a", "toy.plan", say="second"), StepDone(ticks=2, score={})],
        [StepDone(ticks=2, score={})],
    ]
    first: tuple[Said, ...] = (("system", shared + "first"), ("user", "What now?"))
    again: tuple[Said, ...] = (*first, ("assistant", "no"), ("user", f"not usable: {HOSTILE}"))
    calls = {
        CallKey("a", "toy.plan", 1, 0): call("no", *first, usd=0.001),
        CallKey("a", "toy.plan", 1, 1): call("yes", *again, usd=0.002),
        CallKey("a", "toy.plan", 2, 0): call("yes\nagain", ("system", shared + "second"), ("user", "And?"), usd=None),
        CallKey("planner", "toy.assign", 1, 0): call(None, ("system", "plan"), usd=None),
    }
    return laid_out(steps), calls


#: What others have tried on pages; %d makes each of them another string.
ATTACKS = (
    "<script>hit(%d)</script>",
    "</script><script>hit(%d)</script>",
    "<img src=x onerror=hit(%d)>",
    "<svg onload=hit(%d)>",
    "javascript:hit(%d)",
    '"><iframe srcdoc="<script>parent.hit(%d)</script>">',
    "' onmouseover='hit(%d)",
    "<!--<script>hit(%d)-->",
    "]]><details open ontoggle=hit(%d)>",
    "\u202e${hit(%d)}`\u2028{{hit()}}\x00",
)


def attacked(number: int) -> tuple[list[Event], dict[CallKey, PricedCall]]:
    """Return a log of one step with so many questions and messages, each text of which is another attack."""
    made = (attack % at for at in range(10**9) for attack in ATTACKS)
    events, calls = list[Event](), dict[CallKey, PricedCall]()
    for at in range(number):
        who, kind, words = f"{next(made)}", f"{next(made)}", next(made)
        answer = {next(made): words, "list": [next(made)]}
        events.append(msgspec.structs.replace(question(who, kind, 1), answer=answer))
        calls[CallKey(who, kind, 1, 0)] = call(next(made), ("system", next(made)), ("user", next(made)), usd=None)
        sent = MessageSent(agent="a", id=at, recipients=("b",), act=next(made), text=next(made), goal=next(made))
        events += [sent, Observe(agent="a", seen=(next(made),))]
    return laid_out([[*events, StepDone(ticks=2, score={})]]), calls
