"""Whether a language model can be used as a reasoner: from its name to an answer, and what to do where that fails."""

from __future__ import annotations

import asyncio
import difflib
import json
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from os import environ as environment
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from teamworld.errors import UserError
from teamworld.reasoning.contract import BadAnswer
from teamworld.reasoning.llm import keys, providers
from teamworld.reasoning.llm.answers import describe_form, make_schema, read_answer
from teamworld.reasoning.llm.contract import FORMS, Client, Completion, Fault, Form, ProviderError, Request, Turn
from teamworld.reasoning.llm.keys import Key, Secret, scrub
from teamworld.reasoning.llm.names import Endpoint, parse_endpoint

#: Where the common servers listen unless told otherwise.
PORTS = "vLLM 8000, SGLang 30000, Ollama 11434, llama.cpp 8080, LM Studio 1234"
#: A model that reasons needs room before it answers.
ROOM = 2000


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    ok: bool | None
    """None: it could not be told, or it does not matter."""
    found: str
    todo: str = ""
    """What to do about it; empty where nothing is to do."""


class Grass(BaseModel):
    """The answer to the question that is asked."""

    colour: Literal["red", "green", "blue"]


class _Listing(NamedTuple):
    """What an endpoint says it serves; no models where it does not say."""

    check: Check
    models: tuple[str, ...] = ()
    stop: bool = False
    """Nothing further can succeed."""


async def examine(
    name: str,
    *,
    key_env: str | None = None,
    form: Form | None = None,
    connect: float = providers.CONNECT,
    read: float = 60.0,
    environ: Mapping[str, str] = environment,
    team: Sequence[str] = (),
) -> list[Check]:
    """Look at everything that a run needs of a language model; stops where nothing further can succeed.

    Asks one small question in each form of the answer: four calls of some hundred tokens.

    Args:
        name: Of the model; of an address, the model may be missing.
        key_env: Name of the variable that holds the key.
        form: How the answer's form is asked for in the run; the best by what is known of the model if None.
        connect: Seconds until a connection must stand.
        read: Seconds that an answer may take, as ``--timeout`` in a run.
        environ: The environment, for the key.
        team: All models of the run: a key that names no host goes where the run would send it, and nowhere else.
    """
    checks: list[Check] = []
    nameless = _nameless(name)
    stage = "name"
    try:
        endpoint = _endpoint(name)
        place = f"at {endpoint.base}" if endpoint.base else "run in this process"
        checks.append(Check(stage, True, f"{'a model' if nameless else endpoint.model} {place}"))
        stage = "packages" if endpoint.base else "file"
        providers.check_installed(endpoint)
        stage = "key"
        found = keys.find_keys([endpoint, *map(_endpoint, team)], key_env, environ).get(endpoint.host)
        secret = keys.require_key(endpoint, None if found is None else found.secret)
        stage = "packages"
        client = providers.make_client(endpoint, secret, connect=connect, read=read)
        chosen = form or providers.best_form(endpoint)
    except UserError as error:
        return [*checks, Check(stage, False, "no", str(error))]
    try:
        if endpoint.provider == "gguf":
            checks.append(Check("packages", True, _versions("llama-cpp-python")))
            return checks + await _ask_all(endpoint, client, chosen, secret, read)
        checks += [Check("packages", True, _versions("pydantic-ai-slim", "openai")), _key(endpoint, found)]
        listing = await _list(endpoint, secret, connect, read)
        checks.append(listing.check)
        if listing.stop:
            return checks
        if nameless:
            shown = ", ".join(sorted(listing.models)) or "none"
            return [*checks, Check("model", False, "none is named", f"write {endpoint.base}#MODEL; listed: {shown}")]
        checks.append(_model(endpoint, listing.models))
        return checks + await _ask_all(endpoint, client, chosen, secret, read)
    finally:
        await client.close()


def _nameless(name: str) -> bool:
    """Whether it is an address alone."""
    return name.strip().lower().startswith("http") and "#" not in name


def _endpoint(name: str) -> Endpoint:
    return parse_endpoint(f"{name}#?" if _nameless(name) else name)


def _versions(*packages: str) -> str:
    return ", ".join(f"{package} {version(package)}" for package in packages)


def _key(endpoint: Endpoint, key: Key | None) -> Check:
    if key is None:
        return Check("key", None, "none; a server at an address needs none unless it says so")
    if endpoint.base.startswith("http://") and not endpoint.local:
        return Check("key", None, f"in {key.source}", "it goes over the network unencrypted: use https if you can")
    return Check("key", True, f"in {key.source}")


