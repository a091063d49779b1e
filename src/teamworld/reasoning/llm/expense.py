"""What the tries of a call took: as their provider counted it, by an estimate where it did not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from teamworld.reasoning.llm.contract import CallRecord, Completion, Fault, Request, Usage

#: Characters of a token: fewer than English or JSON has with any tokenizer in use, so that an estimate is rather high.
CHARACTERS = 3.0


class Expense(NamedTuple):
    """What one try took."""

    usage: Usage
    """Prompt and output are numbers."""
    counted: bool
    """By the provider; else at least one of the two is an estimate."""

    @property
    def tokens(self) -> int:
        """Prompt and output."""
        return (self.usage.prompt or 0) + (self.usage.output or 0)


def estimate_tokens(characters: int) -> int:
    """Return the tokens of a text, estimated."""
    return math.ceil(characters / CHARACTERS)


def turn_characters(request: Request) -> int:
    """Return the characters of a request's turns."""
    return sum(len(turn.text) for turn in request.turns)


def prompt_characters(request: Request) -> int:
    """Return the characters of all that a model may read of a request: its turns, and the schema that goes along."""
    return turn_characters(request) + (0 if request.form == "text" else len(msgspec.json.encode(request.schema)))


def completion_expense(request: Request, completion: Completion) -> Expense:
    """Return what an answer took; what nobody counted is estimated from what was sent and what came."""
    return _whole(completion.usage, request, estimate_tokens(len(completion.text)))


def fault_expense(request: Request, fault: Fault) -> Expense | None:
    """Return what a try without an answer took, None if nothing.

    Where nobody counted its output, the model may have written as much as it was allowed.
    """
    return None if fault.usage is None else _whole(fault.usage, request, request.max_tokens)


def call_expenses(record: CallRecord) -> Iterator[Expense]:
    """Yield what each try of a call took; nothing where it came from a cache of earlier runs."""
    if record.cached:
        return
    for fault in record.faults:
        if (lost := fault_expense(record.request, fault)) is not None:
            yield lost
    if record.completion is not None:
        yield completion_expense(record.request, record.completion)


def _whole(usage: Usage, request: Request, output: int) -> Expense:
    if usage.prompt is not None and usage.output is not None:
        return Expense(usage, True)
    prompt = estimate_tokens(prompt_characters(request)) if usage.prompt is None else usage.prompt
    output = output if usage.output is None else usage.output
    return Expense(msgspec.structs.replace(usage, prompt=prompt, output=output), False)
