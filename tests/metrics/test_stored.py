"""Stored logs give the metrics that they gave when they were stored, to the last digit; other formats are refused.

``stored/`` holds logs and, under the same name, what ``teamworld metrics LOG --json`` printed of them. The first two
were played by CUBE at the two log levels, with messages, joint attempts and failures::

    teamworld run cube --level paper-n4 --method drwell --reasoner rules:noise=0.3 \
        --episodes 2 --max-steps 100 --seed 3 --out runs/play          # format2-play: its second episode
    teamworld run cube --level paper-n2 --method drwell:free_chat --reasoner rules:noise=0.3 \
        --log-level beliefs --episodes 2 --max-steps 100 --seed 3 --out runs/beliefs   # format3-beliefs: its first

No method declares beliefs yet, and rules make no calls, so ``format3-declared`` is one of the tests' logs at random::

    python -c "from tests.metrics.test_stored import declare; declare()"

The logs stay as they are, for as long as their format is read. After a metric was added, or its definition changed on
purpose (with a line in CHANGELOG.md), and only then, the values are made anew::

    for log in tests/metrics/stored/*.zst; do teamworld metrics $log --json > ${log%.jsonl.zst}.json; done
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest
import zstandard

from teamworld.cli import run as command
from teamworld.experiment.api import run
from teamworld.record import FORMATS, SCHEMA, AttemptMade, EpisodeStart, LogWriter, encode, read_log
from tests.metrics.beliefs import belief_log

STORED = Path(__file__).parent / "stored"
LOGS = sorted(STORED.glob("*.jsonl.zst"))


def declare(path: Path = STORED / "format3-declared.jsonl.zst") -> None:
    """Write a log with beliefs, predictions and calls, as the product writes logs."""
    with LogWriter(path) as writer:
        for event in belief_log(Random(11), 40):
            writer.write(event, event.step, event.tick)
        writer.finish()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name.partition(".")[0])
def test_a_stored_log_gives_the_same_metrics_to_the_last_digit(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["metrics", str(path), "--json"]) == 0
    told = capsys.readouterr().out
    stored = (STORED / f"{path.name.partition('.')[0]}.json").read_text("utf-8")
    now, then = (json.loads(text)["metrics"] for text in (told, stored))
    other = {name: (then.get(name), now.get(name)) for name in now | then if then.get(name) != now.get(name)}
    assert other == {}, "metrics that changed: then, now"
    assert told == stored


def test_the_stored_logs_have_something_to_measure() -> None:
    values = [json.loads(path.with_name(f"{path.name.partition('.')[0]}.json").read_text("utf-8")) for path in LOGS]
    known = {name for one in values for name, value in one["metrics"].items() if value["value"] is not None}
    rest = values[0]["metrics"].keys() - known
    fire = {"damage_prevented", "area_burnt"}
    assert rest <= {"latency_p95", "cost_usd", "duplicate_search", *fire}, "no log holds seconds, dollars or fires"
    starts = {}
    for path in LOGS:
        start, *events = read_log(path)
        assert isinstance(start, EpisodeStart)
        starts[path.name.partition(".")[0]] = start
        if start.world == "cube":
            won = Counter(event.success for event in events if isinstance(event, AttemptMade) and event.k >= 2)
            assert min(won[True], won[False]) > 0
    assert {(start.log_level, start.schema) for start in starts.values()} == set(FORMATS.items())
    assert sum(path.stat().st_size for path in LOGS) < 60_000


def _in_format(path: Path, schema: object) -> None:
    """Write the log anew as one of another format."""
    first, *rest = (encode(event) for event in read_log(path))
    lines = [msgspec.json.encode(json.loads(first) | {"schema": schema}), *rest]
    path.write_bytes(zstandard.ZstdCompressor().compress(b"".join(line + b"\n" for line in lines)))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of one episode."""
    folder = tmp_path_factory.mktemp("runs") / "one"
    run(method="greedy", max_steps=5, out=folder)
    return folder


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (1, "an older teamworld (log format 1, this one reads 2 to 3): read it with that one"),
        (SCHEMA + 1, "a newer teamworld (log format 4, this one reads 2 to 3): upgrade it"),
        ("two", "another teamworld (log format two, this one reads 2 to 3): read it with that one"),
        (None, "another teamworld (log format None, this one reads 2 to 3): read it with that one"),
    ],
)
@pytest.mark.parametrize(
    "arguments", [["metrics", "LOG"], ["metrics", "RUN"], ["replay", "RUN"], ["report", "RUN", "--failures"]]
)
def test_a_log_of_another_format_is_refused_in_one_line(
    arguments: list[str], schema: object, says: str, played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(played, folder)
    (path,) = folder.rglob("*.jsonl.zst")
    _in_format(path, schema)
    places = {"LOG": str(path), "RUN": str(folder)}
    assert command([places.get(word, word) for word in arguments]) == 2
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        f"teamworld: {path} was written by {says}" + (", or run it anew" if schema != 4 else "")
    ]
    assert "Traceback" not in said.out
