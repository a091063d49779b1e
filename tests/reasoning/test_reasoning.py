"""Reasoners: rules are drawn by name, noise comes at its rate, bad answers are asked again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from teamworld.errors import UserError
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Reasoner, Rejected, Reply, Sampling
from teamworld.reasoning.registry import check_name, describe, make_reasoner
from teamworld.reasoning.retry import ask_until_usable
from teamworld.reasoning.router import Route, parse_routes
from teamworld.seeding import generator
from teamworld.worlds.contract import View


class Pick(BaseModel):
    value: int


@dataclass(frozen=True)
class PickOne(Question[Pick]):
    respondent: str = "a"
    views: Mapping[str, View] = field(default_factory=dict)
    accepts: Callable[[int], bool] = lambda value: True

    kind = "test.pick"
    template = ""
    answer = Pick
    sampling = Sampling(0.0, 1)

    def context(self) -> dict[str, Any]:
        return {}

    def rule(self, rng: np.random.Generator) -> Pick:
        return Pick(value=int(rng.integers(100)))

    def check(self, answer: Pick) -> str | None:
        return None if self.accepts(answer.value) else f"{answer.value} will not do"

    def fallback(self) -> Pick:
        return Pick(value=-1)

    def perturb(self, answer: Pick, rng: np.random.Generator) -> Pick:
        return Pick(value=1000)


def streams(*names: str | int) -> np.random.Generator:
    return generator(7, *names)


def answers(name: str, count: int, respondent: str = "a") -> list[int | None]:
    reasoner = make_reasoner(name, streams)

    async def collect() -> list[int | None]:
        result: list[int | None] = []
        for _ in range(count):
            try:
                result.append((await reasoner.ask(PickOne(respondent), ())).answer.value)
            except BadAnswer:
                result.append(None)
        return result

    return asyncio.run(collect())


def test_rules_answer_the_same_to_the_same_mind_and_differently_to_another() -> None:
    assert answers("rules", 20) == answers("rules", 20)
    assert answers("rules", 20) != answers("rules", 20, respondent="b")
    assert len(set(answers("rules", 20))) > 5


def test_the_order_in_which_minds_are_asked_does_not_matter() -> None:
    async def both(order: str) -> dict[str, int]:
        reasoner = make_reasoner("rules", streams)
        return {respondent: (await reasoner.ask(PickOne(respondent), ())).answer.value for respondent in order}

    assert asyncio.run(both("ab")) == asyncio.run(both("ba"))


def test_noise_comes_at_its_rate_and_leaves_the_other_answers_alone() -> None:
    sound, noisy = answers("rules", 2000), answers("rules:noise=0.2", 2000)
    wrong = [one for one, other in zip(noisy, sound, strict=True) if one != other]
    assert 0.17 < len(wrong) / 2000 < 0.23
    assert 0.15 < wrong.count(None) / len(wrong) < 0.35
    assert set(wrong) == {None, 1000}
    assert answers("rules:slips=0.2", 2000) == noisy  # as earlier versions spelt it
    assert answers("rules:noise=0", 50) == answers("rules", 50)
    assert set(answers("rules:noise=1", 50)) == {None, 1000}


@pytest.mark.parametrize(
    "name",
    ["rule", "gpt", "rules:noise", "rules:noise=2", "rules:noise=x", "rules:noise=nan", "rules:speed=1", "rules:"],
)
def test_unknown_reasoners_are_refused(name: str) -> None:
    with pytest.raises(UserError):
        make_reasoner(name, streams)


@pytest.mark.parametrize(
    "text", ["agent_0=rules,http://me:s3cret@host/v1#m", "agent_0=http://me:s3cret@host/v1#m", "ftp://me:s3cret@host"]
)
def test_a_password_in_an_address_is_not_repeated(text: str) -> None:
    with pytest.raises(UserError) as caught:
        check_name(text)
    assert "s3cret" not in str(caught.value)


def test_rules_are_called_rules_whoever_they_answer_for() -> None:
    assert describe("*=rules") == describe("rules") == "built-in rules, no language model"
    assert describe("agent_0=human,*=rules").startswith("agent_0: a person")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("agent_0=rules,agent_0=openai:x,*=rules", "nothing to agent_0=openai:x, behind agent_0=rules"),
        ("agent_0=rules,agent_0=rules,*=rules", "nothing to agent_0=rules, behind agent_0=rules"),
        ("agent_0=rules,agent_0@*=human,*=rules", "nothing to agent_0=human, behind agent_0=rules"),
        ("@m.a=rules,*@m.a=human,*=rules", "nothing to *@m.a=human, behind *@m.a=rules"),
        ("agent_0=rules,agent_0@m.a=human,*=rules", "nothing to agent_0@m.a=human, behind agent_0=rules"),
        ("@m.*=rules,agent_0@m.a*=human,*=rules", "nothing to agent_0@m.a*=human, behind *@m.*=rules"),
        ("*=rules,agent_0=human", "nothing to agent_0=human, behind *=rules"),
        ("*=rules,*=human", "nothing to *=human, behind *=rules"),
        ("gguf:a,b.gguf", "got 'gguf:a'; a path holds no comma here"),
        ("*=gguf:a,b.gguf", "got 'b.gguf'; a path holds no comma here"),
    ],
)
def test_an_entry_that_never_answers_or_is_none_is_refused(text: str, says: str) -> None:
    with pytest.raises(UserError, match=re.escape(says)) as caught:
        parse_routes(text)
    assert "\n" not in str(caught.value)


WHO = st.sampled_from(["*", "agent_0", "agent_1"])
KINDS = st.sampled_from(["*", "m.*", "m.a", "m.a*", "*a", "m.b", "*.b"])


@given(st.lists(st.tuples(WHO, KINDS), max_size=5))
def test_refused_is_what_would_never_answer(entries: list[tuple[str, str]]) -> None:
    """Asked of three agents, with kinds that tell the wildcards apart."""
    kinds = ("m.a", "m.ab", "m.b", "m.c", "n.a", "n.b")
    asked = list(product(("agent_0", "agent_1", "x"), kinds))
    each = [Route(respondent, pattern, "rules") for respondent, pattern in [*entries, ("*", "*")]]
    hidden = [at for at, one in enumerate(each) if any(other.covers(one.respondent, one.kinds) for other in each[:at])]
    answering = {next(at for at, one in enumerate(each) if one.covers(*question)) for question in asked}
    assert not answering & set(hidden)
    text = ",".join(f"{one.respondent}@{one.kinds}=rules" for one in each)
    if hidden:
        with pytest.raises(UserError, match="leaves nothing to"):
            parse_routes(text)
    else:
        assert parse_routes(text) == tuple(each)


class Fixed(Reasoner):
    """Gives the answers it was made with; None is a malformed one."""

    def __init__(self, *values: int | None) -> None:
        self.values = list(values)
        self.tries: list[list[str]] = []

    @property
    def name(self) -> str:
        return "fixed"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        self.tries.append([bad.complaint for bad in tries])
        value = self.values[len(tries)]
        if value is None:
            raise BadAnswer("malformed")
        return Reply(question.answer.model_validate({"value": value}))  # type: ignore[arg-type]


def test_a_bad_answer_is_asked_again_with_the_complaint() -> None:
    reasoner = Fixed(None, 3, 8)
    reply = asyncio.run(ask_until_usable(reasoner, PickOne(accepts=lambda value: value > 5), 2))
    assert (reply.answer.value, reply.fallback) == (8, False)
    assert [(bad.flaw, bad.complaint) for bad in reply.tries] == [("schema", "malformed"), ("intent", "3 will not do")]
    assert reasoner.tries == [[], ["malformed"], ["malformed", "3 will not do"]]


def test_after_the_last_try_the_fallback_stands() -> None:
    reply = asyncio.run(ask_until_usable(Fixed(1, None, 2), PickOne(accepts=lambda value: value > 5), 2))
    assert (reply.answer.value, reply.fallback, len(reply.tries)) == (-1, True, 3)


class Salvages(PickOne):
    """Can use the tens of a bad answer."""

    def salvage(self, answer: Pick) -> Pick | None:
        return Pick(value=answer.value // 10) if answer.value >= 10 else None


@pytest.mark.parametrize(("values", "kept"), [((31, None, 42), 4), ((31, 2, None), 3), ((1, 2, 3), -1)])
def test_what_is_usable_of_a_bad_answer_stands_before_the_fallback(values: tuple[int | None, ...], kept: int) -> None:
    reply = asyncio.run(ask_until_usable(Fixed(*values), Salvages(accepts=lambda value: value > 50), 2))
    assert (reply.answer.value, reply.fallback, len(reply.tries)) == (kept, True, 3)
