"""An episode of which every number was worked out by hand, as a log."""

from __future__ import annotations

from typing import Any

import msgspec

from teamworld.record import (
    AttemptMade,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalInfo,
    Observe,
    Truth,
)
from tests.metrics.logs import act, change, commit, ended, episode_start, goal_info, plan, say
from tests.metrics.logs import log as hand_written

#: Of the message, in words that a tokenizer by words counts as 12.
TEXT = "I stand left of block two ; it needs two agents ."
#: What it tells: the place of a, new to b, and the quorum of g2, which b sees.
PLACE, QUORUM = "a AT <block>(2)", "<block>(2) QUORUM 2"


def goal(name: str, k: int) -> GoalInfo:
    return goal_info(name, k, float(k), kind="deliver", thing=f"<block>({name[1:]})", units=2)


def start() -> EpisodeStart:
    return episode_start((goal("g1", 1), goal("g2", 2)), horizon=10, log_level="beliefs")


def attempt(have: int, success: bool) -> AttemptMade:
    need = {"dependency": 1, "participation": 2, "spatial": 2, "temporal": 2}
    met = {"dependency": 1, "participation": have, "spatial": have, "temporal": have}
    return AttemptMade(goal="g2", k=2, have=met, need=need, participants=("a", "b")[:have], success=success)


def steps() -> list[list[Any]]:
    """Return the events of each step, in order."""
    first = plan("a", 0, "g2"), plan("b", 1, "g1", quorum=1)
    return [
        [
            Truth(true=(QUORUM,)),
            Observe(agent="a", seen=(QUORUM,)),
            Observe(agent="b", seen=(QUORUM,)),
            commit("a", "g2"),
            commit("b", "g1"),
            *first,
            act("a", "g2", plan=0, moved=True),
            act("b", "g1", plan=1, moved=True),
        ],
        [
            Truth(true=(PLACE,)),
            Observe(agent="a", seen=(PLACE,)),
            *say("a", 0, text=TEXT, goal="g2", facts=(PLACE, QUORUM)),
            act("a", "g2", plan=0, ready="g2"),
            act("b", "g1", plan=1, effect=True, moved=True),
            change("g1", "progress", 0.5, "b"),
        ],
        [
            act("a", "g2", plan=0, ready="g2", blocker="block_2"),
            act("b", "g1", plan=1, effect=True, moved=True),
            attempt(1, False),
            change("g1", "done", 0.5, "b"),
        ],
        [
            ended("b", 1, "success", "g1"),
            commit("b", "g2"),
            plan("b", 2, "g2"),
            act("a", "g2", plan=0, ready="g2"),
            act("b", "g2", plan=2, moved=True),
        ],
        [act("a", "g2", plan=0, ready="g2"), act("b", "g2", plan=2, moved=True)],
        [
            act("a", "g2", plan=0, effect=True, moved=True),
            act("b", "g2", plan=2, effect=True, moved=True),
            attempt(2, True),
            change("g2", "done", 1.0, "ab"),
        ],
    ]


def log() -> list[Event]:
    """Return the whole log."""
    _, *events, _ = hand_written(*steps())
    over = (ended("a", 0, "success", "g2"), ended("b", 2, "success", "g2"), EpisodeEnd(reason="all_done"))
    events += [msgspec.structs.replace(event, step=6, tick=6) for event in over]
    return [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate([start(), *events])]
