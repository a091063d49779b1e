"""``teamworld doctor`` for several minds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teamworld.cli import run


def test_a_key_that_names_no_host_goes_to_none_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TEAMWORLD_API_KEY", "secret-of-one-host")
    names = ["http://one.invalid/v1#m", "http://two.invalid/v1#m"]
    assert run(["doctor", "--reasoner", f"agent_0={names[0]},agent_1=rules,*={names[1]}", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert list(document) == [names[0], "rules", names[1]]
    for name in names:
        assert document[name][-1]["name"] == "key"
        assert "could go to" in document[name][-1]["todo"]
