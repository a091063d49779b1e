"""What agents believe, followed through the log: B1 to B4 and B7 (metrics spec, section 8).

An agent **asserts** a fact that it believes with a probability of one half or more. A **decision point** is an agent's
entry into stage W: it has decided. **R**, what matters for the task, are the facts about agents and about the things of
goals. Facts of a kind that the truth never tells are left out: they are neither right nor wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teamworld.metrics.definition import NULL, Value, mean, only, share
from teamworld.metrics.episode import NOBODY, STAGES, Episode
from teamworld.metrics.knowledge import Knowledge
from teamworld.metrics.message_content import failures
from teamworld.record import ActionStep, Believe

_NUMBERS = 1 << 18  # of tables that wait to be worked out together: two megabytes
BINS = 10
"""Of the expected calibration error."""
IDS = (
    *("B1", "B1.precision", "B1.recall", "B2", "B2.share", "B3", "B4", "B4.ece"),
    *("B7", "B7.start", "B7.end", "B7.slope", "B7.true"),
)


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure beliefs about the world against the truth; null where nobody declared any."""
    if not declared(episode):
        return dict.fromkeys(IDS, NULL)
    following = _Following(episode, Knowledge(episode))
    following.run()
    return following.values()


def declared(episode: Episode) -> bool:
    """Return whether anybody says what it believes of the world, in a log that also says what is true."""
    return episode.start.log_level != "play" and any(one.about is None for one in episode.all(Believe))


class Misled(NamedTuple):
    """An action that failed while its agent asserted false facts about what it named (B3)."""

    act: ActionStep
    false: Mapping[str, int | None]
    """These facts, each with the step from which on it is true no more; None for what never was."""


def misled(episode: Episode, knowledge: Knowledge) -> list[Misled]:
    """Return the actions that failed with a false belief, in the order of the log; none where nobody declares any."""
    if not declared(episode):
        return []
    following = _Following(episode, knowledge)
    following.run()
    return following.misled


class _Mind:
    """What one agent believes now, with sums that are kept up to date."""

    def __init__(self) -> None:
        self.chance: dict[int, float] = {}
        """Probability of each fact."""
        self.about: defaultdict[int, set[int]] = defaultdict(set)
        """Facts that it asserts, by their subject."""
        self.asserted = self.relevant = self.right = 0
        """How many facts it asserts; of these in R; of these also true."""
        self.stale = self.since = 0
        """How many it asserts that are true no more, and the sum of the steps from which on they are not."""
        self.square = 0.0
        """Sum of (probability - truth)²."""
        self.judged = 0
        """How many facts it believes with any probability."""
        self.gaps = [0.0] * BINS
        """Sums of probability - truth, by probability."""


class _Sum:
    """Numerator and denominator, added up over decision points."""

    def __init__(self) -> None:
        self.num = self.den = 0.0

    def add(self, num: float, den: float = 1.0) -> None:
        self.num += num
        self.den += den


