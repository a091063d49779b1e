"""Names of language models: what is read, what is refused, and that no password is repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.reasoning.llm.model_names import HOSTED, Endpoint, is_model, parse_endpoint


@pytest.mark.parametrize(
    ("name", "base", "model"),
    [
        ("openai:gpt-4o", "https://api.openai.com/v1", "gpt-4o"),
        (" OpenAI:ft:gpt-4o:org::id ", "https://api.openai.com/v1", "ft:gpt-4o:org::id"),
        ("anthropic:claude-sonnet-4-5", "https://api.anthropic.com", "claude-sonnet-4-5"),
        ("google:gemini-2.5-flash", "https://generativelanguage.googleapis.com", "gemini-2.5-flash"),
        ("http://localhost:8000/v1#qwen3", "http://localhost:8000/v1", "qwen3"),
        ("HTTP://LocalHost:8000/v1/#Qwen/Qwen3-8B", "http://localhost:8000/v1", "Qwen/Qwen3-8B"),
        ("https://api.example.org#deepseek-chat", "https://api.example.org", "deepseek-chat"),
        ("http://[::1]:11434/v1#llama3.2:3b", "http://[::1]:11434/v1", "llama3.2:3b"),
    ],
)
def test_reads(name: str, base: str, model: str) -> None:
    endpoint = parse_endpoint(name)
    assert is_model(name)
    assert (endpoint.base, endpoint.model) == (base, model)
    assert parse_endpoint(endpoint.name) == endpoint


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "openai:MODEL"),
        ("gpt-4o", "starts with 'gpt-4o'"),
        ("opanai:gpt-4o", "did you mean 'openai'"),
        ("openai:", "expected the name of a model"),
        ("openai:gpt 4o", "without blanks"),
        ("openai:a#b", "without blanks or '#'"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1#MODEL"),
        ("http://localhost:8000/v1#", "#MODEL"),
        ("http://#m", "expected a host"),
        ("http:localhost#m", "expected a host"),
        ("http://localhost:port/v1#m", "sound host and port"),
        ("http://localhost:99999/v1#m", "sound host and port"),
        ("http://[::1/v1#m", "sound host and port"),
        ("http://local host/v1#m", "without blanks"),
        ("http://localhost/v1?key=SECRET1#m", "without a query"),
        ("http://localhost/v1/chat/completions#m", "without the path of one call"),
        ("https://me:SECRET1@host/v1#m", "without user and password"),
        ("https://SECRET1@host/v1#m", "without user and password"),
        ("ftp://me:SECRET1@host/v1#m", "starts with 'ftp'"),
        ("https://api.openai.com/v1#gpt-4o", "expected openai:MODEL"),
        ("http://api.anthropic.com#x", "expected anthropic:MODEL"),
    ],
)
def test_refuses(name: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_endpoint(name)
    assert said in str(caught.value)
    assert "SECRET1" not in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    st.one_of(
        st.text(max_size=60),
        st.text("htps:/#@?[]%.ab1 \\\n\x00é", max_size=40).map(lambda tail: "http" + tail),
        st.tuples(st.sampled_from([*HOSTED, "http", "https"]), st.text(max_size=30)).map(":".join),
    )
)
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        endpoint = parse_endpoint(text)
    except UserError as error:
        assert str(error).isprintable()
    else:
        assert parse_endpoint(endpoint.name) == endpoint
        assert endpoint.host
        assert endpoint.model.isprintable()


@given(st.from_regex(r"[A-Za-z0-9]{8,20}", fullmatch=True), st.sampled_from(["{0}@", "me:{0}@", "{0}:x@", "a@{0}@"]))
def test_no_password_is_repeated(password: str, shape: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_endpoint(f"https://{shape.format(password)}host/v1#m")
    assert password not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://a.localhost", True),
        ("http://127.0.0.1:8000", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:8000", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org", False),
    ],
)
def test_this_machine(base: str, local: bool) -> None:
    assert Endpoint("server", base, "m").local is local


@pytest.mark.parametrize("name", ["rules", "rules:noise=0.1", "replay", "human", "gpt-4o", "httpx:a"])
def test_other_reasoners_are_not_models(name: str) -> None:
    assert not is_model(name)


@pytest.mark.parametrize("name", ["gguf:models/tiny.gguf", "GGUF:/some where/tiny.gguf", "gguf:~/tiny#2.gguf"])
def test_a_model_file_is_named_by_its_path(name: str) -> None:
    endpoint = parse_endpoint(name)
    assert endpoint == ("gguf", "", name[5:])
    assert is_model(name)
    assert endpoint.local
    assert not endpoint.shows_schema
    assert endpoint.host == ""


@pytest.mark.parametrize("name", ["gguf:", "gguf: ", "gguf:a\nb"])
def test_a_model_file_without_a_path_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="gguf:FILE"):
        parse_endpoint(name)
