"""A language model as a reasoner: what it is told of answers that could not be used."""

from __future__ import annotations

import pytest

from teamworld.reasoning.contract import Flaw, Rejected
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Request
from teamworld.reasoning.llm.reasoner import LanguageModel, reask_text
from teamworld.worlds.cube.state import Block
from tests.methods.test_prompts import with_words, world


class Nowhere:
    """A line that nobody uses."""

    async def call(self, key: CallKey, request: Request) -> CallRecord:
        raise AssertionError(key)


ASKED = with_words("drwell.commit", "I go left.", world(Block(1, 20, 3)))
MODEL = LanguageModel("http://localhost:1/v1#m", "schema", Nowhere())


def roles(*tries: Rejected) -> list[str]:
    return [turn.role for turn in MODEL.request(ASKED, tries).turns]


def test_the_model_sees_its_answer_and_what_was_wrong() -> None:
    bad = Rejected('{"goal": 1}', "schema", "goal: expected a string")
    turns = MODEL.request(ASKED, (bad,)).turns
    assert roles(bad) == ["system", "user", "assistant", "user"]
    assert (turns[2].text, turns[3].text) == (bad.text, reask_text(bad))


@pytest.mark.parametrize(("text", "flaw"), [("", "empty"), (" \n\t", "empty"), ("", "refused"), ("", "cut")])
def test_of_an_answer_without_words_only_what_was_wrong_is_told(text: str, flaw: Flaw) -> None:
    bad = Rejected(text, flaw, "the answer is empty")
    first = MODEL.request(ASKED, ()).turns
    turns = MODEL.request(ASKED, (bad,)).turns
    assert turns == (first[0], turns[1])  # a turn without words is refused by some, two of the user by others
    assert turns[1].text == f"{first[1].text}\n\n{reask_text(bad)}"
    after = Rejected("no", "json", "there is no JSON object in the answer")
    assert roles(bad, after, bad) == ["system", "user", "assistant", "user"]


def test_where_no_answer_came_the_same_is_asked_again() -> None:
    assert MODEL.request(ASKED, (Rejected("", "none", "no answer came"),)) == MODEL.request(ASKED, ())
