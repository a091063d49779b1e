"""What the test server does with a request: faults by name, behaviour by model, counters, replies."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from tests.reasoning.llm.brains import minimal

#: From a decoded request to the text of the answer, JSON where the request wants that.
Brain: TypeAlias = Callable[[dict[str, Any]], str]

#: What can go wrong, by name. Also ``status-NNN``: that status with a JSON error.
FAULTS = {
    "busy": "429, no word on how long",
    "busy-after": "429 with Retry-After",
    "quota": "429, the account has no money",
    "error": "500 with a JSON error",
    "gateway": "502 with a HTML page",
    "drop": "hangs up before the answer",
    "drop-body": "hangs up (reset) in mid-body",
    "cut": "ends the connection in mid-body",
    "stall": "never answers",
    "stall-body": "stops in mid-body, connection open",
    "drip": "sends the body in small pieces, taking `drip` seconds; no fault for a patient client",
    "json": "200, a body that is not JSON",
    "type": "200, an HTML page",
    "mislabelled": "200, the right body as text/plain",
    "choiceless": "200, JSON without choices",
    "null": "200, JSON null",
    "inband": "200, an error object where the answer belongs",
    "prose": "an answer that holds no JSON",
    "schema": "an answer of another schema",
    "empty": "an answer without content",
    "refusal": "message.refusal",
    "filter": "finish_reason content_filter",
    "length": "an answer cut off, finish_reason length",
    "usageless": "a good answer without usage",
    "denied": "401",
    "unknown": "404, no such model",
    "long": "400, context_length_exceeded",
    "moderated": "400, content_policy_violation",
}
#: Those after which a sensible client tries the same request again.
PASSING = ("busy", "busy-after", "error", "gateway", "drop", "drop-body", "cut", "stall", "stall-body", "json", "type")
#: Answers that are whole, and not what was asked for.
FLAWED = ("prose", "schema", "empty", "refusal", "filter", "length")
#: What comes whole to a client that waits for it: it is paid for, and has to be on record.
WHOLE = frozenset(("ok", "drip", "mislabelled", "usageless", *FLAWED))
#: A model has answered, and by the server's own doing no client can know what.
HIDDEN = ("drop", "drop-body", "cut", "stall", "stall-body")


class Behaviour(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the server treats the requests for a model."""

    seconds: float = 0.0
    """Until an answer, or a fault that shows, starts."""
    jitter: float = 0.0
    """Up to so many seconds more, drawn by seed and request."""
    held: bool = False
    """Answers wait for ``Server.release``."""
    seed: int = 0
    faults: dict[str, float] = {}
    """Rate of each fault; drawn by seed, request, and how often this request came."""
    row: int | None = None
    """Of ``faults``, a request gets at most so many in a row."""
    lasting: bool = False
    """A request meets the same of ``faults`` whenever it comes."""
    script: list[str] = []
    """Faults, or 'ok', of the first requests in their order of arrival; after it, ``faults`` hold."""
    retry_after: str = "1"
    drip: float = 1.0
    """Seconds that a dripping body takes."""
    key: str | None = None
    """Requests without it get 401."""
    forms: tuple[str, ...] = ("schema", "tool", "json", "text")
    """Other forms of the answer get 400."""
    context: int | None = None
    """More characters in the messages get 400."""
    usage: str = "full"
    """'full' with cached and reasoning tokens, 'plain' without, 'none'."""
    cached: int = 0
    """Of the prompt's tokens."""
    reasoning: str = ""
    """Comes beside the answer, as reasoning_content."""
    think: str = ""
    """Comes in the answer, before it, between <think> tags."""
    answers: dict[str, str] = {}
    """Text of the answer where the key stands in the messages; first match."""
    brain: str | None = None
    """``module:function`` that answers otherwise; the least instance of the schema if None."""


