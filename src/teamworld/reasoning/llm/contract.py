"""Calls of language models: request, completion, fault, record, and the protocols that send and keep them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

#: How the answer's form is asked for, strictest first: the provider's own JSON schema, a tool call, JSON mode, tags
#: in plain text.
Form: TypeAlias = Literal["schema", "tool", "json", "text"]
FORMS: tuple[Form, ...] = ("schema", "tool", "json", "text")

#: What can go wrong between us and an answer. ``gone``: the endpoint is not there or hung up; ``late``: no answer in
#: time; ``busy``: a rate limit; ``broken``: an error of the server, or an answer that is none of the protocol;
#: ``refused``: this request is not accepted (too long, filtered), another may be; ``denied``: the key; ``unknown``:
#: no such model; ``unfit``: the model does not support the form of the answer.
FaultKind: TypeAlias = Literal["gone", "late", "busy", "broken", "refused", "denied", "unknown", "unfit"]
#: A retry of the same request may help.
PASSING: frozenset[FaultKind] = frozenset({"gone", "late", "busy", "broken"})
#: No request will succeed until somebody does something.
HOPELESS: frozenset[FaultKind] = frozenset({"denied", "unknown", "unfit"})


class Turn(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can change an answer."""

    model: str
    """As the user named it: ``openai:gpt-4o``, ``http://localhost:8000/v1#qwen3``."""
    turns: tuple[Turn, ...]
    answer: str
    """Name of the answer's model."""
    schema: dict[str, Any]
    """JSON schema of the answer."""
    form: Form
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int
    seed: int | None = None

    def digest(self) -> str:
        """Return a digest of it, the same on every machine."""
        return hashlib.blake2b(msgspec.json.encode(self, order="sorted"), digest_size=16).hexdigest()


#: So that sums of them are numbers; what is read from a file holds no others.
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as the provider counted them; None where it did not."""

    prompt: Count | None = None
    cached: Count | None = None
    """Of the prompt's, read from the provider's cache."""
    written: Count | None = None
    """Of the prompt's, put into the provider's cache, which some charge extra for."""
    output: Count | None = None
    """Reasoning included."""
    reasoning: Count | None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    text: str
    """The answer as it came, without reasoning that the provider keeps apart."""
    finish: Literal["stop", "length", "refused"]
    usage: Usage
    served: str = ""
    """The model as the provider reports it, which may be a dated version of what was asked for."""

    def __post_init__(self) -> None:
        """Replace halves of characters, which JSON can hold and UTF-8 cannot."""
        msgspec.structs.force_setattr(self, "text", _whole(self.text))
        msgspec.structs.force_setattr(self, "served", _whole(self.served))


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that went wrong on the way."""

    kind: FaultKind
    text: str
    """One line, without a key or an address's secrets."""
    retry_after: float | None = None
    """Seconds that the provider asked to wait."""
    usage: Usage | None = None
    """Tokens that the try took; None where it took none, without counts where it took some that nobody counted."""

    def __post_init__(self) -> None:
        """Replace halves of characters, as a completion does."""
        msgspec.structs.force_setattr(self, "text", _whole(self.text))


class ProviderError(Exception):
    """A request got no completion."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


class Client(Protocol):
    """One endpoint; made inside the event loop in which it is used."""

    async def complete(self, request: Request) -> Completion:
        """Send a request once.

        Raises:
            ProviderError: No completion came.
        """

    async def close(self) -> None:
        """Let go of its connections."""


class CallKey(NamedTuple):
    """Which call of an episode: it names the same one in every run of the same experiment."""

    respondent: str
    purpose: str
    """Kind of the question."""
    number: int
    """Counting the questions of this kind that this respondent was asked in the episode, from 1."""
    attempt: int
    """0 for the first time the question was put, counting re-asks."""


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One call and what came of it, as it is kept. What it cost and how long it took never stands in a log."""

    request: Request
    completion: Completion | None
    """None where none came; then the last of the faults says why."""
    faults: tuple[Fault, ...] = ()
    """What went wrong on the way, oldest first."""
    seconds: float = 0.0
    """From the first sending to the completion, waiting between tries included."""
    usd: float | None = None
    """Price of the tokens that were counted, of all its tries; None where no price is known."""
    cached: bool = False
    """Whether it came from a cache of earlier runs, at no cost."""


class Calls(Protocol):
    """The calls of one episode that are on record."""

    def find(self, key: CallKey, request: Request) -> CallRecord | None:
        """Return what is on record for a call, None if nothing.

        Raises:
            UserError: What is on record answers another request than the one that would be sent now.
        """

    def add(self, key: CallKey, record: CallRecord) -> None:
        """Put a call on record; on return it survives a kill of this process."""


def is_lost(record: CallRecord) -> bool:
    """Return whether no try of a call got through; a request that its provider refuses is answered, in a way."""
    return record.completion is None and bool(record.faults) and record.faults[-1].kind in PASSING


def lines(faults: Sequence[Fault]) -> str:
    """Return faults in one line."""
    return "; ".join(f"{fault.kind}: {fault.text}" for fault in faults)


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
