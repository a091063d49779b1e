"""A client of one endpoint, built on the provider library. Only ``providers`` imports this, when it makes a client."""

from __future__ import annotations

import json
import re
import ssl
import zlib
from collections.abc import AsyncIterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import httpx2
import msgspec
from msgspec import structs
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelAPIError, ModelRateLimitError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from teamworld.reasoning.llm.contract import Completion, Form, ProviderError, Request, Turn, Usage
from teamworld.reasoning.llm.expense import turn_characters
from teamworld.reasoning.llm.keys import SHORT, Secret, mask
from teamworld.reasoning.llm.model_names import HOSTED, Endpoint
from teamworld.reasoning.llm.provider_errors import is_paid, make_fault

if TYPE_CHECKING:
    from pydantic_ai.models.openai._chat_completions import LenientChatCompletion
    from pydantic_ai.usage import RequestUsage

#: Headers that may go out, by provider; all others, such as those an SDK takes from the environment, stay here.
_SENT = frozenset(
    ("host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding")
)
_ALSO_SENT: dict[str, frozenset[str]] = {
    "openai": frozenset(("openai-organization", "openai-project")),
    "anthropic": frozenset(("anthropic-version", "anthropic-beta")),
}
_KEY_HEADERS = {"anthropic": ("x-api-key", "{}"), "google": ("x-goog-api-key", "{}")}
#: Calls in flight through one connection pool: what the library's pool takes for a call grows with its connections.
WIDTH = 8
#: What the SDKs get in place of the key; the header is set where the request goes out.
_PLACEHOLDER = "set-when-sent"
#: Bytes of a response at most, before and after it is decompressed: more than any answer takes. What is parsed of it,
#: and copied on the way, can take fifty times as many.
MOST_BYTES = 2**20
#: Pieces of a response at most: each takes time, however short it is.
MOST_PIECES = 2**16
_FINISHES = {"length": "length", "content_filter": "refused"}
#: The bodies that came for the request that is under way: what a failed one says of its tokens is charged too.
_bodies: ContextVar[list[bytes]] = ContextVar("_bodies")
#: A count below a token for so many characters is none.
DENSEST = 64
#: Counts that add up, each protocol its own: OpenAI's, Anthropic's, Google's.
_PROMPT_COUNTS = (
    *("prompt_tokens", "promptTokenCount"),
    *("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
)
_OUTPUT_COUNTS = ("completion_tokens", "output_tokens", "candidatesTokenCount", "thoughtsTokenCount")
#: A number of tokens, also where it is written as text; a record holds no sum of several above 2**53.
_COUNT: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=0, le=2**50)])


def http(
    endpoint: Endpoint,
    secret: Secret | None,
    connect: float,
    read: float,
    verify: ssl.SSLContext | bool = True,
    most: int = MOST_BYTES,
) -> httpx2.AsyncClient:
    """Return a HTTP client that sends the key and nothing of the environment, follows no redirect and retries nothing.

    Proxies of the environment are used, except for this machine. A response has ``most`` bytes.
    """
    # A header of the environment may only go to the provider whose own tools it is meant for.
    own = endpoint.base == HOSTED.get(endpoint.provider)
    sent = _SENT | _ALSO_SENT.get(endpoint.provider, frozenset()) if own else _SENT | {"anthropic-version"}
    header, shape = _KEY_HEADERS.get(endpoint.provider, ("authorization", "Bearer {}"))

    async def strip(request: httpx2.Request) -> None:
        for name in request.headers.keys() - sent:
            del request.headers[name]
        request.headers["user-agent"] = "teamworld"
        if secret is not None:
            request.headers[header] = shape.format(secret.reveal())

    async def bound(response: httpx2.Response) -> None:
        response.encoding = "utf-8"  # as JSON is; some of the encodings that a server may name take minutes to decode
        response.stream = body = await _read_bounded(response, most)
        _bodies.get([]).append(b"".join(body))

    return httpx2.AsyncClient(
        headers={"accept-encoding": "gzip, deflate"},
        timeout=httpx2.Timeout(connect=connect, read=read, write=read, pool=None),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        trust_env=not endpoint.local,
        verify=verify,
        event_hooks={"request": [strip], "response": [bound]},
    )


