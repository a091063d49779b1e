"""Which of the shared blocks each prompt is built from, and why it leaves others out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from teamworld.reasoning.contract import Question
from teamworld.reasoning.prompts import included_templates

#: The shared blocks, in the order of a prompt, with what each shows.
BLOCKS: Mapping[str, str] = {
    "mission": "the mission and its price list",
    "world_rules": "how the world works",
    "abilities": "what each action means, needs, and an example",
    "quotes": "how to take the words of others",
    "answer": "the form of the answer, reasoning first",
    "who": "who is asked, and the steps left",
    "situation": "what is perceived and remembered",
    "team": "what is known of each teammate's doing and commitment",
    "tasks": "the open tasks",
    "own": "the agent's own plan, commitment and recent actions, with why they failed",
    "said": "what was said",
    "options": "what makes sense now, with estimated steps",
}
#: Stands in ``Question.departures`` for all blocks that are not named.
REST = "*"


class Cell(NamedTuple):
    """Whether a prompt has a block, and if not, why."""

    is_shown: bool
    reason: str = ""


def list_blocks(question: type[Question[Any]]) -> Mapping[str, Cell]:
    """Return for each shared block whether a question's prompt includes it, and the reason where it does not."""
    included = set(included_templates(question.template))
    rest = question.departures.get(REST, "")
    return {
        block: Cell(True)
        if f"common/prompts/{block}.md.j2" in included
        else Cell(False, question.departures.get(block, rest))
        for block in BLOCKS
    }


def find_unexplained(question: type[Question[Any]]) -> Iterator[str]:
    """Yield what is wrong with a question's account: a block left out without a reason and source, or a false one."""
    cells = list_blocks(question)
    for block, cell in cells.items():
        if not cell.is_shown and not cell.reason:
            yield f"{question.kind} leaves out {block} and does not say why"
        elif not cell.is_shown and not cell.reason.rstrip(".").endswith(")"):
            yield f"{question.kind} leaves out {block} without a source in brackets: {cell.reason}"
    for block in question.departures:
        if block != REST and block not in BLOCKS:
            yield f"{question.kind} gives a reason for '{block}', which is no shared block"
        elif block != REST and cells[block].is_shown:
            yield f"{question.kind} gives a reason for leaving out {block}, which it includes"
