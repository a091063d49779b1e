"""Does noise hit all methods alike? The share of decisions that ``rules:noise`` changes, on the same questions.

A decision is an answer that names a task, an action or a plan; answers in words alone are left out.

    python benchmarks/noise.py
    python benchmarks/noise.py --methods drwell coela --rates 0.2 --worlds rooms:two:30
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from teamworld.errors import UserError
from teamworld.methods import registry as methods
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Rejected, Reply
from teamworld.reasoning.rules import NoisyRules, RuleReasoner
from teamworld.seeding import Streams, generator
from teamworld.testing.episodes import Scenario, play

WORLDS = ("cube:n4:30", "rooms:two:30", "household:dev-tea:40", "wildfire:cut_trees_sparse_small:15")
#: Fields in words, which no noise changes.
WORDS = frozenset({"reasoning", "reason", "text", "everybody", "private", "message", "reflection", "thought"})
TRIES = 3


class Sampler:
    """The rules; each question is asked again of noisy rules, and what becomes of the decision is counted."""

    name = "rules"

    def __init__(self, streams: Streams, rates: Sequence[float], draws: int) -> None:
        self._rules = RuleReasoner(streams)
        self._rates, self._draws, self._number = rates, draws, 0
        self.changed: dict[tuple[str, float], list[bool]] = defaultdict(list)

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer by the rules, and count."""
        reply = await self._rules.ask(question, tries)
        sure = question.rule(generator(0, "noise", "sure"))
        for rate in self._rates:
            for draw in range(self._draws):
                self._number += 1
                noisy = await _noisy(question, rate, self._number * 1000 + draw)
                self.changed[question.kind, rate].append(_decision(noisy) != _decision(sure))
        return reply


async def _noisy(question: Question[Any], rate: float, seed: int) -> BaseModel:
    """Return the answer of noisy rules after as many tries as a run gives."""

    def streams(*names: str | int) -> Any:  # noqa: ANN401  (the rule's own draws stay the same, the noise does not)
        return generator(0, "noise", "sure") if names[0] == "rules" else generator(seed, *names)

    mind, tries = NoisyRules(streams, rate), list[Rejected]()
    for _ in range(TRIES):
        try:
            return (await mind.ask(question, tries)).answer
        except BadAnswer as bad:
            tries.append(bad.rejected)
    return question.fallback()


def _decision(answer: BaseModel) -> object:
    return {name: value for name, value in answer.model_dump().items() if name not in WORDS}


def main() -> None:
    """Print a line for each kind of question."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", nargs="+", default=WORLDS, metavar="WORLD:LEVEL:STEPS")
    parser.add_argument("--methods", nargs="+", default=methods.names())
    parser.add_argument("--rates", nargs="+", type=float, default=[0.0, 0.1, 0.2, 0.3, 0.4])
    parser.add_argument("--draws", type=int, default=4, help="of each question and rate")
    args = parser.parse_args()
    print("share of decisions changed, by rate:", *args.rates)
    for label in args.methods:
        changed: dict[tuple[str, float], list[bool]] = defaultdict(list)
        for place in args.worlds:
            world, level, steps = place.split(":")
            samplers: list[Sampler] = []

            def make(streams: Streams, kept: list[Sampler] = samplers) -> Sampler:
                kept.append(Sampler(streams, args.rates, args.draws))
                return kept[-1]

            try:
                play(label, Scenario(world, level, 0, int(steps)), {}, make)
            except UserError:
                continue  # the method does not play there
            for key, found in samplers[-1].changed.items():
                changed[key] += found
        for kind in sorted({kind for kind, _ in changed}):
            shares = [changed[kind, rate] for rate in args.rates]
            text = " ".join(f"{sum(found) / len(found):.2f}" for found in shares)
            print(f"{label} {kind}: {text}   ({len(shares[0])} each)", flush=True)


if __name__ == "__main__":
    main()