async def _read_bounded(response: httpx2.Response, most: int) -> httpx2.ByteStream:
    """Return the body of a response, decompressed; what is too long, or compressed otherwise, raises."""
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    stream = cast("AsyncIterable[bytes]", response.stream)
    # 32 + 15: gzip and zlib alike, told apart by their headers.
    unpacker = None if encoding in ("", "identity") else zlib.decompressobj(47)
    body = bytearray()
    taken = pieces = 0
    try:
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise httpx2.DecodingError(f"a response in an encoding that was not asked for: {encoding[:40]}")
        async for piece in stream:
            taken += len(piece)
            body += piece if unpacker is None else unpacker.decompress(piece, most + 1 - len(body))
            pieces += 1
            if taken > most or len(body) > most:
                raise httpx2.DecodingError(f"a response of more than {most // 2**20} MB")
            if pieces > MOST_PIECES:
                raise httpx2.DecodingError(f"a response in more than {MOST_PIECES} pieces")
        if unpacker is not None and taken and not unpacker.eof:
            raise httpx2.DecodingError("a compressed response that ends too early")
    except zlib.error as error:
        raise httpx2.DecodingError(f"a compressed response that is damaged ({error})") from None
    finally:
        await cast("httpx2.AsyncByteStream", response.stream).aclose()
    return httpx2.ByteStream(bytes(body))


class _Chat(OpenAIChatModel):
    """The chat protocol as servers really speak it.

    Takes the usage out before the library looks at it: where a count is odd it would throw the answer away, and it
    says 0 where a server said nothing. And reads an error that came as if it were an answer, as some gateways send it.
    """

    def _validate_completion(self, response: ChatCompletion) -> LenientChatCompletion:
        error = getattr(response, "error", None)
        if error and not response.choices:
            busy = isinstance(error, dict) and str(error.get("code")) in ("429", "rate_limit_exceeded")
            category = ModelRateLimitError if busy else ModelAPIError
            raise category(self.model_name, "an error in place of an answer", body=error)
        return super()._validate_completion(response)

    def _process_response(self, response: ChatCompletion | str, **options: bool) -> ModelResponse:
        usage: object = None
        if isinstance(response, ChatCompletion):
            usage, response.usage = getattr(response, "usage", None), None
        processed = super()._process_response(response, **options)
        processed.provider_details = {**(processed.provider_details or {}), "usage": usage}
        return processed


def make_model(endpoint: Endpoint, web: httpx2.AsyncClient) -> Model[Any]:
    """Return the library's model for an endpoint, whose SDK is installed."""
    if endpoint.provider in ("openai", "server"):
        sdk = AsyncOpenAI(
            api_key=_PLACEHOLDER, base_url=endpoint.base, http_client=web, timeout=web.timeout, max_retries=0
        )
        if endpoint.provider == "openai":
            return _Chat(endpoint.model, provider=OpenAIProvider(openai_client=sdk))
        # The older name of the limit is the one that every server knows.
        profile = OpenAIModelProfile(
            openai_chat_supports_max_completion_tokens=False,
            supports_json_schema_output=True,
            supports_json_object_output=True,
        )
        return _Chat(endpoint.model, provider=OpenAICompatibleProvider("server", openai_client=sdk, profile=profile))
    if endpoint.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AnthropicProvider(api_key=_PLACEHOLDER, base_url=endpoint.base, http_client=web)
        anthropic.client.max_retries = 0
        return AnthropicModel(endpoint.model, provider=anthropic)
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    google = GoogleProvider(api_key=_PLACEHOLDER, base_url=endpoint.base, http_client=web)
    return GoogleModel(endpoint.model, provider=google)


def best_form(endpoint: Endpoint) -> Form:
    """Return the strictest form of an answer that a hosted model supports, by the library's profile of it."""
    from pydantic_ai.profiles.anthropic import anthropic_model_profile
    from pydantic_ai.profiles.google import google_model_profile
    from pydantic_ai.profiles.openai import openai_model_profile

    profiles = {"openai": openai_model_profile, "anthropic": anthropic_model_profile, "google": google_model_profile}
    profile = profiles[endpoint.provider](endpoint.model) or {}
    if profile.get("supports_json_schema_output", False):
        return "schema"
    return "tool" if profile.get("supports_tools", True) else "text"


