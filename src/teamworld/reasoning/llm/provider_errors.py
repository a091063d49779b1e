"""Faults of a request, from the exceptions of the provider library. Only ``provider_client`` imports this."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import ValidationError
from pydantic_ai import exceptions as library

from teamworld.reasoning.llm.contract import FORMS, Fault, FaultKind, Form
from teamworld.reasoning.llm.keys import Secret, scrub
from teamworld.reasoning.llm.model_names import Endpoint

#: Characters of a fault's text at most.
LONGEST = 300

#: Categories of the library, most specific first. An account without money is as hopeless as a wrong key.
_KINDS: tuple[tuple[type[Exception], FaultKind], ...] = (
    (library.ModelQuotaExceededError, "denied"),
    (library.ModelAuthenticationError, "denied"),
    (library.ModelNotFoundError, "unknown"),
    (library.ModelRateLimitError, "busy"),
    (library.ModelOverloadedError, "busy"),
    (library.ModelContextWindowExceededError, "refused"),
    (library.ModelRequestRejectedError, "refused"),
    (library.ContentFilterError, "refused"),
    (library.ModelRequestTimeout, "late"),
    (library.ModelTimeoutError, "late"),
    (library.ModelConnectionError, "gone"),
    (library.UserError, "unfit"),
)
#: Statuses that the library files otherwise or not at all.
_STATUSES: dict[int, FaultKind] = {404: "unknown", 405: "unknown", 408: "late", 409: "broken", 410: "unknown"}

#: How servers speak of a form that they do not take.
_FORM_WORDS: dict[Form, str] = {
    "schema": r"response.?format|json.?schema|response.?schema|structured|guided|grammar|output.?format|json mode|mime",
    "tool": r"\btools?\b|tool.?choice|function.?call",
    "json": r"response.?format|json.?object|json mode|mime",
}
_SAMPLING = r"\b(temperature|top_p|seed|max_tokens|max_completion_tokens)\b"
_NOT_TAKEN = (
    r"unsupported|not support|unrecognized|unknown|not permitted|not allowed|only the default|too large|at most"
)
#: A rate limit that one request alone is over.
_TOO_LARGE = re.compile(r"request (is )?too large", re.IGNORECASE)

_HINTS: dict[FaultKind, str] = {
    "denied": "; look at the key and the account for {host}",
    "unknown": "; look at the model's name and the address: {name}",
}


def make_fault(error: Exception, endpoint: Endpoint, form: Form, secrets: Iterable[Secret]) -> Fault:
    """Return the fault that an exception of the library means, in words without keys."""
    status = error.status_code if isinstance(error, library.ModelHTTPError) else None
    said = _describe(error, endpoint)
    kind = _classify(error, status)
    hint = _HINTS.get(kind, "").format(host=endpoint.host, name=endpoint.name)
    if kind == "busy" and _TOO_LARGE.search(said):
        kind, hint = "refused", "; waiting does not help: fewer tokens may, with --sampling max_tokens=N"
    elif kind == "refused" or status in (500, 501):
        kind, hint = _explain_unfit(said, form) or (kind, hint)
    elif kind == "unfit":
        hint = _suggest_form(form)
    text = scrub(said, secrets)
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    before = "" if status is None else f"HTTP {status}: "
    wait = error.retry_after if isinstance(error, library.ModelAPIError) else None
    return Fault(kind=kind, text=f"{before}{text.rstrip('.')}{hint}", retry_after=wait)


def is_paid(error: Exception) -> bool:
    """Return whether a model may have worked for a request that came to nothing, as far as its exception tells.

    So it is where an answer was not to be used, came too late or broke off; not where the server refused the request
    by its status, said that it is busy, or was never reached.
    """
    if isinstance(error, library.ModelHTTPError | library.ModelRateLimitError | library.UserError) or _is_redirect(
        error
    ):
        return False
    return getattr(error, "phase", None) != "connect"


def _classify(error: Exception, status: int | None) -> FaultKind:
    if status in _STATUSES and not isinstance(error, library.ModelContextWindowExceededError):
        return _STATUSES[status]
    if isinstance(error, library.ModelTimeoutError) and error.phase == "connect":
        return "gone"
    if isinstance(error, library.ModelUnavailableError) and error.retry_after is not None:
        return "busy"
    if type(error) is library.ModelAPIError and _is_redirect(error):
        return "unknown"
    other: FaultKind = "refused" if status is not None and 400 <= status < 500 else "broken"
    return next((kind for category, kind in _KINDS if isinstance(error, category)), other)


def _is_redirect(error: Exception) -> bool:
    status = getattr(error.__cause__, "status_code", None)
    return isinstance(status, int) and 300 <= status < 400


def _explain_unfit(said: str, form: Form) -> tuple[FaultKind, str] | None:
    """Return kind and hint if a rejection is about the form of the answer or a sampling setting, not this question."""
    if setting := re.search(_SAMPLING, said):
        if re.search(_NOT_TAKEN, said, re.IGNORECASE):
            return "unfit", f"; the model does not take this {setting[0]}: set another, or none"
    elif form in _FORM_WORDS and re.search(_FORM_WORDS[form], said, re.IGNORECASE):
        return "unfit", _suggest_form(form)
    return None


def _suggest_form(form: Form) -> str:
    looser = FORMS[FORMS.index(form) + 1 :]
    return f"; the model does not take --answers {form}: try --answers {' or '.join(looser)}" if looser else ""


def _describe(error: Exception, endpoint: Endpoint) -> str:
    """Return what the server said, or else what happened."""
    body = error.body if isinstance(error, library.ModelAPIError) else None
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message", inner.get("detail")) if isinstance(inner, dict) else inner
        return str(message or body)
    if isinstance(body, str) and body.strip():
        return re.sub(r"<[^<>]*>", " ", body)  # the error page of a proxy
    if isinstance(error, library.ModelHTTPError):
        return "no reason given"
    if _is_redirect(error):
        return f"{endpoint.host} sends requests on to another address"
    if isinstance(error, library.ModelTimeoutError):
        return f"no answer of {endpoint.host} in time ({error.phase or 'unknown phase'})"
    if isinstance(error, library.ModelConnectionError):
        what = "no connection to" if error.phase == "connect" else "the connection broke with"
        return f"{what} {endpoint.host} ({_root_cause(error)})"
    if isinstance(error.__cause__, ValidationError):
        odd = ", ".join(".".join(map(str, detail["loc"])) for detail in error.__cause__.errors(include_url=False))
        return f"an answer that is none of the protocol: odd {odd}"
    if isinstance(error, library.AgentRunError | library.UserError):
        return str(error)
    return f"an answer that is none of the protocol ({type(error).__name__}: {error})"


def _root_cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