class _Following:
    """Goes through the log once."""

    def __init__(self, episode: Episode, knowledge: Knowledge) -> None:
        self.episode, self.knowledge = episode, knowledge
        things = {goal.thing for goal in episode.start.goals} | set(episode.team)
        mattering = np.array([name in things for name in knowledge.subjects], np.bool_)
        self.judged: list[bool] = knowledge.judged.tolist()
        self.relevant: list[bool] = (mattering[knowledge.subject] & knowledge.judged).tolist()
        self.subject: list[int] = knowledge.subject.tolist()
        self.beliefs = [one for one in episode.all(Believe) if one.about is None]
        self.failures = failures(episode, attempts=False)
        self.minds = [_Mind() for _ in episode.team]
        self.holders: defaultdict[int, set[int]] = defaultdict(set)
        """Who believes a fact with any probability."""
        self.true: set[int] = set()
        self.ended: dict[int, int] = {}
        """For facts that are true no more, the step from which on they are not."""
        self.all_true = 0
        """How many facts of R are true."""
        self.sums = {name: _Sum() for name in IDS[:7] if name != "B3"}
        self.misled: list[Misled] = []
        self.gaps = [0.0] * BINS
        self.overlap = _Overlap(len(episode.team))

    def run(self) -> None:
        """Take all events that matter, in the order of the log."""
        steps = self.episode.steps
        at = 0
        for _, step, kind, number in sorted(self._events()):
            while at < min(step, steps):
                self.overlap.look()
                at += 1
            if kind == 0:
                self._flip(number)
            elif kind == 1:
                self._believe(self.beliefs[number])
            elif kind == 2:
                self._decided(int(self.episode.stays.agent[number]), step)
            else:
                self._failed(number)
        while at < steps:
            self.overlap.look()
            at += 1

    def _events(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield place, step, kind and number of what is to be taken."""
        sights, stays = self.episode.sights, self.episode.stays
        believed = [self.knowledge.index[held.fact] for one in self.beliefs for held in one.held]
        wanted = np.array(self.relevant, np.bool_)
        wanted[believed] = True
        rows = np.flatnonzero((sights.agent == NOBODY) & wanted[sights.fact])
        for row, seq, step in zip(rows.tolist(), sights.seq[rows].tolist(), sights.step[rows].tolist(), strict=True):
            yield seq, step, 0, row
        for number, one in enumerate(self.beliefs):
            yield one.seq, one.step, 1, number
        rows = np.flatnonzero(stays.stage == STAGES.index("W"))
        for row, seq, step in zip(rows.tolist(), stays.seq[rows].tolist(), stays.step[rows].tolist(), strict=True):
            yield seq, step, 2, row
        for number, (act, failure) in enumerate(zip(self.episode.failed, self.failures, strict=True)):
            yield failure.seq, act.step, 3, number

    def _count(self, agent: int, fact: int, sign: int) -> None:
        """Add a belief as it stands to its agent's sums, or take it off."""
        if not self.judged[fact]:
            return
        mind, chance, true = self.minds[agent], self.minds[agent].chance[fact], fact in self.true
        mind.judged += sign
        mind.square += sign * (chance - true) * (chance - true)
        mind.gaps[min(BINS - 1, int(chance * BINS))] += sign * (chance - true)
        if chance < 0.5:
            return
        mind.asserted += sign
        if not true and fact in self.ended:
            mind.stale += sign
            mind.since += sign * self.ended[fact]
        if self.relevant[fact]:
            mind.relevant += sign
            mind.right += sign * true
            self.overlap.change(agent, fact, sign > 0, true=true)
        if sign > 0:
            mind.about[self.subject[fact]].add(fact)
        else:
            mind.about[self.subject[fact]].discard(fact)

    def _flip(self, row: int) -> None:
        """A fact becomes true, or is true no more."""
        sights = self.episode.sights
        fact, on = int(sights.fact[row]), bool(sights.on[row])
        if on == (fact in self.true):
            return
        for agent in self.holders[fact]:
            self._count(agent, fact, -1)
        if on:
            self.true.add(fact)
            self.ended.pop(fact, None)
        else:
            self.true.discard(fact)
            self.ended[fact] = int(sights.step[row])
        self.all_true += (1 if on else -1) * self.relevant[fact]
        for agent in self.holders[fact]:
            self._count(agent, fact, 1)

    def _believe(self, event: Believe) -> None:
        agent = self.episode.who[event.agent]
        chances = self.minds[agent].chance
        changes = [(fact, None) for fact in event.dropped] + [(held.fact, held.probability) for held in event.held]
        for text, chance in changes:
            fact = self.knowledge.index.get(text, NOBODY)
            if fact in chances:
                self._count(agent, fact, -1)
                del chances[fact]
                self.holders[fact].discard(agent)
            if chance is not None:
                chances[fact] = chance
                self.holders[fact].add(agent)
                self._count(agent, fact, 1)

    def _decided(self, agent: int, step: int) -> None:
        mind, sums = self.minds[agent], self.sums
        if mind.relevant:
            sums["B1.precision"].add(mind.right / mind.relevant)
        if self.all_true:
            sums["B1.recall"].add(mind.right / self.all_true)
        if mind.relevant and self.all_true:
            sums["B1"].add(2 * mind.right / (mind.relevant + self.all_true))
        sums["B2"].add(mind.stale * step - mind.since, mind.stale)
        sums["B2.share"].add(mind.stale, mind.asserted)
        sums["B4"].add(max(0.0, mind.square), mind.judged)
        self.gaps = [whole + own for whole, own in zip(self.gaps, mind.gaps, strict=True)]

    def _failed(self, number: int) -> None:
        failure = self.failures[number]
        about = self.minds[failure.agents[0]].about
        things = (self.knowledge.subjects.get(name, NOBODY) for name in failure.about)
        false = sorted({fact for thing in things if thing in about for fact in about[thing] - self.true})
        if false:
            ended = {self.knowledge.facts[fact]: self.ended.get(fact) for fact in false}
            self.misled.append(Misled(self.episode.failed[number], ended))

    def values(self) -> dict[str, Value]:
        """Return what was measured."""
        found = {name: share(one.num, one.den) for name, one in self.sums.items()}
        found["B3"] = share(len(self.misled), len(self.failures))
        found["B4.ece"] = share(fsum(map(abs, self.gaps)), self.sums["B4"].den)
        return found | self.overlap.values()


class _Overlap:
    """B7: how alike the assertions of any two agents are, step by step.

    Args:
        team: Number of agents.
    """

    def __init__(self, team: int) -> None:
        self._who: defaultdict[int, list[int]] = defaultdict(list)
        # Plain lists: changes touch a few numbers at a time.
        self._all = [[0] * team for _ in range(team)]
        """Facts that both assert; on the diagonal, those that one does."""
        self._true = [[0] * team for _ in range(team)]
        self._new = True
        self._shots: list[tuple[list[list[int]], list[list[int]]]] = []
        """Both tables whenever something has changed, waiting to be worked out together."""
        self._most = max(1, _NUMBERS // max(1, team * team))
        self._steps: list[int] = []
        """For each step, which shot it is."""
        self._means: list[NDArray[np.float64]] = []
        """Of each shot, the mean over pairs and that of true facts alone; NaN where no pair asserts anything."""

    def change(self, agent: int, fact: int, on: bool, *, true: bool) -> None:
        """An agent asserts a fact of R from now on, or no longer."""
        self._new = True
        who = self._who[fact]
        if on:
            who.append(agent)
        for table in (self._all, self._true) if true else (self._all,):
            own = table[agent]
            for mate in who:
                own[mate] += 1 if on else -1
                table[mate][agent] = own[mate]
        if not on:
            who.remove(agent)

    def look(self) -> None:
        """Take the overlap as it stands at the end of a step."""
        if self._new:
            self._shots.append(([own[:] for own in self._all], [own[:] for own in self._true]))
            self._new = False
        self._steps.append(len(self._means) * self._most + len(self._shots) - 1)
        if len(self._shots) == self._most:
            self._work_out()

    def _work_out(self) -> None:
        both = np.array(self._shots, np.float64)
        one, other = np.triu_indices(both.shape[-1], 1)
        own = np.einsum("stii->sti", both)
        common = both[:, :, one, other]
        either = own[:, :, one] + own[:, :, other] - common
        pairs = (either > 0).sum(axis=-1)
        ratios = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
        alike = np.array([[fsum(some) for some in tables] for tables in ratios.tolist()])
        self._means.append(np.divide(alike, pairs, out=np.full_like(alike, np.nan), where=pairs > 0))
        self._shots.clear()

    def values(self) -> dict[str, Value]:
        """Return B7 and its parts."""
        if self._shots:
            self._work_out()
        points = np.concatenate(self._means)[self._steps] if self._steps else np.zeros((0, 2))
        told = [(step, alike) for step, alike in enumerate(points[:, 0].tolist()) if alike == alike]
        true = [alike for alike in points[:, 1].tolist() if alike == alike]
        return {
            "B7": mean([alike for _, alike in told]),
            "B7.start": only(told[0][1], 1) if told else NULL,
            "B7.end": only(told[-1][1], 1) if told else NULL,
            "B7.slope": _slope(told),
            "B7.true": mean(true),
        }


def _slope(points: list[tuple[int, float]]) -> Value:
    """Return the least-squares slope of some values per 100 steps; null for fewer than two."""
    if len(points) < 2:
        return NULL
    middle = fsum(step for step, _ in points) / len(points)
    level = fsum(alike for _, alike in points) / len(points)
    rise = fsum((step - middle) * (alike - level) for step, alike in points)
    return share(100 * rise, fsum((step - middle) * (step - middle) for step, _ in points))
