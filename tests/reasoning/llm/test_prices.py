"""Prices: the formula, the published ones against the library that holds them, the user's own, and bad files."""

from __future__ import annotations

import datetime
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.reasoning.llm import prices as module
from teamworld.reasoning.llm.contract import Usage
from teamworld.reasoning.llm.prices import Prices, Rates
from tests.reasoning.llm.records import USAGES

NOON = datetime.datetime(2026, 10, 1, 12, tzinfo=datetime.UTC).timestamp()

OWN = """
date: 2026-11-20
source: our contract
models:
  openai:gpt-4o: {prompt: 1, cached: 0.25, output: 4}
  http://localhost:8000/v1#qwen3: {prompt: 0, output: 0}
  anthropic:made-up: {prompt: 2.5, written: 5, output: 10}
"""


@pytest.fixture
def own(tmp_path: Path) -> Prices:
    file = tmp_path / "prices.yaml"
    file.write_text(OWN)
    return Prices.load(file)


# ---- the formula

RATES = Rates(prompt=((0, 2.0),), cached=((0, 0.5),), written=((0, 3.0),), output=((0, 10.0),))


@pytest.mark.parametrize(
    ("usage", "micro"),
    [
        (Usage(prompt=100, output=10), 100 * 2 + 10 * 10),
        (Usage(prompt=100, cached=60, output=10), 40 * 2 + 60 * 0.5 + 100),
        (Usage(prompt=100, cached=60, output=10, reasoning=9), 40 * 2 + 60 * 0.5 + 100),  # the output holds it
        (Usage(prompt=100, cached=60, written=30, output=10), 10 * 2 + 60 * 0.5 + 30 * 3 + 100),
        (Usage(prompt=100, cached=0, output=0), 200),
        (Usage(prompt=0, output=0), 0),
        (Usage(prompt=100, cached=500, written=7, output=0), 50),  # a provider's slip: no more than the prompt
    ],
)
def test_the_formula(usage: Usage, micro: float) -> None:
    assert RATES.price(usage) == pytest.approx(micro / 1e6)


@pytest.mark.parametrize("usage", [Usage(), Usage(prompt=5), Usage(output=5), Usage(cached=1, reasoning=2)])
def test_tokens_that_nobody_counted_have_no_price(usage: Usage) -> None:
    assert RATES.price(usage) is None


def test_above_a_step_the_whole_call_is_dearer() -> None:
    rates = RATES._replace(prompt=((0, 2.0), (200, 4.0), (500, 8.0)), output=((0, 10.0), (200, 15.0)))
    for prompt, price, output in ((200, 2, 10), (201, 4, 15), (500, 4, 15), (501, 8, 15), (0, 2, 10)):
        assert rates.price(Usage(prompt=prompt, output=1)) == pytest.approx((prompt * price + output) / 1e6)


@given(USAGES, USAGES)
def test_more_tokens_never_cost_less(one: Usage, more: Usage) -> None:
    if None in (one.prompt, one.output, more.prompt, more.output):
        return
    assert one.prompt is not None and more.prompt is not None  # noqa: PT018  (for mypy)
    assert one.output is not None and more.output is not None  # noqa: PT018
    both = Usage(prompt=one.prompt + more.prompt, output=one.output + more.output)
    price, single = RATES.price(both), RATES.price(Usage(prompt=one.prompt, output=one.output))
    assert price is not None
    assert single is not None
    assert price >= single >= 0


# ---- published prices


