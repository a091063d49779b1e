"""Calls of twins and controls: other sampling seeds, answers and places of their own, and tokens as counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

pytest.importorskip("pydantic_ai")

from teamworld.experiment.reasoner_factory import CachedClient
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, RunCell, build
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Request
from teamworld.reasoning.llm.gateway import Sent
from teamworld.record import EpisodeEnd, LlmCall, TokensTaken, read_log
from teamworld.seeding import salted_seed
from tests.reasoning.llm.records import key, request
from tests.reasoning.llm.server import Peer

CELL = RunCell("zero_shot", 0)


def asked(server: Peer, **changes: Any) -> ExperimentSpec:
    return build({"reasoner": server.name(), "methods": ["zero_shot"], "max_steps": 4, "level": "n1"} | changes)


def first_record(out: Path) -> CallRecord:
    with CallStore(out / "results.sqlite", readonly=True) as store:
        return min(store.records(CELL), key=lambda held: (held[1].number, held[1].respondent))[2]


def cached_count(out: Path) -> int:
    with CallStore(out / "results.sqlite", readonly=True) as store:
        return sum(call.cached for call in store.rows())


def test_the_request_of_a_twin_is_the_same_but_for_its_sampling_seed(server: Peer, tmp_path: Path) -> None:
    sampling = {"*": {"seed": 5}}
    run(asked(server, sampling=sampling), tmp_path / "own")
    run(asked(server, sampling=sampling, salt=1), tmp_path / "twin")
    own, twin = first_record(tmp_path / "own").request, first_record(tmp_path / "twin").request
    assert (own.seed, twin.seed) == (5, salted_seed(5, 1, below=2**31))
    assert own.seed != twin.seed
    assert msgspec.structs.replace(twin, seed=5) == own


def test_a_cache_keeps_the_answers_of_a_twin_apart(server: Peer, tmp_path: Path) -> None:
    shared = RunOptions(cache=tmp_path / "answers.sqlite")
    for name, salt in (("own", None), ("twin", 1), ("own_again", None), ("twin_again", 1)):
        run(asked(server, salt=salt), tmp_path / name, running=shared)
    counts = [cached_count(tmp_path / name) for name in ("own", "twin", "own_again", "twin_again")]
    assert counts[:2] == [0, 0]
    assert counts[2] > 0
    assert counts[3] > 0
    own, twin = first_record(tmp_path / "own").request, first_record(tmp_path / "twin").request
    assert own == twin  # without a sampling seed nothing but the place in the cache tells them apart


@pytest.mark.parametrize(("salt", "place"), [(None, "zero_shot-s0"), (3, "zero_shot-s0-salt3")])
def test_questions_of_a_twin_lie_beside_those_of_its_method(salt: int | None, place: str) -> None:
    class Box:
        cell = ""

        async def complete(self, cell: str, episode: int, key: CallKey, request: Request) -> Sent:
            self.cell = cell
            return Sent(None, (), 0.0)

    box, nothing = Box(), cast("Callable[..., None]", lambda *given: None)
    calls, budget = SimpleNamespace(place=(CELL.name, 1)), SimpleNamespace(confirm=nothing)
    client = CachedClient(cast("Any", None), cast("Any", calls), None, cast("Any", box), cast("Any", budget), salt)
    asyncio.run(client._send(key(), request(), nothing))
    assert box.cell == place


def test_tokens_of_a_model_are_those_that_its_provider_counted(server: Peer, tmp_path: Path) -> None:
    limited = {"methods": ["cmas:free"], "allowances": {0: [{"tokens": 100_000, "steps": 4}]}}
    run(asked(server, **limited), tmp_path / "m")
    events = list(read_log(next((tmp_path / "m").rglob("*.zst"))))
    counted = sum((e.prompt_tokens or 0) + (e.output_tokens or 0) for e in events if isinstance(e, LlmCall))
    end = events[-1]
    assert isinstance(end, EpisodeEnd)
    assert isinstance(end.tokens, TokensTaken)
    assert end.tokens.taken == counted > 100
