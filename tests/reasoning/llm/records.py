"""Calls for tests: made by hand, or drawn."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from teamworld.reasoning.llm.contract import (
    FORMS,
    CallKey,
    CallRecord,
    Completion,
    Fault,
    FaultKind,
    Request,
    Turn,
    Usage,
)

SCHEMA = {"type": "object", "properties": {"goal": {"type": "string"}, "b": {}, "a": {}}, "required": ["goal"]}


def request(text: str = "What do you do?", **changes: Any) -> Request:
    """Return a request; the model is asked in German."""
    fields: dict[str, Any] = {
        "model": "openai:gpt-4o",
        "turns": (Turn("system", "Du bist Teil einer Gruppe."), Turn("user", text)),
        "answer": "Plan",
        "schema": SCHEMA,
        "form": "schema",
        "temperature": 0.2,
        "max_tokens": 100,
    }
    return Request(**(fields | changes))


def completion(text: str = '{"goal": "g"}', prompt: int | None = 100, output: int | None = 10) -> Completion:
    """Return an answer."""
    return Completion(text=text, finish="stop", usage=Usage(prompt=prompt, output=output), served="gpt-4o-2024-08-06")


def record(usd: float | None = 0.01, tokens: int | None = 110, **changes: Any) -> CallRecord:
    """Return a call that was answered; all but ten of its tokens are the prompt's."""
    answer = completion(prompt=None if tokens is None else tokens - 10)
    return CallRecord(**({"request": request(), "completion": answer, "usd": usd} | changes))


def failed(kind: FaultKind = "gone") -> CallRecord:
    """Return a call that nobody answered."""
    return CallRecord(request=request(), completion=None, faults=(Fault(kind=kind, text="it hung up"),), seconds=3.0)


def key(number: int = 1, respondent: str = "agent_0", purpose: str = "drwell.propose", attempt: int = 0) -> CallKey:
    """Return the key of a call."""
    return CallKey(respondent, purpose, number, attempt)


# Halves of surrogate pairs included: JSON can hold them, so a provider can send them.
TEXTS = st.text(st.characters(codec=None), max_size=20)
_WHOLE = st.text(max_size=20)
COUNTS = st.none() | st.integers(0, 10**7)
USAGES = st.builds(Usage, prompt=COUNTS, cached=COUNTS, written=COUNTS, output=COUNTS, reasoning=COUNTS)
KEYS = st.builds(
    CallKey, st.sampled_from(["a", "b"]), st.sampled_from(["m.one", "m.two"]), st.integers(1, 3), st.integers(0, 2)
)
REQUESTS = st.builds(
    Request,
    model=st.sampled_from(["openai:gpt-4o", "http://localhost:8000/v1#qwen3"]),
    turns=st.lists(st.builds(Turn, st.sampled_from(["system", "user", "assistant"]), _WHOLE), max_size=3).map(tuple),
    answer=st.sampled_from(["Plan", "Vote"]),
    schema=st.dictionaries(_WHOLE, st.none() | st.integers(-5, 5) | _WHOLE, max_size=3),
    form=st.sampled_from(FORMS),
    temperature=st.none() | st.floats(0, 2),
    top_p=st.none() | st.floats(0, 1),
    max_tokens=st.integers(1, 4096),
    seed=st.none() | st.integers(0, 2**31),
)
COMPLETIONS = st.builds(
    Completion, text=TEXTS, finish=st.sampled_from(["stop", "length", "refused"]), usage=USAGES, served=TEXTS
)
FAULTS = st.builds(
    Fault,
    kind=st.sampled_from(["gone", "late", "busy", "refused"]),
    text=TEXTS,
    retry_after=st.none() | st.floats(0, 9),
    usage=st.none() | USAGES,
)
RECORDS = st.builds(
    CallRecord,
    request=REQUESTS,
    completion=st.none() | COMPLETIONS,
    faults=st.lists(FAULTS, max_size=2).map(tuple),
    seconds=st.floats(0, 1e4),
    usd=st.none() | st.floats(0, 10),
    cached=st.booleans(),
)