@pytest.mark.parametrize(
    "model",
    [
        "openai:gpt-4o",
        "openai:gpt-5.6-sol",  # writing its cache costs extra
        "anthropic:claude-sonnet-4-5",  # long prompts cost more
        "google:gemini-2.5-pro",
        "https://api.deepseek.com/v1#deepseek-chat",  # nights cost less
        "https://api.groq.com/openai/v1#llama-3.1-8b-instant",
    ],
)
@given(
    prompt=st.integers(0, 400_000),
    cached=st.floats(0, 1),
    written=st.floats(0, 1),
    output=st.integers(0, 10_000),
    minutes=st.integers(0, 24 * 60),
)
def test_the_price_is_that_of_the_library(
    model: str, prompt: int, cached: float, written: float, output: int, minutes: int
) -> None:
    """The slow reference: the library's own sum for each call."""
    library = pytest.importorskip("genai_prices")
    read = int(prompt * cached)
    put = int((prompt - read) * written)
    now = NOON + minutes * 60
    url, _, named = model.partition("#")
    place = {"provider_api_url": url} if named else {"provider_id": model.partition(":")[0]}
    wanted = library.calc_price(
        library.Usage(input_tokens=prompt, cache_read_tokens=read, cache_write_tokens=put, output_tokens=output),
        named or model.partition(":")[2],
        genai_request_timestamp=datetime.datetime.fromtimestamp(now, datetime.UTC),
        **place,
    )
    usage = Usage(prompt=prompt, cached=read, written=put, output=output)
    assert Prices(clock=lambda: now).price(model, "", usage) == pytest.approx(float(wanted.total_price))


def test_the_model_that_answered_is_the_one_that_is_paid() -> None:
    pytest.importorskip("genai_prices")
    usage = Usage(prompt=1_000_000, output=0)
    prices = Prices(clock=lambda: NOON)
    asked = prices.price("openai:gpt-4o-mini", "", usage)
    assert prices.price("openai:gpt-4o-mini", "gpt-4o-2024-08-06", usage) == prices.price("openai:gpt-4o", "", usage)
    assert prices.price("openai:gpt-4o-mini", "a name of their own", usage) == asked
    assert asked != prices.price("openai:gpt-4o", "", usage)


@pytest.mark.parametrize(
    "model",
    [
        *("openai:gpt-9000", "openai:", "", "nobody:gpt-4o", "rules", "human"),
        *("http://localhost:8000/v1#gpt-4o", "http://127.0.0.1:11434/v1#llama3", "https://10.0.0.1/v1#o3"),
    ],
)
def test_a_model_without_a_published_price_has_none(model: str) -> None:
    prices = Prices()
    if not model.startswith("openai:"):  # there, what the provider says that it served has a price
        assert prices.price(model, "gpt-4o", Usage(prompt=10, output=10)) is None
    assert prices.price(model, "", Usage(prompt=10, output=10)) is None
    assert not prices.known(model)


