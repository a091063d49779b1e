"""A model file by its name, where llama.cpp need not be installed: what is wrong is said before anything starts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.reasoning.llm import keys, providers
from teamworld.reasoning.llm.contract import Usage
from teamworld.reasoning.llm.model_names import parse_endpoint
from teamworld.reasoning.llm.prices import Prices


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF, and what follows")
    return path


def installed(monkeypatch: pytest.MonkeyPatch, yes: bool) -> None:
    result = importlib.util.find_spec("json") if yes else None
    monkeypatch.setattr(providers, "find_spec", lambda name: result)


def test_a_file_that_is_there_needs_nothing_more(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, True)
    providers.check_installed(parse_endpoint(f"gguf:{file}"))
    assert providers.best_form(parse_endpoint(f"gguf:{file}")) == "schema"
    monkeypatch.setenv("HOME", str(file.parent))
    providers.check_installed(parse_endpoint("gguf:~/model.gguf"))


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read: No such file"), (b"", "is no model file"), (b"PK", "is no model file")],
)
def test_what_is_wrong_with_it_is_said(
    content: bytes | None, said: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, True)
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UserError, match=said):
        providers.check_installed(parse_endpoint(f"gguf:{file}"))


def test_a_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        providers.check_installed(parse_endpoint(f"gguf:{tmp_path}"))


def test_the_package_is_asked_for(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(monkeypatch, False)
    assert command(["run", "cube", "--reasoner", f"gguf:{file}", "--out", str(tmp_path / "run")]) == 2
    assert "pip install 'teamworld[local]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert command(["doctor", "--reasoner", f"gguf:{file}"]) == 1
    assert "pip install 'teamworld[local]'" in capsys.readouterr().out


def test_a_package_that_does_not_fit_the_machine_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, True)
    monkeypatch.delitem(sys.modules, "teamworld.reasoning.llm.local", raising=False)
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(UserError, match="llama.cpp is installed but cannot be loaded"):
        providers.make_client(parse_endpoint(f"gguf:{file}"))


def test_a_home_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, True)
    with pytest.raises(UserError, match="~nobody-of-this-name/m.gguf cannot be read"):
        providers.check_installed(parse_endpoint("gguf:~nobody-of-this-name/m.gguf"))


def test_no_key_goes_to_a_file_or_is_lost_to_it(file: Path) -> None:
    name, openai = parse_endpoint(f"gguf:{file}"), parse_endpoint("openai:gpt-4o")
    environ = {"XDG_CONFIG_HOME": "/nowhere", "OPENAI_API_KEY": "sk-own", "TEAMWORLD_API_KEY": "sk-any"}
    assert keys.find_keys([name], None, environ) == {}
    assert set(keys.find_keys([name, openai], "OPENAI_API_KEY", environ)) == {openai.host}
    assert keys.require_key(name, None) is None


def test_a_call_of_it_costs_nothing(file: Path) -> None:
    prices = Prices()
    assert prices.known(f"gguf:{file}")
    assert prices.price(f"gguf:{file}", "some name", Usage(prompt=1000, output=100)) == 0.0
