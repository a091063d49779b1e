"""The client of an endpoint, against a real server on loopback that does what real ones do."""

from __future__ import annotations

import asyncio
import builtins
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from teamworld.errors import UserError
from teamworld.reasoning.llm.answers import describe_form
from teamworld.reasoning.llm.contract import FORMS, Completion, Fault, Form, ProviderError, Request, Turn, Usage
from teamworld.reasoning.llm.keys import Secret
from teamworld.reasoning.llm.model_names import Endpoint, parse_endpoint
from teamworld.reasoning.llm.providers import best_form, check_installed, make_client
from tests.reasoning.llm import records
from tests.reasoning.llm.server import FAULTS, Peer

library = pytest.importorskip("teamworld.reasoning.llm.provider_client", reason="needs teamworld[llm]")

KEY = "sk-Test0123456789abcdef"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"goal": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["goal", "count"],
    "additionalProperties": False,
}
ASKED = "Choose.\n" + describe_form("text", SCHEMA)
GOOD = '{"goal": "x", "count": 0}'
#: The environment of somebody who uses OpenAI otherwise.
LEAKS = {
    "OPENAI_API_KEY": "leak-1",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/leak-2",
    "OPENAI_ORG_ID": "leak-3",
    "OPENAI_PROJECT_ID": "leak-4",
    "OPENAI_CUSTOM_HEADERS": "x-other: leak-5\nAuthorization: Bearer leak-6\nCookie: leak-7",
    "OPENAI_ADMIN_KEY": "leak-8",
    "HTTP_PROXY": "http://me:leak-9@127.0.0.1:9",
    "ALL_PROXY": "http://me:leak-9@127.0.0.1:9",
}


def request(form: Form = "schema", **changes: Any) -> Request:
    turns = (Turn("system", "You choose."), Turn("user", ASKED))
    sampling = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 70, "seed": 3}
    return records.request(
        **({"turns": turns, "answer": "Choice", "schema": SCHEMA, "form": form} | sampling | changes)
    )


def ask(name: str, asked: Request | None = None, key: str | None = KEY, read: float = 5.0) -> Completion | Fault:
    async def one() -> Completion | Fault:
        secret = None if key is None else Secret(key)
        made = make_client(parse_endpoint(name), secret, connect=2.0, read=read)
        try:
            return await made.complete(asked or request())
        except ProviderError as error:
            shown = "".join(traceback.format_exception(error)) + repr(error.__context__) + repr(vars(error))
            assert KEY not in shown
            return error.fault
        finally:
            await made.close()

    return asyncio.run(one())


def fault_of(name: str, asked: Request | None = None, read: float = 5.0) -> Fault:
    result = ask(name, asked, read=read)
    assert isinstance(result, Fault)
    assert result.text.isprintable()
    assert KEY not in result.text
    assert len(result.text) < 600
    return result


def completion_of(name: str, asked: Request | None = None) -> Completion:
    result = ask(name, asked)
    assert isinstance(result, Completion), result
    return result


@pytest.mark.parametrize("form", FORMS)
def test_good_answer_in_every_form(server: Peer, form: Form) -> None:
    server.set(cached=5, reasoning="so let me think a while")
    completion = completion_of(server.name("m"), request(form))
    assert completion == Completion(
        text=GOOD,
        finish="stop",
        usage=Usage(prompt=completion.usage.prompt, cached=5, output=completion.usage.output, reasoning=5),
        served="m-served",
    )
    assert completion.usage.prompt
    assert completion.usage.output
    sent = server.stats()["last"]
    asked = {
        "schema": sent.get("response_format", {}).get("json_schema", {}).get("schema"),
        "tool": sent.get("tools", [{}])[0].get("function", {}).get("parameters"),
        "json": sent.get("response_format", {}).get("type"),
        "text": None,
    }
    assert asked[form] == (SCHEMA if form in ("schema", "tool") else {"json": "json_object"}.get(form))
    assert ("response_format" in sent, "tools" in sent) == (form in ("schema", "json"), form == "tool")
    assert form != "tool" or sent["tool_choice"] == "required"