async def _list(endpoint: Endpoint, secret: Secret | None, connect: float, read: float) -> _Listing:
    """Ask an endpoint for its models, which also tells whether it is there and takes the key."""
    import httpx2

    path = {"anthropic": "/v1/models?limit=1000", "google": "/v1beta/models?pageSize=1000"}
    secrets = () if secret is None else (secret,)
    try:
        async with (
            asyncio.timeout(connect + read),
            providers.import_provider_client().http(endpoint, secret, connect, read) as web,
        ):
            response = await web.get(
                endpoint.base + path.get(endpoint.provider, "/models"), headers={"anthropic-version": "2023-06-01"}
            )
            status, body = response.status_code, response.content
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        todo = (
            f"start the server, or look at host and port; usual ports: {PORTS}"
            if endpoint.local
            else ("look at the address, the network and the proxy settings (HTTPS_PROXY, NO_PROXY)")
        )
        found = scrub(f"no: {str(error) or type(error).__name__}", secrets)
        return _Listing(Check("reachable", False, found, todo), stop=True)
    if status in (401, 403):
        source = f"the key is not accepted by {endpoint.host}" if secret else f"{endpoint.host} wants a key"
        todo = (
            "look at the key" if secret else f"set {keys.GENERIC}, name a variable with --key-env, or use a keys file"
        )
        return _Listing(Check("reachable", False, f"yes, but {source} (HTTP {status})", todo), stop=True)
    models = _models(body) if status == 200 else None
    if models is None:
        todo = "" if endpoint.base.endswith("/v1") else f"if the question below fails too, try {endpoint.base}/v1"
        return _Listing(Check("reachable", True, f"yes; it lists no models (HTTP {status})", todo))
    return _Listing(Check("reachable", True, f"yes; it lists {len(models)} models"), tuple(models))


def _models(body: bytes) -> list[str] | None:
    try:
        listed: Any = json.loads(body)
        entries = listed.get("data", listed.get("models"))
        return [scrub(str(entry.get("id") or entry["name"])).removeprefix("models/") for entry in entries]
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return None


def _model(endpoint: Endpoint, models: Sequence[str]) -> Check:
    if not models:
        return Check("model", None, "the endpoint does not say what it serves")
    if endpoint.model in models:
        return Check("model", True, f"{endpoint.model} is listed")
    lower = {model.lower(): model for model in models}
    near = [lower[match] for match in difflib.get_close_matches(endpoint.model.lower(), lower, n=5, cutoff=0.4)]
    shown = ", ".join(near or sorted(models)[:10])
    # Aliases and models of an account need not be listed; the question below decides.
    return Check("model", None, f"{endpoint.model} is not listed", f"{'near' if near else 'listed'}: {shown}")


async def _ask_all(
    endpoint: Endpoint, client: Client, chosen: Form, secret: Secret | None, seconds: float
) -> list[Check]:
    """Ask in the chosen form, then in the others if the model answers at all."""
    secrets = () if secret is None else (secret,)
    free = asyncio.Semaphore(1 if endpoint.provider == "gguf" else len(FORMS))  # the time does not run while one waits

    async def asked(form: Form) -> Check:
        async with free:
            return await _ask(endpoint, client, form, secrets, seconds)

    first = await asked(chosen)
    checks = [first._replace(name=f"answers: {chosen}, as in a run")]
    if first.ok is None:
        return [checks[0]._replace(ok=False)]
    others = [form for form in FORMS if form != chosen]
    rest = await asyncio.gather(*(asked(form) for form in others))
    for form, check in zip(others, rest, strict=True):
        # What is not used in a run may fail.
        checks.append(check._replace(name=f"answers: {form}", ok=check.ok or None, todo=""))
    working = [check.name.removeprefix("answers: ") for check in checks[1:] if check.ok]
    if not first.ok and working:
        checks[0] = first._replace(name=checks[0].name, todo=f"use --answers {working[0]}")
    return checks


async def _ask(endpoint: Endpoint, client: Client, form: Form, secrets: Sequence[Secret], seconds: float) -> Check:
    """Ask the question in one form; ok is None if no form would help."""
    schema = make_schema(Grass)
    asked = "\n\n".join(filter(None, ("Which colour has grass: red, green or blue?", describe_form(form, schema))))
    request = Request(
        model=endpoint.name,
        turns=(Turn("system", "You answer questions in the form that is asked for."), Turn("user", asked)),
        answer="Grass",
        schema=schema,
        form=form,
        temperature=None,
        top_p=None,
        max_tokens=ROOM,
        seed=None,
    )
    before = time.perf_counter()
    try:
        async with asyncio.timeout(seconds):
            completion = await client.complete(request)
    except ProviderError as error:
        return _failed(error.fault)
    except TimeoutError:
        return _failed(Fault(kind="late", text=f"no answer in time ({seconds:g} s)"))
    took = f"{time.perf_counter() - before:.2f} s, {_tokens(completion)}"
    try:
        answer = read_answer(completion, Grass, form)
    except BadAnswer as bad:
        found = scrub(f"{took}, but not usable ({bad.rejected.flaw}): {completion.text[:100]!r}", secrets)
        return Check("", False, found, "try another form with --answers, or a larger model")
    return Check("", True, f"{took}: {answer.colour}")


def _failed(fault: Fault) -> Check:
    if fault.kind == "unfit":
        return Check("", False, f"not taken: {fault.text}")
    todo = {
        "denied": "see whether the key is right, and the account may use this model and has money left",
        "unknown": "take a model that is listed, or put the address right",
        "busy": "wait, or ask the provider for a higher limit",
        "late": "the model may still be loading, or be too slow: try again, or a smaller one",
    }
    return Check("", None, fault.text, todo.get(fault.kind, "look at the server's own log"))


def _tokens(completion: Completion) -> str:
    usage = completion.usage
    if usage.prompt is None and usage.output is None:
        return "tokens not counted by the server"
    return f"{usage.prompt} tokens in, {usage.output} out"
