"""Answers with odd counts, refusals, and rate limits that no wait ends: what the client makes of each."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest import mock

import pytest

from teamworld.reasoning.llm.contract import Completion, Fault, ProviderError, Usage
from teamworld.reasoning.llm.keys import Secret
from teamworld.reasoning.llm.model_names import parse_endpoint
from tests.reasoning.llm.test_providers import request

library = pytest.importorskip("teamworld.reasoning.llm.provider_client", reason="needs teamworld[llm]")

SAID: dict[str, Any] = {"content": "{}"}
COUNTED: dict[str, Any] = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def came(status: int, body: object, key: str | None = None) -> Completion | Fault:
    """Return what the client makes of a server's reply: JSON, or the bytes of anything else."""
    httpx = library.httpx2
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}

    def web(*_: object) -> Any:  # noqa: ANN401  (no types without the extra)
        return httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(status, **sent)))

    async def ask() -> Completion | Fault:
        secret = None if key is None else Secret(key)
        client = library.ProviderClient(parse_endpoint("http://127.0.0.1:9/v1#m"), secret, 1.0, 1.0)
        try:
            result: Completion = await client.complete(request())
            return result
        except ProviderError as error:
            return error.fault
        finally:
            await client.close()

    with mock.patch.object(library, "http", web):
        return asyncio.run(ask())


def completion(message: dict[str, Any], usage: object = None, finish: str = "stop") -> Completion:
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    result = came(200, body if usage is None else body | {"usage": usage})
    assert isinstance(result, Completion), result
    return result


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({}, Usage()),
        ("none", Usage()),
        ([1], Usage()),
        (7, Usage()),
        ({"prompt_tokens": 5}, Usage(prompt=5)),
        ({"completion_tokens": 7}, Usage(output=7)),
        (dict.fromkeys(COUNTED), Usage()),
        (COUNTED | {"total_tokens": "twelve"}, Usage(prompt=5, output=7)),
        (COUNTED | {"prompt_tokens": "five"}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": ""}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": -5}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": 5.5}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": [5]}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": 2**50 + 1}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": 2**70}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": 1e300}, Usage(output=7)),
        (COUNTED | {"prompt_tokens": 2**50}, Usage(prompt=2**50, output=7)),
        (COUNTED | {"prompt_tokens_details": "x", "completion_tokens_details": []}, Usage(prompt=5, output=7)),
        (COUNTED | {"prompt_tokens_details": {}, "completion_tokens_details": {}}, Usage(prompt=5, output=7)),
        (
            COUNTED | {"prompt_tokens_details": {"cached_tokens": -1, "cache_write_tokens": "many"}},
            Usage(prompt=5, output=7),
        ),
        (
            COUNTED | {"completion_tokens_details": {"reasoning_tokens": 1.5, "audio_tokens": "loud"}},
            Usage(prompt=5, output=7),
        ),
        (
            COUNTED | {"prompt_tokens_details": {"cached_tokens": 3}, "queue_time": {"s": [0.1]}, "cost": 0.3},
            Usage(prompt=5, cached=3, output=7),
        ),
    ],
)
def test_an_odd_count_is_unknown_and_loses_no_answer(usage: object, counted: Usage) -> None:
    result = completion(SAID, usage)
    assert (result.text, result.finish, result.usage) == ("{}", "stop", counted)


@pytest.mark.parametrize(("count", "read"), [("5", 5), (5.0, 5), ("5.5", None), (None, None)])
def test_a_whole_number_is_read_however_it_is_written(count: object, read: int | None) -> None:
    assert completion(SAID, COUNTED | {"prompt_tokens": count}).usage.prompt == read
    assert completion(SAID, {"prompt_tokens": count}).usage.prompt == read  # also where other counts are missing


@pytest.mark.parametrize("finish", ["stop", "content_filter", "length"])
@pytest.mark.parametrize(
    "message",
    [
        {"content": None},
        {"content": ""},
        {"content": "I thought"},
        {},
        {"content": None, "tool_calls": [CALL]},
    ],
)
def test_a_refusal_comes_out_as_one_with_its_words(message: dict[str, Any], finish: str) -> None:
    result = completion(message | {"refusal": "I cannot help."}, COUNTED, finish)
    assert (result.text, result.finish, result.usage) == ("I cannot help.", "refused", Usage(prompt=5, output=7))


def test_an_empty_refusal_is_none() -> None:
    assert completion({"content": "{}", "refusal": ""}).finish == "stop"
    nothing = completion({"content": None, "refusal": None})
    assert (nothing.text, nothing.finish) == ("", "stop")


TOO_LARGE = "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 35000."
LIMITED = "Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 3500."


@pytest.mark.parametrize(
    ("status", "said", "code", "kind"),
    [
        (429, TOO_LARGE, "rate_limit_exceeded", "refused"),
        (429, "The request is too large for this tier.", "rate_limit_exceeded", "refused"),
        (413, TOO_LARGE, "rate_limit_exceeded", "refused"),
        (200, TOO_LARGE, "rate_limit_exceeded", "refused"),  # an error in place of an answer
        (429, LIMITED, "rate_limit_exceeded", "busy"),
        (200, LIMITED, "rate_limit_exceeded", "busy"),
        (429, "Too many requests, a large number of them at once.", None, "busy"),
        (429, "You exceeded your current quota.", "insufficient_quota", "denied"),
        (500, TOO_LARGE, None, "broken"),
    ],
)
def test_a_request_that_is_over_the_limit_by_itself_is_not_waited_with(
    status: int, said: str, code: str | None, kind: str
) -> None:
    result = came(status, {"error": {"message": said, "type": "tokens", "param": None, "code": code}})
    assert isinstance(result, Fault)
    assert result.kind == kind
    assert said.rstrip(".") in result.text
    assert ("waiting does not help" in result.text) == (kind == "refused" and status != 413)


@pytest.mark.parametrize(
    ("key", "said", "kept"),
    [
        ("a-long-key-17", "you sent a-long-key-17", "you sent ***"),
        ("a-long-key-17", r'{"goal": "a\u002dlong-key-17"}', '{"goal": "***"}'),  # as JSON may spell it
        ("a-long-key-17", r'{"goal": "\u0061\u002Dlong-key-17"}', '{"goal": "***"}'),
        ("a/long/key/17", r'{"goal": "a\/long/key\/17"}', '{"goal": "***"}'),
        ('a"long"key"17', r'{"goal": "a\"long\"key\"17"}', '{"goal": "***"}'),
        ("EMPTY", "the cell is EMPTY", "the cell is EMPTY"),  # what servers without keys are given is a word
    ],
)
def test_a_server_that_shows_the_key_in_its_answer(key: str, said: str, kept: str) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": f"m {key}", "choices": [choice]}
    result = came(200, body, key)
    assert isinstance(result, Completion)
    assert result.text == kept
    assert (key in result.served) == (kept == said)


@pytest.mark.timeout(60)  # each takes less than a second; were it not linear, it would be minutes
@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("body", [b"<" * 300_000, b"[" * 300_000, b'{"error":' * 100_000, b"bearer:" * 40_000, b""])
def test_no_body_breaks_or_holds_up_the_client(status: int, body: bytes) -> None:
    result = came(status, body)
    assert isinstance(result, Fault)
    assert len(result.text) < 600
    assert result.text.isprintable()