def test_what_is_sent(server: Peer) -> None:
    turns = (Turn("system", "S"), Turn("user", "U"), Turn("assistant", "A"), Turn("user", "again"))
    completion_of(server.name("m"), request("text", turns=turns))
    assert server.stats()["last"] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": "A"},
            {"role": "user", "content": "again"},
        ],
        "stream": False,
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 70,
        "seed": 3,
    }
    completion_of(server.name("m"), request("text", turns=turns, temperature=None, top_p=None, seed=None))
    assert not {"temperature", "top_p", "seed"} & server.stats()["last"].keys()


def test_a_model_that_always_reasons_gets_no_temperature(server: Peer) -> None:
    completion_of(server.name("o3"))
    assert not {"temperature", "top_p"} & server.stats()["last"].keys()


def test_usage_is_none_where_the_server_says_nothing(server: Peer) -> None:
    server.set("none", usage="none")
    server.set("plain", usage="plain")
    server.set("zero", usage="full")
    assert completion_of(server.name("none")).usage == Usage()
    plain = completion_of(server.name("plain")).usage
    assert plain.prompt
    assert plain.output
    assert plain.cached is plain.written is plain.reasoning is None
    zero = completion_of(server.name("zero")).usage
    assert (zero.cached, zero.reasoning) == (0, 0)


def test_reasoning_in_tags_is_kept_apart(server: Peer) -> None:
    server.set(think='Perhaps {"goal": "wrong", "count": 9}?')
    assert completion_of(server.name()).text.strip() == GOOD


