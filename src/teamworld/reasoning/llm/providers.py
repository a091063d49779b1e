"""From the name of a language model to a client that reaches it. The provider library is imported when one is made."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from teamworld.errors import UserError
from teamworld.plain_files import open_file
from teamworld.reasoning.llm.child_process import ChildClient
from teamworld.reasoning.llm.contract import Client, Form
from teamworld.reasoning.llm.keys import Secret, expand_home, require_key, scrub
from teamworld.reasoning.llm.model_names import Endpoint

if TYPE_CHECKING:
    import types

#: Seconds until a connection stands, and between two pieces of an answer; a model that thinks sends nothing meanwhile.
CONNECT, READ = 10.0, 600.0
_SDKS = {"anthropic": "anthropic", "google": "google.genai"}


def check_installed(endpoint: Endpoint) -> None:
    """Check that the packages of an endpoint are installed, or what is at its path; raises ``UserError``."""
    if endpoint.provider == "mailbox":
        folder = expand_home(endpoint.model)
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file: expected a folder for questions and answers in mailbox:DIR")
        return
    if endpoint.provider != "gguf":
        import_provider_client()
        if not _is_installed(_SDKS.get(endpoint.provider, "openai")):
            raise UserError(
                f"{endpoint.name} needs the tools of its provider: pip install 'teamworld[{endpoint.provider}]'"
            )
        return
    path = expand_home(endpoint.model)
    try:
        with open_file(path) as file:
            magic = file.read(4)
    except OSError as error:
        raise UserError(f"the model file {path} cannot be read: {error.strerror}") from None
    if magic != b"GGUF":
        raise UserError(f"{path} is no model file in GGUF, the form that llama.cpp reads")
    if not _is_installed("llama_cpp"):
        raise UserError("a model file needs llama.cpp: pip install 'teamworld[local]' (it compiles for many minutes)")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def import_provider_client() -> types.ModuleType:
    """Return the module ``provider_client``, which imports the provider library; raises ``UserError``."""
    try:
        from teamworld.reasoning.llm import provider_client as module
    except ImportError as missing:
        if (missing.name or "").startswith("teamworld"):
            raise
        raise UserError("a language model as a reasoner needs more packages: pip install 'teamworld[llm]'") from None
    return module


def make_client(
    endpoint: Endpoint, secret: Secret | None = None, *, connect: float = CONNECT, read: float = READ
) -> Client:
    """Return a client of an endpoint; call it inside the event loop in which the client is used.

    Args:
        endpoint: What to reach.
        secret: The key, if one is needed.
        connect: Seconds until the connection must stand.
        read: Seconds between two pieces of an answer at most. A call as a whole has no limit here.

    Raises:
        UserError: A package is missing, or a key.
    """
    key = require_key(endpoint, secret)
    check_installed(endpoint)
    if endpoint.provider == "gguf":
        try:
            from teamworld.reasoning.llm.local import LocalClient
        except (ImportError, OSError, RuntimeError) as error:  # its compiled part does not fit this machine
            raise UserError(f"llama.cpp is installed but cannot be loaded ({scrub(str(error))[:200]})") from None
        return ChildClient(f"{LocalClient.__module__}:{LocalClient.__name__}", str(expand_home(endpoint.model)))
    made: Client = import_provider_client().ProviderClient(endpoint, key, connect, read)
    return made


def best_form(endpoint: Endpoint) -> Form:
    """Return the strictest form of an answer that a model supports, as far as is known of it.

    Of a server by its address nothing is known: the common ones (vLLM, SGLang, Ollama, llama.cpp, LM Studio) take a
    JSON schema; ``teamworld doctor`` tries. A model file is held to it.
    """
    if endpoint.provider == "mailbox":
        return "json"  # a question tells the form of its answer itself
    if endpoint.provider in ("server", "gguf"):
        return "schema"
    form: Form = import_provider_client().best_form(endpoint)
    return form
