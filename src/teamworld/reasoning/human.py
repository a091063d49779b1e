"""A person as a reasoner: the question in plain words, numbered options, an answer on record like a model's."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from teamworld.errors import UserError
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Calls, Completion, Request, Turn, Usage
from teamworld.reasoning.prompts import Prompt, render

#: The name of this reasoner, and the model of its requests on record: no provider has one of this name.
HUMAN = "human"


class Terminal(Protocol):
    """Where a person reads and types."""

    def turn(self) -> AbstractAsyncContextManager[object]:
        """Return a lock that is held while one question is asked: others wait for theirs."""

    def show(self, text: str) -> None:
        """Show a text as it is."""

    async def read(self, prompt: str) -> str:
        """Return a line without its end; raises ``EOFError``."""


class Desk(Protocol):
    """Where a person is asked and answers: a terminal, a page."""

    async def answer(self, question: Question[Any], prompt: Prompt, complaints: Sequence[str]) -> str:
        """Return an answer that can be used, as JSON.

        Args:
            question: What is asked.
            prompt: The question in words.
            complaints: What was wrong with earlier answers to it.

        Raises:
            UserError: Nobody answers any more.
        """


class ClosedDesk:
    """A desk at which nobody sits, for a replay."""

    async def answer(self, question: Question[Any], prompt: Prompt, complaints: Sequence[str]) -> str:
        """Raise ``UserError``."""
        raise nobody_answers(question.respondent)


def nobody_answers(respondent: str) -> UserError:
    """Return the error that ends a run whose person is gone."""
    return UserError(f"nobody answers for {respondent} any more (end of input): the same command goes on from here")


class PersonReasoner:
    """Asks a person; one object for each episode.

    An answer is asked for until it can be used, so no fallback stands for a person. It is put on record before it
    takes effect: a run that is stopped goes on after the last answer, and replays without the person.

    Args:
        desk: Where to ask.
        calls: The answers of the episode that are on record.
    """

    def __init__(self, desk: Desk, calls: Calls) -> None:
        self._desk = desk
        self._calls = calls
        self.counts: Counter[tuple[str, str]] = Counter()
        """How often it was asked, by respondent and kind of question; reasoners that take turns share theirs."""

    @property
    def name(self) -> str:
        """``human``."""
        return HUMAN

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Ask, unless the answer is on record.

        Raises:
            UserError: Nobody types any more, or what is on record is damaged or answers another question.
        """
        place = (question.respondent, question.kind)
        self.counts[place] += not tries
        key = CallKey(*place, self.counts[place], len(tries))
        prompt = render(question, reasoning=False)  # whoever types an answer need not type why
        request = _request(question, prompt)
        record = self._calls.find(key, request)
        if record is None:
            begun = time.perf_counter()
            text = await self._desk.answer(question, prompt, [bad.complaint for bad in tries])
            completion = Completion(text=text, finish="stop", usage=Usage())
            record = CallRecord(request=request, completion=completion, seconds=time.perf_counter() - begun)
            self._calls.add(key, record)
        return Reply(_answer(question, record, key))


