"""The prompts of a run: what exactly a reasoner was shown at a moment that is on record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment.runner import completed, play
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.warm_start import RunMemories, opened
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.llm.contract import CallKey, Turn
from teamworld.reasoning.prompts import Prompt, render, template_info
from teamworld.record import Event, QuestionAsked, read_log


class QuestionPosition(NamedTuple):
    """Names one question of an episode."""

    kind: str
    respondent: str
    number: int
    """Counting the questions of this kind that this respondent was asked in the episode, from 1."""


class ShownPrompt(NamedTuple):
    """A question as it was put."""

    turns: tuple[Turn, ...]
    """Its prompt; of a re-ask the answers that could not be used too, and what was said of them."""
    step: int
    changed: bool = False
    """The template says something else than when the run began: this is what it would show now."""
    place: str = ""
    """Where in the run, in words."""

    def _repr_markdown_(self) -> str:
        return "\n\n".join([f"**{self.place}**", *(f"*{turn.role}*\n\n{turn.text}" for turn in self.turns)])


def choose(
    log: Sequence[Event], kind: str, respondent: str | None = None, number: int | None = None, step: int | None = None
) -> QuestionPosition:
    """Return which question of an episode is meant.

    Args:
        log: The episode's.
        kind: Kind of the question.
        respondent: Who was asked; the first that was if None.
        number: Which of these questions, from 1; the first if both are None.
        step: The step in which it was asked.

    Raises:
        UserError: There is no such question, or several.
    """
    questions = _questions(log)
    respondents = [agent for purpose, agent in questions if purpose == kind]
    if not respondents and kind not in (known := list(methods.kinds())):
        raise UserError(f"unknown question '{kind}'{suggest(kind, known)}")
    if not respondents:
        others = ", ".join(sorted({purpose for purpose, _ in questions}))
        raise UserError(f"nobody was asked {kind} in this episode; there were: {others or 'no questions'}")
    if respondent is not None and respondent not in respondents:
        raise UserError(f"{respondent} was not asked {kind} in this episode; asked were: {', '.join(respondents)}")
    respondent = respondent or respondents[0]
    steps = [event.step for event in questions[kind, respondent]]
    if step is not None:
        number = _at(steps, step, number, f"{respondent} was asked {kind}")
    number = 1 if number is None else number
    if not 1 <= number <= len(steps):
        raise UserError(f"{respondent} was asked {kind} {len(steps)} times in this episode: --number has no {number}")
    return QuestionPosition(kind, respondent, number)


def _questions(log: Sequence[Event]) -> dict[tuple[str, str], list[QuestionAsked]]:
    """Return the questions of an episode in order, by kind and respondent."""
    questions: dict[tuple[str, str], list[QuestionAsked]] = {}
    for event in log:
        if isinstance(event, QuestionAsked):
            questions.setdefault((event.purpose, event.agent), []).append(event)
    return questions


def _at(steps: Sequence[int], step: int, number: int | None, subject: str) -> int:
    """Return the number of the question that was asked in a step."""
    if number is not None:
        raise UserError("--number and --step both say which question: give one of them")
    places = [place for place, other in enumerate(steps, start=1) if other == step]
    if not places:
        known = ", ".join(map(str, dict.fromkeys(steps)))
        raise UserError(f"{subject} in steps {known} of this episode, not in step {step}")
    if len(places) > 1:
        raise UserError(
            f"{subject} {len(places)} times in step {step}: say which with --number {places[0]} to {places[-1]}"
        )
    return places[0]


def shown(
    folder: RunFolder, cell: RunCell, episode: int, which: QuestionPosition, scratch: Path, attempt: int | None = None
) -> ShownPrompt:
    """Return the prompt of a question: as it was sent where a model or a person answered, to the byte.

    Where rules answered nothing was sent: then it is made from the episode, played again with the answers of its log.

    Args:
        folder: The run; it is only read.
        cell: Method and seed.
        episode: A finished episode.
        which: The question; see ``choose``.
        scratch: An empty folder.
        attempt: 0 for the first time it was put, counting re-asks; the first if None.

    Raises:
        UserError: It was not put so often; or the episode went another way than its log says, or what was known before
            it is not there.
    """
    experiment = folder.experiment()
    questions = _questions(list(read_log(folder.log(cell, episode))))
    with CallStore(folder.results_file, readonly=True) as calls:
        sent = calls.of(cell, episode).find(CallKey(which.respondent, which.kind, which.number, attempt or 0))
    if sent is not None:
        return ShownPrompt(sent.request.turns, questions[which.kind, which.respondent][which.number - 1].step)
    if attempt:
        raise UserError(f"{which.respondent} was not asked {which.kind} number {which.number} again {attempt} times")
    experiment.load_plugins()
    reasoner = _Playback(questions, which, experiment.reasoning == "on")
    with (
        MemoryStore(scratch / "memory.sqlite") as memory,
        opened(folder, experiment) as brought,
    ):
        _before(folder, experiment, cell, episode, memory)
        try:
            completed(play(experiment, cell, episode, scratch / "log", RunMemories(memory, brought), reasoner))
        except _Reached as reached:
            template = methods.kinds([cell.method])[which.kind].template
            recorded = folder.prompts().get(template)
            changed = recorded is not None and recorded != template_info(template)._asdict()
            turns = (Turn("system", reached.prompt.system), Turn("user", reached.prompt.user))
            return ShownPrompt(turns, reached.step, changed)
    raise _other_way(which.kind, which.respondent)


def _before(folder: RunFolder, experiment: ExperimentSpec, cell: RunCell, episode: int, memory: MemoryStore) -> None:
    """Fill an empty memory with what was learned in the episodes before one."""
    method = methods.make(cell.method, experiment.options[cell.method])
    needed = {number for number in range(experiment.episode_numbers[0], episode) if method.learns_in(number)}
    if not needed:
        return
    if not folder.memory_file.exists():
        raise UserError(f"{folder.memory_file} is missing: make it again with teamworld resume {folder.path}")
    with MemoryStore(folder.memory_file, readonly=True) as store:
        for delta in store.deltas(cell.name, up_to=episode - 1):
            memory.commit(cell.name, delta)
    if missing := needed.difference(memory.episodes(cell.name)):
        raise UserError(
            f"{folder.memory_file} lacks what {cell.name} learned in episode {min(missing)}: "
            f"make it again with teamworld resume {folder.path}"
        )


class _Reached(Exception):
    """The question that is looked for is asked."""

    def __init__(self, prompt: Prompt, step: int) -> None:
        super().__init__()
        self.prompt = prompt
        self.step = step


class _Playback:
    """Answers as the log says, until a question is asked."""

    name = "replay"

    def __init__(
        self, questions: Mapping[tuple[str, str], Sequence[QuestionAsked]], stop: QuestionPosition, reasoning: bool
    ) -> None:
        self._questions = questions
        self._stop = stop
        self._reasoning = reasoning
        self._counts: Counter[tuple[str, str]] = Counter()

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer from the log.

        Raises:
            _Reached: It is the question that is looked for.
            UserError: The log has no such question.
        """
        place = (question.kind, question.respondent)
        self._counts[place] += not tries
        number = self._counts[place]
        if number > len(self._questions.get(place, ())):
            raise _other_way(*place)
        recorded = self._questions[place][number - 1]
        if (*place, number) == self._stop:
            raise _Reached(render(question, self._reasoning), recorded.step)
        # What stood in for an answer may not pass as one: then it is refused again, and stands in again.
        answer: Answer = question.answer.model_validate(recorded.answer)  # type: ignore[assignment]
        return Reply(answer)


def _other_way(kind: str, respondent: str) -> UserError:
    return UserError(
        f"the episode goes another way than its log says ({kind} of {respondent}): another version made it, or it was "
        "altered"
    )
