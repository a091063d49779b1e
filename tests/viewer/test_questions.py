"""Questions on the page against the log and the calls on record: nothing lost, nothing joined to another question."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.experiment.runner import run
from teamworld.experiment.spec import build as build_experiment
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.contract import CallKey
from teamworld.record import Event, QuestionAsked, StepDone, read_log
from teamworld.viewer import build, page
from teamworld.viewer.html_export import packed
from teamworld.viewer.questions import list_questions, read_calls
from teamworld.viewer.replay_types import QuestionRow
from teamworld.viewer.shared_lines import SharedLines, text_of
from tests.viewer import samples

TEXTS = st.lists(st.lists(st.sampled_from(["", "a", "b", "c" * 20, "\r", "\u2028"]), max_size=9).map("\n".join))


@given(TEXTS)
def test_a_text_comes_back_from_its_lines(texts: list[str]) -> None:
    shared = SharedLines()
    places = [shared.add(text) for text in texts]
    assert [text_of(shared.lines, pairs) for pairs in places] == texts


def test_what_was_there_before_is_kept_once() -> None:
    shared = SharedLines()
    text = "\n".join(f"line {number}\n" for number in range(50))
    assert shared.add(text) == [0, 100]
    assert shared.add(text) == [0, 100]
    assert shared.add(text.replace("line 20", "other")) == [0, 40, 100, 2, 42, 58], "short lines behind new ones too"
    assert len(shared.lines) == 102


def prompt_of(row: QuestionRow, at: int, lines: list[str]) -> list[tuple[str, str]]:
    """Return what a try was sent, as the page puts it together."""
    one = row.tries[at]
    before = prompt_of(row, at - 1, lines)[: one.kept] if one.kept else []
    return [*before, *((turn.role, text_of(lines, turn.text)) for turn in one.turns)]


def test_each_question_has_its_own_tries() -> None:
    log, calls = samples.asked()
    rows, lines = list_questions(log, calls)
    assert [(row.step, row.agent, row.kind, len(row.tries)) for row in rows] == [
        (0, "b", "toy.plan", 0),
        (0, "a", "toy.plan", 2),
        (0, "planner", "toy.assign", 1),
        (1, "a", "toy.plan", 1),
    ]
    skipped, first, planner, second = rows
    assert (skipped.skipped, first.skipped) == (samples.HOSTILE, "")
    assert (first.answer["steps"], [flaw.flaw for flaw in first.flaws], first.fallback) == (
        ["go", "stay"],
        ["schema"],
        False,
    )
    assert (planner.fallback, len(planner.flaws), planner.tries[0].finish) == (True, 2, "")
    assert [one.usd for one in first.tries] == [0.001, 0.002]
    assert (first.tries[1].kept, len(first.tries[1].turns)) == (2, 2), "what the first try was sent is not kept twice"
    for row, number in ((first, 1), (second, 2)):
        for at, one in enumerate(row.tries):
            record = calls[CallKey("a", "toy.plan", number, at)].record
            assert prompt_of(row, at, lines) == [(turn.role, turn.text) for turn in record.request.turns]
            assert record.completion is not None
            assert text_of(lines, one.text) == record.completion.text
            assert (one.prompt_tokens, one.cached_tokens, one.output_tokens, one.seconds) == (1200, 200, 30, 1.23)


def test_prompts_can_be_left_out() -> None:
    log, calls = samples.asked()
    replay = build(log, (), calls, prompts=False)
    assert (replay.prompts, replay.lines) == (False, [])
    tries = [one for row in replay.questions for one in row.tries]
    assert len(tries) == 4
    assert all((one.turns, one.text, one.kept) == ([], [], 0) for one in tries)
    assert [one.usd for one in tries] == [0.001, 0.002, None, None]
    assert len(packed(replay)) < len(packed(build(log, (), calls)))


def test_rules_answer_without_prompts() -> None:
    log = samples.played()
    rows, lines = list_questions(log, {})
    put = [event for event in log if isinstance(event, QuestionAsked)]
    assert [(row.step, row.agent, row.kind, row.answer) for row in rows if not row.skipped] == [
        (event.step, event.agent, event.purpose, event.answer) for event in put
    ]
    assert {row.reasoner for row in rows if not row.skipped} == {"built-in rules, no language model"}
    assert (lines, [row for row in rows if row.tries]) == ([], [])


def test_all_calls_of_a_run_are_on_its_page(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    from tests.reasoning.llm.server import running

    with running("tests.reasoning.llm.player:plays") as server:
        fields = {"world": "cube", "methods": ["drwell"], "max_steps": 12, "reasoner": server.name(), "episodes": 2}
        run(build_experiment(fields), tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    (cell,) = folder.experiment().cells()
    with CallStore(folder.results_file, readonly=True) as store:
        recorded = {key: record for episode, key, record in store.records(cell) if episode == 2}
    calls = read_calls(folder, cell, 2)
    assert {key: made.record for key, made in calls.items()} == recorded
    rows, lines = list_questions(read_log(folder.log(cell, 2)), calls)
    assert sum(len(row.tries) for row in rows) == len(recorded) > 4
    sent = [prompt_of(row, at, lines) for row in rows for at in range(len(row.tries))]
    wanted = [[(turn.role, turn.text) for turn in record.request.turns] for record in recorded.values()]
    assert sorted(sent) == sorted(wanted)


def test_long_prompts_fit_into_a_mail() -> None:
    """150 steps in which four agents are asked twice, with 7,000 characters of which a tenth is new each time."""
    words, rng = [f"word{number}" for number in range(3000)], random.Random(1)

    def line() -> str:
        return " ".join(rng.choices(words, k=10))

    fixed, steps, calls = [line() for _ in range(75)], list[list[Event]](), {}
    for step in range(150):
        events = list[Event]()
        for agent in ("a", "b", "c", "planner"):
            for kind in ("toy.plan", "toy.say"):
                answer = " ".join(line() for _ in range(4))
                text = "\n".join([*fixed, *(line() for _ in range(8))])
                events.append(samples.question(agent, kind, reasoning=answer))
                key = CallKey(agent, kind, step + 1, 0)
                calls[key] = samples.call(f'{{"reasoning": "{answer}"}}', ("user", text), usd=0.01)
        steps.append([*events, StepDone(ticks=2, score={})])
    replay = build(samples.laid_out(steps), (), calls)
    sent = sum(len(made.record.request.turns[0].text) for made in calls.values())
    assert sent > 6_000_000
    assert len(page(replay).encode()) < 1_000_000


def test_the_packed_questions_come_back() -> None:
    import base64
    import zlib

    log, calls = samples.asked()
    replay = build(log, (), calls)
    data = msgspec.json.decode(zlib.decompress(base64.b64decode(packed(replay))))
    assert data["lines"] == replay.lines
    assert msgspec.convert(data["questions"], list[QuestionRow]) == replay.questions
    assert packed(build(samples.by_hand())) == ""