@pytest.mark.parametrize(
    ("kind", "finish", "text"),
    [
        ("prose", "stop", "I would rather go left, but it depends."),
        ("schema", "stop", '{"unexpected": [1, 2, 3]}'),
        ("empty", "stop", ""),
        ("refusal", "refused", "I cannot help with that."),
        ("filter", "refused", ""),
        ("length", "length", GOOD[: len(GOOD) // 2]),
        ("usageless", "stop", GOOD),
        ("drip", "stop", GOOD),
        ("mislabelled", "stop", GOOD),
    ],
)
@pytest.mark.parametrize("form", ["schema", "tool"])
def test_odd_answers_come_through(server: Peer, form: Form, kind: str, finish: str, text: str) -> None:
    server.set(drip=0.1)
    completion = completion_of(server.name(f"always-{kind}"), request(form))
    assert (completion.finish, completion.text) == (finish, text)


_FAULTS = {
    "busy": ("busy", "HTTP 429: Rate limit reached"),
    "busy-after": ("busy", "HTTP 429: Rate limit reached"),
    "quota": ("denied", "current quota"),
    "error": ("broken", "HTTP 500: The server had an error"),
    "gateway": ("broken", "HTTP 502: Bad Gateway The proxy had no answer"),
    "drop": ("gone", "without sending a response"),
    "drop-body": ("gone", "the connection broke"),
    "cut": ("gone", "the connection broke"),
    "stall": ("late", "in time (read)"),
    "stall-body": ("late", "in time (read)"),
    "json": ("broken", "as JSON"),
    "type": ("broken", "JSON"),
    "choiceless": ("broken", "none of the protocol: odd choices"),
    "null": ("broken", "JSON"),
    "inband": ("broken", "The engine is overloaded"),
    "denied": ("denied", "look at the key and the account for 127.0.0.1"),
    "unknown": ("unknown", "does not exist; look at the model's name and the address"),
    "long": ("refused", "maximum context length"),
    "moderated": ("refused", "content policy"),
    "status-402": ("denied", "HTTP 402"),
    "status-403": ("denied", "HTTP 403"),
    "status-404": ("unknown", "HTTP 404"),
    "status-405": ("unknown", "HTTP 405"),
    "status-408": ("late", "HTTP 408"),
    "status-410": ("unknown", "HTTP 410"),
    "status-413": ("refused", "HTTP 413"),
    "status-422": ("refused", "HTTP 422"),
    "status-418": ("refused", "HTTP 418"),
    "status-409": ("broken", "HTTP 409"),
    "status-501": ("broken", "HTTP 501"),
    "status-503": ("broken", "HTTP 503"),
    "status-504": ("broken", "HTTP 504"),
    "status-529": ("busy", "HTTP 529"),
    "status-307": ("unknown", "sends requests on to another address"),
}
_ANSWERED = {"prose", "schema", "empty", "refusal", "filter", "length", "usageless", "drip", "mislabelled"}


def test_every_fault_of_the_server_is_looked_at() -> None:
    assert FAULTS.keys() == {name for name in _FAULTS if not name.startswith("status-")} | _ANSWERED


@pytest.mark.parametrize("kind", _FAULTS)
def test_every_fault_has_its_kind(server: Peer, kind: str) -> None:
    server.set(retry_after="7")
    fault = fault_of(server.name(f"always-{kind}"), read=0.5 if "stall" in kind else 5.0)
    expected, said = _FAULTS[kind]
    assert (fault.kind, fault.retry_after) == (expected, 7.0 if kind == "busy-after" else None)
    assert said in fault.text
    assert server.stats()["requests"] == 1, "only the gateway tries again"


@pytest.mark.parametrize("form", ["schema", "tool", "json"])
def test_a_form_that_is_not_taken_names_others(server: Peer, form: Form) -> None:
    server.set(forms=["text"])
    fault = fault_of(server.name("m"), request(form))
    assert fault.kind == "unfit"
    assert f"does not take --answers {form}: try --answers " in fault.text
    assert fault.text.endswith("text")


def test_a_server_that_shows_the_key(server: Peer) -> None:
    server.set(key="another")
    fault = fault_of(server.name("m"))
    assert fault.kind == "denied"
    assert "Incorrect API key provided: ***" in fault.text


def test_a_server_that_is_not_there(server: Peer) -> None:
    assert fault_of("http://127.0.0.1:1/v1#m").kind == "gone"
    assert fault_of(f"{server.host}#m").kind == "unknown"


def test_an_index_error_of_the_library_is_a_fault(server: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def odd(*args: object, **options: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(library, "model_request", odd)
    assert fault_of(server.name()) == Fault(
        kind="broken",
        text="an answer that is none of the protocol (IndexError: list index out of range)",
        usage=Usage(),  # it may have been an answer
    )


def test_cancelling_is_no_fault(server: Peer) -> None:
    async def one() -> None:
        made = make_client(parse_endpoint(server.name("always-stall")))
        try:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await made.complete(request())
        finally:
            await made.close()

    asyncio.run(one())


@pytest.mark.parametrize("key", [KEY, None])
def test_nothing_of_the_environment_goes_out(server: Peer, monkeypatch: pytest.MonkeyPatch, key: str | None) -> None:
    for name, value in LEAKS.items():
        monkeypatch.setenv(name, value)
    assert isinstance(ask(server.name(), key=key), Completion)
    stats = server.stats()
    assert list(stats["auth"]) == [f"Bearer {KEY}" if key else ""]
    assert "leak" not in str(stats["headers"])
    usual = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"}
    assert set(stats["headers"]) == usual | ({"authorization"} if key else set())


def test_the_providers_own_class_sends_nothing_of_the_environment_to_another_host(
    server: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in LEAKS.items():
        monkeypatch.setenv(name, value)

    async def one() -> Completion:
        made = make_client(Endpoint("openai", server.url, "gpt-4o"), Secret(KEY))
        try:
            return await made.complete(request())
        finally:
            await made.close()

    assert asyncio.run(one()).text == GOOD
    stats = server.stats()
    assert "leak" not in str(stats["headers"])
    assert stats["last"]["max_completion_tokens"] == 70
    assert stats["last"]["response_format"]["json_schema"]["strict"] is True


def test_many_at_once_through_several_pools(server: Peer) -> None:
    server.set(seconds=0.5)
    count = 3 * library.WIDTH + 1

    async def all_at_once() -> list[Completion]:
        made = make_client(parse_endpoint(server.name()), connect=60)
        try:
            asked = [request(turns=(Turn("user", f"{ASKED}\n{number}"),)) for number in range(count)]
            return await asyncio.gather(*map(made.complete, asked))
        finally:
            await made.close()

    assert {completion.text for completion in asyncio.run(all_at_once())} == {GOOD}
    stats = server.stats()
    assert stats["requests"] == stats["completions"] == len(stats["came"]) == count
    assert stats["peak"] > library.WIDTH


# Names, forms, packages


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("http://localhost:8000/v1#qwen3", "schema"),
        ("openai:gpt-4o", "schema"),
        ("anthropic:claude-sonnet-4-5", "schema"),
        ("anthropic:claude-3-5-haiku-latest", "tool"),
        ("google:gemini-2.5-flash", "schema"),
    ],
)
def test_best_form(name: str, form: Form) -> None:
    assert best_form(parse_endpoint(name)) == form


@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-x", "google:gemini-x"])
def test_a_provider_needs_a_key(name: str) -> None:
    with pytest.raises(UserError, match=r"needs a key: set \w+_API_KEY or TEAMWORLD_API_KEY"):
        make_client(parse_endpoint(name))


@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-x", "google:gemini-x", "http://localhost:1/v1#m"])
def test_each_class_is_made_offline_or_says_what_is_missing(name: str) -> None:
    async def make() -> None:
        await make_client(parse_endpoint(name), Secret(KEY)).close()

    package = {"anthropic": "anthropic", "google": "google.genai"}.get(parse_endpoint(name).provider, "openai")
    try:
        __import__(package)
    except ImportError:
        with pytest.raises(UserError, match=rf"pip install 'teamworld\[{parse_endpoint(name).provider}\]'"):
            asyncio.run(make())
    else:
        asyncio.run(make())


@pytest.mark.parametrize(("name", "package"), [("anthropic:claude-x", "anthropic"), ("google:gemini-x", "google")])
def test_what_a_provider_needs_is_asked_for_before_a_run_begins(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (package, *(name for name in sys.modules if name.startswith(f"{package}."))):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=rf"pip install 'teamworld\[{package}\]'"):
        check_installed(parse_endpoint(name))
    check_installed(parse_endpoint("openai:gpt-4o"))


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., ModuleType] = builtins.__import__

    def missing(name: str, *args: Any, **options: Any) -> ModuleType:
        if name.partition(".")[0] in ("pydantic_ai", "openai"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return real(name, *args, **options)

    for name in list(sys.modules):
        if name.startswith(
            (
                "pydantic_ai",
                "openai",
                "teamworld.reasoning.llm.provider_client",
                "teamworld.reasoning.llm.provider_errors",
            )
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("teamworld.reasoning.llm.provider_client", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    for act in (
        lambda: make_client(parse_endpoint("http://localhost:1/v1#m")),
        lambda: best_form(parse_endpoint("openai:gpt-4o")),
    ):
        with pytest.raises(UserError, match=r"pip install 'teamworld\[llm\]'"):
            act()
    assert best_form(parse_endpoint("http://localhost:1/v1#m")) == "schema"


# What the library makes of a request, without a network


@pytest.mark.parametrize("form", FORMS)
def test_the_librarys_own_model_takes_every_form(form: Form) -> None:
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert [type(part).__name__ for part in messages[0].parts] == ["SystemPromptPart", "UserPromptPart"]
        assert info.model_settings == {"max_tokens": 70, "seed": 3, "temperature": 0.5, "top_p": 0.9}
        mode = info.model_request_parameters.output_mode
        assert mode == {"schema": "native", "json": "prompted"}.get(form, form)
        thought = ThinkingPart('{"goal": "thought"}')
        if form == "tool":
            call = ToolCallPart(info.output_tools[0].name, {"goal": "ü"})
            return ModelResponse(parts=[thought, TextPart("Calling."), call])
        return ModelResponse(parts=[thought, TextPart('{"goal":'), TextPart(' "ü"}')])

    async def once() -> Completion:
        asked = request(form)
        response = await model_request(
            FunctionModel(answer),
            library.messages_of(asked.turns),
            model_settings=library.settings_of(asked, True),
            model_request_parameters=library.parameters_of(asked, None),
        )
        completion: Completion = library.completion_of(response, asked)
        return completion

    assert asyncio.run(once()).text == '{"goal": "ü"}'
