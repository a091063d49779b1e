"""Names of language models: a provider's by its name, any other by its server's address or its file."""

from __future__ import annotations

import socket
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from teamworld.errors import UserError, suggest

#: ``server``: any that speaks the OpenAI chat protocol, by its address. ``gguf``: a model file, run on this machine.
#: ``mailbox``: a folder in which somebody answers, see ``llm.mailbox``.
Provider: TypeAlias = Literal["openai", "anthropic", "google", "server", "gguf", "mailbox"]
#: Those that are a path on this machine, and ask no key.
FILES: tuple[Provider, ...] = ("gguf", "mailbox")
#: Each provider's own address; an environment variable that says otherwise is not followed.
HOSTED: dict[Provider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
_LONGEST = 2000  # characters of an address
EXPECTED = "openai:MODEL, anthropic:MODEL, google:MODEL, http://HOST:PORT/v1#MODEL, gguf:FILE or mailbox:DIR"


class Endpoint(NamedTuple):
    """One model and where it is served."""

    provider: Provider
    base: str
    """Address of the interface, without a slash at its end; of a model file or a mailbox, empty."""
    model: str
    """Of a model file or a mailbox, its path as the user wrote it."""

    @property
    def name(self) -> str:
        """As a user names it."""
        return f"{self.base}#{self.model}" if self.provider == "server" else f"{self.provider}:{self.model}"

    @property
    def shows_schema(self) -> bool:
        """Whether the model is shown the schema that it is held to: guided decoding alone does not show it."""
        return self.provider in HOSTED

    @property
    def host(self) -> str:
        """Host, and port where the address has one; of a path, empty."""
        return urlsplit(self.base).netloc

    @property
    def local(self) -> bool:
        """Whether it is this machine."""
        if self.provider in FILES:
            return True
        return _is_loopback(urlsplit(self.base).hostname or "")


@lru_cache(maxsize=64)
def _is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by its address, however that is written or named."""
    if host == "localhost" or host.endswith((".localhost", ".localdomain")):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        try:
            address = ip_address(socket.inet_aton(host))  # such as 127.1 and 0x7f000001
        except OSError:
            return "." not in host and _names_loopback(host)
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _names_loopback(host: str) -> bool:
    """Return whether all addresses of a name without a dot, such as ip6-localhost, are this machine's."""
    try:
        addresses = {str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return bool(addresses) and all(ip_address(address).is_loopback for address in addresses)


def is_model(name: str) -> bool:
    """Return whether a name is meant to be a language model's: ``parse`` reads it or says what is wrong with it."""
    head, colon, _ = name.strip().partition(":")
    return bool(colon) and head.lower() in (*HOSTED, "http", "https", *FILES)


def parse_endpoint(name: str) -> Endpoint:
    """Return the endpoint of a name; raises ``UserError``."""
    head, colon, rest = name.strip().partition(":")
    kind = head.lower()
    if colon and kind in ("http", "https"):
        return _parse_server(f"{kind}:{rest}")
    for files in FILES:
        if colon and kind == files:
            if not rest.strip() or not rest.isprintable():
                what = "model file in gguf:FILE" if files == "gguf" else "folder in mailbox:DIR"
                raise UserError(f"expected the path of a {what}; got '{_show(rest)}'")
            return Endpoint(files, "", rest.strip())
    for provider, base in HOSTED.items():
        if colon and kind == provider:
            return Endpoint(provider, base, _parse_model(rest, f"{provider}:MODEL"))
    # A name may hold a password in a scheme that is not known; only its start is repeated.
    hint = suggest(kind, [*HOSTED, "http", "https", *FILES]) if colon and kind.isalnum() else ""
    raise UserError(f"expected a language model as {EXPECTED}; got one that starts with '{_show(head)}'{hint}")


def _show(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)[:20]


def _parse_model(text: str, expected: str) -> str:
    model = text.strip()
    if not model or len(model) > 200 or "#" in model or any(not char.isprintable() or char == " " for char in model):
        raise UserError(f"expected the name of a model, without blanks or '#', in {expected}; got '{_show(model)}'")
    return model


def _parse_server(text: str) -> Endpoint:
    address, _, model = text.partition("#")
    expected = "http://HOST:PORT/v1#MODEL"
    if len(address) > _LONGEST:
        raise UserError(f"expected an address of at most {_LONGEST:,} characters in {expected}")
    if any(not char.isprintable() or char in ' \\<>"{}|^`' for char in address):
        raise UserError(f"expected an address without blanks and the like in {expected}")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise UserError(f"expected an address with a sound host and port in {expected}") from None
    if "@" in parts.netloc:
        raise UserError(f"expected {expected} without user and password; a key goes into TEAMWORLD_API_KEY")
    if "?" in address:
        raise UserError(f"expected {expected} without a query; a key goes into TEAMWORLD_API_KEY")
    if not parts.hostname:
        raise UserError(f"expected a host in {expected}")
    path = parts.path.rstrip("/")
    if path.endswith(("/chat/completions", "/models", "/completions")):
        raise UserError(f"expected the address of the interface, such as {expected}, without the path of one call")
    for provider, own in HOSTED.items():
        if parts.hostname == urlsplit(own).hostname:
            raise UserError(f"expected {provider}:MODEL for a model at {parts.hostname}, not an address")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    base = f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{path}"
    if not model:
        raise UserError(f"expected a model after the address: {base}#MODEL; teamworld doctor lists what is served")
    return Endpoint("server", base, _parse_model(model, expected))