class Seen:
    """What has come and gone."""

    def __init__(self) -> None:
        self.requests = 0
        self.came: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.tokens = self.late = self.late_tokens = 0
        self.in_flight = self.peak = self.connections = self.peak_connections = 0
        self.auth: Counter[str] = Counter()
        self.headers: dict[str, str] = {}
        self.last: Any = None

    def arrived(self) -> None:
        """Count a request that came: those under way now are all that a client still has."""
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.late = self.late_tokens = 0

    def ended(self, digest: str, prompt: str, outcome: str, tokens: int) -> None:
        """Count how a request ended: ``ok``, the fault that it met, or ``abandoned`` by its client before that."""
        self.outcomes[prompt][outcome] += 1
        if outcome in WHOLE:
            self.delivered[digest] += 1
            self.late += 1
            self.tokens += tokens
            self.late_tokens += tokens

    def stats(self) -> dict[str, Any]:
        """Return the counters.

        ``came`` and ``delivered`` go by the digest of a request, ``outcomes`` by that of its prompt, which a record
        has too. ``late`` answers, of ``late_tokens``, were delivered after the last request came.
        """
        return {
            "requests": self.requests,
            "completions": sum(self.delivered.values()),
            "came": self.came,
            "delivered": self.delivered,
            "faults": self.faults,
            "outcomes": self.outcomes,
            "tokens": self.tokens,
            "late": self.late,
            "late_tokens": self.late_tokens,
            "in_flight": self.in_flight,
            "peak": self.peak,
            "connections": self.connections,
            "peak_connections": self.peak_connections,
            "auth": self.auth,
            "headers": self.headers,
            "last": self.last,
        }


def _share(*parts: str | int) -> float:
    """Return a number in [0, 1), the same for the same parts."""
    digest = hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def prompt_digest(turns: Iterable[tuple[str, str]]) -> str:
    """Return a digest of a conversation, from its roles and texts."""
    return hashlib.blake2b(msgspec.json.encode(list(turns)), digest_size=8).hexdigest()


def _form(request: dict[str, Any]) -> str:
    if request.get("tools"):
        return "tool"
    kind = (request.get("response_format") or {}).get("type", "text")
    return {"json_schema": "schema", "json_object": "json"}.get(kind, "text")


def _words(request: dict[str, Any]) -> str:
    contents = (message.get("content") or "" for message in request.get("messages", ()))
    return "\n".join(text if isinstance(text, str) else json.dumps(text) for text in contents)


def error_body(message: str, code: str | None) -> bytes:
    """Return the body of an error as OpenAI shapes it."""
    return msgspec.json.encode({"error": {"message": message, "type": code or "error", "param": None, "code": code}})


def load(name: str) -> Brain:
    """Return a brain by ``module:function``."""
    module, _, function = name.partition(":")
    brain: Brain = getattr(importlib.import_module(module), function)
    return brain


_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
_HTML = b"<html><body><h1>Bad Gateway</h1><p>The proxy had no answer.</p></body></html>"
#: Replies that do not depend on the answer: status, message, code.
_ERRORS: dict[str, tuple[int, str, str | None]] = {
    "busy": (429, "Rate limit reached.", "rate_limit_exceeded"),
    "busy-after": (429, "Rate limit reached.", "rate_limit_exceeded"),
    "quota": (429, "You exceeded your current quota.", "insufficient_quota"),
    "error": (500, "The server had an error.", None),
    "inband": (200, "The engine is overloaded.", None),
    "denied": (401, "Incorrect API key provided.", "invalid_api_key"),
    "unknown": (404, "The model `{}` does not exist.", "model_not_found"),
    "long": (400, "This model's maximum context length is exceeded.", "context_length_exceeded"),
    "moderated": (400, "Rejected by the content policy.", "content_policy_violation"),
}
_BODIES = {
    "gateway": (502, _HTML),
    "type": (200, _HTML),
    "json": (200, b'{"choices": [{"message": {"content": "hal'),
    "choiceless": (200, b'{"id": "x", "object": "chat.completion", "model": "m", "created": 1}'),
    "null": (200, b"null"),
}


