"""The doctor: each thing that can be wrong with a model is found, and something is said to do about it."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest import mock

import pytest

from teamworld.reasoning.llm.contract import Form
from teamworld.reasoning.llm.doctor import Check, examine
from tests.reasoning.llm.server import Peer

library = pytest.importorskip("teamworld.reasoning.llm.provider_client", reason="needs teamworld[llm]")

KEY = "sk-Test0123456789abcdef"


def look(
    name: str,
    environ: dict[str, str] | None = None,
    form: Form | None = None,
    connect: float = 2.0,
    read: float = 3.0,
) -> dict[str, Check]:
    home = {"XDG_CONFIG_HOME": "/nowhere"}
    checks = asyncio.run(examine(name, form=form, connect=connect, read=read, environ=home | (environ or {})))
    assert KEY not in str(checks)
    assert str(checks).isprintable()
    for check in checks:
        assert check.result
        assert check.ok is not False or check.todo, "a failure says what to do"
    return {check.name: check for check in checks}


def failed(checks: dict[str, Check]) -> list[str]:
    return [name for name, check in checks.items() if check.ok is False]


def test_all_is_well(server: Peer) -> None:
    server.set("m", key=KEY)
    checks = look(server.name("m"), {"TEAMWORLD_API_KEY": KEY})
    assert {name: check.ok for name, check in checks.items()} == {
        "name": True,
        "packages": True,
        "key": True,
        "reachable": True,
        "model": True,
        "answers: schema, as in a run": True,
        "answers: tool": True,
        "answers: json": True,
        "answers: text": True,
    }
    assert checks["key"].result == "in TEAMWORLD_API_KEY"
    assert "tokens in" in checks["answers: schema, as in a run"].result
    assert server.stats()["requests"] == 4


def test_no_key_is_needed_at_an_address(server: Peer) -> None:
    checks = look(server.name("test-model"))
    assert failed(checks) == []
    assert checks["key"].ok is None


def test_form_that_is_not_taken(server: Peer) -> None:
    server.set("m", forms=["json", "text"])
    checks = look(server.name("m"))
    assert failed(checks) == ["answers: schema, as in a run"]
    assert checks["answers: schema, as in a run"].todo == "use --answers json"
    assert checks["answers: tool"].ok is None
    assert failed(look(server.name("m"), form="text")) == []


def test_nonsense_in_every_form(server: Peer) -> None:
    checks = look(server.name("always-prose"))
    assert failed(checks) == ["answers: schema, as in a run"]
    assert "not usable (json): 'I would rather" in checks["answers: schema, as in a run"].result
    assert "larger model" in checks["answers: schema, as in a run"].todo


def test_near_names(server: Peer) -> None:
    checks = look(server.name("Test-Modle"))
    assert checks["model"] == Check("model", None, "Test-Modle is not listed", "near: test-model, test-model-mini")


def test_address_without_a_model_lists_what_is_served(server: Peer) -> None:
    checks = look(server.url)
    assert failed(checks) == ["model"]
    assert checks["model"].todo == f"write {server.url}#MODEL; listed: test-model, test-model-mini"
    assert server.stats()["requests"] == 0


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("always-unknown", "does not exist"),
        ("always-denied", "Incorrect API key"),
        ("always-stall", "in time"),
        ("always-busy", "HTTP 429"),
        ("always-error", "HTTP 500"),
        ("always-drop", "connection broke"),
    ],
)
def test_a_fault_ends_it_after_one_call(server: Peer, model: str, says: str) -> None:
    checks = look(server.name(model), read=0.5 if "stall" in model else 3.0)
    assert failed(checks) == [list(checks)[-1]] == ["answers: schema, as in a run"]
    assert says in checks["answers: schema, as in a run"].result
    assert server.stats()["requests"] == 1


@pytest.mark.parametrize(("environ", "says"), [({}, "wants a key"), ({"TEAMWORLD_API_KEY": KEY}, "not accepted")])
def test_keys_that_are_missing_or_wrong(server: Peer, environ: dict[str, str], says: str) -> None:
    server.set(key="right")
    checks = look(server.name("m"), environ)
    assert failed(checks) == ["reachable"]
    assert says in checks["reachable"].result


def test_path_that_is_not_there(server: Peer) -> None:
    checks = look(f"{server.host}#m")
    assert f"try {server.host}/v1" in checks["reachable"].todo
    assert failed(checks) == ["answers: schema, as in a run"]


def test_nobody_there() -> None:
    checks = look("http://127.0.0.1:1/v1#m")
    assert failed(checks) == ["reachable"]
    assert "Ollama 11434" in checks["reachable"].todo


@pytest.mark.parametrize(
    ("name", "environ", "stage", "todo"),
    [
        ("gpt-4o", {}, "name", "expected a language model as"),
        ("http://me:sk-Test0123456789abcdef@host/v1#m", {}, "name", "without user and password"),
        ("openai:gpt-4o", {}, "key", "set OPENAI_API_KEY or TEAMWORLD_API_KEY"),
        ("openai:gpt-4o", {"OPENAI_API_KEY": f"{KEY} {KEY}"}, "key", "expected a key in OPENAI_API_KEY"),
    ],
)
def test_what_fails_before_the_network(name: str, environ: dict[str, str], stage: str, todo: str) -> None:
    checks = look(name, environ)
    assert failed(checks) == [stage]
    assert todo in checks[stage].todo


def test_key_that_goes_unencrypted(server: Peer) -> None:
    del server
    checks = look("http://no-such-host.invalid/v1#m", {"TEAMWORLD_API_KEY": KEY})
    assert checks["key"].ok is None
    assert "https" in checks["key"].todo


def replied(listing: bytes, wait: float = 0.0, environ: dict[str, str] | None = None) -> dict[str, Check]:
    """Return what is found at a server that lists its models so, and takes its time."""
    httpx = library.httpx2

    async def reply(request: Any) -> Any:  # noqa: ANN401  (no types without the extra)
        await asyncio.sleep(wait)
        return httpx.Response(200, content=listing)

    def web(*_: object, **bounds: int) -> Any:  # noqa: ANN401
        return httpx.AsyncClient(transport=httpx.MockTransport(reply))

    with mock.patch.object(library, "http", web):
        return look("http://127.0.0.1:9/v1#m", environ, connect=0.1 if wait else 2.0, read=0.1 if wait else 3.0)


@pytest.mark.parametrize("listing", [b"[" * 200_000, b'{"data":' * 100_000, b"\xff", b"", b'{"data":{"id":1}}'])
def test_a_listing_that_is_none(listing: bytes) -> None:
    assert replied(listing)["reachable"].result == "yes; it lists no models (HTTP 200)"


def test_names_of_models_cannot_command_the_terminal() -> None:
    checks = replied(b'{"data":[{"id":"\\u001b[31mred\\u001b]0;x\\u0007"},{"id":"two\\nlines"}]}')
    assert checks["model"].todo == "listed: [31mred ]0;x, two lines"


@pytest.mark.parametrize("key", [KEY, "0123456789abcdef"])
def test_a_listed_key_is_not_shown(key: str) -> None:
    checks = replied(f'{{"data":[{{"id":"x-{key}"}}]}}'.encode(), environ={"TEAMWORLD_API_KEY": key})
    assert checks["model"].todo == "listed: x-***"


def test_names_of_models_are_short() -> None:
    assert replied(b'{"data":[{"id":"' + 1_000_000 * b"x" + b'"}]}')["model"].todo == f"listed: {200 * 'x'}"


def test_a_server_that_drips_is_not_waited_for_without_end() -> None:
    checks = replied(b"", wait=30.0)
    assert failed(checks) == ["reachable"]
    assert checks["reachable"].result == "no: TimeoutError"