@dataclass
class _Lane:
    """A connection pool of its own and the library's model on it."""

    web: httpx2.AsyncClient
    model: Model[Any]
    busy: int = 0


class ProviderClient:
    """One endpoint through the provider library; made inside the event loop in which it is used.

    Args:
        endpoint: What to reach.
        secret: The key, if one is needed.
        connect: Seconds until a connection must stand.
        read: Seconds between two pieces of an answer at most.
    """

    def __init__(self, endpoint: Endpoint, secret: Secret | None, connect: float, read: float) -> None:
        self._endpoint = endpoint
        self._secrets = () if secret is None else (secret,)
        context = httpx2.create_ssl_context(trust_env=not endpoint.local)
        self._web = partial(http, endpoint, secret, connect, read, context)
        self._lanes: list[_Lane] = []
        self._takes_temperature = takes_temperature(self._lane().model)

    def _lane(self) -> _Lane:
        for lane in self._lanes:
            if lane.busy < WIDTH:
                return lane
        web = self._web()
        self._lanes.append(_Lane(web, make_model(self._endpoint, web)))
        return self._lanes[-1]

    async def complete(self, request: Request) -> Completion:
        """Send a request once; raises ``ProviderError``."""
        lane = self._lane()
        lane.busy += 1
        bodies: list[bytes] = []
        _bodies.set(bodies)
        try:
            response = await model_request(
                lane.model,
                messages_of(request.turns),
                model_settings=settings_of(request, self._takes_temperature),
                model_request_parameters=parameters_of(request, strict=self._endpoint.provider == "openai" or None),
                instrument=False,
            )
            return self._without_key(completion_of(response, request))
        except Exception as error:  # noqa: BLE001  whatever a server's answer makes the library raise is a fault of it
            fault = make_fault(error, self._endpoint, request.form, self._secrets)
            fault = structs.replace(fault, usage=_named_usage(bodies, request) or (Usage() if is_paid(error) else None))
        finally:
            lane.busy -= 1
        # Outside of the handler: the library's exception holds the request, headers and all.
        raise ProviderError(fault)

    def _without_key(self, completion: Completion) -> Completion:
        """Return a completion in which the key is hidden: some servers and proxies show what they were sent."""
        text, served = completion.text, completion.served
        for value in (secret.reveal() for secret in self._secrets):
            if len(value) >= SHORT:
                text, served = mask(text, value), mask(served, value)
        return structs.replace(completion, text=text, served=served)

    async def close(self) -> None:
        """Let go of its connections."""
        for lane in self._lanes:
            await lane.web.aclose()


def takes_temperature(model: Model[Any]) -> bool:
    """Return whether a model takes temperature and top-p: those that always reason do not."""
    profile = cast("dict[str, Any]", model.profile)
    if not profile.get("openai_supports_reasoning", False):
        return True
    optional = profile.get("openai_supports_reasoning_effort_none", False)
    return bool(optional and not profile.get("thinking_enabled_by_default", False))


def messages_of(turns: tuple[Turn, ...]) -> list[ModelMessage]:
    """Return a conversation as the library takes it."""
    messages: list[ModelMessage] = []
    asked: list[SystemPromptPart | UserPromptPart] = []
    for role, text in ((turn.role, turn.text) for turn in turns):
        if role == "assistant":
            if asked:
                messages.append(ModelRequest(parts=asked))
                asked = []
            messages.append(ModelResponse(parts=[TextPart(text)]))
        else:
            asked.append(SystemPromptPart(text) if role == "system" else UserPromptPart(text))
    return [*messages, ModelRequest(parts=asked)] if asked else messages


def settings_of(request: Request, takes_temperature: bool) -> ModelSettings:
    """Return how a request is sampled, as the library takes it."""
    settings = ModelSettings(max_tokens=request.max_tokens)
    if request.seed is not None:
        settings["seed"] = request.seed
    if takes_temperature and request.temperature is not None:
        settings["temperature"] = request.temperature
    if takes_temperature and request.top_p is not None:
        settings["top_p"] = request.top_p
    return settings


