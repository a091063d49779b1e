"""Logs: what is written is read back, whatever was cut off stays readable, and damage is told."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.record import (
    FORMATS,
    OLDEST,
    SCHEMA,
    Believe,
    EpisodeEnd,
    EpisodeStart,
    Event,
    HeldBelief,
    LogWriter,
    MessageSent,
    Observe,
    Predict,
    StageEntered,
    StepDone,
    Truth,
    decode,
    encode,
    read_log,
)
from teamworld.record.log import digest
from tests.record.samples import episode_start


def start(schema: int = SCHEMA) -> EpisodeStart:
    return episode_start(schema=schema, level="one", world_options={"b": 1, "a": 2}, team=("a", "b"))


def fill(log: LogWriter, steps: int) -> None:
    log.write(start(), 0, 0)
    for step in range(steps):
        log.write(StageEntered(agent="a", stage="R"), step, step)
        log.write(StepDone(ticks=1, score={"reward": -0.01 * step}), step, step)
        log.flush()


def test_a_finished_log_reads_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl.zst"
    with LogWriter(path) as log:
        fill(log, 5)
        log.write(EpisodeEnd(reason="horizon"), 5, 5)
        log.finish()
    events = list(read_log(path))
    assert events == log.events
    assert [event.seq for event in events] == list(range(12))


def test_every_line_is_json_that_names_its_kind(tmp_path: Path) -> None:
    message = MessageSent(agent="a", id=0, recipients=("b",), act="inform", text='say "\n" é', goal=None)
    line = encode(message)
    assert b"\n" not in line
    assert msgspec.json.decode(line)["kind"] == "message"
    assert decode(line) == message


def test_records_of_beliefs_are_read_back_with_what_was_left_out() -> None:
    for line, event in (
        (b'{"kind":"truth"}', Truth()),
        (b'{"kind":"observe","agent":"a","seen":["b AT (1, 2)"]}', Observe(agent="a", seen=("b AT (1, 2)",))),
        (b'{"kind":"belief","agent":"a","held":[{"fact":"f"}]}', Believe(agent="a", held=(HeldBelief(fact="f"),))),
        (
            b'{"kind":"predict","agent":"a","subject":"plan_effect","about":"3","value":7}',
            Predict(agent="a", subject="plan_effect", about="3", value=7.0),
        ),
        (
            b'{"kind":"predict","agent":"a","subject":"partner_goal","about":"b","value":["g"]}',
            Predict(agent="a", subject="partner_goal", about="b", value=("g",)),
        ),
    ):
        assert decode(line) == decode(encode(event)) == event


def test_the_level_of_play_writes_the_format_that_it_always_did() -> None:
    assert FORMATS == {"play": 2, "beliefs": SCHEMA}


def test_keys_of_maps_are_sorted_so_their_order_of_making_does_not_matter() -> None:
    one, other = start(), msgspec.structs.replace(start(), world_options={"a": 2, "b": 1})
    assert encode(one) == encode(other)


def test_a_log_can_be_read_while_it_is_written_and_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl.zst"
    with LogWriter(path) as log:
        fill(log, 3)
        assert len(list(read_log(path, whole=False))) == 7
        with pytest.raises(UserError, match="not finished"):
            list(read_log(path))
        torn = tmp_path / "torn.jsonl.zst"
        for length in range(5, path.stat().st_size + 1):
            torn.write_bytes(path.read_bytes()[:length])
            events_read = list(read_log(torn, whole=False))
            assert events_read == log.events[: len(events_read)]


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False, allow_infinity=False))
    )
)
def test_the_digest_taken_while_writing_is_that_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("digest") / "one.jsonl.zst"
    seen = set()
    with LogWriter(path) as log:
        log.write(start(), 0, 0)
        for text, number in said:
            seen.add(log.digest)
            log.write(StepDone(ticks=1, score={text: number}), 0, 0)
        seen.add(log.digest)
        log.write(EpisodeEnd(reason="horizon"), 5, 5)
        log.finish()
    assert log.digest == digest(path)
    assert len(seen | {log.digest}) == len(said) + 2  # every record counts


def test_no_wall_time_makes_two_writers_write_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with LogWriter(tmp_path / name) as log:
            fill(log, 20)
            log.write(EpisodeEnd(reason="horizon"), 20, 20)
            log.finish()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def raw(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(zstandard.ZstdCompressor().compress(b"".join(line + b"\n" for line in lines)))
    return path


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([b"not json"], "damaged"),
        ([b'{"kind":"weather"}'], "damaged"),
        ([b'{"kind":"episode_end","reason":"horizon","seq":0}'], "no episode_start"),
        ([encode(msgspec.structs.replace(start(), seq=3))], "damaged"),
        ([encode(msgspec.structs.replace(start(SCHEMA + 1), seq=0))], "newer"),
        ([b'{"kind":"episode_start","schema":99,"new":1}'], "newer"),
        ([encode(msgspec.structs.replace(start(OLDEST - 1), seq=0))], "older"),
        ([b'{"kind":"episode_start","schema":1,"old":1}'], "older"),
        ([b'{"kind":"episode_start","schema":"two"}'], "another"),
        ([b'{"kind":"episode_start","seq":0,"step":"x"}'], "damaged"),
        ([], "not finished"),
    ],
)
def test_foreign_and_damaged_logs_and_other_formats_are_told_in_one_line(
    tmp_path: Path, lines: list[bytes], says: str
) -> None:
    with pytest.raises(UserError, match=says) as caught:
        list(read_log(raw(tmp_path / "log", lines)))
    assert "\n" not in str(caught.value)


def test_other_files_are_not_logs(tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"")
    assert list(read_log(tmp_path / "new", whole=False)) == []
    with pytest.raises(UserError, match="not finished"):
        list(read_log(tmp_path / "new"))
    (tmp_path / "text").write_text("hello")
    with pytest.raises(UserError, match="not a log"):
        list(read_log(tmp_path / "text"))
    with pytest.raises(UserError, match="cannot be read"):
        list(read_log(tmp_path / "nowhere"))


def test_a_flipped_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl.zst"
    with LogWriter(path) as log:
        fill(log, 50)
        log.write(EpisodeEnd(reason="horizon"), 50, 50)
        log.finish()
        good: list[Event] = log.events
    data = path.read_bytes()
    places = range(20, len(data), 7)
    result = 0
    for index in places:
        path.write_bytes(data[:index] + bytes([data[index] ^ 0x10]) + data[index + 1 :])
        try:
            assert list(read_log(path)) == good  # a bit of padding in the compressed stream means nothing
        except UserError as error:
            assert "\n" not in str(error)
            result += 1
    assert result >= 0.98 * len(places)
