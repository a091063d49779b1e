"""Find the key of an endpoint, and keep keys out of everything that is shown or stored.

A key is looked for in this order: the variable named by ``--key-env``; ``TEAMWORLD_API_KEY``; the provider's own
variable, such as ``OPENAI_API_KEY``, for the provider's own host only; the keys file, ``TEAMWORLD_KEYS`` or
``~/.config/teamworld/keys.toml``, readable by its owner alone, with lines such as::

    openai = "KEY"
    "gpu1.example.org:8000" = "KEY"

The first two name no host. Where a run talks to several hosts, they go to the only one that needs a key and has none
of its own, and never to this machine; where that is not one host, the run does not start.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from teamworld.errors import UserError
from teamworld.plain_files import open_file
from teamworld.reasoning.llm.lenient_json import ESCAPE, escaped_character
from teamworld.reasoning.llm.model_names import FILES, Endpoint
from teamworld.reasoning.untrusted_text import plain_characters

#: Holds a key for whatever endpoint a run names.
GENERIC = "TEAMWORLD_API_KEY"
#: Holds the path of the keys file.
KEYS_FILE = "TEAMWORLD_KEYS"
#: The variables that each provider's own tools read, first one that is set.
OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
HIDDEN = "***"
#: A key of fewer characters may be a word, such as ``EMPTY`` or ``ollama``.
SHORT = 8


class Secret:
    """A key: shows as ``***`` wherever it is printed, and cannot be pickled, copied or serialised."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key itself, for the header of a request."""
        return self._value

    def __repr__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return HIDDEN

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a key is not written down")


class Key(NamedTuple):
    """A key and where it was found."""

    secret: Secret
    source: str
    """``OPENAI_API_KEY``, or ``the keys file``."""


def find_keys(
    endpoints: Iterable[Endpoint], key_env: str | None = None, environ: Mapping[str, str] = os.environ
) -> dict[str, Key]:
    """Return the key of each host that has one, by ``Endpoint.host``.

    Args:
        endpoints: All that a run talks to; a path needs no key.
        key_env: Name of a variable that holds a key, as the user gave it.
        environ: The environment.

    Raises:
        UserError: A key that cannot be used, a keys file that others can read, or a key that names no host among
            several that could take it. No message shows a key.
    """
    hosts = {endpoint.host: endpoint for endpoint in endpoints if endpoint.provider not in FILES}
    filed = read_keys_file(environ)
    own: dict[str, Key] = {}
    for host, endpoint in hosts.items():
        if (key := _find_own_key(endpoint, filed, environ)) is not None:
            own[host] = key
    generic = _find_generic_key(key_env, environ, hosts)
    if generic is None:
        return own
    if len(hosts) <= 1:
        takers = list(hosts)
    else:
        takers = [host for host, endpoint in hosts.items() if host not in own and not endpoint.local]
    if len(takers) > 1:
        raise UserError(
            f"the key in {generic.source} could go to {' or '.join(sorted(takers))}: put a key for each host into the "
            f"keys file ({_keys_path(environ)})"
        )
    return own | dict.fromkeys(takers, generic)