def parameters_of(request: Request, strict: bool | None) -> ModelRequestParameters:
    """Return how the answer's form is asked for, as the library takes it.

    Args:
        request: What is asked.
        strict: Whether the provider is to guarantee the schema; None where the library decides by the schema.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "_", request.answer)[:64]
    form: Form = request.form
    if form == "schema":
        wanted = OutputObjectDefinition(json_schema=request.schema, name=name, strict=strict)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    if form == "tool":
        tool = ToolDefinition(
            name=name,
            parameters_json_schema=request.schema,
            description="Give the answer.",
            kind="output",
            strict=strict,
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    if form == "json":
        # The prompt says what the JSON is to look like; the library need not say it again.
        wanted = OutputObjectDefinition(json_schema=request.schema, name=name)
        return ModelRequestParameters(output_mode="prompted", output_object=wanted, prompted_output_template=False)
    return ModelRequestParameters(output_mode="text")


def completion_of(response: ModelResponse, request: Request) -> Completion:
    """Return what the library's response to a request holds; reasoning that came apart is left out."""
    details = response.provider_details or {}
    calls = [part.args for part in response.parts if isinstance(part, ToolCallPart)]
    if calls:
        text = calls[0] if isinstance(calls[0], str) else json.dumps(calls[0] or {}, ensure_ascii=False)
    else:
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    text = text or str(details.get("refusal", ""))
    usage = _protocol_usage(details["usage"]) if "usage" in details else _library_usage(response.usage)
    return Completion(
        text=text,
        finish=cast("Any", _FINISHES.get(response.finish_reason or "", "stop")),
        usage=_believed(usage, turn_characters(request), len(text)),
        served=response.model_name or "",
    )


def _believed(usage: Usage, sent: int, came: int) -> Usage:
    """Return a usage without counts that cannot be, of so many characters that were sent and came.

    A budget that believed them would never end.
    """
    prompt = None if usage.prompt is None or usage.prompt <= sent / DENSEST else usage.prompt
    output = None if usage.output is None or usage.output < came / DENSEST else usage.output
    return structs.replace(usage, prompt=prompt, output=output)


class _Body(msgspec.Struct):
    """What is read of a body that is no answer."""

    usage: dict[str, Any] | None = None
    google: dict[str, Any] | None = msgspec.field(name="usageMetadata", default=None)


def _named_usage(bodies: list[bytes], request: Request) -> Usage | None:
    """Return the usage that a body names from which no answer could be read; None where it names none."""
    for body in bodies:
        try:
            read = msgspec.json.decode(body, type=_Body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        counts = read.usage or read.google or {}
        prompt = _add_counts(counts, *_PROMPT_COUNTS)
        output = _add_counts(counts, *_OUTPUT_COUNTS)
        if prompt or output:
            return _believed(Usage(prompt=prompt, output=output), turn_characters(request), 0)
    return None


def _add_counts(counts: Mapping[str, object], *names: str) -> int | None:
    """Return the sum of the counts that are there, None where none is."""
    known = [count for count in (_check_count(counts.get(name)) for name in names) if count is not None]
    return sum(known) if known else None


def _protocol_usage(usage: object) -> Usage:
    """Return the usage of the OpenAI protocol, as a server sent it."""
    prompt, output = (getattr(usage, f"{part}_tokens_details", None) for part in ("prompt", "completion"))
    return Usage(
        prompt=_read_count(usage, "prompt_tokens"),
        cached=_read_count(prompt, "cached_tokens"),
        written=_read_count(prompt, "cache_write_tokens"),
        output=_read_count(usage, "completion_tokens"),
        reasoning=_read_count(output, "reasoning_tokens"),
    )


def _read_count(counts: object, name: str) -> int | None:
    """Return a count; None where it is not there, or is none."""
    return _check_count(getattr(counts, name, None))


def _check_count(count: object) -> int | None:
    try:
        return None if count is None else _COUNT.validate_python(count)
    except ValidationError:
        return None


def _library_usage(usage: RequestUsage) -> Usage:
    """Return the library's usage, which is 0 where nothing came."""
    if not usage.input_tokens and not usage.output_tokens:
        return Usage()
    thoughts = usage.details.get("reasoning_tokens", usage.details.get("thoughts_tokens"))
    return Usage(
        prompt=_read_count(usage, "input_tokens"),
        cached=_read_count(usage, "cache_read_tokens"),
        written=_read_count(usage, "cache_write_tokens") or None,  # only some count it
        output=_read_count(usage, "output_tokens"),
        reasoning=thoughts,
    )
