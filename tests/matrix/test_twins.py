"""A twin sends the requests of its method, byte for byte, until an answer differs: every method in every world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
import pytest

from teamworld.episode.compatibility import DoesNotApply, entities_for
from teamworld.experiment.spec import RunCell
from teamworld.methods import registry as methods
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Rejected, Reply
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Request
from teamworld.reasoning.llm.reasoner import LanguageModel
from teamworld.reasoning.rules import NoisyRules
from teamworld.seeding import Streams
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.matrix import scenarios

pytestmark = pytest.mark.heavy

STEPS = 4
MODEL = "openai:gpt-4o"
SALT = 1
#: One level of each world.
PLACES = list({place.world: place._replace(horizon=STEPS) for place in reversed(scenarios())}.values())
LABELS = methods.ready_names()
OPTIONS: Mapping[str, Mapping[str, Any]] = {}


class Entry(NamedTuple):
    """One request, or one answer."""

    kind: str
    text: bytes


class Unsent:
    async def call(self, key: CallKey, request: Request) -> CallRecord:
        raise AssertionError(key)


class RequestRecorder(NoisyRules):
    """Rules that err, and a record of the requests that a language model would be sent in their place."""

    def __init__(self, streams: Streams, salt: int | None) -> None:
        super().__init__(streams, 0.5)
        self._model = LanguageModel(MODEL, "schema", Unsent(), {"*": {"seed": 7}}, salt=salt)
        self.entries: list[Entry] = []

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        request = self._model.request(question, tries)
        place = f"{question.respondent} {question.kind} {len(tries)} ".encode()
        bare = msgspec.structs.replace(request, seed=None)
        self.entries.append(Entry("request", place + msgspec.json.encode(bare, order="sorted")))
        try:
            reply = await super().ask(question, tries)
        except BadAnswer as bad:
            self.entries.append(Entry("answer", f"{bad.rejected}".encode()))
            raise
        self.entries.append(Entry("answer", reply.answer.model_dump_json().encode()))
        return reply


def applies(label: str, place: Scenario) -> bool:
    try:
        entities_for(methods.method_class(label), place.make())
    except DoesNotApply:
        return False
    return True


def played(label: str, place: Scenario, salt: int | None) -> list[Entry]:
    """Play with a reasoner whose streams are salted; what the method itself draws stays, so answers alone differ."""
    recorder = RequestRecorder(RunCell(label, place.seed).streams(1, salt), salt)
    play(label, place, OPTIONS, lambda streams: recorder)
    return recorder.entries


class Divergence(NamedTuple):
    """Where a method and its twin part."""

    equal: int
    """Requests before that."""
    kind: str
    """Of the first entry that differs; empty where all are equal."""


@cache
def divergence(label: str, place_index: int) -> Divergence:
    place = PLACES[place_index]
    first, second = played(label, place, None), played(label, place, SALT)
    at = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    if at is None:
        shorter = min(len(first), len(second))
        longer = max(first, second, key=len)
        kind = longer[shorter].kind if len(longer) > shorter else ""
        return Divergence(sum(entry.kind == "request" for entry in first[:shorter]), kind)
    return Divergence(sum(entry.kind == "request" for entry in first[:at]), first[at].kind)


def test_enough_methods_part_from_their_twins_at_an_answer() -> None:
    cube = next(index for index, place in enumerate(PLACES) if place.world == "cube")
    parted = [divergence(label, cube) for label in ("camon", "capo", "cmas", "cobel", "coela", "hmas2")]
    assert all(kind == "answer" and equal >= 1 for equal, kind in parted)


@pytest.mark.parametrize("index", range(len(PLACES)), ids=[place.world for place in PLACES])
@pytest.mark.parametrize("label", LABELS)
def test_requests_are_equal_byte_for_byte_until_an_answer_differs(label: str, index: int) -> None:
    if applies(label, PLACES[index]):
        assert divergence(label, index).kind in ("answer", "")
