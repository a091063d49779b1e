"""The cache of answers: each sample its own, several processes at once, and files that are not one."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.experiment.store.answer_cache import AnswerCache
from teamworld.reasoning.llm.contract import CallKey, Completion, Request, Turn
from tests.reasoning.llm.records import COMPLETIONS, KEYS, REQUESTS, SCHEMA, completion, key, request
from tests.record.postgres_server import PostgresServer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.sqlite"


@pytest.fixture(params=["file", "server"])
def cache(request: pytest.FixtureRequest, path: Path) -> Iterator[AnswerCache]:
    with AnswerCache(path if request.param == "file" else request.getfixturevalue("postgres").database()) as opened:
        yield opened


Place = tuple[int, int, CallKey, Request]
PLACES = st.tuples(st.sampled_from([0, 2**63 - 1]), st.integers(1, 2), KEYS, REQUESTS)


@settings(max_examples=40)  # each makes a file
@given(st.lists(st.tuples(PLACES, COMPLETIONS), max_size=10))
@example([((0, 1, key(), request()), completion(text)) for text in ("first", "second")])
def test_whole_answers_come_back_and_the_first_stays(added: list[tuple[Place, Completion]]) -> None:
    held: dict[tuple[int, int, CallKey, str], Completion] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.sqlite"
        with AnswerCache(path) as cache:
            for (seed, episode, one, asked), answer in added:
                cache.of(seed, episode).add(one, asked, answer)
                if answer.finish == "stop":
                    held.setdefault((seed, episode, one, asked.digest()), answer)
        with AnswerCache(path) as cache:
            for (seed, episode, one, asked), _ in added:
                found = cache.of(seed, episode).find(one, asked)
                assert found == held.get((seed, episode, one, asked.digest()))


@pytest.mark.parametrize(
    "other",
    [
        {"model": "openai:gpt-5"},
        {"turns": (Turn("user", "What do you do?"),)},
        {"answer": "Vote"},
        {"schema": SCHEMA | {"title": "Plan"}},
        {"form": "json"},
        {"temperature": 0.3},
        {"top_p": 0.9},
        {"max_tokens": 99},
        {"seed": 1},
    ],
)
def test_anything_that_can_change_an_answer_asks_for_another(cache: AnswerCache, other: dict[str, object]) -> None:
    assert set(other) <= set(Request.__struct_fields__)
    calls = cache.of(0, 1)
    calls.add(key(), request(), completion())
    changed = msgspec.structs.replace(request(), **other)
    assert calls.find(key(), changed) is None
    calls.add(key(), changed, completion("other"))
    assert calls.find(key(), changed) == completion("other")
    assert calls.find(key(), request()) == completion()


def test_every_field_of_a_request_was_tried() -> None:
    marks = test_anything_that_can_change_an_answer_asks_for_another.pytestmark  # type: ignore[attr-defined]
    assert {name for (given,) in ((one,) for one in marks[0].args[1]) for name in given} == set(
        Request.__struct_fields__
    )


@pytest.mark.parametrize(
    ("seed", "episode", "place"),
    [
        (1, 1, key()),
        (0, 2, key()),
        (0, 1, key(2)),
        (0, 1, key(respondent="agent_1")),
        (0, 1, key(purpose="drwell.commit")),
        (0, 1, key(attempt=1)),
    ],
)
def test_the_same_question_elsewhere_gets_a_sample_of_its_own(
    cache: AnswerCache, seed: int, episode: int, place: CallKey
) -> None:
    cache.of(0, 1).add(key(), request(), completion())
    assert cache.of(seed, episode).find(place, request()) is None


@pytest.mark.parametrize("finish", ["length", "refused"])
def test_half_an_answer_is_not_kept(cache: AnswerCache, finish: str) -> None:
    calls = cache.of(0, 1)
    calls.add(key(), request(), msgspec.structs.replace(completion(), finish=finish))
    assert calls.find(key(), request()) is None
    calls.add(key(), request(), completion())
    assert calls.find(key(), request()) == completion()


SHARING = """
import sys
from pathlib import Path
from teamworld.experiment.store.answer_cache import AnswerCache
from tests.record.postgres_server import PostgresServer
from tests.reasoning.llm.records import completion, key, request

name, path = sys.argv[1], sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
with AnswerCache(path) as cache:
    calls = cache.of(0, 1)
    for number in range(100):
        if calls.find(key(number), request()) is None:
            calls.add(key(number), request(), completion(f"{name} {number}"))
        calls.add(key(number, respondent=name), request(), completion(f"{name} {number}"))
"""


@pytest.mark.parametrize("kind", ["file", "server"])
def test_two_processes_share_a_cache_that_neither_has_made(
    kind: str, path: Path, request: pytest.FixtureRequest
) -> None:
    where = path if kind == "file" else request.getfixturevalue("postgres").database()
    check_sharing(where)
    if kind == "file":
        assert [file.name for file in path.parent.iterdir()] == [path.name]


def check_sharing(where: Path | str) -> None:
    root = Path(__file__).parents[2]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", SHARING, name, str(where)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
        )
        for name in ("first", "second")
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    assert [child.wait(60) for child in children] == [0, 0]
    for child in children:
        child.communicate()
    with AnswerCache(where) as cache:
        calls = cache.of(0, 1)
        for number in range(100):
            shared = calls.find(key(number), request())
            assert shared is not None
            assert shared.text in {f"first {number}", f"second {number}"}
            for name in ("first", "second"):
                own = calls.find(key(number, respondent=name), request())
                assert own == completion(f"{name} {number}")


@pytest.mark.parametrize("text", ["", "{}", '{"text": "x", "finish": "tired", "usage": {}}'])
def test_an_answer_that_does_not_parse_is_told(path: Path, text: str) -> None:
    with AnswerCache(path) as cache:
        cache.of(0, 1).add(key(), request(), completion())
        db = sqlite3.connect(path)
        db.execute("UPDATE answers SET completion = ?", (text,))
        db.commit()
        db.close()
        with pytest.raises(UserError, match="is damaged.*use another --cache"):
            cache.of(0, 1).find(key(), request())


def test_an_answer_on_a_server_that_does_not_parse_is_told(postgres: PostgresServer) -> None:
    address = postgres.database()
    with AnswerCache(address) as cache:
        cache.of(0, 1).add(key(), request(), completion())
        postgres.run("UPDATE teamworld.answers SET completion = '{}'", address)
        with pytest.raises(UserError, match="is damaged.*use another --cache"):
            cache.of(0, 1).find(key(), request())