class Reply(msgspec.Struct):
    """One HTTP response, and how it is sent."""

    status: int
    body: bytes
    kind: str = "application/json"
    headers: str = ""
    manner: str = "whole"
    seconds: float = 0.0
    """That a dripping body takes."""
    tokens: int = 0
    """That the answer takes, prompt included."""

    def wire(self) -> bytes:
        """Return its bytes."""
        head = (
            f"HTTP/1.1 {self.status} {_REASONS.get(self.status, 'Status')}\r\ncontent-type: {self.kind}\r\n"
            f"content-length: {len(self.body)}\r\n{self.headers}\r\n"
        )
        return head.encode() + self.body


class Server:
    """Behaviours by model, counters, and the rules that make a reply of a request."""

    def __init__(self, brain: Brain = minimal) -> None:
        self.brain = brain
        self.seen = Seen()
        self._behaviours: dict[str, Behaviour] = {"*": Behaviour()}
        self._scripted: Counter[str] = Counter()
        self._row: Counter[str] = Counter()
        self._brains: dict[str, Brain] = {}
        self.held: list[Callable[[], None]] = []
        """Sends the replies that are held."""

    def reset(self) -> None:
        """Forget behaviours and counters; connections that are open go on counting."""
        connections, self.seen = self.seen.connections, Seen()
        self.seen.connections = self.seen.peak_connections = connections
        self._behaviours = {"*": Behaviour()}
        self._scripted.clear()
        self._row.clear()

    def release(self) -> None:
        """Send what is held, and hold nothing more."""
        for name, behaviour in self._behaviours.items():
            self._behaviours[name] = msgspec.structs.replace(behaviour, held=False)
        while self.held:
            self.held.pop()()

    def set(self, model: str, changes: dict[str, Any]) -> None:
        """Change the behaviour for a model, or for all others with '*'; what is not named is as at the start."""
        behaviour = msgspec.convert(changes, Behaviour)
        for fault in (*behaviour.faults, *behaviour.script):
            if fault not in FAULTS and fault != "ok" and not fault.startswith("status-"):
                raise ValueError(f"no such fault: {fault}")
        if behaviour.brain:
            self._brains[behaviour.brain] = load(behaviour.brain)
        self._behaviours[model] = behaviour
        self._scripted[model] = 0

    def models(self) -> bytes:
        """Return the body of /v1/models."""
        names = [name for name in self._behaviours if name != "*"] or ["test-model", "test-model-mini"]
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in sorted(names)]
        return msgspec.json.encode({"object": "list", "data": listed})

    def wants_key(self, auth: str, model: str = "*") -> Reply | None:
        """Return a 401 if the key is missing or wrong."""
        key = (self._behaviours.get(model) or self._behaviours["*"]).key
        if key is None or auth == f"Bearer {key}":
            return None
        shown = auth.removeprefix("Bearer ")  # as some real servers do: the client has to scrub it
        return Reply(401, error_body(f"Incorrect API key provided: {shown}.", "invalid_api_key"))

    def answer(self, request: dict[str, Any], body: bytes, auth: str) -> tuple[float, str, str, Reply]:
        """Return seconds to wait, the request's digest, the fault or 'ok', and the reply."""
        digest = hashlib.blake2b(body, digest_size=8).hexdigest()
        self.seen.requests += 1
        self.seen.came[digest] += 1
        self.seen.last = request
        model = str(request.get("model", ""))
        name = model if model in self._behaviours else "*"
        behaviour = self._behaviours[name]
        wait = behaviour.seconds + behaviour.jitter * _share("jitter", behaviour.seed, digest)
        wait = math.inf if behaviour.held else wait
        reply = self.wants_key(auth, name) or self._misfit(request, behaviour)
        if reply is not None:
            return wait, digest, "rejected", reply
        fault = self._fault(model, name, behaviour, digest)
        return wait, digest, fault, self._reply(request, behaviour, fault)

    def _misfit(self, request: dict[str, Any], behaviour: Behaviour) -> Reply | None:
        form = _form(request)
        if form not in behaviour.forms:
            words = {
                "schema": "'response_format' of type 'json_schema' is not supported with this model.",
                "tool": "'tools' is not supported with this model.",
                "json": "'response_format' of type 'json_object' is not supported with this model.",
            }
            return Reply(400, error_body("Invalid parameter: " + words.get(form, "plain text is not supported."), None))
        if behaviour.context is not None and len(_words(request)) > behaviour.context:
            return self._reply(request, behaviour, "long")
        return None

    def _fault(self, model: str, name: str, behaviour: Behaviour, digest: str) -> str:
        when, _, kind = model.partition("-")
        if when in ("always", "once") and (kind in FAULTS or kind.startswith("status-")):
            return kind if when == "always" or self.seen.came[digest] == 1 else "ok"
        at = self._scripted[name]
        if at < len(behaviour.script):
            self._scripted[name] += 1
            return behaviour.script[at]
        if not behaviour.faults or self._row[digest] == behaviour.row:
            self._row[digest] = 0
            return "ok"
        share = _share(behaviour.seed, digest, 0 if behaviour.lasting else self.seen.came[digest])
        for fault, rate in sorted(behaviour.faults.items()):
            share -= rate
            if share < 0:
                self._row[digest] += 1
                return fault
        self._row[digest] = 0
        return "ok"

    def _reply(self, request: dict[str, Any], behaviour: Behaviour, fault: str) -> Reply:
        """Return the reply that a fault makes."""
        if fault.startswith("status-"):
            return Reply(int(fault.removeprefix("status-")), error_body(f"Told to say {fault}.", None))
        if fault in _ERRORS:
            status, message, code = _ERRORS[fault]
            after = f"retry-after: {behaviour.retry_after}\r\n" if fault == "busy-after" else ""
            return Reply(status, error_body(message.format(request.get("model")), code), headers=after)
        if fault in _BODIES:
            status, body = _BODIES[fault]
            return Reply(status, body, "text/html" if body is _HTML else "application/json")
        completion = self._completion(request, behaviour, fault)
        reply = Reply(200, msgspec.json.encode(completion))
        reply.tokens = completion.get("usage", {}).get("total_tokens", 0)
        if fault == "mislabelled":
            reply.kind = "text/plain"
        if fault in ("drop", "drop-body", "cut", "stall", "stall-body", "drip"):
            reply.manner, reply.seconds = fault, behaviour.drip
        return reply

    def _text(self, request: dict[str, Any], behaviour: Behaviour) -> str:
        if behaviour.answers:
            words = _words(request)
            for key, text in behaviour.answers.items():
                if key in words:
                    return text
        return (self._brains[behaviour.brain] if behaviour.brain else self.brain)(request)

    def _completion(self, request: dict[str, Any], behaviour: Behaviour, fault: str) -> dict[str, Any]:
        text: str | None = behaviour.think and f"<think>{behaviour.think}</think>\n"
        text = (text or "") + self._text(request, behaviour)
        finish, refusal = "stop", None
        if fault == "prose":
            text = "I would rather go left, but it depends."
        elif fault == "schema":
            text = '{"unexpected": [1, 2, 3]}'
        elif fault == "empty":
            text = ""
        elif fault == "refusal":
            text, refusal = None, "I cannot help with that."
        elif fault == "filter":
            text, finish = "", "content_filter"
        elif fault == "length":
            text, finish = text[: len(text) // 2], "length"
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": refusal}
        if behaviour.reasoning:
            message["reasoning_content"] = behaviour.reasoning
        if text and request.get("tools"):
            function = {"name": request["tools"][0]["function"]["name"], "arguments": text}
            message |= {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
            finish = "tool_calls" if finish == "stop" else finish
        completion: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": f"{request.get('model')}-served",
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        }
        if behaviour.usage != "none" and fault != "usageless":
            thought = len(behaviour.reasoning) // 4
            prompt, output = len(_words(request)) // 4, len(text or "") // 4 + 1 + thought
            usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output}
            usage["total_tokens"] = prompt + output
            if behaviour.usage == "full":
                usage["prompt_tokens_details"] = {"cached_tokens": behaviour.cached}
                usage["completion_tokens_details"] = {"reasoning_tokens": thought}
            completion["usage"] = usage
        return completion
