"""Minds whose answers a test decides, and what a log tells of methods that decide on single actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import ActionStep, Event, QuestionAsked, StepDone
from teamworld.testing.episodes import PlayedEpisode, Scenario, play
from tests.methods.asked import CELL

#: What a reasoner answers; None: by the rules.
Says = Callable[[Any], BaseModel | None]
#: Answers, or functions that give them, by kind of question.
Answers = Mapping[type[Question[Any]], BaseModel | Says]

#: Checks of the suite that the matrix makes of every method in the same place.
MATRIX = ("plays", "same-seed")
#: Checks in which a variant does not differ that only has more minds asked: those of the method itself tell of it.
SAME = ("same-seed", "lost-words", "deaths", "learning")

#: Two carriers in two rooms, for a short while.
ROOMS = Scenario("rooms", "two", 0, 12)


class Heard(NamedTuple):
    """A question as it was put."""

    kind: str
    respondent: str
    t: int
    prompt: str


class Scripted(RuleReasoner):
    """The rules, but for questions that a test answers; keeps what was asked."""

    def __init__(self, says: Says | Answers = lambda question: None) -> None:
        super().__init__(CELL.streams(1))
        self._says = choose_answer(says) if isinstance(says, Mapping) else says
        self.asked: list[Heard] = []

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        t = next(iter(question.views.values())).t
        self.asked.append(Heard(question.kind, question.respondent, t, render(question).text))
        said = self._says(question)
        return await super().ask(question, tries) if said is None else Reply(said)  # type: ignore[arg-type]


def choose_answer(answers: Answers) -> Says:
    """Return what answers each question by its kind, and others by the rules."""

    def says(question: Question[Any]) -> BaseModel | None:
        answer = next((answer for kind, answer in answers.items() if isinstance(question, kind)), None)
        return answer if answer is None or isinstance(answer, BaseModel) else answer(question)

    return says


def played(
    label: str,
    says: Says | Answers = lambda question: None,
    stage: Scenario = ROOMS,
    **options: Any,
) -> tuple[PlayedEpisode, list[Heard]]:
    """Play an episode and return it with all that was asked."""
    mind = Scripted(says)
    found = play(label, stage, {label: options} if options else {}, lambda streams: mind)
    assert found.complaints == []
    return found, mind.asked


def prompts(asked: Sequence[Heard], *kinds: str, respondent: str = "") -> list[str]:
    """Return the prompts of some kinds, in order; of one respondent if it is named."""
    return [heard.prompt for heard in asked if heard.kind in kinds and respondent in ("", heard.respondent)]


def calls(events: Sequence[Event]) -> list[Counter[str]]:
    """Return for each step how often each kind of question was asked."""
    found: list[Counter[str]] = [Counter() for _ in range(steps(events))]
    for event in of(events, QuestionAsked):
        found[event.step][event.purpose] += 1
    return found


def steps(events: Sequence[Event]) -> int:
    """Return how many steps an episode took."""
    return max(event.step for event in events if isinstance(event, ActionStep)) + 1


def of(events: Sequence[Event], kind: type[Any]) -> Iterator[Any]:
    """Yield the events of a kind."""
    return (event for event in events if isinstance(event, kind))


def score(label: str, stage: Scenario) -> float:
    """Return what a method on rules scores, in the world's first count; each is played once."""
    return _score(label, stage.world, stage.level, stage.seed, stage.horizon)


@cache
def _score(label: str, world: str, level: str, seed: int, horizon: int) -> float:
    stage = Scenario(world, level, seed, horizon)
    last = list(of(play(label, stage, {}).events, StepDone))[-1]
    return float(next(iter(last.score.values())))
