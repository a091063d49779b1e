"""Write docs/reference/prompt-blocks.md: which of the shared blocks each prompt shows, and why it leaves others out."""

from __future__ import annotations

from pathlib import Path

from teamworld.methods import registry
from teamworld.methods.common.blocks import BLOCKS, list_blocks
from teamworld.reasoning.prompts import template_info

PAGE = Path(__file__).parents[1] / "docs/reference/prompt-blocks.md"
HEAD = """# What every prompt shows

All prompts are built from the same blocks, so a comparison of methods compares their protocols and not what they
happen to tell. This page is made from the code by `python scripts/prompt_blocks.py`, and a test fails where it is out
of date. A cell with a number is a block that a prompt leaves out; the reason stands below, with its source.

| block | shows |
| --- | --- |
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(make_page(), "utf-8")


def make_page() -> str:
    """Return the page."""
    questions = {}
    for name in registry.BUILT_IN:
        for question in registry.load(name).questions:
            questions.setdefault(question.kind, question)
    lines = [f"| {block.replace('_', ' ')} | {shows} |" for block, shows in BLOCKS.items()]
    reasons: dict[str, int] = {}
    rows = []
    for kind, question in questions.items():
        cells = [
            "yes" if cell.is_shown else f"[{reasons.setdefault(cell.reason, len(reasons) + 1)}]"
            for cell in list_blocks(question).values()
        ]
        rows.append(f"| `{kind}` | {template_info(question.template).version} | {' | '.join(cells)} |")
    names = " | ".join(block.replace("_", " ") for block in BLOCKS)
    table = [f"| question | version | {names} |", f"| --- | --- |{' --- |' * len(BLOCKS)}", *rows]
    notes = [f"{number}. {reason}" for reason, number in reasons.items()]
    return HEAD + "\n".join([*lines, "", *table, "", "## Why a prompt leaves a block out", "", *notes, ""])


if __name__ == "__main__":
    main()
