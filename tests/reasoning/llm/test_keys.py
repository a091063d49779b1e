"""Keys: where each comes from, to whom it may go, and that nothing shows it."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.reasoning.llm.keys import Secret, find_keys, mask, scrub
from teamworld.reasoning.llm.lenient_json import ESCAPE, escaped_character
from teamworld.reasoning.llm.model_names import parse_endpoint
from teamworld.reasoning.untrusted_text import quoted

KEY = "sk-Test0123456789abcdef"
OPENAI, CLAUDE, GEMINI = parse_endpoint("openai:a"), parse_endpoint("anthropic:a"), parse_endpoint("google:a")
LOCAL, FAR, FARTHER = (
    parse_endpoint("http://localhost:1/v1#a"),
    parse_endpoint("https://far.org/v1#a"),
    parse_endpoint("https://farther.org/v1#a"),
)


def found(names: list[object], environ: dict[str, str], key_env: str | None = None) -> dict[str, tuple[str, str]]:
    keys = find_keys(names, key_env, {"XDG_CONFIG_HOME": "/nowhere", **environ})  # type: ignore[arg-type]
    return {host: (key.secret.reveal(), key.source) for host, key in keys.items()}


def filed(folder: Path, text: str, mode: int = 0o600) -> dict[str, str]:
    path = folder / "keys.toml"
    path.write_text(text)
    path.chmod(mode)
    return {"TEAMWORLD_KEYS": str(path)}


def test_a_providers_own_key_goes_to_its_own_host_only() -> None:
    environ = {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g"}
    assert found([OPENAI, CLAUDE, GEMINI, LOCAL, FAR], environ) == {
        "api.openai.com": ("o", "OPENAI_API_KEY"),
        "api.anthropic.com": ("a", "ANTHROPIC_API_KEY"),
        "generativelanguage.googleapis.com": ("g", "GEMINI_API_KEY"),
    }


def test_order() -> None:
    environ = {"OPENAI_API_KEY": "own", "TEAMWORLD_API_KEY": "generic", "MINE": "named"}
    assert found([OPENAI], environ, "MINE") == {"api.openai.com": ("named", "MINE")}
    assert found([OPENAI], environ) == {"api.openai.com": ("generic", "TEAMWORLD_API_KEY")}
    assert found([OPENAI], environ | {"TEAMWORLD_API_KEY": " "}) == {"api.openai.com": ("own", "OPENAI_API_KEY")}
    assert found([GEMINI], {"GOOGLE_API_KEY": "1", "GEMINI_API_KEY": "2"})[GEMINI.host] == ("1", "GOOGLE_API_KEY")


def test_one_host_gets_the_generic_key_wherever_it_is() -> None:
    assert found([LOCAL], {"TEAMWORLD_API_KEY": "k"}) == {"localhost:1": ("k", "TEAMWORLD_API_KEY")}
    assert found([FAR, FAR._replace(model="b")], {"TEAMWORLD_API_KEY": "k"}) == {"far.org": ("k", "TEAMWORLD_API_KEY")}


def test_of_several_hosts_the_one_without_a_key_gets_the_generic_one() -> None:
    environ = {"OPENAI_API_KEY": "own", "TEAMWORLD_API_KEY": "k"}
    assert found([OPENAI, LOCAL, FAR], environ) == {
        "api.openai.com": ("own", "OPENAI_API_KEY"),
        "far.org": ("k", "TEAMWORLD_API_KEY"),
    }
    assert found([OPENAI, LOCAL], environ) == {"api.openai.com": ("own", "OPENAI_API_KEY")}


def test_a_key_that_could_go_to_two_hosts_goes_to_none() -> None:
    with pytest.raises(UserError, match="far.org or farther.org") as caught:
        found([FAR, FARTHER], {"TEAMWORLD_API_KEY": KEY})
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("typed", [KEY, "NOT_SET", "", "a b", KEY.replace("-", "_")])
def test_what_is_typed_for_key_env_is_never_repeated(typed: str) -> None:
    with pytest.raises(UserError, match="name of a variable that is set") as caught:
        found([FAR], {"EMPTY": ""}, typed)
    assert not typed or typed not in str(caught.value)


def test_key_env_does_not_send_a_providers_key_elsewhere() -> None:
    assert found([OPENAI], {"OPENAI_API_KEY": "o"}, "OPENAI_API_KEY") == {"api.openai.com": ("o", "OPENAI_API_KEY")}
    with pytest.raises(UserError, match="only ever sent to openai"):
        found([FAR], {"OPENAI_API_KEY": KEY}, "OPENAI_API_KEY")


def test_file(tmp_path: Path) -> None:
    environ = filed(tmp_path, 'openai = "o"\n"Far.org" = "f"\nserver = "never"\n"localhost:1" = "l"\n')
    assert found([OPENAI, FAR, FARTHER, LOCAL], environ) == {
        "api.openai.com": ("o", "the keys file"),
        "far.org": ("f", "the keys file"),
        "localhost:1": ("l", "the keys file"),
    }
    assert found([OPENAI], environ | {"OPENAI_API_KEY": "own"}) == {"api.openai.com": ("own", "OPENAI_API_KEY")}


def test_file_in_the_usual_place(tmp_path: Path) -> None:
    (tmp_path / "teamworld").mkdir()
    filed(tmp_path / "teamworld", 'openai = "o"')
    assert found([OPENAI], {"XDG_CONFIG_HOME": str(tmp_path)}) == {"api.openai.com": ("o", "the keys file")}
    assert found([OPENAI], {"XDG_CONFIG_HOME": str(tmp_path / "not")}) == {}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o604])
def test_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(UserError, match="chmod 600"):
        found([OPENAI], filed(tmp_path, f'openai = "{KEY}"', mode))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"openai = {KEY}", "expected lines such as"),
        (f'openai "{KEY}"', "expected lines such as"),
        (f'far.org = "{KEY}"', "quote names with a dot"),
        (f'openai = "{KEY} {KEY}"', "expected a key in"),
        (f'openai = "{KEY}é"', "expected a key in"),
    ],
)
def test_bad_file_shows_no_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        found([OPENAI], filed(tmp_path, text))
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_file_with_the_mark_that_windows_puts_first(tmp_path: Path) -> None:
    assert found([OPENAI], filed(tmp_path, '\ufeffopenai = "o"')) == {"api.openai.com": ("o", "the keys file")}


def test_without_a_home_directory_there_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as it does where none is known
    assert found([OPENAI], {}) == {}
    with pytest.raises(UserError, match="not there: ~nobody-of-this-name/keys"):
        found([OPENAI], {"TEAMWORLD_KEYS": "~nobody-of-this-name/keys.toml"})


def test_named_file_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not there"):
        found([OPENAI], {"TEAMWORLD_KEYS": str(tmp_path / "none.toml")})
    with pytest.raises(UserError, match="cannot be read"):
        found([OPENAI], {"TEAMWORLD_KEYS": str(tmp_path)})


@pytest.mark.parametrize("bad", ["two words", "k\ney", "ké"])
def test_bad_variable_shows_no_key(bad: str) -> None:
    with pytest.raises(UserError, match="expected a key in OPENAI_API_KEY") as caught:
        found([OPENAI], {"OPENAI_API_KEY": bad})
    assert bad not in str(caught.value)


def test_a_secret_shows_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(KEY)
    logging.getLogger("test").warning("%s %r %s", secret, [secret], {"key": secret})
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>30}", f"{secret!r}", str([secret])]
    assert not [text for text in [*shown, caplog.text] if KEY in text]
    assert not hasattr(secret, "__dict__")
    for write in (pickle.dumps, copy.copy, copy.deepcopy, json.dumps, msgspec.json.encode, msgspec.to_builtins):
        with pytest.raises(TypeError) as caught:
            write(secret)
        assert KEY not in str(caught.value)


@given(
    st.from_regex(r"[A-Za-z0-9_\-.+/=]{8,60}", fullmatch=True),
    st.text(max_size=40),
    st.text(max_size=40),
)
def test_scrub_leaves_nothing_of_a_key(key: str, before: str, after: str) -> None:
    text = scrub(f"{before}{key}{after}", [Secret(key)])
    assert key not in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Incorrect API key provided: sk-proj-Ab12****9xyz.", "Incorrect API key provided: ***"),
        ("at https://me:pass@host/v1?key=abc123&x=1 now", "at https://***@host/v1?*** now"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("header x-api-key: abcdef123456,", "header x-api-key: ***,"),
        ("no route to AIzaSyA1234567890123456789012345", "no route to ***"),
        ("the bearer of this message, which? none", "the bearer of this message, which? none"),
        ("two\n  lines", "two lines"),
        ("\x1b]0;title\x07\x1b[31mred\u202e", "]0;title [31mred"),
    ],
)
def test_scrub_knows_what_looks_like_a_key(text: str, left: str) -> None:
    assert scrub(text).rstrip(".") == left


@pytest.mark.timeout(60)  # each takes less than a second; were it not linear, it would be minutes
@pytest.mark.parametrize("part", ["bearer:", "bearer ", "api-key=x", "://", "a?", "a?b", "a?b=", "sk-", " "])
def test_no_text_takes_long_to_scrub(part: str) -> None:
    assert len(scrub(part * (300_000 // len(part)), [Secret(KEY)])) <= 300_000


def test_a_short_key_does_not_garble_words() -> None:
    assert scrub("the x of axis x", [Secret("x")]) == "the *** of axis ***"


def nest(text: str, depth: int) -> str:
    return f'"{text}"' if depth == 0 else json.dumps({"a": nest(text, depth - 1)})


def spell(key: str, shape: str) -> str:
    return "".join(shape.format(ord(char)) for char in key)


SPELLINGS: list[Callable[[str], str]] = [
    lambda key: key,
    lambda key: spell(key, "\\x{:02x}"),
    lambda key: spell(key, "\\u{:04X}"),
    lambda key: spell(key, "\\U{:08x}"),
    lambda key: spell(key, "\\u005cu{:04x}"),
    lambda key: f"{key[:5]}\\\n{key[5:]}",
    lambda key: "".join(f"\\{char}" if not char.isalnum() else char for char in key),
    lambda key: json.dumps(json.dumps({"a": json.dumps(key)})),
    lambda key: nest(spell(key, "\\u{:04x}"), 5),
]
#: As a prompt would quote it: wide characters, nothing between them that is seen.
QUOTED: list[Callable[[str], str]] = [
    lambda key: "".join(chr(ord(char) + 0xFEE0) for char in key),
    lambda key: "\u200b".join(key),
    lambda key: "\u3164\u202e\x1b[31m".join(key),
    lambda key: json.dumps("\u200b".join(key)),
    lambda key: f"{key[:4]}\U000e0041{key[4:]}",
]


@given(
    st.from_regex(r"[!-~]{8,40}", fullmatch=True),
    st.sampled_from(SPELLINGS),
    st.text(max_size=10),
    st.text(max_size=10),
)
def test_a_key_is_hidden_however_it_is_spelled(
    key: str, spelled: Callable[[str], str], before: str, after: str
) -> None:
    before = before.rstrip("\\")  # it would belong to the first escape
    text = scrub(f"{before} {spelled(key)}{after}", [Secret(key)])
    for _ in range(6):
        assert key not in text
        text = ESCAPE.sub(escaped_character, text)


@given(st.from_regex(r"[!#-;A-Z_a-z]{8,40}", fullmatch=True), st.sampled_from(QUOTED), st.text(max_size=10))
def test_a_key_that_a_quotation_would_show_is_hidden(key: str, spelled: Callable[[str], str], before: str) -> None:
    before = before.replace("\x1b", "").rstrip("\\")
    text = scrub(f"{before} {spelled(key)} and more", [Secret(key)])
    for _ in range(3):
        assert key not in quoted(text, 10_000)
        text = ESCAPE.sub(escaped_character, text)


def test_only_the_key_is_hidden_of_a_text_that_shows_more() -> None:
    wide = "".join(chr(ord(char) + 0xFEE0) for char in KEY)
    assert mask(f"Größe\u200b {wide}\u200b: ok ✓ {KEY}.", KEY) == "Größe\u200b ***: ok ✓ ***."


@given(st.text(alphabet='abxu05c\\"{}41 \n', max_size=60))
def test_nothing_else_is_hidden(text: str) -> None:
    assert mask(text, KEY) == text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("part", ["\\", "\\x41", "\\u005c", "\\\\u0041", "\u200b", "ﷺ", "\x1b["])
def test_no_text_takes_long_to_mask(part: str) -> None:
    text = part * (300_000 // len(part))
    assert mask(text, KEY) == text
