"""A model file in this process: a tiny one with random weights, made on the fly, speaks nonsense in the right form."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import TemplateError

pytest.importorskip("llama_cpp", reason="needs llama.cpp, which compiles for minutes: pip install 'teamworld[local]'")
pytest.importorskip("gguf", reason="writes a model file of its own: pip install gguf")

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.replay import replay
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.methods import registry
from teamworld.reasoning.contract import BadAnswer
from teamworld.reasoning.llm.answers import make_schema, read_answer
from teamworld.reasoning.llm.contract import Client, Completion, Form, ProviderError, Request, Turn
from teamworld.reasoning.llm.doctor import examine
from teamworld.reasoning.llm.local import CONTEXT, LocalClient, fingerprint
from teamworld.reasoning.llm.model_names import parse_endpoint
from teamworld.reasoning.llm.providers import make_client
from teamworld.record import QuestionAsked, read_log
from tests.reasoning.llm import tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make(tmp_path_factory.mktemp("model") / "tiny.gguf")


def asking(kind: str = "drwell.propose", form: Form = "schema", text: str = "Which?", **changes: object) -> Request:
    """Return a request for an answer of a kind of question."""
    answer = registry.kinds()[kind].answer
    defaults = {"temperature": 0.7, "top_p": None, "max_tokens": 4000, "seed": 1}
    return Request(
        model="gguf:tiny",
        turns=(Turn("system", "You answer."), Turn("user", text)),
        answer=answer.__name__,
        form=form,
        **({"schema": make_schema(answer, bounds=True)} | defaults | changes),  # type: ignore[arg-type]
    )


def in_a_child(model: Path) -> Client:
    """Return a client as a run has it."""
    return make_client(parse_endpoint(f"gguf:{model}"))


def answers(
    model: Path, *requests: Request, seconds: float = 60.0, make: Callable[[Path], Client] = in_a_child
) -> list[Completion | str]:
    """Return the completions, or the kinds of the faults, of requests that are put at the same time."""

    async def one(client: Client, request: Request) -> Completion | str:
        try:
            async with asyncio.timeout(seconds):
                return await client.complete(request)
        except ProviderError as error:
            return f"{error.fault.kind}: {error.fault.text}"

    async def all_of() -> list[Completion | str]:
        client = make(model)
        try:
            return await asyncio.gather(*(one(client, request) for request in requests))
        finally:
            await client.close()

    return asyncio.run(all_of())


def test_a_whole_episode_is_nonsense_in_the_right_form_to_its_end(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    rows = run(reasoner=f"gguf:{model}", sampling={"*": {"max_tokens": 4000}}, max_steps=25, out=out, method="drwell")
    assert rows[0].summary.steps == 25

    questions = [
        event
        for event in read_log(RunFolder(out).log(RunFolder(out).experiment().cells()[0], 1))
        if isinstance(event, QuestionAsked)
    ]
    assert {question.purpose for question in questions} >= {"drwell.propose", "drwell.commit", "drwell.draft"}
    flaws = {error.flaw for question in questions for error in question.errors}
    assert flaws == {"intent"}  # no block has such a name; but never a form that is not the schema's
    with CallStore(out / "results.sqlite", readonly=True) as store:
        rows_of_calls = store.rows()
        calls = store.of(RunFolder(out).experiment().cells()[0], 1)
        record = calls.find(rows_of_calls[0][2:6])  # type: ignore[arg-type]
    assert len(rows_of_calls) == len(questions) + sum(len(question.errors) for question in questions) - sum(
        question.fallback for question in questions
    )
    assert {row.served for row in rows_of_calls} == {f"{tiny.NAME} {fingerprint(model)}"}
    assert all(row.prompt_tokens and row.output_tokens for row in rows_of_calls)
    assert record is not None
    assert "maxLength" in json.dumps(record.request.schema)
    assert "All of its fields are needed" in record.request.turns[-1].text  # llama.cpp does not show it the schema

    scratch = tmp_path / "again"
    scratch.mkdir()
    model_away = model.rename(model.with_suffix(".away"))
    try:
        assert [result.difference for result in replay(RunFolder(out), RunFolder(out).experiment(), scratch)] == [None]
    finally:
        model_away.rename(model)


@pytest.mark.parametrize("kind", sorted(registry.kinds()))
def test_every_question_gets_an_answer_of_its_schema(model: Path, kind: str) -> None:
    result = answers(model, *(asking(kind, seed=seed) for seed in range(8)))
    for completion in result:
        assert isinstance(completion, Completion)  # no crash: llama.cpp ends a process over a grammar that is too large
        assert completion.finish == "stop"
        answer = registry.kinds()[kind].answer
        try:
            assert isinstance(read_answer(completion, answer, "schema"), answer)
        except BadAnswer as bad:
            assert "got the number" in str(bad)  # the one bound that a grammar does not hold


def test_a_grammar_that_llama_cannot_read_is_a_fault_and_no_crash(model: Path) -> None:
    large = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5000}}, "required": ["a"]}
    first, second = answers(model, asking(schema=large), asking())
    assert str(first).startswith("unfit: llama.cpp does not take the schema of ")
    assert isinstance(second, Completion)


def test_json_mode_gives_some_object_and_text_anything(model: Path) -> None:
    one, other = answers(model, asking(form="json", max_tokens=8000), asking(form="text", max_tokens=20))
    assert isinstance(one, Completion)
    assert isinstance(json.loads(one.text, strict=False), dict)
    assert isinstance(other, Completion)
    assert other.finish == "length"
    assert other.usage.output in (20, 21)  # llama-cpp-python counts the one at which it stops


def test_the_same_seed_gives_the_same_answer(model: Path) -> None:
    first, second = answers(model, asking()), answers(model, asking())
    assert first == second


def test_what_cannot_be_asked_is_a_fault_in_one_line(model: Path, tmp_path: Path) -> None:
    tool, long, good = answers(model, asking(form="tool"), asking(text="x" * CONTEXT * 2), asking())
    assert str(tool).startswith("unfit: a model file takes no tools")
    assert str(long).startswith("refused: Requested tokens")
    assert isinstance(good, Completion)
    junk = tmp_path / "junk.gguf"
    junk.write_bytes(b"GGUF and then something else")
    (bad,) = answers(junk, asking())
    assert str(bad).startswith("unknown: ")
    assert "is it whole" in str(bad)
    assert "\n" not in str(bad)


def test_an_answer_that_takes_too_long_is_stopped_and_the_next_one_comes(model: Path) -> None:
    async def both() -> tuple[bool, Completion]:
        client = LocalClient(model)
        await client.complete(asking(max_tokens=1))  # loads it
        late = False
        try:
            async with asyncio.timeout(0.05):
                await client.complete(asking(form="text", text="x" * 12_000, max_tokens=4000))
        except TimeoutError:
            late = True
        try:
            async with asyncio.timeout(20):
                return late, await client.complete(asking())
        finally:
            await client.close()

    late, completion = asyncio.run(both())
    assert late
    assert completion.finish == "stop"


def test_the_doctor_asks_it(model: Path) -> None:
    checks = {check.name: check for check in asyncio.run(examine(f"gguf:{model}"))}
    assert checks["packages"].ok
    assert checks["answers: schema, as in a run"].ok
    assert checks["answers: tool"].ok is None


def test_a_run_says_what_is_wrong_with_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    junk = tmp_path / "junk.gguf"
    junk.write_bytes(b"GGUF and then something else")
    assert command(["run", "cube", "--reasoner", f"gguf:{junk}", "--out", str(tmp_path / "run")]) == 2
    assert "is it whole" in capsys.readouterr().err


def test_a_budget_in_dollars_holds_for_a_file_that_costs_none(model: Path, tmp_path: Path) -> None:
    rows = run(reasoner=f"gguf:{model}", max_steps=25, out=tmp_path / "run", running=RunOptions(budget="1usd"))
    assert len(rows) == 1
    with pytest.raises(UserError, match="tokens"):
        run(reasoner=f"gguf:{model}", max_steps=25, out=tmp_path / "other", running=RunOptions(budget="1tok"))


def test_what_others_print_while_files_load_is_not_lost(
    model: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    load = importlib.import_module("llama_cpp.llama_cpp").llama_model_load_from_file

    def loading(*given: Any) -> Any:  # noqa: ANN401
        sys.stdout.write("a question to a person\n")
        sys.stdout.flush()
        os.write(2, b"and the end of it")
        return load(*given)

    monkeypatch.setattr("llama_cpp.llama_cpp.llama_model_load_from_file", loading)

    async def two() -> None:
        clients = [LocalClient(model), LocalClient(model)]
        await asyncio.gather(*(client.complete(asking(max_tokens=1)) for client in clients))
        await asyncio.gather(*(client.close() for client in clients))

    asyncio.run(two())
    shown = capfd.readouterr()
    assert shown.out == "a question to a person\n" * 2
    assert shown.err == "and the end of it" * 2


def test_it_is_not_let_go_of_while_a_thread_still_uses_it(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, begun, freed = LocalClient(model), threading.Event(), threading.Event()
    monkeypatch.setattr("llama_cpp.Llama.close", lambda _: freed.set())
    used: list[bool] = []

    def slow(*args: object, **options: object) -> None:
        begun.set()
        used.append(not freed.wait(0.3))
        raise RuntimeError("stopped")

    async def interrupted_twice() -> tuple[bool, str]:
        monkeypatch.setattr("llama_cpp.Llama.create_chat_completion", slow)
        task = asyncio.create_task(client.complete(asking()))
        await asyncio.to_thread(begun.wait)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([task])
        await client.close()
        try:
            await client.complete(asking())
        except ProviderError as error:
            return task.cancelled(), error.fault.kind
        return task.cancelled(), "answered"

    assert asyncio.run(interrupted_twice()) == (True, "late")
    assert used == [True]
    assert freed.is_set()


def test_an_error_of_any_kind_is_a_fault(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(*args: object, **options: object) -> None:
        raise TemplateError("the file's template is odd")

    monkeypatch.setattr("llama_cpp.Llama.create_chat_completion", odd)
    assert answers(model, asking(), make=LocalClient) == ["broken: the file's template is odd"]


def test_a_cache_does_not_mix_up_files_of_one_name(tmp_path: Path) -> None:
    served = set()
    for seed in (0, 1):
        file = tiny.make(tmp_path / "tiny.gguf", seed)
        out, running = tmp_path / f"run{seed}", RunOptions(cache=tmp_path / "cache.sqlite")
        run(reasoner=f"gguf:{file}", max_steps=25, out=out, running=running)
        with CallStore(out / "results.sqlite", readonly=True) as store:
            served |= {row.served for row in store.rows()}
            assert not any(row.cached for row in store.rows())
    assert len(served) == 2
