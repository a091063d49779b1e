"""How long are the prompts? Every kind of question of an episode, by team size and by step.

Tokens are those of o200k_base where the package bpe-openai is installed, which needs no download; else characters
/ 2.5: no prompt here has fewer characters a token.

    python benchmarks/prompt_sizes.py
    python benchmarks/prompt_sizes.py --agents 8 --said 600 --by-step drwell.propose
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.experiment.spec import RunCell
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import LogWriter
from teamworld.worlds import registry as worlds

LABELS = ("drwell:reflections", "drwell:free_chat", "zero_shot")
#: Fields of answers that a model fills with words, and such words.
WORDS = ("reason", "text", "reflection")
SAID = "We should meet at the left side of it and push together, since it went well before. " * 10
HORIZON, SPAN = 150, 30


class Size(NamedTuple):
    """One prompt."""

    kind: str
    step: int
    tokens: int
    characters: int


def counter() -> tuple[str, Callable[[str], int]]:
    """Return what is counted, and how."""
    try:
        from bpe_openai import get_encoding
    except ImportError:
        return "characters / 2.5", lambda text: math.ceil(len(text) / 2.5)
    encoding = get_encoding("o200k_base")
    return "tokens of o200k_base", lambda text: len(encoding.encode_ordinary(text))


class Measuring:
    """The rules, with so many characters wherever a model would say something; measures what was asked."""

    name = "rules"

    def __init__(self, rules: RuleReasoner, said: int | None, count: Callable[[str], int]) -> None:
        self._rules, self._said, self._count = rules, said, count
        self.sizes: list[Size] = []

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Measure the prompt and answer by the rules."""
        text = render(question).text
        self.sizes.append(Size(question.kind, question.view.t, self._count(text), len(text)))
        answer, _ = await self._rules.ask(question, tries)
        if self._said is not None:
            spoken = f"{question.respondent}: {SAID}"[: self._said]
            answer = answer.model_copy(update={name: spoken for name in WORDS if name in question.answer.model_fields})
        return Reply(answer)


def measure(label: str, agents: int, episodes: int, said: int | None, count: Callable[[str], int]) -> list[Size]:
    """Return the sizes of all prompts of the last of some episodes that share a memory."""
    options, memory, cell = methods.resolve(label, {}).model_dump(), WorldModel(), RunCell(label, 0)
    for episode in range(1, episodes + 1):
        streams = cell.streams(episode)
        mind = Measuring(RuleReasoner(streams), said, count)
        world = worlds.make("cube", f"n{agents}", 0, HORIZON, {})
        setting = Setting(0, 0, episode, options, MessageRule())
        with tempfile.TemporaryDirectory() as scratch, LogWriter(Path(scratch) / "log.jsonl.zst") as log:
            asyncio.run(Episode(world, methods.make(label, options), mind, memory, log, streams, setting).play())
    return mind.sizes


def told(tokens: Iterable[int]) -> str:
    """Return the median and the most."""
    found = sorted(tokens)
    return f"{median(found):.0f} ({found[-1]})" if found else "-"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, nargs="+", default=[2, 8, 32, 128])
    parser.add_argument("--episodes", type=int, default=3, help="episodes that share a memory; the last is measured")
    parser.add_argument("--said", type=int, help="characters of each reason and remark; else the rules' own words")
    parser.add_argument("--by-step", metavar="KIND", help="also print this kind by step")
    args = parser.parse_args()
    unit, count = counter()
    sizes: dict[tuple[str, int], list[Size]] = defaultdict(list)
    for agents in args.agents:
        for label in LABELS:
            for size in measure(label, agents, args.episodes, args.said, count):
                sizes[size.kind, agents].append(size)
    print(f"{unit}, median (most) of the prompts of episode {args.episodes}; agents: {args.agents}")
    for kind in sorted({kind for kind, _ in sizes}):
        print(f"| {kind} | {' | '.join(told(one.tokens for one in sizes[kind, n]) for n in args.agents)} |")
    fewest = min(one.characters / one.tokens for found in sizes.values() for one in found)
    print(f"fewest characters a token: {fewest:.2f}")
    for agents in args.agents if args.by_step else ():
        spans: dict[int, list[int]] = defaultdict(list)
        for one in sizes[args.by_step, agents]:
            spans[one.step // SPAN * SPAN].append(one.tokens)
        print(f"{args.by_step}, {agents} agents:", *(f"from step {at}: {told(spans[at])};" for at in sorted(spans)))


if __name__ == "__main__":
    main()