def test_prices_come_from_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("genai_prices")

    def refuse(*_: object) -> None:
        pytest.fail("a price was looked for on the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    module._published.cache_clear()
    assert Prices().known("openai:gpt-4o")
    assert not Prices().known("openai:gpt-9000")


def test_without_the_library_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    for cached in (module._published, module._release):
        cached.cache_clear()
    try:
        assert not Prices().known("openai:gpt-4o")
        assert Prices().table() == "no prices"
    finally:
        for cached in (module._published, module._release):
            cached.cache_clear()


def test_the_table_is_named_with_its_version() -> None:
    library = pytest.importorskip("genai_prices")
    name = Prices().table()
    assert name.startswith(f"genai-prices {library.__version__}, changes of prices up to 20")
    assert Prices(clock=lambda: 0.0).table() == name


# ---- the user's own


def test_own_prices_win(own: Prices) -> None:
    usage = Usage(prompt=1_000_000, cached=500_000, written=100_000, output=100_000)
    assert own.price("openai:gpt-4o", "gpt-4o-2024-08-06", usage) == pytest.approx(0.5 + 0.125 + 0.4)
    assert own.price("anthropic:made-up", "", usage) == pytest.approx(2.5 * 0.9 + 5 * 0.1 + 1.0)
    assert own.price("http://localhost:8000/v1#qwen3", "qwen3", usage) == 0.0
    assert own.known("http://localhost:8000/v1#qwen3")
    assert not own.known("http://localhost:8000/v1#other")
    assert own.price("openai:o3", "", usage) == Prices().price("openai:o3", "", usage)
    assert own.table().startswith("our contract, 2026-11-20")


BAD = {
    "": "date",
    "[]": "the file",
    "- x": "the file",
    "models: {}": "date",
    OWN.replace("2026-11-20", "someday"): "date",
    OWN.replace("2026-11-20", "2026-13-40"): "not valid YAML",
    OWN.replace("source: our contract", ""): "source",
    OWN.replace("our contract", "''"): "source",
    OWN.replace("prompt: 1,", "prompt: -1,"): "gpt-4o.prompt: .*got '-1'",
    OWN.replace("prompt: 1,", "prompt: .nan,"): "gpt-4o.prompt",
    OWN.replace("prompt: 1,", "prompt: .inf,"): "gpt-4o.prompt",
    OWN.replace("prompt: 1,", "prompt: yes,"): "gpt-4o.prompt: .*got 'True'",
    OWN.replace("prompt: 1,", "prompt: '1',"): "gpt-4o.prompt",
    OWN.replace("prompt: 1,", "prompt: null,"): "gpt-4o.prompt",
    OWN.replace("prompt: 1,", ""): "gpt-4o.prompt",
    OWN.replace("prompt: 1,", "prompt: 1, input: 2,"): "gpt-4o.input",
    OWN.replace("openai:gpt-4o", "gpt-4o"): "names no provider",
    OWN + "currency: EUR": "currency",
    "models: [openai:gpt-4o]\ndate: 2026-11-20\nsource: x": "models",
    "models: {}\ndate: 2026-11-20\nsource: x": "models",
    "models: {openai:gpt-4o: 3}\ndate: 2026-11-20\nsource: x": "gpt-4o",
    "a: [": "not valid YAML",
    "a: b: c": "not valid YAML, line 1",
    "\x00": "not valid YAML",
}


@pytest.mark.parametrize(("text", "words"), BAD.items())
def test_a_bad_file_is_told_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=words) as caught:
        Prices.load(file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        Prices.load(tmp_path / "none.yaml")
    with pytest.raises(UserError, match="cannot be read"):
        Prices.load(tmp_path)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(UserError, match="not valid YAML"):
        Prices.load(tmp_path / "bytes.yaml")


# ---- shares of another model's price

SHARES = """
date: 2026-11-20
source: the page on batches
models:
  openai:gpt-4o: {prompt: 1, cached: 0.25, output: 4}
  mailbox:box: {like: "openai:gpt-4o", share: 0.5}
  mailbox:other: {like: "openai:gpt-4o-mini", share: 0.5}
  mailbox:lost: {like: "openai:no-such-model-at-all", share: 0.5}
  mailbox:circle: {like: "mailbox:box", share: 0.5}
"""


def test_a_share_of_a_price(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(SHARES)
    prices = Prices.load(file)
    usage = Usage(prompt=1_000_000, cached=400_000, output=1_000_000)
    assert prices.price("mailbox:box", "whatever", usage) == pytest.approx((0.6 + 0.1 + 4) / 2)
    published = Prices().price("openai:gpt-4o-mini", "", usage)
    assert published
    assert prices.price("mailbox:other", "", usage) == pytest.approx(published / 2)
    assert not prices.known("mailbox:lost")
    assert not prices.known("mailbox:circle")
    assert "the page on batches" in prices.table()


@pytest.mark.parametrize(
    "entry",
    [
        '{like: "openai:a"}',
        "{like: a, share: 0.5}",
        '{like: "openai:a", share: 0}',
        '{like: "openai:a", share: 2}',
        '{like: "openai:a", share: 0.5, prompt: 1}',
        "{share: 0.5}",
    ],
)
def test_a_share_that_is_none_is_one_line(tmp_path: Path, entry: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(f"date: 2026-11-20\nsource: x\nmodels:\n  mailbox:box: {entry}\n")
    with pytest.raises(UserError, match=r"models\.mailbox:box") as caught:
        Prices.load(file)
    assert "\n" not in str(caught.value)
