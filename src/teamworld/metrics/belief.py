"""Beliefs and predictions: what agents take to be so, against what was (metrics spec, section 8).

Beliefs about the world (B1 to B4, B7) stand in ``holding``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from teamworld.metrics import belief_accuracy
from teamworld.metrics.communication import WITHIN
from teamworld.metrics.definition import NULL, Value, mean, only, share
from teamworld.metrics.episode import NOBODY, Episode
from teamworld.metrics.knowledge import Knowledge
from teamworld.record import Believe, Commit, MessageSent, PlanEnd, PlanStart, Predict, Release

_NEEDING = ("B5", "B6", "B6.set", "B8", "B8.lacking", "B8.having", "B9.precision", "B9.recall")


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure beliefs and predictions; null below the log level ``beliefs``, and where nobody declared any."""
    found = dict(belief_accuracy.measure(episode))
    found |= dict.fromkeys(_NEEDING, NULL)
    if episode.start.log_level != "play":
        found |= _first_order(episode) | _intents(episode) | _sensitivity(episode) | _conflicts(episode)
    found["B10"] = _effects(episode)
    order = sorted(found, key=lambda name: int(name.partition(".")[0][1:]))  # stable: parts stay in their order
    return {name: found[name] for name in order}


def _first_order(episode: Episode) -> dict[str, Value]:
    """B5: each belief that another holds a fact, or lacks it, as it is declared, against what that one then holds."""
    told = [one for one in episode.all(Believe) if one.about in episode.who]
    if not told:
        return {}
    knowledge = Knowledge(episode)
    rows = [
        (episode.who[one.about or ""], knowledge.index[held.fact], one.seq, held.probability >= 0.5)
        for one in told
        for held in one.held
    ]
    agent, fact, seq, has = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    right = knowledge.holds(agent, fact, seq) == (has > 0)
    return {"B5": share(int(right.sum()), len(right))}


def _intents(episode: Episode) -> dict[str, Value]:
    """B6: predictions of somebody who commits itself to nothing afterwards are left out."""
    next_of: defaultdict[str, tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))
    for word in episode.all(Commit):
        next_of[word.agent][0].append(word.seq)
        next_of[word.agent][1].append(word.goal)
    top = within = known = 0
    for one in episode.all(Predict):
        if one.subject != "partner_goal":
            continue
        places, goals = next_of[one.about]
        at = bisect_right(places, one.seq)
        if at < len(places):
            named = one.value if isinstance(one.value, tuple) else (one.value,)
            known += 1
            top += goals[at] in named[:1]
            within += goals[at] in named
    return {"B6": share(top, known), "B6.set": share(within, known)}


def _sensitivity(episode: Episode) -> dict[str, Value]:
    """B8: over what a sender believes of a recipient when it sends it a message."""
    events: list[Believe | MessageSent] = [*episode.all(Believe), *episode.all(MessageSent)]
    thinks: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    having: defaultdict[tuple[str, str], int] = defaultdict(int)
    sent, could = [0, 0], [0, 0]
    for event in sorted(events, key=lambda event: event.seq):
        if isinstance(event, Believe):
            if event.about is None:
                continue
            pair = event.agent, event.about
            for fact in (*event.dropped, *(held.fact for held in event.held)):
                having[pair] -= thinks[pair].pop(fact, False)
            for held in event.held:
                thinks[pair][held.fact] = held.probability >= 0.5
                having[pair] += held.probability >= 0.5
            continue
        for mate in event.recipients:
            pair = event.agent, mate
            if mate == event.agent or pair not in thinks:
                continue
            could[True] += having[pair]
            could[False] += len(thinks[pair]) - having[pair]
            for fact in dict.fromkeys(event.facts):
                if fact in thinks[pair]:
                    sent[thinks[pair][fact]] += 1
    lacking, has = (share(sent[known], could[known]) for known in (False, True))
    both = lacking.value is not None and has.value is not None
    return {
        "B8": only((lacking.value or 0.0) - (has.value or 0.0), sum(could)) if both else NULL,
        "B8.lacking": lacking,
        "B8.having": has,
    }


class _Conflict(NamedTuple):
    """A clash of two agents."""

    step: int
    agents: frozenset[str]
    goal: str | None
    """None for one over a place."""


def _conflicts(episode: Episode) -> dict[str, Value]:
    """B9: a declared conflict is right if one that it fits occurs within ``WITHIN`` steps."""
    told = [one for one in episode.all(Predict) if one.subject == "conflict"]
    if not told:
        return {}
    occurred = sorted(_clashes(episode), key=lambda clash: clash.step)
    by_agent: defaultdict[str, list[_Conflict]] = defaultdict(list)
    for clash in occurred:
        for agent in clash.agents:
            by_agent[agent].append(clash)
    steps = {agent: [clash.step for clash in some] for agent, some in by_agent.items()}
    right, met = 0, set[int]()
    for one in told:
        some = by_agent[one.agent]
        first = bisect_left(steps.get(one.agent, ()), one.step)
        last = bisect_right(steps.get(one.agent, ()), one.step + WITHIN)
        fits = [clash for clash in some[first:last] if _fits(one, clash)]
        right += bool(fits)
        met |= set(map(id, fits))
    return {
        "B9.precision": share(right, len(told)),
        "B9.recall": share(len(met), len(occurred)),
    }


def _fits(told: Predict, clash: _Conflict) -> bool:
    over = told.value is None or told.value == clash.goal
    return over and (told.about in clash.agents or told.about == clash.goal)


def _clashes(episode: Episode) -> Sequence[_Conflict]:
    """Return one agent's being in another's way (D12), and commitments beyond what a goal takes (D10)."""
    acts, team = episode.acts, episode.team
    rows = np.flatnonzero((acts.blocker != NOBODY) & ~acts.moved).tolist()
    found = [
        _Conflict(int(acts.step[row]), frozenset((team[acts.agent[row]], team[acts.blocker[row]])), None)
        for row in rows
    ]
    takes = {goal.id: max(goal.quorum, goal.places) for goal in episode.start.goals}
    held: defaultdict[str, dict[str, None]] = defaultdict(dict)
    events: list[Commit | Release] = [*episode.all(Commit), *episode.all(Release)]
    for event in sorted(events, key=lambda event: event.seq):
        others = held[event.goal]
        others.pop(event.agent, None)
        if isinstance(event, Release):
            continue
        if len(others) >= takes.get(event.goal, len(team)):
            found += [_Conflict(event.step, frozenset((event.agent, other)), event.goal) for other in others]
        others[event.agent] = None
    return found


def _effects(episode: Episode) -> Value:
    """B10: over plans that ended with success; what an agent predicts of a plan goes before the plan's dry run."""
    predicted = {plan.plan: (plan.tick, float(plan.predicted_steps)) for plan in episode.all(PlanStart)}
    for one in episode.all(Predict):
        if one.subject == "plan_effect" and isinstance(one.value, float) and one.about.isdecimal():
            plan = int(one.about)
            if plan in predicted:
                predicted[plan] = predicted[plan][0], one.value
    errors = [
        abs(predicted[end.plan][1] - took) / took
        for end in episode.all(PlanEnd)
        if end.status == "success" and end.plan in predicted and (took := end.tick - predicted[end.plan][0]) > 0
    ]
    return mean(errors)