def list_hosts(environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    """Return the hosts that the user's keys file names; raises ``UserError``."""
    return frozenset(read_keys_file(environ))


def require_key(endpoint: Endpoint, secret: Secret | None) -> Secret | None:
    """Return the key of an endpoint, None where none is needed; raises ``UserError``."""
    if secret is None and endpoint.provider in OWN:
        raise UserError(
            f"{endpoint.name} needs a key: set {OWN[endpoint.provider][0]} or {GENERIC}, "
            "name another variable with --key-env, or write it into the keys file"
        )
    return secret


def scrub(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Return text in one line without keys: the given ones, what looks like one, and what an address holds of them.

    Characters that are not shown, such as commands to a terminal, become blanks.
    """
    for secret in secrets:
        value = secret.reveal()
        # A short one is also a part of words.
        text = mask(text, value) if len(value) >= SHORT else re.sub(rf"\b{re.escape(value)}\b", HIDDEN, text)
    for pattern, shown in _KEYLIKE:
        text = pattern.sub(shown, text)
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def mask(text: str, value: str) -> str:
    """Return text in which a key is hidden, also where what reads the text later would spell its characters so.

    That is JSON, which undoes backslashes (a text within a text, ``_LAYERS`` deep), and a prompt that quotes the text
    (``untrusted_text``), where a wide character becomes a plain one and what nobody sees is gone.
    """
    spans: list[tuple[int, int]] = []
    read, places = text, array("I", range(len(text) + 1))  # where in the text each character that is read begins
    for _ in range(_LAYERS):
        spans += _find_spans(value, read, places)
        if not (read.isascii() and read.isprintable()):
            spans += _find_spans(value, *_replace(read, places, plain_characters(read)))
        if "\\" not in read:
            break
        read, places = _unescape(read, places)
    shown, since = [], 0
    for begin, end in sorted(spans):
        shown += [text[since:begin], HIDDEN] if begin >= since else []
        since = max(since, end)
    return "".join((*shown, text[since:]))


def _find_spans(value: str, read: str, places: array[int]) -> list[tuple[int, int]]:
    """Return where in the text a key begins and ends, wherever it is in what is read of the text."""
    spans: list[tuple[int, int]] = []
    at = read.find(value)
    while at >= 0:
        end = at + len(value)
        spans.append((places[at], max(places[end], places[end - 1] + 1)))  # what is one character is hidden whole
        at = read.find(value, end)
    return spans


def _replace(text: str, places: array[int], shown: list[str]) -> tuple[str, array[int]]:
    """Return a text with other characters in place of each of its own, and their places."""
    kept = array("I")
    for place, chars in zip(places, shown, strict=False):  # the last place is the end of the text
        kept.extend([place] * len(chars))
    kept.append(places[-1])
    return "".join(shown), kept


def _unescape(text: str, places: array[int]) -> tuple[str, array[int]]:
    """Return a text with its escapes undone, and the places of its characters."""
    pieces: list[str] = []
    kept, since = array("I"), 0
    for escape in ESCAPE.finditer(text):
        char = escaped_character(escape)
        pieces += text[since : escape.start()], char
        kept.extend(places[since : escape.start()])
        kept.extend(places[escape.start() : escape.start() + len(char)])
        since = escape.end()
    kept.extend(places[since:])
    return "".join((*pieces, text[since:])), kept


#: How many texts within texts are read at most: more than a reader of answers opens.
_LAYERS = 18
_KEYLIKE = [
    (re.compile(r"(?<=://)[^/?#\s@]*@"), f"{HIDDEN}@"),
    (re.compile(r"(?<=\w)\?[\w.%+-]+=[^\s'\"<>)]*"), f"?{HIDDEN}"),
    (re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*.-]{8,}"), HIDDEN),
    (re.compile(r"\bAIza[\w-]{20,}"), HIDDEN),
    (re.compile(r"(?i)\b(bearer|x-api-key|api[-_]key)([:=\s]\s*)(?=\S{0,300}?\d)[^\s'\",;)]{8,}"), rf"\1\2{HIDDEN}"),
]


def _make_secret(value: str, source: str) -> Secret:
    value = value.strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise UserError(f"expected a key in {source}, got text with blanks or characters that no key has")
    return Secret(value)


def _find_generic_key(key_env: str | None, environ: Mapping[str, str], hosts: Mapping[str, Endpoint]) -> Key | None:
    if key_env is None:
        value = environ.get(GENERIC, "").strip()
        return Key(_make_secret(value, GENERIC), GENERIC) if value else None
    # What was typed is not repeated: it may be the key itself.
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key_env) or not environ.get(key_env, "").strip():
        raise UserError("expected the name of a variable that is set for --key-env, got one that is not; never the key")
    for provider, names in OWN.items():
        if key_env in names and any(endpoint.provider != provider for endpoint in hosts.values()):
            raise UserError(f"{key_env} is only ever sent to {provider}; put the key of another host into {GENERIC}")
    return Key(_make_secret(environ[key_env], key_env), key_env)


def _find_own_key(endpoint: Endpoint, filed: Mapping[str, Secret], environ: Mapping[str, str]) -> Key | None:
    for name in OWN.get(endpoint.provider, ()):
        if value := environ.get(name, "").strip():
            return Key(_make_secret(value, name), name)
    secret = filed.get(endpoint.host) or (filed.get(endpoint.provider) if endpoint.provider in OWN else None)
    return None if secret is None else Key(secret, "the keys file")


def expand_home(path: str) -> Path:
    """Return a path with ``~`` as the home directory; where none is known it stays, and no such file is found."""
    return Path(os.path.expanduser(path))


def _keys_path(environ: Mapping[str, str]) -> Path:
    if named := environ.get(KEYS_FILE):
        return expand_home(named)
    config = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return expand_home(config) / "teamworld" / "keys.toml"


def read_keys_file(environ: Mapping[str, str] = os.environ) -> dict[str, Secret]:
    """Return the keys in the user's keys file by host or provider; none without such a file; raises ``UserError``."""
    path = _keys_path(environ)
    try:
        with open_file(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise UserError(f"the keys file {path} can be read by others: chmod 600 it")
            entries = tomllib.loads(file.read().decode("utf-8-sig"))
    except FileNotFoundError:
        if environ.get(KEYS_FILE):
            raise UserError(f"{KEYS_FILE} names a file that is not there: {path}") from None
        return {}
    except OSError as error:
        raise UserError(f"the keys file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, UserError):
            raise
        # The parser's own message may quote the line.
        raise UserError(f'expected lines such as openai = "KEY" in the keys file {path}, got other text') from None
    odd = [name for name, value in entries.items() if not isinstance(value, str)]
    if odd:
        raise UserError(f"expected a text as the key of '{odd[0]}' in the keys file {path}; quote names with a dot")
    return {name.lower(): _make_secret(value, f"the keys file {path}") for name, value in entries.items()}
