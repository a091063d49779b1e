"""How long are the prompts, and how many calls does an episode take? Every kind of question, by world and method.

Tokens are those of o200k_base where the package bpe-openai is installed, which needs no download; else characters
/ 2.5: no prompt here has fewer characters a token. With ``--against`` another run's table stands beside, as ratios.

    python benchmarks/prompt_sizes.py --save sizes.json
    python benchmarks/prompt_sizes.py --worlds cube:n8 --methods drwell cobel --against sizes.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from teamworld.episode.loop import Episode, Setting
from teamworld.errors import UserError
from teamworld.experiment.message_protocol import rule as message_rule
from teamworld.experiment.spec import RunCell
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.methods.common.neighbourhoods import in_neighbourhoods
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import LogWriter
from teamworld.worlds import registry as worlds

WORLDS = (
    "cube:n8:60",
    "cube:n2:60",
    "wildfire:suppress_fire_contain:25",
    "wildfire:cut_trees_sparse_large:15",
    "household:dev-tea:60",
)
METHODS = (
    *("zero_shot", "drwell:reflections", "camon", "embodied", "hmas2", "coela", "coela:cwah", "cobel"),
    *("cobel:original", "camon:reference"),
)


class Size(NamedTuple):
    """One prompt."""

    kind: str
    tokens: int


def counter() -> tuple[str, Callable[[str], int]]:
    """Return what is counted, and how."""
    try:
        from bpe_openai import get_encoding
    except ImportError:
        return "characters / 2.5", lambda text: math.ceil(len(text) / 2.5)
    encoding = get_encoding("o200k_base")
    return "tokens of o200k_base", lambda text: len(encoding.encode_ordinary(text))


class Measuring:
    """The rules; measures what was asked."""

    name = "rules"

    def __init__(self, rules: RuleReasoner, count: Callable[[str], int]) -> None:
        self._rules, self._count = rules, count
        self.sizes: list[Size] = []

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Measure the prompt and answer by the rules."""
        self.sizes.append(Size(question.kind, self._count(render(question).text)))
        return await self._rules.ask(question, tries)


def measure(label: str, place: str, episodes: int, count: Callable[[str], int]) -> list[Size]:
    """Return the sizes of all prompts of the last of some episodes that share a memory."""
    options, memory, cell = methods.resolve(label, {}).model_dump(), WorldModel(), RunCell(label, 0)
    name, level, horizon = place.split(":")
    for episode in range(1, episodes + 1):
        streams = cell.streams(episode)
        mind = Measuring(RuleReasoner(streams), count)
        world = worlds.make(name, level, 0, int(horizon), {})
        setting = Setting(0, 0, episode, options, message_rule(label, "native", {}))
        with tempfile.TemporaryDirectory() as scratch, LogWriter(Path(scratch) / "log.jsonl.zst") as log:
            asyncio.run(
                Episode(
                    world, in_neighbourhoods(methods.make(label, options)), mind, memory, log, streams, setting
                ).play()
            )
    return mind.sizes


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", nargs="+", default=WORLDS, metavar="WORLD:LEVEL:STEPS")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--episodes", type=int, default=2, help="episodes that share a memory; the last is measured")
    parser.add_argument("--save", type=Path, help="write the table as JSON")
    parser.add_argument("--against", type=Path, help="a table that was written before")
    args = parser.parse_args()
    unit, count = counter()
    before = json.loads(args.against.read_text("utf-8")) if args.against else {}
    table: dict[str, tuple[float, int, int]] = {}
    print(f"{unit}: mean (most) of a kind, calls of an episode; then both against the table given")
    for place in args.worlds:
        for label in args.methods:
            try:
                found = measure(label, place, args.episodes, count)
            except UserError as error:
                print(f"{place} {label}: {error}")
                continue
            by_kind: dict[str, list[int]] = defaultdict(list)
            for size in found:
                by_kind[size.kind].append(size.tokens)
            for kind, tokens in sorted(by_kind.items()):
                key = f"{place} {label} {kind}"
                table[key] = (mean(tokens), max(tokens), len(tokens))
                was = before.get(key)
                ratio = f"  x{mean(tokens) / was[0]:.2f} tokens, x{len(tokens) / was[2]:.2f} calls" if was else ""
                print(f"{key}: {mean(tokens):.0f} ({max(tokens)}), {len(tokens)} calls{ratio}", flush=True)
    if args.save:
        args.save.write_text(json.dumps(table, indent=0), "utf-8")


if __name__ == "__main__":
    main()