class TerminalDesk:
    """Asks at a terminal, one question at a time.

    Args:
        terminal: Where the person reads and types.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    async def answer(self, question: Question[Any], prompt: Prompt, complaints: Sequence[str]) -> str:
        """Return a usable answer as JSON; raises ``UserError``."""
        async with self._terminal.turn():
            self._terminal.show(
                f"\n======== {question.respondent} is asked: {question.kind} ========\n\n{prompt.user}\n"
            )
            self._terminal.show("(? shows the rules)")
            form = _Form(self._terminal, question, prompt.system)
            try:
                return await form.fill(complaints)
            except EOFError:
                raise nobody_answers(question.respondent) from None


@dataclass(frozen=True)
class _Form:
    """The fields of one answer, asked one after the other."""

    terminal: Terminal
    question: Question[Any]
    rules: str

    async def fill(self, complaints: Sequence[str]) -> str:
        """Return the answer as JSON, once it can be used."""
        question = self.question
        for complaint in complaints:
            self._refuse(complaint)
        while True:
            values: dict[str, Any] = {}
            for name, field in fields_in_order(question):
                values[name] = await self._value(name, field, values)
            try:
                return check_values(question, values).model_dump_json()
            except ValueError as error:
                self._refuse(str(error))

    async def _value(self, name: str, field: FieldInfo, values: dict[str, Any]) -> object:
        """Ask for one field until what is typed fits it."""
        offers = self.question.offers(name, values)
        for number, offer in enumerate(offers, start=1):
            self.terminal.show(f"  {number:>3}  {show_offer(offer)}")
        fits: TypeAdapter[object] = TypeAdapter(Annotated[field.annotation, field])  # type: ignore[arg-type]
        while True:
            typed = await self.terminal.read(f"{_label(name, field, offers)}: ")
            line = printable_line(typed)  # no keys such as arrows
            if line == "?":
                self.terminal.show(f"\n{self.rules}\n")
                continue
            try:
                return fits.validate_python(_parse_line(line, field, offers))
            except ValidationError as error:
                self._refuse(_first_problem(error))
            except ValueError as error:
                self._refuse(str(error))

    def _refuse(self, complaint: str) -> None:
        self.terminal.show(f"This cannot be: {complaint}")


def fields_in_order(question: Question[Any]) -> list[tuple[str, FieldInfo]]:
    """Return the fields of an answer in the order in which a person decides: a choice, what follows from it, words."""

    def place(item: tuple[str, FieldInfo]) -> int:
        return 1 + is_list(item[1]) if question.offers(item[0], {}) else 3

    fields = (item for item in question.answer.model_fields.items() if item[0] != "reasoning")
    return sorted(fields, key=place)


def check_values(question: Question[Any], values: Mapping[str, Any]) -> BaseModel:
    """Return the answer that some values make.

    Raises:
        ValueError: It cannot be used, and why, in words.
    """
    try:
        answer = question.answer.model_validate(values)
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from None
    problem = question.check(answer)
    if problem is not None:
        raise ValueError(problem)
    return answer


def printable_line(text: str) -> str:
    """Return a text as one line of characters that can be printed, without space round it."""
    return "".join(char if char.isprintable() else " " for char in text).strip()


def _answer(question: Question[Answer], record: CallRecord, key: CallKey) -> Answer:
    """Return the answer of a record."""
    try:
        text = record.completion.text if record.completion is not None else ""
        answer: Answer = question.answer.model_validate_json(text)  # type: ignore[assignment]
        complaint = question.check(answer)
    except ValidationError as error:
        complaint = _first_problem(error)[:200]
    if complaint is not None:
        raise UserError(
            f"what {key.respondent} answered at {key.purpose} number {key.number} is damaged on record ({complaint}): "
            f"put back a copy of results.sqlite, or start anew with another --out"
        )
    return answer


def _parse_line(line: str, field: FieldInfo, offers: Sequence[Any]) -> object:
    """Return the value that a typed line stands for."""
    if offers:
        if line.isascii() and line.isdigit():
            if not 1 <= int(line) <= len(offers):
                raise ValueError(f"the options are 1 to {len(offers)}, not {line}")
            return offers[int(line) - 1]
        if not is_list(field):
            for offer in offers:
                if line and line == show_offer(offer):
                    return offer
            raise ValueError(f"expected a number from 1 to {len(offers)}, got '{line}'")
    if is_list(field):
        return tuple(part.strip() for part in line.split(";") if part.strip())
    if not line and not field.is_required():
        return field.get_default(call_default_factory=True)
    return line


def is_list(field: FieldInfo) -> bool:
    """Return whether a field holds several values."""
    return get_origin(field.annotation) in (tuple, list)


def show_offer(offer: object) -> str:
    """Return an offer in words; the parts of a plan stand between semicolons."""
    if offer is None:
        return "none of these"
    return "; ".join(map(str, offer)) if isinstance(offer, tuple | list) else str(offer)


def _label(name: str, field: FieldInfo, offers: Sequence[Any]) -> str:
    if offers:
        return f"{name}, a number, or your own with ; between" if is_list(field) else f"{name}, a number"
    return f"{name} ({field.description})" if field.description else name


def _first_problem(error: ValidationError) -> str:
    detail = error.errors()[0]
    return f"{detail['msg']}, got {detail['input']!r}"


def _request(question: Question[Any], prompt: Prompt) -> Request:
    """Return what the person was asked, in the form in which calls stand on record."""
    return Request(
        model=HUMAN,
        turns=(Turn("system", prompt.system), Turn("user", prompt.user)),
        answer=question.answer.__name__,
        schema=question.answer.model_json_schema(),
        form="text",
        max_tokens=0,
    )
