"""Check that a language model works as a reasoner: from its name to an answer, and what to do where that fails."""

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
from teamworld.reasoning.llm.model_names import Endpoint, parse_endpoint

#: Bytes of a list of models: some servers describe hundreds.
_LONGEST_LIST = 16 * 2**20
#: Where the common servers listen by default.
PORTS = "vLLM 8000, SGLang 30000, Ollama 11434, llama.cpp 8080, LM Studio 1234"
#: A model that reasons needs room before it answers.
ROOM = 2000
#: Characters that are shown of a model's name at most.
LONGEST_NAME = 200


class Check(NamedTuple):
    """The result of one check."""

    name: str
    ok: bool | None
    """None: unknown, or it does not matter."""
    result: str
    todo: str = ""
    """What to do about it; empty where there is nothing to do."""


class Grass(BaseModel):
    """The answer to the question that is asked."""

    colour: Literal["red", "green", "blue"]


class _Listing(NamedTuple):
    """The models that an endpoint lists; none where it lists none."""

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
    """Check everything that a run needs of a language model; stop where nothing further can succeed.

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
    nameless = name.strip().lower().startswith("http") and "#" not in name  # an address alone
    stage = "name"
    try:
        endpoint = _parse(name)
        if endpoint.provider == "mailbox":
            providers.check_installed(endpoint)
            return [Check("mailbox", True, f"{endpoint.model}: questions will wait there for whoever answers")]
        place = f"at {endpoint.base}" if endpoint.base else "run on this machine"
        checks.append(Check(stage, True, f"{'a model' if nameless else endpoint.model} {place}"))
        stage = "packages" if endpoint.base else "file"
        providers.check_installed(endpoint)
        stage = "key"
        key = keys.find_keys([endpoint, *map(_parse, team)], key_env, environ).get(endpoint.host)
        secret = keys.require_key(endpoint, None if key is None else key.secret)
        stage = "packages"
        client = providers.make_client(endpoint, secret, connect=connect, read=read)
        chosen = form or providers.best_form(endpoint)
    except UserError as error:
        return [*checks, Check(stage, False, "no", str(error))]
    try:
        if endpoint.provider == "gguf":
            checks.append(Check("packages", True, _versions("llama-cpp-python")))
            return checks + await _ask_all(endpoint, client, chosen, secret, read)
        checks += [Check("packages", True, _versions("pydantic-ai-slim", "openai")), _check_key(endpoint, key)]
        listing = await _list_models(endpoint, secret, connect, read)
        checks.append(listing.check)
        if listing.stop:
            return checks
        if nameless:
            shown = ", ".join(sorted(listing.models)) or "none"
            return [*checks, Check("model", False, "none is named", f"write {endpoint.base}#MODEL; listed: {shown}")]
        checks.append(_check_model(endpoint, listing.models))
        return checks + await _ask_all(endpoint, client, chosen, secret, read)
    finally:
        await client.close()


def _parse(name: str) -> Endpoint:
    """Return the endpoint of a name, of which the model may be missing."""
    return parse_endpoint(f"{name}#?" if name.strip().lower().startswith("http") and "#" not in name else name)


def _versions(*packages: str) -> str:
    return ", ".join(f"{package} {version(package)}" for package in packages)


def _check_key(endpoint: Endpoint, key: Key | None) -> Check:
    if key is None:
        return Check("key", None, "none; a server at an address needs none unless it says so")
    if endpoint.base.startswith("http://") and not endpoint.local:
        return Check("key", None, f"in {key.source}", "it goes over the network unencrypted: use https if you can")
    return Check("key", True, f"in {key.source}")


async def _list_models(endpoint: Endpoint, secret: Secret | None, connect: float, read: float) -> _Listing:
    """Ask an endpoint for its models, which also tells whether it is there and takes the key."""
    import httpx2

    path = {"anthropic": "/v1/models?limit=1000", "google": "/v1beta/models?pageSize=1000"}
    url = endpoint.base + path.get(endpoint.provider, "/models")
    library = providers.import_provider_client()
    try:
        async with (
            asyncio.timeout(connect + read),
            library.http(endpoint, secret, connect, read, most=_LONGEST_LIST) as web,
        ):
            response = await web.get(url, headers={"anthropic-version": "2023-06-01"})
            status, body = response.status_code, response.content
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        todo = "look at the address, the network and the proxy settings (HTTPS_PROXY, NO_PROXY)"
        if endpoint.local:
            todo = f"start the server, or look at host and port; usual ports: {PORTS}"
        problem = scrub(f"no: {str(error) or type(error).__name__}", () if secret is None else (secret,))
        return _Listing(Check("reachable", False, problem, todo), stop=True)
    if status in (401, 403):
        problem, todo = f"the key is not accepted by {endpoint.host}", "look at the key"
        if secret is None:
            problem = f"{endpoint.host} wants a key"
            todo = f"set {keys.GENERIC}, name a variable with --key-env, or use a keys file"
        return _Listing(Check("reachable", False, f"yes, but {problem} (HTTP {status})", todo), stop=True)
    models = _parse_listing(body, () if secret is None else (secret,)) if status == 200 else None
    if models is None:
        todo = "" if endpoint.base.endswith("/v1") else f"if the question below fails too, try {endpoint.base}/v1"
        return _Listing(Check("reachable", True, f"yes; it lists no models (HTTP {status})", todo))
    return _Listing(Check("reachable", True, f"yes; it lists {len(models)} models"), tuple(models))


def _parse_listing(body: bytes, secrets: Sequence[Secret]) -> list[str] | None:
    try:
        listed: Any = json.loads(body)
        entries = listed.get("data", listed.get("models"))
        names = [scrub(str(entry.get("id") or entry["name"]), secrets) for entry in entries]
        return [name.removeprefix("models/")[:LONGEST_NAME] for name in names]
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return None


def _check_model(endpoint: Endpoint, models: Sequence[str]) -> Check:
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
    places = asyncio.Semaphore(1 if endpoint.provider == "gguf" else len(FORMS))  # waiting for one is not timed

    async def ask(form: Form) -> Check:
        async with places:
            return await _ask(endpoint, client, form, () if secret is None else (secret,), seconds)

    first = (await ask(chosen))._replace(name=f"answers: {chosen}, as in a run")
    if first.ok is None:
        return [first._replace(ok=False)]
    others = [form for form in FORMS if form != chosen]
    rest = await asyncio.gather(*map(ask, others))
    working = [form for form, check in zip(others, rest, strict=True) if check.ok]
    if not first.ok and working:
        first = first._replace(todo=f"use --answers {working[0]}")
    unused = []
    for form, check in zip(others, rest, strict=True):  # may fail
        unused.append(check._replace(name=f"answers: {form}", ok=check.ok or None, todo=""))
    return [first, *unused]


async def _ask(endpoint: Endpoint, client: Client, form: Form, secrets: Sequence[Secret], seconds: float) -> Check:
    """Ask the question in one form; ok is None if no form would help."""
    schema = make_schema(Grass)
    prompt = "\n\n".join(filter(None, ("Which colour has grass: red, green or blue?", describe_form(form, schema))))
    request = Request(
        model=endpoint.name,
        turns=(Turn("system", "You answer questions in the form that is asked for."), Turn("user", prompt)),
        answer="Grass",
        schema=schema,
        form=form,
        max_tokens=ROOM,
    )
    start = time.perf_counter()
    try:
        async with asyncio.timeout(seconds):
            completion = await client.complete(request)
    except ProviderError as error:
        return _explain(error.fault)
    except TimeoutError:
        return _explain(Fault(kind="late", text=f"no answer in time ({seconds:g} s)"))
    took = f"{time.perf_counter() - start:.2f} s, {_count_tokens(completion)}"
    try:
        answer = read_answer(completion, Grass, form)
    except BadAnswer as bad:
        problem = scrub(f"{took}, but not usable ({bad.rejected.flaw}): {completion.text[:100]!r}", secrets)
        return Check("", False, problem, "try another form with --answers, or a larger model")
    return Check("", True, f"{took}: {answer.colour}")


def _explain(fault: Fault) -> Check:
    if fault.kind == "unfit":
        return Check("", False, f"not taken: {fault.text}")
    todo = {
        "denied": "see whether the key is right, and the account may use this model and has money left",
        "unknown": "take a model that is listed, or put the address right",
        "busy": "wait, or ask the provider for a higher limit",
        "late": "the model may still be loading, or be too slow: try again, or a smaller one",
    }
    return Check("", None, fault.text, todo.get(fault.kind, "look at the server's own log"))


def _count_tokens(completion: Completion) -> str:
    usage = completion.usage
    if usage.prompt is None and usage.output is None:
        return "tokens not counted by the server"
    return f"{usage.prompt} tokens in, {usage.output} out"
