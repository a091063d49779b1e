"""Options of ``teamworld reproduce`` that cannot be used: one line says why, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from teamworld.cli import run

#: Command line, and a part of the error message.
REFUSED = {
    "dr": "drwell",
    "": "needs PAPER",
    "drwell --seeds 0": "1 to 1000",
    "drwell --seeds many": "whole number",
    "drwell --latency -1": "--latency",
    "drwell --latency nan": "--latency",
    "drwell --step-time inf": "--step-time",
    "drwell --reasoner gpt": "gpt",
    "drwell --method zero_shot": "belongs to 'reproduce wildfire'",
    "drwell --talk native": "belongs to 'reproduce wildfire'",
    "cube --reasoner rules": "belongs to 'reproduce drwell'",
    "cube --latency 1": "belongs to 'reproduce drwell'",
    "cube --step-time 0": "belongs to 'reproduce drwell'",
    "cube --level n1": "--level belongs to 'reproduce wildfire': leave it out for cube",
    "wildfire --level full": "none of the 17 presets",
    "wildfire --method greedy": "drwell or zero_shot",
    "wildfire --talk loud": "native or equal",
    "wildfire --seeds 0": "1 to 1000",
    "wildfire --reasoner rules": "'reproduce cwah' and 'reproduce tdwmat': leave it out for wildfire",
    "wildfire --latency 1": "belongs to 'reproduce drwell'",
    "cwah": "needs --data PATH",
    "cwah --data nowhere": "--data nowhere: there is no such folder or file",
    "cwah --data .": "index.json",
    "cwah --data damaged": "damaged",
    "cwah --data . --seeds 0": "1 to 1000",
    "cwah --data . --methods mph": "did you mean 'mhp'",
    "cwah --data . --level dev": "--level belongs to 'reproduce wildfire'",
    "cwah --data . --talk equal": "--talk belongs to",
    "cwah --episodes generated:50": "dev:NUMBER or test:NUMBER",
    "cwah --episodes dev:5 --data .": "--data belongs to the official episodes",
    "cwah --episodes dev:5 --seeds 3": "--seeds belongs to the official episodes",
    "cwah --episodes dev:5 --quick": "--quick belongs to the official episodes",
    "cwah --episodes dev:5 --cap 0": "--cap",
    "cwah --episodes dev:5 --reasoner gpt": "gpt",
    "cwah --episodes dev:5 --methods greedy --out damaged": "damaged",
    **{
        f"{paper} {option}": f"{option.split()[0]} belongs to 'reproduce cwah'"
        for paper in ("drwell", "cube", "wildfire")
        for option in ("--data .", "--episodes dev:5", "--cap 2")
    },
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_used_gets_one_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "index.json").write_text("{")
    code = run(["reproduce", *command.split()])
    shown = capsys.readouterr()
    assert (code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert REFUSED[command] in shown.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["damaged", "index.json"]
