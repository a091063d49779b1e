"""All prompts are built from the shared blocks; what one leaves out has a reason with a source."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import MappingProxyType

import pytest

from teamworld.methods import registry
from teamworld.methods.common.blocks import BLOCKS, find_unexplained
from teamworld.methods.zero_shot.questions import ZeroShotPlan

QUESTIONS = {q.kind: q for name in registry.BUILT_IN for q in registry.load(name).questions}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_block_that_is_left_out_has_a_reason(kind: str) -> None:
    assert list(find_unexplained(QUESTIONS[kind])) == []


@pytest.mark.parametrize("kind", QUESTIONS)
def test_an_answer_begins_with_reasoning(kind: str) -> None:
    assert next(iter(QUESTIONS[kind].answer.model_fields)) == "reasoning"


def test_what_is_wrong_with_an_account_is_found() -> None:
    class Silent(ZeroShotPlan):
        departures = MappingProxyType(
            {"options": "no source", "own": "it is there (nowhere)", "mood": "unknown (nowhere)"}
        )

    assert [problem.partition(" ")[2] for problem in find_unexplained(Silent)] == [
        "leaves out quotes and does not say why",
        "leaves out said and does not say why",
        "leaves out options without a source in brackets: no source",
        "gives a reason for leaving out own, which it includes",
        "gives a reason for 'mood', which is no shared block",
    ]


def test_the_page_is_that_of_the_code() -> None:
    script = Path(__file__).parents[2] / "scripts/prompt_blocks.py"
    spec = importlib.util.spec_from_file_location("prompt_blocks", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text("utf-8") == module.make_page(), "run python scripts/prompt_blocks.py"


def test_every_block_has_a_template() -> None:
    folder = Path(__file__).parents[2] / "src/teamworld/methods/common/prompts"
    assert all((folder / f"{block}.md.j2").is_file() for block in BLOCKS)
